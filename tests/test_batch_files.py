"""Batches that workers read: Parquet and CSV files, and functions that return a batch."""

import gzip

import numpy as np
import pandas as pd
import pytest

from skfedauc import ScoreCounts

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
