"""Score counts with less detail: the order in which levels, small counts and cells are reduced."""

from __future__ import annotations

from skfedauc import _input
from skfedauc.counts.disclosure import Disclosure
from skfedauc.counts.joining import within
from skfedauc.counts.levels import at_level
from skfedauc.counts.small_bins import check_protects, with_small_bins_joined
from skfedauc.counts.small_groups import (
    LEAST_MIN_COUNT,
    SmallGroups,
    ToldOfWithheld,
    check_small_groups,
    with_small_joined,
    without_small,
)
from skfedauc.counts.state import State


def reduced(
    state: State,
    disclosure: Disclosure | None,
    min_count: int | None,
    small_groups: SmallGroups | None,
    tell_withheld: ToldOfWithheld | None,
    max_cells: int | None,
) -> State:
    """Return a state with a lower level of disclosure, or with fewer cells.

    The parameters and errors are those of `ScoreCounts.reduced`.
    """
    check_small_groups(small_groups, tell_withheld, has_min_count=min_count is not None)
    if min_count is not None:
        min_count = _input.check_whole_number(min_count, "min_count", LEAST_MIN_COUNT)
        check_protects(state, disclosure)
        # Small groups come first, because summaries of groups cannot be joined.
        if small_groups == "join":
            state = with_small_joined(state, min_count)
        state = without_small(state, min_count, tell_withheld or "rows")
    if disclosure is not None or (min_count is None and max_cells is None):
        state = at_level(state, disclosure)
    if min_count is not None:
        state = with_small_bins_joined(state, min_count)
    return state if max_cells is None else within(state, max_cells)
