"""The command `compare`: two models on the same rows, with a page and documents."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from skfedauc._words import counted, shortened
from skfedauc.audit import AuditComparison, FairnessAudit
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.audit import (
    check_answers,
    check_options,
    outputs,
)
from skfedauc.cli.counts_file import headline
from skfedauc.cli.rows import Rows, read_columns, rows_of, warn_of_labels, weights_in_words
from skfedauc.cli.terminal import CommandError, refusals


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
                y_pred=_labels_of(of_model.decisions, others[0], first.positive),
                sample_weight=first.weights,
                pos_label=first.positive,
                missing=first.missing,
                intersections=[columns] if len(columns) > 1 else [],
                **arguments.of_audit,
            )
            for of_model in rows
        )
        return before.compare(after, (arguments.score[0], arguments.score[1]))


def _labels_of(decisions: Any, negative: Any, positive: Any) -> Any:
    """Return the predicted labels of decisions, or None without decisions."""
    if decisions is None:
        return None
    return np.array([negative, positive])[np.asarray(decisions, np.intp)]
