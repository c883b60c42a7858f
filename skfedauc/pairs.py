"""Pairs with a positive and a negative: weights for all and for concordant pairs, by group.

Below are ranks among the rows in all groups, and the memory that large tables of pairs may take.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _rows
from skfedauc._group_codes import positions_of
from skfedauc._kernel import Cells, concordance, cross_concordance, number_cells
from skfedauc.cluster_counts import ClusterCounts
from skfedauc.counts import ScoreCounts
from skfedauc.counts.disclosure import Need, needs
from skfedauc.counts.moments import Floats
from skfedauc.counts.score_counts import counts_of_rows, extremes_of, select_groups, view_of


@dataclasses.dataclass(eq=False, repr=False)
class GroupPairs:
    """Pairs with a positive and a negative in a `ScoreCounts`, computed lazily.

    A tie counts one half. The weight of a pair is the product of its rows' weights. `u2` is twice
    the weight of the concordant pairs, i.e. twice Mann-Whitney's U.

    With ``folds``, counts with the labels of ``counts``, pairs consist of rows of the same fold,
    and sums run over these `parts`; None compares all rows.

    If ``rows_repeat``, a row can count several times, and variances are not available. ``clusters``
    has the same rows' counts by group and cluster; None means independent rows. If
    ``is_over_folds``, the scores are those of several models, each fitted to rows that others
    scored. If ``is_multiclass``, the model does not decide by a threshold on a single score.
    """

    counts: ScoreCounts
    folds: Sequence[ScoreCounts] | None = None
    _: dataclasses.KW_ONLY
    rows_repeat: bool = False
    clusters: ClusterCounts | None = None
    is_over_folds: bool = False
    is_multiclass: bool = False

    @property
    def is_within_folds(self) -> bool:
        """True if pairs consist of rows of the same fold."""
        return self.folds is not None

    @functools.cached_property
    def parts(self) -> tuple[ScoreCounts, ...]:
        """Counts with the rows that are compared with each other."""
        return (self.counts,) if self.folds is None else tuple(self.folds)

    @classmethod
    def of_rows(cls, rows: _rows.Rows, n_jobs: int | None = None) -> GroupPairs:
        """Count validated rows, also by cluster if the rows have clusters."""
        clusters = None if rows.clusters is None else ClusterCounts.of_rows(rows, n_jobs)
        return cls(counts_of_rows(rows, n_jobs), clusters=clusters)

    def selected(self, kept: NDArray[np.intp], at_least: int | None = None) -> GroupPairs:
        """Return the pairs of some groups, perhaps those with `at_least` rows of each class."""
        clusters = self.clusters
        if clusters is not None and view_of(self.counts).labels is not None:
            clusters = clusters.select_groups(kept)
        counts = select_groups(self.counts, kept, at_least=at_least)
        # Reports over folds are refused before.
        return dataclasses.replace(self, counts=counts, clusters=clusters, folds=None)

    @functools.cached_property
    def positions(self) -> tuple[NDArray[np.intp], ...]:
        """For each part, the index of each of its groups among all groups."""
        if not self.is_within_folds:
            return (np.arange(self.n_groups),)
        labels = self.counts.groups or ()
        return tuple(positions_of(part.groups or (), labels) for part in self.parts)

    def counts_for(self, result: str) -> ScoreCounts:
        """Return `counts`; raise an error if pairs consist of rows of the same fold only."""
        if self.is_within_folds:
            raise ValueError(
                f"{result} is not available within folds; use the report of one fold (folds[0]), "
                "or the report of all out-of-fold scores (over_folds)."
            )
        return self.counts

    def check_independent_rows(self, result: str) -> None:
        """Raise an error if rows are dependent within clusters."""
        if self.clusters is not None:
            raise ValueError(
                f"{result} assumes independent rows, but the rows of this report are dependent "
                f"within {self.clusters.n_clusters:,} clusters. Make a report without clusters= if "
                "all rows are independent."
            )

    def check_no_repeated_rows(self) -> None:
        """Raise an error if a row can count several times, so that variances are not available."""
        if self.rows_repeat:
            raise ValueError(
                "rows are in several test sets (repeated folds, or random splits), so "
                "the variance of the AUC cannot be estimated; use folds that test each row once, "
                "or use the report of one fold (folds[0])."
            )

    def check_one_model(self, result: str) -> None:
        """Raise an error for several models, each of which depends on rows that others scored."""
        if self.is_over_folds or self.is_within_folds:
            raise ValueError(
                f"{result} needs the scores of one model, but the scores of this report are "
                "out-of-fold scores of several models, each of which was fitted to rows that the "
                f"others scored. Use the report of one fold (folds[0])."
            )

    @property
    def has_scores(self) -> bool:
        """True if the counts hold scores, which pairs of rows in different groups need."""
        return all(part.disclosure.level != "summary" for part in (self.counts, *self.parts))

    def check_has_scores(self, result: str) -> None:
        """Raise an error if the counts hold no scores."""
        for part in (self.counts, *self.parts):
            needs(part.disclosure, Need.SCORES, result)

    @property
    def is_binned(self) -> bool:
        """True for binned scores, whose AUCs have certain intervals."""
        return not all(view_of(part).has_exact_aucs for part in (self.counts, *self.parts))

    def extremes(self) -> tuple[GroupPairs, GroupPairs]:
        """Return the pairs ranked least and most favorably, as far as the ranges permit.

        For exact scores, both are this object.
        """
        return self._ends if self.is_binned else (self, self)

    @functools.cached_property
    def _ends(self) -> tuple[GroupPairs, GroupPairs]:
        counts = extremes_of(self.counts)
        clusters = (None, None) if self.clusters is None else self.clusters.extremes()
        folds: Sequence[Any] = (None, None)
        if self.folds is not None:
            folds = list(zip(*map(extremes_of, self.folds), strict=True))
        lowest, highest = (
            dataclasses.replace(self, counts=counts[end], folds=folds[end], clusters=clusters[end])
            for end in (0, 1)
        )
        return lowest, highest

    @property
    def has_overlaps(self) -> bool:
        """True if ranges of scores may overlap, because the ranges are not bins of one rule.

        An AUC is then the middle of its values at both extremes: a pair of unknown order counts
        one half.
        """
        return self.is_binned and any(part.disclosure.bins is None for part in self.parts)

    @property
    def rounding_reach(self) -> float:
        """Largest rounding error in a ratio of two sums, of one unit of rounding per row."""
        n_rows = sum(int((part.n_negatives + part.n_positives).sum()) for part in self.parts)
        return (n_rows + 4) * 2.0**-50

    @property
    def n_groups(self) -> int:
        """Group count; 1 for rows without groups."""
        return len(self.counts)

    @property
    def positives(self) -> NDArray[Any]:
        """Positive weight by group; the positive count without weights."""
        return view_of(self.counts).concordance.positives

    @property
    def negatives(self) -> NDArray[Any]:
        """Negative weight by group; the negative count without weights."""
        return view_of(self.counts).concordance.negatives

    def has_per_class(self, least: int) -> NDArray[np.bool_]:
        """Return whether each group has at least this number of rows in each class."""
        n_smaller_class = np.minimum(self.counts.n_positives, self.counts.n_negatives)
        return np.asarray(n_smaller_class >= least)

    @functools.cached_property
    def defined(self) -> NDArray[np.bool_]:
        """True for each group with pairs, and therefore an AUC."""
        return self._added([(part.n_positives > 0) & (part.n_negatives > 0) for part in self.parts])

    @property
    def n_undefined(self) -> int:
        """How many groups lack a class, and so an AUC."""
        return int((~self.defined).sum())

    @functools.cached_property
    def u2(self) -> NDArray[Any]:
        """Twice the concordant pairs' weight by group."""
        if self.has_overlaps:
            low, high = (end.u2 for end in self.extremes())
            return _middle(low, high)
        return self._added([view_of(part).concordance.u2 for part in self.parts])

    @functools.cached_property
    def of_group(self) -> Floats:
        """Pair weight by group."""
        found = [view_of(part).concordance for part in self.parts]
        return self._added([of.positives.astype(np.float64) * of.negatives for of in found])

    @functools.cached_property
    def auc(self) -> Floats:
        """Each group's AUC; NaN if the group lacks a class."""
        with np.errstate(invalid="ignore"):  # NaN without pairs
            # Rounding of weights may give slightly more than 1.
            return np.minimum(self.u2.astype(np.float64) / 2.0 / self.of_group, 1.0)

    @functools.cached_property
    def within(self) -> tuple[Any, Any]:
        """Exact weights within groups: twice that of concordant pairs, and that of all pairs."""
        if self.has_overlaps:
            (low, pairs), (high, _) = (end.within for end in self.extremes())
            return (low + high) / 2, pairs
        u2, pairs = 0, 0
        for part in self.parts:
            found = view_of(part).concordance
            u2 += _exact_sum(found.u2)
            # The type of twice U also holds the number of pairs.
            negatives, positives = (of.astype(found.u2.dtype) for of in found[2:4])
            pairs += _exact_sum(positives * negatives)
        return u2, pairs

    @functools.cached_property
    def pooled(self) -> tuple[Any, Any]:
        """Exact weights over all rows: twice that of concordant pairs, and that of all pairs."""
        if self.has_overlaps:
            (low, pairs), (high, _) = (end.pooled for end in self.extremes())
            return (low + high) / 2, pairs
        u2, pairs = 0, 0
        for part in self.parts:
            found = view_of(part).concordance
            # From 2**32 rows on, 64 bits may not hold the sums.
            n_rows = int(part.n_negatives.sum() + part.n_positives.sum())
            if view_of(part).is_weighted or n_rows < 1 << 32:
                u2 += _exact_sum(view_of(part).sums_among_all.u2[1])
            else:
                u2 += _exact_sum(view_of(part.regroup(None)).concordance.u2)
            pairs += found.negatives.sum().item() * found.positives.sum().item()
        return u2, pairs

    @property
    def pooled_auc(self) -> float:
        """AUC over all rows together; NaN without pairs."""
        u2, pairs = self.pooled
        return share_of(u2, 2 * pairs)

    @functools.cached_property
    def has_cross_pairs(self) -> bool:
        """True if a pair has a positive and a negative in different groups."""
        return any(
            ((part.n_positives > 0) & (part.n_negatives.sum() > part.n_negatives)).any()
            for part in self.parts
        )

    @functools.cached_property
    def over_others(self) -> tuple[Floats, Floats]:
        """Twice Mann-Whitney's U of each group's rows against all other groups, and its maximum.

        Both arrays have shape (2, 2, n_groups): the class of the group's rows (0 for negatives),
        then the class of the other groups' rows.
        """
        if self.has_overlaps:
            (low, largest), (high, _) = (end.over_others for end in self.extremes())
            return _middle(low, high), largest
        sums = np.zeros((2, 2, 2, self.n_groups))
        for part, positions in zip(self.parts, self.positions, strict=True):
            found = view_of(part).concordance
            own = np.stack([found.negatives, found.positives]).astype(np.float64)
            sums[0][..., positions] += u2_over_others(part.cells).astype(np.float64)
            sums[1][..., positions] += 2.0 * own[:, None] * sum_of_others(own)
        return sums[0], sums[1]

    def cross_sums(self) -> tuple[Floats, Floats]:
        """Return twice the concordant pairs' weight, and all pairs' weight.

        Rows are the positives' groups; columns are the negatives' groups.
        """
        if self.has_overlaps:
            (low, pairs), (high, _) = (end.cross_sums() for end in self.extremes())
            return _middle(low, high), pairs
        if not self.is_within_folds:
            return _cross_sums(self.counts)
        u2, pairs = np.zeros((2, self.n_groups, self.n_groups))
        for part, positions in zip(self.parts, self.positions, strict=True):
            both = np.ix_(positions, positions)
            for total, of_part in zip((u2, pairs), _cross_sums(part), strict=True):
                total[both] += of_part
        return u2, pairs

    @functools.cached_property
    def cross_auc(self) -> Floats:
        """AUC of each group's positives (rows) against each group's negatives (columns)."""
        needed = 32 * self.n_groups**2
        usable = usable_memory()
        if needed > usable // 2:
            raise ValueError(
                f"the cross matrix of {self.n_groups:,} groups needs {needed / 2**30:,.3g} "
                f"GiB, more than half of the {usable / 2**30:,.3g} GiB of memory of this machine "
                "or container. Combine groups with counts.regroup(...), or use "
                "decomposition(), which needs no matrix."
            )
        u2, pairs = self.cross_sums()
        matrix = np.full_like(pairs, np.nan)
        np.divide(u2, 2.0 * pairs, out=matrix, where=pairs > 0)
        np.minimum(matrix, 1.0, out=matrix)
        np.fill_diagonal(matrix, self.auc)
        return matrix

    def _added(self, of_parts: list[NDArray[Any]]) -> NDArray[Any]:
        """Sum arrays over the parts; each has one value for each group in its part."""
        total = np.zeros(self.n_groups, np.result_type(*of_parts))
        for positions, values in zip(self.positions, of_parts, strict=True):
            total[positions] += values
        return total


