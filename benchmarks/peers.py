"""Peers that compute the same numbers, each with the code that its users would write.

Before timing, the rows are converted to the peer's containers, and results are compared with ours.
Each function returns the AUC of each group by label, or the pooled AUC.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.data import Rows
from benchmarks.measure import LIMIT, OURS
from skfedauc import GroupAUC

Prepared = Callable[[], Any]


def available() -> dict[str, bool]:
    names = ("polars", "polars_ds", "duckdb", "fairlearn", "torchmetrics")
    return {name: importlib.util.find_spec(name) is not None for name in names}


def pooled(rows: Rows) -> dict[str, Prepared]:
    from sklearn.metrics import roc_auc_score

    from skfedauc import ScoreCounts

    y, score, weight = rows.y, rows.score, rows.weight
    ways: dict[str, Prepared] = {
        OURS: lambda: GroupAUC(ScoreCounts.from_predictions(y, score, sample_weight=weight)).pooled,
        LIMIT: lambda: np.sort(score),
        "scikit-learn roc_auc_score": lambda: roc_auc_score(y, score, sample_weight=weight),
    }
    if weight is not None:
        return ways
    have = available()
    if have["polars"]:
        import polars as pl

        frame = pl.DataFrame({"y": rows.y.astype(bool), "score": score})
        n_positives, n = int(rows.y.sum()), rows.y.size

        def by_polars() -> float:
            ranks = frame.lazy().with_columns(rank=pl.col("score").rank()).filter("y")
            total = ranks.select(pl.col("rank").sum()).collect().item()
            pairs = n_positives * (n - n_positives)
            return float((total - n_positives * (n_positives + 1) / 2) / pairs)

        ways["polars rank"] = by_polars
    if have["torchmetrics"]:
        import torch
        from torchmetrics.functional.classification import binary_auroc

        scores, labels = torch.from_numpy(score), torch.from_numpy(rows.y)
        ways["torchmetrics binary_auroc"] = lambda: float(binary_auroc(scores, labels))
    return ways


def by_group(rows: Rows) -> dict[str, Prepared]:
    import pandas as pd
    from sklearn.metrics import roc_auc_score

    y, score, group, weight = rows

    def with_jobs(n_jobs: int) -> Any:
        return GroupAUC.from_predictions(
            y, score, groups=group, sample_weight=weight, undefined="ignore", n_jobs=n_jobs
        ).by_group["auc"]

    ways: dict[str, Prepared] = {
        OURS: lambda: with_jobs(1),
        f"{OURS}, n_jobs=2": lambda: with_jobs(2),
        LIMIT: lambda: np.sort(score),
    }
    if weight is not None:
        return ways
    have = available()
    if have["polars"]:
        ways.update(_polars(rows, polars_ds=have["polars_ds"]))
    if have["duckdb"]:
        ways["duckdb ranks"] = _duckdb(rows)
    table = pd.DataFrame({"y": y, "score": score, "group": group})

    def one(part: Any) -> float:
        if part["y"].nunique() < 2:
            return float("nan")
        return float(roc_auc_score(part["y"], part["score"]))

    ways["pandas groupby + roc_auc_score"] = lambda: table.groupby("group")[["y", "score"]].apply(
        one
    )
    if have["fairlearn"]:
        from fairlearn.metrics import MetricFrame

        def auc(y_true: Any, y_pred: Any) -> float:
            if len(np.unique(y_true)) < 2:
                return float("nan")
            return float(roc_auc_score(y_true, y_pred))

        ways["fairlearn MetricFrame"] = lambda: (
            MetricFrame(metrics=auc, y_true=y, y_pred=score, sensitive_features=group).by_group
        )
    return ways


def _polars(rows: Rows, *, polars_ds: bool) -> dict[str, Prepared]:
    import polars as pl

    frame = pl.DataFrame({"y": rows.y.astype(bool), "score": rows.score, "group": rows.group})

    def ranks() -> Any:
        n_positives = pl.col("y").sum().cast(pl.Float64)
        pairs = n_positives * (pl.len() - n_positives)
        rank_sum = pl.col("rank").filter("y").sum()
        return (
            frame.lazy()
            .select("group", "y", rank=pl.col("score").rank().over("group"))
            .group_by("group")
            .agg(auc=(rank_sum - n_positives * (n_positives + 1) / 2) / pairs)
            .collect()
        )

    def ranks_in_groups() -> Any:
        n_positives = pl.col("y").sum().cast(pl.Float64)
        pairs = n_positives * (pl.len() - n_positives)
        rank_sum = pl.col("score").rank().filter(pl.col("y")).sum()
        return (
            frame.lazy()
            .group_by("group")
            .agg(auc=(rank_sum - n_positives * (n_positives + 1) / 2) / pairs)
            .collect()
        )

    ways: dict[str, Prepared] = {"polars rank.over": ranks, "polars group_by rank": ranks_in_groups}
    if polars_ds:
        import polars_ds as pds

        ways["polars_ds query_roc_auc"] = lambda: frame.group_by("group").agg(
            auc=pds.query_roc_auc("y", "score")
        )
    return ways


def _duckdb(rows: Rows) -> Prepared:
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect()
    rows_table = pa.table({"y": rows.y, "score": rows.score, "grp": pa.array(rows.group)})
    connection.register("arrow_rows", rows_table)
    connection.execute("CREATE TABLE predictions AS SELECT * FROM arrow_rows")
    query = """
        WITH ranked AS (
            SELECT grp, y,
                   rank() OVER w + (count(*) OVER (PARTITION BY grp, score) - 1) / 2.0 AS r
            FROM predictions WINDOW w AS (PARTITION BY grp ORDER BY score)
        ), sums AS (
            SELECT grp AS "group", sum(r) FILTER (y = 1) AS r, sum(y)::DOUBLE AS p,
                   count(*) - sum(y)::DOUBLE AS n
            FROM ranked GROUP BY grp
        )
        SELECT "group", (r - p * (p + 1) / 2) / (p * n) AS auc FROM sums WHERE p * n > 0
    """
    return lambda: connection.execute(query).df()


def as_series(result: Any) -> Any:
    """AUC by group as a pandas Series without undefined groups, sorted by label."""
    import pandas as pd

    if hasattr(result, "read_all"):
        result = result.read_all()
    if hasattr(result, "to_pandas"):
        result = result.to_pandas()
    if isinstance(result, pd.DataFrame):
        result = result.set_index("group")["auc"]
    if result.index.dtype.kind not in "iu":
        result.index = result.index.astype(str)
    return result.replace([np.inf, -np.inf], np.nan).dropna().sort_index()
