"""Output of the command `audit`: the page, the document, and errors of writing."""

import json
from functools import partial

import numpy as np
import pytest
from cli_cases import COLUMNS, with_gaps

from skfedauc import FairnessAudit
from skfedauc.cli.main import main

pytestmark = pytest.mark.usefixtures("equal_identifiers")

TOLERANCES = {"difference": 0.05, "equalized_odds_difference": 0.3}


def audit_of(frame, by, **options):
    return FairnessAudit.from_predictions(
        frame["y"],
        frame["s"],
        groups=frame[by].astype(str).mask(frame[by].isna()),
        missing="drop",
        intersections=[by] if len(by) > 1 else [],
        **options,
    )


@pytest.mark.parametrize("by", [["sex"], ["g", "sex"]])
def test_text_page_card_and_document_are_those_of_python(frame, by, tmp_path, printed_by):
    frame, path = with_gaps(frame), tmp_path / "gaps.csv"
    frame.to_csv(path, index=False)
    files = {name: tmp_path / f"a.{name}" for name in ("html", "markdown", "json")}
    options = [text for name, file in files.items() for text in (f"--{name}", str(file))]
    options += ["--threshold=0.4", "--missing=drop", "--min-per-class=30", "--name=model=a=b"]
    options += ["--favorable=negative"]
    options += [f"--tolerance={name}={limit}" for name, limit in TOLERANCES.items()]
    groups = [f"--group={name}" for name in by]
    lines = printed_by("audit", path, *COLUMNS[:4], *groups, *options).splitlines()
    expected = audit_of(
        frame,
        by,
        threshold=0.4,
        min_per_class=30,
        names={"model": "a=b"},
        favorable="negative",
        tolerances=TOLERANCES,
    )
    assert lines[2 : 2 + len(expected._document.lines())] == expected._document.lines()
    assert lines[-3:] == [
        f"The fairness audit is in {files['html']}.",
        f"The JSON document is in {files['json']}.",
        f"The Markdown report is in {files['markdown']}.",
    ]
    assert files["html"].read_text(encoding="utf-8") == expected.to_html()
    assert files["markdown"].read_text(encoding="utf-8") == expected.to_markdown()
    document = json.loads(files["json"].read_text())
    own = json.loads(expected.to_json())
    assert {key: document[key] for key in own} == own


@pytest.mark.parametrize("threshold", [[], ["--threshold", "none"]])
def test_scores_that_are_no_probabilities_are_audited_by_their_ranking(audit, written, threshold):
    document = audit(written, *COLUMNS, *threshold)
    assert not document["facts"]["has_decisions"]
    answers = document["columns"]["g"]["answers"]
    assert answers["demographic_parity_difference"]["missing"] == "decisions"


def test_decisions_and_positive_labels_are_those_of_the_columns(frame, tmp_path, audit):
    decided = (frame["s"] > frame["id"] % 3).astype(int)
    words = np.array(["no", "yes"])
    frame = frame.assign(y=words[frame["y"]], d=words[decided])
    frame.to_csv(tmp_path / "decided.csv", index=False)
    for positive in ("yes", "no"):
        options = ["--group", "sex", "--decisions", "d", "--pos-label", positive]
        document = audit(tmp_path / "decided.csv", *COLUMNS[:4], *options)
        expected = audit_of(frame, ["sex"], y_pred=words[decided], pos_label=positive)
        assert document["columns"] == json.loads(expected.to_json())["columns"]


