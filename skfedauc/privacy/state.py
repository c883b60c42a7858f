"""Content of a `PrivateCounts`: its checks, its sums, and its Parquet file.

The file has one row per group and bin, with the columns `group` (the position of the group in the
list of the metadata), `bin`, `n_negatives` and `n_positives`. The metadata has the key ``skfedauc``
with a JSON object: the format, version, bins, groups, releases and the SHA-256 of the content, and
for merged counts the sources and groups of exact counts.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import skfedauc
from skfedauc import _group_codes, _input, _labels
from skfedauc._words import counted, listed, shortened
from skfedauc.counts import Bins, ScoreCounts
from skfedauc.counts.files import check, entry_of, label_of
from skfedauc.counts.merging import Agreement, agree, united_labels
from skfedauc.counts.score_counts import identified, view_of
from skfedauc.counts.state import Source, are_sources, in_order
from skfedauc.counts.vectors import check_for_bins, counts_by_bin
from skfedauc.privacy.laplace import MOST_SCALE, variance_of

# Largest sum of the absolute counts, so that no sum of counts overflows
_MOST = 1 << 62
# Noise beyond this multiple of its scale has a probability below 1e-21
_MOST_NOISE = 50.0
# Version 2 has models or periods of releases
_VERSION = 2
_COLUMNS = ("group", "bin", "n_negatives", "n_positives")


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
    model, period : str or None
        The model that scored the rows, and when they arose.
    """

    identifier: str
    name: str | None
    epsilon: float
    rows_per_person: int
    groups: tuple[Any, ...]
    model: str | None = None
    period: str | None = None

    @property
    def protected(self) -> str:
        """Description of the rows that epsilon protects, such as "one row"."""
        k = self.rows_per_person
        return "one row" if k == 1 else f"one person with at most {k:,} rows"

    @property
    def scale(self) -> float:
        """Scale of the noise of each count."""
        return self.rows_per_person / self.epsilon


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """Content of a `PrivateCounts`, with its attributes; `labels` is the array of its groups."""

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
    def groups(self) -> tuple[Any, ...] | None:
        """Labels of the groups; None without groups."""
        return None if self.labels is None else tuple(self.labels.tolist())

    @property
    def n_groups(self) -> int:
        """Group count, or 1 for rows without groups."""
        return len(self.negatives)

    @property
    def classes(self) -> _labels.Classes:
        """The positive label, which all parts of a merge share."""
        return _labels.Classes((), self.pos_label)

    @property
    def epsilon(self) -> float:
        """Largest epsilon of a release."""
        return max(release.epsilon for release in self.releases)

    @property
    def variance(self) -> NDArray[np.float64]:
        """Variance of the noise of each count by group, summed over the group's releases."""
        return _by_group(self, lambda release: variance_of(release.scale))


def _by_group(state: State, of_release: Callable[[Release], float]) -> NDArray[np.float64]:
    position = {label: g for g, label in enumerate(state.groups or ())}
    found = np.zeros(state.n_groups)
    for release in state.releases:
        own = [position[g] for g in release.groups] if position else slice(None)
        found[own] += of_release(release)
    return found


def check_sizes(state: State, name: str) -> None:
    """Raise a ValueError for counts that no rows with the noise of the releases can have."""
    noise = _MOST_NOISE * _by_group(state, lambda release: release.scale)[:, None]
    most = _input.MOST_ROWS * float(len(state.releases) + len(state.sources))
    total = 0.0
    for counts in (state.negatives, state.positives):
        if (counts < -noise).any() or (counts > most + noise).any():
            raise ValueError(f"{name} has counts that rows and the noise of releases cannot have")
        total += float(np.abs(counts.astype(np.float64)).sum())
    if total > _MOST:
        raise ValueError(f"{name} has more rows than can be counted")


def exact_state(counts: ScoreCounts, bins: Bins, name: str) -> State:
    """Return counts by bin without noise and without a release."""
    found = view_of(counts)
    try:
        check_for_bins(found, "PrivateCounts.merge")
        of_groups = np.arange(found.n_groups), found.n_groups
        negatives, positives = counts_by_bin(found, bins, *of_groups)
    except ValueError as error:
        raise type(error)(f"{name}: {error}") from error
    n_withheld = counts.disclosure.withheld.n_groups
    if n_withheld:
        groups = counted(n_withheld, "group")
        _input.warn(f"{name} has {groups} withheld, whose rows the sum lacks.")
    names, label = found.group_names, found.classes.pos_label
    # Unsaved counts get a source, so that `merge` can refuse the same counts in another part.
    sources = identified(counts).sources
    return State(
        negatives, positives, found.labels, bins, (), names, label, sources, counts.groups or ()
    )


def merged(parts: Mapping[str, State]) -> State:
    # Private counts have what it reads of exact ones.
    agreement: Any = Agreement(when=" before drawing the noise")
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
    numbers, labels = united_labels(states)
    n_groups = 1 if labels is None else labels.size
    negatives, positives = counts = np.zeros((2, n_groups, first.negatives.shape[1]), np.int64)
    for state, rows in zip(states, numbers, strict=True):
        counts[:, rows] += state.negatives, state.positives
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
        _labels.Classes.merged(state.classes for state in states).pos_label,
        in_order(source for state in states for source in state.sources),
        tuple(label for label in known if label in of_exact),
    )
    check_sizes(state, "the sum of the parts")
    return state


