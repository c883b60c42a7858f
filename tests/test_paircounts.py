"""The kernel: cells of rows, and pairs counted over cells, on every path through it."""

import itertools
from fractions import Fraction

import joblib
import numpy as np
import pytest
from oracles import all_pairs, random_case

from skfedauc import _paircounts
from skfedauc._paircounts import (
    Cells,
    add_cells,
    count_rows,
    cross_concordance,
    group_of_cell,
    merge_cells,
    tally,
    walk,
    weigh_rows,
    wins_over_all,
    wins_over_others,
)
from skfedauc._paircounts.keys import ScoreCode

TINY = np.nextafter(0.0, 1.0)
LARGEST = np.finfo(float).max

SCORE_RANGES = {
    "probabilities": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.normal(size=n),
    "negative": lambda rng, n: -rng.random(n) - 0.25,
    "rounded": lambda rng, n: rng.normal(size=n).round(1),
    "six digits": lambda rng, n: (rng.normal(size=n) * 1000).round(6),
    "six digits but for one": lambda rng, n: np.append(rng.random(n - 1).round(6), np.pi),
    "large integers": lambda rng, n: rng.integers(-(2**52), 2**52, n).astype(float),
    "float32": lambda rng, n: rng.normal(size=n).astype(np.float32).astype(float),
    "float16": lambda rng, n: rng.normal(size=n).astype(np.float16).astype(float),
    "integers": lambda rng, n: rng.integers(-1000, 1000, n).astype(float),
    "positive integers": lambda rng, n: rng.integers(1, 1000, n).astype(float),
    "votes": lambda rng, n: rng.choice([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0], n),
    "powers of two": lambda rng, n: rng.choice([-1, 1], n) * 2.0 ** rng.integers(-9, 9, n),
    "halves away from zero": lambda rng, n: rng.choice([-1, 1], n) * rng.integers(5, 9, n) / 2,
    "one value": lambda rng, n: np.full(n, 0.3),
    "one negative value": lambda rng, n: np.full(n, -0.3),
    "zeros of both signs": lambda rng, n: rng.choice([-0.0, 0.0], n),
    "around zero": lambda rng, n: rng.choice([-0.0, 0.0, TINY, -TINY, 1e-300, -1e-300], n),
    "denormal": lambda rng, n: rng.integers(-9, 9, n) * TINY,
    "huge": lambda rng, n: rng.normal(size=n) * 1e300,
    "extremes": lambda rng, n: rng.choice([-LARGEST, -1.0, -TINY, 0.0, TINY, 1.0, LARGEST], n),
    "all magnitudes": lambda rng, n: rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-300, 300, n),
    "consecutive floats": lambda rng, n: (
        np.array(1.5).view(np.int64) + rng.integers(0, 5, n)
    ).view(float),
    "consecutive negative floats": lambda rng, n: (
        -(np.array(1e-9).view(np.int64) + rng.integers(0, 5, n)).view(float)
    ),
    "both sides of 1": lambda rng, n: rng.choice(
        [np.nextafter(1.0, 0.0), 1.0, np.nextafter(1.0, 2.0)], n
    ),
}

GROUP_NUMBERS = [1, 2, 7, 700, 3000]


@pytest.fixture(params=["whole", "stretches", "no table"])
def way(request, monkeypatch):
    """The kernel as it is, in many stretches, and so that it sorts whatever comes."""
    if request.param != "whole":
        set_stretch(monkeypatch, 16)
        monkeypatch.setattr(_paircounts.keys, "OUT_OF_CACHE", 32)
    if request.param == "no table":
        monkeypatch.setattr(_paircounts.rows, "MOST_DENSE", 0)
        # However many rows two keys leave in doubt, they are put right.
        monkeypatch.setattr(_paircounts.by_value, "RARE", 1)
        monkeypatch.setattr(_paircounts.merging, "BLOCK_CELLS", 16)
        monkeypatch.setattr(_paircounts.pairs, "BLOCK_CELLS", 16)
        monkeypatch.setattr(_paircounts.pairs, "MATRIX_CELLS", 8)
    return request.param


