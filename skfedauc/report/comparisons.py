"""Tables and tests that compare the AUCs of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skfedauc import _input, _words
from skfedauc.counts import ScoreCounts
from skfedauc.inference import group_comparisons, intervals, pairwise
from skfedauc.inference.variances import Extremes
from skfedauc.report.estimates import GroupEstimates

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

    confidence_level = intervals.check_confidence_level(confidence_level)
    n_groups = len(labels)
    index: pd.Index
    if isinstance(reference, str) and reference == "rest":
        found = group_comparisons.with_rest(extremes, confidence_level)
        return _comparison_table(found, labels)
    if reference is None:
        if n_groups > _MOST_IN_PAIRS:
            raise ValueError(
                f"compare_groups compares all pairs of at most {_MOST_IN_PAIRS} groups; got "
                f"{n_groups:,} groups. Pass reference='rest', or the label of one group."
            )
        first, second = np.triu_indices(n_groups, 1)
        index = pd.MultiIndex.from_arrays(
            [labels.to_flat_index()[first], labels.to_flat_index()[second]],
            names=["group", "reference"],
        )
    else:
        number = number_of_group(reference, counts)
        first = np.delete(np.arange(n_groups), number)
        second = np.full_like(first, number)
        index = labels[first]
    compare = pairwise.all_pairs if reference is None else pairwise.with_reference
    return _comparison_table(compare(extremes, first, second, confidence_level), index)


def _comparison_table(found: pairwise.Comparisons, index: Any) -> pd.DataFrame:
    import pandas as pd

    columns = {name: getattr(found, name) for name in found._fields}
    columns["reference_auc"] = columns.pop("other")
    columns["difference"] = found.auc - found.other
    names = ["auc", "reference_auc", "difference", "ci_low", "ci_high", "statistic", "pvalue"]
    names += ["simultaneous_low", "simultaneous_high", "pvalue_adjusted", "adjustment"]
    return pd.DataFrame(columns, columns=names, index=index)


def used_at_extremes(
    estimates: GroupEstimates,
) -> tuple[pairwise.UsedGroups, pairwise.UsedGroups]:
    """Return the groups in the comparison, at both extremes of binned scores."""
    lowest, highest = (
        pairwise.UsedGroups(end.variances, *end.group_aucs) for end in estimates.extremes
    )
    return lowest, highest


def difference_test(
    estimates: GroupEstimates, index: pd.Index, confidence_level: float
) -> pairwise.DifferenceTest:
    """Return the result of `GroupAUC.test_difference`."""
    confidence_level = intervals.check_confidence_level(confidence_level)
    auc, used = estimates.group_aucs
    n_groups = int(used.sum())
    if n_groups < 2:
        reason = "needs two groups with both classes"
        nan = float("nan")
        nothing = (None, None, None, n_groups, reason)
        return pairwise.DifferenceTest(nan, nan, nan, nan, confidence_level, *nothing)
    lowest, highest = used_at_extremes(estimates)
    value = float(auc[used].max() - auc[used].min())
    found = pairwise.difference_interval(value, lowest, highest, confidence_level, "logit")
    pvalue, pair = pairwise.clearest_difference(lowest, highest)
    labels = index.tolist()
    highest = labels[int(np.where(used, auc, -np.inf).argmax())]
    lowest = labels[int(np.where(used, auc, np.inf).argmin())]
    if n_groups == 2:
        method = "comparison of two groups"
    elif n_groups > pairwise.MOST_GROUPS:
        method = "Bonferroni limits of all groups"
    else:
        method = "comparison of all pairs"
    return pairwise.DifferenceTest(
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
