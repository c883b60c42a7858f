"""Summaries by group: the same results as from cells, and an error for every other result."""

import copy
import functools
import pickle
import warnings
from types import SimpleNamespace

import golden
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from skfedauc import Bins, DisclosureError, GroupAUC, ScoreCounts
from skfedauc.counts.score_counts import extremes_of, select_groups, view_of

AVERAGES = ["macro", "samples", "positives", "negatives", "within"]
OF_GROUPS = [*AVERAGES, "worst", "ratio", "difference", "tau"]
NEEDS = r"needs disclosure='bins' or 'exact'; these counts are a summary by group"
COARSE = Bins.of_probabilities(octaves=3, parts=4)


def counts_of(weighted=False, bins=None, scale=1.0):
    """Counts with ties, groups of one class, and groups of one, two and three rows."""
    rng, n = np.random.default_rng(0), 900
    y, scores = rng.integers(0, 2, n), np.round(rng.random(n), 2)
    groups = rng.integers(0, 9, n)
    groups[:10], y[:10] = [90, 91, 91, 92, 92, 92, 93, 93, 94, 94], [1, 0, 0, 1, 0, 0, 1, 1, 0, 1]
    weights = scale * rng.gamma(8.0, size=n) if weighted else None
    counts = ScoreCounts.from_predictions(y, scores, groups=groups, sample_weight=weights)
    return counts if bins is None else counts.reduced(bins)


@pytest.fixture(params=[(False, None), (True, None), (False, COARSE), (True, COARSE)])
def kind(request):
    return request.param


@pytest.fixture
def counts(kind):
    return counts_of(*kind)


def reports(counts):
    return [GroupAUC(of, undefined="ignore") for of in (counts, counts.reduced("summary"))]


@functools.cache
def all_reports(*kind):
    """Return the reports on counts, and on the counts with the lowest and with the highest AUCs."""
    counts = counts_of(*kind)
    ends = zip(extremes_of(counts), extremes_of(counts.reduced("summary")), strict=True)
    return [reports(counts)] + [[GroupAUC(of, undefined="ignore") for of in end] for end in ends]


NEED_ALL_ROWS = ["pooled", "cross", "cross_difference", "bias_score"]
REFUSED = {"bias_by_group", "cross_matrix", "bias_score", "agreement", "decomposition", "abroca"}


def answers_of(report):
    """Yield the questions of the golden record, and some more, with functions that answer."""
    yield from golden.report(SimpleNamespace(report=report))
    over_groups = {"of": "statistics", "over": "groups", "method": "delong"}
    yield "over groups, delong", functools.partial(report.confidence_intervals, **over_groups)
    yield "compare_groups with the rest", functools.partial(report.compare_groups, "rest")
    yield "n_undefined", lambda: report._estimates.pairs.n_undefined


def numbers_in(answer):
    found = answer()
    if isinstance(found, pd.DataFrame | pd.Series):  # tables of a summary leave these out
        found = found.drop(NEED_ALL_ROWS, errors="ignore")
    return dict(golden.columns(found))


def test_results_are_those_of_cells(kind, counts):
    is_exact = not (view_of(counts).is_weighted and view_of(counts).ranges is not None)
    # The extremes of binned counts add up weights in another order.
    rounding = {} if is_exact else {"rtol": 1e-9, "atol": 1e-12}
    for of_cells, of_summary in all_reports(*kind):
        refused = set()
        for (question, answer), (_, expected) in zip(
            answers_of(of_summary), answers_of(of_cells), strict=True
        ):
            try:
                found = numbers_in(answer)
            except DisclosureError:
                refused.add(question)
                continue
            known = numbers_in(expected)
            assert found.keys() == known.keys(), question
            for column, values in found.items():
                same = np.testing.assert_allclose if rounding else np.testing.assert_array_equal
                same(values, known[column], err_msg=question, **rounding)
        assert refused == REFUSED


