"""The commands `audit`, `report` and `compare`, and their results: text, page and documents."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from skfedauc import GroupAUC
from skfedauc._input import MISSING
from skfedauc._output_file import write_whole
from skfedauc._words import counted, listed, shortened
from skfedauc.audit import AuditComparison, FairnessAudit
from skfedauc.audit.answers import Audited
from skfedauc.audit.arguments import check_tolerances
from skfedauc.audit.document import plain_label, plain_number
from skfedauc.audit.fairness_audit import joined
from skfedauc.audit.output import Output, as_json, check_installed, page_of
from skfedauc.audit.samples import Sample
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.counts_file import (
    columns_of,
    headline,
    level_in_words,
    n_by_class,
    read_counts,
    warn_of_spellings,
)
from skfedauc.cli.rows import (
    Rows,
    counts_of,
    read_columns,
    rows_of,
    warn_of_labels,
    weights_in_words,
)
from skfedauc.cli.terminal import CommandError, OutputError, ToleranceError, refusals
from skfedauc.counts import ScoreCounts, Withheld
from skfedauc.counts.disclosure import Need, lacking
from skfedauc.counts.score_counts import select_groups, view_of, with_n_missing
from skfedauc.report import estimates_of, first_lines_of


def audit(arguments: Arguments) -> Iterator[list[str]]:
    """Yield lines to print as early as possible, and then write the files."""
    check_options(arguments)
    rows = rows_of(read_columns(arguments), arguments)
    counts = counts_of(rows, rows.scores, arguments.score)
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
    decisions = None
    if rows.decisions is not None:
        decisions = counts_of(rows, rows.decisions, arguments.decisions)
    yield from results(counts, more, facts, arguments, decisions)


def report_lines(report: GroupAUC) -> list[str]:
    """Return a report's lines, without hints at Python."""
    lines = first_lines_of(report)
    return [lines.headline, *lines.answers, *lines.table_lines()]


