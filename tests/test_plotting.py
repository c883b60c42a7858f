"""Displays: plots show the computed values, and texts are readable."""

import functools
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import GridSearchCV

from skfedauc import GroupAUC, ScoreCounts, SelectWithinGap, cross_validate_group_auc
from skfedauc.inference.cross_gap import pair_errors
from skfedauc.plotting import (
    CandidatesDisplay,
    CrossAUCDisplay,
    GroupAUCDisplay,
    GroupRocCurveDisplay,
    GroupScoreDisplay,
    RankingDisplay,
)
from skfedauc.plotting.curves import GRID, MOST_CORNERS

REPORT_DISPLAYS = [GroupAUCDisplay, RankingDisplay, GroupRocCurveDisplay]
REPORT_DISPLAYS += [GroupScoreDisplay, CrossAUCDisplay]
LONG = "a very long label of a hospital in the north 17"


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def rows(n_groups, seed=0, *, weighted=False):
    """Return rows with ties; with more than two groups, the last group lacks positives."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.arange(n_groups)] * 2 + [rng.integers(n_groups, size=40 * n_groups)])
    y = rng.integers(2, size=group.size)
    y[: 2 * n_groups] = np.repeat([0, 1], n_groups)
    score = np.round(rng.normal(size=group.size) + y + 0.2 * (group % 7), 1)
    if n_groups > 2:
        y[group == n_groups - 1] = 0
    weight = rng.uniform(0.5, 2.0, size=group.size) if weighted else np.ones(group.size)
    labels = np.array([f"site {i:03}" for i in range(n_groups)])
    return y, score, labels[group], weight


@functools.cache
def report_of(n_groups, seed=0, *, weighted=False):
    y, score, groups, weight = rows(n_groups, seed, weighted=weighted)
    options = {"sample_weight": weight if weighted else None, "undefined": "ignore"}
    return GroupAUC.from_predictions(y, score, groups=groups, **options)


def axes(width=8.0, height=6.0, layout=None):
    return Figure(figsize=(width, height), layout=layout).subplots()


def laid_out(size):
    """Return axes with constrained layout, or None if the display makes the axes."""
    return None if size is None else axes(*size, "constrained")


def search_of(scores, gaps, *, gap="difference", refit=False, params=None):
    """Return a search with the attributes of a fitted search."""
    search = GridSearchCV(LogisticRegression(), {}, refit=refit)
    search.cv_results_ = {
        "params": params or [{"model__C": 2.0**i} for i in range(len(scores))],
        "mean_test_pooled": np.array(scores, float),
        f"mean_test_neg_{gap}": -np.array(gaps, float),
    }
    if refit:
        search.best_index_ = refit(search.cv_results_)
    return search


def random_search(n_candidates, seed=0):
    rng = np.random.default_rng(seed)
    gaps = rng.uniform(0.03, 0.25, n_candidates)
    params = [
        {"model__max_depth": int(i), "model__learning_rate": 0.01 * int(i + 1), "model__kind": "a"}
        for i in range(n_candidates)
    ]
    scores = 0.7 + 0.25 * np.sqrt(gaps) * rng.uniform(0.6, 1, n_candidates)
    rule = SelectWithinGap("pooled", at_most=0.15)
    return search_of(scores, gaps, refit=rule, params=params)


def labels_of(display):
    return [tick.get_text() for tick in display.ax_.get_yticklabels()]


def check_intervals(display, table, columns):
    """Check labels, values and limits from the bottom up; return the markers."""
    markers = np.asarray(display.markers_.get_offsets())
    segments = np.array(display.intervals_.get_segments())
    drawn = np.column_stack([markers[:, 0], segments[:, :, 0]])
    np.testing.assert_array_equal(drawn, table[columns].to_numpy(float))
    np.testing.assert_array_equal(segments[:, 0, 1], markers[:, 1])
    assert labels_of(display) == list(table.index)
    return markers


@pytest.mark.parametrize(
    ("n_groups", "weighted"), [(1, True), (2, False), (30, True), (200, False), (200, True)]
)
def test_forest_plot_shows_the_numbers_of_the_report(n_groups, weighted):
    report = report_of(n_groups, weighted=weighted)
    display = GroupAUCDisplay.from_report(report, confidence_level=0.9, ax=axes(8, 9))
    intervals = report.confidence_intervals(confidence_level=0.9)
    in_order = intervals.dropna(subset="auc").sort_values("auc", kind="stable")
    if n_groups == 200:
        in_order = pd.concat([in_order[:15], in_order[-15:]])

    markers = check_intervals(display, in_order, ["auc", "ci_low", "ci_high"])
    np.testing.assert_array_equal(display.ax_.get_yticks(), markers[:, 1])
    for name, line in display.lines_.items():
        assert set(line.get_xdata()) == {report.statistic(name)}
    assert set(display.lines_) == {"pooled", "macro", "within"}


@pytest.mark.parametrize("n_groups", [1, 2, 30, 200])
@pytest.mark.parametrize("kind", ["auc", "rank"])
def test_ranking_shows_the_numbers_of_the_table(n_groups, kind):
    report = report_of(n_groups)
    display = RankingDisplay.from_report(report, kind=kind, confidence_level=0.9, ax=axes(8, 9))
    columns = ["shrunken_auc", "ci_low", "ci_high"] if kind == "auc" else []
    columns = columns or ["rank", "rank_low", "rank_high"]
    table = report.ranking(confidence_level=0.9).dropna(subset="rank")
    in_order = table.sort_values("shrunken_auc" if kind == "auc" else "auc", kind="stable")
    if n_groups == 200:
        in_order = pd.concat([in_order[:15], in_order[-15:]])
    markers = check_intervals(display, in_order, columns)
    worst = in_order["may_be_worst"].to_numpy(bool)
    np.testing.assert_array_equal(np.asarray(display.worst_.get_offsets()), markers[worst])
    legend = " ".join(text.get_text() for text in display.ax_.get_legend().get_texts())
    assert f"may be worst ({table['may_be_worst'].sum()})" in legend
    is_shrunken = kind == "auc" and n_groups >= 4
    assert ("shrunken AUC" in legend) == is_shrunken
    assert ("not shrunken" in display.note_) == (kind == "auc" and n_groups < 4)
    if kind == "rank":
        low, high = display.ax_.get_xlim()
        assert low <= 0.5
        assert high >= len(table) + 0.5
    if not is_shrunken:
        assert display.observed_ is None
        assert display.arrows_ is None
        return
    observed = np.asarray(display.observed_.get_offsets())
    np.testing.assert_array_equal(observed[:, 0], in_order["auc"])
    arrows = display.arrows_
    np.testing.assert_array_equal(np.asarray(arrows.get_offsets()), observed)
    ends = observed + np.column_stack([arrows.U, arrows.V])
    np.testing.assert_allclose(ends, markers, atol=1e-12)


def test_ranking_names_groups_that_are_not_ranked():
    report = GroupAUC.from_predictions(
        [0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5], groups=list("abbcc"), undefined="ignore"
    )
    for kind in ("auc", "rank"):
        display = RankingDisplay.from_report(report, kind=kind, ax=axes())
        assert display.note_ == "3 groups without a rank not shown: a, b, c"
        assert display.shown_.size == 0
        draw(display)


@pytest.mark.parametrize("display", [GroupAUCDisplay, RankingDisplay])
def test_values_are_those_of_their_labels_also_for_ordered_categories(display):
    y, score, groups, _ = rows(9)
    categories = [f"site {number:03}" for number in (4, 1, 7, 0, 8, 2, 6, 3, 5)]
    groups = pd.Categorical(groups, categories=categories, ordered=True)
    report = GroupAUC.from_predictions(y, score, groups=groups, undefined="ignore")
    made = display.from_report(report, ax=axes())
    table = report.confidence_intervals() if display is GroupAUCDisplay else report.ranking()
    labels, segments = labels_of(made), np.array(made.intervals_.get_segments())
    assert len(labels) == 8
    np.testing.assert_array_equal(segments[:, :, 0], table.loc[labels, ["ci_low", "ci_high"]])


def test_long_curves_are_thinned_by_less_than_a_pixel_or_two():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60_000)
    score = rng.normal(size=y.size) + y
    display = GroupRocCurveDisplay.from_predictions(y, score, groups=np.ones_like(y), ax=axes())
    fpr, tpr = display.lines_[0].get_data()
    assert MOST_CORNERS < fpr.size < 4 * GRID
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert np.trapezoid(tpr, fpr) == pytest.approx(roc_auc_score(y, score), abs=1e-4)
    # Compare the drawn line with the exact curve, vertically and horizontally.
    order = np.argsort(-score)
    true = np.cumsum(y[order]) / y.sum()
    false = np.cumsum(1 - y[order]) / (1 - y).sum()
    off = np.minimum(
        np.abs(np.interp(false, fpr, tpr) - true), np.abs(np.interp(true, tpr, fpr) - false)
    )
    assert off.max() <= 1 / GRID


def folds_of_rows(seed=0, n_folds=4, weighted=False):
    """Return a cross-validation whose models have different scales, and its rows.

    In fold 0, group "b" has no positives. Group "d" has both classes, but not in the same fold.
    """
    rng = np.random.default_rng(seed)
    n = 400
    fold = rng.integers(n_folds, size=n)
    X = pd.DataFrame(
        {"x": rng.normal(size=n), "fold": fold, "group": rng.choice(["a", "b", "c"], n)}
    )
    y = (X["x"] + rng.normal(size=n) > 0).to_numpy().astype(int)
    y[(fold == 0) & (X["group"] == "b")] = 0
    for row, label in zip(np.flatnonzero(fold == 1)[:2], (1, 1), strict=True):
        X.loc[row, "group"], y[row] = "d", label
    row = np.flatnonzero(fold == 2)[0]
    X.loc[row, "group"], y[row] = "d", 0
    weight = rng.uniform(0.1, 3, n) if weighted else np.ones(n)
    cv = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
    result = cross_validate_group_auc(
        ScaledByFold(), X, y, groups="group", cv=cv, undefined="ignore", sample_weight=weight
    )
    score = X["x"].round(1) + 3.0 * fold
    return result, y, score.to_numpy(), X["group"].to_numpy(), fold, weight


class ScaledByFold(ClassifierMixin, BaseEstimator):
    """Classifier with the score x plus three times the number of the test fold."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X):
        return (X["x"].round(1) + 3.0 * X["fold"]).to_numpy()


