"""Counts of sites, with noise for differential privacy or exact, and their sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc._words import all_shortened, counted, described, listed, shortened
from skfedauc.counts import Bins, ScoreCounts
from skfedauc.counts.disclosure import Need, needs
from skfedauc.counts.score_counts import identified_sources, view_of
from skfedauc.counts.state import Source, in_order, new_source
from skfedauc.counts.vectors import Grid, counts_by_bin
from skfedauc.privacy.laplace import MOST_EPSILON, MOST_SCALE, with_noise
from skfedauc.privacy.state import Release, State, wrong_total


def drawn_state(
    counts: ScoreCounts,
    bins: Bins,
    groups: Any,
    epsilon: float,
    rows_per_person: int,
    pos_label: Any,
    source: str | None,
) -> State:
    """Draw the noise of `PrivateCounts.from_counts`, and return the counts with noise."""
    if not isinstance(counts, ScoreCounts):
        raise TypeError(f"counts must be a ScoreCounts; got {described(counts)}.")
    grid = Grid(bins, groups)
    epsilon = _input.check_number(epsilon, "epsilon", above=0)
    rows_per_person = _input.check_whole_number(rows_per_person, "rows_per_person")
    if rows_per_person / epsilon > MOST_SCALE:
        raise ValueError(
            f"epsilon={epsilon:g} with rows_per_person={rows_per_person} gives noise of more than "
            f"{MOST_SCALE:g} rows; pass a larger epsilon."
        )
    if epsilon / rows_per_person > MOST_EPSILON:
        raise ValueError(
            f"epsilon={epsilon:g} with rows_per_person={rows_per_person} leaves practically all "
            f"counts without noise; pass an epsilon of at most {MOST_EPSILON:g} per row. Exact "
            "counts for a recipient who may see single rows are ScoreCounts."
        )
    label = _agreed_label(pos_label, counts)
    identifier = new_source(source).identifier
    exact = counts.to_vector(bins, groups)  # refuses counts for which epsilon would not hold
    negatives, positives = with_noise(
        exact.reshape(2, grid.n_groups, grid.n_bins), epsilon, rows_per_person
    )
    released = () if grid.labels is None else tuple(grid.labels.tolist())
    release = Release(identifier, source, epsilon, rows_per_person, released)
    return State(negatives, positives, grid.labels, bins, (release,), counts.group_names, label)


def _agreed_label(pos_label: Any, counts: ScoreCounts) -> Any:
    """Return the agreed positive label, which must not depend on the rows.

    Counts without rows have no positive label unless the user named one.
    """
    (label,) = _input.Classes.of([pos_label], None).seen
    found = view_of(counts).classes.pos_label
    if pos_label is None or label != label:
        raise ValueError(
            f"pos_label must be the positive label that all sites agree on, such as 1; got "
            f"{shortened(pos_label)}."
        )
    if found not in (None, label):
        raise ValueError(
            f"pos_label={shortened(pos_label)} is not the positive label of these counts, "
            f"{shortened(found)}. Pass the label that all sites agree on, and count the "
            "rows with it."
        )
    return label


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
    found = view_of(counts)
    needs(found.disclosure, Need.SCORES, "PrivateCounts.merge")
    if found.is_weighted:
        raise ValueError(
            "these counts have sample weights, and private counts have none; count the rows again "
            "without sample_weight."
        )
    n_groups = 1 if found.labels is None else found.labels.size
    negatives, positives = counts_by_bin(found, bins, np.arange(n_groups), n_groups)
    return State(
        negatives,
        positives,
        found.labels,
        bins,
        (),
        found.group_names,
        found.classes.pos_label,
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
