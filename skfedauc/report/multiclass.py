"""`MulticlassGroupAUC`: reports on the AUCs of each class, by group."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.counts import MultiClass, MulticlassCounts
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.group_auc import GroupAUC
from skfedauc.report.statistics import STATISTICS, StatisticName, check_statistic
from skfedauc.report.undefined import Undefined, UndefinedPolicy, check_undefined

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
ClassAverage: TypeAlias = Literal["macro", "weighted"]


def check_class_average(class_average: Any) -> ClassAverage:
    """Validate the argument `class_average`."""
    if class_average in ("macro", "weighted"):
        return class_average  # type: ignore[no-any-return]
    raise ValueError(
        "class_average must be 'macro' (equal weights) or 'weighted' (by the weight of the rows); "
        f"got {_words.shortened(class_average)}."
    )


def check_no_two_classes(pos_label: Any, measure: Any) -> None:
    """Raise an error if an argument is passed that needs two classes."""
    if pos_label is not None:
        raise ValueError("pos_label has no meaning with multi_class; leave pos_label out.")
    if measure is not None:
        raise ValueError(
            "measure= and multi_class= cannot be combined; use MulticlassGroupAUC, and measured() "
            "of each of its reports."
        )


class MulticlassGroupAUC(Mapping[Any, GroupAUC]):
    """Reports on AUCs over groups for three or more classes: one `GroupAUC` for each comparison.

    With "ovr", ``report[i]`` compares the rows of class i with all other rows. With "ovo",
    ``report[i, j]`` compares the rows of class i with the rows of class j. The scores are the
    scores of class i.

    Parameters
    ----------
    counts : MulticlassCounts
        Score counts, such as the sum of the counts of many devices.
    undefined : {"skip", "ignore", "raise"} or float, default="skip"
        How to treat groups that lack a class of a comparison; see `GroupAUC`. Messages name the
        comparison.

    Attributes
    ----------
    counts : MulticlassCounts
    undefined : str or float

    Raises
    ------
    TypeError
        If `counts` is not a MulticlassCounts.
    ValueError
        If `undefined` is not a listed value.

    See Also
    --------
    group_roc_auc_score : Compute one statistic.
    GroupAUC : Report for two classes.

    Notes
    -----
    The average of the one-vs-one AUCs with equal weights is the M of Hand and Till [1]_. Averages
    over classes equal those of `sklearn.metrics.roc_auc_score` for the rows of one group. An
    average over classes is NaN if an AUC is undefined, because averages over different classes
    cannot be compared.

    References
    ----------
    .. [1] Hand, D. J. and Till, R. J. (2001). A simple generalisation of the area under the ROC
       curve for multiple class classification problems. Machine Learning 45(2).
       https://doi.org/10.1023/A:1010920819831

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfedauc import MulticlassGroupAUC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X[:, :1], y)
    >>> report = MulticlassGroupAUC.from_predictions(
    ...     y, model.predict_proba(X[:, :1]), groups=["a", "b"] * 75
    ... )
    >>> report.by_group.round(2)
    class     0     1     2
    group
    a      0.95  0.74  0.86
    b      0.97  0.81  0.91
    >>> round(report.statistic("worst"), 2)
    0.85
    """

    def __init__(self, counts: MulticlassCounts, *, undefined: Undefined = "skip") -> None:
        if not isinstance(counts, MulticlassCounts):
            raise TypeError(
                f"counts must be a MulticlassCounts; got {type(counts).__name__}. Use "
                "MulticlassGroupAUC.from_predictions(y_true, y_score, groups=...) for rows."
            )
        self.counts = counts
        self.undefined = check_undefined(undefined)
        self._reports = {
            key: GroupAUC(
                part, undefined=UndefinedPolicy(self.undefined, remedy=f" {self._compared(key)}")
            )
            for key, part in counts.parts.items()
        }

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        groups: Any,
        multi_class: MultiClass = "ovr",
        labels: Any = None,
        sample_weight: Any = None,
        undefined: Undefined = "skip",
        missing: _input.Missing = "raise",
    ) -> MulticlassGroupAUC:
        """Make a report from labels, scores and groups.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of three or more classes.
        y_score : array-like of shape (n_rows, n_classes)
            Finite scores of each class. The scores of a row need not add up to 1.
        groups : array-like of shape (n_rows,) or (n_rows, n_columns)
            Group label of each row; with several columns each combination is a group.
        multi_class : {"ovr", "ovo"}, default="ovr"
            Compare each class with the rest, or with each other class.
        labels : array-like of shape (n_classes,), default=None
            Class label of each column of `y_score`; None means the sorted labels of `y_true`.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            How to treat groups that lack a class; see `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.

        Returns
        -------
        MulticlassGroupAUC

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described; the message says what to pass instead.
        """
        undefined = check_undefined(undefined)
        _input.check_groups_given(groups)
        counts = MulticlassCounts.from_predictions(
            y_true,
            y_score,
            groups=groups,
            multi_class=multi_class,
            labels=labels,
            sample_weight=sample_weight,
            missing=missing,
        )
        return cls(counts, undefined=undefined)

    def __getitem__(self, key: Any) -> GroupAUC:
        return self._reports[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._reports)

    def __len__(self) -> int:
        return len(self._reports)

    # Averages over classes ---------------------------------------------------------------------

    def statistic(self, name: StatisticName, class_average: ClassAverage = "macro") -> float:
        """Return an average over the classes of a statistic of each report.

        Parameters
        ----------
        name : str
            Name of a statistic; see `group_roc_auc_score`.
        class_average : {"macro", "weighted"}, default="macro"
            Weights of the reports: equal, or the weight of the positives ("ovr"), or of the rows of
            both classes ("ovo").

        Returns
        -------
        float
            NaN with a warning if the statistic of a report is undefined.

        Raises
        ------
        ValueError
            If there is no such statistic, or if `class_average` is not a listed value.

        Notes
        -----
        "worst" is the average of the worst AUCs of the classes, which may belong to different
        groups. ``average_by_group().min()`` is the worst average of a group.
        """
        return self.averaged(STATISTICS[check_statistic(name)].compute, class_average)

    def averaged(
        self, compute: Callable[[GroupEstimates], float], class_average: ClassAverage = "macro"
    ) -> float:
        """Return an average over the classes of a function of the estimates of each report.

        Parameters
        ----------
        compute : callable
            Function that takes a `GroupEstimates` and returns a float.
        class_average : {"macro", "weighted"}, default="macro"
            Weights of the reports, as in `statistic`.

        Returns
        -------
        float
            NaN with a warning if the function is undefined for a report.
        """
        weights = self._weights(class_average).sum(axis=0)
        values = np.array([report.estimates.value_of(compute) for report in self.values()])
        return float(weights @ values / weights.sum()) if weights.any() else np.nan

    def statistics(self) -> pd.DataFrame:
        """Return the statistics of each report, without warnings about undefined statistics.

        Returns
        -------
        pandas.DataFrame
            Rows are classes, or pairs of a positive and a negative class; columns are statistics.
        """
        import pandas as pd

        table = pd.DataFrame([report.statistics() for report in self.values()])
        return table.set_axis(self._keys(), axis=0).rename_axis(columns="statistic")

    # Groups ------------------------------------------------------------------------------------

    @property
    def by_group(self) -> pd.DataFrame:
        """AUC of each group (rows) and class, or pair of classes (columns); NaN if undefined."""
        import pandas as pd

        table = self._by_group(lambda report: report.pairs.auc, np.nan)
        return pd.DataFrame(table, index=self._places[0], columns=self._keys())

    def average_by_group(self, class_average: ClassAverage = "macro") -> pd.Series:
        """Return the average over the classes of each group's AUCs.

        Parameters
        ----------
        class_average : {"macro", "weighted"}, default="macro"
            Weights of the AUCs: equal, or the weight of the group's positives ("ovr"), or of the
            group's rows of both classes ("ovo").

        Returns
        -------
        pandas.Series
            NaN if the group lacks a class, unless `undefined` is a number.
        """
        import pandas as pd

        table, weights = self.by_group, self._weights(class_average)
        if isinstance(self.undefined, float):
            table = table.fillna(self.undefined)
        total = weights.sum(axis=1)
        summed = (table.to_numpy() * weights).sum(axis=1)
        average = np.divide(summed, total, out=np.full(total.size, np.nan), where=total > 0)
        return pd.Series(average, index=table.index, name="auc")

    def _weights(self, class_average: ClassAverage) -> Floats:
        """Weights of the AUCs in averages over classes, of shape (n_groups, n_reports)."""
        if check_class_average(class_average) == "macro":
            return np.ones((len(self._places[0]), len(self)))
        if self.counts.multi_class == "ovr":
            return self._by_group(lambda report: report.pairs.positives, 0.0)
        return self._by_group(lambda report: report.pairs.positives + report.pairs.negatives, 0.0)

    def _by_group(self, values_of: Callable[[GroupAUC], Any], absent: float) -> Floats:
        """Values of the groups (rows) in each report (columns); some groups can be absent."""
        index, places = self._places
        table = np.full((len(index), len(self)), absent)
        for column, (report, own) in enumerate(zip(self.values(), places, strict=True)):
            table[own, column] = values_of(report)
        return table

    @functools.cached_property
    def _places(self) -> tuple[pd.Index, list[NDArray[np.intp]]]:
        """Index of all groups, and the numbers of each report's groups in this index.

        With "ovo", a report lacks the groups without rows of its two classes.
        """
        reports = list(self.values())
        labels = [part.labels for part in self.counts.parts.values() if part.labels is not None]
        filled = [report for report in reports if report.n_groups] or reports[:1]
        if not labels:
            return filled[0].index, [np.arange(report.n_groups) for report in reports]
        numbers, _ = _input.unite_labels(labels)
        first, *others = (report.index for report in filled)
        _, where = np.unique(np.concatenate(numbers), return_index=True)
        return first.append(others)[where], numbers

    # Display -----------------------------------------------------------------------------------

    def _keys(self) -> pd.Index:
        """Index of the reports in tables."""
        import pandas as pd

        keys: pd.Index
        if self.counts.multi_class == "ovr":
            keys = pd.Index(list(self), name="class")
        else:
            keys = pd.MultiIndex.from_tuples(list(self), names=["positive", "negative"])
        return keys

    def _compared(self, key: Any) -> str:
        """Return the sentence of messages that names the classes of a report."""
        one, other = (key, None) if self.counts.multi_class == "ovr" else key
        rest = "the rest" if other is None else _words.shortened(other)
        return f"Class {_words.shortened(one)} is compared with {rest}."

    def __repr__(self) -> str:
        lines = [repr(self.counts).replace("MulticlassCounts(", "MulticlassGroupAUC of ")[:-1]]
        for key, report in self.items():
            values = report.statistics()
            parts = [f"{name} {values[name]:.4f}" for name in ("pooled", "macro") if name in values]
            lines.append(f"  {_words.shortened_label(key):<16} {', '.join(parts)}")
        return "\n".join(lines)
