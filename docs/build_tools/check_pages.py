"""Open a built site in Chromium: ``python docs/check_pages.py docs/_build/html``.

The script searches for the words of `SEARCHES` on the site's search page, and expects a fitting
page among the first results, and a sentence of each page as its excerpt. On the pages of `PAGES`,
light and dark, at the width of a desktop and of a phone, axe checks accessibility, no page is wider
than the window, no text is cut off at its edge, no script fails, and nothing comes from another
host. The script lists what it finds, and exits with code 1 if there is anything.

It needs Chromium, chromedriver and ``pip install "skfedauc[browser]"``.
"""

import importlib.util
import shutil
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, urlsplit

from selenium import webdriver

# What readers search for, and pages of which one is among the first results, or the first one
FIRST = 5
SEARCHES = {
    "federated": ["how_to/flower", "how_to/without_moving_data", "explanation/federated"],
    "privacy": ["how_to/differential_privacy", "how_to/disclosure"],
    "hospital": ["tutorials/several_sites", "tutorials/csv_to_audit"],
    "GAUC": ["reference/which_auc", "reference/glossary"],
    "fairness": ["how_to/fairness"],
    "stratified": ["how_to/select_model", "reference/which_auc", "reference/glossary"],
    "confidence interval": ["how_to/gap_real", "reference/glossary"],
    "Flower": ["how_to/flower"],
    "Spark": ["how_to/where_the_rows_are"],
    "partial AUC": ["reference/which_auc", "auto_examples/plot_partial_auc"],
    "how many rows": ["how_to/how_many_rows"],
    "DeLong": ["reference/glossary", "reference/coming_from/proc", "how_to/better_or_by_chance"],
    "p value": ["how_to/gap_real", "reference/glossary"],
    "suppression": ["how_to/disclosure", "reference/glossary"],
    "GDPR": ["how_to/disclosure"],
    "drift": ["how_to/since_when", "reference/glossary"],
    "tolerance": ["how_to/tolerances"],
    "skore": ["tutorials/signed_off_audit"],
    "compare_models": ["api/generated/skfedauc.compare_models"],
    "confidence_intervals": ["api/generated/skfedauc.GroupAUC"],
    "compare two models": ["how_to/better_or_by_chance", "how_to/mitigate"],
    "difference between pooled and average": ["explanation/average_or_pooled"],
    "worst group": ["how_to/gap_real"],
}
# Queries whose first result has to fit
IS_FIRST = {
    "how many rows",
    "compare two models",
    "difference between pooled and average",
    "p value",
    "suppression",
    "GDPR",
    "drift",
    "skore",
    "worst group",
}
PAGES = [
    "index",
    "tutorials/signed_off_audit",
    "how_to/index",
    "how_to/boosting",
    "explanation/federated",
    "reference/which_auc",
    "reference/how_fast",
    "reference/calibration",
    "reference/calibration/auc_of_one_group",
    "auto_examples/index",
    "auto_examples/plot_persons",
    "explorer",
    "api/generated/skfedauc.group_roc_auc_score",
    "api/displays",
]
WIDTHS = (1280, 390)

AXE = """
const done = arguments[0];
axe.run({ resultTypes: ["violations"], preload: false }).then((found) => done(found.violations.map(
  (rule) => rule.id + ": " + rule.nodes.map((node) => node.html.slice(0, 160)).join(" | "))));
"""
RESULTS = """
const title = document.querySelector("#search-results h2");
return title === null || title.textContent !== "Search Results" ? null :
  [...document.querySelectorAll("#search-results ul.search li > a")].map((link) => link.href);
"""
# Title and excerpt of each result; None before the excerpt is loaded
EXCERPTS = """
return [...document.querySelectorAll("#search-results ul.search li")].map(
  (item) => item.querySelector("p.context") && [
    item.querySelector("a").textContent, item.querySelector("p.context").textContent]);
"""
SHORTEST = 30  # characters

