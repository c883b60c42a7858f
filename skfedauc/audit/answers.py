"""Answers to questions: a gap with its interval, p value and verdict, and the group table.

Each verdict is read from the answer's interval: groups differ exactly if the interval excludes
what equal groups have. The p value is the smallest error probability at which the interval
excludes it, so both agree at every level.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc import _rows
from skfedauc.audit.rates_and_gaps import QUESTIONS, Gap, Question, TwoModels, ends_of
from skfedauc.audit.samples import Sample
from skfedauc.inference import model_comparison
from skfedauc.report.group_auc import estimates_of, null_difference_of
from skfedauc.report.statistics import shares


class ByRow(NamedTuple):
    """An audit's rows, and whether each has a positive decision; None without decisions."""

    rows: _rows.Rows
    selected: NDArray[np.bool_] | None


# A FairnessAudit, whose module imports this one
Audited: TypeAlias = Any
Verdict = Literal["differ", "undecided", "smaller", "larger", "unanswered"]
LEVEL = 0.95
# Numbers of the first and of the second model
_PAIR = np.array([0]), np.array([1])
# Columns of limits for each group alone, and for all groups together
_OWN, _OF_ALL = ("ci_low", "ci_high"), ("simultaneous_low", "simultaneous_high")
_NOTHING = Gap(None, None, np.nan, np.nan, np.nan, np.nan)


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """Answer to a question about a column's groups, or about the change between two models.

    Attributes
    ----------
    question : Question
    column : str
    highest, lowest : object
        Groups with the largest and the smallest value.
    estimate, ci_low, ci_high : float
        The gap between groups, or its change, with the limits from which the verdict is read.
    pvalue : float
        P value times ``n_claims``, at most 1: below 5 % exactly if the verdict claims a difference.
    confidence_level, n_claims : float, int
        ``1 - 0.05 / n_claims``, and how many questions share the error rate 5 %.
    verdict : {"differ", "undecided", "smaller", "larger", "unanswered"}
        "differ" for one model; for two models, how the second model's gap differs.
    shown : Gap
        The groups that a sentence names, with their gap, its limits and p value. These are groups
        with enough rows, unless only others differ: those with the largest gap if the rows
        establish it, else the clearest.
    groups, table : tuple, pandas.DataFrame or None
        Group labels, and a row for each group: ``n_rows``, ``value``, its 95 % limits ``ci_low``
        and ``ci_high``, and the ``difference`` from the reference with ``simultaneous_low`` and
        ``simultaneous_high``. These are Tukey's for all pairs, but never beyond the upper limit of
        the largest difference. For two models ``before``, ``after``, and the ``difference`` with
        both kinds of limits.
    reference : object
        The group with most rows; None for comparisons of each group with all others.
    few : frozenset
        Groups with few rows in a class, which cells and plots mark; see `Sample.few_groups`.
    expected : float
        The mean gap if all groups were equal; NaN if unknown, or if the groups differ.
    before, after, models : float, float, tuple of str
        Both models' gaps and names; empty for one model.
    missing : str
        What the sample lacks for an answer.
    favorable, limit : str or None, float or None
        The declared favorable outcome, and the tolerance.
    """

    question: Question
    column: str
    highest: Any = None
    lowest: Any = None
    estimate: float = np.nan
    ci_low: float = np.nan
    ci_high: float = np.nan
    pvalue: float = np.nan
    confidence_level: float = np.nan
    n_claims: int = 1
    verdict: Verdict = "unanswered"
    shown: Gap = _NOTHING
    groups: tuple[Any, ...] = ()
    table: pd.DataFrame | None = None
    reference: Any = None
    few: frozenset[Any] = frozenset()
    expected: float = np.nan
    before: float = np.nan
    after: float = np.nan
    models: tuple[str, ...] = ()
    missing: str = ""
    favorable: str | None = None
    limit: float | None = None

    @property
    def gap(self) -> tuple[float, float, float]:
        """The gap with its limits."""
        return self.estimate, self.ci_low, self.ci_high

    @property
    def is_claim(self) -> bool:
        """Whether the verdict claims a difference or a change."""
        return self.verdict not in ("undecided", "unanswered")

    @property
    def tolerated(self) -> Literal["met", "not met", "undecided"]:
        """Whether the gap is within the tolerance, read from the interval."""
        limit, sign = self.limit or 0.0, -1.0 if self.question.is_ratio else 1.0
        low, high = sorted([sign * (self.ci_low - limit), sign * (self.ci_high - limit)])
        if high <= 0.0:
            return "met"
        return "not met" if low > 0.0 else "undecided"

    @functools.cached_property
    def _rows(self) -> dict[Any, dict[Hashable, Any]]:
        assert self.table is not None
        return dict(zip(self.groups, self.table.to_dict("records"), strict=True))

    def row(self, group: Any) -> dict[str, Any]:
        """Return a group's row in the table."""
        return {str(name): value for name, value in self._rows[group].items()}

    def __repr__(self) -> str:
        if self.missing:
            return f"Answer({self.question.name} by {self.column}: needs {self.missing})"
        return (
            f"Answer({self.question.name} by {self.column}: {self.verdict}, {self.estimate:.4g} "
            f"({self.ci_low:.4g} to {self.ci_high:.4g}), p = {self.pvalue:.3g})"
        )