def area(line):
    fpr, tpr = line.get_data()
    return np.trapezoid(tpr, fpr)


@pytest.mark.parametrize("weighted", [False, True])
def test_curves_within_folds_have_the_area_of_the_auc_within_folds(weighted):
    result, y, score, group, fold, weight = folds_of_rows(weighted=weighted)
    display = GroupRocCurveDisplay.from_report(result.within_folds, ax=axes())
    assert display.note_ == "1 group without an AUC not shown"
    assert sorted(display.lines_) == [0, 1, 2]
    everyone = np.ones(y.size, bool)
    for line, mine in (
        *((display.lines_[g], group == label) for g, label in enumerate("abc")),
        (display.pooled_line_, everyone),
    ):
        aucs, pairs, heights, at = [], [], [], np.linspace(0.001, 0.999, 97)
        for k in range(4):
            rows = mine & (fold == k)
            if np.unique(y[rows]).size < 2:
                continue
            aucs.append(roc_auc_score(y[rows], score[rows], sample_weight=weight[rows]))
            pairs.append(weight[rows & (y == 1)].sum() * weight[rows & (y == 0)].sum())
            fpr, tpr, _ = roc_curve(y[rows], score[rows], sample_weight=weight[rows])
            heights.append(np.interp(at, fpr, tpr))
        assert area(line) == pytest.approx(np.average(aucs, weights=pairs), abs=1e-12)
        drawn = np.interp(at, *line.get_data())
        np.testing.assert_allclose(drawn, np.average(heights, 0, pairs), atol=1e-12)
    legend = " ".join(text.get_text() for text in display.ax_.get_legend().get_texts())
    for g, line in display.lines_.items():
        assert f"{'abc'[g]} (AUC {area(line):.3f})" in legend
        assert display.curves[g].auc == pytest.approx(area(line), abs=1e-12)
    assert display.pooled_curve.auc == pytest.approx(area(display.pooled_line_), abs=1e-12)
    # The AUC over folds differs from the AUC within folds.
    over = GroupRocCurveDisplay.from_report(result.over_folds, ax=axes())
    assert sorted(over.lines_) == [0, 1, 2, 3]
    of_groups = ((line, group == "abcd"[g]) for g, line in over.lines_.items())
    for line, mine in ((over.pooled_line_, everyone), *of_groups):
        expected = roc_auc_score(y[mine], score[mine], sample_weight=weight[mine])
        assert area(line) == pytest.approx(expected, abs=1e-12)
    assert area(over.pooled_line_) < area(display.pooled_line_) - 0.05


