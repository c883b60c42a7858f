"""`MulticlassGroupAUC`: reports on each class's AUCs, by group."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc import _group_codes, _input, _labels, _sklearn, _words
from skfedauc.cluster_counts import ClusterCounts
from skfedauc.counts import MulticlassCounts
from skfedauc.counts.moments import Floats, ratio
from skfedauc.counts.multiclass import MultiClass, MulticlassRows, counts_of_classes
from skfedauc.counts.score_counts import left_out, select_groups, view_of
from skfedauc.inference import intervals
from skfedauc.inference.differences import AllPairs, DifferenceTest
from skfedauc.inference.intervals import AUCSpread, Limits
from skfedauc.inference.proportions import tail_of
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.row_effects import ClassAverages, Rows
from skfedauc.inference.variances import Variances
from skfedauc.pairs import GroupPairs
from skfedauc.report import statistics
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.group_auc import AnyRows, GroupAUC, estimates_of
from skfedauc.report.group_comparisons import DifferenceTested, largest_difference_test
from skfedauc.report.groups import (
    LeftOut,
    Undefined,
    UndefinedPolicy,
    check_undefined,
    labels_of_rows,
    order_of_labels,
    split_by_size,
)
from skfedauc.report.statistics import AVERAGES, STATISTICS, StatisticName
from skfedauc.report.text import (
    LEVEL,
    FirstLines,
    ShownGroups,
    counted_groups,
    gap_lines,
    number_with,
    with_table,
    worst_line,
)

_MORE = "More: report.statistics(), report.average_by_group(), report.test_difference()"
# Of more classes, the first lines name the lowest
_MOST_CLASSES = 5

ClassAverage: TypeAlias = Literal["macro", "weighted"]


def check_class_average(class_average: Any) -> ClassAverage:
    options = {"macro": "equal weights", "weighted": "by the weight of the rows"}
    return _input.check_option("class_average", class_average, options)  # type: ignore[no-any-return]


def check_no_two_classes(pos_label: Any, measure: Any) -> None:
    if pos_label is not None:
        raise ValueError("pos_label has no meaning with multi_class; leave pos_label out.")
    if measure is not None:
        raise ValueError(
            "measure= and multi_class= cannot be combined; use MulticlassGroupAUC, and "
            "GroupAUC(report[label].counts, measure=...) for each class."
        )


class ClassOptions(AnyRows, total=False):
    """Options of `MulticlassGroupAUC.from_predictions` that `from_estimator` passes on."""

    multi_class: MultiClass
    undefined: Undefined


class MulticlassGroupAUC(DifferenceTested, Mapping[Any, GroupAUC]):
    """Reports on AUCs over groups for three or more classes: one `GroupAUC` for each comparison.

    With "ovr", ``report[i]`` compares the rows of class i with all other rows. With "ovo",
    ``report[i, j]`` compares the rows of class i with the rows of class j. The scores are the
    scores of class i.

    Parameters
    ----------
    counts : MulticlassCounts
        Score counts, such as the sum of the counts of many devices.
    undefined : {"skip", "ignore", "raise"} or float, default="skip"
        How to treat groups that lack a class of a comparison; see `GroupAUC`.
    min_per_class : int, default=1
        Groups with fewer rows of any class are left out of all comparisons, as in `GroupAUC`.

    Attributes
    ----------
    counts : MulticlassCounts
    undefined : str or float

    See Also
    --------
    GroupAUC : Report for two classes.

    Notes
    -----
    Averages over classes are those of `sklearn.metrics.roc_auc_score` ("ovo" with equal weights:
    the M of Hand and Till [1]_), but NaN if an AUC is undefined. Each comparison has the intervals,
    tests, displays and audits of two classes, such as ``report[1].confidence_intervals()``. So has
    ``GroupAUC(report[1].counts, measure=measure)``: of other measures, the covariances between
    classes that averages over classes need are not known.

    References
    ----------
    .. [1] Hand and Till (2001). Machine Learning 45(2). https://doi.org/10.1023/A:1010920819831

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfedauc import MulticlassGroupAUC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X[:, :1], y)
    >>> report = MulticlassGroupAUC.from_estimator(model, X[:, :1], y, groups=["a", "b"] * 75)
    >>> report.by_group.round(2)
    class     0     1     2
    group
    a      0.95  0.74  0.86
    b      0.97  0.81  0.91
    >>> round(report.statistic("worst"), 2)
    0.85
    >>> report.confidence_intervals(of="statistics").columns.tolist()
    ['value', 'standard_error', 'ci_low', 'ci_high', 'note']
    """

    _rows: MulticlassRows | None = None
    # What the warnings of a search reported, in a scorer's report
    _reported: set[Any] | None = None
    _is_quiet = False

    def __init__(
        self,
        counts: MulticlassCounts,
        *,
        undefined: Undefined = "skip",
        min_per_class: int = 1,
    ) -> None:
        if not isinstance(counts, MulticlassCounts):
            raise TypeError(
                f"counts must be a MulticlassCounts; got {type(counts).__name__}. Use "
                "MulticlassGroupAUC.from_predictions(y_true, y_score, groups=...) for rows."
            )
        self.counts, self._left_out = counts, LeftOut(1)
        self.undefined = check_undefined(undefined)
        least = _input.check_whole_number(min_per_class, "min_per_class", 1)
        if least > 1:
            self.counts, self._left_out = _large_groups(counts, least)

    @property
    def _parts(self) -> list[GroupEstimates]:
        parts = [estimates_of(report) for report in self.values()]
        return [part.quiet() for part in parts] if self._is_quiet else parts

    @functools.cached_property
    def _reports(self) -> dict[Any, GroupAUC]:
        reports, rows = {}, self._rows
        for key, part in self.counts.parts.items():
            clusters = None
            if rows is not None and rows.first.clusters is not None:
                clusters = ClusterCounts.of_rows(rows.of(key))
            one, other = (key, None) if self.counts.multi_class == "ovr" else key
            rest = "the rest" if other is None else _words.shortened(other)
            policy = UndefinedPolicy(
                self.undefined,
                remedy=f" Class {_words.shortened(one)} is compared with {rest}.",
                warns_once=self._reported is not None,
                reported=self._reported,
            )
            pairs = GroupPairs(part, clusters=clusters, is_multiclass=True)
            reports[key] = GroupAUC(pairs, undefined=policy)
            reports[key]._left_out = self._left_out  # noqa: SLF001
        return reports

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
        clusters: Any = None,
        undefined: Undefined = "skip",
        missing: _labels.Missing = "raise",
        min_per_class: int = 1,
    ) -> MulticlassGroupAUC:
        """Make a report from labels, scores and groups.

        Parameters
        ----------
        y_true : array-like, shape (n_rows,)
            Labels of three or more classes.
        y_score : array-like, shape (n_rows, n_classes)
            Finite scores of each class; see `MulticlassCounts.from_predictions`.
        groups : array-like, shape (n_rows,) or (n_rows, n_columns)
            As in `GroupAUC.from_predictions`.
        multi_class : {"ovr", "ovo"}, default="ovr"
            Compare each class with the rest, or with each other class.
        labels : array-like, shape (n_classes,), default=None
            Class labels, in the order of the columns of `y_score` unless the columns have labels as
            names; None means the sorted labels of `y_true`.
        sample_weight, clusters : array-like, default=None
            As in `GroupAUC.from_predictions`.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            As in `GroupAUC.from_predictions`.
        missing : {"raise", "drop", "group"}, default="raise"
            As in `GroupAUC.from_predictions`.
        min_per_class : int, default=1
            As in `MulticlassGroupAUC`.

        Returns
        -------
        MulticlassGroupAUC
        """
        undefined = check_undefined(undefined)
        _labels.check_groups_given(groups)
        of_rows = {"groups": groups, "sample_weight": sample_weight, "clusters": clusters}
        rows = MulticlassRows.checked(y_true, y_score, multi_class, labels, missing, **of_rows)
        counts = counts_of_classes(rows)
        report = cls(counts, undefined=undefined, min_per_class=min_per_class)
        report._rows = rows.without_groups([label for label, *_ in report._left_out.groups])
        return report

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        groups: Any,
        response_method: str | tuple[str, ...] | None = None,
        **options: Unpack[ClassOptions],
    ) -> MulticlassGroupAUC:
        """Make a report from a fitted estimator and data.

        Parameters
        ----------
        estimator : estimator object
            A fitted classifier of three or more classes, or a pipeline or search that ends in one.
        X, y, groups : object
            The estimator's input, true labels and groups, as in `GroupAUC.from_estimator`.
        response_method : str, tuple of str or None, default=None
            Methods of the estimator that return a score for each class, preferred first. None means
            "predict_proba", as in scikit-learn's "roc_auc_ovr".
        **options : dict
            Options of `from_predictions`, such as ``multi_class``; the labels are the estimator's.
            Here, ``clusters`` may also be columns of X by name.

        Returns
        -------
        MulticlassGroupAUC
        """
        known = ClassOptions.__annotations__
        _input.check_keywords(options, known, "MulticlassGroupAUC.from_estimator")
        check_undefined(options.get("undefined", "skip"))
        _labels.check_missing(options.get("missing", "raise"))
        clusters, weights = options.get("clusters"), options.get("sample_weight")
        labels, options["clusters"] = labels_of_rows(groups, clusters, X, y, weights)
        y, remedy = _input.column_of(y, "y"), "Use GroupAUC.from_estimator for two classes."
        classes, scores = _sklearn.class_scores_of(
            estimator, X, response_method, remedy=remedy, y=y
        )
        return cls.from_predictions(y, scores, groups=labels, labels=classes, **options)

    def __getitem__(self, key: Any) -> GroupAUC:
        return self._reports[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._reports)

    def __len__(self) -> int:
        return len(self._reports)

    def statistic(self, name: StatisticName, class_average: ClassAverage = "macro") -> float:
        """Return an average over the classes of a statistic of each report.

        Parameters
        ----------
        name : str
            Statistic name; see `group_roc_auc_score`.
        class_average : {"macro", "weighted"}, default="macro"
            Weights of the reports. "macro" means equal weights. "weighted" means the weight of the
            positives ("ovr"), or of the rows in both classes ("ovo").

        Returns
        -------
        float
            NaN with a warning if a report has an undefined statistic. "worst" is the average of the
            classes' worst AUCs, and ``average_by_group().min()`` the worst average of a group.
        """
        compute = STATISTICS[statistics.check_statistic(name, argument="name")].compute
        return averaged(self, compute, class_average)

    def statistics(self) -> pd.DataFrame:
        """Return each report's statistics, without warnings about undefined statistics.

        Returns
        -------
        pandas.DataFrame
            Rows are classes, or pairs of a positive and a negative class; columns are statistics.
        """
        table = pd.DataFrame([report.statistics() for report in self.values()])
        return table.set_axis(self._keys(), axis=0).rename_axis(columns="statistic")

    @property
    def by_group(self) -> pd.DataFrame:
        """AUC of each group (rows) and class, or pair of classes (columns); NaN if undefined."""
        aucs = self._by_group([part.pairs.auc for part in self._parts], np.nan)
        return pd.DataFrame(aucs, index=self._places[0], columns=self._keys())

    def average_by_group(self, class_average: ClassAverage = "macro") -> pd.Series:
        """Return the average over the classes of each group's AUCs.

        Parameters
        ----------
        class_average : {"macro", "weighted"}, default="macro"
            As in `statistic`, with the weights of the group's own rows.

        Returns
        -------
        pandas.Series
            NaN if the group lacks a class, unless `undefined` is a number.
        """
        table, weights = self.by_group, self._weights(class_average)
        if isinstance(self.undefined, float):
            table = table.fillna(self.undefined)
        average = ratio((table.to_numpy() * weights).sum(axis=1), weights.sum(axis=1))
        return pd.Series(average, index=table.index, name="auc")

    def confidence_intervals(
        self,
        *,
        confidence_level: float = 0.95,
        of: intervals.Of = "groups",
        class_average: ClassAverage = "macro",
    ) -> pd.DataFrame:
        """Return confidence intervals of averages over the classes.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level.
        of : {"groups", "statistics"}, default="groups"
            "groups" gives intervals of `average_by_group`; "statistics" gives those of `statistic`
            for the pooled AUC and the averages over groups.
        class_average : {"macro", "weighted"}, default="macro"
            As in `statistic`.

        Returns
        -------
        pandas.DataFrame
            By group: `auc`, `standard_error`, `ci_low`, `ci_high`, and a `note` on special cases;
            by statistic, `value` instead of `auc`. NaN for undefined averages.

        Raises
        ------
        ValueError
            If an argument is not as described, or the report has counts but no rows, which show
            which scores belong together.

        Notes
        -----
        Variances come from the effects of the rows, or of the clusters with Student's t; see
        `GroupAUC.confidence_intervals`. The groups and the shares of the classes are fixed. The
        interval of the pooled value treats the rows in all groups as one sample, which
        overestimates the variance if the scores of the groups differ.
        """
        confidence_level = intervals.check_confidence_level(confidence_level)
        _input.check_option("of", of, ("groups", "statistics"))
        if self._rows is None:
            raise ValueError(
                "intervals of averages over classes need the rows, because counts by class have "
                "lost which scores belong to one row. Make the report with "
                "MulticlassGroupAUC.from_predictions or from_estimator. Intervals of one class, "
                "such as report[1].confidence_intervals(), need no rows."
            )
        index, weights, parts = self._places[0], self._weights(class_average), self._parts
        found, tail = self._class_intervals, (1.0 - confidence_level) / 2.0
        if of == "groups":
            average = self.average_by_group(class_average).to_numpy()
            share = weights * ratio(1.0, weights.sum(axis=1, keepdims=True), 0.0)
            columns = found.limits(average, share, tail)
            return pd.DataFrame(columns, index=index).rename(columns={"value": "auc"})
        of_classes = weights.sum(axis=0)
        share = ratio(of_classes, of_classes.sum())
        # The rows in all groups are one sample.
        pooled = {key: part.pooled.rows for key, part in zip(self, parts, strict=True)}
        one = np.zeros(1, np.intp)
        of_all = ClassIntervals(pooled, self._rows, [one] * len(self), 1)
        table = {"pooled": of_all.limits(_mean(parts, "pooled", share), share[None, :], tail)}
        for name in AVERAGES:
            of_parts = [own for part in parts if (own := statistics.shares(part, name)) is not None]
            if len(of_parts) < len(parts):
                continue
            of_groups = self._by_group(of_parts, 0.0) * share
            variances = (part.variances for part in parts)
            freedom = min(map(Variances.average_freedom, variances, of_parts))
            table[name] = found.limits(_mean(parts, name, share), of_groups, tail, freedom)
        rows = pd.concat([pd.DataFrame(columns) for columns in table.values()])
        return rows.set_axis(pd.Index(table, name="statistic"))

    @functools.cached_property
    def _class_intervals(self) -> ClassIntervals:
        index, places = self._places
        variances = {key: part.variances for key, part in zip(self, self._parts, strict=True)}
        return ClassIntervals(variances, self._rows, places, len(index))

    def _weights(self, class_average: ClassAverage) -> Floats:
        """Weights of the AUCs in averages over classes, of shape (n_groups, n_reports)."""
        if check_class_average(class_average) == "macro":
            return np.ones((len(self._places[0]), len(self)))
        weights = [part.pairs.positives for part in self._parts]
        if self.counts.multi_class == "ovo":
            weights = [part.pairs.positives + part.pairs.negatives for part in self._parts]
        return self._by_group(weights, 0.0)

    def _by_group(self, of_reports: Sequence[Any], absent: float) -> Floats:
        """Values of the groups (rows) in each report (columns); some groups can be absent."""
        index, places = self._places
        table = np.full((len(index), len(self)), absent)
        for column, (values, own) in enumerate(zip(of_reports, places, strict=True)):
            table[own, column] = values
        return table

    @functools.cached_property
    def _places(self) -> tuple[pd.Index, list[NDArray[np.intp]]]:
        """Index of all groups, and the numbers of each report's groups in this index.

        With "ovo", a report lacks the groups without rows of its two classes.
        """
        reports = self._parts
        views = [view_of(part) for part in self.counts.parts.values()]
        labels = [view.labels for view in views if view.labels is not None]
        if not labels:
            filled = max(reports, key=lambda report: report.pairs.n_groups)
            return filled.labels, [np.arange(report.pairs.n_groups) for report in reports]
        numbers, united = _group_codes.unite_labels(labels)
        index = _labels.index_of_labels(united, reports[0].group_names)
        order = order_of_labels(united.tolist(), views[0].orders)
        place = np.argsort(order)
        return index[order], [place[own] for own in numbers]

    def _keys(self) -> pd.Index:
        keys: pd.Index = pd.Index(list(self), name="class", tupleize_cols=False)
        if self.counts.multi_class == "ovo":
            keys = pd.MultiIndex.from_tuples(keys, names=["positive", "negative"])
        return keys

    def __repr__(self) -> str:
        return self._first_lines.text()

    def _repr_html_(self) -> str:
        return self._first_lines.html()

    def _repr_markdown_(self) -> str:
        return self._first_lines.markdown()

    @property
    def _first_lines(self) -> FirstLines:
        quiet = copy.copy(self)  # It shares what is computed already.
        vars(quiet)["_is_quiet"] = True
        return quiet._lines_of_classes()  # noqa: SLF001

    def _lines_of_classes(self) -> FirstLines:
        """Return the lines of a quiet report, on means over the classes."""
        groups, answers = self._shown_groups(), [*self._quality()]
        used = ~np.isnan(groups.in_use)
        if used.any():
            answers.append(worst_line(groups, "lowest average"))
        if used.sum() > 1:
            why = "no interval without rows" if self._rows is None else "groups share clusters"
            if any(part.n_replaced for part in self._parts):
                why = f"no test, with {self.undefined:g} for an absent class"
            test = self._difference_test(LEVEL)
            answers += gap_lines(groups, test, "difference of averages", why_no_test=why)
        answers += filter(None, [self._left_out.in_words()])
        what = repr(self.counts).removeprefix("MulticlassCounts(")[:-1]
        n_missing = max((part.n_missing for part in self.counts.parts.values()), default=0)
        headline = f"Mean AUC of {what}, over {counted_groups(groups.labels)}{left_out(n_missing)}"
        return with_table(headline, answers, groups, _MORE)

    def _shown_groups(self) -> ShownGroups:
        average = self.average_by_group()
        limits = None if self._rows is None else self.confidence_intervals()
        of_parts = self._by_group([part.pairs.counts.n_positives for part in self._parts], 0).T
        rows = dict(zip(self, of_parts, strict=True))
        if self.counts.multi_class == "ovo":
            rows = {one: of for (one, _), of in rows.items()}
        names = [("row", f" of class {_words.shortened_label(label)}") for label in rows]
        classes = dict(zip(names, rows.values(), strict=True))
        values, sizes = average.to_numpy(), {"row": np.sum([*rows.values()], axis=0)}
        return ShownGroups("mean AUC", average.index, values, values, limits, sizes, classes)

    def _quality(self) -> Iterator[str]:
        """Yield the means over the classes, with intervals if there are rows, and the classes."""
        which = "of these groups" if self._left_out.groups else "together"
        words = {"pooled": f"all rows {which}", "within": "pairs of rows of the same group"}
        ends: dict[Any, Any] = {}
        if self._rows is not None:
            table = self.confidence_intervals(of="statistics")
            ends = table[["ci_low", "ci_high"]].T.to_dict("list")
        for name, of in list(words.items())[: self._places[0].size]:
            value = _mean(self._parts, name, np.full(len(self), 1.0 / len(self))).item()
            shown = number_with(value, *ends.get(name, ()))
            yield f"{name} {shown}: {of}, mean of the classes"
        labels, values = list(self), [part.pooled_value for part in self._parts]
        told = [
            f"{_words.shortened_label(labels[i])} {number_with(values[i])}"
            for i in np.argsort(values)
        ]
        told[_MOST_CLASSES:] = [f"{len(told) - _MOST_CLASSES:,} more"] * (len(told) > _MOST_CLASSES)
        yield f"pooled by class, lowest first: {_words.enumerated(told)}"

    def _difference_test(self, confidence_level: float) -> DifferenceTest:
        average, pairs = self.average_by_group().to_numpy(), None
        used, weights = ~np.isnan(average), self._weights("macro") / len(self)
        if self._rows and not any(part.variances.shares_clusters for part in self._parts):

            def estimates(deviate: float) -> tuple[Limits, Limits]:
                found = self._class_intervals.limits(average, weights, tail_of(deviate))
                value, low, high = (of[used] for of in (average, found["ci_low"], found["ci_high"]))
                return Limits(value, low, value), Limits(value, value, high)

            pairs = AllPairs(estimates, int(used.sum()))
        has_pvalue = not any(part.n_replaced for part in self._parts)
        of_groups = average, self._places[0], confidence_level
        return largest_difference_test(pairs, *of_groups, has_pvalue)


def _large_groups(counts: MulticlassCounts, least: int) -> tuple[MulticlassCounts, LeftOut]:
    n_rows: dict[Any, dict[Any, int]] = {}
    for key, part in counts.parts.items():
        one = key if counts.multi_class == "ovr" else key[0]
        for label, n in zip(part.groups or ("all",), part.n_positives.tolist(), strict=True):
            n_rows.setdefault(label, {})[one] = n
    sizes = [np.array([n.get(one, 0) for n in n_rows.values()]) for one in counts.labels]
    told = f"rows of a class ({_words.listed(counts.labels)})"
    is_large, left_out = split_by_size(n_rows, sizes, least, told)
    is_kept = dict(zip(n_rows, is_large.tolist(), strict=True))
    parts = {
        key: select_groups(
            part, np.flatnonzero([is_kept[label] for label in part.groups or ()]), at_least=least
        )
        for key, part in counts.parts.items()
    }
    return MulticlassCounts(counts.labels, counts.multi_class, parts), left_out


def averaged(
    report: MulticlassGroupAUC,
    compute: Callable[[GroupEstimates], float],
    class_average: ClassAverage,
) -> float:
    """Return an average over the classes of a function of each report's estimates."""
    weights = report._weights(class_average).sum(axis=0)  # noqa: SLF001
    values = np.array([estimates_of(part).value_of(compute) for part in report.values()])
    return float(weights @ values / weights.sum()) if weights.any() else np.nan


