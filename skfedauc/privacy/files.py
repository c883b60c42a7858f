"""Writing and reading of private counts as a Parquet file.

Other tools can read the file. The file has one row per group and bin, with the columns `group` (the
position of the group in the list of the metadata), `bin`, `n_negatives` and `n_positives`. The
metadata has the key ``skfedauc`` with a JSON object. The object has the format, version, bins,
groups, releases and the SHA-256 of the content. Merged counts also have the sources and groups of
exact counts.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

import skfedauc
from skfedauc import _input
from skfedauc._words import listed, shortened
from skfedauc.counts import Bins, parquet
from skfedauc.counts.labels import entry_of, label_of
from skfedauc.counts.state import Source
from skfedauc.privacy.state import Release, State

_VERSION = 1
_COLUMNS = ("group", "bin", "n_negatives", "n_positives")
# Rows of a row group
_GROUP_ROWS = 1 << 20
_KEYS_OF_RELEASES = {"identifier", "name", "epsilon", "rows_per_person", "groups"}


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
    return parquet.written(schema, lambda: [table], metadata, _GROUP_ROWS, use_dictionary=False)
