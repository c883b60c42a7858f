"""Arguments of `compare_models`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skfedauc import _input, _words
from skfedauc.inference.effects import Rows, near_one
from skfedauc.inference.paired_measures import is_comparable
from skfedauc.inference.quantiles import Pairs
from skfedauc.measures import Measure, Sensitivity, Specificity
from skfedauc.report import AVERAGES, GroupAUC, of_one_label


def check_options(statistic: Any, over: Any, groups: Any) -> None:
    _input.check_option("statistic", statistic, ("pooled", *AVERAGES))
    _input.check_option(
        "over", over, {"rows": "new rows of these groups", "groups": "new groups as well"}
    )
    if statistic != "pooled" and groups is None:
        raise ValueError(
            f"statistic={statistic!r} is an average of group AUCs, so it needs groups; pass "
            "groups=labels, or statistic='pooled'."
        )
    if over == "groups" and groups is None:
        raise ValueError("over='groups' needs groups; pass groups=labels, or over='rows'.")


def check_comparable(measure: Measure, rows: _input.Rows) -> None:
    """Raise an error for a measure or for clusters without a test."""
    if not is_comparable(measure):
        rate = 0.2
        if isinstance(measure, Sensitivity):
            rate = 1.0 - measure.specificity
        instead = f"PartialAUC(max_fpr={rate:.3g})"
        if isinstance(measure, Specificity):
            instead = f"PartialAUC(min_tpr={measure.sensitivity:.3g})"
        raise ValueError(
            "measure must be a partial AUC or AveragePrecision(), because there is no "
            f"reliable test of the difference of two models for {measure!r}. Pass "
            f"measure={instead}, or measure=None to compare AUCs."
        )
    if rows.clusters is not None and not measure.is_auc:
        raise ValueError(
            f"the comparison by {measure!r} is for independent rows; got clusters. Leave out "
            "measure to compare AUCs of clustered rows."
        )


def checked_rows(
    models: Mapping[Any, Any],
    y_true: Any,
    groups: Any,
    sample_weight: Any,
    pos_label: Any,
    missing: _input.Missing,
    clusters: Any,
) -> list[_input.Rows]:
    """Return the validated rows of each model, which differ in the scores only."""
    missing = _input.check_missing(missing)
    by_name = {f"scores[{name!r}]": values for name, values in models.items()}
    _input.check_row_order(by_name)
    return [
        _input.check_rows(
            y_true,
            values,
            groups,
            sample_weight,
            pos_label,
            name=name,
            missing=missing,
            warn_labels=False,
            clusters=clusters,
        )
        for name, values in by_name.items()
    ]


def models_of(scores: Any, n_rows: int | None) -> dict[Any, Any]:
    """Return the scores of each model by name; `n_rows` is the number of rows of y_true."""
    import narwhals.stable.v2 as nw

    scores = _input.unwrapped(scores)
    if isinstance(scores, Mapping):
        models = dict(scores)
    elif nw.dependencies.is_into_dataframe(scores):
        _check_distinct(list(getattr(scores, "column_names", scores.columns)))
        frame = nw.from_native(scores, eager_only=True)
        models = {name: nw.to_native(frame.get_column(name)) for name in frame.columns}
    else:
        array = np.asarray(scores)
        if array.ndim != 2:
            raise TypeError(
                "scores must be a DataFrame or a mapping with the scores of each model, or an "
                f"array of shape (n_rows, n_models); got {_input.kind_in_words(scores)} of shape "
                f"{array.shape}. Pass {{'a': score_a, 'b': score_b}}."
            )
        if len(array) != n_rows == array.shape[1]:
            raise ValueError(
                "scores must have one row for each row of y_true and one column for each model; "
                f"got {_input.kind_in_words(scores)} of shape {array.shape} for {n_rows} rows. "
                "Pass {'a': score_a, 'b': score_b}, or np.column_stack([score_a, score_b])."
            )
        models = dict(enumerate(array.T))
    if len(models) < 2:
        raise ValueError(
            f"scores must hold the scores of at least two models; got {len(models)}. For one model "
            "use GroupAUC.from_predictions."
        )
    return models


def _check_distinct(names: list[Any]) -> None:
    """Raise an error for several models of the same name."""
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(
            "scores must have a different name for each model; got several columns named "
            f"{_words.shortened(repeated[0])}. Rename them."
        )


def pairs_of(names: list[Any], reference: Any) -> Pairs:
    """Return the indices of the first and of the second model of each comparison."""
    if reference is None:
        return np.triu_indices(len(names), 1)
    place = _input.position_of(reference, names)
    if place is None:
        raise ValueError(
            f"reference={_words.shortened(reference)} is not among the models, "
            f"{_words.listed(names, most=10)}."
        )
    others = np.delete(np.arange(len(names)), place)
    return np.full(others.size, place), others


def paired_rows(models: Sequence[_input.Rows], report: GroupAUC) -> Rows:
    """Return the scores of all models by row; `report` is the report on one of the models."""
    rows = models[0]
    n_rows = rows.scores.size
    if not 0 < int(rows.positive.sum()) < n_rows:
        raise ValueError(
            f"y_true must hold both classes; got one class in {n_rows} rows"
            f"{of_one_label(report.counts)}."
        )
    return Rows(
        rows.positive,
        np.array([model.scores for model in models], np.float64),
        np.ones(n_rows) if rows.weights is None else near_one(rows.weights),
        np.zeros(n_rows, np.intp) if rows.codes is None else rows.codes,
        report.n_groups,
        rows.clusters,
    )
