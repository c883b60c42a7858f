"""Files of predictions, compared with the table that the test has written."""

import gzip
import io
import sys
from unittest import mock

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_cases import COLUMNS, check_rows, rows_read, save, write

from skfedauc import ScoreCounts
from skfedauc.cli.main import main


@pytest.mark.parametrize(
    ("ending", "separator"),
    [
        *((ending, separator) for ending in ("csv", "tsv") for separator in (",", ";", "\t")),
        ("csv.gz", ","),
        ("CSV", ","),
        ("parquet", ""),
    ],
)
def test_kinds_of_files_give_the_same_rows(frame, tmp_path, ending, separator):
    path = tmp_path / f"p.{ending}"
    write(frame, path, separator)
    check_rows(rows_read(path), frame)


def test_compressed_text_may_have_a_byte_order_mark(tmp_path):
    path = tmp_path / "p.csv.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfy,s,g\r\n0,0.1,a\r\n1,0.4,a\r\n"))
    check_rows(rows_read(path), pd.DataFrame({"y": [0, 1], "s": [0.1, 0.4], "g": "a"}))


def test_rows_whose_last_cell_is_empty_are_read(tmp_path):
    text = '\ufeff"y",s,g,note\r\n0,0.1,a,\r\n\r\n1,0.4,a,""\r\n1,0.05,a,"x\r\n'
    rows = rows_read(save(tmp_path / "p.csv", text + "y" * 200_000 + '"\n'))
    check_rows(rows, pd.DataFrame({"y": [0, 1, 1], "s": [0.1, 0.4, 0.05], "g": "a"}))


@pytest.mark.parametrize("kind", ["int8", "float32", "bool", "Int64"])
@pytest.mark.parametrize("options", [[], ["--pos-label", "1"]])
def test_labels_of_parquet_kinds(frame, tmp_path, kind, options):
    frame.astype({"y": kind}).to_parquet(tmp_path / "p.parquet")
    check_rows(rows_read(tmp_path / "p.parquet", *COLUMNS, *options), frame)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "standard input: is empty; it has no header"),
        (b"y,s,h\n", "the column 'g', not found in standard input"),
        (b"\xff", "standard input: is not UTF-8"),
        (None, "standard input is closed"),
    ],
)
def test_what_is_wrong_with_standard_input(monkeypatch, error_of, content, message):
    stream = None if content is None else io.TextIOWrapper(io.BytesIO(content))
    monkeypatch.setattr(sys, "stdin", stream)
    assert message in error_of(["audit", "-", *COLUMNS])


@pytest.mark.parametrize("ending", ["", "\n", "\r\n\r\n", "\n  \n"])
@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("y,s,g,note\n0,0.1,a,\n1,0.4,a", "data row 2 has 3 cells and the header has 4"),
        # Shifted, a score for a label and a fold for a group
        ("fold,y,s,g,note\n0,0,0.1,7,\n1.1,1,2,7\n", "data row 2 has 4 cells and the header has 5"),
        ('y,s,g,note\n"0",0.1,"a,\nb"\n1,0.4,a,', "data row 1 has 3 cells and the header has 4"),
        ("y\ts\tg\tnote\n0\t0.1\ta\t\n1\t0.4", "data row 2 has 2 cells and the header has 4"),
    ],
)
def test_rows_that_lack_cells_are_refused(tmp_path, error_of, text, wrong, ending):
    path = save(tmp_path / "cut.csv", text + ending)
    assert f"{path}: {wrong}; the file may be cut short" in error_of(["audit", path, *COLUMNS])


def test_damaged_parquet_of_any_arrow_error(tmp_path, error_of, monkeypatch):
    path = tmp_path / "p.parquet"
    path.write_bytes(b"PAR1")
    for name in ("ArrowNotImplementedError", "ArrowTypeError", "ArrowKeyError"):

        def read_schema(path, name=name):
            raise getattr(pa, name)("integers of\n80 bits")

        monkeypatch.setattr(pq, "read_schema", read_schema)
        assert f"{path}: cannot be read: integers of 80 bits" in error_of(["audit", path, *COLUMNS])
    full = pa.ArrowMemoryError("malloc of size 64 failed")
    monkeypatch.setattr(pq, "read_schema", mock.Mock(side_effect=full))
    assert main(["audit", str(path), *COLUMNS]) == 4


def test_parquet_without_pyarrow(frame, tmp_path, error_of, monkeypatch):
    frame.to_parquet(tmp_path / "p.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert "pip install pyarrow" in error_of(["audit", tmp_path / "p.parquet", *COLUMNS])


def test_parquet_of_lists_or_with_an_encoding(frame, tmp_path, error_of):
    frame.assign(g=[["a"]] * len(frame)).to_parquet(tmp_path / "p.parquet")
    command = ["audit", tmp_path / "p.parquet", *COLUMNS]
    assert "column 'g' holds list" in error_of(command)
    assert "--encoding is for text files" in error_of([*command, "--encoding", "latin-1"])


def test_files_that_expand_beyond_measure(tmp_path, error_of, monkeypatch):
    monkeypatch.setattr("skfedauc.cli.rows.ALWAYS_READ", 1 << 17)
    rows = b"y,s,g\n0,0,a\n" + b"1,1,a\n" * 300_000
    (tmp_path / "p.csv.gz").write_bytes(gzip.compress(rows))
    pd.read_csv(io.BytesIO(rows)).to_parquet(tmp_path / "p.parquet", compression="zstd")
    for name, advice in (("p.csv.gz", "pass it decompressed"), ("p.parquet", "pass it as CSV")):
        message = error_of(["audit", tmp_path / name, *COLUMNS])
        assert message.endswith(f"if this is intended, {advice}\n")
        assert "expands to more than 100 times its size and 0 MiB" in message


def test_a_separator_is_one_that_gives_the_needed_columns(tmp_path):
    path = save(tmp_path / "p.csv", "a,b;y;s;g\n1,2;1;0.5;x\n0;0;0.2;y\n")
    assert rows_read(path)["y_score"].tolist() == [0.5, 0.2]
    counts = ScoreCounts.from_batches([path], label="y", score="s", group="g")
    assert counts.groups == ("x", "y")
