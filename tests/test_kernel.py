"""The compiled and the numpy kernel: cells of rows, and pairs counted from cells."""

import itertools
import signal
import sys
import time
from fractions import Fraction
from types import SimpleNamespace

import joblib
import kernel_cases
import numpy as np
import pytest
from kernel_cases import make_rows, same_bits
from processes import run_python

import skfedauc
from skfedauc import GroupAUC, ScoreCounts
from skfedauc import _kernel as kernel
from skfedauc._kernel import (
    Cells,
    _numpy,
    add_cells,
    concordance,
    count_rows,
    cross_concordance,
    merge_cells,
    number_cells,
    placement_sums,
)

COMPILED = kernel._implementation
needs_compiled = pytest.mark.skipif(COMPILED is _numpy, reason="the kernel is not compiled")


def rows(seed, n_groups, name, n=None):
    n = n or max(200, 2 * n_groups)
    return make_rows(np.random.default_rng(seed), n_groups, name, n)


@pytest.mark.parametrize("byte", [2, 255])
def test_booleans_may_have_other_bytes_than_one(version, byte):
    scores, positive, groups, _ = rows(1, 7, "probabilities")
    viewed = (positive.astype(np.uint8) * np.uint8(byte)).view(np.bool_)
    expected = count_rows(scores, positive, groups, 7)
    assert same_bits(count_rows(scores, viewed, groups, 7), expected)
    of_rows = ScoreCounts.from_predictions(viewed, scores, groups=groups)
    assert of_rows == ScoreCounts.from_predictions(positive, scores, groups=groups)


@pytest.mark.parametrize("weighted", [False, True])
def test_arrays_may_be_misaligned_and_strided(version, weighted):
    def misaligned(values):
        copy = np.frombuffer(b"." + values.tobytes(), values.dtype, offset=1)
        assert values.dtype.itemsize == 1 or not copy.flags.aligned
        return copy

    def strided(values):
        return np.repeat(values, 2)[::2]

    scores, positive, groups, weights = rows(1, 7, "rounded")
    w = weights if weighted else None
    expected = count_rows(scores, positive, groups, 7, w)
    ranks, pairs = number_cells(scores, groups, 7), cross_concordance(expected)
    merged = merge_cells([expected] * 2, [np.arange(7)] * 2, 7)
    for changed in (misaligned, strided):
        s, p, g = changed(scores), changed(positive), changed(groups)
        cells = count_rows(s, p, g, 7, changed(weights) if weighted else None)
        assert same_bits(cells, expected)
        assert same_bits(number_cells(s, g, 7), ranks)
        columns = [changed(column) for column in expected[:4]]
        unusual = Cells(*columns, np.asfortranarray(expected.weights) if weighted else None)
        assert same_bits(concordance(unusual), concordance(expected))
        assert cross_concordance(unusual).tolist() == pairs.tolist()
        assert same_bits(add_cells(unusual, changed(expected.groups), 7), expected)
        numbers = [changed(np.arange(7))] * 2
        assert same_bits(merge_cells([unusual] * 2, numbers, 7), merged)


def test_more_rows_than_32_bits_count_are_counted_in_parts(version, monkeypatch):
    scores, positive, groups, weights = rows(1, 7, "rounded")
    weights = np.ceil(weights * 4) / 4  # sums of quarters are exact
    expected = [count_rows(scores, positive, groups, 7, w) for w in (None, weights)]
    expected.append(count_rows(scores, positive))
    monkeypatch.setattr(kernel, "_MOST_ROWS", 60)
    found = [count_rows(scores, positive, groups, 7, w) for w in (None, weights)]
    found.append(count_rows(scores, positive))
    assert all(same_bits(a, b) for a, b in zip(found, expected, strict=True))


@needs_compiled
@pytest.mark.parametrize("seed", range(6))
def test_both_versions_give_the_same_bits(seed):
    kernel_cases.main(20, seed)


LARGE = {"probabilities": False, "all magnitudes": True, "six far clusters": False}
LARGE |= {"rounded": True, "outliers of outliers": True}


@needs_compiled
@pytest.mark.parametrize(("name", "weighted"), LARGE.items())
@pytest.mark.parametrize(("n_groups", "n"), [(1, 270_000), (3, 480_000), (30_000, 70_000)])
def test_large_groups_many_groups_and_threads_give_the_same_bits(name, n_groups, n, weighted):
    scores, positive, groups, weights = rows(8, n_groups, name, n)
    w = weights if weighted else None
    expected = _numpy.count_rows(scores, positive, groups, n_groups, w, 1)
    for n_jobs in (1, 2, 2**52):
        found = count_rows(scores, positive, groups, n_groups, w, n_jobs)
        assert same_bits(found, expected)


@pytest.fixture
def asked(monkeypatch):
    """Names of the compiled functions that are called, and the numbers of threads."""
    found = []

    class Spy:
        def __getattr__(self, name):
            def call(*arguments):
                found.append((name, arguments[-1]))
                return getattr(COMPILED, name)(*arguments)

            return call

    monkeypatch.setattr(kernel, "_implementation", Spy())
    return found


