"""Facts, documents and control columns of audits, compared with fairlearn and with the rows."""

import datetime
import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import (
    MetricFrame,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from skops.card import Card

from skfedauc import FairnessAudit, GroupAUC, ScoreCounts

pytestmark = pytest.mark.usefixtures("few_draws")

RATES = {
    "selection_rate": selection_rate,
    "true_positive_rate": true_positive_rate,
    "false_positive_rate": false_positive_rate,
}
TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorials" / "signed_off_audit.md"
NAMES = {"model": "credit | score <3>", "score": "risk", "label": "default"}


def people(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    groups = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "band": rng.choice([20, 40, 60], n, p=[0.1, 0.3, 0.6]),
            "site": rng.choice(["a|b", "<i>"], n),
        }
    )
    y = rng.integers(0, 2, n)
    score = 1 / (1 + np.exp(-(rng.normal(size=n) + y + 0.5 * (groups["sex"] == "m"))))
    return y, np.round(score, 2), groups


def audit_of(rows, columns=("sex", "band"), **options):
    y, score, groups = rows
    return FairnessAudit.from_predictions(y, score, groups=groups[list(columns)], **options)


# Facts -----------------------------------------------------------------------------------------


def test_facts_are_those_of_the_rows(monkeypatch):
    y, _, groups = rows = people()
    groups.loc[:19, "band"] = 99  # a small group
    audit = audit_of(rows, ["band"], names=NAMES, favorable="negative", reference=40)
    facts = audit.facts
    assert facts["names"] == NAMES
    assert list(facts["names"]) == ["model", "label", "score"]
    declared = ("favorable", "threshold", "columns", "reference", "min_per_class", "within")
    assert [facts[key] for key in declared] == ["negative", 0.5, ["band"], 40, 10, {}]
    n_small = (groups["band"].groupby([groups["band"], y]).size().unstack().min(axis=1) < 10).sum()
    assert facts["n_small_groups"] == n_small
    counted = ("n_rows", "n_positives", "n_negatives", "n_groups", "n_missing")
    expected = [y.size, int((y == 1).sum()), int((y == 0).sum()), 4, 0]
    assert [facts[key] for key in counted] == expected
    assert (facts["positive_class"], facts["negative_class"]) == (1, 0)
    assert facts["identifier"] == audit.report.counts.identifier
    assert set(facts["versions"]) == {"skfedauc", "scikit-learn", "numpy", "fairlearn"}
    assert facts["date"] == "2026-01-01T00:00:00Z"  # SOURCE_DATE_EPOCH in conftest.py sets the date
    assert json.loads(json.dumps(facts)) == facts
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    before = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    made = audit_of(rows).date
    assert before <= datetime.datetime.fromisoformat(made) <= datetime.datetime.now(datetime.UTC)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ValueError, match=r"SOURCE_DATE_EPOCH must be .*'yesterday'"):
        audit_of(rows)


def test_names_are_the_same_by_every_way_of_building():
    y, score, groups = people(200)
    X = pd.DataFrame({"x": score, "sex": groups["sex"]})
    model = LogisticRegression().fit(X[["x"]], y)
    report = GroupAUC.from_predictions(y, score, groups=groups["sex"], undefined="ignore")
    several = audit_of((y, score, groups), names={"model": "b"})
    for audit in (
        FairnessAudit(report, names={"model": "b"}),
        FairnessAudit.from_predictions(y, score, groups=groups["sex"], names={"model": "b"}),
        FairnessAudit.from_estimator(
            model, X[["x"]], y, groups=groups["sex"], names={"model": "b"}
        ),
        several.of("sex"),
        *several.within("sex").values(),
        *FairnessAudit.adjusted_together([several]),
    ):
        assert audit.names == {"model": "b"}
        assert audit.facts["names"] == {"model": "b", "label": None, "score": None}
        assert audit.date == several.date


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ("risk", TypeError, "names must be a mapping with some of the keys 'model', 'label'"),
        ({"modell": "x"}, ValueError, "'model', 'label', 'score'; got the key 'modell'"),
        ({"model": 3}, ValueError, r"names\['model'\] must be text that is not empty; got int 3"),
        ({"score": " "}, ValueError, r"names\['score'\] must be text that is not empty; got str"),
    ],
)
def test_names_of_other_things_are_refused(names, error, message):
    with pytest.raises(error, match=message):
        audit_of(people(100), ["sex"], names=names)


