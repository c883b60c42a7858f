"""Counts that disclose less: bins, summaries, small counts and groups; other groups and scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input, _words
from skfedauc._kernel import Cells, compact_counts, concordance, placement_sums
from skfedauc.counts.bins import Bins
from skfedauc.counts.disclosure import (
    Disclosure,
    DisclosureError,
    Need,
    Withheld,
    lacking,
    level_in_words,
    needs,
)
from skfedauc.counts.moments import Summary, check_exponent, own_moments, pair_sums, rows_by_class
from skfedauc.counts.provenance import MergeError
from skfedauc.counts.ranges import join_nearest, join_small, united_bins
from skfedauc.counts.state import MOST_ROWS, State, changed


def reduced(state: State, rule: Disclosure) -> State:
    """Apply a site's rule: small groups first, then the level, then small counts.

    Small groups come first, because summaries of groups cannot be joined.
    """
    least = rule.min_count
    if least is not None:
        if rule.small_groups == "join":
            state = _with_small_joined(state, least)
        state = _without_small(state, least, rule.tell_withheld)
    state = at_level(state, rule)
    if least is None or state.disclosure.bins is None:
        return state
    cells, ranges, codes = join_small(state.cells, state.disclosure.bins, least)
    state = changed(state, cells, None if state.labels is None else codes, ranges=ranges)
    return state.with_disclosure(bins=None)


def at_level(state: State, rule: Disclosure, *, widen: bool = False) -> State:
    """Return the counts at a level; the same state if nothing changes.

    A range over several bins becomes their union with `widen`, and is an error without.
    """
    held = state.disclosure
    if rule.level == "summary":
        return state if held.level == "summary" else _summarized(state)
    if held.level == "summary" or (held.level == "bins" and rule.level == "exact"):
        asked = rule.level if rule.level == "exact" else rule.bins
        what = "a summary by group" if held.level == "summary" else level_in_words(held)
        raise DisclosureError(
            f"disclosure={_words.shortened(asked)} would disclose more than these counts hold: "
            f"they are {what}. Count the rows again with this disclosure."
        )
    if rule.bins is None or rule.bins == held.bins:
        return state
    return _binned(state, rule.bins, widen=widen)


def _binned(state: State, to: Bins, *, widen: bool) -> State:
    cells, bins = state.cells, state.disclosure.bins
    if state.ranges is None:
        low = high = to.numbers_of(cells.scores)
    elif bins is not None and not bins.refines(to):
        raise DisclosureError(
            f"counts with {bins!r} cannot be reduced to {to!r}, whose bins are no unions of "
            "theirs. Count the rows again, or pass bins that contain theirs."
        )
    else:
        low, high = (to.numbers_of(ends) for ends in state.ranges)
        if not widen and (low != high).any():
            first, last = state.ranges[:, np.argmax(low != high)]
            raise DisclosureError(
                f"the counts cannot be reduced to {to!r}: the range from {first:.17g} to "
                f"{last:.17g} is not within one of its bins. Count the rows again."
            )
    is_of_rule = bool((low == high).all())
    scores, ranges = united_bins(to, low, high)
    codes = None if state.labels is None else cells.groups
    state = changed(state, cells._replace(scores=scores), codes, ranges=ranges)
    return state.with_disclosure(level="bins", bins=to if is_of_rule else None)


def _summarized(state: State) -> State:
    exponent = state.weight_exponent
    check_exponent(exponent)
    ends = () if state.ranges is None else state.extremes
    counted = []
    for one in (state, *ends):
        cells = one.over(exponent).cells
        found = concordance(cells)
        rows = rows_by_class(cells, found)
        counted.append((rows, pair_sums(found, own_moments(placement_sums(cells)[0], *rows))))
    negatives, positives = counted[0][0]
    weights = None
    if state.content.weights is not None:
        of_rows = (negatives.weight, positives.weight, negatives.squares, positives.squares)
        weights = np.stack(of_rows)
    sums = (of_pairs for _, of_pairs in counted)
    summary = Summary(negatives.n, positives.n, weights, *sums).over(-exponent)
    state = state._replace(content=summary, ranges=None)
    return state.with_disclosure(level="summary", bins=None)


def common_level(one: Disclosure, other: Disclosure) -> Disclosure | None:
    """Return the highest level to which counts with either level can be reduced.

    None without such a level, or if it depends on the counts' ranges.
    """
    if "summary" in (one.level, other.level):
        return Disclosure("summary")
    bins = [rule.bins for rule in (one, other) if rule.bins is not None]
    if not bins:
        return None
    first, second = bins[0], bins[-1]
    if first.refines(second):
        return Disclosure("bins", second)
    return Disclosure("bins", first) if second.refines(first) else None


def within(state: State, max_cells: int) -> State:
    """Return counts with score ranges and at most `max_cells` cells."""
    max_cells = _input.check_whole_number(max_cells, "max_cells")
    needs(state.disclosure, Need.SCORES, "max_cells")
    if max_cells < state.n_groups:
        raise ValueError(
            f"max_cells must be at least the number of groups, {state.n_groups:,}, because each "
            f"has a cell of its own; got {max_cells:,}."
        )
    cells, ranges, bins = state.cells, state.ranges, state.disclosure.bins
    if ranges is None:
        ranges = np.stack([cells.scores] * 2)
    if cells.scores.size > max_cells:
        cells, ranges = join_nearest(cells, ranges, max_cells)
        bins = None
    state = state._replace(content=cells, ranges=ranges)
    return state.with_disclosure(level="bins", bins=bins)


# Small groups --------------------------------------------------------------------------------


def is_small(numbers: Sequence[NDArray[np.int64] | int], least: int) -> NDArray[np.bool_]:
    """Return whether each group has a class with more than 0 and fewer than `least` rows."""
    rows = np.asarray(numbers)
    return np.asarray(((rows > 0) & (rows < least)).any(axis=0))


def joined_label(label: Any) -> Any:
    """Return the joined small groups' label, with a part for each column in `label`."""
    return (_input.MISSING,) * len(label) if isinstance(label, tuple) else _input.MISSING


