"""Damaged files of predictions: counts as another reader of the same bytes gives, or an error.

A flipped digit of a score makes another valid file. The tests therefore compare the command line
with Python's `csv` module, or with pyarrow, on the changed bytes. The command line must refuse
files that the module or pyarrow cannot read.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from file_format import changed_bytes
from oracles import counts_by_search

from skfedauc import GroupAUC, ScoreCounts
from skfedauc.cli.arguments import parse
from skfedauc.cli.audit import check_classes
from skfedauc.cli.main import main
from skfedauc.cli.rows import read_columns, refusals_of, rows_of
from skfedauc.cli.terminal import CommandError

FILES_OF_SUITE = 40
# The test starts the program for one file of this number of files.
PROGRAM = 15
ARGUMENTS = ["--label", "y", "--score", "s", "--group", "g", "--json"]
GROUPS = ["a", "b", "va, oslo", 'the "best"', "12", "13", "caf\xe9", "two\nlines", "x y"]
SEPARATORS = {",": ".csv", ";": ".csv", "\t": ".tsv"}


def rows_of_file(rng):
    n = int(rng.choice([3, 10, 50, 300]))
    n_groups = int(rng.integers(1, 5))
    names = rng.choice(GROUPS, n_groups, replace=False)
    scores = rng.random(n).round(int(rng.integers(0, 6)))
    frame = {
        "id": np.arange(n),
        "y": np.append([0, 1], rng.integers(0, 2, n - 2)),
        "s": scores,
        "g": np.array(names)[rng.integers(0, n_groups, n)],
        "note": rng.choice(["", "1", "0.5", "text"], n),
    }
    order = rng.permutation(list(frame))
    return pd.DataFrame({name: frame[name] for name in order})


def with_others(content, rng):
    """Insert a character with a special meaning for readers at a random place."""
    place = rng.integers(len(content))
    odd = rng.choice([b",", b";", b'"', b"\n", b"\r", b"\0", b"\xff", b" ", b"\xef\xbb\xbf", b"\\"])
    return content[:place] + odd + content[place:]


def renamed(content, rng):
    header, *others = content.split(b"\n", 1)
    names = [b"y", b"s", b"g", b"id"]
    old, new = rng.choice(names, 2)
    return b"\n".join([header.replace(old, rng.choice([new, b"", old.upper(), old * 2])), *others])


DAMAGES = [changed_bytes, changed_bytes, with_others, renamed]


def draw_text(seed):
    """Return the name, the content and the encoding of a text file, and its damage."""
    rng = np.random.default_rng([seed, 7])
    separator = str(rng.choice(list(SEPARATORS)))
    encoding = str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16"]))
    ending = str(rng.choice(["\n", "\n", "\r\n"]))
    text = rows_of_file(rng).to_csv(index=False, sep=separator, lineterminator=ending)
    content = text.encode(encoding)
    damage = DAMAGES[rng.integers(len(DAMAGES))] if seed % 8 else None
    is_zipped = separator != "\t" and rng.random() < 0.25
    damages_zipped = rng.random() < 0.5
    if damage is not None and not (is_zipped and damages_zipped):
        content = damage(content, rng)
    name = "predictions" + SEPARATORS[separator]
    if is_zipped:
        content, name = gzip.compress(content, mtime=0), name + ".gz"
        if damage is not None and damages_zipped:
            content = damage(content, rng)
    return name, content, encoding.removesuffix("-sig"), damage


def read_text(name, content, encoding):
    """Return the table that the `csv` module reads, or None if the bytes are not a table."""
    try:
        if name.endswith(".gz"):
            content = gzip.decompress(content)
        text = content.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except (OSError, EOFError, ValueError, gzip.zlib.error):
        return None
    usual, tables = "\t" if name.endswith(".tsv") else ",", []
    for separator in (usual, ",", ";", "\t"):
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
        rows = [row for row in rows if any(cell.strip() for cell in row) or len(row) > 1]
        if rows and len(rows[0]) > 1:
            tables.append(rows)
    # The separator gives the needed columns, if one does.
    return next((rows for rows in tables if set("ysg") <= set(rows[0])), next(iter(tables), None))


def expected_of(rows):
    """Counts and AUC by group of a table of text, or None if it does not hold predictions."""
    if not rows or any(rows[0].count(name) != 1 for name in "ysg"):
        return None
    if any(len(row) != len(rows[0]) for row in rows):
        return None
    label, score, group = ([row[rows[0].index(name)] for row in rows[1:]] for name in "ysg")
    try:
        # float() keeps the white space \x1c to \x1f of ASCII text.
        y, s = (np.array([float(cell.strip()) for cell in cells]) for cells in (label, score))
    except ValueError:
        return None
    if "" in group or not np.isfinite(s).all() or not (set(y) == {0, 1} or set(y) == {-1, 1}):
        return None
    if all(text.endswith(".0") and text[:-2].lstrip("-").isdigit() for text in group):
        group = [text[:-2] for text in group]
    # A comparison by numpy takes NULs off the end of a label.
    of_label = {label: np.array([text == label for text in group]) for label in set(group)}
    return {label: pairs_of(y[rows] == 1, s[rows]) for label, rows in of_label.items()}


def pairs_of(positive, scores):
    counts = counts_by_search(positive.astype(int), scores, None)
    n_pairs = counts.positives * counts.negatives
    auc = counts.u2 / (2 * n_pairs) if n_pairs else math.nan
    return counts.positives, counts.negatives, auc


def check(path, encoding, expected):
    """Check that the reader returns the expected counts, or raises an error of one line."""
    options = [] if encoding is None else ["--encoding", encoding]
    arguments, refusal = parse(["audit", str(path), *ARGUMENTS, *options]), None
    try:
        rows = rows_of(read_columns(arguments), arguments)
        with warnings.catch_warnings(), refusals_of(arguments):
            warnings.simplefilter("ignore", UserWarning)  # Scores may be labels.
            counts = ScoreCounts.from_predictions(**rows)
        check_classes(counts, arguments)
    except CommandError as caught:
        refusal = caught
    if refusal is not None:
        assert refusal.exit_code == 2
        assert 0 < len(str(refusal)) < 1000
        return
    assert expected is not None, "the file should have been refused"
    aucs = GroupAUC(counts, undefined="ignore").by_group["auc"]
    found = zip(counts.groups, counts.n_positives, counts.n_negatives, aucs, strict=True)
    for group, n_positives, n_negatives, auc in found:
        assert (n_positives, n_negatives) == expected[group][:2]
        assert auc == pytest.approx(expected[group][2], abs=1e-15, nan_ok=True)
    assert set(counts.groups) == set(expected)


def check_program(path, encoding, expected, capsys):
    """Check that the program prints a report, or one line of error with exit code 2."""
    options = [] if encoding is None else ["--encoding", encoding]
    code = main(["audit", str(path), *ARGUMENTS, *options])
    out, err = capsys.readouterr()
    if code == 0:
        (found,) = json.loads(out)["groupings"]
        assert {group["label"] for group in found["groups"]} == set(expected)
    else:
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("skfedauc: error: ")


def draw_parquet(seed):
    """Return the name and the content of a Parquet file, no encoding, and its damage."""
    rng = np.random.default_rng([seed, 8])
    frame = rows_of_file(rng)
    if rng.random() < 0.3:
        frame["g"] = frame["g"].astype("category")
    if rng.random() < 0.3:
        frame["s"] = frame["s"].astype(np.float32)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    damage = PARQUET_DAMAGES[rng.integers(len(PARQUET_DAMAGES))] if seed % 8 else None
    if damage is renamed_columns:
        table = renamed_columns(table, rng)
    buffer = io.BytesIO()
    pq.write_table(
        table,
        buffer,
        compression=str(rng.choice(["none", "snappy", "gzip"])),
        use_dictionary=bool(rng.random() < 0.5),
        row_group_size=int(rng.choice([5, 1000])),
    )
    content = buffer.getvalue()
    if damage not in (None, renamed_columns):
        content = damage(content, rng)
    return "predictions.parquet", content, None, damage


def renamed_columns(table, rng):
    names = list(table.column_names)
    names[rng.integers(len(names))] = str(rng.choice(["y", "s", "g", "", "Y"]))
    return table.rename_columns(names)


PARQUET_DAMAGES = [changed_bytes, changed_bytes, with_others, renamed_columns]


def read_parquet(name, content, encoding):
    """Rows of text of a Parquet file, or None if pyarrow does not read it."""
    try:
        file = pq.ParquetFile(io.BytesIO(content))
        if any(file.schema_arrow.names.count(name) != 1 for name in "ysg"):
            return None
        table = file.read(columns=list("ysg"))
        table.validate(full=True)
        columns = [table[name].to_pylist() for name in "ysg"]
    except (OSError, ValueError, pa.ArrowException, KeyError):
        return None
    cells = [["" if cell is None else str(cell) for cell in column] for column in columns]
    return [list("ysg"), *map(list, zip(*cells, strict=True))]


@pytest.mark.parametrize(
    ("draw", "read"),
    [(draw_text, read_text), (draw_parquet, read_parquet)],
    ids=["text", "parquet"],
)
def test_damaged_files(draw, read, tmp_path, capsys, seeds):
    for seed in seeds(FILES_OF_SUITE):
        name, content, encoding, damage = draw(seed)
        rows = read(name, content, encoding)
        expected = None if rows is None else expected_of(rows)
        path = tmp_path / name
        path.write_bytes(content)
        try:
            assert expected is not None or damage is not None
            check(path, encoding, expected)
            if seed % PROGRAM == 0:
                check_program(path, encoding, expected, capsys)
        except BaseException as error:
            error.add_note(f"seed {seed}: {name}, {encoding}, {damage and damage.__name__}")
            raise