def rows(seed, n_groups, make_scores, n=None):
    """Scores, labels and groups; every group occurs."""
    rng = np.random.default_rng(seed)
    n = n or max(200, 2 * n_groups)
    groups = rng.permutation(np.r_[np.arange(n_groups), rng.integers(0, n_groups, n - n_groups)])
    return make_scores(rng, n).astype(float), rng.random(n) < 0.4, groups


def set_stretch(monkeypatch, n_rows):
    for module in ("keys", "stretches", "by_value", "by_row_number"):
        monkeypatch.setattr(getattr(_paircounts, module), "STRETCH", n_rows)


def let_threads_run(monkeypatch):
    """Few rows are worth a thread, and make many stretches."""
    for name in ("MANY_ROWS", "VERY_MANY_ROWS"):
        monkeypatch.setattr(_paircounts.threads, name, 1)
    set_stretch(monkeypatch, 64)


def table(groups, scores, *columns):
    """Sums of the columns by group and score, sorted; by comparison of floats, not of bits."""
    sums = {}
    keys = zip(groups.tolist(), scores.tolist(), strict=True)
    values = zip(*(column.tolist() for column in columns), strict=True)
    for key, row in zip(keys, values, strict=True):
        before = sums.get(key)
        sums[key] = row if before is None else [a + b for a, b in zip(before, row, strict=True)]
    return [(*key, *sums[key]) for key in sorted(sums)]


def as_table(cells, *columns):
    groups = group_of_cell(cells.starts).tolist()
    listed = [column.tolist() for column in columns]
    return list(zip(groups, cells.scores.tolist(), *listed, strict=True))


@pytest.mark.parametrize("n_groups", GROUP_NUMBERS)
@pytest.mark.parametrize("name", SCORE_RANGES)
def test_count_rows_finds_every_cell(way, name, n_groups):
    scores, positive, groups = rows(1, n_groups, SCORE_RANGES[name])
    cells = count_rows(scores, positive, groups, n_groups)
    assert as_table(cells, cells.negatives, cells.positives) == table(
        groups, scores, ~positive, positive
    )


@pytest.mark.parametrize("n_groups", GROUP_NUMBERS)
@pytest.mark.parametrize("name", ["zeros of both signs", "around zero"])
def test_zeros_of_states_have_no_sign(way, name, n_groups):
    scores, positive, groups = rows(17, n_groups, SCORE_RANGES[name])
    for cells in (
        count_rows(scores, positive, groups, n_groups),
        weigh_rows(scores, positive, np.ones(scores.size), groups, n_groups),
    ):
        assert not np.signbit(cells.scores[cells.scores == 0]).any()


@pytest.mark.parametrize("n_groups", GROUP_NUMBERS)
@pytest.mark.parametrize("name", SCORE_RANGES)
def test_weigh_rows_finds_every_cell(way, name, n_groups):
    scores, positive, groups = rows(2, n_groups, SCORE_RANGES[name])
    weights = np.random.default_rng(3).integers(1, 9, scores.size) / 4.0
    cells = weigh_rows(scores, positive, weights, groups, n_groups)
    of_negatives, of_positives = weights * ~positive, weights * positive
    # Quarters add up without rounding, so equality is exact.
    assert as_table(cells, cells.negatives, cells.positives, *cells.weights) == table(
        groups,
        scores,
        ~positive,
        positive,
        of_negatives,
        of_positives,
        of_negatives**2,
        of_positives**2,
    )


