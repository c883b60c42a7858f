"""Levels of disclosure in commands: options, withheld groups, and descriptions in words."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._words import counted, shortened_label, shortened_text
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.counts_file import labels_in_words
from skfedauc.cli.terminal import CommandError
from skfedauc.counts import Bins, Disclosure, ScoreCounts, Withheld
from skfedauc.counts.ranges import n_distinct
from skfedauc.counts.reducing import is_small, joined_label
from skfedauc.counts.score_counts import view_of

# Options that describe bins
_OF_BINS = ("bins", "octaves", "parts", "edges")


def rule_of(options: Arguments, **small: Any) -> Disclosure | None:
    """Return what the options withhold or coarsen; None without ``--disclosure``.

    `small` holds arguments of `Disclosure` on small numbers of rows; None for the default.
    """
    given = {
        name: value
        for name, value in vars(options).items()
        if name in _OF_BINS and value is not None
    }
    small = {name: value for name, value in small.items() if value is not None}
    if options.disclosure != "bins":
        return None if options.disclosure is None else Disclosure(options.disclosure, **small)
    rule = given.pop("bins", "edges" if "edges" in given else "probabilities")
    known = {"probabilities": {"octaves", "parts"}, "scores": {"parts"}, "edges": {"edges"}}[rule]
    others = sorted(set(given) - known)
    if others or (rule == "edges" and not given):
        raise CommandError(f"--{[*others, 'bins'][0]} does not go with --{_named(rule)}")
    make: Any = {
        "probabilities": Bins.of_probabilities,
        "scores": Bins.of_scores,
        "edges": Bins.at,
    }[rule]
    try:
        return Disclosure("bins", make(**given), **small)
    except (ValueError, TypeError) as error:
        raise CommandError(str(error).removesuffix(".")) from None


def _named(rule: str) -> str:
    return "edges" if rule == "edges" else f"bins {rule}"


def options_of(level: Disclosure) -> str:
    """Return the options of the command line for this level."""
    if level.bins is None:
        return f"--disclosure {level.level}"
    state = level.bins.to_dict()
    match state.pop("rule"):
        case "of_probabilities":
            rule = ""
        case "of_scores":
            rule = " --bins scores"
        case _:
            edges = ",".join(map(repr, state["edges"]))
            return f"--disclosure bins --edges={edges}"
    numbers = "".join(f" --{name} {value}" for name, value in state.items())
    return f"--disclosure bins{rule}{numbers}"


def reduced(counts: ScoreCounts, options: Arguments, name: str) -> ScoreCounts:
    """Return the counts at the level of disclosure of the options.

    With ``--min-count``, the result has no small number of rows.
    """
    rule = rule_of(
        options,
        min_count=options.min_count,
        small_groups=options.small_groups,
        tell_withheld=options.tell_withheld,
    )
    if rule is None:
        return counts
    scores = counts.cells.scores
    if rule.bins is not None and rule.bins.to_dict()["rule"] == "of_probabilities":
        outside = scores[(scores < 0) | (scores > 1)]
        if outside.size:
            raise CommandError(
                f"{name} has scores outside 0 to 1, such as {outside[0]:g}; pass --bins scores, "
                "which has bins for all scores"
            )
    try:
        return counts.reduced(rule)
    except ValueError as error:
        raise CommandError(str(error).removesuffix(".")) from None


def level_in_words(counts: ScoreCounts) -> str:
    """Return the level of disclosure, with the rule of the bins."""
    if counts.disclosure.level == "summary":
        return "a summary by group, without scores"
    if counts.disclosure.level == "exact":
        return "exact scores"
    if counts.disclosure.bins is None:
        return "ranges of scores, which are not bins of one rule"
    return f"bins of scores, by {shortened_text(repr(counts.disclosure.bins))}"


def scores_in_words(counts: ScoreCounts) -> str:
    """Return the number of scores or bins, and the lowest and the highest score."""
    is_exact = counts.disclosure.level == "exact"
    scores, ranges = counts.cells.scores, view_of(counts).ranges
    if ranges is not None and counts.disclosure.bins is None:
        found = counted(n_distinct(ranges), "range")
    else:
        found = counted(np.unique(scores).size, "distinct score" if is_exact else "bin")
    if not scores.size:
        return found
    if is_exact:
        return f"{found} from {scores.min():g} to {scores.max():g}"
    has_lowest, has_highest = (not side.any() for side in _is_open(counts))
    lowest = f"about {scores.min():g}" if has_lowest else "-infinity"
    highest = f"{'' if has_lowest else 'about '}{scores.max():g}" if has_highest else "infinity"
    return f"{found} from {lowest} to {highest}"


def noun_of(counts: ScoreCounts) -> str:
    """Return the noun for the scores of a cell: "score", "bin" or "range"."""
    if counts.disclosure.level == "exact":
        return "score"
    return "range" if counts.disclosure.bins is None else "bin"


def _is_open(counts: ScoreCounts) -> NDArray[np.bool_]:
    """Return whether each cell lacks a lower limit, and whether each cell lacks an upper limit."""
    largest = sys.float_info.max
    low, high = view_of(counts).ranges  # type: ignore[misc]
    return np.stack([low == -largest, high == largest])


def _width(width: float, n_open: int) -> str:
    sides = [f"{width:.2g} wide", "without a limit on one side", "without a limit on either side"]
    return sides[n_open]


def ranges_in_words(counts: ScoreCounts) -> list[str]:
    """Return sentences on the precision to which binned counts disclose the scores of rows."""
    ranges = view_of(counts).ranges
    if ranges is None or not counts.cells.scores.size:
        return []
    low, high = ranges
    n_rows = counts.cells.negatives.astype(np.int64) + counts.cells.positives.astype(np.int64)
    n_points, noun = int(n_rows[low == high].sum()), noun_of(counts)
    is_open = _is_open(counts)
    n_open = is_open.sum(axis=0)
    with np.errstate(over="ignore"):
        width = high - low
    # Half of the rows are in cells that are at most as wide as the cell `middle`.
    order = np.lexsort([width, n_open])
    middle = order[np.searchsorted(np.cumsum(n_rows[order]), n_rows.sum() / 2)]
    median, widest = (_width(width[cell], n_open[cell]) for cell in (middle, order[-1]))
    sentences = [
        f"The file narrows down the score of a row to a {noun}, which is {median} for the median "
        f"row and {widest} for the row with the widest one."
    ]
    if n_points:
        sentences.append(
            f"The {noun} is a single score, such as 0 or 1, for {counted(n_points, 'row')}: the "
            "file gives back their score."
        )
    elif noun == "bin":
        sentences.append("No bin is a single score, so the file gives back no score.")
    if noun == "range":
        n_ends = np.unique(ranges[~is_open]).size
        sentences.append(
            f"The ranges have {counted(n_ends, 'distinct end')}. These may be scores of rows, "
            "unless the scores were binned before ranges were joined. The file does not record "
            "this."
        )
    return sentences


def check_some_remain(exact: ScoreCounts, counts: ScoreCounts, arguments: Arguments) -> None:
    """Refuse counts without rows because ``--min-count`` withholds all groups."""
    if arguments.min_count is None or len(counts):
        return
    of_classes = [exact.n_negatives.sum(keepdims=True), exact.n_positives.sum(keepdims=True)]
    mend = "pass --small-groups join, fewer --group columns or a smaller number"
    if is_small(of_classes, arguments.min_count).any():  # Joining all groups is not enough.
        mend = (
            "count the rows of a longer period, pass a smaller number, or send a summary by "
            "--disclosure summary without --min-count"
        )
    raise CommandError(
        f"{arguments.file_name}: all groups have 1 to {arguments.min_count - 1} rows of a class, "
        f"so --min-count {arguments.min_count} withholds all "
        f"{counted(int(np.sum(of_classes)), 'row')}; {mend}"
    )


def small_groups_in_words(
    exact: ScoreCounts, counts: ScoreCounts, arguments: Arguments
) -> Iterator[str]:
    """Yield lines on the groups that ``--min-count`` has joined or withheld, with labels."""
    if arguments.min_count is None:
        return
    small = np.flatnonzero(is_small([exact.n_negatives, exact.n_positives], arguments.min_count))
    if small.size and exact.groups is not None:
        withheld = counts.disclosure.withheld.n_groups > 0
        labels = labels_in_words([exact.groups[group] for group in small])
        yield (
            f"{'Withheld' if withheld else 'Joined'}: {counted(small.size, 'group')} with "
            f"1 to {arguments.min_count - 1} rows of a class: {labels}"
        )
        if withheld:
            told = withheld_in_words(counts.disclosure.withheld)
            yield f"The file discloses of these groups: {told}"
        else:
            label = shortened_label(joined_label(exact.groups[small[0]]))
            yield f"The file holds their rows as the group {label}"
    if counts.disclosure.withheld.is_n_missing_low:
        yield "Withheld: the number of rows without a group label, because it is small"


def withheld_in_words(withheld: Withheld) -> str:
    """Return the number of withheld groups, and the known facts on rows and labels."""
    phrase = counted(withheld.n_groups, "group")
    of_classes = [
        ("" if number is not None else "at most ") + counted(most, noun)
        for number, most, noun in (
            (withheld.n_positives, withheld.most_positives, "positive"),
            (withheld.n_negatives, withheld.most_negatives, "negative"),
        )
        if most is not None
    ]
    if of_classes:
        phrase += f", {' and '.join(of_classes)}"
    return f"{phrase}: {labels_in_words(withheld.labels)}" if withheld.labels else phrase
