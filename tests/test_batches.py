"""ScoreCounts.from_batches gives the counts of all rows, and reads few batches at a time."""

import enum
import errno
import gc
import itertools
import os
import re
import signal
import time
import weakref
from concurrent.futures import BrokenExecutor
from unittest import mock

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from oracles import STATISTICS, all_pairs, random_case, same_statistic

from skfedauc import GroupAUC, ScoreCounts
from skfedauc.counts import batches as batches_module
from skfedauc.counts.checkpoint import Checkpoint

# Backends and numbers of workers, which must not change the result.
WORKERS = [("loky", 1), ("threading", 2), ("loky", 2)]
every_backend = pytest.mark.parametrize(("backend", "n_jobs"), WORKERS, ids=str)
# A failure ends the processes, and new processes take seconds to start.
without_processes = pytest.mark.parametrize(("backend", "n_jobs"), WORKERS[:2], ids=str)


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


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_of_the_context(rows, backend):
    batches = tuples(rows, ["ill", "risk", "site"], cuts(5000, 20))
    with joblib.parallel_config(backend, n_jobs=2):
        assert ScoreCounts.from_batches(batches) == whole(rows)


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


def test_every_number_is_that_of_all_pairs():
    for seed in range(8):
        case = random_case(seed, most_groups=8)
        names = ["y", "scores", "groups", "weights"]
        columns = dict(zip(names, case, strict=True))
        present = names if case.weights is not None else names[:3]
        n_batches = int(min(7, case.y.size))
        merged = ScoreCounts.from_batches(
            tuples(columns, present, cuts(case.y.size, n_batches, seed))
        )
        report, truth = GroupAUC(merged, undefined="ignore"), all_pairs(case)
        assert list(merged.groups) == truth.labels
        assert merged.n_positives.tolist() == truth.n_positives.tolist()
        for name in STATISTICS:
            assert same_statistic(name, report.statistic(name), truth.statistics[name]), name


def test_tuples_of_two_three_and_four(rows):
    slices = cuts(5000, 30)
    two = ScoreCounts.from_batches(tuples(rows, ["ill", "risk"], slices))
    assert two == whole(rows, groups=None)
    assert two.groups is None
    three = ScoreCounts.from_batches(tuples(rows, ["ill", "risk", "site"], slices))
    assert three == whole(rows)
    assert three.groups == ("bern", "oslo", "rome", "va")
    # Sums of whole numbers are exact, so even weighted counts are equal.
    four = ScoreCounts.from_batches(tuples(rows, ["ill", "risk", "site", "weight"], slices))
    assert four == whole(rows, weight="weight")


def test_tuples_may_hold_none(rows):
    ill, risk, weight = rows["ill"], rows["risk"], rows["weight"]
    assert ScoreCounts.from_batches([(ill, risk, None)]) == whole(rows, groups=None)
    assert ScoreCounts.from_batches([(ill, risk, None, weight)]) == whole(
        rows, groups=None, weight="weight"
    )


def test_batches_of_lists_and_lists_of_batches(rows):
    batches = [
        [column.tolist() for column in batch]
        for batch in tuples(rows, ["ill", "risk", "site"], cuts(5000, 9))
    ]
    assert ScoreCounts.from_batches(batches) == whole(rows)


def test_weights_that_round(rows):
    weight = np.random.default_rng(0).uniform(0.1, 2, 5000)
    rows = {**rows, "weight": weight}
    names = ["ill", "risk", "site", "weight"]
    report = GroupAUC(ScoreCounts.from_batches(tuples(rows, names, cuts(5000, 40))))
    expected = GroupAUC(whole(rows, weight="weight"))
    for name in STATISTICS:
        assert report.statistic(name) == pytest.approx(expected.statistic(name), abs=1e-12)


def test_batches_with_weights_and_without(rows):
    """Rows without weights have weight 1, as in a merge."""
    slices = cuts(5000, 2)
    first = next(tuples(rows, ["ill", "risk", "site", "weight"], slices[:1]))
    last = next(tuples(rows, ["ill", "risk", "site"], slices[1:]))
    weight = rows["weight"].copy()
    weight[slices[1]] = 1
    expected = whole({**rows, "weight": weight}, weight="weight")
    assert ScoreCounts.from_batches([first, last]) == expected


def test_batches_of_one_class_of_one_row_and_of_none(rows):
    order = np.argsort(rows["ill"], kind="stable")
    sorted_rows = {name: column[order] for name, column in rows.items()}
    slices = [slice(0, 1), slice(1, 1), slice(1, 2000), slice(2000, 5000), slice(5000, 5000)]
    batches = tuples(sorted_rows, ["ill", "risk", "site"], slices)
    assert ScoreCounts.from_batches(batches) == whole(rows)


