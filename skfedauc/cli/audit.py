"""The commands `audit`, `report` and `compare`, and their results: text, page and documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pandas as pd

from skfedauc import GroupAUC
from skfedauc._labels import MISSING
from skfedauc._output_file import as_json, plain_label, plain_number, write_whole
from skfedauc._words import listed, shortened, shortened_label
from skfedauc.audit import FairnessAudit
from skfedauc.audit.answers import Audited
from skfedauc.audit.arguments import check_names, check_tolerances
from skfedauc.audit.contents import Output
from skfedauc.audit.document import check_installed
from skfedauc.audit.fairness_audit import joined
from skfedauc.audit.samples import Sample
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.counts import columns_of, few, read_any_counts, warn_of_spellings, words_of
from skfedauc.cli.rows import read_columns, refusals_of, rows_of
from skfedauc.cli.terminal import CommandError, OutputError, ToleranceError, refusals
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import view_of
from skfedauc.report.group_auc import estimates_of, first_lines_of
from skfedauc.report.text import FirstLines

if TYPE_CHECKING:
    from skfedauc.privacy import PrivateCounts


def audit(arguments: Arguments) -> Iterator[list[str]]:
    check_options(arguments)
    made = _of_rows(read_columns(arguments), arguments)
    warn_of_spellings(made.report.counts)
    facts = {name: getattr(arguments, name) for name in ("file", "label", "weight", "clusters")}
    facts["score"] = arguments.score[0]
    yield from results(made, facts, arguments)


def report(arguments: Arguments) -> Iterator[list[str]]:
    check_options(arguments)
    counts = read_any_counts(arguments.file)
    if not isinstance(counts, ScoreCounts):
        if _asks_more(arguments):
            raise CommandError(
                f"{arguments.file}: counts with noise have AUCs and intervals only, without a "
                "page, a document or an audit; pass the file alone"
            )
        yield _noisy_lines(arguments.file, counts)
        return
    if counts.groups is None:
        raise CommandError(f"{arguments.file}: the counts have no groups; count by --group columns")
    clusters = arguments.clusters
    columns = columns_of(counts)
    for option in ("within", "clusters"):
        name = getattr(arguments, option)
        if name is not None and name not in columns:
            raise CommandError(
                f"--{option} must be a group column of the file; got {shortened(name)}, and the "
                f"columns are {listed(columns)}"
            )
    if clusters is not None and len(columns) > 1:
        place = columns.index(clusters)
        if any(label[place] == MISSING for label in counts.groups):
            raise CommandError(
                f"{arguments.file}: rows without a label in the column of clusters "
                f"{shortened(clusters)} are not one cluster; drop these rows, and count again"
            )
    level, bins = counts.disclosure.level, counts.disclosure.bins
    facts = {
        "file": arguments.file,
        "sources": [source.to_dict() for source in counts.sources],
        "weighted": view_of(counts).is_weighted,
        "clusters": clusters,
        "disclosure": level,
        "bins": None if bins is None else bins.to_dict(),
    }
    check_classes(counts, arguments)
    if level == "summary" and not _asks_more(arguments):
        # A summary by group has no scores for an audit, nor for a report by some of the columns.
        large = GroupAUC(counts, undefined="ignore", min_per_class=arguments.min_per_class)
        shown = large if large.n_groups > 1 else GroupAUC(counts, undefined="ignore")
        yield [f"{arguments.file}: {words_of(counts)}", "", *report_lines(shown)]
        return
    compared = _compared(columns, arguments)
    by = (*compared, *filter(None, (clusters, arguments.within)))
    if by != columns:
        counts = counts.regroup(itemgetter(*map(columns.index, by)))
    with refusals():
        grouped = GroupAUC(counts, undefined="ignore", group_names=by, clusters=clusters)
        made = FairnessAudit(grouped, **arguments.of_audit(compared))
    yield from results(made, facts, arguments)


def compare(arguments: Arguments) -> Iterator[list[str]]:
    check_options(arguments)
    table = read_columns(arguments)
    first, second = (_of_rows(table, arguments, model) for model in range(2))
    with refusals():
        comparison = first.compare(second, (arguments.score[0], arguments.score[1]))

    def document() -> dict[str, Any]:
        names = ("file", "label", "weight", "clusters")
        of_file = {name: getattr(arguments, name) for name in names}
        return {**of_file, "scores": arguments.score, **comparison.to_dict()}

    headline = f"{arguments.file_name}: {words_of(first.report.counts)}"
    yield from outputs(comparison, [headline], document, arguments)
    check_answers(second, arguments, f" of {shortened(comparison.models[1])}")


def check_options(options: Arguments) -> None:
    """Check options that need packages or names of the audit, before reading the file."""
    with refusals():
        if options.html is not None:
            check_installed()
        check_names(options.name)
        check_tolerances(options.of_audit()["tolerances"], options.favorable)


def results(
    audit: FairnessAudit, facts: Mapping[str, Any], options: Arguments
) -> Iterator[list[str]]:
    """Yield lines to print, and then write the files, so the user sees the audit if writing fails.

    `facts` are the first entries of the document.
    """
    counts = audit.report.counts
    parts = [audit]
    if options.within is not None:
        parts = list(audit.within(options.within).values())
        audit = joined(audit, parts)
    headlines = [f"{options.file_name}: {words_of(counts)}"]
    for of in audit.samples.values():
        if of.pairs.n_undefined == of.pairs.n_groups:
            own = "does each row have a group of its own? The labels in --group"
            headlines.append(f"By {of.column}: {own} {shortened(of.names[0])} should repeat")

    def document() -> dict[str, Any]:
        within = {"column": options.within, "n_dropped": counts.n_missing}
        control = {} if options.within is None else {"within": within}
        groupings = [
            _grouping(part, sample)
            for samples in zip(*(part.samples.values() for part in parts), strict=True)
            for part, sample in zip(parts, samples, strict=True)
        ]
        numbers = {**_n_by_class(counts), "groupings": groupings}
        return {**facts, **control, **numbers, **audit.to_dict()}

    yield from outputs(audit, headlines, document, options)
    check_answers(audit, options)


def _asks_more(options: Arguments) -> bool:
    asked = [options.outputs, options.json, options.within, options.clusters, options.favorable]
    return any([*asked, options.name, options.tolerance, options.threshold != "auto"])


def _noisy_lines(path: str, counts: PrivateCounts) -> list[str]:
    """Return the AUCs of counts with noise, by group and by statistic, with their intervals."""
    lines = [f"{path}: {counts!r}"]
    for of in ("groups", "statistics"):
        table = counts.confidence_intervals(of=of)
        rows = [(of.removesuffix("s"), "AUC", "95 % interval", "")]
        for label, row in table.iterrows():
            value, low, high = row.iloc[:3]
            shown = (f"{value:.3f}", f"{low:.3f} to {high:.3f}") if low == low else ("", "")
            rows.append((shortened_label(label), *shown, row["note"]))
        lines += ["", *FirstLines("", (), tuple(rows), 1, "", "").table_lines()]
    return lines


def report_lines(report: GroupAUC) -> list[str]:
    lines = first_lines_of(report)
    return [lines.headline, *lines.answers, *lines.table_lines()]


def check_classes(counts: ScoreCounts, options: Arguments) -> None:
    if 0 in _n_by_class(counts).values():
        raise CommandError(
            f"{options.file_name}: an AUC needs rows of both classes; got {words_of(counts)}"
        )


def _of_rows(table: pd.DataFrame, options: Arguments, model: int = 0) -> FairnessAudit:
    """Return an audit of a model by each column and by all columns, with the control column."""
    rows = rows_of(table, options, model)
    groups = rows["groups"]
    compared = _compared(tuple(groups), options)
    rows["groups"] = groups[[*compared, *filter(None, [options.within])]]
    if options.clusters is not None:
        rows["clusters"] = groups[options.clusters]
    with refusals_of(options, model):
        audit = FairnessAudit.from_predictions(**rows, **options.of_audit(compared))
    check_classes(audit.report.counts, options)
    return audit


def _compared(columns: tuple[str, ...], options: Arguments) -> tuple[str, ...]:
    others = [name for name in (options.clusters, options.within) if name is not None]
    compared = tuple(name for name in columns if name not in others)
    if not compared or len(set(others)) < len(others):
        raise CommandError(
            "--clusters and --within name columns of their own, and leave no --group column to be "
            "compared; pass or count by one more column"
        )
    return compared


def outputs(
    result: Output,
    headlines: list[str],
    document: Callable[[], dict[str, Any]],
    options: Arguments,
) -> Iterator[list[str]]:
    if options.json_is_printed:
        yield as_json(document(), is_printed=True).splitlines()
    else:
        yield [*headlines, "", *repr(result).splitlines()]
    page = "comparison" if options.command == "compare" else "fairness audit"
    writers: dict[str, tuple[str, Callable[[str], Any]]] = {
        "--html": (page, result.to_html),
        "--json": ("JSON document", lambda path: write_whole(path, as_json(document()) + "\n")),
        "--markdown": ("Markdown report", result.to_markdown),
    }
    lines, failed = [""], []
    for option, path in options.outputs.items():
        what, write = writers[option]
        try:
            with refusals(written=path):
                write(path)
        except OutputError as error:
            failed.append(str(error))
        lines.append(f"The {what} is in {path}.")
    if failed:
        raise OutputError("; ".join(failed))
    if options.outputs and not options.json_is_printed:
        yield lines


def check_answers(audit: Audited, options: Arguments, of_model: str = "") -> None:
    if options.fail_if is None:
        return
    failing = {"not met"} if options.fail_if == "not-met" else {"not met", "undecided"}
    answers = audit.tolerances["answer"]
    found = [
        f"{gap} by {column}{of_model} is {answer}"
        for (column, gap), answer in zip(answers.index, answers, strict=True)
        if answer in failing
    ]
    if found:
        raise ToleranceError(f"--fail-if {options.fail_if}: {'; '.join(few(found))}")


def _grouping(audit: FairnessAudit, sample: Sample) -> dict[str, Any]:
    """Return the sizes and AUCs of all groups, and the statistics of the groups that are compared.

    The answers of the audit are about the same groups.
    """
    pairs, compared = sample.pairs, sample.shown
    clusters, counts = pairs.clusters, pairs.counts
    estimates = estimates_of(compared)
    withheld = counts.disclosure.withheld._asdict()
    withheld["is_n_dropped_low"] = withheld.pop("is_n_missing_low")
    if withheld["labels"] is not None:
        withheld["labels"] = list(map(plain_label, withheld["labels"]))
    bounds = None
    if estimates.pairs.is_binned:
        table = compared.bounds()[["low", "high"]]
        bounds = {str(name): _plain(row) for name, row in table.to_dict("index").items()}
    test = None
    if not estimates.variances.shares_clusters:
        equal = compared.test_equal_groups()
        test = _plain({"statistic": equal.statistic, "pvalue": equal.pvalue})
        test |= {"method": equal.method, "n_groups": equal.n_groups}
    rows = zip(counts.groups or (), counts.n_positives, counts.n_negatives, pairs.auc, strict=True)
    return {
        "by": list(sample.names),
        "within": audit.facts["within"],
        **_n_by_class(counts),
        "n_dropped": counts.n_missing,
        "withheld": withheld,
        "n_groups": pairs.n_groups,
        "n_undefined": pairs.n_undefined,
        "n_compared": compared.n_groups,
        "n_clusters": None if clusters is None else clusters.n_clusters,
        "n_shared_clusters": None if clusters is None else clusters.n_shared,
        "statistics": _plain(compared.statistics()),
        "bounds": bounds,
        "decomposition": _plain(compared.decomposition()._asdict()),
        "test_equal_groups": test,
        "groups": [
            {
                "label": plain_label(label),
                "n_positives": int(n_positives),
                "n_negatives": int(n_negatives),
                "auc": plain_number(value),
            }
            for label, n_positives, n_negatives, value in rows
        ],
    }


def _plain(numbers: Any) -> dict[str, Any]:
    return {str(name): plain_number(number) for name, number in numbers.items()}


def _n_by_class(counts: ScoreCounts) -> dict[str, int]:
    return {name: int(getattr(counts, name).sum()) for name in ("n_positives", "n_negatives")}