@pytest.mark.parametrize("columns", [["sex"], ["sex", "team"]])
def test_audits_within_labels_are_those_of_python(frame, tmp_path, audit, printed_by, columns):
    frame = with_gaps(frame)
    frame["g"] = frame["g"].replace({"7": "007", "NA": "007", "nan": "a, b", "2024-01-31": "a, b"})
    frame["team"] = np.where(frame["id"] % 7 < 4, "u", "v")
    file = tmp_path / "p.csv"
    frame.to_csv(file, index=False)
    by = [f"--group={name}" for name in columns]
    by += ["--within", "g", "--missing", "drop", "--tolerance", "difference=0.05"]
    document = audit(file, *COLUMNS[:4], *by)
    groupings = [[name] for name in columns] + [columns] * (len(columns) > 1)
    kept = frame.dropna(subset=[*columns, "g"])
    n_dropped = len(frame) - len(kept)
    found, parts = document["columns"], iter(document["groupings"])
    for each in groupings[: len(columns)]:
        whole = audit_of(kept, [*each, "g"], tolerances={"difference": 0.05})
        for level, one in whole.within("g").items():
            (expected,) = one.answers.values()
            answers = found[f"{each[0]} within g {level}"]["answers"]
            assert answers["difference"]["confidence_level"] == 0.975
            assert answers["difference"]["ci_low"] == expected["difference"].ci_low
            assert answers["xauc_disparity"]["pvalue"] == expected["xauc_disparity"].pvalue
            grouping = next(parts)
            assert (grouping["by"], grouping["within"]) == (each, {"g": level})
            assert grouping["n_dropped"] == n_dropped
    assert len(found) == document["tolerances"]["total"] == 2 * len(groupings)
    assert document["within"] == {"column": "g", "n_dropped": n_dropped}
    printed = printed_by("audit", file, *COLUMNS[:4], *by)
    assert f" {n_dropped} rows without a group label left out " in printed
    assert "\nBy sex within g 007\n" in printed
    # A file of counts gives the same audit.
    counts = tmp_path / "p.skfa"
    grouped = [f"--group={name}" for name in (*columns, "g")]
    printed_by("count", file, *COLUMNS[:4], *grouped, "--missing", "drop", "-o", counts)
    options = ["--within", "g", "--tolerance", "difference=0.05", "--json"]
    again = json.loads(printed_by("report", counts, *options))
    assert again["columns"] == document["columns"]


def test_a_tolerance_within_labels_is_named(frame, tmp_path, capsys):
    frame["one"] = np.where(frame["sex"] == "f", 1, frame["y"])
    file = tmp_path / "p.csv"
    frame.to_csv(file, index=False)
    limit = ["--tolerance", "difference=0.3", "--fail-if", "undecided"]
    # The rows of the first label have one class.
    of_file = ["--label", "one", "--score", "s", "--group", "g", "--within", "sex"]
    assert main(["audit", str(file), *of_file, *limit]) == 5
    assert "difference by g within sex f is undecided" in capsys.readouterr().err


def test_an_audit_of_clusters(frame, tmp_path, audit, printed_by):
    frame["patient"] = frame["id"] // 5 * 1.0
    for name, number in (("site", frame["patient"]), ("device", frame["id"])):
        frame[name] = np.where(number % 2, "a", "b")
    path = tmp_path / "patients.csv"
    with_gaps(frame).sample(frac=1, random_state=0).to_csv(path, index=False)
    columns = ["--label", "y", "--score", "s", "--group", "site", "--group", "device"]
    options = ["--clusters", "patient", "--tolerance", "demographic_parity_difference=0.3"]
    # The last digits depend on the order of the clusters.
    rounded = partial(json.loads, parse_float=lambda number: round(float(number), 12))
    document = rounded(json.dumps(audit(path, *columns, *options)))
    assert document["clusters"] == "patient"
    groupings = {tuple(part["by"]): part for part in document["groupings"]}
    assert list(groupings) == [("site",), ("device",), ("site", "device")]
    for by, part in groupings.items():
        assert (part["n_clusters"], part["n_shared_clusters"] > 0) == (80, by != ("site",))
        assert (part["test_equal_groups"] is None) == (by != ("site",))
    # Counts by group and cluster have the same report.
    counted = path.parent / "patients.skfa"
    printed_by("count", path, *columns, "--group", "patient", "-o", counted)
    again = rounded(printed_by("report", counted, *options, "--json"))
    assert again["columns"] == document["columns"]
    for part in again["groupings"]:
        for name in ("statistics", "n_clusters", "groups"):
            assert part[name] == groupings[tuple(part["by"])][name], name
