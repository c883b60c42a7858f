"""One question has one answer: the same value and limits on every surface.

The surfaces are the report and its text, the audit in Python, its text, page, notebook, model card
and JSON, the commands `audit` and `report` in text and JSON, and the comparison of two models.
"""

import contextlib
import html
import io
import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest

from skfedauc import FairnessAudit, GroupAUC
from skfedauc.cli.main import main

LEAST = 10  # rows of each class of a compared group, everywhere
NUMBER = r"(\d\.\d{3})"
INTERVAL = rf"{NUMBER} \({NUMBER} to {NUMBER}\)"


def rows_of(seed, *, tiny=False, columns=("site",), weights=False, clusters=False, n=500, digits=3):
    rng = np.random.default_rng(seed)
    shares = [0.4, 0.3, 0.27, 0.03] if tiny else [0.3, 0.3, 0.2, 0.2]
    rows = pd.DataFrame({"site": rng.choice(["ale", "bern", "cork", "dili"], n, p=shares)})
    rows["sex"] = rng.choice(["f", "m"], n)
    rows["person"] = rng.integers(0, n // 4, n)
    rows["w"] = rng.integers(1, 4, n)
    rows["y"] = rng.integers(0, 2, n)
    noise = rng.normal(size=n) + (rng.normal(size=n // 4)[rows["person"]] if clusters else 0.0)
    unlike = 1.0 + 1.5 * (rows["site"] == "bern")
    rows["s"] = (1 / (1 + np.exp(0.7 - 1.4 * rows["y"] - noise * unlike))).round(digits)
    rows["t"] = (1 / (1 + np.exp(0.5 - rows["y"] - rng.normal(size=n)))).round(digits)
    return rows, {"columns": columns, "weights": weights, "clusters": clusters}


CASES = {
    "four groups": rows_of(0),
    "a tiny group": rows_of(1, tiny=True),
    "two columns": rows_of(2, columns=("site", "sex")),
    "weights": rows_of(3, tiny=True, weights=True),
    "clusters": rows_of(4, clusters=True),
    "ties": rows_of(5, tiny=True, columns=("site", "sex"), digits=1),
}


def text_of(page):
    page = re.sub(r"<(style|script|svg).*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def run(*arguments):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(list(map(str, arguments))) == 0
    return printed.getvalue()


class Surfaces:
    """What each surface says of a column: (value, low, high) by name, exact or with 3 decimals."""

    def __init__(self, rows, columns, weights, clusters, folder):
        self.rows, self.columns = rows, columns
        self.known = {"sample_weight": rows["w"]} if weights else {}
        self.known |= {"clusters": rows["person"]} if clusters else {}
        self.path, self.counts = folder / "rows.csv", folder / "rows.skfa"
        rows.to_csv(self.path, index=False)
        self.options = ["--label", "y", "--score", "s"]
        self.options += [part for name in columns for part in ("--group", name)]
        self.options += ["--weight", "w"] if weights else []
        self.of_clusters = ["--clusters", "person"] if clusters else []
        self.folder = folder
        self.audit = self.audit_of("s")

    def audit_of(self, score):
        groups = self.rows[list(self.columns)]
        return FairnessAudit.from_predictions(
            self.rows["y"], self.rows[score], groups=groups, threshold=0.5, **self.known
        )

    def report(self, column):
        options = {"groups": self.rows[column], "min_per_class": LEAST, **self.known}
        return GroupAUC.from_predictions(self.rows["y"], self.rows["s"], **options)

    def exact(self, column):
        """Yield the name of each surface that returns numbers, and its numbers."""
        report = self.report(column)
        table = report.confidence_intervals()
        test = report.test_difference()
        statistics = report.confidence_intervals(of="statistics")
        yield (
            "report",
            {
                **by_group(table.index, table, "auc"),
                "difference": (test.estimate, test.ci_low, test.ci_high),
                "p": (test.pvalue,),
                "within": tuple(statistics.loc["within", ["value", "ci_low", "ci_high"]]),
            },
        )
        yield (
            "table of statistics",
            {"difference": tuple(statistics.loc["difference", ["value", "ci_low", "ci_high"]])},
        )
        answer = self.audit.answers[column]["difference"]
        yield "audit", of_answer(answer, by_group(answer.groups, answer.table, "value"))
        own = self.audit.by_group(column)
        limits = {"auc_ci_low": "ci_low", "auc_ci_high": "ci_high"}
        yield "audit by group", by_group(own.index, own.rename(columns=limits), "auc")
        yield "dictionary of the audit", of_document(self.audit.to_dict(), column)
        document = json.loads(run("audit", self.path, *self.options, *self.of_clusters, "--json"))
        yield "audit --json", of_document(document, column)
        (grouping,) = [part for part in document["groupings"] if part["by"] == [column]]
        yield "statistics of audit --json", of_grouping(grouping)
        if not self.of_clusters:
            run("count", self.path, *self.options, "-o", self.counts)
            document = json.loads(run("report", self.counts, "--json"))
            yield "report --json", of_document(document, column)
            (grouping,) = [part for part in document["groupings"] if part["by"] == [column]]
            yield "statistics of report --json", of_grouping(grouping)
            change = self.audit.compare(self.audit_of("t")).answers[column]["difference"]
            before = change.table["before"]
            yield (
                "comparison",
                {
                    "difference": (change.before,),
                    **{("auc", g): (v,) for g, v in zip(change.groups, before, strict=True)},
                },
            )

    def printed(self, column):
        """Yield the name of each surface of text, and its text."""
        page, card = self.folder / "a.html", self.folder / "a.md"
        yield "print(report)", str(self.report(column))
        yield "audit", str(self.audit)
        yield "notebook", text_of(self.audit._repr_html_())
        yield "notebook of the report", text_of(self.report(column)._repr_html_())
        outputs = ["--html", page, "--markdown", card]
        yield (
            "skfedauc audit",
            run("audit", self.path, *self.options, *self.of_clusters, *outputs),
        )
        yield "page", text_of(page.read_text("utf-8"))
        yield "model card", html.unescape(card.read_text("utf-8"))
        if not self.of_clusters:
            run("count", self.path, *self.options, "-o", self.counts)
            yield "skfedauc report", run("report", self.counts)


def by_group(labels, table, name):
    columns = table[[name, "ci_low", "ci_high"]].to_numpy()
    return {("auc", label): tuple(row) for label, row in zip(labels, columns, strict=True)}


def of_answer(answer, found):
    found["difference"] = answer.estimate, answer.ci_low, answer.ci_high
    return {**found, "p": (answer.pvalue,)}


def of_document(document, column):
    answer = document["columns"][column]["answers"]["difference"]
    found = {
        ("auc", row["group"]): (row["value"], row["ci_low"], row["ci_high"])
        for row in answer["groups"]
    }
    found["difference"] = answer["estimate"], answer["ci_low"], answer["ci_high"]
    return {**found, "p": (answer["pvalue"],)}


def of_grouping(grouping):
    statistics = grouping["statistics"]
    found = {("auc", row["label"]): (row["auc"],) for row in grouping["groups"]}
    found |= {name: (statistics[name],) for name in ("difference", "within")}
    return found


@pytest.fixture(params=CASES)
def surfaces(request, tmp_path):
    rows, options = CASES[request.param]
    return Surfaces(rows, folder=tmp_path, **options)


def test_numbers_are_the_same_on_every_pair_of_surfaces(surfaces):
    for column in surfaces.columns:
        found = dict(surfaces.exact(column))
        compared = [key for key in found["report"] if key != "p"]
        assert len(compared) >= 4
        n_equal = 0
        for (first, one), (second, other) in itertools.combinations(found.items(), 2):
            for key in [key for key in one if key in other]:
                length = min(len(one[key]), len(other[key]))
                expected = pytest.approx(other[key][:length], abs=1e-9)
                assert one[key][:length] == expected, (column, key, first, second)
                n_equal += 1
        assert n_equal > 50


def test_printed_numbers_are_those_of_the_report(surfaces):
    for column in surfaces.columns:
        report = dict(surfaces.exact(column))["report"]
        expected = {key: tuple(f"{number:.3f}" for number in report[key]) for key in report}
        groups = [key[1] for key in report if key[0] == "auc"]
        for name, text in surfaces.printed(column):
            words = " ".join(text.replace("|", " ").replace("\N{NO-BREAK SPACE}", " ").split())
            for group in groups:
                # In the appendix, the rows stand between the label and the AUC.
                seen = set(
                    re.findall(
                        rf"(?<!· )\b{group}(?: [\d,]+)? {NUMBER} {NUMBER} to {NUMBER}", words
                    )
                )
                if name in ("page", "model card"):  # these have calibration slopes as well
                    assert expected["auc", group] in seen, (name, group, seen)
                elif name != "notebook":
                    assert seen == {expected["auc", group]}, (name, group, seen)
            gaps = re.findall(rf"difference {INTERVAL}", words)
            # If another pair is clearer, audits say the largest observed and the largest true one.
            observed = rf"The largest observed difference is {NUMBER}, [^;]+; "
            true = rf"the interval of the largest true difference is {NUMBER} to {NUMBER}"
            gaps += re.findall(observed + true, words)
            assert expected["difference"] in gaps, (name, gaps)
            assert expected["within"] in re.findall(INTERVAL, words), name


def test_left_out_groups_are_in_no_statistic(tmp_path):
    rows, options = CASES["a tiny group"]
    all_surfaces = Surfaces(rows, folder=tmp_path, **options)
    sizes = pd.crosstab(rows["site"], rows["y"])
    assert (sizes.loc["dili"] < LEAST).any()
    for name, numbers in all_surfaces.exact("site"):
        if not name.startswith("statistics of"):
            assert ("auc", "dili") not in numbers, name
    for name, text in all_surfaces.printed("site"):
        assert "Left out, with fewer than 10 positives or negatives: dili" in " ".join(
            text.split()
        ), name