def test_an_identifier_is_random_and_kept_with_the_archived_counts(tmp_path):
    """Equal counts have different identifiers, so no one can test guesses about the rows."""
    rows = people(600)
    audit, same = audit_of(rows), audit_of(rows)
    identifier = audit.facts["identifier"]
    assert re.fullmatch("[0-9a-f]{32}", identifier)
    assert audit.report.counts == same.report.counts
    assert same.facts["identifier"] != identifier
    audit.report.counts.with_source("held out").save(tmp_path / "a.skfa")
    archived = ScoreCounts.load(tmp_path / "a.skfa")
    assert archived.identifier == identifier
    again = FairnessAudit(GroupAUC(archived, undefined="ignore"))
    assert again.facts == audit.facts
    derived = [audit.of("band"), *audit.within("sex").values()]
    assert {one.facts["identifier"] for one in derived} == {identifier}


def test_merged_counts_have_an_identifier_of_their_sources():
    parts = [ScoreCounts.from_predictions([0, 1], [0.1, 0.2 + i]) for i in range(3)]
    data = [part.to_bytes() for part in parts]
    merged = [ScoreCounts.merge(map(ScoreCounts.from_bytes, some)) for some in (data, data[::-1])]
    assert merged[0].identifier == merged[1].identifier
    assert merged[0].identifier not in [part.identifier for part in parts]
    two = ScoreCounts.merge(map(ScoreCounts.from_bytes, data[:2]))
    assert two.identifier != merged[0].identifier


def test_no_page_or_document_has_a_hash_of_the_counts(tmp_path):
    audit = audit_of(people(600))
    audit.to_html(tmp_path / "a.html")
    texts = (tmp_path / "a.html").read_text(encoding="utf-8"), json.dumps(audit.to_dict())
    for text in (*texts, audit.to_markdown()):
        assert audit.report.counts.identifier in text
        # The page's policy has hashes of its scripts in base64.
        assert not re.search("[0-9a-f]{64}", text)


# Documents -------------------------------------------------------------------------------------


def test_a_document_has_the_numbers_of_the_audit(tmp_path):
    audit = audit_of(people(300), min_per_class=20)
    document = audit.to_dict()
    assert json.loads(audit.to_json()) == document
    assert audit.to_json(tmp_path / "a.json") is None
    assert (tmp_path / "a.json").read_text() == audit.to_json() + "\n"
    assert list(document["by_column"]) == ["sex", "band"]
    for part, own in (
        (audit, document),
        *((audit.of(name), document["by_column"][name]) for name in audit.columns),
    ):
        assert own["facts"] == part.facts
        assert own["findings"] == list(part.findings)
        assert own["n_claims"] == part.n_claims
        tables = (
            (part.by_group, own["groups"]),
            (part.gaps, [own["gaps"][name] for name in part.gaps.index]),
            (part.quality, [own["quality"][name] for name in part.quality.index]),
        )
        for table, rows in tables:
            for row, expected in zip(rows, table.to_dict("records"), strict=True):
                for name, value in expected.items():
                    is_undefined = isinstance(value, float) and math.isnan(value)
                    plain = list(value) if isinstance(value, tuple) else value
                    assert row[name] == (None if is_undefined else plain)
        rates = part.rates()
        assert list(own["rates"]) == list(rates.index.unique("rate"))
        for rate, rows in own["rates"].items():
            assert [row["label"] for row in rows] == [group["label"] for group in own["groups"]]
            for row, expected in zip(rows, rates.loc[rate].to_dict("records"), strict=True):
                for name, value in expected.items():
                    assert row[name] == (value if math.isfinite(value) else None)
        labels = [group["label"] for group in own["groups"]]
        assert labels == [list(g) if isinstance(g, tuple) else g for g in part.by_group.index]
        left_out = own["left_out"]["auc"]
        assert left_out == [list(g) if isinstance(g, tuple) else g for g in part.left_out["auc"]]


