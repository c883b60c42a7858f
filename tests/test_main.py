"""The command line, judged by scikit-learn on the rows that the test has written."""

import errno
import gzip
import io
import json
import math
import os
import signal
import subprocess
import sys
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import roc_auc_score

import skfedauc
from skfedauc import FairnessAudit, GroupAUC
from skfedauc import __main__ as program
from skfedauc import _kernel as kernel
from skfedauc.audit import page
from skfedauc.cli import audit as command
from skfedauc.cli import predictions_file
from skfedauc.cli.main import main
from skfedauc.report import STATISTICS
from skfedauc.report.group_auc import MATRIX_GROUPS

COLUMNS = ["--label", "y", "--score", "s", "--group", "g"]


@pytest.fixture
def frame():
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


@pytest.fixture
def written(frame, tmp_path):
    path = tmp_path / "predictions.csv"
    frame.to_csv(path, index=False)
    return str(path)


@pytest.fixture
def audit(capsys):
    """Run an audit that must go well; its JSON document."""

    def run(path, *arguments):
        assert main(["audit", str(path), *arguments, "--json"]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return json.loads(printed.out)

    return run


@pytest.fixture
def error_of(capsys):
    """Run what must fail; its message, after making sure that it is one line."""

    def run(arguments):
        assert main([str(argument) for argument in arguments]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("skfedauc: error: ")
        assert printed.err.count("\n") == 1
        return printed.err

    return run


def aucs_of(grouping):
    return {
        tuple(group["label"]) if isinstance(group["label"], list) else group["label"]: group["auc"]
        for group in grouping["groups"]
    }


def expected_aucs(frame, by, weight=None):
    return {
        label: roc_auc_score(
            rows["y"], rows["s"], sample_weight=None if weight is None else rows[weight]
        )
        for label, rows in frame.groupby(by)
    }


def save(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


# Numbers -------------------------------------------------------------------------------


def test_json_has_the_numbers_of_scikit_learn(frame, written, audit):
    document = audit(written, *COLUMNS)
    (grouping,) = document["groupings"]
    expected = expected_aucs(frame, "g")
    assert grouping["by"] == ["g"]
    assert set(expected) == {"007", "7", "NA", "nan", "2024-01-31", "a, b"}
    assert aucs_of(grouping) == pytest.approx(expected, abs=1e-12)
    statistics, parts = grouping["statistics"], grouping["decomposition"]
    assert list(statistics) == list(STATISTICS)
    assert statistics["pooled"] == pytest.approx(roc_auc_score(frame["y"], frame["s"]), abs=1e-12)
    assert statistics["macro"] == pytest.approx(np.mean(list(expected.values())), abs=1e-12)
    assert statistics["worst"] == min(aucs_of(grouping).values())
    assert statistics["pooled"] == pytest.approx(
        parts["share_within"] * parts["within"] + (1 - parts["share_within"]) * parts["cross"],
        abs=1e-12,
    )
    assert (document["n_positives"], document["n_negatives"]) == (
        (frame["y"] == 1).sum(),
        (frame["y"] == 0).sum(),
    )
    for group in grouping["groups"]:
        rows = frame[frame["g"] == group["label"]]
        assert group["n_positives"] == (rows["y"] == 1).sum()
        assert group["n_negatives"] == (rows["y"] == 0).sum()


def test_gaps_are_told_without_small_groups_too(tmp_path, audit, capsys):
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "tiny"], [400, 300, 12])
    y = np.append(rng.integers(0, 2, 700), [0] * 11 + [1])
    score = rng.normal(size=712) + y
    path = tmp_path / "p.csv"
    pd.DataFrame({"y": y, "s": score, "g": group}).to_csv(path, index=False)
    (grouping,) = audit(path, *COLUMNS)["groupings"]
    large = group != "tiny"
    report, others = (
        GroupAUC.from_predictions(y[rows], score[rows], groups=group[rows])
        for rows in (large | True, large)
    )
    test = report.test_difference()
    assert grouping["test_difference"] == {
        "ci_low": test.ci_low,
        "ci_high": test.ci_high,
        "pvalue": test.pvalue,
    }
    interval = others.confidence_intervals(of="statistics").loc["difference"]
    assert grouping["without_small_groups"] == {
        "n_left_out": 1,
        "difference": others.difference,
        "ci_low": interval["ci_low"],
        "ci_high": interval["ci_high"],
        "null_difference": others.null_difference,
        "pvalue": others.test_difference().pvalue,
    }
    assert main(["audit", str(path), *COLUMNS]) == 0
    printed = capsys.readouterr().out
    assert (
        f"Largest difference of two groups: {test.difference:.4f}, 95% interval "
        f"{test.ci_low:.4f}..{test.ci_high:.4f}, p = {test.pvalue:.2g}.\n"
    ) in printed
    assert (
        f"Without 1 group of fewer than 10 positives or negatives: largest difference "
        f"{others.difference:.4f}, 95% interval "
    ) in printed
    pd.DataFrame({"y": y, "s": score, "g": group})[large].to_csv(path, index=False)
    (grouping,) = audit(path, *COLUMNS)["groupings"]
    assert grouping["without_small_groups"] is None


def test_a_group_for_every_row_is_asked_about(tmp_path, capsys):
    path = save(tmp_path / "p.csv", "y,s,g\n0,.1,1\n1,.2,2\n1,.3,3\n")
    assert main(["audit", str(path), *COLUMNS]) == 0
    assert (
        "does each row have a group of its own? --group 'g' should repeat"
        in capsys.readouterr().out
    )


def test_several_groups_one_by_one_then_combined(frame, written, audit):
    document = audit(written, *COLUMNS, "--group", "sex", "--group", "g")
    by_g, by_sex, combined = document["groupings"]
    assert [grouping["by"] for grouping in document["groupings"]] == [["g"], ["sex"], ["g", "sex"]]
    assert aucs_of(by_g) == pytest.approx(expected_aucs(frame, "g"), abs=1e-12)
    assert aucs_of(by_sex) == pytest.approx(expected_aucs(frame, "sex"), abs=1e-12)
    assert aucs_of(combined) == pytest.approx(expected_aucs(frame, ["g", "sex"]), abs=1e-12)


def test_weights(frame, written, audit):
    document = audit(written, *COLUMNS, "--weight", "w")
    used = frame[frame["w"] > 0]
    (grouping,) = document["groupings"]
    assert aucs_of(grouping) == pytest.approx(expected_aucs(used, "g", "w"), abs=1e-12)
    assert document["n_positives"] == (used["y"] == 1).sum()


def test_scores_are_read_to_the_last_digit(tmp_path, audit):
    scores = [0.1 + 0.2, 0.3, 1e-300, math.nextafter(1.0, 0.0), 1.0]
    lines = [f"{label},{score!r},a" for label, score in zip([0, 1, 0, 1, 0], scores, strict=True)]
    document = audit(save(tmp_path / "p.csv", "\n".join(["y,s,g", *lines])), *COLUMNS)
    expected = roc_auc_score([0, 1, 0, 1, 0], scores)
    assert document["groupings"][0]["statistics"]["pooled"] == expected


@pytest.mark.parametrize("cell", ["1_0", "\u0661", "1\u00a0", "0x1", "1,5", "1e", ""])
@pytest.mark.parametrize("column", ["s", "w"])
def test_what_python_alone_takes_for_a_number_is_refused(tmp_path, error_of, cell, column):
    rows = pd.DataFrame({"y": ["0", "1"], "s": ["0.5", " .5e0 "], "g": "a", "w": ["1", "+2"]})
    rows.loc[1, column] = cell
    rows.to_csv(tmp_path / "p.csv", index=False)
    message = error_of(["audit", tmp_path / "p.csv", *COLUMNS, "--weight", "w"])
    what = f"not a finite number in 1 of 2 rows, the first being data row 2 ({cell!r})"
    assert f"column {column!r} is {what if cell else 'empty in 1 of 2 rows'}" in message


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_decimal_commas(frame, tmp_path, audit, error_of, separator):
    frame = frame.assign(w=frame["w"] + 0.25, y=frame["y"] * 1.0)
    expected = audit(str(save_csv(tmp_path, frame)), *COLUMNS, "--weight", "w")
    path = tmp_path / "commas.csv"
    frame.to_csv(path, index=False, sep=separator, decimal=",")
    assert '"0,' in path.read_text() if separator == "," else "0," in path.read_text()
    found = audit(str(path), *COLUMNS, "--weight", "w", "--decimal", ",")
    assert found["groupings"] == expected["groupings"]
    assert (
        audit(str(path), *COLUMNS, "--weight", "w", "--decimal", ",", "--pos-label", "1,0") == found
    )
    message = error_of(["audit", path, *COLUMNS, "--pos-label", "1,0"])
    assert "column 's' is not a finite number in " in message
    assert message.rstrip().endswith("'); pass --decimal , for decimal commas")


def save_csv(folder, frame):
    path = folder / "points.csv"
    frame.to_csv(path, index=False)
    return path


def test_points_beside_decimal_commas_are_refused(tmp_path, error_of):
    path = save(tmp_path / "a.csv", "y;s;g\n0;1.234;a\n1;1,5;a\n")
    message = error_of(["audit", path, *COLUMNS, "--decimal", ","])
    told = "column 's' is written with a point, although --decimal is a comma, in 1 of 2 rows, the "
    assert told + "first being data row 1 ('1.234')" in message
    path = save(tmp_path / "b.csv", "y;s;g\n0;1,234,5;a\n1;1,5;a\n")
    assert "not a finite number in 1 of 2 rows" in error_of(
        ["audit", path, *COLUMNS, "--decimal", ","]
    )


def test_one_class_groups_are_null_and_counted(tmp_path, audit, capsys):
    path = save(tmp_path / "p.csv", "y,s,g\n0,0.1,a\n1,0.4,a\n1,0.3,b\n")
    (grouping,) = audit(path, *COLUMNS)["groupings"]
    assert aucs_of(grouping) == {"a": 1.0, "b": None}
    assert (grouping["n_groups"], grouping["n_undefined"]) == (2, 1)
    assert grouping["statistics"]["macro"] == 1.0
    assert grouping["statistics"]["difference"] is None
    assert main(["audit", path, *COLUMNS]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "3 rows, 2 groups, 1 of them undefined (one class only)" in printed.out
    assert printed.out.splitlines()[-1].split() == ["b", "undefined", "1", "0"]


def test_no_group_has_both_classes(tmp_path, audit):
    (grouping,) = audit(save(tmp_path / "p.csv", "y,s,g\n0,0.1,a\n1,0.4,b\n"), *COLUMNS)[
        "groupings"
    ]
    assert grouping["statistics"]["pooled"] == 1.0
    assert grouping["statistics"]["worst"] is None
    assert grouping["decomposition"] == {"within": None, "cross": 1.0, "share_within": 0.0}


# Files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv.gz", "CSV", "tsv", "parquet"])
def test_kinds_of_files_give_the_same_report(frame, written, tmp_path, audit, ending):
    path = tmp_path / f"other.{ending}"
    if ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    expected, found = audit(written, *COLUMNS), audit(path, *COLUMNS)
    assert found["groupings"] == expected["groupings"]


def test_gzip_is_read_as_gzip(tmp_path, audit):
    path = tmp_path / "p.csv.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfy,s,g\r\n0,0.1,a\r\n1,0.4,a\r\n"))
    assert aucs_of(audit(path, *COLUMNS)["groupings"][0]) == {"a": 1.0}


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_are_told_by_the_header(frame, written, tmp_path, audit, ending, separator):
    path = tmp_path / f"other.{ending}"
    frame.to_csv(path, index=False, sep=separator)
    assert audit(path, *COLUMNS)["groupings"] == audit(written, *COLUMNS)["groupings"]


