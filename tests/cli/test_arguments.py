"""Options, their help texts, and errors that are found before the rows are read."""

import os
import re

import pytest
from cli_cases import COLUMNS

import skfedauc
from skfedauc import _kernel as kernel
from skfedauc.audit.rates_and_gaps import QUESTIONS
from skfedauc.cli import audit, counts
from skfedauc.cli.arguments import OPTIONS
from skfedauc.cli.main import main
from skfedauc.cli.terminal import in_words
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
        raise SystemExit(main(arguments))
    assert stopped.value.code == 0
    assert shown in capsys.readouterr().out


NOISE = ["count", "absent.csv", *COLUMNS, "-o", "a.skfa", "--disclosure", "bins"]
NOISE += ["--agreed-groups", "a"]


def test_no_noise_is_no_usage_error(error_of):
    assert "absent.csv: no such file" in error_of([*NOISE, "--epsilon", "0"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--encoding", "klingon"], "--encoding 'klingon' is unknown"),
        (["--encoding", "hex"], "--encoding 'hex' is unknown"),
        (["--within", "g"], "leave no --group column to be compared"),
        (["--within", "absent"], "'absent'"),
        (["--clusters", "absent"], "'absent'"),
        (["--clusters", "note"], "column 'note' is empty in "),
        (["--tolerance", "0.8"], "--tolerance '0.8' lacks the LIMIT: pass NAME=LIMIT"),
        (["--tolerance", "=0.8"], "--tolerance '=0.8' lacks the NAME: pass NAME=LIMIT"),
        (["--tolerance", "difference=5"], "--tolerance difference must be a number between 0"),
        (["--tolerance", "xyz=0.1"], "the NAME of --tolerance must be one of 'difference', "),
        (["--tolerance=ratio=.8", "--tolerance=ratio=.9"], "--tolerance is passed twice for ratio"),
        (["--tolerance=demographic_parity_ratio=.8", "--favorable=negative"], "le negative declar"),
        (["--tolerance=equalized_odds_difference=.8"], "has none: pass --decisions or a number as"),
        (["--fail-if", "not-met"], "--fail-if needs --tolerance; pass it as well"),
    ],
)
def test_options_that_do_not_fit_the_rows_or_each_other(written, error_of, options, message):
    assert message in error_of(["audit", written, *COLUMNS, *options])


AUDIT = ["audit", "{file}", *COLUMNS]
COUNT = ["count", "{file}", *COLUMNS]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit", "p.csv", "--label", "y", "--score", "s"], "required: --group"),
        (["p.csv"], "invalid choice: 'p.csv' (choose from 'audit', "),
        (["audit", "p.csv", *COLUMNS, "--missing", "skip"], "invalid choice: 'skip'"),
        (["audit", "p.csv", *COLUMNS, "--jso"], "unrecognized arguments: --jso"),
        (["audit", "p.csv", *COLUMNS, "--score", "t"], "twice; pass it once, or use compare"),
        (["audit", "p.csv", *COLUMNS, "--group", "y"], "--group 'y' is also the column of --label"),
        (["count", "p.csv", *COLUMNS, "-o", "-"], "--output needs the name of a file"),
        ([*NOISE, "--epsilon", "1", "--group", "h"], "--epsilon takes one --group column"),
        ([*AUDIT, "--json", "--favorable", "good"], "invalid choice: 'good'"),
        (
            [*AUDIT, "--json", "--name", "modell=a"],
            "KEY of --name: one of 'model', 'label', 'score'",
        ),
        ([*AUDIT, "--json", "--name", "model="], "--name 'model=' lacks the TEXT: pass KEY=TEXT"),
        ([*AUDIT, "--json", "{folder}"], "{folder}: cannot be written: Is a directory"),
        ([*AUDIT, "--json", "{file}"], "--json {file} would overwrite"),
        ([*AUDIT, "--json", "{folder}/r", "--html", "{folder}/./r"], "pass another file"),
        ([*AUDIT, "--html", "{folder}/absent/report.html"], "cannot be written: No such file"),
        (COUNT, "required: -o/--output"),
        ([*COUNT, "-o", "{file}"], "{file} would overwrite "),
        ([*COUNT, "-o", "{folder}/no/p.skfa"], "cannot be written: No such"),
        (["merge", "{file}", "-o", "{file}"], "{file} would overwrite "),
    ],
)
def test_arguments_are_checked_before_files_are_read(
    written, tmp_path, error_of, monkeypatch, arguments, message
):
    monkeypatch.setattr(audit, "read_columns", lambda *_: pytest.fail("rows were read"))
    monkeypatch.setattr(counts, "read_columns", lambda *_: pytest.fail("rows were read"))
    monkeypatch.setattr(counts, "read_counts", lambda *_: pytest.fail("counts were read"))
    names = {"folder": tmp_path, "file": written}
    found = error_of([argument.format(**names) for argument in arguments])
    assert message.format(**names) in found
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["y_true", "y_score", "min_count", "pos_label", "min_per_class"])
def test_messages_keep_names_of_columns(name):
    for said in (f"The columns are '{name}', 'b'", f"column '{name}' must have two classes"):
        assert in_words(said) == said
    said = in_words("y_true has missing labels", y_true=f"column '{name}'")
    assert said == f"column '{name}' has missing labels"


def test_the_help_names_every_gap_that_can_have_a_limit():
    said = " ".join(OPTIONS.split())
    told = said[said.index("At least the limit") : said.index("--fail-if")]
    assert set(QUESTIONS) <= set(re.findall(r"\w+", told))
