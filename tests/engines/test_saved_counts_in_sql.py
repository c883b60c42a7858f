"""Files of score counts in DuckDB, and the guide's query that counts rows in a database."""

import re
from pathlib import Path

import duckdb
import jinja2
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from skfedauc import ScoreCounts

# Pairs with the lower negatives, and half of the ties
AUC = """
SELECT SUM(pos * (up_to - neg / 2.0)) / (SUM(pos) * SUM(neg))
FROM (
    SELECT pos, neg, SUM(neg) OVER (ORDER BY score) AS up_to
    FROM (
        SELECT score, SUM({side}_positives) AS pos, SUM({side}_negatives) AS neg
        FROM read_parquet('{path}') WHERE {where} GROUP BY score
    )
)
"""


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("suffix", ["skfa", "parquet"])
def test_duckdb_computes_the_same_auc(weighted, suffix, tmp_path):
    rng = np.random.default_rng(0)
    n = 5000
    y, site = rng.integers(0, 2, n), rng.choice(["va", "oslo", "basel"], n)
    band = pd.cut(rng.random(n), [0, 0.5, 1])
    score = (rng.integers(0, 40, n) + 9 * y) / 47
    weight = rng.random(n) + 0.1 if weighted else None
    path = tmp_path / f"counts.{suffix}"
    ScoreCounts.from_predictions(
        y, score, groups=pd.DataFrame({"site": site, "band": band}), sample_weight=weight
    ).save(path)
    side = "weight" if weighted else "n"

    def auc(where):
        return duckdb.sql(AUC.format(path=path, side=side, where=where)).fetchall()[0][0]

    assert auc("true") == pytest.approx(roc_auc_score(y, score, sample_weight=weight), abs=1e-12)
    for name in ("va", "oslo"):
        for interval in map(str, band.categories):
            own = (site == name) & (band.astype(str) == interval)
            expected = roc_auc_score(
                y[own], score[own], sample_weight=None if weight is None else weight[own]
            )
            where = f"site = '{name}' AND band = '{interval}'"
            assert auc(where) == pytest.approx(expected, abs=1e-12)


def test_duckdb_reads_the_types_of_groups(tmp_path):
    groups = pd.DataFrame(
        {
            "site": ["va", "oslo"],
            "ward": [1, 2],
            "is_new": [True, False],
            "day": pd.to_datetime(["2020-01-01T00:00:00", "2021-02-03T04:05:06"]),
            "seen": pd.to_datetime(["2020-01-01", "2021-01-01"]).tz_localize("Europe/Oslo"),
        }
    )
    ScoreCounts.from_predictions([0, 1], [0.25, 0.5], groups=groups).save(tmp_path / "counts.skfa")
    table = duckdb.sql(f"SELECT * FROM read_parquet('{tmp_path}/counts.skfa')")
    types = dict(zip(table.columns, map(str, table.types), strict=True))
    assert types == {
        "site": "VARCHAR",
        "ward": "BIGINT",
        "is_new": "BOOLEAN",
        "day": "TIMESTAMP",
        "seen": "TIMESTAMP WITH TIME ZONE",
        "score": "DOUBLE",
        "n_negatives": "BIGINT",
        "n_positives": "BIGINT",
    }


def test_the_query_of_the_guide_counts_the_rows():
    rng = np.random.default_rng(0)
    patients = pd.DataFrame(
        {
            "hospital": rng.choice(["va", "oslo"], 500),
            "score": (rng.integers(0, 40, 500) / 40).round(3),
            "died": rng.integers(0, 2, 500),
        }
    )
    guide = Path(__file__).parents[2] / "docs" / "how_to" / "without_moving_data.md"
    query = re.search(r"(?ms)^    SELECT hospital.*?\n\n", guide.read_text("utf-8")).group()
    # dbt renders the template of a model, and makes a table of the query.
    model = jinja2.Template(query.replace("FROM patients", "FROM {{ ref('patients') }}"))
    compiled = model.render(ref='"memory"."main"."{}"'.format)
    with duckdb.connect() as database:
        database.sql("CREATE TABLE patients AS SELECT * FROM patients")
        database.sql(f"CREATE TABLE score_counts AS ({compiled})")
        table = database.sql("FROM score_counts").df()
    expected = ScoreCounts.from_predictions(
        patients["died"], patients["score"], groups=patients["hospital"]
    )
    for counts in (duckdb.sql(query).df(), table):
        assert ScoreCounts.from_counts(**counts) == expected
    patients.loc[9, "died"] = None
    with pytest.raises(ValueError, match="n_negatives must be finite; got 1 NaN or NULL"):
        ScoreCounts.from_counts(**duckdb.sql(query).df())
