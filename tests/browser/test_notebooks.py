"""Notebooks of JupyterLite in a browser, up to the start of Python, which is on another host."""

import json
from zipfile import ZipFile

import pytest

CSS = "css selector"
TITLE = "Averages of four devices"


@pytest.fixture(scope="module")
def site(tmp_path_factory, lite):
    """Folder of a site with one notebook."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "plot_case.py").write_text("import matplotlib\nimport skfedauc\n")
    (folder / "plot_private.py").write_text("import skfedauc.privacy\n")
    cells = [{"cell_type": "markdown", "metadata": {}, "source": [f"# {TITLE}"]}]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 0}
    for name in ("case", "private"):
        (folder / f"plot_{name}.ipynb").write_text(json.dumps(notebook))
    lite.build(folder, folder, folder)
    return folder


@pytest.fixture(scope="module")
def address(site, serve):
    return f"{serve(site)}/lite"


def test_the_site_offers_a_wheel_without_compiled_code(site):
    (wheel,) = (site / "lite" / "pypi").glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "skfedauc/_kernel/_numpy.py" in names
    assert not [name for name in names if name.endswith((".so", ".pyd", ".cpp", ".h"))]
    index = json.loads((site / "lite" / "pypi" / "all.json").read_text())
    assert list(index) == ["skfedauc"]


def wait_for(driver, selector):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, 120).until(lambda _: driver.find_elements(CSS, selector))


def test_a_notebook_opens_and_loads_python_from_one_host_only(chromium, address):
    chromium.get(f"{address}/notebooks/index.html?path=plot_case.ipynb")
    cells = wait_for(chromium, ".jp-Notebook .jp-Cell:nth-child(2)")
    assert cells[0].text.startswith(TITLE)
    (first,) = wait_for(chromium, ".jp-Notebook .jp-CodeCell .cm-content")
    assert first.text.splitlines()[-1] == "%pip install -q skfedauc matplotlib"
    assert not chromium.find_elements(CSS, ".jp-Dialog")  # the page does not ask for a kernel
    names = chromium.execute_script("return performance.getEntries().map((entry) => entry.name)")
    hosts = {name.split("/")[2] for name in names if name.startswith("http")}
    assert hosts - {"cdn.jsdelivr.net"} == {address.split("/")[2]}
    chromium.get("about:blank")


def test_the_list_of_files_has_the_notebooks_that_run(chromium, address):
    chromium.get(f"{address}/tree/index.html")
    listed = wait_for(chromium, '.jp-DirListing-item[title*="plot_"]')
    (title,) = (item.get_attribute("title") for item in listed)
    assert title.startswith("Name: plot_case.ipynb\n")
    chromium.get("about:blank")
