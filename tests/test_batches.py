"""ScoreCounts.from_batches gives the counts of all rows, and reads few batches at a time."""

import errno
import gc
import itertools
import os
import signal
import time
import weakref
from concurrent.futures import BrokenExecutor
from unittest import mock

import joblib
import numpy as np
import pytest
from oracles import STATISTICS

from skfedauc import GroupAUC, ScoreCounts
from skfedauc.counts import batches as batches_module
from skfedauc.counts.batches import Checkpoint

# Backends and numbers of workers, which must not change the result.
WORKERS = [("loky", 1), ("threading", 2), ("loky", 2)]
every_backend = pytest.mark.parametrize(("backend", "n_jobs"), WORKERS, ids=str)


def make_rows(n=5000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return {
        "ill": y,
        "risk": (rng.normal(size=n) + y).round(2),
        "site": rng.choice(["va", "oslo", "bern", "rome"], n),
        "ward": rng.integers(0, 3, n),
        "weight": rng.integers(0, 4, n).astype(float),
    }


@pytest.fixture(scope="module")
def rows():
    return make_rows()


def cuts(n, n_batches, seed=0):
    """Return consecutive slices of unequal size."""
    inner = np.sort(np.random.default_rng(seed).choice(np.arange(1, n), n_batches - 1, False))
    ends = [0, *inner.tolist(), n]
    return [slice(a, b) for a, b in itertools.pairwise(ends)]


def tuples(rows, names, slices):
    for rows_of_batch in slices:
        yield tuple(rows[name][rows_of_batch] for name in names)


def whole(rows, groups="site", weight=None):
    by = rows[groups] if isinstance(groups, str) else None
    if isinstance(groups, list):
        by = list(zip(*(rows[name].tolist() for name in groups), strict=True))
    return ScoreCounts.from_predictions(
        rows["ill"],
        rows["risk"],
        groups=by,
        sample_weight=None if weight is None else rows[weight],
    )


# Equal to the counts of all rows -----------------------------------------------------------------


@every_backend
def test_two_hundred_batches_are_the_whole(rows, backend, n_jobs):
    batches = tuples(rows, ["ill", "risk", "site"], cuts(5000, 200))
    with joblib.parallel_config(backend):
        merged = ScoreCounts.from_batches(batches, n_jobs=n_jobs)
    assert merged == whole(rows)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_distinct_scores_are_merged_on_the_way(n_jobs):
    """The batches have more cells than the buffer, so the state is merged several times."""
    rng = np.random.default_rng(1)
    n = 300_000
    rows = {
        "ill": rng.integers(0, 2, n),
        "risk": rng.normal(size=n),
        "site": rng.integers(0, 50, n),
    }
    batches = tuples(rows, ["ill", "risk", "site"], cuts(n, 200))
    with joblib.parallel_config("threading"):
        assert ScoreCounts.from_batches(batches, n_jobs=n_jobs) == whole(rows)


# Read lazily ---------------------------------------------------------------------------------


class Watched:
    """Generator of batches that counts the read batches, and the batches in memory."""

    def __init__(self, n_batches, n_rows=50):
        self.sizes = [n_rows] * n_batches
        self.read = self.most_alive = 0
        self.scores = []

    def __iter__(self):
        rng = np.random.default_rng(0)
        for size in self.sizes:
            self.most_alive = max(self.most_alive, sum(s() is not None for s in self.scores))
            self.read += 1
            score = rng.normal(size=size)
            self.scores.append(weakref.ref(score))
            yield rng.integers(0, 2, size), score, rng.integers(0, 3, size)
            del score


@every_backend
def test_few_batches_are_in_memory(backend, n_jobs):
    """At most about two batches per worker are in memory, for any speed of counting."""
    gc.collect()
    batches = Watched(300)
    with joblib.parallel_config(backend):
        ScoreCounts.from_batches(batches, n_jobs=n_jobs)
    assert batches.read == 300
    assert batches.most_alive <= 2 * n_jobs + 2


def test_reading_waits_while_counts_are_merged(monkeypatch):
    """Without waiting, the counts before the merge would fill the memory."""
    batches = Watched(400)
    batches.sizes[:3] = [40_000] * 3
    ahead = []
    merge = batches_module.sum_of

    def slow_merge(parts):
        before = batches.read
        time.sleep(0.3)
        ahead.append(batches.read - before)
        return merge(parts)

    monkeypatch.setattr(batches_module, "sum_of", slow_merge)
    with joblib.parallel_config("threading"):
        ScoreCounts.from_batches(batches, n_jobs=2)
    assert len(ahead) > 1
    assert max(ahead) <= 8


# Failures ------------------------------------------------------------------------------------


def failing(at, n_batches=10_000):
    """Batches with a NaN score in one batch; many more follow than may be read."""
    failing.read = 0
    for number in range(n_batches):
        failing.read += 1
        score = np.array([0.1, 0.4, 0.35, 0.8])
        score[2] = np.nan if number == at else 0.3
        yield [0, 0, 1, 1], score, ["a", "b", "a", "b"]


@pytest.mark.parametrize("batches", [[], (), iter([])], ids=["list", "tuple", "iterator"])
def test_no_batches(batches):
    with pytest.raises(ValueError, match="batches is empty"):
        ScoreCounts.from_batches(batches)


# Checkpoints of runs that end early ------------------------------------------------------------


class Ending:
    """Scores that end the worker that unpickles them."""

    def __reduce__(self):
        # A function of this module would make the worker import what the tests import.
        return signal.raise_signal, (signal.SIGKILL,)


NAMES_OF_TUPLES = ("ill", "risk", "site", "weight")


def some_batches(rows, *, names=NAMES_OF_TUPLES, deadly=-1, bad=-1, n=20):
    for number, batch in enumerate(tuples(rows, names, cuts(len(rows["ill"]), n))):
        if number == deadly:
            yield (*batch[:1], Ending(), *batch[2:])
        elif number == bad:
            yield (*batch[:1], batch[1] * np.nan, *batch[2:])
        else:
            yield batch


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_killed_worker_is_told_with_the_batches_not_counted(rows, tmp_path, monkeypatch):
    path = tmp_path / "counted.skfa"
    with pytest.raises(
        RuntimeError,
        match=r"while batches 4 to 7 were counted: .*; the 4 before were counted, which '.*\.skfa' "
        r"keeps: call again with the same batches to go on\.$",
    ):
        ScoreCounts.from_batches(some_batches(rows, deadly=6), n_jobs=2, checkpoint=path)
    resumed = ScoreCounts.from_batches(some_batches(rows), n_jobs=1, checkpoint=str(path))
    assert resumed == ScoreCounts.from_batches(some_batches(rows))

    def killed(*_):
        raise BrokenExecutor

    monkeypatch.setattr(batches_module, "_counted_batch", killed)
    with (
        joblib.parallel_config("threading"),
        pytest.raises(
            RuntimeError,
            match=r"batches 0 to 3 were counted: .* no batch was counted before; checkp",
        ),
    ):
        ScoreCounts.from_batches(some_batches(rows), n_jobs=2)


def test_a_device_is_no_checkpoint():
    with pytest.raises(ValueError, match=r"checkpoint='.*' is a device or a pipe"):
        ScoreCounts.from_batches([([0, 1], [0.1, 0.2])], checkpoint=os.devnull)


@pytest.mark.parametrize("names", [NAMES_OF_TUPLES, ("ill", "risk", "site"), ("ill", "risk")])
@pytest.mark.parametrize(("bad", "n_jobs"), [(1, 1), (7, 1), (19, 1), (9, 2)])
def test_what_was_counted_before_a_failure_is_kept(rows, tmp_path, monkeypatch, names, bad, n_jobs):
    path = tmp_path / "counted.skfa"
    failing = some_batches(rows, names=names, bad=bad)
    with (
        joblib.parallel_config("threading"),
        pytest.raises(ValueError, match=f"batch {bad}: y_score must be finite"),
    ):
        ScoreCounts.from_batches(failing, n_jobs=n_jobs, checkpoint=path)
    assert path.exists()
    kept = bad if n_jobs == 1 else bad - bad % 4
    counted = []
    count = batches_module.count_batch
    monkeypatch.setattr(
        batches_module, "count_batch", lambda *a, **k: counted.append(1) or count(*a, **k)
    )
    resumed = ScoreCounts.from_batches(some_batches(rows, names=names), checkpoint=path)
    assert len(counted) == 20 - kept
    expected = ScoreCounts.from_batches(some_batches(rows, names=names))
    if "weight" in names:
        np.testing.assert_array_equal(resumed.n_positives, expected.n_positives)
        for name in STATISTICS:
            assert GroupAUC(resumed, undefined="ignore").statistic(name) == pytest.approx(
                GroupAUC(expected, undefined="ignore").statistic(name), nan_ok=True
            )
    else:
        assert resumed == expected
    assert os.listdir(tmp_path) == ["counted.skfa"]
    # The caller may fail before the result is saved: nothing is counted again.
    again = ScoreCounts.from_batches(some_batches(rows, names=names), checkpoint=path)
    assert len(counted) == 40 - kept
    assert again == resumed
    path.unlink()


def test_a_full_disk_after_the_last_batch_loses_no_counts(rows, tmp_path, monkeypatch):
    path = tmp_path / "counted.skfa"
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    monkeypatch.setattr(Checkpoint, "is_due", lambda self: False)
    monkeypatch.setattr(Checkpoint, "write", mock.Mock(side_effect=full))
    with pytest.warns(UserWarning, match=r"the last batches: .*No space left.*counted.skfa'. Save"):
        counts = ScoreCounts.from_batches(some_batches(rows), checkpoint=path)
    assert counts == ScoreCounts.from_batches(some_batches(rows))


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_keeps_what_was_counted(rows, tmp_path, error):
    path = tmp_path / "counted.skfa"

    def stopped():
        for number, batch in enumerate(some_batches(rows)):
            if number == 5:
                raise error
            yield batch

    with pytest.raises(error):
        ScoreCounts.from_batches(stopped(), checkpoint=path)
    assert ScoreCounts.from_batches(
        some_batches(rows), checkpoint=path
    ) == ScoreCounts.from_batches(some_batches(rows))


@pytest.fixture
def kept(rows, tmp_path):
    path = tmp_path / "counted.skfa"
    with pytest.raises(ValueError, match="batch 7"):
        ScoreCounts.from_batches(some_batches(rows, bad=7), checkpoint=path)
    return path


def test_other_batches_are_refused(rows, kept):
    before = kept.read_bytes()
    others = dict(rows, risk=np.where(np.arange(5000) == 100, 9.0, rows["risk"]))
    for batches in (
        some_batches(others),
        itertools.islice(some_batches(rows), 6),
        some_batches(rows, n=30),
        [],
    ):
        with pytest.raises(ValueError, match="is of 7 other batches; pass the same batches"):
            ScoreCounts.from_batches(batches, checkpoint=kept)
    for options in ({"pos_label": 0}, {"missing": "drop"}):
        with pytest.raises(ValueError, match=r"was made with label=None, .*; got label=None"):
            ScoreCounts.from_batches(some_batches(rows), checkpoint=kept, **options)
    assert kept.read_bytes() == before


@pytest.mark.parametrize("seed", range(30))
def test_a_damaged_file_is_refused_or_right(rows, kept, seed):
    rng = np.random.default_rng(seed)
    data = bytearray(kept.read_bytes())
    if seed % 3 == 0:
        data = data[: rng.integers(len(data))]
    else:
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)
    kept.write_bytes(data)
    try:
        resumed = ScoreCounts.from_batches(some_batches(rows), checkpoint=kept)
    except ValueError as error:
        message = str(error)
    else:
        expected = ScoreCounts.from_batches(some_batches(rows))
        assert GroupAUC(resumed).pooled == pytest.approx(GroupAUC(expected).pooled)
        return
    assert "checkpoint=" in message