@pytest.mark.parametrize("separator", [",", ";"])
def test_standard_input(frame, written, audit, monkeypatch, capsys, separator):
    expected = audit(written, *COLUMNS)
    text = frame.to_csv(index=False, sep=separator).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert audit("-", *COLUMNS) == {**expected, "file": "-"}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert main(["audit", "-", *COLUMNS]) == 0
    assert capsys.readouterr().out.startswith("standard input: 400 rows, ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "standard input: cannot be read: No columns"),
        (b"y,s,h\n", "standard input: no column 'g'"),
        (b"\xff", "standard input: is not UTF-8"),
        (None, "standard input is closed"),
    ],
)
def test_what_is_wrong_with_standard_input(monkeypatch, error_of, content, message):
    stream = None if content is None else io.TextIOWrapper(io.BytesIO(content))
    monkeypatch.setattr(sys, "stdin", stream)
    assert message in error_of(["audit", "-", *COLUMNS])


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (pd.array([7, 10, None], dtype="Int64"), ["10", "7"]),
        (pd.array([2**53 + 1, 10, None], dtype="Int64"), ["10", str(2**53 + 1)]),
        (pd.array([True, False, None], dtype="boolean"), ["False", "True"]),
        (pd.Categorical(["NA", "007", None]), ["007", "NA"]),
        (pd.Categorical([7, 10, None]), ["10", "7"]),
        (pd.to_datetime(["2024-01-31", "2024-01-30", None]).date, ["2024-01-30", "2024-01-31"]),
        ([0.5, 1.5, math.nan], ["0.5", "1.5"]),
        (["", "x", None], ["", "x"]),
    ],
)
def test_groups_in_parquet_become_text(tmp_path, audit, values, labels):
    path = tmp_path / "p.parquet"
    half = pd.DataFrame({"g": values, "s": [0.1, 0.2, 0.3]})
    pd.concat([half.assign(y=0), half.assign(y=1)]).to_parquet(path)
    document = audit(path, *COLUMNS, "--missing", "drop")
    assert list(aucs_of(document["groupings"][0])) == labels
    assert document["groupings"][0]["n_dropped"] == 2


@pytest.mark.parametrize("ending", ["", "\n", "\r\n\r\n", "\n  \n"])
@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("y,s,g,note\n0,0.1,a,\n1,0.4,a", "data row 2 has 3 of 4 cells"),
        # Shifted, a score for a label and a fold for a group
        ("fold,y,s,g,note\n0,0,0.1,7,\n1.1,1,2,7\n", "data row 2 has 4 of 5 cells"),
        ('y,s,g,note\n"0",0.1,"a,\nb"\n1,0.4,a,', "data row 1 has 3 of 4 cells"),
        ("y\ts\tg\tnote\n0\t0.1\ta\t\n1\t0.4", "data row 2 has 2 of 4 cells"),
    ],
)
def test_rows_that_lack_cells_are_refused(tmp_path, error_of, text, wrong, ending):
    path = save(tmp_path / "cut.csv", text + ending)
    assert f"{path}: {wrong}; the file may be cut short" in error_of(["audit", path, *COLUMNS])


