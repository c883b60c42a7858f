"""Tables of few rows on which engines differ: from_table must give the same result for each engine.

The main suite reads the tables with pandas, polars and pyarrow, and tests/engines reads the tables
with engines.
"""

from __future__ import annotations

import datetime
import re
import sys
import warnings
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from rules import facts_of

from skfedauc import Bins, ScoreCounts

NAN, INF, LARGEST = float("nan"), float("inf"), sys.float_info.max
NAMES = {"label": "ill", "score": "risk"}
BY_SITE = {**NAMES, "group": "site"}
WEIGHTED = {**BY_SITE, "weight": "weight"}


class Edge(NamedTuple):
    """A table, the arguments of from_table, and what the error or the warning says, if any."""

    table: pa.Table
    arguments: dict[str, Any]
    error: type[Exception] | None = None
    message: str = ""

    def expected(self) -> ScoreCounts:
        """The counts of the same rows by from_predictions, from arrow's columns."""
        names = {"label": "y_true", "score": "y_score", "weight": "sample_weight"}
        columns = {
            key: self.table[self.arguments[name]]
            for name, key in names.items()
            if name in self.arguments
        }
        group = self.arguments.get("group")
        if group is not None:
            columns["groups"] = self.table.select([group] if isinstance(group, str) else group)
        others = {
            key: self.arguments[key] for key in ("pos_label", "missing") if key in self.arguments
        }
        return ScoreCounts.from_predictions(**columns, **others)

    def check(self, native: Any) -> None:
        """Count the rows of the engine's table, and compare counts, metadata, errors, warnings."""
        if self.error is not None:
            with pytest.raises(self.error, match=self.message) as raised:
                ScoreCounts.from_table(native, **self.arguments)
            assert raised.type is self.error
            return
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = ScoreCounts.from_table(native, **self.arguments)
        ours = [
            str(w.message) for w in caught if "y_" in str(w.message) or "pos_" in str(w.message)
        ]
        assert len(ours) == bool(self.message)
        assert all(re.search(self.message, message) for message in ours)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = self.expected()
        assert_same(found, expected)


