"""Content of a `PrivateCounts`, its Parquet file, and checks of content from a file.

The file has one row per group and bin, with the columns `group` (the position of the group in the
list of the metadata), `bin`, `n_negatives` and `n_positives`. The metadata has the key ``skfedauc``
with a JSON object: the format, version, bins, groups, releases and the SHA-256 of the content, and
for merged counts the sources and groups of exact counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import skfedauc
from skfedauc import _input
from skfedauc._words import listed, shortened
from skfedauc.counts import Bins, parquet
from skfedauc.counts.files import entry_of, label_of
from skfedauc.counts.state import MOST_ROWS, Source, wrong_sources
from skfedauc.privacy.laplace import MOST_SCALE, variance_of

# Largest sum of the absolute counts, so that no sum of counts overflows
_MOST = 1 << 62
# Noise beyond this multiple of its scale has a probability below 1e-21
_MOST_NOISE = 50.0
_VERSION = 1
_COLUMNS = ("group", "bin", "n_negatives", "n_positives")
_KEYS_OF_RELEASES = {"identifier", "name", "epsilon", "rows_per_person", "groups"}


class Release(NamedTuple):
    """Release of counts: one draw of noise at a site.

    Attributes
    ----------
    identifier : str
        128 random bits as 32 hexadecimal digits.
    name : str or None
        Value of the argument ``source=``.
    epsilon : float
        Privacy loss for one person with at most `rows_per_person` rows.
    rows_per_person : int
        Largest number of rows of one person; epsilon covers the addition or removal of these rows.
    groups : tuple
        Labels of groups whose counts are in the release, or empty without groups.
    """

    identifier: str
    name: str | None
    epsilon: float
    rows_per_person: int
    groups: tuple[Any, ...]

    @property
    def protected(self) -> str:
        """Description of the rows that epsilon protects, such as "one row"."""
        k = self.rows_per_person
        return "one row" if k == 1 else f"one person with at most {k:,} rows"

    @property
    def variance(self) -> float:
        """Variance of the noise of each count."""
        return variance_of(self.rows_per_person / self.epsilon)


class State(NamedTuple):
    """Content of a `PrivateCounts`: counts with noise for differential privacy.

    Attributes
    ----------
    negatives, positives : int64 array, shape (n_groups, n_bins)
    labels : ndarray, shape (n_groups,) or None
    bins : Bins
    releases : tuple of Release
        Sorted by identifier.
    group_names : tuple of str
    pos_label : object
    sources : tuple of Source
        Sources of the exact counts in the sum, sorted by name and identifier.
    exact_groups : tuple
        Labels of groups with exact counts, in the order of `labels`.
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
        """Variance of the noise of each count by group, summed over the group's releases."""
        return self._by_group([release.variance for release in self.releases])

    @property
    def scale(self) -> NDArray[np.float64]:
        """Scale of the noise of each count by group, summed over the group's releases."""
        return self._by_group([r.rows_per_person / r.epsilon for r in self.releases])

    def _by_group(self, of_releases: Sequence[float]) -> NDArray[np.float64]:
        if self.labels is None:
            return np.array([sum(of_releases)])
        position = {label: g for g, label in enumerate(self.labels.tolist())}
        found = np.zeros(self.labels.size)
        for release, value in zip(self.releases, of_releases, strict=True):
            found[[position[label] for label in release.groups]] += value
        return found


def check_state(state: State, name: str) -> None:
    """Raise an error for content that no sum of releases can have."""
    wrong = _wrong_counts(state) or _wrong_releases(state) or _wrong_names(state)
    wrong = wrong or _wrong_sizes(state)
    wrong = wrong or wrong_sources(state.sources)
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
    return wrong_total([negatives, positives])


def wrong_total(counts: Sequence[NDArray[np.int64]]) -> str | None:
    """Return why the sum of these counts is impossible; None if int64 holds it."""
    total = sum(float(np.abs(part.astype(np.float64)).sum()) for part in counts)
    return "it has more rows than can be counted" if total > _MOST else None


def _wrong_sizes(state: State) -> str | None:
    """Return why no rows with the noise of the releases can have these counts."""
    noise = _MOST_NOISE * state.scale[:, None]
    most = MOST_ROWS * float(len(state.releases) + len(state.sources))
    for counts in (state.negatives, state.positives):
        if (counts < -noise).any() or (counts > most + noise).any():
            return "it has counts that rows and the noise of its releases cannot have"
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


# Files -------------------------------------------------------------------------------------


def content_of(state: State) -> bytes:
    """Return a file's content."""
    parquet.pyarrow_parquet()  # raise the error for a missing package
    labels = [] if state.labels is None else state.labels.tolist()
    position = {label: g for g, label in enumerate(labels)}
    facts: dict[str, Any] = {
        "format": parquet.PRIVATE_FORMAT,
        "version": _VERSION,
        "package": skfedauc.__version__,
        "bins": state.bins.to_dict(),
        "groups": None if state.labels is None else list(map(entry_of, labels)),
        "group_names": list(state.group_names),
        "pos_label": state.pos_label,
        "releases": [
            release._asdict() | {"groups": [position[label] for label in release.groups]}
            for release in state.releases
        ],
        "sources": [source.to_dict() for source in state.sources],
        "exact_groups": [position[label] for label in state.exact_groups],
    }
    facts["sha256"] = parquet.digest(facts, [], [state.negatives, state.positives])
    return _written(facts, state)


