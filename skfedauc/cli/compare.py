"""The command `compare`: two models on the same rows, with a page and documents."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from skfedauc._words import counted, shortened, shortened_label
from skfedauc.audit import AuditComparison
from skfedauc.audit.comparison_page import page_of
from skfedauc.audit.document import as_json
from skfedauc.audit.facts import plain_number
from skfedauc.audit.tolerances import MissingDecisionsError, is_least
from skfedauc.cli.arguments import CompareArguments
from skfedauc.cli.document import TOLERANCE_COLUMNS, answered
from skfedauc.cli.errors import CommandError
from skfedauc.cli.predictions_file import read_columns
from skfedauc.cli.results import check_answers, check_options, needs_decisions, write_files, written
from skfedauc.cli.rows import Rows, rows_of, warn_of_labels
from skfedauc.cli.text import TOLERANCES, aligned, number_text, tolerance_rows
from skfedauc.counts import left_out


def compare(arguments: CompareArguments) -> Iterator[list[str]]:
    """Yield lines to print as early as possible, and then write the files.

    Raises
    ------
    CommandError
        If the arguments or the predictions are wrong, or if writing a file fails. A
        `ToleranceError` at the end if the answer to a tolerance for the second model is one of
        ``--fail-if``.
    """
    check_options(arguments)
    table = read_columns(arguments)
    rows = [rows_of(table, of_model) for of_model in arguments.models]
    for of_model, score in zip(rows, arguments.score, strict=True):
        warn_of_labels(of_model, score)
    groups = rows[0].groups
    if arguments.missing == "drop":
        # The library drops these rows, and counts them.
        groups = groups.mask(table[list(arguments.group_columns)].isna(), None)
    comparison = _comparison(rows, groups, arguments)

    def document() -> str:
        return as_json(_document(comparison, arguments))

    if arguments.json_is_printed:
        yield document().splitlines()
    else:
        yield [*_lines(comparison, arguments), *_tolerance_lines(comparison)]
        yield ["", "Findings:", *(f"- {finding}" for finding in comparison.findings)]
    contents = {}
    if arguments.html is not None:
        contents[arguments.html] = page_of(comparison.tables)
    if arguments.markdown is not None:
        contents[arguments.markdown] = f"{comparison.to_markdown()}\n"
    if arguments.json_file is not None:
        contents[arguments.json_file] = document() + "\n"
    write_files(contents)
    if contents and not arguments.json_is_printed:
        yield ["", *written(arguments.described_outputs)]
    _, second = comparison.models
    of_second = comparison.audits[second].tolerances["answer"]
    answers = [(f"{name} of {shortened(second)}", one) for name, one in of_second.items()]
    check_answers(answers, arguments)


def _comparison(
    rows: list[Rows], groups: pd.DataFrame, arguments: CompareArguments
) -> AuditComparison:
    """Return the comparison of the models.

    Raises
    ------
    CommandError
        If the library refuses the rows, or if a tolerance needs decisions.
    """
    first = rows[0]
    y_preds = None
    if arguments.decisions:
        others = first.labels[first.labels != first.positive]
        classes = np.array([others[0] if others.size else first.positive, first.positive])
        y_preds = {
            name: classes[np.asarray(of_model.decisions, np.intp)]
            for name, of_model in zip(arguments.score, rows, strict=True)
        }
    try:
        with warnings.catch_warnings():
            # `warn_of_labels` has warned of scores that are labels.
            warnings.filterwarnings("ignore", "y_score.*holds only", UserWarning)
            return AuditComparison.from_predictions(
                first.labels,
                {
                    name: of_model.scores
                    for name, of_model in zip(arguments.score, rows, strict=True)
                },
                groups=groups,
                y_preds=y_preds,
                threshold=arguments.threshold,
                sample_weight=first.weights,
                pos_label=first.positive,
                min_per_class=arguments.min_per_class,
                favorable=arguments.favorable,
                names=arguments.names,
                tolerances=arguments.tolerances,
                missing="drop" if arguments.missing == "drop" else "raise",
            )
    except MissingDecisionsError as error:
        raise needs_decisions(error) from None
    except (ValueError, TypeError) as error:
        message = str(error).replace("y_true", f"column {shortened(arguments.label)}")
        raise CommandError(message.removesuffix(".")) from None


# Documents -----------------------------------------------------------------------------


def _document(comparison: AuditComparison, arguments: CompareArguments) -> dict[str, Any]:
    """Return the entries of `AuditComparison.to_dict` after facts on the file."""
    cases = [
        {
            "model": str(model),
            "name": str(name),
            "required": "at least" if is_least(str(name)) else "at most",
            **{column: plain_number(row[column]) for column in TOLERANCE_COLUMNS},
            "answer": row["answer"],
        }
        for (name, model), row in zip(
            comparison.tolerances.index, comparison.tolerances.to_dict("records"), strict=True
        )
    ]
    return {
        "file": arguments.file,
        "label": arguments.label,
        "scores": arguments.score,
        "weight": arguments.weight,
        **comparison.to_dict(),
        "tolerances": answered(cases),
    }


# Printed report ------------------------------------------------------------------------


def _lines(comparison: AuditComparison, arguments: CompareArguments) -> list[str]:
    facts = comparison.facts
    columns = " x ".join(map(shortened_label, facts["columns"]))
    small = f", {facts['n_small_groups']:,} of them small" if facts["n_small_groups"] else ""
    first, second = map(shortened, comparison.models)
    headline = (
        f"{arguments.file_name}: {counted(facts['n_rows'], 'row')}, "
        f"{counted(facts['n_positives'], 'positive')} and "
        f"{counted(facts['n_negatives'], 'negative')}"
    )
    return [
        headline + (f", weighted by {shortened(arguments.weight)}" if arguments.weight else ""),
        "",
        f"{first} (before) and {second} (after), by {columns}: "
        f"{counted(facts['n_groups'], 'group')}{small}{left_out(facts['n_missing'])}",
        *aligned(
            [
                ["", "before", "after", "change", "95% interval", "adjusted p"],
                *_rows(comparison.quality),
                *_rows(comparison.decomposition.loc[["cross"]]),
                *_rows(comparison.gaps),
            ]
        ),
    ]


def _rows(table: pd.DataFrame) -> Iterator[list[str]]:
    for name, row in table.to_dict("index").items():
        if math.isnan(row["change"]):
            continue
        has_limits = not math.isnan(row["ci_low"])
        pvalue = row["pvalue_adjusted"]
        yield [
            str(name),
            number_text(row["before"]),
            number_text(row["after"]),
            _signed(row["change"]),
            f"{_signed(row['ci_low'])}..{_signed(row['ci_high'])}" if has_limits else "",
            "" if math.isnan(pvalue) else f"{pvalue:.2g}",
        ]


def _signed(value: float) -> str:
    return "0.0000" if round(value, 4) == 0 else f"{value:+.4f}"


def _tolerance_lines(comparison: AuditComparison) -> list[str]:
    if comparison.tolerances.empty:
        return []
    rows = [
        [shortened(model), *cells]
        for model, audit in comparison.audits.items()
        for cells in tolerance_rows(audit)
    ]
    return [TOLERANCES, *aligned(rows, n_text=3)]
