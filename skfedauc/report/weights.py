"""Weights of the groups in an average."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input, _words
from skfedauc.pairs import GroupPairs
from skfedauc.report.statistics import AVERAGES, check_statistic


def average_weights(
    weights: str | Mapping[Any, float] | ArrayLike, pairs: GroupPairs
) -> NDArray[np.float64]:
    """Return the weight of each group; see `GroupAUC.average`."""
    if isinstance(weights, str):
        if weights not in AVERAGES:
            check_statistic(weights, argument="weights")
            raise ValueError(
                f"average({_words.shortened(weights)}): this statistic is not an average "
                "of group "
                f"AUCs; the averages are {', '.join(AVERAGES)}."
            )
        return AVERAGES[weights](pairs).astype(np.float64)
    if hasattr(weights, "to_dict") and hasattr(weights, "index"):
        by_label = {_input.as_label(k): v for k, v in weights.to_dict().items()}
        # Treat a Series without group labels in its index as an array.
        if by_label.keys() == set(pairs.counts.groups or ()) or any(
            isinstance(label, str | tuple) for label in by_label
        ):
            weights = by_label
    if isinstance(weights, Mapping):
        groups = pairs.counts.groups or ()
        weights = {_input.as_label(label): weight for label, weight in weights.items()}
        absent = [group for group in groups if group not in weights]
        known = set(groups)
        unknown = [label for label in weights if label not in known]
        if absent or unknown:
            raise ValueError(
                f"weights must have one weight for each group; {len(absent)} of "
                f"{_words.counted(len(groups), 'group')} have no weight, such as "
                f"[{_words.all_shortened(absent[:3])}], and "
                f"{_words.counted(len(unknown), 'label')} "
                f"without a group, such as [{_words.all_shortened(unknown[:3])}], have a weight."
            )
        weights = [weights[group] for group in groups]
    of_group = _input.check_weights(weights, "weights")
    _input.check_length("weights", of_group.size, "by_group", pairs.n_groups)
    return of_group
