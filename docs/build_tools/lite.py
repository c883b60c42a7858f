"""JupyterLite in the site: the examples of the gallery run in the reader's browser.

Pyodide, which is CPython for browsers, has compiled packages, such as numpy and scikit-learn. Pure
packages come from PyPI, and the pure wheel of skfedauc comes from the site. A notebook installs
what its example imports. `pyodide.json` lists the packages of Pyodide with their versions, so the
build fails if a requirement of skfedauc is not satisfied in the browser.

Run ``python docs/build_tools/lite.py pyodide-lock.json VERSION`` to write this list for another
version of Pyodide. The npm package ``pyodide`` of this version contains ``pyodide-lock.json``.
"""

from __future__ import annotations

import ast
import datetime
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
LIST = Path(__file__).with_name("pyodide.json")
# Folder of the site
FOLDER = "lite"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# A module of skfedauc that needs an extra has the name of this extra.
EXTRAS = PROJECT["optional-dependencies"]
# Packages with another name than their modules
PACKAGES = {"sklearn": "scikit-learn", "sklego": "scikit-lego"}
# A reference to a page or to an object of Python, with or without a title
ROLE = re.compile(
    r":(?P<kind>doc|class|func|meth|mod):`(?:(?P<title>[^<`]+?)\s*<)?(?P<target>[^>`]+)>?`"
)
WORDS = """\
# Run this cell first.
# It loads packages, for a minute.
{needs}%pip install -q {names}
"""


def pyodide() -> dict[str, Any]:
    """Return the version of Pyodide, of its Python, and of its packages."""
    return json.loads(LIST.read_text(encoding="utf-8"))


def is_installed() -> bool:
    """Return whether the packages that build JupyterLite are installed."""
    modules = "jupyterlite_core", "jupyterlite_pyodide_kernel", "scikit_build_core"
    return all(importlib.util.find_spec(module) for module in modules)


# What an example needs --------------------------------------------------------------------------


def imported(example: Path) -> set[str]:
    """Return the dotted names of the modules that a script imports."""
    names = set()
    for node in ast.walk(ast.parse(example.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    return names


def requirements(example: Path) -> list[str]:
    """Return what a notebook installs: skfedauc and the packages that its example imports."""
    names = imported(example)
    extras = sorted(name for name in EXTRAS if f"skfedauc.{name}" in names)
    top = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"skfedauc"}
    own = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}
    others = {canonicalize_name(PACKAGES.get(name, name)) for name in top} - own
    return [f"skfedauc[{','.join(extras)}]" if extras else "skfedauc", *sorted(others)]


def lacking(requirement: str, seen: frozenset[str] = frozenset()) -> list[str]:
    """Return what a requirement needs and the browser does not have.

    The browser has the packages of Pyodide, and pure packages. What is pure is read from the
    packages installed here.
    """
    wanted, browser = Requirement(requirement), pyodide()
    environment = {"sys_platform": "emscripten", "platform_machine": "wasm32"}
    environment |= {"python_full_version": browser["python"], "platform_system": "Emscripten"}
    environment["python_version"] = browser["python"].rpartition(".")[0]
    markers = [{**environment, "extra": extra} for extra in ("", *wanted.extras)]
    name = canonicalize_name(wanted.name)
    if name in seen:
        return []
    version = browser["packages"].get(name)
    if version is not None:
        is_enough = wanted.specifier.contains(version, prereleases=True)
        return [] if is_enough else [f"{wanted.name}{wanted.specifier} (Pyodide has {version})"]
    if name == "skfedauc":
        lines = [*PROJECT["dependencies"], *(line for e in wanted.extras for line in EXTRAS[e])]
        seen = seen if wanted.extras else seen | {name}
    else:
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            return [wanted.name]
        if "Root-Is-Purelib: true" not in (distribution.read_text("WHEEL") or ""):
            return [wanted.name]
        lines, seen = distribution.requires or [], seen | {name}
    found = []
    for line in lines:
        marker = Requirement(line).marker
        if marker is None or any(marker.evaluate(values) for values in markers):
            found += lacking(line, seen)
    return found


# Notebooks and pages ----------------------------------------------------------------------------


