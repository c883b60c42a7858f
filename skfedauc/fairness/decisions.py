"""Decisions at a threshold, by group: fairlearn's `MetricFrame` on counts instead of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc.partials import AUCPartial

if TYPE_CHECKING:
    from fairlearn.metrics import MetricFrame

RATES = ("selection_rate", "true_positive_rate", "false_positive_rate")


def metric_frame(partial: AUCPartial, features: pd.DataFrame, threshold: float) -> MetricFrame:
    """Rates of the groups, whose labels are the rows of `features`.

    Rows of one group, label and decision are one row with their weight. All three rates are
    shares of selected rows, of all, of the positives and of the negatives; so a group without
    positives has no true positive rate, where fairlearn's function of that name says 0.
    """
    from fairlearn.metrics import MetricFrame, selection_rate

    starts, scores, *columns, weights = partial._cells
    amounts = columns if weights is None else weights[:2]
    selected = scores >= threshold
    # By label, decision and group
    weight = np.array(
        [
            [np.add.reduceat(amount * chosen, starts[:-1], dtype=float) for chosen in sides]
            for amount in amounts
            for sides in [(~selected, selected)]
        ]
    )
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


def expected_difference(rate: float, n_rows: NDArray[np.int64]) -> float:
    """Mean of the largest less the smallest share of selected rows, were all groups alike."""
    from skfedauc.inference.heterogeneity import mean_range

    if n_rows.size < 2:
        return float("nan")
    return mean_range(np.sqrt(rate * (1.0 - rate) / n_rows))
