"""Pages of the reference: decision trees, citation, other packages."""

import doctest
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import skfedauc
from skfedauc.report import AVERAGES, STATISTICS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def text_of(page):
    return (DOCS / "reference" / f"{page}.md").read_text(encoding="utf-8")


def rates(title, column, *, of=""):
    """Smallest and largest number of a column, in the lines whose name has this pattern."""
    section = text_of("calibration").split(f"\n## {title}\n")[1].split("\n#")[0]
    rows = re.findall(r"^\|(.*)\|$", section, flags=re.MULTILINE)
    columns, _, *lines = ([cell.strip() for cell in row.split("|")] for row in rows)
    cells = [line[columns.index(column)] for line in lines if re.search(of, line[0])]
    found = [float(cell) for cell in cells if cell]
    return min(found), max(found)


def test_rates_in_the_text_of_the_calibration_page_are_those_of_its_tables():
    _, *topics = text_of("calibration").split("\n# ")
    n_quoted = 0
    for topic in topics:
        text, *tables = topic.split("\n## ")
        known = set(re.findall(r"(?<![\d.])\d+\.\d(?![\d.])", " ".join(tables)))
        known |= {f"{100 - float(rate):.1f}" for rate in known}
        text = " ".join(text.split())
        quoted = set(re.findall(r"(?<![\d.])(\d+\.\d)(?= (?:%|to \d|and \d))", text))
        assert quoted - ELSEWHERE <= known, text
        n_quoted += len(quoted)
    assert n_quoted > 40


# Rates of another topic's table, "Unequal spread and mixtures"
ELSEWHERE = {"9.7", "14.8", "5.1"}


def test_rates_quoted_elsewhere_are_those_of_the_tables():
    gaps, persons, plans = (
        (DOCS / "how_to" / f"{n}.md").read_text() for n in ("gap_real", "clusters", "how_many_rows")
    )
    unequal, clusters = "Unequal spread and mixtures", "One AUC of clustered rows"
    few = r"^(8|10|20)/.*ratio"
    power, tests = "Power of tests of equal groups", ("equal groups", "largest difference")
    for found, digits, texts in [
        (rates(unequal, "logit", of=few), 0, [gaps]),
        (rates(unequal, "worst", of=few), 1, [plans]),
        (rates(clusters, "without clusters", of="to 20, 0.3, .*by cluster"), 0, [persons]),
        (rates(clusters, "without clusters", of="to 20, 0.3, .*by row"), 0, [persons]),
        (rates(clusters, "with clusters", of="to 20, 0.3"), 0, [persons]),
        (rates("Planned numbers of rows", "power"), 1, [plans, skfedauc.rows_needed.__doc__]),
    ]:
        quoted = " to ".join(f"{rate:.{digits}f}" for rate in found).replace("100.0", "100")
        for text in texts:
            assert f"{quoted} %" in " ".join(text.split())
    _, most = rates("Averages that differ from the pooled AUC by delta", "found equivalent")
    assert f"up to {most} %" in " ".join(skfedauc.GroupAUC.agreement.__doc__.split())
    for column in ("equal groups", "equal groups without clusters", "macro"):
        rate, _ = rates("Equal AUCs of groups of clustered rows", column, of="^10 x 20, .*cluster")
        assert f"in {rate} %" in " ".join(persons.split())
    many = [rates(power, test, of="^20 groups of 100/400, 10 lower by 0.05$")[0] for test in tests]
    assert "{:.0f} % against {:.0f} %".format(*many) in " ".join(gaps.split())
    one = {rates(power, test, of="^20 groups of 100/400, 1 lower by 0.1$")[0] for test in tests}
    assert {f"{rate:.0f}" for rate in one} == set(re.findall(r"both have (\d+) %", gaps))
    least = min(
        rates("Interval of one AUC", "logit")[0],
        rates("One AUC with few positives or tied scores", "normal")[0],
        rates("One AUC with few positives or tied scores", "ratio 2")[0],
    )
    assert f"{least:.1f} % or more" in " ".join(gaps.split())


CHOOSE = text_of("choose")
LEAVES = re.findall(r"^ +\[(.+?)\]\((.+?)\): `(.+)`$", CHOOSE, flags=re.MULTILINE)


def values_in(value):
    """Floats in the result of a leaf: the number itself, a table, or the p value of a test."""
    if isinstance(value, pd.DataFrame):
        return value.select_dtypes("number").to_numpy(float).ravel()
    if isinstance(value, pd.Series):
        return np.array([x for x in value if isinstance(x, float)])
    return np.array([value if isinstance(value, float) else value.pvalue])


def test_each_end_of_a_decision_tree_runs():
    (block, *_) = re.findall(r"^```python\n(.*?)^```$", CHOOSE, flags=re.DOTALL | re.MULTILINE)
    names, used = {"__name__": "page"}, set()
    for example in doctest.DocTestParser().get_examples(block):
        exec(example.source, names)
    for name, _, code in LEAVES:
        value = eval(code, names)
        if isinstance(value, str):
            assert value.startswith("The pooled AUC is ")
        else:
            assert not np.isnan(values_in(value)).all(), code
        if name in STATISTICS:
            used.add(name)
            assert value == names["report"].statistic(name)
    assert used == {"pooled", "worst", "difference", "cross_difference", "tau", *AVERAGES}
    assert len(LEAVES) == CHOOSE.count("): `") == 28


def citation():
    """Entries of CITATION.cff, which is YAML of one level with two lists."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^([\w-]+): +(?!>)\"?(.+?)\"?$", text, flags=re.MULTILINE))
    entries["author"] = " and ".join(re.findall(r"^  - name: (.+)$", text, flags=re.MULTILINE))
    keywords = text.partition("keywords:\n")[2]
    entries["keywords"] = ", ".join(re.findall(r"^  - (.+)$", keywords, flags=re.MULTILINE))
    return entries


def test_the_citation_is_that_of_the_file():
    (block,) = re.findall(r"^@software\{(.*?)^\}$", text_of("citing"), flags=re.DOTALL | re.M)
    shown = {key: value.strip("{}") for key, value in re.findall(r"(\w+) += (\{.*\}),", block)}
    known = citation()
    assert shown == {key: known[key] for key in shown}
    assert shown.keys() == {"author", "title", "version", "license", "keywords"}
    assert known["version"] == skfedauc.__version__


@pytest.mark.parametrize("page", ["fairlearn", "torchmetrics", "proc", "xgboost"])
def test_calls_that_replace_those_of_other_packages_exist(page):
    known = {*dir(skfedauc), *dir(skfedauc.measures), *dir(skfedauc.boosting)}
    for name in ("GroupAUC", "ScoreCounts", "Bins", "FairnessAudit"):
        known |= {*dir(getattr(skfedauc, name))}
    cells = re.findall(r"^\| .* \| (.*) \|$", text_of(f"coming_from/{page}"), flags=re.MULTILINE)
    calls = {name for cell in cells for name in re.findall(r"(\w+)\(", cell)}
    assert calls
    assert calls <= known
