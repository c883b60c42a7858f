"""The one way in for rows: labels, scores, groups and weights together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._validation.alignment import check_row_order
from skfedauc._validation.arrays import check_length, check_scores, check_weights, column_of
from skfedauc._validation.classes import check_labels, warn_if_hard_labels
from skfedauc._validation.groups import Labels, drop_unused, encode_groups


class Rows(NamedTuple):
    """Checked rows, those of weight 0 left out.

    Attributes
    ----------
    positive : ndarray of bool, shape (n_rows,)
    scores : ndarray of float64, shape (n_rows,)
        Finite.
    codes : None or ndarray of intp, shape (n_rows,)
        Group number of each row.
    labels : None or ndarray, shape (n_groups,)
        Sorted group labels.
    weights : None or ndarray of float64, shape (n_rows,)
        Above 0. None where every row weighs 1.
    """

    positive: NDArray[np.bool_]
    scores: NDArray[np.float64]
    codes: NDArray[np.intp] | None
    labels: Labels | None
    weights: NDArray[np.float64] | None


def check_rows(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    *,
    name: str = "y_score",
    warn_hard_labels: bool = True,
) -> Rows:
    """Check rows as users pass them; `name` is what the scores are called.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, what arrived and what to pass instead.
    """
    check_row_order(
        {"y_true": y_true, name: y_score, "groups": groups, "sample_weight": sample_weight}
    )
    scores = check_scores(y_score, name)
    y = column_of(y_true, "y_true")
    positive = check_labels(y, pos_label)
    check_length(name, scores.size, "y_true", positive.size)
    if warn_hard_labels:
        warn_if_hard_labels(y, scores)
    weights = None if sample_weight is None else check_weights(sample_weight)
    if weights is not None:
        check_length("sample_weight", weights.size, "y_true", positive.size)
    codes, labels = (None, None) if groups is None else encode_groups(groups)
    if codes is not None:
        check_length("groups", codes.size, "y_true", positive.size)
    if weights is None:
        return Rows(positive, scores, codes, labels, None)
    if not weights.all():
        kept = weights > 0
        positive, scores, weights = positive[kept], scores[kept], weights[kept]
        if codes is not None and labels is not None:
            codes, labels = drop_unused(codes[kept], labels)
    all_ones = weights.size == 0 or bool(weights[0] == 1.0 and (weights == 1.0).all())
    return Rows(positive, scores, codes, labels, None if all_ones else weights)
