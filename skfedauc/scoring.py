"""Scorers of one group statistic, of a group's AUC, or of an average over classes."""

from __future__ import annotations

import copy
import functools
import secrets
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _sklearn, _words
from skfedauc.counts import MultiClass, MulticlassCounts, check_multi_class
from skfedauc.counts.score_counts import counts_of_rows
from skfedauc.measures import Measure, check_measure
from skfedauc.pairs import GroupPairs
from skfedauc.report import (
    STATISTICS,
    ClassAverage,
    GroupEstimates,
    MulticlassGroupAUC,
    ScorerStatistic,
    Undefined,
    UndefinedPolicy,
    check_class_average,
    check_no_two_classes,
    check_replacement,
    check_statistic,
    check_undefined,
)


def make_group_auc_scorer(
    statistic: ScorerStatistic,
    *,
    groups: Any,
    measure: Measure | None = None,
    undefined: Undefined = "skip",
    pos_label: Any = None,
    response_method: str | tuple[str, ...] | None = None,
    missing: _input.Missing = "raise",
    multi_class: MultiClass | Literal["raise"] = "raise",
    class_average: ClassAverage = "macro",
) -> GroupAUCScorer:
    """Make a scorer of one group statistic for ``scoring=``.

    Parameters
    ----------
    statistic : str
        "pooled", "macro", "samples", "positives", "negatives", "within", "worst", "ratio",
        "cross", "bias_score", or a negated gap, so that greater is better: "neg_difference",
        "neg_cross_difference", "neg_tau". `group_roc_auc_score` defines the statistics.
    groups : str, list of str, pandas.Series or None
        Source of each row's group.

        - A str or a list of str names columns of the search's X. The pipeline inside the
          search may drop these columns.
        - The scorer matches a Series with the index of X by label; both indexes must be unique.
        - None means that scikit-learn routes the groups as metadata: pass ``groups=labels`` to
          ``fit``, or ``params={"groups": labels}`` to functions such as `cross_validate`. Call
          ``sklearn.set_config(enable_metadata_routing=True)`` first. The scorer already requests
          the groups; ``set_score_request(groups="site")`` changes the name of the request.
    measure : Measure, default=None
        Measure instead of the AUC, such as ``PartialAUC(max_fpr=0.1)`` of `skfedauc.measures`. The
        statistics "pooled", "macro", "samples", "positives", "negatives", "within", "worst" and
        "neg_difference" are then available.
    undefined : {"skip", "ignore", "raise"} or float, default="skip"
        How to treat groups that lack a class in a fold: leave them out with ("skip") or without
        ("ignore") a warning, raise a ValueError ("raise"), or use a number as their AUC.
    pos_label : int, float, bool or str, default=None
        The positive label; None means ``estimator.classes_[1]``.
    response_method : str, tuple of str or None, default=None
        The estimator's methods that return scores, preferred first. None means
        "decision_function", else "predict_proba", as in scikit-learn's "roc_auc". With
        `multi_class`, None means "predict_proba", as in "roc_auc_ovr".
    missing : {"raise", "drop", "group"}, default="raise"
        How to treat rows without a group label; see `ScoreCounts.from_predictions`.
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        How to treat classifiers of three or more classes: raise an error, or compare each class
        with the rest ("ovr") or with each other class ("ovo"), as scikit-learn's scorers
        "roc_auc_ovr" and "roc_auc_ovo"; see `MulticlassGroupAUC`.
    class_average : {"macro", "weighted"}, default="macro"
        Weights of the classes, or of pairs of classes, with `multi_class`: equal weights
        ("macro"), or the weights of the rows ("weighted").

    Returns
    -------
    GroupAUCScorer
        A callable ``scorer(estimator, X, y)``, like the scorers made by
        `sklearn.metrics.make_scorer`.

    Raises
    ------
    ValueError
        If there is no such statistic, or `groups` is None while metadata routing is off.
    TypeError
        If `groups` is not a str, a list of str, a Series or None. The scorer refuses column
        positions, because positions differ if a tool passes a subset of the columns.

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

    ==========================================  ===========  ==============  ==============
    Tool                                        column of X  aligned Series  routed (None)
    ==========================================  ===========  ==============  ==============
    GridSearchCV, RandomizedSearchCV            yes          yes             yes
    HalvingGridSearchCV                         yes          yes             yes
    cross_validate, cross_val_score             yes          yes             yes
    learning_curve, validation_curve            yes          yes             yes
    LearningCurveDisplay                        yes          yes             yes
    ValidationCurveDisplay                      yes          yes             yes
    permutation_test_score                      yes          yes             yes
    RFECV, LogisticRegressionCV, RidgeCV        no (1)       no (1)          yes
    SequentialFeatureSelector                   no (1)       no (1)          yes
    HistGradientBoostingClassifier              no (2)       no (2)          no (2)
    ScoringMonitor                              no (2)       no (2)          no (2)
    TunedThresholdClassifierCV                  no (3)       no (3)          no (3)
    ==========================================  ===========  ==============  ==============

    (1) The tool converts X to a numpy array before scoring. The scorer then raises an error, or
        warns with SequentialFeatureSelector. If X contains text, the tool itself fails.
    (2) The tool converts X to a numpy array and passes no groups to its scorer, which raises an
        error. Score the fitted estimator instead.
    (3) The tool scores predicted labels instead of a ranking; the scorer raises an error.

    A polars or pyarrow X has no index, so a Series cannot align with it. `RidgeCV` works with
    scikit-learn 1.9 or later.

    Scikit-learn caches the predictions of the scorers in a dict by response method only. So put a
    scorer that has the other class as its ``pos_label`` before the group scorers; otherwise it
    gets the scores of the wrong class.

    ``permutation_importance`` also permutes a group column of X; pass a Series instead.

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
    make = _maker(
        groups, measure, undefined, pos_label, response_method, missing, multi_class, class_average
    )
    return make(statistic, None)


def group_auc_scoring(
    statistics: Iterable[ScorerStatistic],
    *,
    groups: Any,
    each_group: Iterable[Any] = (),
    measure: Measure | None = None,
    undefined: Undefined = "skip",
    pos_label: Any = None,
    response_method: str | tuple[str, ...] | None = None,
    missing: _input.Missing = "raise",
    multi_class: MultiClass | Literal["raise"] = "raise",
    class_average: ClassAverage = "macro",
) -> dict[str, GroupAUCScorer]:
    """Make a dict of group scorers for ``scoring=``.

    Add other scorers to the dict: ``{**group_auc_scoring(...), "ll": "neg_log_loss"}``. The scorers
    in the dict share one prediction and one pass over the rows.

    Parameters
    ----------
    statistics : iterable of str
        Names of statistics as in `make_group_auc_scorer`, and score names.
    groups : str, list of str, pandas.Series or None
        Source of each row's group; see `make_group_auc_scorer`.
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

    Notes
    -----
    To route the groups under another name: ``{name:
    scorer.set_score_request(groups="site") for name, scorer in group_auc_scoring([...],
    groups=None).items()}``.

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
    >>> search = GridSearchCV(
    ...     LogisticRegression(),
    ...     {"C": [0.1, 1.0]},
    ...     scoring=group_auc_scoring(
    ...         ["pooled", "neg_difference"], groups="site", each_group=[1, 2]
    ...     ),
    ...     refit="pooled",
    ...     error_score="raise",
    ... ).fit(X, y)
    >>> sorted(key for key in search.cv_results_ if key.startswith("mean_test"))
    ['mean_test_auc_1', 'mean_test_auc_2', 'mean_test_neg_difference', 'mean_test_pooled']
    """
    if isinstance(statistics, str) or not isinstance(statistics, Iterable):
        raise TypeError(
            f"statistics must be a list of names; got {_words.shortened(statistics)}. Use "
            f"[{_words.shortened(statistics)}], or make_group_auc_scorer for a single scorer."
        )
    if isinstance(each_group, str) or not isinstance(each_group, Iterable):
        raise TypeError(
            f"each_group must be a list of group labels; got {_words.shortened(each_group)}. "
            f"Use [{_words.shortened(each_group)}]."
        )
    make = _maker(
        groups, measure, undefined, pos_label, response_method, missing, multi_class, class_average
    )
    named: list[tuple[str, str, Any]] = []
    for name in statistics:
        check_statistic(name, scorer=True, measure=measure, argument="statistics")
        named.append((name_of_score(name, None, measure), name, None))
    labels = [_input.check_label(label, "each_group") for label in each_group]
    _check_each_group(labels, groups, missing)
    named += [(name_of_score("group", label, measure), "group", label) for label in labels]
    repeated = {name for name, *_ in named if sum(name == other[0] for other in named) > 1}
    if repeated or not named:
        raise ValueError(
            "statistics and each_group must name different scores; repeated: "
            f"[{_words.all_shortened(sorted(repeated))}]."
            if repeated
            else "statistics and each_group are both empty; name at least one score."
        )
    return {name: make(statistic, label) for name, statistic, label in named}


def _maker(
    groups: Any,
    measure: Measure | None,
    undefined: Any,
    pos_label: Any,
    response_method: Any,
    missing: Any,
    multi_class: Any,
    class_average: Any,
) -> Callable[[str, Any], GroupAUCScorer]:
    """Check the options of scorers; return a function from a statistic and a label to a scorer."""
    undefined = check_undefined(undefined)
    check_replacement(undefined, check_measure(measure))
    check_response_method(response_method)
    check_multi_class(multi_class, may_raise=True)
    check_class_average(class_average)
    _check_groups(groups)
    missing = _input.check_missing(missing)
    if multi_class == "raise":
        return lambda statistic, label: GroupAUCScorer(
            statistic, groups, undefined, pos_label, response_method, label, missing, measure
        )
    check_no_two_classes(pos_label, measure)
    way = check_multi_class(multi_class)
    return lambda statistic, label: MulticlassGroupAUCScorer(
        statistic, groups, undefined, response_method, missing, way, class_average, label
    )


def _check_each_group(labels: list[Any], groups: Any, missing: _input.Missing) -> None:
    """Raise an error before the search for labels that no row can have."""
    n_columns = len(groups) if isinstance(groups, list) else 1
    if _input.is_column_names(groups) and n_columns > 1:
        odd = [g for g in labels if not isinstance(g, tuple) or len(g) != n_columns]
        if odd:
            raise ValueError(
                f"each_group must hold tuples of {n_columns} labels, one for each of the columns "
                f"[{_words.all_shortened(groups)}]; got {_words.shortened(odd[0])}."
            )
    elif hasattr(groups, "dropna"):
        how: _input.Missing = "group" if missing == "group" else "drop"
        known = _input.encode_groups(groups, missing=how)[1].tolist()
        unknown = [label for label in labels if label not in known]
        if unknown:
            raise ValueError(
                f"each_group names [{_words.all_shortened(unknown[:3])}], which no row has; "
                f"the groups are {_words.all_shortened(known[:10])}."
            )


def check_response_method(response_method: Any) -> None:
    """Raise an error for names of methods that do not return scores."""
    methods = ("decision_function", "predict_proba", "predict_log_proba", "predict")
    if response_method is None:
        return
    given = (response_method,) if isinstance(response_method, str) else response_method
    if (
        not isinstance(given, tuple | list)
        or not given
        or not all(isinstance(name, str) and name in methods for name in given)
    ):
        raise ValueError(
            f"response_method must be one or several of {', '.join(map(repr, methods))}; got "
            f"{_words.shortened(response_method)}."
        )


def _check_groups(groups: Any) -> None:
    if groups is None:
        if not _sklearn.is_routing_enabled():
            raise ValueError(
                "groups=None lets scikit-learn route the groups, but metadata routing is "
                "off. Either name the column(s) of X with the groups, groups='site'; or pass "
                "a pandas Series with the index of X; or call "
                "sklearn.set_config(enable_metadata_routing=True) first and pass groups to "
                "fit (or as params={'groups': ...})."
            )
        return
    if _input.is_column_names(groups):
        return
    if not _input.is_series(groups):
        raise TypeError(
            "groups must be the name of a column of X, a list of names, a pandas Series with "
            "the index of X, or None (routed by scikit-learn); got "
            f"{_input.kind_in_words(groups)}. Positions of columns and arrays are not supported, "
            "because they cannot be matched with the rows of a fold. To group by several Series, "
            "add them to X as columns and pass the list of column names."
        )
    _input.check_unique_index(groups, "groups")
    _input.encode_groups(groups.dropna())  # A search can leave out the rows without a label.


# Scikit-learn's default folds ignore groups. With rows in the order of groups, a fold may hold one
# group.
FOLDS_REMEDY = (
    " In cross-validation, the folds of cv=WithinGroupStratifiedKFold(...) have both classes of "
    "every group with as many rows of each class as there are folds; merge smaller groups, or use "
    "fewer folds."
)
_ONCE = " A search issues this warning once, for any number of folds and candidates."
# What the warnings of a search reported, by scorer; scikit-learn copies scorers for each fit
_REPORTED: dict[str, set[Any]] = {}
# Results of the current scoring call, by method caller. All scorers of a multi-metric search share
# one method caller, which lives as long as the call.
_RESULTS: WeakKeyDictionary[Any, dict[Any, tuple[Any, Any]]] = WeakKeyDictionary()
Result = TypeVar("Result")


def shared(method_caller: Any, key: Any, kept: Any, compute: Callable[[], Result]) -> Result:
    """Return the result of `compute`; scorers with an equal key share the result of one call.

    `method_caller` is an object that scikit-learn makes for each call. `kept` are the objects whose
    ids are part of the key, which are unique while these objects exist.
    """
    results = _RESULTS.setdefault(method_caller, {})
    if key not in results:
        results[key] = compute(), kept
    found: Result = results[key][0]
    return found


def name_of_score(statistic: str, label: Any, measure: Measure | None) -> str:
    """Return the score's name: of a statistic, or of a group if `statistic` is "group"."""
    if statistic != "group":
        return statistic if measure is None else f"{statistic}_{measure.name}"
    parts = label if isinstance(label, tuple) else (label,)
    return "_".join(["auc" if measure is None else measure.name, *map(str, parts)])


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
        if np.unique(y_score).size > 2:
            raise TypeError(
                "group AUC scorers need the groups of the rows, but this tool calls the metric of "
                "the scorer without X (as skore does). Instead of the scorer, pass a function "
                "that calls the scorer, such as lambda model, X, y: scorer(model, X, y)."
            )
        raise TypeError(
            "group AUC scorers need scores, but this tool passes labels that are predicted at a "
            "threshold (as TunedThresholdClassifierCV does). Select "
            "the model with this scorer in a search first; then tune its threshold with a "
            "metric of labels, such as scoring='balanced_accuracy'."
        )


