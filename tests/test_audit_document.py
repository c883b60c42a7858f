"""Outputs of audits: the first screen, its numbers, the page, Markdown, JSON and facts."""

import datetime
import html
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from audits import audit_of, by_rows, rows_of
from oracles import mover_of_pairs
from processes import run_python
from scipy import stats
from scipy.optimize import brentq
from sklearn.metrics import roc_auc_score
from statsmodels.stats.proportion import proportion_confint

from skfedauc import FairnessAudit, GroupAUC, ScoreCounts, _words
from skfedauc.audit import wording
from skfedauc.audit.document import check_installed
from skfedauc.counts.score_counts import identifier_of
from skfedauc.inference import proportions as limits_of
from skfedauc.inference.cross_gap import cross_gaps
from skfedauc.inference.differences import AllPairs
from skfedauc.report.group_auc import null_difference_of

LIMITS = {"difference": 0.05, "demographic_parity_ratio": 0.8}
ENDS = ("ci_low", "ci_high")
LONG_LABELS = ["African-American", "Caucasian and Middle Eastern", "Hispanic or Latino"]
LONG_LABELS += ["American Indian or Alaska Native", "Asian or Pacific Islander", "Two or more"]
RATES = (
    "demographic_parity_difference",
    "true_positive_rate_difference",
    "false_positive_rate_difference",
)


def columns_of(groups):
    return pd.DataFrame({"site": groups, "sex": np.where(np.arange(groups.size) % 3, "f", "m")})


@pytest.fixture(scope="module")
def shown():
    """An audit by two columns with a tiny group, its rows, and its page."""
    y, score, groups, _ = rows_of(1, 2500, few=15, gap=1.5)
    audit = audit_of(y, score, columns_of(groups), tolerances=LIMITS, names={"model": "m <1>"})
    return audit, (y, score, columns_of(groups))


def text_of(page):
    """Return the words before the appendix, without styles."""
    body = page.partition("<main")[2].partition("<aside")[0]
    body = re.sub(r"(?s)<svg.*?</svg>|<style.*?</style>", " ", body)
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", body)).replace("\xa0", " ").split())


def gap_of(groups, level):
    """Return a gap's limits and p value, and those of all pairs (Tukey), from limits of groups."""
    tukey = stats.studentized_range(len(groups(0.5)[0]), np.inf)
    low, high = mover_of_pairs(*groups(stats.norm.sf(tukey.ppf(level) / 2**0.5)))
    most = mover_of_pairs(*groups((1 - level) / 2))[1].max()
    deviate = brentq(lambda z: mover_of_pairs(*groups(stats.norm.sf(z)))[0].max(), 1e-9, 12)
    pairs = np.clip([low, high], -most, most)
    return max(low.max(), 0.0), most, tukey.sf(deviate * 2**0.5), pairs


def groups_of(name, report, y, score, groups):
    """Return values of groups and their limits at a tail, from rows or the report."""
    if name == "difference":

        def limits(tail):
            level = min(max(1 - 2 * tail, 1e-9), 1 - 1e-15)
            table = report.confidence_intervals(confidence_level=level)
            return table[["auc", "ci_low", "ci_high"]].to_numpy().T

        return limits
    decided, labels = score >= 0.5, np.unique(groups)
    chosen = {"true_positive_rate_difference": y == 1, "false_positive_rate_difference": y == 0}
    events = y == 1 if name == "calibration_difference" else decided
    mine = [chosen.get(name, True) & (groups == label) for label in labels]
    k, n = np.array([[(own & events).sum(), own.sum()] for own in mine]).T
    means = [score[own].mean() for own in mine]

    def limits(tail):
        method = "wilson" if name == "calibration_difference" else "beta"  # Clopper and Pearson
        low, high = proportion_confint(k, n, 2 * tail, method=method)
        if method == "wilson":
            return means - k / n, means - high, means - low
        return k / n, low, high

    return limits


