"""Comparisons of groups: differences, margins, ranks, curves, and averages with the pooled AUC."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc import _input, _labels, _words
from skfedauc._kernel import Cells, number_cells
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import Floats, ratio
from skfedauc.counts.score_counts import view_of, with_weights_over
from skfedauc.inference import agreement, differences
from skfedauc.inference.curves import GroupCurves, RocCurve, area_between
from skfedauc.inference.differences import DifferenceTest, MarginTest, Result
from skfedauc.inference.equal_groups import EqualGroupsTest, equal_groups_test
from skfedauc.inference.intervals import NO_VARIATION, Notes, check_confidence_level
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.ranking import LEAST_GROUPS, ranking
from skfedauc.inference.variances import strata_of
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.groups import order_of
from skfedauc.report.intervals import certain_range, check_rows_of, group_bounds, statistic_bounds
from skfedauc.report.statistics import AVERAGES, Bounds, shares

# Largest number of groups for a comparison of all pairs.
_MOST_IN_PAIRS = 500


class DifferenceTested:
    """The part of a report, also over several classes, that tests the largest difference."""

    _difference_test: Callable[[float], DifferenceTest]

    def test_difference(self, *, confidence_level: float = 0.95) -> DifferenceTest:
        """Test that all groups are equal, by the interval of the largest difference of their AUCs.

        The test compares all pairs of groups, with quantiles of the studentized range; above 2,000
        groups, the largest lower with the smallest upper limit, by Bonferroni's method.
        `test_equal_groups` has more power against many small differences. With ``measure=``, the
        test is of this measure; of several classes, it is of `average_by_group`.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level.

        Returns
        -------
        DifferenceTest
            Result with the `estimate`, its limits `ci_low` and `ci_high`, the `pvalue` (the
            smallest `pvalue_adjusted` of `compare_groups`), and the groups `highest`, `lowest` and
            `clearest`. NaN with fewer than two groups that have an AUC; `pvalue` also if a number
            for `undefined` replaces an AUC, and for several classes without rows.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> y, score, groups = [0, 1] * 50, range(100), [1, 2, 2, 1] * 25
        >>> report = GroupAUC.from_predictions(y, score, groups=groups)
        >>> test = report.test_difference()
        >>> test.ci_low, test.pvalue > 0.05
        (0.0, True)
        """
        return self._difference_test(check_confidence_level(confidence_level))


class GroupComparisons(DifferenceTested):
    """The part of a report that compares its groups with each other."""

    _estimates: GroupEstimates

    def _difference_test(self, confidence_level: float) -> DifferenceTest:
        return difference_test(self._estimates, confidence_level)

    def abroca(self, reference: Any = "rest") -> pd.DataFrame:
        """Return the area between each group's ROC curve and a reference curve (ABROCA [1]_).

        Sampling error alone makes the area positive: compare it with areas of reports whose group
        labels are permuted within each class.

        Parameters
        ----------
        reference : "rest" or a group's label, default="rest"
            "rest" compares each group with the rows in all other groups, and a label with the group
            of this label. Pass the label of a group named "rest" in a list.

        Returns
        -------
        pandas.DataFrame
            A row for each group, with `auc`, `reference_auc`, and `abroca`, the exact area between
            the two curves. NaN if a class is absent.

        References
        ----------
        .. [1] Gardner, Brooks and Baker (2019). LAK 9. https://doi.org/10.1145/3303772.3303791

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions([0, 1, 0, 1], [2, 6, 5, 4], groups=list("aabb"))
        >>> report.abroca("a")
               auc  reference_auc  abroca
        group
        b      0.0            1.0     1.0
        """
        pairs = self._estimates.of_auc("abroca", needs_scores=True).pairs
        counts = pairs.counts_for("abroca")
        groups, number = _groups_and_reference(counts, reference)
        curves, rows = GroupCurves.of(counts), []
        cells = with_weights_over(counts).cells
        place, _ = number_cells(cells.scores)
        for g in groups.tolist():
            curve = curves.corners(g)
            other = _of_others(cells, place, g) if number is None else curves.corners(number)
            reference_auc = np.nan
            if other is not None:
                reference_auc = other.area if number is None else pairs.auc[number]
            area = np.nan if curve is None or other is None else area_between(curve, other)
            rows.append((pairs.auc[g], reference_auc, area))
        columns = ["auc", "reference_auc", "abroca"]
        return pd.DataFrame(rows, columns=columns, index=self._estimates.labels[groups])

    def test_equal_groups(self) -> EqualGroupsTest:
        """Test that all groups have the same true AUC.

        The statistic is the weighted variance of the group AUCs, divided by its null expectation,
        with Box's approximation [1]_ by an F distribution; with 100 or more groups of few rows, it
        is a sum of one term per group and normal. Two groups have the p value of `test_difference`
        for these two. Small groups beside one that is more than twice as large have at least
        Newcombe's variance [2]_, because their own is often near 0 by chance; the calibration page
        has the error rates.

        Returns
        -------
        EqualGroupsTest
            Result with `statistic`, `pvalue` and the `method`. Groups with fewer than two positives
            or two negatives (with weights: an effective sample size below 1.5) are left out.

        References
        ----------
        .. [1] Brunner, Dette and Munk (1997). Journal of the American Statistical Association
           92(440). https://doi.org/10.1080/01621459.1997.10473671
        .. [2] Newcombe (2006). Statistics in Medicine 25(4). https://doi.org/10.1002/sim.2324
        """
        return equal_groups_test(self._estimates.of_auc("test_equal_groups").variances_at_extremes)

    def test_margin(
        self, margin: float, *, reference: float | None = None, confidence_level: float = 0.95
    ) -> MarginTest:
        """Test that all groups differ by less than a margin, or that none is inferior.

        Without `reference`, the claim is that the true AUCs of every two groups differ by less than
        `margin` (equivalence). With `reference`, the claim is that the true AUC of every group
        exceeds ``reference - margin`` (non-inferiority).

        Parameters
        ----------
        margin : float
            Equivalence margin, between 0 and 1, or how far below the reference an AUC may be, which
            may be 0.
        reference : float, default=None
            AUC without sampling error to compare the groups with, between 0 and 1.
        confidence_level : float, default=0.95
            Confidence level of the one-sided limit.

        Returns
        -------
        MarginTest
            Result with `is_shown`, the `estimate`, its one-sided interval from `ci_low` to
            `ci_high`, `pvalue`, and the `groups` with the limit. NaN if too few groups have an AUC,
            or a number for `undefined` replaces the AUC of a group.

        Notes
        -----
        Each pair of groups (two one-sided tests), or each group, is tested with the full error
        rate, because the claim requires all of them to pass [1]_. The limit is that of
        `confidence_intervals` of statistics with the level ``2 * confidence_level - 1``.

        References
        ----------
        .. [1] Berger (1982). Technometrics 24(4). https://doi.org/10.1080/00401706.1982.10487790

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> y, score, groups = [0, 1] * 1000, range(2000), [1, 2, 2, 1] * 500
        >>> report = GroupAUC.from_predictions(y, score, groups=groups)
        >>> report.test_margin(0.1).is_shown
        True
        """
        estimates = self._estimates.of_auc("test_margin")
        confidence_level = check_confidence_level(confidence_level)
        tail = 1.0 - confidence_level
        if reference is None:
            bound = _input.check_share(margin, "margin")
        else:
            reference = _input.check_share(reference, "reference")
            hint = " All groups are tested to have an AUC above reference - margin."
            bound = reference - _input.check_number(
                margin, "margin", at_least=0, below=reference, hint=hint
            )
        auc, used = estimates.group_values
        of_whom = "" if used.all() else " with an AUC"
        n_tested = 0 if estimates.n_replaced else int(used.sum())
        estimate, found = np.nan, (np.nan, np.nan, np.nan, list[int]())
        if reference is None:
            claim = f"the AUCs of all groups{of_whom} differ by less than {bound:.6g}"
            if n_tested > 1:
                found = differences.difference_below(estimates.extremes_in_use, bound, tail)
                estimate = float(np.ptp(auc[used]))
        else:
            claim = f"the AUC of every group{of_whom} is above {bound:.6g}"
            if n_tested:
                found = differences.worst_above(estimates.extremes_in_use.lowest, bound, tail)
                estimate = float(auc[used].min())
        limit, statistic, pvalue, furthest = found
        labels = tuple(estimates.labels.tolist()[group] for group in furthest)
        is_shown = limit < bound if reference is None else limit > bound
        low, high = (0.0, limit) if reference is None else (limit, 1.0)
        low, high = (low, high) if labels else (np.nan, np.nan)
        of_test: Any = {"estimate": estimate, "ci_low": low, "ci_high": high, "pvalue": pvalue}
        sizes = int(used.sum()), int((~used).sum())
        of_claim = claim, is_shown, bound, confidence_level, labels, *sizes
        return MarginTest(*of_claim, statistic=statistic, **of_test)

    def compare_groups(
        self, reference: Any = None, *, confidence_level: float = 0.95
    ) -> pd.DataFrame:
        """Compare all pairs of groups, or each group with a reference group or with the rest.

        Parameters
        ----------
        reference : None, "rest" or a group's label, default=None
            None compares all pairs of groups (up to 500 groups). "rest" compares each group with
            the average AUC of the other groups, where a group with m positives and n negatives has
            the weight ``m n / (m + n)``. A label compares with the group of this label; pass the
            label of a group named "rest" in a list.
        confidence_level : float, default=0.95
            Confidence level for each interval, and for all simultaneous intervals together.

        Returns
        -------
        pandas.DataFrame
            A row for each comparison: `auc`, `reference_auc` and their `difference` (the group
            minus the reference), with `ci_low`, `ci_high`, `statistic` and `pvalue` of this
            comparison alone. `simultaneous_low`, `simultaneous_high` and `pvalue_adjusted` are for
            all comparisons together; `adjustment` names the method: Tukey's and Kramer's [1]_ for
            all pairs, otherwise Sidak's. They exclude 0 exactly if `pvalue_adjusted` is below ``1 -
            confidence_level``. NaN if a group lacks a class.

        References
        ----------
        .. [1] Kramer (1956). Biometrics 12(3). https://doi.org/10.2307/3001469

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> y, score, groups = [0, 1] * 50, range(100), [1, 2, 2, 1] * 25
        >>> report = GroupAUC.from_predictions(y, score, groups=groups)
        >>> bool((report.compare_groups("rest")["pvalue_adjusted"] > 0.05).all())
        True
        """
        estimates = self._estimates.of_auc("compare_groups")
        confidence_level = check_confidence_level(confidence_level)
        counts, extremes = estimates.pairs.counts, estimates.variances_at_extremes
        labels = estimates.labels
        if reference is not None:
            order, number = _groups_and_reference(counts, reference)
            if number is None:
                found = differences.compare_with_rest(extremes, confidence_level)
                return pd.DataFrame(found._asdict(), labels).take(order)
            found = differences.compare_with_reference(extremes, number, confidence_level)
            table = pd.DataFrame(found._asdict(), labels.delete(number))
            return table.take(order - (order > number))
        if len(labels) > _MOST_IN_PAIRS:
            raise ValueError(
                f"compare_groups compares all pairs of at most {_MOST_IN_PAIRS} groups; got "
                f"{len(labels):,} groups. Pass reference='rest', or the label of one group."
            )
        order, flat = order_of(counts), labels.to_flat_index()
        first, second = (order[numbers] for numbers in np.triu_indices(len(labels), 1))
        index = pd.MultiIndex.from_arrays([flat[first], flat[second]], names=["group", "reference"])
        found = differences.compare_pairs(extremes, first, second, confidence_level)
        return pd.DataFrame(found._asdict(), index)

    def ranking(self, *, confidence_level: float = 0.95) -> pd.DataFrame:
        """Return shrunken group AUCs, and group ranks with confidence sets.

        The smallest and the largest observed AUC often belong to the groups with the fewest rows;
        shrinkage moves these most towards the mean of the groups.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level of the intervals and of the set of groups that may be worst, and
            simultaneous confidence level of the sets of ranks.

        Returns
        -------
        pandas.DataFrame
            A row for each group, with the index of `by_group`. `shrunken_auc` is the empirical
            Bayes estimate of the true AUC [1]_, with limits `ci_low` and `ci_high` [2]_, which are
            valid on average over groups; `reliability` is the weight of `auc` in it. `rank` is the
            rank of `auc` (1 is the largest), and `rank_low` to `rank_high` is the confidence set of
            the rank of the true AUC [3]_ [4]_. `may_be_worst` marks the confidence set of the group
            with the smallest true AUC [5]_. Groups with fewer than two rows of a class (with
            weights: an effective sample size below 1.5) have NaN or NA; `note` gives the reason.
            With fewer than four ranked groups, nothing is shrunken.

        Raises
        ------
        ValueError
            If rows belong to several test sets.

        References
        ----------
        .. [1] Morris (1983). Journal of the American Statistical Association 78(381).
           https://doi.org/10.1080/01621459.1983.10477920
        .. [2] Morris and Lysy (2012). Statistical Science 27(1). https://arxiv.org/abs/1203.5610
        .. [3] Mogstad et al. (2024). Review of Economic Studies 91(1).
           https://doi.org/10.1093/restud/rdad006
        .. [4] Klein, Wright and Wieczorek (2020), above 2,000 groups. Journal of the Royal
           Statistical Society C 69(3). https://doi.org/10.1111/rssc.12402
        .. [5] Gupta (1965). Technometrics 7(2), 225-245.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> shifts = [-1, 0, 0, 0, 0.1]
        >>> rows = make_group_scores("same_negatives", 200, 800, shifts=shifts, random_state=0)
        >>> report = GroupAUC.from_predictions(rows.y_true, rows.y_score, groups=rows.groups)
        >>> report.ranking()[["rank_low", "rank_high", "may_be_worst"]].head(2)
                  rank_low  rank_high  may_be_worst
        group
        device 1         5          5          True
        device 2         1          4         False
        """
        confidence_level = check_confidence_level(confidence_level)
        estimates = self._estimates.of_auc("ranking")
        if estimates.policy.undefined == "raise":
            # Otherwise, `note` gives the reason without a warning.
            estimates.report_groups()
        found = ranking(estimates.variances_at_extremes, confidence_level)
        columns: dict[str, Any] = {"auc": estimates.pairs.auc, **found._asdict()}
        ranked = columns.pop("ranked")
        for name in ("rank", "rank_low", "rank_high", "may_be_worst"):
            of_all = np.zeros(ranked.size, columns[name].dtype)
            of_all[ranked] = columns[name]
            columns[name] = pd.array(of_all)
            columns[name][~ranked] = pd.NA
        columns["note"] = _notes(estimates, ranked).column
        return estimates.table(columns)

    def agreement(self, delta: float = 0.005) -> Agreement:
        """Test which averages of group AUCs are equivalent to the pooled AUC.

        Parameters
        ----------
        delta : float, default=0.005
            Equivalence margin: the largest difference of two AUCs that count as equivalent.

        Returns
        -------
        Agreement
            Result with a `verdict` in words, the `table` of averages, and `scores`, a table of
            score distributions.

        Raises
        ------
        ValueError
            If a class has no rows.

        Notes
        -----
        An average is equivalent to the pooled AUC if the 90 % interval of their difference is
        within `delta` of 0 (two one-sided tests), and not equivalent if the 99 % interval lies
        beyond it. The Anderson-Darling test [1]_ shows which score distributions differ. With few
        positives and an AUC of .95, up to 8.8 % of simulated samples called an average equivalent
        whose true difference is `delta`.

        References
        ----------
        .. [1] Scholz and Stephens (1987). Journal of the American Statistical Association 82(399).
           https://doi.org/10.1080/01621459.1987.10478517

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> m = [8000, 4000, 2000, 1000]
        >>> rows = make_group_scores("same_negatives", m, 10_000, random_state=0)
        >>> report = GroupAUC.from_predictions(rows.y_true, rows.y_score, groups=rows.groups)
        >>> report.agreement(delta=0.01).case
        'same_negatives'
        """
        estimates = self._estimates.of_auc("agreement", needs_scores=True)
        pairs, counts = estimates.pairs, estimates.pairs.counts_for("agreement")
        pairs.check_independent_rows("agreement")
        delta = _input.check_share(delta, "delta")
        variances, pooled = estimates.variances, pairs.pooled_auc
        auc, used = estimates.group_values
        if np.isnan(pooled):
            raise ValueError("agreement needs rows of both classes.")
        if not used.any():
            raise ValueError("agreement needs a group with rows of both classes.")
        distances, tests = agreement.class_agreement(counts)
        strata, own = strata_of(counts), view_of(with_weights_over(counts)).own_moments
        certain, scores, rows = {}, {}, {}
        for i, name in enumerate(("negatives", "positives")):
            mine = variances.positives if i else variances.negatives
            share = mine.weight / mine.weight.sum()
            certain[name] = agreement.certain_bound(share, distances[1 - i])
            scores[name] = {
                "largest_distance": np.nanmax(distances[i]),
                "mean_distance": np.nansum(share * distances[i]),
                "null_mean_distance": np.dot(share, agreement.null_distances(mine.effective)),
                "statistic": tests[i][0],
                "pvalue": tests[i][1],
            }
        for name in AVERAGES:
            share = shares(estimates, name)
            assert share is not None
            value = float(np.dot(share[share > 0], auc[share > 0]))
            difference = pooled - value
            low = high = difference
            if pairs.is_binned:
                of_pooled, of_average = (statistic_bounds(estimates, of) for of in ("pooled", name))
                low, high = of_pooled.low - of_average.high, of_pooled.high - of_average.low
            derivatives = _derivatives(estimates, name, share, value)
            random = agreement.of_random_numbers(strata, derivatives)
            error = np.sqrt(agreement.of_difference(strata, variances, own, share) + random)
            if error < 1e-12 and counts.groups is not None and len(counts) > 1:
                # The estimated variance is 0 with few rows; use a bound of the variance instead.
                error = np.sqrt(estimates.in_use.of_average(share))
            reach = normal_quantile(0.05) * error
            bound = certain.get(name, np.nan) + max(difference - low, high - difference)
            verdict = _equivalence(low, high, error, delta)
            rows[name] = value, difference, low - reach, high + reach, bound, verdict
        columns = ["value", "difference", "ci_low", "ci_high", "bound", "equivalent_to_pooled"]
        averages = pd.DataFrame(list(rows.values()), pd.Index(rows, name="average"), columns)
        table = pd.DataFrame.from_dict(scores, orient="index")
        verdict = _verdict(pooled, averages, table, delta, weighted=variances.weighted)
        return Agreement(verdict, table, _case(averages, table), delta, table=averages)


def _groups_and_reference(
    counts: ScoreCounts, reference: Any
) -> tuple[NDArray[np.intp], int | None]:
    """Return the groups to compare as tables list them, and the reference group, if it is one."""
    order, groups = order_of(counts), counts.groups or ()
    if isinstance(reference, str) and reference == "rest":
        return order, None
    if isinstance(reference, list) and len(reference) == 1:
        reference = reference[0]
    number = _labels.position_of(_labels.as_label(reference), groups)
    if number is None:
        raise ValueError(
            "reference must be None, 'rest' or a group's label; got "
            f"{_words.shortened(reference)}, and the "
            f"groups are {_words.all_shortened(groups[:5])}{', ...' * (len(groups) > 5)}."
        )
    return order[order != number], number


def _of_others(cells: Cells, place: NDArray[np.intp], g: int) -> RocCurve | None:
    """Return the curve of all other groups' rows; None without a class. `place` ranks scores."""
    rates = []
    for amounts in cells.amounts:
        others = amounts.astype(np.float64)
        others[cells.starts[g] : cells.starts[g + 1]] = 0.0
        above = np.cumsum(np.bincount(place, others)[::-1])
        if not above[-1] > 0.0:
            return None
        rates.append(np.append(0.0, above / above[-1]))
    return RocCurve(*rates)


