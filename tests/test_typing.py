"""Public names and types as type checkers and editors show them."""

import inspect
import re
import textwrap
from typing import Literal, get_args, get_origin

import pytest
from processes import run_python

import skfedauc
from skfedauc.report.statistics import STATISTICS, Gap, ScorerStatistic, StatisticName


def names_of(alias):
    if get_origin(alias) is Literal:
        return set(get_args(alias))
    return set().union(*(names_of(part) for part in get_args(alias)))


def test_names_are_those_of_the_table():
    gaps = {name for name, statistic in STATISTICS.items() if not statistic.greater_is_better}
    assert names_of(StatisticName) == set(STATISTICS)
    assert names_of(Gap) == gaps
    assert names_of(ScorerStatistic) == set(STATISTICS) - gaps | {f"neg_{gap}" for gap in gaps}


@pytest.mark.parametrize("name", skfedauc.__all__)
def test_nothing_public_hides_arguments(name):
    public = getattr(skfedauc, name)
    members = [member for _, member in inspect.getmembers(public, callable)]
    methods = [public] if inspect.isfunction(public) else members
    for method in methods:
        is_ours = hasattr(method, "__code__") and method.__module__.startswith("skfedauc")
        if is_ours and not method.__name__.startswith("_"):
            parameters = inspect.signature(method).parameters.values()
            options = [p for p in parameters if p.kind == inspect.Parameter.VAR_KEYWORD]
            hides = [p for p in options if not str(p.annotation).startswith("Unpack[")]
            assert not hides or method.__name__ in WITH_KEYWORDS, method.__qualname__


# These methods pass their keywords to scikit-learn, which documents the keywords, or take columns.
WITH_KEYWORDS = {"set_score_request", "fit", "set_params", "from_counts"}
USES = """
    import pandas as pd
    from skfedauc import FairnessAudit, GroupAUC, ScoreCounts
    from skfedauc import compare_models, cross_validate_group_auc, group_auc_scoring
    from skfedauc import group_roc_auc_score, make_group_auc_scorer, SelectWithinGap
    from skfedauc.plotting import GroupAUCDisplay

    y, score, site = [0, 1], [0.1, 0.9], [1, 1]
    number: float = group_roc_auc_score(y, score, groups=site)
    another: float = group_roc_auc_score(y, score, groups=site, statistic="worst")
    group_auc_scoring(["pooled", "neg_difference"], groups="site")
    SelectWithinGap("my score", gap="tau", at_most=0.1)
    GroupAUCDisplay.from_predictions(y, score, groups=site, confidence_level=0.9, ax=None)
    wrong_type: str = group_roc_auc_score(y, score, groups=site)  # error
    group_roc_auc_score(y, score, groups=site, statistic="mean")  # error
    make_group_auc_scorer("difference", groups="site")  # error
    group_auc_scoring(["pooled", "neg_gap"], groups="site")  # error
    SelectWithinGap("my score", gap=None, at_most=0.1)  # error
    GroupAUC.from_predictions(y, score, groups=site).statistic("micro")  # error
    display: GroupAUCDisplay = GroupAUCDisplay.from_predictions(y, score, groups=site)
    GroupAUCDisplay.from_report(display.report, max_groups=5).plot()
    GroupAUCDisplay.from_predictions(y, score, groups=site, levels=0.9)  # error
    GroupAUCDisplay.from_predictions(y, score, groups=site, max_groups="5")  # error
    GroupAUCDisplay.from_estimator(None, y, y, groups=site, missing="skip")  # error
    GroupAUCDisplay(display.report, bins=3)  # error
    report = GroupAUC.from_predictions(y, score, groups=site, missing="drop")
    report.confidence_intervals(confidence_level=0.9, of="statistics", over="groups")
    compare_models(y, {"a": score, "b": score}, missing="group", over="rows")
    folds = cross_validate_group_auc(None, y, y, groups=site, missing="drop")
    folds.confidence_intervals(method="delong")
    report.confidence_intervals(method="newcombe")  # error
    report.confidence_intervals(of="group")  # error
    report.confidence_intervals(over="sites")  # error
    compare_models(y, {"a": score, "b": score}, over="sites")  # error
    compare_models(y, {"a": score, "b": score}, missing="skip")  # error
    folds.confidence_intervals(method="exact")  # error
    folds.confidence_intervals(0.9)  # error
    cross_validate_group_auc(None, y, y, groups=site, missing="skip")  # error
    ScoreCounts.from_batches([], missing="skip")  # error
    ScoreCounts.from_table([], label="ill", score="risk", mising="drop")  # error
    FairnessAudit.from_predictions(y, score, groups=site, missing="skip")  # error
    FairnessAudit.from_predictions(y, score, groups=site, primary="difference", n_jobs=1)
    FairnessAudit.from_predictions(y, score, groups=site, response_method="predict")  # error
    FairnessAudit.from_estimator(None, y, y, groups=site, favorable="yes")  # error
    make_group_auc_scorer("pooled", groups="site", missing="skip")  # error
"""


# The uses need no types of these packages, which take most of the time.
SETTINGS = """
    [mypy]
    ignore_missing_imports = True
    [mypy-numpy.*,polars.*,narwhals.*,matplotlib.*,pyarrow.*,jinja2.*]
    follow_imports = skip
    follow_imports_for_stubs = True
"""


def test_mypy_knows_names_and_results(tmp_path):
    pytest.importorskip("mypy")
    path, settings = tmp_path / "uses.py", tmp_path / "settings.ini"
    path.write_text(textwrap.dedent(USES))
    settings.write_text(textwrap.dedent(SETTINGS))
    options = ["--follow-imports=silent", "--no-error-summary", f"--cache-dir={tmp_path}"]
    # mypy keeps millions of objects, which would slow down later tests.
    told = run_python("-m", "mypy", *options, f"--config-file={settings}", path).stdout
    lines = path.read_text().splitlines()
    expected = {number for number, line in enumerate(lines, 1) if line.endswith("# error")}
    found = {int(number) for number in re.findall(r"uses\.py:(\d+): error", told)}
    assert found == expected, told
