"""`ScoreCounts`: mergeable score counts by group, from which every AUC is computed."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input, _words
from skfedauc import _kernel as kernel
from skfedauc._kernel import (
    Cells,
    Concordance,
    compact_counts,
    concordance,
    count_rows,
)
from skfedauc._output_file import check_target, write_whole
from skfedauc.counts.disclosure import (
    Disclosure,
    DisclosureError,
    bins_of,
    cells_for,
    check_disclosure,
    check_protects,
    needs_scores,
    reduced_cells,
)
from skfedauc.counts.integrity import check_n_rows, check_state, checksum_of
from skfedauc.counts.joining import join_nearest, join_small
from skfedauc.counts.merging import Part, merged_parts
from skfedauc.counts.moments import ClassRows, OwnMoments, own_moments, rows_by_class
from skfedauc.counts.origin import Origin, Source, left_out
from skfedauc.counts.ranges import (
    Ranges,
    add_with_ranges,
    extremes_of,
    merge_with_ranges,
    n_distinct,
)
from skfedauc.counts.summary import (
    Summary,
    arrays_of,
    check_exponent,
    merged_summaries,
    pair_sums,
)
from skfedauc.counts.tables import read_columns, table_of
from skfedauc.counts.withheld import (
    SmallGroups,
    ToldOfWithheld,
    Withheld,
    check_can_be_joined,
    check_small_groups,
    is_small,
    joined_label,
    withheld_of,
)

if TYPE_CHECKING:
    import pandas as pd

    from skfedauc.counts.bins import Bins

# From this many rows on, warn if the compiled kernel is not available.
_MANY_ROWS = 10_000_000
# Held while counts get their identifier
_IDENTIFYING = threading.Lock()


class ScoreCounts:
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
    ``==`` compares only the counts.

    Build a `ScoreCounts` with `from_predictions` (rows in memory), `from_table` (rows in a database
    or a lazy table), `from_batches` (rows in files or other parts) or `from_counts`, and compute
    AUCs with `GroupAUC`.

    `save` writes a `ScoreCounts` to a file, and `load` reads the file; `to_bytes` and `from_bytes`
    do the same for messages. A file is a Parquet file with one row per group and distinct score,
    which polars, DuckDB and other tools can read. A file discloses as much as the `ScoreCounts`.
    `sources` identifies the countings that were saved, so that `merge` refuses to count the same
    rows twice.

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
    sources : tuple of Source
        Countings that were saved and are part of these counts, each with an `identifier` and a
        `name`. Empty for counts that were never saved.
    cells : Cells
        Numbers of negatives and positives at each distinct score of each group, as arrays.
    disclosure : {"exact", "bins", "summary"}
        What the counts disclose of the scores.
    ranges : ndarray of float64, shape (2, n_cells), or None
        Lowest and highest score of the rows of each cell; None if the counts are not binned.
    bins : Bins or None
        Rule by which the counts are binned.
    labels : ndarray of shape (n_groups,) or None
        `groups` as an array.

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

    __slots__ = ("__dict__", "_cells", "_labels", "_origin", "_ranges", "_summary")

    _cells: Cells | None
    _labels: NDArray[Any] | None
    _origin: Origin
    _ranges: Ranges | None
    _summary: Summary | None

    def __init__(self) -> None:
        raise TypeError(
            "ScoreCounts has no public constructor: use ScoreCounts.from_predictions(y_true, "
            "y_score, groups=...) or ScoreCounts.from_counts(group, score, n_negatives, "
            "n_positives)."
        )

    @classmethod
    def _of(
        cls,
        content: Cells | Summary,
        labels: NDArray[Any] | None,
        origin: Origin | None = None,
        ranges: Ranges | None = None,
    ) -> ScoreCounts:
        counts = object.__new__(cls)
        is_summary = isinstance(content, Summary)
        for array in (*arrays_of(content, ranges), labels):
            if array is not None:
                array.flags.writeable = False
        object.__setattr__(counts, "_cells", None if is_summary else content)
        object.__setattr__(counts, "_summary", content if is_summary else None)
        object.__setattr__(counts, "_labels", labels)
        object.__setattr__(counts, "_origin", Origin() if origin is None else origin)
        object.__setattr__(counts, "_ranges", ranges)
        return counts

    @classmethod
    def _restored(
        cls,
        content: tuple[Any, ...],
        labels: NDArray[Any] | None,
        origin: tuple[Any, ...] = (),
        checksum: int | None = None,
        ranges: Ranges | None = None,
        name: str = "the pickled ScoreCounts",
    ) -> ScoreCounts:
        """Make score counts from arrays that were pickled or saved in a file.

        Raises
        ------
        ValueError
            If no rows have these counts, or the checksum differs from the checksum in the pickle.
        """
        known = Origin(*origin)
        restored = content if isinstance(content, Summary) else Cells(*content)
        check_state(restored, labels, known, checksum, ranges, name)
        known = known._replace(classes=_input.Classes(*known.classes))
        return cls._of(restored, labels, known, ranges)

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
        counts = cls.of_rows(rows, n_jobs, _input.names_of(rows.labels, groups))
        return counts.reduced(disclosure)

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
        return cls._added(cells, codes, labels, Origin(group_names=names), ranges)

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
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `from_predictions`.
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
        ``TIMESTAMP`` of Spark is such a date.

        Engines bin scores exactly, by `Bins.expression`. The engine returns scores that this
        expression does not bin, such as missing scores, and this function bins or refuses them.

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
        # The imports are local because counting rows in arrays does not need narwhals.
        import narwhals.stable.v2 as nw

        from skfedauc.counts.columns import Columns, arguments_of, check_columns
        from skfedauc.counts.queries import count_in_table, frame_of

        columns = Columns(label, score, group, weight)
        check_columns(columns, required=("label", "score"))
        missing = _input.check_missing(missing)
        max_cells = _input.check_whole_number(max_cells, "max_cells")
        bins = bins_of(disclosure)
        frame = frame_of(table, columns)
        if isinstance(frame, nw.LazyFrame):
            counted = count_in_table(frame, columns, pos_label, missing, max_cells, bins)
            return cls._added(*counted).reduced(disclosure)
        arguments = arguments_of(nw.to_native(frame), columns, "table")
        rows = _input.check_rows(**arguments, pos_label=pos_label, missing=missing)
        names = _input.names_of(rows.labels, arguments.get("groups"))
        return cls.of_rows(rows, group_names=names).reduced(disclosure)

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
        label, score : str
            Columns of the labels and of the scores.
        group : str or list of str, default=None
            Column or columns of the groups.
        weight : str, default=None
            Column of the sample weights.
        max_cells : int, default=10_000_000
            Largest number of combinations of group, score and label; the query has a limit of one
            more.
        disclosure : "exact", "bins", "summary" or Bins, default="exact"
            What the counts disclose of the scores, as in `from_table`.

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
        import narwhals.stable.v2 as nw

        from skfedauc.counts.columns import Columns, check_columns
        from skfedauc.counts.queries import explain_query, frame_of

        columns = Columns(label, score, group, weight)
        check_columns(columns, required=("label", "score"))
        max_cells = _input.check_whole_number(max_cells, "max_cells")
        frame = frame_of(table, columns)
        if not isinstance(frame, nw.LazyFrame):
            raise TypeError(
                f"table is a {_input.kind_in_words(table)}, whose rows are in memory and are "
                "counted without a query; explain_table takes lazy tables and relations."
            )
        return explain_query(frame, columns, max_cells, bins_of(disclosure))

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
            CSV files (``.parquet``, ``.csv``, ``.csv.gz``; needs ``skfedauc[files]``), of which
            only the columns named below are read, and call callables without arguments, which
            return a tuple or a DataFrame. In CSV files, group labels are text, and only empty cells
            are missing values; if all labels of a column are integers that end in ".0", as programs
            write integers beside empty cells, the labels are read without it. Columns are separated
            by commas, semicolons or tabs.
        label, score : str, default=None
            Columns of the labels and of the scores. Required for DataFrames and files.
        group : str or list of str, default=None
            Column or columns of the groups.
        weight : str, default=None
            Column of the sample weights.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `from_predictions`.
        n_jobs : int, default=None
            Number of workers. None means 1 unless in a `joblib.parallel_config` context; -1 means
            all processors. Worker processes are faster only if counting a batch takes longer than
            sending it; ``joblib.parallel_config("threading")`` sends nothing. With
            ``joblib.parallel_config("multiprocessing")`` joblib waits forever for a worker that was
            killed; its default backend, "loky", does not. With ``joblib.parallel_config("dask")``
            Dask counts the batch of a killed worker again, and joblib waits forever if the batch
            kills every worker.
        verbose : int, default=0
            If 1 or more, print the number of batches counted and the elapsed time to stderr after
            each round of batches. A round is ``2 * n_jobs`` batches, or one with a single worker.
        checkpoint : str or os.PathLike, default=None
            File that keeps the counts if a batch fails, a worker is killed or the process ends. To
            resume, call again with the same batches in the same order: batches that the file covers
            are not counted again. Different batches are refused. Batches of rows are read again,
            and compared by a checksum of their scores. Paths and callables are not read again. A
            path is compared by its absolute path and the size of the file. A callable is compared
            by its name and its arguments; it must be a function of a module or a
            ``functools.partial`` of one. `from_batches` removes the checkpoint file once all
            batches are counted. The checkpoint file has the format that `save` writes, which needs
            pyarrow; group labels may be of all kinds except members of an `enum.Enum`. Writing
            this file takes at most about a tenth of the run time.
        disclosure : "exact", "bins", "summary" or Bins, default="exact"
            What the counts disclose of the scores; see `reduced`. Each batch is reduced to bins
            where it is counted, so that neither workers nor the checkpoint file keep its scores.
            The checksum in this file is then of the bins of the rows, in their order. A "summary"
            is made after all batches are counted; the checkpoint file then holds exact counts, and
            a checksum of exact scores.

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
        from skfedauc.counts.batches import check_label_and_score, merged_batches, scores_of
        from skfedauc.counts.checkpoint import Checkpoint
        from skfedauc.counts.columns import Columns, check_columns

        columns = Columns(label, score, group, weight)
        check_label_and_score(columns)
        check_columns(columns)
        missing = _input.check_missing(missing)
        level = check_disclosure(disclosure)
        merge: Callable[[list[ScoreCounts]], ScoreCounts] = cls._merged
        if max_cells is not None:
            max_cells = _input.check_whole_number(max_cells, "max_cells")
            if level == "summary":
                raise ValueError("max_cells needs disclosure='bins' or 'exact'; got 'summary'.")
            merge = functools.partial(cls._merged_within, max_cells=max_cells)
        count = functools.partial(
            _count_batch,
            columns=columns,
            pos_label=pos_label,
            missing=missing,
            # Summaries of batches cannot be merged, because they have the same groups.
            disclosure="exact" if level == "summary" else level,
            has_ranges=max_cells is not None,
        )
        kept = None
        if checkpoint is not None:
            arguments = {**columns._asdict(), "pos_label": pos_label, "missing": missing}
            if not isinstance(level, str):
                arguments["disclosure"] = level.to_dict()
            if max_cells is not None:
                arguments["max_cells"] = max_cells
            kept = Checkpoint(
                checkpoint,
                arguments,
                cls._restored,
                functools.partial(scores_of, columns=columns, bins=bins_of(level)),
            )
        whole = merged_batches(
            batches, count, merge, n_jobs=n_jobs, verbose=verbose, checkpoint=kept
        )
        _input.warn_if_misspelled(whole.origin.classes)
        return whole.reduced("summary") if level == "summary" else whole

    @classmethod
    def _added(
        cls,
        cells: Cells,
        codes: NDArray[np.intp] | None,
        labels: NDArray[Any] | None,
        origin: Origin | None = None,
        ranges: Ranges | None = None,
    ) -> ScoreCounts:
        for name, counts in (
            ("negatives", cells.negatives),
            ("positives", cells.positives),
        ):
            check_n_rows(counts, name)
        n_groups = 1 if labels is None else labels.size
        added, ranges = add_with_ranges(cells, ranges, codes, n_groups)
        return cls._of(added, labels, origin, ranges)

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
        if isinstance(parts, ScoreCounts):
            raise TypeError("merge takes an iterable of score counts; got a single one.")
        if isinstance(parts, str | bytes | os.PathLike | Mapping):
            raise TypeError(
                "merge takes an iterable of score counts or paths, such as a list; got "
                f"{_words.described(parts)}."
            )
        is_series = hasattr(parts, "iloc") and not hasattr(parts, "columns")
        is_row = is_series and len({isinstance(part, ScoreCounts) for part in parts}) > 1
        if is_row or hasattr(parts, "columns") or hasattr(parts, "column_names"):
            raise TypeError(
                "merge takes an iterable of score counts; got a "
                f"{'row of a table' if is_row else type(parts).__name__}. Pass the column of score "
                "counts, such as table['counts']."
            )
        return cls._merged_parts(cls._parts_of(parts), repeated, disclosure)

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
        repeated : {"raise", "allow"}, default="raise"
            How to treat a counting that is part of several `parts`, as in `merge`.
        disclosure : "exact", "bins", "summary", Bins or None, default=None
            What the result discloses of the scores, as in `merge`.

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
        named = (Part(name, counts, is_kept) for name, counts in parts)
        return cls._merged_parts(named, repeated, disclosure)

    @classmethod
    def _merged_parts(
        cls, parts: Iterable[Part[ScoreCounts]], repeated: str, disclosure: Disclosure | None
    ) -> ScoreCounts:
        if repeated not in ("raise", "allow"):
            raise ValueError(
                "repeated must be 'raise' (an error) or 'allow' (rows count several times); got "
                f"{_words.described(repeated)}."
            )
        reduce = None
        if disclosure is not None:
            level = check_disclosure(disclosure)
            reduce = functools.partial(cls._at_level, disclosure=level, widen=True)
        return merged_parts(parts, cls._merged, reduce, allow_repeated=repeated == "allow")

    @classmethod
    def _parts_of(cls, parts: Iterable[Any]) -> Iterator[Part[ScoreCounts]]:
        """Yield score counts and the score counts of files with their names in messages."""
        is_kept = isinstance(parts, Sequence)
        for number, part in enumerate(parts):
            if isinstance(part, str | os.PathLike):
                yield Part(repr(os.fspath(part)), cls.load(part))
            elif isinstance(part, ScoreCounts):
                yield Part(f"part {number}", part, is_kept)
            else:
                raise TypeError(
                    "merge takes ScoreCounts objects and paths of files; got one of type "
                    f"{type(part).__name__}.{_mend_of_part(part)}"
                )

    @classmethod
    def _merged(cls, parts: list[ScoreCounts]) -> ScoreCounts:
        """Add up compatible score counts in one pass."""
        if len(parts) == 1:
            return parts[0]
        tables = [part.labels for part in parts if part.labels is not None]
        if tables:
            numbers, labels = _input.unite_labels(tables)
            n_groups = labels.size
        else:
            numbers, labels = [np.arange(len(part)) for part in parts], None
            n_groups = max(len(part) for part in parts)
        check_n_rows([int(part.n_negatives.sum()) for part in parts], "negatives")
        check_n_rows([int(part.n_positives.sum()) for part in parts], "positives")
        check_n_rows([part.n_missing for part in parts], "rows left out")
        origin = Origin.merged([part.origin for part in parts])
        if parts[0].summary is not None:
            summaries = [part.summary for part in parts if part.summary is not None]
            return cls._of(merged_summaries(summaries, numbers, n_groups), labels, origin)
        cells = [part.cells for part in parts]
        if any(c.weights is not None for c in cells):
            cells = [c._replace(weights=_weights_of(c)) for c in cells]
        merged, ranges = merge_with_ranges(
            cells, [part.ranges for part in parts], numbers, n_groups
        )
        return cls._of(merged, labels, origin, ranges)

    @classmethod
    def _merged_within(cls, parts: list[ScoreCounts], max_cells: int) -> ScoreCounts:
        return cls._merged(parts).reduced(max_cells=max_cells)

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
        # The new labels may not belong to the named columns.
        origin = self.origin.regrouped()
        if self.summary is not None:
            order = _order_of_renamed(numbers, old) if len(self) else numbers[:0]
            return ScoreCounts._of(self.summary.take(order), labels[: len(self)], origin)
        codes = numbers[self.cells.groups]
        if codes.size == 0:
            return ScoreCounts._of(self.cells, labels[:0], origin, self.ranges)
        return ScoreCounts._added(self.cells, codes, labels, origin, self.ranges)

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
        if not callable(function):
            raise TypeError(f"function must be callable; got {_words.described(function)}.")
        if self.disclosure != "exact":
            held = "hold ranges of scores", "bins"
            if self.disclosure == "summary":
                held = "are a summary by group, which holds no scores", "a summary"
            raise DisclosureError(
                f"map_scores needs disclosure='exact'; these counts {held[0]}. Map the scores "
                f"before the counts are reduced to {held[1]}."
            )
        cells = self.cells
        name = "the result of function"
        distinct, numbers = np.unique(cells.scores, return_inverse=True)
        # Adding 0.0 converts -0.0 to 0.0.
        scores = _input.check_scores(function(distinct.copy()), name) + 0.0
        if scores.size != distinct.size:
            raise ValueError(
                f"{name} must have one number for each distinct score; got {scores.size} for "
                f"{distinct.size} scores."
            )
        cells = cells._replace(scores=scores[numbers])
        codes = None if self.labels is None else cells.groups
        return ScoreCounts._added(cells, codes, self.labels, self.origin)

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

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.4, 0.7], groups=list("abc"))
        >>> counts.select_groups([0, 2]).groups
        ('a', 'c')
        """
        if self.labels is None:
            return self
        chosen = np.asarray(numbers)
        is_whole = chosen.ndim == 1 and (chosen.dtype.kind in "iu" or chosen.size == 0)
        bounds = np.r_[-1, chosen, len(self)] if is_whole else np.zeros(2)
        if not (np.diff(bounds.astype(np.int64)) > 0).all():
            raise ValueError(
                f"numbers must be increasing positions of groups, from 0 to {len(self) - 1}; got "
                f"{_words.shortened(numbers)}."
            )
        chosen = chosen.astype(np.intp)
        labels = _input.some_labels(self.labels, chosen)
        if self.summary is not None:
            return ScoreCounts._of(self.summary.take(chosen), labels, self.origin)
        starts, scores, negatives, positives, weights = self.cells
        sizes = np.diff(starts)[chosen]
        # Offset of each group: its first cell before selection minus its first cell after selection
        new_starts = np.append(0, np.cumsum(sizes))
        cell = np.arange(new_starts[-1]) + np.repeat(starts[chosen] - new_starts[:-1], sizes)
        cells = Cells(
            new_starts,
            scores[cell],
            compact_counts(negatives[cell]),
            compact_counts(positives[cell]),
            None if weights is None else weights[:, cell],
        )
        ranges = None if self.ranges is None else self.ranges[:, cell]
        return ScoreCounts._of(cells, labels, self.origin, ranges)

    def without_groups(self) -> ScoreCounts:
        """Combine all groups into one without a label.

        Returns
        -------
        ScoreCounts
            Counts of the same rows, with `groups` None.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions([0, 1], [0.2, 0.2], groups=["a", "b"])
        >>> counts.without_groups()
        ScoreCounts(no groups, 2 rows: 1 positive and 1 negative, 1 distinct score)
        """
        if self.labels is None:
            return self
        origin = self.origin.regrouped()
        if self.summary is not None and len(self) < 2:
            return ScoreCounts._of(self.summary, None, origin)
        cells = cells_for(self, "combining groups")
        return ScoreCounts._added(cells, None, None, origin, self.ranges)

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

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> ScoreCounts.from_counts(["a", "a"], [0.1, 0.9], [30, 2], [1, 17]).with_n_missing(5)
        ScoreCounts(1 group, 50 rows: 18 positives and 32 negatives, 2 distinct scores, 5 rows \
without a group label left out)
        """
        origin = self.origin._replace(n_missing=n_missing)
        return ScoreCounts._of(self.content, self.labels, origin, self.ranges)

    @property
    def weight_exponent(self) -> int:
        """Binary exponent of the mean weight; 0 if the mean is between 1e-12 and 1e12.

        Inference divides the weights by this power of two, so that products of sums of weights do
        not overflow or underflow.
        """
        weights = self.content.weights
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
        weights = self.content.weights
        if exponent == 0 or weights is None:
            return self
        if self.summary is not None:
            return ScoreCounts._of(self.summary.over(exponent), self.labels, self.origin)
        powers = exponent * np.array([[1], [1], [2], [2]])
        cells = self.cells._replace(weights=np.ldexp(weights, -powers))
        return ScoreCounts._of(cells, self.labels, self.origin, self.ranges)

    # Disclosure --------------------------------------------------------------------

    @property
    def disclosure(self) -> Literal["exact", "bins", "summary"]:
        """What the counts disclose of the scores: "exact", "bins" or "summary".

        "exact" counts disclose each distinct score. "bins" disclose a range of scores for each row.
        A "summary" discloses the AUC of each group, but no scores.
        """
        if self.summary is not None:
            return "summary"
        return "exact" if self.ranges is None else "bins"

    @property
    def bins(self) -> Bins | None:
        """Rule that maps scores to bins; None for exact counts, and for ranges without a rule."""
        return self.origin.bins

    @property
    def ranges(self) -> Ranges | None:
        """Lowest and highest score that the rows of each cell may have; None for exact counts.

        A read-only array of shape (2, n_cells). Both ends are part of the range, which holds the
        score of the cell.
        """
        return self._ranges

    @property
    def withheld(self) -> Withheld:
        """Groups that `reduced` withheld because they have few rows of a class.

        A named tuple: `n_groups`, the number of groups; `n_negatives` and `n_positives`, their
        rows, or None if a number is withheld too; `labels`, or None; `is_n_missing_low`, whether
        `n_missing` is too low because a small number was withheld; and `most_negatives` and
        `most_positives`, the numbers of their rows or upper limits of these numbers.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions(
        ...     [0, 1, 0, 1, 1, 0, 1], [0.2, 0.6, 0.5, 0.4, 0.7, 0.1, 0.3], groups=list("aabaabb")
        ... )
        >>> reduced = counts.reduced("bins", min_count=2)
        >>> reduced
        ScoreCounts(0 groups, 0 rows: 0 positives and 0 negatives, 0 ranges, 2 groups withheld)
        >>> reduced.withheld.n_positives, reduced.withheld.n_negatives
        (4, None)
        >>> reduced.withheld.most_negatives
        3
        """
        return self.origin.withheld

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
        Exact counts give back the group, the class and the score of each row whose score is unique.
        Binned counts give back the group, the class and the bin. The score is then known up to the
        range of the bin, but a bin with rows of one class still reveals this class to anyone who
        knows a person's group and score. ``skfedauc show`` counts such rows of a file.

        **Summaries.** A summary gives exactly the same group AUCs as the original counts, with the
        same averages, gaps, intervals and tests of these AUCs. Summaries of binned counts also hold
        the lowest and the highest AUC that the bins permit. A summary does not determine results
        that compare rows of different groups, and these results raise a `DisclosureError`: the
        pooled AUC, cross AUCs, bias AUCs and ROC curves. Summaries can be merged if no group is in
        two of them.

        A summary of a small group reveals more than its AUC. With one positive, the AUC times the
        number of negatives is the rank of this positive: the number of negatives with lower scores.
        With two positives, the sums for the variance give the ranks of both. With three positives
        and 12 negatives, these sums give all ranks in 85 % of the arrangements without ties. With
        eight positives and eight negatives, they give all ranks in 26 %
        (``benchmarks/summary_ranks.py``). The same holds for negatives. A
        group whose rows all belong to one class reveals the class of every member. Anyone who knows
        the scores of all members of a small group can try all classes that the members may have: of
        the 125,970 ways in which 8 of 20 rows without ties can be positive, a summary leaves 6 in
        the median, and one in 11 % of cases. Sums of weights identify rows more easily than numbers
        of rows: anyone who knows the weights can try which of the weights add up to the sum.

        **Small counts.** With `min_count`, each number of rows in the result is 0 or at least
        `min_count`. The ranges of the two classes are chosen apart and may overlap. Their ends are
        edges of the bins, and never scores. They are rounded outwards to about half the width of
        the range, so that they do not disclose the lowest and the highest score of a group. Apply
        `min_count` where the rows are, before counts are sent or merged. What remains inferable:

        - The numbers of rows of each class of a group that is not withheld. If all rows of a group
          have one class, the class of each member is known.
        - Where ranges were cut depends on the rows: between its bins with rows, no range could be
          split without a small count. A range of one or two bins shows that these bins hold rows.
        - Differences. Two results from overlapping rows, such as those of two days or with two
          values of `min_count`, can differ by a single row. A published total and the
          sum of the groups can differ by a single row, too. Reduce each row once, with one set of
          arguments.
        - The number of withheld groups, and what `tell_withheld` adds. A disclosed number of their
          rows of a class is at least `min_count` times the number of groups, so that it excludes no
          small number in any of the groups. A number that is not disclosed is smaller than that.
          Anyone who knows the total of a class in all rows knows how many of its rows were
          withheld.
        - The sums of the weights and of the squared weights of each range, with sample weights.

        **Few cells.** With `max_cells`, the result takes 32 bytes per cell (64 with weights). It
        holds ranges of scores even if no cells were joined. It can be merged with other such
        counts and reduced again, in any order: the certain intervals hold the exact values. For
        scores without ties, one reduction to 1,024 cells makes the certain interval of the pooled
        AUC about 6e-4 wide. The width for n cells is ``1,024 / n`` times this width. Repeated
        reductions widen the interval. See
        benchmarks/joining.md in the repository. `max_cells` alone protects no scores.

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
        counts = self
        check_small_groups(small_groups, tell_withheld, has_min_count=min_count is not None)
        if min_count is not None:
            min_count = _input.check_whole_number(min_count, "min_count")
            check_protects(self, disclosure)
            if small_groups == "join":
                counts = self._with_small_joined(min_count)
            counts = ScoreCounts._without_small(counts, min_count, tell_withheld or "rows")
        if disclosure is not None or (min_count is None and max_cells is None):
            counts = ScoreCounts._at_level(counts, disclosure)
        if min_count is not None and counts.bins is not None:
            cells, ranges, codes = join_small(counts.cells, counts.bins, min_count)
            in_groups = None if counts.labels is None else codes
            origin = counts.origin._replace(bins=None)
            counts = ScoreCounts._added(cells, in_groups, counts.labels, origin, ranges)
        return counts if max_cells is None else ScoreCounts._within(counts, max_cells)

    def _with_small_joined(self, min_count: int) -> ScoreCounts:
        """Join the groups that have few rows of a class into one group, unless it has few too."""
        small = is_small([self.n_negatives, self.n_positives], min_count)
        if self.groups is None or not small.any():
            return self
        cells = cells_for(self, "small_groups='join'")
        check_can_be_joined(self.groups, small)
        to = {
            label: joined_label(label) if is_one else label
            for label, is_one in zip(self.groups, small, strict=True)
        }
        numbers, labels = _input.map_labels(self.groups, to, "groups")
        codes = numbers[cells.groups]
        joined = ScoreCounts._added(cells, codes, labels, self.origin, self.ranges)
        is_enough = not is_small([joined.n_negatives, joined.n_positives], min_count).any()
        return joined if is_enough else self

    @staticmethod
    def _without_small(counts: ScoreCounts, min_count: int, tell: ToldOfWithheld) -> ScoreCounts:
        """Withhold the groups that have few rows of a class, and a small number of missing rows."""
        small = is_small([counts.n_negatives, counts.n_positives], min_count)
        found = withheld_of(
            counts.n_negatives[small],
            counts.n_positives[small],
            [] if counts.groups is None else [counts.groups[g] for g in np.flatnonzero(small)],
            min_count,
            tell,
        )
        n_missing = counts.n_missing
        if 0 < n_missing < min_count:
            n_missing, found = 0, found._replace(is_n_missing_low=True)
        origin = counts.origin._replace(
            n_missing=n_missing, withheld=Withheld.merged([counts.withheld, found])
        )
        labels = counts.labels
        if small.any() and labels is not None:
            counts = counts.select_groups(np.flatnonzero(~small))
        content = counts.cells if counts.summary is None else counts.summary
        ranges = counts.ranges
        if small.any() and labels is None:
            if isinstance(content, Summary):
                content = content.take(np.zeros(0, np.intp))
            else:
                none = np.zeros(0, np.uint32)
                weights = np.zeros((4, 0)) if counts.is_weighted else None
                content = Cells(np.zeros(1, np.int64), np.zeros(0), none, none, weights)
                ranges = None if ranges is None else np.zeros((2, 0))
        return ScoreCounts._of(content, counts.labels, origin, ranges)

    @staticmethod
    def _within(counts: ScoreCounts, max_cells: int) -> ScoreCounts:
        """Return counts with ranges of scores and at most `max_cells` cells."""
        max_cells = _input.check_whole_number(max_cells, "max_cells")
        cells, ranges = cells_for(counts, "max_cells"), counts.ranges
        if max_cells < len(counts):
            raise ValueError(
                f"max_cells must be at least the number of groups, {len(counts)}; got {max_cells}."
            )
        if ranges is None:
            ranges = np.stack([cells.scores] * 2)
        if cells.scores.size <= max_cells:
            return ScoreCounts._of(cells, counts.labels, counts.origin, ranges)
        cells, ranges = join_nearest(cells, ranges, max_cells)
        return ScoreCounts._of(cells, counts.labels, counts.origin._replace(bins=None), ranges)

    @staticmethod
    def _at_level(
        counts: ScoreCounts, disclosure: Disclosure | None, *, widen: bool = False
    ) -> ScoreCounts:
        if check_disclosure(disclosure) == "summary":
            return counts if counts.summary is not None else ScoreCounts._summarized(counts)
        found = reduced_cells(counts, disclosure, widen=widen)
        if found is None:
            return counts
        cells, ranges, bins = found
        codes = None if counts.labels is None else counts.cells.groups
        origin = counts.origin._replace(bins=bins)
        return ScoreCounts._added(cells, codes, counts.labels, origin, ranges)

    def _summarized(self) -> ScoreCounts:
        exponent = self.weight_exponent
        check_exponent(exponent)
        ends = () if self.ranges is None else self.extremes()
        sums = [
            pair_sums(counts.concordance, counts.own_moments)
            for counts in (of.with_weights_over(exponent) for of in (self, *ends))
        ]
        rows = self.with_weights_over(exponent).rows_by_class
        weights = None
        if self.is_weighted:
            weights = np.stack([*(of.weight for of in rows), *(of.squares for of in rows)])
        summary = Summary(rows[0].n, rows[1].n, weights, *sums).over(-exponent)
        return ScoreCounts._of(summary, self.labels, self.origin._replace(bins=None))

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
        if self.summary is not None and self.summary.lowest is not None:
            low, high = self.summary.extremes
            return (
                ScoreCounts._of(low, self.labels, self.origin),
                ScoreCounts._of(high, self.labels, self.origin),
            )
        if self.ranges is None:
            return self, self
        lowest, highest = extremes_of(self.cells, self.ranges)
        origin = self.origin._replace(bins=None)
        return (
            ScoreCounts._of(lowest, self.labels, origin),
            ScoreCounts._of(highest, self.labels, origin),
        )

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
        from skfedauc.counts.vectors import Grid, check_max_count, vector_of

        grid, most = Grid(bins, groups), check_max_count(max_count)
        if cells_for(self, "to_vector").weights is not None:
            raise ValueError(
                "vectors hold numbers of rows, and these rows have weights; count the rows without "
                "sample_weight."
            )
        if self.withheld != Withheld():
            raise ValueError(
                "vectors hold all rows, and these counts lack rows of groups that were withheld; "
                "count the rows without min_count. The sum hides small counts of a single site."
            )
        return vector_of(self.reduced(bins).cells, self.labels, grid, most)

    @classmethod
    def from_vector(
        cls, vector: Any, bins: Bins, groups: Any = None, *, modulus: int | None = None
    ) -> ScoreCounts:
        """Make score counts from a sum of vectors of several sites.

        Parameters
        ----------
        vector : array-like of shape (2 * n_groups * n_bins,)
            Sum of the vectors that `to_vector` returned. Floats must be whole numbers.
        bins : Bins
            Bins of the scores, as in `to_vector`.
        groups : array-like of labels, default=None
            Labels of the groups, as in `to_vector`.
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
        from skfedauc.counts.vectors import Grid, cells_of

        grid = Grid(bins, groups)
        numbers, negatives, positives, codes = cells_of(vector, grid, modulus)
        labels = grid.labels
        if labels is not None:
            codes, labels = _input.drop_unused(codes, labels)
        scores = bins.scores_of(numbers)
        cells = Cells(np.zeros(0, np.int64), scores, negatives, positives, None)
        origin = Origin(bins=bins)
        of_group = None if labels is None else codes
        return cls._added(cells, of_group, labels, origin, bins.ranges_of(numbers))

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

        if isinstance(path, bytes | bytearray | memoryview):
            raise TypeError(
                f"path must be a str or os.PathLike; got {type(path).__name__}. "
                "ScoreCounts.from_bytes reads the bytes that ScoreCounts.to_bytes returned."
            )
        return cls._read(read_file(path), repr(os.fspath(path)))

    def to_bytes(self, *, source: str | None = None, disclosure: Disclosure | None = None) -> bytes:
        """Return the content of the file that `save` writes.

        Parameters
        ----------
        source : str, default=None
            Name of the counting, as in `save`.
        disclosure : "exact", "bins", "summary", Bins or None, default=None
            What the bytes disclose of the scores, as in `save`.

        Returns
        -------
        bytes
            Content of a Parquet file, for a message or a column of a database.

        Raises
        ------
        TypeError, ValueError, ImportError
            As in `save`.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.2, 0.7], groups=list("aab"))
        >>> message = counts.to_bytes(source="device 7")
        >>> ScoreCounts.from_bytes(message) == counts
        True
        """
        from skfedauc.counts.parquet import Content, content_of

        with _IDENTIFYING:
            object.__setattr__(self, "_origin", self.origin.saved(source))
        kept = self if disclosure is None else self.reduced(disclosure)
        return content_of(Content(kept.content, kept.labels, kept.origin, kept.ranges))

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
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(
                f"data must be the bytes that ScoreCounts.to_bytes returned; got "
                f"{_words.described(data)}. ScoreCounts.load reads a file by its path."
            )
        return cls._read(data, "data")

    @classmethod
    def _read(cls, data: Any, name: str) -> ScoreCounts:
        from skfedauc.counts.parquet import read_content

        content = read_content(data, name)
        if content.checkpoint is not None:
            raise ValueError(
                f"{name} is a checkpoint of from_batches, which has counted only a part of the "
                "rows; pass it as checkpoint= with the same batches."
            )
        return cls._restored(
            content.cells, content.labels, content.origin, ranges=content.ranges, name=name
        )

    @property
    def sources(self) -> tuple[Source, ...]:
        """Countings that were saved or sent and are part of these counts, sorted by name.

        A named tuple for each counting: `identifier`, 32 hexadecimal digits, and `name`, the text
        that was given as ``source=`` or None. Empty for counts that were never saved.

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

    # Reading -----------------------------------------------------------------------

    def to_counts(self) -> pd.DataFrame:
        """Return the counts as a table, which `from_counts` can read.

        Returns
        -------
        pandas.DataFrame
            One row per group and distinct score, sorted. Group columns come first. These columns
            are named by `group_names`. Without names, the column is `group`; the columns of tuples
            are `group_1`, `group_2` and so on. A `ScoreCounts` without groups has no group column.
            The columns `score`, `n_negatives` and `n_positives` follow. If the counts are binned,
            the columns `score_low` and `score_high` after `score` hold the ends of the ranges. If
            rows have weights, the columns `weight_negatives`, `weight_positives`,
            `squared_weight_negatives` and `squared_weight_positives` hold the sums of the weights
            and of the squared weights.

        Notes
        -----
        ``from_counts(**table)`` makes equal counts, except for `n_missing` and `bins`. Labels keep
        their type: convert labels that a file format does not support, such as intervals in
        Parquet, to text. `save` converts them by itself.

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

        A named tuple. `starts` has shape (n_groups + 1,): group g has the cells ``starts[g]`` to
        ``starts[g + 1] - 1``, sorted by score. `scores`, `negatives` and `positives` have shape
        (n_cells,): the score, and the numbers of rows of each class. `weights` is None without
        sample weights; else it has shape (4, n_cells): the sums of the weights of negatives and
        of positives, and the sums of their squared weights.

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
        return cells_for(self, "cells") if self._cells is None else self._cells

    @property
    def summary(self) -> Summary | None:
        """Rows and pairs of rows by group, of counts that are a summary; None for other counts."""
        return self._summary

    @property
    def has_exact_aucs(self) -> bool:
        """Whether the AUCs of the groups are exact: the counts are not, and were not, binned."""
        return self.ranges is None and (self.summary is None or self.summary.lowest is None)

    @property
    def content(self) -> Cells | Summary:
        """The cells, or the summary of counts that are a summary."""
        return self.cells if self._summary is None else self._summary

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """Arrays of `cells` and `ranges`, or arrays of `summary`."""
        return arrays_of(self.content, self.ranges)

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights."""
        return self.content.weights is not None

    @property
    def labels(self) -> NDArray[Any] | None:
        """Sorted labels of the groups as a read-only array; None if the rows came without groups.

        The array has shape (n_groups,). The dtype is bool, an integer type, datetime64[us], or
        object for labels of other kinds. Group g of `cells` has the label ``labels[g]``.
        """
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
        """Rows and concordant pairs of each group, a named tuple of read-only arrays.

        `u2` is twice the Mann-Whitney U statistic. The AUC of a group is ``u2 / (2 * negatives *
        positives)``.
        """
        if self._summary is not None:
            return self._summary.concordance
        found = concordance(self.cells)
        for array in found:
            array.flags.writeable = False
        return found

    @functools.cached_property
    def rows_by_class(self) -> tuple[ClassRows, ClassRows]:
        """Numbers, weights and squared weights of the negatives and of the positives by group."""
        if self._summary is not None:
            return self._summary.rows_by_class
        return rows_by_class(self.cells, self.concordance)

    @functools.cached_property
    def own_moments(self) -> OwnMoments:
        """Sums by group from which the variance of the group's AUC follows."""
        if self._summary is not None:
            return self._summary.sums.moments
        return own_moments(self.cells, self.concordance.u2, *self.rows_by_class)

    def __len__(self) -> int:
        """Number of groups; 1 for rows without groups, 0 if there are no rows."""
        return self.cells.starts.size - 1 if self._summary is None else self._summary.n_groups

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreCounts):
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

    def __reduce__(self) -> tuple[Any, ...]:
        checksum = checksum_of(self.arrays, self.labels, self.origin)
        state = (self.content, self.labels, self.origin, checksum)
        return ScoreCounts._restored, state if self.ranges is None else (*state, self.ranges)

    def __getstate__(self) -> dict[str, bytes]:
        """Return the state that skops stores; pickles and copies are made by `__reduce__`."""
        return {"content": self.to_bytes()}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        if hasattr(self, "_cells"):
            raise AttributeError("ScoreCounts is immutable; its state cannot be set.")
        restored = ScoreCounts.from_bytes(state["content"])
        for name in ("_cells", "_labels", "_origin", "_ranges", "_summary"):
            object.__setattr__(self, name, getattr(restored, name))

    def _n_distinct(self) -> tuple[int, str]:
        """Return the number of distinct scores, bins or ranges, and their noun."""
        if self.ranges is not None and self.bins is None:
            return n_distinct(self.ranges), "range"
        return np.unique(self.cells.scores).size, "distinct score" if self.bins is None else "bin"

    def __repr__(self) -> str:
        positives, negatives = int(self.n_positives.sum()), int(self.n_negatives.sum())
        content = "summary by group"
        if self._summary is None:
            content = _words.counted(*self._n_distinct())
        groups = "no groups" if self.labels is None else _words.counted(len(self), "group")
        weighted = ", weighted" if self.is_weighted else ""
        counted = _words.counted
        return (
            f"ScoreCounts({groups}, {counted(positives + negatives, 'row')}: "
            f"{counted(positives, 'positive')} and {counted(negatives, 'negative')}, "
            f"{content}{weighted}{left_out(self.n_missing)}{self.withheld.in_words()})"
        )