def answer(question: Question, sample: Sample, n_claims: int = 1) -> Answer:
    """Answer a question about one model; `n_claims` questions share the error rate 5 %."""
    missing = question.missing(sample)
    if missing:
        return Answer(question, sample.column, missing=missing)
    if question.ask is None:
        return _larger(question, sample, n_claims)
    alpha = (1.0 - LEVEL) / n_claims
    contrast = question.ask(sample)
    if np.isnan(contrast.values).any():
        return Answer(question, sample.column, missing=f"{question.rows} in each group")
    largest = contrast.largest(alpha)
    is_apart = largest.ci_high < 1.0 if question.is_ratio else largest.ci_low > 0.0
    # The mean gap between equal groups is known for the AUCs of independent groups.
    has_expected = question.name == "difference" and not (is_apart or sample.shares_clusters)
    reference = int(sample.n_rows().argmax())
    n_rows = sample.n_rows() if contrast.n_rows is None else contrast.n_rows
    table = {"n_rows": n_rows, "value": contrast.values, **contrast.columns(alpha, reference)}
    # Groups of few rows are named only if they alone are apart.
    headlined = sample.is_headlined
    shown = contrast.shown(alpha, headlined, is_apart)
    if is_apart and shown is None:
        shown = contrast.shown(alpha, headlined | True, is_apart)
    if shown is None or shown[:2] == largest[:2]:
        shown = largest
    return Answer(
        question,
        sample.column,
        *_labelled(largest, sample.groups, n_claims),
        confidence_level=1.0 - alpha,
        n_claims=n_claims,
        verdict="differ" if is_apart else "undecided",
        shown=_labelled(shown, sample.groups, n_claims),
        table=pd.DataFrame(table, index=estimates_of(sample.report).labels.copy()),
        reference=None if question.is_with_others else sample.groups[reference],
        expected=null_difference_of(sample.report) if has_expected else np.nan,
        groups=sample.groups,
        few=sample.few_groups,
    )


def _labelled(gap: Gap, groups: tuple[Any, ...], n_claims: int) -> Gap:
    highest, lowest = (None if g is None else groups[g] for g in gap[:2])
    pvalue = min(gap.pvalue * n_claims, 1.0)
    return gap._replace(highest=highest, lowest=lowest, pvalue=pvalue)


def _larger(question: Question, sample: Sample, n_claims: int) -> Answer:
    # The interval fails only if that of a part fails, so it needs no error rate of its own.
    parts = [answer(QUESTIONS[name], sample, n_claims) for name in question.parts]
    missing = [part.missing for part in parts if part.missing]
    if missing:
        return Answer(question, sample.column, missing=missing[0])
    widest = max(parts, key=lambda part: part.estimate)
    low, high = (max(ends) for ends in zip(*(part.gap[1:] for part in parts), strict=True))
    pvalue = min(part.pvalue for part in parts)
    gap = Gap(widest.highest, widest.lowest, widest.estimate, low, high, pvalue)
    verdict: Verdict = "differ" if low > 0.0 else "undecided"
    found = replace(widest, question=question, **gap._asdict(), verdict=verdict, shown=gap)
    return replace(found, table=None, reference=None)


