"""Rows that are made from a table: numbers, labels, decisions, weights and missing groups."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cli_cases import COLUMNS, LONG, WEIGHTED, save, write

from skfedauc import ScoreCounts
from skfedauc.cli.arguments import parse
from skfedauc.cli.main import main
from skfedauc.cli.rows import decisions_of, groups_of, numbers_of, rows_of
from skfedauc.cli.terminal import CommandError


@pytest.mark.parametrize("cell", ["1_0", "\u0661", "1\u00a0", "0x1", "1,5", "1e", ""])
@pytest.mark.parametrize("column", ["s", "w"])
def test_what_only_python_reads_as_a_number_is_refused(tmp_path, error_of, cell, column):
    rows = pd.DataFrame({"y": ["0", "1"], "s": ["0.5", " .5e0 "], "g": "a", "w": ["1", "+2"]})
    rows.loc[1, column] = cell
    rows.to_csv(tmp_path / "p.csv", index=False)
    message = error_of(["audit", tmp_path / "p.csv", *WEIGHTED])
    what = f"not a finite number in 1 of 2 rows, the first being data row 2 ({cell!r})"
    assert f"column {column!r} is {what if cell else 'empty in 1 of 2 rows'}" in message


@pytest.mark.parametrize(
    "scores",
    [
        [2**53, 2**53 + 1, 5],
        [2**64 - 1, 2**64 - 2, 5],
        [Decimal("0.1"), Decimal("0.10000000000000000001"), Decimal("0.2")],
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_scores_that_would_tie_as_floats(tmp_path, error_of, scores, ending):
    path = tmp_path / f"p.{ending}"
    write(pd.DataFrame({"y": [0, 1, 1], "s": scores, "g": "a"}), path)
    message = error_of(["audit", path, *COLUMNS])
    assert "column 's' has 3 different numbers, of which 1 are equal to another one" in message
    assert "round them in the same way at all sites" in message


@pytest.mark.parametrize(
    ("negative", "positive", "pos_label"),
    [
        ("0", "1", None),
        ("0", "1", "1"),
        ("0.0", "1.0", "1"),
        ("1", "0", "0"),
        ("-1", "1", None),
        ("1", "-1", "-1"),
        ("False", "True", None),
        ("true", "false", "False"),
        ("no", "yes", "yes"),
        ("2", "10", "10"),
        ("yes", "NA", "NA"),
    ],
)
def test_labels(frame, negative, positive, pos_label):
    is_positive = (frame["y"] == 1).to_numpy()
    table = frame.assign(y=np.where(is_positive, positive, negative), g="a")
    options = [] if pos_label is None else ["--pos-label", pos_label]
    rows = rows_of(table, parse(["audit", "p.csv", *COLUMNS, *options]))
    counts = ScoreCounts.from_predictions(**rows)
    assert counts.n_positives.tolist() == [is_positive.sum()]
    assert counts == ScoreCounts.from_predictions(is_positive, frame["s"], groups=["a"] * 400)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
def test_infinite_labels_are_refused(tmp_path, error_of, ending, infinite):
    path = tmp_path / f"p.{ending}"
    write(pd.DataFrame({"y": [1.0, infinite, 1.0], "s": [0.1, 0.2, 0.3], "g": "a"}), path)
    for options in ([], ["--pos-label=1"], [f"--pos-label={infinite}"]):
        message = error_of(["audit", path, *COLUMNS, *options])
        assert "1 infinite labels of 3" in message or "--pos-label must be a label; got" in message


@pytest.mark.parametrize(
    ("decisions", "classes", "pos_label", "expected"),
    [
        (["0", "1", "1"], [0.0, 1.0], 1, [0, 1, 1]),
        (["0", "1", "1"], [0.0, 1.0], 0.0, [1, 0, 0]),
        (["no", "yes", "no"], ["no", "yes"], "yes", [0, 1, 0]),
        (["0", "1", "0"], ["no", "yes"], "yes", [0, 1, 0]),
        (["True", "False"], [0.0, 1.0], 1, [1, 0]),
        (["0", "1", "0"], [-1.0, 1.0], 1.0, [0, 1, 0]),
        (["1", "2", "1"], [1.0, 2.0], 2.0, [0, 1, 0]),
        (["0", "1", "0"], [0.0, 2.0], 2.0, [0, 1, 0]),
    ],
)
def test_decisions(decisions, classes, pos_label, expected):
    found = decisions_of(pd.Series(decisions, name="d"), np.array(classes), pos_label)
    assert (found == pos_label).tolist() == expected
    assert set(found) <= set(classes)


@pytest.mark.parametrize(("classes", "positive"), [([1.0, 2.0], 2.0), ([-1.0, 0.0], 0.0)])
def test_decisions_that_could_be_labels_of_the_other_class(classes, positive):
    with pytest.raises(CommandError, match="must be labels of the classes"):
        decisions_of(pd.Series(["0", "1"], name="d"), np.array(classes), positive)


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_short_floats_have_the_values_that_they_have_in_python(kind):
    shares = np.array([0.1, 0.7, 1e-7, 1 / 3], kind)
    assert numbers_of(pd.Series(shares, name="s")).tolist() == shares.tolist()


@pytest.mark.parametrize("text", ["2020-01-01", "2020-01-01 10:30:00"])
@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_dates_are_groups_whatever_their_unit(unit, text):
    dates = pd.Series(pd.array([text, None], pd.ArrowDtype(pa.timestamp(unit))), name="date")
    assert groups_of(dates).tolist() == [text, None]


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (
            "y,Score,g\n0,1,a\n",
            COLUMNS,
            "the column 's', not found in {path}. The columns are 'y', 'Sco",
        ),
        ("yy,s,g\n0,1,a\n", COLUMNS, "Did you mean 'yy'?"),
        ("y, s, g\n0, 1, a\n", COLUMNS, "Did you mean ' s', ' g'?"),
        ("y,s,g,g\n0,1,a,b\n", COLUMNS, "the column 'g', and {path} has 2 columns of this name"),
        ("", COLUMNS, "{path}: is empty; it has no header"),
        ("y,s,g\n", COLUMNS, "there are no rows"),
        ("y,s,g\n0,1,a\n1,2,a,c\n", COLUMNS, "data row 2 has 4 cells and the header has 3"),
        ("y,s,g,note\n0,1,a,1,\n", COLUMNS, "data row 1 has 5 cells and the header has 4"),
        (",".join(f"{i}{LONG[:50_000]}" for i in range(40)), COLUMNS, "(40 in all)"),
        ("y;s;g\n0;1,5;a\n1;2;a\n", COLUMNS, "first being data row 1 ('1,5'); see --decimal"),
        ("y,s,g\n0,1,0.5\n1,2,3\n", COLUMNS, "column 'g' holds numbers that are not whole"),
        ("y,s,g\n0,1,a\n1,2,a\n2,1,a\n", COLUMNS, "got 3: 0, 1, 2. An AUC needs two: is"),
        ("y,s,g\n2,1,a\n3,2,a\n", COLUMNS, "column 'y' has the labels [2, 3]: pass --pos-la"),
        ("y,s,g\n0,1,a\n1,2,a\n", [*COLUMNS, "--pos-label=7"], "-label 7 is not among the labels"),
        ("y,s,g\n0,1,a\n1,2,\n", COLUMNS, "column 'g' is empty in 1 of 2 rows, the first being "),
        ("y,s,g\n0,1,a\n1,2,b\n", [*COLUMNS, "--decisions", "g"], "has the decisions 'a', 'b'; th"),
        ("y,s,g\nno,1,a\nyes,2,a\n", [*COLUMNS, "--pos-label=Yes"], "column 'y', ['no', 'yes']; p"),
        ("y,s,g\n1,1,a\n1,2,a\n", COLUMNS, "both classes; got 1 group, 2 rows: 2 positives and 0"),
        ("y,s,g\n0,1,a\n,2,a\n", COLUMNS, "'y' is empty in 1 of 2 rows, the first being data row"),
        ("y,s,g\n0,1,a\n1,high,a\n1,NA,a\n", COLUMNS, "in 2 of 3 rows, the first being data row 2"),
        ("y,s,g\n0,1,a\n1,inf,a\n", COLUMNS, "first being data row 2 ('inf')"),
        ("y,s,g\n0,1,a\n1,True,a\n", COLUMNS, "first being data row 2 ('True')"),
        ("y,s,g\n0,1,a\n1,x,\n1,2,a\n", [*COLUMNS, "--missing", "drop"], "data row 2 ('x')"),
        ("y,s,g\n0,1,\n1,2,(missing)\n", [*COLUMNS, "--missing=group"], "or pass --missing drop"),
        ("y,s,g,w\n0,1,a,-1\n1,2,a,1\n", WEIGHTED, "column 'w' must be 0 or more; got 1 negative"),
        ("y,s,g,w\n0,1,a,1e200\n1,2,a,1\n", WEIGHTED, "from 1e-100 to 1e100, and "),
        ("y;s;g\n0;1.234;a\n1;1,5;a\n", [*COLUMNS, "--decimal", ","], "data row 1 ('1.234')"),
        (
            "y,s,g\n0,1,a\n",
            [*COLUMNS, "--pos-label=\udcff"],
            "'\\udcff', which is not valid Unicode",
        ),
        (f"y,s,g\n0,{LONG},a\n", COLUMNS, f"row 1 ('{LONG[:60]}'... (1,000,000 characters))"),
        (f"y,s,g\n{LONG},1,a\n", COLUMNS, f"labels ['{LONG[:60]}'... (1,000,000 characters)]"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_what_is_wrong_with_rows(tmp_path, error_of, text, arguments, message):
    path = save(tmp_path / "p.csv", text)
    error = error_of(["audit", path, *arguments])
    assert message.format(path=path) in error
    assert len(error) < 3000


def test_scores_that_are_labels_are_warned_about(tmp_path, capsys):
    for labels in (["0", "1"], ["no", "yes"]):
        path = tmp_path / "p.csv"
        pd.DataFrame({"y": labels * 9, "s": [0, 1] * 9, "g": "a"}).to_csv(path, index=False)
        options = ["--decisions", "s"] if labels[0] == "0" else ["--pos-label", "yes"]
        assert main(["audit", str(path), *COLUMNS, *options]) == 0
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("skfedauc: warning: --score holds only 0 and 1: these look like")
        assert line.endswith("Pass a column of probabilities or scores")
