"""Fixtures for several files of tests."""

import gc
import importlib
import os

import pytest

# Models of few rows do not need threads, which wait actively. Worker processes inherit these
# variables.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
# Pages of equal audits are equal, also if the audits are made at different times.
os.environ["SOURCE_DATE_EPOCH"] = "1767225600"


def pytest_collection_finish():
    """Let the garbage collector skip modules and tests, which stay until the end.

    The garbage collector also runs less often: at its default frequency, the collector takes a
    tenth of the time, and few objects are in cycles.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(params=["compiled", "numpy"])
def version(request, monkeypatch):
    """Version of the kernel that the test runs."""
    from skfedauc import _kernel as kernel
    from skfedauc._kernel import _numpy

    if request.param == "numpy":
        monkeypatch.setattr(kernel, "_implementation", _numpy)
    elif kernel.name() == "numpy":
        pytest.skip("the kernel is not compiled")
    return request.param


@pytest.fixture
def without_plots(monkeypatch):
    """Leave the plots out of pages: drawing takes most of the time.

    `test_audit_page.py` and `test_audit_comparison.py` draw the plots.
    """
    from skfedauc.audit import comparison_page, figures

    monkeypatch.setattr(figures, "plots", lambda tables, prefix: [])
    monkeypatch.setattr(comparison_page, "_plots", lambda tables: iter(()))


@pytest.fixture(scope="module")
def few_draws():
    """P values and expected differences of audits by few draws.

    The draws take a third of the time of an audit. Tests that compare two results, both of few
    draws, need no more; other tests check the simulated values.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.import_module("skfedauc.audit.decisions"), "_MOST_DRAWS", 200)
        yield