def test_other_displays_within_folds():
    result, *_ = folds_of_rows()
    within = result.within_folds
    with pytest.raises(ValueError, match=r"compares scores within folds only.*folds\[0\]"):
        GroupScoreDisplay.from_report(within)
    assert plt.get_fignums() == []
    GroupScoreDisplay.from_report(result.folds[0], ax=axes())
    GroupScoreDisplay.from_report(result.over_folds, ax=axes())
    forest = GroupAUCDisplay.from_report(within, ax=axes())
    np.testing.assert_array_equal(forest.table["auc"], within.by_group["auc"])
    assert forest.lines_["pooled"].get_xdata()[0] == within.pooled
    assert forest.note_ == "1 group without an AUC not shown: d"
    cross = CrossAUCDisplay.from_report(within, ax=axes())
    np.testing.assert_array_equal(cross.cross_matrix, within.cross_matrix)
    assert "no colors: no standard errors" in cross.note_
    assert np.isnan(cross.errors).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_histograms_hold_the_weight_of_each_class(weighted):
    y, score, groups, weight = rows(5, weighted=weighted)
    display = GroupScoreDisplay.from_report(report_of(5, weighted=weighted), bins=17, ax=axes())
    for label, value, drawn in ((0, display.negatives, -1), (1, display.positives, 1)):
        artists = display.negatives_ if label == 0 else display.positives_
        for g in range(5):
            mine = (groups == f"site {g:03}") & (y == label)
            expected, _ = np.histogram(score[mine], display.edges, weights=weight[mine])
            np.testing.assert_allclose(value[g], expected, atol=1e-9)
            heights, _, line = artists[g].get_data()
            heights = drawn * (heights - line)
            assert (heights >= 0).all()
            np.testing.assert_allclose(
                heights * max(expected.sum(), 1), expected * heights.sum(), atol=1e-9
            )
        heights, _, line = artists["all groups"].get_data()
        share = value.sum(axis=0) / value.sum()
        np.testing.assert_allclose(drawn * (heights - line), share * abs(heights - line).sum())
    # The histograms of both classes of a group have equal areas.
    for g in range(4):
        areas = [
            np.abs(artists[g].get_data().values - artists[g].get_data().baseline).sum()
            for artists in (display.negatives_, display.positives_)
        ]
        assert areas[0] == pytest.approx(areas[1])
    assert labels_of(display)[0] == "site 004 (no positives)"
    assert labels_of(display)[-1].startswith("all groups (0.")