def test_one_batch(rows):
    assert ScoreCounts.from_batches([(rows["ill"], rows["risk"], rows["site"])]) == whole(rows)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_positive_label(rows, n_jobs):
    text = {**rows, "ill": np.where(rows["ill"] == 1, "yes", "no")}
    # The first batch has rows of one class only, so it does not determine the positive class.
    first = np.flatnonzero(rows["ill"] == 0)[:5]
    rest = np.setdiff1d(np.arange(5000), first)
    batches = tuples(text, ["ill", "risk", "site"], [first, rest])
    with joblib.parallel_config("threading"):
        merged = ScoreCounts.from_batches(batches, pos_label="yes", n_jobs=n_jobs)
    assert merged == whole(rows)


# Tables --------------------------------------------------------------------------------------

TABLES = {
    "pandas": lambda columns: pd.DataFrame(columns, index=np.arange(len(columns["ill"])) % 7),
    "pandas categories": lambda columns: pd.DataFrame(columns).astype({"site": "category"}),
    "polars": pl.DataFrame,
    "pyarrow table": pa.table,
    "pyarrow batch": pa.RecordBatch.from_pydict,
}
NAMES = {"label": "ill", "score": "risk"}


def tables(rows, make, n_batches=6):
    for rows_of_batch in cuts(5000, n_batches):
        yield make({name: column[rows_of_batch] for name, column in rows.items()})


@pytest.mark.parametrize("kind", TABLES)
def test_tables_with_named_columns(rows, kind):
    def batches():
        return tables(rows, TABLES[kind])

    read = ScoreCounts.from_batches
    assert read(batches(), **NAMES) == whole(rows, groups=None)
    assert read(batches(), **NAMES, group="site") == whole(rows)
    assert read(batches(), **NAMES, group=["site"]) == whole(rows)
    assert read(batches(), **NAMES, group=["site", "ward"]) == whole(rows, ["site", "ward"])
    assert read(batches(), **NAMES, group="ward", weight="weight") == whole(
        rows, "ward", weight="weight"
    )


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow batch"])
def test_tables_reach_workers(rows, kind):
    with joblib.parallel_config("loky"):
        merged = ScoreCounts.from_batches(
            tables(rows, TABLES[kind]), **NAMES, group=["site", "ward"], n_jobs=2
        )
    assert merged == whole(rows, ["site", "ward"])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_parquet_file_by_row_groups(rows, tmp_path, n_jobs):
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table(rows), path, row_group_size=700)
    with pq.ParquetFile(path) as file, joblib.parallel_config("threading"):
        merged = ScoreCounts.from_batches(
            file.iter_batches(batch_size=300, columns=["ill", "risk", "site"]),
            **NAMES,
            group="site",
            n_jobs=n_jobs,
        )
    assert merged == whole(rows)


def test_csv_file_in_chunks(rows, tmp_path):
    path = tmp_path / "scores.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    with pd.read_csv(path, chunksize=400) as chunks:
        assert ScoreCounts.from_batches(chunks, **NAMES, group="site") == whole(rows)


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


def test_one_worker_reads_one_batch_after_the_other():
    """A batch is read after the previous batch is counted and released."""
    batches = Watched(20)
    ScoreCounts.from_batches(batches)
    assert batches.most_alive <= 1


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


@without_processes
@pytest.mark.parametrize("at", [0, 7])
def test_batch_that_fails_is_named_with_its_reason(backend, n_jobs, at):
    message = rf"^batch {at}: y_score must be finite; got 1 NaN"
    with joblib.parallel_config(backend), pytest.raises(ValueError, match=message):
        ScoreCounts.from_batches(failing(at), n_jobs=n_jobs)
    assert failing.read < 2000


class CannotBeRead(Exception):
    """Error that cannot be copied or unpickled, because its constructor has two arguments."""

    def __init__(self, path, reason):
        super().__init__(f"{path}: {reason}")


def breaking(error, after=4):
    for _ in range(after):
        yield [0, 1], [0.1, 0.4], ["a", "b"]
    raise error


def test_failures_have_their_cause():
    with pytest.raises(RuntimeError, match="batch 0") as failure:
        ScoreCounts.from_batches(breaking(OSError("disk gone"), after=0))
    assert isinstance(failure.value.__cause__, OSError)


