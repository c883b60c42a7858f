"""`ScoreCounts`: mergeable score counts by group, from which every AUC is computed."""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input, _words
from skfedauc import _kernel as kernel
from skfedauc._kernel import (
    Cells,
    Concordance,
    add_cells,
    compact_counts,
    concordance,
    count_rows,
    merge_cells,
)
from skfedauc.counts.integrity import check_state, check_weight_sums, checksum_of

if TYPE_CHECKING:
    import pandas as pd

# Limit on the rows of a class, so that products and sums of counts fit in 64-bit integers.
_MOST_ROWS = 1 << 40
# From this many rows on, warn if the compiled kernel is not available.
_MANY_ROWS = 10_000_000


class Origin(NamedTuple):
    """Metadata of the rows of a `ScoreCounts`, in addition to their counts.

    Attributes
    ----------
    n_missing : int
        Number of rows left out because they have no group label.
    group_names : tuple of str
        Names of the columns that the groups come from. Empty if the names are unknown, or differ
        between merged score counts.
    classes : Classes
        Class labels of the rows. Empty if they are unknown, as for score counts made from counts.
    """

    n_missing: int = 0
    group_names: tuple[str, ...] = ()
    classes: _input.Classes = _input.Classes()

    @classmethod
    def merged(cls, origins: list[Origin]) -> Origin:
        """Merge the metadata of several score counts.

        Raises
        ------
        ValueError
            If their class labels are incompatible.
        """
        # Different names merge to no names, so that the order of merging does not matter.
        names = {origin.group_names for origin in origins}
        return cls(
            sum(origin.n_missing for origin in origins),
            names.pop() if len(names) == 1 else (),
            _input.Classes.merged(origin.classes for origin in origins),
        )


