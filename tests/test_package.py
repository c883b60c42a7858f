"""Imported modules, contents of the package, and order of imports."""

import ast
import functools
import importlib.metadata
import importlib.resources
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from processes import run_python

import skfedauc

PACKAGE = Path(skfedauc.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# A module imports only from layers above its layer in this list.
LAYERS = [
    {"_words"},
    {"_input", "_kernel"},
    {"_labels"},
    {"_group_codes"},
    {"_rows"},
    {"_output_file", "_sklearn"},
    {"counts", "ranks", "measures"},
    {"cluster_counts"},
    {"pairs"},
    {"inference", "datasets", "mitigation"},
    {"report", "privacy", "error_bounds"},
    {"metrics", "comparison", "flower", "planning", "periods"},
    {"scoring", "boosting"},
    {"model_selection"},
    {"plotting"},
    {"audit"},
    {"cli"},
    {"__main__"},
]
LAYER_OF = {module: level for level, layer in enumerate(LAYERS) for module in layer}
FOLDERS = sorted(file.parent for file in PACKAGE.glob("*/__init__.py"))


def run(code):
    """Return the output of code in a new interpreter, in which warnings are errors."""
    done = run_python("-W", "error", "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def imported(tree):
    """Yield the dotted names of all imports, including imports in functions and for types."""
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@functools.cache
def parts_imported(file):
    return [name.split(".") for name in imported(ast.parse(file.read_text()))]


def module_of(file):
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_import_loads_nothing_heavy():
    heavy = {"pandas", "sklearn", "scipy", "fairlearn", "matplotlib", "jinja2", "polars", "pyarrow"}
    heavy |= {"joblib", "narwhals", "flwr"}
    loaded = run("import sys, skfedauc; print(*{name.split('.')[0] for name in sys.modules})")
    assert "skfedauc" in loaded.split()
    assert heavy.isdisjoint(loaded.split())


def test_counting_rows_needs_numpy_alone():
    printed = run(
        """
import sys
for name in ("pandas", "sklearn", "scipy", "fairlearn", "matplotlib", "polars", "pyarrow",
             "narwhals", "joblib"):
    sys.modules[name] = None
import pickle
import numpy as np
from skfedauc import ScoreCounts
one = ScoreCounts.from_predictions([0, 1, 1], [0.1, 0.2, 0.3], groups=[3, 3, 4])
two = ScoreCounts.from_predictions(
    np.array([0, 1]), np.array([0.1, 0.9]), groups=np.array([4, 9]), sample_weight=[0.5, 2.0]
)
three = ScoreCounts.from_counts([4], [0.5], [7], [1])
print(repr(pickle.loads(pickle.dumps(sum([one, two, three])))))
"""
    )
    assert printed == (
        "ScoreCounts(3 groups, 13 rows: 4 positives and 9 negatives, 5 distinct scores, weighted)"
    )


def test_every_public_name_resolves():
    assert len(set(skfedauc.__all__)) == len(skfedauc.__all__)
    for name in skfedauc.__all__:
        assert getattr(skfedauc, name).__doc__
        assert name in dir(skfedauc)
    with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'$"):
        _ = skfedauc.nonsense
    with pytest.raises(AttributeError, match=r"import displays from skfedauc\.plotting"):
        _ = skfedauc.GroupAUCDisplay
    with pytest.raises(AttributeError, match=r"import it from skfedauc\.datasets"):
        _ = skfedauc.make_group_scores
    public = {"boosting", "datasets", "error_bounds", "flower", "measures", "periods"}
    public |= {"plotting", "privacy"}
    assert public <= set(dir(skfedauc))


def test_version_has_one_source():
    assert skfedauc.__version__ == importlib.metadata.version("skfedauc")
    written = [f for f in FILES if f'"{skfedauc.__version__}"' in f.read_text()]
    assert written == []


def test_types_are_shipped():
    assert (importlib.resources.files("skfedauc") / "py.typed").is_file()


def is_private_of_sklearn(parts):
    return parts[0] == "sklearn" and any(part.startswith("_") for part in parts)


def test_only_one_file_imports_private_names_of_scikit_learn():
    importers = {
        file.name for file in FILES if any(map(is_private_of_sklearn, parts_imported(file)))
    }
    assert importers == {"_sklearn.py"}


def test_source_distribution_has_what_its_tests_import():
    root = Path(__file__).parents[1]
    build = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["scikit-build"]
    needed = {parts[0] for file in (root / "tests").rglob("*.py") for parts in parts_imported(file)}
    assert needed.isdisjoint(build["sdist"]["exclude"])


def test_every_module_has_a_layer():
    modules = {module_of(file) for file in FILES} - {"__init__"}
    assert modules <= LAYER_OF.keys()


def imports_of_others(file):
    """Yield the other top-level modules of the package that the file imports."""
    for parts in parts_imported(file):
        if parts[0] != "skfedauc" or parts == ["skfedauc"]:
            continue
        # A public name counts as an import of the module that defines the name.
        if parts[1] in skfedauc.__all__:
            parts = getattr(skfedauc, parts[1]).__module__.split(".")
        if parts[1] != module_of(file):
            yield parts[1]


def test_imports_go_one_way():
    # The package imports names of all layers at first access.
    first, *files = sorted(FILES, key=lambda file: file != PACKAGE / "__init__.py")
    assert module_of(first) == "__init__"
    assert not any(parts[0] == "sklearn" for parts in parts_imported(first))
    upward = [
        (str(file.relative_to(PACKAGE)), other)
        for file in files
        for other in imports_of_others(file)
        if LAYER_OF[other] >= LAYER_OF[module_of(file)]
    ]
    assert upward == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_imports_within_a_folder_make_no_circle(folder):
    needs = {
        file.stem: {
            parts[2] for parts in parts_imported(file) if parts[:2] == ["skfedauc", folder.name]
        }
        for file in folder.glob("*.py")
    }
    order = list(TopologicalSorter(needs).static_order())
    assert order[-1] == "__init__" or not needs["__init__"]


def test_the_kernel_needs_numpy_and_threads_only():
    outside = {
        parts[0]
        for file in (PACKAGE / "_kernel").glob("*.py")
        for parts in parts_imported(file)
        if parts[0] not in sys.stdlib_module_names
    }
    assert outside <= {"numpy", "joblib", "skfedauc"}
