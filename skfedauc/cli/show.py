"""The command `show`: describe the content and the disclosure of a file of counts."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._words import counted, enumerated, shortened, shortened_label, shortened_text
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.counts_file import (
    MOST_LISTED,
    groups_in_words,
    headline,
    holds_private_counts,
    labels_in_words,
    level_in_words,
    noun_of,
    ranges_in_words,
    read_counts,
    scores_in_words,
    versions_of,
    withheld_in_words,
)
from skfedauc.cli.terminal import refusals
from skfedauc.counts import ScoreCounts, Source, Withheld
from skfedauc.counts.score_counts import extremes_of, view_of

if TYPE_CHECKING:
    from skfedauc.privacy import PrivateCounts
    from skfedauc.privacy.state import Release

Integers = NDArray[np.int64]


class KnownClasses(NamedTuple):
    """Cells with rows in one class and no overlap with a range of the other class, and their rows.

    The class of the `n_rows_in_part` other rows follows if the score is outside of an overlap.
    """

    n_cells: int
    n_rows: int
    n_rows_in_part: int


def known_classes(counts: ScoreCounts) -> KnownClasses:
    """Count the rows whose class follows from the group and the score.

    The group and the score of a row reveal the class if all ranges of the group with this score
    have rows in one class. Exact scores are ranges of one score.
    """
    cells, ranges = counts.cells, view_of(counts).ranges
    negatives, positives = cells.negatives.astype(np.int64), cells.positives.astype(np.int64)
    n_rows, has_both = negatives + positives, (negatives > 0) & (positives > 0)
    if ranges is None or counts.disclosure.bins is not None:  # No ranges of a group overlap.
        return KnownClasses(int((~has_both).sum()), int(n_rows[~has_both].sum()), 0)
    begins, ends = _places(cells.groups, ranges)
    n_cells, n_known, n_in_part = 0, 0, 0
    for rows, others in ((negatives, positives > 0), (positives, negatives > 0)):
        own = ~others & (rows > 0)
        # Number of ranges of the other class at each place, and of the places with such ranges
        depth = np.bincount(begins[others], minlength=ends.max() + 1).cumsum()
        depth -= np.bincount(ends[others], minlength=ends.max() + 1).cumsum()
        n_covered = np.append(0, np.cumsum(depth > 0))
        covered = (n_covered[ends] - n_covered[begins])[own]
        n_cells += int((covered == 0).sum())
        n_known += int(rows[own][covered == 0].sum())
        n_in_part += int(rows[own][(covered > 0) & (covered < (ends - begins)[own])].sum())
    return KnownClasses(n_cells, n_known, n_in_part)


def _places(groups: NDArray[np.intp], ranges: NDArray[np.float64]) -> tuple[Integers, Integers]:
    """Return the first place of each range, and the place after the last place of the range.

    Places number the ends of the ranges of all groups, by group and then by score.
    """
    low, high = ranges
    with np.errstate(over="ignore"):  # Infinity is above the largest score.
        behind = np.nextafter(high, np.inf)
    scores, ranks = np.unique(np.concatenate([low, behind]), return_inverse=True)
    ends = np.tile(groups.astype(np.int64), 2) * scores.size + ranks
    places = np.unique(ends, return_inverse=True)[1].astype(np.int64)
    return places[: low.size], places[low.size :]


def show(arguments: Arguments) -> Iterator[list[str]]:
    """Yield the lines to print."""
    if holds_private_counts(arguments.file):
        yield _private_lines(arguments.file)
        return
    counts = read_counts(arguments.file)
    yield [
        headline(counts, arguments.file),
        "",
        *_contents(counts, arguments.file),
        "",
        "What the file discloses:",
        *(f"- {sentence}" for sentence in _disclosures(counts)),
        "The file does not hold features, identifiers of rows, or the order of the rows.",
    ]


# Contents ------------------------------------------------------------------------------


def _contents(counts: ScoreCounts, path: str) -> Iterator[str]:
    """Yield a line for each part of the content."""
    yield from _source_lines(counts.sources)
    package, version = versions_of(path)
    yield f"Written by: skfedauc {shortened_text(package)}, version {version} of the file format"
    yield f"Classes: {_classes(counts)}"
    if counts.n_missing:
        yield f"Left out: {counted(counts.n_missing, 'row')} without a group label"
    if counts.disclosure.withheld.n_groups:
        yield f"Withheld, with few rows of a class: {withheld_in_words(counts.disclosure.withheld)}"
    if counts.disclosure.withheld.is_n_missing_low:
        more = "more " if counts.n_missing else ""
        yield f"Withheld: the number of {more}rows without a group label, because it is small"
    is_summary = counts.disclosure.level == "summary"
    noun = noun_of(counts)
    if view_of(counts).is_weighted:
        by = "group and class" if is_summary else f"group, {noun} and class"
        yield f"Weights: sums of the rows' weights and of their squares, by {by}"
    else:
        yield "Weights: none; each row counts once"
    yield _group_line(counts)
    yield f"Level of disclosure: {level_in_words(counts)}"
    n_bytes = counted(os.path.getsize(path), "byte")
    if is_summary:
        yield f"Size: numbers of rows and sums over pairs of rows, by group; {n_bytes}"
        return
    yield f"Scores: {scores_in_words(counts)}"
    yield (
        f"Size: {counted(counts.cells.scores.size, 'cell')} of a group and a {noun}, with numbers "
        f"of negatives and positives; {n_bytes}"
    )
    if counts.disclosure.level == "bins":
        yield from _accuracy(counts)


def _accuracy(counts: ScoreCounts) -> Iterator[str]:
    """Yield a line with the certain interval of the pooled AUC, if both classes have rows."""
    ends = [view_of(end.regroup(None)).concordance for end in extremes_of(counts)]
    if not len(counts) or 0 in (counts.n_negatives.sum(), counts.n_positives.sum()):
        return
    low, high = (float((of.u2 / (2.0 * of.negatives * of.positives))[0]) for of in ends)
    # Rounding of the limits and of sums of weights never shortens the interval.
    least, most = max(math.floor(low * 1e4 - 1e-6), 0), min(math.ceil(high * 1e4 + 1e-6), 10_000)
    rows = " of the rows that are not withheld" if counts.disclosure.withheld.n_groups else ""
    yield (
        f"Accuracy: the pooled AUC of the exact scores{rows} is certainly {least / 1e4:.4f} to "
        f"{most / 1e4:.4f} (width {max(high - low, 0.0):.1e})"
    )


def _source_lines(sources: Sequence[Source]) -> Iterator[str]:
    if not sources:
        yield "Sources: none"
    lines = []
    for source in sources:
        known = {"model": source.model, "period": source.period, **dict(source.metadata)}
        facts = [f"{key} {shortened(text)}" for key, text in known.items() if text is not None]
        named = ", ".join([_source_name(source), *facts])
        lines.append(f"Source: {named}, counting {source.identifier}")
    yield from _first(lines, "Sources: {:,} more")


def _first(lines: list[str], more: str) -> list[str]:
    """Return the first lines, and a line with the number of the others."""
    n_more = len(lines) - MOST_LISTED
    return [*lines[:MOST_LISTED], *([more.format(n_more)] if n_more > 0 else [])]


def _source_name(source: Source | Release) -> str:
    return "without a name" if source.name is None else shortened(source.name)


def _classes(counts: ScoreCounts) -> str:
    seen, positive = view_of(counts).classes
    if positive is None:
        return "names unknown"
    negatives = [label for label in seen if label != positive]
    known = f"{shortened(positive)} is positive"
    return f"{known}, {shortened(negatives[0])} is negative" if negatives else known


def _group_line(counts: ScoreCounts) -> str:
    if counts.groups is None:
        return "Groups: none"
    return f"Groups: {groups_in_words(counts)}: {labels_in_words(counts.groups)}"


# Disclosure ----------------------------------------------------------------------------


def _disclosures(counts: ScoreCounts) -> Iterator[str]:
    """Yield sentences with numbers on the disclosure of single rows by the counts."""
    if counts.disclosure.withheld.n_groups:
        yield _withheld(counts.disclosure.withheld)
    if not len(counts):
        more = " more" if counts.disclosure.withheld.n_groups else ""
        yield f"Nothing{more}: there are no rows."
        return
    yield from _of_summary(counts) if counts.disclosure.level == "summary" else _of_cells(counts)
    if counts.groups:
        yield _smallest_group(counts, counts.groups)
    names = ["the labels of the classes"] if view_of(counts).classes.seen else []
    names += ["the labels of the groups"] if counts.groups is not None else []
    names += ["the names of the group columns"] if counts.group_names else []
    names += ["the names of the sources"] if any(s.name for s in counts.sources) else []
    if names:
        yield f"The file holds {enumerated(names)}."


def _of_summary(counts: ScoreCounts) -> Iterator[str]:
    """Yield sentences on the disclosure of single rows by sums by group."""
    rows = np.stack([counts.n_negatives, counts.n_positives])
    n_groups = counted(len(counts), "group") if counts.groups is not None else "1 table of rows"
    yield (
        "The numbers of rows of both classes of each group, the AUC of the group, and sums from "
        "which the variance of the AUC follows. The file holds no score."
    )
    has_few = (rows.min(axis=0) > 0) & (rows.min(axis=0) <= 2)
    yield (
        f"{int(has_few.sum()):,} of {n_groups} hold one or two rows of a class: the AUC and the "
        "sums give back the ranks of these rows among the rows of the other class."
    )
    # Shares of arrangements without ties: benchmarks/summary_ranks.py, tests/cli/test_disclosure.py
    has_more = (rows.min(axis=0) > 2) & (rows.min(axis=0) < 10)
    yield (
        f"{int(has_more.sum()):,} of {n_groups} hold at least 3 rows of both classes, and 3 to 9 "
        "rows of a class: the sums often give back these ranks as well, in 85 % of the "
        "arrangements of 3 positives and 12 negatives, 76 % of 3 and 97, and 26 % of 8 and 8. "
        "Anyone who knows the ranks and the scores of all rows of a group learns the class of each "
        "row."
    )
    yield from _weights(rows, view_of(counts).is_weighted)
    has_one_class = rows.min(axis=0) == 0
    yield (
        f"{int(has_one_class.sum()):,} of {n_groups} hold rows of one class: anyone who knows a "
        f"person's group learns the class of {int(rows[:, has_one_class].sum()):,} of "
        f"{counted(int(rows.sum()), 'row')}."
    )


def _of_cells(counts: ScoreCounts) -> Iterator[str]:
    """Yield sentences on the disclosure of single rows by counts by group and score."""
    _, _, negatives, positives, weights = counts.cells
    n_rows = negatives.astype(np.int64) + positives.astype(np.int64)
    n_cells, n_single = n_rows.size, int((n_rows == 1).sum())
    noun = noun_of(counts)
    known = ["group", noun] if counts.groups is not None else [noun]
    values = [*known, "class", *(["weight"] if weights is not None else [])]
    yield (
        f"The number of rows of each {enumerated(values[: len(known) + 1])}. Only rows that agree "
        "in all of these cannot be distinguished."
    )
    if n_single == 0:
        yield f"None of {counted(n_cells, 'cell')} holds a single row."
    else:
        of_rows = "this row" if n_single == 1 else f"these {n_single:,} rows"
        yield (
            f"{n_single:,} of {counted(n_cells, 'cell')} {'holds' if n_single == 1 else 'hold'} a "
            f"single row: the file gives back {enumerated(values)} of {of_rows}."
        )
    yield from _known_classes(counts, noun)
    yield _numbers_of_rows(np.stack([negatives, positives]), enumerated([*known, "class"]))
    yield from _weights(np.stack([negatives, positives]), weights is not None)
    yield from ranges_in_words(counts)


def _numbers_of_rows(rows: NDArray[Any], by: str) -> str:
    """Return a sentence on the counts of 1, and on the smallest count above 0."""
    n_numbers, n_single = int((rows > 0).sum()), int((rows == 1).sum())
    if n_single == 0:
        smallest = int(rows[rows > 0].min())
        return (
            f"No number of rows by {by} is 1: the smallest of the {counted(n_numbers, 'number')} "
            f"above 0 is {smallest:,}."
        )
    verb = "is" if n_single == 1 else "are"
    return (
        f"{n_single:,} of {counted(n_numbers, 'number')} of rows above 0, by {by}, {verb} 1. "
        f"{'This number describes' if n_single == 1 else 'Each of these describes'} a single row."
    )


def _weights(rows: NDArray[Any], is_weighted: bool) -> Iterator[str]:
    """Yield a sentence on weights that follow from sums of weights and squared weights."""
    if not is_weighted:
        return
    n_alone, n_in_pairs = int((rows == 1).sum()), 2 * int((rows == 2).sum())
    yield (
        "The sums of the weights and of their squares give back the weights of "
        f"{counted(n_alone + n_in_pairs, 'row')}: {n_alone:,} in numbers of 1, and {n_in_pairs:,} "
        "in numbers of 2."
    )


def _known_classes(counts: ScoreCounts, noun: str) -> Iterator[str]:
    """Yield sentences on the rows whose class follows from the group and the score."""
    n_cells, n_known, n_in_part = known_classes(counts)
    cells = counted(counts.cells.scores.size, "cell")
    n_rows = int(counts.n_negatives.sum() + counts.n_positives.sum())
    has_groups = counts.groups is not None
    known = "group and score" if has_groups else "score"
    apart = ""
    if noun == "range":
        ranges = "range of the group" if has_groups else "range"
        apart = f" and overlap no {ranges} with rows of the other class"
    yield (
        f"{n_cells:,} of {cells} hold rows of one class{apart}: anyone who knows a person's "
        f"{known} learns the class of {n_known:,} of {counted(n_rows, 'row')}."
    )
    if n_in_part:
        yield (
            f"The class of up to {counted(n_in_part, 'more row')} follows as well, if their "
            "score is in no range with rows of the other class."
        )


def _withheld(withheld: Withheld) -> str:
    rows = ""
    if withheld.most_negatives is not None or withheld.most_positives is not None:
        rows = " and of their rows of each class"
        if withheld.n_rows is None:
            rows += ", for small numbers an upper limit"
    labels = ", with their labels" if withheld.labels else ""
    return (
        f"The number of groups that are withheld{rows}{labels}. Anyone who knows how many rows of "
        "a class there are in all learns how many of them are withheld."
    )


def _smallest_group(counts: ScoreCounts, groups: tuple[Any, ...]) -> str:
    n_rows = counts.n_negatives + counts.n_positives
    smallest = int(n_rows.argmin())
    others = int((n_rows == n_rows[smallest]).sum()) - 1
    alike = f", like {counted(others, 'other group')}" if others else ""
    return (
        f"The smallest group, {shortened_label(groups[smallest])!r}, has "
        f"{counted(int(n_rows[smallest]), 'row')}: "
        f"{counted(int(counts.n_positives[smallest]), 'positive')} and "
        f"{counted(int(counts.n_negatives[smallest]), 'negative')}{alike}."
    )


# Counts with noise ---------------------------------------------------------------------


def _private_lines(path: str) -> list[str]:
    """Return the lines of the command `show` for a file of private counts."""
    # The import is local, because importing takes longer than reading exact counts.
    from skfedauc.privacy import PrivateCounts

    with refusals(read=path):
        counts = PrivateCounts.load(path)
    n_bins = counts.negatives.shape[1]
    package, version = versions_of(path)
    releases = [
        f"Release: {_source_name(of)}, {of.identifier}, epsilon {of.epsilon:g} for {of.protected}"
        for of in counts.releases
    ]
    exact = [f"Exact counts: {_source_name(of)}, {of.identifier}" for of in counts.sources]
    positive = "unknown" if counts.pos_label is None else shortened(counts.pos_label)
    return [
        f"{path}: counts with noise for differential privacy, epsilon {counts.epsilon:g}",
        "",
        *_first(releases, "Releases: {:,} more"),
        *_first(exact, "Exact counts: {:,} more"),
        f"Written by: skfedauc {shortened_text(package)}, version {version} of the format of "
        "private counts",
        f"Positive label: {positive}",
        _agreed_line(counts),
        f"Bins: {shortened_text(repr(counts.bins))}, {counted(n_bins, 'bin')}",
        f"Size: {counted(2 * counts.negatives.size, 'count')} of a group, a bin and a class; "
        f"{counted(os.path.getsize(path), 'byte')}",
        "",
        "What the file discloses:",
        *(f"- {sentence}" for sentence in _private_disclosures(counts)),
    ]


def _agreed_line(counts: PrivateCounts) -> str:
    if counts.groups is None:
        return "Groups: none"
    columns = " \N{MULTIPLICATION SIGN} ".join(map(shortened_label, counts.group_names)) or "group"
    labels = labels_in_words(counts.groups)
    return f"Groups: {counted(len(counts), 'agreed group')} by {columns}: {labels}"


def _factor(factor: float) -> str:
    return f"{factor:,.4g}" if factor < 1e4 or factor >= 1e6 else f"{factor:,.0f}"


def _private_disclosures(counts: PrivateCounts) -> list[str]:
    """Return sentences on the disclosure of single rows and of groups by the counts."""
    factor, of_class = (math.exp(min(n * counts.epsilon, 700.0)) for n in (1, 2))
    protected = sorted({release.protected for release in counts.releases})
    of_sites = " at each site" if len(counts.releases) > 1 else ""
    sentences = [
        f"Noise protects {enumerated(protected, 'or')}{of_sites}: whether the rows were counted "
        f"changes the probability of any result at most by the factor {_factor(factor)}.",
        "For someone who knows that the rows were counted, their classes change this probability "
        f"at most by the factor {_factor(of_class)}, exp(2 epsilon).",
        *_noise_by_group(counts),
        "A number of rows well above its noise can be seen in its bin.",
        "The factor holds for all that anyone computes from this file. Another release of the same "
        "rows adds its epsilon.",
        "The labels of the groups, the bins, the positive label and the names of the releases are "
        "not protected.",
    ]
    if len(counts.releases) > 1:
        sentences.append(
            "If a person has rows at several sites, the epsilons of these sites add up."
        )
    if counts.sources:
        of_groups = ""
        if counts.groups is not None:
            of_groups = f" of {counted(len(counts.exact_groups), 'group')}"
        sentences.append(
            f"Exact counts{of_groups} were added. Noise and epsilon do not protect their rows."
        )
    return sentences


def _noise_by_group(counts: PrivateCounts) -> list[str]:
    """Return the noise of the numbers of each group; groups of equal noise share a sentence."""
    labels = counts.groups or (None,)
    found: dict[float, list[Any]] = {}
    for label, variance in zip(labels, counts.variance.tolist(), strict=True):
        found.setdefault(math.sqrt(variance), []).append(label)
    sentences = []
    for noise in sorted(found):
        of_groups = "" if len(found) == 1 else f" of {labels_in_words(found[noise])}"
        in_class = noise * math.sqrt(counts.negatives.shape[1])
        sentences.append(
            f"The noise of a number{of_groups}, of a group, a bin and a class, has a standard "
            f"deviation of {noise:,.3g} rows. The noise of the number of rows of a class in a "
            f"group adds up over the bins, to {in_class:,.3g}."
        )
    return sentences