def share_of(part: Any, whole: Any) -> float:
    """Return part / whole as a float of at most 1; NaN if the whole is 0."""
    # Rounding of weights may give slightly more than 1.
    return min(float(part / whole), 1.0) if whole else float("nan")


def _middle(low: NDArray[Any], high: NDArray[Any]) -> Floats:
    return low.astype(np.float64) / 2.0 + high.astype(np.float64) / 2.0


def _cross_sums(counts: ScoreCounts) -> tuple[Floats, Floats]:
    found = view_of(counts).concordance
    pairs = np.outer(found.positives, found.negatives.astype(np.float64))
    return cross_concordance(counts.cells), pairs


def _exact_sum(values: NDArray[Any]) -> Any:
    """Sum of values: a Python integer for integers, a float for floats."""
    if values.dtype.kind != "u":
        return values.sum(keepdims=True).item()
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


class Ranks(NamedTuple):
    """Each cell's rank among the rows in all groups: weights of negatives, then of positives.

    The weight of all rows `under` the cell's score and `up_to` it, shape (2, n_cells), and the
    `total` weight, shape (2,). They are unsigned integers if all rows have weight 1.
    """

    under: NDArray[Any]
    up_to: NDArray[Any]
    total: NDArray[Any]


def ranks_among_all(cells: Cells) -> Ranks:
    # Counts of at most 2**40 rows are also exact as floats.
    dtype: Any = np.uint64 if cells.weights is None else np.float64
    tie, _ = number_cells(cells.scores)
    upto = [np.append(0.0, np.cumsum(np.bincount(tie, of))) for of in cells.amounts]
    sums = np.array(upto).astype(dtype)
    return Ranks(sums.take(tie, axis=1), sums.take(tie + 1, axis=1), sums[:, -1])


