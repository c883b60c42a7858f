"""Files of counts with noise: `count --epsilon` writes them, and `show` describes them."""

from __future__ import annotations

import math
import os
from typing import Any

from skfedauc._words import counted, enumerated, shortened, shortened_label, shortened_text
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.counts_file import MOST_LISTED, labels_in_words, rule_of, versions_of
from skfedauc.cli.terminal import refusals
from skfedauc.counts import ScoreCounts
from skfedauc.counts.provenance import Source
from skfedauc.privacy import PrivateCounts
from skfedauc.privacy.state import Release


def private_lines(path: str) -> list[str]:
    """Return the lines of the command `show` for a file of private counts."""
    with refusals(read=path):
        counts = PrivateCounts.load(path)
    n_bins = counts.negatives.shape[1]
    package, version = versions_of(path)
    releases = counts.releases
    lines = [
        f"{path}: counts with noise for differential privacy, epsilon {counts.epsilon:g}",
        "",
        *map(_release_line, releases[:MOST_LISTED]),
    ]
    if len(releases) > MOST_LISTED:
        lines.append(f"Releases: {len(releases) - MOST_LISTED:,} more")
    lines += map(_source_line, counts.sources[:MOST_LISTED])
    if len(counts.sources) > MOST_LISTED:
        lines.append(f"Exact counts: {len(counts.sources) - MOST_LISTED:,} more")
    positive = "unknown" if counts.pos_label is None else shortened(counts.pos_label)
    lines += [
        f"Written by: skfedauc {shortened_text(package)}, version {version} of the format of "
        "private counts",
        f"Positive label: {positive}",
        _group_line(counts),
        f"Bins: {shortened_text(repr(counts.bins))}, {counted(n_bins, 'bin')}",
        f"Size: {counted(2 * counts.negatives.size, 'count')} of a group, a bin and a class; "
        f"{counted(os.path.getsize(path), 'byte')}",
        "",
        "What the file discloses:",
        *(f"- {sentence}" for sentence in _disclosures(counts)),
    ]
    return lines


def write_private(counts: ScoreCounts, arguments: Arguments) -> list[str]:
    """Draw the noise of counts, write the file, and return the lines to print."""
    rule = rule_of(arguments)
    assert rule is not None
    assert rule.bins is not None
    with refusals(written=arguments.output):
        private = PrivateCounts.from_counts(
            counts,
            rule.bins,
            arguments.agreed_groups,
            epsilon=arguments.epsilon,
            rows_per_person=arguments.rows_per_person or 1,
            pos_label=_agreed_label(arguments.pos_label),
            source=arguments.source,
        )
        private.save(arguments.output)
    return [
        f"{arguments.output}: {private!r}",
        f"skfedauc show {arguments.output} says what the counts disclose. Send this file again "
        "rather than drawing again: each draw of the same rows adds its epsilon.",
    ]


def _agreed_label(text: str | None) -> int | str:
    """Return the positive label by the option alone, since the file must not depend on the rows."""
    if text is None:
        return 1
    return int(text) if text.removeprefix("-").isdecimal() else text


def _release_line(release: Release) -> str:
    name = "without a name" if release.name is None else shortened(release.name)
    return (
        f"Release: {name}, {release.identifier}, epsilon {release.epsilon:g} for "
        f"{release.protected}"
    )


def _source_line(source: Source) -> str:
    name = "without a name" if source.name is None else shortened(source.name)
    return f"Exact counts: {name}, {source.identifier}"


def _group_line(counts: PrivateCounts) -> str:
    if counts.groups is None:
        return "Groups: none"
    columns = " x ".join(map(shortened_label, counts.group_names)) or "group"
    labels = labels_in_words(counts.groups)
    return f"Groups: {counted(len(counts), 'agreed group')} by {columns}: {labels}"


def _factor(factor: float) -> str:
    return f"{factor:,.4g}" if factor < 1e4 or factor >= 1e6 else f"{factor:,.0f}"


def _disclosures(counts: PrivateCounts) -> list[str]:
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
    for label, variance in zip(labels, counts.state.variance.tolist(), strict=True):
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
