"""Tolerances on the command line: answers, exit codes, and the part of the JSON document."""

import json
import os
import re

import numpy as np
import pytest
from cli_cases import COLUMNS, with_gaps

from skfedauc import FairnessAudit
from skfedauc.audit import QUESTIONS
from skfedauc.cli.arguments import OPTIONS
from skfedauc.cli.main import main

# For the groups of column g, the answers are "not met", "undecided" and "met", in this order.
TOLERANCES = {
    "demographic_parity_difference": 0.005,
    "difference": 0.1,
    "calibration_difference": 0.9,
}


def options_of(tolerances):
    return [f"--tolerance={name}={limit}" for name, limit in tolerances.items()]


@pytest.fixture
def decided(frame, tmp_path):
    """A file with decisions that differ between groups, and their audit."""
    frame = with_gaps(frame)
    differs = frame["g"].isin(["007", "7", "nan"]) & (frame["id"] % 4 > 0)
    frame["d"] = np.where(differs, 1, frame["id"] % 2)
    path = tmp_path / "decided.csv"
    frame.to_csv(path, index=False)
    kept = frame.dropna(subset="g")
    audit = FairnessAudit.from_predictions(
        kept["y"], kept["s"], groups=kept["g"], y_pred=kept["d"], tolerances=TOLERANCES
    )
    return str(path), audit


def test_the_exit_code_follows_the_answers(decided, tmp_path, capsys):
    path, audit = decided
    by_g = ["audit", path, *COLUMNS, "--missing", "drop", "--decisions", "d"]
    assert audit.tolerances["answer"].tolist() == ["not met", "undecided", "met"]
    names = dict(zip(("not met", "undecided", "met"), TOLERANCES.items(), strict=True))
    for choice, failing in (("not-met", {"not met"}), ("undecided", {"not met", "undecided"})):
        for answer, (name, limit) in names.items():
            json_file = tmp_path / "a.json"
            json_file.unlink(missing_ok=True)
            options = [f"--tolerance={name}={limit}", "--fail-if", choice, "--json", str(json_file)]
            code = main([*by_g, *options])
            printed = capsys.readouterr()
            assert json.loads(json_file.read_text())["tolerances"]["total"] == 1
            assert printed.out.endswith(f"The JSON document is in {json_file}.\n")
            if answer in failing:
                assert code == 5
                reason = f"--fail-if {choice}: {name} by g is {answer}"
                assert printed.err == f"skfedauc: error: {reason}\n"
            else:
                assert (code, printed.err) == (0, "")
    # A tolerance needs neither a page nor a document.
    assert main([*by_g, *options_of(TOLERANCES), "--fail-if", "not-met"]) == 5
    assert "\nTolerances\n" in capsys.readouterr().out


def test_the_help_names_all_gaps():
    text = " ".join(OPTIONS.split())  # which imports nothing, so that it names them again
    least, most = re.search(r"limit have to be: ([^.]*)\. At most: ([\w, ]*) --", text).groups()
    assert set(least.split(", ")) == {name for name in QUESTIONS if name.endswith("ratio")}
    assert {*least.split(", "), *most.split(", ")} == set(QUESTIONS)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_file_that_cannot_be_written_comes_before_an_answer(decided, capsys):
    path, _ = decided
    options = ["--missing", "drop", "--decisions", "d", *options_of(TOLERANCES)]
    code = main(["audit", path, *COLUMNS, *options, "--fail-if", "not-met", "--json", "/dev/full"])
    assert code == 3
    assert "/dev/full: cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tolerance", "0.8"], "--tolerance '0.8' lacks the LIMIT: pass NAME=LIMIT"),
        (["--tolerance", "=0.8"], "--tolerance '=0.8' lacks the NAME: pass NAME=LIMIT"),
        (["--tolerance", "difference=5"], "--tolerance difference must be a number between 0"),
        (["--tolerance", "xyz=0.1"], "the NAME of --tolerance must be one of 'difference', "),
        (["--tolerance=ratio=.8", "--tolerance=ratio=.9"], "--tolerance is passed twice for ratio"),
        (["--fail-if", "not-met"], "--fail-if needs --tolerance; pass it as well"),
        (
            ["--tolerance=demographic_parity_ratio=.8", "--favorable=negative"],
            "--favorable negative declares ",
        ),
        (
            ["--tolerance=equalized_odds_difference=.8", "--threshold=none"],
            "this audit has none: pass --decisions or a number as --threshold",
        ),
    ],
)
def test_tolerances_that_cannot_be_answered(written, error_of, options, message):
    assert message in error_of(["audit", written, *COLUMNS, *options])
