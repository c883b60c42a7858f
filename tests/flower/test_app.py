"""The example app of the documentation: ten clinics with unequal shares of positives."""

import copy
import doctest
import os
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from flwr.app import Context, RecordDict
from processes import run_python
from sklearn.metrics import roc_auc_score

from skfedauc import GroupAUC, ScoreCounts
from skfedauc.flower import aggregator

ROOT = Path(__file__).parents[2]
APP = ROOT / "docs" / "examples" / "flower"
GUIDE = ROOT / "docs" / "how_to" / "flower.md"


def test_docstrings_run():
    found = doctest.testmod(aggregator, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 10
    assert found.failed == 0


def test_a_client_needs_no_scikit_learn():
    code = """
import sys
for name in ("sklearn", "scipy", "fairlearn", "joblib", "matplotlib"):
    sys.modules[name] = None
from skfedauc import ScoreCounts
from skfedauc.flower import counts_record
counts = ScoreCounts.from_predictions([0, 1], [0.2, 0.4], groups=["oslo", "oslo"])
print(len(counts_record(counts, source="oslo", server_round=1)))
"""
    done = run_python("-c", code)
    assert done.stdout == "3\n", done.stderr


def all_patients(task, arrays, clinics):
    """Outcome, score and clinic of each patient that the clinics test."""
    rows = [task.load(clinic, "test") for clinic in clinics]
    score = np.concatenate([task.predict(arrays, X) for X, _ in rows])
    groups = np.repeat(clinics, [len(y) for _, y in rows])
    return np.concatenate([y for _, y in rows]), score, groups


@pytest.fixture
def check_printed(clinics, grid, capsys, tmp_path):
    """Run the server, and check that the guide has what it prints from a line on."""

    def check(line, **config):
        with open(APP / "pyproject.toml", "rb") as file:
            config |= tomllib.load(file)["tool"]["flwr"]["app"]["config"] | config
        config["folder"] = str(tmp_path)
        context = Context(1, 0, {}, state=RecordDict(), run_config=config)
        clinics["server_app"].app(grid, context)
        printed = capsys.readouterr().out.splitlines()
        last = printed[printed.index(line) :]
        assert "\n".join(f"    {line}" for line in last) in GUIDE.read_text(encoding="utf-8")

    return check


def test_the_guide_shows_what_the_server_prints(check_printed, tmp_path):
    check_printed("round 3: 10 clinics, missing: none")
    names = {f"round_{number}.skfa" for number in (1, 2, 3)} | {"model.npz"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_secure_aggregation_sends_no_counts_in_the_clear(clinics, grid, check_printed, tmp_path):
    task = clinics["task"]
    check_printed("secure aggregation of 10 clinics", secure=True)
    assert {path.name for path in tmp_path.iterdir()} == {"model.npz", "secure.skfa"}
    assert "evaluate" not in grid.sent
    with np.load(tmp_path / "model.npz") as arrays:
        model = [arrays[name] for name in arrays.files]
    y, score, _ = all_patients(task, model, task.NAMES)
    counts = ScoreCounts.load(tmp_path / "secure.skfa")
    assert counts == ScoreCounts.from_predictions(y, score, disclosure=task.BINS)
    low, high = GroupAUC(counts).bounds().loc["pooled", ["low", "high"]]
    assert low <= roc_auc_score(y, score) <= high


def test_the_report_is_right_with_five_strange_clinics(clinics, grid):
    """Clinics retry, send garbage, write into the group of another, withdraw, and are killed.

    The final report is that of the patients that remain; test_aggregator.py has the messages.
    """
    task, server_app = clinics["task"], clinics["server_app"]
    retries, garbage, intruder, killed, withdraws = 1, 3, 4, 6, 8
    kept = []

    def damaged(reply):
        record = reply.content["counts"]
        record["score-counts"] = bytes(reversed(record["score-counts"]))
        return [reply]

    def into_another_group(reply):
        record = reply.content["counts"]
        counts = ScoreCounts.from_bytes(record["score-counts"])
        record["score-counts"] = counts.regroup(lambda _: task.NAMES[0]).to_bytes()
        return [reply]

    grid.lost = {killed}
    grid.strange = {
        retries: lambda reply: [reply, copy.deepcopy(reply)],
        garbage: damaged,
        intruder: into_another_group,
        withdraws: lambda reply: kept.append(reply.content["counts"]["score-counts"]) or [reply],
    }
    with (
        pytest.warns(UserWarning, match="2 of 10 replies left out"),
        pytest.warns(UserWarning, match="3 of 10 expected groups"),
    ):
        result, aggregator = server_app.run(grid, task.NAMES, num_rounds=1)
    found = [
        *server_app.events(aggregator, 1),
        server_app.withdraw(aggregator, 1, ScoreCounts.from_bytes(*kept)),
    ]
    named = task.NAMES[:10]
    expected = [
        f"reply .* of 10, from {named[retries]!r} came again and counts once",
        f"reply .* of 10, from {named[garbage]!r}: data ",
        f"reply .* of 10, from {named[intruder]!r}: .* may not have: {named[0]!r}",
        f"no reply from {named[killed]!r}$",
        f"{named[withdraws]!r} withdrew its counts",
    ]
    found[1:3] = sorted(found[1:3], key=lambda event: "may not have" in event)  # in any order
    for event, pattern in zip(found, expected, strict=True):
        assert re.match(pattern, event)
    lacking = [named[number] for number in (garbage, intruder, killed)]
    assert aggregator.missing_groups[1] == tuple(sorted(lacking))
    present = [name for name in named if name not in [*lacking, named[withdraws]]]
    y, score, groups = all_patients(task, result.arrays.to_numpy_ndarrays(), present)
    expected = ScoreCounts.from_predictions(y, score, groups=groups)
    assert aggregator.reports[1].counts == expected


def test_ten_clinics_in_a_simulation(clinics, tmp_path):
    path = os.pathsep.join(filter(None, [str(APP), os.environ.get("PYTHONPATH")]))
    simulated = run_python(
        Path(__file__).with_name("simulate.py"),
        *(APP, tmp_path),
        env={"PYTHONPATH": path, "FLWR_TELEMETRY_ENABLED": "0"},
        timeout=900,
    )
    assert simulated.returncode == 0, simulated.stderr
    task = clinics["task"]
    with np.load(tmp_path / "model.npz") as arrays:
        model = [arrays[name] for name in arrays.files]
    y, score, groups = all_patients(task, model, task.NAMES)
    counts = ScoreCounts.load(tmp_path / "round_1.skfa")
    assert counts == ScoreCounts.from_predictions(y, score, groups=groups)
    assert len(counts.sources) == 10
    assert GroupAUC(counts).pooled == pytest.approx(roc_auc_score(y, score), abs=1e-12)
