"""The command `compare`: the comparison of the library, files, exit codes and errors."""

import json

import numpy as np
import pandas as pd
import pytest

from skfedauc import FairnessAudit
from skfedauc.cli.main import main

pytestmark = pytest.mark.usefixtures("equal_identifiers")

COMPARE = ["--label", "y", "--score", "old", "--score", "new", "--pos-label", "ill"]
LIMITS = {"difference": 0.3, "demographic_parity_ratio": 0.9}
OPTIONS = [f"--tolerance={name}={limit}" for name, limit in LIMITS.items()]


@pytest.fixture
def rows(tmp_path):
    """Two models whose first one scores men higher, without some labels of groups."""
    rng = np.random.default_rng(0)
    n = 600
    ill, sex = rng.random(n) < 0.4, rng.choice(["f", "m"], n)
    base = rng.normal(size=n) + ill
    frame = pd.DataFrame({"y": np.where(ill, "ill", "well"), "sex": sex})
    frame["site"] = rng.choice(["007", "7"], n)
    frame["old"] = (1 / (1 + np.exp(-(base + 1.5 * (sex == "m") - 0.5)))).round(3)
    frame["new"] = (1 / (1 + np.exp(-(base - 0.3)))).round(3)
    frame["w"] = rng.integers(0, 3, n)
    frame["patient"] = [f"p{row // 3}" for row in range(n)]
    frame["d_old"] = np.where(frame["old"] > 0.4, "ill", "well")
    frame["d_new"] = (frame["new"] > 0.6).astype(int)
    frame.loc[::20, "sex"] = None
    frame.loc[::30, "site"] = None
    path = str(tmp_path / "rows.csv")
    frame.to_csv(path, index=False)
    return path, frame


def expected_of(frame, by, *, y_preds=(None, None), **options):
    groups = frame[by].astype(object).where(frame[by].notna(), None)
    options |= {"groups": groups, "intersections": [by] if len(by) > 1 else []}
    first, second = (
        FairnessAudit.from_predictions(
            frame["y"], frame[score], pos_label="ill", y_pred=y_pred, **options
        )
        for score, y_pred in zip(("old", "new"), y_preds, strict=True)
    )
    return first.compare(second, ("old", "new"))


def test_files_have_the_comparison_of_the_library(rows, tmp_path, printed_by):
    path, frame = rows
    files = {name: tmp_path / f"a.{name}" for name in ("html", "json", "markdown")}
    options = [text for name, file in files.items() for text in (f"--{name}", str(file))]
    options += [
        "--weight",
        "w",
        "--clusters",
        "patient",
        "--name",
        "model=risk 3",
        "--favorable",
        "positive",
    ]
    by = ["--group", "sex", "--group", "site", "--missing", "drop"]
    printed = printed_by("compare", path, *COMPARE, *by, *options, *OPTIONS).splitlines()
    names = {"names": {"model": "risk 3"}, "favorable": "positive", "tolerances": LIMITS}
    of_rows = {"sample_weight": frame["w"], "clusters": frame["patient"], "missing": "drop"}
    expected = expected_of(frame, ["sex", "site"], **of_rows, **names)
    found = json.loads(files["json"].read_text(encoding="utf-8"))
    wanted = json.loads(expected.to_json())
    assert {key: found[key] for key in wanted} == wanted
    of_file = {"file": path, "label": "y", "scores": ["old", "new"], "weight": "w"}
    of_file["clusters"] = "patient"
    assert {key: found[key] for key in of_file} == of_file
    assert found["tolerances"]["total"] == 2 * 3 * len(LIMITS)
    assert files["html"].read_text(encoding="utf-8") == expected.to_html()
    assert files["markdown"].read_text(encoding="utf-8") == expected.to_markdown()
    lines = expected._document.lines()
    assert printed[2 : 2 + len(lines)] == lines


def test_missing_groups_can_be_groups_and_decisions_can_be_columns(rows, printed_by):
    path, frame = rows
    decisions = ["--decisions", "d_old", "--decisions", "d_new"]
    by = ["--group", "sex", "--missing", "group"]
    found = json.loads(printed_by("compare", path, *COMPARE, *by, *decisions, "--json"))
    kept = frame.assign(sex=frame["sex"].fillna("(missing)"))
    predicted = kept["d_old"], np.where(kept["d_new"] == 1, "ill", "well")
    expected = json.loads(expected_of(kept, ["sex"], y_preds=predicted).to_json())
    groups = found["columns"]["sex"]["answers"]["difference"]["groups"]
    assert [group["group"] for group in groups] == ["f", "m", "(missing)"]
    assert found["columns"] == expected["columns"]


def test_the_exit_code_follows_the_second_model(rows, tmp_path, capsys):
    path, frame = rows
    command = ["compare", path, "--label", "y", "--pos-label", "ill", "--group", "sex"]
    command += ["--missing", "drop", "--tolerance", "demographic_parity_ratio=0.7"]
    limits = {"demographic_parity_ratio": 0.7}
    comparison = expected_of(frame, ["sex"], missing="drop", tolerances=limits)
    answers = [audit.tolerances["answer"].item() for audit in comparison.audits]
    assert answers == ["not met", "met"]
    json_file = str(tmp_path / "a.json")
    files = ["--fail-if", "not-met", "--json", json_file]
    assert main([*command, "--score", "old", "--score", "new", *files]) == 0
    capsys.readouterr()
    assert main([*command, "--score", "new", "--score", "old", *files]) == 5
    printed = capsys.readouterr()
    assert printed.out.endswith(f"The JSON document is in {json_file}.\n")
    assert printed.err == (
        "skfedauc: error: --fail-if not-met: demographic_parity_ratio by sex of 'old' is not met\n"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (COMPARE[:4], "compare needs two different --score columns"),
        ([*COMPARE, "--score", "w"], "got 'old', 'new', 'w'"),
        ([*COMPARE, "--decisions", "d_old"], "--decisions must be passed once per --score"),
        ([*COMPARE, "--fail-if", "not-met"], "--fail-if needs --tolerance"),
        ([*COMPARE, "--html", "{path}"], "{path} would overwrite "),
        ([*COMPARE], "column 'sex' is empty in 30 of 600 rows, the first being data row 1; pass"),
        ([*COMPARE[:6], "--missing", "drop"], "has the labels ['ill', 'well']: pass --pos-label"),
    ],
)
def test_errors_name_the_option(rows, error_of, options, message):
    path, _ = rows
    options = [option.format(path=path) for option in options]
    assert message.format(path=path) in error_of(["compare", path, *options, "--group", "sex"])
