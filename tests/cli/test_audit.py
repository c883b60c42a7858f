"""Output of the command `audit`: the page, the document, and errors of writing."""

import errno
import html
import itertools
import json
import os
import re

import numpy as np
import pandas as pd
import pytest
from cli_cases import COLUMNS, with_gaps

from skfedauc import FairnessAudit
from skfedauc.audit import page
from skfedauc.cli import results
from skfedauc.cli.main import main

pytestmark = pytest.mark.usefixtures("equal_identifiers")

DROPPED = [*COLUMNS, "--missing", "drop"]


def audit_of(frame, by, **options):
    weight = options.pop("weight", None)
    return FairnessAudit.from_predictions(
        frame["y"],
        frame["s"],
        groups=frame[by].astype(str).mask(frame[by].isna()),
        sample_weight=None if weight is None else frame[weight],
        missing="drop",
        **options,
    )


def page_of(audits, name, n_dropped=()):
    """Page of audits whose p values are adjusted together."""
    audits = FairnessAudit.adjusted_together(audits)
    n_dropped = n_dropped or [0] * len(audits)
    sections = [page.Section(one.tables, n) for one, n in zip(audits, n_dropped, strict=True)]
    return page.page_of(sections, name)


# Pages ---------------------------------------------------------------------------------


def test_a_page_is_written_beside_the_report(frame, written, tmp_path, capsys, monkeypatch):
    """The page has only the first plot, and a cache keeps the drawn plot, to save time."""
    draw, drawn = page.figures.plots, {}

    def plots(tables, prefix):
        if prefix not in drawn:
            drawn[prefix] = list(itertools.islice(draw(tables, prefix), 1))
        return drawn[prefix]

    monkeypatch.setattr(page.figures, "plots", plots)
    path = tmp_path / "report.html"
    options = ["--group", "sex", "--threshold", "-0.5"]
    assert main(["audit", written, *COLUMNS[:4], *options[:2]]) == 0
    plain = capsys.readouterr().out
    assert main(["audit", written, *COLUMNS[:4], *options, "--html", str(path)]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{plain}\nThe fairness audit is in {path}.\n"
    assert printed.err == ""
    expected = page_of([audit_of(frame, ["sex"], threshold=-0.5)], "predictions.csv")
    assert "<svg" in expected
    assert path.read_text(encoding="utf-8") == expected


def test_a_page_has_the_rows_of_each_grouping(frame, gaps, tmp_path, without_plots):
    path = tmp_path / "report.html"
    options = ["--group", "sex", "--weight", "w", "--html", str(path)]
    assert main(["audit", str(gaps), *DROPPED, *options]) == 0
    frame, groupings = with_gaps(frame), (["g"], ["sex"], ["g", "sex"])
    expected = page_of(
        [audit_of(frame, by, weight="w") for by in groupings],
        "gaps.csv",
        [int(frame[by].isna().any(axis=1)[frame["w"] > 0].sum()) for by in groupings],
    )
    assert path.read_text(encoding="utf-8") == expected


def test_decisions_are_those_of_the_page(frame, tmp_path, without_plots):
    decided = (frame["s"] > frame["id"] % 3).astype(int)
    words = np.array(["no", "yes"])
    file, path = tmp_path / "decided.csv", tmp_path / "report.html"
    frame = frame.assign(y=words[frame["y"]], d=words[decided])
    frame.to_csv(file, index=False)
    options = ["--group", "sex", "--decisions", "d", "--pos-label", "yes", "--html", str(path)]
    assert main(["audit", str(file), *COLUMNS[:4], *options]) == 0
    audit = audit_of(frame, ["sex"], y_pred=words[decided], pos_label="yes")
    expected = page_of([audit], "decided.csv")
    assert path.read_text(encoding="utf-8") == expected
    assert "Decisions</dt><dd>of the model" in expected


def test_the_reference_is_that_of_the_page(frame, written, tmp_path, without_plots):
    path = tmp_path / "report.html"
    assert main(["audit", written, *COLUMNS, "--reference", "NA", "--html", str(path)]) == 0
    expected = page_of([audit_of(frame, ["g"], reference=["NA"])], "predictions.csv")
    assert path.read_text(encoding="utf-8") == expected


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_a_reference_that_is_no_group(written, tmp_path, error_of, option):
    arguments = [*COLUMNS, "--reference", "8", option, tmp_path / "r"]
    message = error_of(["audit", written, *arguments])
    assert "--reference must be a group's label; got '8', and the groups are 007, " in message
    assert os.listdir(tmp_path) == []


def test_a_reference_that_is_a_small_group(tmp_path, error_of):
    rows = "".join(f"{i % 2},{i / 40},{'tiny' if i < 5 else 'a'}\n" for i in range(40))
    path = tmp_path / "p.csv"
    path.write_text(f"y,s,g\n{rows}")
    message = error_of(["audit", path, *COLUMNS, "--json", "--reference", "tiny"])
    assert "--reference tiny is too small to be compared with: the group has 2 positives" in message


def test_a_page_of_another_positive_label(frame, tmp_path, without_plots):
    file, path = tmp_path / "p.csv", tmp_path / "report.html"
    frame["y"] = np.where(frame["y"] == 1, "yes", "no")
    frame.to_csv(file, index=False)
    options = ["--group", "sex", "--pos-label", "no", "--html", str(path)]
    assert main(["audit", str(file), *COLUMNS[:4], *options]) == 0
    expected = page_of([audit_of(frame, ["sex"], pos_label="no")], "p.csv")
    assert path.read_text(encoding="utf-8") == expected


@pytest.mark.parametrize("threshold", [[], ["--threshold", "none"]])
def test_a_page_of_scores_that_are_no_probabilities_is_about_the_ranking(
    frame, written, tmp_path, without_plots, threshold
):
    path = tmp_path / "report.html"
    assert main(["audit", written, *COLUMNS, "--html", str(path), *threshold]) == 0
    text = path.read_text(encoding="utf-8")
    assert ("Decisions are not audited" in text) == (not threshold)
    options = {"threshold": None if threshold else "auto"}
    assert text == page_of([audit_of(frame, ["g"], **options)], "predictions.csv")


# Model card and small groups -------------------------------------------------------------


@pytest.mark.parametrize("least", [None, 30])
def test_options_of_the_audit_are_those_of_python(frame, tmp_path, capsys, without_plots, least):
    """The model card, the page and the document have the groups that are small in Python."""
    card, page, path = tmp_path / "card.md", tmp_path / "a.html", str(tmp_path / "p.csv")
    frame["g"] = frame["g"].replace("a, b", "b")
    frame["s"] = (1 / (1 + np.exp(-frame["s"]))).round(3)
    frame.to_csv(path, index=False)
    files = ["--markdown", str(card), "--html", str(page)]
    options = [] if least is None else ["--min-per-class", str(least)]
    assert main(["audit", path, *COLUMNS, *options, *files]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert f"The model card is in {card}.\n" in printed.out
    chosen = {} if least is None else {"min_per_class": least}
    groups = frame[["g"]]
    expected = FairnessAudit.from_predictions(frame["y"], frame["s"], groups=groups, **chosen)
    assert expected.by_group["is_small"].any() == (least == 30)
    assert card.read_text(encoding="utf-8") == f"{expected.to_markdown()}\n"
    assert page.read_text(encoding="utf-8") == page_of([expected], "p.csv")
    assert ("Left out, with fewer than 30 positives or negatives: " in printed.out) == (least == 30)
    # The file of counts has the same card.
    counts, again = str(tmp_path / "p.skfa"), tmp_path / "again.md"
    assert main(["count", path, *COLUMNS, "-o", counts]) == 0
    assert main(["report", counts, *options, "--markdown", str(again)]) == 0
    assert again.read_text(encoding="utf-8") == card.read_text(encoding="utf-8")


def test_a_model_card_has_each_grouping_and_its_rows(frame, gaps, tmp_path):
    card = tmp_path / "card.md"
    tolerance = ["--tolerance", "difference=0.0001", "--fail-if", "undecided"]
    options = ["--group", "sex", "--markdown", str(card), *tolerance]
    assert main(["audit", str(gaps), *DROPPED, *options]) == 5
    text, frame = card.read_text(encoding="utf-8"), with_gaps(frame)
    assert re.findall("^## (.*)$", text, re.M) == [
        "Model details", "Evaluation data", "Metrics by group", "Gaps", "Findings", "Caveats"
    ]  # fmt: skip
    names = ["g", "sex", "g \N{MULTIPLICATION SIGN} sex"]
    assert re.findall("^### By (.*)$", text, re.M) == names * 4
    data = text.partition("## Evaluation data")[2].partition("\n## ")[0]
    rows = re.findall(r"^- (\d+) rows: (\d+) positives and (\d+) negatives$", text, re.M)
    for by, found in zip((["g"], ["sex"], ["g", "sex"]), rows, strict=True):
        y = frame.dropna(subset=by)["y"]
        assert tuple(map(int, found)) == (len(y), y.sum(), (1 - y).sum())
    assert "rows without a group left out" in data


def test_a_reference_may_be_smaller_with_the_option(tmp_path, audit, error_of):
    rows = "".join(f"{i % 2},{i / 40},{'tiny' if i < 5 else 'a'}\n" for i in range(40))
    path = tmp_path / "p.csv"
    path.write_text(f"y,s,g\n{rows}")
    tiny = [*COLUMNS, "--reference", "tiny"]
    document = audit(path, *tiny, "--min-per-class", "2")
    assert document["groupings"][0]["facts"]["reference"] == "tiny"
    assert "needs 3 of both classes; pass another group, or a smaller --min-per-class" in error_of(
        ["audit", path, *tiny, "--json", "--min-per-class", "3"]
    )
    for number in ("0", "1.5", "few"):
        message = error_of(["audit", path, *COLUMNS, "--min-per-class", number])
        assert f"must be a whole number of at least 1; got '{number}'" in message


# Within the labels of a control column ------------------------------------------------------


def within_of(frame, columns, control, **options):
    """Return audits by the columns within each label of the control column, with the labels."""
    audit = audit_of(frame, [*columns, control], **options)
    return list(audit.within(control).items())


@pytest.mark.parametrize("columns", [["sex"], ["sex", "team"]])
def test_audits_within_labels_are_those_of_python(
    frame, tmp_path, audit, without_plots, printed_by, columns
):
    frame = with_gaps(frame)
    frame["g"] = frame["g"].replace({"7": "007", "NA": "007", "nan": "a, b", "2024-01-31": "a, b"})
    frame["team"] = np.where(frame["id"] % 7 < 4, "u", "v")
    file, page = tmp_path / "p.csv", tmp_path / "p.html"
    frame.to_csv(file, index=False)
    by = [f"--group={name}" for name in columns]
    by += ["--within", "g", "--missing", "drop", "--tolerance", "difference=0.05"]
    document = audit(file, *COLUMNS[:4], *by, "--html", str(page))
    groupings = [[name] for name in columns] + [columns] * (len(columns) > 1)
    options = {"tolerances": {"difference": 0.05}}
    parts = [(each, *pair) for each in groupings for pair in within_of(frame, each, "g", **options)]
    audits = FairnessAudit.adjusted_together([one for _, _, one in parts])
    assert len(document["groupings"]) == len(document["tolerances"]["cases"]) == len(parts)
    n_dropped = []
    for (each, level, _), one, found, case in zip(
        parts, audits, document["groupings"], document["tolerances"]["cases"], strict=True
    ):
        assert {key: found[key] for key in one.to_dict()} == one.to_dict()
        expected = (each, {"g": level})
        assert (found["by"], found["within"]) == (case["by"], case["within"]) == expected
        n_dropped.append(int(frame.loc[frame["g"] == level, each].isna().any(axis=1).sum()))
        assert found["n_dropped"] == n_dropped[-1]
    without = int(frame["g"].isna().sum())
    assert document["within"] == {"column": "g", "n_dropped": without}
    n_rows = sum(g["n_positives"] + g["n_negatives"] for g in document["groupings"][:2])
    assert n_rows + sum(n_dropped[:2]) + without == len(frame)
    assert page.read_text(encoding="utf-8") == page_of(audits, "p.csv", n_dropped)
    printed = printed_by("audit", file, *COLUMNS[:4], *by)
    assert f"; {without} rows without 'g' dropped\n" in printed
    n_rows = len(frame[(frame["g"] == "007") & frame["sex"].notna()])
    assert f"By sex within g '007': {n_rows} rows, 2 groups; {n_dropped[0]} rows without" in printed
    # A file of counts gives the same report.
    counts = tmp_path / "p.skfa"
    grouped = [f"--group={name}" for name in (*columns, "g")]
    printed_by("count", file, *COLUMNS[:4], *grouped, "--missing", "group", "-o", counts)
    again = printed_by("report", counts, "--missing", "drop", *by[len(columns) : len(columns) + 2],
                       "--json")  # fmt: skip
    for one, other in zip(json.loads(again)["groupings"], document["groupings"], strict=True):
        assert one["groups"] == other["groups"]
        assert (one["within"], one["n_dropped"]) == (other["within"], other["n_dropped"])


def test_a_page_within_labels_says_so(frame, tmp_path, without_plots, capsys):
    frame["one"] = np.where(frame["sex"] == "f", 1, frame["y"])
    file, path, card = tmp_path / "p.csv", tmp_path / "p.html", tmp_path / "card.md"
    frame.to_csv(file, index=False)
    files = ["--html", str(path), "--markdown", str(card)]
    limit = ["--tolerance", "difference=0.3", "--fail-if", "undecided"]
    # The rows of the first label have one class.
    of_file = ["--label", "one", "--score", "s", "--group", "g", "--within", "sex"]
    assert main(["audit", str(file), *of_file, *limit, *files]) == 5
    assert "difference by g within sex 'f' is undecided" in capsys.readouterr().err
    text = html.unescape(path.read_text(encoding="utf-8"))
    for heading in ("By g within sex 'f'</h2>", "By g within sex 'm'</h2>", "within each sex</dd>"):
        assert heading in text
    assert "6 groups by g within each of 2 labels of sex" in text
    assert len(set(re.findall("counts</dt><dd>([0-9a-f]{32})</dd>", text))) == 1
    assert "### By g within sex m" in card.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--group", "g", "--within", "g"], "--within 'g' is the only group column; pass"),
        (["--group", "g", "--within", "absent"], "'absent'"),
        (
            ["--group", "g", "--group", "sex", "--within", "team", "--reference", "f"],
            "--reference is a group of one column; pass a single --group",
        ),
        (
            ["--group", "g", "--within", "sex", "--reference", "8"],
            "--reference must be a group's label; got '8', and the groups are 007, 2024-01-31, ",
        ),
        (
            ["--group", "g", "--within", "sex", "--reference", "7", "--min-per-class", "17"],
            "--reference: within sex 'm': the reference group '7' is too small",
        ),
    ],
)
def test_control_columns_that_do_not_fit(frame, tmp_path, error_of, options, message):
    path = tmp_path / "p.csv"
    frame.assign(team=frame["id"] % 2).to_csv(path, index=False)
    assert message in error_of(["audit", path, *COLUMNS[:4], *options])