def assert_same(found: ScoreCounts, expected: ScoreCounts) -> None:
    """Assert equal counts: bit by bit without weights, up to rounding error with weights."""
    assert facts_of(found) == facts_of(expected)
    assert found.groups == expected.groups
    if expected.cells.weights is None:
        assert found == expected
        return
    assert found.cells.weights is not None
    for mine, other in zip(found.cells[:4], expected.cells[:4], strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_allclose(found.cells.weights, expected.cells.weights, rtol=1e-12)


ILL = [0, 1, 0, 1, 1, 0]
RISK = [0.125, 0.5, 0.25, 0.5, 0.5, 0.25]
SITE = ["va", "oslo", "va", "oslo", "va", "va"]
BOOLEANS = [label == 1 for label in ILL]
WEIGHT = [1.0, 2.5, 0.25, 0.0, 3.0, 1.0]
TEXT = ["no", "yes", "no", "yes", "yes", "no"]
GAPS = ["va", None, "va", None, "oslo", "va"]
BY_TEXT = {**BY_SITE, "pos_label": "yes"}


def rows(**columns: Any) -> pa.Table:
    """The usual table with other columns; values that are no arrow arrays get arrow's type."""
    usual = {"ill": ILL, "risk": RISK, "site": SITE, "weight": WEIGHT}
    return pa.table(usual | columns)


def decimals(*texts: str | None, digits: int = 38, places: int = 20) -> pa.Array:
    numbers = [None if text is None else Decimal(text) for text in texts]
    return pa.array(numbers, pa.decimal128(digits, places))


def instants(*hours: int, zone: str | None) -> pa.Array:
    first = datetime.datetime(2020, 10, 24, 23, 30)
    naive = [first + datetime.timedelta(hours=hour) for hour in hours]
    return pa.array(naive, pa.timestamp("us")).cast(pa.timestamp("us", zone))


def refused(message: str, error: type[Exception] = ValueError, **columns: Any) -> Edge:
    """The usual table by site with other columns, which must be refused."""
    return Edge(rows(**columns), WEIGHTED if "weight" in columns else BY_SITE, error, message)


def by_site(message: str = "", missing: str = "raise", **columns: Any) -> Edge:
    """The usual table by site with other columns, which is counted, perhaps with a warning."""
    return Edge(rows(**columns), {**BY_SITE, "missing": missing}, None, message)


TIME_ORDER = (0, 1, 0, 1, 2, 2)
EMPTY = rows().slice(0, 0)
NAMED_AS_OURS = ["n_rows", "is_zero", "group_0", "group_1", "label", "score", "valid"]


# Scores that bins of probabilities refuse, and what the error says
REFUSED_SCORES: dict[str, tuple[list[float | None], str]] = {
    "missing": ([0.5, None, 0.5, None, None, 0.25], "got 3 NaN or NULL and 0 infinite.* of 6"),
    "NaN": ([0.5, NAN, 0.5, NAN, 0.5, 0.25], "got 2 NaN or NULL and 0 infinite.* of 6"),
    "infinite": ([0.5, INF, 0.5, INF, -INF, 0.25], "got 0 NaN or NULL and 3 infinite.* of 6"),
    "outside": ([0.5, -0.25, 0.5, 7.0, 0.5, 0.25], "got scores from -0.25 to 7.0"),
}

EDGES: dict[str, Edge] = {
    "plain": Edge(rows(), BY_SITE),
    "without groups": Edge(rows(), NAMES),
    "several group columns": Edge(
        rows(ward=[1, 2, 1, 2, 3, 1], old=[True, False] * 3),
        {**NAMES, "group": ["site", "ward", "old"]},
    ),
    "one class": Edge(rows(ill=[0] * 6), BY_SITE),
    "empty": Edge(EMPTY, BY_SITE),
    "empty, without groups": Edge(EMPTY, NAMES),
    "empty, with weights": Edge(EMPTY, WEIGHTED),
    # Labels
    "labels missing": refused(r"^column 'ill' has 2 missing labels of 6;", ill=[0, 1, None] * 2),
    "labels of floats": by_site(ill=[float(label) for label in ILL]),
    "labels NaN": refused("^column 'ill' has 2 missing labels of 6;", ill=[0.0, 1.0, NAN] * 2),
    "labels -1 and 1": by_site(ill=[2 * label - 1 for label in ILL]),
    "three classes": refused(r"two classes; got 3: 0, 1, 2\.", ill=[0, 1, 2, 1, 1, 0]),
    "labels 1 and 2": refused(r"labels \[1, 2\]: pass pos_label=", ill=[1, 2, 1, 2, 2, 1]),
    "labels 1 and 2 with pos_label": Edge(rows(ill=[1, 2] * 3), {**BY_SITE, "pos_label": 1}),
    "booleans": by_site(ill=BOOLEANS),
    "booleans, false is positive": Edge(rows(ill=BOOLEANS), {**BY_SITE, "pos_label": False}),
    "booleans missing": refused("1 missing labels of 6;", ill=[*BOOLEANS[:5], None]),
    "text labels": Edge(rows(ill=TEXT), BY_TEXT),
    "text labels without pos_label": refused(r"labels \['no', 'yes'\]: pass pos_label=", ill=TEXT),
    "text labels, another pos_label": Edge(
        rows(ill=TEXT), {**BY_SITE, "pos_label": "ja"}, ValueError, r"pos_label='ja' is not among"
    ),
    "text labels, misspelled": Edge(
        rows(ill=["YES"] * 6), BY_TEXT, None, "pos_label='yes' is not among"
    ),
    "text labels missing": Edge(
        rows(ill=[None, *TEXT[1:5], None]), BY_TEXT, ValueError, "2 missing labels of 6;"
    ),
    "categories as labels": Edge(rows(ill=pa.array(TEXT).dictionary_encode()), BY_TEXT),
    # Scores
    **{
        f"scores {name}": refused(message, risk=scores)
        for name, (scores, message) in REFUSED_SCORES.items()
        if name != "outside"
    },
    "scores -0.0": by_site(risk=[-0.0, 0.0, 0.0, -0.0, -1.0, -0.0]),
    "scores float32": by_site(risk=pa.array([0.1, 0.7, 0.3, 0.7, 0.1, 0.1], pa.float32())),
    "scores of neighboring floats": by_site(
        risk=[0.1, np.nextafter(0.1, 1), 5e-324, 1e308, 0.1 + 0.2, 0.3]
    ),
    "scores of integers": by_site(risk=[3, 1, 2, 2, 3, -1]),
    "scores beyond 2**53": refused("would be rounded", risk=[2**53 + 1, 1, 2, 2, 3, 2**53]),
    "scores of decimals": by_site(risk=decimals(".1", ".5", ".25", ".5", ".5", ".1")),
    "scores of decimals missing": refused(
        "1 NaN or NULL and 0 .*of 6", risk=decimals(".1", ".5", None, ".5", ".5", ".1")
    ),
    "scores of decimals that tie": refused(
        "^column 'risk' has 4 different numbers, of which 1 are equal",
        risk=decimals(".1", ".10000000000000000001", ".25", ".5", ".5", ".1"),
    ),
    "scores of decimals that are rounded": refused(
        "^column 'risk' has 2 of 6 numbers, such as .*rounded to float64",
        risk=decimals(*[".10000000000000000001"] * 2, ".25", ".5", ".5", ".75"),
    ),
    "scores of booleans": by_site("y_score holds only 0 and 1", risk=BOOLEANS),
    "scores are labels": by_site("y_score holds only 0 and 1", risk=[0.0, 1.0, 1.0] * 2),
    "scores of text": refused("^column 'risk' must hold n", TypeError, risk=["0.1", None, "x"] * 2),
    "scores of dates": refused(
        "^column 'risk' must hold nu", TypeError, risk=pa.array([datetime.date(2020, 1, 1)] * 6)
    ),
    # Groups
    "groups missing": refused("^column 'site' has 2 missing labels of 6;", site=GAPS),
    "groups missing, dropped": by_site(missing="drop", site=GAPS),
    "groups missing, a group": by_site(missing="group", site=GAPS),
    "groups missing in one of two columns": Edge(
        rows(ward=[1, None, 1, 2, None, 1], site=["va", None, "va", "va", "oslo", "va"]),
        {**NAMES, "group": ["site", "ward"], "missing": "drop"},
    ),
    "all groups missing, dropped": by_site(missing="drop", site=pa.array([None] * 6, pa.string())),
    "groups of floats": by_site(site=[1.0, 2.0, 1.0, 10.0, 1.0, 2.0]),
    "groups of floats missing": by_site(missing="drop", site=[1.0, NAN, 1.0, None, 1.0, 2.0]),
    "groups of fractions": refused("whole numbers count as", TypeError, site=[1.0, 2.5, 2.0] * 2),
    "groups of whole decimals": by_site(site=decimals(*"121211", digits=5, places=0)),
    "groups of decimals missing": by_site(
        missing="group", site=decimals("1", None, *"1211", digits=9, places=2)
    ),
    "groups of decimals": refused(
        r"Decimal\('1\.50*'\).*whole numbers count as integers.*\.astype\(str\).* CAST",
        TypeError,
        site=decimals("1.5", *"21211", digits=9, places=2),
    ),
    "groups of integers": by_site(site=[10, 9, 2**60, 9, -(2**60), 2**60 + 1]),
    "groups of booleans": by_site(site=[True, False, True, True, False, False]),
    "groups of text": by_site(site=["B", "a", "ä", "", " ", "O'Neill"]),
    "groups of categories": by_site(site=pa.array(SITE).dictionary_encode()),
    "groups of dates": by_site(
        site=pa.array([datetime.date(2020, 1, day) for day in (1, 2, 1, 2, 3, 3)])
    ),
    "groups of timestamps": by_site(site=instants(*TIME_ORDER, zone=None)),
    # Two of these hours have the same local time, at the end of daylight saving time.
    "groups of timestamps with a zone": by_site(site=instants(*TIME_ORDER, zone="Europe/Oslo")),
    # Weights
    "weights": Edge(rows(), WEIGHTED),
    "weights without groups": Edge(rows(), {**NAMES, "weight": "weight"}),
    "weights of 1": Edge(rows(weight=[1.0, 1.0, 0.0, 1.0, 1.0, 1.0]), WEIGHTED),
    "weights of 0": Edge(rows(weight=[0.0] * 6), WEIGHTED),
    "weights of integers": Edge(rows(weight=[1, 2, 0, 2, 3, 4]), WEIGHTED),
    "weights of booleans": Edge(rows(weight=[True, True, False, True, False, True]), WEIGHTED),
    "weights of decimals": Edge(rows(weight=decimals("1", ".5", "0", ".1", "2", "3")), WEIGHTED),
    "weights of 0 without groups or classes": Edge(
        rows(
            site=["va", None, "va", None, "va", "va"],
            ill=[0, 1, 0, 1, 0, 0],
            weight=[1.0, 0.0, 2.0, 3.0, 1.0, 1.0],
        ),
        {**WEIGHTED, "missing": "drop"},
    ),
    "weights missing": refused(
        "^column 'weight' .*got 2 (.*inf.* )?of 6", weight=[1.0, None, 0.25, 0.0, None, 1.0]
    ),
    "weights NaN": refused("got 2 (.*inf.* )?of 6", weight=[1.0, NAN, 0.25, 0.0, 2.0, NAN]),
    "weights infinite": refused(
        "got (1 NaN or NULL and 2 inf.* of 6|4 of 6 that are)",
        weight=[1.0, INF, NAN, 0.0, -INF, -1.0],
    ),
    "weights negative": refused(
        "0 or more; got 2 (of 6 that are missing, infinite or )?negative",
        weight=[1.0, -1.0, 0.25, 0.0, -2.0, 1.0],
    ),
    "weights too large": refused(r"from 1e-100 to 1e100, .*1e\+200", weight=[1.0, 1e200, 0.0] * 2),
    "weights too small": refused("from 1e-100 to 1e100, .*1e-200", weight=[1.0, 1e-200, 0.0] * 2),
    "weights too different": refused("factor of 1e100", weight=[1e-60, 1e60, 0.0] * 2),
    "weights of text": refused("^column 'weight' must", TypeError, weight=["1", "2", None] * 2),
    # Columns
    "columns named as ours": Edge(
        pa.table(dict(zip(NAMED_AS_OURS, [SITE, WEIGHT, ILL, RISK, SITE, SITE, ILL], strict=True))),
        {
            "label": "group_0",
            "score": "group_1",
            "group": ["n_rows", "label"],
            "weight": "is_zero",
        },
    ),
    "one column as label and group": Edge(rows(), {**NAMES, "group": "ill"}),
    "columns of mixed case": Edge(
        pa.table({"ILL": ILL, "Risk": RISK, "siteName": SITE}),
        {"label": "ILL", "score": "Risk", "group": "siteName"},
    ),
    "a column in another case": Edge(
        pa.table({"ILL": ILL, "Risk": RISK}),
        {"label": "ILL", "score": "risk"},
        ValueError,
        r"score names the column 'risk', not found in table\. .* Did you mean 'Risk'\?$",
    ),
    "names with spaces and signs": Edge(
        pa.table({"is ill?": ILL, 'the "risk"': RISK, "ä 1": SITE}),
        {"label": "is ill?", "score": 'the "risk"', "group": "ä 1"},
    ),
    "an absent column": Edge(
        rows(),
        {**NAMES, "group": ["site", "wards"]},
        ValueError,
        "group names the column 'wards', not f",
    ),
}


BINS = {
    "probabilities": Bins.of_probabilities(),
    "many bins": Bins.of_probabilities(35, 1 << 16),
    "scores": Bins.of_scores(),
    "edges": Bins.at(
        [-1e300, -1e-5, 1e-300, 0.1, 0.3, 1.0, 1.0000000000000002, 123456789.12345679]
    ),
}


def rows_around_edges(bins: Bins, n_bins: int = 60) -> pa.Table:
    """A table whose scores are the ends of bins, and the floats next to them."""
    rng = np.random.default_rng(0)
    if bins.n_bins is None:
        numbers = np.unique(bins.numbers_of(rng.normal(size=n_bins) * 10.0 ** rng.integers(-9, 9)))
        # Engines do not bin scores below 2**-64 and from 2**64 on; this package bins these scores.
        known = bins.numbers_of([0.0, 5e-324, 2.0**-64, -(2.0**-65), -(2.0**64), 1e308])
        numbers = np.concatenate([numbers, known])
    else:
        ends = [0, 1, bins.n_bins // 2 - 1, bins.n_bins // 2, bins.n_bins - 2, bins.n_bins - 1]
        numbers = np.concatenate([ends, rng.integers(0, bins.n_bins, n_bins)])
    found = bins.ranges_of(numbers).ravel()
    for _ in range(2):
        found = np.unique([found, np.nextafter(found, -LARGEST), np.nextafter(found, LARGEST)])
    lowest, highest = (0.0, 1.0) if "probabilities" in repr(bins) else (-LARGEST, LARGEST)
    found = found[(found >= lowest) & (found <= highest)]
    scores = np.concatenate([[-0.0, 0.0], found, rng.choice(found, 100)])
    ill = rng.integers(0, 2, scores.size)
    return rows(
        ill=ill,
        risk=scores,
        site=rng.choice(SITE, scores.size),
        weight=rng.integers(0, 4, scores.size) / 4,
    )
