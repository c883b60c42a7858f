"""Attributes of score counts, which are immutable."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc._kernel import Cells, Concordance, PlacementSums, concordance, placement_sums
from skfedauc.counts.disclosure import cells_for
from skfedauc.counts.moments import ClassRows, OwnMoments, own_moments, rows_by_class
from skfedauc.counts.origin import Origin, Source, left_out
from skfedauc.counts.ranges import Ranges, n_distinct
from skfedauc.counts.state import State
from skfedauc.counts.summary import Summary
from skfedauc.counts.tables import table_of
from skfedauc.counts.withheld import Withheld

if TYPE_CHECKING:
    import pandas as pd

    from skfedauc.counts.bins import Bins


class CountsView:
    """Immutable view of the state of score counts."""

    __slots__ = ("__dict__", "_state")

    _state: State

    # Groups and rows ---------------------------------------------------------------

    @property
    def labels(self) -> NDArray[Any] | None:
        """Sorted labels of the groups as a read-only array; None for rows without groups.

        The array has shape (n_groups,). The dtype is bool, an integer type, datetime64[us], or
        object for labels of other kinds. Group g of `cells` has the label ``labels[g]``.
        """
        return self._state.labels

    @functools.cached_property
    def groups(self) -> tuple[Any, ...] | None:
        """Sorted labels of the groups; None for rows without groups."""
        if self.labels is None:
            return None
        return tuple(self.labels.tolist())

    @property
    def n_positives(self) -> NDArray[np.int64]:
        """Number of positives by group, without rows of weight 0; of shape (n_groups,)."""
        return self.concordance.n_positives

    @property
    def n_negatives(self) -> NDArray[np.int64]:
        """Number of negatives by group, without rows of weight 0; of shape (n_groups,)."""
        return self.concordance.n_negatives

    @property
    def n_missing(self) -> int:
        """Number of dropped rows without a group label (``missing="drop"``)."""
        return self.origin.n_missing

    @property
    def group_names(self) -> tuple[str, ...]:
        """Names of the group columns, such as the name of a Series.

        Empty if the columns have no names.
        """
        return self.origin.group_names

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights."""
        return self.content.weights is not None

    @property
    def origin(self) -> Origin:
        """Metadata of the rows, such as names of the group columns and class labels."""
        return self._state.origin

    @property
    def sources(self) -> tuple[Source, ...]:
        """Saved or sent countings in these counts, sorted by name.

        Each counting is a named tuple: `identifier`, 32 hexadecimal digits, and `name`, the text of
        ``source=`` or None. Counts have no sources before the first save.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> days = {"monday": [0.2, 0.4], "tuesday": [0.3, 0.1]}
        >>> messages = [
        ...     ScoreCounts.from_predictions([0, 1], scores).to_bytes(source=day)
        ...     for day, scores in days.items()
        ... ]
        >>> merged = ScoreCounts.merge(map(ScoreCounts.from_bytes, messages))
        >>> [source.name for source in merged.sources]
        ['monday', 'tuesday']
        """
        return self.origin.sources

    # Counts ------------------------------------------------------------------------

    def to_counts(self) -> pd.DataFrame:
        """Return the counts as a table that `from_counts` can read.

        Returns
        -------
        pandas.DataFrame
            One row per group and distinct score, sorted. Group columns come first, with the names
            in `group_names`. Without names, the column is `group`; the columns of tuples are
            `group_1`, `group_2` and so on. A `ScoreCounts` without groups has no group column. The
            columns `score`, `n_negatives` and `n_positives` follow. For binned counts, the columns
            `score_low` and `score_high` after `score` hold the ends of the ranges. If rows have
            weights, the columns `weight_negatives`, `weight_positives`, `squared_weight_negatives`
            and `squared_weight_positives` hold the sums of the weights and of the squared weights.

        Notes
        -----
        ``from_counts(**table)`` makes equal counts, except for `n_missing` and `bins`. Labels keep
        their type: convert labels that a file format does not support, such as intervals in
        Parquet, to text. `save` converts labels automatically.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.2, 0.7], groups=list("aab"))
        >>> table = counts.to_counts()
        >>> table
          group  score  n_negatives  n_positives
        0     a    0.2            1            1
        1     b    0.7            0            1
        >>> ScoreCounts.from_counts(**table) == counts
        True
        """
        cells = cells_for(self, "to_counts")
        return table_of(cells, self.labels, self.group_names, self.ranges)

    @property
    def cells(self) -> Cells:
        """Counts of each group and distinct score, as read-only arrays.

        The result is a named tuple. `starts` has shape (n_groups + 1,): group g has the cells
        ``starts[g]`` to ``starts[g + 1] - 1``, sorted by score. `scores`, `negatives` and
        `positives` have shape (n_cells,): the score, and the numbers of rows of each class. Without
        sample weights, `weights` is None. With sample weights, `weights` has shape (4, n_cells):
        the sums of the weights of negatives and of positives, and the sums of the squared weights.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions(
        ...     [0, 1, 1, 0], [0.2, 0.2, 0.7, 0.1], groups=["b", "b", "b", "a"]
        ... )
        >>> cells = counts.cells
        >>> for g, label in enumerate(counts.groups):
        ...     of_group = slice(cells.starts[g], cells.starts[g + 1])
        ...     print(label, cells.scores[of_group], cells.positives[of_group])
        a [0.1] [0]
        b [0.2 0.7] [1 1]
        """
        return self._state.cells

    @property
    def summary(self) -> Summary | None:
        """Rows and pairs of rows by group in a summary; None for other counts."""
        return self._state.summary

    @property
    def has_exact_aucs(self) -> bool:
        """Whether the AUCs of the groups are exact; False for binned counts and their summaries."""
        return self.ranges is None and (self.summary is None or self.summary.lowest is None)

    @property
    def content(self) -> Cells | Summary:
        """The cells of exact and binned counts, or the summary."""
        return self._state.content

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """Arrays of `cells` and `ranges`, or arrays of `summary`."""
        return self._state.arrays

    # Level of disclosure -----------------------------------------------------------

    @property
    def disclosure(self) -> Literal["exact", "bins", "summary"]:
        """Level of disclosure of the scores: "exact", "bins" or "summary".

        Exact counts disclose each distinct score. Binned counts disclose a range of scores for each
        row. A summary discloses the AUC of each group, but no scores.

        See Also
        --------
        DisclosureError : Raised if the level is too low.
        """
        return self._state.disclosure

    @property
    def bins(self) -> Bins | None:
        """Rule that maps scores to bins; None for exact counts, and for ranges without a rule."""
        return self.origin.bins

    @property
    def ranges(self) -> Ranges | None:
        """Lowest and highest possible score of the rows of each cell; None for exact counts.

        The array is read-only, and has shape (2, n_cells). A range includes both ends, and the
        score of its cell.
        """
        return self._state.ranges

    @property
    def withheld(self) -> Withheld:
        """Groups that `reduced` withheld because they have few rows of a class.

        The result is a named tuple. `n_groups` is the number of groups. `n_negatives` and
        `n_positives` are the numbers of rows of the groups, or None for a withheld number. `labels`
        has the labels of the groups, or is None. `is_n_missing_low` shows whether `n_missing` is
        too low because `reduced` withheld a small number. `most_negatives` and `most_positives` are
        the numbers of rows or upper limits of these numbers.

        See Also
        --------
        GroupAUC.bounds : AUCs that the withheld groups permit.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions(
        ...     [0, 1, 0, 1, 1, 0, 1], [0.2, 0.6, 0.5, 0.4, 0.7, 0.1, 0.3], groups=list("aabaabb")
        ... )
        >>> withheld = counts.reduced("bins", min_count=3).withheld
        >>> withheld.n_groups, withheld.n_positives, withheld.n_negatives, withheld.most_negatives
        (2, None, None, 5)
        """
        return self.origin.withheld

    # Sums by group -----------------------------------------------------------------

    @functools.cached_property
    def concordance(self) -> Concordance:
        """Rows and concordant pairs of each group, as a named tuple of read-only arrays.

        `u2` is twice the Mann-Whitney U statistic. The AUC of a group is ``u2 / (2 * negatives *
        positives)``.
        """
        if self.summary is not None:
            return self.summary.concordance
        found = concordance(self.cells, n_jobs_of(self))
        for array in found:
            array.flags.writeable = False
        return found

    @functools.cached_property
    def rows_by_class(self) -> tuple[ClassRows, ClassRows]:
        """Numbers, weights and squared weights of the negatives and of the positives by group."""
        if self.summary is not None:
            return self.summary.rows_by_class
        return rows_by_class(self.cells, self.concordance)

    @functools.cached_property
    def own_moments(self) -> OwnMoments:
        """Sums by group that determine the variance of the group's AUC."""
        if self.summary is not None:
            return self.summary.sums.moments
        # The sums among all rows come with the sums within groups.
        kept = vars(self).get("placement_sums")
        sums = kept or placement_sums(self.cells, n_jobs=n_jobs_of(self))
        return own_moments(sums[0], *self.rows_by_class)

    @property
    def weight_exponent(self) -> int:
        """Binary exponent of the mean weight; 0 if the mean is between 1e-12 and 1e12.

        Inference divides the weights by this power of two, so that products of sums of weights do
        not overflow or underflow.
        """
        return self._state.weight_exponent

    # Object ------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of groups; 1 for rows without groups, and 0 without rows."""
        return self._state.n_groups

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CountsView):
            return NotImplemented
        kinds = {_input.kind_of(counts.labels) for counts in (self, other)}
        if len(kinds) > 1:
            return False  # the label True must not equal the label 1
        if self.disclosure != other.disclosure or (self.labels is None) != (other.labels is None):
            return False
        mine, yours = self.arrays, other.arrays
        if self.labels is not None and other.labels is not None:
            mine, yours = [*mine, self.labels], [*yours, other.labels]
        return len(mine) == len(yours) and all(map(np.array_equal, mine, yours))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"ScoreCounts is immutable; {name} cannot be set.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"ScoreCounts is immutable; {name} cannot be deleted.")

    def _n_distinct(self) -> tuple[int, str]:
        """Return the number of distinct scores, bins or ranges, and their noun."""
        if self.ranges is not None and self.bins is None:
            return n_distinct(self.ranges), "range"
        return np.unique(self.cells.scores).size, "distinct score" if self.bins is None else "bin"

    def __repr__(self) -> str:
        positives, negatives = int(self.n_positives.sum()), int(self.n_negatives.sum())
        content = "summary by group"
        if self.summary is None:
            content = _words.counted(*self._n_distinct())
        groups = "no groups" if self.labels is None else _words.counted(len(self), "group")
        weighted = ", weighted" if self.is_weighted else ""
        counted = _words.counted
        return (
            f"ScoreCounts({groups}, {counted(positives + negatives, 'row')}: "
            f"{counted(positives, 'positive')} and {counted(negatives, 'negative')}, "
            f"{content}{weighted}{left_out(self.n_missing)}{self.withheld.in_words()})"
        )


def n_jobs_of(counts: CountsView) -> int | None:
    """Return the number of threads that counted the rows, which also add up placement values."""
    n_jobs: int | None = vars(counts).get("n_jobs")
    return n_jobs


def sums_among_all(counts: CountsView) -> PlacementSums:
    """Return sums by group of placement values among the rows of all groups, computed once."""
    kept = vars(counts)  # where cached properties keep their values
    if "placement_sums" not in kept:
        cells = cells_for(counts, "comparing rows of several groups")
        kept["placement_sums"] = placement_sums(cells, among_all=True, n_jobs=n_jobs_of(counts))
    found: PlacementSums = kept["placement_sums"][1]
    return found
