"""Random cases with ties, tiny groups and extreme scores.

A case is drawn from a seed. The case names its kinds of scores, groups and weights, its size and
its prevalence, so that a failure can be reproduced and understood.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any, NamedTuple

import kernel_cases
import numpy as np
import oracles
import pandas as pd
import polars as pl
import pyarrow as pa


class Case(NamedTuple):
    """Rows in the form of user input; `labels` are the expected group labels of a report."""

    name: str
    y: np.ndarray
    scores: np.ndarray
    groups: Any
    labels: list[Any]
    weights: np.ndarray | None
    arguments = oracles.Case.arguments


def ulps_above(base: float, steps: np.ndarray) -> np.ndarray:
    """Return floats that are this number of representable floats above `base`."""
    return (np.array(base).view(np.int64) + steps).view(np.float64)


def clusters(rng: np.random.Generator, n: int, n_clusters: int) -> np.ndarray:
    """Return distant clusters of neighboring floats that evenly spaced samples of rows miss."""
    centres = 10.0 ** rng.uniform(-200, 200, n_clusters) * rng.choice([-1, 1], n_clusters)
    which = rng.integers(0, n_clusters, n)
    which[:: max(n // 64, 1)] = 0
    return ulps_above(1.0, rng.integers(0, 3, n)) * centres[which]


# Beside the kinds of scores on which both kernels are compared
SCORES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    **kernel_cases.SCORES,
    "confident": lambda rng, n: rng.beta(0.02, 0.02, n),
    "rare": lambda rng, n: rng.random(n) ** 8,
    "negative": lambda rng, n: -rng.random(n) - 0.25,
    "one digit": lambda rng, n: rng.normal(size=n).round(1) + 0.05,
    "six digits, one with more": lambda rng, n: np.r_[rng.random(n - 1).round(6), np.pi],
    "integers": lambda rng, n: rng.integers(-1000, 1000, n).astype(float),
    "float16": lambda rng, n: rng.normal(size=n).astype(np.float16),
    "int8": lambda rng, n: rng.integers(-128, 128, n).astype(np.int8),
    "one value and another": lambda rng, n: np.where(np.arange(n) == n // 2, 0.7, 0.3),
    "zeros and another": lambda rng, n: rng.choice([-0.0, 0.0, 0.5], n),
    "huge": lambda rng, n: rng.normal(size=n) * 1e300,
    "one ulp apart": lambda rng, n: ulps_above(1.5, rng.integers(0, 5, n)),
    "one ulp apart, negative": lambda rng, n: -ulps_above(1e-9, rng.integers(0, 5, n)),
    "both sides of 1": lambda rng, n: rng.choice(
        [np.nextafter(1.0, 0.0), 1.0, np.nextafter(1.0, 2.0)], n
    ),
    "two clusters": lambda rng, n: clusters(rng, n, 2),
    "six clusters": lambda rng, n: clusters(rng, n, 6),
}


def _dates(codes: np.ndarray) -> np.ndarray:
    # Nanoseconds hold 584 years, so the days between the groups are few.
    return np.datetime64("1850-01-01") + 7 * codes.astype("timedelta64[D]")


def _text(codes: np.ndarray, form: str = "site {}") -> list[str]:
    return [form.format(code) for code in codes.tolist()]


Labelled = tuple[Any, Callable[[int], Any]]


def _plain(make: Callable[[np.ndarray], Any], label: Callable[[int], Any]) -> Any:
    return lambda rng, codes: (make(codes), label)


def _of_text(make: Callable[[list[str]], Any]) -> Any:
    return _plain(lambda codes: make(_text(codes)), "site {}".format)


# Each function returns the groups as user input, and a function from codes to expected labels.
GROUPS: dict[str, Callable[[np.random.Generator, np.ndarray], Labelled]] = {
    "int64": _plain(lambda c: c.astype(np.int64), int),
    "int32": _plain(lambda c: c.astype(np.int32), int),
    "int8": _plain(lambda c: (c % 100).astype(np.int8), lambda c: c % 100),
    "uint8": _plain(lambda c: (c % 256).astype(np.uint8), lambda c: c % 256),
    "uint64, large": _plain(lambda c: c.astype(np.uint64) + np.uint64(2**63), lambda c: c + 2**63),
    "negative": _plain(lambda c: 7 - 3 * c, lambda c: 7 - 3 * c),
    "far apart": _plain(lambda c: (c - 20) * 10**15, lambda c: (c - 20) * 10**15),
    "one far away": _plain(lambda c: np.where(c == 0, -(2**62), c), lambda c: c or -(2**62)),
    "list of int": _plain(lambda c: c.tolist(), int),
    "tuple of int": _plain(lambda c: tuple(c.tolist()), int),
    "object of int": _plain(lambda c: c.astype(object), int),
    "float codes": _plain(lambda c: c.astype(float), int),
    "float32 codes with gaps": _plain(
        lambda c: (10 * c + 1).astype(np.float32), lambda c: 10 * c + 1
    ),
    "object of float codes": _plain(lambda c: c.astype(float).astype(object), int),
    "bool": _plain(lambda c: c % 2 == 0, lambda c: c % 2 == 0),
    "list of bool": _plain(lambda c: (c % 2 == 0).tolist(), lambda c: c % 2 == 0),
    "text": _of_text(np.array),
    "list of text": _of_text(list),
    "object of text": _of_text(lambda text: np.array(text, object)),
    "numpy StringDType": _of_text(lambda text: np.array(text, np.dtypes.StringDType())),
    "short text": _plain(lambda c: _text(c, "{:02x}"), "{:02x}".format),
    "long text": _plain(lambda c: _text(c, "x" * 50 + "{}"), ("x" * 50 + "{}").format),
    "text with NUL": _plain(lambda c: _text(c, "a\0{}\0"), "a\0{}\0".format),
    "other scripts": _plain(lambda c: _text(c, "αβ<é>{}漢"), "αβ<é>{}漢".format),
    "empty text": _plain(lambda c: ["" if k == 0 else str(k) for k in c], lambda c: str(c or "")),
    "datetime64[D]": _plain(_dates, lambda c: _dates(np.array([c]))[0]),
    "datetime64[ns]": _plain(
        lambda c: _dates(c).astype("datetime64[ns]"), lambda c: _dates(np.array([c]))[0]
    ),
    "list of dates": _plain(
        lambda c: [datetime.date(1850, 1, 1) + datetime.timedelta(7 * int(k)) for k in c],
        lambda c: _dates(np.array([c]))[0],
    ),
    "pandas text": _of_text(pd.Series),
    "pandas category": _of_text(lambda text: pd.Series(text).astype("category")),
    "pandas category, unused": _of_text(
        lambda text: pd.Series(pd.Categorical(text, [*sorted(set(text)), "site x"]))
    ),
    "pandas Int64": _plain(lambda c: pd.Series(c, dtype="Int64"), int),
    "pandas boolean": _plain(
        lambda c: pd.Series(c % 2 == 0, dtype="boolean"), lambda c: c % 2 == 0
    ),
    "pandas arrow text": _of_text(lambda text: pd.Series(text, dtype=pd.ArrowDtype(pa.string()))),
    "pandas Index": _plain(lambda c: pd.Index(c), int),
    "polars int": _plain(lambda c: pl.Series(c), int),
    "polars text": _of_text(pl.Series),
    "polars categorical": _of_text(lambda text: pl.Series(text).cast(pl.Categorical)),
    "pyarrow text": _of_text(pa.array),
    "pyarrow chunks": _plain(lambda c: pa.chunked_array([pa.array(c[:1]), pa.array(c[1:])]), int),
    "pyarrow dictionary": _of_text(lambda text: pa.array(text).dictionary_encode()),
    "tuples": _plain(
        lambda c: [("fm"[k % 2], k // 2) for k in c.tolist()], lambda c: ("fm"[c % 2], c // 2)
    ),
    "two columns": _plain(
        lambda c: pd.DataFrame({"sex": np.array(list("fm"))[c % 2], "band": c // 2}),
        lambda c: ("fm"[c % 2], c // 2),
    ),
    "polars columns": _plain(
        lambda c: pl.DataFrame({"sex": np.array(list("fm"))[c % 2], "even": c % 4 < 2}),
        lambda c: ("fm"[c % 2], c % 4 < 2),
    ),
}

WEIGHTS: dict[str, Callable[[np.random.Generator, int], np.ndarray | None]] = {
    "none": lambda rng, n: None,
    "ones": lambda rng, n: np.ones(n),
    "equal": lambda rng, n: np.full(n, 0.3),
    "small integers": lambda rng, n: rng.integers(1, 4, n),
    "integers and 0": lambda rng, n: rng.integers(0, 3, n),
    "half are 0": lambda rng, n: rng.choice([0.0, 1.0], n),
    "uniform": lambda rng, n: rng.uniform(0.05, 3.0, n),
    "uniform and 0": lambda rng, n: rng.uniform(0.05, 3.0, n) * (rng.random(n) < 0.9),
    "float32": lambda rng, n: rng.uniform(0.05, 3.0, n).astype(np.float32),
    "gamma": lambda rng, n: rng.gamma(0.5, size=n) + 1e-12,
    "lognormal": lambda rng, n: rng.lognormal(0, 3, n),
    "far apart": lambda rng, n: 10.0 ** rng.uniform(-6, 6, n),
    "tiny": lambda rng, n: rng.uniform(1, 2, n) * 1e-99,
    "large": lambda rng, n: rng.uniform(1, 2, n) * 1e99,
    "one dominates": lambda rng, n: np.where(np.arange(n) == n // 3, 1e9, 1.0),
}

# Sizes near the limits at which the code takes another branch
SIZES = [1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1025]
LARGE_SIZES = [4095, 4097, 16383, 16385, 65535, 65537, 131071, 131073, 300001]
N_GROUPS = [1, 2, 3, 7, 8, 9, 31, 33, 50, 255, 257]
MANY_GROUPS = [1, 2, 257, 2049, 20_000]


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 20240607])
    is_large = rng.random() < 0.01
    n = int(rng.choice(LARGE_SIZES if is_large else SIZES))
    n_groups = int(rng.choice(MANY_GROUPS if is_large else N_GROUPS))
    n = max(n, 8 * n_groups) if is_large else n
    kinds = [str(rng.choice(list(table))) for table in (SCORES, GROUPS, WEIGHTS)]
    if rng.random() < 0.5:
        kinds[2] = "none"
    name = f"seed {seed}: {n} rows, {n_groups} groups, {', '.join(kinds)}"
    share = rng.dirichlet(np.full(n_groups, rng.choice([0.1, 1.0, 100.0])))
    codes = rng.choice(n_groups, n, p=share)
    prevalence = rng.choice([0.0, 0.02, 0.5, 0.8, 1.0], n_groups, p=[0.1, 0.2, 0.4, 0.2, 0.1])
    y = (rng.random(n) < prevalence[codes]).astype(int)
    scores = SCORES[kinds[0]](rng, n)
    weights = WEIGHTS[kinds[2]](rng, n)
    if np.isin(scores, [0, 1]).all():
        scores = scores + 2  # scores of only 0 and 1 look like predicted labels
    groups, label = GROUPS[kinds[1]](rng, codes)
    return Case(name, y, scores, groups, [label(int(c)) for c in codes], weights)