def test_scores_far_off_are_counted_in_the_last_bins():
    score = np.append(np.linspace(0, 1, 9_998), [1e9, -1e9])
    y = np.arange(10_000) % 2
    display = GroupScoreDisplay.from_predictions(y, score, groups=[1] * 10_000, ax=axes())
    assert display.edges[0] == pytest.approx(0, abs=0.01)
    assert display.edges[-1] == pytest.approx(1, abs=0.01)
    assert display.negatives.sum() == display.positives.sum() == 5_000
    outside = (score < display.edges[0]) | (score > display.edges[-1])
    assert f"{outside.mean():.2%} of the rows" in display.note_


@pytest.mark.parametrize("scores", [[-1e308, 1e308], [1e308, 1e308]])
def test_scores_beyond_numbers_are_an_error(scores):
    """The error replaces numpy's warning about an overflow."""
    with pytest.raises(ValueError, match="too large for histogram bins; plot ranks"):
        GroupScoreDisplay.from_predictions([0, 1], scores, groups=[1, 1], ax=axes())


@pytest.mark.parametrize("n_groups", [1, 2, 12, 200])
def test_colors_are_differences_from_the_mirrored_cell_in_standard_errors(n_groups):
    report = report_of(n_groups)
    display = CrossAUCDisplay.from_report(report, ax=axes())
    expected = report.cross_matrix.to_numpy()[np.ix_(display.shown_, display.shown_)]
    image = display.im_.get_array().filled(np.nan)
    errors = display.errors[np.ix_(display.shown_, display.shown_)]
    np.testing.assert_allclose(image, np.where(image == 0, 0, (expected - expected.T) / errors))
    np.testing.assert_array_equal(np.isnan(image), np.isnan(expected - expected.T))
    np.testing.assert_array_equal(image, -image.T)
    values = [-9, -8.1, -7, -2.1, -1.9, 0, 1.9, 2.1, 9, np.nan]
    opacity = display.im_.to_rgba(np.ma.masked_invalid(values))[:, 3] / 0.65
    np.testing.assert_allclose(opacity, [1, 1, 0.75, 0.25, 0, 0, 0, 0.25, 1, 0], atol=1e-9)
    assert sorted(display.shown_) == list(range(n_groups))
    if n_groups == 200:
        assert display.text_ is None
    else:
        for text, value in zip(display.text_.ravel(), expected.ravel(), strict=True):
            assert (text is None) == np.isnan(value)
            assert text is None or text.get_text() == f"{value:.2f}"
    notes = ["hatched: no such pairs"] if n_groups > 2 else []
    n_labels = len(display.ax_.get_yticklabels())
    if n_groups == 200:
        notes.append(f"one label in {-(-200 // n_labels)} written")
    else:
        assert n_labels == n_groups
    assert display.note_ == "; ".join(notes)


