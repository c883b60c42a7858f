"""Tolerances on the command line: answers, exit codes, and the part of the JSON document."""

import json
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
    options = [f"--tolerance={name}={limit}" for name, limit in TOLERANCES.items()]
    assert main([*by_g, *options, "--fail-if", "not-met"]) == 5
    assert "\nTolerances\n" in capsys.readouterr().out


def test_the_help_names_all_gaps():
    text = " ".join(OPTIONS.split())  # which imports nothing, so that it names them again
    least, most = re.search(r"limit have to be: ([^.]*)\. At most: ([\w, ]*) --", text).groups()
    assert set(least.split(", ")) == {name for name in QUESTIONS if name.endswith("ratio")}
    assert {*least.split(", "), *most.split(", ")} == set(QUESTIONS)
