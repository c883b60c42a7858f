"""ScoreCounts.from_batches gives the counts of all rows, and reads few batches at a time."""

import gc
import gzip
import itertools
import os
import signal
import time
import weakref

import joblib
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from skfedauc import ScoreCounts
from skfedauc.counts import engines

# Backends and numbers of workers, which must not change the result.
WORKERS = [("loky", 1), ("threading", 2), ("loky", 2)]
every_backend = pytest.mark.parametrize(("backend", "n_jobs"), WORKERS, ids=str)
BY_SITE = {"label": "ill", "score": "risk", "group": "site"}


def make_rows(n, digits, sites):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return {"ill": y, "risk": (rng.normal(size=n) + y).round(digits), "site": rng.choice(sites, n)}


@pytest.fixture(scope="module")
def rows():
    return make_rows(5000, 2, ["va", "oslo", "bern"])


def cuts(n, n_batches, seed=0):
    inner = np.sort(np.random.default_rng(seed).choice(np.arange(1, n), n_batches - 1, False))
    ends = [0, *inner.tolist(), n]
    return [slice(a, b) for a, b in itertools.pairwise(ends)]


def tuples(rows, names, slices):
    for rows_of_batch in slices:
        yield tuple(rows[name][rows_of_batch] for name in names)


def whole(rows):
    return ScoreCounts.from_predictions(rows["ill"], rows["risk"], groups=rows["site"])


@every_backend
def test_two_hundred_batches_are_the_whole(rows, backend, n_jobs):
    batches = tuples(rows, ["ill", "risk", "site"], cuts(5000, 200))
    with joblib.parallel_config(backend):
        merged = ScoreCounts.from_batches(batches, n_jobs=n_jobs)
    assert merged == whole(rows)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_distinct_scores_are_merged_on_the_way(n_jobs):
    """The batches have more cells than the buffer, so the state is merged several times."""
    rows = make_rows(300_000, 12, 50)
    batches = tuples(rows, ["ill", "risk", "site"], cuts(300_000, 200))
    with joblib.parallel_config("threading"):
        assert ScoreCounts.from_batches(batches, n_jobs=n_jobs) == whole(rows)


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
    merge = engines.sum_of

    def slow_merge(parts):
        before = batches.read
        time.sleep(0.3)
        ahead.append(batches.read - before)
        return merge(parts)

    monkeypatch.setattr(engines, "sum_of", slow_merge)
    with joblib.parallel_config("threading"):
        ScoreCounts.from_batches(batches, n_jobs=2)
    assert len(ahead) > 1
    assert max(ahead) <= 8


def test_no_batches():
    with pytest.raises(ValueError, match="batches is empty"):
        ScoreCounts.from_batches(iter([]))
    for single in (pa.table({"ill": [0, 1]}), "day.csv", lambda: None):
        with pytest.raises(TypeError, match=r"got a single \w+\. Pass \[batch\]"):
            ScoreCounts.from_batches(single)
    for other in (None, 3, b"day"):
        with pytest.raises(
            TypeError, match=r"^batches must be an iterable of batches; got [^.]*\.$"
        ):
            ScoreCounts.from_batches(other)


class Ending:
    """Scores that end the worker that unpickles them."""

    def __reduce__(self):
        # A function of this module would make the worker import what the tests import.
        return signal.raise_signal, (signal.SIGKILL,)


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_killed_worker_is_told_with_the_batches_not_counted(rows):
    batches = list(tuples(rows, ["ill", "risk"], cuts(5000, 20)))
    batches[6] = (batches[6][0], Ending())
    with pytest.raises(RuntimeError, match=r"^a worker was killed.* batches 4 to 7 were") as error:
        ScoreCounts.from_batches(batches, n_jobs=2)
    assert "SIGKILL" in str(error.value)
    assert "Detailed tracebacks" not in str(error.value)


@pytest.mark.parametrize(("backend", "n_jobs"), WORKERS[:2])
def test_batches_of_one_class_and_a_misspelled_class(backend, n_jobs):
    batches = [(["no"] * 2, [0.2, 0.7])] * 3 + [(["yes"] * 2, [0.2, 0.7])]
    with joblib.parallel_config(backend):
        good = ScoreCounts.from_batches(batches, pos_label="yes", n_jobs=n_jobs)
        assert good.n_positives.sum() == 2
        with pytest.raises(ValueError, match=r"batch 3: .*pos_label='Yes' is not among the labels"):
            ScoreCounts.from_batches(batches, pos_label="Yes", n_jobs=n_jobs)


@pytest.mark.parametrize(
    ("cells", "groups"),
    [
        (["1.0", "2.0"], ("1", "2")),
        (["1.0", "2.5"], ("1.0", "2.5")),
        (["1.0", "2"], ("1.0", "2")),
        (["01", "007"], ("007", "01")),
        (["1.00", "2.00"], ("1.00", "2.00")),
        (["v1.0", "v2.0"], ("v1.0", "v2.0")),
    ],
)
def test_labels_that_end_in_zero_decimals(tmp_path, cells, groups):
    text = "ill,risk,site,ward\n" + "".join(f"0,.1,{c},5.0\n1,.2,{c},5.0\n" for c in cells)
    path = tmp_path / "day.csv"
    path.write_text(text, encoding="utf-8")
    assert ScoreCounts.from_batches([path], **BY_SITE).groups == groups
    by_both = ScoreCounts.from_batches([path], **{**BY_SITE, "group": ["ward", "site"]})
    assert by_both.groups == tuple(("5", site) for site in groups)


def test_files_that_cannot_be_read(tmp_path):
    absent = tmp_path / "absent.parquet"
    with pytest.raises(RuntimeError, match=r"^batch 0 \('.*absent\.parquet'\): FileNotFoundError"):
        ScoreCounts.from_batches([absent], **BY_SITE)
    whole = pa.BufferOutputStream()
    parquet.write_table(
        pa.table({"ill": [0, 1], "risk": [0.25, 0.5], "site": ["va", "va"]}),
        whole,
        write_page_checksum=True,
        compression="none",
        use_dictionary=False,
        write_statistics=False,
    )
    changed = whole.getvalue().to_pybytes().replace(np.float64(0.25).tobytes(), b"changed!", 1)
    for name, content, reason in (
        ("damaged.parquet", b"no such content", "Parquet magic bytes not found"),
        ("changed.parquet", changed, "CRC checksum verification failed"),
        ("empty.parquet", b"", "Parquet file size is 0 bytes"),
        ("damaged.csv.gz", b"no such content", "Not a gzipped file"),
        ("empty.csv", b"", "it has no header"),
        ("ragged.csv", b"ill,risk,site\n0,.1,va\n1,.2\n", "Expected 3 columns, got 2"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        message = rf"^batch 0 \('.*{name}'\): the file cannot be read: .*{reason}"
        with pytest.raises(ValueError, match=message):
            ScoreCounts.from_batches([path], **BY_SITE)
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(gzip.compress(b"ill,risk,site\n" + b"1,0.5,va\n0,0.2,va\n" * 50)[:-20])
    with pytest.raises(ValueError, match="the file cannot be read: Truncated"):
        ScoreCounts.from_batches([cut], **BY_SITE)
