"""State of a `ScoreCounts`: sources, counts and ranges, and the check of all these."""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import hmac
import math
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _labels, _rows
from skfedauc import _kernel as kernel
from skfedauc._kernel import Cells, Concordance, PlacementSums
from skfedauc._words import described, shortened, shortened_label
from skfedauc.counts import moments
from skfedauc.counts.bins import Bins
from skfedauc.counts.disclosure import Disclosure, Need, Withheld, needs
from skfedauc.counts.moments import ClassRows, Floats, OwnMoments, Summary

# Lowest and highest possible score of the rows in each cell, of shape (2, n_cells); the score of a
# cell lies within its range.
Ranges: TypeAlias = Floats
# From this many rows on, warn if the compiled kernel is not available.
_MANY_ROWS = 10_000_000


class Source(NamedTuple):
    """One counting.

    Attributes
    ----------
    name : str or None
        Who counted, such as a hospital.
    model : str or None
        Name, version or hash of the model that scored the rows.
    period : str or None
        When the rows arose, such as "2026-10" or "2026-10-01/2026-10-31".
    metadata : tuple of (str, str)
        Further facts, sorted by key.
    identifier : str
        32 hexadecimal digits: random, or a keyed hash of the counts (``with_source(secret=)``).
    """

    name: str | None = None
    model: str | None = None
    period: str | None = None
    metadata: tuple[tuple[str, str], ...] = ()
    identifier: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """What a second counting shares with the first if the rows are the same."""
        return (self.root,) if self.name is None else (self.name, self.model, self.period)

    @property
    def root(self) -> str:
        """The part of the identifier that counts of the same rows keep if they are changed."""
        return self.identifier[:16]

    def changed(self) -> Source:
        """Return the source of the same rows with other groups or scores."""
        return self._replace(identifier=self.root + secrets.token_hex(8))

    def to_dict(self) -> dict[str, Any]:
        """Return the known facts as a mapping for JSON."""
        facts = {**self._asdict(), "metadata": dict(self.metadata) or None}
        return {name: value for name, value in facts.items() if value is not None}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Source:
        """Return the source that `to_dict` describes; unknown facts are ignored."""
        known: dict[str, Any] = {name: facts.get(name) for name in cls._fields}
        pairs = tuple(sorted((known["metadata"] or {}).items()))
        return cls(**{**known, "metadata": pairs})

    def in_words(self) -> str:
        """Return the source for messages."""
        if self.name is None:
            return f"the counting {self.identifier}"
        known = [f"the source {shortened(self.name)}"]
        for what, value in (("model", self.model), ("period", self.period)):
            known += [] if value is None else [f"{what} {shortened(value)}"]
        return ", ".join(known)


def sources_in_words(state: State) -> str:
    """Return the known sources, models and periods for the first lines of a report."""
    phrases, facts = [], zip(*state.sources, strict=True)
    for what, found in zip(("source", "model", "period"), facts, strict=False):
        texts = sorted(text for text in set(found) if text is not None)
        noun = what if len(texts) == 1 else f"{len(texts):,} {what}s:"
        more = ", ..." if len(texts) > 3 else ""
        more += "" if state.is_complete and None not in found else ", others unknown"
        phrases += [f"{noun} {', '.join(map(shortened_label, texts[:3]))}{more}"] if texts else []
    return "; ".join(phrases)


def check_name(value: Any, argument: str) -> None:
    """Refuse names that people could take for another, or for none."""
    _input.check_type(value, str | None, f"{argument} must be a str or None")
    _labels.check_text([value or ""], argument)
    if value is not None and (not value or value != value.strip()):
        raise ValueError(
            f"{argument} must neither be empty nor begin or end with a space; got {value!r}. "
            "Write it without the space, or leave it out."
        )


