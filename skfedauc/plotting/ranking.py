"""`RankingDisplay`: forest plots of shrunken group AUCs and of the ranks of groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input
from skfedauc.inference.ranking import LEAST_GROUPS
from skfedauc.plotting.base import ReportDisplay, labels_of
from skfedauc.plotting.drawing import (
    BLUE,
    GREY,
    LINE,
    MARGINS,
    VERMILLION,
    axes_or_new,
    check_matplotlib,
    choose,
    lay_out,
    legend_and_note,
    most_groups,
    named,
    set_ticks,
    size_of,
    text_of,
    write_fitting,
)
from skfedauc.report import GroupAUC, Undefined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.quiver import Quiver

Kind: TypeAlias = Literal["auc", "rank"]
# Distance of an observed AUC above its shrunken AUC, in rows
_ABOVE = 0.3
_COLUMNS = ("auc", "shrunken_auc", "ci_low", "ci_high", "rank", "rank_low", "rank_high")


class RankingDisplay(ReportDisplay):
    """Forest plot of shrunken group AUCs, or of the ranks of the groups with confidence sets.

    Make the display with `from_report`, `from_predictions` or `from_estimator`. If there are too
    many groups, the display draws the groups at both ends. A note says how many groups the display
    omits.

    Parameters
    ----------
    groups : sequence of length n_groups
        Labels.
    auc, shrunken_auc, ci_low, ci_high : array-like of shape (n_groups,)
        Observed AUC, shrunken AUC and limits of its interval; see `GroupAUC.ranking`.
    rank, rank_low, rank_high : array-like of shape (n_groups,)
        Rank of the observed AUC, and first and last rank of the confidence set; NaN for groups
        without a rank. The display omits groups without a rank, and the note names these groups.
    may_be_worst : array-like of bool, shape (n_groups,), default=None
        Whether the group is in the confidence set of the group with the smallest true AUC. These
        groups have another color. None draws all groups in one color.
    confidence_level : float, default=0.95
        Confidence level of the intervals and of the sets of ranks, for the label.
    n_missing : int, default=0
        Number of rows without a group label, for the note. The display omits these rows.

    Attributes
    ----------
    markers_ : matplotlib PathCollection
        Shrunken AUCs or ranks of the groups shown, from the bottom to the top.
    worst_ : matplotlib PathCollection or None
        Markers of those groups shown that may be worst, on top of `markers_`; None without
        `may_be_worst`.
    intervals_ : matplotlib LineCollection
        Intervals or sets of ranks of the groups shown.
    observed_ : matplotlib PathCollection or None
        Observed AUCs; None if no shrunken AUC differs, and for kind "rank".
    arrows_ : matplotlib Quiver or None
        Arrows from the observed to the shrunken AUCs; None if `observed_` is None.
    shown_ : ndarray of int
        Indices of the groups shown, from the bottom to the top.
    note_ : str
        Note in the plot on groups and rows left out; empty if the plot shows all.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    GroupAUC.ranking : The table of these values.
    GroupAUCDisplay : Forest plot of the observed AUCs.

    Notes
    -----
    With kind "auc", groups have the order of their shrunken AUCs; the largest is at the top. With
    kind "rank", groups have the order of their observed AUCs; rank 1 is at the top. The legend
    counts all groups that may be worst, including groups left out of the plot. Shrinkage needs four
    groups; with fewer groups, the note reports that there is no shrinkage.

    If you pass `ax`, make its figure with ``layout="constrained"``, which leaves room for long
    labels.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skfedauc import GroupAUC
    >>> from skfedauc.datasets import make_group_scores
    >>> from skfedauc.plotting import RankingDisplay
    >>> devices = make_group_scores("different", 50, 200, random_state=0)
    >>> report = GroupAUC.from_predictions(
    ...     devices.y_true, devices.y_score, groups=devices.groups
    ... )
    >>> display = RankingDisplay.from_report(report)
    >>> display.ax_.get_xlabel()
    'AUC and 95 % interval'
    >>> _ = display.plot(kind="rank")
    >>> display.ax_.get_xlabel()
    'rank and 95 % confidence set, 1 is the largest AUC'
    >>> plt.close("all")
    """

    ax_: Axes
    figure_: Figure | SubFigure
    markers_: PathCollection
    worst_: PathCollection | None
    intervals_: LineCollection
    observed_: PathCollection | None
    arrows_: Quiver | None

    _needs_scores = False

    def __init__(
        self,
        *,
        groups: Sequence[Any],
        auc: ArrayLike,
        shrunken_auc: ArrayLike,
        ci_low: ArrayLike,
        ci_high: ArrayLike,
        rank: ArrayLike,
        rank_low: ArrayLike,
        rank_high: ArrayLike,
        may_be_worst: ArrayLike | None = None,
        confidence_level: float = 0.95,
        n_missing: int = 0,
    ) -> None:
        self.groups = groups
        self.auc = np.asarray(auc, np.float64)
        self.shrunken_auc = np.asarray(shrunken_auc, np.float64)
        self.ci_low = np.asarray(ci_low, np.float64)
        self.ci_high = np.asarray(ci_high, np.float64)
        self.rank = np.asarray(rank, np.float64)
        self.rank_low = np.asarray(rank_low, np.float64)
        self.rank_high = np.asarray(rank_high, np.float64)
        self.may_be_worst = None if may_be_worst is None else np.asarray(may_be_worst, np.bool_)
        self.confidence_level = confidence_level
        self.n_missing = _input.check_whole_number(n_missing, "n_missing", 0)
        for name in (*_COLUMNS, "may_be_worst"):
            values = getattr(self, name)
            if values is not None:
                _input.check_length(name, values.size, "groups", len(groups))

    @classmethod
    def from_report(
        cls,
        report: GroupAUC,
        *,
        kind: Kind = "auc",
        confidence_level: float = 0.95,
        max_groups: int | None = None,
        ax: Axes | None = None,
    ) -> RankingDisplay:
        """Draw the shrunken AUCs or the ranks of the groups of a report.

        Parameters
        ----------
        report : GroupAUC
            Report to draw.
        kind : {"auc", "rank"}, default="auc"
            "auc" draws observed and shrunken AUCs; "rank" draws ranks.
        confidence_level : float, default=0.95
            Confidence level of the intervals and of the sets of ranks.
        max_groups : int, default=None
            Largest number of groups to draw. None draws up to 30 groups, if there is room.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        RankingDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError, TypeError
            If an argument is not as described, or the report tests rows several times, as in
            repeated folds.
        """
        cls._check_report(report)
        kind = _check_kind(kind)
        table = report.ranking(confidence_level)
        columns = {name: table[name].to_numpy(np.float64, na_value=np.nan) for name in _COLUMNS}
        display = cls(
            groups=labels_of(report),
            **columns,
            may_be_worst=table["may_be_worst"].to_numpy(np.bool_, na_value=False),
            confidence_level=confidence_level,
            n_missing=report.counts.n_missing,
        )
        return display.plot(ax, kind=kind, max_groups=max_groups)

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
        clusters: Any = None,
        kind: Kind = "auc",
        confidence_level: float = 0.95,
        max_groups: int | None = None,
        ax: Axes | None = None,
    ) -> RankingDisplay:
        """Draw the shrunken AUCs or the ranks of the groups of predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes.
        y_score : array-like of shape (n_rows,)
            Finite scores; higher scores mean the positive class.
        groups : array-like of shape (n_rows,) or (n_rows, n_columns)
            Group label of each row; with several columns each combination is a group.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            How to treat groups that lack a class; see `GroupAUC`. Groups that lack a class have no
            rank.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        clusters : array-like of shape (n_rows,) or (n_rows, n_columns), default=None
            Cluster of each row, such as a patient; see `GroupAUC.from_predictions`.
        kind : {"auc", "rank"}, default="auc"
            "auc" draws observed and shrunken AUCs; "rank" draws ranks.
        confidence_level : float, default=0.95
            Confidence level of the intervals and of the sets of ranks.
        max_groups : int, default=None
            Largest number of groups to draw. None draws up to 30 groups, if there is room.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        RankingDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError, TypeError
            If an argument is not as described.
        """
        report = cls._of_predictions(
            y_true,
            y_score,
            groups=groups,
            sample_weight=sample_weight,
            pos_label=pos_label,
            undefined=undefined,
            missing=missing,
            clusters=clusters,
        )
        return cls.from_report(
            report, kind=kind, confidence_level=confidence_level, max_groups=max_groups, ax=ax
        )

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
        response_method: str | tuple[str, ...] | None = None,
        undefined: Undefined = "skip",
        missing: _input.Missing = "raise",
        clusters: Any = None,
        kind: Kind = "auc",
        confidence_level: float = 0.95,
        max_groups: int | None = None,
        ax: Axes | None = None,
    ) -> RankingDisplay:
        """Draw the shrunken AUCs or the ranks of the groups of a fitted estimator.

        Parameters
        ----------
        estimator : estimator object
            A fitted binary classifier, or a pipeline or search that ends in one.
        X : array-like of shape (n_rows, n_features)
            Input of the estimator.
        y : array-like of shape (n_rows,)
            True labels.
        groups : str, list of str, or array-like of shape (n_rows,) or (n_rows, n_columns)
            Name or names of columns of X, or the labels themselves. If X has an index, its labels
            align a pandas Series with X.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; None means ``estimator.classes_[1]``.
        response_method : str, tuple of str or None, default=None
            Methods of the estimator that return scores, in order of preference. None means
            "decision_function", else "predict_proba", as in scikit-learn's "roc_auc".
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            How to treat groups that lack a class; see `GroupAUC`. Groups that lack a class have no
            rank.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        clusters : str, list of str, or array-like of shape (n_rows,), default=None
            Cluster of each row, such as a patient; see `GroupAUC.from_estimator`.
        kind : {"auc", "rank"}, default="auc"
            "auc" draws observed and shrunken AUCs; "rank" draws ranks.
        confidence_level : float, default=0.95
            Confidence level of the intervals and of the sets of ranks.
        max_groups : int, default=None
            Largest number of groups to draw. None draws up to 30 groups, if there is room.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        RankingDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError, TypeError
            If an argument is not as described.
        """
        report = cls._of_estimator(
            estimator,
            X,
            y,
            groups=groups,
            sample_weight=sample_weight,
            pos_label=pos_label,
            response_method=response_method,
            undefined=undefined,
            missing=missing,
            clusters=clusters,
        )
        return cls.from_report(
            report, kind=kind, confidence_level=confidence_level, max_groups=max_groups, ax=ax
        )

    def plot(
        self, ax: Axes | None = None, *, kind: Kind = "auc", max_groups: int | None = None
    ) -> RankingDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        kind : {"auc", "rank"}, default="auc"
            "auc" draws observed and shrunken AUCs; "rank" draws ranks.
        max_groups : int, default=None
            Largest number of groups to draw, at least 2. None draws up to 30 groups, if there is
            room.

        Returns
        -------
        RankingDisplay
            The display itself.
        """
        check_matplotlib("RankingDisplay.plot")
        is_auc = _check_kind(kind) == "auc"
        is_ranked = ~np.isnan(self.rank)
        order = np.where(is_ranked, self.shrunken_auc if is_auc else self.auc, np.nan)
        chosen = choose(order, most_groups(max_groups, ax))
        n_drawn = chosen.shown.size + bool(chosen.left_out.size)
        ax = axes_or_new(ax, MARGINS + 0.6 + 1.1 * LINE * max(n_drawn, 4))
        self.ax_, self.figure_ = ax, ax.figure

        # If the plot omits groups, one position between both ends holds the note.
        place = np.arange(chosen.shown.size)
        place[chosen.lowest.size :] += bool(chosen.left_out.size)
        self.shown_ = chosen.shown
        entries = self._draw_aucs(place) if is_auc else self._draw_ranks(place)
        set_ticks(ax.yaxis, place.tolist(), [text_of(self.groups[g]) for g in chosen.shown])
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="0.92", linewidth=0.8)
        ax.set_axisbelow(True)
        level = f"{100 * self.confidence_level:g} %"
        short = f"AUC and {level} interval" if is_auc else f"rank and {level} confidence set"
        long = short if is_auc else f"{short}, 1 is the largest AUC"
        lay_out(ax)
        write_fitting(ax.xaxis.label, [long, short], size_of(ax)[0])
        of_order = "a shrunken AUC" if is_auc and self._is_shrunken else "an AUC"
        chosen.draw_note(ax, order, chosen.lowest.size, of_order)
        note = self._note_on_groups(is_auc)
        legend_and_note(
            ax,
            [handle for handle, _ in entries],
            [text for _, text in entries],
            note,
            (-0.7, max(n_drawn, 1) - 0.3),
        )
        self.note_ = "; ".join(filter(None, (chosen.note(order, of_order), note)))
        return self

    def _note_on_groups(self, is_auc: bool) -> str:
        """Return the note on groups without shrinkage or without a rank, and on missing rows."""
        is_ranked = ~np.isnan(self.rank)
        few = is_auc and not self._is_shrunken and 0 < is_ranked.sum() < LEAST_GROUPS
        notes = (
            "AUCs of fewer than four groups are not shrunken" if few else "",
            named(self.groups, ~is_ranked, "a rank"),
            self._left_out,
        )
        return "; ".join(filter(None, notes))

    @property
    def _is_shrunken(self) -> bool:
        """True if a shrunken AUC differs from the observed AUC."""
        is_ranked = ~np.isnan(self.rank)
        return not np.array_equal(self.auc[is_ranked], self.shrunken_auc[is_ranked])

    def _draw_aucs(self, place: NDArray[np.intp]) -> list[tuple[Any, str]]:
        """Draw observed and shrunken AUCs, and return the entries of the legend."""
        ax = self.ax_
        drawn = (self.auc, self.shrunken_auc, self.ci_low, self.ci_high)
        observed, shrunken, low, high = (values[self.shown_] for values in drawn)
        self.intervals_ = ax.hlines(place, low, high, color=BLUE, linewidth=1.5, zorder=2)
        limits = np.concatenate([observed, low, high])
        least, most = (limits.min(), limits.max()) if limits.size else (0.0, 1.0)
        margin = 0.04 * (most - least) + 0.01
        ax.set_xlim(least - margin, most + margin)
        self.observed_ = self.arrows_ = None
        if not self._is_shrunken:
            return self._draw_markers(shrunken, place, "AUC")
        self.observed_ = ax.scatter(
            observed, place + _ABOVE, 16.0, facecolors="none", edgecolors=GREY, zorder=3
        )
        self.arrows_ = ax.quiver(
            observed,
            place + _ABOVE,
            shrunken - observed,
            np.full(place.size, -_ABOVE),
            angles="xy",
            scale_units="xy",
            scale=1.0,
            units="inches",
            width=0.012,
            # The marker covers the tip, so the head must be longer than the marker.
            headwidth=7.0,
            headlength=9.0,
            headaxislength=9.0,
            color=GREY,
            zorder=2.5,
        )
        return [(self.observed_, "AUC"), *self._draw_markers(shrunken, place, "shrunken AUC")]

    def _draw_ranks(self, place: NDArray[np.intp]) -> list[tuple[Any, str]]:
        """Draw ranks with their confidence sets, and return the entries of the legend."""
        from matplotlib.ticker import MaxNLocator

        ax = self.ax_
        drawn = (self.rank, self.rank_low, self.rank_high)
        rank, low, high = (values[self.shown_] for values in drawn)
        self.intervals_ = ax.hlines(place, low, high, color=BLUE, linewidth=1.5, zorder=2)
        self.observed_ = self.arrows_ = None
        n_ranked = int((~np.isnan(self.rank)).sum())
        margin = max(0.5, 0.02 * n_ranked)
        ax.set_xlim(1.0 - margin, max(n_ranked, 1) + margin)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        markers, *worst = self._draw_markers(rank, place, "rank")
        return [markers, (self.intervals_, "confidence set"), *worst]

    def _draw_markers(
        self, values: NDArray[np.float64], place: NDArray[np.intp], name: str
    ) -> list[tuple[Any, str]]:
        """Draw the markers of the groups, and return the entries of the legend."""
        self.markers_ = self.ax_.scatter(values, place, 30.0, color=BLUE, zorder=3)
        entries: list[tuple[Any, str]] = [(self.markers_, name)]
        self.worst_ = None
        if self.may_be_worst is not None:
            which = self.may_be_worst[self.shown_]
            may_be_worst = f"may be worst ({self.may_be_worst.sum():,})"
            self.worst_ = self.ax_.scatter(
                values[which], place[which], 30.0, color=VERMILLION, zorder=3.1
            )
            if which.size and which.all():
                # No marker has the color of other groups.
                return [(self.worst_, f"{name}, {may_be_worst}")]
            entries.append((self.worst_, may_be_worst))
        return entries


def _check_kind(kind: Any) -> Kind:
    return _input.check_option("kind", kind, ("auc", "rank"))  # type: ignore[no-any-return]
