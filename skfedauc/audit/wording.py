"""Numbers, lists and sentences: the one place where an answer becomes text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from skfedauc import _words
from skfedauc.audit.answers import LEVEL, Answer
from skfedauc.audit.rates_and_gaps import Question

NINETY_FIVE = f"{100.0 * LEVEL:g} %"
# Largest number of groups that a sentence names
_MOST_NAMED = 6
_FEW = "groups of few rows"
_COUNTS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six", 7: "Seven", 8: "Eight", 9: "Nine"}
# Verdicts on the change of the AUC within groups
OF_WITHIN: dict[str, Any] = {"smaller": "lower", "larger": "higher"}


def number(value: float, sign: str = "", digits: int = 3) -> str:
    """Return a number as ``0.042``, with more digits instead of a zero that is not exact."""
    if math.isnan(value):
        return "\N{EN DASH}"
    while 1e-7 < abs(value) < 0.5 * 10.0**-digits and digits < 6:
        digits += 1
    text = f"{value:{sign}.{digits}f}"
    if float(text) == 0.0:
        text = text.lstrip("+-")
    return text.replace("-", "\N{MINUS SIGN}")


def gap_text(question: Question, value: float, sign: str = "") -> str:
    """Return a gap: of shares in percentage points, otherwise a number."""
    if question.requires and not question.is_ratio:
        return f"{number(100.0 * value, sign, 1)} points"
    return number(value, sign)


def value_text(question: Question, value: float) -> str:
    """Return a group's value: a rate in percent, a signed number, or an AUC."""
    if question.requires == "decisions":
        return f"{number(100.0 * value, digits=1)} %"
    return gap_text(question, value, "+" if question.is_signed else "")


def limits_text(question: Question, low: float, high: float, sign: str = "") -> str:
    if math.isnan(low):
        return ""
    low_text, high_text = (gap_text(question, end, sign) for end in (low, high))
    return f"{low_text.removesuffix(' points')} to {high_text.removesuffix(' points')}"


def with_limits(question: Question, gap: Sequence[float], sign: str = "") -> str:
    """Return a gap with its limits, ``0.042 (0.034 to 0.050)``."""
    estimate, low, high = gap
    size, limits = gap_text(question, estimate, sign), limits_text(question, low, high, sign)
    return f"{size} ({limits})" if limits else size


def level_text(level: float) -> str:
    return f"{round(100.0 * level, 2):g} %"


def named(found: Answer, group: Any) -> str:
    """Return a group for a sentence; a number follows the name of its column, ``site 3``."""
    text, column = _words.shortened_label(group), found.column.partition(" within ")[0]
    return f"{column} {text}" if text.replace(".", "").isdigit() else text