@pytest.mark.parametrize("n_groups", GROUP_NUMBERS)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("most", [1, 2, 50])
@pytest.mark.parametrize("name", ["normal", "rounded", "votes", "zeros of both signs", "extremes"])
def test_add_cells_adds_repetitions_in_any_order(way, name, most, dtype, n_groups):
    scores, _, groups = rows(4, n_groups, SCORE_RANGES[name])
    rng = np.random.default_rng(5)
    negatives, positives = rng.integers(0, most + 1, (2, scores.size)).astype(dtype)
    negatives += (negatives + positives == 0).astype(dtype)
    # Most of them single rows, where there are more
    many = rng.random(scores.size) < 0.9 * (most > 1)
    negatives[many], positives[many] = many[many], 0
    cells = add_cells(
        Cells(np.zeros(0, np.int64), scores, negatives, positives, None), groups, n_groups
    )
    assert as_table(cells, cells.negatives, cells.positives) == table(
        groups, scores, negatives, positives
    )


@pytest.mark.parametrize("name", SCORE_RANGES)
@pytest.mark.parametrize("bits", [0, 1, 5, 12, 20, 40])
def test_score_codes_keep_order_and_come_back(name, bits):
    scores = SCORE_RANGES[name](np.random.default_rng(6), 300).astype(float)
    code = ScoreCode.of(scores, bits)
    keys = code.encode(scores)
    assert np.array_equal(code.decode(keys.copy()), scores)
    by_score = np.argsort(scores, kind="stable")
    assert np.array_equal(np.diff(scores[by_score]) > 0, keys[by_score][1:] > keys[by_score][:-1])
    assert int(keys.max()).bit_length() <= code.width


@pytest.mark.parametrize("n_groups", GROUP_NUMBERS)
@pytest.mark.parametrize("name", ["probabilities", "rounded", "float32", "all magnitudes"])
def test_cells_keep_little_memory_beside_their_own(way, name, n_groups):
    scores, positive, groups = rows(15, n_groups, SCORE_RANGES[name], n=9000)
    for cells in (
        count_rows(scores, positive, groups, n_groups),
        weigh_rows(scores, positive, np.ones(scores.size), groups, n_groups),
    ):
        for column in cells:
            if column is not None:
                held = column if column.base is None else column.base
                assert held.nbytes <= 1.34 * column.nbytes + 64


@pytest.mark.parametrize(
    ("n_pairs", "n_tied", "steps"),
    [
        (0, 0, []),
        (1, 0, ["set right"]),
        (9, 0, ["set right"]),
        (9, 100, ["set right", "by row number"]),
        (200, 0, ["by row number"]),
        (700, 0, ["by row number"]),
    ],
)
def test_rows_that_two_keys_leave_in_doubt(monkeypatch, n_pairs, n_tied, steps):
    # 2**10 groups and scores of 64 bits: of two keys, one lacks the 10 lowest bits of the score.
    rng = np.random.default_rng(n_pairs)
    scores, positive, groups = rows(16, 1024, SCORE_RANGES["all magnitudes"], n=5000)
    scores[:2] = LARGEST, -LARGEST
    pairs = rng.choice(np.arange(2, 5000), (n_pairs + n_tied, 2), replace=False)
    upper, lower = pairs.T
    groups[upper] = groups[lower]
    # Two scores of one group that differ in those bits only; beside one of them, equal ones
    scores[lower] = (scores[lower].view(np.int64) & -1024).view(float)
    scores[upper] = (scores[lower].view(np.int64) + rng.integers(1, 1024, upper.size)).view(float)
    if n_tied:
        tied = pairs[n_pairs:].ravel()
        groups[tied], scores[tied] = groups[upper[0]], scores[upper[0]]
    groups = np.unique(groups, return_inverse=True)[1]
    n_groups = int(groups.max()) + 1
    assert n_groups > 512

    taken = []
    for step, module, name in (
        ("set right", _paircounts.by_value, "_set_right"),
        ("by row number", _paircounts.rows, "by_row_number"),
    ):
        function = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, f=function, s=step: taken.append(s) or f(*a))
    cells = count_rows(scores, positive, groups, n_groups)
    assert as_table(cells, cells.negatives, cells.positives) == table(
        groups, scores, ~positive, positive
    )
    assert taken == steps


