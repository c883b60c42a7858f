"""`GroupAUC`: report on the AUCs of a `ScoreCounts`."""

from __future__ import annotations

import copy
import functools
import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from skfedauc import _input, _sklearn, _words
from skfedauc.counts import ScoreCounts, left_out
from skfedauc.pairs import GroupPairs, share_of
from skfedauc.report.bias import Bias
from skfedauc.report.statistics import (
    AVERAGES,
    STATISTICS,
    StatisticName,
    Undefined,
    check_statistic,
    check_undefined,
)
from skfedauc.report.uncertainty import Uncertainty

if TYPE_CHECKING:
    import pandas as pd

# Above this many groups `statistics()` omits statistics that need the cross matrix.
MATRIX_GROUPS = 500
# Below this share of weighted cross-group pairs, sum them directly: a difference loses precision.
_FEW_CROSS = 1e-3


class Decomposition(NamedTuple):
    """Decomposition of the pooled AUC into pairs within groups and pairs across groups.

    ``pooled = share_within * within + (1 - share_within) * cross``.

    Attributes
    ----------
    within : float
        AUC over the pairs whose positive and negative are in the same group.
    cross : float
        AUC over the pairs whose positive and negative are in different groups.
    share_within : float
        Share of the pairs that are within groups.
    """

    within: float
    cross: float
    share_within: float


