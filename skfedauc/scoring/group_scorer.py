"""Scorers of one group statistic, of the AUC of one group, or of an average over classes."""

from __future__ import annotations

import copy
import functools
import secrets
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _sklearn, _words
from skfedauc.counts import MultiClass, MulticlassCounts
from skfedauc.counts.score_counts import counts_of_rows
from skfedauc.measures import Measure
from skfedauc.pairs import GroupPairs
from skfedauc.report import (
    STATISTICS,
    ClassAverage,
    GroupEstimates,
    MulticlassGroupAUC,
    Undefined,
    UndefinedPolicy,
)

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

    Parameters
    ----------
    method_caller : object
        Object that scikit-learn makes for each scoring call.
    key : hashable
        Everything that determines the result.
    kept : object
        Objects whose ids are part of the key. The ids are unique while these objects exist.
    compute : callable
        Function without arguments.
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

    Parameters
    ----------
    name : str
        Statistic name.
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

    def _rows(
        self, X: Any, y_true: Any, groups: Any, sample_weight: Any
    ) -> tuple[NDArray[Any], Any, NDArray[Any] | None]:
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
        if self._groups is None:
            labels = groups
        elif isinstance(self._groups, str):
            labels = _input.columns_of(X, [self._groups])
        elif isinstance(self._groups, list):
            labels = _input.columns_of(X, self._groups)
        else:
            labels = _input.aligned(self._groups, X)
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
