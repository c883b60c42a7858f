"""Predictions and their files, for the tests of the command line."""

import numpy as np
import pandas as pd

from skfedauc.cli.arguments import parse
from skfedauc.cli.rows import read_columns, rows_of

COLUMNS = ["--label", "y", "--score", "s", "--group", "g"]
WEIGHTED = [*COLUMNS, "--weight", "w"]
LONG = "x" * 1_000_000


def predictions():
    """Predictions whose groups look like numbers, missing values and dates."""
    rng = np.random.default_rng(0)
    n = 400
    y = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "y": y,
            "s": (rng.normal(size=n) + y).round(2),
            "g": rng.choice(["007", "7", "NA", "nan", "2024-01-31", "a, b"], n),
            "sex": rng.choice(["f", "m"], n),
            "w": rng.integers(0, 4, n) / 2,
            "note": rng.choice(["", "NULL", 'with "quotes"'], n),
        }
    )


def with_gaps(frame):
    """The predictions without some groups, and with scores from 0 to 1."""
    frame["s"] = (1 / (1 + np.exp(-frame["s"]))).round(3)
    frame.loc[::10, "g"] = None
    frame.loc[::25, "sex"] = None
    return frame


def rows_read(path, *options):
    """Rows of a file as the command reads them."""
    arguments = parse(["audit", str(path), *(options or COLUMNS)])
    return rows_of(read_columns(arguments), arguments)


def check_rows(rows, frame):
    """Labels, scores, weights and groups come from the frame."""
    positive, weights = rows["pos_label"] or 1, rows["sample_weight"]
    assert np.array_equal(rows["y_true"] == positive, frame["y"] == 1)
    assert np.array_equal(rows["y_score"], frame["s"])
    assert weights is None or np.array_equal(weights, frame["w"])
    for name in rows["groups"].columns:
        assert rows["groups"][name].tolist() == frame[name].tolist()


def write(frame, path, separator=","):
    """Write a table in the format of the file's name."""
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep=separator)


def save(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)
