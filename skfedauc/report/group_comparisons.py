"""Comparisons of groups: differences, margins, ranks, curves, and averages with the pooled AUC."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import ratio
from skfedauc.counts.score_counts import select_groups, view_of, with_weights_over
from skfedauc.inference import agreement
from skfedauc.inference.curves import GroupCurves, RocCurve, area_between
from skfedauc.inference.differences import (
    MOST_GROUPS,
    Comparisons,
    DifferenceTest,
    Extreme,
    MarginTest,
    UsedGroups,
    clearest_difference,
    compare_pairs,
    compare_with_reference,
    compare_with_rest,
    difference_below,
    difference_interval,
    worst_above,
)
from skfedauc.inference.intervals import NO_VARIATION, check_confidence_level
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.ranking import LEAST_GROUPS, ranking
from skfedauc.inference.variances import strata_of
from skfedauc.pairs import GroupPairs
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.groups import listed, number_of_group, order_of
from skfedauc.report.intervals import certain_range, group_bounds, statistic_bounds
from skfedauc.report.statistics import AVERAGES, Bounds, shares

if TYPE_CHECKING:
    import pandas as pd

# Largest number of groups for a comparison of all pairs.
_MOST_IN_PAIRS = 500


def comparison_table(
    estimates: GroupEstimates, reference: Any, confidence_level: float
) -> pd.DataFrame:
    """Return the table of `GroupAUC.compare_groups`."""
    import pandas as pd

    confidence_level = check_confidence_level(confidence_level)
    counts, extremes = estimates.pairs.counts, estimates.variances_at_extremes
    labels, order = estimates.labels, order_of(counts)
    n_groups = len(labels)
    if isinstance(reference, str) and reference == "rest":
        found = compare_with_rest(extremes, confidence_level)
        return listed(counts, _comparison_table(found, labels))
    if reference is not None:
        number = number_of_group(reference, counts)
        found = compare_with_reference(extremes, number, confidence_level)
        table = _comparison_table(found, labels.delete(number))
        others = order[order != number]
        return table.take(others - (others > number))
    if n_groups > _MOST_IN_PAIRS:
        raise ValueError(
            f"compare_groups compares all pairs of at most {_MOST_IN_PAIRS} groups; got "
            f"{n_groups:,} groups. Pass reference='rest', or the label of one group."
        )
    first, second = (order[numbers] for numbers in np.triu_indices(n_groups, 1))
    flat = labels.to_flat_index()
    index = pd.MultiIndex.from_arrays([flat[first], flat[second]], names=["group", "reference"])
    return _comparison_table(compare_pairs(extremes, first, second, confidence_level), index)


def _comparison_table(found: Comparisons, index: Any) -> pd.DataFrame:
    import pandas as pd

    columns = {name: getattr(found, name) for name in found._fields}
    columns["reference_auc"] = columns.pop("other")
    columns["difference"] = found.auc - found.other
    names = ["auc", "reference_auc", "difference", "ci_low", "ci_high", "statistic", "pvalue"]
    names += ["simultaneous_low", "simultaneous_high", "pvalue_adjusted", "adjustment"]
    return pd.DataFrame(columns, columns=names, index=index)


def difference_test(estimates: GroupEstimates, confidence_level: float) -> DifferenceTest:
    """Return the result of `GroupAUC.test_difference`."""
    confidence_level = check_confidence_level(confidence_level)
    auc, used = estimates.group_values
    n_groups = int(used.sum())
    if n_groups < 2:
        nan, reason = float("nan"), "needs two groups with both classes"
        nothing = None, None, None, n_groups, reason
        return DifferenceTest(nan, nan, nan, nan, confidence_level, *nothing)
    extremes = estimates.extremes_in_use
    found = difference_interval(extremes, confidence_level, "logit")
    groups, labels = UsedGroups.of(extremes), estimates.labels.tolist()
    pvalue, pair = np.nan, None
    if not estimates.n_replaced:
        of_groups = groups.spreads.estimates, n_groups, groups.correlation
        pvalue, pair = clearest_difference(*of_groups)
    highest = labels[int(np.where(used, auc, -np.inf).argmax())]
    lowest = labels[auc.size - 1 - int(np.where(used, auc, np.inf)[::-1].argmin())]
    if n_groups == 2:
        method = "comparison of two groups"
    elif n_groups > MOST_GROUPS:
        method = "Bonferroni limits of all groups"
    else:
        method = "comparison of all pairs"
    return DifferenceTest(
        found.estimate,
        found.low,
        found.high,
        pvalue,
        confidence_level,
        highest,
        lowest,
        None if pair is None else tuple(labels[g] for g in groups.numbers[list(pair)]),
        n_groups,
        method,
    )


def margin_test(
    estimates: GroupEstimates, margin: Any, reference: Any, confidence_level: Any
) -> MarginTest:
    """Return the result of `GroupAUC.test_margin`; too few groups with an AUC show nothing."""
    confidence_level = check_confidence_level(confidence_level)
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
    found, estimate = Extreme(np.nan, np.nan, (), False), np.nan
    if reference is None:
        claim = f"the AUCs of all groups{of_whom} differ by less than {bound:.6g}"
        if n_tested > 1:
            found = difference_below(estimates.extremes_in_use, bound, 1.0 - confidence_level)
            estimate = float(np.ptp(auc[used]))
    else:
        claim = f"the AUC of every group{of_whom} is above {bound:.6g}"
        if n_tested:
            found = worst_above(estimates.extremes_in_use.lowest, bound, 1.0 - confidence_level)
            estimate = float(auc[used].min())
    labels = estimates.labels.tolist()
    return MarginTest(
        claim=claim,
        is_shown=found.is_shown,
        pvalue=found.pvalue,
        estimate=estimate,
        limit=found.limit,
        bound=bound,
        confidence_level=confidence_level,
        groups=tuple(labels[group] for group in found.groups),
        n_groups=int(used.sum()),
        n_left_out=int((~used).sum()),
    )


_OF_ALL = ("shrunken_auc", "ci_low", "ci_high", "reliability")
_OF_RANKED = ("rank", "rank_low", "rank_high", "may_be_worst")


def ranking_table(estimates: GroupEstimates, confidence_level: float) -> pd.DataFrame:
    """Return the table of `GroupAUC.ranking`."""
    import pandas as pd

    found = ranking(estimates.variances_at_extremes, confidence_level)
    return pd.DataFrame(
        {
            "auc": estimates.pairs.auc,
            **{name: getattr(found, name) for name in _OF_ALL},
            **{name: _of_ranked(getattr(found, name), found.ranked) for name in _OF_RANKED},
            "note": _notes(estimates, found.ranked),
        },
        index=estimates.labels,
    )


def _of_ranked(values: NDArray[Any], ranked: NDArray[np.bool_]) -> Any:
    """Return a pandas array of the values of the ranked groups; NA for other groups."""
    import pandas as pd

    dtype: Any = "boolean" if values.dtype == np.bool_ else "Int64"
    found: Any = pd.Series(pd.NA, index=range(ranked.size), dtype=dtype).array
    found[ranked] = values
    return found


def _notes(estimates: GroupEstimates, ranked: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the reason for the lack of a rank or of shrinkage, and remarks on bins."""
    variances, pairs = estimates.variances, estimates.pairs
    notes = np.full(ranked.size, "", dtype=object)
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
    unvaried = ranked & (variances.delong == 0.0)
    notes[unvaried] = [f"{NO_VARIATION}; {of}" if of else NO_VARIATION for of in notes[unvaried]]
    if ranked.sum() < LEAST_GROUPS:
        for g in np.flatnonzero(ranked).tolist():
            notes[g] = "; ".join(filter(None, ("not shrunken: fewer than four groups", notes[g])))
    return notes


