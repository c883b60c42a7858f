"""Tables and tests that compare group AUCs: differences, margins and ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc.counts import ScoreCounts
from skfedauc.inference.differences import (
    MOST_GROUPS,
    Comparisons,
    DifferenceTest,
    Extreme,
    MarginTest,
    clearest_difference,
    compare_pairs,
    compare_with_reference,
    compare_with_rest,
    difference_below,
    difference_interval,
    worst_above,
)
from skfedauc.inference.limits import NO_VARIATION, check_confidence_level
from skfedauc.inference.ranking import LEAST_GROUPS, ranking
from skfedauc.inference.variances import Extremes
from skfedauc.report.bounds import Bounds, certain_range, group_bounds
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.groups import listed, number_of_group, order_of

if TYPE_CHECKING:
    import pandas as pd

# Largest number of groups for a comparison of all pairs.
_MOST_IN_PAIRS = 500


def comparison_table(
    counts: ScoreCounts,
    extremes: Extremes,
    labels: pd.Index,
    reference: Any,
    confidence_level: float,
) -> pd.DataFrame:
    """Return the table of `GroupAUC.compare_groups`."""
    import pandas as pd

    confidence_level = check_confidence_level(confidence_level)
    n_groups, order = len(labels), order_of(counts)
    if isinstance(reference, str) and reference == "rest":
        return listed(
            counts, _comparison_table(compare_with_rest(extremes, confidence_level), labels)
        )
    if reference is not None:
        number = number_of_group(reference, counts)
        found = compare_with_reference(extremes, number, confidence_level)
        table = _comparison_table(found, labels.delete(number))
        if order is None:
            return table
        others = order[order != number]
        ordered: pd.DataFrame = table.iloc[others - (others > number)]
        return ordered
    if n_groups > _MOST_IN_PAIRS:
        raise ValueError(
            f"compare_groups compares all pairs of at most {_MOST_IN_PAIRS} groups; got "
            f"{n_groups:,} groups. Pass reference='rest', or the label of one group."
        )
    first, second = np.triu_indices(n_groups, 1)
    if order is not None:
        first, second = order[first], order[second]
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


def difference_test(
    estimates: GroupEstimates, index: pd.Index, confidence_level: float
) -> DifferenceTest:
    """Return the result of `GroupAUC.test_difference`."""
    confidence_level = check_confidence_level(confidence_level)
    auc, used = estimates.group_values
    n_groups = int(used.sum())
    if n_groups < 2:
        reason = "needs two groups with both classes"
        nan = float("nan")
        nothing = (None, None, None, n_groups, reason)
        return DifferenceTest(nan, nan, nan, nan, confidence_level, *nothing)
    extremes = estimates.extremes_in_use
    found = difference_interval(extremes, confidence_level, "logit")
    pvalue, pair = clearest_difference(extremes)
    labels = index.tolist()
    highest = labels[int(np.where(used, auc, -np.inf).argmax())]
    lowest = labels[int(np.where(used, auc, np.inf).argmin())]
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
        None if pair is None else (labels[pair[0]], labels[pair[1]]),
        n_groups,
        method,
    )


def worst_test(
    estimates: GroupEstimates,
    index: pd.Index,
    reference: Any,
    margin: Any,
    confidence_level: Any,
) -> MarginTest:
    """Return the result of `GroupAUC.test_margin`."""
    confidence_level = check_confidence_level(confidence_level)
    reference = _input.check_share(reference, "reference")
    hint = " All groups are tested to have an AUC above reference - margin."
    margin = _input.check_number(margin, "margin", at_least=0, below=reference, hint=hint)
    bound = reference - margin
    auc, used = estimates.group_values
    claim = f"the AUC of every group{_with_an_auc(used)} is above {bound:.6g}"
    if not used.any():
        return _result(estimates, index, claim, np.nan, bound, confidence_level, None)
    found = worst_above(estimates.extremes_in_use.lowest, bound, 1.0 - confidence_level)
    worst = float(auc[used].min())
    return _result(estimates, index, claim, worst, bound, confidence_level, found)


def equivalence_test(
    estimates: GroupEstimates, index: pd.Index, margin: Any, confidence_level: Any
) -> MarginTest:
    """Return the result of `GroupAUC.test_margin`."""
    confidence_level = check_confidence_level(confidence_level)
    bound = _input.check_share(margin, "margin")
    auc, used = estimates.group_values
    claim = f"the AUCs of all groups{_with_an_auc(used)} differ by less than {bound:.6g}"
    if used.sum() < 2:
        return _result(estimates, index, claim, np.nan, bound, confidence_level, None)
    found = difference_below(estimates.extremes_in_use, bound, 1.0 - confidence_level)
    difference = float(np.ptp(auc[used]))
    return _result(estimates, index, claim, difference, bound, confidence_level, found)


def _with_an_auc(used: NDArray[np.bool_]) -> str:
    """Return the words that restrict a claim, if groups without an AUC are left out."""
    return "" if used.all() else " with an AUC"


def _result(
    estimates: GroupEstimates,
    index: pd.Index,
    claim: str,
    estimate: float,
    bound: float,
    confidence_level: float,
    found: Extreme | None,
) -> MarginTest:
    """Return the result; None if too few groups have an AUC, which shows nothing."""
    _, used = estimates.group_values
    labels = index.tolist()
    if found is None:
        found = Extreme(np.nan, np.nan, (), False)
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


def ranking_table(
    estimates: GroupEstimates, index: pd.Index, confidence_level: float
) -> pd.DataFrame:
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
        index=index,
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
    for g in np.flatnonzero(ranked & (variances.delong == 0.0)).tolist():
        notes[g] = "; ".join(filter(None, (NO_VARIATION, notes[g])))
    if ranked.sum() < LEAST_GROUPS:
        for g in np.flatnonzero(ranked).tolist():
            notes[g] = "; ".join(filter(None, ("not shrunken: fewer than four groups", notes[g])))
    return notes