def test_every_number_of_the_first_screen_comes_from_the_rows(shown):
    """Values are from rows; limits and p values from statsmodels, scipy and reports on the rows."""
    audit, (y, score, columns) = shown
    known = set()

    def add(*values, in_points=False):
        for value in values:
            for of in (value, -value):
                known.add(wording.number(100 * of, digits=1) if in_points else wording.number(of))

    for column in audit.samples:
        kept = (columns[column] != "tiny").to_numpy()
        rows = y[kept], score[kept], columns[column][kept].to_numpy()
        report = GroupAUC.from_predictions(*rows[:2], groups=rows[2])
        add(*by_rows(*rows, None)["xauc_disparity"], null_difference_of(report))
        of_rows = report.confidence_intervals(of="statistics")
        add(*of_rows.loc[["pooled", "within"], ["value", *ENDS]].to_numpy().ravel())
        assert of_rows.loc["pooled", "value"] == pytest.approx(roc_auc_score(*rows[:2]))
        for name in (*RATES, "calibration_difference", "difference"):
            n_claims = 1 if name == "difference" else 5
            groups = groups_of(name, report, *rows)
            value, *limits = groups(0.025)
            low, high, pvalue, pairs = gap_of(groups, 1 - 0.05 / n_claims)
            numbers = value, *limits, np.subtract.outer(value, value), pairs, [low, high]
            add(*np.concatenate([np.ravel(of) for of in numbers]), in_points=n_claims > 1)
            known.add(_words.pvalue_text(min(n_claims * pvalue, 1.0)).split()[-1])
            assert audit.answers[column][name].pvalue == pytest.approx(
                min(n_claims * pvalue, 1.0), abs=1e-6
            )
        gaps, n_groups = cross_gaps(report.counts), len(report.counts)
        add(*gaps.largest(0.01), *np.ravel(gaps.limits(0.99)))
        pvalue = gaps.pvalue.min() * 5 * (1 if n_groups == 2 else n_groups)
        known.add(_words.pvalue_text(min(pvalue, 1.0)).split()[-1])
        k, n = (
            pd.Series(rows[1] >= 0.5).groupby(rows[2]).agg(of).to_numpy() for of in ("sum", "size")
        )
        add((k / n).min() / (k / n).max())
        shares = AllPairs(limits_of.estimates_of_shares(k / n, n.astype(float)), n_groups)
        add(*limits_of.limits_of_ratio(shares, 0.01))
    found = set(re.findall(r"(?<![\w.])[\u22120-9]*\d\.\d+", repr(audit).replace("+", "")))
    found = {number.lstrip("\u2212") for number in found}
    declared = {"0.5", "0.8", "0.05"}
    assert len(found) > 60
    assert found <= {of.lstrip("\u2212") for of in known} | declared, found - known - declared
    counted = set(re.findall(r"\(([\d,]+) rows\)", repr(audit)))
    sizes = {f"{n:,}" for column in columns for n in columns[column].value_counts()}
    assert counted <= sizes


def test_text_markdown_json_and_page_say_the_same(shown):
    audit, _ = shown
    page, text = audit.to_html(), " ".join(repr(audit).split())
    first, whole = (audit.to_markdown(appendix=of).replace("&lt;", "<") for of in (False, True))
    screen, card = text_of(page), " ".join(whole.split())
    assert whole.startswith(first[:-1])
    assert "Definitions" not in first
    for of_card in audit._document.cards:
        for mark in of_card.marks:
            numbers = f"{mark.value:.3f} | {mark.low:.3f} to {mark.high:.3f} | {mark.n_rows:,}"
            assert f"| {mark.label} | {numbers} |" in first
    document = json.loads(audit.to_json())
    assert document == json.loads(json.dumps(audit.to_dict()))
    for column, found in audit.answers.items():
        of_column = document["columns"][column]["answers"]
        for name, one in found.items():
            said = of_column[name]["sentence"]
            assert said in card or one.question.is_for_tolerance
            assert of_column[name]["verdict"] == one.verdict
        for where in (text, screen):
            assert of_column["difference"]["sentence"] in where
    for note in audit._document.cards[0].notes:
        assert note in text
        assert note in screen
        assert note in card
    assert document["tolerances"]["total"] == 4
    assert text_of(f"<main{audit._repr_html_().partition('<main')[2]}<aside") == screen