def test_labels_of_other_kinds_are_text():
    y, score, _ = people(100)
    days = pd.to_datetime(["2020-01-01", "2020-02-01"] * 50)
    document = FairnessAudit.from_predictions(y, score, groups=days).to_dict()
    assert [group["label"] for group in document["groups"]] == ["2020-01-01", "2020-02-01"]
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_a_model_card_has_the_tables_of_the_audit(tmp_path):
    audit = audit_of(people(), ["sex", "site"], names=NAMES, favorable="positive")
    text = audit.to_markdown()
    headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert headings == [
        "Model details",
        "Evaluation data",
        "Metrics by group",
        "Gaps",
        "Findings",
        "Caveats",
    ]
    assert "- Model: credit \\| score \\<3\\>\n" in text
    assert f"- Identifier of the counts: `{audit.report.counts.identifier}`" in text
    # Cells end at a bar that is not escaped.
    rows = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    by_label = {row[0]: row for row in rows}
    rates = audit.of("sex").rates()
    for label, row in zip(["f", "m"], audit.of("sex").by_group.itertuples(), strict=True):
        assert by_label[label][1:] == [
            f"{row.n_positives}",
            f"{row.n_negatives}",
            f"{row.auc:.3f} ({row.ci_low:.3f} to {row.ci_high:.3f})",
            *(
                f"{rate.value:.3f} ({rate.ci_low:.3f} to {rate.ci_high:.3f})"
                for rate in (rates.loc[(name, label)] for name in [*RATES, "precision"])
            ),
        ]
    assert {r"a\|b", r"\<i\>", r"f · a\|b"} <= set(by_label)
    assert {len(row) for row in rows} == {8, 5}
    plain = text.replace("\\", "")
    for part in (audit.of("sex"), audit.of("site"), audit):
        assert all(f"- {finding}\n" in plain for finding in part.findings)
    assert plain.count("claims are tested") == 1
    card = Card(model=LogisticRegression())
    card.add(Fairness=text)
    assert text.strip() in card.render()
    assert audit.to_markdown(tmp_path / "a.md") is None
    assert (tmp_path / "a.md").read_text() == text + "\n"


def test_a_model_card_of_many_groups_has_those_with_the_lowest_aucs():
    y, score, _ = people(3000)
    codes = np.random.default_rng(1).integers(0, 80, y.size)
    audit = FairnessAudit.from_predictions(y, score, groups=codes, threshold=None, min_per_class=1)
    text = audit.to_markdown()
    shown = re.findall(r"^\| (\d+) \|", text.partition("## Gaps")[0], flags=re.MULTILINE)
    lowest = audit.by_group["auc"].sort_values(kind="stable").index[:50]
    assert list(map(int, shown)) == list(lowest)
    assert "30 more groups with a higher AUC" in text
    assert "selection rate" not in text
    assert audit.to_dict()["rates"] is None


# Control columns -------------------------------------------------------------------------------


@pytest.mark.parametrize("control", ["sex", "band", "site"])
def test_rates_within_a_control_column_are_fairlearns(control):
    y, score, groups = rows = people(1500, seed=1)
    audit = audit_of(rows, groups.columns, min_per_class=1, threshold=0.6)
    others = [name for name in groups if name != control]
    frame = MetricFrame(
        metrics=RATES,
        y_true=y,
        y_pred=(score >= 0.6).astype(int),
        sensitive_features=groups[others],
        control_features=groups[control],
    )
    within = audit.within(control)
    assert list(within) == sorted(groups[control].unique())
    differences, ratios = frame.difference(), frame.ratio()
    for level, part in within.items():
        assert part.columns == tuple(others)
        expected = frame.by_group.loc[level]
        np.testing.assert_allclose(part.by_group[list(RATES)], expected, rtol=0, atol=1e-12)
        gaps = part.gaps["value"]
        for rate, name in zip(
            RATES,
            ("demographic_parity", "true_positive_rate", "false_positive_rate"),
            strict=True,
        ):
            assert gaps[f"{name}_difference"] == pytest.approx(differences.loc[level, rate])
        assert gaps["demographic_parity_ratio"] == pytest.approx(ratios.loc[level].iloc[0])
        frame_of_part = part.metric_frame
        np.testing.assert_allclose(frame_of_part.ratio(), ratios.loc[level])
        inside = (groups[control] == level).to_numpy()
        for label, auc in part.by_group["auc"].items():
            rows_of = inside & (groups[others] == list(label)).all(axis=1).to_numpy()
            assert auc == pytest.approx(roc_auc_score(y[rows_of], score[rows_of]), abs=1e-12)
        assert part.facts["within"] == {control: level}
        assert part.facts["n_rows"] == inside.sum()
        assert part.n_claims == within[next(iter(within))].n_claims
        assert f"within {control} {level!r}" in repr(part)
    alone = [
        FairnessAudit.from_predictions(
            y[inside], score[inside], groups=groups.loc[inside, others], min_per_class=1,
            threshold=0.6,
        )
        for inside in ((groups[control] == level).to_numpy() for level in within)
    ]  # fmt: skip
    for part, expected in zip(within.values(), FairnessAudit.adjusted_together(alone), strict=True):
        pd.testing.assert_frame_equal(part.by_group, expected.by_group)
        pd.testing.assert_frame_equal(part.gaps, expected.gaps)


