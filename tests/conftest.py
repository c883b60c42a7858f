"""What makes the suite fast, for all tests."""

import gc
import os

# Two workers of pytest share the cores: more threads would only wait for them.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(_name, "1")


def pytest_collection_finish():
    """Modules and tests stay to the end: garbage is looked for among younger objects only."""
    gc.collect()
    gc.freeze()