def test_two_keys_are_not_tried_where_a_sample_of_the_scores_is_close_together(monkeypatch):
    rng = np.random.default_rng(0)
    _, positive, groups = rows(18, 1024, SCORE_RANGES["votes"], n=20_000)
    # Averages of rounded scores, of which many should be equal
    scores = rng.random((3, 20_000)).round(2).sum(axis=0) / 3 - 0.5
    scores[:2] = LARGEST, -LARGEST
    sizes = []
    unclear = _paircounts.by_value._unclear
    monkeypatch.setattr(
        _paircounts.by_value, "_unclear", lambda *a: sizes.append(a[0].size) or unclear(*a)
    )
    cells = count_rows(scores, positive, groups, 1024)
    assert as_table(cells, cells.negatives, cells.positives) == table(
        groups, scores, ~positive, positive
    )
    assert len(sizes) == 1
    assert 4096 <= sizes[0] < 8192


@pytest.mark.parametrize("n_jobs", [2, -1])
@pytest.mark.parametrize("name", ["all magnitudes", "rounded", "consecutive floats", "float32"])
@pytest.mark.parametrize("n_groups", [1, 300])
def test_threads_make_the_same_bits(monkeypatch, n_groups, name, n_jobs):
    let_threads_run(monkeypatch)
    monkeypatch.setattr(_paircounts.rows, "MOST_DENSE", 0)
    scores, positive, groups = rows(7, n_groups, SCORE_RANGES[name], n=5000)
    weights = np.random.default_rng(8).uniform(0.1, 2.0, scores.size)
    for make, arguments in (
        (count_rows, (scores, positive)),
        (weigh_rows, (scores, positive, weights)),
    ):
        one = make(*arguments, groups, n_groups)
        several = make(*arguments, groups, n_groups, n_jobs)
        for a, b in zip(one, several, strict=True):
            assert (a is None and b is None) or a.tobytes() == b.tobytes()


def test_a_joblib_context_sets_the_number_of_threads(monkeypatch):
    let_threads_run(monkeypatch)
    asked = []
    pool = _paircounts.threads.ThreadPoolExecutor
    monkeypatch.setattr(
        _paircounts.threads, "ThreadPoolExecutor", lambda n: asked.append(n) or pool(n)
    )
    arguments = rows(7, 300, SCORE_RANGES["all magnitudes"], n=5000)
    count_rows(*arguments, 300)
    assert asked == []
    with joblib.parallel_config("threading", n_jobs=2):
        count_rows(*arguments, 300)
        assert set(asked) == {2}
        asked.clear()
        count_rows(*arguments, 300, n_jobs=1)
    assert asked == []


@pytest.mark.parametrize("weights", ["unit", "integer", "float", "far apart"])
@pytest.mark.parametrize("seeds", [range(k, k + 20) for k in (0, 20, 40)], ids=str)
def test_pairs_by_group_and_across_equal_brute_force(way, weights, seeds):
    for seed in seeds:
        case = random_case(seed, weights=weights, labels="int")
        truth = all_pairs(case)
        if not truth.labels:
            continue
        cells = cells_of(case, truth.labels)
        pairs = np.outer(truth.positives, truth.negatives)
        expected = 2 * np.nan_to_num(truth.matrix) * pairs
        scale = max(pairs.max(), 1.0)
        assert np.allclose(cross_concordance(cells) / scale, expected / scale, rtol=0, atol=1e-12)
        twice = tally(cells).twice.astype(float)
        assert np.allclose(twice, np.diag(expected), rtol=1e-12, atol=1e-12 * scale)
        if weights == "unit":
            assert twice.tolist() == np.diag(expected).round().tolist()


