"""Content of a `PrivateCounts`: merging, and checks of content from a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc._words import all_shortened, listed, shortened
from skfedauc.counts import Bins, ScoreCounts
from skfedauc.counts.disclosure import cells_for
from skfedauc.counts.integrity import wrong_sources
from skfedauc.counts.origin import Source, in_order
from skfedauc.privacy.laplace import MOST_SCALE
from skfedauc.privacy.releases import Release

# Largest absolute count: 2**40 rows of a class and noise, at many sites
_MOST = 1 << 60


class State(NamedTuple):
    """Content of a `PrivateCounts`: counts with noise for differential privacy.

    Attributes
    ----------
    negatives, positives : ndarray of int64, shape (n_groups, n_bins)
    labels : ndarray of shape (n_groups,) or None
    bins : Bins
    releases : tuple of Release
        Sorted by identifier.
    group_names : tuple of str
    pos_label : object
    sources : tuple of Source
        Sources of the exact counts in the sum, sorted by name and identifier.
    exact_groups : tuple
        Labels of the groups with exact counts, in the order of `labels`.
    """

    negatives: NDArray[np.int64]
    positives: NDArray[np.int64]
    labels: NDArray[Any] | None
    bins: Bins
    releases: tuple[Release, ...]
    group_names: tuple[str, ...] = ()
    pos_label: Any = None
    sources: tuple[Source, ...] = ()
    exact_groups: tuple[Any, ...] = ()

    @property
    def variance(self) -> NDArray[np.float64]:
        """Variance of the noise of each count, by group: the sum over the releases of the group."""
        if self.labels is None:
            return np.array([sum(release.variance for release in self.releases)])
        position = {label: g for g, label in enumerate(self.labels.tolist())}
        found = np.zeros(self.labels.size)
        for release in self.releases:
            found[[position[label] for label in release.groups]] += release.variance
        return found

    @classmethod
    def of_exact(cls, counts: ScoreCounts, bins: Bins) -> State:
        """Return counts by bin without noise and without a release.

        Raises
        ------
        ValueError
            If the counts have sample weights, are a summary, or have ranges that cross bins.
        """
        if cells_for(counts, "PrivateCounts.merge").weights is not None:
            raise ValueError(
                "these counts have sample weights, and private counts have none; count the rows "
                "again without sample_weight."
            )
        cells = counts.reduced(bins).cells
        shape = 1 if counts.labels is None else counts.labels.size, bins.n_bins or 0
        negatives, positives = np.zeros((2, *shape), np.int64)
        place = cells.groups, bins.numbers_of(cells.scores)  # each cell has a different bin
        negatives[place], positives[place] = cells.negatives, cells.positives
        return cls(
            negatives,
            positives,
            counts.labels,
            bins,
            (),
            counts.group_names,
            counts.origin.classes.pos_label,
            # Unsaved counts get a source, by which `merge` refuses the same counts in another part.
            counts.origin.saved(None).sources,
            counts.groups or (),
        )

    @classmethod
    def merged(cls, parts: Sequence[State], names: Sequence[str]) -> State:
        """Add up states, with the names of the parts for messages.

        Raises
        ------
        ValueError, TypeError
            If the parts have different bins, group columns or positive labels, or share rows.
        """
        first = parts[0]
        # Parts by the identifiers of their releases and sources
        seen: dict[str, str] = {}
        for part, name in zip(parts, names, strict=True):
            if part.bins != first.bins:
                raise ValueError(
                    f"{names[0]} has the bins {first.bins!r}, and {name} has the bins "
                    f"{part.bins!r}. Each site must draw its noise for the same bins."
                )
            if (part.labels is None) != (first.labels is None):
                without, other = (name, names[0]) if part.labels is None else (names[0], name)
                raise ValueError(
                    f"{without} has no groups, and {other} has groups. Name the group of all rows "
                    "before drawing the noise, by counts.regroup({None: 'device 7'})."
                )
            if part.group_names != first.group_names:
                raise ValueError(
                    f"{names[0]} has groups by {listed(first.group_names) or 'unnamed columns'}, "
                    f"and {name} has groups by {listed(part.group_names) or 'unnamed columns'}. "
                    "All sites must have the same group columns."
                )
            items: tuple[Release | Source, ...] = (*part.releases, *part.sources)
            for item in items:
                if item.identifier in seen:
                    what = "release" if isinstance(item, Release) else "counting"
                    raise ValueError(
                        f"{seen[item.identifier]} and {name} contain the same {what}, with the "
                        f"identifier {item.identifier}, so its rows would count twice. Leave "
                        "one of them out."
                    )
                seen[item.identifier] = name
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
        if first.labels is None:
            numbers, labels = [np.zeros(1, np.intp)] * len(parts), None
        else:
            numbers, labels = _input.unite_labels([p.labels for p in parts if p.labels is not None])
        shape = (1 if labels is None else labels.size), first.negatives.shape[1]
        negatives, positives = np.zeros((2, *shape), np.int64)
        for part, rows in zip(parts, numbers, strict=True):
            negatives[rows] += part.negatives
            positives[rows] += part.positives
        releases = (release for part in parts for release in part.releases)
        of_exact = {label for part in parts for label in part.exact_groups}
        known_groups = () if labels is None else labels.tolist()
        return cls(
            negatives,
            positives,
            labels,
            first.bins,
            tuple(sorted(releases, key=lambda release: release.identifier)),
            first.group_names,
            next(iter(known), None),
            in_order(source for part in parts for source in part.sources),
            tuple(label for label in known_groups if label in of_exact),
        )


def check_state(state: State, name: str) -> None:
    """Refuse content that no sum of releases can have.

    Raises
    ------
    ValueError
        If the content is damaged. The message names the reason.
    """
    wrong = _wrong_counts(state) or _wrong_releases(state) or _wrong_names(state)
    wrong = wrong or wrong_sources(state.sources, bool(state.sources))
    if wrong is not None:
        raise ValueError(f"{name} is damaged: {wrong}. Ask for another copy.")


def _wrong_counts(state: State) -> str | None:
    negatives, positives, labels, bins = state[:4]
    if not isinstance(bins, Bins) or bins.n_bins is None:
        return "its bins have no fixed number"
    if labels is not None and not (
        isinstance(labels, np.ndarray)
        and labels.ndim == 1
        and labels.size
        and _input.are_sorted_labels(labels)
    ):
        return "its labels are not in order"
    shape = (1 if labels is None else labels.size), bins.n_bins
    for counts in (negatives, positives):
        if not isinstance(counts, np.ndarray) or counts.dtype != np.int64 or counts.shape != shape:
            return "its counts do not match its groups and bins"
        if int(counts.min()) < -_MOST or int(counts.max()) > _MOST:
            return "it has more rows than can be counted"
    return None


def _wrong_releases(state: State) -> str | None:
    releases = state.releases
    if not (isinstance(releases, tuple) and releases):
        return "it has no releases"
    known = None if state.labels is None else set(state.labels.tolist())
    covered: set[Any] = set()
    for release in releases:
        if not isinstance(release, Release):
            return "it has an entry that is not a release"
        identifier, name, epsilon, k, groups = release
        if not (isinstance(identifier, str) and re.fullmatch("[0-9a-f]{32}", identifier)):
            return "a release has no identifier"
        if not isinstance(name, str | None):
            return "the name of a release is not text"
        if type(epsilon) is not float or not 0 < epsilon < np.inf:
            return f"a release has the epsilon {shortened(epsilon)}"
        if type(k) is not int or not 0 < k <= MOST_SCALE * epsilon:
            return f"a release has {shortened(k)} as its number of rows per person"
        if not isinstance(groups, tuple) or len(set(groups)) < len(groups):
            return "the groups of a release are not distinct labels"
        covered |= set(groups)
    exact = state.exact_groups
    labels = [] if state.labels is None else state.labels.tolist()
    if not isinstance(exact, tuple) or (exact and not state.sources):
        return "its groups with exact counts are none"
    of_exact = set(exact)
    if exact != tuple(label for label in labels if label in of_exact):
        return "its groups with exact counts are not in order"
    covered |= of_exact
    if covered != (known or set()):
        return "the groups of its releases and exact counts are not its groups"
    identifiers = [release.identifier for release in releases]
    if identifiers != sorted(set(identifiers)):
        return "its releases are not in order"
    return None


def _wrong_names(state: State) -> str | None:
    names = state.group_names
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
        return "the names of its group columns are not text"
    if not isinstance(state.pos_label, int | float | str | None):
        return "its positive label is neither a number nor text"
    return None
