"""The command `report`: the report of `audit`, from a file of counts."""

from __future__ import annotations

from collections.abc import Iterator

from skfedauc._input import MISSING
from skfedauc._words import listed, shortened
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.counts_file import columns_of, read_counts
from skfedauc.cli.disclosure import level_in_words
from skfedauc.cli.groupings import Counted
from skfedauc.cli.results import check_options, results
from skfedauc.cli.terminal import CommandError
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import view_of
from skfedauc.counts.state import Need, lacking


def report(arguments: Arguments) -> Iterator[list[str]]:
    """Yield lines to print as early as possible, and then write the files."""
    check_options(arguments)
    counts = read_counts(arguments.file)
    if counts.groups is None:
        raise CommandError(
            f"{arguments.file}: the counts have no groups; name the group in Python, for instance "
            "by counts.regroup({None: 'device 7'})"
        )
    columns = columns_of(counts)
    if arguments.within is not None and (arguments.within not in columns or len(columns) < 2):
        raise CommandError(
            "--within must be one of several group columns of the file; got "
            f"{shortened(arguments.within)}, and the columns are {listed(columns)}; count by "
            "groups and the control column, such as --group sex --group hospital"
        )
    lacks = lacking(counts.disclosure, Need.SCORES)
    if lacks is not None and arguments.has_audit:
        raise CommandError(
            f"{arguments.file}: the fairness audit {lacks.removesuffix('.')}; without "
            "--html, --json, --markdown, --tolerance and --within, the report has what a summary "
            "determines"
        )
    if arguments.clusters is not None:
        _check_clusters(arguments, counts)
    has_weights = view_of(counts).is_weighted
    grouped_by = [name for name in columns if name != arguments.clusters]
    counted = Counted(
        counts,
        columns,
        subject=f"{arguments.file} has",
        dropped=frozenset(grouped_by if arguments.missing == "drop" else ()),
        lacks_one=counts.n_missing > 0,
        has_weights=has_weights,
        clusters=arguments.clusters,
        min_per_class=arguments.min_per_class,
        within=arguments.within,
    )
    facts = {
        "file": arguments.file,
        "sources": [source.to_dict() for source in counts.sources],
        "weighted": has_weights,
        "clusters": arguments.clusters,
        "disclosure": counts.disclosure.level,
        "bins": None if counts.disclosure.bins is None else counts.disclosure.bins.to_dict(),
    }
    weighted = ", weighted" if has_weights else ""
    disclosed = "" if counts.disclosure.level == "exact" else f", {level_in_words(counts)}"
    yield from results(counted, f"{weighted}{disclosed}", facts, arguments)


def _check_clusters(arguments: Arguments, counts: ScoreCounts) -> None:
    """Raise an error unless the counts and the other arguments permit clusters."""
    columns = columns_of(counts)
    if arguments.clusters == arguments.within:
        raise CommandError("--clusters and --within are the same column; pass two columns")
    if arguments.clusters not in columns or len(columns) < 2:
        raise CommandError(
            "--clusters must be one of several group columns of the file; got "
            f"{shortened(arguments.clusters)}, and the columns are {listed(columns)}; count by "
            "groups and clusters, such as --group site --group patient"
        )
    if not set(columns) - {arguments.clusters, arguments.within}:
        raise CommandError(
            "--clusters and --within leave no group column to be compared; count by one more "
            "column, such as --group sex --group site --group patient"
        )
    lacks = lacking(counts.disclosure, Need.SCORES)
    if lacks is not None:
        needed = lacks.removesuffix(".")
        raise CommandError(f"{arguments.file}: a report with clusters {needed}")
    place = columns.index(arguments.clusters)
    if any(label[place] == MISSING for label in counts.groups or ()):
        raise CommandError(
            f"{arguments.file}: rows without a label in the column of clusters "
            f"{shortened(arguments.clusters)} are not one cluster; drop these rows, and count again"
        )
