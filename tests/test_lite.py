"""JupyterLite in the site: what a notebook installs, and what the browser lacks."""

import json
from importlib.metadata import PackageNotFoundError

import pytest
from test_docs import load

lite = load("lite")


class Installed:
    def __init__(self, name):
        self.requires = {"fairlearn": ["pandas>=2", "scipy>=1.9; extra == 'x'"]}.get(name)
        self._is_pure = name in ("fairlearn", "joblib", "scikit-lego")
        if not self._is_pure and name not in ("numpy", "opendp", "pandas", "scipy"):
            raise PackageNotFoundError(name)

    def read_text(self, name):
        return f"Root-Is-Purelib: {str(self._is_pure).lower()}\n"


@pytest.fixture(autouse=True)
def packages(monkeypatch):
    monkeypatch.setattr(lite.importlib.metadata, "distribution", Installed)


def example(folder, code):
    path = folder / "plot_case.py"
    path.write_text(f'"""\nCase\n====\n"""\nimport json\n{code}\n', encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("code", "installed", "missing"),
    [
        # The requirements of skfedauc are not repeated.
        ("import numpy as np\nfrom sklearn.base import clone\nimport skfedauc", ["skfedauc"], []),
        ("from sklego.datasets import load_arrests", ["skfedauc", "scikit-lego"], []),
        # The extras of the package have the oldest version.
        ("import xgboost", ["skfedauc", "xgboost"], ["xgboost>=3.2 (Pyodide has 2.1.4)"]),
        ("from skfedauc.privacy import X", ["skfedauc[privacy]"], ["opendp"]),
        ("def f():\n    import no_package.part", ["skfedauc", "no-package"], ["no-package"]),
    ],
)
def test_a_notebook_installs_what_its_example_imports(tmp_path, code, installed, missing):
    path = example(tmp_path, code)
    assert lite.requirements(path) == installed
    assert lite.reasons(path) == missing


def test_pyodide_satisfies_the_requirements_of_the_package(monkeypatch):
    assert lite.lacking("skfedauc") == []
    browser = lite.pyodide()
    browser["packages"] |= {"scikit-learn": "1.7.0", "pandas": "1.5"}
    # joblib is pure and comes from PyPI; numpy is compiled and does not.
    del browser["packages"]["joblib"], browser["packages"]["numpy"]
    monkeypatch.setattr(lite, "pyodide", lambda: browser)
    found = lite.lacking("skfedauc")
    assert {"scikit-learn>=1.8 (Pyodide has 1.7.0)", "numpy"} <= {*found}
    assert "joblib" not in found
    # The notebook installs fairlearn with the requirements of fairlearn.
    assert "pandas>=2 (Pyodide has 1.5)" in lite.lacking("fairlearn")


def test_the_first_cell_installs_packages(tmp_path):
    path = example(tmp_path, "import matplotlib")
    text = "See :doc:`/how_to/flower`, :doc:`Arrests </x>` and :class:`~skfedauc.GroupAUC`."
    cells = [{"cell_type": "markdown", "metadata": {}, "source": [text]}]
    written = {"cells": cells, "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4}
    (tmp_path / "plot_case.ipynb").write_text(json.dumps(written))
    notebook = lite.notebook(tmp_path / "plot_case.ipynb", path)
    first, second = notebook["cells"]
    assert first["cell_type"] == "code"
    assert "".join(first["source"]).endswith("\n%pip install -q skfedauc matplotlib")
    # A site with its own copies of the packages needs no other host.
    assert "cdn.jsdelivr.net and PyPI" in "".join(first["source"])
    assert "jsdelivr" not in lite.needs("pyodide", "")
    assert lite.needs("pyodide", "wheels") == ""
    assert second["source"] == ["See the page `how_to/flower`, Arrests and `GroupAUC`."]
    assert notebook["metadata"]["kernelspec"]["name"] == "python"


def test_the_page_of_an_example_says_whether_it_runs_in_the_browser(tmp_path):
    begin, rest = "Title\n=====\n\nText.\n", 2 * "\n.. GENERATED FROM PYTHON SOURCE LINES 9-12\n"
    link = "<../lite/notebooks/index.html?path=plot_case.ipynb>"
    runs = f"`Run this example in the browser {link}`__, with Python from example.org.\n"
    lacks = "This example does not run in the browser, which lacks opendp."
    for module, says in (("skfedauc", runs + rest), ("skfedauc.privacy", lacks)):
        path = example(tmp_path, f"import {module}")
        assert lite.with_sentence(begin + rest, path, "example.org").startswith(f"{begin}\n{says}")
    with pytest.raises(ValueError, match=r"plot_case\.py has no part below"):
        lite.with_sentence("", example(tmp_path, ""), "example.org")
