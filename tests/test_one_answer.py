"""One question has one answer: the same value and limits on every surface.

The surfaces are the report and its text, metrics, the audit in Python, its text, page, notebook,
model card and JSON, the commands `audit`, `report` and `compare` in text and JSON, the comparison
of models and of audits, and the reports of a cross-validation.
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
from sklearn.linear_model import LogisticRegression

from skfedauc import (
    FairnessAudit,
    GroupAUC,
    WithinGroupStratifiedKFold,
    compare_models,
    cross_validate_group_auc,
    group_roc_auc_score,
)
from skfedauc.cli.main import main

LEAST = 10  # rows of each class of a compared group, everywhere
NUMBER = r"(\d\.\d{3})"
INTERVAL = rf"{NUMBER} \((?:true: )?{NUMBER} to {NUMBER}\)"


def rows_of(seed, *, tiny=False, columns=("site",), weights=False, clusters=False, n=500, digits=3):
    rng = np.random.default_rng(seed)
    shares = [0.4, 0.3, 0.27, 0.03] if tiny else [0.3, 0.3, 0.2, 0.2]
    rows = pd.DataFrame({"site": rng.choice(["ale", "bern", "cork", "dili"], n, p=shares)})
    rows["sex"] = rng.choice(["f", "m"], n)
    rows["band"] = rng.choice(list("opqrs"), n)
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
    # More than 20 groups of all columns together would be a sample of groups.
    "three columns": rows_of(6, columns=("site", "sex", "band"), weights=True),
    "weights": rows_of(3, tiny=True, weights=True),
    "clusters": rows_of(4, clusters=True),
    "three columns, clusters": rows_of(4, columns=("site", "sex", "band"), clusters=True),
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

    def audit_of(self, score, least=LEAST):
        options = {"groups": self.rows[list(self.columns)], "min_per_class": least, **self.known}
        return FairnessAudit.from_predictions(
            self.rows["y"], self.rows[score], threshold=0.5, **options
        )

    def report(self, column, score="s", least=LEAST):
        options = {"groups": self.rows[column], "min_per_class": least, **self.known}
        return GroupAUC.from_predictions(self.rows["y"], self.rows[score], **options)

    def exact(self, column):
        """Yield the name of each surface that returns numbers, and its numbers."""
        report = self.report(column)
        table = report.confidence_intervals()
        test = report.test_difference()
        intervals = by_statistic(report)
        yield (
            "report",
            {
                **by_group(table.index, table, "auc"),
                **{name: intervals[name] for name in ("pooled", "macro", "worst", "within")},
                "difference": (test.estimate, test.ci_low, test.ci_high),
                "p": (test.pvalue,),
            },
        )
        yield "table of statistics", intervals
        yield "statistics of the report", alone(report.statistics())
        of_names = {name: report.statistic(name) for name in intervals}
        yield "single statistics", alone(of_names | {"macro": report.average("macro")})
        yield "properties", alone({name: getattr(report, name) for name in ("pooled", "worst")})
        answer = self.audit.answers[column]["difference"]
        yield "audit", of_answer(answer, by_group(answer.groups, answer.table, "value"))
        own = self.audit.by_group(column)
        limits = {"auc_ci_low": "ci_low", "auc_ci_high": "ci_high"}
        yield "audit by group", by_group(own.index, own.rename(columns=limits), "auc")
        yield "dictionary of the audit", of_document(self.audit.to_dict(), column)
        document = json.loads(run("audit", self.path, *self.options, *self.of_clusters, "--json"))
        yield "audit --json", of_document(document, column)
        yield "statistics of audit --json", of_grouping(document, column)
        if not self.of_clusters:
            run("count", self.path, *self.options, "-o", self.counts)
            document = json.loads(run("report", self.counts, "--json"))
            yield "report --json", of_document(document, column)
            yield "statistics of report --json", of_grouping(document, column)
            change = self.audit.compare(self.audit_of("t")).answers[column]["difference"]
            labels, before = change.groups, change.table["before"]
            of_groups = alone({("auc", g): v for g, v in zip(labels, before, strict=True)})
            yield "comparison", {"difference": (change.before,), **of_groups}
            options = [*self.options, "--score", "t", "--json"]
            change = json.loads(run("compare", self.path, *options))["columns"][column]["answers"]
            of_groups = {("auc", g["group"]): g["before"] for g in change["difference"]["groups"]}
            yield (
                "compare --json",
                alone(of_groups | {"difference": change["difference"]["before"]}),
            )

    def of_all_groups(self, column):
        """Yield the same for surfaces without a least number of rows, also of a second model."""
        names = ("pooled", "macro", "within")
        reports = {score: self.report(column, score, 1) for score in ("s", "t")}
        yield (
            "reports",
            {
                (score, key): found
                for score, report in reports.items()
                for key, found in (by_statistic(report) | by_group_of(report)).items()
            },
        )
        audits = {score: self.audit_of(score, 1).samples[column].shown for score in reports}
        yield "audits", {(s, "pooled"): by_statistic(of)["pooled"] for s, of in audits.items()}
        rows = {"groups": self.rows[column], "sample_weight": self.known.get("sample_weight")}
        yield (
            "metrics",
            {
                (s, name): (
                    group_roc_auc_score(self.rows["y"], self.rows[s], statistic=name, **rows),
                )
                for s in reports
                for name in (*names, "worst", "difference")
            },
        )
        found = {}
        options = {"groups": self.rows[column], "min_per_class": 1, **self.known}
        for name in names:
            compared = compare_models(
                self.rows["y"], self.rows[["s", "t"]], statistic=name, **options
            )
            (table,) = compared.table.to_dict("records")
            found |= {("s", name): (table["value_a"],), ("t", name): (table["value_b"],)}
            for label, row in compared.by_group.droplevel(["model_a", "model_b"]).iterrows():
                found["s", ("auc", label)] = (row["value_a"],)
                found["t", ("auc", label)] = (row["value_b"],)
        yield "comparison of models", found

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

    def of_two_models(self):
        if not self.of_clusters:
            comparison = self.audit.compare(self.audit_of("t"))
            yield "comparison of audits", str(comparison)
            yield "notebook of the comparison", text_of(comparison._repr_html_())
            page = self.folder / "b.html"
            options = [*self.options, "--score", "t", "--html", page]
            yield "skfedauc compare", run("compare", self.path, *options)
            yield "page of the comparison", text_of(page.read_text("utf-8"))


def alone(values):
    return {name: (value,) for name, value in values.items()}


def by_statistic(report):
    table = report.confidence_intervals(of="statistics")
    columns = table[["value", "ci_low", "ci_high"]].to_numpy()
    return {name: tuple(row) for name, row in zip(table.index, columns, strict=True)}


def by_group_of(report):
    table = report.confidence_intervals()
    return by_group(table.index, table, "auc")


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


def of_grouping(document, column):
    (grouping,) = [part for part in document["groupings"] if part["by"] == [column]]
    found = {("auc", row["label"]): row["auc"] for row in grouping["groups"]}
    found |= grouping["statistics"]  # in which null stands for an undefined number
    return alone({name: np.nan if value is None else value for name, value in found.items()})


@pytest.fixture(params=CASES, scope="module")
def surfaces(request, tmp_path_factory):
    rows, options = CASES[request.param]
    return Surfaces(rows, folder=tmp_path_factory.mktemp("surfaces"), **options)


def n_equal_pairs(surfaces):
    """Compare all pairs of surfaces, and return how many numbers two of them share."""
    n_equal = 0
    for (first, one), (second, other) in itertools.combinations(surfaces, 2):
        for key in [key for key in one if key in other]:
            length = min(len(one[key]), len(other[key]))
            expected = pytest.approx(other[key][:length], abs=1e-9, nan_ok=True)
            assert one[key][:length] == expected, (key, first, second)
            n_equal += 1
    return n_equal


def test_numbers_are_the_same_on_every_pair_of_surfaces(surfaces):
    for column in surfaces.columns:
        assert n_equal_pairs(surfaces.exact(column)) > 120
        assert n_equal_pairs(surfaces.of_all_groups(column)) > 30


def test_printed_numbers_are_those_of_the_report(surfaces):
    reports = ([surfaces.report(of, score) for of in surfaces.columns] for score in ("s", "t"))
    pooled = [{printed(by_statistic(report)["pooled"]) for report in of} for of in reports]
    for column in surfaces.columns:
        _, report = next(surfaces.exact(column))
        expected = {key: printed(found) for key, found in report.items()}
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
            if "report" in name and name != "skfedauc report":
                assert set(re.findall(rf"pooled {INTERVAL}", words)) == {expected["pooled"]}
                assert set(re.findall(rf"worst {NUMBER}", words)) == {expected["worst"][0]}
            else:
                assert pooled_aucs(words)[0] == pooled[0], name
    for name, text in surfaces.of_two_models():
        assert pooled_aucs(text)[:2] == pooled, name


def pooled_aucs(text):
    """Return the AUCs over all rows of each headline, which may differ by column."""
    words = " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())
    said = re.findall(r"AUC ((?:(?!AUC)[^;])*?) over all rows", words)
    return [set(re.findall(INTERVAL, of)) for of in said]


def printed(numbers):
    return tuple(f"{number:.3f}" for number in numbers)


def test_folds_have_the_numbers_of_their_rows():
    rows, _ = CASES["four groups"]
    X, y, site = rows[["s", "t"]], rows["y"], rows["site"]
    folds = WithinGroupStratifiedKFold(3, shuffle=True, random_state=0)
    result = cross_validate_group_auc(LogisticRegression(), X, y, groups=site, cv=folds)
    scores = np.zeros(y.size)
    for fold, (train, test) in enumerate(folds.split(X, y, site)):
        model = LogisticRegression().fit(X.iloc[train], y.iloc[train])
        scores[test] = model.decision_function(X.iloc[test])
        of_rows = y.iloc[test], scores[test]
        own = GroupAUC.from_predictions(*of_rows, groups=site.iloc[test])
        report, table = result.folds[fold], result.by_fold.loc[fold]
        surfaces = {"own": by_statistic(own), "fold": by_statistic(report), "table": alone(table)}
        surfaces["groups"], surfaces["own groups"] = by_group_of(report), by_group_of(own)
        surfaces["metrics"] = {
            name: (group_roc_auc_score(*of_rows, groups=site.iloc[test], statistic=name),)
            for name in ("pooled", "macro", "worst", "within", "difference")
        }
        assert n_equal_pairs(surfaces.items()) > 25
        assert str(report) == str(own)
    means = result.confidence_intervals()
    assert means["value"].to_dict() == pytest.approx(result.by_fold[means.index].mean().to_dict())
    whole, over = GroupAUC.from_predictions(y, scores, groups=site), result.over_folds
    assert n_equal_pairs([("over", by_statistic(over)), ("whole", by_statistic(whole))]) == 8
    assert str(over) == str(whole)
    assert text_of(over._repr_html_()) == text_of(whole._repr_html_())
    assert f"{over.pooled:.4f}" in str(result)


def test_left_out_groups_are_in_no_statistic(tmp_path):
    rows, options = CASES["a tiny group"]
    all_surfaces = Surfaces(rows, folder=tmp_path, **options)
    sizes = pd.crosstab(rows["site"], rows["y"])
    assert (sizes.loc["dili"] < LEAST).any()
    assert "over all rows of compared groups" in all_surfaces.audit._document.data["headline"]
    for name, numbers in all_surfaces.exact("site"):
        if not name.startswith("statistics of"):
            assert ("auc", "dili") not in numbers, name
    for name, text in all_surfaces.printed("site"):
        assert "Left out, with fewer than 10 positives or negatives: dili" in " ".join(
            text.split()
        ), name
