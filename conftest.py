"""One thread for each test process.

The suite runs in one process per core and fits small models: threads of BLAS and OpenMP would
wait for each other. The variables must be set before numpy is imported, and processes that tests
start inherit them.
"""

import os

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Its doctests need Flower; `pytest tests/flower` runs them.
collect_ignore = ["skfedauc/flower.py"]
