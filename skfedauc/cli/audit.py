"""The command `audit`: report on a file of predictions, with a page and a JSON document."""

from __future__ import annotations

from collections.abc import Iterator

from skfedauc.cli.arguments import Arguments
from skfedauc.cli.columns import check_clusters
from skfedauc.cli.counts_file import warn_of_spellings
from skfedauc.cli.predictions_file import read_columns
from skfedauc.cli.results import check_options, results
from skfedauc.cli.rows import (
    counts_of,
    decision_counts_of,
    rows_of,
    warn_of_labels,
    weights_in_words,
)


def audit(arguments: Arguments) -> Iterator[list[str]]:
    """Yield lines to print as early as possible, and then write the files."""
    check_options(arguments)
    table = read_columns(arguments)
    if arguments.clusters is not None:
        check_clusters(table[arguments.clusters])
    rows = rows_of(table, arguments)
    counts = counts_of(rows, arguments)
    warn_of_labels(rows, arguments.score)
    warn_of_spellings(counts)
    facts = {
        "file": arguments.file,
        "label": arguments.label,
        "score": arguments.score,
        "weight": arguments.weight,
        "clusters": arguments.clusters,
    }
    more = weights_in_words(rows, arguments)
    decisions = decision_counts_of(rows, arguments)
    yield from results(counts, more, facts, arguments, decisions)
