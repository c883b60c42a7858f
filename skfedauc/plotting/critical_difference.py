"""`CriticalDifferenceDisplay`: average ranks of several models over groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skfedauc import _input, _words
from skfedauc.counts import left_out
from skfedauc.inference.average_ranks import average_ranks, undetected
from skfedauc.inference.intervals import check_confidence_level
from skfedauc.plotting.base import labels_of
from skfedauc.plotting.drawing import (
    BLACK,
    BLUE,
    LINE,
    MARGINS,
    VERMILLION,
    axes_or_new,
    check_matplotlib,
    lay_out,
    legend_and_note,
    set_ticks,
    size_of,
    text_of,
    write_fitting,
)
from skfedauc.report import GroupAUC

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D


class CriticalDifferenceDisplay:
    """Critical-difference diagram: average ranks of several models over groups.

    Make the display with `from_reports`. The models are ranked by their AUCs within each group.
    Each model has a row, from the smallest average rank at the top. Vertical lines at the right
    join models whose average ranks differ by less than the critical difference.

    Parameters
    ----------
    models : sequence of str, length n_models
        Names.
    average_rank : array-like of shape (n_models,)
        Average rank of each model over groups; 1 is the largest AUC in every group.
    critical_difference : float
        Critical difference of two average ranks.
    confidence_level : float, default=0.95
        Simultaneous confidence level of the critical difference, for the label.
    note : str, default=""
        Note in the plot.

    Attributes
    ----------
    markers_ : matplotlib PathCollection
        Average ranks, from the bottom to the top.
    critical_line_ : matplotlib Line2D
        Line of the length of the critical difference.
    joined_ : list of matplotlib Line2D
        Lines that join models.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    compare_models : Comparison of the AUCs of several models on the same rows.

    Notes
    -----
    `from_reports` computes Nemenyi's critical difference ``q sqrt(k (k + 1) / (12 N))`` for k
    models and N groups, with a quantile q of the studentized range, and Friedman's test in its F
    form [1]_. The note gives the p value of the null hypothesis that the models have equal ranks on
    average.

    Each group has the same weight, so small groups, whose AUCs have large sampling errors, add
    variation; see `GroupAUC.without_small_groups`. Ranks describe how many groups favor a model,
    not by how much. The critical difference is an approximation for many groups (N above about 10).
    If scores are binned, the AUCs of the binned scores are ranked.

    References
    ----------
    .. [1] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets.
       Journal of Machine Learning Research 7. https://www.jmlr.org/papers/v7/demsar06a.html

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from skfedauc import GroupAUC
    >>> from skfedauc.plotting import CriticalDifferenceDisplay
    >>> rng = np.random.default_rng(0)
    >>> y, site = rng.integers(0, 2, 1200), np.repeat(np.arange(12), 100)
    >>> reports = {
    ...     name: GroupAUC.from_predictions(
    ...         y, signal * y + rng.normal(size=y.size), groups=site
    ...     )
    ...     for name, signal in [("weak", 0.2), ("strong", 2.0), ("stronger", 2.1)]
    ... }
    >>> display = CriticalDifferenceDisplay.from_reports(reports)
    >>> round(display.critical_difference, 2)
    0.96
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    markers_: PathCollection
    critical_line_: Line2D
    joined_: list[Line2D]

    def __init__(
        self,
        *,
        models: Sequence[str],
        average_rank: ArrayLike,
        critical_difference: float,
        confidence_level: float = 0.95,
        note: str = "",
    ) -> None:
        self.models = list(models)
        self.average_rank = np.asarray(average_rank, np.float64)
        self.critical_difference = critical_difference
        self.confidence_level = confidence_level
        self.note = note
        _input.check_length("average_rank", self.average_rank.size, "models", len(self.models))

    @classmethod
    def from_reports(
        cls,
        reports: Mapping[str, GroupAUC],
        *,
        confidence_level: float = 0.95,
        ax: Axes | None = None,
    ) -> CriticalDifferenceDisplay:
        """Draw the average ranks of several models.

        Parameters
        ----------
        reports : mapping of str to GroupAUC
            Report of each model by name; at least two. All reports have the same groups. Groups
            without an AUC in a report are left out.
        confidence_level : float, default=0.95
            Simultaneous confidence level of the critical difference.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        CriticalDifferenceDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError, TypeError
            If an argument is not as described, or fewer than two groups have an AUC in all reports.
        """
        check_matplotlib("CriticalDifferenceDisplay.from_reports")
        confidence_level = check_confidence_level(confidence_level)
        auc = _aucs_of(reports)
        kept = ~np.isnan(auc).any(axis=1)
        n_kept, n_left_out = int(kept.sum()), int((~kept).sum())
        if n_kept < 2:
            raise ValueError(
                "a critical-difference diagram needs at least two groups with an AUC in all "
                f"reports; got {_words.counted(n_kept, 'group')}."
            )
        found = average_ranks(auc[kept], confidence_level)
        note = (
            f"{_words.counted(n_kept, 'group')}; Friedman's test of equal ranks: "
            f"p = {found.pvalue:.2g}"
        )
        if n_left_out:
            note += f"; {_words.counted(n_left_out, 'group')} without an AUC left out"
        note += left_out(max(report.n_missing for report in reports.values())).replace(",", ";", 1)
        display = cls(
            models=list(reports),
            average_rank=found.ranks,
            critical_difference=found.critical_difference,
            confidence_level=confidence_level,
            note=note,
        )
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> CriticalDifferenceDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        CriticalDifferenceDisplay
            The display itself.
        """
        check_matplotlib("CriticalDifferenceDisplay.plot")
        from matplotlib.ticker import MaxNLocator

        n_models = len(self.models)
        # Leave one row for the line of the critical difference.
        ax = axes_or_new(ax, MARGINS + 0.6 + 1.1 * LINE * max(n_models + 1, 4))
        self.ax_, self.figure_ = ax, ax.figure
        order = np.argsort(-self.average_rank, kind="stable")
        place = np.arange(n_models)
        row = np.empty(n_models, np.intp)
        row[order] = place
        self.markers_ = ax.scatter(self.average_rank[order], place, 40.0, color=BLUE, zorder=3)
        best = float(self.average_rank.min())
        (self.critical_line_,) = ax.plot(
            [best, best + self.critical_difference],
            [n_models, n_models],
            color=VERMILLION,
            marker="|",
            markersize=9,
            linewidth=2,
        )
        sets = undetected(self.average_rank, self.critical_difference)
        most = max(float(n_models), best + self.critical_difference)
        step = 0.05 * (most - 1.0)
        self.joined_ = [
            ax.plot([most + i * step] * 2, row[models[[0, -1]]], color=BLACK, linewidth=3)[0]
            for i, models in enumerate(sets, 1)
        ]
        ax.set_xlim(1.0 - step, most + (len(sets) + 1) * step)
        ticks = np.asarray(MaxNLocator(integer=True).tick_values(1, n_models))
        ax.set_xticks(ticks[(ticks >= 1) & (ticks <= n_models)])
        set_ticks(ax.yaxis, place.tolist(), [text_of(self.models[model]) for model in order])
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="both", color="0.92", linewidth=0.8)
        ax.set_axisbelow(True)
        lay_out(ax)
        long = "average rank over groups, 1 is the largest AUC"
        write_fitting(ax.xaxis.label, [long, "average rank"], size_of(ax)[0])
        level = f"{100 * self.confidence_level:g} %"
        entries = [(self.critical_line_, f"critical difference {self.critical_difference:.2f}")]
        if self.joined_:
            entries.append((self.joined_[0], f"no difference detected at {level}"))
        legend_and_note(
            ax,
            [handle for handle, _ in entries],
            [text for _, text in entries],
            self.note,
            (-0.7, n_models + 0.4),
        )
        return self


def _aucs_of(reports: Any) -> Any:
    """Return the AUCs of the groups (rows) by report (columns), NaN if undefined."""
    if not isinstance(reports, Mapping) or not all(
        isinstance(name, str) and isinstance(report, GroupAUC) for name, report in reports.items()
    ):
        raise TypeError(
            "reports must be a mapping of names of models to GroupAUC; got "
            f"{_words.described(reports)}."
        )
    if len(reports) < 2:
        raise ValueError(
            "reports must have the reports of at least two models; got "
            f"{_words.counted(len(reports), 'report')}."
        )
    (first, one), *others = reports.items()
    groups = labels_of(one)
    columns = [one.pairs.auc]
    for name, report in others:
        place = {label: g for g, label in enumerate(labels_of(report))}
        if place.keys() != set(groups):
            raise ValueError(
                "reports must have the same groups, since models are ranked within each group; the "
                f"groups of {_words.shortened(first)} and {_words.shortened(name)} differ."
            )
        columns.append(report.pairs.auc[[place[label] for label in groups]])
    return np.column_stack(columns)