@pytest.mark.parametrize("weights", ["unit", "integer", "float", "far apart"])
def test_wins_over_others_equal_brute_force(way, weights):
    for seed in range(40):
        case = random_case(seed, weights=weights, labels="int")
        amounts = np.ones(case.y.size) if case.weights is None else case.weights
        codes = np.array(case.groups)
        labels = sorted(set(codes[amounts > 0].tolist()))
        if not labels:
            continue
        wins = np.sign(np.subtract.outer(case.scores, case.scores)) + 1.0
        products = wins * np.outer(amounts, amounts)
        over_all, over_others = np.zeros((2, 2, 2, len(labels)))
        for i, j in itertools.product(range(2), repeat=2):
            for g, label in enumerate(labels):
                mine = products[(codes == label) & (case.y == i)][:, case.y == j]
                over_all[i, j, g] = mine.sum()
                over_others[i, j, g] = mine[:, codes[case.y == j] != label].sum()
        cells = cells_of(case, labels)
        scale = max(over_all.max(), 1.0)
        for function, expected in ((wins_over_all, over_all), (wins_over_others, over_others)):
            found = function(cells).astype(float)
            assert np.allclose(found, expected, rtol=1e-12, atol=1e-12 * scale)
            if weights == "unit":
                assert found.tolist() == expected.tolist()


def test_wins_over_others_beside_a_dominating_group():
    # 1e15 times the weight of the others, whose part is no less exact for that
    scores = np.array([0.1, 0.6, 0.3, 0.2, 0.4, 0.5])
    positive = np.array([False, True, False, True, False, True])
    weights = np.array([1e15, 1e15, 0.3, 0.7, 0.9, 1.1])
    cells = weigh_rows(scores, positive, weights, np.array([0, 0, 1, 1, 2, 2]), 3)
    found = wins_over_others(cells)[:, :, 0]
    expected = 2e15 * np.array([[0.0, 0.0], [0.3 + 0.9, 0.7 + 1.1]])
    assert found == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("weights", ["unit", "float"])
@pytest.mark.parametrize("n_groups", [1, 3, 40])
def test_walk_meets_each_cell_once_with_its_place_in_its_group(way, n_groups, weights):
    scores, positive, groups = rows(11, n_groups, SCORE_RANGES["rounded"], n=600)
    if weights == "unit":
        amounts = np.ones(scores.size)
        cells = count_rows(scores, positive, groups, n_groups)
    else:
        amounts = np.random.default_rng(12).uniform(0.5, 2.0, scores.size)
        cells = weigh_rows(scores, positive, amounts, groups, n_groups)
    group_of, seen = group_of_cell(cells.starts), 0
    weight_of_negatives = cells.negatives if cells.weights is None else cells.weights[0]
    for block in walk(cells.starts, [weight_of_negatives]):
        (below,) = block.below
        assert block.cells.start == seen
        seen = block.cells.stop
        group_numbers = np.arange(block.groups.start, block.groups.stop)
        of_block = np.repeat(group_numbers, np.diff(block.starts, append=below.size))
        assert np.array_equal(of_block, group_of[block.cells])
        assert np.array_equal(block.amounts[0], weight_of_negatives[block.cells])
        for score, group, of_cell in zip(cells.scores[block.cells], of_block, below, strict=True):
            negatives = ~positive & (groups == group)
            truth = 2 * amounts[negatives & (scores < score)].sum()
            truth += amounts[negatives & (scores == score)].sum()
            assert of_cell == pytest.approx(truth, rel=1e-12, abs=1e-12)
    assert seen == cells.scores.size


