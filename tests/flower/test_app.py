"""The example app of the documentation: ten clinics with unequal shares of positives."""

import doctest
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from flwr.app import Context, RecordDict
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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "3\n", done.stderr


def all_patients(task, arrays, clinics):
    """Outcome, score and clinic of each patient that the clinics test."""
    rows = [task.load(clinic, "test") for clinic in clinics]
    score = np.concatenate([task.predict(arrays, X) for X, _ in rows])
    groups = np.repeat(clinics, [len(y) for _, y in rows])
    return np.concatenate([y for _, y in rows]), score, groups


def test_clinics_have_unequal_shares_of_positives(clinics):
    shares = [clinics["task"].load(name, "test")[1].mean() for name in clinics["task"].NAMES]
    assert min(shares) < 0.25
    assert max(shares) > 0.75


def test_the_pooled_auc_is_that_of_all_patients(clinics, grid):
    task = clinics["task"]
    result, aggregator = clinics["server_app"].run(grid, task.NAMES, num_rounds=2)
    assert list(aggregator.reports) == [1, 2]
    assert aggregator.missing_groups == {1: (), 2: ()}
    y, score, groups = all_patients(task, result.arrays.to_numpy_ndarrays(), task.NAMES)
    assert aggregator.reports[2].counts == ScoreCounts.from_predictions(y, score, groups=groups)
    metrics = result.evaluate_metrics_clientapp[2]
    assert metrics["auc-pooled"] == pytest.approx(roc_auc_score(y, score), abs=1e-12)
    # The average of the clinics' AUCs is well below the AUC of all patients.
    assert metrics["auc"] == pytest.approx(0.81, abs=0.01)
    assert metrics["auc-pooled"] == pytest.approx(0.85, abs=0.01)


def test_the_guide_shows_what_the_server_prints(clinics, grid, capsys, tmp_path):
    with open(APP / "pyproject.toml", "rb") as file:
        config = tomllib.load(file)["tool"]["flwr"]["app"]["config"]
    context = Context(
        run_id=1,
        node_id=0,
        node_config={},
        state=RecordDict(),
        run_config=config | {"folder": str(tmp_path)},
    )
    clinics["server_app"].app(grid, context)
    printed = capsys.readouterr().out.splitlines()
    last = printed[printed.index("round 3: 10 clinics, missing: none") :]
    assert "\n".join(f"    {line}" for line in last) in GUIDE.read_text(encoding="utf-8")
    names = {f"round_{number}.skfa" for number in (1, 2, 3)} | {"model.npz"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_secure_aggregation_sends_no_counts_in_the_clear(clinics, grid, capsys, tmp_path):
    task = clinics["task"]
    with open(APP / "pyproject.toml", "rb") as file:
        config = tomllib.load(file)["tool"]["flwr"]["app"]["config"]
    context = Context(
        run_id=1,
        node_id=0,
        node_config={},
        state=RecordDict(),
        run_config=config | {"secure": True, "folder": str(tmp_path)},
    )
    clinics["server_app"].app(grid, context)
    printed = capsys.readouterr().out.splitlines()
    last = printed[printed.index("secure aggregation of 10 clinics") :]
    assert "\n".join(f"    {line}" for line in last) in GUIDE.read_text(encoding="utf-8")
    assert {path.name for path in tmp_path.iterdir()} == {"model.npz", "secure.skfa"}
    assert "evaluate" not in grid.sent
    with np.load(tmp_path / "model.npz") as arrays:
        model = [arrays[name] for name in arrays.files]
    y, score, _ = all_patients(task, model, task.NAMES)
    counts = ScoreCounts.load(tmp_path / "secure.skfa")
    assert counts == ScoreCounts.from_predictions(y, score, disclosure=task.BINS)
    low, high = GroupAUC(counts).bounds().loc["pooled", ["low", "high"]]
    assert low <= roc_auc_score(y, score) <= high


def test_a_lost_clinic_is_named(clinics, grid):
    task = clinics["task"]
    grid.lost = {9}
    with pytest.warns(UserWarning, match="1 of 10 expected groups .*'trauma center'"):
        result, aggregator = clinics["server_app"].run(grid, task.NAMES, num_rounds=1)
    assert aggregator.missing_groups == {1: ("trauma center",)}
    metrics = result.evaluate_metrics_clientapp[1]
    assert (metrics["num-clients"], metrics["num-missing-groups"]) == (9, 1)
    y, score, _ = all_patients(task, result.arrays.to_numpy_ndarrays(), task.NAMES[:9])
    assert metrics["auc-pooled"] == pytest.approx(roc_auc_score(y, score), abs=1e-12)


def test_a_lost_clinic_ends_the_run_on_request(clinics, grid):
    grid.lost = {0, 4}
    with pytest.raises(ValueError, match=r"2 of 10 expected groups .*'almond street', 'elm hospit"):
        clinics["server_app"].run(grid, clinics["task"].NAMES, num_rounds=1, on_missing="raise")


def test_ten_clinics_in_a_simulation(clinics, tmp_path):
    path = os.pathsep.join(filter(None, [str(APP), os.environ.get("PYTHONPATH")]))
    subprocess.run(
        [sys.executable, Path(__file__).with_name("simulate.py"), APP, tmp_path],
        env=os.environ | {"PYTHONPATH": path, "FLWR_TELEMETRY_ENABLED": "0"},
        check=True,
        timeout=900,
    )
    task = clinics["task"]
    with np.load(tmp_path / "model.npz") as arrays:
        model = [arrays[name] for name in arrays.files]
    y, score, groups = all_patients(task, model, task.NAMES)
    counts = ScoreCounts.load(tmp_path / "round_1.skfa")
    assert counts == ScoreCounts.from_predictions(y, score, groups=groups)
    assert len(counts.sources) == 10
    assert GroupAUC(counts).pooled == pytest.approx(roc_auc_score(y, score), abs=1e-12)
