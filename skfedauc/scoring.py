"""Scorers of one group statistic, of a group's AUC, or of an average over classes."""

from __future__ import annotations

import copy
import dataclasses
import functools
import secrets
from collections.abc import Callable, Iterable
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from skfedauc import _group_codes, _input, _labels, _rows, _sklearn, _words
from skfedauc.counts.multiclass import MultiClass, check_multi_class
from skfedauc.counts.score_counts import counts_of_rows
from skfedauc.measures import Measure
from skfedauc.pairs import GroupPairs
from skfedauc.report import MulticlassGroupAUC, multiclass
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.groups import Undefined, UndefinedPolicy, check_undefined
from skfedauc.report.multiclass import ClassAverage
from skfedauc.report.statistics import STATISTICS, ScorerStatistic, check_statistic


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of scorers; see `make_group_auc_scorer`."""

    groups: Any
    measure: Measure | None = None
    undefined: Undefined = "skip"
    pos_label: Any = None
    response_method: str | tuple[str, ...] | None = None
    missing: _labels.Missing = "raise"
    multi_class: MultiClass | Literal["raise"] = "raise"
    class_average: ClassAverage = "macro"

    def __post_init__(self) -> None:
        object.__setattr__(self, "undefined", check_undefined(self.undefined, self.measure))
        check_response_method(self.response_method)
        check_multi_class(self.multi_class, may_raise=True)
        multiclass.check_class_average(self.class_average)
        _check_groups(self.groups)
        _labels.check_missing(self.missing)
        if self.multi_class != "raise":
            multiclass.check_no_two_classes(self.pos_label, self.measure)


def make_group_auc_scorer(
    statistic: ScorerStatistic,
    *,
    groups: Any,
    measure: Measure | None = None,
    undefined: Undefined = "skip",
    pos_label: Any = None,
    response_method: str | tuple[str, ...] | None = None,
    missing: _labels.Missing = "raise",
    multi_class: MultiClass | Literal["raise"] = "raise",
    class_average: ClassAverage = "macro",
) -> GroupAUCScorer:
    """Make a scorer of one group statistic for ``scoring=``.

    Parameters
    ----------
    statistic : str
        "pooled", "macro", "samples", "positives", "negatives", "within", "worst", "ratio",
        "cross", "bias_score", or a negated gap, so that greater is better: "neg_difference",
        "neg_cross_difference", "neg_tau". `group_roc_auc_score` defines the statistics; "neg_tau"
        is minus the unbiased estimate of ``tau**2``, whose mean over folds is unbiased.
    groups : str, list of str, pandas.Series or None
        Source of each row's group.

        - A str or a list of str names columns of the search's X, which the pipeline in the search
          may drop.
        - A Series with the index of X is matched by label; both indexes must be unique.
        - None means that scikit-learn routes the groups as metadata: call
          ``sklearn.set_config(enable_metadata_routing=True)`` first, and pass ``groups=labels`` to
          ``fit``, or ``params={"groups": labels}`` to functions such as `cross_validate`. The
          scorer requests the groups; ``set_score_request(groups="site")`` changes their name.
    measure : Measure, default=None
        Measure instead of the AUC, such as ``PartialAUC(max_fpr=0.1)`` of `skfedauc.measures`. It
        has "pooled", "macro", "samples", "positives", "negatives", "within", "worst" and
        "neg_difference".
    undefined : {"skip", "ignore", "raise"} or float, default="skip"
        How to treat groups that lack a class in a fold: leave them out with ("skip") or without
        ("ignore") a warning, raise a ValueError ("raise"), or use a number as their AUC.
    pos_label : int, float, bool or str, default=None
        The positive label; None means ``estimator.classes_[1]``.
    response_method : str, tuple of str or None, default=None
        The estimator's methods that return scores, preferred first. None means
        "decision_function", else "predict_proba", as in scikit-learn's "roc_auc", else "predict".
        With `multi_class`, None means "predict_proba", as in "roc_auc_ovr".
    missing : {"raise", "drop", "group"}, default="raise"
        How to treat rows without a group label; see `ScoreCounts.from_predictions`.
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        How to treat three or more classes: raise an error, or compare each class with the rest
        ("ovr") or with each other class ("ovo"); see `MulticlassGroupAUC`.
    class_average : {"macro", "weighted"}, default="macro"
        Weights of the classes, or of pairs of classes, with `multi_class`: equal weights
        ("macro"), or the weights of the rows ("weighted").

    Returns
    -------
    GroupAUCScorer
        A callable ``scorer(estimator, X, y)``, as from `sklearn.metrics.make_scorer`.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or `groups` is None while metadata routing is off.
        Positions of columns and arrays are refused as `groups`, because they cannot be matched with
        the rows of a fold.

    See Also
    --------
    group_auc_scoring : Make several scorers that share predictions and counts.
    group_roc_auc_score : The statistic of scores, without an estimator.
    MitigatedClassifier : Reduce gaps of an estimator.
    LightGBMMetric : The statistic during the training with LightGBM.
    XGBoostMetric : The statistic during the training with XGBoost.

    Notes
    -----
    Supported forms of `groups` by tool:

    ============================================  ===========  ==============  ==============
    Tool                                          column of X  aligned Series  routed (None)
    ============================================  ===========  ==============  ==============
    GridSearchCV, RandomizedSearchCV              yes          yes             yes
    HalvingGridSearchCV, permutation_test_score   yes          yes             yes
    cross_validate, cross_val_score               yes          yes             yes
    learning_curve, validation_curve              yes          yes             yes
    LearningCurveDisplay, ValidationCurveDisplay  yes          yes             yes
    RFECV, LogisticRegressionCV, RidgeCV          no (1)       no (1)          yes
    SequentialFeatureSelector                     no (1)       no (1)          yes
    HistGradientBoostingClassifier                no (2)       no (2)          no (2)
    ScoringMonitor                                no (2)       no (2)          no (2)
    TunedThresholdClassifierCV                    no (3)       no (3)          no (3)
    ============================================  ===========  ==============  ==============

    (1) The tool converts X to a numpy array before scoring, so the scorer raises an error, or warns
        with SequentialFeatureSelector. If X contains text, the tool itself fails.
    (2) The tool converts X to a numpy array and passes no groups; the scorer raises an error. Score
        the fitted estimator instead.
    (3) The tool scores predicted labels instead of a ranking; the scorer raises an error.

    A polars or pyarrow X has no index, so a Series cannot align with it. `RidgeCV` works with
    scikit-learn 1.9 or later. ``permutation_importance`` also permutes a group column of X; pass a
    Series instead. Scikit-learn caches predictions by response method only: put a scorer with the
    other class as its ``pos_label`` before the group scorers.

    Leaving out groups that lack a class selects groups by prevalence and size. Compare candidates
    on the same folds.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from skfedauc import make_group_auc_scorer
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"dose": rng.normal(size=200), "site": [1, 2] * 100})
    >>> y = X["dose"] + rng.normal(size=200) > 0
    >>> scorer = make_group_auc_scorer("positives", groups="site")
    >>> scorer
    make_group_auc_scorer('positives', groups='site')
    >>> cross_val_score(LogisticRegression(), X, y, scoring=scorer).round(2)
    array([0.64, 0.86, 0.87, 0.86, 0.82])
    """
    check_statistic(statistic, scorer=True, measure=measure)
    options = Options(
        groups, measure, undefined, pos_label, response_method, missing, multi_class, class_average
    )
    return GroupAUCScorer(statistic, options)


def group_auc_scoring(
    statistics: Iterable[ScorerStatistic],
    *,
    groups: Any,
    each_group: Iterable[Any] = (),
    measure: Measure | None = None,
    undefined: Undefined = "skip",
    pos_label: Any = None,
    response_method: str | tuple[str, ...] | None = None,
    missing: _labels.Missing = "raise",
    multi_class: MultiClass | Literal["raise"] = "raise",
    class_average: ClassAverage = "macro",
) -> dict[str, GroupAUCScorer]:
    """Make a dict of group scorers for ``scoring=``.

    They share one prediction and one pass over the rows. Add other scorers to the dict:
    ``{**group_auc_scoring(...), "ll": "neg_log_loss"}``.

    Parameters
    ----------
    statistics : iterable of str
        Names of statistics as in `make_group_auc_scorer`, and score names.
    groups : str, list of str, pandas.Series or None
        Source of each row's group; see `make_group_auc_scorer`. To route the groups under another
        name, call ``set_score_request(groups="site")`` on each scorer.
    each_group : iterable of labels, default=()
        Group labels whose AUC (with `multi_class`, its average over classes) is an additional
        score, named ``"auc_"`` and the label, with "_" between the parts of a tuple. `undefined` is
        for folds where the group lacks a class; in a fold without the group, the score is NaN, with
        a warning.
    measure : Measure, default=None
        Measure instead of the AUC; see `make_group_auc_scorer`. Its name is then part of the
        names, such as "worst_partial_auc_max_fpr_0.1" or "sensitivity_at_0.9_a".
    undefined : {"skip", "ignore", "raise"} or float, default="skip"
        How to treat groups that lack a class in a fold; see `make_group_auc_scorer`.
    pos_label, response_method : object, default=None
        As in `make_group_auc_scorer`.
    missing, multi_class : str, default="raise"
        As in `make_group_auc_scorer`.
    class_average : {"macro", "weighted"}, default="macro"
        As in `make_group_auc_scorer`.

    Returns
    -------
    dict of str to GroupAUCScorer
        Scorers by score name.

    Raises
    ------
    ValueError, TypeError
        In the cases of `make_group_auc_scorer`, and if names repeat or there are no names.

    See Also
    --------
    make_group_auc_scorer : Make one scorer; its notes list the supported tools.
    GroupAUC : All statistics of one model.
    cross_validate_group_auc : Report of the test rows in all folds.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skfedauc import group_auc_scoring
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"dose": rng.normal(size=200), "site": [1, 2] * 100})
    >>> y = X["dose"] + rng.normal(size=200) > 0
    >>> scoring = group_auc_scoring(["pooled", "neg_difference"], groups="site", each_group=[1, 2])
    >>> search = GridSearchCV(
    ...     LogisticRegression(), {"C": [0.1, 1.0]}, scoring=scoring, refit="pooled"
    ... ).fit(X, y)
    >>> sorted(key for key in search.cv_results_ if key.startswith("mean_test"))
    ['mean_test_auc_1', 'mean_test_auc_2', 'mean_test_neg_difference', 'mean_test_pooled']
    """
    for name, given in (("statistics", statistics), ("each_group", each_group)):
        if isinstance(given, str) or not isinstance(given, Iterable):
            of = {"statistics": "names", "each_group": "group labels"}[name]
            raise TypeError(
                f"{name} must be a list of {of}; got {_words.shortened(given)}. Use "
                f"{name}=[{_words.shortened(given)}]."
            )
    options = Options(
        groups, measure, undefined, pos_label, response_method, missing, multi_class, class_average
    )
    scorers = []
    for statistic in statistics:
        check_statistic(statistic, scorer=True, measure=measure, argument="statistics")
        scorers.append(GroupAUCScorer(statistic, options))
    labels = list(map(_labels.as_label, each_group))
    _check_each_group(labels, groups, missing)
    scorers += [GroupAUCScorer("group", options, label) for label in labels]
    names = [scorer.__name__ for scorer in scorers]
    if not names:
        raise ValueError("statistics and each_group are both empty; name at least one score.")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(
            "statistics and each_group must name different scores; repeated: "
            f"[{_words.all_shortened(repeated)}]."
        )
    return dict(zip(names, scorers, strict=True))


def _check_each_group(labels: list[Any], groups: Any, missing: _labels.Missing) -> None:
    """Raise an error before the search for labels that no row can have."""
    for label in labels:
        if _labels.kind_of_label(label) is None:
            raise _labels.not_a_label(label, "each_group")
    n_columns = len(groups) if isinstance(groups, list) else 1
    if _rows.is_column_names(groups) and n_columns > 1:
        odd = [g for g in labels if not isinstance(g, tuple) or len(g) != n_columns]
        if odd:
            raise ValueError(
                f"each_group must hold tuples of {n_columns} labels, one for each of the columns "
                f"[{_words.all_shortened(groups)}]; got {_words.shortened(odd[0])}."
            )
    elif hasattr(groups, "dropna"):
        how: _labels.Missing = "group" if missing == "group" else "drop"
        known = _group_codes.encode_groups(groups, missing=how).labels.tolist()
        unknown = [label for label in labels if label not in known]
        if unknown:
            raise ValueError(
                f"each_group names [{_words.all_shortened(unknown[:3])}], which no row has; "
                f"the groups are {_words.all_shortened(known[:10])}."
            )


def check_response_method(response_method: Any) -> None:
    methods = ("decision_function", "predict_proba", "predict_log_proba", "predict")
    if response_method is None:
        return
    is_several = isinstance(response_method, tuple | list) and len(response_method) > 0
    for name in response_method if is_several else (response_method,):
        hint = " A tuple of these is tried in order."
        _input.check_option("response_method", name, methods, hint)


def _check_groups(groups: Any) -> None:
    if groups is None and not _sklearn.is_routing_enabled():
        raise ValueError(
            "groups=None lets scikit-learn route the groups, but metadata routing is off. Either "
            "name the column(s) of X with the groups, groups='site'; or pass a pandas Series with "
            "the index of X; or call sklearn.set_config(enable_metadata_routing=True) first and "
            "pass groups to fit (or as params={'groups': ...})."
        )
    _rows.check_source_of_groups(groups, "routed by scikit-learn")
    if _rows.is_series(groups):  # A search can leave out the rows without a label.
        _group_codes.encode_groups(groups.dropna())


# Scikit-learn's default folds ignore groups. With rows in the order of groups, a fold may hold one
# group.
FOLDS_REMEDY = (
    " In cross-validation, the folds of cv=WithinGroupStratifiedKFold(...) have both classes of "
    "every group with as many rows of each class as there are folds; merge smaller groups, or use "
    "fewer folds."
)
_ONCE = " Each process of a search issues this warning once for these groups."
# What the warnings of a search reported, by scorer; scikit-learn copies scorers for each fit
_REPORTED: dict[str, set[Any]] = {}
# Results of the current scoring call, by method caller. All scorers of a multi-metric search share
# one method caller, which lives as long as the call.
_RESULTS: WeakKeyDictionary[Any, dict[Any, tuple[Any, Any]]] = WeakKeyDictionary()


def shared(method_caller: Any, key: Any, kept: Any, compute: Callable[[], Any]) -> Any:
    """Return the result of `compute`; scorers with an equal key share the result of one call.

    `method_caller` is an object that scikit-learn makes for each call. `kept` are the objects whose
    ids are part of the key, which are unique while these objects exist.
    """
    results = _RESULTS.setdefault(method_caller, {})
    if key not in results:
        results[key] = compute(), kept
    return results[key][0]


class _StatisticOfLabels:
    """Placeholder for the metric function of a scorer; some tools read its name.

    Tools that call this function pass predicted labels (TunedThresholdClassifierCV) or scores
    (skore), but no X with the groups.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(
        self, y_true: Any, y_score: Any, *, groups: Any = None, sample_weight: Any = None
    ) -> float:
        raise TypeError(
            "group AUC scorers need scores and the groups of the rows, but this tool calls the "
            "metric of the scorer without X and groups. If the tool tunes a threshold (as "
            "TunedThresholdClassifierCV does), select the model with this scorer first, then tune "
            "its threshold with a metric of labels, such as scoring='balanced_accuracy'. Otherwise "
            "pass a function that calls the scorer, lambda model, X, y: scorer(model, X, y)."
        )


