"""The command `compare`: the comparison of the library, files, exit codes and errors."""

import json

import numpy as np
import pandas as pd
import pytest

from skfedauc import AuditComparison
from skfedauc.audit import comparison_page
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
    frame["d_old"] = np.where(frame["old"] > 0.4, "ill", "well")
    frame["d_new"] = (frame["new"] > 0.6).astype(int)
    frame.loc[::20, "sex"] = None
    frame.loc[::30, "site"] = None
    path = str(tmp_path / "rows.csv")
    frame.to_csv(path, index=False)
    return path, frame


def expected_of(frame, by, **options):
    groups = frame[by].astype(object).where(frame[by].notna(), None)
    scores = {"old": frame["old"], "new": frame["new"]}
    return AuditComparison.from_predictions(
        frame["y"], scores, groups=groups, pos_label="ill", **options
    )


def test_files_have_the_comparison_of_the_library(rows, tmp_path, capsys, without_plots):
    path, frame = rows
    files = {name: tmp_path / f"a.{name}" for name in ("html", "json", "markdown")}
    options = [text for name, file in files.items() for text in (f"--{name}", str(file))]
    options += ["--weight", "w", "--name", "model=risk 3", "--favorable", "positive"]
    by = ["--group", "sex", "--group", "site", "--missing", "drop"]
    assert main(["compare", path, *COMPARE, *by, *options, *OPTIONS]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    expected = expected_of(
        frame,
        ["sex", "site"],
        sample_weight=frame["w"],
        missing="drop",
        names={"model": "risk 3"},
        favorable="positive",
        tolerances=LIMITS,
    )
    found = json.loads(files["json"].read_text(encoding="utf-8"))
    answered = found.pop("tolerances")
    wanted = expected.to_dict()
    answers = [wanted["tolerances"][name][time] for name in LIMITS for time in ("before", "after")]
    del wanted["tolerances"]
    assert {key: found[key] for key in wanted} == wanted
    of_file = {"file": path, "label": "y", "scores": ["old", "new"], "weight": "w"}
    assert {key: found[key] for key in of_file} == of_file
    assert answered["total"] == 4
    for case, answer in zip(answered["cases"], answers, strict=True):
        assert {key: case[key] for key in answer} == answer
    assert [case["model"] for case in answered["cases"]] == ["old", "new"] * 2
    assert files["html"].read_text(encoding="utf-8") == comparison_page.page_of(expected.tables)
    assert files["markdown"].read_text(encoding="utf-8") == f"{expected.to_markdown()}\n"
    n_left_out = expected.facts["n_missing"]
    assert n_left_out > 0
    lines = printed.out.splitlines()
    assert lines[2] == (
        "'old' (before) and 'new' (after), by sex x site: 4 groups, "
        f"{n_left_out} rows without a group label left out"
    )
    for finding in expected.findings:
        assert f"- {finding}" in lines
    row = expected.quality.loc["pooled"]
    cells = next(line.split() for line in lines if line.split()[:1] == ["pooled"])
    assert cells[:4] == [
        "pooled", f"{row['before']:.4f}", f"{row['after']:.4f}", f"{row['change']:+.4f}"
    ]  # fmt: skip


def test_missing_groups_can_be_groups_and_decisions_can_be_columns(rows, capsys):
    path, frame = rows
    decisions = ["--decisions", "d_old", "--decisions", "d_new"]
    by = ["--group", "sex", "--missing", "group"]
    assert main(["compare", path, *COMPARE, *by, *decisions, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    kept = frame.assign(sex=frame["sex"].fillna("(missing)"))
    predicted = {"old": kept["d_old"], "new": np.where(kept["d_new"] == 1, "ill", "well")}
    expected = expected_of(kept, ["sex"], y_preds=predicted).to_dict()
    assert [group["label"] for group in found["groups"]] == ["f", "m", "(missing)"]
    for key in ("quality", "decomposition", "gaps", "groups"):
        assert found[key] == expected[key]


def test_the_exit_code_follows_the_second_model(rows, tmp_path, capsys):
    path, frame = rows
    command = ["compare", path, "--label", "y", "--pos-label", "ill", "--group", "sex"]
    command += ["--missing", "drop", "--tolerance", "demographic_parity_ratio=0.8"]
    limits = {"demographic_parity_ratio": 0.8}
    comparison = expected_of(frame, ["sex"], missing="drop", tolerances=limits)
    assert comparison.tolerances["answer"].tolist() == ["not met", "met"]
    json_file = str(tmp_path / "a.json")
    files = ["--fail-if", "not-met", "--json", json_file]
    assert main([*command, "--score", "old", "--score", "new", *files]) == 0
    capsys.readouterr()
    assert main([*command, "--score", "new", "--score", "old", *files]) == 5
    printed = capsys.readouterr()
    assert printed.out.endswith(f"The JSON document is in {json_file}.\n")
    assert printed.err == (
        "skfedauc: error: --fail-if not-met: demographic_parity_ratio of 'old' is not met\n"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (COMPARE[:4], "compare needs two different --score columns"),
        ([*COMPARE[:4], "--score", "old"], "needs two different --score columns"),
        ([*COMPARE, "--score", "w"], "got 'old', 'new' and 'w'"),
        ([*COMPARE, "--decisions", "d_old"], "--decisions must be passed for each model"),
        (
            [*COMPARE, "--decisions", "d_old", "--decisions", "d_new", "--threshold", "0.5"],
            "--decisions and --threshold both define the decisions",
        ),
        ([*COMPARE, "--fail-if", "not-met"], "--fail-if needs --tolerance"),
        ([*COMPARE, "--html", "{path}"], "would overwrite the predictions"),
        ([*COMPARE, "--html", "a.x", "--markdown", "./a.x"], "are both a.x; pass two files"),
        ([*COMPARE], "the group is empty in some rows"),
        (
            [*COMPARE, "--missing=drop", "--threshold=none", *OPTIONS],
            "--tolerance has 'demographic_parity_ratio', a gap of decisions",
        ),
        ([*COMPARE[:6], "--missing", "drop"], "pass the positive one of them as --pos-label"),
    ],
)
def test_errors_name_the_option(rows, error_of, options, message):
    path, _ = rows
    options = [option.format(path=path) for option in options]
    assert message in error_of(["compare", path, *options, "--group", "sex"])


def test_one_class_is_an_error(tmp_path, error_of):
    path = tmp_path / "one.csv"
    path.write_text("y,a,b,g\n1,0.1,0.2,x\n1,0.3,0.2,x\n", encoding="utf-8")
    options = ["--label", "y", "--score", "a", "--score", "b", "--group", "g"]
    assert "column 'y' must hold both classes" in error_of(["compare", path, *options])