def difference_test(estimates: GroupEstimates, confidence_level: float) -> DifferenceTest:
    (values, used), pairs = estimates.group_values, None
    if used.sum() > 1:
        check_rows_of(method := estimates.measure.methods[0], estimates)
        pairs = estimates.all_pairs(method)
    has_pvalue, values = not estimates.n_replaced, np.where(used, values, np.nan)
    return largest_difference_test(pairs, values, estimates.labels, confidence_level, has_pvalue)


def largest_difference_test(
    pairs: differences.AllPairs | None,
    values: Floats,
    index: pd.Index,
    confidence_level: float,
    has_pvalue: bool = True,
) -> DifferenceTest:
    """Return the test of the largest difference between values that are not NaN.

    Without `pairs`, there is neither an interval nor a test.
    """
    used, labels = np.flatnonzero(~np.isnan(values)), index.tolist()
    if used.size < 2:
        nothing = None, None, None, used.size, "needs two groups with both classes"
        return DifferenceTest(confidence_level, *nothing)
    of_test: Any = {"estimate": float(np.ptp(values[used]))}
    clearest, alpha = None, 1.0 - confidence_level
    if pairs is not None:
        of_test["ci_low"], of_test["ci_high"] = pairs.largest(alpha)
    if pairs is not None and has_pvalue:
        of_test["pvalue"], pair = pairs.test()
        of_test["statistic"] = max(pairs.statistic, 0.0)
        if pair is not None:
            above, below = used[list(pair)]
            clearest = labels[above], labels[below]
            limits = (of[pair[0]] for of in pairs.limits_from(pair[1], alpha, pairs.most))
            row = (values[above] - values[below], *limits, of_test["pvalue"])
            columns = ["difference", "simultaneous_low", "simultaneous_high", "pvalue_adjusted"]
            levels = [[of] for of in clearest]
            index = pd.MultiIndex.from_arrays(levels, names=["group", "reference"])
            of_test["table"] = pd.DataFrame([row], index, columns)
    highest, lowest = int(np.nanargmax(values)), int(np.nanargmin(values))
    # Of equal values, the first is the worst; two groups are named if all are equal.
    lowest = int(used[-1]) if lowest == highest else lowest
    method = "comparison of two groups" if used.size == 2 else "comparison of all pairs"
    if used.size > differences.MOST_GROUPS:
        method = "Bonferroni limits of all groups"
    of_groups = labels[highest], labels[lowest], clearest, used.size, method
    return DifferenceTest(confidence_level, *of_groups, **of_test)


