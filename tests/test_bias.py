"""Bias AUCs, equality gaps and ABROCA against their definitions, row by row."""

import itertools
from fractions import Fraction

import numpy as np
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


def exact_curve(scores, positive):
    """Return the corners of the ROC curve as fractions."""
    corners = [(Fraction(0), Fraction(0))]
    for score in sorted(set(scores.tolist()), reverse=True):
        reached = scores >= score
        corners.append(
            tuple(
                Fraction(int(reached[side].sum()), int(side.sum()))
                for side in (~positive, positive)
            )
        )
    return corners


def exact_height(corners, fpr):
    """Return the height of the curve at a false positive rate between two corners."""
    for (a, low), (b, high) in itertools.pairwise(corners):
        if a < fpr < b:
            return low + (fpr - a) / (b - a) * (high - low)
    raise AssertionError("the curve goes from 0 to 1")


def exact_area(one, other):
    """Return the area between two curves, which are straight lines between adjacent corners.

    Two heights between the corners determine the lines and their crossing.
    """
    area = Fraction(0)
    for a, b in itertools.pairwise(sorted({x for x, _ in one + other})):
        third, width = (b - a) / 3, b - a
        left, right = (
            exact_height(one, x) - exact_height(other, x) for x in (a + third, b - third)
        )
        first, last = 2 * left - right, 2 * right - left
        if first * last >= 0:
            area += abs(first + last) / 2 * width
        else:
            cross = first / (first - last) * width
            area += abs(first) * cross / 2 + abs(last) * (width - cross) / 2
    return area


@pytest.mark.parametrize("scores", ["no ties", "many ties", "five values", "one value", "votes"])
def test_abroca_is_exact(scores):
    for seed in range(4):
        case = random_case(seed, weights="unit", labels="int", scores=scores, most_groups=6)
        codes, positive = np.array(case.groups), case.y == 1
        report = report_of(case)
        found = report.abroca()
        for label in report.counts.groups:
            mine = codes == label
            sides = [(case.scores[rows], positive[rows]) for rows in (mine, ~mine)]
            if any(len(set(side.tolist())) < 2 for _, side in sides):
                assert np.isnan(found.loc[label, "abroca"])
                continue
            expected = float(exact_area(*(exact_curve(*side) for side in sides)))
            assert found.loc[label, "abroca"] == pytest.approx(expected, abs=1e-14)
            reference = roc_auc_score(sides[1][1], sides[1][0])
            assert found.loc[label, "reference_auc"] == pytest.approx(reference, abs=1e-12)


@pytest.mark.parametrize("weights", ["integer", "float", "far apart"])
def test_abroca_with_weights_equals_a_fine_grid(weights):
    case = random_case(18, weights=weights, labels="int", scores="many ties")
    case = case._replace(groups=[g % 2 for g in case.groups])
    codes, kept = np.array(case.groups), case.weights > 0
    grid = (np.arange(400_000) + 0.5) / 400_000
    heights = []
    for label in (0, 1):
        rows = (codes == label) & kept
        fpr, tpr, _ = roc_curve(
            case.y[rows],
            case.scores[rows],
            sample_weight=case.weights[rows],
            drop_intermediate=False,
        )
        heights.append(np.interp(grid, fpr, tpr))
    expected = np.abs(heights[0] - heights[1]).mean()
    found = report_of(case).abroca(1)
    assert found.index.tolist() == [0]
    assert found.loc[0, "abroca"] == pytest.approx(expected, abs=2e-5)
