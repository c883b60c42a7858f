"""Answers to questions: a gap with its interval, p value and verdict, and the group table.

Each verdict is read from the answer's interval: groups differ exactly if the interval excludes
what equal groups have. The p value is the smallest error probability at which the interval
excludes it, so both agree at every level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc.audit.contrasts import Gap
from skfedauc.audit.questions import QUESTIONS, Changes, Question, TwoModels
from skfedauc.audit.samples import Sample
from skfedauc.counts import ScoreCounts
from skfedauc.inference.effects import Floats
from skfedauc.inference.models import auc_values, compare_average, gap_change, joint_within
from skfedauc.inference.rates import GapLimits
from skfedauc.report import GroupAUC, estimates_of, index_of, null_difference_of, shares


class ByRow(NamedTuple):
    """An audit's rows, and whether each has a positive decision; None without decisions."""

    rows: _input.Rows
    selected: NDArray[np.bool_] | None


class Audited(Protocol):
    """What an audit's outputs read from it; see `FairnessAudit`."""

    report: GroupAUC
    decisions: ScoreCounts | None
    threshold: float | None
    min_per_class: int
    primary: str
    favorable: Any
    samples: dict[str, Sample]
    control: dict[str, Any]
    n_audits: int
    by_row: ByRow | None
    date: str

    @property
    def columns(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def answers(self) -> dict[str, dict[str, Answer]]: ...  # noqa: D102
    @property
    def tolerances(self) -> pd.DataFrame: ...  # noqa: D102
    @property
    def facts(self) -> dict[str, Any]: ...  # noqa: D102


Verdict = Literal["differ", "undecided", "smaller", "larger", "changed", "unanswered"]
LEVEL = 0.95
# Numbers of the first and of the second model
_PAIR = np.array([0]), np.array([1])
# Search for the p value of a change: number of bisections, and the least value
_N_HALVINGS, _LEAST_PVALUE = 48, 1e-15


class Shown(NamedTuple):
    """The gap that a sentence names: its groups, and its size with limits.

    It is the largest gap if the rows establish it, else the most significant established gap. The
    largest value often belongs to a group with few rows.
    """

    highest: Any
    lowest: Any
    estimate: float
    ci_low: float
    ci_high: float


_NOTHING = Shown(None, None, np.nan, np.nan, np.nan)


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """Answer to a question about a column's groups, or about the change between two models.

    Attributes
    ----------
    question : Question
    column : str
    estimate, ci_low, ci_high : float
        The gap between groups, or its change, with the limits from which the verdict is read.
    pvalue : float
        P value times ``n_claims``, at most 1 (Bonferroni). It is below 5 % exactly if the verdict
        claims a difference.
    confidence_level : float
        Confidence level, ``1 - 0.05 / n_claims``.
    n_claims : int
        How many questions share the error rate 5 %.
    verdict : {"differ", "undecided", "smaller", "larger", "changed", "unanswered"}
        "differ" for one model; for two models, whether the gap is smaller or larger in the second
        model, or "changed" if a disparity changed its sign.
    highest, lowest : object
        Groups with the largest and the smallest value.
    shown : Shown
        The groups that a sentence names, with their gap.
    groups : tuple
        Group labels, in the order of the table.
    table : pandas.DataFrame or None
        One row for each group: ``n_rows``, ``value``, its 95 % limits ``ci_low`` and ``ci_high``,
        and the ``difference`` from the reference with ``simultaneous_low`` and
        ``simultaneous_high``, which hold for all groups together. For two models ``before``,
        ``after``, and the ``difference`` with both kinds of limits.
    reference : object
        The group with most rows; None for comparisons of each group with all others.
    few : frozenset
        Groups with few rows in a class, which a cell marks; see `Sample.few_groups`.
    expected : float
        The mean gap if all groups were equal; NaN if unknown, or if the groups differ.
    before, after : float
        Both models' gaps.
    missing : str
        What the sample lacks for an answer.
    """

    question: Question
    column: str
    estimate: float = np.nan
    ci_low: float = np.nan
    ci_high: float = np.nan
    pvalue: float = np.nan
    confidence_level: float = np.nan
    n_claims: int = 1
    verdict: Verdict = "unanswered"
    highest: Any = None
    lowest: Any = None
    shown: Shown = _NOTHING
    groups: tuple[Any, ...] = ()
    table: pd.DataFrame | None = None
    reference: Any = None
    few: frozenset[Any] = frozenset()
    expected: float = np.nan
    before: float = np.nan
    after: float = np.nan
    missing: str = ""

    @property
    def is_claim(self) -> bool:
        """Whether the verdict claims a difference or a change."""
        return self.verdict not in ("undecided", "unanswered")

    def row(self, group: Any) -> dict[str, Any]:
        """Return a group's row in the table."""
        assert self.table is not None
        row = self.table.iloc[self.groups.index(group)]
        return {str(name): value for name, value in row.items()}

    def __repr__(self) -> str:
        if self.missing:
            return f"Answer({self.question.name} by {self.column}: needs {self.missing})"
        return (
            f"Answer({self.question.name} by {self.column}: {self.verdict}, {self.estimate:.4g} "
            f"({self.ci_low:.4g} to {self.ci_high:.4g}), p = {self.pvalue:.3g})"
        )


def answer(question: Question, sample: Sample, n_claims: int = 1) -> Answer:
    """Answer a question about one model.

    Parameters
    ----------
    question : Question
    sample : Sample
    n_claims : int, default=1
        How many questions share the error rate 5 %.
    """
    missing = question.missing(sample)
    if missing:
        return Answer(question, sample.column, missing=missing)
    if question.ask is None:
        return _larger(question, sample, n_claims)
    alpha = (1.0 - LEVEL) / n_claims
    contrast, n_rows = question.ask(sample)
    if np.isnan(contrast.values).any():
        return Answer(question, sample.column, missing=f"{question.rows} in each group")
    groups, limits = sample.groups, contrast.gap(alpha)
    is_apart = contrast.excludes_equality(limits)
    reference = int(sample.n_by_class.sum(axis=0).argmax())
    columns = contrast.columns(alpha, reference)
    highest, lowest = contrast.ends
    largest = Gap(highest, lowest, contrast.size(highest, lowest), *limits)  # type: ignore[arg-type]
    shown = _headlined(contrast, alpha, sample, largest) if is_apart else largest
    table = {"n_rows": n_rows, "value": contrast.values} | columns._asdict()
    labels = [None if g is None else groups[g] for g in (*shown[:2], *largest[:2])]
    return Answer(
        question,
        sample.column,
        largest.estimate,
        largest.low,
        largest.high,
        pvalue=min(contrast.pvalue() * n_claims, 1.0),
        confidence_level=1.0 - alpha,
        n_claims=n_claims,
        verdict="differ" if is_apart else "undecided",
        highest=labels[2],
        lowest=labels[3],
        shown=Shown(labels[0], labels[1], *shown[2:]),
        groups=groups,
        table=pd.DataFrame(table, index=index_of(sample.report)),
        reference=None if question.is_with_others else groups[reference],
        few=sample.few_groups,
        expected=np.nan if is_apart else _expected(question, sample),
    )


def _headlined(contrast: Any, alpha: float, sample: Sample, largest: Gap) -> Gap:
    """Return the established gap to name: first without groups with few rows, then over all."""
    everyone = np.ones(len(sample.groups), np.bool_)
    for among in (~sample.is_few, everyone):
        found: Gap | None = contrast.clearest(alpha, among)
        if found is not None:
            is_largest = found[:2] == largest[:2]
            return largest if is_largest else found
    return largest


def _expected(question: Question, sample: Sample) -> float:
    """Return the mean gap between equal groups, which is known for independent groups' AUCs."""
    is_known = question.name == "difference" and not sample.shares_clusters
    return null_difference_of(sample.report) if is_known else np.nan


def _larger(question: Question, sample: Sample, n_claims: int) -> Answer:
    """Return the larger gap.

    Its lower limit is the larger lower limit, with half the error rate each. Its upper limit
    fails only if that of the larger true gap fails, which needs no adjustment.
    """
    alone, halved = (
        [answer(QUESTIONS[name], sample, n) for name in question.parts]
        for n in (n_claims, n_claims * len(question.parts))
    )
    if any(part.missing for part in alone):
        return Answer(question, sample.column, missing=next(p.missing for p in alone if p.missing))
    widest = max(alone, key=lambda part: part.estimate)
    low = max(part.ci_low for part in halved)
    high = max(part.ci_high for part in alone)
    return replace(
        widest,
        question=question,
        ci_low=low,
        ci_high=high,
        pvalue=min(part.pvalue for part in halved),
        verdict="differ" if low > 0.0 else "undecided",
        shown=Shown(widest.highest, widest.lowest, widest.estimate, low, high),
        table=None,
        reference=None,
    )


# Two models --------------------------------------------------------------------------------------


def change(
    question: Question, pair: tuple[Sample, Sample], models: TwoModels, n_claims: int = 1
) -> Answer:
    """Answer how a gap changed from the first to the second model on the same rows."""
    sample = pair[0]
    missing = question.missing(sample) or question.missing(pair[1])
    if not missing and question.requires == "decisions" and models.decisions is None:
        missing = "decisions of each row"
    if missing:
        return Answer(question, sample.column, missing=missing)
    assert question.changes is not None
    alpha, found = (1.0 - LEVEL) / n_claims, question.changes(models)
    values, groups = found.values.values, sample.groups
    if question.is_with_others:
        g, gap, pvalue = _clearest_change(found, alpha)
        (before, after), ends = values[:, g].tolist(), [groups[g], None]
    else:
        *gap, pvalue = gap_change([found.values], 1.0 - alpha)
        before, after = np.ptp(values, axis=1).tolist()
        ends = [groups[int(values[1].argmax())], groups[int(values[1].argmin())]]
    own, of_all = found.limits(LEVEL), found.limits(1.0 - alpha / len(groups))
    table = {
        "n_rows": _n_rows(question, sample),
        "before": values[0],
        "after": values[1],
        "difference": values[1] - values[0],
        "ci_low": own[0],
        "ci_high": own[1],
        "simultaneous_low": of_all[0],
        "simultaneous_high": of_all[1],
    }
    estimate, low, high = gap
    return Answer(
        question,
        sample.column,
        estimate,
        low,
        high,
        pvalue=min(pvalue * n_claims, 1.0),
        confidence_level=1.0 - alpha,
        n_claims=n_claims,
        verdict=_verdict_of_change(gap, before, after),
        highest=ends[0],
        lowest=ends[1],
        shown=Shown(ends[0], ends[1], estimate, low, high),
        groups=groups,
        table=pd.DataFrame(table, index=index_of(sample.report)),
        before=before,
        after=after,
    )


def change_within(
    gap: Answer, pair: tuple[Sample, Sample], models: TwoModels, n_claims: int
) -> Answer:
    """Return how the AUC within groups changes, beside the gap between groups."""
    if gap.missing:
        return gap
    share = shares(estimates_of(pair[0].report), "within")
    bounded = np.array([estimates_of(sample.report).variances.bounded for sample in pair])
    within = joint_within(models.rows, auc_values(models.rows)[0])
    assert share is not None
    found = compare_average(within, share, bounded, _PAIR, gap.confidence_level)
    before, after, apart, low, high = (float(column[0]) for column in found[:5])
    limits = [apart, low, high]
    return replace(
        gap,
        estimate=apart,
        ci_low=low,
        ci_high=high,
        pvalue=min(n_claims * float(found.pvalue[0]), 1.0),
        verdict=_verdict_of_change(limits, before, after),
        shown=Shown(None, None, apart, low, high),
        before=before,
        after=after,
    )


def _verdict_of_change(gap: list[float], before: float, after: float) -> Verdict:
    _, low, high = gap
    if low <= 0.0 <= high:
        return "undecided"
    if before * after < 0.0:
        return "changed"
    return "smaller" if abs(after) < abs(before) else "larger"


def _n_rows(question: Question, sample: Sample) -> NDArray[np.int64]:
    assert question.ask is not None
    return question.ask(sample).n_rows


def _clearest_change(found: Changes, alpha: float) -> tuple[int, list[float], float]:
    """Return the group whose change is clearest; its change and limits, and the p value.

    The limits hold for all groups together (Bonferroni). Two groups have one claim, because their
    values differ in sign only.
    """
    change: Floats = found.values.values[1] - found.values.values[0]
    n_claims = 1 if change.size == 2 else change.size
    low, high = found.limits(LEVEL)
    width = np.where(high > low, high - low, np.inf)
    g = int(np.argmax(np.nan_to_num(np.abs(change) / width, nan=-1.0)))

    def limits(error: float) -> list[float]:
        return [float(of[g]) for of in found.limits(1.0 - error / n_claims)]

    def excludes_0(error: float) -> bool:
        low, high = limits(error)
        return low > 0.0 or high < 0.0

    outside, inside = 0.0, np.log(_LEAST_PVALUE)
    for _ in range(_N_HALVINGS):
        middle = (outside + inside) / 2.0
        is_outside = excludes_0(float(np.exp(middle)))
        outside, inside = (middle, inside) if is_outside else (outside, middle)
    pvalue = float(np.exp(outside)) if excludes_0(0.999) else 1.0
    return g, [float(change[g]), *limits(alpha)], pvalue


def tolerance(found: Answer, limit: float) -> str:
    """Return "met", "not met" or "undecided", read from the answer's interval."""
    if found.missing:
        return "undecided"
    low, high = GapLimits(found.ci_low, found.ci_high)
    if found.question.is_ratio:
        low, high, limit = -high, -low, -limit
    if high <= limit:
        return "met"
    return "not met" if low > limit else "undecided"


# Tables of answers --------------------------------------------------------------------------------

ESTIMATE = ("estimate", "ci_low", "ci_high", "confidence_level", "pvalue", "verdict")


def gap_table(answers: Mapping[str, Mapping[str, Answer]], names: list[str]) -> pd.DataFrame:
    """Return attributes of the answers as a table."""
    rows = {
        (column, name): [getattr(found, of) for of in names]
        for column, of_column in answers.items()
        for name, found in of_column.items()
    }
    return by_gap(rows, names)


def by_gap(rows: Mapping[tuple[str, str], list[Any]], columns: list[str]) -> pd.DataFrame:
    """Return a table with the index levels `column` and `gap`."""
    table = pd.DataFrame.from_dict(dict(rows), orient="index", columns=columns)
    keys = [[key[level] for key in rows] for level in (0, 1)]
    table.index = pd.MultiIndex.from_arrays(keys, names=["column", "gap"])
    return table
