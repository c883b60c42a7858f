"""Random cases against counts by binary search, with all input types and random merges.

A fixed set of seeds runs with the suite. ``SKFEDAUC_FUZZ_SECONDS=3600 pytest tests/fuzz`` draws new
seeds for an hour in each worker. ``SKFEDAUC_FUZZ_SEED`` sets the first seed, and
``SKFEDAUC_FUZZ_CASES=4000`` sets the number of cases of each test.
"""

from __future__ import annotations

import itertools
import pickle
import warnings

import numpy as np
import pytest
from cases import GROUPS, SCORES, WEIGHTS, Case, draw
from mutants import COMPILED, RANDOM, REPOSITORY, TESTED
from oracles import counts_by_search, plain_label
from rules import restored

from skfedauc import GroupAUC, ScoreCounts
from skfedauc.counts.score_counts import view_of

CASES_OF_SUITE = 120
# Number of changes of each pickle
MUTATIONS = 3
# Cases with at most this many groups compare all pairs of groups.
MOST_CROSSED = 9


def test_there_are_as_many_kinds_as_the_guide_says():
    assert (len(SCORES), len(GROUPS), len(WEIGHTS)) == (40, 44, 15)


def test_each_planted_bug_has_its_place():
    for mutant in [*RANDOM, *COMPILED, *TESTED]:
        assert (REPOSITORY / "skfedauc" / mutant.file).read_text().count(mutant.old) == 1, mutant


@pytest.mark.parametrize("worker", range(2))
def test_random_cases(worker, seeds):
    for seed in seeds(CASES_OF_SUITE, worker, 2):
        case = draw(seed)
        try:
            check(case, np.random.default_rng(seed))
        except Exception as error:
            error.add_note(case.name)
            raise


def check(case: Case, rng: np.random.Generator) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # groups of one class, scores like labels
        whole = ScoreCounts.from_predictions(**case.arguments)
        check_counts(case, whole)
        assert same(ScoreCounts.from_predictions(**case.arguments, n_jobs=2), whole)
        check_merges(case, whole, rng)
        check_regrouped(case, whole, rng)
        check_copies(whole, rng)


def check_counts(case: Case, counts: ScoreCounts) -> None:
    """Check groups, AUCs, sums of weights, the pooled AUC, and cross AUCs of a few groups."""
    report = GroupAUC(counts)
    weights = None if case.weights is None else np.asarray(case.weights)
    kept = np.ones(case.y.size, bool) if weights is None else weights > 0
    y, scores, weights = case.y[kept], case.scores[kept], of_rows(weights, kept)
    labels = sorted({label for label, is_kept in zip(case.labels, kept, strict=True) if is_kept})
    assert list(counts.groups) == [plain_label(label) for label in labels]
    place = {label: number for number, label in enumerate(labels)}
    codes = np.array([place.get(label, -1) for label in case.labels])[kept]
    tolerance = 1e-15 if weights is None or (weights == 1).all() else rounding_of(y.size)
    assert not np.signbit(counts.cells.scores[counts.cells.scores == 0]).any()  # 0.0, not -0.0
    found = report.by_group["auc"].to_numpy()
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], range(len(labels) + 1))
    for i in range(len(labels)):
        mine = order[bounds[i] : bounds[i + 1]]
        expected = counts_by_search(y[mine], scores[mine], of_rows(weights, mine))
        assert_auc(found[i], expected, tolerance)
        assert counts.n_positives[i] == (y[mine] == 1).sum()
        assert counts.n_negatives[i] == (y[mine] == 0).sum()
    assert_auc(report.pooled, counts_by_search(y, scores, weights), tolerance)
    if len(labels) <= MOST_CROSSED:
        matrix = report.cross_matrix.to_numpy()
        for g, h in itertools.permutations(range(len(labels)), 2):
            mine = ((codes == g) & (y == 1)) | ((codes == h) & (y == 0))
            expected = counts_by_search(y[mine], scores[mine], of_rows(weights, mine))
            assert_auc(matrix[g, h], expected, tolerance)
    check_sums(counts, y, codes, np.ones(y.size) if weights is None else weights)


def check_sums(counts: ScoreCounts, y, codes, weights) -> None:
    """Check sums of weights and of squared weights by group and class, and multiplied counts."""
    cells = counts.cells
    sums = cells.weights
    if sums is None:
        assert (weights == 1).all()
        sums = np.array([cells.negatives, cells.positives] * 2, float)
    weights = weights.astype(float)
    for label, power, of_cells in zip([0, 1, 0, 1], [1, 1, 2, 2], sums, strict=True):
        expected = np.bincount(codes, np.where(y == label, weights**power, 0.0), len(counts))
        found = np.bincount(cells.groups, of_cells, len(counts))
        np.testing.assert_allclose(found, expected, rtol=rounding_of(y.size))
    if cells.weights is not None or not len(counts):
        return
    # More pairs than fit in 64 bits are counted exactly.
    times = (1 << 40) // y.size
    table = counts.to_counts()
    for name in ("n_negatives", "n_positives"):
        table[name] = table[name].astype(np.int64) * times
    many = view_of(ScoreCounts.from_counts(**table)).concordance.u2
    assert [int(u2) for u2 in many] == [int(u2) * times**2 for u2 in view_of(counts).concordance.u2]