@needs_compiled
def test_a_joblib_context_sets_the_number_of_threads(asked):
    arguments = *rows(7, 300, "normal", 70_000)[:3], 300
    count_rows(*arguments)
    with joblib.parallel_config("threading", n_jobs=2):
        count_rows(*arguments)
        count_rows(*arguments, n_jobs=1)
    assert [n for name, n in asked if name == "count_rows"] == [1, 2, 1]


@needs_compiled
def test_a_report_uses_the_threads_of_its_counting(asked):
    scores, positive, groups, _ = rows(7, 300, "normal", 140_000)
    report = GroupAUC.from_predictions(
        positive, scores, groups=groups, n_jobs=2, undefined="ignore"
    )
    report.confidence_intervals(of="statistics")
    assert {"count_rows", "pair_sums", "sums_among_all"} <= {name for name, _ in asked}
    assert {n for name, n in asked if name not in ("total", "number_cells")} == {2}


@pytest.mark.parametrize("name", ["probabilities", "rounded", "one value", "extremes"])
def test_merged_parts_are_the_whole(version, name, monkeypatch):
    def make(given, mine):
        numbers, codes = np.unique(given.groups[mine], return_inverse=True)
        w = None if given.weights is None else given.weights[mine]
        return numbers, count_rows(given.scores[mine], given.positive[mine], codes, numbers.size, w)

    for long, n_groups, n_parts, split, weighted in itertools.product(
        [10, kernel._LONG], [1, 40], [2, 7], ["rows", "score ranges"], [False, True]
    ):
        monkeypatch.setattr(kernel, "_LONG", long)
        scores, positive, groups, _ = rows(13, n_groups, name, n=900)
        weights = np.random.default_rng(14).integers(1, 9, scores.size) / 4.0
        given = SimpleNamespace(
            scores=scores, positive=positive, groups=groups, weights=weights if weighted else None
        )
        order = np.argsort(scores) if split == "score ranges" else np.arange(scores.size)
        made = [make(given, mine) for mine in np.array_split(order, n_parts)]
        numbers, parts = zip(*made, strict=True)
        assert same_bits(merge_cells(parts, numbers, n_groups), make(given, order)[1])