def test_control_columns_that_a_file_of_counts_lacks(written, tmp_path, error_of, printed_by):
    counts = tmp_path / "p.skfa"
    printed_by("count", written, *COLUMNS, "-o", counts)
    message = error_of(["report", counts, "--within", "g"])
    assert "--within must be one of several group columns of the file; got 'g'" in message


def test_a_reference_within_labels(frame, written, audit):
    document = audit(written, *COLUMNS, "--within", "sex", "--reference", "NA")
    audits = [one for _, one in within_of(frame, ["g"], "sex", reference=("NA", "m"))]
    for one, found in zip(audits, document["groupings"], strict=True):
        assert found["groups"] == one.to_dict()["groups"]
        assert found["facts"]["reference"] == "NA"


# JSON ----------------------------------------------------------------------------------


@pytest.mark.parametrize("favorable", ["positive", "negative"])
def test_the_favorable_outcome_is_that_of_page_and_json(
    frame, gaps, tmp_path, audit, without_plots, favorable
):
    path = tmp_path / "report.html"
    document = audit(gaps, *DROPPED, "--favorable", favorable, "--html", str(path))
    expected = audit_of(with_gaps(frame), ["g"], favorable=favorable)
    assert path.read_text(encoding="utf-8") == page_of([expected], "gaps.csv", [40])
    assert document["favorable"] == favorable
    assert document["groupings"][0]["findings"] == list(expected.findings)
    assert document["groupings"][0]["n_claims"] == expected.n_claims