@pytest.mark.parametrize("first", ["0,0.1,a,1,", "0,0.1,a,1,z", "0,0.1,a,1,,"])
@pytest.mark.parametrize("second", ["1,0.4,a,2", "1,0.4,a,2,"])
def test_rows_longer_than_the_header(tmp_path, error_of, first, second):
    # A cell of text with a comma and without quotes shifts the cells behind it.
    path = tmp_path / "predictions.csv"
    path.write_text(f"y,s,g,note\n{first}\n{second}\n")
    assert "more cells than the header, which has 4" in error_of(["audit", path, *COLUMNS])


def test_damaged_parquet_of_any_arrow_error(tmp_path, error_of, monkeypatch):
    path = tmp_path / "predictions.parquet"
    path.write_bytes(b"PAR1")
    for name in ("ArrowNotImplementedError", "ArrowTypeError", "ArrowKeyError"):

        def read_schema(path, name=name):
            raise getattr(pa, name)("integers of\n80 bits")

        monkeypatch.setattr(pq, "read_schema", read_schema)
        assert f"{path}: cannot be read: integers of 80 bits" in error_of(["audit", path, *COLUMNS])


def test_rows_whose_last_cell_is_empty_are_read(tmp_path, audit):
    text = '\ufeff"y",s,g,note\r\n0,0.1,a,\r\n\r\n1,0.4,a,""\r\n1,0.05,a,"x\r\n'
    found = audit(save(tmp_path / "p.csv", text + "y" * 200_000 + '"\n'), *COLUMNS)
    assert found["groupings"][0]["statistics"]["pooled"] == 0.5


def test_pages_of_parquet_are_checked(frame, tmp_path, error_of):
    """A byte of the scores changed where the writer kept checksums."""
    path = tmp_path / "p.parquet"
    table = pa.Table.from_pandas(frame[["y", "s", "g"]].astype({"s": np.float32}))
    options = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    pq.write_table(table, path, **options)
    content = path.read_bytes()
    place = content.index(frame["s"].to_numpy(np.float32).tobytes())
    path.write_bytes(content[:place] + b"\x01" + content[place + 1 :])
    assert "cannot be read" in error_of(["audit", path, *COLUMNS])


def test_parquet_columns_may_be_the_index_of_pandas(frame, tmp_path, audit):
    path = tmp_path / "p.parquet"
    frame.set_index("g").to_parquet(path)
    (grouping,) = audit(path, *COLUMNS)["groupings"]
    assert aucs_of(grouping) == pytest.approx(expected_aucs(frame, "g"), abs=1e-12)


def test_parquet_without_pyarrow(frame, tmp_path, error_of, monkeypatch):
    path = tmp_path / "p.parquet"
    frame.to_parquet(path)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert "pip install pyarrow" in error_of(["audit", path, *COLUMNS])


# Missing groups ------------------------------------------------------------------------


@pytest.fixture
def with_gaps(frame, tmp_path):
    frame.loc[::10, "g"] = None
    frame.loc[::25, "sex"] = None
    path = tmp_path / "gaps.csv"
    frame.to_csv(path, index=False)
    return path


def test_missing_groups_are_an_error(with_gaps, error_of):
    message = error_of(["audit", with_gaps, *COLUMNS, "--group", "sex"])
    assert "40 of 400 in column 'g', 16 of 400 in column 'sex'; pass --missing drop" in message


@pytest.mark.parametrize("weight", [None, "w"])
def test_missing_groups_are_dropped_by_grouping(frame, with_gaps, audit, weight):
    weighted = [] if weight is None else ["--weight", weight]
    used = frame if weight is None else frame[frame[weight] > 0]
    document = audit(with_gaps, *COLUMNS, "--group", "sex", "--missing", "drop", *weighted)
    for grouping, by in zip(document["groupings"], ["g", "sex", ["g", "sex"]], strict=True):
        kept = used.dropna(subset=by)
        assert aucs_of(grouping) == pytest.approx(expected_aucs(kept, by, weight), abs=1e-12)
        pooled = roc_auc_score(kept["y"], kept["s"], sample_weight=weight and kept[weight])
        assert grouping["statistics"]["pooled"] == pytest.approx(pooled, abs=1e-12)
        assert grouping["n_positives"] == (kept["y"] == 1).sum()
        assert grouping["n_negatives"] == (kept["y"] == 0).sum()
    assert [grouping["n_dropped"] for grouping in document["groupings"]] == [40, 16, 48]
    kept = used.dropna(subset=["g", "sex"], how="all")
    assert len(kept) < len(used)
    assert document["n_positives"] == (kept["y"] == 1).sum()
    assert document["n_negatives"] == (kept["y"] == 0).sum()


def test_missing_groups_that_are_dropped_are_told(with_gaps, capsys):
    assert main(["audit", str(with_gaps), *COLUMNS, "--group", "sex", "--missing", "drop"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{with_gaps}: 392 rows, ")
    assert [line for line in lines if line.startswith("By ")] == [
        "By g: 360 rows, 6 groups; 40 rows without 'g' dropped",
        "By sex: 384 rows, 2 groups; 16 rows without 'sex' dropped",
        "By g x sex: 352 rows, 12 groups; 48 rows without 'g' or 'sex' dropped",
    ]


def test_a_warning_about_several_groupings_is_told_once(tmp_path, capsys):
    path = save(tmp_path / "p.csv", "y,s,g,h\n0,0,a,\n1,1,a,b\n0,1,,b\n1,1,a,b\n0,0,a,b\n")
    assert main(["audit", path, *COLUMNS, "--group", "h", "--missing", "drop"]) == 0
    assert capsys.readouterr().err.count("\n") == 1


def test_a_grouping_without_a_class_is_named(tmp_path, error_of):
    path = save(tmp_path / "p.csv", "y,s,g,h\n0,1,a,\n1,2,a,\n0,1,,b\n1,2,,b\n")
    arguments = ["--group", "h", "--missing", "drop"]
    assert (
        "no positive label among the 0 rows with a group in 'g' and 'h'; an AUC needs both"
        in error_of(["audit", path, *COLUMNS, *arguments])
    )


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "UTF-8-SIG", "cp1252"])
def test_text_of_another_encoding(tmp_path, capsys, encoding):
    path = tmp_path / "p.csv"
    path.write_text("y,s,caf\xe9\n0,.1,z\xfcrich\n1,.2,z\xfcrich\n", encoding=encoding)
    arguments = ["audit", str(path), "--label", "y", "--score", "s", "--group", "caf\xe9", "--json"]
    assert main([*arguments, "--encoding", encoding]) == 0
    (found,) = json.loads(capsys.readouterr().out)["groupings"]
    assert [group["label"] for group in found["groups"]] == ["z\xfcrich"]


def test_encodings_that_cannot_be(tmp_path, error_of):
    path = tmp_path / "p.csv"
    path.write_bytes("y,s,g\n0,1,caf\xe9\n".encode("latin-1"))
    assert "not UTF-8 text; save it as" in error_of(["audit", path, *COLUMNS])
    assert "--encoding latin-1" in error_of(["audit", path, *COLUMNS])
    assert "not ASCII text" in error_of(["audit", path, *COLUMNS, "--encoding", "ascii"])
    for name in ("klingon", "hex", "rot13"):
        message = error_of(["audit", path, *COLUMNS, "--encoding", name])
        assert f"argument --encoding: unknown encoding '{name}'" in message
    table = tmp_path / "p.parquet"
    pd.DataFrame({"y": [0, 1], "s": [0.1, 0.2], "g": ["a", "a"]}).to_parquet(table)
    message = error_of(["audit", table, *COLUMNS, "--encoding", "latin-1"])
    assert "--encoding is for text files" in message


