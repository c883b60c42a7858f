"""What the tests of several pages do: unfold a page, and wait for the browser."""

import time


def wait_until(condition):
    """Wait until the condition holds, for long, as other processes may delay the browser."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def open_details(browser):
    browser.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