# Level of the test: score distributions differ if the p value is below this level.
_DIFFERENT = 0.01


@dataclasses.dataclass(frozen=True, repr=False)
class Agreement:
    """Equivalence of averages with the pooled AUC, returned by `GroupAUC.agreement`.

    Attributes
    ----------
    verdict : str
        The result in a sentence or two.
    averages : pandas.DataFrame
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
    averages: pd.DataFrame
    scores: pd.DataFrame
    case: str
    delta: float

    def __repr__(self) -> str:
        return f"Agreement: {self.verdict}\n\n{self.averages}\n\n{self.scores}"


def agreement_with_pooled(estimates: GroupEstimates, delta: float) -> Agreement:
    """Return the result of `GroupAUC.agreement`."""
    import pandas as pd

    counts = estimates.pairs.counts_for("agreement")
    estimates.pairs.check_independent_rows("agreement")
    estimates.pairs.check_has_scores("agreement")
    delta = _input.check_share(delta, "delta")
    variances, (auc, used) = estimates.variances, estimates.group_values
    if np.isnan(estimates.pairs.pooled_auc):
        raise ValueError("agreement needs rows of both classes.")
    if not used.any():
        raise ValueError("agreement needs a group with rows of both classes.")
    pooled = estimates.pairs.pooled_auc
    sides = agreement.class_agreement(counts)
    strata, own = strata_of(counts), view_of(with_weights_over(counts)).own_moments
    certain, scores, rows = {}, {}, []
    for i, name in enumerate(("negatives", "positives")):
        mine = variances.positives if i else variances.negatives
        share = mine.weight / mine.weight.sum()
        certain[name] = agreement.certain_bound(share, sides[1 - i].distances)
        scores[name] = {
            "largest_distance": np.nanmax(sides[i].distances),
            "mean_distance": np.nansum(share * sides[i].distances),
            "null_mean_distance": np.dot(share, agreement.null_distances(mine.effective)),
            "statistic": sides[i].statistic,
            "pvalue": sides[i].pvalue,
        }
    for name in AVERAGES:
        share = shares(estimates, name)
        if share is None:
            continue
        value = float(np.dot(share[share > 0], auc[share > 0]))
        difference = pooled - value
        low = high = difference
        if estimates.pairs.is_binned:
            of_pooled, of_average = (statistic_bounds(estimates, of) for of in ("pooled", name))
            low, high = of_pooled.low - of_average.high, of_pooled.high - of_average.low
        derivatives = _derivatives(estimates, name, share, value)
        random = agreement.of_random_numbers(strata, derivatives)
        error = np.sqrt(agreement.of_difference(strata, variances, own, share) + random)
        if error < 1e-12 and counts.groups is not None and len(counts) > 1:
            # The estimated variance is 0 with few rows; use a bound of the variance instead.
            error = np.sqrt(estimates.in_use.of_average(share))
        reach = normal_quantile(0.05) * error
        rows.append(
            {
                "average": name,
                "value": value,
                "difference": difference,
                "ci_low": low - reach,
                "ci_high": high + reach,
                "bound": certain.get(name, np.nan) + max(difference - low, high - difference),
                "equivalent_to_pooled": _equivalence(low, high, error, delta),
            }
        )
    averages = pd.DataFrame(rows).set_index("average")
    table = pd.DataFrame.from_dict(scores, orient="index")
    verdict = _verdict(pooled, averages, table, delta, weighted=variances.weighted)
    return Agreement(verdict, averages, table, _case(averages, table), delta)


def _derivatives(
    estimates: GroupEstimates, name: str, share: NDArray[np.float64], average: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Derivatives of an average by the weight of the negatives and the positives of groups.

    The group AUCs do not depend on the row count, but the shares of groups in the average do.
    """
    auc, used = estimates.group_values
    n, m = estimates.variances.negatives.weight, estimates.variances.positives.weight
    of_negatives = {"samples": m + n, "negatives": n, "within": n}.get(name)
    of_positives = {"samples": m + n, "positives": m, "within": m}.get(name)
    deviation = np.where(used, auc - average, 0.0)
    by_negatives, by_positives = (
        np.zeros(auc.size) if of is None else ratio(share, of, 0.0) * deviation
        for of in (of_negatives, of_positives)
    )
    return by_negatives, by_positives


