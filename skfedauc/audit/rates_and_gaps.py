"""The registry of an audit's questions, and the contrasts between groups that answer them.

A question is one entry. From it come the values by group, the interval and the verdict, the
sentence, the table's row, the tolerance, and the definition on the page and in the model card,
for one model and for the change between two models.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.audit.samples import Cells, Decided, Sample
from skfedauc.counts.moments import Floats, ratio
from skfedauc.inference.calibration import mean_scores
from skfedauc.inference.cross_gap import CrossGaps, cross_gaps
from skfedauc.inference.differences import AllPairs
from skfedauc.inference.intervals import Limits
from skfedauc.inference.model_comparison import (
    Contrasts,
    GroupValues,
    Joint,
    auc_values,
    group_means,
    group_rates,
    joint_disparities,
    joint_within,
    rate_changes,
)
from skfedauc.inference.proportions import estimates_of_shares, limits_of_ratio, tail_of
from skfedauc.inference.quantiles import normal_quantile, t_quantile
from skfedauc.inference.row_effects import Rows
from skfedauc.report.group_auc import estimates_of

_ALL, _POSITIVES, _NEGATIVES = ((1, 1), (1, 1)), ((0, 0), (1, 1)), ((1, 1), (0, 0))
_SELECTED = ((0, 1), (0, 1))


class Gap(NamedTuple):
    """Gap with limits and p value, between two groups (numbers in a contrast) or of one.

    `lowest` is None for a gap of one group.
    """

    highest: Any
    lowest: Any
    estimate: float
    ci_low: float
    ci_high: float
    pvalue: float


def ends_of(values: Floats) -> tuple[int, int]:
    """Return the places of the highest and the lowest value; of equal ones, the two ends."""
    highest, lowest = int(values.argmax()), int(values.argmin())
    return highest, values.size - 1 if lowest == highest else lowest


@dataclass(frozen=True, eq=False)
class Between:
    """Value differences for all group pairs, or ratios, which exclude 1 if differences exclude 0.

    `n_rows` are the denominators of rates, None for all rows.
    """

    values: Floats
    pairs: AllPairs
    n_rows: NDArray[np.int64] | None = None
    is_ratio: bool = False

    def size(self, highest: int, lowest: int) -> float:
        """Return the gap between two groups; the ratio of zeros is NaN."""
        most, least = float(self.values[highest]), float(self.values[lowest])
        if not self.is_ratio:
            return most - least
        return least / most if most > 0.0 else float("nan")

    def largest(self, alpha: float) -> Gap:
        """Return the gap of the groups furthest apart, with limits for the furthest true values."""
        highest, lowest = ends_of(self.values)
        pairs = self.pairs
        limits = limits_of_ratio(pairs, alpha) if self.is_ratio else pairs.largest(alpha)
        pvalue, _ = pairs.test()
        return Gap(highest, lowest, self.size(highest, lowest), *limits, pvalue)

    def shown(self, alpha: float, among: NDArray[np.bool_], is_apart: bool) -> Gap | None:
        """Return the chosen groups' largest difference, or None without two of them.

        If groups are apart, it has to be established; else, the clearest one is, or None.
        """
        chosen = np.flatnonzero(among)
        if chosen.size < 2 or self.is_ratio:
            return None
        ends = chosen[[*ends_of(self.values[chosen])]]
        if not is_apart:
            return self._between(alpha, *ends.tolist())
        low, clearest = self.pairs.clearest(chosen, alpha)
        if low <= 0.0:
            return None
        largest = self._between(alpha, *ends.tolist())
        return largest if largest.ci_low > 0.0 else self._between(alpha, *clearest)

    def _between(self, alpha: float, above: int, below: int) -> Gap:
        low, high = (float(of[above]) for of in self.pairs.limits_from(below, alpha))
        pvalue = self.pairs.pvalue_of(above, below)
        return Gap(above, below, self.size(above, below), low, high, pvalue)

    def columns(self, alpha: float, reference: int) -> dict[str, Floats]:
        """Return 95 % limits of the values, and the differences from the reference with limits."""
        lowest, highest = self.pairs.estimates(normal_quantile(0.025))
        low, high = self.pairs.limits_from(reference, alpha)
        return {
            "ci_low": lowest.low,
            "ci_high": highest.high,
            "difference": self.values - self.values[reference],
            "simultaneous_low": low,
            "simultaneous_high": high,
        }


class WithOthers:
    """Each group compared with all other groups: xAUC disparities."""

    n_rows = None

    def __init__(self, gaps: CrossGaps) -> None:
        self.gaps, self.values = gaps, gaps.disparity

    @property
    def furthest(self) -> int:
        """Group with the largest absolute value; of two groups, the one that is favored."""
        return int(np.argmax(np.abs(self.values) + 1e-12 * (self.values > 0.0)))

    def largest(self, alpha: float) -> Gap:
        """Return the largest absolute value."""
        g, limits = self.furthest, self.gaps.largest(alpha)
        return Gap(g, None, float(abs(self.values[g])), *limits, float(self.pvalues.min()))

    @property
    def pvalues(self) -> Floats:
        """The groups' p values, times the comparison count; 1 without a variance."""
        is_known = np.isfinite(self.gaps.pvalue)
        n_claims = 1 if self.values.size == 2 else max(int(is_known.sum()), 1)
        pvalues: Floats = np.where(is_known, self.gaps.pvalue, 1.0)
        return np.minimum(n_claims * pvalues, 1.0)

    def shown(self, alpha: float, among: NDArray[np.bool_], is_apart: bool) -> Gap | None:
        """Return the chosen group furthest from 0; if groups are apart, an established one."""
        low, high = self._limits(alpha)
        # Limits of the absolute value, on the side of the estimate
        least, most = np.where(self.values > 0.0, [low, high], [-high, -low])
        known = np.where(among, np.nan_to_num(least, nan=-np.inf), -np.inf)
        if not is_apart:
            known, least = np.where(among, np.abs(self.values), 0.0), np.maximum(least, 0.0)
        g = self.furthest if known[self.furthest] > 0.0 else int(known.argmax())
        if not known[g] > 0.0:
            return None
        limits = float(least[g]), float(most[g]), float(self.pvalues[g])
        return Gap(g, None, float(abs(self.values[g])), *limits)

    def columns(self, alpha: float, reference: int) -> dict[str, Floats]:
        """Return limits for each group alone, and for all groups together."""
        names = "ci_low", "ci_high", "difference", "simultaneous_low", "simultaneous_high"
        own = self.gaps.limits(0.95, are_simultaneous=False)
        return dict(zip(names, [*own, self.values, *self._limits(alpha)], strict=True))

    def _limits(self, alpha: float) -> Floats:
        """Return limits for all groups together, which are within those of the largest value."""
        most = self.largest(alpha).ci_high
        return np.clip(self.gaps.limits(1.0 - alpha), -most, most)