class GroupAUCScorer(_sklearn.BaseScorer):
    """Scorer of one group statistic, returned by `make_group_auc_scorer`.

    Parameters
    ----------
    statistic : str
        Name of the statistic in scorers, or "group" for the AUC of the group `label`.
    groups : str, list of str, pandas.Series or None
    undefined : {"skip", "ignore", "raise"} or float
    pos_label : int, float, bool, str or None
    response_method : str, tuple of str or None
    label : object, default=None
        Label of the group whose AUC is the score, if `statistic` is "group".
    missing : {"raise", "drop", "group"}, default="raise"
    measure : Measure, default=None
    """

    _default_responses: str | tuple[str, ...] = _sklearn.TWO_CLASSES
    _multi_class: Any = None

    def __init__(
        self,
        statistic: str,
        groups: Any,
        undefined: Undefined,
        pos_label: Any,
        response_method: str | tuple[str, ...] | None,
        label: Any = None,
        missing: _input.Missing = "raise",
        measure: Measure | None = None,
    ) -> None:
        self.__name__ = name_of_score(statistic, label, measure)
        sign = -1 if statistic.startswith("neg_") else 1
        metric = _StatisticOfLabels(self.__name__.removeprefix("neg_"))
        if response_method is None:
            response_method = self._default_responses
        super().__init__(metric, sign, {}, response_method)
        self._statistic = statistic
        self._groups = groups
        self._undefined = undefined
        self._pos_label = pos_label
        self._label = label
        self._missing = missing
        self._measure = measure
        self._identifier = secrets.token_hex(16)
        self._requests: dict[str, Any] = {"sample_weight": None}
        if groups is None:
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
        key, kept = self._key(groups, sample_weight)

        def report_of_rows() -> Any:
            rows = self._rows(X, y_true, groups, sample_weight)
            return self._report(method_caller, estimator, X, *rows)

        report = shared(method_caller, key, kept, report_of_rows)
        measure = self._measure
        if measure is not None:
            of_measure = functools.partial(report.of_measure, measure)
            report = shared(method_caller, (key, measure), kept, of_measure)
        value = self._value(report)
        return -value if self._sign < 0 else value

    def _value(self, report: Any) -> float:
        """Return the statistic, or the AUC of the group `label`, without the score's sign."""
        if self._statistic == "group":
            known = report.pairs.counts.groups or ()
            return self._of_group(known, report.by_group, report.policy)
        statistic = STATISTICS[self._statistic.removeprefix("neg_")]
        value: float = report.value_of(statistic.score or statistic.compute)
        return value

    def _key(self, groups: Any, sample_weight: Any) -> tuple[Any, Any]:
        """Return a key of the shared report, and the objects whose ids are part of the key."""
        source = groups if self._groups is None else self._groups
        key = (
            id(source) if not _input.is_column_names(source) else repr(source),
            id(sample_weight),
            repr(self._response_method),
            repr(self._pos_label),
            self._undefined,
            self._missing,
            self._multi_class,
        )
        return key, (source, sample_weight)

    def _rows(self, X: Any, y_true: Any, groups: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Return the labels, the groups and the weights of the rows."""
        if self._groups is None and groups is None:
            raise ValueError(
                "the scorer was made with groups=None, but received no groups. Pass groups "
                "with the data: search.fit(X, y, groups=labels), or cross_validate(..., "
                "params={'groups': labels}); or make the scorer with groups='site', the "
                "name of a column of X."
            )
        # Match rows by position, as scikit-learn splits rows. Ignore the index of y, because
        # permutation_test_score shuffles y with its index.
        _input.check_row_order(
            {"X": X, "groups": groups, "sample_weight": sample_weight}, is_cut=True
        )
        y_true = _input.column_of(y_true, "y_true")
        if sample_weight is not None:
            sample_weight = _input.column_of(sample_weight, "sample_weight")
        labels = groups if self._groups is None else _input.groups_by_name(self._groups, X)
        return y_true, labels, sample_weight

    def _report(
        self,
        method_caller: Any,
        estimator: Any,
        X: Any,
        y_true: NDArray[Any],
        labels: Any,
        sample_weight: NDArray[Any] | None,
    ) -> Any:
        """Return the report of the rows, from which `_value` reads the score."""
        model = _sklearn.scores_of(
            estimator, X, self._response_method, self._pos_label, method_caller=method_caller
        )
        rows = _input.check_rows(
            y_true,
            model.scores,
            labels,
            sample_weight,
            model.positive,
            missing=self._missing,
            warn_labels=False,
        )
        policy = UndefinedPolicy(
            self._undefined,
            remedy=FOLDS_REMEDY + _ONCE,
            warns_once=True,
            reported=self._reported(),
        )
        return GroupEstimates(GroupPairs(counts_of_rows(rows)), policy)

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
        is_absent = self._label not in known
        # A number replaces an undefined AUC, but must not replace the AUC of a misspelled group.
        if isinstance(self._undefined, float) and not is_absent:
            return self._undefined
        state = "is absent" if is_absent else "lacks a class"
        of = "AUC" if self._measure is None else repr(self._measure)
        message = (
            f"group {_words.shortened(self._label)} {state} in the scored rows, so its {of} is "
            f"undefined; the groups of these rows are {_words.all_shortened(known[:10])}"
            f"{', ...' if len(known) > 10 else ''}.{FOLDS_REMEDY}"
        )
        if self._undefined == "raise":
            raise ValueError(message)
        if self._undefined != "ignore":
            # An absent label may be a misspelling, which no other warning reports.
            about = "absent" if is_absent else "undefined"
            policy.warn(f"{message}{_ONCE}", about, [self._label])
        return value

    # Interface of scikit-learn scorers -------------------------------------------------

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
            hint = (
                " This scorer reads its groups from X; make the scorer with groups=None to route "
                "groups."
                if "groups" in unknown
                else ""
            )
            raise TypeError(
                f"set_score_request takes {', '.join(sorted(self._requests))}; got "
                f"{', '.join(sorted(unknown))}.{hint}"
            )
        self._requests = {**self._requests, **requests}
        return self

    def _get_metadata_request(self) -> Any:
        return _sklearn.score_requests(self, self._requests)

    def _accept_sample_weight(self) -> bool:
        return True

    def __deepcopy__(self, memo: dict[int, Any]) -> GroupAUCScorer:
        """Copy all attributes except `groups`, so that scorers of a cloned dict share estimates."""
        return copy.copy(self)

    def __repr__(self) -> str:
        if _input.is_column_names(self._groups) or self._groups is None:
            groups = repr(self._groups)
        else:
            groups = f"<Series of {len(self._groups)} labels>"
        parts = [f"groups={groups}"]
        if self._label is not None:
            parts.append(f"each_group=[{self._label!r}]")
        if self._measure is not None:
            parts.append(f"measure={self._measure!r}")
        if self._undefined != "skip":
            parts.append(f"undefined={self._undefined!r}")
        if self._pos_label is not None:
            parts.append(f"pos_label={self._pos_label!r}")
        if self._response_method != self._default_responses:
            parts.append(f"response_method={self._response_method!r}")
        if self._missing != "raise":
            parts.append(f"missing={self._missing!r}")
        if self._statistic == "group":
            return f"group_auc_scoring([], {', '.join(parts)})"
        return f"make_group_auc_scorer({self._statistic!r}, {', '.join(parts)})"


class MulticlassGroupAUCScorer(GroupAUCScorer):
    """Scorer of the average over classes of one group statistic.

    Parameters
    ----------
    statistic : str
        Name of the statistic in scorers.
    groups : str, list of str, pandas.Series or None
    undefined : {"skip", "ignore", "raise"} or float
    response_method : str, tuple of str or None
    missing : {"raise", "drop", "group"}
    multi_class : {"ovr", "ovo"}
    class_average : {"macro", "weighted"}
    label : object, default=None
        Label of the group whose average over classes is the score, if `statistic` is "group".
    """

    _default_responses = _sklearn.OF_CLASSES

    def __init__(
        self,
        statistic: str,
        groups: Any,
        undefined: Undefined,
        response_method: str | tuple[str, ...] | None,
        missing: _input.Missing,
        multi_class: MultiClass,
        class_average: ClassAverage,
        label: Any = None,
    ) -> None:
        super().__init__(statistic, groups, undefined, None, response_method, label, missing)
        self._multi_class = multi_class
        self._class_average = class_average

    def _value(self, report: Any) -> float:
        if self._statistic == "group":
            values = report.average_by_group(self._class_average).to_numpy()
            # The policies of the reports name a comparison of classes in their messages.
            policy = UndefinedPolicy(self._undefined, warns_once=True, reported=self._reported())
            return self._of_group(report.groups, values, policy)
        statistic = STATISTICS[self._statistic.removeprefix("neg_")]
        value: float = report.averaged(statistic.score or statistic.compute, self._class_average)
        return value

    def _report(
        self,
        method_caller: Any,
        estimator: Any,
        X: Any,
        y_true: NDArray[Any],
        labels: Any,
        sample_weight: NDArray[Any] | None,
    ) -> Any:
        classes, scores = _sklearn.class_scores_of(
            estimator,
            X,
            self._response_method,
            remedy="Make the scorer without multi_class.",
            method_caller=method_caller,
        )
        counts = MulticlassCounts.from_predictions(
            y_true,
            scores,
            groups=labels,
            multi_class=self._multi_class,
            labels=classes,
            sample_weight=sample_weight,
            missing=self._missing,
        )
        return MulticlassGroupAUC(counts, undefined=self._undefined)

    def __repr__(self) -> str:
        parts = f"multi_class={self._multi_class!r}"
        if self._class_average != "macro":
            parts += f", class_average={self._class_average!r}"
        return f"{super().__repr__()[:-1]}, {parts})"