def _order_of_renamed(numbers: NDArray[np.intp], old: Sequence[Any]) -> NDArray[np.intp]:
    """Return the old number of each new group of a summary.

    Raises
    ------
    DisclosureError
        If groups are combined.
    """
    order = np.argsort(numbers, kind="stable")
    equal = np.flatnonzero(np.diff(numbers[order]) == 0)
    if equal.size:
        first, second = (_words.shortened_label(old[order[equal[0] + i]]) for i in (0, 1))
        raise DisclosureError(needs_scores(f"combining the groups {first} and {second}"))
    return order


@functools.cache
def _warn_of_slow_kernel() -> None:
    _input.warn(
        "skfedauc was installed without its compiled part and counts rows in numpy, several times "
        "slower. Install it where there is a C++ compiler, or from a wheel for this platform; "
        "skfedauc.show_versions() tells which kernel is in use.",
        RuntimeWarning,
    )


def _count_batch(
    batch: Any,
    columns: Any,
    pos_label: Any,
    missing: _input.Missing,
    disclosure: Disclosure,
    has_ranges: bool,
) -> ScoreCounts:
    from skfedauc.counts.batches import arguments_of_batch

    arguments = arguments_of_batch(batch, columns)
    rows = _input.check_rows(**arguments, pos_label=pos_label, missing=missing, warn_labels=False)
    names = _input.names_of(rows.labels, arguments.get("groups"))
    counts = ScoreCounts.of_rows(rows, group_names=names).reduced(disclosure)
    if has_ranges:  # and all cells
        counts = counts.reduced(max_cells=max(counts.cells.scores.size, 1))
    return counts


def _mend_of_part(part: Any) -> str:
    """Return what to pass instead of a part that cannot be merged."""
    if isinstance(part, bytes | bytearray | memoryview):
        return " ScoreCounts.from_bytes reads the bytes that ScoreCounts.to_bytes returned."
    if hasattr(part, "releases"):
        return " PrivateCounts.merge adds up score counts and private counts."
    if isinstance(part, tuple | Mapping) or hasattr(part, "columns") or hasattr(part, "iloc"):
        return " Pass the column of score counts of a table, such as table['counts']."
    return ""


def _weights_of(cells: Cells) -> NDArray[np.float64]:
    """Sums of weights and of squared weights by class; rows without weights have weight 1."""
    if cells.weights is not None:
        return cells.weights
    counts = np.stack([cells.negatives, cells.positives]).astype(np.float64)
    return np.concatenate([counts, counts])