def _notes(estimates: GroupEstimates, ranked: NDArray[np.bool_]) -> Notes:
    """Return the reason for the lack of a rank or of shrinkage, and remarks on bins."""
    variances, pairs = estimates.variances, estimates.pairs
    notes = Notes(ranked.size)
    reason = "effective sample size of a class below 1.5"
    if pairs.is_within_folds:
        reason = "too few rows of a class in a fold"
    if variances.clusters is not None:
        reason = "fewer than two clusters of a class"
    notes[~ranked] = f"not ranked: {reason}"
    if pairs.is_within_folds:
        notes[~pairs.defined] = "not ranked: no fold with rows of both classes"
    for number, words in ((1, "one {}"), (0, "no {}s")):
        for rows, name in ((variances.positives, "positive"), (variances.negatives, "negative")):
            notes[rows.n == number] = f"not ranked: {words.format(name)}"
    if pairs.is_binned:
        for g, bounds in enumerate(map(Bounds, *group_bounds(estimates))):
            if ranked[g]:
                notes[g] = f"scores are binned: the AUC is certainly {certain_range(bounds)}"
    notes.put_before(ranked & (variances.delong == 0.0), NO_VARIATION)
    if ranked.sum() < LEAST_GROUPS:
        notes.put_before(ranked, "not shrunken: fewer than four groups")
    return notes


