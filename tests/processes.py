"""Python in a process of its own."""

import os
import subprocess
import sys


def run_python(*arguments, env=None, **options):
    """Return the finished process, with what it printed as text."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
