"""Files of counts: reading, writing, options of disclosure, and descriptions in words."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc._words import counted, enumerated, shortened, shortened_label, shortened_text
from skfedauc.cli.options import ENDINGS
from skfedauc.cli.terminal import CommandError, print_warning, refusals
from skfedauc.counts import Bins, Disclosure, LimitError, ScoreCounts, Withheld
from skfedauc.counts.parquet import (
    PRIVATE_FORMAT,
    DamagedFileError,
    OtherFileError,
    pyarrow_parquet,
)
from skfedauc.counts.reducing import is_small, joined_label
from skfedauc.counts.score_counts import view_of
from skfedauc.counts.state import n_distinct

# Largest number of groups, of sources and of releases to list
MOST_LISTED = 6


def read_counts(path: str) -> ScoreCounts:
    """Return the counts in a file."""
    if not os.path.isfile(path):
        raise CommandError(f"{path}: no such file")
    with refusals(read=path):
        try:
            return ScoreCounts.load(path)
        except OtherFileError:
            if holds_private_counts(path):
                raise CommandError(
                    f"{path} holds counts with noise for differential privacy; skfedauc show "
                    "describes it, and skfedauc.privacy.PrivateCounts.load reads it in Python"
                ) from None
            is_of_rows = path.lower().endswith(ENDINGS)
            hint = "; skfedauc audit and skfedauc count read predictions" if is_of_rows else ""
            raise CommandError(f"{path} is not a file that skfedauc count wrote{hint}") from None
        except DamagedFileError as error:
            # Errors of pyarrow have another type, and do not help the user.
            is_told = type(error.__cause__) is ValueError
            wrong = f": {error.__cause__}" if is_told else " or was cut off when it was copied"
            raise CommandError(f"{path} is damaged{wrong}; ask for another copy") from None
        except LimitError as error:
            told = str(error).removesuffix(".")
            raise CommandError(f"{told} by ScoreCounts.load in Python") from None


def holds_private_counts(path: str) -> bool:
    """Return whether a file is readable and has the format of private counts."""
    try:
        metadata = pyarrow_parquet().read_metadata(path).metadata or {}
        facts = json.loads(metadata.get(b"skfedauc", b"null"))
    except Exception:  # A damaged file may raise any exception.
        return False
    return isinstance(facts, dict) and facts.get("format") == PRIVATE_FORMAT


def write_counts(counts: ScoreCounts, path: str, source: str | None = None, **facts: Any) -> None:
    """Write counts to a file, completely or not at all."""
    with refusals(written=path):
        if any(text is not None for text in (source, *facts.values())):
            counts = counts.with_source(source, **facts)
        counts.save(path)


def versions_of(path: str) -> tuple[str, int]:
    """Return a file's versions of skfedauc and the file format."""
    metadata = pyarrow_parquet().read_metadata(path).metadata
    facts = json.loads(metadata[b"skfedauc"])
    return facts["package"], facts["version"]


def columns_of(counts: ScoreCounts) -> tuple[str, ...]:
    """Return the group column names, by default "group", or "group_1" and so on."""
    if not counts.groups:
        return counts.group_names or ("group",)
    first = counts.groups[0]
    n_columns = len(first) if isinstance(first, tuple) else 1
    if len(counts.group_names) == n_columns:
        return counts.group_names
    return ("group",) if n_columns == 1 else tuple(f"group_{i + 1}" for i in range(n_columns))


def headline(counts: ScoreCounts, name: str, weighted: str = "") -> str:
    """Return a line with the name of a file and the numbers of rows by class."""
    return f"{name}: {rows_by_class(counts)}{weighted}"


def n_by_class(counts: ScoreCounts) -> dict[str, int]:
    """Return the numbers of positives and negatives, as entries of a document."""
    return {
        "n_positives": int(counts.n_positives.sum()),
        "n_negatives": int(counts.n_negatives.sum()),
    }


def rows_by_class(counts: ScoreCounts) -> str:
    """Return the numbers of rows, of positives and of negatives."""
    positives, negatives = n_by_class(counts).values()
    return (
        f"{counted(positives + negatives, 'row')}, "
        f"{counted(positives, 'positive')} and {counted(negatives, 'negative')}"
    )


