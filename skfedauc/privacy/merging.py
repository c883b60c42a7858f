"""Merging of counts with noise for differential privacy, and of exact counts of other sites."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc._words import all_shortened, counted, listed
from skfedauc.counts import Bins, ScoreCounts
from skfedauc.counts.disclosure import Need, needs
from skfedauc.counts.score_counts import identified_sources, view_of
from skfedauc.counts.state import Source, in_order
from skfedauc.privacy.state import Release, State, wrong_total


def exact_state(counts: ScoreCounts, bins: Bins, name: str) -> State:
    """Return counts by bin without noise and without a release."""
    try:
        state = _exact_state(counts, bins)
    except ValueError as error:
        raise type(error)(f"{name}: {error}") from error
    n_withheld = counts.disclosure.withheld.n_groups
    if n_withheld:
        _input.warn(
            f"{name} has {counted(n_withheld, 'group')} withheld, whose rows the "
            "merged counts lack.",
            UserWarning,
        )
    return state


def _exact_state(counts: ScoreCounts, bins: Bins) -> State:
    needs(counts.disclosure, Need.SCORES, "PrivateCounts.merge")
    if view_of(counts).is_weighted:
        raise ValueError(
            "these counts have sample weights, and private counts have none; count the rows again "
            "without sample_weight."
        )
    cells, labels = counts.reduced(bins).cells, view_of(counts).labels
    shape = 1 if labels is None else labels.size, bins.n_bins or 0
    negatives, positives = np.zeros((2, *shape), np.int64)
    place = cells.groups, bins.numbers_of(cells.scores)  # each cell has a different bin
    negatives[place], positives[place] = cells.negatives, cells.positives
    return State(
        negatives,
        positives,
        labels,
        bins,
        (),
        counts.group_names,
        view_of(counts).classes.pos_label,
        # Unsaved counts get a source, so that `merge` can refuse the same counts in another part.
        identified_sources(counts),
        counts.groups or (),
    )


def merged(parts: Sequence[State], names: Sequence[str]) -> State:
    """Add up states, with the names of the parts for messages."""
    seen: dict[str, str] = {}
    for part, name in zip(parts, names, strict=True):
        _check_alike(parts[0], names[0], part, name)
        _check_distinct(part, name, seen)
    pos_label = _common_pos_label(parts, names)
    first, labels = parts[0], None
    numbers: Sequence[NDArray[np.intp]] = [np.zeros(1, np.intp)] * len(parts)
    if first.labels is not None:
        numbers, labels = _input.unite_labels([p.labels for p in parts if p.labels is not None])
    shape = (1 if labels is None else labels.size), first.negatives.shape[1]
    wrong = wrong_total([counts for part in parts for counts in (part.negatives, part.positives)])
    if wrong is not None:
        raise ValueError(f"the sum of {names[0]} to {names[-1]} is impossible: {wrong}.")
    negatives, positives = np.zeros((2, *shape), np.int64)
    for part, rows in zip(parts, numbers, strict=True):
        negatives[rows] += part.negatives
        positives[rows] += part.positives
    releases = (release for part in parts for release in part.releases)
    of_exact = {label for part in parts for label in part.exact_groups}
    known_groups = () if labels is None else labels.tolist()
    state = State(
        negatives,
        positives,
        labels,
        first.bins,
        tuple(sorted(releases, key=lambda release: release.identifier)),
        first.group_names,
        pos_label,
        in_order(source for part in parts for source in part.sources),
        tuple(label for label in known_groups if label in of_exact),
    )
    _warn_of_equal_names(parts)
    return state


def _check_alike(first: State, first_name: str, part: State, name: str) -> None:
    """Raise an error for a part with other bins or group columns than the first part."""
    if part.bins != first.bins:
        raise ValueError(
            f"{first_name} has the bins {first.bins!r}, and {name} has the bins {part.bins!r}. "
            "Each site must draw its noise for the same bins."
        )
    if (part.labels is None) != (first.labels is None):
        without, other = (name, first_name) if part.labels is None else (first_name, name)
        raise ValueError(
            f"{without} has no groups, and {other} has groups. Name the group of all rows before "
            "drawing the noise, by counts.regroup({None: 'device 7'})."
        )
    if part.group_names != first.group_names:
        raise ValueError(
            f"{first_name} has groups by {listed(first.group_names) or 'unnamed columns'}, and "
            f"{name} has groups by {listed(part.group_names) or 'unnamed columns'}. All sites must "
            "have the same group columns."
        )


def _check_distinct(part: State, name: str, seen: dict[str, str]) -> None:
    """Raise an error for a repeated release or counting; `seen` has the parts by identifier."""
    items: tuple[Release | Source, ...] = (*part.releases, *part.sources)
    for item in items:
        if item.identifier in seen:
            what = "release" if isinstance(item, Release) else "counting"
            raise ValueError(
                f"{seen[item.identifier]} and {name} contain the same {what}, with the identifier "
                f"{item.identifier}, so its rows would count twice. Leave one of them out."
            )
        seen[item.identifier] = name


def _common_pos_label(parts: Sequence[State], names: Sequence[str]) -> object:
    known = {
        part.pos_label: name
        for part, name in zip(parts, names, strict=True)
        if part.pos_label is not None
    }
    if len(known) > 1:
        raise ValueError(
            f"{' and '.join(known.values())} have different positive labels, "
            f"{all_shortened(known)}. All sites must have the same positive label."
        )
    return next(iter(known), None)


def _warn_of_equal_names(states: Sequence[State]) -> None:
    """Warn about equal source names, for instance after a site drew noise twice."""
    names = [release.name for state in states for release in state.releases]
    names += [source.name for state in states for source in state.sources]
    known = [name for name in names if name]
    repeated = sorted({name for name in known if known.count(name) > 1})
    if repeated:
        _input.warn(
            f"several releases or exact counts have the same source name, {listed(repeated)}. If "
            "they are of the same rows, these rows count twice, and the epsilons of their releases "
            "add up: leave one out. If they are of different rows, give them different names.",
            UserWarning,
        )