def read_content(data: Any, name: str) -> State:
    """Return the content of a file as a state; pass the state to `check_state`."""
    file, facts = parquet.opened_with_facts(data, name, "PrivateCounts")
    found = facts.get("format") if isinstance(facts, dict) else None
    if not isinstance(facts, dict) or found != parquet.PRIVATE_FORMAT:
        mend = "Ask for the file that PrivateCounts.save wrote."
        if found == parquet.COUNTS_FORMAT:
            mend = "ScoreCounts.load or from_bytes reads it."
        raise parquet.OtherFileError(
            f"{name} is a Parquet file, but PrivateCounts.save did not write it. {mend}"
        )
    version = facts.get("version")
    if type(version) is int and version > _VERSION:
        raise ValueError(
            f"{name} has version {version} of the format of private counts, written by skfedauc "
            f"{shortened(facts.get('package'))}; skfedauc {skfedauc.__version__} reads version "
            f"{_VERSION}. Upgrade by: pip install --upgrade skfedauc"
        )
    try:
        return _read(file, facts, len(data))
    except Exception as error:
        raise parquet.damaged(name, error, "PrivateCounts") from error


def _read(file: Any, facts: dict[str, Any], size: int) -> State:
    if facts.get("version") != _VERSION:
        raise ValueError(f"its metadata has the version {shortened(facts.get('version'))}")
    bins, labels = Bins.from_dict(facts["bins"]), _labels_of(facts["groups"])
    if bins.n_bins is None:
        raise ValueError("its bins have no fixed number")
    releases = tuple(_release_of(facts, labels) for facts in facts["releases"])
    sources = tuple(map(Source.from_dict, facts["sources"]))
    exact_groups = _groups_at(facts["exact_groups"], labels)
    names, pos_label = facts["group_names"], facts["pos_label"]
    if type(names) is not list or not (
        pos_label is None or type(pos_label) in (int, str) or pos_label == pos_label
    ):
        raise ValueError("its metadata has group_names or a pos_label of another type")
    shape = (1 if labels is None else labels.size), bins.n_bins
    negatives, positives = _counts_in(file, shape, size)
    if parquet.digest(facts, [], [negatives, positives]) != facts.get("sha256"):
        raise ValueError("its SHA-256 is another one")
    return State(
        negatives,
        positives,
        labels,
        bins,
        releases,
        tuple(names),
        pos_label,
        sources,
        exact_groups,
    )


def _counts_in(
    file: Any, shape: tuple[int, int], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Check groups and bins, and return the numbers of negatives and positives."""
    metadata, n_rows = file.metadata, shape[0] * shape[1]
    numbers = parquet.row_numbers(metadata)
    if min(numbers, default=0) < 0 or not sum(numbers) == metadata.num_rows == n_rows:
        raise ValueError(f"it has {sum(numbers)} rows; its metadata calls for {n_rows}")
    if parquet.is_too_large(metadata, size):
        raise ValueError("its content would take far more memory than the file")
    schema = file.schema_arrow
    if tuple(schema.names) != _COLUMNS or not all(str(kind) == "int64" for kind in schema.types):
        raise ValueError(f"it has the columns {listed(schema.names, most=8)}")
    table = file.read(use_threads=False)
    if any(column.null_count for column in table.columns):
        raise ValueError("a column lacks values")
    groups, bin_numbers, negatives, positives = (
        column.to_numpy().astype(np.int64).reshape(shape) for column in table.columns
    )
    if not (groups == np.arange(shape[0])[:, None]).all():
        raise ValueError("its groups are not in order")
    if not (bin_numbers == np.arange(shape[1])).all():
        raise ValueError("its bins are not in order")
    return negatives, positives


def _labels_of(entries: Any) -> NDArray[Any] | None:
    if entries is None:
        return None
    if type(entries) is not list or not entries:
        raise ValueError("its metadata has invalid groups")
    given = list(map(label_of, entries))
    _, labels = _input.encode_groups(given, "groups")
    if labels.tolist() != given:
        raise ValueError("its groups are not in order")
    return labels


def _release_of(facts: Any, labels: NDArray[Any] | None) -> Release:
    if type(facts) is not dict or set(facts) != _KEYS_OF_RELEASES:
        raise ValueError("its metadata has invalid releases")
    return Release(**facts | {"groups": _groups_at(facts["groups"], labels)})


def _groups_at(positions: Any, labels: NDArray[Any] | None) -> tuple[Any, ...]:
    known = [] if labels is None else labels.tolist()
    if type(positions) is not list or not all(
        type(position) is int and 0 <= position < len(known) for position in positions
    ):
        raise ValueError("its metadata names groups that do not exist")
    return tuple(known[position] for position in positions)


def _written(facts: dict[str, Any], state: State) -> bytes:
    import pyarrow as pa

    n_groups, n_bins = state.negatives.shape
    columns = (
        np.repeat(np.arange(n_groups), n_bins),
        np.tile(np.arange(n_bins), n_groups),
        state.negatives.reshape(-1),
        state.positives.reshape(-1),
    )
    schema = pa.schema([pa.field(name, pa.int64(), nullable=False) for name in _COLUMNS])
    metadata = {parquet.KEY: json.dumps(facts)}
    table = pa.Table.from_arrays([pa.array(column) for column in columns], schema=schema)
    return parquet.written(table, metadata, use_dictionary=False)
