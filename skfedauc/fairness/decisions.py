"""Decisions at a threshold, by group, from counts instead of rows.

References
----------
.. [1] Pearson, K. (1900). On the criterion that a given system of deviations from the probable in
   the case of a correlated system of variables is such that it can be reasonably supposed to have
   arisen from random sampling. Philosophical Magazine 50(302).
   https://doi.org/10.1080/14786440009463897
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc.inference.variances import ClassRows, Variances
from skfedauc.partials import AUCPartial

if TYPE_CHECKING:
    from fairlearn.metrics import MetricFrame

Floats = NDArray[np.float64]

RATES = ("selection_rate", "true_positive_rate", "false_positive_rate")
# Shares at which the chance of the largest and of the smallest one is looked up.
_N_SHARES = 2_000
# Beyond so many different sizes of groups they are rounded.
_MOST_SIZES = 300


def rates(partial: AUCPartial, threshold: float) -> dict[str, Floats]:
    """Share of selected rows by group: of all, of the positives and of the negatives.

    NaN where there are none.
    """
    negatives, positives = _weight_by_decision(partial, threshold)
    shares = {}
    for name, (kept, selected) in zip(
        RATES, (negatives + positives, positives, negatives), strict=True
    ):
        total = kept + selected
        shares[name] = np.divide(selected, total, out=np.full(total.size, np.nan), where=total > 0)
    return shares


def _weight_by_decision(partial: AUCPartial, threshold: float) -> NDArray[np.float64]:
    """Weight of rows by label, decision and group, shape (2, 2, n_groups)."""
    starts, scores, *columns, weights = partial._cells
    amounts = columns if weights is None else weights[:2]
    selected = scores >= threshold
    return np.array(
        [
            [np.add.reduceat(amount * chosen, starts[:-1], dtype=float) for chosen in sides]
            for amount in amounts
            for sides in [(~selected, selected)]
        ]
    )


def metric_frame(partial: AUCPartial, features: pd.DataFrame, threshold: float) -> MetricFrame:
    """Fairlearn's frame of the rates, the groups' labels being the rows of `features`.

    Rows of one group, label and decision are one row with their weight. All three rates are
    shares of selected rows, so that a group without positives has no true positive rate, where
    fairlearn's function of that name says 0.
    """
    from fairlearn.metrics import MetricFrame, selection_rate

    weight = _weight_by_decision(partial, threshold)
    label, decision, group = np.indices(weight.shape).reshape(3, -1)
    weight = weight.ravel()
    of_label = [weight, weight * label, weight * (1 - label)]
    with np.errstate(invalid="ignore"):
        return MetricFrame(
            metrics=dict.fromkeys(RATES, selection_rate),
            y_true=label,
            y_pred=decision,
            sensitive_features=features.iloc[group].reset_index(drop=True),
            sample_params={
                rate: {"sample_weight": w} for rate, w in zip(RATES, of_label, strict=True)
            },
        )


def effective_rows(partial: AUCPartial) -> dict[str, Floats]:
    """Rows by group that each rate is a share of; of weighted rows, the effective number."""
    variances = Variances(partial)
    negatives, positives = variances.negatives, variances.positives
    both = ClassRows(
        negatives.n + positives.n,
        negatives.weight + positives.weight,
        negatives.squares + positives.squares,
    )
    sides = zip(RATES, (both, positives, negatives), strict=True)
    return {name: rows.effective for name, rows in sides}


def test_equal_shares(shares: Floats, n_rows: Floats) -> float:
    """P value of Pearson's chi-squared test that all groups select the same share [1]_."""
    from scipy.stats import chi2_contingency

    decided = np.column_stack([n_rows * shares, n_rows * (1.0 - shares)])
    if not decided.any(axis=0).all():
        return 1.0  # all rows are decided alike
    return float(chi2_contingency(decided, correction=False).pvalue)


def expected_difference(shares: Floats, n_rows: Floats) -> float:
    """Mean of the largest less the smallest share of selected rows, were all groups alike.

    The number of selected rows of each group is binomial then.
    """
    from scipy.special import bdtr

    overall = float(np.average(shares, weights=n_rows))
    whole = np.maximum(np.rint(n_rows), 1.0).astype(np.int64)
    if np.unique(whole).size > _MOST_SIZES:
        # Two digits of each will do.
        digit = 10 ** np.maximum(np.log10(whole).astype(np.int64) - 1, 0)
        whole = whole // digit * digit
    sizes, counts = np.unique(whole, return_counts=True)
    # Where the smallest group has nearly all of its chance, all others have.
    reach = 10.0 * np.sqrt(overall * (1.0 - overall) / sizes[0]) + 10.0 / sizes[0]
    low, high = max(overall - reach, 0.0), min(overall + reach, 1.0)
    expected = 0.0
    for share in low + (high - low) * (np.arange(_N_SHARES) + 0.5) / _N_SHARES:
        # The largest is at most this share if all are.
        at_most = bdtr(np.floor(share * sizes), sizes, overall)
        largest, smallest = np.prod(at_most**counts), np.prod((1.0 - at_most) ** counts)
        expected += float(1.0 - largest - smallest)
    return float(expected * (high - low) / _N_SHARES)