@needs_compiled
@pytest.mark.parametrize(
    ("name", "n_groups"), [("normal", 30), ("rounded", 3), ("rounded", 40_000)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_placement_sums_do_not_depend_on_the_number_of_threads(name, n_groups, weighted):
    scores, positive, groups, weights = rows(9, n_groups, name, n=300_000)
    cells = count_rows(scores, positive, groups, n_groups, weights if weighted else None)
    expected = placement_sums(cells, among_all=True, n_jobs=1)
    for n_jobs in (2, 5):
        found = placement_sums(cells, among_all=True, n_jobs=n_jobs)
        assert all(map(same_bits, found, expected))


def test_placement_sums_of_cells_with_many_rows(version):
    # Counts above 2**16 do not fit into the sorted records, and sums above 2**32 not into 64 bits.
    scores = np.array([0.1, 0.2, 0.1, 0.3])
    for scale in (1, 70_000, 2**31):
        counts = np.array([[3, 1], [2, 4], [1, 0], [5, 2]]) * scale
        cells = Cells(np.array([0, 2, 4]), scores, *kernel.compact_counts(counts.T.copy()), None)
        _, found = placement_sums(cells, among_all=True)
        # Positives score 0.1 (1), 0.2 (4) and 0.3 (2); negatives 0.1 (4), 0.2 (2) and 0.3 (5).
        assert found.u2[1].tolist() == [scale**2 * (4 + 4 * 10), scale**2 * 2 * (12 + 5)]
        assert found.u2[0].tolist() == [scale**2 * (3 + 2 * 6), scale**2 * (1 + 5 * 12)]


def test_counts_whose_sum_needs_64_bits(version):
    # 2**32 - 1 and 2 add up to 1 in 32 bits.
    counts = np.array([[2**32 - 1, 2], [1, 0], [0, 1]], np.uint32)
    cells = Cells(np.array([0, 3]), np.array([0.1, 0.2, 0.3]), *counts.T.copy(), None)
    expected = 2 * (2**32 - 1) + 2 * 2**32
    assert concordance(cells).u2.tolist() == [expected]
    assert concordance(add_cells(cells)).u2.tolist() == [expected]
    for n in (2, 3):
        merged = merge_cells([cells] * n, [np.array([0])] * n, 1)
        assert merged.negatives.tolist() == [n * (2**32 - 1), n, 0]
        assert concordance(merged).u2.tolist() == [n * n * expected]


def test_counts_of_any_size_stay_exact(version):
    for n_counts, total in itertools.product([1, 16, 100], [2**20, 2**31, 2**33, 2**38, 2**40]):
        rng = np.random.default_rng(n_counts)
        most = total // n_counts
        negatives, positives = rng.integers(most // 2, most, (2, 3, n_counts), endpoint=True)
        groups = np.repeat(np.arange(3), n_counts)
        scores = np.tile(np.arange(n_counts) / 8, 3)
        cells = add_cells(
            Cells(np.zeros(0, np.int64), scores, negatives.ravel(), positives.ravel(), None),
            groups,
            3,
        )
        expected = []
        for below, above in zip(negatives.tolist(), positives.tolist(), strict=True):
            u2 = Fraction(0)
            for i, p in enumerate(above):
                u2 += 2 * p * sum(below[:i]) + p * below[i]
            expected.append(int(u2))
        found = concordance(cells)
        assert [int(u2) for u2 in found.u2] == expected
        assert found.n_negatives.tolist() == negatives.sum(axis=1).tolist()
        assert found.n_positives.tolist() == positives.sum(axis=1).tolist()


def in_process(asked, code):
    return run_python("-c", code, env={"SKFEDAUC_KERNEL": asked})


PRINT = "import skfedauc; from skfedauc import _kernel; print(_kernel.name())"
OTHER = "import sys, types; sys.modules['skfedauc._kernel._compiled'] = types.ModuleType('other'); "


@pytest.mark.parametrize("asked", ["numpy", pytest.param("compiled", marks=needs_compiled)])
def test_an_environment_variable_chooses_the_version(asked):
    printed = in_process(asked, f"{PRINT}; skfedauc.show_versions()").stdout
    assert printed.startswith(f"{asked}\n")
    assert f"kernel: {asked}" in printed
    assert f"skfedauc: {skfedauc.__version__}" in printed


def test_versions_that_cannot_be_had():
    assert in_process("", OTHER + PRINT).stdout == "numpy\n"
    for asked, code, message in [
        ("compiled", OTHER + PRINT, "of another version: build skfedauc again"),
        ("Numpy", PRINT, "must be 'compiled' or 'numpy'; got 'Numpy'"),
    ]:
        run = in_process(asked, code)
        assert run.returncode == 1
        assert message in run.stderr


def test_many_rows_are_warned_of_once_if_the_kernel_is_not_compiled(monkeypatch):
    from skfedauc.counts import state

    monkeypatch.setattr(kernel, "_implementation", _numpy)
    monkeypatch.setattr(state, "_MANY_ROWS", 3)
    state._warn_of_slow_kernel.cache_clear()
    ScoreCounts.from_predictions([0, 1], [0.1, 0.2])
    with pytest.warns(RuntimeWarning, match="without its compiled part"):
        ScoreCounts.from_predictions([0, 1, 1], [0.1, 0.2, 0.3])
    ScoreCounts.from_predictions([0, 1, 1], [0.1, 0.2, 0.3])
    state._warn_of_slow_kernel.cache_clear()


@pytest.fixture
def interrupt_after():
    """Return a function that interrupts this process after some seconds of its own CPU time."""

    def arm(seconds):
        signal.setitimer(signal.ITIMER_PROF, seconds)

    before = signal.signal(signal.SIGPROF, signal.default_int_handler)
    yield arm
    arm(0)
    signal.signal(signal.SIGPROF, before)


def cpu_seconds(function, *arguments):
    began = time.process_time()
    function(*arguments)
    return time.process_time() - began


@needs_compiled
@pytest.mark.skipif(sys.platform == "win32", reason="there are no timers of CPU time there")
def test_an_interrupt_ends_a_long_call(interrupt_after):
    def rows(n):
        rng = np.random.default_rng(3)
        return rng.random(n), np.arange(n) % 2 == 0, rng.integers(0, 1000, n), 1000, None

    # The kernel checks for signals every 50 ms: the call must also take longer on fast processors.
    n = 4_000_000
    while (whole := cpu_seconds(count_rows, *(of_n := rows(n)), 1)) < 0.3:
        n *= 2
    for n_jobs in (1, 2):
        arguments = *of_n, n_jobs
        whole = whole if n_jobs == 1 else cpu_seconds(count_rows, *arguments)
        interrupt_after(whole / 20)
        began = time.process_time()
        with pytest.raises(KeyboardInterrupt):
            count_rows(*arguments)
        # Without checks for signals, the interrupt would arrive at the end of the call.
        assert time.process_time() - began < 0.8 * whole


@pytest.mark.parametrize("weighted", [False, True])
def test_no_rows_have_the_arrays_of_any_rows(version, weighted):
    none = np.zeros(0)
    found, other = (
        kernel.count_rows(x, x > 0, x.astype(np.intp), 1, x if weighted else None)
        for x in (none, np.ones(1))
    )
    again = (
        kernel.add_cells(found),
        kernel.merge_cells([found, found], [none.astype(np.intp)] * 2, 0),
    )
    for cells in (found, *again):
        assert cells.starts.tolist() == [0]
        for empty, column in zip(cells[1:], other[1:], strict=True):
            assert (empty is None) == (column is None)
            if empty is not None:
                assert (empty.dtype, empty.ndim, empty.size) == (column.dtype, column.ndim, 0)
        sums = (concordance(cells), *placement_sums(cells, among_all=True))
        assert all(column.size == 0 for of_task in sums for column in of_task)