def test_reading_works_after_a_failure(rows):
    with joblib.parallel_config("loky"):
        with pytest.raises(ValueError, match=r"^batch 7: y_score must be finite; got 1 NaN"):
            ScoreCounts.from_batches(failing(7), n_jobs=2)
        assert failing.read < 2000
        error = CannotBeRead("day.csv", "gone")
        with pytest.raises(RuntimeError, match=r"^batch 4: CannotBeRead: day\.csv: gone"):
            ScoreCounts.from_batches(breaking(error), n_jobs=2)
        batches = tuples(rows, ["ill", "risk", "site"], cuts(5000, 9))
        assert ScoreCounts.from_batches(batches, n_jobs=2) == whole(rows)


@pytest.mark.parametrize("batches", [[], (), iter([])], ids=["list", "tuple", "iterator"])
def test_no_batches(batches):
    with pytest.raises(ValueError, match="batches is empty"):
        ScoreCounts.from_batches(batches)


ROWS = ([0, 1, 1], [0.1, 0.4, 0.3])
TABLE = pd.DataFrame({"ill": [0, 1], "risk": [0.1, 0.4], "site": ["a", "b"]})


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ({"label": "ill"}, ValueError, r"need both label= and score=.*got label only"),
        ({"score": "risk"}, ValueError, r"need both label= and score=.*got score only"),
        ({"group": "site", "weight": "w"}, ValueError, r"need both .*got group, weight only"),
        ({"label": 0, "score": 1}, TypeError, r"label must be the name of a column; got 0"),
        ({**NAMES, "weight": 2}, TypeError, r"weight must be the name of a column; got 2"),
        ({**NAMES, "group": 2}, TypeError, r"group must be a column's name or a list .*got 2"),
        ({**NAMES, "group": ("site",)}, TypeError, r"group must be a column's name or a list"),
        ({**NAMES, "group": []}, TypeError, r"group must be a column's name or a list"),
    ],
)
def test_names_that_cannot_be(names, error, message):
    """The error is raised before the first batch is read."""
    batches = Watched(3)
    with pytest.raises(error, match=message):
        ScoreCounts.from_batches(batches, **names)
    assert batches.read == 0


@pytest.mark.parametrize("name", ["label", "score", "group", "weight"])
def test_absent_columns_are_named(name):
    """The message names the argument and the batch that has the columns."""
    columns = {"ill": [0, 1], "risk": [0.1, 0.4], "site": ["a", "b"], "w": [1.0, 2.0]}
    renamed = {"label": "ill", "score": "risk", "group": "site", "weight": "w"}
    complete = pd.DataFrame(columns).assign(day=columns[renamed[name]])
    message = r"^batch 1: .*'day'.*'ill', 'risk', 'site'"
    with pytest.raises(ValueError, match=message) as failure:
        ScoreCounts.from_batches([complete, pd.DataFrame(columns)], **{**renamed, name: "day"})
    assert name in str(failure.value)
    assert "of X" not in str(failure.value)
    assert "in X" not in str(failure.value)


def test_tuples_where_columns_are_named():
    with pytest.raises(TypeError, match=r"^batch 0: .*tuple") as failure:
        ScoreCounts.from_batches([ROWS], **NAMES)
    assert "scikit-learn" not in str(failure.value)


def test_a_table_instead_of_batches():
    """A DataFrame is refused, because iteration gives its column names."""
    with pytest.raises(TypeError, match=r"batch") as failure:
        ScoreCounts.from_batches(TABLE, **NAMES)
    assert "scikit-learn" not in str(failure.value)


# Progress ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_verbose_tells_how_many_batches_are_done(rows, capsys, n_jobs):
    def read(**options):
        batches = tuples(rows, ["ill", "risk", "site"], cuts(5000, 12))
        with joblib.parallel_config("threading"):
            ScoreCounts.from_batches(batches, n_jobs=n_jobs, **options)
        return capsys.readouterr()

    assert read() == ("", "")
    told = read(verbose=11)
    assert re.search(r"\b12\b", told.err)
    assert told.out == ""


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


def test_further_batches_are_added_to_a_checkpoint(rows, tmp_path):
    path, batches = tmp_path / "counted.skfa", list(some_batches(rows))
    for n_batches in (12, 12, 20):
        counts = ScoreCounts.from_batches(batches[:n_batches], checkpoint=path)
        assert counts == ScoreCounts.from_batches(batches[:n_batches])
    with pytest.raises(ValueError, match="is of 20 other batches; pass the same batches"):
        ScoreCounts.from_batches(batches[:12], checkpoint=path)


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


