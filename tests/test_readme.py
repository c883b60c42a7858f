"""The code in the README runs as written and prints the documented values."""

import re
import shlex
import sys
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from skfedauc import ScoreCounts
from skfedauc.cli.main import main

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")


def blocks(language):
    """Yield the code of each block after empty lines, so that line numbers equal the file's."""
    for block in re.finditer(rf"^```{language}\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE):
        yield "\n" * TEXT.count("\n", 0, block.start(1)) + block.group(1)


def shell_lines():
    return [line for block in blocks("sh") for line in block.splitlines() if line]


def promised_numbers():
    """Return the numbers in comments such as ``print(x)  # 0.70: ...``, by line number."""
    comments = (re.match(r"print\(.+\)  # (-?\d+(\.\d+)?)\b", line) for line in TEXT.splitlines())
    return {number: found[1] for number, found in enumerate(comments, 1) if found}


def printed_values(monkeypatch, tmp_path):
    """Return the values that the Python blocks print, by line number."""
    values = {}

    def record(value):
        values[sys._getframe(1).f_lineno] = value

    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "readme", "print": record}
    for block in blocks("python"):
        exec(compile(block, str(README), "exec"), namespace)
    return values


def test_python_blocks_print_what_is_promised(monkeypatch, tmp_path):
    printed = printed_values(monkeypatch, tmp_path)

    promised = promised_numbers()
    numbers = {line: value for line, value in printed.items() if isinstance(value, Real)}
    assert numbers
    digits = {line: len(number.partition(".")[2]) for line, number in promised.items()}
    assert promised == {line: f"{value:.{digits[line]}f}" for line, value in numbers.items()}

    # Tables fit in a terminal of 80 columns, so no columns are left out.
    tables = {
        line: repr(value) for line, value in printed.items() if isinstance(value, pd.DataFrame)
    }
    assert len(tables) >= 4
    for line, text in tables.items():
        assert "..." not in text, f"line {line} of the README"
        assert max(map(len, text.splitlines())) <= 80


def test_the_commands_run_as_written(monkeypatch, tmp_path, capsys):
    """The audit by two columns; then counts by one column, merged with counts of another site."""
    lines = [line for line in shell_lines() if line.startswith("skfedauc ")]
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"outcome": np.tile([0, 1], 100), "risk": rng.random(200).round(2)})
    rows["site"] = rng.choice(["oslo", "skien"], 200)
    rows["sex"] = rng.choice(["f", "m"], 200)
    rows.to_csv(tmp_path / "predictions.csv", index=False)
    others = rows.assign(site="bern", risk=rng.random(200).round(2))
    monkeypatch.chdir(tmp_path)
    ScoreCounts.from_table(others, label="outcome", score="risk", group=["site"]).save("bern.skfa")
    printed = {}
    for line in lines:
        _, command, *arguments = shlex.split(line)
        assert main([command, *arguments]) == 0
        printed[command] = capsys.readouterr().out
    assert list(printed) == ["audit", "count", "merge", "report"]
    for command, counted, headings in (
        ("audit", rows, ["By site", "By sex", "By site x sex"]),
        ("report", pd.concat([rows, others]), ["By site"]),
    ):
        out = printed[command]
        lines = [line for line in out.splitlines() if line.startswith("By ") and ":" in line]
        found = [line.partition(":")[0] for line in lines]
        assert found == headings
        auc = roc_auc_score(counted["outcome"], counted["risk"])
        assert f"\nAUC {auc:.3f} (" in out


@pytest.mark.parametrize(
    "command", ["pip install . && python -m skfedauc", 'pip install -e ".[test]" && pytest']
)
def test_each_command_stands_there_once(command):
    assert shell_lines().count(command) == 1
    assert TEXT.count(command) == 1


def test_relative_links_lead_to_files():
    links = re.findall(r"\]\(([^)\s]+)\)", TEXT)
    relative = [link for link in links if not re.match(r"[a-z]+:|#", link)]
    assert relative
    missing = [link for link in relative if not (README.parent / link.split("#")[0]).is_file()]
    assert missing == []
