"""The commands `count`, `merge` and `show`, for counts of predictions and of several sites."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _labels
from skfedauc._words import counted, enumerated, shortened, shortened_label, shortened_text
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.rows import read_columns, refusals_of, rows_of
from skfedauc.cli.terminal import CommandError, check_file, in_words, print_message, refusals
from skfedauc.counts import Bins, Disclosure, MergeError, ScoreCounts
from skfedauc.counts.disclosure import check_rule
from skfedauc.counts.files import OtherFileError, pyarrow_parquet
from skfedauc.counts.score_counts import merge_named, view_of

if TYPE_CHECKING:
    from skfedauc.privacy import PrivateCounts

# Largest number of groups, of sources and of spellings to list
_MOST_LISTED = 6
# Remedies by the command line, by the reason of the error
_REMEDIES = {
    "pos_label": "count them with the same --pos-label",
    "labels": "give the classes the same names, and count again",
    "columns": "count all files with the same --group columns in the same order",
    "kinds": "skfedauc count writes groups as text: count the rows of the other file again in "
    "Python, with the groups as text by groups.astype(str)",
    "repeated": "leave one file out, or pass --replace to keep the later one of two countings with "
    "the same source, model and period; --without takes a file out of a sum",
    "unnamed": "leave one file out, or count both with --model and --period",
    "period": "count again with --period, each period into a file of its own",
    "model": "leave one file out, or pass --any-model if the scores are comparable",
    "disclosure": "pass --disclosure, and --bins, to reduce all files to one level that none of "
    "them is above",
}


def words_of(counts: ScoreCounts) -> str:
    """Return the numbers of groups and rows, and what the counts hold of scores."""
    return repr(counts).removeprefix("ScoreCounts(")[:-1]


def columns_of(counts: ScoreCounts) -> tuple[str, ...]:
    return _labels.column_names(counts.groups, counts.group_names)


def few(texts: Iterable[str]) -> list[str]:
    """Return texts; of many texts, the first and the last."""
    known, half = list(texts), _MOST_LISTED // 2
    if len(known) > _MOST_LISTED:
        known = [*known[:half], f"... ({len(known):,} in all)", *known[-half:]]
    return known


def _labels_in_words(labels: Iterable[Any]) -> str:
    return "; ".join(few(map(shortened_label, labels)))


def read_counts(path: str) -> ScoreCounts:
    check_file(path)
    with refusals(read=path):
        return ScoreCounts.load(path)


def read_any_counts(path: str) -> ScoreCounts | PrivateCounts:
    check_file(path)
    with refusals(read=path):
        try:
            return ScoreCounts.load(path)
        except OtherFileError as error:
            if "PrivateCounts.load" not in str(error):
                raise
        # The import is local, because importing takes longer than reading exact counts.
        from skfedauc.privacy import PrivateCounts

        return PrivateCounts.load(path)


def warn_of_spellings(counts: ScoreCounts) -> None:
    rows = [label if isinstance(label, tuple) else (label,) for label in counts.groups or ()]
    for name, labels in zip(columns_of(counts), zip(*rows, strict=True), strict=False):
        spellings: dict[str, list[str]] = {}
        for text in sorted({label for label in labels if isinstance(label, str)}):
            spellings.setdefault(_labels.folded(text), []).append(text)
        pairs = [" and ".join(map(shortened, of[:2])) for of in spellings.values() if len(of) > 1]
        if pairs:
            print_message(
                "warning",
                f"column {shortened(name)} has labels that differ only in case or spaces and count "
                f"as different groups: {', '.join(few(pairs))}; if they are the same group, write "
                "them in one way and count again",
            )


def count(arguments: Arguments) -> Iterator[list[str]]:
    rule, path = _rule_of(arguments), arguments.output
    with refusals():
        pyarrow_parquet()  # before the rows are read
    rows = rows_of(read_columns(arguments), arguments)
    with refusals_of(arguments):
        exact = ScoreCounts.from_predictions(**rows)
    with refusals(**{"name must": "--source must"}):
        exact = exact.with_source(arguments.source, model=arguments.model, period=arguments.period)
    if arguments.epsilon is not None:
        yield _write_private(exact, rule, arguments)
        return
    if not len(exact):
        raise CommandError(f"{arguments.file_name}: there are no rows to count")
    with refusals(**{"scores must": f"column {shortened(arguments.score[0])} must"}):
        counts = exact if rule is None else exact.reduced(rule)
    if not len(counts):
        raise CommandError(
            f"{arguments.file_name}: all groups have 1 to {arguments.min_count - 1} rows of a "
            f"class, so --min-count {arguments.min_count} withholds all rows; pass fewer "
            "--group columns or a smaller number, or count a longer period"
        )
    warn_of_spellings(exact)
    lines = [f"{arguments.file_name}: {words_of(exact)}"]
    if rule is not None:
        lines.append(f"The file holds {words_of(counts)}: {_level_of(counts)}")
        left = [label for label in exact.groups or () if label not in (counts.groups or ())]
        if left:
            lines.append(f"Groups that are not in the file: {_labels_in_words(left)}")
    yield lines
    with refusals(written=path):
        counts.save(path)
    size = counted(os.path.getsize(path), "byte")
    yield [f"The counts are in {path} ({size}). skfedauc show {path} says what they disclose."]


def _rule_of(options: Arguments) -> Disclosure | None:
    """Return what the options withhold or coarsen; None without ``--disclosure``."""
    if options.disclosure is None:
        return None
    told = {} if options.tell_withheld is None else {"tell_withheld": options.tell_withheld}
    with refusals():
        bins = None if options.bins is None else _bins_of(options.bins)
        return check_rule(Disclosure(options.disclosure, bins, options.min_count, **told))


def _bins_of(text: str) -> Bins:
    rule, *numbers = text.split(":")
    try:
        if rule not in ("probabilities", "scores"):
            edges = [float(edge) for edge in text.split(",")]
        elif not all(map(str.isdecimal, numbers)) or len(numbers) > 1 + (rule == "probabilities"):
            raise ValueError
    except ValueError:
        raise CommandError(
            "--bins must be probabilities, scores or cut points separated by commas; got "
            f"{shortened(text)}"
        ) from None
    if rule == "probabilities":
        return Bins.of_probabilities(*map(int, numbers))
    return Bins.of_scores(*map(int, numbers)) if rule == "scores" else Bins.at(edges)


def _write_private(counts: ScoreCounts, rule: Disclosure | None, arguments: Arguments) -> list[str]:
    # The import is local, because importing takes longer than counting.
    from skfedauc.privacy import PrivateCounts

    assert rule is not None
    assert rule.bins is not None
    # The file must not depend on the rows, and nor must the positive label.
    text = arguments.pos_label or "1"
    rows_per_person = 1 if arguments.rows_per_person is None else arguments.rows_per_person
    with refusals(written=arguments.output):
        private = PrivateCounts.from_counts(
            counts,
            rule.bins,
            arguments.agreed_groups,
            epsilon=arguments.epsilon,
            rows_per_person=rows_per_person,
            pos_label=int(text) if text.removeprefix("-").isdecimal() else text,
            source=arguments.source,
        )
        private.save(arguments.output)
    return [
        f"{arguments.output}: {private!r}",
        f"skfedauc show {arguments.output} says what the counts disclose. Send this file again "
        "rather than drawing again: each draw of the same rows adds its epsilon.",
    ]


def merge(arguments: Arguments) -> Iterator[list[str]]:
    rule = _rule_of(arguments)
    lines, twice, valid = list[str](), list[str](), dict[str, Any]()
    to_take_out = {path: read_counts(path) for path in arguments.without}
    taken_out = set[str]()
    for path in arguments.files:
        try:
            counts = read_counts(path)
            lines.append(_line(path, counts))
        except CommandError as error:
            if not arguments.skip_invalid:
                raise
            print_message("warning", f"{error}; it is left out")
        else:
            twice += [path] if valid.pop(path, None) else []
            valid[path] = path
            for name, part in to_take_out.items():
                if _identifiers_of(part) & _identifiers_of(counts):
                    valid[path] = counts = _without(counts, name, part)
                    taken_out.add(name)
    with refusals():
        try:
            whole, repeated, invalid = merge_named(
                valid,
                repeated="replace" if arguments.replace else "raise",
                models="any" if arguments.any_model else "same",
                on_invalid="skip" if arguments.skip_invalid else "raise",
                disclosure=rule,
                by_period=arguments.by_period,
            )
        except MergeError as error:
            raise CommandError(_refused(error)) from None
    for path, reason in invalid:
        print_message("warning", f"{path} is left out: {_refused(reason)}")
    lines += [
        f"{path}: not added: another file repeats or replaces it" for path in [*twice, *repeated]
    ]
    for path, part in to_take_out.items():
        if path not in taken_out:
            _without(whole, path, part)  # raises the reason
        lines.append(f"{path}: taken out")
    warn_of_spellings(whole)
    yield [*lines, _line("sum", whole)]
    with refusals(written=arguments.output):
        whole.save(arguments.output)
    yield [f"The sum is in {arguments.output}."]


def _identifiers_of(counts: ScoreCounts) -> set[str]:
    return {source.identifier for source in counts.sources}


def _without(counts: ScoreCounts, path: str, part: ScoreCounts) -> ScoreCounts:
    try:
        return counts - part
    except MergeError as error:
        raise CommandError(f"{path} cannot be taken out: {in_words(error.fact)}") from None


def _refused(error: Exception) -> str:
    """Return why files do not fit together, and the remedy by the command line."""
    if not isinstance(error, MergeError) or error.reason not in _REMEDIES:
        return in_words(error)
    return f"{in_words(error.fact)}; {_REMEDIES[error.reason]}"


def _line(name: str, counts: ScoreCounts) -> str:
    sources = [of.identifier[:8] if of.name is None else of.name for of in counts.sources]
    return f"{name}: {', '.join(few(map(shortened, sources))) or 'no source'}: {words_of(counts)}"


def show(arguments: Arguments) -> Iterator[list[str]]:
    path = arguments.file
    counts = read_any_counts(path)
    if not isinstance(counts, ScoreCounts):
        yield _private_lines(path, counts)
        return
    seen, positive = view_of(counts).classes
    negatives = [f", {shortened(of)} is negative" for of in seen if of != positive]
    columns = " \N{MULTIPLICATION SIGN} ".join(map(shortened_label, columns_of(counts)))
    groups = _labels_in_words(counts.groups or ())
    yield [
        f"{path}: {words_of(counts)}",
        "",
        *few(_source_line("Source", of) for of in counts.sources),
        f"Classes: {shortened(positive)} is positive{''.join(negatives)}",
        "Groups: none" if counts.groups is None else f"Groups by {columns}: {groups}",
        f"Level of disclosure: {_level_of(counts)}",
        f"Size: {counted(os.path.getsize(path), 'byte')}",
        "",
        "What the file discloses:",
        *(f"- {sentence}" for sentence in _disclosures(counts)),
        "The file does not hold features, identifiers of rows, or the order of the rows.",
    ]


def _source_line(kind: str, source: Any, verb: str = "counting ") -> str:
    name = "without a name" if source.name is None else shortened(source.name)
    known = {"model": source.model, "period": source.period}
    known |= dict(getattr(source, "metadata", ()))  # releases have none
    facts = [f", {key} {shortened(text)}" for key, text in known.items() if text is not None]
    return f"{kind}: {name}{''.join(facts)}, {verb}{source.identifier}"


def _level_of(counts: ScoreCounts) -> str:
    level, bins = counts.disclosure.level, counts.disclosure.bins
    if bins is not None:
        return f"bins of scores, by {shortened_text(repr(bins))}"
    if level == "bins":
        return "ranges of scores, which are not bins of one rule"
    return "exact scores" if level == "exact" else "a summary by group, without scores"


def _disclosures(counts: ScoreCounts) -> Iterator[str]:
    withheld = counts.disclosure.withheld
    if withheld.n_groups:
        most = {"positives": withheld.most_positives, "negatives": withheld.most_negatives}
        rows = "".join(f", at most {n:,} {name}" for name, n in most.items() if n is not None)
        labels = f": {_labels_in_words(withheld.labels)}" if withheld.labels else ""
        yield (
            f"{counted(withheld.n_groups, 'group')} withheld, with few rows of a class"
            f"{rows}{labels}. Anyone who knows how many rows of a class there are in all learns "
            "how many of them are withheld."
        )
    if not len(counts):
        yield "There are no rows."
        return
    yield from _of_summary(counts) if counts.disclosure.level == "summary" else _of_cells(counts)
    if view_of(counts).is_weighted:
        yield (
            "The sums of the weights and of their squares give back the weights of rows that are "
            "alone or two in a number."
        )
    if counts.groups is not None:
        n_rows = counts.n_negatives + counts.n_positives
        smallest = int(n_rows.argmin())
        label = shortened_label(counts.groups[smallest])
        yield f"The smallest group, {label!r}, has {counted(int(n_rows[smallest]), 'row')}."
    yield (
        "The file holds the labels of the classes and of the groups, and the names of the columns "
        "of groups and of the sources."
    )


def _of_summary(counts: ScoreCounts) -> Iterator[str]:
    rows = np.stack([counts.n_negatives, counts.n_positives])
    fewest = rows.min(axis=0)
    yield (
        "The numbers of rows of both classes of each group, the AUC of the group, and sums from "
        "which the variance of the AUC follows. The file holds no score."
    )
    # Shares of arrangements without ties: benchmarks/summary_ranks.py, tests/cli/test_disclosure.py
    n_small = int(((fewest > 0) & (fewest < 10)).sum())
    yield (
        f"{counted(n_small, 'group')} with 1 to 9 rows of a class: the sums give back the "
        "ranks of one or two rows among those of the other class, and often those of more: in 85 % "
        "of the arrangements of 3 positives and 12 negatives, 76 % of 3 and 97, and 26 % of 8 and "
        "8. Anyone who knows the ranks and the scores of all rows of a group learns the class of "
        "each row."
    )
    n_known = int(rows[:, fewest == 0].sum())
    yield (
        f"{counted(int((fewest == 0).sum()), 'group')} with rows of one class: anyone who knows a "
        f"person's group learns the class of {n_known:,} of {counted(int(rows.sum()), 'row')}."
    )


def _of_cells(counts: ScoreCounts) -> Iterator[str]:
    numbers = np.stack([counts.cells.negatives, counts.cells.positives]).astype(np.int64)
    n_rows, level = numbers.sum(axis=0), counts.disclosure
    cells = counted(n_rows.size, "cell")
    noun = "score" if level.level == "exact" else "range" if level.bins is None else "bin"
    known = ["group", noun] if counts.groups is not None else [noun]
    yield (
        f"The number of rows of each {enumerated([*known, 'class'])}. Only rows that agree in all "
        "of these cannot be distinguished."
    )
    yield (
        f"{int((n_rows == 1).sum()):,} of {cells} of one {' and '.join(known)} hold a single row, "
        f"whose {enumerated([*known, 'class'])} the file gives back. The smallest number of rows "
        f"of a class above 0 is {numbers[numbers > 0].min():,}."
    )
    n_cells, n_known = known_classes(counts)
    at_least = "at least " if noun == "range" else ""
    yield (
        f"{n_cells:,} of {cells} hold rows of one class and overlap none with the other: anyone "
        f"who knows a person's {' and '.join(known).replace(noun, 'score')} learns the class of "
        f"{at_least}{n_known:,} of {counted(int(n_rows.sum()), 'row')}."
    )
    ranges = view_of(counts).ranges
    if ranges is not None:
        yield from _of_ranges(ranges, n_rows, noun)


def _of_ranges(ranges: NDArray[Any], n_rows: NDArray[Any], noun: str) -> Iterator[str]:
    low, high = ranges
    width = high / 2 - low / 2  # Ranges without a limit end at the largest float.
    order = np.argsort(width)
    middle = order[np.searchsorted(np.cumsum(n_rows[order]), n_rows.sum() / 2)]
    size = f"{2 * width[middle]:.2g} wide" if width[middle] < 1e300 else "without a limit"
    n_points = int(n_rows[low == high].sum())
    yield (
        f"The file narrows down the score of the median row to a {noun} that is {size}, and gives "
        f"back the score of {counted(n_points, 'row')}."
    )
    if noun == "range":
        yield (
            "The ends of ranges may be scores of rows, unless the scores were binned before ranges "
            "were joined. The file does not record this."
        )


def known_classes(counts: ScoreCounts) -> tuple[int, int]:
    """Count the cells, and their rows, that overlap no cell of the group with the other class.

    The group and the score of these rows reveal the class. Exact scores are ranges of one score.
    """
    cells, ranges = counts.cells, view_of(counts).ranges
    low, high = (cells.scores, cells.scores) if ranges is None else ranges
    # The ranks of all ends, by group and then by score
    ranks = np.unique(np.concatenate([low, high]), return_inverse=True)[1]
    places = np.tile(cells.groups.astype(np.int64), 2) * (2 * low.size) + ranks
    begins, ends = places[: low.size], places[low.size :]
    n_cells = n_rows = 0
    for rows, others in (
        (cells.negatives, cells.positives > 0),
        (cells.positives, cells.negatives > 0),
    ):
        own = ~others & (rows > 0)
        n_before = np.searchsorted(np.sort(ends[others]), begins[own])
        n_begun = np.searchsorted(np.sort(begins[others]), ends[own], side="right")
        n_cells += int((n_before == n_begun).sum())
        n_rows += int(rows[own][n_before == n_begun].sum())
    return n_cells, n_rows


def _private_lines(path: str, counts: PrivateCounts) -> list[str]:
    releases = [
        f"{_source_line('Release', of, '')}, epsilon {of.epsilon:g} for {of.protected}"
        for of in counts.releases
    ]
    exact = [_source_line("Exact counts", source) for source in counts.sources]
    factor, of_class = (math.exp(min(n * counts.epsilon, 700.0)) for n in (1, 2))
    noise: dict[float, list[str]] = {}
    labels = ["the file"] if counts.groups is None else map(shortened_label, counts.groups)
    for label, variance in zip(labels, counts.variance.tolist(), strict=True):
        noise.setdefault(math.sqrt(variance), []).append(label)
    return [
        f"{path}: {counts!r}",
        "",
        *few([*releases, *exact]),
        f"Positive label: {shortened(counts.pos_label)}",
        f"Groups: {_labels_in_words(counts.groups or ()) or 'none'}",
        f"Bins: {shortened_text(repr(counts.bins))}",
        f"Size: {counted(os.path.getsize(path), 'byte')}",
        "",
        "What the file discloses:",
        f"- Whether the rows of a person with a protected release were counted changes the "
        f"probability of any result at most by the factor {factor:,.4g}; for someone who knows "
        f"that they were counted, their classes at most by {of_class:,.4g}, exp(2 epsilon).",
        *(
            f"- A number of {'; '.join(few(of))}, by bin and class, has noise with a standard "
            f"deviation of {deviation:,.3g} rows."
            for deviation, of in sorted(noise.items())
        ),
        "- A number well above its noise can be seen.",
        "- The factor holds for all that anyone computes from this file. Another release of the "
        "same rows, or of a person's rows at another site, adds its epsilon.",
        "- The labels of the groups, the bins, the positive label and the names of the releases "
        "are not protected, and nor are rows of exact counts that were added.",
    ]