class GroupAUC(Uncertainty, Bias):
    """Report on AUCs over groups, computed from score counts.

    Parameters
    ----------
    counts : ScoreCounts or GroupPairs
        Score counts by group, such as the sum of the counts of many devices. A `GroupPairs` also
        determines which rows are compared, as in the reports of a cross-validation.
    undefined : {"skip", "ignore", "raise"} or float, default="skip"
        How averages and gaps treat groups that lack a class, whose AUC is undefined. "skip" leaves
        them out with one `UndefinedMetricWarning` that counts them. "ignore" leaves them out
        silently. "raise" raises a ValueError. A number is used as their AUC.
    group_names : str or list of str, default=None
        Names of the group columns in tables: one name for each column that the groups come from.
        None means the `group_names` of the counts.

    Attributes
    ----------
    counts : ScoreCounts
    undefined : str or float

    Raises
    ------
    TypeError
        If `counts` is not a ScoreCounts, or `group_names` are not strings.
    ValueError
        If `undefined` is none of the above, or the number of names differs from the number of
        columns. With ``undefined="raise"`` also on access to an average or a gap if a group lacks a
        class, and on access to a result that would be NaN.

    See Also
    --------
    group_roc_auc_score : Compute one statistic.
    group_auc_scoring : Scorers of the statistics.

    Notes
    -----
    The pooled AUC is the average of the cross AUCs of all pairs (g, h) of groups, weighted by
    ``W+_g W-_h`` [1]_, where ``W+_g`` and ``W-_g`` are the weights of the positives and of the
    negatives of group g.

    The average of the group AUCs by positives is the covariate-adjusted AUC [2]_. It equals the
    pooled AUC if the negatives have the same score distribution in all groups. The average by
    negatives equals the pooled AUC if the positives have the same score distribution in all groups.

    References
    ----------
    .. [1] Kallus, N. and Zhou, A. (2019). The fairness of risk scores beyond
       classification: bipartite ranking and the xAUC metric. NeurIPS 32.
    .. [2] Janes, H. and Pepe, M. S. (2009). Adjusting for covariate effects on
       classification accuracy using the covariate-adjusted ROC curve. Biometrika 96(2).
       https://doi.org/10.1093/biomet/asp002

    Examples
    --------
    >>> from skfedauc import GroupAUC
    >>> report = GroupAUC.from_predictions(
    ...     y_true=[0, 1, 0, 1, 1], y_score=[0.2, 0.6, 0.5, 0.4, 0.9],
    ...     groups=["a", "a", "b", "b", "b"],
    ... )
    >>> report.pooled, report.average("macro"), report.difference
    (0.8333333333333334, 0.75, 0.5)
    >>> report.by_group
           auc  n_positives  n_negatives
    group
    a      1.0            1            1
    b      0.5            2            1
    """

    # Sentence, with a leading space, that scorers append to messages about undefined AUCs.
    _remedy = ""
    # Whether to warn once for all statistics, as scorers do in each fold.
    _warns_once = False

    def __init__(
        self,
        counts: ScoreCounts | GroupPairs,
        *,
        undefined: Undefined = "skip",
        group_names: str | Sequence[str] | None = None,
    ) -> None:
        pairs = GroupPairs(counts) if isinstance(counts, ScoreCounts) else counts
        if not isinstance(pairs, GroupPairs):
            raise TypeError(
                f"GroupAUC reads a ScoreCounts; got {type(counts).__name__}. Use "
                "GroupAUC.from_predictions(y_true, y_score, groups=...) for rows."
            )
        self._pairs, counts = pairs, pairs.counts
        self._undefined = check_undefined(undefined)
        names = counts.group_names if group_names is None else group_names
        self._group_names = _input.check_group_names(names, counts.labels)

    # Whether undefined results are NaN without a warning
    _is_quiet = False

    @property
    def counts(self) -> ScoreCounts:
        """The counts that the report is computed from."""
        return self._pairs.counts

    @property
    def pairs(self) -> GroupPairs:
        """Pairs of a positive and a negative, from which AUCs are computed."""
        return self._pairs

    @property
    def undefined(self) -> Undefined:
        """How averages and gaps treat groups that lack a class."""
        return self._undefined

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        groups: Any,
        sample_weight: Any = None,
        pos_label: Any = None,
        undefined: Undefined = "skip",
        missing: _input.Missing = "raise",
        n_jobs: int | None = None,
    ) -> GroupAUC:
        """Make a report from labels, scores and groups.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes.
        y_score : array-like of shape (n_rows,)
            Finite scores; a higher score means more likely positive.
        groups : array-like of shape (n_rows,) or (n_rows, n_columns)
            Group label of each row; with several columns each combination is a group.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            How to treat groups that lack a class; see `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        n_jobs : int, default=None
            Number of threads. None means 1 unless in a `joblib.parallel_config` context; -1 means
            all processors.

        Returns
        -------
        GroupAUC

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described; the message says what to pass instead.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> GroupAUC.from_predictions([0, 1], [0.2, 0.6], groups=["a", "a"]).pooled
        1.0
        """
        undefined = check_undefined(undefined)
        _input.check_groups_given(groups)
        counts = ScoreCounts.from_predictions(
            y_true,
            y_score,
            groups=groups,
            sample_weight=sample_weight,
            pos_label=pos_label,
            missing=missing,
            n_jobs=n_jobs,
        )
        return cls(counts, undefined=undefined)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        groups: Any,
        sample_weight: Any = None,
        pos_label: Any = None,
        response_method: str | tuple[str, ...] = ("decision_function", "predict_proba"),
        undefined: Undefined = "skip",
        missing: _input.Missing = "raise",
        n_jobs: int | None = None,
    ) -> GroupAUC:
        """Make a report from a fitted estimator and data.

        Parameters
        ----------
        estimator : estimator object
            A fitted binary classifier, or a pipeline or search that ends in one.
        X : array-like of shape (n_rows, n_features)
            Input of the estimator.
        y : array-like of shape (n_rows,)
            True labels.
        groups : str, list of str, or array-like of shape (n_rows,) or (n_rows, n_columns)
            Name or names of columns of X, or the group labels themselves. A pandas Series is
            aligned with the index of X by label, if X has an index.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; None means ``estimator.classes_[1]``.
        response_method : str or tuple of str, default=("decision_function", \
"predict_proba")
            Methods of the estimator that return scores; the first that exists is used.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            How to treat groups that lack a class; see `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        n_jobs : int, default=None
            Number of threads for counting, not for prediction. None means 1 unless in a
            `joblib.parallel_config` context; -1 means all processors.

        Returns
        -------
        GroupAUC

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described; the message says what to pass instead.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn.linear_model import LogisticRegression
        >>> from skfedauc import GroupAUC
        >>> X = pd.DataFrame({"age": [30, 60, 40, 70], "site": [1, 1, 2, 2]})
        >>> model = LogisticRegression().fit(X, [0, 1, 0, 1])
        >>> GroupAUC.from_estimator(model, X, [0, 1, 0, 1], groups="site").average("macro")
        1.0
        """
        undefined, missing = check_undefined(undefined), _input.check_missing(missing)
        _input.check_groups_given(groups)
        labels = _input.groups_of_rows(groups, X)
        _input.check_row_order({"X": X, "y": y, "groups": labels, "sample_weight": sample_weight})
        positive, is_other = _sklearn.positive_class(estimator, pos_label)
        scores = _input.column_of(
            _sklearn.response_values(estimator, X, response_method), "y_score"
        )
        rows = _input.check_rows(
            y,
            -scores if is_other else scores,
            labels,
            sample_weight,
            positive,
            missing=missing,
            warn_labels=False,
        )
        names = _input.names_of(rows.labels, labels, groups)
        return cls(ScoreCounts.of_rows(rows, n_jobs, names), undefined=undefined)

    # Single numbers ------------------------------------------------------------------

    @functools.cached_property
    def pooled(self) -> float:
        """AUC of all rows together."""
        auc = self.pairs.pooled_auc
        if np.isnan(auc):
            return self._not_defined("the pooled AUC needs rows of both classes")
        return auc

    def average(self, weights: str | Mapping[Any, float] | ArrayLike) -> float:
        """Return a weighted average of the group AUCs.

        Parameters
        ----------
        weights : {"macro", "samples", "positives", "negatives", "within"}, mapping or array
            Weights of the groups: equal ("macro"), the group's weight of rows ("samples"), of
            positives or of negatives, or the product of the last two ("within"). Alternatively, a
            mapping or pandas Series with a weight for each label, or an array of weights in the
            order of ``by_group``.

        Returns
        -------
        float
            NaN if no group has a defined AUC.

        Raises
        ------
        ValueError, TypeError
            If the weights are not as described.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"]
        ... )
        >>> report.average({"a": 0.9, "b": 0.1})
        0.9
        """
        auc, used = self._usable
        of_group = self._average_weights(weights)
        total = float(of_group[used].sum())
        if not total > 0:
            return self._not_defined("no group that counts has rows of both classes")
        # Not a dot product, whose rounding depends on the number of threads.
        return min(float((of_group[used] * auc[used]).sum()) / total, 1.0)

    @property
    def worst(self) -> float:
        """Smallest group AUC."""
        auc, used = self._usable
        if not used.any():
            return self._not_defined("no group has rows of both classes")
        return float(auc[used].min())

    @property
    def difference(self) -> float:
        """Largest minus smallest group AUC; NaN with fewer than two defined groups."""
        auc, used = self._usable
        if used.sum() < 2:
            return self._not_defined("a gap needs two groups with rows of both classes")
        return float(auc[used].max() - auc[used].min())

    @property
    def ratio(self) -> float:
        """Smallest over largest group AUC; NaN with fewer than two defined groups."""
        auc, used = self._usable
        if used.sum() < 2:
            return self._not_defined("a gap needs two groups with rows of both classes")
        if auc[used].max() <= 0:
            return self._not_defined(
                "a ratio needs a group with an AUC above 0", more_rows_help=False
            )
        return float(auc[used].min() / auc[used].max())

    @property
    def cross_difference(self) -> float:
        """Largest difference, over pairs of groups, between their two cross AUCs.

        Raises a ValueError if the cross matrix would not fit in memory.
        """
        both = self.pairs.defined
        self._report_undefined()
        if both.sum() < 2:
            return self._not_defined("a gap needs two groups with rows of both classes")
        matrix = self.pairs.cross_auc[np.ix_(both, both)]
        gaps = np.abs(matrix - matrix.T)[~np.eye(len(matrix), dtype=np.bool_)]
        if np.isnan(gaps).all():
            return self._not_defined("no two groups have pairs in both directions")
        return float(np.nanmax(gaps))

    @property
    def n_groups(self) -> int:
        """Number of groups; 1 for rows without groups."""
        return len(self.counts)

    @property
    def n_missing(self) -> int:
        """Number of rows left out because they have no group label."""
        return self.counts.n_missing

    @property
    def n_undefined(self) -> int:
        """Number of groups whose AUC is undefined because they lack a class."""
        return int((~self.pairs.defined).sum())

    def statistic(self, name: StatisticName) -> float:
        """Return a statistic by name.

        Parameters
        ----------
        name : str
            One of "pooled", "macro", "samples", "positives", "negatives", "within",
            "worst", "ratio", "cross", "difference", "cross_difference", "tau",
            "bias_score".

        Returns
        -------
        float
            The statistic; NaN if it is undefined.

        Raises
        ------
        ValueError
            If there is no statistic of that name; the message lists the names.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions([0, 1], [0.2, 0.6], groups=["a", "a"])
        >>> report.statistic("within")
        1.0
        """
        return STATISTICS[check_statistic(name)].compute(self)

    def _score(self, name: str) -> float:
        """Return the value of a statistic that scorers use."""
        statistic = STATISTICS[name]
        return (statistic.score or statistic.compute)(self)

    # Tables --------------------------------------------------------------------------

    def statistics(self) -> pd.Series:
        """Return all named statistics.

        Returns
        -------
        pandas.Series
            Statistics by name. `cross_difference`, which needs the cross matrix, is left out above
            500 groups; use ``statistic("cross_difference")`` instead.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"]
        ... )
        >>> report.statistics().round(2)
        pooled              0.75
        macro               0.50
        samples             0.50
        positives           0.50
        negatives           0.50
        within              0.50
        worst               0.00
        ratio               0.00
        cross               1.00
        difference          1.00
        cross_difference    0.00
        tau                  NaN
        bias_score          0.69
        dtype: float64
        """
        import pandas as pd

        self._report_undefined()
        values = self._all_statistics()
        return pd.Series(values, dtype=np.float64)

    @property
    def by_group(self) -> pd.DataFrame:
        """AUC and class counts of each group.

        A DataFrame with the columns `auc` (NaN if undefined), `n_positives` and `n_negatives`,
        indexed by group. The index is a MultiIndex if labels are tuples.
        """
        import pandas as pd

        return pd.DataFrame(
            {
                "auc": self.pairs.auc,
                "n_positives": self.counts.n_positives,
                "n_negatives": self.counts.n_negatives,
            },
            index=self._index(),
        )

    def without_small_groups(self, min_per_class: int = 10) -> GroupAUC:
        """Return a report without the groups that have few rows of a class.

        The AUC of a tiny group has a large sampling error. If there are tiny groups, they therefore
        dominate `worst`, `difference` and `null_difference`.

        Parameters
        ----------
        min_per_class : int, default=10
            Groups with fewer positives or fewer negatives than this are left out.

        Returns
        -------
        GroupAUC
            Report on the remaining groups, with the parameter `undefined` of this report.

        Raises
        ------
        ValueError
            If `min_per_class` is not a whole number of 0 or more, or the report is over folds.

        See Also
        --------
        ScoreCounts.regroup : Combine small groups.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions(
        ...     [0, 1, 0, 1, 0], [0.2, 0.6, 0.5, 0.4, 0.1], groups=["a", "a", "b", "b", "b"]
        ... )
        >>> report.without_small_groups(min_per_class=1).counts.groups
        ('a', 'b')
        >>> report.without_small_groups(min_per_class=2).n_groups
        0
        """
        least = _input.check_whole_number(min_per_class, "min_per_class", 0)
        if self.pairs.is_within_folds or self.pairs.rows_repeat:
            raise ValueError("without_small_groups is not known over folds.")
        return GroupAUC(
            self.counts.select_groups(np.flatnonzero(self.pairs.has_per_class(least))),
            undefined=self.undefined,
            group_names=self._group_names,
        )

    def _has_per_class(self, least: int) -> NDArray[np.bool_]:
        """Whether each group has at least this many rows of each class."""
        return self.pairs.has_per_class(least)

    def decomposition(self) -> Decomposition:
        """Split the pooled AUC into pairs within groups and pairs across groups.

        Returns
        -------
        Decomposition
            Named tuple of `within`, `cross` and `share_within`, such that
            ``pooled = share_within * within + (1 - share_within) * cross``. A part
            without pairs is NaN.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"]
        ... )
        >>> report.decomposition()
        Decomposition(within=0.5, cross=1.0, share_within=0.5)
        """
        found = self.pairs
        (u2, pairs), (u2_within, pairs_within) = found.pooled, found.within
        if not found.has_cross_pairs:
            cross = float("nan")
        elif found.u2.dtype.kind == "f" and pairs - pairs_within < _FEW_CROSS * pairs:
            # The difference of two sums would lose so few pairs to rounding.
            u2_across, pairs_across = found.over_others
            cross = share_of(u2_across[1, 0].sum(), pairs_across[1, 0].sum())
        else:
            cross = share_of(u2 - u2_within, 2 * (pairs - pairs_within))
        within = share_of(u2_within, 2 * pairs_within)
        return Decomposition(within, cross, share_of(pairs_within, pairs))

    @property
    def cross_matrix(self) -> pd.DataFrame:
        """AUC of each group's positives against each group's negatives.

        A DataFrame of groups by groups. Rows are the group of the positives, columns the group of
        the negatives, and the diagonal holds the group AUCs. Raises a ValueError if the matrix
        would not fit in memory.
        """
        import pandas as pd

        return pd.DataFrame(
            self.pairs.cross_auc.copy(),
            index=self._index("positives"),
            columns=self._index("negatives"),
        )

    # Quantities behind the results above ---------------------------------------------------

    @property
    def _auc(self) -> NDArray[np.float64]:
        return self.pairs.auc

    @property
    def _cross_auc(self) -> NDArray[np.float64]:
        return self.pairs.cross_auc

    @functools.cached_property
    def _usable(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Group AUCs for averages and gaps, and a mask of the groups that are used."""
        self._report_undefined()
        if isinstance(self.undefined, float):
            stood_in = np.where(self.pairs.defined, self.pairs.auc, self.undefined)
            return stood_in, np.ones(self.n_groups, np.bool_)
        return self.pairs.auc, self.pairs.defined

    @functools.cached_property
    def _undefined_reported(self) -> bool:
        """Warn or raise once if groups lack a class."""
        if self.n_undefined and self.undefined in ("skip", "raise"):
            rows = self.counts.n_positives + self.counts.n_negatives
            share = rows[~self.pairs.defined].sum() / rows.sum()
            message = (
                f"{self.n_undefined} of {_words.counted(self.n_groups, 'group')}, with "
                f"{share:.2%} of the rows, have no positives or no negatives, so their AUC is "
                f"undefined{self._of_one_label}"
            )
            if self.undefined == "raise":
                raise ValueError(
                    f"{message}. Pass undefined='skip' to leave them out, or a number that "
                    f"stands in for their AUC.{self._remedy}"
                )
            self._warned.discard("undefined")  # an earlier warning may not name the cause
            self._warn(
                f"{message}: they are left out of averages and gaps. Pass "
                "undefined='ignore' to silence this, or a number that stands in for their "
                f"AUC.{self._remedy}"
            )
        return True

    def _warn(self, message: str, about: str = "undefined") -> None:
        if not (self._warns_once and about in self._warned):
            _input.warn(message, UndefinedMetricWarning)
        self._warned.add(about)

    @functools.cached_property
    def _warned(self) -> set[str]:
        """Topics of the warnings issued so far."""
        return set()

    @property
    def _of_one_label(self) -> str:
        """Phrase for messages if all rows have one label that is not pos_label; otherwise empty."""
        classes = self.counts.origin.classes
        if len(classes.seen) != 1 or not classes.lacks_positive or self.counts.n_positives.any():
            return ""
        return (
            f" (all rows have the label {_words.shortened(classes.seen[0])}, and pos_label is "
            f"{_words.shortened(classes.pos_label)})"
        )

    def _report_undefined(self) -> None:
        _ = self._undefined_reported

    def _not_defined(self, reason: str, *, more_rows_help: bool = True) -> float:
        """Return NaN, with a warning or error as `undefined` requires."""
        remedy = self._remedy if more_rows_help else ""
        reason += self._of_one_label
        if self.undefined == "raise":
            raise ValueError(f"{reason}, and undefined='raise' was asked for.{remedy}")
        if self.undefined != "ignore" and not self._is_quiet:
            self._warn(f"{reason}, so the result is NaN.{remedy}")
        return float("nan")

    def _average_weights(
        self, weights: str | Mapping[Any, float] | ArrayLike
    ) -> NDArray[np.float64]:
        """Weight c_g of each group."""
        if isinstance(weights, str):
            if weights not in AVERAGES:
                check_statistic(weights)
                raise ValueError(
                    f"average({_words.shortened(weights)}): this statistic is not an average "
                    "of group "
                    f"AUCs; the averages are {', '.join(AVERAGES)}."
                )
            return AVERAGES[weights](self).astype(np.float64)
        if hasattr(weights, "to_dict") and hasattr(weights, "index"):
            by_label = {_input.as_label(k): v for k, v in weights.to_dict().items()}
            # Treat a Series without labels of its own as an array.
            if by_label.keys() == set(self.counts.groups or ()) or any(
                isinstance(label, str | tuple) for label in by_label
            ):
                weights = by_label
        if isinstance(weights, Mapping):
            groups = self.counts.groups or ()
            weights = {_input.as_label(label): weight for label, weight in weights.items()}
            absent = [group for group in groups if group not in weights]
            known = set(groups)
            unknown = [label for label in weights if label not in known]
            if absent or unknown:
                raise ValueError(
                    f"average needs one weight for each group; {len(absent)} of "
                    f"{_words.counted(len(groups), 'group')} have none, such as "
                    f"[{_words.all_shortened(absent[:3])}], and "
                    f"{_words.counted(len(unknown), 'label')} given "
                    f"without such a group, for instance [{_words.all_shortened(unknown[:3])}]."
                )
            weights = [weights[group] for group in groups]
        of_group = _input.check_weights(weights, "weights")
        _input.check_length("weights", of_group.size, "by_group", self.n_groups)
        return of_group

    def _all_statistics(self) -> dict[str, float]:
        """Compute all named statistics that are cheap enough, without warnings."""
        quiet = copy.copy(self)
        # A copy rather than a warnings filter, because filters affect all threads.
        quiet._is_quiet = True
        if self.undefined in ("skip", "raise"):
            quiet._undefined = "ignore"
            for cached in ("_usable", "_undefined_reported", "pooled"):
                quiet.__dict__.pop(cached, None)
        return {
            name: statistic.compute(quiet)
            for name, statistic in STATISTICS.items()
            if not (statistic.needs_matrix and self.n_groups > MATRIX_GROUPS)
        }

    # Display ----------------------------------------------------------------------

    @property
    def group_names(self) -> tuple[str, ...]:
        """Names of the group columns in tables."""
        return self._group_names

    @property
    def index(self) -> pd.Index:
        """Index of the groups in tables: their labels, in the order of ``counts.groups``."""
        return self._index()

    def _index(self, name: str | None = None) -> pd.Index:
        """Index of group labels, named `name` or by the columns that the labels come from."""
        import pandas as pd

        groups, labels = self.counts.groups, self.counts.labels
        index: pd.Index
        if groups is None or labels is None:
            return pd.Index(["all"] * self.n_groups, name=name or "group")
        if groups and isinstance(groups[0], tuple):
            names = self._group_names
            named = {len(group) for group in groups} == {len(names)}
            return pd.MultiIndex.from_tuples(groups, names=names if named else None)
        own_name = self._group_names[0] if self._group_names else "group"
        index = pd.Index(labels, name=name or own_name)
        return index

    def _headline(self) -> str:
        counts = self.counts
        undefined = f" ({self.n_undefined:,} undefined)" if self.n_undefined else ""
        return (
            f"GroupAUC of {_words.counted(self.n_groups, 'group')}{undefined}, "
            f"{_words.counted(int(counts.n_positives.sum()), 'positive')} and "
            f"{_words.counted(int(counts.n_negatives.sum()), 'negative')}"
            f"{left_out(self.n_missing)}"
        )

    def _extremes(self) -> list[tuple[str, Any, float]]:
        """The groups with the smallest and the largest AUC."""
        if not self.pairs.defined.any():
            return []
        groups = self.counts.groups or ("all",)
        auc = self.pairs.auc
        worst, best = int(np.nanargmin(auc)), int(np.nanargmax(auc))
        return [
            ("lowest", groups[worst], float(auc[worst])),
            ("highest", groups[best], float(auc[best])),
        ]

    def __repr__(self) -> str:
        lines = [self._headline()]
        lines += [f"  {k:<16} {v:.4f}" for k, v in self._all_statistics().items()]
        lines += [
            f"  {k:<16} {auc:.4f}  {_words.shortened_label(label)}"
            for k, label, auc in self._extremes()
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        statistics = "".join(
            f"<tr><th style='text-align:left'>{name}</th><td>{value:.4f}</td></tr>"
            for name, value in self._all_statistics().items()
        )
        extremes = "".join(
            f"<tr><th style='text-align:left'>{name}</th><td>{auc:.4f} "
            f"({html.escape(_words.shortened_label(label))})</td></tr>"
            for name, label, auc in self._extremes()
        )
        return (
            f"<table><caption>{html.escape(self._headline())}</caption>"
            f"{statistics}{extremes}</table>"
        )
