"""Checks of the arguments of `FairnessAudit` and `AuditComparison`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from skfedauc import _input, _words
from skfedauc.audit.facts import NAMES
from skfedauc.audit.gaps import is_small
from skfedauc.audit.tables import Favorable
from skfedauc.counts import ScoreCounts
from skfedauc.report import GroupAUC, MulticlassGroupAUC, estimates_of


def check_report(report: Any) -> None:
    """Raise an error unless an audit of the report is possible."""
    if not isinstance(report, GroupAUC):
        mend = (
            "FairnessAudit.from_predictions(y_true, y_score, groups=...) for rows, and "
            "FairnessAudit(GroupAUC(counts, undefined='ignore')) for a ScoreCounts."
        )
        if isinstance(report, MulticlassGroupAUC):
            mend = f"FairnessAudit(report[{next(iter(report))!r}]) for one of its reports."
        raise TypeError(f"report must be a GroupAUC; got {type(report).__name__}. Use {mend}")
    if report.counts.groups is None:
        raise ValueError("an audit needs groups; the report has none.")
    if report.n_groups == 0:
        raise ValueError("an audit needs rows; the report has none.")
    if estimates_of(report).pairs.is_within_folds or estimates_of(report).pairs.rows_repeat:
        raise ValueError(
            "an audit compares all rows with each other, but this report compares rows within "
            "folds only, or counts rows several times. Pass the report of one fold (folds[0]), "
            "or use FairnessAudit.from_predictions."
        )
    estimates_of(report).check_auc("FairnessAudit")
    estimates_of(report).pairs.check_has_scores("FairnessAudit")


def check_reference(reference: Any, counts: ScoreCounts, min_per_class: int) -> Any:
    """Return the label of the reference group, or None for the other groups together."""
    if isinstance(reference, str) and reference == "rest":
        return None
    label = reference[0] if isinstance(reference, list) and len(reference) == 1 else reference
    groups = counts.groups or ()
    place = _input.position_of(_input.as_label(label), groups)
    if place is None:
        raise ValueError(
            "reference must be 'rest' or a group's label; got "
            f"{_words.shortened(reference)}, and the groups "
            f"are {_words.all_shortened(groups[:5])}{', ...' * (len(groups) > 5)}."
        )
    if is_small(counts, min_per_class)[place]:
        raise ValueError(
            f"the reference group {_words.shortened(groups[place])} is too small for "
            f"comparisons: it has {_words.counted(int(counts.n_positives[place]), 'positive')} and "
            f"{_words.counted(int(counts.n_negatives[place]), 'negative')}, and "
            f"min_per_class is {min_per_class}. Pass another group, or a smaller "
            "min_per_class."
        )
    return groups[place]


def check_favorable(favorable: Any) -> Favorable | None:
    """Return `favorable`, which must be "positive", "negative" or None."""
    options = ("positive", "negative", None)
    return _input.check_option("favorable", favorable, options)  # type: ignore[no-any-return]


def check_names(names: Any) -> dict[str, str]:
    """Return the declared names in the order of `NAMES`; refuse names of anything else."""
    if names is None:
        return {}
    allowed = ", ".join(map(repr, NAMES))
    if not isinstance(names, Mapping):
        raise TypeError(
            f"names must be a mapping with some of the keys {allowed}, such as "
            f"{{'model': 'credit score 3'}}; got {_words.described(names)}."
        )
    for key, name in names.items():
        if key not in NAMES:
            raise ValueError(
                f"names must have some of the keys {allowed}; got the key {_words.shortened(key)}."
            )
        if not isinstance(name, str) or not name.strip():
            raise ValueError(
                f"names[{key!r}] must be text that is not empty; got {_words.described(name)}."
            )
    return {key: names[key] for key in NAMES if key in names}


def check_threshold(threshold: Any) -> float | None:
    """Return the threshold as a float, or None for None and "auto"."""
    if threshold is None or (isinstance(threshold, str) and threshold == "auto"):
        return None
    if isinstance(threshold, Mapping | pd.Series):
        raise ValueError(
            "threshold must be one number for all groups; got "
            f"{_input.kind_in_words(threshold)}. For thresholds of groups, as of fairlearn's "
            "ThresholdOptimizer, pass the predicted labels as y_pred= (y_preds= to compare "
            "models), or counts of the decisions as decisions=."
        )
    return _input.check_number(threshold, "threshold", hint=" 'auto' and None are also valid.")


def check_models(models: Any, name: str) -> tuple[str, str]:
    """Return the names of the first and of the second model."""
    if not isinstance(models, Mapping):
        raise TypeError(
            f"{name} must be a mapping with two names, {{'before': ..., 'after': ...}}; got "
            f"{_input.kind_in_words(models)}."
        )
    names = tuple(models)
    if len(names) != 2 or not all(isinstance(of, str) for of in names):
        raise ValueError(
            f"{name} must have exactly two names, each a str; got {_words.listed(names)}. For one "
            "model use FairnessAudit, and for more models compare_models."
        )
    return names[0], names[1]


def thresholds_of(models: tuple[str, str], threshold: Any) -> dict[str, Any]:
    """Return the threshold of each model, where `threshold` can be a mapping or one for both."""
    if not isinstance(threshold, Mapping):
        return dict.fromkeys(models, threshold)
    if sorted(map(str, threshold)) != sorted(models):
        raise ValueError(
            f"threshold must have the names of y_scores, {_words.listed(models)}; got "
            f"{_words.listed(list(threshold))}. For thresholds of groups, pass the predicted "
            "labels as y_preds=."
        )
    return {name: threshold[name] for name in models}
