"""Bias AUCs, equality gaps and ABROCA against their definitions, row by row."""

import numpy as np
import pandas as pd
import pytest
from oracles import random_case
from sklearn.metrics import roc_auc_score, roc_curve

from skfedauc import GroupAUC

WEIGHTS = ["unit", "integer", "float", "far apart"]


def report_of(case, **options):
    return GroupAUC.from_predictions(**case.arguments, undefined="ignore", **options)


def weights_of(case):
    return np.ones(case.y.size) if case.weights is None else case.weights


def auc_of(case, positives, negatives):
    """Return scikit-learn's AUC of these rows; NaN if a class has no weight."""
    rows, weights = positives | negatives, weights_of(case)
    if not weights[positives].sum() or not weights[negatives].sum():
        return np.nan
    return roc_auc_score(positives[rows], case.scores[rows], sample_weight=weights[rows])


def by_definition(case):
    """Return subgroup, BPSN and BNSP AUC, and both average equality gaps of each group."""
    weights, pos = weights_of(case), case.y == 1
    labels = sorted({g for g, w in zip(case.groups, weights, strict=True) if w > 0})
    rows = []
    for label in labels:
        mine = np.array([group == label for group in case.groups])
        gaps = []
        for side in (pos, ~pos):
            some, others = mine & side, ~mine & side
            products = np.outer(weights[some], weights[others])
            above = np.sign(np.subtract.outer(case.scores[some], case.scores[others]))
            gaps.append((above * products).sum() / products.sum() / 2 if products.sum() else np.nan)
        auc = [(mine & pos, mine & ~pos), (~mine & pos, mine & ~pos), (mine & pos, ~mine & ~pos)]
        rows.append([*(auc_of(case, *sides) for sides in auc), *gaps])
    return np.array(rows)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_bias_by_group_equals_the_definitions(weights):
    for seed in range(5):
        case = random_case(seed, weights=weights, most_groups=50 if seed < 1 else 9)
        table, expected = report_of(case).bias_by_group, by_definition(case)
        columns = ["auc", "bpsn_auc", "bnsp_auc", "positive_aeg", "negative_aeg"]
        np.testing.assert_allclose(table[columns], expected, rtol=0, atol=1e-11)
        disparity = expected[:, 2] - expected[:, 1]
        np.testing.assert_allclose(table["xauc_disparity"], disparity, rtol=0, atol=1e-11)


def area_between(one, other):
    """Return the area between two curves, which are straight lines between adjacent corners.

    Two heights between the corners determine the lines and their crossing.
    """
    corners = np.union1d(one[0], other[0])
    third = np.diff(corners) / 3
    left, right = (
        np.interp(at, *one) - np.interp(at, *other)
        for at in (corners[:-1] + third, corners[1:] - third)
    )
    first, last = 2 * left - right, 2 * right - left
    total = np.abs(first) + np.abs(last)
    crossed = np.divide(first**2 + last**2, total, out=total.copy(), where=first * last < 0)
    return crossed @ np.diff(corners) / 2


SCORES = ["no ties", "many ties", "five values", "one value", "votes"]
KINDS = [*((of, "unit") for of in SCORES), *(("many ties", weights) for weights in WEIGHTS[1:])]


@pytest.mark.parametrize(("scores", "weights"), KINDS)
def test_abroca_is_exact(scores, weights):
    for seed in range(4):
        case = random_case(seed, weights=weights, labels="int", scores=scores, most_groups=6)
        codes, w = np.array(case.groups), weights_of(case)
        report = report_of(case)
        found = report.abroca()
        for label in report.counts.groups:
            sides = [rows & (w > 0) for rows in (codes == label, codes != label)]
            if any(np.unique(case.y[rows]).size < 2 for rows in sides):
                assert np.isnan(found.loc[label, "abroca"])
                continue
            rows = [(case.y[of], case.scores[of], w[of]) for of in sides]
            curves = [
                roc_curve(y, score, sample_weight=of, drop_intermediate=False)[:2]
                for y, score, of in rows
            ]
            expected = area_between(*curves)
            assert found.loc[label, "abroca"] == pytest.approx(expected, abs=1e-13)
            y, score, of = rows[1]
            reference = roc_auc_score(y, score, sample_weight=of)
            assert found.loc[label, "reference_auc"] == pytest.approx(reference, abs=1e-12)


def test_abroca_of_one_group():
    case = random_case(18, labels="int", scores="many ties")
    report = report_of(case._replace(groups=[g % 2 for g in case.groups]))
    pd.testing.assert_frame_equal(report.abroca(1), report.abroca().loc[[0]])