def _equivalence(low: float, high: float, error: float, delta: float) -> str:
    """Return the result of the equivalence test (TOST) of a difference from `low` to `high`.

    The result is "yes" if the 90 % interval is within `delta` of 0, and "no" if the 99 % interval
    is entirely beyond `delta`. Otherwise, the result is "cannot tell".
    """
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


def abroca_table(estimates: GroupEstimates, reference: Any) -> pd.DataFrame:
    """Return the table of `GroupAUC.abroca`."""
    import pandas as pd

    pairs = estimates.pairs
    counts = pairs.counts_for("abroca")
    pairs.check_has_scores("abroca")
    groups, reference_group = order_of(counts), None
    if not (isinstance(reference, str) and reference == "rest"):
        reference_group = number_of_group(reference, counts)
        groups = groups[groups != reference_group]
    curves = GroupCurves.of(counts)
    return pd.DataFrame(
        [_abroca(pairs, curves, int(g), reference_group) for g in groups],
        columns=["auc", "reference_auc", "abroca"],
        index=estimates.labels[groups],
    )


def _abroca(
    pairs: GroupPairs, curves: GroupCurves, g: int, reference: int | None
) -> tuple[float, float, float]:
    """Return the table row of a group, compared with another group or with all other groups."""
    curve = curves.corners(g)
    other = _of_others(pairs.counts, g) if reference is None else curves.corners(reference)
    reference_auc = np.nan
    if other is not None:
        reference_auc = other.area if reference is None else pairs.auc[reference]
    area = np.nan if curve is None or other is None else area_between(curve, other)
    return pairs.auc[g], reference_auc, area


def _of_others(counts: ScoreCounts, g: int) -> RocCurve | None:
    """Return the curve of the rows in all other groups together; None if they lack a class."""
    if len(counts) < 2:
        return None
    others = select_groups(counts, np.delete(np.arange(len(counts)), g))
    return GroupCurves.of(others.regroup(None)).corners(0)
