"""The example of the gallery that estimates causal graphs: its class, without the example's run."""

import ast
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "plot_causal_graph.py"


def definitions():
    """Imports, constants, functions and classes of the example."""
    kept = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    tree = ast.parse(EXAMPLE.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if isinstance(node, kept) or is_constant(node)]
    namespace = {"__name__": "example"}
    exec(compile(tree, str(EXAMPLE), "exec"), namespace)
    return SimpleNamespace(**namespace)


def is_constant(node):
    return isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "").isupper()


example = definitions()
Notears = example.Notears


def test_tiers_forbid_arrows():
    X = np.random.default_rng(0).normal(size=(500, 2))
    X[:, 1] += X[:, 0]
    assert Notears().fit(X).adjacency_[0, 1] == pytest.approx(1.0, abs=0.1)
    backwards = clone(Notears(tiers=[1, 0])).fit(X).adjacency_
    assert backwards[0, 1] == 0
    assert backwards[1, 0] == pytest.approx(0.5, abs=0.1)
    with pytest.raises(ValueError, match="one entry for each of 2 columns"):
        Notears(tiers=[0]).fit(X)


def test_the_example_finds_the_true_graph_and_reverses_an_arrow_in_other_units():
    people = example.simulated(seed=0)
    graph = Notears(tiers=example.TIERS).fit(people)
    names = graph.feature_names_in_
    found = {(names[i], names[j]): graph.adjacency_[i, j] for i, j in np.argwhere(graph.adjacency_)}
    assert found == pytest.approx(example.TRUE_EDGES, abs=0.06)
    assert not example.is_reversed(graph)
    for changed in example.CHANGES.values():
        assert example.is_reversed(Notears(tiers=example.TIERS).fit(changed(people)))
