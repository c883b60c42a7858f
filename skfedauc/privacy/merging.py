"""Counts of sites, with noise for differential privacy or exact, and their sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from skfedauc import _input
from skfedauc._words import counted, described, listed, shortened
from skfedauc.counts import Bins, ScoreCounts
from skfedauc.counts.merging import Agreement
from skfedauc.counts.score_counts import identified_sources, view_of
from skfedauc.counts.state import Source, in_order, new_source
from skfedauc.counts.vectors import Grid, check_for_bins, counts_by_bin
from skfedauc.privacy.laplace import MOST_EPSILON, MOST_SCALE, with_noise
from skfedauc.privacy.state import Release, State, check_sizes


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
    if not 1.0 / MOST_SCALE <= epsilon / rows_per_person <= MOST_EPSILON:
        raise ValueError(
            f"epsilon must be from {1.0 / MOST_SCALE:g} to {MOST_EPSILON:g} per row, beyond which "
            f"practically no count has noise; got {epsilon:g} with "
            f"rows_per_person={rows_per_person}. For a recipient who may see single rows, send "
            "ScoreCounts."
        )
    (label,) = _input.Classes.of([pos_label], None).seen
    if pos_label is None or label != label:
        raise ValueError(
            f"pos_label must be the positive label that all sites agree on, such as 1; got "
            f"{shortened(pos_label)}."
        )
    # It must not depend on the rows: counts without rows may have no positive label.
    _input.Classes.merged([view_of(counts).classes, _input.Classes((), label)])
    identifier = new_source(source).identifier
    exact = counts.to_vector(bins, groups)  # refuses counts for which epsilon would not hold
    negatives, positives = with_noise(
        exact.reshape(2, grid.n_groups, grid.n_bins), epsilon, rows_per_person
    )
    released = () if grid.labels is None else tuple(grid.labels.tolist())
    release = Release(identifier, source, epsilon, rows_per_person, released)
    return State(negatives, positives, grid.labels, bins, (release,), counts.group_names, label)


def exact_state(counts: ScoreCounts, bins: Bins, name: str) -> State:
    """Return counts by bin without noise and without a release."""
    found = view_of(counts)
    n_groups = 1 if found.labels is None else found.labels.size
    try:
        check_for_bins(found, "PrivateCounts.merge")
        negatives, positives = counts_by_bin(found, bins, np.arange(n_groups), n_groups)
    except ValueError as error:
        raise type(error)(f"{name}: {error}") from error
    n_withheld = counts.disclosure.withheld.n_groups
    if n_withheld:
        _input.warn(
            f"{name} has {counted(n_withheld, 'group')} withheld, whose rows the merged counts "
            "lack.",
            UserWarning,
        )
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


def merged(parts: Mapping[str, State]) -> State:
    """Add up states by name."""
    # Private counts have what it reads of exact ones.
    agreement: Any = Agreement()
    first_name, first = next(iter(parts.items()))
    for name, part in parts.items():
        if part.bins != first.bins:
            raise ValueError(
                f"{first_name} has the bins {first.bins!r}, and {name} has the bins "
                f"{part.bins!r}. Each site must draw its noise for the same bins."
            )
        agreement.check(name, part)
    _check_distinct(parts)
    states = list(parts.values())
    labels, tables = None, [state.labels for state in states if state.labels is not None]
    if len(tables) == len(states):
        numbers, labels = _input.unite_labels(tables)
    else:  # counts without rows have no groups
        numbers = [np.zeros(state.n_groups, np.intp) for state in states]
    negatives, positives = np.zeros(
        (2, 1 if labels is None else labels.size, first.negatives.shape[1]), np.int64
    )
    for state, rows in zip(states, numbers, strict=True):
        negatives[rows] += state.negatives
        positives[rows] += state.positives
    names = {state.group_names for state in states if state.group_names}
    of_exact = {label for state in states for label in state.exact_groups}
    known = [] if labels is None else labels.tolist()
    state = State(
        negatives,
        positives,
        labels,
        first.bins,
        tuple(sorted(release for state in states for release in state.releases)),
        names.pop() if len(names) == 1 else (),
        _input.Classes.merged(state.classes for state in states).pos_label,
        in_order(source for state in states for source in state.sources),
        tuple(label for label in known if label in of_exact),
    )
    check_sizes(state, "the sum of the parts")
    return state


def _check_distinct(parts: Mapping[str, State]) -> None:
    """Refuse a release or counting in two parts, and warn if two have one source name.

    A site that drew noise twice has two releases with one name.
    """
    seen: dict[str, str] = {}
    names: Counter[str] = Counter()
    for name, part in parts.items():
        items: tuple[Release | Source, ...] = (*part.releases, *part.sources)
        for item in items:
            if item.identifier in seen:
                what = "release" if isinstance(item, Release) else "counting"
                raise ValueError(
                    f"{seen[item.identifier]} and {name} contain the same {what}, with the "
                    f"identifier {item.identifier}, so its rows would count twice. Leave one of "
                    "them out."
                )
            seen[item.identifier] = name
        names.update(item.name for item in items if item.name)
    repeated = sorted(name for name, n in names.items() if n > 1)
    if repeated:
        _input.warn(
            f"several releases or exact counts have the same source name, {listed(repeated)}. If "
            "they are of the same rows, these rows count twice, and the epsilons of their releases "
            "add up: leave one out. If they are of different rows, give them different names.",
            UserWarning,
        )
