"""The printed report, and the example."""

import numpy as np
import pandas as pd
from cli_cases import COLUMNS, save

from skfedauc.cli.main import main


def test_a_group_for_every_row(tmp_path, printed_by):
    path = save(tmp_path / "p.csv", "y,s,g\n0,.1,1\n1,.2,2\n1,.3,3\n")
    hint = "does each row have a group of its own? The labels in --group 'g' should repeat"
    assert hint in printed_by("audit", path, *COLUMNS)


def test_undefined_groups_are_counted_and_left_out(tmp_path, printed_by):
    path = save(tmp_path / "p.csv", "y,s,g\n0,0.1,a\n1,0.4,a\n1,0.3,b\n")
    printed = printed_by("audit", path, *COLUMNS)
    assert "positives or negatives: a (1 and 1) and b (1 and 0)." in " ".join(printed.split())


def test_small_groups_are_named_and_left_out(tmp_path, printed_by):
    """A tiny group has the largest AUC, and two large groups determine the p value."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    shift = np.repeat([0.0, 1.5], 1000)
    rows = pd.DataFrame({"y": y, "s": rng.normal(size=2000) + shift * y, "g": "low"})
    rows.loc[1000:, "g"] = "high"
    tiny = pd.DataFrame({"y": [0, 1] * 2, "s": [0, 9.0] * 2, "g": "tiny"})
    pd.concat([rows, tiny]).to_csv(tmp_path / "p.csv", index=False)
    for options in ([], ["--min-per-class", "1"]):
        printed = " ".join(printed_by("audit", tmp_path / "p.csv", *COLUMNS, *options).split())
        assert "AUC differs: low 0." in printed
        assert "(1,000 rows), high 0." in printed
        left_out = "Left out, with fewer than 10 positives or negatives: tiny (2 and 2)."
        assert (left_out in printed) == (not options)


def test_names_cannot_control_the_terminal(tmp_path, capsys):
    name = "g\x1b[31m\u202e"
    path = tmp_path / "p\x1b]0;x\x07.csv"
    rows = pd.DataFrame({"y": [0, 1] * 4, "s": np.arange(8), name: ["=1+1", "-1", "@x", "a"] * 2})
    rows.to_csv(path, index=False)
    arguments = ["audit", str(path), "--label", "y", "--score", "s", "--group"]
    assert main([*arguments, name]) == 0
    printed = capsys.readouterr().out
    assert all(char.isprintable() or char == "\n" for char in printed)
    assert r"p\x1b]0;x\x07.csv: 4 groups, 8 rows" in printed
    assert r"By g\x1b[31m\u202e" in printed
    # Labels that a spreadsheet would compute are quoted, numbers are not.
    assert all(label in printed for label in ("'=1+1' (", "'@x' (", " -1 (", " a ("))
    assert main([*arguments, "h\x1b"]) == 2
    assert r"the column 'h\x1b', not found in " in capsys.readouterr().err


def test_the_example(printed_by):
    printed = printed_by()
    assert "\npooled 0." in printed
    assert "undefined" not in printed
    assert "What it means: " in printed
    assert max(map(len, printed.splitlines())) <= 110
