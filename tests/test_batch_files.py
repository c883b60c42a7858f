"""Batches that workers read: Parquet and CSV files, and functions that return a batch."""

import functools
import gzip
import os

import numpy as np
import pandas as pd
import pytest

from skfedauc import ScoreCounts
from skfedauc.counts import batches as batches_module

BY_SITE = {"label": "ill", "score": "risk", "group": "site"}


def make_rows(number, n=300):
    rng = np.random.default_rng(number)
    ill = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "name": rng.choice(["Ada", "Bo"], n),
            "ill": ill,
            "risk": rng.normal(size=n) + ill,
            "site": rng.choice(["va", "oslo", "007", "NA"], n),
            "ward": rng.choice(["1", "2"], n),
            "weight": rng.integers(0, 4, n),
        }
    )


def write(path, rows):
    if path.name.endswith(".parquet"):
        rows.to_parquet(path)
    else:
        rows.to_csv(path, index=False)
    return path


@pytest.fixture
def files(tmp_path):
    names = ["d0.parquet", "d1.csv", "d2.csv.gz", "D3.PARQUET"]
    for number, name in enumerate(names):
        write(tmp_path / name.lower(), make_rows(number)).rename(tmp_path / name)
    return [tmp_path / name for name in names]


# CSV --------------------------------------------------------------------------------------------


def counts_of_csv(tmp_path, text, arguments=BY_SITE):
    path = tmp_path / "day.csv"
    path.write_text(text, encoding="utf-8")
    return ScoreCounts.from_batches([path], **arguments)


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
    assert counts_of_csv(tmp_path, text).groups == groups
    by_both = counts_of_csv(tmp_path, text, {**BY_SITE, "group": ["ward", "site"]})
    assert by_both.groups == tuple(("5", site) for site in groups)


# Files that cannot be read ----------------------------------------------------------------------


def test_files_that_cannot_be_read(tmp_path):
    absent = tmp_path / "absent.parquet"
    with pytest.raises(RuntimeError, match=r"^batch 0 \('.*absent\.parquet'\): FileNotFoundError"):
        ScoreCounts.from_batches([absent], **BY_SITE)
    for name in ("damaged.parquet", "damaged.csv.gz", "empty.csv"):
        path = tmp_path / name
        path.write_bytes(b"" if name == "empty.csv" else b"no such content")
        with pytest.raises((ValueError, RuntimeError), match=rf"^batch 0 \('.*{name}'\): "):
            ScoreCounts.from_batches([path], **BY_SITE)
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(gzip.compress(make_rows(0).to_csv(index=False).encode())[:-20])
    with pytest.raises((ValueError, RuntimeError), match=r"^batch 0 \('.*cut\.csv\.gz'\): "):
        ScoreCounts.from_batches([cut], **BY_SITE)


# Checkpoints ------------------------------------------------------------------------------------


@pytest.fixture
def read(monkeypatch):
    """The files that were read, in order."""
    paths = []
    read_file = batches_module._read_file

    def watched(path, columns):
        paths.append(os.path.basename(path))
        return read_file(path, columns)

    monkeypatch.setattr(batches_module, "_read_file", watched)
    return paths


@pytest.fixture
def kept(files, tmp_path):
    """A checkpoint with the first two of the files."""
    path = tmp_path / "counted.npz"
    with pytest.raises(ValueError, match=r"^batch 2"):
        ScoreCounts.from_batches([*files[:2], tmp_path / "x"], **BY_SITE, checkpoint=path)
    return path


def test_other_files_are_refused(files, kept):
    before = kept.read_bytes()
    other = write(files[0].with_name("d9.parquet"), make_rows(9))
    for batches in (
        [files[1], files[0], *files[2:]],
        [other, *files[1:]],
        [files[0], *files[2:]],
        files[:1],
        [make_rows(0), *files[1:]],
        [functools.partial(make_rows, 0), *files[1:]],
    ):
        with pytest.raises(ValueError, match=r"is of 2 other batches; pass the same batches"):
            ScoreCounts.from_batches(batches, **BY_SITE, checkpoint=kept)
    # A file of the same name that was written again
    write(files[1], make_rows(1).iloc[:-1])
    with pytest.raises(ValueError, match=r"is of 2 other batches; pass the same batches"):
        ScoreCounts.from_batches(files, **BY_SITE, checkpoint=kept)
    assert kept.read_bytes() == before


CALLED = []


def day(number, *, n=300, bad=False):
    CALLED.append(number)
    rows = make_rows(number, n)
    return rows.assign(risk=np.nan) if bad else rows


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (
            lambda: make_rows(0),
            r"identifies a function by its name, which .* lacks; pass paths, or",
        ),
        (functools.partial(lambda n: make_rows(n), 0), r"identifies a function by its name"),
        (CALLED.copy, r"identifies a function by its name"),
        (
            functools.partial(day, object()),
            r"by its arguments, which must be text, .*; got .*object",
        ),
        (functools.partial(day, [0, {1}]), r"by its arguments, .*; got (set )?\{1\}"),
    ],
)
def test_functions_that_cannot_be_identified(tmp_path, batch, message):
    path = tmp_path / "counted.npz"
    with pytest.raises(TypeError, match=message):
        ScoreCounts.from_batches([batch], **BY_SITE, checkpoint=path)
    assert not path.exists()
