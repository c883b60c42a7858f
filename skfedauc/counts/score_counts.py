"""Define `ScoreCounts`, mergeable score counts by group that determine every AUC."""

from __future__ import annotations

import functools
import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input, _labels, _rows, _words
from skfedauc._kernel import Cells
from skfedauc.counts import reducing
from skfedauc.counts.bins import Bins
from skfedauc.counts.disclosure import Disclosure, Need, check_rule, needs
from skfedauc.counts.files import Limits, Saved, check_limits, state_of_table, table_of
from skfedauc.counts.merging import Invalid, difference, merged, words_of_invalid
from skfedauc.counts.state import Source, State, in_order, new_source, state_of_rows
from skfedauc.counts.vectors import Grid, state_of_vector, vector_of

if TYPE_CHECKING:
    import pandas as pd

# Lock for giving counts their identifier
_IDENTIFYING = threading.Lock()


class CountOptions(TypedDict, total=False):
    """Options of `ScoreCounts.from_predictions` that other constructors pass on."""

    pos_label: Any
    missing: _labels.Missing
    disclosure: str | Bins | Disclosure


class ScoreCounts(Saved):
    """Score counts by group, which determine every AUC over groups exactly.

    For each group, the counts hold how many negatives and positives have each distinct score: the
    AUC is the share of concordant pairs, with ties as one half [1]_. Counts of disjoint rows add up
    in any order; without sample weights the sums are exact integers. All attributes are read-only,
    and ``==`` compares only the counts.

    Counts are not anonymous: counts of distinct scores disclose the group, the score and the class
    of every row, but no features, no identifiers and no order of rows. A `Disclosure` says what a
    site coarsens or withholds.

    See Also
    --------
    GroupAUC : AUCs, gaps and tables from counts.
    MulticlassCounts : Counts for several classes.
    skfedauc.privacy.PrivateCounts : Counts with noise for differential privacy.

    References
    ----------
    .. [1] Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a
       receiver operating characteristic (ROC) curve. Radiology 143(1).
       https://doi.org/10.1148/radiology.143.1.7063747

    Examples
    --------
    >>> from skfedauc import ScoreCounts, GroupAUC
    >>> groups = ["va", "va", "oslo", "oslo"]
    >>> monday = ScoreCounts.from_predictions([0, 1, 0, 1], [0.1, 0.4, 0.3, 0.9], groups=groups)
    >>> tuesday = ScoreCounts.from_predictions([0, 1], [0.8, 0.7], groups=["va", "va"])
    >>> week = monday + tuesday
    >>> week
    ScoreCounts(2 groups, 6 rows: 3 positives and 3 negatives, 6 distinct scores)
    >>> GroupAUC(week).pooled
    0.7777777777777778
    >>> week - tuesday == monday
    True
    """

    __slots__ = ("__dict__", "_state")

    _state: State

    def __init__(self) -> None:
        raise TypeError(
            "ScoreCounts has no public constructor: use ScoreCounts.from_predictions(y_true, "
            "y_score, groups=...) or ScoreCounts.from_counts(group, score, n_negatives, "
            "n_positives)."
        )

    @classmethod
    def _of(cls, state: State) -> ScoreCounts:
        counts = object.__new__(cls)
        for array in state.arrays:
            array.flags.writeable = False
        object.__setattr__(counts, "_state", state)
        return counts

    @classmethod
    def _restored(cls, checksum: bytes, *pickled: Any) -> ScoreCounts:
        """Make score counts from a pickle, after comparing its checksum."""
        try:
            state = State(*pickled)
            is_whole = checksum == state.checksum()
        except Exception:  # damaged values may raise any exception
            is_whole = False
        if not is_whole:
            raise ValueError(
                "the pickled ScoreCounts is damaged: its checksum is another one. Make it again, "
                "or ask for another copy."
            )
        return cls._of(state)

    def _with(self, state: State) -> ScoreCounts:
        """Return score counts with a state; return the same object for an unchanged state."""
        return self if state is self._state else ScoreCounts._of(state)

    def _changed(self, state: State) -> ScoreCounts:
        """Return counts of the same rows, which a merge never takes for those before."""
        if state is self._state:
            return self
        return self._of(state._replace(sources=in_order(of.changed() for of in state.sources)))

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        groups: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        missing: _labels.Missing = "raise",
        n_jobs: int | None = None,
        disclosure: str | Bins | Disclosure = "exact",
    ) -> ScoreCounts:
        """Count predictions.

        Parameters
        ----------
        y_true : array-like, shape (n_rows,)
            Labels with two classes. The rows may all belong to one class.
        y_score : array-like, shape (n_rows,)
            Finite scores; higher means more likely positive. They are kept as float64: decimals,
            fractions and large integers are refused if two different numbers might become equal.
        groups : array-like, shape (n_rows,) or (n_rows, n_columns), default=None
            Each row's group label: booleans, integers, strings, dates, periods, intervals (of
            `pandas.cut`), members of an `enum.Enum`, or categories of these. Floats that are whole
            numbers become integers. With several columns, each combination is a group, labeled by
            a tuple.
        sample_weight : array-like, shape (n_rows,), default=None
            Weights, 0 or more. Rows of weight 0 are left out.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans. If all
            rows have one other label, they count as negatives; a misspelled `pos_label` is noticed
            when the counts are merged.
        missing : {"raise", "drop", "group"}, default="raise"
            Rows without a group label (None, NaN, NaT or NA in one of the columns) are a
            ValueError, left out and counted in `n_missing`, or get the label ``"(missing)"``.
        n_jobs : int, default=None
            Number of threads, also of reports from these counts. None means 1 unless in a
            `joblib.parallel_config` context; -1 means all processors. The result does not depend on
            it.
        disclosure : {"exact", "bins", "summary"}, Bins or Disclosure, default="exact"
            What is coarsened or withheld.

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
        >>> ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.2, 0.7], groups=["a", "a", "b"])
        ScoreCounts(2 groups, 3 rows: 2 positives and 1 negative, 2 distinct scores)
        """
        missing, rule = _labels.check_missing(missing), check_rule(disclosure)
        rows = _rows.check_rows(y_true, y_score, groups, sample_weight, pos_label, missing=missing)
        return cls._of(reducing.reduced(state_of_rows(rows, n_jobs), rule))

    @classmethod
    def from_counts(
        cls,
        /,
        group: Any = None,
        score: Any = None,
        n_negatives: Any = None,
        n_positives: Any = None,
        **columns: Any,
    ) -> ScoreCounts:
        """Make score counts from counts by group and score, such as the result of a query.

        Rows may come in any order, and may repeat a group and score. ``from_counts(**table)`` reads
        the table of `to_counts`.

        Parameters
        ----------
        group : array-like, shape (n_counts,) or (n_counts, n_columns), default=None
            Group labels as in `from_predictions`; None for counts without groups.
        score : array-like, shape (n_counts,), default=None
            Finite scores; required.
        n_negatives, n_positives : int array-like, shape (n_counts,), default=None
            Required row counts, 0 or more.
        **columns : array-like, shape (n_counts,)
            Further columns by name. Of weighted rows, all of `weight_negatives`, `weight_positives`
            (summed sample weights by class), `squared_weight_negatives` and
            `squared_weight_positives` (summed squared weights). Of ranges of scores, `score_low`
            and `score_high`, the lowest and highest possible score; `score` lies in the range, and
            represents it. Others are columns of group labels, instead of `group`, whose names
            reports show.

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
        """
        counts = {"score": score, "n_negatives": n_negatives, "n_positives": n_positives}
        return cls._of(state_of_table(group, counts, columns))

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        label: str,
        score: str,
        group: str | list[str] | None = None,
        weight: str | None = None,
        max_cells: int = 10_000_000,
        **options: Unpack[CountOptions],
    ) -> ScoreCounts:
        """Count a table's rows, in memory, lazily or in a database.

        Databases and lazy tables count their rows by one query, ``SELECT group, score, label,
        COUNT(*) ... GROUP BY group, score, label``, and transfer only the counts. With bins, they
        group scores in float64 or float32 by bin.

        Parameters
        ----------
        table : DataFrame, lazy table or relation
            Any table that narwhals reads: pandas, polars (also lazy), pyarrow, DuckDB, PySpark
            (also Spark Connect), Dask, SQLFrame, or Ibis, which reads PostgreSQL and others.
        label, score : str
            Label and score columns.
        group : str or list of str, default=None
            Group column or columns.
        weight : str, default=None
            Sample weight column.
        max_cells : int, default=10_000_000
            Most combinations of group, score and label that a query may return, at about 100 bytes
            each. There is no limit for rows in memory.
        **options : dict
            The options ``pos_label``, ``missing`` and ``disclosure`` of `from_predictions`.

        Returns
        -------
        ScoreCounts
            Equal to `from_predictions`'s counts, except for rounding with weights.

        Raises
        ------
        ValueError, TypeError
            If narwhals does not read `table`, if a column is absent or not as `from_predictions`
            requires, or if the query returns more than `max_cells` rows.

        Examples
        --------
        >>> import polars as pl
        >>> from skfedauc import ScoreCounts
        >>> table = pl.LazyFrame({"ill": [0, 1, 1], "risk": [0.2, 0.2, 0.7]})
        >>> ScoreCounts.from_table(table, label="ill", score="risk")
        ScoreCounts(no groups, 3 rows: 2 positives and 1 negative, 2 distinct scores)
        """
        from skfedauc.counts.engines import count_table

        _input.check_keywords(options, CountOptions.__annotations__, "ScoreCounts.from_table")
        columns = {"label": label, "score": score, "group": group, "weight": weight}
        return cls._of(count_table(table, columns, max_cells, **options))

    @classmethod
    def from_batches(
        cls,
        batches: Iterable[Any],
        *,
        label: str | None = None,
        score: str | None = None,
        group: str | list[str] | None = None,
        weight: str | None = None,
        n_jobs: int | None = None,
        **options: Unpack[CountOptions],
    ) -> ScoreCounts:
        """Count rows in batches, for data that do not fit in memory.

        Workers of the active joblib backend count batches, also on other machines (Dask, Ray), and
        their counts are merged as they arrive. Memory holds the merged counts (up to three copies
        while merging) and about ``2 * n_jobs`` batches.

        Parameters
        ----------
        batches : iterable of tuples, DataFrames, paths or callables
            Tuples ``(y_true, y_score[, groups[, sample_weight]])``; DataFrames of pandas, polars or
            pyarrow; paths of Parquet or CSV files (``.parquet``, ``.csv``, ``.csv.gz``; needs
            ``skfedauc[files]``); or functions without arguments that return a tuple or a DataFrame.
            Workers read files and call functions.
        label, score : str, default=None
            Label and score columns. Required for DataFrames and files.
        group, weight : str, or list of str as group, default=None
            As in `from_table`.
        n_jobs : int, default=None
            Workers. None means 1 unless in a `joblib.parallel_config` context; -1 means
            all processors. ``joblib.parallel_config("threading")`` sends no batches to processes.
        **options : dict
            The options ``pos_label``, ``missing`` and ``disclosure`` of `from_predictions`. Workers
            count by bins, so that no scores leave them; a summary and ``min_count`` are applied to
            the sum.

        Returns
        -------
        ScoreCounts
            Equal to the counts of all rows from a single call, except for rounding with weights.

        Raises
        ------
        ValueError, TypeError
            If there is no batch, or a batch is not as described; the message names the batch.
        RuntimeError
            If reading a batch fails for another reason, or a worker dies.

        Notes
        -----
        In CSV files, columns are separated by commas, semicolons or tabs, group labels are text,
        and only empty cells are missing values. To keep what is counted if a batch fails, save the
        counts of each batch, and `merge` the files.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> days = [([0, 1], [0.1, 0.4], ["va", "oslo"]), ([1, 0], [0.8, 0.3], ["va", "oslo"])]
        >>> ScoreCounts.from_batches(iter(days))
        ScoreCounts(2 groups, 4 rows: 2 positives and 2 negatives, 4 distinct scores)
        """
        from skfedauc.counts.engines import count_batches

        _input.check_keywords(options, CountOptions.__annotations__, "ScoreCounts.from_batches")
        columns = {"label": label, "score": score, "group": group, "weight": weight}
        return cls._of(count_batches(batches, columns, n_jobs, **options))

    def with_source(
        self,
        name: str | None = None,
        *,
        model: str | None = None,
        period: str | None = None,
        metadata: Mapping[str, str] | None = None,
        secret: bytes | None = None,
    ) -> ScoreCounts:
        """Say where the counts come from; the source stays with them through files and merges.

        Parameters
        ----------
        name : str, default=None
            Who counted, such as a hospital.
        model : str, default=None
            Name, version or hash of the model that scored the rows.
        period : str, default=None
            When the rows arose, such as "2026-10". `merge` counts the same name, model and period
            once.
        metadata : mapping of str to str, default=None
            Further facts.
        secret : bytes, default=None
            Key of the sender, of 16 bytes or more. The identifier of the source is then a keyed
            hash of the counts instead of random: counting the same rows again gives the same
            identifier, and nobody else can test guesses of the counts.

        Returns
        -------
        ScoreCounts
            The same counts with this source.

        Raises
        ------
        ValueError, TypeError
            If an argument is not text, or the counts are a sum of several sources.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.4, 0.7])
        >>> counts.with_source("oslo", model="risk 2.1", period="2026-10").sources[0].period
        '2026-10'
        """
        state = self._state
        if len(state.sources) > 1 or (state.sources and not state.is_complete):
            raise ValueError(
                f"a source names one counting of rows; these counts are merged from "
                f"{len(state.sources)} countings that were named or saved before and keep their "
                "names. Name the parts before merging."
            )
        source = new_source(name, model, period, metadata, secret, state.digest)
        if state.sources and secret is None:  # the same rows under a new name
            source = source._replace(identifier=state.sources[0].identifier)
        return self._with(state._replace(sources=(source,), is_complete=True))

    @property
    def sources(self) -> tuple[Source, ...]:
        """Countings in these counts, sorted: name, model, period, metadata and identifier of each.

        Counts have none before `with_source` or their first save.
        """
        return self._state.sources

    @classmethod
    def merge(
        cls,
        parts: Iterable[Any] | Mapping[str, Any],
        *,
        repeated: Literal["raise", "replace"] = "raise",
        models: Literal["same", "any"] = "same",
        on_invalid: Literal["raise", "skip"] = "raise",
        disclosure: str | Bins | Disclosure | None = None,
        by_period: bool = False,
        limits: Limits | None = None,
    ) -> ScoreCounts:
        """Add up any number of score counts and files of score counts, each counting once.

        A part counts once if it comes again with the same source, model, period and counts, also
        where one of them lacks the model or the period, or if another part contains it.

        Parameters
        ----------
        parts : iterable of ScoreCounts, str or os.PathLike, or mapping to these
            Counts or paths; either all have groups or none has. Large files are read one at a time.
            Messages show the keys of a mapping as the names of the parts.
        repeated : {"raise", "replace"}, default="raise"
            The same source, model and period with other counts is an error, or replaces the earlier
            part. If one part lacks the model or the period, it is an error.
        models : {"same", "any"}, default="same"
            Whether parts that name different models are an error.
        on_invalid : {"raise", "skip"}, default="raise"
            A file that is damaged, absent or beyond the limits is an error, and so is a part that
            contradicts most others; or both are left out with one warning that names the reasons.
        disclosure : {"exact", "bins", "summary"}, Bins or Disclosure, default=None
            Level to which all parts are reduced first; None if they have one level. Ranges over
            several of the `Bins` become their unions, so that certain intervals remain certain.
        by_period : bool, default=False
            Whether the period of each part, of `with_source`, becomes the last group column. Parts
            whose last column ``period`` has it keep it, so that new periods can be added to a sum.
        limits : Limits, default=None
            What is accepted of a file.

        Returns
        -------
        ScoreCounts
            The counts of all rows. The order of the parts has no effect, except for rounding with
            weights, for parts that are replaced, and for invalid ones that are skipped: of two that
            contradict each other, the first counts.

        Raises
        ------
        MergeError
            If parts contradict each other: other positive labels, groups, levels, models or
            periods, or rows that would count twice. The message names the parts and the remedy.
        ValueError, TypeError, OSError
            If there are no parts, if an item is no counts or path, or if a file is absent or
            damaged.

        Warns
        -----
        UserWarning
            If all group columns have different names, if two files or messages have equal counts
            and one of them has no name, or if files are left out.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> north = ScoreCounts.from_predictions([0, 1], [0.1, 0.6]).with_source("north")
        >>> south = ScoreCounts.from_predictions([0, 1], [0.3, 0.4]).with_source("south")
        >>> ScoreCounts.merge([north, south, north])
        ScoreCounts(no groups, 4 rows: 2 positives and 2 negatives, 4 distinct scores)
        """
        options = repeated, models, on_invalid, disclosure, by_period, limits
        counts, _, invalid = merge_named(parts, *options)
        if invalid:
            _input.warn(words_of_invalid(invalid))
        return counts

    def __add__(self, other: ScoreCounts) -> ScoreCounts:
        if not isinstance(other, ScoreCounts):
            return NotImplemented
        return ScoreCounts.merge([self, other])

    def __radd__(self, other: Any) -> ScoreCounts:
        """Support the built-in ``sum``, which starts with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: ScoreCounts) -> ScoreCounts:
        """Take a merged part out again, such as a site that withdraws or an old month."""
        if not isinstance(other, ScoreCounts):
            return NotImplemented
        return self._with(difference(self._state, other._state))

    def regroup(self, to: Mapping[Any, Any] | Callable[[Any], Any] | None) -> ScoreCounts:
        """Rename groups, or combine several groups into one.

        Parameters
        ----------
        to : mapping, callable or None
            From each old label (None without groups) to its new label. None makes all rows one
            group without a label.

        Returns
        -------
        ScoreCounts
            The same rows under the new labels.

        Raises
        ------
        ValueError, TypeError
            If the mapping lacks a group, or `to` returns an invalid label.
        DisclosureError
            If groups of a summary would be combined.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> pairs = [("f", "<50"), ("f", "50+"), ("m", "<50")]
        >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.4, 0.7], groups=pairs)
        >>> counts.regroup(lambda label: label[0]).groups
        ('f', 'm')
        """
        return self._changed(reducing.regrouped(self._state, to))

    def map_scores(self, function: Callable[[NDArray[np.float64]], Any]) -> ScoreCounts:
        """Replace scores by a function of them, such as rounding or the decision at a threshold.

        Parameters
        ----------
        function : callable
            Called once with the sorted distinct scores, a float64 array, shape (n_scores,). It
            returns a finite number for each; it need not be monotonic.

        Returns
        -------
        ScoreCounts
            Counts of the same rows with the new scores.

        Raises
        ------
        ValueError, TypeError
            If `function` is not callable, or does not return one finite number for each score.
        DisclosureError
            If the counts hold no exact scores.

        Examples
        --------
        >>> import numpy as np
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.21, 0.24, 0.68])
        >>> counts.map_scores(lambda score: np.round(score, 1)).cells.scores
        array([0.2, 0.7])
        """
        return self._changed(reducing.with_scores(self._state, function))

    def reduced(
        self, disclosure: str | Bins | Disclosure | None = None, *, max_cells: int | None = None
    ) -> ScoreCounts:
        """Return counts that disclose less, or that have fewer cells.

        Parameters
        ----------
        disclosure : {"exact", "bins", "summary"}, Bins or Disclosure, default=None
            What is coarsened or withheld; None keeps the level. Binned counts permit only bins that
            are unions of theirs. A summary keeps, for each group, the numbers of rows, the number
            of concordant pairs, and the sums that determine the variance of the AUC.
        max_cells : int, default=None
            Largest number of cells. Neighboring cells of a group are joined where this widens the
            certain interval of the AUC least. It alone protects no scores.

        Returns
        -------
        ScoreCounts
            Counts of the same rows, except for withheld groups.

        Raises
        ------
        DisclosureError
            If the counts disclose less than the rule asks for, or are a summary with `max_cells`.
        ValueError, TypeError
            If there is no argument, if a score is outside the domain of the bins, or if `max_cells`
            is less than the number of groups.

        Notes
        -----
        Summaries give the same group AUCs, averages, gaps, intervals and tests, but no result that
        compares rows in different groups, such as the pooled AUC, and `merge` accepts them only if
        no group is in two. With `max_cells`, the result holds ranges of scores even without joins:
        one reduction to n cells makes the certain interval of the pooled AUC about ``.6 / n`` wide,
        and repeated ones widen it.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.6, 0.5], groups=list("aab"))
        >>> counts.reduced("summary")
        ScoreCounts(2 groups, 3 rows: 2 positives and 1 negative, summary by group)
        >>> counts.reduced(max_cells=2)
        ScoreCounts(2 groups, 3 rows: 2 positives and 1 negative, 2 ranges)
        """
        if disclosure is None and max_cells is None:
            raise TypeError("reduced needs disclosure or max_cells; got neither.")
        state = self._state
        if disclosure is not None:
            state = reducing.reduced(state, check_rule(disclosure))
        return self._with(state if max_cells is None else reducing.within(state, max_cells))

    @property
    def disclosure(self) -> Disclosure:
        """What was coarsened and withheld: level, bins, `min_count` and withheld groups."""
        return self._state.disclosure

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, limits: Limits | None = None) -> ScoreCounts:
        """Read counts from a file of `save`, also of earlier versions.

        Loading runs no code from the file. A checksum detects damage, but does not authenticate the
        writer.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        limits : skfedauc.counts.Limits, default=None
            What to accept, for files of strangers.

        Returns
        -------
        ScoreCounts
            The saved counts, with their sources and what they disclose.

        Raises
        ------
        ValueError
            If the file is damaged, is no file of counts, comes from a newer version of skfedauc, or
            is above a limit. The message names the file and the place.
        OSError, TypeError, ImportError
            If the file cannot be read, if `path` is not a path, or if pyarrow is not installed.
        """
        from skfedauc.counts import file_format

        return cls._of(file_format.read_path(path, check_limits(limits), "path "))

    def _of_file(self) -> bytes:
        from skfedauc.counts import file_format

        return file_format.content_of(identified(self))

    @classmethod
    def from_bytes(
        cls, data: bytes | bytearray | memoryview, *, limits: Limits | None = None
    ) -> ScoreCounts:
        """Read counts from the bytes of `to_bytes`.

        Parameters
        ----------
        data : bytes-like
            Result of `to_bytes`, or content of a file that `save` wrote.
        limits : skfedauc.counts.Limits, default=None
            As in `load`.

        Returns
        -------
        ScoreCounts

        Raises
        ------
        ValueError, TypeError, ImportError
            As in `load`, or if `data` is not bytes-like.
        """
        from skfedauc.counts import file_format

        file_format.check_bytes(data)
        return cls._of(file_format.read_content(data, "data", check_limits(limits)))

    def to_vector(
        self, bins: Bins, groups: Any = None, *, max_count: int | None = None
    ) -> NDArray[np.int64]:
        """Return the counts on an agreed grid of several sites as a vector, for a secure sum.

        The sum of the vectors of all sites has the counts of all rows; `from_vector` reads it.
        Sites can add masks that cancel in the sum, so that a server does not see their counts. This
        hides them only among three or more sites with rows in the same groups.

        Parameters
        ----------
        bins : Bins
            Agreed bins, with a fixed number of bins.
        groups : array-like of labels, default=None
            Agreed labels of the groups of all sites, in any order; None for rows without groups.
        max_count : int, default=None
            Largest permitted count. For sums modulo ``2**k`` over n sites, pass
            ``(2**(k - 1) - 1) // n``, so that `from_vector` reads the right sum.

        Returns
        -------
        int64 array, shape (2 * n_groups * n_bins,)
            Negatives, then positives, by group and bin.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described, if the counts have a group that is not among
            `groups`, have weights, or went through `min_count` or `min_per_class`, or if a count is
            above `max_count`.

        Examples
        --------
        >>> from skfedauc import Bins, ScoreCounts
        >>> bins = Bins.at([0.5])
        >>> oslo = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.4, 0.7], groups=["oslo"] * 3)
        >>> oslo.to_vector(bins, ["lima", "oslo"])
        array([0, 0, 1, 0, 0, 0, 1, 1])
        """
        return vector_of(self._state, Grid(bins, groups), max_count)

    @classmethod
    def from_vector(
        cls, vector: Any, bins: Bins, groups: Any = None, *, modulus: int | None = None
    ) -> ScoreCounts:
        """Make score counts from a sum of vectors of several sites.

        Parameters
        ----------
        vector : array-like, shape (2 * n_groups * n_bins,)
            Sum of vectors from `to_vector`. Floats must be whole numbers.
        bins : Bins
            As in `to_vector`.
        groups : array-like of labels, default=None
            As in `to_vector`.
        modulus : int, default=None
            Power of two, such as 2**32, for a sum modulo this number. Entries of at least half of
            it are refused: they have overflowed, or still contain masks.

        Returns
        -------
        ScoreCounts
            Binned counts of the rows in all sites, without groups that have no rows.

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described, or an entry is not a possible sum of counts.

        Examples
        --------
        >>> from skfedauc import Bins, ScoreCounts
        >>> bins = Bins.at([0.3])
        >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.4, 0.7])
        >>> masked = [(counts.to_vector(bins) + mask) % 2**32 for mask in (7, -7)]
        >>> ScoreCounts.from_vector(sum(masked), bins, modulus=2**32)
        ScoreCounts(no groups, 6 rows: 4 positives and 2 negatives, 2 bins)
        """
        return cls._of(state_of_vector(vector, Grid(bins, groups), modulus))

    @functools.cached_property
    def groups(self) -> tuple[Any, ...] | None:
        """Sorted group labels; None for rows without groups."""
        labels = self._state.labels
        return None if labels is None else tuple(labels.tolist())

    @property
    def group_names(self) -> tuple[str, ...]:
        """Group column names, such as the name of a Series; empty without names."""
        return self._state.group_names

    @property
    def n_positives(self) -> NDArray[np.int64]:
        """Number of positives by group, without rows of weight 0; of shape (n_groups,)."""
        return self._state.concordance.n_positives

    @property
    def n_negatives(self) -> NDArray[np.int64]:
        """Number of negatives by group, without rows of weight 0; of shape (n_groups,)."""
        return self._state.concordance.n_negatives

    @property
    def n_missing(self) -> int:
        """Number of dropped rows without a group label (``missing="drop"``)."""
        return self._state.n_missing

    @property
    def cells(self) -> Cells:
        """Counts of each group and distinct score, as a named tuple of read-only arrays.

        Group g has the cells ``starts[g]`` to ``starts[g + 1] - 1``, sorted by score: `scores`,
        `negatives` and `positives`, of shape (n_cells,). `weights` is None, or the sums of the
        weights of negatives and positives and of the squared weights, of shape (4, n_cells).

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions([0, 1, 1, 0], [0.2, 0.2, 0.7, 0.1])
        >>> counts.cells.scores, counts.cells.positives
        (array([0.1, 0.2, 0.7]), array([0, 1, 1], dtype=uint32))
        """
        return self._state.cells

    def to_counts(self) -> pd.DataFrame:
        """Return the counts as a table that `from_counts` reads.

        The table lacks `n_missing`, `sources` and what was withheld.

        Returns
        -------
        pandas.DataFrame
            One row per group and score, sorted: the group columns, named by `group_names` or
            `group` (`group_1`, `group_2`, ... for tuples), `score`, with bins `score_low` and
            `score_high`, `n_negatives` and `n_positives`, and the four sums of weights of
            `from_counts` if rows have weights.

        Raises
        ------
        DisclosureError
            If the counts are a summary.

        Examples
        --------
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.2, 0.7], groups=list("aab"))
        >>> counts.to_counts()
          group  score  n_negatives  n_positives
        0     a    0.2            1            1
        1     b    0.7            0            1
        """
        needs(self.disclosure, Need.SCORES, "to_counts")
        return table_of(self._state)

    def __len__(self) -> int:
        """Return the group count; 1 for rows without groups, and 0 without rows."""
        return self._state.n_groups

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreCounts):
            return NotImplemented
        one, two = self._state, other._state
        if _labels.kind_of(one.labels) != _labels.kind_of(two.labels):
            return False  # the label True must not equal the label 1
        mine, yours = one.arrays, two.arrays
        is_alike = one.disclosure.level == two.disclosure.level and len(mine) == len(yours)
        return is_alike and all(map(np.array_equal, mine, yours))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return ScoreCounts._restored, (self._state.checksum(), *self._state[:-1])

    def __getstate__(self) -> dict[str, bytes]:
        """Return the state that skops stores; `__reduce__` makes pickles and copies."""
        return {"content": self.to_bytes()}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        if hasattr(self, "_state"):
            raise AttributeError("ScoreCounts is immutable; its state cannot be set.")
        counts: ScoreCounts = ScoreCounts.from_bytes(state["content"])
        object.__setattr__(self, "_state", counts._state)

    def _n_distinct(self) -> str:
        """Return the number of distinct scores, bins or ranges in words."""
        rule, ranges = self.disclosure, self._state.ranges
        if rule.level == "summary":
            return "summary by group"
        if ranges is None:
            return _words.counted(np.unique(self.cells.scores).size, "distinct score")
        # Different ranges may have the same score.
        n_ranges = np.unique(ranges[0] + 1j * ranges[1]).size
        return _words.counted(n_ranges, "range" if rule.bins is None else "bin")

    def __repr__(self) -> str:
        positives, negatives = int(self.n_positives.sum()), int(self.n_negatives.sum())
        groups = "no groups" if self.groups is None else _words.counted(len(self), "group")
        weighted = ", weighted" if self._state.is_weighted else ""
        counted = _words.counted
        return (
            f"ScoreCounts({groups}, {counted(positives + negatives, 'row')}: "
            f"{counted(positives, 'positive')} and {counted(negatives, 'negative')}, "
            f"{self._n_distinct()}{weighted}{left_out(self.n_missing)}"
            f"{self.disclosure.withheld.in_words()})"
        )


def left_out(n_missing: int) -> str:
    """Return a phrase with the row count without a group label."""
    if not n_missing:
        return ""
    return f", {_words.counted(n_missing, 'row')} without a group label left out"


# These functions are no methods, because their callers must keep the counts consistent.


def select_groups(
    counts: ScoreCounts, numbers: ArrayLike, *, at_least: int | None = None
) -> ScoreCounts:
    """Return some groups' counts; counts without groups are returned unchanged.

    `numbers` are increasing positions in `groups`, and `n_missing` does not change. A selection of
    groups with `at_least` rows in a class is a suppression.
    """
    state = counts._state  # noqa: SLF001
    if at_least is not None:
        mark = min(at_least, state.disclosure.min_count or at_least)
        state = state.with_disclosure(min_count=mark)
    if state.labels is not None:
        state = reducing.with_groups(state, np.asarray(numbers, np.intp))
    return counts._with(state)  # noqa: SLF001


def with_weights_over(counts: ScoreCounts, exponent: int | None = None) -> ScoreCounts:
    """Return the counts with weights divided by ``2**exponent``, their own by default, exactly."""
    state = counts._state  # noqa: SLF001
    return counts._with(state.over(state.weight_exponent if exponent is None else exponent))  # noqa: SLF001


def merge_named(*parts: Any, **options: Any) -> tuple[ScoreCounts, list[str], Invalid]:
    """Return the sum, the names of parts that repeat others, and those of invalid ones with why."""
    state, repeated, invalid = merged(*parts, **options)
    return ScoreCounts._of(state), repeated, invalid  # noqa: SLF001


def view_of(counts: ScoreCounts) -> State:
    """Return score counts' labels, classes, ranges and sums over cells."""
    return counts._state  # noqa: SLF001


def counts_of_rows(rows: _rows.Rows, n_jobs: int | None = None) -> ScoreCounts:
    return ScoreCounts._of(state_of_rows(rows, n_jobs))  # noqa: SLF001


def extremes_of(counts: ScoreCounts) -> tuple[ScoreCounts, ScoreCounts]:
    """Return exact counts with the lowest and with the highest AUCs that the ranges permit."""
    low, high = counts._state.extremes  # noqa: SLF001
    return counts._with(low), counts._with(high)  # noqa: SLF001


def identified(counts: ScoreCounts) -> State:
    """Return the counts' state; rows without a source get a random identifier, which is kept."""
    with _IDENTIFYING:
        state = view_of(counts)
        if not state.is_complete:
            sources = in_order([*state.sources, new_source()])
            state = state._replace(sources=sources, is_complete=True)
            vars(state).update(vars(view_of(counts)))  # sums that were computed
            object.__setattr__(counts, "_state", state)
    return state


def identifier_of(counts: ScoreCounts) -> str:
    """Return the counts' random identifier, which discloses nothing, and which `save` keeps."""
    found = sorted(source.identifier for source in identified(counts).sources)
    return found[0] if len(found) == 1 else hashlib.sha256("".join(found).encode()).hexdigest()[:32]