def test_a_process_that_ends_has_written_before(rows, tmp_path):
    """A killed process cannot write, so the file is written while batches are counted."""
    path = tmp_path / "counted.skfa"

    def seen():
        for number, batch in enumerate(some_batches(rows)):
            assert path.exists() == (number > 0)
            yield batch

    ScoreCounts.from_batches(seen(), checkpoint=path)


LABELS_KEPT = {
    "integers": lambda g: np.unique(g, return_inverse=True)[1] - 2**40,
    "booleans": lambda g: g == "va",
    "text": lambda g: g.astype(object),
    "dates": lambda g: np.datetime64("2020-01-01T01:02:03") + (g == "va"),
    "tuples": lambda g: pd.DataFrame(
        {"a": g, "b": pd.to_datetime("2020-01-01"), "c": g == "va", "d": 3}
    ),
    "intervals": lambda g: pd.cut((g == "va") + 0.5 * (g == "oslo"), [-1, 0.2, 0.7, 1.1]),
    "intervals of whole numbers": lambda g: pd.arrays.IntervalArray.from_arrays(
        (g == "va").astype(int), (g == "va") + 10, closed="left"
    ),
    "intervals of dates": lambda g: pd.cut(
        pd.to_datetime("2020-01-01") + pd.to_timedelta((g == "va") * 10, unit="D"),
        pd.date_range("2019-12-30", periods=4, freq="7D"),
    ),
    "intervals of instants": lambda g: pd.cut(
        pd.to_datetime("2020-01-01").tz_localize("Asia/Tokyo")
        + pd.to_timedelta((g == "va") * 10, unit="D"),
        pd.date_range("2019-12-30", periods=4, freq="7D", tz="Asia/Tokyo"),
    ),
    "periods": lambda g: pd.PeriodIndex(np.where(g == "va", "2020Q1", "2019Q4"), freq="Q-MAR"),
    "instants": lambda g: (
        pd.to_datetime("2020-10-25 00:30").tz_localize("UTC").tz_convert("Europe/Oslo")
        # The hour that occurs twice at the end of daylight saving time
        + pd.to_timedelta((g == "va") * 1, unit="h")
    ),
    "instants of an offset": lambda g: (
        pd.Timestamp("2020-01-01T00:00-03:30") + pd.to_timedelta((g == "va") * 1, unit="us")
    ),
    "pairs with periods": lambda g: pd.DataFrame(
        {"a": g, "b": pd.PeriodIndex(np.where(g == "va", "2020-01", "2019-12"), freq="M")}
    ),
}


@pytest.mark.parametrize("convert", LABELS_KEPT.values(), ids=LABELS_KEPT)
def test_labels_that_are_kept(rows, tmp_path, convert):
    def batches(bad=-1):
        for y, s, g in some_batches(rows, names=NAMES_OF_TUPLES[:3], bad=bad, n=9):
            yield np.where(y, "yes", "no"), s, convert(g)

    path = tmp_path / "counted.skfa"
    with pytest.raises(ValueError, match="batch 7"):
        ScoreCounts.from_batches(batches(bad=7), pos_label="yes", checkpoint=path)
    resumed = ScoreCounts.from_batches(batches(), pos_label="yes", checkpoint=path)
    expected = ScoreCounts.from_batches(batches(), pos_label="yes")
    assert resumed == expected
    assert resumed.groups == expected.groups
    assert resumed.group_names == expected.group_names


class Stage(enum.Enum):
    EARLY = 0
    LATE = 1


def test_labels_that_are_not_kept(tmp_path):
    """The error is raised in the first round of batches."""
    watched, path = Watched(9, n_rows=2), tmp_path / "counted.skfa"
    rows = ((y, score, [Stage.EARLY, Stage.LATE]) for y, score, _ in watched)
    with pytest.raises(TypeError, match=r"files keep groups labelled by .*got <Stage.EARLY: 0>"):
        ScoreCounts.from_batches(rows, checkpoint=path)
    assert watched.read == 1
    assert not path.exists()


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


@pytest.mark.parametrize("kind", [tuple, list])
def test_a_reader_may_fill_the_same_arrays_again(kind):
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, (8, 50)), rng.random((8, 50))

    def batches():
        of_y, of_score = np.empty(50, int), np.empty(50)
        for i in range(8):
            of_y[:], of_score[:] = y[i], score[i]
            yield kind([of_y, of_score])

    expected = ScoreCounts.from_predictions(y.ravel(), score.ravel())
    for n_jobs in (1, 2):
        assert ScoreCounts.from_batches(batches(), n_jobs=n_jobs) == expected
