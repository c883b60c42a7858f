"""Evaluation metrics for XGBoost and LightGBM: exact pooled and group AUCs in every round.

The module imports a library only when a metric needs the library.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc import _group_codes, _input, _labels, _rows, _words
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import counts_of_rows
from skfedauc.pairs import GroupPairs
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.groups import Undefined, UndefinedPolicy, check_undefined
from skfedauc.report.statistics import STATISTICS, ScorerStatistic, check_statistic

__all__ = ["LightGBMMetric", "XGBoostMetric"]

Groups: TypeAlias = Sequence[tuple[Any, Any]] | Callable[[Any], Any] | None

# First byte of a message between workers
_COUNTS, _ERROR = b"c", b"e"

# Parameters of LightGBM, with aliases, for the machines of a distributed training
_MACHINES = ("machines", "workers", "nodes")
_N_MACHINES = ("num_machines", "num_machine")


# Whether each row of an evaluation set is positive, and the groups of the rows
_EvaluationSet: TypeAlias = tuple[NDArray[np.bool_], _group_codes.EncodedGroups]


class _GroupMetric:
    """Metric of one group statistic, with the interface of one library in each subclass."""

    _dataset = "dataset"  # Name of the library's class in messages

    def __init__(
        self, statistic: ScorerStatistic, groups: Groups, undefined: Undefined, missing: Any
    ) -> None:
        self._statistic = check_statistic(statistic, scorer=True)
        self._undefined = check_undefined(undefined)
        self._missing = _labels.check_missing(missing)
        self._function = groups if callable(groups) else None
        self._sets = () if groups is None or callable(groups) else self._checked_sets(groups)
        self.__name__ = f"auc_{self._statistic}"

    def _checked_sets(self, groups: Any) -> tuple[_EvaluationSet, ...]:
        is_list = isinstance(groups, list | tuple) and len(groups) > 0
        if not is_list or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in groups):
            raise TypeError(
                "groups must be a list with a tuple (y, groups) for each evaluation set, such as "
                f"groups=[(y_valid, site_valid)], or a function of a {self._dataset}; got "
                f"{_input.kind_in_words(groups)}."
            )
        sets: list[_EvaluationSet] = []
        for position, (y, labels) in enumerate(groups):
            _rows.check_row_order({"y": y, "groups": labels})
            own = _group_codes.encode_groups(labels, missing=self._missing)
            positive = _positives(y, f"y of groups[{position}]")
            _input.check_length("groups", own.codes.size, "y", positive.size)
            for before, (other, others) in enumerate(sets):
                are_same = _labels.kind_of(own.labels) == _labels.kind_of(others.labels)
                are_same = are_same and all(map(np.array_equal, own[:2], others[:2]))
                if np.array_equal(positive, other) and not are_same:
                    raise ValueError(
                        f"groups[{before}] and groups[{position}] have the same labels y in every "
                        f"row, {_words.counted(positive.size, 'row')}, and different groups, "
                        "so the metric cannot distinguish these evaluation sets. Put the rows of "
                        "one of them in another order, or train on a "
                        f"{self._dataset} and pass a function of it."
                    )
            sets.append((positive, own))
        return tuple(sets)

    def _counts(self, y: Any, scores: Any, weights: Any, dataset: Any) -> ScoreCounts:
        """Count the rows in an evaluation set; `dataset` is None if the library passes arrays."""
        if np.ndim(scores) > 1:
            raise ValueError(
                "the metric needs one score per row, as binary objectives give; got predictions "
                f"of shape {np.shape(scores)}."
            )
        positive = _positives(y, "the labels of the evaluation set")
        groups = None
        if self._function is not None:
            if dataset is None:
                raise TypeError(
                    f"groups is a function of a {self._dataset}, and the library passes only "
                    "arrays to the metric. Pass groups=[(y_valid, groups_valid)], or train on a "
                    f"{self._dataset}."
                )
            groups = self._function(dataset)
            size = groups.shape[0] if hasattr(groups, "shape") else len(groups)
            name = "the result of groups"
            _input.check_length(name, size, "the evaluation set", positive.size)
        elif self._sets:
            groups = self._found(positive)
        rows = _rows.check_rows(
            positive, scores, groups, weights, missing=self._missing, warn_labels=False
        )
        return counts_of_rows(rows)

    def _found(self, positive: NDArray[np.bool_]) -> _group_codes.EncodedGroups:
        """Return the groups of the evaluation set with these labels."""
        for known, groups in self._sets:
            if np.array_equal(known, positive):
                return groups
        of_size = [known for known, _ in self._sets if known.size == positive.size]
        if of_size:
            row = int(np.flatnonzero(of_size[0] != positive)[0])
            reason = (
                f"the y of {_words.counted(positive.size, 'row')} in groups differs from its "
                f"labels, first in row {row}"
            )
        else:
            sizes = _words.enumerated([f"{known.size:,}" for known, _ in self._sets])
            reason = f"groups has evaluation sets of {sizes} rows"
        raise ValueError(
            f"groups has no tuple (y, groups) for an evaluation set of "
            f"{_words.counted(positive.size, 'row')}: {reason}. Add a tuple for every set that is "
            "evaluated, with the rows in their order, or do not evaluate this set. A worker of a "
            "cluster that evaluates a part of the rows needs the labels and groups of this part."
        )

    def _value(self, counts: ScoreCounts) -> float:
        """Return the statistic, negated for gaps."""
        policy = UndefinedPolicy(self._undefined)
        estimates = GroupEstimates(GroupPairs(counts), policy)
        value = estimates.value_of(STATISTICS[self._statistic.removeprefix("neg_")].scored)
        return -value if self._statistic.startswith("neg_") else value

    def __deepcopy__(self, memo: dict[int, Any]) -> _GroupMetric:
        """Return the same metric, which is immutable, so clones share labels and groups."""
        return self

    def __repr__(self) -> str:
        parts = [repr(self._statistic)]
        if self._sets:
            parts.append(f"groups=<{_words.counted(len(self._sets), 'evaluation set')}>")
        elif self._function is not None:
            parts.append(f"groups={self._function!r}")
        if self._undefined != "skip":
            parts.append(f"undefined={self._undefined!r}")
        if self._missing != "raise":
            parts.append(f"missing={self._missing!r}")
        return f"{type(self).__name__}({', '.join(parts)})"


class XGBoostMetric(_GroupMetric):
    """Metric for XGBoost that computes a group AUC statistic in every round.

    Pass the metric as ``custom_metric=`` to ``xgboost.train``, or as ``eval_metric=`` to
    ``xgboost.XGBClassifier``. It is named ``auc_`` followed by the statistic, and XGBoost maximizes
    metrics whose names start with ``auc``, so early stopping needs no further argument. In
    distributed training, each worker returns the statistic of all rows; XGBoost's own ``auc`` is an
    average over the workers [1]_.

    Parameters
    ----------
    statistic : str
        "pooled", "macro", "samples", "positives", "negatives", "within", "worst", "ratio",
        "cross", "bias_score", or a negated gap: "neg_difference", "neg_cross_difference",
        "neg_tau". `make_group_auc_scorer` has the same statistics, also the squared "neg_tau".
    groups : list of tuples, callable or None, default=None
        Where each row's group in an evaluation set comes from.

        - A list with a tuple ``(y, groups)`` for each evaluation set: the labels for XGBoost (0 and
          1), by which the metric recognizes the set, and the group labels of the same rows.
        - A callable ``groups(dmatrix)`` that returns the group label of each row of a
          ``xgboost.DMatrix``, for ``xgboost.train``, ``xgboost.cv`` and ``xgboost.dask.train``.
        - None, for the statistic "pooled" only.
    undefined : {"skip", "ignore", "raise"} or float, default="skip"
        How to treat groups that lack a class: leave them out with ("skip") or without ("ignore") a
        warning, raise a ValueError ("raise"), or use a number as their AUC. A statistic without a
        value is NaN, which early stopping counts as no improvement.
    missing : {"raise", "drop", "group"}, default="raise"
        How to treat rows without a group label; see `ScoreCounts.from_predictions`.

    Raises
    ------
    ValueError
        If there is no such statistic, or two evaluation sets have the same labels and different
        groups. In training, if `groups` has no tuple for an evaluation set; then all workers raise
        the error.
    TypeError
        If `groups` has another type.

    See Also
    --------
    LightGBMMetric : The metric for LightGBM.
    make_group_auc_scorer : A scorer for scikit-learn's searches.

    Notes
    -----
    XGBoost passes probabilities in float32, unless the objective is a callable; near 0 and 1, rows
    with different margins may have equal ones. It keeps six decimals of a custom metric, so early
    stopping selects the first of several rounds that are equal to six decimals.

    If two evaluation sets have equal labels in all rows, such as two sets sorted by label, and only
    one of them is in the list, the metric cannot tell them apart. The metric, and the pickle of an
    estimator with it, holds the labels and groups.

    In every round, the workers exchange score counts by ``xgboost.collective``, at most 16 bytes
    for each distinct score and group, which needs ``pip install "skfedauc[files]"``. A split of the
    training by columns is not supported.

    References
    ----------
    .. [1] XGBoost Parameters, ``eval_metric``.
       https://xgboost.readthedocs.io/en/stable/parameter.html

    Examples
    --------
    In this call by XGBoost, the first argument has the labels of the evaluation set:

    >>> from skfedauc.boosting import XGBoostMetric
    >>> y, site = [0, 1, 0, 1, 1], ["a", "a", "b", "b", "b"]
    >>> metric = XGBoostMetric("worst", groups=[(y, site)])
    >>> metric.__name__
    'auc_worst'
    >>> metric(y, [0.2, 0.6, 0.5, 0.4, 0.9])
    0.5
    """

    _dataset = "DMatrix"

    def __init__(
        self,
        statistic: ScorerStatistic,
        *,
        groups: Groups = None,
        undefined: Undefined = "skip",
        missing: _labels.Missing = "raise",
    ) -> None:
        super().__init__(statistic, groups, undefined, missing)
        if groups is None and statistic != "pooled":
            raise ValueError(
                f"groups is required for the statistic {_words.shortened(statistic)}; only "
                "'pooled' needs no groups."
            )

    def __call__(self, first: Any, second: Any, sample_weight: Any = None) -> Any:
        """Compute the metric from ``(predictions, DMatrix)``, or from ``(y, scores)``."""
        if not hasattr(second, "get_label"):  # XGBClassifier passes arrays.
            return self._merged_value(first, second, sample_weight, None)
        given = second.get_label(), first, second.get_weight()
        return self.__name__, self._merged_value(*given, second)

    def _merged_value(self, y: Any, scores: Any, weights: Any, dmatrix: Any) -> float:
        if weights is not None and len(weights) == 0:  # XGBoost's value for no weights
            weights = None
        collective = _collective()
        if collective is None:
            return self._value(self._counts(y, scores, weights, dmatrix))
        failure = None
        message = b""
        try:
            if dmatrix is not None and int(dmatrix.data_split_mode()) != 0:
                raise ValueError(
                    "the metric merges the rows of workers, and the columns of this DMatrix are "
                    "split over workers instead (data_split_mode)."
                )
            if len(y):
                message = _COUNTS + self._counts(y, scores, weights, dmatrix).to_bytes()
        except Exception as error:
            # The other workers wait for a message, so send the error.
            failure, message = error, _ERROR + f"{type(error).__name__}: {error}".encode()
        ranks = range(collective.get_world_size())
        messages = [collective.broadcast(message, rank) for rank in ranks]
        if failure is not None:
            raise failure
        for rank, other in enumerate(messages):
            if other.startswith(_ERROR):
                raise ValueError(f"the metric failed on worker {rank}. {other[1:].decode()}")
        parts = [ScoreCounts.from_bytes(part[1:]) for part in messages if part]
        no_rows = ScoreCounts.from_predictions([], [])
        return self._value(ScoreCounts.merge(parts) if parts else no_rows)


class LightGBMMetric(_GroupMetric):
    """Metric for LightGBM that computes a group AUC statistic in every round.

    Pass the metric as ``feval=`` to ``lightgbm.train``, or as ``eval_metric=`` to
    ``lightgbm.LGBMClassifier.fit``. The metric reports to LightGBM that greater values are better.
    It is named ``auc_`` followed by the statistic. Early stopping also observes
    LightGBM's own metrics, unless the parameter ``metric`` is "None".

    LightGBM has no exchange between the metrics of several machines [1]_ [2]_. The metric therefore
    raises an error if a worker evaluates a part of a set, as workers of ``lightgbm.dask`` do.

    Parameters
    ----------
    statistic : str
        One of the statistics of `XGBoostMetric`.
    groups : list of tuples or callable
        Where each row's group in an evaluation set comes from.

        - A list with a tuple ``(y, groups)`` for each evaluation set: the labels (0 and 1, or -1
          and 1), by which the metric recognizes the set, and the group labels of the same rows.
        - A callable ``groups(dataset)`` that returns the group label of each row of a
          ``lightgbm.Dataset``, for ``lightgbm.train`` and ``lightgbm.cv``.
    undefined : {"skip", "ignore", "raise"} or float, default="skip"
        How to treat groups that lack a class; see `XGBoostMetric`.
    missing : {"raise", "drop", "group"}, default="raise"
        How to treat rows without a group label; see `ScoreCounts.from_predictions`.

    Raises
    ------
    ValueError, TypeError
        In the cases of `XGBoostMetric`.

    See Also
    --------
    XGBoostMetric : The metric for XGBoost, which merges the rows of all workers.
    make_group_auc_scorer : A scorer for scikit-learn's searches.

    Notes
    -----
    For training on several machines, pass the same evaluation set to every machine, and the labels
    and groups of this set in `groups`. Then all machines return the same number and stop in the
    same round. Like `XGBoostMetric`, the metric cannot tell sets with equal labels apart.

    References
    ----------
    .. [1] LightGBM, issue 6956: Does LightGBM currently support distributed validation?
       https://github.com/lightgbm-org/LightGBM/issues/6956
    .. [2] LightGBM, issue 6963: ``evals_result_`` of one worker.
       https://github.com/lightgbm-org/LightGBM/issues/6963

    Examples
    --------
    >>> import lightgbm
    >>> import numpy as np
    >>> from skfedauc.boosting import LightGBMMetric
    >>> rng = np.random.default_rng(0)
    >>> X, site = rng.normal(size=(400, 3)), np.array(["va", "oslo"] * 200)
    >>> y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    >>> train = lightgbm.Dataset(X[:300], y[:300])
    >>> history = {}
    >>> booster = lightgbm.train(
    ...     {"objective": "binary", "num_leaves": 4, "metric": "None", "verbose": -1},
    ...     train,
    ...     num_boost_round=20,
    ...     valid_sets=[lightgbm.Dataset(X[300:], y[300:], reference=train)],
    ...     feval=LightGBMMetric("worst", groups=[(y[300:], site[300:])]),
    ...     callbacks=[
    ...         lightgbm.early_stopping(5, verbose=False),
    ...         lightgbm.record_evaluation(history),
    ...     ],
    ... )
    >>> list(history["valid_0"])
    ['auc_worst']
    """

    _dataset = "Dataset"

    def __init__(
        self,
        statistic: ScorerStatistic,
        *,
        groups: Sequence[tuple[Any, Any]] | Callable[[Any], Any],
        undefined: Undefined = "skip",
        missing: _labels.Missing = "raise",
    ) -> None:
        super().__init__(statistic, groups, undefined, missing)
        if groups is None:
            raise TypeError(
                "groups must be a list with a tuple (y, groups) for each evaluation set, or a "
                "function of a Dataset; got None. For the pooled AUC, use LightGBM's metric 'auc'."
            )

    def __call__(
        self, first: Any, second: Any, weight: Any = None
    ) -> tuple[str, float, bool]:  # LightGBM passes weights to functions with three parameters.
        """Compute the metric from ``(predictions, Dataset)``, or from ``(y, scores, weight)``."""
        dataset = second if hasattr(second, "get_label") else None
        if dataset is None:  # LGBMClassifier passes arrays.
            return self.__name__, self._value(self._counts(first, second, weight, None)), True
        if self._function is not None:
            params = dataset.params or {}
            numbers = [int(params[name]) for name in _N_MACHINES if params.get(name)]
            for name in _MACHINES:
                machines = params.get(name) or ()
                numbers.append(len(machines.split(",") if isinstance(machines, str) else machines))
            if max(numbers) > 1:
                raise ValueError(
                    "LightGBM has no exchange between the metrics of several machines, so a "
                    "function of the Dataset would give the AUC of the rows of one machine. Give "
                    "every machine the same evaluation set, and pass "
                    "groups=[(y_valid, groups_valid)]."
                )
        counts = self._counts(dataset.get_label(), first, dataset.get_weight(), dataset)
        return self.__name__, self._value(counts), True


def _positives(y: Any, name: str) -> NDArray[np.bool_]:
    """Return whether each label is positive, for labels in {0, 1}, {-1, 1} or booleans."""
    labels = _input.column_of(y, name)
    with contextlib.suppress(ValueError, TypeError):
        return _labels.check_labels(labels)[0]
    raise ValueError(
        f"{name} must be 0 and 1, -1 and 1, or booleans, as the library gets them; got "
        f"{_words.listed(dict.fromkeys(labels[:100].tolist()), most=3)}. Pass y == label for "
        "labels of another kind."
    )


def _collective() -> Any:
    """Return ``xgboost.collective`` if XGBoost trains on several workers, or None."""
    try:
        from xgboost import collective
    except ImportError:  # The caller has no XGBoost.
        return None
    return collective if collective.get_world_size() > 1 else None