def listed(items: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Return ``b, c and d``, or the first items and the number of further ones."""
    more = [f"{len(items) - most:,} more"] if len(items) > most else []
    return _words.enumerated([*items[:most], *more])


def _rows_of(found: Answer, group: Any) -> str:
    few = ", few of a class" if group in found.few else ""
    return f"{int(found.row(group)['n_rows']):,} {found.question.rows}{few}"


def _marked(found: Answer, group: Any, value: str = "") -> str:
    return f"{named(found, group)}{value}{' (few rows)' if group in found.few else ''}"


def _with_rows(found: Answer, group: Any) -> str:
    value = value_text(found.question, found.row(group)["value"])
    return f"{named(found, group)} {value} ({_rows_of(found, group)})"


def _beside_few(found: Answer) -> str:
    """Return the largest gaps without groups of few rows, or of two models with them."""
    assert found.table is not None
    values = found.table[["before", "after"] if found.models else ["value"]].to_numpy()
    ends = {found.groups[g] for g in (*values.argmin(axis=0), *values.argmax(axis=0))}
    enough = [group not in found.few for group in found.groups]
    gaps = np.ptp(values if found.models else values[enough], axis=0).tolist()
    is_told = ends & found.few and sum(enough) > 1 and not found.question.is_ratio
    if not is_told or gaps == [found.shown.estimate]:
        return ""
    sizes = [gap_text(found.question, gap) for gap in gaps]
    of_models = [f"{of} with {model}" for of, model in zip(sizes, found.models, strict=False)]
    few = next(iter(found.few))
    who = f"{named(found, few)} ({_rows_of(found, few)})" if len(found.few) == 1 else _FEW
    beside = f"{'With' if of_models else 'Without'} {who}"
    return f" {beside}, the largest is {' and '.join(of_models or sizes)}."


def with_few(found: Answer) -> str:
    """Return the groups of few rows which have the largest gap, or an empty text."""
    ends = [_marked(found, g) for g in (found.lowest, found.highest) if g in found.few]
    # Other groups alone may show that a tolerance is not met.
    is_by_few = found.limit is None or not found.shown.ci_low > found.limit
    return f", with {_words.enumerated(ends)}" if ends and is_by_few else ""


def _tested(found: Answer, sign: str = "") -> str:
    size = with_limits(found.question, found.shown[2:5], sign)
    return f"{size}, {_words.pvalue_text(found.shown.pvalue)}"


def _favored(found: Answer, who: str) -> str:
    is_higher = found.row(found.shown.highest)["value"] > 0.0
    if found.favorable is None:
        return f"puts {who} {'higher' if is_higher else 'lower'}"
    return f"{'favors' if is_higher == (found.favorable == 'positive') else 'disfavors'} {who}"


def sentence(found: Answer) -> str:
    """Return the sentence on a tested claim: who, how many rows, value, interval and p value."""
    question, shown = found.question, found.shown
    if found.missing:
        return f"{question.title}: not answered, because the audit lacks {found.missing}."
    if found.models:
        return _change_sentence(found)
    if question.parts:
        ends = f"{named(found, found.lowest)} and {named(found, found.highest)}"
        return f"{question.title}, between {ends}: {_tested(found)}."
    if question.is_with_others:
        group, value = shown.highest, found.row(shown.highest)["value"]
        who = f"{named(found, group)} ({_rows_of(found, group)})"
        said = f"No group is shown to rank higher or lower. The largest disparity is that of {who}"
        if found.is_claim:
            said = f"The ranking {_favored(found, who)}"
        elif group != found.highest:
            said = said.replace("is that", "beside groups of few rows is that")
        size = "largest size" if group == found.highest and len(found.groups) > 2 else "size"
        said = f"{said}: {question.noun} {number(value, '+')}, {size} {_tested(found)}."
        if group == found.highest:
            return said
        who = f"{named(found, found.highest)} ({_rows_of(found, found.highest)})"
        return f"{said} The largest observed size is {with_limits(question, found.gap)}, of {who}."
    gap = "ratio" if question.is_ratio else "difference"
    verb = "differs" if found.is_claim else "is not shown to differ"
    pair = f"{_with_rows(found, shown.lowest)}, {_with_rows(found, shown.highest)}"
    noun = question.noun[:1].upper() + question.noun[1:]
    others = [of for of in (found.lowest, found.highest) if of not in shown[:2]]
    # These limits are of the true values that are furthest apart, whichever groups have them.
    is_largest = len(found.groups) > 2 and not others and not question.is_ratio
    size = f"largest {gap}" if is_largest else gap
    said = f"{noun} {verb}: {pair}, {size} {_tested(found)}."
    if others:
        largest = gap_text(question, found.estimate)
        limits = limits_text(question, found.ci_low, found.ci_high)
        limits += " points" if largest.endswith(" points") else ""
        ends = _words.enumerated([_with_rows(found, group) for group in others])
        said += f" The largest observed {gap} is {largest}, with {ends}"
        said += f"; the interval of the largest true {gap} is {limits}."
    return said + _beside_few(found)


def short(found: Answer) -> str:
    question, shown = found.question, found.shown
    if found.missing:
        return f"needs {found.missing}"
    if found.models:
        before, after = (gap_text(question, size) for size in (found.before, found.after))
        return f"{before} \N{RIGHTWARDS ARROW} {after}, {_tested(found, '+')}"
    if question.is_with_others and found.is_claim:
        who = named(found, shown.highest)
        said = f"{_favored(found, who)} by {_tested(found)}"
    elif question.is_with_others:
        said = f"{_marked(found, shown.highest)}: {_tested(found)}"
    elif question.is_ratio or question.parts:
        return _tested(found)
    else:
        ends = (shown.lowest, shown.highest)
        values = {of: value_text(question, found.row(of)["value"]) for of in ends}
        marked = [_marked(found, group, f" {value}") for group, value in values.items()]
        said = f"{', '.join(marked)}: {_tested(found)}"
    more = [_marked(found, g) for g in (found.lowest, found.highest) if g not in shown[:2]]
    if more:
        said += f"; largest {with_limits(question, found.gap)}, with {' and '.join(more)}"
    return said


def on_groups(found: Answer) -> list[str]:
    """Return which of three or more groups differ from the largest one, and what is expected."""
    question, reference, sentences = found.question, found.reference, list[str]()
    if reference is None or found.table is None or question.is_ratio:
        return []
    rows = {group: found.row(group) for group in found.groups}
    center = f"{named(found, reference)} ({value_text(question, rows[reference]['value'])})"
    low = {group: row["simultaneous_low"] for group, row in rows.items()}
    high = {group: row["simultaneous_high"] for group, row in rows.items()}
    apart = {"lower": [g for g in rows if high[g] < 0], "higher": [g for g in rows if low[g] > 0]}
    for word, chosen in apart.items():
        sizes = {g: abs(rows[g]["difference"]) for g in chosen}
        items = [
            f"{named(found, g)} by "
            + with_limits(question, (sizes[g], *sorted([abs(low[g]), abs(high[g])])))
            for g in sorted(chosen, key=lambda g: -sizes[g])
            if {g, reference} != set(found.shown[:2])  # the headline has this difference
        ]
        if items:
            sentences.append(f"Also {word} than {center}: {listed(items)}.")
    is_open = [g for g in rows if low[g] <= 0 <= high[g]]
    if is_open and any(apart.values()):
        most = {g: gap_text(question, max(-low[g], high[g])) for g in is_open}
        items = [f"{named(found, g)} ({of})" for g, of in most.items()]
        beside = f"Not shown to differ from {named(found, reference)}, with the largest difference"
        sentences.append(f"{beside} possible: {listed(items)}.")
    if not math.isnan(found.expected):
        count = _COUNTS.get(len(rows), f"{len(rows):,}")
        who, expected = f"{count} groups of these sizes", gap_text(question, found.expected)
        sentences.append(f"{who} with one true AUC would show about {expected} by chance.")
    return sentences


def _change_sentence(found: Answer) -> str:
    question, (first, second) = found.question, found.models
    assert found.table is not None
    n_rows = {group: int(found.row(group)["n_rows"]) for group in found.groups}
    subject, verdict = f"The largest difference in {question.noun} between groups", found.verdict
    few = "" if question.is_with_others else _beside_few(found)
    if question.name == "within":
        subject, verdict, few = "The AUC within groups", OF_WITHIN.get(verdict, verdict), ""
    elif question.is_with_others:
        subject = f"The largest {question.noun}"
    if question.name != "within" and len(n_rows) > len(found.few) + 1:
        n_rows = {group: n for group, n in n_rows.items() if group not in found.few}
    said = "is not shown to change" if verdict == "undecided" else f"is {verdict}"
    before, after = (gap_text(question, size) for size in (found.before, found.after))
    sizes = f"{before} with {first}, {after} with {second}"
    rows = f"{sum(n_rows.values()):,} {question.rows}"
    return f"{subject} {said} ({rows}): {sizes}, change {_tested(found, '+')}.{few}"


def frame(
    primary: Question, level: float, also: str, n_audits: int, models: tuple[str, str] | None
) -> tuple[str, str, str]:
    """Return a document's title, its plots' legend, and its promise on intervals of both levels."""
    if models is None:
        kind, about, who = "difference", primary.title, "an audit by a column makes"
        if n_audits > 1:
            who = f"these {n_audits:,} audits together make"
        title = f"do groups differ in {primary.noun}?"
        dashed = "dashed: all these rows; " if primary.name == "difference" else ""
        legend = (
            f"{primary.noun} with {NINETY_FIVE} interval, lowest first; {dashed}pale: few rows, "
            f"and limits beyond the plot are cut; at right: {primary.rows}."
        )
        claims = f"If no group differs, {who} a false claim on {primary.noun}"
        rule = "; groups differ exactly where one excludes 0, and p values are adjusted likewise"
    else:
        kind, about, rule, (first, second) = "change", "AUCs", "", models
        title = f"did gaps between groups change from {first} to {second}?"
        legend = (
            f"AUC of {first} (\N{WHITE CIRCLE}) and {second} (\N{BLACK CIRCLE}); dashed: all these "
            f"rows with {second}; at right: rows."
        )
        claims = (
            "If nothing changed, a comparison by a column makes a false claim on AUCs (the gap "
            "between groups, or the AUC within groups)"
        )
    levels = level_text(level)
    if also not in ("", levels):
        levels = f"{levels} ({about}) and {also} (also asked)"
    promise = (
        f"{claims} in at most 5 % of cases, and on anything else in at most 5 %. Intervals of "
        f"{kind}s are {levels}{rule}. An undecided {kind} may exist: read its interval."
    )
    return title, legend, promise
