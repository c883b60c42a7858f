"""Random cases against counts by binary search, through every way in and any merge tree.

A fixed set of seeds runs with the suite. ``SKFEDAUC_FUZZ_SECONDS=3600 pytest tests/fuzz``
draws new seeds for an hour in each worker and prints how many it tried.
"""

from __future__ import annotations

import itertools
import os
import pickle
import time
import warnings

import numpy as np
import pytest
from cases import GROUPS, ROUNDED, SCORES, WEIGHTS, Case, counted, draw

from skfedauc import AUCPartial, GroupAUC

CASES_OF_SUITE = 400
SECONDS = float(os.environ.get("SKFEDAUC_FUZZ_SECONDS", "0"))
# Pickles are mutated a few times for each of these.
MUTATIONS = 3


def test_there_are_as_many_kinds_as_the_guide_says():
    assert (len(SCORES), len(GROUPS), len(WEIGHTS)) == (29, 44, 15)


@pytest.mark.parametrize("worker", range(2))
def test_random_cases(worker, capsys):
    seeds = range(worker, CASES_OF_SUITE, 2)
    if SECONDS:
        first = time.time_ns() % 10**12 * 2 + worker
        seeds = itertools.count(first, 2)
    until = time.monotonic() + SECONDS
    tried = 0
    for seed in seeds:
        if SECONDS and time.monotonic() > until:
            break
        case = draw(seed)
        try:
            check(case, np.random.default_rng(seed))
        except Exception as error:
            error.add_note(case.name)
            raise
        tried += 1
    with capsys.disabled():
        if SECONDS:
            print(f"\nworker {worker}: {tried:,} random cases")
    assert tried


def check(case: Case, rng: np.random.Generator) -> None:
    """Everything that a case must satisfy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # groups of one class, scores like labels
        whole = AUCPartial.from_predictions(**case.arguments)
        check_counts(case, whole)
        check_threads(case, whole)
        check_merges(case, whole, rng)
        check_copies(whole, rng)


def check_counts(case: Case, partial: AUCPartial) -> None:
    report = GroupAUC(partial)
    kept = np.ones(case.y.size, bool) if case.weights is None else np.asarray(case.weights) > 0
    labels = [label for label, is_kept in zip(case.labels, kept, strict=True) if is_kept]
    assert list(partial.groups) == [plain(label) for label in sorted(set(labels))]
    weights = None if case.weights is None else np.asarray(case.weights)
    tolerance = 1e-15 if weights is None or (weights == 1).all() else 1e-12
    found = report.by_group["auc"].to_numpy()
    for i, label in enumerate(sorted(set(labels))):
        mine = kept & np.array([other == label for other in case.labels])
        expected = counted(case.y[mine], case.scores[mine], of_rows(weights, mine))
        assert_auc(found[i], expected, tolerance)
        assert partial.n_positives[i] == (case.y[mine] == 1).sum()
        assert partial.n_negatives[i] == (case.y[mine] == 0).sum()
    expected = counted(case.y[kept], case.scores[kept], of_rows(weights, kept))
    assert_auc(report.pooled, expected, tolerance)


def plain(label):
    return label.astype("datetime64[us]").item() if isinstance(label, np.datetime64) else label


def of_rows(weights, rows):
    return None if weights is None else weights[rows]


def assert_auc(found, expected, tolerance):
    pairs = expected.positives * expected.negatives
    if pairs == 0:
        assert np.isnan(found)
    else:
        assert abs(found - float(expected.twice / (2 * pairs))) <= tolerance


def check_threads(case: Case, partial: AUCPartial) -> None:
    threaded = AUCPartial.from_predictions(**case.arguments, n_jobs=2)
    assert same(threaded, partial)


def check_merges(case: Case, whole: AUCPartial, rng: np.random.Generator) -> None:
    """Rows in any order, split in any way and merged in any order, are the same state."""
    n = case.y.size
    labels = np.empty(n, object)
    labels[:] = [plain(label) for label in case.labels]
    device = rng.integers(0, rng.integers(1, min(n, 12) + 1), n)
    parts = []
    for number in rng.permutation(np.unique(device)):
        rows = rng.permutation(np.flatnonzero(device == number))
        parts.append(
            AUCPartial.from_predictions(
                case.y[rows],
                case.scores[rows],
                groups=labels[rows],
                sample_weight=of_rows(case.weights, rows),
            )
        )
    at_once = AUCPartial.merge(parts)
    while len(parts) > 1:
        few = rng.permutation(len(parts))[: rng.integers(2, len(parts) + 1)]
        merged = AUCPartial.merge([parts[i] for i in few])
        parts = [part for i, part in enumerate(parts) if i not in few] + [merged]
    for merged in (at_once, parts[0]):
        if case.weights is None:
            assert merged == whole
        else:
            assert merged.groups == whole.groups
            assert np.array_equal(merged.n_positives, whole.n_positives)
            mine, its = (GroupAUC(p).by_group["auc"].to_numpy() for p in (merged, whole))
            np.testing.assert_allclose(mine, its, rtol=0, atol=1e-12)


def check_copies(partial: AUCPartial, rng: np.random.Generator) -> None:
    """A copy is the same state; bytes with a flipped bit never give another one."""
    assert same(pickle.loads(pickle.dumps(partial)), partial)
    assert same(AUCPartial.from_counts(**partial.to_counts()), partial)
    # What pickle has read is checked; damage to its own opcodes is for pickle to refuse.
    restore, (cells, *others) = partial.__reduce__()
    columns = [i for i, column in enumerate(cells) if column is not None and column.size]
    for _ in range(MUTATIONS):
        i = rng.choice(columns)
        content = bytearray(cells[i].tobytes())
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        damaged = np.frombuffer(bytes(content), cells[i].dtype).reshape(cells[i].shape)
        with pytest.raises(ValueError, match="damaged"):
            restore((*cells[:i], damaged, *cells[i + 1 :]), *others)


def same(one: AUCPartial, other: AUCPartial) -> bool:
    return one == other and repr(one) == repr(other)


@pytest.mark.parametrize("scores", ROUNDED.values(), ids=ROUNDED)
def test_scores_that_float64_would_tie_are_refused(scores):
    with pytest.raises((ValueError, TypeError), match="y_score"):
        AUCPartial.from_predictions([0, 1, 1], scores, groups=["a", "a", "b"])
