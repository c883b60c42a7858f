"""ScoreCounts.from_batches on workers of Dask, Ray and loky, some of which are killed."""

import functools
import os
import signal

import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skfedauc import ScoreCounts

BY_SITE = {"label": "ill", "score": "risk", "group": "site"}
N_FILES = 8


def make_rows(number):
    rng = np.random.default_rng(number)
    ill = rng.integers(0, 2, 500)
    risk, site = (rng.normal(size=500) + ill).round(2), rng.choice(["va", "oslo", "bern"], 500)
    return pd.DataFrame({"ill": ill, "risk": risk, "site": site, "text": "not read"})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scores")
    paths = []
    for number in range(N_FILES):
        rows = make_rows(number)
        if number % 2:
            paths.append(folder / f"day {number}.csv")
            rows.to_csv(paths[-1], index=False)
        else:
            paths.append(folder / f"day {number}.parquet")
            rows.to_parquet(paths[-1])
    return paths


@pytest.fixture(scope="module")
def expected():
    frame = pd.concat(map(make_rows, range(N_FILES)), ignore_index=True)
    return ScoreCounts.from_predictions(frame["ill"], frame["risk"], groups=frame["site"])


@pytest.fixture(params=["loky", "threading", "dask", "ray"])
def backend(request):
    if request.param == "dask":
        request.getfixturevalue("dask_client")
    if request.param == "ray":
        request.getfixturevalue("ray_backend")
    with joblib.parallel_config(request.param, n_jobs=2):
        yield request.param


def read_here_or_elsewhere(number, process):
    """Return the rows of a day; the process must differ from `process`."""
    assert os.getpid() != process
    return make_rows(number)


def test_batches_that_are_read_by_workers_and_sent_to_them(backend, files, expected):
    here = None if backend == "threading" else os.getpid()
    batches = [
        *files[:3],
        str(files[3]),
        functools.partial(read_here_or_elsewhere, 4, here),
        lambda: make_rows(5),
        make_rows(6),
        pa.Table.from_pandas(make_rows(7)),
    ]
    assert ScoreCounts.from_batches(batches, **BY_SITE) == expected


def test_errors_name_the_batch(backend, files, tmp_path):
    bad = tmp_path / "bad.parquet"
    rows = make_rows(0)
    rows.assign(risk=rows["risk"].mask(rows.index == 0)).to_parquet(bad)
    batches = [*files[:3], bad, *files[3:]]
    message = r"^batch 3 \('.*bad\.parquet'\): column 'risk' must be finite; got (1 NULL, 0|1) NaN"
    with pytest.raises(ValueError, match=message):
        ScoreCounts.from_batches(batches, **BY_SITE)


def killed_once(number, marker):
    """Return the rows of a day; the function kills the first worker that reads these rows."""
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return make_rows(number)


def killed(number):
    os.kill(os.getpid(), signal.SIGKILL)


def batches_with(deadly):
    batches = [functools.partial(make_rows, number) for number in range(N_FILES)]
    return [*batches[:5], deadly, *batches[6:]]


def test_dask_counts_again_what_a_killed_worker_had(dask_client, expected, tmp_path):
    deadly = functools.partial(killed_once, 5, tmp_path / "killed")
    with joblib.parallel_config("dask"):
        found = ScoreCounts.from_batches(batches_with(deadly), **BY_SITE)
    assert found == expected
    assert (tmp_path / "killed").exists()


@pytest.mark.parametrize(
    "backend",
    ["loky", "ray"],  # Dask is left out: joblib waits forever for a batch that Dask no longer runs
    indirect=True,
)
def test_a_batch_that_kills_each_worker(backend):
    deadly = batches_with(functools.partial(killed, 5))
    with pytest.raises(
        RuntimeError, match=r"^a worker was killed.* while batches 4 to 7 were coun"
    ):
        ScoreCounts.from_batches(deadly, **BY_SITE)
