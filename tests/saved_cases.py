"""Score counts of every kind that a file can hold, for the tests of files."""

import datetime
import itertools

import numpy as np
import pandas as pd

from skfedauc import Bins, ScoreCounts

N_ROWS = 60


def _numbers(seed=0):
    """Group number of each row, from 0 to 3; the first rows have all four numbers."""
    rng = np.random.default_rng(seed)
    return np.concatenate([np.arange(4), rng.integers(0, 4, N_ROWS - 4)])


def _instants(zone, step="1h"):
    """Return four instants around the repeated hour at the end of daylight saving time."""
    start = pd.Timestamp("2020-10-24T23:30", tz="UTC")
    return pd.Series([start + number * pd.Timedelta(step) for number in _numbers()]).dt.tz_convert(
        zone
    )


def _bands(edges, values=None):
    return pd.cut(pd.Series(_numbers() if values is None else values, dtype=float), edges)


def _gaps(column, seed=1):
    """The column as objects, with some labels missing."""
    objects = pd.Series(column).astype(object)
    return objects.mask(np.random.default_rng(seed).random(N_ROWS) < 0.2, None)


G = _numbers()
DAYS = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(G, unit="D"))
TEXT = pd.Series(np.array(["va", "oslo", "ålesund", "神戸"])[G], name="site")

# Group labels of the rows by name
GROUPS = {
    "no groups": None,
    "text": TEXT,
    "text of odd characters": pd.Series(np.array(["", "a\0", "a\0b", " \n"], object)[G]),
    "text, some missing": _gaps(TEXT),
    "all missing": pd.Series([None] * N_ROWS, name="site", dtype=object),
    "integers": pd.Series(G - 2, name="ward"),
    "large integers": (G - 2) * 2**61,
    "unsigned integers": np.array([0, 5, 2**63, 2**64 - 1], np.uint64)[G],
    "integers, some missing": _gaps(G),
    "unsigned integers, some missing": _gaps(np.array([5, 6, 7, 2**64 - 1], np.uint64)[G]),
    "booleans": pd.Series(G > 1, name="is_new"),
    "booleans, some missing": _gaps(G > 1),
    "dates": DAYS.rename("day"),
    "dates to the microsecond": DAYS + pd.to_timedelta(G, unit="us"),
    "dates long ago": [datetime.datetime(1 + 3000 * int(g), 1, 1) for g in G],
    "dates, some missing": _gaps(DAYS),
    "instants": _instants("Europe/Oslo"),
    "instants in UTC": _instants("UTC", "1us"),
    "instants of an offset": _instants(
        datetime.timezone(datetime.timedelta(hours=-3, minutes=-30))
    ),
    "instants, some missing": _gaps(_instants("Asia/Tokyo")),
    "quarters": pd.PeriodIndex(np.array(["2019Q4", "2020Q1", "2020Q2", "2021Q1"])[G], freq="Q-MAR"),
    "weeks": pd.PeriodIndex(DAYS.dt.to_period("W-TUE")),
    "intervals": _bands([-1, 0.1 + 0.2, 1.5, 3]),
    "intervals without ends": _bands([-np.inf, 1.5, np.inf]),
    "intervals, some missing": _gaps(_bands([-1, 0.5, 3])),
    "intervals of integers": pd.arrays.IntervalArray.from_arrays(10 * G, 10 * G + 10, "left"),
    "intervals of dates": pd.cut(DAYS, pd.date_range("2019-12-31", periods=4, freq="2D")),
    "intervals of instants": pd.cut(
        DAYS.dt.tz_localize("Asia/Tokyo"),
        pd.date_range("2019-12-31", periods=4, freq="2D", tz="Asia/Tokyo"),
    ),
    "pairs": list(zip(TEXT, G % 2, strict=True)),
    "columns": pd.DataFrame({"site": TEXT, "ward": G % 2, "is_new": G > 1, "day": DAYS}),
    "columns of objects": pd.DataFrame(
        {
            "when": _instants("Europe/Oslo"),
            "band": _bands([-1, 1.5, 3]),
            "month": DAYS.dt.to_period("M"),
        }
    ),
    "columns, some missing": pd.DataFrame(
        {
            "site": _gaps(TEXT, 2),
            "ward": _gaps(G % 2, 3),
            "is_new": _gaps(G > 1, 4),
            "day": _gaps(DAYS, 5),
            "when": _gaps(_instants("Europe/Oslo"), 6),
            "band": _gaps(_bands([-1, 1.5, 3]), 7),
        }
    ),
    "pairs in pairs": [(int(g), (str(t), int(g) % 2)) for g, t in zip(G, TEXT, strict=True)],
    "names of the counts": pd.DataFrame({"score": TEXT, "n_positives": G % 2}),
    "odd names": pd.DataFrame({"a.b": TEXT, "ß \"'": G % 2}),
}


def _case(name, y, score, **options):
    return name, ScoreCounts.from_predictions(y, score, **options)


def _cases():
    rng = np.random.default_rng(3)
    y, score = rng.integers(0, 2, N_ROWS), rng.integers(-4, 9, N_ROWS) / 7
    known = {"missing": "group"}
    for (name, groups), weighted in itertools.product(GROUPS.items(), (False, True)):
        weights = rng.random(N_ROWS) + 0.1 if weighted else None
        name = f"{name}, weighted" if weighted else name
        yield _case(name, y, score, groups=groups, sample_weight=weights, **known)
    words = np.where(y == 1, "très malade", "sain")
    yield _case("classes as text", words, score, pos_label="très malade")
    yield _case("classes as fractions", y / 4, score, pos_label=0.25)
    yield _case("one class", ["no"] * N_ROWS, score, pos_label="yes", groups=TEXT)
    yield _case("rows left out", y, score, groups=_gaps(TEXT), missing="drop")
    yield "from counts", ScoreCounts.from_counts(["a", "b"], [0.5, 0.5], [2**40 - 5, 5], [0, 2**40])
    known["disclosure"] = Bins.at([-0.25, 0.0, 0.3, 0.9])
    for name, weights in (
        ("text, some missing", None),
        ("columns", rng.random(N_ROWS) + 0.1),
        ("no groups", None),
    ):
        binned = f"{name}{', weighted' * (weights is not None)}, binned"
        yield _case(binned, y, score, groups=GROUPS[name], sample_weight=weights, **known)
    yield _case("no rows, binned", [], [], groups=[], disclosure="bins")
    yield (
        "ranges",
        ScoreCounts.from_counts(
            TEXT[:4], [0.5, 0.5, 0.5, 0.25], [3, 2, 0, 1], [1, 0, 7, 1],
            score_low=[0.5, 0.25, 0.0, 0.25], score_high=[0.75, 0.5, 0.5, 0.25],
        ),
    )  # fmt: skip
    yield _case("no rows", [], [])
    yield _case("no rows of groups", [], [], groups=[])
    yield _case("no rows of named groups", [], [], groups=TEXT[:0])
    yield _case("no rows of columns", [], [], groups=pd.DataFrame({"a": TEXT[:0], "b": G[:0]}))
    two_zones = [pd.Timestamp("2020", tz="UTC"), pd.Timestamp("2021", tz="Asia/Tokyo")]
    yield _case("two zones", [0, 1], [0.5, 0.25], groups=two_zones)
    extreme = [-1.7e308, -5e-324, 0.0, 5e-324, 1.7e308]
    yield _case("extreme scores", [0, 1, 0, 1, 0], extreme, groups=[1, 1, 1, 2, 2])


CASES = dict(_cases())
