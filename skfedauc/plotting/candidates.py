"""`CandidatesDisplay`: scores and gaps of the candidates of a search."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from skfedauc import _input, _words
from skfedauc.model_selection import select_within_gap
from skfedauc.model_selection.refit import checked_gap, scores_and_gaps
from skfedauc.plotting.drawing import (
    BLACK,
    BLUE,
    MOST_CHARACTERS,
    SMALL,
    VERMILLION,
    WIDTH,
    as_written,
    axes_or_new,
    check_matplotlib,
    lay_out,
    legend_and_note,
    size_of,
    text_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

# Labels of candidates: largest number besides the chosen candidate, largest number of characters,
# and largest share of the width of the axes.
_MOST_LABELS, _MOST_CHARACTERS, _MOST_WIDTH = 10, 40, 0.4


class CandidatesDisplay:
    """Scatter plot of the score against the gap of the candidates of a search.

    Make the display with `from_search`. Better candidates are further up and further left. A line
    joins the Pareto front: the candidates for which no other candidate has both a better score and
    a smaller gap. If there is room, labels show the parameters of the candidates of the front.
    Labels omit parameters that are equal for all candidates.

    Parameters
    ----------
    scores, gaps : array-like of shape (n_candidates,)
        Means over folds; NaN for failed candidates. The display counts failed candidates, but draws
        no marker for them.
    params : sequence of dict, default=None
        Parameters of each candidate, for the labels.
    front : array-like of int, default=()
        Indices of the candidates of the Pareto front, from the best score to the smallest gap.
    chosen : int, default=None
        Index of the chosen candidate.
    at_most : float, default=None
        Limit of the gap. Empty circles show the candidates with a larger gap.
    score_name : str, default="score"
        Name of the score, for its axis.
    gap_name : str, default="gap"
        Name of the gap, for its axis.

    Attributes
    ----------
    within_, beyond_ : matplotlib PathCollection
        Candidates within the limit of the gap, and candidates beyond the limit. Without a limit,
        `within_` has all candidates.
    front_line_ : matplotlib Line2D or None
    chosen_marker_ : matplotlib Line2D or None
    limit_ : matplotlib Line2D or None
    labels_ : dict of int to matplotlib Annotation
        Labels by index of the candidate.
    note_ : str
        Note in the plot on candidates left out; empty if the plot shows all.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    select_within_gap : Refit rule for the best score within a limit of the gap.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skfedauc import group_auc_scoring, select_within_gap
    >>> from skfedauc.plotting import CandidatesDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"dose": rng.normal(size=400), "site": [1, 2] * 200})
    >>> y = X["dose"] + rng.normal(size=400) > 0
    >>> search = GridSearchCV(
    ...     LogisticRegression(),
    ...     {"C": [0.001, 1.0]},
    ...     scoring=group_auc_scoring(["pooled", "neg_difference"], groups="site"),
    ...     refit=select_within_gap("pooled", at_most=0.2),
    ... ).fit(X, y)
    >>> display = CandidatesDisplay.from_search(search, score="pooled")
    >>> display.at_most
    0.2
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    within_: PathCollection
    beyond_: PathCollection
    front_line_: Line2D | None
    chosen_marker_: Line2D | None
    limit_: Line2D | None
    labels_: dict[int, Annotation]

    def __init__(
        self,
        *,
        scores: ArrayLike,
        gaps: ArrayLike,
        params: Sequence[Mapping[str, Any]] | None = None,
        front: ArrayLike = (),
        chosen: int | None = None,
        at_most: float | None = None,
        score_name: str = "score",
        gap_name: str = "gap",
    ) -> None:
        self.scores = np.asarray(scores, np.float64)
        self.gaps = np.asarray(gaps, np.float64)
        self.params = params
        self.front = np.asarray(front, np.intp)
        self.chosen = chosen
        self.at_most = at_most
        self.score_name = score_name
        self.gap_name = gap_name
        _input.check_length("gaps", self.gaps.size, "scores", self.scores.size)
        if params is not None:
            _input.check_length("params", len(params), "scores", self.scores.size)
        if np.isnan(self.scores + self.gaps).all():
            raise ValueError("every candidate's score or gap is NaN: there is nothing to draw.")

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        score: str,
        gap: str = "difference",
        at_most: float | None = None,
        ax: Axes | None = None,
    ) -> CandidatesDisplay:
        """Draw the candidates of a search.

        Parameters
        ----------
        search : fitted GridSearchCV or RandomizedSearchCV
            Search with the score and the gap among its metrics.
        score : str
            Name of the score, a key of ``scoring``.
        gap : str, default="difference"
            Name of the gap, as in `select_within_gap`.
        at_most : float, default=None
            Limit of the gap to draw. None uses the limit of ``search.refit`` if ``search.refit`` is
            a `select_within_gap` for this gap.
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
            If the search does not have these scores, or the gap of a candidate is NaN.
        NotFittedError
            If the search needs a call of ``fit`` first.
        """
        check_matplotlib("CandidatesDisplay.from_search")
        check_is_fitted(search, "cv_results_")
        results = search.cv_results_
        scores, gaps = scores_and_gaps(results, score, checked_gap(gap))
        rule = search.refit
        if at_most is None and isinstance(rule, select_within_gap) and rule.gap == gap:
            at_most = rule.at_most
        display = cls(
            scores=scores,
            gaps=gaps,
            params=results["params"],
            front=front_of(scores, gaps),
            chosen=getattr(search, "best_index_", None),
            at_most=at_most,
            score_name=score,
            gap_name=gap,
        )
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> CandidatesDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        CandidatesDisplay
            The display itself.
        """
        check_matplotlib("CandidatesDisplay.plot")
        ax = axes_or_new(ax, 5.0, WIDTH)
        self.ax_, self.figure_ = ax, ax.figure
        drawn = ~np.isnan(self.scores + self.gaps)
        is_within = drawn & (self.gaps <= (np.inf if self.at_most is None else self.at_most))
        is_beyond = drawn & ~is_within
        entries: list[tuple[Any, str]] = []

        self.within_ = ax.scatter(
            self.gaps[is_within], self.scores[is_within], 28, color=BLUE, alpha=0.8, zorder=3
        )
        self.beyond_ = ax.scatter(
            self.gaps[is_beyond], self.scores[is_beyond], 28, facecolors="none", edgecolors=BLUE
        )
        entries.append((self.within_, _words.counted(int(is_within.sum()), "candidate")))
        self.limit_ = None
        if self.at_most is not None:
            (self.limit_,) = ax.plot(
                [self.at_most] * 2, _limits(self.scores), color=BLACK, linestyle=":", linewidth=1.2
            )
            entries[0] = (self.within_, f"{int(is_within.sum()):,} within the limit")
            entries.append((self.beyond_, f"{int(is_beyond.sum()):,} beyond"))
            entries.append((self.limit_, f"limit {self.at_most:g}"))
        self.front_line_ = None
        if self.front.size:
            (self.front_line_,) = ax.plot(
                self.gaps[self.front], self.scores[self.front], color=BLUE, linewidth=1, zorder=2
            )
            entries.append((self.front_line_, "Pareto front"))
        self.chosen_marker_ = None
        if self.chosen is not None and drawn[self.chosen]:
            (self.chosen_marker_,) = ax.plot(
                self.gaps[self.chosen],
                self.scores[self.chosen],
                linestyle="none",
                marker="D",
                markersize=11,
                markerfacecolor="none",
                markeredgecolor=VERMILLION,
                markeredgewidth=2,
                zorder=4,
            )
            text = self._text(self.chosen)
            entries.append((self.chosen_marker_, f"chosen: {text}" if text else "chosen"))
        n_failed = int((~drawn).sum())
        self.note_ = f"{_words.counted(n_failed, 'candidate')} without a score not shown" * bool(
            n_failed
        )
        ax.set_xlabel(f"{self.gap_name}, mean over folds")
        ax.set_ylabel(f"{self.score_name}, mean over folds")
        for label in (ax.xaxis.label, ax.yaxis.label):
            as_written(label)

        self._draw_labels(entries)
        return self

    @functools.cached_property
    def _names(self) -> dict[str, str]:
        """Parameters that differ between candidates, and their short names without prefixes."""
        written = [{name: str(value) for name, value in one.items()} for one in self.params or ()]
        names = [
            name
            for name in dict.fromkeys(name for one in written for name in one)
            if len({one.get(name) for one in written}) > 1
        ]
        ends = [name.rsplit("__", 1)[-1] for name in names]
        return {
            name: end if ends.count(end) == 1 else name
            for name, end in zip(names, ends, strict=True)
        }

    def _text(self, candidate: int) -> str:
        """Return the parameters of a candidate that differ between candidates, as text."""
        if self.params is None:
            return ""
        mine = self.params[candidate]
        parts = [f"{end}={_value(mine[name])}" for name, end in self._names.items() if name in mine]
        return text_of(", ".join(parts), _MOST_CHARACTERS)

    def _draw_labels(self, entries: list[tuple[Any, str]]) -> None:
        """Label the front and draw the legend, with room for both.

        No candidate is above and to the left of a candidate of the front, so a label there covers
        no candidate.
        """
        ax = self.ax_
        lay_out(ax)
        width, _ = size_of(ax)
        self.labels_ = {
            candidate: self._label(candidate, width * _MOST_WIDTH)
            for candidate in self._in_order_of_need()
            if self._text(candidate)
        }
        boxes = [label.get_window_extent() for label in self.labels_.values()]
        dpi = ax.figure.dpi
        # Add twice the distance between a label and its candidate, in points.
        room = max((box.width / dpi + 18 / 72 for box in boxes), default=0.0) / width
        inches_above = max((box.height / dpi + 14 / 72 for box in boxes), default=0.0)

        low, high = _limits(self.gaps, self.at_most)
        left = low - (high - low) * room / (1 - room)
        ax.set_xlim(left, high)
        ticks = ax.get_xticks()
        ax.set_xticks(ticks[(ticks >= max(left, 0.0)) & (ticks <= high)])
        legend_and_note(
            ax,
            [handle for handle, _ in entries],
            [text for _, text in entries],
            self.note_,
            _limits(self.scores),
            inches_above,
        )
        self._remove_overlaps()

    def _in_order_of_need(self) -> list[int]:
        """Return candidates of the front by priority: the chosen candidate, both ends, others."""
        front = self.front.tolist()
        first = [candidate for candidate in front if candidate == self.chosen]
        spread = np.linspace(0, len(front) - 1, min(len(front), _MOST_LABELS)).round()
        others = self.front[spread.astype(np.intp)].tolist()
        return list(dict.fromkeys([*first, *others[:1], *others[-1:], *others]))

    def _label(self, candidate: int, most: float) -> Annotation:
        """Draw the label of a candidate, at most `most` inches wide."""
        text = self._text(candidate)
        label = self.ax_.annotate(
            text,
            (self.gaps[candidate], self.scores[candidate]),
            xytext=(-9, 7),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=SMALL,
            # The background keeps the label readable across the line of the limit.
            bbox={"facecolor": self.ax_.get_facecolor(), "edgecolor": "none", "pad": 0.5},
        )
        as_written(label)
        share = label.get_window_extent().width / self.ax_.figure.dpi / most
        if share > 1:
            label.set_text(text_of(text, max(int(len(text) / share), 5)))
        return label

    def _remove_overlaps(self) -> None:
        """Remove labels that overlap labels of higher priority."""
        from matplotlib.transforms import Bbox

        taken: list[Bbox] = []
        if self.chosen_marker_ is not None:
            taken.append(self.chosen_marker_.get_window_extent())
        for candidate, label in list(self.labels_.items()):
            box = label.get_window_extent().padded(2)
            if any(box.overlaps(other) for other in taken):
                label.remove()
                del self.labels_[candidate]
            else:
                taken.append(box)


def _value(value: Any) -> str:
    is_float = isinstance(value, float | np.floating)
    if is_float:
        return f"{value:.3g}"
    return _words.shortened_text(" ".join(str(value).split()), MOST_CHARACTERS)


def _limits(values: Any, other: float | None = None) -> tuple[float, float]:
    """Return limits of an axis for these numbers, with a margin."""
    drawn = values[~np.isnan(values)]
    if other is not None:
        drawn = np.append(drawn, other)
    low, high = float(drawn.min()), float(drawn.max())
    margin = 0.06 * (high - low) or max(0.1 * abs(high), 0.01)
    return low - margin, high + margin


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
