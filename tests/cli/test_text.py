"""The printed report, and the example."""

import numpy as np
import pandas as pd
import pytest
from cli_cases import COLUMNS, LONG, WEIGHTED, expected_aucs, save
from sklearn.metrics import roc_auc_score

from skfedauc.cli.main import main


def test_headline_and_groups_by_auc(frame, written, printed_by):
    lines = printed_by("audit", written, *WEIGHTED).splitlines()
    used = frame[frame["w"] > 0]
    n_positives = (used["y"] == 1).sum()
    assert lines[0] == (
        f"{written}: {len(used)} rows, {n_positives} positives and {len(used) - n_positives} "
        f"negatives, weighted by 'w'; {len(frame) - len(used)} rows of weight 0 left out"
    )
    pooled = roc_auc_score(used["y"], used["s"], sample_weight=used["w"])
    assert any(line.startswith(f"AUC {pooled:.3f} (") for line in lines)
    ordered = sorted(expected_aucs(used, "g", "w").items(), key=lambda item: item[1])
    table = [line for line in lines if line.endswith(" rows") and " to " in line]
    for line, (label, auc) in zip(table, ordered, strict=True):
        assert line.strip().startswith(label)
        assert f" {auc:.3f} " in line


def test_rows_without_groups_are_mentioned(gaps, printed_by):
    lines = printed_by("audit", gaps, *COLUMNS, "--group", "sex", "--missing", "drop").splitlines()
    assert lines[0].startswith(f"{gaps}: 392 rows, ")
    assert [line for line in lines if line.startswith("By ") and ":" in line] == [
        "By g: 360 rows, 6 groups; 40 rows without 'g' dropped",
        "By sex: 384 rows, 2 groups; 16 rows without 'sex' dropped",
        "By g x sex: 352 rows, 12 groups; 48 rows without 'g' or 'sex' dropped",
    ]


def test_a_group_for_every_row(tmp_path, printed_by):
    path = save(tmp_path / "p.csv", "y,s,g\n0,.1,1\n1,.2,2\n1,.3,3\n")
    hint = "does each row have a group of its own? The labels in --group 'g' should repeat"
    assert hint in printed_by("audit", path, *COLUMNS)


def test_undefined_groups_are_counted_and_left_out(tmp_path, printed_by):
    path = save(tmp_path / "p.csv", "y,s,g\n0,0.1,a\n1,0.4,a\n1,0.3,b\n")
    printed = printed_by("audit", path, *COLUMNS)
    assert "3 rows, 2 groups, 1 of them undefined (one class only)" in printed
    assert "positives or negatives: a (1 and 1) and b (1 and 0)." in " ".join(printed.split())


def test_one_row_is_in_the_singular(tmp_path, printed_by):
    path = save(tmp_path / "p.csv", "y,s,g\n0,0.1,a\n1,0.4,a\n1,0.4,\n")
    lines = printed_by("audit", path, *COLUMNS, "--missing", "drop").splitlines()
    assert lines[0] == f"{path}: 2 rows, 1 positive and 1 negative"
    assert lines[1] == "By g: 2 rows, 1 group; 1 row without 'g' dropped"


def test_many_groups_are_cut_to_the_lowest_and_highest(tmp_path, printed_by):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"y": np.tile([0, 0, 1, 1], 60), "s": rng.random(240).round(3)})
    frame["g"] = [f"g{i:02d}" for i in np.repeat(np.arange(60), 4)]
    frame.to_csv(tmp_path / "p.csv", index=False)
    printed = printed_by("audit", tmp_path / "p.csv", *COLUMNS, "--min-per-class", "1")
    table = [line.split() for line in printed.splitlines() if line.endswith(" rows")]
    expected = pd.Series(expected_aucs(frame, "g")).sort_values(kind="stable")
    shown = [float(auc) for _, auc, *_ in table]
    assert shown == pytest.approx([*expected[:6], *expected[-6:]], abs=1e-3)
    assert "Plot: the 6 lowest and the 6 highest of 60 groups." in printed


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


def test_labels_that_would_break_the_table_are_quoted(tmp_path, printed_by):
    path = save(tmp_path / "p.csv", 'y,s,g\n0,0.1,"a\nb"\n1,0.4,"a\nb"\n0,0.4," "\n')
    printed = printed_by("audit", path, *COLUMNS)
    assert r"'a\nb'" in printed
    assert "' '" in printed


def test_long_labels_are_shown_by_their_ends(tmp_path, printed_by):
    labels = [f"{LONG}{end}" for end in "ab"]
    text = "y,s,g\n" + "".join(f"{y},{y + 0.1},{label}\n" for label in labels for y in (0, 1))
    printed = printed_by("audit", save(tmp_path / "p.csv", text), *COLUMNS)
    assert len(printed) < 5000
    for end in "ab":
        assert f"{LONG[:40]}\N{HORIZONTAL ELLIPSIS}{LONG[:38]}{end} " in printed


@pytest.mark.parametrize("other", ["", ",note"])
def test_a_column_without_a_name(tmp_path, printed_by, other):
    text = f"y,s,{other}\n" + "".join(
        f"{i % 2},{i / 9},{'ab'[i // 4]}{',x' if other else ''}\n" for i in range(8)
    )
    path = save(tmp_path / "p.csv", text)
    printed = printed_by("audit", path, "--label", "y", "--score", "s", "--group", "")
    assert "By '': 8 rows, 2 groups\n" in printed
    assert "negatives: a (2 and 2) and b (2 and 2)." in " ".join(printed.split())


def test_names_cannot_control_the_terminal(tmp_path, capsys):
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
    assert all(label in printed for label in ("'=1+1' (", "'@x' (", " -1 (", " a ("))
    assert main([*arguments, "h\x1b"]) == 2
    assert r"p\x1b]0;x\x07.csv: no column 'h\x1b' among" in capsys.readouterr().err


def test_the_example(printed_by):
    printed = printed_by()
    assert "\npooled 0." in printed
    assert "undefined" not in printed
    assert "What it means: " in printed
    assert max(map(len, printed.splitlines())) <= 110