def groups_in_words(counts: ScoreCounts) -> str:
    """Return a phrase with the number of groups and the group columns."""
    if counts.groups is None:
        return "no groups"
    columns = " \N{MULTIPLICATION SIGN} ".join(map(shortened_label, columns_of(counts)))
    return f"{counted(len(counts), 'group')} by {columns}"


def labels_in_words(groups: Sequence[Any]) -> str:
    """Return group labels; of many groups, the first and the last labels."""
    labels = list(map(shortened_label, groups))
    if len(labels) > MOST_LISTED:
        half = MOST_LISTED // 2
        labels = [*labels[:half], "...", *labels[-half:]]
    return "; ".join(labels)


def names_of_sources(counts: ScoreCounts, most: int = 5) -> str:
    """Return source names, with identifiers for sources without a name."""
    names = [
        source.identifier[:8] if source.name is None else shortened(source.name)
        for source in counts.sources
    ]
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return enumerated(names) if names else "no source"


# Largest number of pairs of labels in a warning
_MOST_PAIRS = 3


def warn_of_spellings(counts: ScoreCounts) -> None:
    """Warn if labels of a column of groups differ only in case or spaces."""
    if not counts.groups:
        return
    rows = [label if isinstance(label, tuple) else (label,) for label in counts.groups]
    for name, labels in zip(columns_of(counts), zip(*rows, strict=True), strict=True):
        pairs = _pairs(labels)
        if pairs:
            shown = [" and ".join(map(shortened, pair)) for pair in pairs[:_MOST_PAIRS]]
            more = len(pairs) - _MOST_PAIRS
            if more > 0:
                shown.append(f"{more:,} more")
            print_warning(
                f"column {shortened(name)} has labels that differ only in case or spaces and count "
                f"as different groups: {', '.join(shown)}; if they are the same group, write them "
                "in one way and count again"
            )


def _pairs(labels: Iterable[Any]) -> list[list[str]]:
    """Return two labels of each set of labels that differ only in case or spaces."""
    spellings: dict[str, list[str]] = {}
    for text in sorted({label for label in labels if isinstance(label, str)}):
        spellings.setdefault(_input.folded(text), []).append(text)
    return [texts[:2] for texts in spellings.values() if len(texts) > 1]


# Options that describe bins, and options on small numbers of rows
_OF_BINS = ("bins", "octaves", "parts", "edges")
_OF_SMALL_COUNTS = ("min_count", "small_groups", "tell_withheld")


def rule_of(options: argparse.Namespace) -> Disclosure | None:
    """Return what the options withhold or coarsen; None without ``--disclosure``."""
    values = {name: value for name, value in vars(options).items() if value is not None}
    given = {name: values[name] for name in _OF_BINS if name in values}
    small = {name: values[name] for name in _OF_SMALL_COUNTS if name in values}
    if options.disclosure != "bins":
        return None if options.disclosure is None else Disclosure(options.disclosure, **small)
    rule = given.pop("bins", "edges" if "edges" in given else "probabilities")
    makers: dict[str, tuple[Any, set[str]]] = {
        "probabilities": (Bins.of_probabilities, {"octaves", "parts"}),
        "scores": (Bins.of_scores, {"parts"}),
        "edges": (Bins.at, {"edges"}),
    }
    make, known = makers[rule]
    others = sorted(set(given) - known)
    if others:
        chosen = "--edges" if rule == "edges" else f"--bins {rule}"
        raise CommandError(f"--{others[0]} does not go with {chosen}")
    with refusals():
        return Disclosure("bins", make(**given), **small)


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


def reduced(counts: ScoreCounts, rule: Disclosure | None, name: str) -> ScoreCounts:
    """Return what the rule discloses of the counts; `name` is that of the scores."""
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
    with refusals():
        return counts.reduced(rule)


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


def check_some_remain(
    exact: ScoreCounts, counts: ScoreCounts, arguments: argparse.Namespace
) -> None:
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
    exact: ScoreCounts, counts: ScoreCounts, arguments: argparse.Namespace
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