@pytest.mark.parametrize("n_tolerances", [0, 2, 5])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_the_first_screen_has_fewer_than_900_words(n_columns, n_tolerances):
    """Marks of verdicts and signs between facts are no words."""
    y, score, groups, _ = rows_of(1, 9000, n_groups=5, few=60, gap=1.0)
    labels = dict(zip(["g0", "g1", "g2", "g3", "g4", "tiny"], LONG_LABELS, strict=True))
    columns = columns_of(groups).assign(race=pd.Series(groups).map(labels))
    columns["site"] = np.array(["18 to 29", "30 to 64", "65 and older"])[np.arange(y.size) % 3]
    names = (*LIMITS, "equalized_odds_difference", "ratio", "xauc_disparity")[:n_tolerances]
    limits = dict.fromkeys(names, 0.05)
    audit = audit_of(y, score, columns[columns.columns[-n_columns:]], tolerances=limits)
    assert 250 < len(re.findall(r"\S*\w\S*", text_of(audit.to_html()))) < 900


@pytest.mark.parametrize("n_groups", [6, 50])
def test_plots_have_whole_labels(n_groups):
    names = [f"{LONG_LABELS[g % 6]} of the county {g}" for g in range(n_groups)]
    y, score, _, _ = rows_of(0, 200 * n_groups)
    groups = np.array(names)[np.arange(y.size) % n_groups]
    score = np.where(groups == names[0], np.random.default_rng(0).random(y.size), score)
    audit = audit_of(y, score, groups)
    texts = re.findall(r"(?s)<text\b[^>]*>(.*?)</text>", audit.to_html())
    assert set(names) <= {" ".join(re.sub("<[^>]*>", "", text).split()) for text in texts}
    roc = audit._document.plots[0]
    assert names[0] in " ".join(text for *_, text in reversed(roc.names()))


def test_sentences_name_only_tested_pairs_and_their_interval():
    """Each sentence has the groups, their rows, the difference, its interval and p."""
    y, score, groups, _ = rows_of(3, 1500, gap=1.5)
    audit = audit_of(y, score, groups)
    found = audit.answers["group"]["difference"]
    sizes, auc = pd.Series(groups).value_counts(), by_rows(y, score, groups, None)["auc"]
    high, low, size, *limits = found.shown
    assert size == pytest.approx(auc[high] - auc[low])
    ends = [f"{group} {auc[group]:.3f} ({sizes[group]:,} rows)" for group in (low, high)]
    assert wording.sentence(found).startswith(
        f"AUC differs: {', '.join(ends)}, largest difference {size:.3f} ({limits[0]:.3f} to "
        f"{limits[1]:.3f}), {_words.pvalue_text(found.pvalue)}."
    )
    rest = " ".join(wording.on_groups(found))
    for group in found.groups:
        row = found.row(group)
        is_lower, is_higher = row["simultaneous_high"] < 0, row["simultaneous_low"] > 0
        if group != found.reference and {group, found.reference} != set(found.shown[:2]):
            assert (f"{group} by" in rest) == (is_lower or is_higher)
            reach = max(-row["simultaneous_low"], row["simultaneous_high"])
            is_open = f"{group} ({wording.gap_text(found.question, reach)})" in rest
            assert is_open == (not is_lower and not is_higher)


def test_a_limit_above_0_is_never_printed_as_0_and_p_shows_its_side():
    assert wording.number(0.00002) == "0.00002"
    assert wording.number(0.0) == wording.number(-1e-12) == "0.000"
    assert wording.number(-0.0421, "+") == "\N{MINUS SIGN}0.042"
    assert wording.number(0.9996) == "1.000"
    assert _words.pvalue_text(0.0499) == "p = 0.0499"
    assert _words.pvalue_text(0.04999) == "p = 0.04999"
    assert _words.pvalue_text(0.0501) == "p = 0.05"
    assert _words.pvalue_text(1.0) == "p = 1"
    assert _words.pvalue_text(3e-5) == "p < 0.0001"


