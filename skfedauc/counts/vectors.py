"""Vectors of integers for secure sums: score counts on an agreed grid of groups and bins.

A vector has the numbers of negatives, then the numbers of positives. In each half, the groups are
in the order of their labels, and the bins of a group are in the order of their numbers. The sum of
the vectors of several sites is the vector of their merged counts.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _group_codes, _input, _words
from skfedauc._kernel import Cells
from skfedauc.counts.bins import Bins
from skfedauc.counts.disclosure import Disclosure, Need, needs
from skfedauc.counts.files import entry_of
from skfedauc.counts.reducing import at_level
from skfedauc.counts.state import State


class Grid:
    """Agreed groups, in any order, and bins of all sites; `labels` are the groups, sorted."""

    def __init__(self, bins: Bins, groups: Any) -> None:
        if not isinstance(bins, Bins):
            raise TypeError(
                f"bins must be a skfedauc.Bins; got {_words.described(bins)}. Pass, for instance, "
                "Bins.of_probabilities()."
            )
        if bins.n_bins is None:
            raise ValueError(
                f"bins must have a fixed number of bins; {bins!r} has as many bins as the scores "
                "need. Pass Bins.at(edges), or Bins.of_quantiles(counts, n_bins) with quantiles of "
                "earlier counts; for probabilities, Bins.of_probabilities()."
            )
        self.bins = bins
        self.labels: NDArray[Any] | None = None
        if groups is not None:
            codes, labels = _group_codes.encode_groups(groups, "groups")[:2]
            if not labels.size:
                raise ValueError("groups has no labels; pass None for rows without groups.")
            if codes.size != labels.size:
                repeated = labels[np.bincount(codes) > 1]
                raise ValueError(
                    f"groups must have each label once; got {_words.listed(repeated.tolist())} "
                    "several times."
                )
            self.labels = labels
        self.n_bins: int = bins.n_bins
        self.n_groups = 1 if self.labels is None else int(self.labels.size)

    @property
    def size(self) -> int:
        """Number of entries of a vector."""
        return 2 * self.n_groups * self.n_bins

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the bins and of the labels, as an identifier of the grid."""
        labels = None if self.labels is None else list(map(entry_of, self.labels.tolist()))
        text = json.dumps([self.bins.to_dict(), labels], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def numbers_of_groups(self, labels: NDArray[Any] | None) -> NDArray[np.intp]:
        """Return the position of each label of a site among the agreed labels."""
        agreed = self.labels
        if labels is None and agreed is None:
            return np.zeros(1, np.intp)
        if labels is None:
            raise ValueError(
                "these counts have no groups, and groups has labels; name the group of all rows, "
                "for instance by counts.regroup({None: 'device 7'}), or pass groups=None."
            )
        if agreed is None:
            raise ValueError(
                "these counts have groups, and groups is None; pass the labels that all sites "
                "agreed on, or combine all rows by counts.regroup(None)."
            )
        try:
            place = _group_codes.places_of(labels, agreed)
        except TypeError as error:
            raise TypeError(
                f"groups has labels of another kind ({_words.shortened(agreed[0])}) than these "
                f"counts ({_words.shortened(labels[0])}); convert one of them, for instance by "
                "counts.regroup(str)."
            ) from error
        others = labels[place < 0]
        if others.size:
            raise ValueError(
                f"these counts have {_words.counted(others.size, 'group')} not among the agreed "
                f"groups: {_words.listed(others.tolist())}. Agree on all labels beforehand, or "
                "rename these groups by counts.regroup."
            )
        return place


def check_for_bins(state: State, what: str) -> None:
    """Raise an error for counts without scores or with weights."""
    needs(state.disclosure, Need.SCORES, what)
    if state.is_weighted:
        raise ValueError(
            f"{what} needs counts that one row changes by 1, and these counts have sample weights; "
            "count the rows again without sample_weight."
        )


def counts_by_bin(
    state: State, bins: Bins, numbers: NDArray[np.intp], n_groups: int
) -> NDArray[np.int64]:
    """Return negatives and positives by group and bin, with the numbers of the state's groups."""
    cells = at_level(state, Disclosure("bins", bins)).cells
    found = np.zeros((2, n_groups, bins.n_bins or 0), np.int64)
    place = numbers[cells.groups], bins.numbers_of(cells.scores)  # each cell has a different bin
    found[0][place], found[1][place] = cells.negatives, cells.positives
    return found


def vector_of(state: State, grid: Grid, max_count: int | None = None) -> NDArray[np.int64]:
    """Return the vector of score counts at the bins of the grid.

    Every secure sum and every count for differential privacy comes from this function.
    """
    if max_count is not None:
        max_count = _input.check_whole_number(max_count, "max_count")
    what = "A release with differential privacy or by a secure sum"
    check_for_bins(state, what)
    needs(state.disclosure, Need.UNSUPPRESSED, what)
    numbers = grid.numbers_of_groups(state.labels)
    vector = counts_by_bin(state, grid.bins, numbers, grid.n_groups).reshape(-1)
    if max_count is not None and vector.size and vector.max() > max_count:
        entry = int(vector.argmax())
        raise ValueError(
            f"the largest count is {vector[entry]:,}{_place(grid, entry)}, and max_count is "
            f"{max_count:,}, so that the sum over all sites could be wrong. Use narrower bins, or "
            "a larger modulus."
        )
    return vector


def state_of_vector(vector: Any, grid: Grid, modulus: int | None) -> State:
    """Return the score counts of a sum of vectors, without groups that have no rows."""
    counts = _checked(vector, grid, modulus).reshape(2, grid.n_groups, grid.n_bins)
    codes, numbers = np.nonzero(counts.any(axis=0))
    negatives, positives = counts[:, codes, numbers]
    bins, labels = grid.bins, grid.labels
    if labels is not None:
        codes, labels = _group_codes.drop_unused(codes, labels)
    cells = Cells(np.zeros(0, np.int64), bins.scores_of(numbers), negatives, positives, None)
    return State(cells, labels, bins.ranges_of(numbers), Disclosure("bins", bins)).summed(codes)


def _checked(vector: Any, grid: Grid, modulus: int | None) -> NDArray[np.int64]:
    """Return the entries as counts of 0 or more."""
    if modulus is not None:
        modulus = _input.check_whole_number(modulus, "modulus", 2, 1 << 64)
        if modulus & (modulus - 1):
            raise ValueError(
                f"modulus must be a power of two from 2 to 2**64, such as 2**32; got {modulus}."
            )
    array = _input.column_of(vector, "vector")
    if array.size != grid.size:
        raise ValueError(
            f"vector must have {grid.size:,} entries, 2 classes * "
            f"{_words.counted(grid.n_groups, 'group')} * {grid.n_bins:,} bins; got "
            f"{array.size:,}. Pass the bins and groups of to_vector."
        )
    whole, why = _whole(array, modulus), "the sum of counts cannot be negative"
    if modulus is not None:
        bits = modulus.bit_length() - 1
        # The lowest bits as signed integers, of which the upper half is negative
        whole = (whole.view(np.uint64) << np.uint64(64 - bits)).view(np.int64) >> (64 - bits)
        why = (
            f"modulo 2**{bits} the upper half is read as negative numbers, which means that "
            "masks remain in the sum, for instance those of a site that dropped out, or that "
            f"a sum of counts reached 2**{bits - 1}"
        )
    n_negative = int((whole < 0).sum())
    if n_negative:
        raise ValueError(
            f"vector has {n_negative:,} negative entries of {whole.size:,}: {why}. Sum the vectors "
            "of the same sites whose masks cancel."
        )
    largest = int(whole.argmax())
    if whole[largest] > _input.MOST_ROWS:
        raise ValueError(
            f"vector has the entry {whole[largest]:,}{_place(grid, largest)}, above 2**40, the "
            "most rows of a class that a ScoreCounts can count exactly; masks may remain in the "
            "sum. Pass modulus= if the sum is modulo a power of two."
        )
    return whole.astype(np.int64)


def _whole(array: NDArray[Any], modulus: int | None) -> NDArray[Any]:
    """Return entries as integers: of 64 bits, or Python integers for an array of objects."""
    kind = array.dtype.kind
    types = set(map(type, array)) if kind == "O" else {int if kind in "biuf" else str}
    if not all(issubclass(of, int | np.integer) and of is not bool for of in types):
        raise TypeError(
            f"vector must hold whole numbers; got an array of {array.dtype} such as "
            f"[{_words.all_shortened(array[:3].tolist())}]."
        )
    if kind == "f":
        with np.errstate(invalid="ignore"):
            is_wrong = ~(np.abs(array) < 2.0**53) | (array != np.rint(array))
        if is_wrong.any():
            first = int(is_wrong.argmax())
            raise ValueError(
                f"vector must hold whole numbers below 2**53; {int(is_wrong.sum()):,} of "
                f"{array.size:,} entries are not, and the first is vector[{first}] = "
                f"{float(array[first])!r}. Clipping or quantization, or the average in place of "
                "the sum, changes counts: choose settings under which whole numbers are exact, and "
                "multiply an average by the number of sites."
            )
    if kind == "O":
        whole = np.array(list(map(int, array)), object)
        return whole if modulus is None else (whole % modulus).astype(np.uint64)
    return array.astype(np.uint64 if kind == "u" else np.int64)


def _place(grid: Grid, entry: int) -> str:
    """Return the class, the group and the bin of an entry, for messages."""
    which, group, number = np.unravel_index(entry, (2, grid.n_groups, grid.n_bins))
    of_group = ""
    if grid.labels is not None:
        of_group = f" of group {_words.shortened(grid.labels.tolist()[group])}"
    return f" ({('negatives', 'positives')[which]}{of_group} in bin {number})"