# Level of the test: score distributions differ if the p value is below this level.
_DIFFERENT = 0.01


@dataclasses.dataclass(frozen=True, repr=False)
class Agreement(Result):
    """Equivalence of averages with the pooled AUC, returned by `GroupAUC.agreement`.

    The `table` has the estimate and the limits of each average; there is no single one.

    Attributes
    ----------
    verdict : str
        The result in a sentence or two.
    table : pandas.DataFrame
        A row for each average. `value` is the average, and `difference` is the pooled AUC minus the
        average, with the limits `ci_low` and `ci_high` of its 90 % interval. `bound` is a certain
        upper bound of the absolute difference (for "positives" and "negatives" only).
        `equivalent_to_pooled` is "yes", "no" or "cannot tell".
    scores : pandas.DataFrame
        A row for negatives and a row for positives: the largest and the mean Kolmogorov distance
        between the scores of a group and all groups (weighted by rows), the approximate mean
        distance under the null hypothesis, and the statistic and the p value of the
        Anderson-Darling test (NaN with sample weights).
    case : str
        "identical", "same_negatives", "same_positives" or "different" distributions, or
        "cannot tell".
    delta : float
        The equivalence margin.
    """

    verdict: str
    scores: pd.DataFrame
    case: str
    delta: float

    def __repr__(self) -> str:
        return f"Agreement: {self.verdict}\n\n{self.table}\n\n{self.scores}"


