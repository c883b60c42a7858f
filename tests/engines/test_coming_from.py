"""Pages on engines, on boosting and for users of other packages give the numbers they show."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from test_docs import DOCS, code_blocks, enter, run_python

from skfedauc import FairnessAudit

PAGES = DOCS / "reference" / "coming_from"
PYTHON = {"python", "pycon"}


def run_blocks(page, languages, change=str, **names):
    """Run the blocks of a page in these languages; return the number of prompts."""
    blocks, names = list(code_blocks(page)), {"__name__": "page", **names}
    assert {language for language, *_ in blocks} == languages
    run = [(change(block), line) for language, line, block in blocks if language in PYTHON]
    for block, line in run:
        run_python(block, line, names, page)
    return sum(block.count(">>> ") for block, _ in run)


@pytest.mark.parametrize(
    "page", [DOCS / "how_to" / "boosting.md", PAGES / "xgboost.md", PAGES / "torchmetrics.md"]
)
def test_both_columns_of_python_give_what_stands_below_them(page):
    if page.stem == "torchmetrics":
        # PyTorch takes hundreds of megabytes, and no other test needs it.
        pytest.importorskip("torchmetrics", exc_type=ImportError)
    assert run_blocks(page, {language for language, *_ in code_blocks(page)}) > 10


def test_every_block_on_engines_gives_what_stands_below_it(spark, monkeypatch, tmp_path):
    enter(tmp_path, monkeypatch)

    def change(block):
        # Java keeps the working directory of its start.
        here = f'spark.read.parquet("{tmp_path}/rows.parquet")'
        return block.replace('spark.read.parquet("rows.parquet")', here)

    run_blocks(DOCS / "how_to" / "where_the_rows_are.md", PYTHON, change, spark=spark)


def test_the_recipe_of_skore_adds_the_scorer_to_a_report():
    skore = pytest.importorskip("skore")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(size=400), "sex": rng.choice(["f", "m"], 400)})
    y = (rng.random(400) < norm.cdf(X["age"])).astype(int)
    age = make_column_transformer(("passthrough", ["age"]))
    own = {"X_train": X[:200], "y_train": y[:200], "X_test": X[200:], "y_test": y[200:]}
    report = skore.EstimatorReport(make_pipeline(age, LogisticRegression()), **own)
    names = {"report": report, "FairnessAudit": FairnessAudit}
    page = DOCS / "tutorials" / "signed_off_audit.md"
    ((line, block),) = ((n, of) for _, n, of in code_blocks(page) if "report.metrics.add" in of)
    run_python(block, line, names, page)
    worst = names["scorer"](report.estimator_, X[200:], y[200:])
    assert worst == names["audit"].report.worst
    assert report.metrics.summarize().frame().squeeze()["worst_group_auc"] == worst


def test_the_column_of_r_gives_what_stands_below_it():
    if shutil.which("Rscript") is None:
        pytest.skip("needs R")
    blocks = re.findall(
        r"^```\{code-block\} r\n(.*?)^```$",
        (PAGES / "proc.md").read_text(),
        flags=re.DOTALL | re.MULTILINE,
    )
    program = "".join(blocks)
    done = subprocess.run(
        ["Rscript", "-e", program], capture_output=True, text=True, timeout=600, check=False
    )
    if "no package called" in done.stderr:
        pytest.skip("needs pROC")
    assert done.returncode == 0, done.stderr
    promised = re.findall(r"^#> (.*)$", program, flags=re.MULTILINE)
    assert len(promised) >= 7
    assert done.stdout.split() == " ".join(promised).split()
