"""Tables and tests that compare the AUCs of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skfedauc import _input, _words
from skfedauc.counts import ScoreCounts
from skfedauc.inference.differences import (
    MOST_GROUPS,
    Comparisons,
    DifferenceTest,
    clearest_difference,
    compare_pairs,
    compare_with_reference,
    compare_with_rest,
    difference_interval,
)
from skfedauc.inference.limits import check_confidence_level
from skfedauc.inference.variances import Extremes
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.listing import listed, order_of

if TYPE_CHECKING:
    import pandas as pd

# Largest number of groups for a comparison of all pairs.
_MOST_IN_PAIRS = 500


def number_of_group(label: Any, counts: ScoreCounts) -> int:
    """Return the index of the reference group."""
    if isinstance(label, list) and len(label) == 1:
        label = label[0]
    groups = counts.groups or ()
    number = _input.position_of(_input.as_label(label), groups)
    if number is None:
        raise ValueError(
            "reference must be None, 'rest' or a group's label; got "
            f"{_words.shortened(label)}, and the "
            f"groups are {_words.all_shortened(groups[:5])}{', ...' * (len(groups) > 5)}."
        )
    return number


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