def _mean(parts: Sequence[GroupEstimates], name: str, share: Floats) -> Floats:
    """Return the mean over the comparisons, with the weights `share`, of a statistic."""
    values = np.array([part.quiet().value_of(STATISTICS[name].compute) for part in parts])
    return np.minimum([share @ values], 1.0)


class ClassIntervals:
    """Intervals of averages over the classes, from the variances of the AUCs of each comparison.

    `places` has, for each comparison, the number of each of its groups among all `n_groups` groups.
    AUCs and weights have a row for each group, and a column for each comparison.
    """

    def __init__(
        self,
        parts: Mapping[Any, Variances],
        rows: Any,
        places: Sequence[NDArray[np.intp]],
        n_groups: int,
    ) -> None:
        self._keys, self._rows, self._places = list(parts), rows, places
        # An undefined AUC is 0 without a variance; a number that replaces it is a constant.
        constant = (0.0, 0.0, 1.0, 0.0, 0.0, np.inf)
        tables = [np.full((n_groups, len(parts)), value) for value in constant]
        # Whether the variance of an AUC is an estimate above 0, not a bound
        self._is_known = np.zeros((n_groups, len(parts)), np.bool_)
        for k, (of, place) in enumerate(zip(parts.values(), places, strict=True)):
            own = place[of.defined]
            for table, values in zip(tables, AUCSpread.of(of).take(of.defined), strict=False):
                table[own, k] = values
            self._is_known[own, k] = of.delong[of.defined] > 0
        self._spread = AUCSpread(*tables)

    def limits(
        self, value: Floats, weights: Floats, tail: float, freedom: float | None = None
    ) -> dict[str, Any]:
        """Return standard errors, limits and notes of each group's average.

        With degrees of freedom, there is one average, over the groups and the comparisons.
        """
        by_group = freedom is None
        deviation: Any = self._averages.of_groups if by_group else self._averages.of_average
        of_all = self._spread.degrees_of_freedom
        of_average = np.min(of_all, axis=1) if by_group else np.array([freedom])
        deviate = normal_quantile(tail)
        spread = self._spread._replace(degrees_of_freedom=of_average[:, None])
        error = np.array(deviation(weights * np.sqrt(spread.variance)))
        quantile = np.ravel(spread.quantile(deviate))
        low, high = intervals.limits(np.nan_to_num(value), error**2, quantile, "logit")
        least, most = spread.limits(deviate, "logit")
        low = np.minimum(low, value - deviation(weights * (spread.auc - least)))
        high = np.maximum(high, value + deviation(weights * (most - spread.auc)))

        def in_any(condition: NDArray[np.bool_]) -> NDArray[np.bool_]:
            return np.atleast_1d(condition.any(axis=1 if by_group else None))

        used, is_undefined = weights > 0, np.isnan(value)
        bounded, imperfect = in_any(used & ~self._is_known), in_any(used & (spread.auc < 1))
        note = np.select(
            [is_undefined, ~imperfect, bounded],
            ["a class is absent", "perfect separation", "a variance is 0 or unknown: bounded"],
            "",
        )
        columns = np.atleast_1d(error), np.maximum(low, 0.0), np.minimum(high, 1.0)
        error, low, high = np.where(is_undefined, np.nan, columns)
        limits = {"ci_low": low, "ci_high": high}
        return {"value": value, "standard_error": error, **limits, "note": note}

    @functools.cached_property
    def _averages(self) -> ClassAverages:
        first = self._rows.first
        n_rows = first.positive.size
        clusters = np.arange(n_rows) if first.clusters is None else first.clusters
        codes, comparisons = np.zeros(n_rows, np.intp), []
        for key, places in zip(self._keys, self._places, strict=True):
            rows, numbers = Rows.of([self._rows.of(key)], places.size), self._rows.numbers(key)
            codes[numbers] = places[rows.codes]
            comparisons.append((rows, numbers))
        return ClassAverages(comparisons, codes, clusters, self._is_known)