def reasons(example: Path) -> list[str]:
    """Return the packages because of which an example does not run in the browser."""
    oldest = {
        canonicalize_name(wanted.name): str(wanted.specifier)
        for lines in EXTRAS.values()
        for wanted in map(Requirement, lines)
    }
    lines = (f"{line}{oldest.get(line, '')}" for line in requirements(example))
    return sorted({reason for line in lines for reason in lacking(line)})


def words_of_role(role: re.Match[str]) -> str:
    """Return the words in place of a reference of reStructuredText, which notebooks do not have."""
    if role["title"]:
        return role["title"]
    if role["kind"] == "doc":
        return f"the page `{role['target'].lstrip('/')}`"
    _, _, shown = role["target"].rpartition("~")
    return f"`{shown.rpartition('.')[2] if '~' in role['target'] else shown}`"


def needs(local: str, wheels: str) -> str:
    """Return comments on the hosts that a browser needs, besides the site."""
    hosts = [] if local else ["cdn.jsdelivr.net"]
    hosts += [] if wheels else ["PyPI (pypi.org, files.pythonhosted.org)"]
    if not hosts:
        return ""
    return (
        f"# It needs {' and '.join(hosts)}.\n"
        "# If the cell does not run, and a cross is at the top right, the network may block them.\n"
    )


def notebook(path: Path, example: Path, local: str = "", wheels: str = "") -> dict[str, Any]:
    """Return a notebook of the gallery with a first cell that installs packages."""
    names = " ".join(requirements(example))
    content = json.loads(path.read_text(encoding="utf-8"))
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": WORDS.format(names=names, needs=needs(local, wheels)).rstrip().splitlines(True),
    }
    for other in content["cells"]:
        if other["cell_type"] == "markdown":
            other["source"] = ROLE.sub(words_of_role, "".join(other["source"])).splitlines(True)
    content["cells"].insert(0, cell)
    # With the browser's kernel, the page does not ask which kernel to start.
    kernel = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
    content["metadata"] = {"kernelspec": kernel}
    return content


def sentence(example: Path, host: str) -> str:
    """Return the sentence that the page of an example has on JupyterLite."""
    if missing := reasons(example):
        return f"This example does not run in the browser, which lacks {', '.join(missing)}."
    url = f"../{FOLDER}/notebooks/index.html?path={example.stem}.ipynb"
    return f"`Run this example in the browser <{url}>`__, with Python from {host}."


def with_sentence(page: str, example: Path, host: str) -> str:
    """Add the sentence below the first paragraphs of a page that sphinx-gallery wrote."""
    mark = "\n.. GENERATED FROM PYTHON SOURCE LINES "
    if mark not in page:
        raise ValueError(f"The page of {example.name} has no part below its first paragraphs.")
    return page.replace(mark, f"\n{sentence(example, host)}\n{mark}", 1)


# The site ---------------------------------------------------------------------------------------


def pure_wheel(folder: Path) -> Path:
    """Build the wheel of skfedauc without compiled code, from a copy of the sources."""
    with tempfile.TemporaryDirectory() as copy:
        for name in ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, copy)
        ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
        shutil.copytree(ROOT / "skfedauc", Path(copy) / "skfedauc", ignore=ignored)
        # The build needs no network.
        options = "-q", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir"
        command = [sys.executable, "-m", "pip", "wheel", *options, str(folder), copy]
        environment = {**os.environ, "SKFEDAUC_PURE": "1"}
        subprocess.run(command, env=environment, check=True)
    (wheel,) = folder.glob("skfedauc-*.whl")
    if not wheel.name.endswith("-py3-none-any.whl"):
        raise RuntimeError(f"{wheel.name} is not a pure wheel.")
    return wheel


def listing(folder: Path) -> dict[str, Any]:
    """Return the files of a folder as Jupyter's contents API lists them."""
    now = datetime.datetime.now(datetime.UTC).isoformat()
    dates = {"created": now, "last_modified": now}
    common = {**dates, "format": None, "mimetype": None, "content": None, "writable": True}
    files = [
        {**common, "name": path.name, "path": path.name, "type": "notebook"}
        | {"size": path.stat().st_size}
        for path in sorted(folder.glob("*.ipynb"))
    ]
    folder_itself = {"name": "", "path": "", "type": "directory", "format": "json", "size": None}
    return {**common, **folder_itself, "content": files}