class GroupAUCScorer(_sklearn.BaseScorer):
    """Scorer of one group statistic, returned by `make_group_auc_scorer`.

    Parameters
    ----------
    statistic : str
        Name of the statistic in scorers, or "group" for the AUC of the group `label`.
    options : Options
        Arguments of `make_group_auc_scorer`.
    label : object, default=None
        Label of the group whose AUC is the score, if `statistic` is "group".
    """

    def __init__(self, statistic: str, options: Options, label: Any = None) -> None:
        measure = options.measure
        if statistic == "group":
            parts = label if isinstance(label, tuple) else (label,)
            parts = ("auc" if measure is None else measure.name, *parts)
        else:
            parts = (statistic,) if measure is None else (statistic, measure.name)
        self.__name__ = "_".join(map(str, parts))
        methods = options.response_method
        if methods is None:
            of_two = options.multi_class == "raise"
            methods = _sklearn.PREFERRED if of_two else _sklearn.OF_CLASSES
        sign = -1 if statistic.startswith("neg_") else 1
        metric = _StatisticOfLabels(self.__name__.removeprefix("neg_"))
        super().__init__(metric, sign, {}, methods)
        self._statistic = statistic
        self._options = options
        self._label = label
        self._identifier = secrets.token_hex(16)
        self._requests: dict[str, Any] = {"sample_weight": None}
        if options.groups is None:
            self._requests["groups"] = True

    def _score(
        self,
        method_caller: Any,
        estimator: Any,
        X: Any,
        y_true: Any,
        *,
        groups: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Score an estimator; the scorers of a multi-metric search share their reports."""
        options, measure = self._options, self._options.measure
        source = groups if options.groups is None else options.groups
        key = (
            repr(source) if _rows.is_column_names(source) else id(source),
            id(sample_weight),
            repr(self._response_method),
            repr(options.pos_label),
            options.undefined,
            options.missing,
            options.multi_class,
        )
        kept = source, sample_weight
        rows = X, y_true, groups, sample_weight
        of_rows = functools.partial(self._report, method_caller, estimator, *rows)
        report = shared(method_caller, key, kept, of_rows)
        if measure is not None:
            of_measure = functools.partial(report.of_measure, measure)
            report = shared(method_caller, (key, measure), kept, of_measure)
        value = self._value(report)
        return -value if self._sign < 0 else value

    def _value(self, report: GroupEstimates | MulticlassGroupAUC) -> float:
        """Return the statistic, or the AUC of the group `label`, without the score's sign."""
        options = self._options
        if self._statistic != "group":
            statistic = STATISTICS[self._statistic.removeprefix("neg_")]
            if isinstance(report, GroupEstimates):
                return report.value_of(statistic.scored)
            return multiclass.averaged(report, statistic.scored, options.class_average)
        if isinstance(report, GroupEstimates):
            return self._of_group(report.pairs.counts.groups or (), report.by_group, report.policy)
        values = report.average_by_group(options.class_average)
        # The policies of the reports name a comparison of classes in their messages.
        return self._of_group(tuple(values.index.tolist()), values.to_numpy(), self._policy())

    def _policy(self, remedy: str = "") -> UndefinedPolicy:
        undefined, reported = self._options.undefined, self._reported()
        return UndefinedPolicy(undefined, remedy=remedy, warns_once=True, reported=reported)

    def _rows(self, X: Any, y_true: Any, groups: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        if self._options.groups is None and groups is None:
            raise ValueError(
                "the scorer was made with groups=None, but received no groups. Pass groups "
                "with the data: search.fit(X, y, groups=labels), or cross_validate(..., "
                "params={'groups': labels}); or make the scorer with groups='site', the "
                "name of a column of X."
            )
        # Match rows by position, as scikit-learn splits rows. Ignore the index of y, because
        # permutation_test_score shuffles y with its index.
        inputs = {"X": X, "groups": groups, "sample_weight": sample_weight}
        _rows.check_row_order(inputs, is_cut=True)
        y_true = _input.column_of(y_true, "y_true")
        if sample_weight is not None:
            sample_weight = _input.column_of(sample_weight, "sample_weight")
        if self._options.groups is not None:
            groups = _rows.groups_of_rows(self._options.groups, X, are_from_x=True)
        return y_true, groups, sample_weight

    def _report(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, groups: Any, weights: Any
    ) -> GroupEstimates | MulticlassGroupAUC:
        options = self._options
        y_true, labels, weights = self._rows(X, y_true, groups, weights)
        if options.multi_class == "raise":
            asked = options.response_method, options.pos_label
            shared: Any = {"method_caller": method_caller, "reported": self._reported()}
            model = _sklearn.scores_of(estimator, X, *asked, **shared)
            given = y_true, model.scores, labels, weights, model.positive
            rows = _rows.check_rows(*given, missing=options.missing, warn_labels=False)
            policy = self._policy(FOLDS_REMEDY + _ONCE)
            return GroupEstimates(GroupPairs(counts_of_rows(rows)), policy)
        remedy = "Make the scorer without multi_class."
        classes, scores = _sklearn.class_scores_of(
            estimator, X, options.response_method, remedy=remedy, method_caller=method_caller
        )
        report = MulticlassGroupAUC.from_predictions(
            y_true,
            scores,
            groups=labels,
            multi_class=options.multi_class,
            labels=classes,
            sample_weight=weights,
            undefined=options.undefined,
            missing=options.missing,
        )
        report._reported = self._reported()  # noqa: SLF001
        return report

    def _reported(self) -> set[Any] | None:
        """Return what warnings of a search reported; None for a call outside of a search."""
        if not _sklearn.is_scored_by_a_tool():
            return None
        return _REPORTED.setdefault(self._identifier, set())

    def _of_group(
        self, known: tuple[Any, ...], values: NDArray[np.float64], policy: UndefinedPolicy
    ) -> float:
        """Return the value of the group `label`, from the values of all groups."""
        value = float(values[known.index(self._label)]) if self._label in known else np.nan
        if not np.isnan(value):
            return value
        undefined, measure = self._options.undefined, self._options.measure
        is_absent = self._label not in known
        # A number replaces an undefined AUC, but must not replace the AUC of a misspelled group.
        if isinstance(undefined, float) and not is_absent:
            return undefined
        state = "is absent" if is_absent else "lacks a class"
        of = "AUC" if measure is None else repr(measure)
        message = (
            f"group {_words.shortened(self._label)} {state} in the scored rows, so its {of} is "
            f"undefined; the groups of these rows are {_words.all_shortened(known[:10])}"
            f"{', ...' if len(known) > 10 else ''}.{FOLDS_REMEDY}"
        )
        if undefined == "raise":
            raise ValueError(message)
        if undefined != "ignore":
            # An absent label may be a misspelling, which no other warning reports.
            about = "absent" if is_absent else "undefined"
            policy.warn(f"{message}{_ONCE}", [self._label], about)
        return value

    def set_score_request(self, **requests: Any) -> GroupAUCScorer:
        """Request metadata, or change its name, in addition to earlier requests.

        Parameters
        ----------
        **requests : dict
            ``groups`` (only for scorers made with ``groups=None``) and ``sample_weight``; each is
            True, False, None or the name of the metadata in the call.

        Returns
        -------
        GroupAUCScorer
            The scorer itself.
        """
        if not _sklearn.is_routing_enabled():
            raise RuntimeError(
                "This method is only available with metadata routing; enable it with "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        unknown = set(requests) - set(self._requests)
        if unknown:
            hint = " This scorer reads its groups from X; make it with groups=None to route groups."
            raise TypeError(
                f"set_score_request takes {', '.join(sorted(self._requests))}; got "
                f"{', '.join(sorted(unknown))}.{hint * ('groups' in unknown)}"
            )
        self._requests = {**self._requests, **requests}
        return self

    def _get_metadata_request(self) -> Any:
        request = _sklearn.MetadataRequest(owner=self)
        for name, alias in self._requests.items():
            request.score.add_request(param=name, alias=alias)
        return request

    def _accept_sample_weight(self) -> bool:
        return True

    def __deepcopy__(self, memo: dict[int, Any]) -> GroupAUCScorer:
        """Copy all attributes except `groups`, so that scorers of a cloned dict share estimates."""
        return copy.copy(self)

    def __repr__(self) -> str:
        source = self._options.groups
        is_named = source is None or _rows.is_column_names(source)
        parts = [f"groups={source!r}" if is_named else f"groups=<Series of {len(source)} labels>"]
        if self._label is not None:
            parts.append(f"each_group=[{self._label!r}]")
        for field in dataclasses.fields(self._options)[1:]:
            value = getattr(self._options, field.name)
            parts += [f"{field.name}={value!r}"] if value != field.default else []
        if self._statistic == "group":
            return f"group_auc_scoring([], {', '.join(parts)})"
        return f"make_group_auc_scorer({self._statistic!r}, {', '.join(parts)})"