def test_the_appendix_folds_and_has_every_table_and_plot(shown):
    audit, _ = shown
    page = audit.to_html()
    appendix = page.partition("<details>")[2]
    assert "open" not in page.partition("<details")[2][:10]
    for column, of_column in audit.answers.items():
        for found in of_column.values():
            if not found.question.parts:
                assert f"<h3>{found.question.title} by {column}</h3>" in appendix
        assert f"<h3>ROC curves by {column}</h3>" in appendix
        assert f"<h3>Calibration by {column}</h3>" in appendix
    n_groups = [len(sample.groups) for sample in audit.samples.values()]
    assert appendix.count('class="curve"') == sum(n_groups)
    # One panel of ROC curves for each column, and one of calibration for each group
    assert appendix.count('class="panel"') == len(n_groups) + sum(n_groups)
    assert identifier_of(audit.report.counts) in appendix


def test_roc_curves_are_those_of_the_rows(shown):
    audit, (y, score, columns) = shown
    panels = audit._document.plots[0]
    ((_, lines),) = panels.panels
    for line in lines:
        own = (columns["site"] == line.label).to_numpy()
        area = np.trapezoid([p[1] for p in line.points], [p[0] for p in line.points])
        assert area == pytest.approx(roc_auc_score(y[own], score[own]), abs=2e-3)
    lower = {line.label for line in lines if line.style == "low"}
    found = audit.answers["site"]["difference"]
    table = found.table
    assert lower == {g for g in found.groups if table.loc[g, "simultaneous_high"] < 0}
    assert [label for *_, label in panels.names()] == [ln.label for ln in lines if ln.style]
    assert f">{next(iter(lower))}</text>" in audit.to_html().partition("<aside")[2]


def test_axes_of_calibration_fit_the_data():
    y, score, groups, _ = rows_of(0, 4000)
    rare = audit_of((y * (np.arange(y.size) % 9 == 0)), score / 9, groups)
    calibration = next(of for of in rare._document.plots if of.title.startswith("Calibration"))
    across, upward = calibration.scales
    lines = [line for _, (line,) in calibration.panels]
    ends = [of for line in lines for pair in (*line.points, *line.limits) for of in pair]
    assert (across.low, across.high) == (upward.low, upward.high)
    assert across.low <= min(ends)
    assert max(ends) <= across.high < 1.1 * max(ends) < 0.4


def test_of_many_groups_the_lowest_and_the_highest_are_drawn():
    y, score, _, _ = rows_of(0, 12_000)
    groups = np.array([f"g{i % 50}" for i in range(y.size)], dtype=object)
    audit = audit_of(y, score, groups)
    (card,) = audit._document.cards
    auc = by_rows(y, score, groups, None)["auc"].sort_values(kind="stable")
    assert [mark.label for mark in card.marks] == [*auc.index[:6], *auc.index[-6:]]
    assert [mark.label for mark in card.all_marks] == auc.index.tolist()
    limits = audit.by_group()[["auc_ci_low", "auc_ci_high"]]
    for what, group in (("Lowest", auc.index[0]), ("Highest", auc.index[-1])):
        low, high = limits.loc[group]
        said = f"{what}: {group} {auc[group]:.3f} ({low:.3f} to {high:.3f})"
        assert said in text_of(audit.to_html())
    assert audit._document.tables[0].heading[1:3] == ("AUC", "95 % interval")
    assert "Plot: the 6 lowest and the 6 highest of 50 groups." in card.notes
    page = audit.to_html()
    assert "All groups by group" in page
    assert "of 12 of 50 groups" in page
    assert audit._document.data["headline"].count(" over new groups)") == 2


def test_without_jinja2_the_error_names_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'pip install "skfedauc\[html\]"'):
        check_installed()