LOADED = "return performance.getEntriesByType('resource').map((entry) => entry.name)"
# Text that ends outside of the window. Parts that scroll, texts that end with an ellipsis and texts
# for screen readers only are no errors.
CUT = """
const width = document.documentElement.clientWidth, cut = new Set();
const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
const isMeant = (part) => {
  if (part === null || part.tagName === "MAIN") return false;
  const style = getComputedStyle(part);
  const scrolls = ["auto", "scroll"].includes(style.overflowX);
  return part.tagName === "svg" || style.textOverflow === "ellipsis" || part.offsetWidth <= 1 ||
    (scrolls && part.scrollWidth > part.clientWidth) || isMeant(part.parentElement);
};
while (walker.nextNode()) {
  const range = document.createRange();
  range.selectNodeContents(walker.currentNode);
  for (const box of range.getClientRects())
    if (box.left < width && box.right > width + 1 && !isMeant(walker.currentNode.parentElement))
      cut.add(walker.currentNode.textContent.trim());
}
return [...cut];
"""
# Definitions are unfolded, and colors change at once.
PREPARE = """
window.axe = axe;
document.querySelectorAll("details").forEach((part) => { part.open = true; });
document.head.insertAdjacentHTML("beforeend", "<style>* { transition: none !important; }</style>");
"""


class Quiet(SimpleHTTPRequestHandler):
    """Serve files without a line for each request."""

    def log_message(self, *arguments):
        """Print nothing."""


def chromium():
    """Start a headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    driver.set_script_timeout(120)
    return driver


def first_results(driver, address, words):
    """Return the first pages that the site's search lists."""
    driver.get(f"{address}/search.html?q={quote(words)}")
    deadline = time.monotonic() + 120
    while (links := driver.execute_script(RESULTS)) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the search for {words!r} did not end")
        time.sleep(0.05)
    pages = [urlsplit(link).path.removeprefix("/").removesuffix(".html") for link in links]
    return list(dict.fromkeys(pages))[:FIRST]


def poor_excerpts(driver):
    """Return the titles of the pages among the first results that have no sentence as excerpt."""
    deadline = time.monotonic() + 120
    while None in (found := driver.execute_script(EXCERPTS)[:FIRST]):
        if time.monotonic() > deadline:
            raise TimeoutError("the excerpts of the search were not loaded")
        time.sleep(0.05)
    return [title for title, text in found if len(text) < SHORTEST or text.startswith(title)]


def wrong_searches(driver, address):
    """List searches without a fitting page among the first results, and poor excerpts."""
    for words, fitting in SEARCHES.items():
        found = first_results(driver, address, words)[: 1 if words in IS_FIRST else FIRST]
        if not set(found) & set(fitting):
            yield f"search for {words!r} finds {found}, expected one of {fitting}"
        for title in poor_excerpts(driver):
            yield f"search for {words!r}: the page {title!r} has no sentence as excerpt"


def wrong_on_page(driver, address, page):
    """List what is wrong on a page in each width and color scheme."""
    for width in WIDTHS:
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
        )
        driver.get(f"{address}/{page}.html")
        loaded = driver.execute_script(LOADED)
        yield from (
            f"{page}: loads {name}"
            for name in loaded
            if urlsplit(name).scheme not in ("data", "blob") and not name.startswith(address)
        )
        for entry in driver.get_log("browser"):
            if entry["level"] == "SEVERE":
                yield f"{page}: {entry['message']}"
        needed = driver.execute_script("return document.documentElement.scrollWidth")
        if needed > width:
            yield f"{page}, {width}: needs {needed} pixels"
        for text in driver.execute_script(CUT):
            yield f"{page}, {width}: cuts {text!r}"
        driver.execute_script(f"{axe_core()}\n{PREPARE}")
        for theme in ("light", "dark"):
            driver.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
            for found in driver.execute_async_script(AXE):
                yield f"{page}, {width}, {theme}: {found}"


def axe_core():
    """Return the script of axe, which the package for playwright has."""
    package = importlib.util.find_spec("axe_playwright_python")
    return Path(package.origin).with_name("axe.min.js").read_text(encoding="utf-8")


def check(address, pages, searches):
    """Return what is wrong with pages, and with the search if asked, in a browser of its own."""
    driver = chromium()
    try:
        found = [line for page in pages for line in wrong_on_page(driver, address, page)]
        return found + (list(wrong_searches(driver, address)) if searches else [])
    finally:
        driver.quit()


def problems(site):
    """Return what is wrong with a site."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    half = len(PAGES) // 2 + 1
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(check, [address] * 2, [PAGES[:half], PAGES[half:]], [False, True])
        return [line for part in parts for line in part]


if __name__ == "__main__":
    started = time.monotonic()
    lines = problems(sys.argv[1])
    print(*lines, sep="\n", end="\n" if lines else "")
    print(
        f"{len(SEARCHES)} searches, {len(PAGES)} pages in a browser, {len(lines)} problems, "
        f"{time.monotonic() - started:.0f} s"
    )
    sys.exit(bool(lines))