def build(site: Path, notebooks: Path, examples: Path, local: str = "", wheels: str = "") -> None:
    """Write JupyterLite with the notebooks of a gallery into a site.

    Parameters
    ----------
    site : Path
        Folder of the site; the function replaces its folder `lite`.
    notebooks : Path
        Folder of the notebooks that sphinx-gallery wrote.
    examples : Path
        Folder of the scripts ``plot_*.py``.
    local : str, default=""
        Folder of a copy of Pyodide. By default, browsers load Pyodide from its network.
    wheels : str, default=""
        Folder of wheels that the site offers beside the one of skfedauc. By default, browsers load
        them from PyPI.
    """
    from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

    if pyodide()["pyodide"] != PYODIDE_VERSION:
        raise RuntimeError(
            f"{LIST} lists the packages of Pyodide {pyodide()['pyodide']}, but the kernel loads "
            f"Pyodide {PYODIDE_VERSION}: run {Path(__file__).name} with the list of this version."
        )
    if missing := lacking("skfedauc"):
        raise RuntimeError(f"skfedauc does not run in the browser, which lacks {missing}.")
    target = site / FOLDER
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pypi").mkdir()
        pure_wheel(folder / "pypi")
        for wheel in Path(wheels).glob("*.whl") if wheels else ():
            shutil.copy(wheel, folder / "pypi")
        if local:
            shutil.copytree(local, folder / "static" / "pyodide")
        config = {"appName": "skfedauc", "contentsAllJsonFile": "all.json"}
        (folder / "jupyter-lite.json").write_text(
            json.dumps({"jupyter-lite-schema-version": 0, "jupyter-config-data": config})
        )
        command = [sys.executable, "-m", "jupyterlite_core", "build"]
        command += ["--apps", "notebooks", "--apps", "tree"]
        command += ["--no-sourcemaps", "--no-unused-shared-packages"]
        command += ["--lite-dir", name, "--output-dir", str(target)]
        done = subprocess.run(command, cwd=name, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"JupyterLite was not built:\n{done.stdout}{done.stderr}")
    files = target / "files"
    files.mkdir()
    for example in sorted(examples.glob("plot_*.py")):
        if not reasons(example):
            content = notebook(notebooks / f"{example.stem}.ipynb", example, local, wheels)
            (files / f"{example.stem}.ipynb").write_text(json.dumps(content, indent=1))
    contents = target / "api" / "contents"
    contents.mkdir(parents=True, exist_ok=True)
    (contents / "all.json").write_text(json.dumps(listing(files)))


def add_sentence(app: Any, docname: str, source: list[str]) -> None:
    """Add to the page of an example whether it runs in the browser (a Sphinx event)."""
    found = re.fullmatch(r"auto_examples/(plot_\w+)", docname)
    if found and app.builder.format == "html":
        host = "this site" if app.config.lite_pyodide else "cdn.jsdelivr.net"
        example = Path(app.srcdir) / "examples" / f"{found[1]}.py"
        source[0] = with_sentence(source[0], example, host)


def add_lite(app: Any, exception: Exception | None) -> None:
    """Write JupyterLite into the site (a Sphinx event)."""
    if exception is None and app.builder.format == "html":
        docs, config = Path(app.srcdir), app.config
        folders = docs / "auto_examples", docs / "examples"
        build(Path(app.outdir), *folders, config.lite_pyodide, config.lite_wheels)


def setup(app: Any) -> dict[str, Any]:
    """Connect JupyterLite to the build of the site if its packages are installed."""
    app.add_config_value("lite_pyodide", "", "html")
    app.add_config_value("lite_wheels", "", "html")
    if is_installed():
        app.connect("source-read", add_sentence)
        app.connect("build-finished", add_lite)
    else:
        from sphinx.util import logging

        logging.getLogger(__name__).info("The site has no JupyterLite: pip install -e '.[lite]'")
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    lock = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    versions = {
        name: package["version"]
        for name, package in sorted(lock["packages"].items())
        if package["package_type"] == "package"
    }
    content = {"pyodide": sys.argv[2], "python": lock["info"]["python"], "packages": versions}
    LIST.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
