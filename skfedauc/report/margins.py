"""Tests with a margin, see `GroupAUC.test_margin`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc.inference import margins
from skfedauc.inference.limits import check_confidence_level
from skfedauc.report.estimates import GroupEstimates

if TYPE_CHECKING:
    import pandas as pd


def worst_test(
    estimates: GroupEstimates,
    index: pd.Index,
    reference: Any,
    margin: Any,
    confidence_level: Any,
) -> margins.MarginTest:
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
    found = margins.worst_above(estimates.extremes_in_use.lowest, bound, 1.0 - confidence_level)
    worst = float(auc[used].min())
    return _result(estimates, index, claim, worst, bound, confidence_level, found)


def equivalence_test(
    estimates: GroupEstimates, index: pd.Index, margin: Any, confidence_level: Any
) -> margins.MarginTest:
    """Return the result of `GroupAUC.test_margin`."""
    confidence_level = check_confidence_level(confidence_level)
    bound = _input.check_share(margin, "margin")
    auc, used = estimates.group_values
    claim = f"the AUCs of all groups{_with_an_auc(used)} differ by less than {bound:.6g}"
    if used.sum() < 2:
        return _result(estimates, index, claim, np.nan, bound, confidence_level, None)
    found = margins.difference_below(estimates.extremes_in_use, bound, 1.0 - confidence_level)
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
    found: margins.Extreme | None,
) -> margins.MarginTest:
    """Return the result; None if too few groups have an AUC, which shows nothing."""
    _, used = estimates.group_values
    labels = index.tolist()
    if found is None:
        found = margins.Extreme(np.nan, np.nan, (), False)
    return margins.MarginTest(
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
