"""New labels, a selection, or a union of groups, and new scores, for counted rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input, _words
from skfedauc._kernel import Cells, compact_counts
from skfedauc.counts.disclosure import DisclosureError, cells_for, needs_scores
from skfedauc.counts.state import State, added


def regrouped(state: State, to: Mapping[Any, Any] | Callable[[Any], Any]) -> State:
    """Return the counts with new labels; groups with the same new label become one group."""
    old = [None] if state.labels is None else state.labels.tolist()
    numbers, labels = _input.map_labels(old, to, "regroup")
    # The new labels may not belong to the named columns.
    origin = state.origin.regrouped()
    if state.summary is not None:
        order = _order_of_renamed(numbers, old) if state.n_groups else numbers[:0]
        return State(state.summary.take(order), labels[: state.n_groups], origin)
    codes = numbers[state.cells.groups]
    if codes.size == 0:
        return State(state.cells, labels[:0], origin, state.ranges)
    return added(state.cells, codes, labels, origin, state.ranges)


def _order_of_renamed(numbers: NDArray[np.intp], old: Sequence[Any]) -> NDArray[np.intp]:
    """Return the old number of each new group of a summary.

    Raises
    ------
    DisclosureError
        If two groups have the same new label.
    """
    order = np.argsort(numbers, kind="stable")
    equal = np.flatnonzero(np.diff(numbers[order]) == 0)
    if equal.size:
        first, second = (_words.shortened_label(old[order[equal[0] + i]]) for i in (0, 1))
        raise DisclosureError(needs_scores(f"combining the groups {first} and {second}"))
    return order


def without_groups(state: State) -> State:
    """Return the counts of all groups as one group without a label."""
    if state.labels is None:
        return state
    origin = state.origin.regrouped()
    if state.summary is not None and state.n_groups < 2:
        return State(state.summary, None, origin)
    return added(cells_for(state, "combining groups"), None, None, origin, state.ranges)


def positions_of(numbers: ArrayLike, n_groups: int) -> NDArray[np.intp]:
    """Return increasing positions of groups; raise an error for other positions."""
    chosen = np.asarray(numbers)
    is_whole = chosen.ndim == 1 and (chosen.dtype.kind in "iu" or chosen.size == 0)
    bounds = np.r_[-1, chosen, n_groups] if is_whole else np.zeros(2)
    if not (np.diff(bounds.astype(np.int64)) > 0).all():
        raise ValueError(
            f"numbers must be increasing positions of groups, from 0 to {n_groups - 1}; got "
            f"{_words.shortened(numbers)}."
        )
    return chosen.astype(np.intp)


def with_groups(state: State, chosen: NDArray[np.intp]) -> State:
    """Return the counts of the groups at increasing positions."""
    labels = None if state.labels is None else _input.some_labels(state.labels, chosen)
    if state.summary is not None:
        return state._replace(content=state.summary.take(chosen), labels=labels)
    starts, scores, negatives, positives, weights = state.cells
    sizes = np.diff(starts)[chosen]
    # Offset of each group: its first cell before selection minus its first cell after selection
    new_starts = np.append(0, np.cumsum(sizes))
    cell = np.arange(new_starts[-1]) + np.repeat(starts[chosen] - new_starts[:-1], sizes)
    cells = Cells(
        new_starts,
        scores[cell],
        compact_counts(negatives[cell]),
        compact_counts(positives[cell]),
        None if weights is None else weights[:, cell],
    )
    ranges = None if state.ranges is None else state.ranges[:, cell]
    return State(cells, labels, state.origin, ranges)


def with_scores(state: State, function: Callable[[NDArray[np.float64]], Any]) -> State:
    """Return the counts after applying a function to the scores."""
    if not callable(function):
        raise TypeError(f"function must be callable; got {_words.described(function)}.")
    if state.disclosure != "exact":
        held = "hold ranges of scores", "bins"
        if state.disclosure == "summary":
            held = "are a summary by group, which holds no scores", "a summary"
        raise DisclosureError(
            f"map_scores needs disclosure='exact'; these counts {held[0]}. Map the scores before "
            f"the counts are reduced to {held[1]}."
        )
    cells, name = state.cells, "the result of function"
    distinct, numbers = np.unique(cells.scores, return_inverse=True)
    # Adding 0.0 converts -0.0 to 0.0.
    scores = _input.check_scores(function(distinct.copy()), name) + 0.0
    if scores.size != distinct.size:
        raise ValueError(
            f"{name} must have one number for each distinct score; got {scores.size} for "
            f"{distinct.size} scores."
        )
    codes = None if state.labels is None else cells.groups
    return added(cells._replace(scores=scores[numbers]), codes, state.labels, state.origin)