@pytest.mark.parametrize("n_parts", [2, 7])
@pytest.mark.parametrize("n_groups", [1, 3, 40])
@pytest.mark.parametrize("split", ["rows", "score ranges"])
@pytest.mark.parametrize("name", ["probabilities", "rounded", "one value", "extremes"])
def test_merged_parts_are_the_whole(way, name, split, n_groups, n_parts):
    scores, positive, groups = rows(13, n_groups, SCORE_RANGES[name], n=900)
    weights = np.random.default_rng(14).integers(1, 9, scores.size) / 4.0
    order = np.argsort(scores) if split == "score ranges" else np.arange(scores.size)
    for weighted in (False, True):

        def make(mine, weighted=weighted):
            numbers, codes = np.unique(groups[mine], return_inverse=True)
            arguments = scores[mine], positive[mine]
            if weighted:
                return numbers, weigh_rows(*arguments, weights[mine], codes, numbers.size)
            return numbers, count_rows(*arguments, codes, numbers.size)

        numbers, parts = zip(*map(make, np.array_split(order, n_parts)), strict=True)
        merged, (_, whole) = merge_cells(parts, numbers, n_groups), make(order)
        for a, b in zip(merged, whole, strict=True):
            assert (a is None and b is None) or (np.array_equal(a, b) and a.dtype == b.dtype)


def test_wins_beyond_64_bits():
    n = 2**34
    cells = add_cells(
        Cells(
            np.zeros(0, np.int64), np.array([0.5, 0.5]), np.array([n, n]), np.array([n, 2]), None
        ),
        np.array([0, 1]),
        2,
    )
    all_tied = [[[n * 2 * n, n * 2 * n], [n * (n + 2), n * (n + 2)]]]
    all_tied.append([[n * 2 * n, 2 * 2 * n], [n * (n + 2), 2 * (n + 2)]])
    assert wins_over_all(cells).tolist() == all_tied
    others = [[[n * n, n * n], [2 * n, n * n]], [[n * n, 2 * n], [2 * n, 2 * n]]]
    assert wins_over_others(cells).tolist() == others


def cells_of(case, labels):
    """Cells of the rows of a case, of those that weigh something."""
    codes = np.searchsorted(labels, case.groups)
    if case.weights is None:
        return count_rows(case.scores, case.y == 1, codes, len(labels))
    kept = case.weights > 0
    arrays = case.scores[kept], case.y[kept] == 1, case.weights[kept], codes[kept]
    return weigh_rows(*arrays, len(labels))


def test_counts_whose_sum_wraps_around_in_32_bits_are_no_single_rows():
    # 2**32 - 1 and 2 add up to 1 there.
    counts = np.array([[2**32 - 1, 2], [1, 0], [0, 1]], np.uint32)
    cells = Cells(np.array([0, 3]), np.array([0.1, 0.2, 0.3]), counts[:, 0], counts[:, 1], None)
    expected = 2 * (2**32 - 1) + 2 * 2**32
    assert tally(cells).twice.tolist() == [expected]
    assert tally(add_cells(cells)).twice.tolist() == [expected]


@pytest.mark.parametrize("n_counts", [1, 15, 16, 17, 100])
@pytest.mark.parametrize("total", [2**20, 2**31, 3 * 10**9, 2**33, 2**38])
def test_counts_of_any_size_stay_exact(way, n_counts, total):
    rng = np.random.default_rng(n_counts)
    most = total // n_counts
    negatives, positives = rng.integers(most // 2, most, (2, 3, n_counts))
    groups = np.repeat(np.arange(3), n_counts)
    scores = np.tile(np.arange(n_counts) / 8, 3)
    cells = add_cells(
        Cells(np.zeros(0, np.int64), scores, negatives.ravel(), positives.ravel(), None), groups, 3
    )
    expected = []
    for below, above in zip(negatives.tolist(), positives.tolist(), strict=True):
        twice = Fraction(0)
        for i, p in enumerate(above):
            twice += 2 * p * sum(below[:i]) + p * below[i]
        expected.append(int(twice))
    found = tally(cells)
    assert [int(twice) for twice in found.twice] == expected
    assert found.n_negatives.tolist() == negatives.sum(axis=1).tolist()
    assert found.n_positives.tolist() == positives.sum(axis=1).tolist()