SCORES_THAT_TIE = {
    "integers": [2**53, 2**53 + 1, 5],
    "unsigned": [2**64 - 1, 2**64 - 2, 5],
    "decimals": [Decimal("0.1"), Decimal("0.10000000000000000001"), Decimal("0.2")],
}


@pytest.mark.parametrize("kind", SCORES_THAT_TIE)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_scores_that_would_tie_as_floats(tmp_path, error_of, kind, ending):
    path = tmp_path / f"p.{ending}"
    scores, of_type = SCORES_THAT_TIE[kind], pa.uint64() if kind == "unsigned" else None
    table = pa.table({"y": [0, 1, 1], "s": pa.array(scores, of_type), "g": ["a"] * 3})
    if ending == "csv":
        table.to_pandas().astype(str).to_csv(path, index=False)
    else:
        pq.write_table(table, path)
    message = error_of(["audit", path, *COLUMNS])
    assert "column 's' has 3 different numbers, of which 1 are equal to another one" in message
    assert "use their ranks" in message


def test_scores_of_many_digits_that_differ(tmp_path, capsys):
    path = tmp_path / "p.csv"
    scores = np.random.default_rng(0).random(50)
    cells = "".join(f"{i % 2},{score:.22f},a\n" for i, score in enumerate(scores))
    path.write_text("y,s,g\n" + cells)
    assert main(["audit", str(path), *COLUMNS, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["groupings"]
    expected = roc_auc_score(np.arange(50) % 2, scores)
    assert found["statistics"]["pooled"] == pytest.approx(expected, abs=1e-12)


def test_whole_floats_of_a_parquet_file_are_integers(tmp_path, capsys):
    path = tmp_path / "floats.parquet"
    pd.DataFrame({"y": [0, 1] * 4, "s": np.arange(8) / 8, "g": [1.0, 1, 2, 2] * 2}).to_parquet(path)
    assert main(["audit", str(path), "--label", "y", "--score", "s", "--group", "g", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["groupings"]
    assert [group["label"] for group in found["groups"]] == ["1", "2"]


def test_missing_groups_are_a_group(frame, with_gaps, audit):
    document = audit(with_gaps, *COLUMNS, "--missing", "group")
    expected = expected_aucs(frame.fillna({"g": "(missing)"}), "g")
    assert "(missing)" in expected
    assert aucs_of(document["groupings"][0]) == pytest.approx(expected, abs=1e-12)


# Labels ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("negative", "positive", "arguments"),
    [
        ("0", "1", []),
        ("0", "1", ["--pos-label", "1"]),
        ("0.0", "1.0", ["--pos-label", "1"]),
        ("1", "0", ["--pos-label", "0"]),
        ("-1", "1", []),
        ("1", "-1", ["--pos-label", "-1"]),
        ("False", "True", []),
        ("true", "false", ["--pos-label", "False"]),
        ("no", "yes", ["--pos-label", "yes"]),
        ("2", "10", ["--pos-label", "10"]),
        ("yes", "NA", ["--pos-label", "NA"]),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_labels(frame, tmp_path, audit, negative, positive, arguments, ending):
    path = tmp_path / f"p.{ending}"
    text = frame.assign(y=np.where(frame["y"] == 1, positive, negative))
    if ending == "csv":
        text.to_csv(path, index=False)
    else:
        text.to_parquet(path)
    (grouping,) = audit(path, *COLUMNS, *arguments)["groupings"]
    assert aucs_of(grouping) == pytest.approx(expected_aucs(frame, "g"), abs=1e-12)


@pytest.mark.parametrize("kind", ["int8", "float32", "bool", "Int64"])
def test_labels_of_parquet_kinds(frame, tmp_path, audit, kind):
    frame.astype({"y": kind}).to_parquet(tmp_path / "p.parquet")
    for arguments in ([], ["--pos-label", "1"]):
        (grouping,) = audit(tmp_path / "p.parquet", *COLUMNS, *arguments)["groupings"]
        assert aucs_of(grouping) == pytest.approx(expected_aucs(frame, "g"), abs=1e-12)


@pytest.mark.parametrize("low", [0, -1])
def test_scores_that_are_labels_are_told_on_stderr(tmp_path, capsys, low):
    path = save(tmp_path / "p.csv", f"y,s,g\n{low},{low},a\n1,1,a\n1,{low},a\n")
    assert main(["audit", path, *COLUMNS, "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith(f"skfedauc: warning: column 's' holds only {low} and 1")
    assert printed.err.count("\n") == 1
    assert json.loads(printed.out)["groupings"][0]["statistics"]["pooled"] == 0.75


# What is printed ---------------------------------------------------------------------------


def test_text_has_a_headline_statistics_and_groups_by_auc(frame, written, capsys):
    assert main(["audit", written, *COLUMNS, "--weight", "w"]) == 0
    out = capsys.readouterr().out
    used = frame[frame["w"] > 0]
    assert f"{written}: {len(used)} rows" in out
    assert "weighted by 'w'" in out
    pooled = roc_auc_score(used["y"], used["s"], sample_weight=used["w"])
    assert f"  pooled            {pooled:.4f}" in out.splitlines()
    lines = out.splitlines()
    table = lines[lines.index(next(line for line in lines if line.split()[:2] == ["g", "auc"])) :]
    assert len({len(line) for line in table}) == 1
    ordered = sorted(expected_aucs(used, "g", "w").items(), key=lambda item: item[1])
    for line, (label, auc) in zip(table[1:], ordered, strict=True):
        assert line.strip().startswith(label)
        assert f"{auc:.4f}" in line


def test_many_groups_are_cut_to_the_lowest_and_highest(tmp_path, capsys):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"y": np.tile([0, 0, 1, 1], 60), "s": rng.random(240).round(3)})
    frame["g"] = [f"g{i:02d}" for i in np.repeat(np.arange(60), 4)]
    frame.loc[frame["g"] == "g30", "y"] = 1
    frame.to_csv(tmp_path / "p.csv", index=False)
    assert main(["audit", str(tmp_path / "p.csv"), *COLUMNS]) == 0
    *_, lines = capsys.readouterr().out.partition("  g ")
    table = [line.split() for line in lines.splitlines()[1:-1]]
    expected = pd.Series(expected_aucs(frame[frame["g"] != "g30"], "g")).sort_values(kind="stable")
    assert len(table) == 20
    shown = [float(auc) for _, auc, *_ in table]
    assert shown == pytest.approx([*expected[:10], *expected[-10:]], abs=1e-4)
    assert "; 40 more groups with --json." in lines.splitlines()[-1]


@pytest.mark.parametrize("n_groups", [MATRIX_GROUPS, MATRIX_GROUPS + 1])
def test_what_needs_a_matrix_is_left_out_above_many_groups(tmp_path, audit, capsys, n_groups):
    groups = np.arange(n_groups).repeat(2)
    frame = pd.DataFrame({"y": [0, 1] * n_groups, "s": groups % 7, "g": groups})
    frame.to_csv(tmp_path / "p.csv", index=False)
    (grouping,) = audit(tmp_path / "p.csv", *COLUMNS)["groupings"]
    assert main(["audit", str(tmp_path / "p.csv"), *COLUMNS]) == 0
    line = f"cross_difference is omitted above {MATRIX_GROUPS} groups."
    is_left_out = n_groups > MATRIX_GROUPS
    assert (line in capsys.readouterr().out.splitlines()) == is_left_out
    assert ("cross_difference" not in grouping["statistics"]) == is_left_out


def test_one_of_a_kind_is_told_in_the_singular(tmp_path, capsys):
    path = save(tmp_path / "p.csv", "y,s,g\n0,0.1,a\n1,0.4,a\n1,0.4,\n")
    assert main(["audit", path, *COLUMNS, "--missing", "drop"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{path}: 2 rows, 1 positive and 1 negative"
    assert lines[2] == "By g: 2 rows, 1 group; 1 row without 'g' dropped"


def test_labels_that_would_break_the_table_are_quoted(tmp_path, capsys):
    path = save(tmp_path / "p.csv", 'y,s,g\n0,0.1,"a\nb"\n1,0.4,"a\nb"\n0,0.4," "\n')
    assert main(["audit", path, *COLUMNS]) == 0
    out = capsys.readouterr().out
    assert r"'a\nb'" in out
    assert "' '" in out


def test_main_job(capsys):
    assert main([]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert all(f"  {name} " in printed.out for name in STATISTICS)
    assert "undefined" not in printed.out
    assert max(map(len, printed.out.splitlines())) <= 110


# The page ----------------------------------------------------------------------------------


@pytest.fixture
def without_plots(monkeypatch):
    """Drawing takes most of the time."""
    monkeypatch.setattr(page.figures, "pictures", lambda audit, prefix: [])


@pytest.fixture
def probabilities(frame, tmp_path):
    """A file of predictions without some groups, whose scores are from 0 to 1."""
    frame["s"] = (1 / (1 + np.exp(-frame["s"]))).round(3)
    frame.loc[::10, "g"] = None
    frame.loc[::25, "sex"] = None
    frame.to_csv(tmp_path / "probabilities.csv", index=False)
    return tmp_path / "probabilities.csv"


def audit_of(frame, by, **options):
    kept = frame.dropna(subset=by)
    weight = options.pop("weight", None)
    return FairnessAudit.from_predictions(
        kept["y"],
        kept["s"],
        groups=kept[by].astype(str),
        sample_weight=None if weight is None else kept[weight],
        **options,
    )


def test_a_page_is_written_beside_the_report(frame, written, tmp_path, capsys):
    path = tmp_path / "report.html"
    assert main(["audit", written, *COLUMNS]) == 0
    plain = capsys.readouterr().out
    arguments = [*COLUMNS, "--html", str(path), "--threshold", "-0.5"]
    assert main(["audit", written, *arguments]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{plain}\nThe fairness audit is in {path}.\n"
    assert printed.err == ""
    expected = page.page_of(
        [page.Section(audit_of(frame, ["g"], threshold=-0.5).tables)], "predictions.csv"
    )
    assert path.read_text(encoding="utf-8") == expected


@pytest.mark.parametrize("kind", ["labels", "numbers", "words"])
def test_decisions_are_those_of_the_page(frame, tmp_path, without_plots, audit, kind):
    decided = (frame["s"] > frame["id"] % 3).astype(int)
    words = np.array(["no", "yes"])
    written_as = frame.assign(
        y=words[frame["y"]] if kind != "labels" else frame["y"],
        d=words[decided] if kind == "words" else decided,
    )
    file, path = tmp_path / "decided.csv", tmp_path / "report.html"
    written_as.to_csv(file, index=False)
    arguments = [*COLUMNS, "--group", "sex", "--decisions", "d"]
    arguments += [] if kind == "labels" else ["--pos-label", "yes"]
    assert main(["audit", str(file), *arguments, "--html", str(path)]) == 0
    audits = [audit_of(frame, by, y_pred=decided) for by in (["g"], ["sex"], ["g", "sex"])]
    audits = FairnessAudit.adjusted_together(audits)
    expected = page.page_of([page.Section(one.tables) for one in audits], "decided.csv")
    assert path.read_text(encoding="utf-8") == expected
    assert "Decisions</dt><dd>of the model" in expected


def test_the_reference_is_that_of_page_and_json(frame, written, tmp_path, without_plots):
    path = tmp_path / "report.html"
    arguments = ["audit", written, *COLUMNS, "--reference", "NA", "--html", str(path)]
    assert main(arguments) == 0
    expected = page.page_of(
        [page.Section(audit_of(frame, ["g"], reference=["NA"]).tables)], "predictions.csv"
    )
    assert path.read_text(encoding="utf-8") == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--decisions", "sex"], "--decisions needs --html or --json"),
        (["--reference", "7"], "--reference needs --html or --json"),
        (["--json", "--decisions", "sex"], "column 'sex' has the decisions 'f', 'm'; they must be"),
        (
            ["--json", "--decisions", "y", "--threshold", "0.5"],
            "--threshold both define the decisions; pass one",
        ),
        (["--json", "--decisions", "note"], "column 'note' is empty in "),
        (
            ["--json", "--reference", "8"],
            "--reference must be a group's label; got ['8'], and the ",
        ),
        (["--json", "--reference", "7", "--group", "sex"], "pass a single --group"),
    ],
)
def test_what_is_wrong_with_decisions_and_references(written, error_of, arguments, message):
    assert message in error_of(["audit", written, *COLUMNS, *arguments])


@pytest.mark.parametrize("arguments", [[], ["--weight", "w"]])
def test_a_page_has_the_rows_of_each_grouping(
    frame, probabilities, tmp_path, without_plots, arguments
):
    path = tmp_path / "report.html"
    by_both = [*COLUMNS, "--group", "sex", "--missing", "drop", "--html", str(path)]
    assert main(["audit", str(probabilities), *by_both, *arguments]) == 0
    weight = arguments[-1] if arguments else None
    groupings = (["g"], ["sex"], ["g", "sex"])
    audits = [audit_of(frame, by, weight=weight) for by in groupings]
    # One page is one family of claims.
    sections = [
        page.Section(one.tables, frame[by].isna().any(axis=1).sum())
        for one, by in zip(FairnessAudit.adjusted_together(audits), groupings, strict=True)
    ]
    assert path.read_text(encoding="utf-8") == page.page_of(sections, "probabilities.csv")


def test_a_page_of_another_positive_label(frame, probabilities, tmp_path, without_plots):
    path = tmp_path / "report.html"
    frame.assign(y=np.where(frame["y"] == 1, "yes", "no")).to_csv(probabilities, index=False)
    arguments = ["--pos-label", "no", "--missing", "drop", "--html", str(path)]
    assert main(["audit", str(probabilities), *COLUMNS, *arguments]) == 0
    frame["y"] = 1 - frame["y"]
    sections = [page.Section(audit_of(frame, ["g"]).tables, 40)]
    assert path.read_text(encoding="utf-8") == page.page_of(sections, "probabilities.csv")


def test_a_page_beside_json(probabilities, tmp_path, audit, without_plots):
    arguments = [*COLUMNS, "--missing", "drop"]
    expected = audit(probabilities, *arguments)
    assert audit(probabilities, *arguments, "--html", str(tmp_path / "report.html")) == expected
    assert (tmp_path / "report.html").exists()


def test_json_is_written_to_a_file_beside_report_and_page(
    probabilities, tmp_path, capsys, audit, without_plots
):
    arguments = ["audit", str(probabilities), *COLUMNS, "--missing", "drop"]
    expected = audit(probabilities, *arguments[2:])
    assert main(arguments) == 0
    report = capsys.readouterr().out
    path, page = tmp_path / "caf\xe9.json", tmp_path / "r.html"
    assert main([*arguments, "--json", str(path)]) == 0
    assert capsys.readouterr().out == f"{report}\nThe JSON document is in {path}.\n"
    assert json.loads(path.read_text(encoding="utf-8")) == expected
    assert main([*arguments, "--json", str(path), "--html", str(page)]) == 0
    told = f"\nThe fairness audit is in {page}.\nThe JSON document is in {path}.\n"
    assert capsys.readouterr().out == report + told
    assert json.loads(path.read_text(encoding="utf-8")) == expected
    assert main([*arguments, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == expected
    assert sorted(os.listdir(tmp_path)) == [path.name, probabilities.name, page.name]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_document_on_a_full_disk_leaves_report_and_page(
    probabilities, tmp_path, capsys, without_plots
):
    arguments = ["audit", str(probabilities), *COLUMNS, "--missing", "drop"]
    assert main(arguments) == 0
    report = capsys.readouterr().out
    page = tmp_path / "r.html"
    assert main([*arguments, "--json", "/dev/full", "--html", str(page)]) == 3
    printed = capsys.readouterr()
    assert printed.out == report
    message = "/dev/full: cannot be written: No space left on device"
    assert printed.err == f"skfedauc: error: {message}\n"
    assert page.read_text(encoding="utf-8").endswith("</html>")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--json", "{folder}"], "{folder}: cannot be written: Is a directory"),
        (["--json", "{folder}/absent/a.json"], "cannot be written: No such file"),
        (["--json", "{file}"], "--json {file} would overwrite the predictions"),
        (["--json", "{folder}/r.html", "--html", "{folder}/./r.html"], "pass two files"),
        (["--html", "{folder}"], "{folder}: cannot be written: Is a directory"),
        (["--html", "{folder}/absent/report.html"], "cannot be written: No such file"),
        (["--html", "{file}"], "--html {file} would overwrite the predictions"),
        (["--threshold", "0.5"], "--threshold needs --html or --json"),
        (["--favorable", "negative"], "--favorable needs --html or --json"),
        (["--html", "{folder}/r.html", "--favorable", "good"], "invalid choice: 'good'"),
        (["--html", "{folder}/r.html", "--threshold", "half"], "number or none; got 'half'"),
        (["--html", "{folder}/r.html", "--threshold", "nan"], "number or none; got 'nan'"),
    ],
)
def test_what_is_wrong_with_a_page(
    probabilities, tmp_path, error_of, without_plots, arguments, message
):
    names = {"folder": tmp_path, "file": probabilities}
    before = probabilities.read_bytes()
    arguments = [argument.format(**names) for argument in arguments]
    found = error_of(["audit", probabilities, *COLUMNS, "--missing", "drop", *arguments])
    assert message.format(**names) in found
    assert probabilities.read_bytes() == before
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize("threshold", [[], ["--threshold", "none"]])
def test_a_page_of_scores_that_are_no_probabilities_is_about_the_ranking(
    frame, written, tmp_path, without_plots, threshold
):
    path = tmp_path / "report.html"
    assert main(["audit", written, *COLUMNS, "--html", str(path), *threshold]) == 0
    text = path.read_text(encoding="utf-8")
    assert ("Decisions are not audited" in text) == (not threshold)
    options = {"threshold": None if threshold else "auto"}
    expected = page.page_of(
        [page.Section(audit_of(frame, ["g"], **options).tables)], "predictions.csv"
    )
    assert text == expected


@pytest.mark.parametrize("favorable", ["positive", "negative"])
def test_the_favorable_outcome_is_that_of_page_and_json(
    frame, probabilities, tmp_path, audit, without_plots, favorable
):
    path = tmp_path / "report.html"
    arguments = [*COLUMNS, "--missing", "drop", "--favorable", favorable]
    document = audit(probabilities, *arguments, "--html", str(path))
    expected = audit_of(frame, ["g"], favorable=favorable)
    text = path.read_text(encoding="utf-8")
    assert text == page.page_of([page.Section(expected.tables, 40)], "probabilities.csv")
    assert document["favorable"] == favorable
    assert document["groupings"][0]["findings"] == list(expected.findings)
    assert document["groupings"][0]["n_claims"] == expected.n_claims


@pytest.mark.parametrize("module", ["jinja2", "matplotlib"])
def test_a_page_without_what_it_needs(probabilities, tmp_path, error_of, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    arguments = [*COLUMNS, "--missing", "drop", "--html", tmp_path / "report.html"]
    assert 'pip install "skfedauc[html]"' in error_of(["audit", probabilities, *arguments])


# Messages and exit codes ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("y,Score,g\n0,1,a\n", COLUMNS, "no column 's' among its columns 'y', 'Score', 'g'"),
        ("yy,s,g\n0,1,a\n", COLUMNS, "did you mean 'yy'?"),
        ("Y,s,g\n0,1,a\n", COLUMNS, "did you mean 'Y'?"),
        ("y,s,g,g\n0,1,a,b\n", COLUMNS, "2 columns are named 'g'"),
        ("y s g\n0 1 a\n", COLUMNS, "no column 'y' among its columns 'y s g'"),
        ("y;s;g\n0;1,5;a\n1;2;a\n", COLUMNS, "first being data row 1 ('1,5')"),
        ("", COLUMNS, "cannot be read: No columns to parse"),
        ("y,s,g\n", COLUMNS, "there are no rows"),
        ("y,s,g\n0,1,a,b\n1,2,a,c\n", COLUMNS, "data row 1 has more cells than the header"),
        ("y,s,g\n0,1,a\n1,2,a,c\n", COLUMNS, "Expected 3 fields in line 3, saw 4"),
        ("y,s,g\n0,1,a\n1,2,a\n2,1,a\n", COLUMNS, "labels '0', '1', '2'; an AUC needs two"),
        ("y,s,g\n2,1,a\n3,2,a\n", COLUMNS, "labels '2', '3'; pass the positive one"),
        ("y,s,g\nno,1,a\nyes,2,a\n", COLUMNS, "labels 'no', 'yes'; pass the positive one"),
        (
            "y,s,g\nno,1,a\nyes,2,a\n",
            [*COLUMNS, "--pos-label", "Yes"],
            "labels 'no', 'yes'; --pos-label 'Yes' is not among them",
        ),
        ("y,s,g\n1,1,a\n1,2,a\n", COLUMNS, "no negative label among the 2 rows; an AUC needs both"),
        ("y,s,g\n0,1,a\n0,2,a\n", COLUMNS, "no positive label among the 2 rows"),
        (
            "y,s,g\n0,1,a\n,2,a\n",
            COLUMNS,
            "'y' is empty in 1 of 2 rows, the first being data row 2",
        ),
        (
            "y,s,g\n0,1,a\n1,,a\n",
            COLUMNS,
            "'s' is empty in 1 of 2 rows, the first being data row 2",
        ),
        (
            "y,s,g\n0,1,a\n1,high,a\n1,NA,a\n",
            COLUMNS,
            "'s' is not a finite number in 2 of 3 rows, the first being data row 2 ('high')",
        ),
        ("y,s,g\n0,1,a\n1,inf,a\n", COLUMNS, "first being data row 2 ('inf')"),
        ("y,s,g\n0,1,a\n1,True,a\n", COLUMNS, "first being data row 2 ('True')"),
        ("y,s,g\n0,1,a\n1,,\n1,x,a\n", [*COLUMNS, "--missing", "drop"], "data row 3 ('x')"),
        (
            "y,s,g\n0,1,\n1,2,\n",
            [*COLUMNS, "--missing", "drop"],
            "among the 0 rows with a group in 'g'",
        ),
        (
            "y,s,g\n0,1,\n1,2,(missing)\n",
            [*COLUMNS, "--missing", "group"],
            "a group called '(missing)' already",
        ),
        ("y,s,g,w\n0,1,a,-1\n1,2,a,1\n", [*COLUMNS, "--weight", "w"], "data row 1 ('-1')"),
        (
            "y,s,g,w\n0,1,a,0\n1,2,a,1\n",
            [*COLUMNS, "--weight", "w"],
            "no negative label among the 1 row with a weight above 0; an AUC",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path, error_of, text, arguments, message):
    assert message in error_of(["audit", save(tmp_path / "p.csv", text), *arguments])


LONG = "x" * 1_000_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{LONG},s,g\n0,1,a\n", f"among its columns '{LONG[:60]}'... (1,000,000 characters), 's'"),
        (LONG, f"among its columns '{LONG[:60]}'... (1,000,000 characters)"),
        (f"y,s,g\n0,{LONG},a\n", f"data row 1 ('{LONG[:60]}'... (1,000,000 characters))"),
        (
            f"y,s,g\n{LONG},1,a\n",
            f"labels '{LONG[:60]}'... (1,000,000 characters); pass the",
        ),
        (",".join(f"{i}{LONG[:50_000]}" for i in range(40)), "(40 in all)"),
    ],
    ids=["name", "no line", "score", "label", "many names"],
)
def test_long_names_and_cells_are_not_quoted_whole(tmp_path, error_of, text, message):
    error = error_of(["audit", save(tmp_path / "p.csv", text), *COLUMNS])
    assert message in error
    assert len(error) < 3000


def test_long_labels_are_shown_by_their_ends(tmp_path, capsys, audit):
    labels = [f"{LONG}{end}" for end in "ab"]
    text = "y,s,g\n" + "".join(f"{y},{y + 0.1},{label}\n" for label in labels for y in (0, 1))
    path = save(tmp_path / "p.csv", text)
    assert main(["audit", path, *COLUMNS]) == 0
    printed = capsys.readouterr().out
    assert len(printed) < 5000
    for end in "ab":
        assert f"{LONG[:40]}\N{HORIZONTAL ELLIPSIS}{LONG[:38]}{end} " in printed
    (grouping,) = audit(path, *COLUMNS)["groupings"]
    assert list(aucs_of(grouping)) == labels


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.csv", None, "absent.csv: no such file"),
        ("p.xlsx", b"", "the name must end in one of .csv, .csv.gz, .tsv, .parquet"),
        ("p.parquet", b"not parquet", "p.parquet: cannot be read"),
        ("p.csv.gz", b"not gzip", "p.csv.gz: cannot be read"),
        (
            "p.csv.gz",
            gzip.compress(b"y,s,g\n0,1,a\n" * 99, mtime=0)[:-20],
            "p.csv.gz: cannot be read",
        ),
        ("p.csv", "y,s,g\n0,1,caf\xe9\n".encode("latin-1"), "p.csv: is not UTF-8 text; save it as"),
        ("p.csv", "y,s,g\n0,1,a\n".encode("utf-16"), "p.csv: is not UTF-8 text; save it as UTF-8"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, error_of, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert message in error_of(["audit", tmp_path / name, *COLUMNS])


def test_parquet_of_lists(frame, tmp_path, error_of):
    frame.assign(g=[["a"]] * len(frame)).to_parquet(tmp_path / "p.parquet")
    assert "column 'g' holds list" in error_of(["audit", tmp_path / "p.parquet", *COLUMNS])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit"], "the following arguments are required: FILE, --label"),
        (["audit", "p.csv", "--label", "y", "--score", "s"], "required: --group"),
        (["p.csv"], "invalid choice: 'p.csv'"),
        (["audit", "p.csv", *COLUMNS, "--missing", "skip"], "invalid choice: 'skip'"),
        (["audit", "p.csv", *COLUMNS, "--jso"], "unrecognized arguments: --jso"),
    ],
)
def test_usage_errors(error_of, arguments, message):
    assert message in error_of(arguments)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["--version"], f"skfedauc {skfedauc.__version__} ({kernel.name()} kernel)"),
        (["--help"], "skfedauc audit predictions.csv"),
        (["audit", "--help"], "--missing {error,drop,group}"),
        (["audit", "--help"], f"above {MATRIX_GROUPS} groups"),
    ],
)
def test_help_and_version(capsys, arguments, shown):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 0
    assert shown in capsys.readouterr().out


def test_interrupt(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "read_columns", interrupted)
    monkeypatch.setattr(sys, "argv", ["skfedauc", "audit", "p.csv", *COLUMNS])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert program.main() == 130
    assert capsys.readouterr() == ("", "")


# What stops it --------------------------------------------------------------------------


WEIGHTED = [*COLUMNS, "--weight", "w"]


@pytest.mark.parametrize("scale", [1e-99, 1e-60, 1e20, 1e99])
def test_the_scale_of_weights_changes_nothing(frame, tmp_path, audit, without_plots, scale):
    frame = frame.assign(s=frame["s"].rank(pct=True).round(2), w=np.arange(400) % 7 + 0.5)
    frame.to_csv(tmp_path / "one.csv", index=False)
    frame.assign(w=frame["w"] * scale).to_csv(tmp_path / "p.csv", index=False)
    expected = audit(tmp_path / "one.csv", *WEIGHTED)["groupings"]
    found = audit(tmp_path / "p.csv", *WEIGHTED, "--html", str(tmp_path / "r.html"))["groupings"]
    assert aucs_of(found[0]) == pytest.approx(aucs_of(expected[0]), abs=1e-12)
    for group, other in zip(found[0]["groups"], expected[0]["groups"], strict=True):
        assert group["ci_low"] == pytest.approx(other["ci_low"], abs=1e-9)
    assert (tmp_path / "r.html").exists()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            [1e200, 1, 1],
            "must be at most 1e100, since products of weights are added up; got 1e+200.",
        ),
        ([1e-110, 1, 0], "must be 0 or at least 1e-100, since products of weights are added up"),
        ([1e-90, 1e90, 0], "must not differ by more than a factor of 1e100, since products"),
        ([1e-300, 1e300, 0], "must be at most 1e100"),
    ],
)
def test_weights_are_refused_as_in_python(tmp_path, error_of, weights, message):
    with pytest.raises(ValueError, match=message.replace("+", r"\+")) as refused:
        GroupAUC.from_predictions([0, 1, 1], [1, 2, 2.5], groups=list("aaa"), sample_weight=weights)
    frame = pd.DataFrame({"y": [0, 1, 1], "s": [1, 2, 2.5], "g": "a", "w": weights})
    frame.to_csv(tmp_path / "p.csv", index=False)
    told = str(refused.value).replace("sample_weight", "column 'w'").removesuffix(".")
    assert f"error: {told}\n" in error_of(["audit", tmp_path / "p.csv", *WEIGHTED])


