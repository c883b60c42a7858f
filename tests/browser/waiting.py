"""Wait for what a page or the browser does in its own time."""

import time


def wait_until(condition):
    """Wait until the condition holds, for long, as other processes may delay the browser."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
