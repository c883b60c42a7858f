"""Validating rows: labels, scores, groups and weights together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._input.alignment import check_row_order
from skfedauc._input.arrays import (
    check_length,
    check_scores,
    check_weights,
    column_of,
    number_of_rows,
)
from skfedauc._input.classes import (
    Classes,
    check_labels,
    warn_if_hard_labels,
    warn_if_misspelled,
)
from skfedauc._input.encoding import drop_unused
from skfedauc._input.groups import Missing, category_orders, encode_groups
from skfedauc._input.labels import Labels


class Rows(NamedTuple):
    """Validated rows, without those with weight 0.

    The score type is float32 if passed as float32. `labels` are sorted. `weights` is None if every
    row has weight 1. `n_missing` counts rows left out without a group label, except rows with
    weight 0; `classes` includes their labels. `kept` is True for each kept row of counted input, or
    None if all remain. `orders` has the ordered categories of each group column.
    """

    positive: NDArray[np.bool_]
    scores: NDArray[np.float64] | NDArray[np.float32]
    codes: NDArray[np.intp] | None
    labels: Labels | None
    weights: NDArray[np.float64] | None
    n_missing: int = 0
    classes: Classes = Classes()
    kept: NDArray[np.bool_] | None = None
    clusters: NDArray[np.intp] | None = None
    orders: tuple[tuple[Any, ...], ...] = ()


def check_rows(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    *,
    name: str = "y_score",
    missing: Missing = "raise",
    warn_labels: bool = True,
    n_rows: NDArray[np.int64] | None = None,
    clusters: Any = None,
) -> Rows:
    """Validate the rows that users pass, as described in `ScoreCounts.from_predictions`.

    Messages call the scores `name`. Without `warn_labels`, scores that are class labels and a
    misspelled `pos_label` cause no warning. For counted input, `n_rows` tells how many rows have
    the label, score, group and weight; messages and `n_missing` count these rows.
    """
    check_row_order(
        {
            "y_true": y_true,
            name: y_score,
            "groups": groups,
            "sample_weight": sample_weight,
            "clusters": clusters,
        }
    )
    scores = check_scores(y_score, name, keep_single=True, n_rows=n_rows)
    y = column_of(y_true, "y_true")
    positive, classes = check_labels(y, pos_label, n_rows)
    check_length(name, scores.size, "y_true", positive.size)
    if warn_labels:
        warn_if_hard_labels(y, scores)
        warn_if_misspelled(classes)
    weights = None if sample_weight is None else check_weights(sample_weight, n_rows=n_rows)
    if weights is not None:
        check_length("sample_weight", weights.size, "y_true", positive.size)
    codes: NDArray[np.intp] | None = None
    labels: Labels | None = None
    if groups is not None:
        codes, labels = encode_groups(groups, missing=missing, n_rows=n_rows)
        _check_length_of_groups(groups, codes.size, positive.size)
    cluster_of: NDArray[np.intp] | None = None
    if clusters is not None:
        cluster_of, of_clusters = encode_groups(clusters, "clusters")
        check_length("clusters", cluster_of.size, "y_true", positive.size)
    kept = None if weights is None or weights.all() else weights > 0
    n_missing = 0
    if codes is not None and missing == "drop" and codes.size and int(codes.min()) < 0:
        lacks_label = codes < 0
        n_missing = number_of_rows(lacks_label if kept is None else lacks_label & kept, n_rows)
        kept = ~lacks_label if kept is None else ~lacks_label & kept
    if kept is not None:
        positive, scores = positive[kept], scores[kept]
        weights = None if weights is None else weights[kept]
        if codes is not None and labels is not None:
            codes, labels = drop_unused(codes[kept], labels)
        if cluster_of is not None:
            cluster_of, _ = drop_unused(cluster_of[kept], of_clusters)
    if weights is not None and (weights.size == 0 or bool((weights == 1.0).all())):
        weights = None
    counted = kept if n_rows is not None else None
    orders = category_orders(groups)
    return Rows(
        positive, scores, codes, labels, weights, n_missing, classes, counted, cluster_of, orders
    )


def _check_length_of_groups(groups: Any, size: int, n_rows: int) -> None:
    """Refuse groups with another length, and lists by column instead of by row."""
    if size != n_rows and isinstance(groups, list | tuple):
        is_of_columns = all(isinstance(g, list | tuple) and len(g) == n_rows for g in groups)
        if groups and is_of_columns:
            raise ValueError(
                f"groups has {size} rows of {n_rows} labels each, and y_true has {n_rows} rows. "
                "A list must hold one item for each row; convert a list of columns by "
                "groups=list(zip(*columns))."
            )
    check_length("groups", size, "y_true", n_rows)
