"""Options, their help texts, and errors that are found before the rows are read."""

import os

import pandas as pd
import pytest
from cli_cases import COLUMNS

import skfedauc
from skfedauc import _kernel as kernel
from skfedauc.audit.arguments import NAMES
from skfedauc.cli import audit as command
from skfedauc.cli.arguments import parse
from skfedauc.cli.main import main
from skfedauc.cli.options import NAMED
from skfedauc.report.statistics import MATRIX_GROUPS


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["--version"], f"skfedauc {skfedauc.__version__} ({kernel.name()} kernel)\n"),
        (["--help"], "skfedauc audit predictions.csv"),
        (["audit", "--help"], "--missing {raise,drop,group}"),
        (["audit", "--help"], f"above {MATRIX_GROUPS} groups"),
    ],
)
def test_help_and_version(capsys, arguments, shown):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 0
    assert shown in capsys.readouterr().out


NOISE = ["count", "absent.csv", *COLUMNS, "-o", "a.skfa", "--disclosure", "bins"]
NOISE += ["--agreed-groups", "a"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit"], "the following arguments are required: FILE, --label"),
        (["audit", "p.csv", "--label", "y", "--score", "s"], "required: --group"),
        (
            ["p.csv"],
            "there is no command 'p.csv'; the commands are audit, ",
        ),
        (["audit", "p.csv", *COLUMNS, "--missing", "skip"], "invalid choice: 'skip'"),
        (["audit", "p.csv", *COLUMNS, "--jso"], "unrecognized arguments: --jso"),
        (["audit", "p.csv", *COLUMNS, "--encoding", "klingon"], "unknown encoding 'klingon'"),
        (["audit", "p.csv", *COLUMNS, "--encoding", "hex"], "unknown encoding 'hex'"),
        (["audit", "p.csv", *COLUMNS, "--encoding", "rot13"], "unknown encoding 'rot13'"),
        (["audit", "p.csv", *COLUMNS, "--score", "t"], "twice; pass it once, or use compare"),
        (["audit", "p.csv", *COLUMNS, "--group", "y"], "--group 'y' is also the column of --label"),
        (["count", "p.csv", *COLUMNS, "-o", "-"], "--output needs the name of a file"),
        ([*NOISE, "--epsilon", "0"], "absent.csv: no such file"),
    ],
)
def test_usage_errors(error_of, arguments, message):
    assert message in error_of(arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--json", "--decisions", "y", "--threshold", "0.5"], "pass one of them"),
        (["--decisions", "y", "--threshold", "0.5"], "--decisions and --threshold both define"),
        (["--json", "--favorable", "good"], "invalid choice: 'good'"),
        (
            ["--json", "--name", "modell=a"],
            "model, label or score, then = and a name; got 'modell=",
        ),
        (["--json", "--name", "model="], "then = and a name; got 'model='"),
        (["--json", "--threshold", "half"], "number or none; got 'half'"),
        (["--json", "--threshold", "nan"], "number or none; got 'nan'"),
        (["--json", "{folder}"], "{folder}: cannot be written: Is a directory"),
        (["--json", "{folder}/absent/a.json"], "cannot be written: No such file"),
        (["--json", "{file}"], "--json {file} would overwrite the predictions"),
        (["--json", "{folder}/r.html", "--html", "{folder}/./r.html"], "pass two files"),
        (["--html", "{folder}"], "{folder}: cannot be written: Is a directory"),
        (["--html", "{folder}/absent/report.html"], "cannot be written: No such file"),
        (["--html", "{file}"], "--html {file} would overwrite the predictions"),
    ],
)
def test_options_are_checked_before_the_rows_are_read(
    written, tmp_path, error_of, monkeypatch, arguments, message
):
    monkeypatch.setattr(command, "read_columns", lambda *_: pytest.fail("rows were read"))
    names = {"folder": tmp_path, "file": written}
    arguments = [argument.format(**names) for argument in arguments]
    found = error_of(["audit", written, *COLUMNS, *arguments])
    assert message.format(**names) in found
    assert os.listdir(tmp_path) == []


def test_the_same_file_under_another_name_is_not_overwritten(tmp_path, error_of):
    path, link = tmp_path / "p.csv", tmp_path / "report.html"
    path.write_text("y,s,g\n")
    os.link(path, link)
    assert "would overwrite the predictions" in error_of(["audit", path, *COLUMNS, "--html", link])


def test_json_does_not_take_the_predictions_for_its_file(written, error_of):
    before = os.stat(written)
    message = error_of(["audit", "--json", written, *COLUMNS])
    assert "the name after --json is the file to be written" in message
    assert os.stat(written).st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("text", ["-0.5", "none", "auto"])
def test_thresholds(text):
    found = parse(["audit", "p.csv", *COLUMNS, "--json", "--threshold", text]).threshold
    assert found == {"-0.5": -0.5, "none": None, "auto": "auto"}[text]


def test_the_keys_of_names_are_those_of_an_audit():
    assert NAMED == NAMES


def test_encodings_are_for_text(tmp_path, error_of):
    path = tmp_path / "p.parquet"
    pd.DataFrame({"y": [0, 1], "s": [0.1, 0.2], "g": ["a", "a"]}).to_parquet(path)
    message = error_of(["audit", path, *COLUMNS, "--encoding", "latin-1"])
    assert "--encoding is for text files" in message
