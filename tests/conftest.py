"""What makes the suite fast, and fixtures for several files of tests."""

import gc
import os

import pytest

# Two workers of pytest share the cores: more threads would only wait for them.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(_name, "1")


def pytest_collection_finish():
    """Modules and tests stay to the end: garbage is looked for among younger objects only."""
    gc.collect()
    gc.freeze()


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