def test_labels_with_decimal_commas_are_told_of_the_option(tmp_path, error_of):
    path = save(tmp_path / "p.csv", "y;s;g\n0,0;1;a\n1,0;2;a\n")
    message = error_of(["audit", path, *COLUMNS])
    assert "the labels '0,0', '1,0'; pass the positive one" in message
    assert message.endswith(", and --decimal , for decimal commas\n")
    assert main(["audit", path, *COLUMNS, "--decimal", ","]) == 0


def test_surrogates_in_the_positive_label_are_refused(tmp_path, error_of):
    path = save(tmp_path / "p.csv", "y,s,g\nno,1,a\nyes,2,a\n")
    message = error_of(["audit", path, *COLUMNS, "--pos-label", "yes\udcff"])
    assert "error: --pos-label holds 'yes\\udcff', which is not valid Unicode" in message


@pytest.mark.parametrize("other", ["", ",note"])
def test_a_column_without_a_name(tmp_path, capsys, other):
    text = f"y,s,{other}\n" + "".join(
        f"{i % 2},{i / 9},{'ab'[i // 4]}{',x' if other else ''}\n" for i in range(8)
    )
    path = save(tmp_path / "p.csv", text)
    arguments = ["audit", path, "--label", "y", "--score", "s", "--group", ""]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "By '': 8 rows, 2 groups\n" in printed
    assert [line.split()[:2] for line in printed.splitlines()[-3:]] == [
        ["''", "auc"],
        ["a", "0.7500"],
        ["b", "0.7500"],
    ]