Contrast = Between | WithOthers


@dataclass(frozen=True, eq=False)
class TwoModels:
    """The compared groups' rows, with two models' names, scores and decisions."""

    names: tuple[str, str]
    samples: tuple[Sample, Sample]
    rows: Rows
    decisions: NDArray[np.bool_] | None

    @functools.cached_property
    def within(self) -> Joint:
        """Both models' AUCs within groups."""
        return joint_within(self.rows, auc_values(self.rows)[0])


class Changes(NamedTuple):
    """Two models' values by group, limits of their changes at a level, and chosen groups' gaps."""

    values: Floats
    limits: Callable[[float], tuple[Floats, Floats]]
    contrasts: Callable[[NDArray[np.bool_]], Contrasts]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question about one column's groups.

    `name` is the gap's name in the API and in tolerances, and `value` the column of
    `FairnessAudit.by_group`. `title` is the row's heading, with ``gloss`` beside it on the first
    screen, `noun` the value in a sentence, and ``rows`` what a group's value rests on. ``requires``
    is what a sample needs beside two groups with enough rows. ``ask`` is None for the larger gap of
    two ``parts``, and ``changes`` for gaps that are asked for a tolerance only.
    """

    name: str
    value: str
    title: str
    noun: str
    definition: str
    ask: Callable[[Sample], Contrast] | None = None
    changes: Callable[[TwoModels], Changes] | None = None
    gloss: str = ""
    rows: str = "rows"
    requires: Literal["", "decisions", "probabilities"] = ""
    is_signed: bool = False
    is_ratio: bool = False
    parts: tuple[str, ...] = ()

    @property
    def is_for_tolerance(self) -> bool:
        """Whether the question is asked for a tolerance only."""
        return self.is_ratio or bool(self.parts)

    @property
    def is_with_others(self) -> bool:
        """Whether each group is compared with all others."""
        return self.name == "xauc_disparity"

    def missing(self, sample: Sample) -> str:
        """Return what a sample lacks for an answer, or an empty text."""
        if len(sample.groups) < 2:
            return f"two groups with {max(sample.least, 1)} rows of each class"
        if self.requires == "decisions" and sample.decisions is None:
            return "decisions"
        if self.requires == "probabilities":
            if not sample.has_probabilities:
                return "exact scores that are probabilities"
            if sample.shares_clusters:
                return "clusters that are each in one group"
        return ""


def _aucs(sample: Sample) -> Between:
    estimates = estimates_of(sample.report)
    return Between(estimates.group_values[0], estimates.all_pairs("logit"))


def _auc_changes(models: TwoModels) -> Changes:
    joint = models.within
    variances = [estimates_of(sample.report).variances for sample in models.samples]
    values = GroupValues.of_aucs(joint, variances)
    limits = _student_limits(joint.auc, joint.variance[0, 1], joint.freedom[0, 1])
    return Changes(joint.auc, limits, values.contrasts)


def _disparity_changes(models: TwoModels) -> Changes:
    joint = joint_disparities(models.rows)
    gaps = [cross_gaps(of.report.counts, of.clusters) for of in models.samples]
    values, errors = np.array([(of.disparity, of.error) for of in gaps]).swapaxes(0, 1)
    variance, freedom = joint.variance[0, 1], joint.freedom[0, 1]

    def contrasts(kept: NDArray[np.bool_]) -> Contrasts:
        of_changes = np.sqrt(variance[kept])
        return Contrasts.of_sizes(values[:, kept], errors[:, kept], of_changes, freedom[kept].min())

    return Changes(values, _student_limits(values, variance, freedom), contrasts)


def _student_limits(
    values: Floats, variance: Floats, freedom: Floats
) -> Callable[[float], tuple[Floats, Floats]]:
    change, error = values[1] - values[0], np.sqrt(np.maximum(variance, 0.0))

    def limits(level: float) -> tuple[Floats, Floats]:
        reach = t_quantile((1.0 - level) / 2.0, freedom) * error
        return change - reach, change + reach

    return limits


def _changes_of_means(of: GroupValues) -> Changes:
    variance = of.variance.sum(axis=0) - 2.0 * of.covariance
    limits = _student_limits(of.values, variance, of.degrees_of_freedom.min(axis=0))
    return Changes(of.values, limits, of.contrasts)


def _rate(
    value: str, *, of: Cells, counts: Cells = _SELECTED, name: str = "", **words: Any
) -> Question:
    events = np.array(of, bool) & np.array(counts, bool)

    def ask(sample: Sample) -> Between:
        assert sample.decisions is not None
        decided = Decided.of(sample.decisions.counts)
        rows = decided.rows(of)
        shares = ratio(decided.rows(events).weight, np.asarray(rows.weight, np.float64))
        sums = sample.sums_of(of, counts)
        precision = rows.effective if sums is None else sums.shares
        correlation = None if sums is None else sums.correlation
        estimates = estimates_of_shares(shares, precision)
        return Between(shares, AllPairs(estimates, shares.size, correlation), rows.n)

    def changes(models: TwoModels) -> Changes:
        rows = models.rows
        assert models.decisions is not None
        if not is_of_class or rows.clusters is not None:
            label, decided = rows.positive.astype(np.intp), models.decisions.astype(np.intp)
            cells = (np.array(cells, bool)[label, decided] for cells in (events, of))
            return _changes_of_means(group_rates(rows, *cells))
        mine = np.asarray(np.array(of, bool).any(axis=1))[rows.positive.astype(np.intp)]
        chosen = models.decisions[:, mine], rows.codes[mine], rows.n_groups, rows.weights[mine]
        *_, values = rate_changes(*chosen, 0.95)
        of_groups = values.values, lambda level: rate_changes(*chosen, level)[:2]
        return Changes(*of_groups, values.contrasts)

    title = value.replace("_", " ").capitalize()
    of_classes = {_ALL: "rows", _POSITIVES: "positives", _NEGATIVES: "negatives"}
    # Decisions on the rows of a class are paired.
    is_of_class = of in of_classes and counts == _SELECTED
    return Question(
        name=name or f"{value}_difference",
        value=value,
        title=title,
        noun=title.lower(),
        ask=ask,
        changes=changes,
        rows=of_classes.get(of, "rows"),
        requires="decisions",
        **words,
    )


def _miscalibrations(sample: Sample) -> Between:
    cells = sample.report.counts.cells
    clusters = sample.cells_of_clusters()
    first = mean_scores(cells, 0.95, clusters)
    values = first.mean - first.prevalence

    def estimates(deviate: float) -> tuple[Limits, Limits]:
        found = mean_scores(cells, 1.0 - 2.0 * tail_of(deviate), clusters)
        # The share of positives of a single cluster has no limits.
        low, high = np.nan_to_num(found.low, nan=-1.0), np.nan_to_num(found.high, nan=1.0)
        limits = Limits(values, np.minimum(low, values), np.maximum(high, values))
        return limits, limits

    return Between(values, AllPairs(estimates, values.size, most=2.0))


def _miscalibration_changes(models: TwoModels) -> Changes:
    of_rows = models.rows.scores - models.rows.positive
    return _changes_of_means(group_means(models.rows, of_rows, np.ones_like(of_rows, bool)))


def _ratio(of: Question, **words: Any) -> Question:
    asked: Any = of.ask
    return replace(
        of,
        ask=lambda sample: replace(asked(sample), is_ratio=True),
        changes=None,
        is_ratio=True,
        **words,
    )


_AUC = Question(
    name="difference",
    value="auc",
    title="AUC",
    noun="AUC",
    definition="The AUC of a group is the probability that a random positive of the group "
    "scores above a random negative of the same group; a tie counts one half.",
    ask=_aucs,
    changes=_auc_changes,
)
_SELECTION = _rate(
    "selection_rate",
    name="demographic_parity_difference",
    of=_ALL,
    gloss="share of rows selected",
    definition="The selection rate is the share of rows with a positive decision. Its largest "
    "difference is the demographic parity difference.",
)
_ALL_QUESTIONS = (
    _AUC,
    Question(
        name="xauc_disparity",
        value="xauc_disparity",
        title="Ranking across groups",
        noun="xAUC disparity",
        gloss="its positives against the others' negatives",
        definition="The xAUC disparity of a group is the probability that its positives outrank "
        "the other groups' negatives, minus the probability that the other groups' positives "
        "outrank its negatives. Above 0, the ranking puts the group higher.",
        ask=lambda sample: WithOthers(cross_gaps(sample.report.counts, sample.clusters)),
        changes=_disparity_changes,
        is_signed=True,
    ),
    _SELECTION,
    _rate(
        "true_positive_rate",
        of=_POSITIVES,
        gloss="share of positives selected",
        definition="The true positive rate is the share of positives with a positive decision.",
    ),
    _rate(
        "false_positive_rate",
        of=_NEGATIVES,
        gloss="share of negatives selected",
        definition="The false positive rate is the share of negatives with a positive decision.",
    ),
    Question(
        name="calibration_difference",
        value="calibration",
        title="Calibration",
        noun="mean score minus share of positives",
        gloss="mean score minus share of positives",
        definition="Calibration compares the mean score of a group with its share of positives. "
        "Above 0, the scores promise more positives than there are.",
        ask=_miscalibrations,
        changes=_miscalibration_changes,
        requires="probabilities",
        is_signed=True,
    ),
    _ratio(
        _AUC,
        name="ratio",
        title="AUC ratio",
        definition="The AUC ratio is the smallest over the largest AUC of the groups.",
    ),
    _ratio(
        _SELECTION,
        name="demographic_parity_ratio",
        title="Selection ratio",
        definition="The selection ratio (demographic parity ratio) is the smallest over the "
        "largest selection rate; the four-fifths rule asks for 0.8 or more.",
    ),
    Question(
        name="equalized_odds_difference",
        value="true_positive_rate",
        title="Equalized odds difference",
        noun="rate",
        definition="The equalized odds difference is the larger of the differences of the true "
        "and the false positive rates.",
        requires="decisions",
        parts=("true_positive_rate_difference", "false_positive_rate_difference"),
    ),
)
QUESTIONS = {question.name: question for question in _ALL_QUESTIONS}