def check_regrouped(case: Case, whole: ScoreCounts, rng: np.random.Generator) -> None:
    """Check merged groups, and counts without groups, against counts with the new labels."""
    n_new = int(rng.integers(1, 6))
    new = {label: f"new {rng.integers(n_new)}" for label in whole.groups}
    labels = [new.get(plain_label(label)) for label in case.labels]
    arguments = {**case.arguments, "groups": labels}
    # Labels that only rows of weight 0 have are not groups.
    expected = ScoreCounts.from_predictions(**arguments, missing="drop")
    assert_alike(whole.regroup(new), expected)
    absent = rng.random(case.y.size) < 0.3
    arguments["groups"] = [
        None if gone else label for gone, label in zip(absent, labels, strict=True)
    ]
    dropped = ScoreCounts.from_predictions(**arguments, missing="drop")
    weights = np.ones(case.y.size) if case.weights is None else np.asarray(case.weights)
    assert dropped.n_missing == (absent & (weights > 0)).sum()
    kept = ScoreCounts.from_predictions(
        case.y[~absent],
        case.scores[~absent],
        groups=np.array(labels, object)[~absent],
        sample_weight=of_rows(case.weights, ~absent),
        missing="drop",
    )
    assert_alike(dropped, kept)


def assert_alike(one: ScoreCounts, other: ScoreCounts) -> None:
    """Assert that states are equal; with weights, up to rounding error."""
    if one.cells.weights is None and other.cells.weights is None:
        assert one == other
        return
    assert one.groups == other.groups
    for mine, its in zip(one.cells[:4], other.cells[:4], strict=True):
        assert np.array_equal(mine, its)
    n_rows = int(one.n_positives.sum() + one.n_negatives.sum())
    np.testing.assert_allclose(one.cells.weights, other.cells.weights, rtol=rounding_of(n_rows))


def rounding_of(n_rows):
    """Return the largest relative error of a sequential sum of n weights."""
    return max(1e-12, n_rows * np.finfo(float).eps)


def of_rows(weights, rows):
    return None if weights is None else weights[rows]


def assert_auc(found, expected, tolerance):
    pairs = expected.positives * expected.negatives
    if pairs == 0:
        assert np.isnan(found)
    else:
        assert abs(found - float(expected.u2 / (2 * pairs))) <= tolerance


def check_merges(case: Case, whole: ScoreCounts, rng: np.random.Generator) -> None:
    """Check that the state does not depend on row order, splits and the order of merging."""
    n = case.y.size
    labels = np.empty(n, object)
    labels[:] = [plain_label(label) for label in case.labels]
    device = rng.integers(0, rng.integers(1, min(n, 12) + 1), n)
    parts = []
    for number in rng.permutation(np.unique(device)):
        rows = rng.permutation(np.flatnonzero(device == number))
        parts.append(
            ScoreCounts.from_predictions(
                case.y[rows],
                case.scores[rows],
                groups=labels[rows],
                sample_weight=of_rows(case.weights, rows),
            )
        )
    at_once = ScoreCounts.merge(parts)
    while len(parts) > 1:
        few = rng.permutation(len(parts))[: rng.integers(2, len(parts) + 1)]
        merged = ScoreCounts.merge([parts[i] for i in few])
        parts = [part for i, part in enumerate(parts) if i not in few] + [merged]
    for merged in (at_once, parts[0]):
        assert_alike(merged, whole)


def check_copies(counts: ScoreCounts, rng: np.random.Generator) -> None:
    """Check that a copy equals the state, and that a flipped bit never gives another state."""
    assert same(pickle.loads(pickle.dumps(counts)), counts)
    assert same(ScoreCounts.from_counts(**counts.to_counts()), counts)
    # The package checks the unpickled values; pickle itself refuses damaged opcodes.
    cells = counts.cells
    columns = [i for i, column in enumerate(cells) if column is not None and column.size]
    for _ in range(MUTATIONS):
        i = rng.choice(columns)
        content = bytearray(cells[i].tobytes())
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        damaged = np.frombuffer(bytes(content), cells[i].dtype).reshape(cells[i].shape)
        with pytest.raises(ValueError, match="damaged"):
            restored(counts, sealed=True, content=cells._replace(**{cells._fields[i]: damaged}))


def same(one: ScoreCounts, other: ScoreCounts) -> bool:
    return one == other and repr(one) == repr(other)
