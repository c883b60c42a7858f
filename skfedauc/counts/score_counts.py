"""Define `ScoreCounts`, mergeable score counts by group that determine every AUC."""

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
from skfedauc.counts.levels import at_level
from skfedauc.counts.limits import Limits, check_limits
from skfedauc.counts.merging import Part, check_iterable, merged_parts, wrong_part
from skfedauc.counts.origin import Origin
from skfedauc.counts.reduction import reduced
from skfedauc.counts.small_groups import SmallGroups, ToldOfWithheld
from skfedauc.counts.state import State, added, restored
from skfedauc.counts.tables import read_columns
from skfedauc.counts.view import CountsView, n_jobs_of

if TYPE_CHECKING:
    from skfedauc.counts.bins import Bins

# Lock for giving counts their identifier
_IDENTIFYING = threading.Lock()


class ScoreCounts(CountsView):
    """Score counts by group, which determine every AUC over groups exactly.

    A `ScoreCounts` holds, for each group, the number of negatives and of positives at each distinct
    score. Users can add score counts of disjoint rows in any order, for any split of the rows.
    Without sample weights, all counts are integers, so every order and split gives identical sums.

    A `ScoreCounts` is not anonymous. Floats are mostly distinct, and counts of distinct scores
    disclose the group, the score and the class of every row. A `ScoreCounts` holds no features, no
    identifiers and no order of rows. `reduced` returns counts that disclose less: counts by ranges
    of scores, or a summary by group without scores.

    In addition to the counts, a `ScoreCounts` holds `n_missing`, `group_names`, `sources` and the
    class labels with `pos_label`. `merge` and ``+`` refuse score counts with different positive
    labels. ``==`` compares only the counts. All attributes are read-only.

    Build a `ScoreCounts` with `from_predictions` (rows in memory), `from_table` (rows in a database
    or a lazy table), `from_batches` (rows in files or other parts) or `from_counts`. Compute AUCs
    with `GroupAUC`. `save` writes a `ScoreCounts` to a Parquet file, and `load` reads the file. The
    file discloses as much as the `ScoreCounts`. `to_bytes` and `from_bytes` convert a `ScoreCounts`
    to bytes for messages, and back.

    See Also
    --------
    GroupAUC : AUCs, gaps and tables of a `ScoreCounts`.
    MulticlassCounts : Counts for several classes.
    PrivateCounts : Counts with noise for differential privacy.

    Notes
    -----
    A `ScoreCounts` takes 16 bytes per distinct score and group, and about 50 bytes per group for
    its label and counts. A weighted `ScoreCounts` takes 48 bytes per distinct score and group,
    because it also holds the sums of the weights and of the squared weights. The ranges of a binned
    `ScoreCounts` take another 16 bytes per bin and group.

    The AUC is the share of concordant pairs of a positive and a negative, with ties as one half
    [1]_. Counts by score therefore determine the AUC exactly, for any split of the rows. The AUCs
    of the parts do not determine the AUC.

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
    def _of(cls, state: State, n_jobs: int | None = None) -> ScoreCounts:
        counts = object.__new__(cls)
        for array in (*state.arrays, state.labels):
            if array is not None:
                array.flags.writeable = False
        object.__setattr__(counts, "_state", state)
        vars(counts)["n_jobs"] = n_jobs
        return counts

    @classmethod
    def _restored(cls, *pickled: Any) -> ScoreCounts:
        """Make score counts from the arguments of `state.restored`, which validates them."""
        return cls._of(restored(*pickled))

    def _with(self, state: State) -> ScoreCounts:
        """Return score counts with a state; return the same object for an unchanged state."""
        return self if state is self._state else ScoreCounts._of(state, n_jobs_of(self))

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
            Finite scores; a higher score means more likely positive. A `ScoreCounts` stores scores
            as float64. The method refuses decimals, fractions and large integers if two different
            numbers might become equal as float64. These numbers may be in this call, or in another
            call with counts to merge. The method always accepts decimals of up to 15 digits and
            integers up to 2**53.
        groups : array-like of shape (n_rows,) or (n_rows, n_columns), default=None
            Group label of each row: booleans, integers, strings, dates, periods, intervals
            (of `pandas.cut`), members of an `enum.Enum`, or categories of these. The method
            converts floats that are whole numbers to integers. With several columns, each
            combination is a group with a tuple as its label.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more. The counts leave out rows of weight 0.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans. If all
            rows have one label other than `pos_label`, the rows count as negatives. Merging these
            counts with other counts detects a misspelled `pos_label`. A warning appears at once if
            `pos_label` differs from the label only in case or spaces.
        missing : {"raise", "drop", "group"}, default="raise"
            Treatment of rows without a group label (None, NaN, NaT or NA in one of the columns).
            "raise" raises a ValueError. "drop" leaves these rows out and counts them in
            `n_missing`. "group" uses the label ``"(missing)"`` in the columns that lack a label,
            whatever the type of the other labels.
        n_jobs : int, default=None
            Number of threads. None means 1 unless in a `joblib.parallel_config` context; -1 means
            all processors. The result does not depend on `n_jobs`. Several threads are faster from
            a few hundred thousand rows on.
        disclosure : "exact", "bins", "summary" or Bins, default="exact"
            Level of disclosure of the scores; see `reduced`. "exact" counts the rows of each
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
        not the input. The bound holds for numpy arrays with integer labels and groups; encoding of
        text labels takes more memory.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.2, 0.7], groups=["a", "a", "b"])
        ScoreCounts(2 groups, 3 rows: 2 positives and 1 negative, 2 distinct scores)
        """
        missing = _input.check_missing(missing)
        rows = _input.check_rows(y_true, y_score, groups, sample_weight, pos_label, missing=missing)
        state = count_rows(rows, n_jobs, _input.names_of(rows.labels, groups))
        return cls._of(at_level(state, disclosure), n_jobs)

    @classmethod
    def of_rows(
        cls, rows: _input.Rows, n_jobs: int | None = None, group_names: tuple[str, ...] = ()
    ) -> ScoreCounts:
        """Count validated rows.

        Parameters
        ----------
        rows : Rows
            Validated rows.
        n_jobs : int, default=None
            Number of threads, as in `from_predictions`.
        group_names : tuple of str, default=()
            Names of the group columns.

        Returns
        -------
        ScoreCounts
            Counts of the rows.
        """
        return cls._of(count_rows(rows, n_jobs, group_names), n_jobs)

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
        """Make score counts from counts by group and score, such as the result of a database query.

        The counts are the result of ``SELECT grp, score, SUM(1 - label), SUM(label) ... GROUP BY
        grp, score``. Rows may come in any order, and may repeat a group and score.
        ``from_counts(**table)`` reads the table that `to_counts` returns.

        Parameters
        ----------
        group : array-like of shape (n_counts,) or (n_counts, n_columns), default=None
            Group labels as in `from_predictions`; None for counts without groups.
        score : array-like of shape (n_counts,), default=None
            Finite scores; required.
        n_negatives, n_positives : array-like of int, shape (n_counts,), default=None
            Numbers of rows, 0 or more; required.
        weight_negatives, weight_positives : array-like of shape (n_counts,), default=None
            Sums of the sample weights, ``SUM(w * (1 - label))`` and ``SUM(w * label)``. None
            means that each row has weight 1.
        squared_weight_negatives, squared_weight_positives : array-like of shape (n_counts,), \
default=None
            Sums of the squared weights; required with sums of the weights.
        score_low, score_high : array-like of shape (n_counts,), default=None
            Lowest and highest possible score of the rows, for counts by ranges of scores. `score`
            lies in the range, and represents the range. The counts have no `bins`; `reduced`
            converts the counts to counts by `Bins` if each range is within a bin. None means that
            `score` is the score of the rows.
        **group_columns : array-like of shape (n_counts,)
            Columns of group labels by name, as an alternative to `group`. Reports show the names.

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
        """Count the rows of a table in memory, of a lazy table or of a table in a database.

        Databases and lazy tables count their rows by one query, ``SELECT group, score, label,
        COUNT(*) ... GROUP BY group, score, label``, and transfer only the counts. The requirements
        for labels, scores, groups and weights are those of `from_predictions`.

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
            As in `from_predictions`.
        missing : {"raise", "drop", "group"}, default="raise"
            As in `from_predictions`.
        max_cells : int, default=10_000_000
            Largest number of combinations of group, score and label that a database or lazy table
            returns. Reading a combination takes about 100 bytes of memory. There is no limit for
            rows in memory.
        disclosure : "exact", "bins", "summary" or Bins, default="exact"
            Level of disclosure of the scores; see `reduced`. With "bins" and `Bins`, a database or
            lazy table groups rows with scores in float64 or float32 by bin, and returns counts by
            bin. For scores of other types, such as integers and decimals, the query groups rows by
            score, and this method bins the scores. "summary" also groups the rows by score.

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
            more than `max_cells` rows; the message lists remedies, such as counting bins.

        See Also
        --------
        ScoreCounts.explain_table : Return the query as text.
        ScoreCounts.from_batches : Count the rows of batches, files or partitions.

        Notes
        -----
        The engine determines the time zone of dates with a time zone, such as Spark's type
        ``TIMESTAMP``. Engines bin scores exactly, by `Bins.expression`. The engine returns scores
        that this expression does not bin, such as missing scores. This method then bins or refuses
        these scores.

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
        # The import is local because counting arrays does not need narwhals.
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
        """Return the query of `from_table` for a lazy table as text.

        Parameters
        ----------
        table : lazy table or relation
            A table of `from_table` with rows outside memory.
        label, score : str
            As in `from_table`.
        group : str or list of str, default=None
            As in `from_table`.
        weight : str, default=None
            As in `from_table`.
        max_cells : int, default=10_000_000
            As in `from_table`; the query has a limit that is larger by one.
        disclosure : "exact", "bins", "summary" or Bins, default="exact"
            As in `from_table`.

        Returns
        -------
        str
            The SQL for DuckDB, Ibis and SQLFrame; the plan of the engine for polars, PySpark and
            Dask.

        Raises
        ------
        TypeError
            If narwhals does not read `table`, or `table` has its rows in memory.
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
        """Count rows in batches, for data that do not fit in memory.

        Workers of the active joblib backend count batches, also on other machines (Dask, Ray). This
        method merges the results as they arrive. Memory holds the merged counts (up to three copies
        while merging) and about ``2 * n_jobs`` batches.

        Parameters
        ----------
        batches : iterable of tuples, DataFrames, paths or callables
            Tuples ``(y_true, y_score[, groups[, sample_weight]])`` of arrays as in
            `from_predictions`; or pandas, polars or pyarrow DataFrames, or pyarrow record batches,
            with the columns below. The main process reads such batches in turn, and sends the
            batches to the workers. Workers themselves read files from paths (str or os.PathLike) of
            Parquet and CSV files (``.parquet``, ``.csv``, ``.csv.gz``; needs ``skfedauc[files]``).
            Workers also call callables without arguments, which return a tuple or a DataFrame. From
            files, workers read only the columns below.
        label, score : str, default=None
            Columns of the labels and of the scores. Required for DataFrames and files.
        group : str or list of str, default=None
            As in `from_table`.
        weight : str, default=None
            As in `from_table`.
        pos_label : int, float, bool or str, default=None
            As in `from_table`.
        missing : {"raise", "drop", "group"}, default="raise"
            As in `from_table`.
        n_jobs : int, default=None
            Number of workers. None means 1 unless in a `joblib.parallel_config` context; -1 means
            all processors. Worker processes are faster only if counting a batch takes longer than
            sending the batch; ``joblib.parallel_config("threading")`` sends nothing.
        verbose : int, default=0
            If 1 or more, print the number of finished batches and the elapsed time to stderr after
            each round of batches. A round has ``2 * n_jobs`` batches, or one batch with a single
            worker.
        checkpoint : str or os.PathLike, default=None
            File that keeps the counts if a batch fails, a worker dies or the process ends. To
            resume, call again with the same batches in the same order: the call skips batches that
            the file covers. The file also keeps the counts of all batches, so remove it only after
            you have saved the result; further batches at the end are added to it. The option needs
            pyarrow. Group labels may have any type except members of an `enum.Enum`.
        disclosure : "exact", "bins", "summary" or Bins, default="exact"
            Level of disclosure of the scores; see `reduced`. Workers reduce each batch to bins, so
            that neither workers nor the checkpoint file keep its scores. A "summary" follows after
            the last batch; the checkpoint file holds exact counts.
        max_cells : int, default=None
            Largest number of cells of the result, for streams without end: the counts then take at
            most 32 bytes per cell (64 with weights). During counting, memory also holds about
            65,000 cells, or the cells of one round of batches. The method joins cells as `reduced`
            does; the notes of `reduced` have the widths of the certain intervals. The joins depend
            on the order of the batches, on `n_jobs` and on the checkpoint; the intervals always
            hold the exact values.

        Returns
        -------
        ScoreCounts
            Equal to the counts of all rows from a single call, except for rounding with weights and
            for joined cells.

        Raises
        ------
        ValueError, TypeError
            If there is no batch, or a batch is not as described; the message names the batch and
            the reason. If the checkpoint file is damaged, or comes from other batches or arguments.
            If `max_cells` is less than the number of groups. If `disclosure` is "summary" with
            `max_cells`.
        RuntimeError
            If reading a batch fails for another reason, or a worker dies; the message names the
            batches that the counts lack.
        OSError
            If writing the checkpoint file fails before the last batch; a warning after it.
        ImportError
            If `checkpoint` is not None, and pyarrow is missing.

        Notes
        -----
        *CSV files.* Commas, semicolons or tabs separate columns. Group labels are text, and only
        empty cells are missing values. Some programs write integers with the ending ".0" if a
        column has empty cells. Workers remove this ending if all labels of a column are integers
        with this ending.

        *Checkpoints.* The file has the format of `save`. A later call refuses different batches.
        The call reads batches of rows again, and compares a checksum of their scores, or of the
        bins of their scores. For a path, the call does not read the file again, but compares the
        absolute path and the size of the file. For a callable, the call compares the name and the
        arguments; the callable must be a function of a module or a ``functools.partial`` of such a
        function. Writing the checkpoint file takes at most about a tenth of the run time.

        *Killed workers.* With ``joblib.parallel_config("multiprocessing")``, joblib waits forever
        for a killed worker; joblib's default backend, "loky", raises an error. With
        ``joblib.parallel_config("dask")``, Dask counts the batch of a killed worker again; joblib
        waits forever if the batch kills every worker.

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

        Read two files at a time in two workers::

            files = sorted(Path("scores").glob("*.parquet"))
            ScoreCounts.from_batches(files, label="ill", score="risk", group="site", n_jobs=2)
        """
        # The import is local because counting arrays does not need joblib.
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
        parts: Iterable[ScoreCounts | str | os.PathLike[str]]
        | Mapping[str, ScoreCounts | str | os.PathLike[str]],
        *,
        repeated: Literal["raise", "allow"] = "raise",
        disclosure: Disclosure | None = None,
    ) -> ScoreCounts:
        """Add up any number of score counts and files of score counts.

        Parameters
        ----------
        parts : iterable of ScoreCounts, str or os.PathLike, or mapping to these
            At least one `ScoreCounts` or path of a file from `save`; either all have groups or none
            has groups. The method merges groups with equal labels, and reads one file at a time.
            Messages show the keys of a mapping as the names of the parts.
        repeated : {"raise", "allow"}, default="raise"
            Treatment of a saved or sent counting in several `parts`. "raise" raises a ValueError,
            because rows may count several times, and warns about different countings that may have
            the same rows. "allow" adds up all parts; `PrivateCounts` and `to_vector` refuse the
            result, even if no part is repeated.
        disclosure : "exact", "bins", "summary", Bins or None, default=None
            Level of disclosure of the result. The method first reduces each part to this level; see
            `reduced`. None requires that all parts have the same level and bins. No group may be in
            two summaries. Some ranges are not bins of one rule, such as those of `min_count`. With
            `Bins`, the method widens such ranges to the unions of the bins that overlap the ranges,
            so that certain intervals remain certain. The `bins` of the result are None if such a
            range has several bins. None permits such ranges with any bins and with each other.
            Merging protects no rows: each part still discloses its content, and the result can have
            small counts if a site did not apply `min_count`.

        Returns
        -------
        ScoreCounts
            The counts of all rows. The order of `parts` has no effect, except for rounding with
            weights.

        Raises
        ------
        ValueError
            If there are no score counts, or only some score counts have groups. If the score counts
            have different `pos_label`. If the rows have more than two class labels, or if neither
            of two labels is `pos_label`. If the group columns have the same names in another order,
            or only some names in common. If two parts have the same counting, or a file is damaged.
            If `disclosure` is None and the levels or the `Bins` differ, or if a part cannot have
            the level `disclosure`. The message names the parts.
        TypeError
            If an item is not a `ScoreCounts` or a path, or labels have different types.
        OSError
            If a file cannot be read.

        Warns
        -----
        UserWarning
            If all group columns have different names; the result then has no names. If two saved or
            sent countings have the same source name, or have equal counts and at most one name: a
            site may have counted its rows again.

        Notes
        -----
        The method merges score counts from files in rounds. Memory holds the merged counts (up to
        three copies while merging) and the files since the last round. The size of these files is
        at most that of the merged counts and of one file.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> shops = [
        ...     ScoreCounts.from_predictions([0, 1], [0.1, 0.6], groups=[shop] * 2)
        ...     for shop in ["north", "south", "north"]
        ... ]
        >>> ScoreCounts.merge(shops)
        ScoreCounts(2 groups, 6 rows: 3 positives and 3 negatives, 2 distinct scores)
        >>> ScoreCounts.merge({"monday": shops[0], "tuesday": shops[1]})
        ScoreCounts(2 groups, 4 rows: 2 positives and 2 negatives, 2 distinct scores)
        """
        check_iterable(parts, ScoreCounts)
        return cls._merged(cls._named(parts), repeated, disclosure)

    @classmethod
    def _named(cls, parts: Iterable[Any]) -> Iterator[tuple[str, ScoreCounts, bool]]:
        """Yield the name of each part, its score counts, and whether the caller keeps the part."""
        is_kept = isinstance(parts, Sequence | Mapping)
        named = parts.items() if isinstance(parts, Mapping) else ((None, part) for part in parts)
        for number, (name, part) in enumerate(named):
            if isinstance(part, str | os.PathLike):
                yield name or repr(os.fspath(part)), cls.load(part), False
            elif isinstance(part, ScoreCounts):
                yield name or f"part {number}", part, is_kept
            else:
                raise wrong_part(part)

    @classmethod
    def _merged(
        cls,
        parts: Iterable[tuple[str, ScoreCounts, bool]],
        repeated: str,
        disclosure: Disclosure | None,
    ) -> ScoreCounts:
        """Add up score counts; return a single part unchanged."""
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
            Mapping from each old label to its new label. The old label of a `ScoreCounts` without
            groups is None.

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

        See Also
        --------
        GroupAUC : Its argument `min_per_class` leaves small groups out.

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
        """Replace the scores by a function of the scores, and add up the counts of equal results.

        Use the method to round scores before counts leave a site, or to replace scores by the
        decisions at a threshold. The function need not be monotonic.

        Parameters
        ----------
        function : callable
            The method calls `function` once with the sorted distinct scores, a float64 array of
            shape (n_scores,). The result has a finite number for each score: an array-like of shape
            (n_scores,).

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

    def without_groups(self) -> ScoreCounts:
        """Combine all groups into one without a label.

        Returns
        -------
        ScoreCounts
            Counts of the same rows, with `groups` None.
        """
        return self._with(regrouping.without_groups(self._state))

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
        """Return counts with a lower level of disclosure, or with fewer cells.

        Parameters
        ----------
        disclosure : "exact", "bins", "summary" or Bins, default=None
            "exact" returns exact counts unchanged. None keeps the level, and needs `min_count` or
            `max_cells`. "bins" is ``Bins.of_probabilities()``. `Bins` counts the rows of each bin;
            binned counts require `Bins` whose bins are unions of the present bins. "summary" keeps
            no scores. For each group, a summary holds the numbers of rows, the number of concordant
            pairs, and the sums that determine the variance of the AUC. With sample weights, a
            summary also holds the sums of the weights.
        min_count : int, default=None
            Smallest number of rows of a class, other than 0, that the result discloses: 3 or more,
            because 2 leaves single rows determined. In each
            group and class, the method joins neighboring bins until each count is 0 or at least
            `min_count`. The argument `small_groups` determines the treatment of groups with fewer
            rows of a class, but more than 0. The method withholds a smaller `n_missing`. The
            argument `min_count` needs bins or a summary.
        small_groups : {"withhold", "join"}, default=None
            Treatment of groups with fewer rows of a class than `min_count`; needs `min_count`.
            "withhold" or None leaves these groups out. "join" combines these groups into the group
            ``"(missing)"``; the method withholds this group if it is too small as well. Rows
            without a group label have the same label ``"(missing)"`` (``missing="group"``). "join"
            therefore refuses counts that have a group with this label and other small groups. A
            merge of joined counts with such rows adds all of these rows to one group. `withheld`
            describes the withheld groups.
        tell_withheld : {"number", "rows", "labels"}, default=None
            Facts about the groups that `withheld` discloses; needs `min_count`. "number" is the
            number of groups. "rows" or None adds the number of rows of each class, if this number
            is at least `min_count` times the number of groups. For a smaller number, `withheld`
            discloses only the upper limit that this rule implies. "labels" also adds the labels.
        max_cells : int, default=None
            Largest number of cells of the result. The method joins neighboring cells of a group,
            and chooses the joins that widen the certain interval of the AUC least. For exact
            counts, the ends of the ranges are exact scores.

        Returns
        -------
        ScoreCounts
            Counts of the same rows, except for withheld groups.

        Raises
        ------
        DisclosureError
            If the counts disclose less than `disclosure`. If a bin of the counts does not lie
            within a bin of `disclosure`. If `min_count` comes without bins or a summary, or
            `max_cells` with a summary.
        ValueError
            If `min_count` is not a whole number of at least 3.
            If a score is outside the domain of the bins. If `small_groups` or `tell_withheld` comes
            without `min_count`. If `small_groups` is "join", and the counts already have a group
            ``"(missing)"``. If `max_cells` is less than the number of groups.
        TypeError
            If `disclosure` is neither text nor `Bins`, or the call has no argument.

        See Also
        --------
        Bins : The bins.
        DisclosureError : Raised if a lower level does not have the rows.

        Notes
        -----
        The page "Choose what a site discloses" describes possible inferences at each level.
        ``skfedauc show`` describes what a file discloses.

        A summary gives exactly the same group AUCs as the original counts, with the same averages,
        gaps, intervals and tests of these AUCs. Summaries of binned counts also hold the lowest and
        the highest AUC that the bins permit. Results that compare rows of different groups raise a
        `DisclosureError`: the pooled AUC, cross AUCs, bias AUCs and ROC curves. `merge` accepts
        summaries only if no group is in two summaries.

        Apply `min_count` only once, at the site, before sending or merging counts: two results from
        overlapping rows can differ by a single row. Noise does not mend this: a group that appears
        with 10 rows and not with 9 tells a row with certainty. `PrivateCounts` and `to_vector`
        therefore refuse counts that went through `min_count`, also from files and merges, and also
        if nothing was withheld. A table of `to_counts` does not record it.

        With `max_cells`, the result takes 32 bytes per cell (64 with weights). The result holds
        ranges of scores even without joins. `merge` and `reduced` accept such results in any order:
        the certain intervals always hold the exact values. For scores without ties, one reduction
        to 1,024 cells makes the certain interval of the pooled AUC about 6e-4 wide. The width for n
        cells is ``1,024 / n`` times this width. Repeated reductions widen the interval. See
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
        return self._with(
            reduced(self._state, disclosure, min_count, small_groups, tell_withheld, max_cells)
        )

    def extremes(self) -> tuple[ScoreCounts, ScoreCounts]:
        """Return exact counts with the lowest and with the highest AUCs that the ranges permit.

        The AUC of any set of positives over any set of negatives lies between the two values of
        this AUC in both results. In the first result, the positives of each cell have the lowest
        score of the cell's range, and the negatives have the highest score. In the second result,
        the positives have the highest score, and the negatives have the lowest score. The method
        returns exact counts unchanged.

        Returns
        -------
        lowest, highest : ScoreCounts
            Exact counts of the same rows, or summaries of exact counts.

        See Also
        --------
        GroupAUC.bounds : The lowest and highest AUCs.
        """
        low, high = self._state.extremes
        return self._with(low), self._with(high)

    # Secure sums -------------------------------------------------------------------

    def to_vector(
        self, bins: Bins, groups: Any = None, *, max_count: int | None = None
    ) -> NDArray[np.int64]:
        """Return the counts on an agreed grid of several sites as a vector, for a secure sum.

        The sum of the vectors of all sites has the counts of all rows; `from_vector` reads this
        sum. Sites can add masks that cancel in the sum, so that a server does not see the counts of
        a site.

        Parameters
        ----------
        bins : Bins
            Bins of the scores, with a fixed number of bins.
        groups : array-like of labels, default=None
            Labels of the groups of all sites, in any order; sites agree on these labels beforehand.
            None for rows without groups.
        max_count : int, default=None
            Largest permitted count. For sums modulo ``2**k`` over n sites, pass
            ``(2**(k - 1) - 1) // n``: `from_vector` then reads the right sum. None permits all
            counts.

        Returns
        -------
        ndarray of int64, shape (2 * n_groups * n_bins,)
            Numbers of negatives, then of positives. Each half has the groups in the order of their
            labels, and the bins of each group in the order of their numbers. Bins without rows have
            the count 0.

        Raises
        ------
        ValueError
            If the counts have a group that is not among `groups`; the message names the group. If
            rows have weights, the counts went through `min_count` or `min_per_class`, or a
            merge had ``repeated="allow"``. If `bins` has no fixed number of bins, or a count is
            above `max_count`. If `bins` cannot hold the scores or ranges of the counts.
        TypeError
            If an argument is not as described.

        See Also
        --------
        skfedauc.flower.secure_reply : Vectors in Flower's protocol SecAgg+.

        Notes
        -----
        The vector does not hold `n_missing`, `group_names`, class labels or `sources`.

        A secure sum hides the counts of a site only among three or more sites with rows in the same
        groups. Each of two sites reads the counts of the other in their sum.

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
            Sum of vectors from `to_vector`. Floats must be whole numbers.
        bins : Bins
            As in `to_vector`.
        groups : array-like of labels, default=None
            As in `to_vector`.
        modulus : int, default=None
            Power of two, such as 2**32, for a sum modulo this number. The method refuses entries of
            at least half of the modulus, which have overflowed or still contain masks. None for the
            sum itself.

        Returns
        -------
        ScoreCounts
            Binned counts of the rows of all sites, equal to ``ScoreCounts.merge([counts.reduced(
            bins) for counts in sites])``. The result leaves out groups without rows.

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
        >>> bins, groups = Bins.at([0.3, 0.5]), ["<50", "50+"]
        >>> sites = [
        ...     ScoreCounts.from_predictions([0, 1, 1], scores, groups=["<50", "50+", "50+"])
        ...     for scores in ([0.2, 0.4, 0.7], [0.1, 0.4, 0.4], [0.3, 0.2, 0.6])
        ... ]
        >>> masks = np.random.default_rng(0).integers(2**32, size=(3, 12))
        >>> masks -= np.roll(masks, 1, axis=0)  # each pair of sites shares a mask
        >>> sent = [
        ...     (counts.to_vector(bins, groups) + mask) % 2**32
        ...     for counts, mask in zip(sites, masks)
        ... ]
        >>> counts = ScoreCounts.from_vector(sum(sent), bins, groups, modulus=2**32)
        >>> counts == ScoreCounts.merge([of_site.reduced(bins) for of_site in sites])
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

        The file is a Parquet file with the columns of `to_counts`; polars, DuckDB, Spark and other
        tools can read the file. `ScoreCounts.load` checks the file and restores the counts. A
        failed write does not change an existing file.

        Parameters
        ----------
        path : str or os.PathLike
            File to write; the customary ending is ``.skfa``. The method replaces an existing file.
        source : str, default=None
            Name of the counting, such as the name of a hospital. The file keeps the name and the
            identifier of the counting; messages and `sources` show the name.
        disclosure : "exact", "bins", "summary", Bins or None, default=None
            Level of disclosure of the file; see `reduced`. None writes the counts unchanged. The
            file records the level and the bins, and ``skfedauc show`` prints both.

        Raises
        ------
        OSError
            If the file cannot be written.
        TypeError
            If group labels are members of an `enum.Enum`, or dates whose time zone has no name.
        ValueError
            If `source` is not None for counts with several saved countings. If the counts cannot
            have the level `disclosure`.
        ImportError
            If pyarrow is not installed: ``pip install "skfedauc[files]"``.

        Notes
        -----
        The first `save` or `to_bytes` gives counts a random identifier of 128 bits; the file and
        this object keep the identifier. `merge` and ``+`` refuse to add the same counting twice.
        Merged counts keep the identifiers of all their parts.

        The file of a summary has one row per group. After the group columns, the file has
        `n_negatives`, `n_positives`, with sample weights the columns of weights of `to_counts`, and
        `u2`. The column `u2` is twice the Mann-Whitney U statistic: the AUC is
        ``u2 / (2 * n_negatives * n_positives)``, or
        ``u2 / (2 * weight_negatives * weight_positives)`` with weights. Six columns of sums
        determine the variance of the AUC. For a summary of binned counts, columns with the prefixes
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
    def load(cls, path: str | os.PathLike[str], *, limits: Limits | None = None) -> ScoreCounts:
        """Read counts from a file that `save` wrote.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        limits : skfedauc.counts.Limits, default=None
            Largest size, number of rows and length of labels to accept, for files of strangers.
            None means the default limits.

        Returns
        -------
        ScoreCounts
            The saved counts, with their `n_missing`, `group_names`, class labels and `sources`.

        Raises
        ------
        ValueError
            If the file is damaged, does not come from `save`, or comes from a newer version of
            skfedauc. If the file is above a limit. The message names the file and the place.
        OSError
            If the file cannot be read.
        TypeError
            If `path` is not a path, such as bytes, which `from_bytes` reads, or an integer.
        ImportError
            If pyarrow is not installed: ``pip install "skfedauc[files]"``.

        Notes
        -----
        Loading a file does not run code from the file, so loading files of strangers is safe. A
        checksum detects damage but does not authenticate the writer of the file.
        """
        from skfedauc.counts.parquet import read_file

        limits = check_limits(limits)
        data = read_file(path, most=limits.max_bytes)
        return cls._read(data, f"path {os.fspath(path)!r}", limits)

    def to_bytes(self, *, source: str | None = None, disclosure: Disclosure | None = None) -> bytes:
        """Return the content of the file that `save` writes.

        Parameters
        ----------
        source : str, default=None
            As in `save`.
        disclosure : "exact", "bins", "summary", Bins or None, default=None
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

        state = self._identified(source)
        return content_of(state if disclosure is None else at_level(state, disclosure))

    def _identified(self, source: str | None = None) -> State:
        """Give the counts their random identifier, if there is none, and return their state."""
        with _IDENTIFYING:
            state = self._state._replace(origin=self.origin.saved(source))
            object.__setattr__(self, "_state", state)
        return state

    @property
    def identifier(self) -> str:
        """Random identifier of these counts, 32 hexadecimal digits, which discloses nothing.

        `save` keeps the identifier, so that a page or document can be matched with the archived
        counts. The identifier is that of `sources`; merged counts have an identifier that depends
        only on the identifiers of their sources. Counts made from these counts, such as binned
        counts, have the same identifier. Counting the same rows again gives another identifier.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.4, 0.7])
        >>> ScoreCounts.from_bytes(counts.to_bytes()).identifier == counts.identifier
        True
        """
        return self._identified().origin.identifier

    @classmethod
    def from_bytes(
        cls, data: bytes | bytearray | memoryview, *, limits: Limits | None = None
    ) -> ScoreCounts:
        """Read counts from the bytes of `to_bytes`.

        Parameters
        ----------
        data : bytes-like
            Content of a file that `save` wrote, or result of `to_bytes`.
        limits : skfedauc.counts.Limits, default=None
            As in `load`.

        Returns
        -------
        ScoreCounts
            The counts in the bytes.

        Raises
        ------
        ValueError, ImportError
            As in `load`.
        TypeError
            If `data` is not bytes-like.
        """
        from skfedauc.counts.parquet import check_bytes

        check_bytes(data)
        return cls._read(data, "data", limits)

    @classmethod
    def _read(cls, data: Any, name: str, limits: Limits | None) -> ScoreCounts:
        from skfedauc.counts.files import read_content

        state, checkpoint = read_content(data, name, limits)
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
        """Return the state that skops stores; `__reduce__` makes pickles and copies."""
        return {"content": self.to_bytes()}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        if hasattr(self, "_state"):
            raise AttributeError("ScoreCounts is immutable; its state cannot be set.")
        counts: ScoreCounts = ScoreCounts.from_bytes(state["content"])
        object.__setattr__(self, "_state", counts._state)


# Internal derived counts -------------------------------------------------------------------------
# These functions are no methods, because their callers must keep the counts consistent.


def select_groups(counts: ScoreCounts, numbers: ArrayLike, *, by_size: bool = False) -> ScoreCounts:
    """Return the counts of some groups; counts without groups are returned unchanged.

    Parameters
    ----------
    counts : ScoreCounts
    numbers : array-like of int, shape (n_selected,)
        Increasing positions in `groups`. `n_missing` does not change.
    by_size : bool, default=False
        Whether the selection leaves out small groups, which is a suppression.

    Raises
    ------
    ValueError
        If the positions are not increasing.
    """
    state = counts._state  # noqa: SLF001
    if by_size:
        state = state._replace(origin=state.origin._replace(is_suppressed=True))
    if counts.labels is not None:
        state = regrouping.with_groups(state, regrouping.positions_of(numbers, len(counts)))
    return counts._with(state)  # noqa: SLF001


def merge_named(
    parts: Iterable[tuple[str, ScoreCounts]],
    *,
    repeated: Literal["raise", "allow"] = "raise",
    disclosure: Disclosure | None = None,
) -> ScoreCounts:
    """Add up pairs of a name and score counts; a generator may read one part at a time."""
    is_kept = isinstance(parts, Collection)
    named = ((name, counts, is_kept) for name, counts in parts)
    return ScoreCounts._merged(named, repeated, disclosure)  # noqa: SLF001


def with_n_missing(counts: ScoreCounts, n_missing: int) -> ScoreCounts:
    """Return the counts with another number of rows without a group label."""
    origin = counts.origin._replace(n_missing=n_missing)
    return counts._with(counts._state._replace(origin=origin))  # noqa: SLF001


def with_weights_over(counts: ScoreCounts, exponent: int) -> ScoreCounts:
    """Return the counts with weights divided by ``2**exponent``, without rounding."""
    return counts._with(counts._state.over(exponent))  # noqa: SLF001
