"""The pages for users of other packages give the numbers of these packages."""

import doctest
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "reference" / "coming_from"


@pytest.mark.parametrize("package", ["xgboost", "torchmetrics"])
def test_both_columns_of_python_give_what_stands_below_them(package):
    if package == "torchmetrics":
        # PyTorch takes hundreds of megabytes, and no other test needs it.
        pytest.importorskip(package, exc_type=ImportError)
    page = PAGES / f"{package}.md"
    blocks = re.findall(
        r"^```(?:python|pycon)\n(.*?)^```$", page.read_text(), flags=re.DOTALL | re.MULTILINE
    )
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    assert len(test.examples) > 10
    failed = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    runner.run(test, out=failed.append)
    assert not failed, "".join(failed)


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
        ["Rscript", "-e", program], capture_output=True, text=True, timeout=120, check=False
    )
    if "no package called" in done.stderr:
        pytest.skip("needs pROC")
    assert done.returncode == 0, done.stderr
    promised = re.findall(r"^#> (.*)$", program, flags=re.MULTILINE)
    assert len(promised) >= 7
    assert done.stdout.split() == " ".join(promised).split()