def test_groups_are_in_order_of_how_high_they_score():
    shift = np.array([3.0, 0.0, 2.0, 1.0])
    group = np.repeat(np.arange(4), 200)
    y = np.tile([0, 1], 400)
    score = np.random.default_rng(0).normal(size=800) + y + shift[group]
    report = GroupAUC.from_predictions(y, score, groups=group)
    np.testing.assert_array_equal(CrossAUCDisplay.from_report(report).shown_, [1, 3, 2, 0])
    unsorted = CrossAUCDisplay.from_report(report, sort=False, colorbar=False)
    np.testing.assert_array_equal(unsorted.shown_, range(4))
    assert unsorted.colorbar_ is None


def test_of_too_many_groups_some_are_shown():
    display = CrossAUCDisplay(report_of(30), sort=False, max_groups=7).plot(axes())
    assert display.shown_[0] == 0
    assert display.shown_[-1] == 29
    assert display.note_.startswith("7 of 30 groups shown, evenly spread over their order")
    display.max_groups = 30
    assert display.plot(axes()).shown_.size == 30


def test_errors_of_pairs_are_those_of_two_groups_of_equal_scores():
    """Without ties and at AUC 1/2, placement values have the variance 1/12."""
    rng = np.random.default_rng(0)
    y, group = rng.integers(0, 2, 40_000), rng.integers(0, 3, 40_000)
    counts = ScoreCounts.from_predictions(y, rng.random(40_000), groups=group)
    of_group = 1 / counts.n_positives + 1 / counts.n_negatives
    expected = np.sqrt((of_group[:, None] + of_group) / 12)
    np.testing.assert_allclose(pair_errors(counts), expected, rtol=0.01)
    doubled = ScoreCounts.from_predictions(
        y, rng.random(40_000), groups=group, sample_weight=np.full(40_000, 2.0)
    )
    np.testing.assert_allclose(pair_errors(doubled), expected, rtol=0.01)


