"""Partial AUCs and average precisions of several models on the same rows, to compare them.

The variance of the difference uses each row's difference of influence values [1]_, as DeLong's
variance uses differences of placement values. For partial AUCs, the influence values include the
sampling error of the threshold [2]_.

References
----------
.. [1] Hampel, F. R. (1974). The influence curve and its role in robust estimation. Journal of the
   American Statistical Association 69(346). https://doi.org/10.1080/01621459.1974.10482962
.. [2] He, Y. and Escobar, M. (2008). Nonparametric statistical inference method for partial areas
   under receiver operating characteristic curves, with application to genomic studies. Statistics
   in Medicine 27(25). https://doi.org/10.1002/sim.3335
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skfedauc._kernel import number_cells
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import view_of
from skfedauc.inference import measures
from skfedauc.inference.curves import GroupCurves, LogitErrors
from skfedauc.inference.effects import Floats, Rows
from skfedauc.inference.models import RowValues, means_of
from skfedauc.measures import AveragePrecision, Measure, PartialAUC, Sensitivity, Specificity

# Largest probability that no row is within the rates of a partial AUC. Above this probability, the
# variance is too small on average, and there is no test.
_TAIL = 0.025


def check_comparable(measure: Measure, clusters: Any) -> None:
    """Raise an error for a measure, or for clusters, without a test of the difference.

    In simulations of `Sensitivity` and `Specificity`, tests with variances from influence values
    have error rates up to 22 % instead of 5 %.
    """
    if isinstance(measure, Sensitivity | Specificity):
        if isinstance(measure, Specificity):
            instead = f"PartialAUC(min_tpr={measure.sensitivity:.3g})"
        else:
            instead = f"PartialAUC(max_fpr={1.0 - measure.specificity:.3g})"
        raise ValueError(
            "measure must be a partial AUC or AveragePrecision(), because there is no reliable "
            f"test of the difference of two models for {measure!r}. Pass measure={instead}, or "
            "measure=None to compare AUCs."
        )
    if clusters is not None and not measure.is_auc:
        raise ValueError(
            f"the comparison by {measure!r} is for independent rows; got clusters. Leave out "
            "measure to compare AUCs of clustered rows."
        )


def has_valid_averages(measure: Measure | None) -> bool:
    """Return whether intervals and tests of averages over groups are near their nominal rates.

    The average precision has a bias in each group, which averages keep. In simulations, 95 %
    intervals of the average of 100 groups of 20 positives cover it in 18 % of runs. The bias does
    not cancel between models whose ROC curves differ in shape: tests of averages over 20 groups err
    in 12 to 15 % of runs instead of 5 %.
    """
    return not isinstance(measure, AveragePrecision)


def measure_values(measure: Measure, rows: Rows, counts: Sequence[ScoreCounts]) -> RowValues:
    """Return a measure of the models on the scale from 0 to 1, and influence values of the rows.

    Parameters
    ----------
    measure : Measure
    rows : Rows
    counts : sequence of ScoreCounts
        Counts of the rows with each model's scores, by group or without groups.
    """
    codes = rows.codes if view_of(counts[0]).labels is not None else None
    curves = [GroupCurves.of(of_model) for of_model in counts]
    values = np.empty(rows.scores.shape)
    for of_model, of_curves, scores in zip(values, curves, rows.scores, strict=True):
        influence = measures.influence_of(measure, of_curves)
        # The segments of the curves are the cells in order of group and score.
        cell, _ = number_cells(scores, codes, len(counts[0]))
        positives, negatives = influence.positives[cell], influence.negatives[cell]
        of_model[:] = np.where(rows.positive, positives, negatives)
    index = np.array([measures.index_of(measure, of_model) for of_model in curves])
    rates = (1.0, 1.0)
    if isinstance(measure, PartialAUC):
        rates = (measure.width, 1.0) if measure.min_tpr is None else (1.0, measure.width)
    few = measures.few_within(measure, curves[0], _TAIL)[0]
    return RowValues(values, index, means_of(rows, values), few, rates)


def bounded_variances(measure: Measure, counts: Sequence[ScoreCounts], index: Floats) -> Floats:
    """Return the variance of the measure by model and group, or an upper bound if it is unknown.

    NaN if the group lacks a class. `index` has the measure's values, on the scale from 0 to 1.
    """
    found = [
        measures.errors_of(measure, GroupCurves.of(of_model), values)
        for of_model, values in zip(counts, index, strict=True)
    ]
    return np.array([of.variance for of in found if isinstance(of, LogitErrors)])
