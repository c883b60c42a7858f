"""Comparisons of a group's rows with the rows in other groups: bias AUCs, gaps and ABROCA."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import view_of
from skfedauc.inference.curves import GroupCurves, RocCurve, area_between, null_areas
from skfedauc.inference.differences import adjusted
from skfedauc.pairs import GroupPairs
from skfedauc.report.groups import number_of_group

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


class BiasAUCs(NamedTuple):
    """Bias AUCs and equality gaps by group, NaN if undefined; see `GroupAUC.bias_by_group`."""

    bpsn: Floats
    bnsp: Floats
    positive_aeg: Floats
    negative_aeg: Floats


def bias_aucs(pairs: GroupPairs) -> BiasAUCs:
    """Compare the rows in each group with the rows in all other groups."""
    u2, of_all = pairs.over_others
    share = np.full(u2.shape, np.nan)
    np.divide(u2, of_all, out=share, where=of_all > 0)
    # Rounding of weights may give slightly more than 1.
    np.clip(share, 0.0, 1.0, out=share)
    return BiasAUCs(1.0 - share[0, 1], share[1, 0], share[1, 1] - 0.5, share[0, 0] - 0.5)


def bias_table(pairs: GroupPairs, index: pd.Index) -> pd.DataFrame:
    """Return the table of `GroupAUC.bias_by_group`."""
    import pandas as pd

    pairs.check_has_scores("bias_by_group")
    bias = bias_aucs(pairs)
    return pd.DataFrame(
        {
            "auc": pairs.auc,
            "bpsn_auc": bias.bpsn,
            "bnsp_auc": bias.bnsp,
            "xauc_disparity": bias.bnsp - bias.bpsn,
            "positive_aeg": bias.positive_aeg,
            "negative_aeg": bias.negative_aeg,
        },
        index=index,
    )


def abroca_table(
    pairs: GroupPairs, index: pd.Index, reference: Any, n_resamples: int, random_state: Any
) -> pd.DataFrame:
    """Return the table of `GroupAUC.abroca`."""
    import pandas as pd

    counts = pairs.counts_for("abroca")
    pairs.check_has_scores("abroca")
    n_resamples = _input.check_whole_number(n_resamples, "n_resamples", 0)
    if n_resamples and view_of(counts).is_weighted:
        raise ValueError(
            "n_resamples must be 0 if rows have weights: the p value of the area is only "
            "available for rows without weights."
        )
    if n_resamples:
        pairs.check_independent_rows("the p value of abroca")
        pairs.check_no_repeated_rows("n_resamples must be 0: ")
    random = _input.check_random_state(random_state)
    groups, reference_group = np.arange(len(counts)), None
    if not (isinstance(reference, str) and reference == "rest"):
        reference_group = number_of_group(reference, counts)
        groups = np.delete(groups, reference_group)
    curves = GroupCurves.of(counts)
    table = pd.DataFrame(
        [_abroca(pairs, curves, int(g), reference_group, n_resamples, random) for g in groups],
        columns=["auc", "reference_auc", "abroca", "expected", "pvalue"],
        index=index[groups],
    )
    if not n_resamples:
        return table.drop(columns=["expected", "pvalue"])
    pvalue_adjusted, adjustment = adjusted(table["pvalue"].to_numpy())
    return table.assign(pvalue_adjusted=pvalue_adjusted, adjustment=adjustment)


def _abroca(
    pairs: GroupPairs,
    curves: GroupCurves,
    g: int,
    reference: int | None,
    n_resamples: int,
    random: np.random.RandomState,
) -> tuple[float, ...]:
    """Return the table row of a group, compared with another group or with all other groups."""
    curve = curves.corners(g)
    other = _of_others(pairs.counts, g) if reference is None else curves.corners(reference)
    if other is None:
        reference_auc = np.nan
    else:
        reference_auc = other.area if reference is None else pairs.auc[reference]
    if curve is None or other is None:
        return pairs.auc[g], reference_auc, np.nan, np.nan, np.nan
    area = area_between(curve, other)
    if not n_resamples:
        return pairs.auc[g], reference_auc, area, np.nan, np.nan
    negatives, positives = (
        (int(n[g]), int(n.sum() - n[g] if reference is None else n[reference]))
        for n in (pairs.counts.n_negatives, pairs.counts.n_positives)
    )
    null = null_areas((curve, other), negatives, positives, n_resamples, random)
    # Treat areas as equal if they differ only by rounding error.
    pvalue = (1 + (null >= area - 1e-12).sum()) / (1 + n_resamples)
    return pairs.auc[g], reference_auc, area, null.mean(), pvalue


def _of_others(counts: ScoreCounts, g: int) -> RocCurve | None:
    """Return the curve of the rows in all other groups together; None if they lack a class."""
    if len(counts) < 2:
        return None
    labels = counts.groups or ()
    two = counts.regroup({label: label == labels[g] for label in labels})
    return GroupCurves.of(two).corners(0)
