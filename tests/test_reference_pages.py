"""Pages of the reference: decision trees, citation, other packages."""

import doctest
import itertools
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import skfedauc
from skfedauc.report import STATISTICS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def text_of(page):
    return (DOCS / "reference" / f"{page}.md").read_text(encoding="utf-8")


def namespace_of(page):
    """The names that the first block of a page defines."""
    (block, *_) = re.findall(r"^```python\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    names = {"__name__": "page"}
    for example in doctest.DocTestParser().get_examples(block):
        exec(example.source, names)
    return names


# Calibration -----------------------------------------------------------------------------------


def rates(title, column, *, of=""):
    """Smallest and largest number of a column, in the lines whose name has this pattern."""
    section = text_of("calibration").split(f"\n## {title}\n")[1].split("\n#")[0]
    columns, _, *lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    found = [
        float(line[columns.index(column)])
        for line in lines
        if re.search(of, line[0]) and line[columns.index(column)]
    ]
    return min(found), max(found)


def all_rates(title, columns):
    """Smallest and largest number of several columns."""
    low, high = zip(*(rates(title, column) for column in columns), strict=True)
    return min(low), max(high)


def test_rates_quoted_elsewhere_are_those_of_the_tables():
    topics = text_of("calibration").split("\n# ")
    page = "\n".join(topic.split("\n## ")[0] for topic in topics)
    gaps, persons, plans = (
        (DOCS / "how_to" / f"{n}.md").read_text() for n in ("gap_real", "clusters", "how_many_rows")
    )
    report = skfedauc.GroupAUC
    ranks, unequal, clusters = (
        "Shrunken AUCs and ranks",
        "Unequal spread and mixtures",
        "One AUC of clustered rows",
    )
    measures = "Two models on the same rows, by other measures"
    few, many = r"^(8|10|20)/.*ratio", r"^(50|100)/.*ratio"
    for found, digits, texts in [
        (rates(ranks, "ranks"), 1, [page]),
        (rates(ranks, "interval"), 1, [page]),
        (rates(ranks, "set"), 1, [page]),
        (rates(unequal, "logit", of=few), 1, [page]),
        (rates(unequal, "logit", of=few), 0, [gaps]),
        (rates(unequal, "logit", of=many), 1, [page]),
        (rates(unequal, "logit", of="mixture"), 1, [page]),
        (rates(unequal, "low limit too high", of=few), 1, [page]),
        (rates(unequal, "worst", of=few), 1, [page, plans]),
        (rates(unequal, "worst", of=many), 1, [page]),
        (rates("Equal groups of weighted rows", "equal groups"), 1,
         [page]),
        (rates(clusters, "without clusters", of="to 20, 0.3, .*by cluster"), 0, [persons]),
        (rates(clusters, "without clusters", of="to 20, 0.3, .*by row"), 0, [persons]),
        (rates(clusters, "with clusters", of="to 20, 0.3"), 0, [persons]),
        (all_rates(measures, [f"partial AUC{of}, {name}" for of in ("", ", min_tpr")
                              for name in ("pooled", "macro")]), 1,
         [page]),
        (rates(measures, "average precision, pooled"), 1,
         [page]),
        (rates("Standard deviation of the true AUCs (tau)", "coverage", of="Beta, tau 0.08"), 1,
         [page]),
        (rates("Planned numbers of rows", "power"), 1,
         [plans, skfedauc.rows_needed.__doc__]),
    ]:  # fmt: skip
        quoted = " to ".join(f"{rate:.{digits}f}" for rate in found).replace("100.0", "100")
        for text in texts:
            assert f"{quoted} %" in " ".join(text.split())
    _, most = rates("Averages that differ from the pooled AUC by delta", "found equivalent")
    for text in (page, report.agreement.__doc__):
        assert f"up to {most} %" in " ".join(text.split())
    audits = "False verdicts of audits without any gap"
    for column, text in (("primary", "on the primary question"), ("any other", "on any other")):
        low, high = rates(audits, column)
        assert f"{low} to {high} %" in " ".join(page.split()), text
    equal = "Equal AUCs of groups of clustered rows"
    for column in ("equal groups", "equal groups without clusters", "macro"):
        rate, _ = rates(equal, column, of="^10 x 20, .*by cluster")
        assert f"in {rate} %" in " ".join(persons.split())
    power, tests = "Power of tests of equal groups", ("equal groups", "largest difference")
    many, one = (
        [rates(power, test, of=f"^20 groups of 100/400, {lower}$")[0] for test in tests]
        for lower in ("10 lower by 0.05", "1 lower by 0.1")
    )
    quotes = "{:.0f} % against {:.0f} %".format(*many)
    assert quotes in " ".join(gaps.split())
    assert f"{one[0]:.0f}" == f"{one[1]:.0f}"
    assert f"both have {one[0]:.0f} %" in " ".join(gaps.split())
    of_page = " ".join(page.split())
    few, more = (
        rates(power, tests[0], of=f"^2 groups of {m}/{4 * m}, 1 lower by 0.1$")[0]
        for m in (20, 100)
    )
    assert f"{few:.0f} % for two groups" in of_page
    assert f"and {more:.0f} % for 100" in of_page
    q20, q100 = (
        rates(power, "chi-squared", of=f"^{g} groups of 20/80, no gap$")[0] for g in (20, 100)
    )
    assert f"{q20:.0f} % with 20 groups" in of_page
    assert f"{q100:.0f} % with 100 such groups" in of_page
    least = rates("Measures of one group", "average precision")[0]
    quote = f"average precision have a coverage of {least:.0f} % or more"
    assert quote in " ".join(page.split())
    least = min(
        rates("Interval of one AUC", "logit")[0],
        rates("One AUC with few positives or tied scores", "normal")[0],
        rates("One AUC with few positives or tied scores", "ratio 2")[0],
    )
    for text in (page, gaps):
        assert f"{least:.1f} % or more" in " ".join(text.split())
    search = next(topic for topic in topics if topic.startswith("A search for bad designs"))
    search = " ".join(search.split("\n## ")[0].split())
    for method, is_coverage in (
        ("AUC of a group", True), ("`macro`", True), ("`pooled`", True), ("`worst`", True),
        ("`test_difference`", False), ("`test_margin`, worst group", False), ("rate$", False),
        ("`compare_models`, pooled", False), ("`compare_models`, by group", False),
        ("slope", False),
    ):  # fmt: skip
        worst = rates("The worst design of each method", "worst", of=f"^{method}")[1]
        assert f" {100 - worst if is_coverage else worst:.1f} %" in search


# Decision trees --------------------------------------------------------------------------------

CHOOSE = text_of("choose")
LEAVES = re.findall(r"^ +\[(.+?)\]\((.+?)\): `(.+)`$", CHOOSE, flags=re.MULTILINE)


def values_in(value):
    """Floats in the result of a leaf: the number itself, a table, or the fields of a test."""
    if isinstance(value, pd.DataFrame):
        return value.select_dtypes("number").to_numpy(float).ravel()
    if isinstance(value, pd.Series):
        return np.array([x for x in value if isinstance(x, float)])
    if isinstance(value, float):
        return np.array([value])
    return np.array([value.pvalue])


def test_each_end_of_a_decision_tree_runs():
    names = namespace_of(CHOOSE)
    used = set()
    for name, _, code in LEAVES:
        value = eval(code, names)
        if isinstance(value, str):
            assert value.startswith("The pooled AUC is ")
        else:
            assert not np.isnan(values_in(value)).all(), code
        if name in STATISTICS:
            used.add(name)
            assert value == names["report"].statistic(name)
    averages = {"macro", "samples", "positives", "negatives", "within"}
    assert used == {"pooled", "worst", "difference", "cross_difference", "tau", *averages}
    assert len(LEAVES) == CHOOSE.count("): `") == 28


# Citation --------------------------------------------------------------------------------------


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


# Disclosure ------------------------------------------------------------------------------------


def test_the_summary_of_twenty_patients_discloses_their_classes():
    """Of the ways in which 8 of 20 can have died, one has the AUC and the variance."""
    rng = np.random.default_rng(3)
    died = rng.permutation(np.repeat([1, 0], [8, 12]))
    order = np.argsort(rng.normal(1.2 * died - 1, 1))
    ways = np.array(list(itertools.combinations(range(20), 8)))  # ranks of those who died
    below = ways - np.arange(8)  # survivors below each of them
    ranks = np.flatnonzero(died[order])
    positive = np.zeros((len(ways), 20), bool)
    np.put_along_axis(positive, ways, True, axis=1)
    above = 8 - np.cumsum(positive, axis=1)[~positive].reshape(-1, 12)
    true = np.flatnonzero((ways == ranks).all(axis=1))
    u = below.sum(axis=1)
    spread = (below**2).sum(axis=1), (above**2).sum(axis=1)
    same_auc = u == u[true]
    same = same_auc & (spread[0] == spread[0][true]) & (spread[1] == spread[1][true])
    told = (f"{len(ways):,} ways", f"{same_auc.sum()} of these ways have the AUC")
    page = " ".join((ROOT / "docs/how_to/disclosure.md").read_text(encoding="utf-8").split())
    assert all(text in page for text in told)
    assert np.flatnonzero(same).tolist() == true.tolist()


# Other packages --------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["fairlearn", "torchmetrics", "proc", "xgboost"])
def test_calls_that_replace_those_of_other_packages_exist(page):
    known = {*dir(skfedauc), *dir(skfedauc.measures), *dir(skfedauc.boosting)}
    for name in ("GroupAUC", "ScoreCounts", "Bins", "FairnessAudit"):
        known |= {*dir(getattr(skfedauc, name))}
    cells = re.findall(r"^\| .* \| (.*) \|$", text_of(f"coming_from/{page}"), flags=re.MULTILINE)
    calls = {name for cell in cells for name in re.findall(r"(\w+)\(", cell)}
    assert calls
    assert calls <= known
