"""One thread for each test process.

The suite runs in one process per core and fits small models: threads of BLAS, OpenMP and polars
would wait for each other. The variables must be set before numpy is imported, and processes that
tests start inherit them.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(name, "1")

# Their doctests need Flower and OpenDP; `pytest tests/flower` and `pytest tests/engines` run them.
collect_ignore = ["skfedauc/flower", "skfedauc/privacy/private_counts.py"]
