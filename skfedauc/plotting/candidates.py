"""`CandidatesDisplay`: scores and gaps of a search's candidates."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.model_selection import SelectWithinGap
from skfedauc.model_selection.candidates import checked_gap, results_of, scores_and_gaps
from skfedauc.plotting import drawing
from skfedauc.plotting.drawing import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# Largest number of characters of the parameters of a candidate
_MOST_CHARACTERS = 40


@dataclass(eq=False, repr=False)
class CandidatesDisplay(Display):
    """Scatter plot of a search's candidates: score against gap.

    Make it with `from_search`. Better candidates are further up and further left. A line joins the
    Pareto front: the candidates for which no other candidate has both a better score and a smaller
    gap. The legend names the chosen candidate's parameters.

    Parameters
    ----------
    search : fitted GridSearchCV or RandomizedSearchCV, or mapping
        A search with the score and the gap among its metrics, or its ``cv_results_``.
    metric : str
        Name of the metric, a key of ``scoring``.
    gap : str, default="difference"
        Gap name, as in `SelectWithinGap`.
    at_most : float, default=None
        The gap limit to draw; candidates with a larger gap are empty circles. None uses the limit
        of ``search.refit`` if ``search.refit`` is a `SelectWithinGap` for this gap.

    Attributes
    ----------
    scores, gaps : ndarray, shape (n_candidates,)
        Means over folds; NaN for failed candidates, which the note counts.
    front : list of int
        Indices of the Pareto-optimal candidates, from the best score to the smallest gap.
    chosen : int or None
        The chosen candidate's index.
    within_, beyond_ : matplotlib PathCollection
        Candidates within and beyond the gap's limit; without a limit, all are within.
    front_line_, chosen_marker_, limit_ : matplotlib Line2D or None
    note_ : str
        What the plot leaves out; empty if it shows everything.
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    SelectWithinGap : Refit rule for the best score within a limit of the gap.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfedauc.plotting import CandidatesDisplay
    >>> results = {"mean_test_pooled": [0.8, 0.7], "mean_test_neg_difference": [-0.2, -0.1]}
    >>> display = CandidatesDisplay.from_search(
    ...     results, metric="pooled", at_most=0.15, ax=Figure().subplots()
    ... )
    >>> display.within_.get_offsets().tolist()
    [[0.1, 0.7]]
    """

    search: Any
    _: KW_ONLY
    metric: str
    gap: str = "difference"
    at_most: float | None = None

    def __post_init__(self) -> None:
        results = results_of(self.search)
        self.scores, self.gaps = scores_and_gaps(results, self.metric, checked_gap(self.gap))
        rule = getattr(self.search, "refit", None)
        if self.at_most is not None:
            self.at_most = _input.check_number(self.at_most, "at_most")
        elif isinstance(rule, SelectWithinGap) and rule.gap == self.gap:
            self.at_most = rule.at_most
        self.front = front_of(self.scores, self.gaps)
        self.chosen: int | None = getattr(self.search, "best_index_", None)
        self._params = results.get("params")

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        metric: str,
        gap: str = "difference",
        at_most: float | None = None,
        ax: Axes | None = None,
    ) -> CandidatesDisplay:
        """Draw a search's candidates.

        Parameters
        ----------
        search : fitted GridSearchCV or RandomizedSearchCV, or mapping
            A search, or its ``cv_results_``.
        metric : str
            Name of the metric.
        gap : str, default="difference"
            Gap name.
        at_most : float, default=None
            The gap limit; see `CandidatesDisplay`.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        CandidatesDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError
            If the search does not have these scores, or a candidate's gap is NaN.
        NotFittedError
            If the search is not fitted.
        """
        drawing.check_matplotlib("CandidatesDisplay.from_search")
        return cls(search, metric=metric, gap=gap, at_most=at_most).plot(ax)

    def _plot(self, ax: Axes | None) -> None:
        ax = self._draw_on(ax, 5.0)
        x, y = self.gaps, self.scores
        drawn = ~np.isnan(x + y)
        is_within = drawn & (x <= (np.inf if self.at_most is None else self.at_most))
        is_beyond = drawn & ~is_within
        n_within, n_beyond, n_failed = (int(of.sum()) for of in (is_within, is_beyond, ~drawn))
        blue = drawing.BLUE
        self.within_ = ax.scatter(x[is_within], y[is_within], 28, color=blue, alpha=0.8, zorder=3)
        self.beyond_ = ax.scatter(
            x[is_beyond], y[is_beyond], 28, facecolors="none", edgecolors=blue
        )
        entries: list[drawing.Entry] = [(self.within_, _words.counted(n_within, "candidate"))]
        low, high = y[drawn].min(), y[drawn].max()
        margin = 0.06 * (high - low) or max(0.1 * abs(high), 0.01)
        limits = low - margin, high + margin
        self.limit_: Line2D | None = None
        if self.at_most is not None:
            self.limit_ = drawing.draw_limit(ax, self.at_most, limits)
            entries = [
                (self.within_, f"{n_within:,} within the limit"),
                (self.beyond_, f"{n_beyond:,} beyond"),
                (self.limit_, f"limit {self.at_most:g}"),
            ]
        self.front_line_: Line2D | None = None
        front = self.front
        if front:
            (self.front_line_,) = ax.plot(x[front], y[front], color=blue, linewidth=1, zorder=2)
            entries.append((self.front_line_, "Pareto front"))
        self.chosen_marker_: Line2D | None = None
        if self.chosen is not None and drawn[self.chosen]:
            (self.chosen_marker_,) = ax.plot(
                x[[self.chosen]],
                y[[self.chosen]],
                "D",
                color=drawing.VERMILLION,
                markersize=11,
                markerfacecolor="none",
                markeredgewidth=2,
                zorder=4,
            )
            text = self._parameters(self.chosen)
            entries.append((self.chosen_marker_, f"chosen{text}"))
        self.note_ = drawing.not_shown(n_failed, "candidate", "a score")
        ax.set_xlabel(f"{self.gap}, mean over folds")
        ax.set_ylabel(f"{self.metric}, mean over folds")
        for label in (ax.xaxis.label, ax.yaxis.label):
            drawing.as_written(label)
        drawing.legend_and_note(ax, entries, self.note_, limits)

    def _parameters(self, candidate: int) -> str:
        values = {} if self._params is None else self._params[candidate]
        texts = {
            name.rsplit("__", 1)[-1]: f"{value:.3g}" if isinstance(value, float) else f"{value}"
            for name, value in values.items()
        }
        if not texts:
            return ""
        return ": " + drawing.text_of(", ".join(map("=".join, texts.items())), _MOST_CHARACTERS)


def front_of(scores: NDArray[np.float64], gaps: NDArray[np.float64]) -> list[int]:
    """Return the candidates that no other candidate beats, from the best score to the least gap."""
    order = np.lexsort((gaps, -np.where(np.isnan(scores), -np.inf, scores)))
    kept: list[int] = []
    for candidate in order[: int((~np.isnan(scores)).sum())].tolist():
        last = kept[-1] if kept else candidate
        equal = gaps[candidate] == gaps[last] and scores[candidate] == scores[last]
        if equal or gaps[candidate] < gaps[last]:
            kept.append(candidate)
    return kept
