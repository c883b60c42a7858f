"""The code in the README runs as written and prints the documented values."""

import importlib
import re
import shlex
import sys
from numbers import Real
from pathlib import Path

import matplotlib.pyplot
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from test_docs import code_blocks

from skfedauc import ScoreCounts
from skfedauc.cli.main import main

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")
COLUMNS = {"label": "outcome", "score": "risk"}


def run_blocks(monkeypatch, tmp_path, show):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "readme", "print": show}
    for language, line, block in code_blocks(README):
        if language == "python":
            exec(compile("\n" * line + block, str(README), "exec"), namespace)
    return namespace


def test_python_blocks_print_what_is_promised(monkeypatch, tmp_path):
    printed = {}  # by line number

    def record(value):
        printed[sys._getframe(1).f_lineno] = value

    run_blocks(monkeypatch, tmp_path, record)
    # Numbers in comments such as ``print(x)  # 0.70: ...``
    comments = (re.match(r"print\(.+\)  # (-?\d+(\.\d+)?)\b", line) for line in TEXT.splitlines())
    promised = {number: found[1] for number, found in enumerate(comments, 1) if found}
    numbers = {line: value for line, value in printed.items() if isinstance(value, Real)}
    assert numbers
    digits = {line: len(number.partition(".")[2]) for line, number in promised.items()}
    assert promised == {line: f"{value:.{digits[line]}f}" for line, value in numbers.items()}

    (report,) = [block for language, _, block in code_blocks(README) if language == "text"]
    assert report.rstrip() in [repr(value) for value in printed.values()]
    assert max(map(len, report.splitlines())) <= 80


def test_each_line_of_the_table_runs(monkeypatch, tmp_path, capsys):
    """With the variables of the blocks, two models, several classes, and counts of two sites."""
    namespace = run_blocks(monkeypatch, tmp_path, lambda value: None)
    y, rows = namespace["y_test"], namespace["X_test"]
    rng = np.random.default_rng(1)
    table = rows.rename(columns={"marker": "risk"}).assign(outcome=y)
    table.to_csv("predictions.csv", index=False)
    for site in ("oslo", "bern"):
        part = table[table["site"] == site]
        ScoreCounts.from_table(part, **COLUMNS, group=["site"]).save(f"{site}.skfa")
    periods = rng.choice(["2026-01", "2026-02", "2026-03"], len(table))
    names = ["site", "period"]
    for module in ("", ".boosting", ".periods", ".measures", ".plotting"):
        public = importlib.import_module(f"skfedauc{module}")
        namespace |= {name: getattr(public, name) for name in public.__all__}
    namespace |= {
        "old": rows["marker"].round(),
        "new": rows["marker"],
        "table": table,
        "kinds": rng.integers(0, 3, len(y)),
        "probabilities": rng.dirichlet([1.0, 1.0, 1.0], len(y)),
        "counts": ScoreCounts.from_table(table.assign(period=periods), **COLUMNS, group=names),
    }
    results = {}
    for line in re.findall(r"^\| .+? \| `(.+)` \| .+ \|$", TEXT, flags=re.MULTILINE):
        if line.startswith("skfedauc "):
            assert main(shlex.split(line)[1:]) == 0
            auc = roc_auc_score(table["outcome"], table["risk"])
            assert f"\nAUC {auc:.3f} (" in capsys.readouterr().out
        elif "Aggregator" in line:
            assert line == "GroupAUCAggregator()"  # tests/flower runs it, with Flower installed
        else:
            results[line.partition("(")[0]] = eval(line, namespace)
    assert len(results) >= 12
    counts = results["ScoreCounts.merge"]
    n_rows = counts.n_positives.sum() + counts.n_negatives.sum()
    assert n_rows == table["site"].isin(["oslo", "bern"]).sum()
    assert results["report.decomposition"].within == namespace["report"].average("within")
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize(
    "command", ["pip install . && python -m skfedauc", 'pip install -e ".[test]" && pytest']
)
def test_each_command_stands_there_once(command):
    commands = [
        block.splitlines() for language, _, block in code_blocks(README) if language == "sh"
    ]
    assert sum(of.count(command) for of in commands) == 1
    assert TEXT.count(command) == 1


def test_relative_links_lead_to_files():
    links = re.findall(r"\]\(([^)\s]+)\)", TEXT)
    relative = [link for link in links if not re.match(r"[a-z]+:|#", link)]
    assert relative
    missing = [link for link in relative if not (README.parent / link.split("#")[0]).is_file()]
    assert missing == []


def test_counts_of_distinct_scores_give_every_row_back_as_the_documentation_says():
    rng = np.random.default_rng(0)
    y, scores, groups = rng.integers(0, 2, 500), rng.random(500), rng.integers(0, 7, 500)
    counts = ScoreCounts.from_predictions(y, scores, groups=groups).to_counts()
    found = zip(counts["group"], counts["score"], counts["n_positives"], strict=True)
    assert set(found) == set(zip(groups.tolist(), scores.tolist(), y.tolist(), strict=True))
    guide = README.parent / "docs" / "how_to" / "without_moving_data.md"
    for text in (TEXT, guide.read_text(encoding="utf-8"), ScoreCounts.__doc__):
        words = " ".join(text.split())
        rows = "the group, the score and the class of every row"
        assert f"counts of distinct scores disclose {rows}" in words
        assert "no features, no identifiers and no order of rows" in words
