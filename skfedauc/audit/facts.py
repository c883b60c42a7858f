"""An audit's facts: the user's declarations, counted numbers, and package versions."""

from __future__ import annotations

import datetime
import importlib.metadata
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from skfedauc import _words
from skfedauc.audit.answers import Audited
from skfedauc.counts import ScoreCounts, version_of_package
from skfedauc.counts.score_counts import identifier_of, view_of
from skfedauc.report import estimates_of

# Facts of an audit that differ between models on the same rows
_OF_A_MODEL = ("threshold", "has_decisions", "identifier")
_PACKAGES = ("scikit-learn", "numpy", "fairlearn")


def date_of_now() -> str:
    """Return the date and time in UTC by ISO 8601, ``2026-01-31T09:30:00Z``.

    The environment variable SOURCE_DATE_EPOCH replaces the present time, as for other reproducible
    outputs (https://reproducible-builds.org/specs/source-date-epoch/).
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.datetime.now(datetime.UTC)
    if epoch is not None:
        try:
            moment = datetime.datetime.fromtimestamp(int(epoch), datetime.UTC)
        except (ValueError, OverflowError, OSError):
            raise ValueError(
                "the environment variable SOURCE_DATE_EPOCH must be a whole number of seconds "
                f"since 1970; got {_words.shortened(epoch)}. Correct it, or unset it."
            ) from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def facts_of(audit: Audited, declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of an audit as plain values, the declared facts first."""
    counts = audit.report.counts
    clusters = estimates_of(audit.report).pairs.clusters
    n_positives, n_negatives = int(counts.n_positives.sum()), int(counts.n_negatives.sum())
    positive, negative = classes_of(counts)
    return {
        **declared,
        "columns": list(audit.columns),
        "within": {name: plain_label(label) for name, label in audit.control.items()},
        "has_decisions": audit.decisions is not None,
        "positive_class": positive,
        "negative_class": negative,
        "n_rows": n_positives + n_negatives,
        "n_positives": n_positives,
        "n_negatives": n_negatives,
        "n_groups": len(counts),
        "n_missing": counts.n_missing,
        "n_withheld_groups": counts.disclosure.withheld.n_groups,
        "n_clusters": None if clusters is None else clusters.n_clusters,
        "n_shared_clusters": None if clusters is None else clusters.n_shared,
        "is_weighted": view_of(counts).is_weighted,
        "disclosure": counts.disclosure.level,
        "identifier": identifier_of(counts),
        "date": audit.date,
        "versions": versions(),
    }


def facts_of_models(of_models: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a comparison's facts, given those of each model's audit."""
    shared = next(iter(of_models.values()))
    return {
        "models": {
            model: {key: facts[key] for key in _OF_A_MODEL} for model, facts in of_models.items()
        },
        **{key: fact for key, fact in shared.items() if key not in _OF_A_MODEL},
    }


def versions() -> dict[str, str]:
    """Return the versions of skfedauc and the packages that the audit depends on."""
    found = {name: importlib.metadata.version(name) for name in _PACKAGES}
    return {"skfedauc": version_of_package()} | found


def classes_of(counts: ScoreCounts) -> tuple[Any, Any]:
    """Return the positive and the negative label, or None for unknown labels."""
    seen, positive = view_of(counts).classes
    if positive is None:
        return None, None
    others = [label for label in seen if label != positive]
    return positive, others[0] if others else None


# Plain values --------------------------------------------------------------------------------


def plain_label(label: Any) -> str | int | list[str | int]:
    """Return a group's label for JSON: text, an integer or boolean, or a list for several columns.

    Other kinds of labels, such as dates, become text.
    """
    if isinstance(label, tuple):
        return [_plain_part(part) for part in label]
    return _plain_part(label)


def plain_labels(labels: Sequence[Any]) -> list[Any]:
    """Return group labels for JSON."""
    return [plain_label(label) for label in labels]


def plain_number(value: Any) -> float | None:
    """Return a number for JSON, and None for an undefined number."""
    return float(value) if math.isfinite(value) else None


def _plain_part(part: Any) -> str | int:
    return part if isinstance(part, str | int) else _words.label_text(part)