def test_small_levels_of_a_control_column_are_shown_but_not_compared():
    rows = people(600)
    groups = rows[-1]
    groups.loc[:15, "site"] = "tiny"
    groups.loc[16:80, "site"] = "one sex"
    groups.loc[16:80, "sex"] = "f"
    within = audit_of(rows, ["sex", "site"]).within("site")
    for level in ("tiny", "one sex"):
        part = within[level]
        assert part.facts["n_rows"] == (groups["site"] == level).sum()
        assert np.isnan(part.gaps.loc["difference", "value"])
        assert any("Fewer than two groups are large enough" in f for f in part.findings)
    assert within["a|b"].gaps.loc["difference", "pvalue_adjusted"] <= 1
    named = audit_of(rows, ["sex", "site"], reference=("f", "a|b"))
    with pytest.raises(
        ValueError, match="within site 'tiny': the reference group 'f' is too small"
    ):
        named.within("site")


def test_what_cannot_be_a_control_column_is_said():
    audit = audit_of(people(100))
    with pytest.raises(ValueError, match=r"got 'site', and the columns are \['sex', 'band'\]"):
        audit.within("site")
    with pytest.raises(ValueError, match=r"Pass the control column to groups= as well"):
        audit.of("sex").within("sex")
    (together,) = FairnessAudit.adjusted_together([audit])
    with pytest.raises(ValueError, match=r"within\(\) is not available .* adjusted_together"):
        together.within("sex")


# Tools beside the audit ------------------------------------------------------------------


def run_as_shown(word, **names):
    """Run the block of the tutorial that has the word, and return its names."""
    blocks = re.findall(r"^```pycon\n(.*?)^```$", TUTORIAL.read_text(), re.DOTALL | re.MULTILINE)
    (block,) = (block for block in blocks if word in block)
    code = "".join(f"{line[4:]}\n" for line in block.splitlines())
    exec(compile(code, str(TUTORIAL), "exec"), names)
    return names


@pytest.mark.filterwarnings("ignore")
def test_mlflow_logs_an_audit_as_shown(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    audit = audit_of(people())
    Path("audit.html").write_text("page")
    run_as_shown("mlflow", audit=audit)
    run = mlflow.last_active_run()
    assert run.data.metrics == pytest.approx(audit.gaps["value"].dropna().to_dict())
    artifacts = mlflow.MlflowClient().list_artifacts(run.info.run_id)
    assert [file.path for file in artifacts] == ["audit.html", "audit.json"]


@pytest.mark.filterwarnings("ignore")
def test_skore_takes_a_group_statistic_as_shown():
    skore = pytest.importorskip("skore")
    y, score, groups = people()
    X = groups[["sex"]].assign(sex=groups["sex"] == "m", score=score)
    model = LogisticRegression().fit(X, y)
    report = skore.EstimatorReport(model, X_test=X, y_test=y, pos_label=1)
    run_as_shown("report.metrics", report=report, FairnessAudit=FairnessAudit)
    expected = GroupAUC.from_estimator(model, X, y, groups="sex").worst
    assert report.metrics.worst_group_auc() == pytest.approx(expected, abs=1e-12)
