"""A headless Chromium for pages, driven by selenium.

Without Chromium or selenium the tests are skipped, unless SKFEDAUC_BROWSER=required is set.
"""

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """The driver; tests use the fixture `browser` instead."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    try:
        from selenium import webdriver
    except ImportError:
        webdriver = None
    if program is None or driver is None or webdriver is None:
        reason = "needs Chromium, chromedriver and selenium"
        if os.environ.get("SKFEDAUC_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    options = webdriver.ChromeOptions()
    options.binary_location = program
    profile = tmp_path_factory.mktemp("profile")
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield started
    started.quit()


@pytest.fixture
def browser(chromium):
    """The driver with the window size of a desktop; a test fails if its pages log errors."""
    chromium.set_window_size(1280, 900)
    chromium.get("about:blank")
    chromium.get_log("browser")
    yield chromium
    errors = [entry for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"]
    assert errors == []