def _derivatives(
    estimates: GroupEstimates, name: str, share: Floats, average: float
) -> tuple[Floats, Floats]:
    """Derivatives of an average by the weight of the negatives and the positives of groups.

    The group AUCs do not depend on the row count, but the shares of groups in the average do.
    """
    auc, used = estimates.group_values
    n, m = estimates.variances.negatives.weight, estimates.variances.positives.weight
    weights = {"samples": (m + n, m + n), "negatives": (n, None), "positives": (None, m)}
    deviation = np.where(used, auc - average, 0.0)
    by_negatives, by_positives = (
        np.zeros(auc.size) if weight is None else ratio(share, weight, 0.0) * deviation
        for weight in {**weights, "within": (n, m)}.get(name, (None, None))
    )
    return by_negatives, by_positives


def _equivalence(low: float, high: float, error: float, delta: float) -> str:
    """Return the result of the equivalence test (TOST) of a difference from `low` to `high`."""
    if max(high, -low) + normal_quantile(0.05) * error <= delta:
        return "yes"
    is_beyond = max(low, -high) - normal_quantile(0.005) * error > delta
    return "no" if is_beyond else "cannot tell"


def _case(averages: pd.DataFrame, scores: pd.DataFrame) -> str:
    """Classify score distributions: tests detect differences, intervals establish equivalence."""
    stands = averages["equivalent_to_pooled"] == "yes"
    negatives, positives = scores["pvalue"]
    if negatives < _DIFFERENT and positives < _DIFFERENT:
        return "different"
    if positives < _DIFFERENT and stands["positives"]:
        return "same_negatives"
    if negatives < _DIFFERENT and stands["negatives"]:
        return "same_positives"
    neither = negatives >= _DIFFERENT and positives >= _DIFFERENT
    return "identical" if neither and stands["positives"] and stands["negatives"] else "cannot tell"


def _verdict(
    pooled: float, averages: pd.DataFrame, scores: pd.DataFrame, delta: float, *, weighted: bool
) -> str:
    parts = []
    for answer, words in (
        ("yes", f"equivalent to it (within {delta:g})"),
        ("no", "not equivalent to it"),
        ("cannot tell", "undecided: there are too few rows to tell"),
    ):
        names = averages.index[averages["equivalent_to_pooled"] == answer].tolist()
        if names:
            parts.append(f"{_words.enumerated(names)} {'is' if len(names) == 1 else 'are'} {words}")
    told = f"The pooled AUC is {pooled:.4f}. Of the averages, {'; '.join(parts)}."
    pvalues = scores["pvalue"]
    if pvalues.isna().any() and weighted:
        return f"{told} Equality of score distributions is not tested with sample weights."
    differing = pvalues.index[pvalues < _DIFFERENT].tolist()
    if not differing:
        return f"{told} No difference between the groups' scores is detected."
    return f"{told} The scores of {_words.enumerated(differing)} differ between groups."