def test_names_cannot_act_on_the_terminal(tmp_path, capsys):
    name = "g\x1b[31m\u202e"
    path = tmp_path / "p\x1b]0;x\x07.csv"
    rows = pd.DataFrame({"y": [0, 1] * 4, "s": np.arange(8), name: ["=1+1", "-1", "@x", "a"] * 2})
    rows.to_csv(path, index=False)
    arguments = ["audit", str(path), "--label", "y", "--score", "s", "--group"]
    assert main([*arguments, name]) == 0
    printed = capsys.readouterr().out
    assert all(char.isprintable() or char == "\n" for char in printed)
    assert r"p\x1b]0;x\x07.csv: 8 rows" in printed
    assert r"By 'g\x1b[31m\u202e': 8 rows" in printed
    # Labels that a spreadsheet would compute are quoted, numbers are not.
    labels = [line.split()[0] for line in printed.splitlines()[-4:]]
    assert sorted(labels) == ["'=1+1'", "'@x'", "-1", "a"]
    assert main([*arguments, "h\x1b"]) == 2
    assert r"p\x1b]0;x\x07.csv: no column 'h\x1b' among" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (lambda path, rows: path.write_bytes(gzip.compress(rows)), "pass it decompressed"),
        (
            lambda path, rows: pd.read_csv(io.BytesIO(rows)).to_parquet(path, compression="zstd"),
            "pass it as CSV",
        ),
    ],
)
def test_files_that_expand_beyond_measure(tmp_path, error_of, monkeypatch, make, advice):
    monkeypatch.setattr(predictions_file, "ALWAYS_READ", 1 << 17)
    path = tmp_path / ("p.csv.gz" if "CSV" not in advice else "p.parquet")
    make(path, b"y,s,g\n0,0,a\n" + b"1,1,a\n" * 300_000)
    message = error_of(["audit", path, *COLUMNS])
    assert message.endswith(f"if this is intended, {advice}\n")
    assert "expands to more than 100 times its size and 0 MiB" in message


