"""Release of the counts of a site with noise for differential privacy."""

from __future__ import annotations

from typing import Any

from skfedauc import _input, _words
from skfedauc.counts import Bins, ScoreCounts
from skfedauc.counts.score_counts import view_of
from skfedauc.counts.state import new_source
from skfedauc.counts.vectors import Grid
from skfedauc.privacy.laplace import MOST_EPSILON, MOST_SCALE, with_noise
from skfedauc.privacy.state import Release, State


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
        raise TypeError(f"counts must be a ScoreCounts; got {_words.described(counts)}.")
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
            f"{_words.shortened(pos_label)}."
        )
    if found not in (None, label):
        raise ValueError(
            f"pos_label={_words.shortened(pos_label)} is not the positive label of these counts, "
            f"{_words.shortened(found)}. Pass the label that all sites agree on, and count the "
            "rows with it."
        )
    return label