class ScoreCounts:
    """Score counts by group, from which every AUC over groups follows exactly.

    A `ScoreCounts` holds, for each group, the number of negatives and of positives at each distinct
    score. Score counts of disjoint rows can be added in any order, for any split of the rows.
    Without sample weights all counts are integers, so the result is identical to the last bit.

    A `ScoreCounts` is not anonymous. Where scores are distinct, as floats mostly are, a
    `ScoreCounts` gives back the group, the score and the class of every row. It holds no features,
    no identifiers and no order of rows.

    In addition to the counts a `ScoreCounts` carries `n_missing`, `group_names` and the class
    labels with `pos_label`. Score counts with different positive labels cannot be merged. ``==``
    compares only the counts.

    Build it with `from_predictions` or `from_counts`; read it with `GroupAUC`.

    Attributes
    ----------
    groups : tuple or None
        Sorted labels of the groups; None if the rows came without groups.
    n_positives, n_negatives : ndarray of int64, shape (n_groups,)
        Number of rows of each class by group, in the order of `groups` (a single number if there
        are no groups). Rows of weight 0 are not counted.
    n_missing : int
        Number of rows left out because they have no group label (``missing="drop"``).
    group_names : tuple of str
        Names of the columns that the groups come from, such as the name of a Series. Empty if the
        columns have no names.

    See Also
    --------
    GroupAUC : Every AUC, gap and table computed from a `ScoreCounts`.

    Notes
    -----
    A `ScoreCounts` takes 16 bytes per distinct score and group, and about 50 bytes per group for
    its label and counts. With weights it takes 48 bytes per distinct score and group, because it
    also carries the sums of the weights and of the squared weights.

    The AUC is a count of pairs [1]_. It can therefore be computed exactly from counts by score, for
    any split of the rows, but not from the AUCs of the parts.

    References
    ----------
    .. [1] Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a
       receiver operating characteristic (ROC) curve. Radiology 143(1).
       https://doi.org/10.1148/radiology.143.1.7063747

    Examples
    --------
    >>> from skfedauc import ScoreCounts, GroupAUC
    >>> monday = ScoreCounts.from_predictions(
    ...     [0, 1, 0, 1], [0.1, 0.4, 0.3, 0.9], groups=["va", "va", "oslo", "oslo"]
    ... )
    >>> tuesday = ScoreCounts.from_predictions([0, 1], [0.8, 0.7], groups=["va", "va"])
    >>> monday + tuesday
    ScoreCounts(2 groups, 6 rows: 3 positives and 3 negatives, 6 distinct scores)
    >>> GroupAUC(monday + tuesday).pooled
    0.7777777777777778
    """

    __slots__ = ("__dict__", "_cells", "_labels", "_origin")

    _cells: Cells
    _labels: NDArray[Any] | None
    _origin: Origin

    def __init__(self) -> None:
        raise TypeError(
            "ScoreCounts has no public constructor: use ScoreCounts.from_predictions(y_true, "
            "y_score, groups=...) or ScoreCounts.from_counts(group, score, n_negatives, "
            "n_positives)."
        )

    @classmethod
    def _of(
        cls, cells: Cells, labels: NDArray[Any] | None, origin: Origin | None = None
    ) -> ScoreCounts:
        counts = object.__new__(cls)
        for array in (*cells, labels):
            if array is not None:
                array.flags.writeable = False
        object.__setattr__(counts, "_cells", cells)
        object.__setattr__(counts, "_labels", labels)
        object.__setattr__(counts, "_origin", Origin() if origin is None else origin)
        return counts

    # Building ----------------------------------------------------------------------

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        groups: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        missing: _input.Missing = "raise",
        n_jobs: int | None = None,
    ) -> ScoreCounts:
        """Count the rows of a set of predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes. The rows may all belong to one class.
        y_score : array-like of shape (n_rows,)
            Finite scores; a higher score means more likely positive. Scores are stored as float64.
            Decimals, fractions and large integers are refused if two different numbers might
            become equal as float64, in this call or in another call whose counts are merged.
            Decimals of up to 15 digits and integers up to 2**53 are always accepted.
        groups : array-like of shape (n_rows,) or (n_rows, n_columns), default=None
            Group label of each row: booleans, integers, strings, dates, periods, intervals
            (of `pandas.cut`), members of an `enum.Enum`, or categories of these. Floats that are
            whole numbers are converted to integers. With several columns each combination is a
            group, labeled by a tuple.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more. Rows of weight 0 are left out.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
            If all rows have one other label, they count as negatives. A misspelled `pos_label` is
            then detected when the counts are merged with others; a warning is issued at once if
            `pos_label` differs from the label only in case or spaces.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label (None, NaN, NaT or NA in one of the columns).
            "raise" raises a ValueError. "drop" leaves these rows out and counts them in
            `n_missing`. "group" uses the label ``"(missing)"`` in the columns that lack a label,
            whatever the type of the other labels.
        n_jobs : int, default=None
            Number of threads. None means 1 unless in a `joblib.parallel_config` context; -1 means
            all processors. The result does not depend on it. Several threads are faster from a
            few hundred thousand rows on.

        Returns
        -------
        ScoreCounts

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described; the message says what to pass instead.

        Notes
        -----
        Peak memory is at most about 45 bytes per row (90 with weights), including the counts but
        not the input. This holds for numpy arrays with integer labels and groups; text labels take
        more memory while they are encoded.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.2, 0.7], groups=["a", "a", "b"])
        ScoreCounts(2 groups, 3 rows: 2 positives and 1 negative, 2 distinct scores)
        """
        missing = _input.check_missing(missing)
        rows = _input.check_rows(y_true, y_score, groups, sample_weight, pos_label, missing=missing)
        return cls.of_rows(rows, n_jobs, _input.names_of(rows.labels, groups))

    @classmethod
    def of_rows(
        cls, rows: _input.Rows, n_jobs: int | None = None, group_names: tuple[str, ...] = ()
    ) -> ScoreCounts:
        """Count rows that were validated before.

        Parameters
        ----------
        rows : Rows
            Validated rows.
        n_jobs : int, default=None
            Number of threads, as in `from_predictions`.
        group_names : tuple of str, default=()
            Names of the columns that the groups come from.

        Returns
        -------
        ScoreCounts
            The resulting counts.
        """
        n_jobs = _input.check_n_jobs(n_jobs)
        n_groups = 1 if rows.labels is None else rows.labels.size
        if rows.scores.size >= _MANY_ROWS and kernel.name() == "numpy":
            _warn_of_slow_kernel()
        cells = count_rows(rows.scores, rows.positive, rows.codes, n_groups, rows.weights, n_jobs)
        return cls._of(cells, rows.labels, Origin(rows.n_missing, group_names, rows.classes))

    @classmethod
    def from_counts(
        cls,
        /,
        group: Any = None,
        score: Any = None,
        n_negatives: Any = None,
        n_positives: Any = None,
        weight_negatives: Any = None,
        weight_positives: Any = None,
        squared_weight_negatives: Any = None,
        squared_weight_positives: Any = None,
        **group_columns: Any,
    ) -> ScoreCounts:
        """Make score counts from counts by group and score, such as a database query returns.

        The counts are the result of ``SELECT grp, score, SUM(1 - label), SUM(label) ... GROUP BY
        grp, score``. Rows may come in any order, and a group and score may be repeated.
        ``from_counts(**table)`` reads the table that `to_counts` returns.

        Parameters
        ----------
        group : array-like of shape (n_counts,) or (n_counts, n_columns), or None
            Group labels as in `from_predictions`; None for counts without groups.
        score : array-like of shape (n_counts,)
            Finite scores.
        n_negatives, n_positives : array-like of int, shape (n_counts,)
            Numbers of rows, 0 or more.
        weight_negatives, weight_positives : array-like of shape (n_counts,), default=None
            Sums of the sample weights, ``SUM(w * (1 - label))`` and ``SUM(w * label)``. None
            means that each row has weight 1.
        squared_weight_negatives, squared_weight_positives : array-like of shape (n_counts,), \
default=None
            Sums of the squared weights; required if the sums of the weights are given.
        **group_columns : array-like of shape (n_counts,)
            Columns of group labels by name, as an alternative to `group`. Reports show these
            names.

        Returns
        -------
        ScoreCounts

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described; the message says what to pass instead.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> ScoreCounts.from_counts(["a", "a"], [0.1, 0.9], [30, 2], [1, 17])
        ScoreCounts(1 group, 50 rows: 18 positives and 32 negatives, 2 distinct scores)
        >>> table = {"site": ["va", "va"], "sex": [1, 2], "score": [0.1, 0.9]}
        >>> ScoreCounts.from_counts(**table, n_negatives=[3, 2], n_positives=[1, 7]).groups
        (('va', 1), ('va', 2))
        """
        given = {"score": score, "n_negatives": n_negatives, "n_positives": n_positives}
        sums = {
            "weight_negatives": weight_negatives,
            "weight_positives": weight_positives,
            "squared_weight_negatives": squared_weight_negatives,
            "squared_weight_positives": squared_weight_positives,
        }
        _refuse_whole_table(group, given, group_columns)
        _check_columns_of_counts(group, given, sums, group_columns)
        _input.check_row_order({"group": group, **group_columns, **given, **sums})
        scores = _input.check_scores(score, "score") + 0.0
        negatives = _input.check_counts(n_negatives, "n_negatives")
        positives = _input.check_counts(n_positives, "n_positives")
        weights = None
        if weight_negatives is not None:
            checked = [_input.check_sums(of_rows, name) for name, of_rows in sums.items()]
            for name, of_rows in zip(sums, checked, strict=True):
                _input.check_length(name, of_rows.size, "score", scores.size)
            weights = np.stack(checked)
        for name, size in (("n_negatives", negatives.size), ("n_positives", positives.size)):
            _input.check_length(name, size, "score", scores.size)
        if weights is not None:
            check_weight_sums(weights, negatives, positives)
        codes, labels = None, None
        names: tuple[str, ...] = ()
        if group is not None or group_columns:
            codes, labels, names = _encode_group_columns(group, group_columns)
            _input.check_length("group", codes.size, "score", scores.size)
        kept = negatives + positives > 0
        if not kept.all():
            scores, negatives, positives = scores[kept], negatives[kept], positives[kept]
            weights = None if weights is None else weights[:, kept]
            if codes is not None and labels is not None:
                codes, labels = _input.drop_unused(codes[kept], labels)
        cells = Cells(np.zeros(0, np.int64), scores, negatives, positives, weights)
        return cls._added(cells, codes, labels, Origin(group_names=names))

    @classmethod
    def from_batches(
        cls,
        batches: Iterable[Any],
        *,
        label: str | None = None,
        score: str | None = None,
        group: str | list[str] | None = None,
        weight: str | None = None,
        pos_label: Any = None,
        missing: _input.Missing = "raise",
        n_jobs: int | None = None,
        verbose: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> ScoreCounts:
        """Count rows in batches, for data that does not fit in memory.

        Batches are read one after the other, counted by joblib workers with the active joblib
        backend, and merged as results arrive. Memory holds the merged counts (up to three copies
        while merging) and about ``2 * n_jobs`` batches.

        Parameters
        ----------
        batches : iterable of tuples or of DataFrames
            Tuples ``(y_true, y_score[, groups[, sample_weight]])`` of arrays as in
            `from_predictions`; or pandas, polars or pyarrow DataFrames, or pyarrow record
            batches, with the columns named below.
        label, score : str, default=None
            Columns of the labels and of the scores. Required for DataFrames.
        group : str or list of str, default=None
            Column or columns of the groups.
        weight : str, default=None
            Column of the sample weights.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        missing : {"raise", "drop", "group"}, default="raise"
            What to do with rows without a group label; see `from_predictions`.
        n_jobs : int, default=None
            Number of workers. None means 1 unless in a `joblib.parallel_config` context; -1 means
            all processors. Worker processes are faster only if counting a batch takes longer than
            sending it; ``joblib.parallel_config("threading")`` sends nothing. With
            ``joblib.parallel_config("multiprocessing")`` joblib waits forever for a worker that was
            killed; its default backend, "loky", does not.
        verbose : int, default=0
            If 1 or more, print the number of batches counted and the elapsed time to stderr after
            each round of batches. A round is ``2 * n_jobs`` batches, or one with a single worker.
        checkpoint : str or os.PathLike, default=None
            File that keeps the counts if a batch fails, a worker is killed or the process ends. To
            resume, call again with the same batches in the same order: batches that the file covers
            are read but not counted again. The file is removed once all batches are counted. It
            holds the content of a `ScoreCounts` as plain arrays; group labels may be of all kinds
            except members of an `enum.Enum`. Writing takes at most about a tenth of the time.

        Returns
        -------
        ScoreCounts
            Equal to the counts of all rows counted at once; with weights, up to rounding.

        Raises
        ------
        ValueError, TypeError
            If there is no batch, or a batch is not as described; the message names the batch and
            the reason. If the checkpoint file is damaged, or was written for other batches or
            arguments.
        RuntimeError
            If reading a batch fails for another reason, or a worker is killed; the message names
            the batches that are not counted.
        OSError
            If the checkpoint file cannot be written.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> def days():
        ...     yield [0, 1], [0.1, 0.4], ["va", "oslo"]
        ...     yield [1, 0], [0.8, 0.3], ["va", "oslo"]
        >>> ScoreCounts.from_batches(days())
        ScoreCounts(2 groups, 4 rows: 2 positives and 2 negatives, 4 distinct scores)
        """
        # Imported here because it imports joblib, which counting rows does not need.
        from skfedauc.counts.batches import Columns, check_columns, merged_batches, scores_of
        from skfedauc.counts.checkpoint import Checkpoint

        columns = Columns(label, score, group, weight)
        check_columns(columns)
        missing = _input.check_missing(missing)
        count = functools.partial(
            _count_batch, columns=columns, pos_label=pos_label, missing=missing
        )
        kept = None
        if checkpoint is not None:
            kept = Checkpoint(
                checkpoint,
                {**columns._asdict(), "pos_label": pos_label, "missing": missing},
                _restore,
                functools.partial(scores_of, columns=columns),
            )
        whole = merged_batches(
            batches, count, cls.merge, n_jobs=n_jobs, verbose=verbose, checkpoint=kept
        )
        _input.warn_if_misspelt(whole.origin.classes)
        return whole

    @classmethod
    def _added(
        cls,
        cells: Cells,
        codes: NDArray[np.intp] | None,
        labels: NDArray[Any] | None,
        origin: Origin | None = None,
    ) -> ScoreCounts:
        for name, counts in (
            ("negatives", cells.negatives),
            ("positives", cells.positives),
        ):
            _check_counts(counts, name)
        n_groups = 1 if labels is None else labels.size
        return cls._of(add_cells(cells, codes, n_groups), labels, origin)

    # Merging -----------------------------------------------------------------------

    @classmethod
    def merge(cls, parts: Iterable[ScoreCounts]) -> ScoreCounts:
        """Add up any number of score counts in one pass.

        Parameters
        ----------
        parts : iterable of ScoreCounts
            At least one; either all have groups or none has. Groups with equal labels are
            merged.

        Returns
        -------
        ScoreCounts
            The counts of all rows. The order does not matter; with weights, up to rounding.

        Raises
        ------
        ValueError
            If there are no score counts, or only some of them have groups. If they were counted
            with different `pos_label`. If their rows have more than two class labels, or two labels
            neither of which is `pos_label`.
        TypeError
            If an item is not a `ScoreCounts`, or labels are of different kinds.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> shops = [
        ...     ScoreCounts.from_predictions([0, 1], [0.1, 0.6], groups=[shop] * 2)
        ...     for shop in ["north", "south", "north"]
        ... ]
        >>> ScoreCounts.merge(shops)
        ScoreCounts(2 groups, 6 rows: 3 positives and 3 negatives, 2 distinct scores)
        """
        if isinstance(parts, ScoreCounts):
            raise TypeError("merge takes an iterable of score counts; got a single one.")
        parts = list(parts)
        for part in parts:
            if not isinstance(part, ScoreCounts):
                raise TypeError(
                    f"merge takes ScoreCounts objects; got one of type {type(part).__name__}."
                )
        if not parts:
            raise ValueError("merge needs at least one ScoreCounts; got none.")
        without = sum(part.labels is None for part in parts)
        if 0 < without < len(parts):
            raise ValueError(
                f"{without} of {len(parts)} score counts have no groups and the others have; "
                "name the groups of those without, for instance by "
                "counts.regroup({None: 'device 7'})."
            )
        if len(parts) == 1:
            return parts[0]
        cells = [part.cells for part in parts]
        if any(c.weights is not None for c in cells):
            cells = [c._replace(weights=_weights_of(c)) for c in cells]
        tables = [part.labels for part in parts if part.labels is not None]
        if tables:
            numbers, labels = _input.unite_labels(tables)
            n_groups = labels.size
        else:
            numbers, labels = [np.arange(len(part)) for part in parts], None
            n_groups = max(len(part) for part in parts)
        _check_counts([int(part.n_negatives.sum()) for part in parts], "negatives")
        _check_counts([int(part.n_positives.sum()) for part in parts], "positives")
        origin = Origin.merged([part.origin for part in parts])
        return cls._of(merge_cells(cells, numbers, n_groups), labels, origin)

    def __add__(self, other: ScoreCounts) -> ScoreCounts:
        if not isinstance(other, ScoreCounts):
            return NotImplemented
        return ScoreCounts.merge([self, other])

    def __radd__(self, other: Any) -> ScoreCounts:
        """Support the built-in ``sum``, which starts with 0."""
        if isinstance(other, int) and other == 0:
            return self
        return NotImplemented

    def regroup(self, to: Mapping[Any, Any] | Callable[[Any], Any]) -> ScoreCounts:
        """Rename groups, or combine several groups into one.

        Parameters
        ----------
        to : mapping or callable
            Maps each old label to its new label. The old label of a `ScoreCounts` without groups is
            None.

        Returns
        -------
        ScoreCounts
            The same rows under the new labels.

        Raises
        ------
        ValueError
            If the mapping lacks a group.
        TypeError
            If `to` is neither a mapping nor callable, or returns an invalid label.

        Examples
        --------
        Combine the age bands of each sex:

        >>> from skfedauc import ScoreCounts
        >>> both = ScoreCounts.from_predictions(
        ...     [0, 1, 1], [0.2, 0.4, 0.7], groups=[("f", "<50"), ("f", "50+"), ("m", "<50")]
        ... )
        >>> both.regroup(lambda label: label[0]).groups
        ('f', 'm')

        Name the group of one device:

        >>> device = ScoreCounts.from_predictions([0, 1], [0.2, 0.4])
        >>> device.regroup({None: "device 7"}).groups
        ('device 7',)
        """
        old = (None,) if self.groups is None else self.groups
        numbers, labels = _input.map_labels(old, to, "regroup")
        codes = numbers[self.cells.groups]
        # The new labels may not belong to the named columns.
        origin = self.origin._replace(group_names=())
        if codes.size == 0:
            return ScoreCounts._of(self.cells, labels[:0], origin)
        return ScoreCounts._added(self.cells, codes, labels, origin)

    def select_groups(self, groups: NDArray[np.intp]) -> ScoreCounts:
        """Select groups by their numbers.

        Parameters
        ----------
        groups : ndarray of intp
            Numbers of the groups, in increasing order.

        Returns
        -------
        ScoreCounts
            The resulting counts.
        """
        if self.labels is None:
            return self
        starts, scores, negatives, positives, weights = self.cells
        sizes = np.diff(starts)[groups]
        # Offset of each group: its first cell before selection minus its first cell after selection
        new_starts = np.append(0, np.cumsum(sizes))
        cell = np.arange(new_starts[-1]) + np.repeat(starts[groups] - new_starts[:-1], sizes)
        cells = Cells(
            new_starts,
            scores[cell],
            compact_counts(negatives[cell]),
            compact_counts(positives[cell]),
            None if weights is None else weights[:, cell],
        )
        labels = _input.some_labels(self.labels, groups)
        return ScoreCounts._of(cells, labels, self.origin)

    def drop_missing(self, groups: NDArray[np.bool_]) -> ScoreCounts:
        """Drop groups of rows that turned out to have no label, and count these rows as missing.

        Parameters
        ----------
        groups : ndarray of bool, shape (n_groups,)
            Whether to drop each group.

        Returns
        -------
        ScoreCounts
            The resulting counts.
        """
        if not groups.any():
            return self
        n_dropped = int((self.n_positives + self.n_negatives)[groups].sum())
        kept = self.select_groups(np.flatnonzero(~groups))
        return kept.with_n_missing(self.n_missing + n_dropped)

    def with_n_missing(self, n_missing: int) -> ScoreCounts:
        """Return the same counts with another number of rows left out.

        Parameters
        ----------
        n_missing : int
            Number of rows left out because they have no group label.

        Returns
        -------
        ScoreCounts
            The resulting counts.
        """
        origin = self.origin._replace(n_missing=n_missing)
        return ScoreCounts._of(self.cells, self.labels, origin)

    @property
    def weight_exponent(self) -> int:
        """Binary exponent of the mean weight; 0 if the mean is between 1e-12 and 1e12."""
        weights = self.cells.weights
        total = 0.0 if weights is None else float(weights[:2].sum())
        if total == 0.0:
            return 0
        mean = total / int(self.n_positives.sum() + self.n_negatives.sum())
        return 0 if 1e-12 <= mean <= 1e12 else int(np.frexp(mean)[1])

    def with_weights_over(self, exponent: int) -> ScoreCounts:
        """Divide the weights by a power of two, which is exact.

        Parameters
        ----------
        exponent : int
            Exponent of the power of two.

        Returns
        -------
        ScoreCounts
            The resulting counts.
        """
        weights = self.cells.weights
        if exponent == 0 or weights is None:
            return self
        powers = exponent * np.array([[1], [1], [2], [2]])
        cells = self.cells._replace(weights=np.ldexp(weights, -powers))
        return ScoreCounts._of(cells, self.labels, self.origin)

    def with_scores(self, scores: NDArray[np.float64]) -> ScoreCounts:
        """Replace the scores; cells of a group that then have the same score are added up.

        Parameters
        ----------
        scores : ndarray of float64, shape (n_cells,)
            New score of each cell.

        Returns
        -------
        ScoreCounts
            The resulting counts.
        """
        codes = None if self.labels is None else self.cells.groups
        cells = self.cells._replace(scores=scores)
        return ScoreCounts._added(cells, codes, self.labels, self.origin)

    def without_groups(self) -> ScoreCounts:
        """Combine all groups into one without a label.

        Returns
        -------
        ScoreCounts
            The resulting counts.
        """
        if self.labels is None:
            return self
        return ScoreCounts._added(self.cells, None, None, self.origin._replace(group_names=()))

    # Reading -----------------------------------------------------------------------

    def to_counts(self) -> pd.DataFrame:
        """Return the counts as a table, which `from_counts` can read.

        Returns
        -------
        pandas.DataFrame
            One row per group and distinct score, sorted. Group columns come first. They are named
            by `group_names`; without names, `group`, or `group_1`, `group_2` and so on if labels
            are tuples. A `ScoreCounts` without groups has no group column. The columns `score`,
            `n_negatives` and `n_positives` follow. If rows have weights, the columns
            `weight_negatives`, `weight_positives`, `squared_weight_negatives` and
            `squared_weight_positives` hold the sums of the weights and of the squared weights.

        Notes
        -----
        ``from_counts(**table)`` makes equal counts, except for `n_missing`. Labels keep their
        type: convert labels that a file format does not support, such as intervals in Parquet, to
        text.

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
        import pandas as pd

        _, scores, negatives, positives, weights = self.cells
        # Unsigned integers of 32 bits wrap around silently in the reader's sums and differences.
        counts = {
            "score": scores,
            "n_negatives": negatives.astype(np.int64),
            "n_positives": positives.astype(np.int64),
        }
        if weights is not None:
            counts |= dict(zip(_WEIGHT_COLUMNS, weights, strict=True))
        labels: dict[str, NDArray[Any]] = {}
        if self.labels is not None:
            columns = _input.columns_of_labels(self.labels)
            names = self.group_names
            # Empty counts have no labels to tell the number of columns.
            if not names or (len(names) != len(columns) and len(self)) or set(names) & set(counts):
                names = _default_names(len(columns))
            of_cell = self.cells.groups
            if len(self) == 0:
                columns = [self.labels] * len(names)
            labels = {name: column[of_cell] for name, column in zip(names, columns, strict=True)}
        return pd.DataFrame({**labels, **counts})

    @property
    def cells(self) -> Cells:
        """Counts of each group and distinct score, as read-only arrays."""
        return self._cells

    @property
    def labels(self) -> NDArray[Any] | None:
        """Sorted labels of the groups as an array; None if the rows came without groups."""
        return self._labels

    @property
    def origin(self) -> Origin:
        """Metadata of the rows: rows left out, names of the group columns, class labels."""
        return self._origin

    @functools.cached_property
    def groups(self) -> tuple[Any, ...] | None:
        """Sorted labels of the groups; None if the rows came without groups."""
        if self.labels is None:
            return None
        return tuple(self.labels.tolist())

    @property
    def n_positives(self) -> NDArray[np.int64]:
        """Number of positives by group; an array of shape (n_groups,)."""
        return self.concordance.n_positives

    @property
    def n_negatives(self) -> NDArray[np.int64]:
        """Number of negatives by group; an array of shape (n_groups,)."""
        return self.concordance.n_negatives

    @property
    def n_missing(self) -> int:
        """Number of rows left out because they have no group label."""
        return self.origin.n_missing

    @property
    def group_names(self) -> tuple[str, ...]:
        """Names of the columns that the groups come from; empty if they have none."""
        return self.origin.group_names

    @functools.cached_property
    def concordance(self) -> Concordance:
        """Concordant pairs by group."""
        found = concordance(self.cells)
        for array in found:
            array.flags.writeable = False
        return found

    @property
    def kind_of_labels(self) -> Any:
        """Common kind of the labels, which merging requires; None if there are no labels."""
        return "no groups" if self.labels is None else _input.kind_of(self.labels)

    @property
    def n_cells(self) -> int:
        """Number of distinct scores, summed over groups."""
        return self.cells.scores.size

    def __len__(self) -> int:
        """Number of groups; 1 for rows without groups, 0 if there are no rows."""
        return self.cells.starts.size - 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreCounts):
            return NotImplemented
        kinds = {p.kind_of_labels for p in (self, other)}
        if len(kinds) > 1:
            return False  # the label True must not equal the label 1
        mine = (*self.cells, self.labels)
        yours = (*other.cells, other.labels)
        return all(
            (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))
            for a, b in zip(mine, yours, strict=True)
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"ScoreCounts is immutable; {name} cannot be set.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"ScoreCounts is immutable; {name} cannot be deleted.")

    def __reduce__(self) -> tuple[Any, ...]:
        checksum = checksum_of(self.cells, self.labels, self.origin)
        return _restore, (self.cells, self.labels, self.origin, checksum)

    def __repr__(self) -> str:
        positives, negatives = int(self.n_positives.sum()), int(self.n_negatives.sum())
        distinct = np.unique(self.cells.scores).size
        groups = "no groups" if self.labels is None else _words.counted(len(self), "group")
        weighted = ", weighted" if self.cells.weights is not None else ""
        counted = _words.counted
        return (
            f"ScoreCounts({groups}, {counted(positives + negatives, 'row')}: "
            f"{counted(positives, 'positive')} and {counted(negatives, 'negative')}, "
            f"{counted(distinct, 'distinct score')}{weighted}{left_out(self.n_missing)})"
        )


_WEIGHT_COLUMNS = (
    "weight_negatives",
    "weight_positives",
    "squared_weight_negatives",
    "squared_weight_positives",
)


def _default_names(n_columns: int) -> tuple[str, ...]:
    """Default names of unnamed group columns."""
    if n_columns == 1:
        return ("group",)
    return tuple(f"group_{number}" for number in range(1, n_columns + 1))


def _check_columns_of_counts(
    group: Any, given: Mapping[str, Any], sums: Mapping[str, Any], group_columns: Mapping[str, Any]
) -> None:
    """Refuse missing, superfluous and probably misspelled columns."""
    known = ["group", *given, *sums]
    for name in group_columns:
        near = difflib.get_close_matches(name, known[1:], n=1, cutoff=0.8)
        if near:
            raise TypeError(
                f"from_counts has no column {_words.shortened(name)}: is it "
                f"{_words.shortened(near[0])}? A column of group labels "
                "needs a name that is less like it."
            )
    absent = [name for name, column in given.items() if column is None]
    if absent:
        raise TypeError(f"from_counts needs the column {', '.join(absent)}; got none.")
    if group is not None and group_columns:
        raise TypeError(
            f"from_counts takes group or columns of labels by name ({', '.join(group_columns)}), "
            "not both."
        )
    absent = [name for name, column in sums.items() if column is None]
    if 0 < len(absent) < len(sums):
        raise TypeError(
            f"counts of weighted rows need the sums of weights and of their squares; "
            f"{', '.join(absent)} are missing."
        )


def _refuse_whole_table(
    group: Any, given: Mapping[str, Any], group_columns: Mapping[str, Any]
) -> None:
    """Refuse a whole table passed as `group`; its columns must be passed by name."""
    names = getattr(group, "column_names", getattr(group, "columns", group))
    is_table = isinstance(group, Mapping) or names is not group
    if is_table and not group_columns and all(column is None for column in given.values()):
        kind = type(group).__name__
        is_mapping = isinstance(group, Mapping) or hasattr(group, "keys")
        unpacked = "**table" if is_mapping else "**table.to_pandas()"
        raise TypeError(
            f"from_counts takes columns by name, and got a {kind} as the column of the groups; "
            f"pass its columns, ScoreCounts.from_counts({unpacked})."
        )


def _encode_group_columns(
    group: Any, group_columns: Mapping[str, Any]
) -> tuple[NDArray[np.intp], NDArray[Any], tuple[str, ...]]:
    """Group numbers, group labels and the names of the group columns."""
    if group is not None:
        codes, labels = _input.encode_groups(group, "group")
        names = _input.names_of(labels, group)
    else:
        codes, labels = _input.encode_columns(group_columns)
        names = tuple(group_columns)
        _input.check_text(names, "the name of a column of groups")
    if names == ("",):
        names = ()
    return codes, labels, () if names == _default_names(len(names)) else names


@functools.cache
def _warn_of_slow_kernel() -> None:
    _input.warn(
        "skfedauc was installed without its compiled part and counts rows in numpy, several times "
        "slower. Install it where there is a C++ compiler, or from a wheel for this platform; "
        "skfedauc.show_versions() tells which kernel is in use.",
        RuntimeWarning,
    )


def _check_counts(counts: ArrayLike, name: str) -> None:
    total = float(np.sum(counts, dtype=np.float64))
    if total > _MOST_ROWS:
        raise ValueError(
            f"{total:.3g} {name} are more than a ScoreCounts can count exactly (2**40)."
        )


def _count_batch(batch: Any, columns: Any, pos_label: Any, missing: _input.Missing) -> ScoreCounts:
    from skfedauc.counts.batches import arguments_of

    arguments = arguments_of(batch, columns)
    rows = _input.check_rows(**arguments, pos_label=pos_label, missing=missing, warn_labels=False)
    names = _input.names_of(rows.labels, arguments.get("groups"))
    return ScoreCounts.of_rows(rows, group_names=names)


def _weights_of(cells: Cells) -> NDArray[np.float64]:
    """Sums of weights and of squared weights by class; rows without weights have weight 1."""
    if cells.weights is not None:
        return cells.weights
    counts = np.stack([cells.negatives, cells.positives]).astype(np.float64)
    return np.concatenate([counts, counts])


def left_out(n_missing: int) -> str:
    """Phrase with the number of rows left out because they have no group label."""
    if not n_missing:
        return ""
    return f", {_words.counted(n_missing, 'row')} without a group label left out"


def _restore(
    cells: Cells,
    labels: NDArray[Any] | None,
    origin: tuple[Any, ...] = (),
    checksum: int | None = None,
) -> ScoreCounts:
    """Restore pickled counts with read-only arrays.

    Raises
    ------
    ValueError
        If the counts are damaged: it differs from the pickled one, or no rows can produce it.
    """
    cells, known = Cells(*cells), Origin(*origin)
    check_state(cells, labels, known, checksum)
    known = known._replace(classes=_input.Classes(*known.classes))
    return ScoreCounts._of(cells, labels, known)
