"""The printed report, undefined groups in the document, and the example."""

import json

import numpy as np
import pandas as pd
import pytest
from cli_cases import COLUMNS, save

from skfedauc.report.statistics import MATRIX_GROUPS


def test_a_group_for_every_row(tmp_path, printed_by):
    path = save(tmp_path / "p.csv", "y,s,g\n0,.1,1\n1,.2,2\n1,.3,3\n")
    hint = "does each row have a group of its own? The labels in --group 'g' should repeat"
    assert hint in printed_by("audit", path, *COLUMNS)


def test_undefined_groups_are_counted_and_left_out(tmp_path, printed_by, audit):
    path = save(tmp_path / "p.csv", "y,s,g\n0,0.1,a\n1,0.4,a\n1,0.3,b\n")
    printed = printed_by("audit", path, *COLUMNS)
    assert "positives or negatives: a (1 and 1) and b (1 and 0)." in " ".join(printed.split())
    (grouping,) = audit(path)["groupings"]
    assert [group["auc"] for group in grouping["groups"]] == [1.0, None]
    assert (grouping["n_groups"], grouping["n_undefined"]) == (2, 1)
    assert grouping["statistics"]["difference"] is None


@pytest.mark.parametrize("n_groups", [MATRIX_GROUPS, MATRIX_GROUPS + 1])
def test_the_cross_matrix_is_omitted_above_many_groups(tmp_path, audit, n_groups):
    groups = np.arange(n_groups).repeat(2)
    frame = pd.DataFrame({"y": [0, 1] * n_groups, "s": groups % 7, "g": groups})
    frame.to_csv(tmp_path / "p.csv", index=False)
    (grouping,) = audit(tmp_path / "p.csv")["groupings"]
    is_omitted = n_groups > MATRIX_GROUPS
    assert ("cross_difference" not in grouping["statistics"]) == is_omitted


def test_names_cannot_control_the_terminal(tmp_path, printed_by, error_of):
    name = "g\x1b[31m\u202e"
    path = tmp_path / "p\x1b]0;x\x07.csv"
    rows = pd.DataFrame({"y": [0, 1] * 4, "s": np.arange(8), name: ["=1+1", "-1", "@x", "a"] * 2})
    rows.to_csv(path, index=False)
    arguments = ["audit", path, "--label", "y", "--score", "s", "--group"]
    printed = printed_by(*arguments, name)
    assert all(char.isprintable() or char == "\n" for char in printed)
    assert r"p\x1b]0;x\x07.csv: 4 groups, 8 rows" in printed
    assert r"By g\x1b[31m\u202e" in printed
    # Labels that a spreadsheet would compute are quoted, numbers are not.
    assert all(label in printed for label in ("'=1+1' (", "'@x' (", " -1 (", " a ("))
    assert json.loads(printed_by(*arguments, name, "--json"))["groupings"][0]["by"] == [name]
    assert r"the column 'h\x1b', not found in " in error_of([*arguments, "h\x1b"])


def test_the_example(printed_by):
    printed = printed_by()
    assert "\npooled 0." in printed
    assert "undefined" not in printed
    assert "What it means: " in printed
    assert max(map(len, printed.splitlines())) <= 110