def test_files_that_expand_as_text_does_are_read(frame, tmp_path, audit, monkeypatch, written):
    monkeypatch.setattr(predictions_file, "ALWAYS_READ", 1)
    frame.to_csv(tmp_path / "p.csv.gz", index=False)
    frame.to_parquet(tmp_path / "p.parquet")
    expected = audit(written, *COLUMNS)["groupings"]
    for name in ("p.csv.gz", "p.parquet"):
        assert audit(tmp_path / name, *COLUMNS)["groupings"] == expected


@pytest.mark.parametrize("as_json", [False, True])
def test_the_report_is_printed_even_if_the_page_cannot_be_written(
    probabilities, tmp_path, capsys, monkeypatch, without_plots, as_json
):
    arguments = ["audit", str(probabilities), *COLUMNS, "--missing", "drop"]
    arguments += ["--json"] if as_json else []
    assert main(arguments) == 0
    expected = capsys.readouterr().out
    page = tmp_path / "r.html"
    page.write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(command, "write_whole", full)
    assert main([*arguments, "--html", str(page)]) == 3
    printed = capsys.readouterr()
    assert printed.out == expected
    message = f"skfedauc: error: {page}: cannot be written: No space left on device\n"
    assert printed.err == message
    assert page.read_text() == "old"


