"""Equivalence of averages of group AUCs with the pooled AUC."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.counts.moments import ratio
from skfedauc.counts.score_counts import view_of, with_weights_over
from skfedauc.inference import agreement
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import strata_of
from skfedauc.report.bounds import statistic_bounds
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.statistics import AVERAGES, shares

if TYPE_CHECKING:
    import pandas as pd

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
        `equivalent_to_pooled` is "yes" if the 90 % interval is within `delta` of 0, and "no" if the
        99 % interval lies entirely beyond `delta`. Otherwise, `equivalent_to_pooled` is "cannot
        tell".
    scores : pandas.DataFrame
        A row for negatives and a row for positives. The columns hold the largest and the mean
        Kolmogorov distance between the scores of a group and all groups (weighted by rows), and
        the approximate mean distance under the null hypothesis. Further columns hold the statistic
        and the p value of the Anderson-Darling test that all groups have the same score
        distribution (NaN with sample weights).
    case : str
        "identical", "same_negatives", "same_positives" or "different" distributions, or
        "cannot tell".
    delta : float
        Equivalence margin: the largest difference of two AUCs that count as equivalent.
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
    strata, own = (
        strata_of(counts),
        view_of(with_weights_over(counts, view_of(counts).weight_exponent)).own_moments,
    )
    rows, class_rows = [], (variances.negatives, variances.positives)
    for name in AVERAGES:
        share = shares(estimates, name)
        if share is None:
            continue
        value = float(np.dot(share[share > 0], auc[share > 0]))
        difference = pooled - value
        low, high = _difference_bounds(estimates, name, difference)
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
                "bound": np.nan,
                "equivalent_to_pooled": _equivalence(low, high, error, delta),
            }
        )
    averages = pd.DataFrame(rows).set_index("average")
    differences = averages["difference"].to_dict()
    scores = {}
    for i, name in enumerate(("negatives", "positives")):
        mine, other = class_rows[i], sides[1 - i]
        share = mine.weight / mine.weight.sum()
        bound = agreement.certain_bound(share, other.distances)
        difference = differences[name]
        low, high = _difference_bounds(estimates, name, difference)
        averages.loc[name, "bound"] = bound + max(difference - low, high - difference)
        scores[name] = {
            "largest_distance": np.nanmax(sides[i].distances),
            "mean_distance": np.nansum(share * sides[i].distances),
            "null_mean_distance": np.dot(share, agreement.null_distances(mine.effective)),
            "statistic": sides[i].statistic,
            "pvalue": sides[i].pvalue,
        }
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


def _difference_bounds(
    estimates: GroupEstimates, name: str, difference: float
) -> tuple[float, float]:
    """Return the certain interval of the pooled AUC minus an average."""
    if not estimates.pairs.is_binned:
        return difference, difference
    pooled, average = (statistic_bounds(estimates, of) for of in ("pooled", name))
    return float(pooled.low - average.high), float(pooled.high - average.low)


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
