"""Construction of scorers: one scorer, or a dict for ``scoring=``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from skfedauc import _input, _sklearn, _words
from skfedauc.counts import MultiClass, check_multi_class
from skfedauc.measures import Measure, check_measure
from skfedauc.report import (
    ClassAverage,
    ScorerStatistic,
    Undefined,
    check_class_average,
    check_no_two_classes,
    check_replacement,
    check_statistic,
    check_undefined,
)
from skfedauc.scoring.group_scorer import GroupAUCScorer, MulticlassGroupAUCScorer, name_of_score


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
    pos_label : int, float, bool or str, default=None
        The positive label; None means ``estimator.classes_[1]``.
    response_method : str, tuple of str or None, default=None
        Methods of the estimator that return scores; see `make_group_auc_scorer`.
    missing : {"raise", "drop", "group"}, default="raise"
        How to treat rows without a group label; see `ScoreCounts.from_predictions`.
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        How to treat classifiers of three or more classes; see `make_group_auc_scorer`.
    class_average : {"macro", "weighted"}, default="macro"
        Weights of the classes, or of pairs of classes, with `multi_class`; see
        `make_group_auc_scorer`.

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
                "the groups are "
                f"{_words.all_shortened(known[:10])}."
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
