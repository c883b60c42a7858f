"""State of a `ScoreCounts`: plain data for the computations in this folder."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc._kernel import Cells, concordance, total
from skfedauc.counts.bins import Bins
from skfedauc.counts.disclosure import DisclosureError, needs_scores
from skfedauc.counts.integrity import check_state, checksum_of
from skfedauc.counts.limits import check_n_rows
from skfedauc.counts.origin import Origin
from skfedauc.counts.ranges import Ranges, add_with_ranges, extremes_of
from skfedauc.counts.summary import Summary, arrays_of


class State(NamedTuple):
    """Counts by group, and metadata of the counted rows.

    Attributes
    ----------
    content : Cells or Summary
        Counts by group and score, or a summary by group.
    labels : ndarray of shape (n_groups,) or None
        Sorted labels of the groups, or None for rows without groups.
    origin : Origin
        Metadata of the rows.
    ranges : ndarray of float64, shape (2, n_cells), or None
        Lowest and highest score of the rows of each cell; None for exact counts and summaries.
    """

    content: Cells | Summary
    labels: NDArray[Any] | None = None
    origin: Origin = Origin()
    ranges: Ranges | None = None

    @property
    def summary(self) -> Summary | None:
        """Return the summary; None for counts by score."""
        return self.content if isinstance(self.content, Summary) else None

    @property
    def cells(self) -> Cells:
        """Return the cells; raise a DisclosureError for a summary."""
        if isinstance(self.content, Summary):
            raise DisclosureError(needs_scores("cells"))
        return self.content

    @property
    def disclosure(self) -> Literal["exact", "bins", "summary"]:
        """Level of disclosure."""
        if isinstance(self.content, Summary):
            return "summary"
        return "exact" if self.ranges is None else "bins"

    @property
    def bins(self) -> Bins | None:
        """Rule of the bins; None for other levels and for ranges that are not bins of one rule."""
        return self.origin.bins

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """Arrays of the counts, without the labels."""
        return arrays_of(self.content, self.ranges)

    @property
    def n_groups(self) -> int:
        """Number of groups; 1 for rows without groups, and 0 without rows."""
        content = self.content
        return content.n_groups if isinstance(content, Summary) else content.starts.size - 1

    @property
    def n_rows(self) -> tuple[int, int]:
        """Numbers of negatives and of positives."""
        content = self.content
        if isinstance(content, Summary):
            return int(content.n_negatives.sum()), int(content.n_positives.sum())
        return total(content.negatives), total(content.positives)

    @property
    def n_by_class(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of negatives and of positives by group."""
        content = self.content
        if isinstance(content, Summary):
            return content.n_negatives, content.n_positives
        found = concordance(content)
        return found.n_negatives, found.n_positives

    @property
    def weight_exponent(self) -> int:
        """Binary exponent of the mean weight; 0 if the mean is between 1e-12 and 1e12."""
        weights = self.content.weights
        total = 0.0 if weights is None else float(weights[:2].sum())
        if total == 0.0:
            return 0
        mean = total / sum(self.n_rows)
        return 0 if 1e-12 <= mean <= 1e12 else int(np.frexp(mean)[1])

    def over(self, exponent: int) -> State:
        """Return the state with weights divided by ``2**exponent``, without rounding."""
        content = self.content
        if exponent == 0 or content.weights is None:
            return self
        if isinstance(content, Summary):
            return self._replace(content=content.over(exponent))
        powers = exponent * np.array([[1], [1], [2], [2]])
        cells = content._replace(weights=np.ldexp(content.weights, -powers))
        return self._replace(content=cells)

    @property
    def extremes(self) -> tuple[State, State]:
        """Return exact counts with the lowest and with the highest AUCs that the ranges permit."""
        if isinstance(self.content, Summary):
            if self.content.lowest is None:
                return self, self
            low, high = self.content.extremes
            return self._replace(content=low), self._replace(content=high)
        if self.ranges is None:
            return self, self
        origin = self.origin._replace(bins=None)
        lowest, highest = extremes_of(self.content, self.ranges)
        return State(lowest, self.labels, origin), State(highest, self.labels, origin)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments of `restored`, with a checksum."""
        checksum = checksum_of(self.arrays, self.labels, self.origin)
        state = (self.content, self.labels, self.origin, checksum)
        return restored, state if self.ranges is None else (*state, self.ranges)


def restored(
    content: tuple[Any, ...],
    labels: NDArray[Any] | None,
    origin: tuple[Any, ...] = (),
    checksum: int | None = None,
    ranges: Ranges | None = None,
    name: str = "the pickled ScoreCounts",
) -> State:
    """Check and return a state from a pickle or a file.

    Raises
    ------
    ValueError
        If no rows can have these counts, or the checksum differs from the checksum in the pickle.
    """
    known = Origin(*origin)
    counts = content if isinstance(content, Summary) else Cells(*content)
    check_state(counts, labels, known, checksum, ranges, name)
    known = known._replace(classes=_input.Classes(*known.classes))
    return State(counts, labels, known, ranges)


def added(
    cells: Cells,
    codes: NDArray[np.intp] | None,
    labels: NDArray[Any] | None,
    origin: Origin,
    ranges: Ranges | None = None,
) -> State:
    """Add up cells with equal group and score, and return the state of the sums.

    Parameters
    ----------
    cells : Cells
        Cells in any order; the function ignores `starts`.
    codes : ndarray of intp, shape (n_cells,), or None
        Group number of each cell; None puts all cells into one group.
    labels : ndarray of shape (n_groups,) or None
    origin : Origin
    ranges : ndarray of float64, shape (2, n_cells), or None, default=None

    Raises
    ------
    ValueError
        If a class has too many rows for exact counts.
    """
    check_n_rows(cells.negatives, "negatives")
    check_n_rows(cells.positives, "positives")
    n_groups = 1 if labels is None else labels.size
    sums, ranges = add_with_ranges(cells, ranges, codes, n_groups)
    return State(sums, labels, origin, ranges)