def test_a_page_needs_no_matplotlib(tmp_path):
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from skfedauc import FairnessAudit\n"
        "audit = FairnessAudit.from_predictions([0, 1] * 40, [.1, .2, .3, .4] * 20, "
        "groups=['a', 'b', 'b', 'a'] * 20)\n"
        f"audit.to_html({str(tmp_path / 'a.html')!r})"
    )
    assert run_python("-c", code).returncode == 0
    assert "<svg" in (tmp_path / "a.html").read_text()


def test_facts_are_those_of_the_rows(monkeypatch):
    y, score, groups, _ = rows_of(few=15)
    names = {"model": "credit | score <3>", "label": "default"}
    audit = audit_of(y, score, groups, names=names, favorable="negative")
    facts = audit.facts
    assert facts["names"] == {"model": "credit | score <3>", "label": "default", "score": None}
    keys = ("favorable", "threshold", "columns", "min_per_class", "within", "primary")
    assert [facts[key] for key in keys] == ["negative", 0.5, ["group"], 10, {}, "difference"]
    counted = ("n_rows", "n_positives", "n_negatives", "n_groups", "n_missing")
    assert [facts[key] for key in counted] == [y.size, y.sum(), (1 - y).sum(), 4, 0]
    assert (facts["positive_class"], facts["negative_class"]) == (1, 0)
    assert set(facts["versions"]) == {"skfedauc", "scikit-learn", "numpy", "fairlearn"}
    assert facts["date"] == "2026-01-01T00:00:00Z"  # SOURCE_DATE_EPOCH in conftest.py sets the date
    assert json.loads(json.dumps(facts)) == facts
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    before = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    made = audit_of(y, score, groups).facts["date"]
    assert before <= datetime.datetime.fromisoformat(made) <= datetime.datetime.now(datetime.UTC)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ValueError, match=r"SOURCE_DATE_EPOCH must be .*'yesterday'"):
        audit_of(y, score, groups)


def test_an_identifier_is_random_and_kept_with_the_archived_counts(tmp_path):
    """Equal counts have different identifiers, so no one can test guesses about the rows."""
    rows = rows_of()[:3]
    audit, same = audit_of(*rows), audit_of(*rows)
    identifier = audit.facts["identifier"]
    assert re.fullmatch("[0-9a-f]{32}", identifier)
    assert same.facts["identifier"] != identifier
    audit.report.counts.with_source("held out").save(tmp_path / "a.skfa")
    archived = ScoreCounts.load(tmp_path / "a.skfa")
    again = FairnessAudit(GroupAUC(archived, undefined="ignore"))
    assert again.facts == audit.facts
    for text in (audit.to_html(), audit.to_json(), audit.to_markdown(appendix=True)):
        assert identifier in text
    assert f"audit {identifier[:8]}" in repr(audit)
    known = again.to_html().replace(" \N{MIDDLE DOT} source held out", "")
    assert known == audit.to_html()


def test_files_are_written_whole(shown, tmp_path):
    audit, _ = shown
    for write, name in ((audit.to_json, "a.json"), (audit.to_markdown, "a.md")):
        assert write(tmp_path / name) is None
        assert (tmp_path / name).read_text(encoding="utf-8") == write()
        with pytest.raises(OSError, match="absent"):
            write(tmp_path / "absent" / name)


def test_a_pooled_auc_above_that_of_every_group_is_explained():
    rng = np.random.default_rng(0)
    share = rng.choice([0.1, 0.9], 2000)
    y = (rng.random(2000) < share).astype(int)
    audit = audit_of(y, 3 * share + rng.normal(size=2000), share < 0.5)
    cross = audit.report.statistic("cross")
    why = f"above every group's, because pairs across groups have an AUC of {cross:.3f}."
    assert f"The pooled AUC is {why}" in audit._document.cards[0].notes


def test_names_of_sources_are_text_in_markdown():
    counts = ScoreCounts.from_predictions([0, 1] * 40, np.arange(80.0), groups=["a", "b"] * 40)
    named = counts.with_source("<b>[x](y) *z*_`&", model="m_1")
    card = FairnessAudit(GroupAUC(named, undefined="ignore"), threshold=None).to_markdown()
    assert r"source &lt;b>\[x\](y) \*z\*\_\`\&; model m\_1" in card
