"""Fixtures for several files of tests."""

import gc
import os

import pytest

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