def _with_small_joined(state: State, least: int) -> State:
    small = is_small(state.n_by_class, least)
    if state.labels is None or not small.any():
        return state
    needs(state.disclosure, Need.SCORES, "small_groups='join'")
    groups = state.labels.tolist()
    joined = joined_label(groups[0])
    others = {group for group, is_one in zip(groups, small, strict=True) if is_one}
    if joined in groups and others - {joined}:
        raise ValueError(
            f"small_groups='join' makes small groups the group {joined!r}, and these counts have a "
            "group with this label, of rows without a group label. Pass small_groups='withhold', "
            "count with missing='drop', or give the group another label by .regroup(function)."
        )
    to = {group: joined if group in others else group for group in groups}
    numbers, labels = _input.map_labels(groups, to, "groups")
    result = changed(state, state.cells, numbers[state.cells.groups], labels=labels)
    return state if is_small(result.n_by_class, least).any() else result


def _without_small(state: State, least: int, tell: str) -> State:
    small = is_small(state.n_by_class, least)
    labels = [] if state.labels is None else state.labels[small].tolist()
    negatives, positives = (n[small] for n in state.n_by_class)
    found = withheld_of(negatives, positives, labels, least, tell)
    n_missing = state.n_missing
    if 0 < n_missing < least:
        n_missing, found = 0, found._replace(is_n_missing_low=True)
    held = state.disclosure
    # The mark must not depend on the rows: it is there even if nothing is small.
    mark = min(least, held.min_count or least)
    withheld = Withheld.merged([held.withheld, found])
    if small.any():
        state = with_groups(state, np.flatnonzero(~small))
    state = state._replace(n_missing=n_missing)
    return state.with_disclosure(withheld=withheld, min_count=mark)


def withheld_of(
    n_negatives: NDArray[np.int64],
    n_positives: NDArray[np.int64],
    labels: Sequence[Any],
    least: int,
    tell: str,
) -> Withheld:
    """Return what is disclosed about withheld groups with these rows.

    A total below `least` times the group count could narrow down single groups' rows:
    only this limit is disclosed.
    """
    n_groups = n_negatives.size
    if n_groups == 0:
        return Withheld()
    known = tuple(labels) if tell == "labels" else None
    if tell == "number":
        return Withheld(n_groups, None, None, known, most_negatives=None, most_positives=None)
    enough = n_groups * least
    totals = [int(n.sum()) for n in (n_negatives, n_positives)]
    negatives, positives = (total if total >= enough else None for total in totals)
    limit = enough - 1 if enough <= MOST_ROWS else None
    most = [limit if total is None else total for total in (negatives, positives)]
    return Withheld(n_groups, negatives, positives, known, False, *most)


# Other groups and scores ---------------------------------------------------------------------


def with_groups(state: State, chosen: NDArray[np.intp]) -> State:
    """Return the groups' counts at increasing positions."""
    labels = None if state.labels is None else _input.some_labels(state.labels, chosen)
    if isinstance(state.content, Summary):
        return state._replace(content=state.content.take(chosen), labels=labels)
    starts, scores, negatives, positives, weights = state.content
    sizes = np.diff(starts)[chosen]
    new_starts = np.append(0, np.cumsum(sizes))
    # Offset of each group: its first cell before the selection minus its first cell after it
    cell = np.arange(new_starts[-1]) + np.repeat(starts[chosen] - new_starts[:-1], sizes)
    cells = Cells(
        new_starts,
        scores[cell],
        compact_counts(negatives[cell]),
        compact_counts(positives[cell]),
        None if weights is None else weights[:, cell],
    )
    ranges = None if state.ranges is None else state.ranges[:, cell]
    return state._replace(content=cells, labels=labels, ranges=ranges)