def _check_distinct(parts: Mapping[str, State]) -> None:
    """Refuse two parts with one release or counting, or with releases of one source."""
    seen: dict[str, str] = {}
    known = defaultdict[str | None, list[tuple[str, Release | Source]]](list)
    models: set[str | None] = set()
    for name, part in parts.items():
        items: tuple[Release | Source, ...] = (*part.releases, *part.sources)
        for item in items:
            if item.identifier in seen:
                raise ValueError(
                    f"{seen[item.identifier]} and {name} contain the same release or counting, "
                    f"{item.identifier}, so its rows would count twice. Leave one of them out."
                )
            for first, other in known[item.name] if item.name else ():
                if first != name and agree((item.model, item.period), (other.model, other.period)):
                    raise ValueError(
                        f"{first} and {name} both have the source name {shortened(item.name)}. If "
                        "a site drew noise twice, its rows count twice, and its epsilons add up: "
                        "leave one out. Otherwise give each its model, period or own name."
                    )
            seen[item.identifier] = name
            known[item.name].append((name, item))
            models.add(item.model)
    several = sorted(model for model in models if model is not None)
    if len(several) > 1:
        _input.warn(
            f"the parts were scored by different models, {listed(several)}, whose scores "
            "may not be comparable. Merge the parts of each model by themselves.",
        )


def content_of(state: State) -> bytes:
    from skfedauc.counts import file_format

    position = {label: g for g, label in enumerate(state.groups or ())}
    facts: dict[str, Any] = {
        "format": file_format.FORMATS["PrivateCounts"],
        "version": 2 if any(of.model or of.period for of in state.releases) else 1,
        "package": skfedauc.__version__,
        "bins": state.bins.to_dict(),
        "groups": None if state.groups is None else list(map(entry_of, state.groups)),
        "group_names": list(state.group_names),
        "pos_label": state.pos_label,
        "releases": [
            {key: of for key, of in release._asdict().items() if key == "name" or of is not None}
            | {"groups": [position[label] for label in release.groups]}
            for release in state.releases
        ],
        "sources": [source.to_dict() for source in state.sources],
        "exact_groups": [position[label] for label in state.exact_groups],
    }
    facts["sha256"] = file_format.digest(facts, [state.negatives, state.positives])
    arrays = [*np.indices(state.negatives.shape), state.negatives, state.positives]
    columns = {name: array.reshape(-1) for name, array in zip(_COLUMNS, arrays, strict=True)}
    metadata = {file_format.KEY: json.dumps(facts)}
    return file_format.written(file_format.new_table(columns), metadata, use_dictionary=False)


def read_content(data: Any, name: str) -> State:
    from skfedauc.counts import file_format

    with file_format.reading(data, name, "PrivateCounts", _VERSION) as (file, facts):
        bins, names, label = Bins.from_dict(facts["bins"]), facts["group_names"], facts["pos_label"]
        groups = facts["groups"]
        given = [] if groups is None else list(map(label_of, groups))
        labels = None if groups is None else _group_codes.encode_groups(given, "groups").labels
        known = [] if labels is None else labels.tolist()
        releases = tuple(_release_of(of, known) for of in facts["releases"])
        identifiers = [release.identifier for release in releases]
        exact = _groups_at(facts["exact_groups"], known)
        covered = set(exact).union(*(release.groups for release in releases))
        sources = tuple(map(Source.from_dict, facts["sources"]))
        shape = (1 if labels is None else labels.size), bins.n_bins or 0
        types = dict.fromkeys(_COLUMNS, file_format.INTEGER)
        table = file_format.table_of(file, data, shape[0] * shape[1], types)
        *places, negatives, positives = (of.to_numpy().reshape(shape) for of in table.columns)
        digest = file_format.digest(facts, [negatives, positives])
        check(
            {
                "its groups or bins are not in order": np.array_equal(places, np.indices(shape)),
                "its groups are not in order": groups is None
                or (type(groups) is list and known and known == given),
                "the names of its group columns are not text": type(names) is list
                and all(isinstance(name, str) for name in names),
                "its positive label is neither a number nor text": label == label
                and isinstance(label, int | float | str | None),
                "its releases are not in order": releases
                and identifiers == sorted(set(identifiers)),
                "the groups of its releases and exact counts are not its groups": covered
                == set(known),
                "its exact counts have no source": sources or not exact,
                "its sources are invalid": are_sources(sources),
                "its SHA-256 is another one": facts["sha256"] == digest,
            }
        )
        facts_of_all = bins, releases, tuple(names), label, sources, exact
        state = State(negatives, positives, labels, *facts_of_all)
        check_sizes(state, "it")
        return state


def _groups_at(positions: Any, known: list[Any]) -> tuple[Any, ...]:
    is_right = type(positions) is list and all(type(place) is int for place in positions)
    if not is_right or positions != sorted(set(positions) & set(range(len(known)))):
        raise ValueError("its metadata names groups that do not exist, or in no order")
    return tuple(known[place] for place in positions)


def _release_of(facts: Any, known: list[Any]) -> Release:
    release = Release(**facts | {"groups": _groups_at(facts["groups"], known)})
    identifier, name, epsilon, k, _, *told = release
    check(
        {
            "a release has no identifier": re.fullmatch("[0-9a-f]{32}", identifier),
            "a release has a name, model or period that is not text": all(
                isinstance(text, str | None) for text in (name, *told)
            ),
            "a release has no epsilon": type(epsilon) is float and 0 < epsilon < math.inf,
            "a release has an impossible number of rows per person": type(k) is int
            and 0 < k <= MOST_SCALE * epsilon,
        }
    )
    return release