def u2_over_all(cells: Cells) -> NDArray[Any]:
    """Return twice Mann-Whitney's U of each group's rows against the rows in all groups.

    U is the weight of the pairs in which the group's row has the higher score; ties count one half.
    """
    ranks = ranks_among_all(cells)
    dtype: Any = ranks.total.dtype.type
    if dtype is np.uint64 and float(ranks.total.max()) ** 2 >= 2.0**62:
        dtype = object  # Python's integers do not overflow.
    below = (ranks.under + ranks.up_to).astype(dtype, copy=False)
    u2 = np.zeros((2, 2, cells.starts.size - 1), dtype)
    for i, amounts in enumerate(cells.amounts):
        pairs = amounts.astype(dtype) * below
        u2[i] = np.add.reduceat(pairs, cells.starts[:-1], axis=1, dtype=dtype)
    return u2


def u2_over_others(cells: Cells) -> NDArray[Any]:
    """Return twice Mann-Whitney's U of each group's rows against the rows in all other groups."""
    u2, own = u2_over_all(cells), concordance(cells)
    negatives, positives, within = (amounts.astype(u2.dtype) for amounts in own[2:])
    u2[1, 0] -= within
    u2[0, 1] -= 2 * negatives * positives - within
    # Over ordered pairs of rows of one class, U sums to half the number of pairs.
    u2[0, 0] -= negatives**2
    u2[1, 1] -= positives**2
    if cells.weights is not None:
        for weight in (own.negatives, own.positives):
            # The total minus a group with nearly all of the weight would lose precision.
            if weight.size and weight.max() > 0.999 * weight.sum():
                g = int(weight.argmax())
                u2[:, :, g] = _u2_of(cells, g)
    return u2


