"""A headless Chromium for pages, driven by selenium, and axe, which checks accessibility.

Without Chromium, selenium or axe the tests are skipped, unless SKFEDAUC_BROWSER=required is set.
"""

import importlib.util
import os
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest
from waiting import wait_until


def skip_without(what):
    if os.environ.get("SKFEDAUC_BROWSER") == "required":
        pytest.fail(f"needs {what}")
    pytest.skip(f"needs {what}")


@pytest.fixture(scope="session")
def needs():
    """Skip a test without a package."""

    def check(package):
        if importlib.util.find_spec(package) is None:
            skip_without(package)

    return check


class Quiet(SimpleHTTPRequestHandler):
    def do_GET(self):
        # Browsers ask for an icon; axe reads the theme's import of basic.css as beside the page.
        if self.path in ("/favicon.ico", "/basic.css"):
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="session")
def serve():
    """Serve a folder until the end of the tests, and return its address."""
    servers = []

    def start(folder):
        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


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
        skip_without("Chromium, chromedriver and selenium")
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

    class Chromium(webdriver.Chrome):
        def get(self, url):
            """Open a page; `webdriver.Chrome.get` sometimes returns while the last page is open."""
            super().get(url)
            wait_until(lambda: self.shows(url))

        def shows(self, url):
            shown, state = self.execute_script("return [document.URL, document.readyState]")
            places = [unquote(place).partition("#")[0].rstrip("/") for place in (url, shown)]
            return places[0] == places[1] and state == "complete"

    started = Chromium(options=options, service=webdriver.ChromeService(driver))
    started.set_script_timeout(300)  # axe on a machine with other work
    yield started
    started.quit()


@pytest.fixture(scope="session")
def lite():
    """The module of the documentation that writes JupyterLite."""
    from test_docs import load

    module = load("lite")
    if not module.is_installed():
        skip_without("jupyterlite-core, jupyterlite-pyodide-kernel and scikit-build-core")
    return module


@pytest.fixture
def browser(chromium):
    """The driver with the window size of a desktop; a test fails if its pages log errors."""
    chromium.set_window_size(1280, 900)
    chromium.get("about:blank")
    chromium.get_log("browser")
    yield chromium
    errors = [entry for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"]
    assert errors == []


@pytest.fixture
def emulate(chromium):
    """Run a command of Chromium's developer tools, and undo its effect after the test."""
    yield chromium.execute_cdp_cmd
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


@pytest.fixture
def set_width(emulate):
    def set_to(width, is_mobile=False):
        metrics = {"width": width, "height": 850, "deviceScaleFactor": 1, "mobile": is_mobile}
        emulate("Emulation.setDeviceMetricsOverride", metrics)

    return set_to


@pytest.fixture
def axe(browser):
    """Run axe on the open page with all definitions unfolded.

    The function returns the violations, and the parts that axe cannot decide, without the texts of
    SVGs.
    """
    # The package is for playwright, and has the script of axe-core. Importing the package needs
    # playwright.
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None:
        skip_without("axe-playwright-python")
    script = (Path(package.origin).parent / "axe.min.js").read_text(encoding="utf-8")

    def run():
        # The developer tools may run scripts that the page's Content-Security-Policy refuses.
        browser.execute_cdp_cmd("Runtime.evaluate", {"expression": script})
        found = browser.execute_async_script(
            """
            const done = arguments[0];
            document.querySelectorAll("details").forEach((part) => { part.open = true; });
            // axe does not compute contrasts on gradients, which are the shadows of what scrolls.
            document.querySelectorAll(".scroll, .plot").forEach(
              (part) => { part.style.backgroundImage = "none"; });
            axe.run({ resultTypes: ["violations", "incomplete"] }).then(done);
            """
        )
        violations = [
            (rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found["violations"]
        ]
        unsure = [
            (rule["id"], node["html"])
            for rule in found["incomplete"]
            for node in rule["nodes"]
            if not node["html"].startswith("<text")
        ]
        return violations, unsure

    return run