def test_candidates_are_drawn_where_they_are():
    scores, gaps = [0.7, 0.8, 0.9, 0.75, np.nan], [0.1, 0.2, 0.3, 0.25, np.nan]
    search = search_of(scores, gaps, refit=SelectWithinGap("pooled", at_most=0.21))
    display = CandidatesDisplay.from_search(search, metric="pooled", ax=axes())
    np.testing.assert_array_equal(display.within_.get_offsets(), [[0.1, 0.7], [0.2, 0.8]])
    np.testing.assert_array_equal(display.beyond_.get_offsets(), [[0.3, 0.9], [0.25, 0.75]])
    assert list(display.front) == [2, 1, 0]
    drawn = np.transpose(display.front_line_.get_data())
    np.testing.assert_array_equal(drawn, [[0.3, 0.9], [0.2, 0.8], [0.1, 0.7]])
    assert display.chosen == 1
    np.testing.assert_array_equal(display.chosen_marker_.get_data(), [[0.2], [0.8]])
    assert set(display.limit_.get_xdata()) == {0.21}
    assert display.note_ == "1 candidate without a score not shown"
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["2 within the limit", "2 beyond", "limit 0.21", "Pareto front", "chosen: C=2"]


def test_no_limit_is_drawn_unless_it_is_of_this_gap():
    search = search_of(
        [0.7, 0.8], [0.04, 0.09], gap="tau", refit=SelectWithinGap("pooled", gap="tau", at_most=1)
    )
    display = CandidatesDisplay.from_search(search, metric="pooled", gap="tau", ax=axes())
    # Scorers return the square of tau.
    np.testing.assert_allclose(display.gaps, [0.2, 0.3])
    assert display.at_most == 1
    search = search_of([0.7, 0.8], [0.1, 0.2])
    display = CandidatesDisplay.from_search(search, metric="pooled", ax=axes())
    assert display.limit_ is None
    assert display.chosen_marker_ is None
    display = CandidatesDisplay.from_search(search, metric="pooled", at_most=0.15, ax=axes())
    assert set(display.limit_.get_xdata()) == {0.15}
    table = {"mean_test_pooled": [0.7], "mean_test_neg_difference": [-0.1]}  # without parameters
    display = CandidatesDisplay(table, metric="pooled")
    display.chosen = 0
    assert display.plot(axes()).chosen_marker_.get_xdata().tolist() == [0.1]


@pytest.mark.parametrize("display", REPORT_DISPLAYS)
def test_rows_estimators_and_merged_counts_give_the_same_picture(display):
    y, score, groups, _ = rows(4)
    X = pd.DataFrame({"score": score, "site": groups})

    class Model(LogisticRegression):
        def decision_function(self, X):
            return X["score"].to_numpy()

    model = Model()
    model.classes_ = np.array([0, 1])
    model.coef_ = np.ones((1, 1))
    parts = [
        ScoreCounts.from_predictions(y[i::3], score[i::3], groups=groups[i::3]) for i in range(3)
    ]
    report = GroupAUC(ScoreCounts.merge(parts), undefined="ignore")
    made = [
        display.from_report(report, ax=axes()),
        display.from_predictions(y, score, groups=groups, undefined="ignore", ax=axes()),
        display.from_estimator(model, X, y, groups="site", undefined="ignore", ax=axes()),
    ]
    first, figure, others = pixels_of(made[0]), made[0].figure_, [*map(pixels_of, made[1:])]
    # A display can be drawn again.
    assert made[0].plot(axes()) is made[0]
    assert made[0].figure_ is not figure
    for image in (*others, pixels_of(made[0])):
        np.testing.assert_array_equal(image, first)


def draw(display):
    display.ax_.figure.figure.draw_without_rendering()


def pixels_of(display):
    canvas = FigureCanvasAgg(display.figure_)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba()).copy()


def texts_of(ax):
    """Return all visible texts in the axes with their boxes."""
    found = [*ax.get_xticklabels(), *ax.get_yticklabels(), *ax.texts]
    found += [ax.xaxis.label, ax.yaxis.label]
    for legend in ax.findobj(Legend):
        found += legend.get_texts()
    hidden = set()
    for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        low, high = sorted(limits)
        places = zip(axis.get_ticklabels(), axis.get_ticklocs(), strict=True)
        hidden |= {text for text, place in places if not low <= place <= high}
    shown = [text for text in found if text.get_text() and text not in hidden]
    return [(text.get_text(), text.get_window_extent()) for text in shown]


def overlaps_of(found):
    """Return each pair of texts whose boxes overlap by more than half a pixel on each side."""
    ends = np.array([box.padded(-0.5).get_points() for _, box in found])
    low, high = ends.min(axis=1), ends.max(axis=1)
    overlap = np.all((low[:, None] <= high) & (low <= high[:, None]), axis=2)
    pairs = np.argwhere(np.triu(overlap, 1))
    return [(found[first][0], found[second][0]) for first, second in pairs]


