"""Fairness figures by other packages: ``python benchmarks/aequitas_aif360.py ROWS.csv REFERENCE``.

`benchmarks.audit_peers` runs this file by the interpreter of an environment with aequitas and
AIF360, which needs no skfedauc. ROWS.csv has the columns label, decision and group, and REFERENCE
is the label of a group. Each line of the standard input is the name of a package. The answer is one
line of JSON: the version of the package, and the values by figure and group.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import warnings
from importlib.metadata import version
from typing import Any

import pandas as pd

Figures = dict[str, dict[str, float]]

AEQUITAS = ("pprev", "tpr", "fpr", "precision", "fdr", "for", "accuracy", "prev")
# AIF360's methods, for one group
AIF360_OF_GROUP = (
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "precision",
    "false_discovery_rate",
    "false_omission_rate",
    "accuracy",
    "base_rate",
)
# AIF360's methods that compare an unprivileged group with a privileged one
AIF360_OF_TWO = (
    "statistical_parity_difference",
    "disparate_impact",
    "equal_opportunity_difference",
    "true_positive_rate_difference",
    "false_positive_rate_difference",
    "false_discovery_rate_difference",
    "false_omission_rate_difference",
    "average_odds_difference",
    "average_abs_odds_difference",
    "average_predictive_value_difference",
    "equalized_odds_difference",
    "error_rate_difference",
    "false_positive_rate_ratio",
    "false_discovery_rate_ratio",
    "false_omission_rate_ratio",
)


def of_aequitas(rows: pd.DataFrame, reference: str) -> Figures:
    """Rates by group, and their ratios to the reference group."""
    from aequitas.bias import Bias
    from aequitas.group import Group

    table = rows.rename(columns={"label": "label_value", "decision": "score"})
    rates, _ = Group().get_crosstabs(table, attr_cols=["group"])
    ratios = Bias().get_disparity_predefined_groups(rates, table, {"group": reference})
    by_group = ratios.set_index("attribute_value")
    names = [*AEQUITAS, *(f"{name}_disparity" for name in AEQUITAS)]
    return {name: by_group[name].to_dict() for name in names if name in by_group}


def of_aif360(rows: pd.DataFrame, reference: str) -> Figures:
    """Rates by group, and comparisons of each group with the reference group and with the rest."""
    from aif360.datasets import BinaryLabelDataset
    from aif360.metrics import ClassificationMetric

    codes, labels = pd.factorize(rows["group"])
    truth, decided = (
        BinaryLabelDataset(
            df=pd.DataFrame({"group": codes, "label": rows[column]}),
            label_names=["label"],
            protected_attribute_names=["group"],
        )
        for column in ("label", "decision")
    )
    groups = {label: [{"group": code}] for code, label in enumerate(labels)}
    found: Figures = {}
    for label, one in groups.items():
        rest = [other for name, others in groups.items() if name != label for other in others]
        to_rest = ClassificationMetric(truth, decided, one, rest)
        for name in AIF360_OF_GROUP:
            found.setdefault(name, {})[label] = float(getattr(to_rest, name)(privileged=False))
        compared = {" to the rest": to_rest}
        if label != reference:
            compared[""] = ClassificationMetric(truth, decided, one, groups[reference])
        for suffix, metric in compared.items():
            for name in AIF360_OF_TWO:
                found.setdefault(name + suffix, {})[label] = float(getattr(metric, name)())
    return found


PACKAGES: dict[str, Any] = {"aequitas": of_aequitas, "aif360": of_aif360}


def main() -> None:
    logging.disable()  # AIF360 names the packages that its other modules need.
    warnings.simplefilter("ignore")
    path, reference = sys.argv[1:]
    rows = pd.read_csv(path, dtype={"group": object}, keep_default_na=False)
    for name in map(str.strip, sys.stdin):
        with contextlib.redirect_stdout(sys.stderr):
            figures = PACKAGES[name](rows, reference)
        print(json.dumps({"version": version(name), "figures": figures}), flush=True)


if __name__ == "__main__":
    main()
