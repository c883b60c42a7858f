"""The open file format: test vectors, writers in other languages, and files of earlier versions."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from file_format import checksum, file_of, parts_of
from rules import facts_of, rule
from saved_cases import CASES

from skfedauc import Bins, ScoreCounts
from skfedauc.counts import Disclosure
from skfedauc.counts.score_counts import view_of

HERE = Path(__file__).parent
WRITERS, VECTORS, DATA = HERE / "writers", HERE / "data" / "format4", HERE / "data"
NAMES = np.array(["oslo", "va", "Ångström, \U0001f600", "z\uffff", "", "10", "2"], object)
EXTREMES = [0.0, -0.0, 1e-310, -1e300, 5e-324, 1e22, 123456789.125]


def rows_of(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 5, 200, 3000]))
    scores = [
        rng.random(n),
        rng.normal(size=n).round(2),
        rng.choice(EXTREMES, n),
        np.exp(rng.normal(0, 40, n)),
    ]
    label = (rng.random(n) < rng.choice([0.0, 0.2, 0.5])).astype(int)
    site = rng.choice(NAMES[: rng.integers(1, 8)], n)
    return pd.DataFrame({"label": label, "score": scores[rng.integers(4)], "site": site})


def counted(rows, name="site"):
    groups = rows["site"].rename(name)
    return ScoreCounts.from_predictions(rows["label"], rows["score"], groups=groups, pos_label=1)


def run_sql(name, tables, **variables):
    connection = pytest.importorskip("duckdb").connect()
    for table, rows in tables.items():
        connection.register(table, rows)
    for variable, value in variables.items():
        connection.execute(f"SET VARIABLE {variable} = '{value}'")
    return connection.execute((WRITERS / name).read_text(encoding="utf-8"))


def write_in_sql(rows, path):
    facts = {"source": "va", "model": "m1", "period": "2026-10", "target": path}
    run_sql("write_counts.sql", {"scored": rows}, **facts)


def write_in_javascript(rows, path):
    folder = next(
        (f for f in HERE.parents if (f / "node_modules" / "hyparquet-writer").is_dir()), None
    )
    if folder is None or shutil.which("node") is None:
        pytest.skip("needs Node.js, and npm install hyparquet-writer")
    table = path.with_suffix(".csv")
    with open(table, "w", encoding="utf-8") as file:
        file.write("label,score,group\n")
        file.writelines(f"{y},{float(s)!r},{g}\n" for y, s, g in rows.itertuples(index=False))
    script = path.parent / "write_counts.mjs"
    shutil.copy(WRITERS / "write_counts.mjs", script)
    (path.parent / "node_modules").symlink_to(folder / "node_modules")
    subprocess.run(["node", script, table, path, "va", "m1", "2026-10"], check=True)
    (path.parent / "node_modules").unlink()


@pytest.mark.parametrize("write", [write_in_sql, write_in_javascript])
@pytest.mark.parametrize("seed", range(12))
def test_files_of_other_languages_have_the_same_counts(write, seed, tmp_path):
    rows = rows_of(seed)
    write(rows, tmp_path / "other.skfa")
    other, counts = ScoreCounts.load(tmp_path / "other.skfa"), counted(rows)
    assert other == counts
    assert view_of(other).classes == view_of(counts).classes
    ((source),) = other.sources
    assert source[:3] == ("va", "m1", "2026-10")
    counts = counted(rows, *other.group_names)
    whole = other + counts.with_source("oslo", model="m1", period="2026-10")
    assert whole - other == counts
    # Files of Python read and written again are the same file of counts.
    assert ScoreCounts.from_bytes(other.to_bytes()).sources == other.sources


@pytest.mark.parametrize("level", [None, "summary"])
@pytest.mark.parametrize("name", sorted(CASES)[1::4])
def test_duckdb_finds_a_file_whole_or_damaged(name, level, tmp_path):
    path = tmp_path / "counts.skfa"
    (CASES[name] if level is None else CASES[name].reduced(level)).save(path)
    assert run_sql("check_counts.sql", {}, path=path).fetchall() == [(True,)]
    table = pq.read_table(path)
    place = table.column_names.index("n_negatives")
    changed = table.set_column(place, "n_negatives", pc.add(table[place], 1))
    pq.write_table(changed.replace_schema_metadata(table.schema.metadata), path)
    assert run_sql("check_counts.sql", {}, path=path).fetchall() == [(not table.num_rows,)]


@pytest.mark.parametrize("name", sorted(CASES)[::4])
def test_the_checksum_is_that_of_the_page(name):
    """The checksum by the page of the format, written in pyarrow, is that of `save`."""
    data = CASES[name].to_bytes()
    table, facts = parts_of(data)
    metadata = table.schema.metadata
    assert checksum(metadata[b"skfedauc"], table) == metadata[b"skfedauc.sha256"].decode()
    if not table.num_rows:  # a row group without rows is no valid file
        return
    # Rows in any order are the same counts.
    order = np.random.default_rng(0).permutation(table.num_rows)
    assert ScoreCounts.from_bytes(file_of(table.take(order), facts)) == CASES[name]


def test_vectors_of_the_format():
    empty, exact, bins = (
        ScoreCounts.load(VECTORS / f"{n}.skfa") for n in ("empty", "exact", "bins")
    )
    assert repr(empty).startswith("ScoreCounts(no groups, 0 rows")
    assert exact.groups == ("a", "\u00d8")
    assert exact.cells.scores.tolist() == [0.1, 0.75, 0.5]
    assert exact.cells.negatives.tolist() == [1, 0, 2]
    assert exact.cells.positives.tolist() == [0, 3, 0]
    assert exact.sources[0][:3] == ("oslo", "m1", "2026-10")
    assert bins.disclosure == Disclosure("bins", bins.disclosure.bins, min_count=2)
    assert bins.n_missing == 5
    assert bins.cells.scores.tolist() == [0.25, 0.5]
    assert view_of(bins).ranges.tolist() == [[0.0, 0.5], [0.25, 0.75]]


def test_files_of_versions_2_and_3():
    rng = np.random.default_rng(7)
    y, s = rng.integers(0, 2, 60), rng.integers(0, 40, 60) / 40
    groups = pd.Series(rng.choice(["oslo", "va", "ål"], 60), name="site")
    weights = rng.integers(1, 5, 60) / 2
    exact = ScoreCounts.from_predictions(y, s, groups=groups)
    weighted = ScoreCounts.from_predictions(y, s, groups=groups, sample_weight=weights)
    expected = {
        "binned": exact.reduced(Bins.of_probabilities(3, 4)),
        "ranges": exact.reduced(rule("bins", min_count=4)),
        "binned_weighted": weighted.reduced(Bins.at([0.25, 0.5])),
        "summary": exact.reduced("summary"),
        "summary_weighted": weighted.reduced(Bins.at([0.5])).reduced("summary"),
        "withheld": exact.reduced(rule("summary", min_count=11, tell_withheld="labels")),
    }
    for name, counts in expected.items():
        found = ScoreCounts.load(DATA / f"{name}.skfa")
        assert found == counts
        assert found.sources[0].name == "oslo"
        assert found.disclosure.withheld == counts.disclosure.withheld
        assert found.disclosure.bins == counts.disclosure.bins
        # The files say that small counts were suppressed, but not below which number.
        assert (found.disclosure.min_count == 1) == (counts.disclosure.min_count is not None)
        again = ScoreCounts.from_bytes(found.to_bytes())
        assert again == counts
        assert facts_of(again) == facts_of(found)