@pytest.mark.parametrize("option", ["--html", "--json"])
def test_a_target_is_checked_before_the_rows_are_read(tmp_path, error_of, monkeypatch, option):
    monkeypatch.setattr(command, "read_columns", lambda *_: pytest.fail("rows were read"))
    target = tmp_path / "absent" / "r"
    assert "No such file" in error_of(["audit", tmp_path / "p.csv", *COLUMNS, option, target])


def test_json_does_not_take_the_predictions_for_its_file(written, error_of):
    before = os.stat(written)
    assert "the name after --json is the file to be written" in error_of(
        ["audit", "--json", written, *COLUMNS]
    )
    assert os.stat(written).st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("where", ["read_columns", "report_lines"])
def test_not_enough_memory(written, capsys, monkeypatch, where):
    def failing(*_):
        raise MemoryError("Unable to allocate 5 GiB")

    monkeypatch.setattr(command, where, failing)
    assert main(["audit", written, *COLUMNS]) == 4
    message = capsys.readouterr().err
    assert message.startswith(
        "skfedauc: error: there is not enough memory; count the rows in parts"
    )
    assert message.count("\n") == 1


def test_pandas_runs_out_of_memory(written, capsys, monkeypatch):
    def failing(*_, **__):
        raise pd.errors.ParserError("Error tokenizing data. C error: out of memory")

    monkeypatch.setattr(pd, "read_csv", failing)
    assert main(["audit", written, *COLUMNS]) == 4
    assert capsys.readouterr().out == ""


def test_warnings_are_one_line(written, capsys, monkeypatch):
    def warning(*_):
        warnings.warn("overflow\nin \x1b", RuntimeWarning, stacklevel=2)
        return []

    monkeypatch.setattr(command, "report_lines", warning)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(["audit", written, *COLUMNS]) == 0
    assert capsys.readouterr().err == "skfedauc: warning: overflow\\nin \\x1b\n"


def test_help_lists_the_exit_codes(capsys):
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    shown = capsys.readouterr().out
    codes = [line.split()[0] for line in shown.partition("exit codes:\n")[2].splitlines()]
    assert codes == ["0", "2", "3", "4", "130", "141"]


# As a program ----------------------------------------------------------------------------


def test_main_job_as_a_program():
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "skfedauc"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "What it means:" in run.stdout


def test_a_pipe_is_read():
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "skfedauc", "audit", "-", *COLUMNS],
        input="y,s,g\n0,0.1,a\n1,0.4,a\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "By g: 2 rows, 1 group" in run.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk(written):
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [sys.executable, "-W", "error", "-m", "skfedauc", "audit", written, *COLUMNS],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    message = "skfedauc: error: standard output: cannot be written: No space left on device\n"
    assert (run.returncode, run.stderr) == (3, message)


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_interrupt_while_modules_are_imported(written, tmp_path):
    """Sent by the first module that the command line imports, argparse."""
    (tmp_path / "argparse.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "skfedauc", "audit", written, *COLUMNS],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.getcwd()}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


def test_a_reader_that_stops_is_no_error(tmp_path):
    # More than a pipe buffers, so that writing fails while the report is printed.
    labels = [f"{i:05d}" for i in range(3000)]
    pd.DataFrame({"y": [0, 1] * 1500, "s": 0.5, "g": labels}).to_csv(tmp_path / "p.csv")
    with subprocess.Popen(
        [sys.executable, "-m", "skfedauc", "audit", tmp_path / "p.csv", *COLUMNS, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout.readline() == "{\n"
        run.stdout.close()
        assert run.stderr.read() == ""
        assert run.wait() == 141