def _grouping(audit: FairnessAudit, sample: Sample) -> dict[str, Any]:
    """Return the sizes and AUCs of all groups, and the statistics of the groups that are compared.

    The answers of the audit are about the same groups.
    """
    pairs, compared = sample.pairs, sample.report
    if compared.n_groups < 2:
        compared = GroupAUC(pairs, undefined="ignore")
    test, clusters, counts = None, pairs.clusters, pairs.counts
    if not estimates_of(compared).variances.shares_clusters:
        test = compared.test_equal_groups()
    rows = zip(counts.groups or (), counts.n_positives, counts.n_negatives, pairs.auc, strict=True)
    return {
        "by": list(sample.names),
        "within": {name: plain_label(label) for name, label in audit.control.items()},
        **n_by_class(counts),
        "n_dropped": counts.n_missing,
        "withheld": _withheld(counts.disclosure.withheld),
        "n_groups": pairs.n_groups,
        "n_undefined": pairs.n_undefined,
        "n_compared": compared.n_groups,
        "n_clusters": None if clusters is None else clusters.n_clusters,
        "n_shared_clusters": None if clusters is None else clusters.n_shared,
        "statistics": {str(k): plain_number(v) for k, v in compared.statistics().items()},
        "bounds": _bounds(compared),
        "decomposition": {
            k: plain_number(v) for k, v in compared.decomposition()._asdict().items()
        },
        "test_equal_groups": None
        if test is None
        else {
            "statistic": plain_number(test.statistic),
            "pvalue": plain_number(test.pvalue),
            "method": test.method,
            "n_groups": test.n_groups,
        },
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


def _withheld(withheld: Withheld) -> dict[str, Any]:
    """Return the numbers, limits and labels of withheld groups, with null for unknown entries."""
    known = withheld._asdict()
    known["is_n_dropped_low"] = known.pop("is_n_missing_low")
    known["labels"] = None if withheld.labels is None else [*map(plain_label, withheld.labels)]
    return known


def _bounds(report: GroupAUC) -> dict[str, Any] | None:
    """Return the certain interval of each statistic of binned scores, or None for exact scores."""
    if not estimates_of(report).pairs.is_binned:
        return None
    table = report.bounds()[["low", "high"]]
    return {
        str(name): {"low": plain_number(low), "high": plain_number(high)}
        for name, low, high in table.itertuples(name=None)
    }


# Largest number of tolerances in a message
_MOST_NAMED = 5


def check_options(options: Arguments) -> None:
    """Check options that need packages or gap names, before reading the file."""
    with refusals():
        if options.html is not None:
            check_installed()
        check_tolerances(dict(options.tolerance), options.favorable)


def results(
    counts: ScoreCounts,
    more: str,
    facts: Mapping[str, Any],
    options: Arguments,
    decisions: ScoreCounts | None = None,
) -> Iterator[list[str]]:
    """Yield lines to print, and then write the files, so the user sees the audit if writing fails.

    The headline ends with `more`, and `facts` are the first entries of the document.
    """
    check_classes(counts, options)
    headlines = [headline(counts, options.file_name, more)]
    if counts.disclosure.level == "summary":
        # A summary by group has no scores for an audit, nor for a report by some of the columns.
        large = GroupAUC(counts, undefined="ignore", min_per_class=options.min_per_class)
        shown = large if large.n_groups > 1 else GroupAUC(counts, undefined="ignore")
        yield [*headlines, "", *report_lines(shown)]
        return
    audit = _audit(counts, decisions, options)
    parts = [audit]
    if options.within is not None:
        parts = list(audit.within(options.within).values())
        audit = joined(audit, parts)
    headlines += [
        f"By {sample.column}: does each row have a group of its own? The labels in --group "
        f"{shortened(sample.names[0])} should repeat"
        for sample in audit.samples.values()
        if sample.pairs.n_undefined == sample.pairs.n_groups
    ]

    def document() -> dict[str, Any]:
        control = {}
        if options.within is not None:
            control["within"] = {"column": options.within, "n_dropped": counts.n_missing}
        groupings = [
            _grouping(part, sample)
            for samples in zip(*(part.samples.values() for part in parts), strict=True)
            for part, sample in zip(parts, samples, strict=True)
        ]
        numbers = {**n_by_class(counts), "groupings": groupings}
        return {**facts, **control, **numbers, **audit.to_dict()}

    yield from outputs(audit, [*headlines, ""], document, options)
    check_answers(audit, options)


def outputs(
    result: Output,
    headlines: Sequence[str],
    document: Callable[[], dict[str, Any]],
    options: Arguments,
) -> Iterator[list[str]]:
    """Yield the lines of an audit or a comparison, and then write its files."""
    if options.json_is_printed:
        yield as_json(document()).splitlines()
    else:
        yield list(headlines)
        yield result.document.lines()
    page = "comparison" if options.command == "compare" else "fairness audit"
    makers: dict[str, tuple[str, Callable[[], str]]] = {
        "--html": (page, lambda: page_of(result)),
        "--json": ("JSON document", lambda: as_json(document()) + "\n"),
        "--markdown": ("model card", result.document.to_markdown),
    }
    lines, failed = [""], []
    for option, path in options.outputs.items():
        what, make = makers[option]
        try:
            with refusals(written=path):
                write_whole(path, make())
        except OutputError as error:
            failed.append(str(error))
        lines.append(f"The {what} is in {path}.")
    if failed:
        raise OutputError("; ".join(failed))
    if options.outputs and not options.json_is_printed:
        yield lines


def _audit(counts: ScoreCounts, decisions: ScoreCounts | None, options: Arguments) -> FairnessAudit:
    """Return an audit by each column and by all columns; the report has the control column too."""
    columns = columns_of(counts)
    others = tuple(name for name in (options.clusters, options.within) if name is not None)
    compared = tuple(name for name in columns if name not in others)
    by = (*compared, *others)

    def arranged(of: ScoreCounts) -> ScoreCounts:
        return of if by == columns else of.regroup(itemgetter(*map(columns.index, by)))

    report = GroupAUC(
        arranged(counts), undefined="ignore", group_names=by, clusters=options.clusters
    )
    with refusals():
        return FairnessAudit(
            report,
            decisions=None if decisions is None else arranged(decisions),
            intersections=[compared] if len(compared) > 1 else [],
            **options.of_audit,
        )


def check_classes(counts: ScoreCounts, options: Arguments) -> None:
    """Refuse counts without rows of both classes."""
    subject = f"{options.file} has"
    if options.label is not None:
        subject = f"column {shortened(options.label)} has"
    n_withheld = counts.disclosure.withheld.n_groups
    if n_withheld and not len(counts):
        all_groups = "the only group is" if n_withheld == 1 else f"all {n_withheld:,} groups are"
        raise CommandError(
            f"{subject} no rows: {all_groups} withheld, with few rows of a class; count "
            "again with --small-groups join, fewer --group columns or a smaller --min-count"
        )
    n_rows = n_by_class(counts)
    for name in ("positive", "negative"):
        if n_rows[f"n_{name}s"] == 0:
            conditions = ["a weight above 0"] if options.weight is not None else []
            if counts.n_missing:
                conditions.append(
                    f"a group in {listed(options.group or columns_of(counts), ' and ')}"
                )
            of_rows = f" with {' and '.join(conditions)}" if conditions else ""
            raise CommandError(
                f"{subject} no {name} label among the "
                f"{counted(sum(n_rows.values()), 'row')}{of_rows}; an AUC needs both classes"
            )


def check_answers(audit: Audited, options: Arguments, of_model: str = "") -> None:
    """Raise an error if the answer to a tolerance is one that makes the command fail."""
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
        more = len(found) - _MOST_NAMED
        named = [*found[:_MOST_NAMED], *([f"and {more:,} more"] if more > 0 else [])]
        raise ToleranceError(f"--fail-if {options.fail_if}: {'; '.join(named)}")


def report(arguments: Arguments) -> Iterator[list[str]]:
    """Yield lines to print as early as possible, and then write the files."""
    check_options(arguments)
    counts = read_counts(arguments.file)
    if counts.groups is None:
        raise CommandError(
            f"{arguments.file}: the counts have no groups; name the group in Python, for instance "
            "by counts.regroup({None: 'device 7'})"
        )
    lacks = lacking(counts.disclosure, Need.SCORES)
    if lacks is not None and arguments.has_audit:
        raise CommandError(
            f"{arguments.file}: the fairness audit {lacks.removesuffix('.')}; without "
            "--html, --json, --markdown, --tolerance, --clusters and --within, the report has what "
            "a summary determines"
        )
    _check_columns(arguments, counts)
    if arguments.missing == "drop":
        counts = _without_missing(counts)
    has_weights = view_of(counts).is_weighted
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
    yield from results(counts, f"{weighted}{disclosed}", facts, arguments)


def _without_missing(counts: ScoreCounts) -> ScoreCounts:
    """Leave out the groups whose label has a missing part."""
    labels = [label if isinstance(label, tuple) else (label,) for label in counts.groups or ()]
    kept = [g for g, parts in enumerate(labels) if MISSING not in parts]
    n_rows = counts.n_positives + counts.n_negatives
    n_missing = counts.n_missing + int(n_rows.sum() - n_rows[kept].sum())
    return with_n_missing(select_groups(counts, kept), n_missing)


def _check_columns(arguments: Arguments, counts: ScoreCounts) -> None:
    """Refuse clusters and a control column that the counts do not have."""
    columns = columns_of(counts)
    examples = {
        "within": "the control column, such as --group sex --group hospital",
        "clusters": "clusters, such as --group site --group patient",
    }
    for option, example in examples.items():
        name = getattr(arguments, option)
        if name is not None and (name not in columns or len(columns) < 2):
            raise CommandError(
                f"--{option} must be one of several group columns of the file; got "
                f"{shortened(name)}, and the columns are {listed(columns)}; count by groups and "
                f"{example}"
            )
    if not set(columns) - {arguments.clusters, arguments.within}:
        raise CommandError(
            "--clusters and --within leave no group column to be compared; count by one more "
            "column, such as --group sex --group site --group patient"
        )
    if arguments.clusters is not None:
        place = columns.index(arguments.clusters)
        if any(label[place] == MISSING for label in counts.groups or ()):
            raise CommandError(
                f"{arguments.file}: rows without a label in the column of clusters "
                f"{shortened(arguments.clusters)} are not one cluster; drop these rows, and count "
                "again"
            )


def compare(arguments: Arguments) -> Iterator[list[str]]:
    """Yield lines to print as early as possible, and then write the files."""
    check_options(arguments)
    table = read_columns(arguments)
    rows = [rows_of(table, of_model) for of_model in arguments.models]
    for of_model, score in zip(rows, arguments.score, strict=True):
        warn_of_labels(of_model, score)
    comparison = _comparison(rows, arguments)

    def document() -> dict[str, Any]:
        of_file = {"file": arguments.file, "label": arguments.label, "scores": arguments.score}
        return {**of_file, "weight": arguments.weight, **comparison.to_dict()}

    weighted = weights_in_words(rows[0], arguments)
    first, second = comparison.audits
    first_line = headline(first.report.counts, arguments.file_name, weighted)
    yield from outputs(comparison, [first_line, ""], document, arguments)
    check_answers(second, arguments, f" of {shortened(comparison.models[1])}")


def _comparison(rows: list[Rows], arguments: Arguments) -> AuditComparison:
    """Return the comparison of the models."""
    first = rows[0]
    others = first.labels[first.labels != first.positive]
    if not 0 < others.size < first.labels.size:
        raise CommandError(
            f"column {shortened(arguments.label)} must hold both classes; got one class in "
            f"{counted(first.labels.size, 'row')}"
        )
    columns = tuple(first.groups.columns)
    with refusals(), warnings.catch_warnings():
        # `warn_of_labels` has warned of scores that are labels.
        warnings.filterwarnings("ignore", "y_score.*holds only", UserWarning)
        before, after = (
            FairnessAudit.from_predictions(
                first.labels,
                of_model.scores,
                groups=first.groups,
                y_pred=None
                if of_model.decisions is None
                else np.where(of_model.decisions == 1, first.positive, others[0]),
                sample_weight=first.weights,
                pos_label=first.positive,
                missing=first.missing,
                intersections=[columns] if len(columns) > 1 else [],
                **arguments.of_audit,
            )
            for of_model in rows
        )
        return before.compare(after, (arguments.score[0], arguments.score[1]))