# Many groups in plots of every size
groups_and_sizes = pytest.mark.parametrize(
    ("n_groups", "size"), [(2, (5, 4)), (12, None), (200, None), (200, (5, 4))]
)


@functools.cache
def drawn(display, n_groups, size):
    """Return a display after drawing; labels of groups have every length."""
    if display is CandidatesDisplay:
        search = random_search(n_groups)
        made = display.from_search(search, metric="pooled", ax=laid_out(size))
    else:
        counts = report_of(n_groups).counts
        counts = counts.regroup(lambda label: f"{LONG[: int(label[5:]) % 40]} {label}")
        report = GroupAUC(counts, undefined="ignore")
        made = display.from_report(report, ax=laid_out(size))
    draw(made)
    return made


@groups_and_sizes
@pytest.mark.parametrize("display", [*REPORT_DISPLAYS, CandidatesDisplay])
def test_no_text_overlaps_another_or_leaves_the_picture(display, size, n_groups):
    made = drawn(display, n_groups, size)
    found = texts_of(made.ax_)
    if display is CrossAUCDisplay:
        found += texts_of(made.colorbar_.ax)
    assert len(found) > 3
    assert overlaps_of(found) == []
    whole = made.figure_.bbox.padded(1)
    for text, box in found:
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1, text
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1, text


@groups_and_sizes
def test_legend_and_notes_of_the_forest_plot_cover_no_interval(size, n_groups):
    made = drawn(GroupAUCDisplay, n_groups, size)
    boxes = [text.get_window_extent() for text in made.ax_.texts]
    boxes.append(made.ax_.get_legend().get_window_extent())
    for segment in made.intervals_.get_segments():
        (left, height), (right, _) = made.ax_.transData.transform(segment)
        for box in boxes:
            assert not (box.y0 < height < box.y1 and left < box.x1 and right > box.x0)


def test_the_legend_of_roc_curves_covers_none():
    for n_groups, is_reversed in [(2, False), (12, False), (12, True), (200, False)]:
        y, score, groups, _ = rows(n_groups)
        score = -score if is_reversed else score
        ax = laid_out((8, 6))
        made = GroupRocCurveDisplay.from_predictions(y, score, groups=groups, ax=ax)
        draw(made)
        box = made.ax_.get_legend().get_window_extent()
        for line in [made.pooled_line_, *made.lines_.values(), *made.behind_.values()]:
            fine = np.linspace(0, 1, 500)
            fpr, tpr = line.get_data()
            points = made.ax_.transData.transform(np.c_[fine, np.interp(fine, fpr, tpr)])
            assert not any(box.contains(*point) for point in points)


def test_matplotlib_is_needed_to_draw_and_pyplot_only_without_axes(monkeypatch):
    rows, ax = {"y_true": [0, 1], "y_score": [0.1, 0.2], "groups": ["a", "a"]}, axes()
    report = GroupAUC.from_predictions(**rows)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib", None)
        for call in (
            *(functools.partial(display.from_report, report) for display in REPORT_DISPLAYS),
            lambda: GroupAUCDisplay.from_predictions(**rows),
            lambda: CandidatesDisplay.from_search(None, metric="pooled"),
            CrossAUCDisplay(report).plot,
        ):
            with pytest.raises(ImportError, match=r'requires matplotlib.* "skfedauc\[plot\]"'):
                call()
        with pytest.raises(ImportError, match=r"^GroupAUCDisplay\.from_report requires matplotlib"):
            GroupAUCDisplay.from_report(report)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    GroupAUCDisplay.from_predictions(**rows, ax=ax)
    with pytest.raises(ImportError, match=r"matplotlib\.pyplot"):
        GroupAUCDisplay.from_predictions(**rows)


def test_cross_aucs_of_one_class():
    rng = np.random.default_rng(0)
    display = CrossAUCDisplay.from_predictions(
        np.ones(40), rng.random(40), groups=np.repeat(["a", "b"], 20), ax=axes()
    )
    assert np.isnan(display.errors).all()