def new_source(
    name: Any = None,
    model: Any = None,
    period: Any = None,
    metadata: Mapping[str, str] | None = None,
    secret: bytes | None = None,
    digest: Callable[[], bytes] = bytes,
) -> Source:
    """Check `ScoreCounts.with_source`'s arguments, and return a source."""
    for argument, value in {"name": name, "model": model, "period": period}.items():
        check_name(value, argument)
    _input.check_type(metadata, Mapping | None, "metadata must be a mapping of text to text")
    pairs = tuple(sorted((metadata or {}).items(), key=str))
    for pair in pairs:
        if not all(isinstance(text, str) for text in pair):
            raise TypeError(f"metadata must map text to text; got {described(pair)}.")
        _labels.check_text(pair, "metadata")
    identifier = secrets.token_hex(16)
    if secret is not None:
        if not isinstance(secret, bytes) or len(secret) < 16:
            raise TypeError(
                "secret must be at least 16 random bytes that only the sender knows, such as "
                "secrets.token_bytes(32)."
            )
        content = digest() + repr((name, model, period)).encode()
        identifier = hmac.new(secret, content, hashlib.sha256).hexdigest()[:32]
    return Source(name, model, period, pairs, identifier)


def in_order(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return sources sorted by name, model, period and identifier, each identifier once."""
    found: dict[str, Source] = {}
    for source in sorted(sources, key=lambda s: (*(text or "" for text in s[:3]), s[4], s[3])):
        found.setdefault(source.identifier, source)
    return tuple(found.values())


def are_sources(sources: tuple[Source, ...]) -> bool:
    return all(
        isinstance(source.identifier, str)
        and re.fullmatch("[0-9a-f]{32}", source.identifier)
        and all(isinstance(text, str | None) for text in source[:3])
        and all(isinstance(text, str) for pair in source.metadata for text in pair)
        for source in sources
    )


class _Facts(NamedTuple):
    content: Cells | Summary
    labels: NDArray[Any] | None = None  # sorted; None for rows without groups
    ranges: Ranges | None = None  # of cells; None for exact counts and summaries
    disclosure: Disclosure = Disclosure()
    group_names: tuple[str, ...] = ()  # of columns; empty if unknown or not those of all parts
    classes: _labels.Classes = _labels.Classes()
    n_missing: int = 0  # rows left out because they have no group label
    sources: tuple[Source, ...] = ()
    is_complete: bool = False  # whether the sources cover all rows; if not, saving adds one
    # Ordered categories of each group column, in which tables list the groups; () for columns in
    # alphabetical order. Files do not hold them.
    orders: tuple[tuple[Any, ...], ...] = ()
    n_jobs: int | None = None  # threads that compute sums; files and pickles do not hold it


class State(_Facts):
    """Counts by group, facts about the counted rows, and sums over cells that are computed once."""

    def with_disclosure(self, **changes: Any) -> State:
        """Return the state after changes of the disclosure."""
        return self._replace(disclosure=dataclasses.replace(self.disclosure, **changes))

    @property
    def summary(self) -> Summary | None:
        """The summary; None for counts by score."""
        return self.content if isinstance(self.content, Summary) else None

    @property
    def cells(self) -> Cells:
        """The cells; a DisclosureError for a summary."""
        needs(self.disclosure, Need.SCORES, "cells")
        assert isinstance(self.content, Cells)
        return self.content

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """Arrays of the counts, and the labels."""
        return [array for array in (*self.content, self.ranges, self.labels) if array is not None]

    @property
    def n_groups(self) -> int:
        """Group count; 1 for rows without groups, and 0 without rows."""
        return self.content.starts.size - 1

    @property
    def n_cells(self) -> int:
        """Number of cells, or of groups in a summary."""
        return self.content.negatives.size

    @property
    def n_rows(self) -> tuple[int, int]:
        """Numbers of negatives and positives."""
        return kernel.total(self.content.negatives), kernel.total(self.content.positives)

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights."""
        return self.content.weights is not None

    @property
    def has_exact_aucs(self) -> bool:
        """Whether group AUCs are exact; False for binned counts and their summaries."""
        return self.ranges is None and (self.summary is None or not self.summary.has_limits)

    @functools.cached_property
    def concordance(self) -> Concordance:
        """Rows and concordant pairs by group, as a named tuple of read-only arrays.

        `u2` is twice Mann-Whitney's U: a group's AUC is ``u2 / (2 * negatives * positives)``.
        """
        summary = self.summary
        if summary is not None:
            rows = summary.negatives, summary.positives
            negatives, positives = rows if summary.weights is None else summary.weights[:2]
            return Concordance(*rows, negatives, positives, summary.u2[0])
        found = kernel.concordance(self.cells, self.n_jobs)
        for array in found:
            array.flags.writeable = False
        return found

    @functools.cached_property
    def rows_by_class(self) -> tuple[ClassRows, ClassRows]:
        """Numbers, weights and squared weights of the negatives and the positives by group."""
        content, found = self.content, self.concordance
        starts = content.starts[:-1]
        squares: Sequence[NDArray[Any]] = found[:2]
        if content.weights is not None and starts.size:
            squares = [np.add.reduceat(of_class, starts) for of_class in content.weights[2:]]
        negatives, positives = (
            ClassRows(n, weight.astype(np.float64), of_class.astype(np.float64))
            for n, weight, of_class in zip(found[:2], found[2:4], squares, strict=True)
        )
        return negatives, positives

    @functools.cached_property
    def own_moments(self) -> OwnMoments:
        """Sums by group that determine the variance of the group's AUC."""
        if self.summary is not None:
            return OwnMoments(*self.summary.moments[0])
        # The sums among all rows come with the sums within groups.
        among_all = vars(self).get("_sums")
        found, _ = among_all or kernel.placement_sums(self.cells, n_jobs=self.n_jobs)
        squares = np.stack([rows.squares for rows in self.rows_by_class])
        # Without the rounding errors of rows that do not vary
        is_error = moments.is_rounding_error(found.squared, squares)
        once, squared = np.where(is_error, 0.0, [found.once, found.squared])
        of_rows = once[1], squared[1], once[0], squared[0]
        return OwnMoments(*of_rows, found.comparisons, found.comparisons_squared)

    @functools.cached_property
    def _sums(self) -> tuple[PlacementSums, PlacementSums]:
        return kernel.placement_sums(self.cells, among_all=True, n_jobs=self.n_jobs)

    @property
    def sums_among_all(self) -> PlacementSums:
        """Sums by group of placement values among the rows in all groups."""
        needs(self.disclosure, Need.SCORES, "comparing rows of several groups")
        return self._sums[1]

    @property
    def weight_exponent(self) -> int:
        """Binary exponent of the mean weight, by which inference divides; 0 for usual weights."""
        weights = self.content.weights
        of_all = 0.0 if weights is None else float(weights[:2].sum())
        if of_all == 0.0:
            return 0
        mean = of_all / sum(self.n_rows)
        return 0 if 1e-12 <= mean <= 1e12 else int(np.frexp(mean)[1])

    def over(self, exponent: int) -> State:
        """Return the state with weights divided by ``2**exponent``, without rounding."""
        content = self.content
        if exponent == 0 or content.weights is None:
            return self
        powers = -exponent * np.array([[1], [1], [2], [2]])
        weights = np.ldexp(content.weights, powers)
        if not isinstance(content, Summary):
            return self._replace(content=content._replace(weights=weights))
        # The first four moments are sums of squared weights. The last two are sums of products of
        # two squared weights.
        powers = -exponent * np.array([[2], [2], [2], [2], [4], [4]])
        u2, moments = np.ldexp(content.u2, -2 * exponent), np.ldexp(content.moments, powers)
        return self._replace(content=content._replace(weights=weights, u2=u2, moments=moments))

    @property
    def extremes(self) -> tuple[State, State]:
        """Exact counts with the lowest and the highest AUCs, of any rows, that ranges permit."""
        content = self.content
        if isinstance(content, Summary):
            u2, moments = content.u2, content.moments
            lowest, highest = (
                self._replace(content=content._replace(u2=u2[n], moments=moments[n]))
                for n in ([min(1, len(u2) - 1)], [-1])
            )
            return lowest, highest
        if self.ranges is None:
            return self, self
        # Rows of both classes have separate scores.
        apart, cell = by_class(content)
        exact = self._replace(ranges=None).with_disclosure(level="exact", bins=None)
        ranges, codes = self.ranges[:, cell], content.groups[cell]
        lowest, highest = (
            exact._replace(content=apart._replace(scores=scores)).summed(codes)
            for scores in np.where(apart.positives > 0, ranges, ranges[::-1])
        )
        return lowest, highest

    def summed(self, codes: NDArray[np.intp] | None) -> State:
        """Return the state after sorting its cells, and adding up those of one group and score.

        The cells may come in any order; their `starts` are ignored, as are the `codes`, the numbers
        of their groups, without labels.
        """
        cells = self.cells
        check_n_rows(negatives=cells.negatives, positives=cells.positives)
        codes, n_groups = (None, 1) if self.labels is None else (codes, self.labels.size)
        sums, ranges = kernel.add_cells(cells, codes, n_groups), self.ranges
        if ranges is not None:
            ranges = hull(cells.scores, ranges, codes, sums)
        return self._replace(content=sums, ranges=ranges)

    def digest(self) -> bytes:
        """Return a digest of the counts and labels, to compare counts that are at hand.

        Never write it to a file: whoever knows all rows but a few could find these by trying.
        """
        sha256 = hashlib.sha256(self.disclosure.level.encode())
        for array in self.arrays:
            if array.dtype.kind == "O":  # labels, and integers of more than 64 bits
                text = "\0".join(map(_text_of_label, array.ravel().tolist()))
                sha256.update(text.encode("utf-8", "surrogatepass"))
            else:
                sha256.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return sha256.digest()

    def checksum(self) -> bytes:
        """Return a checksum of everything that files keep, for pickles."""
        kinds = [(of.dtype.str, of.shape) for of in self._replace(labels=None).arrays]
        return hashlib.sha256(self.digest() + repr((kinds, self[3:-2])).encode()).digest()


def _text_of_label(label: Any) -> str:
    """Return a unique text for a label that does not depend on versions of libraries."""
    if isinstance(label, str):
        return label
    if isinstance(label, tuple):
        return "\1".join(map(_text_of_label, label))
    if isinstance(label, enum.Enum):
        return f"{type(label).__qualname__}.{label.name}"
    if hasattr(label, "closed"):  # a pandas Interval
        return f"{_text_of_label(label.left)} {_text_of_label(label.right)} {label.closed}"
    if hasattr(label, "ordinal") and hasattr(label, "start_time"):  # a pandas Period
        return f"{label.ordinal} {label.start_time}"
    zone = getattr(label, "tzinfo", None)
    return str(label) if zone is None else f"{label} {zone}"


def hull(scores: Floats, ranges: Ranges, codes: NDArray[np.intp] | None, added: Cells) -> Ranges:
    """Return, for each cell in `added`, the smallest range that holds its parts' ranges."""
    numbers, _ = kernel.number_cells(scores, codes, added.starts.size - 1)
    hull = np.empty((2, added.scores.size))
    hull[0], hull[1] = np.inf, -np.inf
    np.minimum.at(hull[0], numbers, ranges[0])
    np.maximum.at(hull[1], numbers, ranges[1])
    return hull


def by_class(cells: Cells) -> tuple[Cells, NDArray[np.intp]]:
    """Return cells of the negatives, then of the positives, and the number of each among `cells`.

    The `starts` are still those of `cells`.
    """
    of_negatives, of_positives = map(np.flatnonzero, (cells.negatives, cells.positives))
    cell = np.concatenate([of_negatives, of_positives])
    is_positive = np.arange(cell.size) >= of_negatives.size
    weights = None
    if cells.weights is not None:
        weights = cells.weights[:, cell] * [~is_positive, is_positive, ~is_positive, is_positive]
    negatives, positives = cells.negatives[cell] * ~is_positive, cells.positives[cell] * is_positive
    return Cells(cells.starts, cells.scores[cell], negatives, positives, weights), cell


def check_n_rows(**numbers: Any) -> None:
    for name, counts in numbers.items():
        found = float(np.sum(counts, dtype=np.float64))
        if found > _input.MOST_ROWS:
            raise ValueError(
                f"{found:.3g} {name.replace('_', ' ')} are more than a ScoreCounts can count "
                "exactly (2**40)."
            )


def state_of_rows(rows: _rows.Rows, n_jobs: int | None = None) -> State:
    n_groups = 1 if rows.labels is None else rows.labels.size
    if rows.scores.size >= _MANY_ROWS and kernel.name() == "numpy":
        _warn_of_slow_kernel()
    n_jobs, weights = _input.check_n_jobs(n_jobs), rows.weights
    cells = kernel.count_rows(rows.scores, rows.positive, rows.codes, n_groups, weights, n_jobs)
    return state_of_cells(cells, rows)._replace(n_jobs=n_jobs)


def state_of_cells(cells: Cells, rows: _rows.Rows) -> State:
    """Return cells of rows with what is known of the rows."""
    facts: dict[str, Any] = {"group_names": rows.names, "classes": rows.classes}
    return State(cells, rows.labels, n_missing=rows.n_missing, orders=rows.orders, **facts)


@functools.cache
def _warn_of_slow_kernel() -> None:
    _input.warn(
        "skfedauc was installed without its compiled part and counts rows in numpy, several times "
        "slower. Install it where there is a C++ compiler, or from a wheel for this platform; "
        "skfedauc.show_versions() tells which kernel is in use.",
        RuntimeWarning,
    )


def checked(state: State, name: str) -> State:
    """Return a file's state, if rows with this state can exist.

    The reader of files makes arrays of the right types and lengths, with cells in order.
    """
    for reason, is_wrong in _faults(state):
        is_array = isinstance(is_wrong, np.ndarray)
        if is_wrong.any() if is_array else is_wrong:
            where = "at cell" if state.summary is None else "in group"
            place = f", {where} {int(np.argmax(is_wrong))}" if is_array else ""
            raise ValueError(
                f"{name} is damaged: {reason}{place}. Make it again, or ask for another copy."
            )
    return state


def _faults(state: State) -> Iterator[tuple[str, Any]]:
    """Yield what may be wrong with a file's state, and whether it is, also by cell or group."""
    content = state.content
    negatives, positives, weights = content.negatives, content.positives, content.weights
    what = "cells" if isinstance(content, Cells) else "groups"
    n_rows = [float(counts.sum(dtype=np.float64)) for counts in (negatives, positives)]
    yield "it has more rows than can be counted", max(n_rows) > _input.MOST_ROWS
    yield f"it has {what} without rows", (negatives == 0) & (positives == 0)
    if weights is not None:
        are_valid = np.isfinite(weights) & (weights >= 0)
        yield "its weights are not finite numbers of 0 or more", not are_valid.all()
        are_sums = are_weight_sums(weights, negatives, positives)
        yield "its weights do not match its counts", not are_sums.all()
    if isinstance(content, Cells):
        yield "its scores are not finite numbers", ~np.isfinite(content.scores)
        wrong = wrong_ranges(content.scores, state.ranges, state.disclosure.bins)
        yield wrong or "", wrong is not None
    else:
        yield from moments.faults_of_summary(content, *state.rows_by_class)
    is_sorted = state.labels is None or _labels.are_sorted_labels(state.labels)
    yield "its labels are not in order", not is_sorted
    can_be_counted = 0 <= state.n_missing <= _input.MOST_ROWS
    yield "the number of rows left out is none that can be counted", not can_be_counted
    yield "its sources are none", not are_sources(state.sources)
    is_possible = _are_possible(state.disclosure.withheld)
    yield "what it says of withheld groups is impossible", not is_possible
    seen, positive = state.classes
    is_infinite = any(label in (math.inf, -math.inf) for label in (*seen, positive))
    yield "the labels of its classes are none", is_infinite
    try:
        is_sorted = _labels.Classes.merged([state.classes]).seen == seen
    except ValueError:
        yield "the labels of its classes do not go together", True
    is_known = positive is not None or not seen
    yield "the labels of its classes are not in order", not (is_sorted and is_known)


def wrong_ranges(scores: Floats, ranges: Ranges | None, bins: Bins | None = None) -> str | None:
    """Return why these ranges are invalid for cells with these scores; None for valid ranges."""
    if ranges is None:
        return None
    low, high = ranges
    is_wrong = ~((low <= scores) & (scores <= high) & np.isfinite(low) & np.isfinite(high))
    is_wrong |= ((ranges == 0) & np.signbit(ranges)).any(axis=0)  # only 0.0 is valid, not -0.0
    if is_wrong.any():
        cell = int(np.argmax(is_wrong))
        return (
            f"its score {scores[cell]:.17g} is outside its range from {low[cell]:.17g} to "
            f"{high[cell]:.17g}, at cell {cell}"
        )
    if bins is None or scores.size == 0:
        return None
    try:
        numbers = bins.numbers_of(scores)
    except ValueError:
        return f"its scores are outside the scores of {bins!r}"
    is_wrong = (bins.ranges_of(numbers) != ranges).any(axis=0) | (bins.scores_of(numbers) != scores)
    if is_wrong.any():
        cell = int(np.argmax(is_wrong))
        return f"its range or score is not that of a bin of {bins!r}, at cell {cell}"
    return None


def check_weight_sums(weights: Floats, negatives: NDArray[Any], positives: NDArray[Any]) -> None:
    """Raise a ValueError for sums of weights and squared weights that no rows can have."""
    are_sums = are_weight_sums(weights, negatives, positives).all(axis=1)
    if not are_sums.all():
        name = ("negatives", "positives")[are_sums.argmin()]
        raise ValueError(
            f"weight_{name} and squared_weight_{name} must be the sums of the weights and of the "
            f"squared weights: 0 where n_{name} is 0, and elsewhere a total weight W above 0, with "
            "squares from W**2 / n to W**2 for n rows."
        )


def are_weight_sums(
    weights: Floats, negatives: NDArray[Any], positives: NDArray[Any]
) -> NDArray[np.bool_]:
    """Return where rows with such sums of weights and of squared weights can exist, by class."""
    counts, (sums, squares) = np.stack([negatives, positives]), weights.reshape(2, 2, -1)
    # The sum of n squared weights is between W**2 / n, for equal weights, and W**2.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = squares / sums**2
        is_possible = (share >= (1 - 1e-6) / counts) & (share <= 1 + 1e-6)
    is_possible &= (sums > 0) & (squares > 0)
    return np.where(counts == 0, (sums == 0) & (squares == 0), is_possible)


def _are_possible(withheld: Withheld) -> bool:
    n_groups, negatives, positives, labels, is_low, *most = withheld
    known = [n_groups, *(n for n in (negatives, positives, *most) if n is not None)]
    return (
        all(type(n) is int and 0 <= n <= _input.MOST_ROWS for n in known)
        and type(is_low) is bool
        and negatives in (None, most[0])
        and positives in (None, most[1])
        and sum(_input.MOST_ROWS if limit is None else limit for limit in most) >= n_groups
        and (n_groups > 0 or withheld.n_rows == 0)
        and len(labels or ()) <= n_groups
    )
