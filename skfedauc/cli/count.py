"""The command `count`: read a file of predictions, and write the counts."""

from __future__ import annotations

import os
from collections.abc import Iterator

from skfedauc._words import counted, shortened
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.counts_file import (
    check_files_can_be_used,
    groups_in_words,
    headline,
    warn_of_spellings,
    write_counts,
)
from skfedauc.cli.disclosure import (
    check_some_remain,
    level_in_words,
    reduced,
    scores_in_words,
    small_groups_in_words,
)
from skfedauc.cli.predictions_file import read_columns
from skfedauc.cli.rows import counts_of, rows_of, warn_of_labels, weights_in_words
from skfedauc.cli.terminal import CommandError, print_warning
from skfedauc.counts import ScoreCounts


def count(arguments: Arguments) -> Iterator[list[str]]:
    """Yield the lines to print, and write the counts after the first lines."""
    check_files_can_be_used()
    rows = rows_of(read_columns(arguments), arguments)
    exact = counts_of(rows, arguments)
    if arguments.epsilon is not None:
        # The import is local, because importing takes longer than counting.
        from skfedauc.cli.private_counts import write_private

        warn_of_labels(rows, arguments.score)
        yield write_private(exact, arguments)
        return
    counts = reduced(exact, arguments, f"column {shortened(arguments.score)}")
    _check_classes(exact, arguments)
    check_some_remain(exact, counts, arguments)
    warn_of_labels(rows, arguments.score)
    warn_of_spellings(exact)
    weighted = weights_in_words(rows, arguments)
    left_out = ""
    if exact.n_missing:
        left_out = f"; {counted(exact.n_missing, 'row')} without a group dropped"
    groups = f"{groups_in_words(exact)}{left_out}"
    lines = [headline(exact, arguments.file_name, weighted), groups]
    lines += small_groups_in_words(exact, counts, arguments)
    if counts.disclosure.level != "exact":
        scores = "" if counts.disclosure.level == "summary" else f"{scores_in_words(counts)}; "
        small = ""
        if arguments.min_count is not None:
            small = f"; each number of rows in it is 0 or at least {arguments.min_count}"
        lines.append(f"{scores}the file discloses {level_in_words(counts)}{small}")
    yield lines
    facts = {name: getattr(arguments, name) for name in ("model", "period")}
    write_counts(counts, arguments.output, arguments.source, **facts)
    size = counted(os.path.getsize(arguments.output), "byte")
    yield [
        f"The counts are in {arguments.output} ({size}). "
        f"skfedauc show {arguments.output} says what they disclose."
    ]


def _check_classes(counts: ScoreCounts, arguments: Arguments) -> None:
    """Refuse counts without rows, and warn if the rows have one class only."""
    n_rows = {"positive": counts.n_positives.sum(), "negative": counts.n_negatives.sum()}
    absent = [name for name, n in n_rows.items() if n == 0]
    if len(absent) == 2:
        raise CommandError(f"{arguments.file_name}: there are no rows to count")
    if absent:
        print_warning(
            f"column {shortened(arguments.label)} has no {absent[0]} label among the "
            f"{counted(int(sum(n_rows.values())), 'row')}; other sites must hold the other class"
        )