def test_summaries_of_different_groups_merge(counts):
    odd = np.arange(1, len(counts), 2)
    even = np.arange(0, len(counts), 2)
    parts = [select_groups(counts, numbers).reduced("summary") for numbers in (odd, even)]
    assert sum(parts) == counts.reduced("summary")
    assert parts[0] == select_groups(counts.reduced("summary"), odd)
    assert parts[0] + select_groups(counts, []).reduced("summary") == parts[0]


def test_parts_with_other_arrays_merge():
    """Summaries with and without weights merge; a test of files merges exact and binned ones."""
    plain, weighted = counts_of(), counts_of(weighted=True)
    parts = select_groups(plain, range(3)), select_groups(weighted, range(3, 6))
    assert sum(parts).reduced("summary") == sum(of.reduced("summary") for of in parts)


def test_copies_are_equal(counts):
    summary = counts.reduced("summary")
    for again in (pickle.loads(pickle.dumps(summary)), copy.deepcopy(summary)):
        assert again == summary
        assert again.disclosure.level == "summary"
    assert summary != counts
    assert counts != summary
    assert summary.reduced("summary") is summary
    assert not any(array.flags.writeable for array in view_of(summary).arrays)


def test_exact_counts_of_pairs_above_64_bits():
    n = 1 << 38
    counts = ScoreCounts.from_counts(["a", "a", "b"], [0.1, 0.2, 0.3], [n, n - 1, 3], [5, n, 2])
    summary = counts.reduced("summary")
    assert view_of(summary).concordance.u2.tolist() == view_of(counts).concordance.u2.tolist()
    assert view_of(summary).concordance.u2[0] > 1 << 64
    sent = counts.reduced("summary").to_bytes()
    for again in (pickle.loads(pickle.dumps(summary)), ScoreCounts.from_bytes(sent)):
        assert again == summary
        assert view_of(again).concordance.u2.tolist() == view_of(counts).concordance.u2.tolist()
    assert select_groups(summary, [1]) == select_groups(counts, [1]).reduced("summary")
    parts = [select_groups(summary, [0]), select_groups(summary, [1])]
    assert ScoreCounts.merge(parts) == summary
    assert GroupAUC(summary).average("macro") == GroupAUC(counts).average("macro")


@pytest.mark.parametrize("scale", [1e-55, 1e-15, 1e15, 1e55])
def test_very_small_and_large_weights(scale):
    of_cells, of_summary = reports(counts_of(weighted=True, scale=scale))
    assert of_summary.confidence_intervals().equals(of_cells.confidence_intervals())
    assert of_summary.tau == of_cells.tau


def test_extreme_weights_are_refused():
    counts = ScoreCounts.from_predictions([0, 1], [0.1, 0.2], sample_weight=[1e70, 1e70])
    with pytest.raises(ValueError, match=r"mean weight of the rows is about 2\*\*233; .* Divide"):
        counts.reduced("summary")


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda counts: counts.cells, rf"^cells {NEEDS}"),
        (lambda counts: counts.to_counts(), rf"^to_counts {NEEDS}"),
        (lambda counts: counts.map_scores(np.round), "^map_scores needs disclosure='exact'; these"),
        (lambda counts: counts.regroup(None), rf"^combining the groups 0 and 1 {NEEDS}"),
        (lambda c: c.regroup(lambda g: g // 2), rf"^combining the groups 0 and 1 {NEEDS}"),
        (lambda c: c + select_groups(c, [4]), r"^part 0 and part 1 are summaries .* group 4\."),
        (lambda c: select_groups(c, [4]).regroup(None) + select_groups(c, [5]).regroup(None),
         r"^part 0 and part 1 are summaries with rows without groups\."),
    ],
)  # fmt: skip
def test_what_needs_scores_is_refused(use, message):
    with pytest.raises(DisclosureError, match=message):
        use(counts_of().reduced("summary"))


def test_refused_statistics_name_those_that_a_summary_determines():
    report = GroupAUC(counts_of().reduced("summary"), undefined="ignore")
    message = r"the statistic 'pooled' .* A summary determines 'macro', .* and 'tau'"
    with pytest.raises(DisclosureError, match=message):
        report.statistic("pooled")


