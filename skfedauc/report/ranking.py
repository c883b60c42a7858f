"""Table of shrunken group AUCs and ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc.inference.limits import NO_VARIATION
from skfedauc.inference.ranking import LEAST_GROUPS, ranking
from skfedauc.report.bounds import Bounds, certain_range, group_bounds
from skfedauc.report.estimates import GroupEstimates

if TYPE_CHECKING:
    import pandas as pd

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