def _u2_of(cells: Cells, g: int) -> Floats:
    """Return one group's `u2_over_others`, from sums over the other groups only."""
    mine = np.zeros(cells.scores.size, np.bool_)
    mine[cells.starts[g] : cells.starts[g + 1]] = True
    order = np.flatnonzero(~mine)
    order = order[np.argsort(cells.scores[order], kind="stable")]
    ordered, own = cells.scores[order], cells.scores[mine]
    places = [np.searchsorted(ordered, own, side) for side in ("left", "right")]
    u2 = np.zeros((2, 2))
    for j, amounts in enumerate(cells.amounts):
        sums = np.append(0.0, np.cumsum(amounts[order]))
        below = sums[places[0]] + sums[places[1]]
        for i, of_own in enumerate(cells.amounts):
            u2[i, j] = (of_own[mine] * below).sum()
    return u2


def sum_of_others(values: Floats) -> Floats:
    """Sum over all other groups (last axis), computed without subtraction from the total."""
    before, after = np.zeros_like(values), np.zeros_like(values)
    np.cumsum(values[..., :-1], axis=-1, out=before[..., 1:])
    np.cumsum(values[..., :0:-1], axis=-1, out=after[..., -2::-1])
    return before + after


# Files with the memory limit of a Linux container in bytes: of control groups version 2 and 1
_LIMITS = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"


def usable_memory() -> int:
    """Return the bytes of memory of the machine (8 GiB if unknown), or of a smaller container."""
    try:
        found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):
        found = [8 << 30]
    for name in _LIMITS:
        with contextlib.suppress(OSError, ValueError):  # "max" means no limit.
            found.append(int(Path(name).read_text(encoding="ascii")))
    return min(found)