def random_counts(rng):
    """Counts with ties, tiny groups and groups of one class; some have weights or huge counts."""
    n = int(rng.integers(2, 60))
    labels, groups = rng.integers(0, 2, n), rng.integers(0, rng.integers(1, 12), n)
    scores = np.round(rng.random(n), rng.integers(1, 4))
    if rng.random() < 0.3:
        numbers = rng.integers(0, 10 ** rng.integers(1, 10), (2, n)) * [1 - labels, labels]
        counts = ScoreCounts.from_counts(groups, scores, *numbers)
    else:
        weights = rng.lognormal(0.0, 3.0, n) if rng.random() < 0.5 else None
        counts = ScoreCounts.from_predictions(labels, scores, groups=groups, sample_weight=weights)
    return counts.reduced(COARSE) if rng.random() < 0.3 else counts


def test_random_counts_have_the_same_results_and_are_restored():
    rng = np.random.default_rng(1)
    for _ in range(40):
        counts = random_counts(rng)
        if not len(counts):
            continue
        of_cells, of_summary = reports(counts)
        if view_of(counts).ranges is None or not view_of(counts).is_weighted:
            for table in (
                lambda report: report.by_group,
                lambda report: report.confidence_intervals(),
                lambda report: report.statistics()[OF_GROUPS],
            ):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UndefinedMetricWarning)
                    assert table(of_summary).equals(table(of_cells))
        # Unpickling checks the counts like a file
        again = pickle.loads(pickle.dumps(of_summary.counts))
        assert again == of_summary.counts


def test_repr_of_a_summary_of_bins_has_certain_intervals():
    report = GroupAUC(counts_of(bins=COARSE).reduced("summary"), undefined="ignore")
    low, high = report.bounds().loc["within", ["low", "high"]]
    assert "; scores were binned; a summary by group" in repr(report)
    certain = f"certainly {np.floor(low * 1e3) / 1e3:.3f} to {np.ceil(high * 1e3) / 1e3:.3f}"
    assert f"; {certain}): pairs of rows of the same group" in repr(report)


PUBLIC = [name for name in dir(GroupAUC) if not name.startswith(("_", "from_"))]
ARGUMENTS = {"average": ("macro",), "statistic": ("macro",), "test_margin": (0.5,)}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_member_of_a_report_works_or_needs_scores(name):
    """The error names the level that is needed; another test compares results."""
    _, of_summary = reports(counts_of())
    report = GroupAUC(of_summary._estimates.pairs, min_per_class=40)

    def result():
        found = getattr(report, name)
        return found(*ARGUMENTS.get(name, ())) if callable(found) else found

    if name not in REFUSED | {"pooled"}:
        assert result() is not None
        return
    message = f"^(the (statistic|measure) '.+'|{name}) {NEEDS}"
    with pytest.raises(DisclosureError, match=message):
        result()


def test_parts_of_all_levels_merge_to_a_summary(tmp_path):
    counts = counts_of()
    exact, binned, summary = (select_groups(counts, range(i, 14, 3)) for i in range(3))
    binned, summary = binned.reduced(COARSE), summary.reduced("summary")
    binned.save(tmp_path / "binned.skfa")
    merged = ScoreCounts.merge([exact, tmp_path / "binned.skfa", summary], disclosure="summary")
    assert merged == sum([exact.reduced("summary"), binned.reduced("summary"), summary])
    assert merged.groups == counts.groups
    auc = GroupAUC(counts, undefined="ignore").by_group["auc"]
    bounds = GroupAUC(merged, undefined="ignore").bounds("groups")
    assert (bounds["low"].fillna(0) <= auc.fillna(0)).all()
    assert (auc.fillna(0) <= bounds["high"].fillna(0)).all()
    exact_groups = [*exact.groups, *summary.groups]
    assert (bounds.loc[exact_groups, "value"].dropna() == auc[exact_groups].dropna()).all()
    assert (bounds.loc[exact_groups, "low"].dropna() == auc[exact_groups].dropna()).all()
    with pytest.raises(ValueError, match=r"Pass disclosure='summary' to ScoreCounts.merge"):
        ScoreCounts.merge([exact, summary])