def positions_of(numbers: ArrayLike, n_groups: int) -> NDArray[np.intp]:
    """Return increasing group positions; raise an error for other positions."""
    chosen = np.asarray(numbers)
    is_whole = chosen.ndim == 1 and (chosen.dtype.kind in "iu" or chosen.size == 0)
    bounds = np.r_[-1, chosen, n_groups] if is_whole else np.zeros(2)
    if not (np.diff(bounds.astype(np.int64)) > 0).all():
        raise ValueError(
            f"numbers must be increasing positions of groups, from 0 to {n_groups - 1}; got "
            f"{_words.shortened(numbers)}."
        )
    return chosen.astype(np.intp)


def regrouped(state: State, to: Mapping[Any, Any] | Callable[[Any], Any] | None) -> State:
    """Return the counts with new labels; None makes all rows one group without a label."""
    if to is None and state.labels is None:
        return state
    withheld = state.disclosure.withheld
    if withheld.n_groups:
        state = state.with_disclosure(withheld=withheld._replace(labels=None))
    # The new labels may not belong to the named columns.
    state = state._replace(group_names=(), orders=())
    if to is None:
        if state.summary is not None and state.n_groups < 2:
            return state._replace(labels=None)
        needs(state.disclosure, Need.SCORES, "combining groups")
        return changed(state, state.cells, None, labels=None)
    old = [None] if state.labels is None else state.labels.tolist()
    numbers, labels = _input.map_labels(old, to, "regroup")
    if isinstance(state.content, Summary):
        order = _order_of_renamed(state, numbers, old) if state.n_groups else numbers[:0]
        taken = state.content.take(order)
        return state._replace(content=taken, labels=labels[: state.n_groups])
    codes = numbers[state.content.groups]
    if codes.size == 0:
        return state._replace(labels=labels[:0])
    return changed(state, state.content, codes, labels=labels)


def by_period(state: State, name: str) -> State:
    """Return one period's counts with the period as the last group column.

    Counts that have such a column are returned unchanged.
    """
    if state.group_names[-1:] == ("period",):
        return state
    periods = {source.period for source in state.sources}
    if len(periods) != 1 or None in periods or not state.is_complete:
        known = sorted(period for period in periods if period is not None)
        found = f"the periods {_words.listed(known, ' and ')}" if known else "no period"
        raise MergeError(
            f"{name} has {found}, and by_period=True needs one",
            "Name each part before merging, by counts.with_source(name, period='2026-10').",
            "period",
        )
    (period,) = periods
    orders = (*state.orders, ()) if state.orders else ()
    if state.labels is None:
        state = regrouped(state, {None: period})
        return state._replace(group_names=("period",))
    labels = [label if isinstance(label, tuple) else (label,) for label in state.labels.tolist()]
    n_columns = len(labels[0]) if labels else 1
    names = state.group_names or tuple(f"group_{i + 1}" for i in range(n_columns))
    if not state.group_names and n_columns == 1:
        names = ("group",)
    to = dict(zip(state.labels.tolist(), ((*label, period) for label in labels), strict=True))
    return regrouped(state, to)._replace(group_names=(*names, "period"), orders=orders)


def _order_of_renamed(
    state: State, numbers: NDArray[np.intp], old: Sequence[Any]
) -> NDArray[np.intp]:
    """Return a summary's old group numbers by new group; its groups cannot be combined."""
    order = np.argsort(numbers, kind="stable")
    equal = np.flatnonzero(np.diff(numbers[order]) == 0)
    if equal.size:
        first, second = (_words.shortened_label(old[order[equal[0] + i]]) for i in (0, 1))
        needs(state.disclosure, Need.SCORES, f"combining the groups {first} and {second}")
    return order


def with_scores(state: State, function: Callable[[NDArray[np.float64]], Any]) -> State:
    """Return the counts after a function is applied to the distinct scores."""
    if not callable(function):
        raise TypeError(f"function must be callable; got {_words.described(function)}.")
    needs(state.disclosure, Need.EXACT, "map_scores")
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
    return changed(state, cells._replace(scores=scores[numbers]), codes)


def check_for_release(state: State) -> None:
    """Raise an error for counts that a secure sum or noise would not protect."""
    needs(state.disclosure, Need.SCORES, "a release of counts by bin")
    if state.cells.weights is not None:
        raise ValueError(
            "differential privacy and secure sums need counts that one row changes by 1, and these "
            "counts have sample weights; count the rows again without sample_weight."
        )
    lacks = lacking(state.disclosure, Need.UNSUPPRESSED)
    if lacks is not None:
        raise DisclosureError(f"A release with differential privacy or by a secure sum {lacks}")
