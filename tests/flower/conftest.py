"""The example app of the documentation, and a grid that runs its clients in this process.

Flower must be installed: ``pip install -e ".[test,flower]"``.
"""

import sys
from pathlib import Path

import pytest

APP = Path(__file__).parents[2] / "docs" / "examples" / "flower"

# Warnings about Flower's own modules are left to Flower.
WARNED = ["ignore:::flwr", "ignore:::typer", "ignore:::click"]


def pytest_configure(config):
    for line in WARNED:
        config.addinivalue_line("filterwarnings", line)


@pytest.fixture
def clinics(monkeypatch):
    """Modules of the example app: `task`, `client_app` and `server_app`."""
    monkeypatch.syspath_prepend(str(APP))
    from clinics import client_app, server_app, task

    yield {"task": task, "client_app": client_app, "server_app": server_app}
    for name in [name for name in sys.modules if name.partition(".")[0] == "clinics"]:
        del sys.modules[name]


@pytest.fixture
def grid(clinics):
    """Return a grid with all clinics of the example app."""
    from local_grid import LocalGrid

    return LocalGrid(clinics["client_app"].app, len(clinics["task"].NAMES))