def change(question: Question, models: TwoModels, n_claims: int = 1) -> Answer:
    """Return how a gap changes from the first to the second model on the same rows.

    The gap is that between groups with enough rows, if there are two.
    """
    sample = models.samples[0]
    missing = next(filter(None, map(question.missing, models.samples)), "")
    if missing:
        return Answer(question, sample.column, models=models.names, missing=missing)
    assert question.changes is not None
    alpha, found = (1.0 - LEVEL) / n_claims, question.changes(models)
    values, groups = found.values, sample.groups
    if np.isnan(values).any():
        lacks = f"{question.rows} in each group"
        return Answer(question, sample.column, models=models.names, missing=lacks)
    most = 2.0 if question.is_signed else 1.0
    contrasts, large = found.contrasts(sample.is_headlined), np.flatnonzero(sample.is_headlined)
    before, after = contrasts.sizes
    estimate, low, high, pvalue = contrasts.change(alpha, most)
    ends = [groups[g] for g in large[[*ends_of(values[1, large])]]]
    if question.is_with_others:
        ends = [groups[large[np.abs(values[1, large]).argmax()]], None]
    table = {"n_rows": sample.n_rows(question.rows), "before": values[0], "after": values[1]}
    table["difference"] = values[1] - values[0]
    for names, level in ((_OWN, LEVEL), (_OF_ALL, 1.0 - alpha / len(groups))):
        table |= zip(names, np.clip(found.limits(level), -most, most), strict=True)
    changed = Gap(ends[0], ends[1], estimate, low, high, min(pvalue * n_claims, 1.0))
    return Answer(
        question,
        sample.column,
        *changed,
        confidence_level=1.0 - alpha,
        n_claims=n_claims,
        verdict=_verdict_of_change(changed),
        shown=changed,
        groups=groups,
        table=pd.DataFrame(table, index=estimates_of(sample.report).labels.copy()),
        few=sample.few_groups,
        before=before,
        after=after,
        models=models.names,
    )


def change_within(gap: Answer, models: TwoModels, n_claims: int) -> Answer:
    question = replace(gap.question, name="within", title="AUC within groups")
    if gap.missing:
        return replace(gap, question=question)
    estimates = [estimates_of(sample.report) for sample in models.samples]
    share = shares(estimates[0], "within")
    bounded = np.array([of.variances.bounded for of in estimates])
    assert share is not None
    given = models.within, share, bounded, _PAIR, gap.confidence_level
    found = model_comparison.compare_average(*given)
    before, after, estimate = (float(column[0]) for column in found[:3])
    test = np.array([found.ci_low[0], found.ci_high[0], n_claims * found.pvalue[0]])
    # Two perfect models have no test.
    low, high, pvalue = np.where(np.isnan(test), [-1.0, 1.0, 1.0], test.clip(-1.0, 1.0)).tolist()
    changed = Gap(gap.highest, gap.lowest, estimate, low, high, pvalue)
    verdict = _verdict_of_change(changed)
    gap = replace(gap, question=question, **changed._asdict(), before=before, after=after)
    return replace(gap, verdict=verdict, shown=changed)


def _verdict_of_change(gap: Gap) -> Verdict:
    if not (gap.ci_low > 0.0 or gap.ci_high < 0.0):
        return "undecided"
    return "smaller" if gap.estimate < 0.0 else "larger"


ESTIMATE = ("estimate", "ci_low", "ci_high", "confidence_level", "pvalue", "verdict")


def gap_table(answers: Mapping[str, Mapping[str, Answer]], names: list[str]) -> pd.DataFrame:
    rows = [
        [column, name, *(getattr(found, of) for of in names)]
        for column, of_column in answers.items()
        for name, found in of_column.items()
    ]
    return pd.DataFrame(rows, columns=["column", "gap", *names]).set_index(["column", "gap"])
