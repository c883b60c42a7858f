"""Gaps between groups in ranking and in decisions, and the p values of their tests."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc.audit import calibration as calibrating
from skfedauc.audit import decisions as deciding
from skfedauc.audit.claims import Claims, Floats, Questions, adjusted_together, weighted_holm
from skfedauc.audit.names import crossed, named_in
from skfedauc.audit.rates import RateCounts, cluster_sums
from skfedauc.clusters import ClusterCounts
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import select_groups, with_n_missing
from skfedauc.inference import rates as rates_of
from skfedauc.inference.calibration import are_exact_probabilities
from skfedauc.inference.cross_gap import CrossGaps, cross_gaps
from skfedauc.inference.differences import MOST_GROUPS, DifferenceTest, UsedGroups
from skfedauc.inference.rates import ClusterSums, GapLimits
from skfedauc.pairs import GroupPairs
from skfedauc.report import (
    GroupAUC,
    by_number,
    estimates_of,
    group_names_of,
    index_of,
    large_groups,
    null_difference_of,
    spread_of,
)
from skfedauc.report.statistics import MATRIX_GROUPS

LEVEL = 0.95
# Largest product of the numbers of groups and cells for which an audit has ABROCA
_MOST_VISITS = 10_000_000
_SELECTION, *_ODDS = deciding.RATES

# Row of the table of gaps: values by column name
Gap = dict[str, Any]


def is_small(counts: ScoreCounts, min_per_class: int) -> NDArray[np.bool_]:
    """Return whether each group lacks a class or has fewer than `min_per_class` rows of a class."""
    n_smaller_class = np.minimum(counts.n_positives, counts.n_negatives)
    return np.asarray(n_smaller_class < max(min_per_class, 1))


class GroupComparison:
    """Comparison of the groups of one grouping: gaps, and p values of claims about the gaps.

    Parameters
    ----------
    report : GroupAUC
        Report on all groups.
    decisions : ScoreCounts or None
        Counts of decisions on the rows of the report. None compares the ranking only. If the report
        has clusters, these are counts by unit, see `ClusterCounts`.
    min_per_class : int
        Least number of rows for a comparison, see `FairnessAudit`.
    reference : object
        Label of the reference group, or None for the other groups together.
    within : mapping of str to object, default=None
        Columns with a fixed label in all rows, and their labels.
    """

    def __init__(
        self,
        report: GroupAUC,
        decisions: ScoreCounts | None,
        min_per_class: int,
        reference: Any,
        within: Mapping[str, Any] | None = None,
    ) -> None:
        self.within_levels = dict(within or {})
        self.report = report
        clusters, self.decision_clusters = estimates_of(report).pairs.clusters, None
        if decisions is not None and clusters is not None:
            self.decision_clusters = clusters.with_units(decisions)
            decisions = _by_group(decisions, clusters, self.groups)
        self.decisions = decisions
        self.min_per_class = min_per_class
        self.reference = reference

    def regrouped(self, columns: Sequence[str]) -> GroupComparison:
        """Return a comparison of the groups by some of the columns."""
        pairs = GroupPairs(self.report.counts, clusters=estimates_of(self.report).pairs.clusters)
        return self._of_groups(pairs, self._given_decisions, columns, self.within_levels)

    def within(self, column: str) -> dict[Any, GroupComparison]:
        """Return a comparison by the other columns for each label of a column."""
        place = self.columns.index(column)
        others = [name for name in self.columns if name != column]
        numbers: dict[Any, list[int]] = {}
        for g, label in enumerate(self.groups):
            numbers.setdefault(label[place], []).append(g)
        counts, clusters = self.report.counts, estimates_of(self.report).pairs.clusters
        found = {}
        for level, chosen in numbers.items():
            # A row without a group has no known label of the column.
            of_level, own = with_n_missing(select_groups(counts, chosen), 0), None
            decisions = self.decisions
            if clusters is not None:
                own = clusters.select_groups(np.array(chosen))
            if self.decision_clusters is not None:
                decisions = self.decision_clusters.select_groups(np.array(chosen)).units
            elif decisions is not None:
                decisions = select_groups(decisions, chosen)
            levels = self.within_levels | {column: level}
            found[level] = self._of_groups(
                GroupPairs(of_level, clusters=own), decisions, others, levels
            )
        return found

    @property
    def _given_decisions(self) -> ScoreCounts | None:
        """Decisions as given: by group, or by unit if the report has clusters."""
        found = self.decision_clusters
        return self.decisions if found is None else found.units

    def _of_groups(
        self,
        pairs: GroupPairs,
        decisions: ScoreCounts | None,
        columns: Sequence[str],
        within: Mapping[str, Any],
    ) -> GroupComparison:
        """Return a comparison of some of the rows by some of the columns."""
        places = [self.columns.index(name) for name in columns]

        def parts(label: tuple[Any, ...]) -> Any:
            return label[places[0]] if len(places) == 1 else tuple(label[i] for i in places)

        counts, clusters = pairs.counts.regroup(parts), pairs.clusters
        if clusters is None:
            decisions = None if decisions is None else decisions.regroup(parts)
        else:
            place = {label: g for g, label in enumerate(counts.groups or ())}
            numbers = np.array([place[parts(label)] for label in pairs.counts.groups or ()])
            if decisions is not None:
                decisions = clusters.with_units(decisions).regroup(numbers, len(place)).units
            clusters = clusters.regroup(numbers, len(place))
        regrouped = GroupPairs(counts, clusters=clusters)
        return GroupComparison(
            GroupAUC(regrouped, undefined="ignore", group_names=list(columns)),
            decisions,
            self.min_per_class,
            None if self.reference is None else parts(self.reference),
            within,
        )

    # Groups ------------------------------------------------------------------------------

    @property
    def grouping(self) -> str:
        """Name of the grouping, such as "sex" or "sex (region 'north')"."""
        levels = list(itertools.starmap(named_in, self.within_levels.items()))
        columns = crossed(self.columns)
        return f"{columns} ({', '.join(levels)})" if levels else columns

    @property
    def groups(self) -> tuple[Any, ...]:
        """Labels of all groups."""
        return self.report.counts.groups or ()

    @functools.cached_property
    def index(self) -> pd.Index:
        """Index of tables with one row per group."""
        return index_of(self.report)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the sensitive columns, by default "column 1" and so on."""
        return tuple(
            f"column {i}" if name is None else str(name)
            for i, name in enumerate(self.index.names, start=1)
        )

    @functools.cached_property
    def is_small(self) -> NDArray[np.bool_]:
        """True for each group with too few rows of a class for a comparison of AUCs."""
        return is_small(self.report.counts, self.min_per_class)

    @functools.cached_property
    def has_enough(self) -> dict[str, NDArray[np.bool_]]:
        """True for each group with enough rows in the denominator, by rate."""
        n_rows = deciding.n_rows_of_rates(self.report.counts)
        return {rate: n >= max(self.min_per_class, 1) for rate, n in n_rows.items()}

    @functools.cached_property
    def everyone(self) -> GroupAUC:
        """Report on all groups, without warnings and without substitutes for undefined AUCs."""
        if estimates_of(self.report).policy.undefined == "ignore":
            return self.report
        names = None if None in self.index.names else self.columns
        pairs = GroupPairs(self.report.counts, clusters=estimates_of(self.report).pairs.clusters)
        return GroupAUC(pairs, undefined="ignore", group_names=names)

    @functools.cached_property
    def compared(self) -> GroupAUC:
        """Report on the groups that are not small."""
        if not self.is_small.any():
            return self.everyone
        pairs, _ = large_groups(estimates_of(self.everyone).pairs, max(self.min_per_class, 1))
        names = group_names_of(self.everyone)
        return GroupAUC(pairs, undefined="ignore", group_names=names)

    @property
    def has_clusters(self) -> bool:
        """True if rows are dependent within clusters."""
        return estimates_of(self.report).pairs.clusters is not None

    @property
    def shares_clusters(self) -> bool:
        """True if a cluster has rows in several of the groups that are not small."""
        return estimates_of(self.compared).variances.shares_clusters

    # Tests -------------------------------------------------------------------------------

    @functools.cached_property
    def with_reference(self) -> pd.DataFrame:
        """Comparisons with the reference, one row for each group that is not small."""
        compared = self.compared
        if self.reference is None and self.shares_clusters and compared.n_groups > 2:
            # The comparison has no test. The AUC of the other groups does not depend on clusters.
            of_rows = GroupAUC(compared.counts, undefined="ignore").compare_groups("rest")
            of_rows = by_number(compared.counts, of_rows)
            return of_rows[["reference_auc"]].assign(pvalue=np.nan)
        if self.reference is None:
            table = compared.compare_groups("rest", confidence_level=LEVEL)
            return by_number(compared.counts, table)
        table = compared.compare_groups([self.reference], confidence_level=LEVEL)
        # There is no comparison of the reference group with itself.
        number = (compared.counts.groups or ()).index(self.reference)
        table = table.loc[index_of(compared).delete(number)]
        rows = np.insert(np.arange(len(table)), number, -1)
        padded = table.reset_index(drop=True).reindex(rows)
        padded["reference_auc"] = estimates_of(compared).pairs.auc[number]
        return padded

    @functools.cached_property
    def largest_difference(self) -> DifferenceTest:
        """Test of the largest difference of AUCs from the comparison of all pairs of groups."""
        return self.compared.test_difference(confidence_level=LEVEL)

    @functools.cached_property
    def cross_gaps(self) -> CrossGaps:
        """XAUC disparities between the groups that are not small."""
        bias = by_number(self.compared.counts, self.compared.bias_by_group)
        disparity = bias["xauc_disparity"].to_numpy()
        # Use the disparities of `bias_by_group`, which makes both tables bit-identical.
        found = cross_gaps(self.compared.counts, estimates_of(self.compared).pairs.clusters)
        return found._replace(disparity=disparity)

    @functools.cached_property
    def rate_counts(self) -> RateCounts | None:
        """Rows by class, decision and group, or None without decisions."""
        return None if self.decisions is None else RateCounts.of(self.decisions)

    @functools.cached_property
    def rates(self) -> dict[str, Floats]:
        """Rates of the decisions by group, or NaN without decisions."""
        if self.rate_counts is None:
            return {rate: np.full(len(self.groups), np.nan) for rate in deciding.RATES}
        return {rate: self.rate_counts.shares(rate) for rate in deciding.RATES}

    @functools.cached_property
    def compared_rates(self) -> dict[str, tuple[Floats, Floats]]:
        """Rates of the groups with enough rows, and their effective sample sizes, by rate.

        Rates of fewer than two groups are omitted.
        """
        if self.rate_counts is None:
            return {}
        return {
            rate: (
                self.rates[rate][has_enough],
                self.rate_counts.rows(rate).effective[has_enough],
            )
            for rate, has_enough in self.has_enough.items()
            if has_enough.sum() > 1
        }

    @functools.cached_property
    def _cluster_sums(self) -> dict[str, ClusterSums]:
        """Sums by cluster of the rates of the groups with enough rows, or empty without clusters.

        Rates of fewer than two groups are omitted.
        """
        if self.decision_clusters is None:
            return {}
        return {
            rate: cluster_sums(self.decision_clusters, rate).select(self.has_enough[rate])
            for rate in self.compared_rates
        }

    def _tested_rates(self, rate: str) -> dict[str, float]:
        """Return the p value of equal rates, and the mean of the gap if all rates are equal."""
        shares, n_rows = self.compared_rates[rate]
        if rate not in self._cluster_sums:
            return {
                "expected": deciding.null_difference(shares, n_rows),
                "pvalue": deciding.test_equal_shares(shares, n_rows),
            }
        sums = self._cluster_sums[rate]
        if sums.shares_clusters and shares.size > MOST_GROUPS:
            return {"expected": np.nan, "pvalue": np.nan}
        pvalue = deciding.test_equal_shares_of_clusters(sums)
        if sums.shares_clusters:
            return {"expected": np.nan, "pvalue": pvalue}
        expected = deciding.null_difference(shares, sums.shares.effective)
        return {"expected": expected, "pvalue": pvalue}

    @functools.cached_property
    def rate_gaps(self) -> dict[str, Gap]:
        """Gap of each rate between groups with enough rows, or empty for fewer than two groups."""
        gaps: dict[str, Gap] = {rate: {} for rate in deciding.RATES}
        for rate, (shares, _) in self.compared_rates.items():
            low, high = float(shares.min()), float(shares.max())
            gaps[rate] = {
                "value": high - low,
                "ratio": low / high if high > 0 else np.nan,
                **self._tested_rates(rate),
                **self._extremes(self.rates[rate], self.has_enough[rate]),
            }
        return gaps

    @functools.cached_property
    def calibration_pvalues(self) -> Floats:
        """P values of mean scores minus shares of positives, of the groups with enough rows.

        NaN without decisions, because scores from 0 to 1 may then be ranks, and for scores that are
        not exact probabilities. Scores that are all 0 or 1 are decisions.
        """
        if not self._has_probabilities:
            return np.full(len(self.groups), np.nan)
        pvalues = calibrating.pvalues(self.report.counts, estimates_of(self.report).pairs.clusters)
        return np.where(self.has_enough[_SELECTION], pvalues, np.nan)

    @functools.cached_property
    def _has_probabilities(self) -> bool:
        counts = self.report.counts
        if self.decisions is None or not are_exact_probabilities(counts):
            return False
        return not deciding.are_decisions(counts)

    @functools.cached_property
    def pvalues(self) -> Questions:
        """P values by question of the claims that findings can make."""
        compared, none = self.compared, np.full(1, np.nan)
        pvalues = {"difference": none, "equal_aucs": none, "group_auc": none}
        pvalues["cross_ranking"] = self.cross_gaps.pvalue
        if compared.n_groups == 2:
            pvalues["difference"] = np.array([self.largest_difference.pvalue])
            pvalues["cross_ranking"] = pvalues["cross_ranking"][:1]
        elif compared.n_groups > 2:
            pvalues["difference"] = np.array([self.largest_difference.pvalue])
            if not self.shares_clusters:
                pvalues["equal_aucs"] = np.array([compared.test_equal_groups().pvalue])
            pvalues["group_auc"] = self.with_reference["pvalue"].to_numpy()
        for rate in deciding.RATES:
            pvalues[rate] = np.array([self.rate_gaps[rate].get("pvalue", np.nan)])
        pvalues["calibration"] = self.calibration_pvalues
        return pvalues

    # Limits ------------------------------------------------------------------------------

    def limits(self, alpha: float, tail: float) -> dict[str, GapLimits]:
        """Return limits of the AUC ratio and of the gaps of decisions, for defined gaps.

        The limit on the side of no gap holds for all pairs of groups together, and the limit on the
        other side needs no adjustment; see `skfedauc.inference.rates`. The equalized odds gap
        is the larger of the gaps of two rates. Its limit on the side of no gap is adjusted for the
        two rates (Bonferroni's method), and its other limit is the limit of one of these gaps.

        Parameters
        ----------
        alpha : float
            Probability with which the limit on the side of no gap may fail: the lower limit of a
            difference, and the upper limit of a ratio.
        tail : float
            Probability with which the other limit may fail.
        """
        found: dict[str, GapLimits] = {}
        if self.compared.n_groups > 1:
            used = UsedGroups.of(estimates_of(self.compared).extremes_in_use)
            aucs, n_groups = rates_of.estimates_of_aucs(used.spreads), self.compared.n_groups
            arguments = aucs, n_groups, alpha, tail, used.correlation
            found["ratio"] = rates_of.limits_of_ratio(*arguments)
        for name, rates in (
            ("demographic_parity", [_SELECTION]),
            ("equalized_odds", _ODDS),
            *((rate, [rate]) for rate in _ODDS),
        ):
            rates = [rate for rate in rates if rate in self.compared_rates]
            if not rates:
                continue
            differences, ratios = [], []
            for rate in rates:
                shares, n_rows = self.compared_rates[rate]
                estimates, correlation = rates_of.estimates_of_shares(shares, n_rows), None
                if rate in self._cluster_sums:
                    sums = self._cluster_sums[rate]
                    estimates = rates_of.estimates_of_shares(shares, sums.shares)
                    correlation = sums.correlation if shares.size <= MOST_GROUPS else None
                arguments = (estimates, shares.size, alpha / len(rates), tail, correlation)
                differences.append(rates_of.limits_of_difference(*arguments))
                ratios.append(rates_of.limits_of_ratio(*arguments))
            found[f"{name}_difference"] = GapLimits(*np.max(differences, axis=0).tolist())
            found[f"{name}_ratio"] = GapLimits(*np.min(ratios, axis=0).tolist())
        return found

    # Gaps --------------------------------------------------------------------------------

    def gaps(self, adjusted: Questions) -> dict[str, Gap]:
        """Return the gaps by name, with empty rows for undefined gaps.

        Parameters
        ----------
        adjusted : mapping of str to ndarray
            Adjusted p values by question.
        """
        rows = {
            **self._auc_gaps(adjusted),
            **self._ranking_gaps(adjusted),
            **self._decision_gaps(adjusted),
        }
        for name, (low, high) in self.limits(1.0 - LEVEL, (1.0 - LEVEL) / 2.0).items():
            # The table has no ratio of true or of false positive rates alone. A ratio is undefined
            # without selected rows.
            if not np.isnan(rows.get(name, {}).get("value", np.nan)):
                rows[name] |= {"ci_low": low, "ci_high": high}
        return rows

    def _auc_gaps(self, adjusted: Questions) -> dict[str, Gap]:
        compared = self.compared
        if compared.n_groups < 2:
            return {"difference": {}, "ratio": {}, "tau": {}}
        test = self.largest_difference
        tested = {"pvalue": test.pvalue, "pvalue_adjusted": adjusted["difference"][0]}
        extremes = self._extremes(estimates_of(self.report).pairs.auc, ~self.is_small)
        # tau and the mean of the difference are for groups that share no clusters.
        expected, tau = np.nan, {}
        if not self.shares_clusters:
            expected = null_difference_of(compared)
            spread = spread_of(compared, confidence_level=LEVEL)
            tau = {"value": spread["tau"], "ci_low": spread["ci_low"], "ci_high": spread["ci_high"]}
        return {
            "difference": {
                "value": compared.difference,
                "expected": expected,
                "ci_low": test.ci_low,
                "ci_high": test.ci_high,
                **tested,
                **extremes,
            },
            "ratio": {"value": compared.statistic("ratio"), **tested, **extremes},
            "tau": tau,
        }

    def _ranking_gaps(self, adjusted: Questions) -> dict[str, Gap]:
        compared = self.compared
        if compared.n_groups < 2:
            return {"xauc_disparity": {}, "cross_difference": {}, "abroca": {}}
        groups = compared.counts.groups or ()
        rows = {"xauc_disparity": self._clearest_disparity(groups, adjusted["cross_ranking"])}
        if len(groups) <= MATRIX_GROUPS:
            matrix = estimates_of(compared).pairs.cross_auc
            high_group, low_group = np.unravel_index(np.argmax(matrix - matrix.T), matrix.shape)
            rows["cross_difference"] = {"value": compared.statistic("cross_difference")}
            if compared.statistic("cross_difference") > 0:
                extremes = {"lowest": groups[int(low_group)], "highest": groups[int(high_group)]}
                rows["cross_difference"] |= extremes
        if len(groups) * compared.counts.cells.scores.size <= _MOST_VISITS:
            table = compared.abroca()
            largest = int(np.nanargmax(table["abroca"]))
            is_better = table["auc"].iloc[largest] >= table["reference_auc"].iloc[largest]
            rows["abroca"] = {"value": table["abroca"].iloc[largest]}
            if rows["abroca"]["value"] > 0:
                rows["abroca"]["highest" if is_better else "lowest"] = groups[largest]
        return rows

    def _clearest_disparity(self, groups: Sequence[Any], adjusted: Floats) -> Gap:
        """Return the xAUC disparity with the largest ratio to the standard error."""
        found = self.cross_gaps
        # Without any standard error, take the largest disparity.
        errors = 1.0 if np.isnan(found.error).all() else found.error
        clearness = np.abs(found.disparity) / errors
        # The disparities of two groups differ in sign only. Choose the group with the higher
        # scores.
        clearness *= np.where(found.disparity > 0, 1 + 1e-9, 1.0)
        clearest = int(np.nanargmax(clearness))
        low, high = found.limits(LEVEL)
        gap: Gap = {
            "value": found.disparity[clearest],
            "ci_low": low[clearest],
            "ci_high": high[clearest],
            "pvalue": found.pvalue_adjusted[clearest],
            # Two groups have one joint claim.
            "pvalue_adjusted": adjusted[min(clearest, adjusted.size - 1)],
        }
        if gap["value"]:
            gap["highest" if gap["value"] > 0 else "lowest"] = groups[clearest]
        return gap

    def _decision_gaps(self, adjusted: Questions) -> dict[str, Gap]:
        found = {
            rate: gap | {"pvalue_adjusted": adjusted[rate][0], "rate": rate}
            for rate, gap in self.rate_gaps.items()
            if gap
        }
        rows: dict[str, Gap] = {}
        for name, rates in (("demographic_parity", [_SELECTION]), ("equalized_odds", _ODDS)):
            of_rates = [found[rate] for rate in rates if rate in found]
            if rates == _ODDS:
                for rate in rates:
                    own = found.get(rate, {})
                    rows[f"{rate}_difference"] = {k: v for k, v in own.items() if k != "rate"}
                # Adjust for the choice of one of two rates. `adjusted_together` adjusts for all
                # claims.
                raw = np.array([gap["pvalue"] for gap in of_rates])
                of_two = weighted_holm(raw, np.ones(raw.size)).tolist()
                # Rounding error can put `pvalue` above `pvalue_adjusted`. Use the smaller value.
                of_rates = [
                    gap | {"pvalue": min(pvalue, gap["pvalue_adjusted"])}
                    for gap, pvalue in zip(of_rates, of_two, strict=True)
                ]
            else:
                of_rates = [{k: v for k, v in g.items() if k != "rate"} for g in of_rates]
            widest = max(of_rates, key=lambda gap: gap["value"], default={})
            # The ratio is undefined without selected rows.
            defined = [gap for gap in of_rates if gap["ratio"] == gap["ratio"]] or of_rates
            smallest = min(defined, key=lambda gap: gap["ratio"], default={})
            rows[f"{name}_difference"] = widest
            rows[f"{name}_ratio"] = smallest | (
                {"value": smallest["ratio"], "expected": np.nan} if smallest else {}
            )
        return rows

    def _extremes(self, of_group: Floats, is_compared: NDArray[np.bool_]) -> Gap:
        """Return the groups with the lowest and the highest value, or nothing for equal values."""
        values = np.where(is_compared, of_group, np.nan)
        if np.isnan(values).all() or np.nanmin(values) == np.nanmax(values):
            return {}
        return {
            "lowest": self.groups[int(np.nanargmin(values))],
            "highest": self.groups[int(np.nanargmax(values))],
        }


def _by_group(
    decisions: ScoreCounts, clusters: ClusterCounts, groups: Sequence[Any]
) -> ScoreCounts:
    """Return counts by group, from counts by unit."""
    labels = [groups[g] for g in clusters.group_of.tolist()]
    return decisions.regroup(dict(zip(decisions.groups or (), labels, strict=True)))


def claims_of(comparisons: Sequence[GroupComparison]) -> list[Claims]:
    """Return the claims of each comparison, with joint adjustment."""
    names = [comparison.grouping for comparison in comparisons]
    return adjusted_together(names, [comparison.pvalues for comparison in comparisons])
