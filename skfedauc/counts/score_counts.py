"""`ScoreCounts`: mergeable score counts by group, from which every AUC is computed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input
from skfedauc._output_file import check_target, write_whole
from skfedauc.counts import regrouping
from skfedauc.counts.counting import count_rows
from skfedauc.counts.disclosure import Disclosure
from skfedauc.counts.joining import within
from skfedauc.counts.levels import at_level
from skfedauc.counts.merging import Part, check_iterable, merged_parts, wrong_part
from skfedauc.counts.origin import Origin
from skfedauc.counts.small_bins import check_protects, with_small_bins_joined
from skfedauc.counts.small_groups import (
    SmallGroups,
    ToldOfWithheld,
    check_small_groups,
    with_small_joined,
    without_small,
)
from skfedauc.counts.state import State, added, restored
from skfedauc.counts.tables import read_columns
from skfedauc.counts.view import CountsView

if TYPE_CHECKING:
    from skfedauc.counts.bins import Bins

# Held while counts get their identifier
_IDENTIFYING = threading.Lock()


class ScoreCounts(CountsView):
    """Score counts by group, from which every AUC over groups follows exactly.

    A `ScoreCounts` holds, for each group, the number of negatives and of positives at each distinct
    score. Score counts of disjoint rows can be added in any order, for any split of the rows.
    Without sample weights all counts are integers, so the result is identical to the last bit.

    A `ScoreCounts` is not anonymous. Where scores are distinct, as floats mostly are, a
    `ScoreCounts` gives back the group, the score and the class of every row. A `ScoreCounts` holds
    no features, no identifiers and no order of rows. `reduced` returns counts that disclose less:
    counts by ranges of scores, or a summary by group without scores.

    In addition to the counts, a `ScoreCounts` holds `n_missing`, `group_names`, `sources` and the
    class labels with `pos_label`. Score counts with different positive labels cannot be merged.
    ``==`` compares only the counts. All attributes are read-only.

    Build a `ScoreCounts` with `from_predictions` (rows in memory), `from_table` (rows in a database
    or a lazy table), `from_batches` (rows in files or other parts) or `from_counts`, and compute
    AUCs with `GroupAUC`. `save` writes a `ScoreCounts` to a Parquet file, which discloses as much
    as the `ScoreCounts`, and `load` reads the file. `to_bytes` and `from_bytes` do the same for
    messages.

    See Also
    --------
    GroupAUC : Every AUC, gap and table computed from a `ScoreCounts`.

    Notes
    -----
    A `ScoreCounts` takes 16 bytes per distinct score and group, and about 50 bytes per group for
    its label and counts. A weighted `ScoreCounts` takes 48 bytes per distinct score and group,
    because it also holds the sums of the weights and of the squared weights. The ranges of a binned
    `ScoreCounts` take another 16 bytes per bin and group.

    The AUC is a count of pairs [1]_. The AUC can therefore be computed exactly from counts by
    score, for any split of the rows, but not from the AUCs of the parts.

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

    __slots__ = ()

    def __init__(self) -> None:
        raise TypeError(
            "ScoreCounts has no public constructor: use ScoreCounts.from_predictions(y_true, "
            "y_score, groups=...) or ScoreCounts.from_counts(group, score, n_negatives, "
            "n_positives)."
        )

    @classmethod
    def _of(cls, state: State) -> ScoreCounts:
        counts = object.__new__(cls)
        for array in (*state.arrays, state.labels):
            if array is not None:
                array.flags.writeable = False
        object.__setattr__(counts, "_state", state)
        return counts

    @classmethod
    def _restored(cls, *pickled: Any) -> ScoreCounts:
        """Make score counts from the arguments of `state.restored`, which checks them."""
        return cls._of(restored(*pickled))

    def _with(self, state: State) -> ScoreCounts:
        """Return score counts with this state; these counts if they have it."""
        return self if state is self._state else ScoreCounts._of(state)

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
        disclosure: Disclosure = "exact",
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
            If all rows have one other label, they count as negatives. Merging the counts with other
            counts then detects a misspelled `pos_label`; a warning is issued at once if `pos_label`
            differs from the label only in case or spaces.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label (None, NaN, NaT or NA in one of the columns).
            "raise" raises a ValueError. "drop" leaves these rows out and counts them in
            `n_missing`. "group" uses the label ``"(missing)"`` in the columns that lack a label,
            whatever the type of the other labels.
        n_jobs : int, default=None
            Number of threads. None means 1 unless in a `joblib.parallel_config` context; -1 means
            all processors. The result does not depend on `n_jobs`. Several threads are faster from
            a few hundred thousand rows on.
        disclosure : "exact", "bins", "summary" or Bins, default="exact"
            What the counts disclose of the scores; see `reduced`. "exact" counts the rows of each
            distinct score, "bins" and `Bins` count the rows of each bin, and "summary" keeps sums
            by group.

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
        not the input. The bound holds for numpy arrays with integer labels and groups; text labels
        take more memory while they are encoded.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.2, 0.7], groups=["a", "a", "b"])
        ScoreCounts(2 groups, 3 rows: 2 positives and 1 negative, 2 distinct scores)
        """
        missing = _input.check_missing(missing)
        rows = _input.check_rows(y_true, y_score, groups, sample_weight, pos_label, missing=missing)
        state = count_rows(rows, n_jobs, _input.names_of(rows.labels, groups))
        return cls._of(at_level(state, disclosure))

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
            Counts of the rows.
        """
        return cls._of(count_rows(rows, n_jobs, group_names))

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
        score_low: Any = None,
        score_high: Any = None,
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
        score_low, score_high : array-like of shape (n_counts,), default=None
            Lowest and highest score that the rows may have, for counts by ranges of scores. `score`
            lies in the range and represents it. The counts have no `bins`; `reduced` converts them
            to counts by `Bins` whose bins hold the ranges. None means that `score` is the score of
            the rows.
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
        counts = {"score": score, "n_negatives": n_negatives, "n_positives": n_positives}
        sums = {
            "weight_negatives": weight_negatives,
            "weight_positives": weight_positives,
            "squared_weight_negatives": squared_weight_negatives,
            "squared_weight_positives": squared_weight_positives,
        }
        ends = {"score_low": score_low, "score_high": score_high}
        columns = read_columns(group, counts, sums, ends, group_columns)
        cells, codes, labels, names, ranges = columns
        return cls._of(added(cells, codes, labels, Origin(group_names=names), ranges))

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        label: str,
        score: str,
        group: str | list[str] | None = None,
        weight: str | None = None,
        pos_label: Any = None,
        missing: _input.Missing = "raise",
        max_cells: int = 10_000_000,
        disclosure: Disclosure = "exact",
    ) -> ScoreCounts:
        """Count the rows of a table where they are: in memory, in a lazy table or in a database.

        Databases and lazy tables count their rows by one query, ``SELECT group, score, label,
        COUNT(*) ... GROUP BY group, score, label``, and only the counts are transferred. Labels,
        scores, groups and weights have to be as in `from_predictions`.

        Parameters
        ----------
        table : DataFrame, lazy table or relation
            Any table that narwhals reads: pandas, polars (also lazy), pyarrow, DuckDB, PySpark
            (also Spark Connect), Dask, SQLFrame, or Ibis, which reads PostgreSQL and other
            databases.
        label, score : str
            Columns of the labels and of the scores.
        group : str or list of str, default=None
            Column or columns of the groups.
        weight : str, default=None
            Column of the sample weights.
        pos_label, missing : object
            As in `from_predictions`.
        max_cells : int, default=10_000_000
            Largest number of combinations of group, score and label that a database or lazy table
            returns. Each combination takes about 100 bytes of memory while it is read. Rows that
            are in memory already are not limited.
        disclosure : "exact", "bins", "summary" or Bins, default="exact"
            What the counts disclose of the scores; see `reduced`. With "bins" and `Bins`, a
            database or lazy table groups its rows by bin and returns counts by bin, if the scores
            are float64 or float32. It groups scores of other types, such as integers and decimals,
            by their value, and this function bins them. "summary" also groups the rows by score.

        Returns
        -------
        ScoreCounts
            Equal to the counts that `from_predictions` returns for the same rows, except for
            rounding with weights.

        Raises
        ------
        TypeError
            If narwhals does not read `table`, or a column is not as `from_predictions` requires.
        ValueError
            If a column is absent, or is not as `from_predictions` requires. If the query returns
            more than `max_cells` rows: count bins, round the scores in the table to a few digits,
            or count the rows by partition and merge the counts.

        See Also
        --------
        ScoreCounts.explain_table : The query as text.
        ScoreCounts.from_batches : Counts of batches, files or partitions.

        Notes
        -----
        Dates with a time zone get the time zone in which the engine returns them. The type
        ``TIMESTAMP`` of Spark is such a date. Engines bin scores exactly, by `Bins.expression`. The
        engine returns scores that this expression does not bin, such as missing scores, and this
        function bins or refuses them.

        Examples
        --------
        >>> import polars as pl
        >>> from skfedauc import ScoreCounts
        >>> table = pl.LazyFrame(
        ...     {"ill": [0, 1, 1], "risk": [0.2, 0.2, 0.7], "site": ["va", "va", "oslo"]}
        ... )
        >>> ScoreCounts.from_table(table, label="ill", score="risk", group="site")
        ScoreCounts(2 groups, 3 rows: 2 positives and 1 negative, 2 distinct scores)
        """
        # The import is local because it imports narwhals, which counting arrays does not need.
        from skfedauc.counts.columns import Columns
        from skfedauc.counts.queries import count_table

        columns = Columns(label, score, group, weight)
        return cls._of(count_table(table, columns, pos_label, missing, max_cells, disclosure))

    @staticmethod
    def explain_table(
        table: Any,
        *,
        label: str,
        score: str,
        group: str | list[str] | None = None,
        weight: str | None = None,
        max_cells: int = 10_000_000,
        disclosure: Disclosure = "exact",
    ) -> str:
        """Return the query by which `from_table` counts the rows of a lazy table, as text.

        Parameters
        ----------
        table : lazy table or relation
            A table of `from_table` whose rows are not in memory.
        label, score, group, weight : object
            As in `from_table`.
        max_cells : int, default=10_000_000
            As in `from_table`; the query has a limit of one more.
        disclosure : object, default="exact"
            As in `from_table`.

        Returns
        -------
        str
            The SQL for DuckDB, Ibis and SQLFrame; the plan of the engine for polars, PySpark and
            Dask.

        Raises
        ------
        TypeError
            If narwhals does not read `table`, or its rows are in memory.
        ValueError
            If a column is absent.

        Examples
        --------
        >>> import polars as pl
        >>> from skfedauc import ScoreCounts
        >>> table = pl.LazyFrame({"ill": [0, 1, 1], "risk": [0.2, 0.2, 0.7], "age": [50, 40, 70]})
        >>> "AGGREGATE" in ScoreCounts.explain_table(table, label="ill", score="risk")
        True
        """
        from skfedauc.counts.columns import Columns
        from skfedauc.counts.queries import explain_query

        columns = Columns(label, score, group, weight)
        return explain_query(table, columns, max_cells, disclosure)

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
        disclosure: Disclosure = "exact",
        max_cells: int | None = None,
    ) -> ScoreCounts:
        """Count rows in batches, for data that does not fit in memory.

        Batches are counted by joblib workers with the active joblib backend, also on other machines
        (Dask, Ray), and merged as results arrive. Memory holds the merged counts (up to three
        copies while merging) and about ``2 * n_jobs`` batches.

        Parameters
        ----------
        batches : iterable of tuples, DataFrames, paths or callables
            Tuples ``(y_true, y_score[, groups[, sample_weight]])`` of arrays as in
            `from_predictions`; or pandas, polars or pyarrow DataFrames, or pyarrow record
            batches, with the columns named below. Such batches are read one after the other, and
            sent to the workers. Workers themselves read paths (str or os.PathLike) of Parquet and
            CSV files (``.parquet``, ``.csv``, ``.csv.gz``; needs ``skfedauc[files]``), and call
            callables without arguments, which return a tuple or a DataFrame. Of files, they read
            only the columns named below.
        label, score : str, default=None
            Columns of the labels and of the scores. Required for DataFrames and files.
        group, weight, pos_label, missing : object
            As in `from_table`.
        n_jobs : int, default=None
            Number of workers. None means 1 unless in a `joblib.parallel_config` context; -1 means
            all processors. Worker processes are faster only if counting a batch takes longer than
            sending it; ``joblib.parallel_config("threading")`` sends nothing.
        verbose : int, default=0
            If 1 or more, print the number of batches counted and the elapsed time to stderr after
            each round of batches. A round is ``2 * n_jobs`` batches, or one with a single worker.
        checkpoint : str or os.PathLike, default=None
            File that keeps the counts if a batch fails, a worker is killed or the process ends. To
            resume, call again with the same batches in the same order: batches that the file covers
            are not counted again. `from_batches` removes the file once all batches are counted.
            Needs pyarrow; group labels may be of all kinds except members of an `enum.Enum`.
        disclosure : "exact", "bins", "summary" or Bins, default="exact"
            What the counts disclose of the scores; see `reduced`. Each batch is reduced to bins
            where it is counted, so that neither workers nor the checkpoint file keep its scores. A
            "summary" is made after all batches are counted; the file then holds exact counts.
        max_cells : int, default=None
            Largest number of cells of the result, for streams without end: the counts then take at
            most 32 bytes per cell (64 with weights). While batches are counted, memory also holds
            about 65,000 cells, or the cells of one round of batches. Cells are joined as by
            `reduced`, whose notes have the widths of the certain intervals. The joins depend on the
            order of the batches, on `n_jobs` and on the checkpoint; the intervals hold the exact
            values in any case.

        Returns
        -------
        ScoreCounts
            Equal to the counts of all rows counted at once, except for rounding with weights and
            for joined cells.

        Raises
        ------
        ValueError, TypeError
            If there is no batch, or a batch is not as described; the message names the batch and
            the reason. If the checkpoint file is damaged, or was written for other batches or
            arguments. If `max_cells` is less than the number of groups, or is given for a summary.
        RuntimeError
            If reading a batch fails for another reason, or a worker is killed; the message names
            the batches that are not counted.
        OSError
            If the checkpoint file cannot be written.
        ImportError
            If `checkpoint` is given and pyarrow is not installed.

        Notes
        -----
        *CSV files.* Columns are separated by commas, semicolons or tabs. Group labels are text, and
        only empty cells are missing values. If all labels of a column are integers that end in
        ".0", as programs write integers beside empty cells, the labels are read without it.

        *Checkpoints.* The file has the format that `save` writes. Different batches are refused.
        Batches of rows are read again, and compared by a checksum of their scores, or of the bins
        of their scores. A path is not read again: the absolute path and the size of the file are
        compared. A callable is compared by its name and its arguments; it must be a function of a
        module or a ``functools.partial`` of one. Writing the file takes at most about a tenth of
        the run time.

        *Killed workers.* With ``joblib.parallel_config("multiprocessing")`` joblib waits forever
        for a worker that was killed; its default backend, "loky", does not. With
        ``joblib.parallel_config("dask")`` Dask counts the batch of a killed worker again, and
        joblib waits forever if the batch kills every worker.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> def days():
        ...     yield [0, 1], [0.1, 0.4], ["va", "oslo"]
        ...     yield [1, 0], [0.8, 0.3], ["va", "oslo"]
        >>> ScoreCounts.from_batches(days())
        ScoreCounts(2 groups, 4 rows: 2 positives and 2 negatives, 4 distinct scores)
        >>> ScoreCounts.from_batches(days(), max_cells=3)
        ScoreCounts(2 groups, 4 rows: 2 positives and 2 negatives, 3 ranges)

        Let two workers read one file each at a time::

            files = sorted(Path("scores").glob("*.parquet"))
            ScoreCounts.from_batches(files, label="ill", score="risk", group="site", n_jobs=2)
        """
        # The import is local because it imports joblib, which counting rows does not need.
        from skfedauc.counts.batches import count_batches
        from skfedauc.counts.columns import Columns

        state = count_batches(
            batches,
            Columns(label, score, group, weight),
            pos_label=pos_label,
            missing=missing,
            n_jobs=n_jobs,
            verbose=verbose,
            checkpoint=checkpoint,
            disclosure=disclosure,
            max_cells=max_cells,
        )
        _input.warn_if_misspelled(state.origin.classes)
        return cls._of(state)

    # Merging -----------------------------------------------------------------------

    @classmethod
    def merge(
        cls,
        parts: Iterable[ScoreCounts | str | os.PathLike[str]],
        *,
        repeated: Literal["raise", "allow"] = "raise",
        disclosure: Disclosure | None = None,
    ) -> ScoreCounts:
        """Add up any number of score counts and files of score counts.

        Parameters
        ----------
        parts : iterable of ScoreCounts, str or os.PathLike
            At least one `ScoreCounts` or path of a file that `save` wrote; either all have groups
            or none has groups. Groups with equal labels are merged. Files are read one at a time.
        repeated : {"raise", "allow"}, default="raise"
            How to treat a counting that was saved or sent, and is part of several `parts`. "raise"
            raises a ValueError, because its rows may count several times, and warns of different
            countings that may be of the same rows. "allow" adds up all parts.
        disclosure : "exact", "bins", "summary", Bins or None, default=None
            What the result discloses of the scores. Each part is reduced to this level first; see
            `reduced`. None requires that all parts have the same level and bins. Summaries can only
            be merged if no group is in two of them. With `Bins`, ranges that are no bins of one
            rule, such as those of `min_count`, are widened to the unions of the bins that they
            overlap, so that certain intervals remain certain. The `bins` of the result are None if
            such a range has several bins. With None, such ranges can be merged with any bins and
            with each other. Merging protects no rows: each part discloses what it disclosed before,
            and the result can have small counts if a part was reduced without `min_count`.

        Returns
        -------
        ScoreCounts
            The counts of all rows. The order of `parts` has no effect, except for rounding with
            weights.

        Raises
        ------
        ValueError
            If there are no score counts, or only some of them have groups. If the score counts have
            different `pos_label`. If their rows have more than two class labels, or if neither of
            two labels is `pos_label`. If their group columns have the same names in another order,
            or only some names in common. If a counting is repeated, or a file is damaged. If
            `disclosure` is None and some score counts disclose more than others or have other
            `Bins`, or if a part cannot be reduced to `disclosure`. The message names the parts.
        TypeError
            If an item is not a `ScoreCounts` or a path, or labels are of different kinds.
        OSError
            If a file cannot be read.

        Warns
        -----
        UserWarning
            If the group columns have other names; the result has no names then. If two countings
            that were saved or sent have the same source name, or have equal counts and not both a
            name: a site may have counted its rows again.

        Notes
        -----
        Score counts from files are merged in rounds. Memory holds the merged counts (up to three
        copies while merging) and the files that were read since the last round, whose size is at
        most that of the merged counts and of one file.

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
        check_iterable(parts, ScoreCounts)
        return cls._merged(cls._named(parts), repeated, disclosure)

    @classmethod
    def merge_named(
        cls,
        parts: Iterable[tuple[str, ScoreCounts]],
        *,
        repeated: Literal["raise", "allow"] = "raise",
        disclosure: Disclosure | None = None,
    ) -> ScoreCounts:
        """Add up score counts with names, which errors and warnings show.

        Parameters
        ----------
        parts : iterable of (str, ScoreCounts)
            At least one pair of a name and score counts, which may be read one at a time.
        repeated, disclosure : object
            As in `merge`.

        Returns
        -------
        ScoreCounts
            The counts of all rows.

        Raises
        ------
        ValueError, TypeError
            As in `merge`.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> shops = {
        ...     "north": ScoreCounts.from_predictions([0, 1], [0.1, 0.6]),
        ...     "south": ScoreCounts.from_predictions([0, 1], [0.3, 0.4]),
        ... }
        >>> ScoreCounts.merge_named(shops.items())
        ScoreCounts(no groups, 4 rows: 2 positives and 2 negatives, 4 distinct scores)
        """
        is_kept = isinstance(parts, Collection)
        named = ((name, counts, is_kept) for name, counts in parts)
        return cls._merged(named, repeated, disclosure)

    @classmethod
    def _named(cls, parts: Iterable[Any]) -> Iterator[tuple[str, ScoreCounts, bool]]:
        """Yield score counts, with their names in messages and whether the caller keeps them."""
        is_kept = isinstance(parts, Sequence)
        for number, part in enumerate(parts):
            if isinstance(part, str | os.PathLike):
                yield repr(os.fspath(part)), cls.load(part), False
            elif isinstance(part, ScoreCounts):
                yield f"part {number}", part, is_kept
            else:
                raise wrong_part(part)

    @classmethod
    def _merged(
        cls,
        parts: Iterable[tuple[str, ScoreCounts, bool]],
        repeated: str,
        disclosure: Disclosure | None,
    ) -> ScoreCounts:
        """Add up score counts; a single part is returned as it is."""
        last: list[ScoreCounts] = []

        def part_of(name: str, counts: ScoreCounts, is_kept: bool) -> Part:
            last[:] = [counts]
            return Part(name, counts._state, is_kept)

        state = merged_parts((part_of(*part) for part in parts), repeated, disclosure)
        return ScoreCounts._with(last[0], state)

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
        return self._with(regrouping.regrouped(self._state, to))

    def map_scores(self, function: Callable[[NDArray[np.float64]], Any]) -> ScoreCounts:
        """Replace the scores by a function of the scores; equal results are counted together.

        Round scores before counts leave a site, or replace them by the decisions at a threshold.
        The function does not have to be monotonic.

        Parameters
        ----------
        function : callable
            Called once with the sorted distinct scores, a float64 array of shape (n_scores,).
            Returns a finite number for each score: an array-like of shape (n_scores,).

        Returns
        -------
        ScoreCounts
            Counts of the same rows with the new scores.

        Raises
        ------
        ValueError, TypeError
            If `function` is not callable, or does not return one finite number for each score.
        DisclosureError
            If the counts are binned or a summary: the function of a range of scores is unknown.

        Examples
        --------
        >>> import numpy as np
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.21, 0.24, 0.68])
        >>> counts.map_scores(lambda score: np.round(score, 1)).to_counts()
           score  n_negatives  n_positives
        0    0.2            1            1
        1    0.7            0            1
        """
        return self._with(regrouping.with_scores(self._state, function))

    def select_groups(self, numbers: ArrayLike) -> ScoreCounts:
        """Select groups by their positions in `groups`.

        Parameters
        ----------
        numbers : array-like of int, shape (n_selected,)
            Positions in `groups`, in increasing order.

        Returns
        -------
        ScoreCounts
            Counts of the rows of these groups. `n_missing` does not change. Score counts without
            groups are returned unchanged.

        Raises
        ------
        ValueError
            If the positions are not increasing.
        """
        if self.labels is None:
            return self
        chosen = regrouping.positions_of(numbers, len(self))
        return self._with(regrouping.with_groups(self._state, chosen))

    def without_groups(self) -> ScoreCounts:
        """Combine all groups into one without a label.

        Returns
        -------
        ScoreCounts
            Counts of the same rows, with `groups` None.
        """
        return self._with(regrouping.without_groups(self._state))

    def with_n_missing(self, n_missing: int) -> ScoreCounts:
        """Return the counts with another number of rows left out.

        Parameters
        ----------
        n_missing : int
            Number of rows left out because they have no group label.

        Returns
        -------
        ScoreCounts
            The same counts, with this `n_missing`.
        """
        origin = self.origin._replace(n_missing=n_missing)
        return self._with(self._state._replace(origin=origin))

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
        return self._with(self._state.over(exponent))

    # Levels of disclosure ----------------------------------------------------------

    def reduced(
        self,
        disclosure: Disclosure | None = None,
        *,
        min_count: int | None = None,
        small_groups: SmallGroups | None = None,
        tell_withheld: ToldOfWithheld | None = None,
        max_cells: int | None = None,
    ) -> ScoreCounts:
        """Return counts that disclose less of the scores, or have fewer cells.

        Parameters
        ----------
        disclosure : "exact", "bins", "summary" or Bins, default=None
            "exact" returns exact counts unchanged. None keeps the level, and needs `min_count` or
            `max_cells`. "bins" is ``Bins.of_probabilities()``. `Bins` counts the rows of
            each bin; binned counts can be reduced to `Bins` whose bins are unions of theirs.
            "summary" keeps no scores: for each group it holds the numbers of rows, the number of
            concordant pairs, and the sums from which the variance of the AUC follows. With sample
            weights it also holds their sums.
        min_count : int, default=None
            Smallest number of rows of a class, other than 0, that the result discloses. In each
            group and class, neighboring bins are joined until each count is 0 or at least
            `min_count`. Groups with fewer rows of a class, but more than 0, are treated by
            `small_groups`. A smaller `n_missing` is withheld. Needs bins or a summary.
        small_groups : {"withhold", "join"}, default=None
            How to treat groups with fewer rows of a class than `min_count`; needs `min_count`.
            "withhold" or None leaves them out. "join" makes them the group ``"(missing)"``, which
            is withheld if it is too small as well. This is also the label of rows without a group
            label (``missing="group"``): "join" refuses counts that have such a group and other
            small groups, and a merge adds both to one group. `withheld` describes the withheld
            groups.
        tell_withheld : {"number", "rows", "labels"}, default=None
            What `withheld` discloses of the groups; needs `min_count`. "number" is the number of
            groups. "rows" or None adds the number of their rows of each class, if it is at least
            `min_count` times the number of groups; a smaller number is replaced by the upper limit
            that this implies. "labels" also adds the labels.
        max_cells : int, default=None
            Largest number of cells of the result. Neighboring cells of a group are joined where
            this widens the certain interval of the AUC least. The ends of their ranges are exact
            scores if the counts are exact.

        Returns
        -------
        ScoreCounts
            Counts of the same rows, except for withheld groups.

        Raises
        ------
        DisclosureError
            If the counts disclose less than `disclosure`. If their bins do not lie within the bins
            of `disclosure`. If `min_count` is given for scores without bins, or `max_cells` for a
            summary.
        ValueError
            If a score is outside the scores of the bins. If `small_groups` or `tell_withheld` is
            given without `min_count`. If small groups are to be joined and there is a group
            ``"(missing)"`` already. If `max_cells` is less than the number of groups.
        TypeError
            If `disclosure` is no text and no `Bins`, or no argument is given.

        Notes
        -----
        The page "Choose what a site discloses" of the user guide describes what remains inferable
        at each level. ``skfedauc show`` describes what a file discloses.

        A summary gives exactly the same group AUCs as the original counts, with the same averages,
        gaps, intervals and tests of these AUCs. Summaries of binned counts also hold the lowest and
        the highest AUC that the bins permit. A summary does not determine results that compare rows
        of different groups, and these results raise a `DisclosureError`: the pooled AUC, cross
        AUCs, bias AUCs and ROC curves. Summaries can be merged if no group is in two of them.

        Apply `min_count` where the rows are, before counts are sent or merged, and once: two
        results from overlapping rows can differ by a single row.

        With `max_cells`, the result takes 32 bytes per cell (64 with weights). It holds ranges of
        scores even if no cells were joined. It can be merged with other such counts and reduced
        again, in any order: the certain intervals hold the exact values. For scores without ties,
        one reduction to 1,024 cells makes the certain interval of the pooled AUC about 6e-4 wide.
        The width for n cells is ``1,024 / n`` times this width. Repeated reductions widen the
        interval. See benchmarks/joining.md in the repository. `max_cells` alone protects no scores.

        Examples
        --------
        >>> from skfedauc import GroupAUC, ScoreCounts
        >>> counts = ScoreCounts.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"]
        ... )
        >>> summary = counts.reduced("summary")
        >>> summary
        ScoreCounts(2 groups, 4 rows: 2 positives and 2 negatives, summary by group)
        >>> GroupAUC(summary).average("macro")
        0.5

        No count below 3:

        >>> import numpy as np
        >>> rows = np.random.default_rng(0).random((200, 2))
        >>> counts = ScoreCounts.from_predictions(rows[:, 0] < rows[:, 1], rows[:, 1])
        >>> reduced = counts.reduced("bins", min_count=3)
        >>> n = np.concatenate([reduced.cells.negatives, reduced.cells.positives])
        >>> int(n[n > 0].min())
        3

        At most 50 cells, without bins:

        >>> counts.reduced(max_cells=50)
        ScoreCounts(no groups, 200 rows: 90 positives and 110 negatives, 50 ranges)
        """
        state = self._state
        check_small_groups(small_groups, tell_withheld, has_min_count=min_count is not None)
        if min_count is not None:
            min_count = _input.check_whole_number(min_count, "min_count")
            check_protects(state, disclosure)
            if small_groups == "join":
                state = with_small_joined(state, min_count)
            state = without_small(state, min_count, tell_withheld or "rows")
        if disclosure is not None or (min_count is None and max_cells is None):
            state = at_level(state, disclosure)
        if min_count is not None:
            state = with_small_bins_joined(state, min_count)
        return self._with(state if max_cells is None else within(state, max_cells))

    def extremes(self) -> tuple[ScoreCounts, ScoreCounts]:
        """Return exact counts with the lowest and with the highest AUCs that the ranges permit.

        The AUC of any set of positives over any set of negatives lies between its values in both
        results. In the first result, the positives of each cell have the lowest score of the cell's
        range, and the negatives have the highest score. In the second result, the reverse holds.
        Exact counts are returned unchanged.

        Returns
        -------
        lowest, highest : ScoreCounts
            Exact counts of the same rows. For a summary, summaries of exact counts.
        """
        low, high = self._state.extremes
        return self._with(low), self._with(high)

    # Secure sums -------------------------------------------------------------------

    def to_vector(
        self, bins: Bins, groups: Any = None, *, max_count: int | None = None
    ) -> NDArray[np.int64]:
        """Return the counts on a grid that several sites agree on, for a secure sum.

        The sum of the vectors of all sites has the counts of all rows, and `from_vector` reads it.
        A server that receives only the sum, for instance because the sites add masks that cancel,
        does not see the counts of a site.

        Parameters
        ----------
        bins : Bins
            Bins of the scores, with a fixed number of bins.
        groups : array-like of labels, default=None
            Labels of the groups of all sites, agreed beforehand, in any order. None for rows
            without groups.
        max_count : int, default=None
            Largest count that is allowed. For sums modulo ``2**k`` over n sites, pass
            ``(2**(k - 1) - 1) // n``: `from_vector` then reads the right sum. None allows all
            counts.

        Returns
        -------
        ndarray of int64, shape (2 * n_groups * n_bins,)
            Numbers of negatives, then of positives. In each half, groups are sorted by their
            labels, and the bins of each group by their numbers. Bins without rows have the
            count 0.

        Raises
        ------
        ValueError
            If the counts have a group that is not among `groups`, which the message names. If rows
            have weights, or groups were withheld. If `bins` has no fixed number of bins, or a count
            is above `max_count`. If the counts cannot be reduced to `bins`.
        TypeError
            If an argument is not as described.

        See Also
        --------
        skfedauc.flower.secure_reply : Vectors in Flower's protocol SecAgg+.

        Notes
        -----
        The vector does not hold `n_missing`, `group_names`, class labels and `sources`.

        Examples
        --------
        >>> from skfedauc import Bins, ScoreCounts
        >>> bins = Bins.at([0.5])
        >>> oslo = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.4, 0.7], groups=["oslo"] * 3)
        >>> oslo.to_vector(bins, ["lima", "oslo"])
        array([0, 0, 1, 0, 0, 0, 1, 1])
        """
        from skfedauc.counts.vectors import Grid, check_max_count, vector_of_state

        return vector_of_state(self._state, Grid(bins, groups), check_max_count(max_count))

    @classmethod
    def from_vector(
        cls, vector: Any, bins: Bins, groups: Any = None, *, modulus: int | None = None
    ) -> ScoreCounts:
        """Make score counts from a sum of vectors of several sites.

        Parameters
        ----------
        vector : array-like of shape (2 * n_groups * n_bins,)
            Sum of the vectors that `to_vector` returned. Floats must be whole numbers.
        bins, groups : object
            As in `to_vector`.
        modulus : int, default=None
            Power of two modulo which the sum was computed, such as 2**32. Sums of at least half of
            the modulus are refused, because they overflowed, or contain masks that were not
            removed. None for the sum itself.

        Returns
        -------
        ScoreCounts
            Binned counts of the rows of all sites, equal to ``ScoreCounts.merge([counts.reduced(
            bins) for counts in sites])``. Groups without rows are left out.

        Raises
        ------
        ValueError
            If the vector has another length, or an entry is not a whole number, is negative or is
            too large.
        TypeError
            If an argument is not as described.

        Examples
        --------
        >>> import numpy as np
        >>> from skfedauc import Bins, ScoreCounts
        >>> bins, groups = Bins.at([0.3, 0.5]), ["lima", "oslo"]
        >>> oslo = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.4, 0.7], groups=["oslo"] * 3)
        >>> lima = ScoreCounts.from_predictions([0, 0, 1], [0.1, 0.4, 0.4], groups=["lima"] * 3)
        >>> mask = np.random.default_rng(0).integers(2**32, size=12)
        >>> sent = [
        ...     (oslo.to_vector(bins, groups) + mask) % 2**32,
        ...     (lima.to_vector(bins, groups) - mask) % 2**32,
        ... ]
        >>> counts = ScoreCounts.from_vector(sum(sent), bins, groups, modulus=2**32)
        >>> counts == oslo.reduced(bins) + lima.reduced(bins)
        True
        """
        from skfedauc.counts.vectors import Grid, state_of_vector

        return cls._of(state_of_vector(vector, Grid(bins, groups), modulus))

    # Files -------------------------------------------------------------------------

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        source: str | None = None,
        disclosure: Disclosure | None = None,
    ) -> None:
        """Write the counts to a file.

        The file is a Parquet file with the columns of `to_counts`, which polars, DuckDB, Spark and
        other tools can read. `ScoreCounts.load` checks the file and makes the same counts again.
        A failed write leaves an existing file as it was.

        Parameters
        ----------
        path : str or os.PathLike
            File to write; the customary ending is ``.skfa``. An existing file is replaced.
        source : str, default=None
            Name of the counting, such as the name of a hospital. The file keeps the name beside
            the identifier of the counting; messages and `sources` show the name.
        disclosure : "exact", "bins", "summary", Bins or None, default=None
            What the file discloses of the scores; see `reduced`. None writes the counts as they
            are. The file records the level and the bins, and ``skfedauc show`` prints both.

        Raises
        ------
        OSError
            If the file cannot be written.
        TypeError
            If groups are labeled by members of an `enum.Enum`, or by dates whose time zone has no
            name.
        ValueError
            If `source` is given, and the counts are merged from several countings that were saved
            before. If the counts cannot be reduced to `disclosure`.
        ImportError
            If pyarrow is not installed: ``pip install "skfedauc[files]"``.

        Notes
        -----
        When counts are first saved or converted to bytes, they get a random identifier of 128 bits,
        which the file and this object keep. `merge` and ``+`` refuse to add the same counting
        twice. Merged counts keep the identifiers of all their parts.

        The file of a summary has one row per group. After the group columns it has `n_negatives`,
        `n_positives`, with sample weights the columns of weights of `to_counts`, and `u2`, which is
        twice the Mann-Whitney U statistic: the AUC is ``u2 / (2 * n_negatives * n_positives)``, or
        ``u2 / (2 * weight_negatives * weight_positives)`` with weights. Six columns of sums
        determine the variance of the AUC. If the scores were binned, columns with the prefixes
        ``lowest_`` and ``highest_`` hold `u2` and the sums for the lowest and for the highest AUC
        that the bins permit.

        Examples
        --------
        >>> import os, tempfile
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.2, 0.7], groups=list("aab"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "monday.skfa")
        ...     counts.save(path, source="monday")
        ...     ScoreCounts.load(path) == counts
        True
        """
        check_target(path)
        write_whole(path, self.to_bytes(source=source, disclosure=disclosure))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ScoreCounts:
        """Read counts from a file that `save` wrote.

        Parameters
        ----------
        path : str or os.PathLike
            The file.

        Returns
        -------
        ScoreCounts
            The counts that were saved, with their `n_missing`, `group_names`, class labels and
            `sources`.

        Raises
        ------
        ValueError
            If the file is damaged, was not written by `save`, or was written by a newer version of
            skfedauc. The message names the file and the place.
        OSError
            If the file cannot be read.
        TypeError
            If `path` is bytes, which `from_bytes` reads.
        ImportError
            If pyarrow is not installed: ``pip install "skfedauc[files]"``.

        Notes
        -----
        Loading a file does not run code from the file, so files may come from strangers. A checksum
        detects damage but does not show who wrote the file.
        """
        from skfedauc.counts.parquet import read_file

        return cls._read(read_file(path), repr(os.fspath(path)))

    def to_bytes(self, *, source: str | None = None, disclosure: Disclosure | None = None) -> bytes:
        """Return the content of the file that `save` writes.

        Parameters
        ----------
        source, disclosure : object
            As in `save`.

        Returns
        -------
        bytes
            Content of a Parquet file, for a message or a column of a database.

        Raises
        ------
        TypeError, ValueError, ImportError
            As in `save`.
        """
        from skfedauc.counts.files import content_of

        with _IDENTIFYING:
            state = self._state._replace(origin=self.origin.saved(source))
            object.__setattr__(self, "_state", state)
        return content_of(state if disclosure is None else at_level(state, disclosure))

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> ScoreCounts:
        """Read counts from the bytes that `to_bytes` returned.

        Parameters
        ----------
        data : bytes-like
            Content of a file that `save` wrote, or result of `to_bytes`.

        Returns
        -------
        ScoreCounts
            The counts that were converted to bytes.

        Raises
        ------
        ValueError, ImportError
            As in `load`.
        TypeError
            If `data` is not bytes-like.
        """
        from skfedauc.counts.parquet import check_bytes

        check_bytes(data)
        return cls._read(data, "data")

    @classmethod
    def _read(cls, data: Any, name: str) -> ScoreCounts:
        from skfedauc.counts.files import read_content

        state, checkpoint = read_content(data, name)
        if checkpoint is not None:
            raise ValueError(
                f"{name} is a checkpoint of from_batches, which has counted only a part of the "
                "rows; pass it as checkpoint= with the same batches."
            )
        content, labels, origin, ranges = state
        return cls._restored(content, labels, origin, None, ranges, name)

    # Object ------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        _, arguments = self._state.__reduce__()
        return ScoreCounts._restored, arguments

    def __getstate__(self) -> dict[str, bytes]:
        """Return the state that skops stores; pickles and copies are made by `__reduce__`."""
        return {"content": self.to_bytes()}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        if hasattr(self, "_state"):
            raise AttributeError("ScoreCounts is immutable; its state cannot be set.")
        counts: ScoreCounts = ScoreCounts.from_bytes(state["content"])
        object.__setattr__(self, "_state", counts._state)