def test_json_is_printed_or_written_beside_report_and_page(
    gaps, tmp_path, capsys, audit, without_plots
):
    arguments = ["audit", str(gaps), *DROPPED]
    expected = audit(gaps, *DROPPED)
    assert main(arguments) == 0
    report = capsys.readouterr().out
    path, html = tmp_path / "caf\xe9.json", tmp_path / "r.html"
    assert main([*arguments, "--json", str(path)]) == 0
    assert capsys.readouterr().out == f"{report}\nThe JSON document is in {path}.\n"
    assert json.loads(path.read_text(encoding="utf-8")) == expected
    path.unlink()
    assert main([*arguments, "--json", str(path), "--html", str(html)]) == 0
    written = f"\nThe fairness audit is in {html}.\nThe JSON document is in {path}.\n"
    assert capsys.readouterr().out == report + written
    assert json.loads(path.read_text(encoding="utf-8")) == expected
    assert main([*arguments, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == expected
    assert sorted(os.listdir(tmp_path)) == [path.name, html.name]


# Files that cannot be written ------------------------------------------------------------


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_document_on_a_full_disk_leaves_report_and_page(gaps, tmp_path, capsys, without_plots):
    html = tmp_path / "r.html"
    options = ["--json", "/dev/full", "--html", str(html)]
    assert main(["audit", str(gaps), *DROPPED, *options]) == 3
    printed = capsys.readouterr()
    assert printed.out.startswith(f"{gaps}: 360 rows")
    message = "/dev/full: cannot be written: No space left on device"
    assert printed.err == f"skfedauc: error: {message}\n"
    assert html.read_text(encoding="utf-8").endswith("</html>\n")


@pytest.mark.parametrize("as_json", [False, True])
def test_the_report_is_printed_even_if_the_page_cannot_be_written(
    gaps, tmp_path, capsys, monkeypatch, without_plots, as_json
):
    arguments = ["audit", str(gaps), *DROPPED, *(["--json"] if as_json else [])]
    assert main(arguments) == 0
    expected = capsys.readouterr().out
    html = tmp_path / "r.html"
    html.write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(results, "write_whole", full)
    assert main([*arguments, "--html", str(html)]) == 3
    printed = capsys.readouterr()
    assert printed.out == expected
    message = f"skfedauc: error: {html}: cannot be written: No space left on device\n"
    assert printed.err == message
    assert html.read_text() == "old"


def test_names_are_on_the_page_and_in_the_document(frame, written, tmp_path, audit, without_plots):
    path, options = tmp_path / "r.html", ["--name", "model=a=b", "--name", "label=died"]
    document = audit(written, *COLUMNS, *options, "--html", str(path))
    (grouping,) = document["groupings"]
    assert grouping["facts"]["names"] == {"model": "a=b", "label": "died", "score": None}
    expected = audit_of(frame, ["g"], names={"model": "a=b", "label": "died"})
    assert path.read_text(encoding="utf-8") == page_of([expected], "predictions.csv")
    assert "Model</dt><dd>a=b</dd>" in path.read_text(encoding="utf-8")
    (together,) = FairnessAudit.adjusted_together([expected])
    assert {key: grouping[key] for key in together.to_dict()} == together.to_dict()


# Clusters ------------------------------------------------------------------------------


@pytest.fixture
def patients(tmp_path):
    """A file of clustered predictions, and the same rows as arguments of an audit in Python."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 5)
    table = pd.DataFrame(
        {
            "y": (patient % 3 == 0).astype(int),
            "s": rng.random(60)[patient].round(2) / 2 + rng.random(300).round(2) / 2,
            "site": np.where(patient % 2, "bern", "oslo"),
            "device": rng.integers(0, 2, 300).astype(str),
            "patient": patient.astype(float),
        }
    ).sample(frac=1, random_state=0)
    table.to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv", table


def test_an_audit_of_clusters(patients, audit, capsys):
    path, table = patients
    columns = ["--label", "y", "--score", "s", "--group", "site", "--group", "device"]
    options = ["--clusters", "patient", "--tolerance", "demographic_parity_difference=0.3"]
    document = audit(path, *columns, *options)
    assert document["clusters"] == "patient"
    groupings = {tuple(part["by"]): part for part in document["groupings"]}
    assert list(groupings) == [("site",), ("device",), ("site", "device")]
    for by, part in groupings.items():
        expected = FairnessAudit.from_predictions(
            table["y"], table["s"], groups=table[list(by)], clusters=table["patient"]
        )
        assert (part["n_clusters"], part["n_shared_clusters"] > 0) == (60, by != ("site",))
        assert (part["test_equal_groups"] is None) == (by != ("site",))
        found = part["gaps"]["demographic_parity_difference"]
        row = expected.gaps.loc["demographic_parity_difference"]
        assert [found["ci_low"], found["ci_high"], found["pvalue"]] == pytest.approx(
            [row["ci_low"], row["ci_high"], row["pvalue"]]
        )
    # Counts by group and cluster have the same report.
    counted = path.parent / "patients.skfa"
    assert main(["count", str(path), *columns, "--group", "patient", "-o", str(counted)]) == 0
    capsys.readouterr()
    assert main(["report", str(counted), *options, "--json"]) == 0
    again = json.loads(capsys.readouterr().out)["groupings"]
    for part in again:
        for name in ("statistics", "n_clusters", "test_difference", "groups"):
            assert part[name] == groupings[tuple(part["by"])][name], name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--clusters", "site"], "--clusters 'site' is also the column of --group or --within"),
        (["--clusters", "person"], "person"),
    ],
)
def test_clusters_that_cannot_be(patients, error_of, options, message):
    columns = ["--label", "y", "--score", "s", "--group", "site"]
    assert message in error_of(["audit", patients[0], *columns, *options])


def test_every_row_needs_a_cluster(patients, error_of):
    path, table = patients
    table.iloc[:4, 4] = np.nan
    table.to_csv(path, index=False)
    columns = ["--label", "y", "--score", "s", "--group", "site", "--clusters", "patient"]
    message = error_of(["audit", path, *columns])
    assert "the cluster is empty in some rows: 4 of 300 in column 'patient'" in message
