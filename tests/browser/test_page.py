"""The page of an audit in a browser: loading, sorting, printing, and labels as text."""

import base64
import contextlib
import io
import json
import re
import zlib

import numpy as np
import pandas as pd
import pytest
from colors import contrast, luminance
from matplotlib.figure import Figure
from waiting import wait_until

from skfedauc import AuditComparison, FairnessAudit
from skfedauc.plotting import CrossAUCDisplay

# WebDriver's names of search strategies and of keys
CSS = "css selector"
ENTER, SPACE, TAB = "\ue007", "\ue00d", "\ue004"
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&lt;b&gt;", "$x$"]
# Script that returns the texts of a column in each body of the table
COLUMN = """
return [...document.querySelectorAll(".groups table.sortable tbody.groups")].map(
    (body) => [...body.rows].map((row) => row.cells[arguments[0]].textContent));
"""
POSITIVES, AUC, PVALUE, DISPARITY = 1, 3, 7, 11


def audit_of(labels, n=800, n_small=0):
    """Return an audit whose last groups are small; every second small group lacks negatives."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, len(labels) - n_small, n)
    group[: 5 * n_small] = np.repeat(np.arange(len(labels) - n_small, len(labels)), 5)
    y = rng.integers(0, 2, n)
    y[: 5 * n_small] = [0, 1, 0, 1, 1] * n_small
    y[(group >= len(labels) - n_small) & (group % 2 == 0)] = 1
    score = 1 / (1 + np.exp(-(rng.normal(size=n) + y + 0.4 * (group % 3))))
    return FairnessAudit.from_predictions(y, score, groups=[labels[g] for g in group])


def three_columns(n=2000):
    """Return an audit by three columns, whose labels take two lines on paper."""
    rng = np.random.default_rng(1)
    labels = {
        "sex": ["female", "male"],
        "age group": ["18 to 29", "30 to 64", "65 and older"],
        "race": ["African-American", "Caucasian", "Hispanic or Latino"],
    }
    groups = pd.DataFrame({name: rng.choice(found, n) for name, found in labels.items()})
    y = rng.integers(0, 2, n)
    score = 1 / (1 + np.exp(-(rng.normal(size=n) + y)))
    return FairnessAudit.from_predictions(y, score, groups=groups)


def comparison_of(n_groups, n=800):
    """Return a comparison of two models."""
    rng = np.random.default_rng(0)
    group, y = rng.integers(0, n_groups, n), rng.integers(0, 2, n)
    scores = {
        name: 1 / (1 + np.exp(-(rng.normal(size=n) + y + 0.4 * (group % k))))
        for name, k in (("before", 3), ("after", 1))
    }
    return AuditComparison.from_predictions(y, scores, groups=[f"site {g}" for g in group])


@pytest.fixture(scope="module")
def audits():
    return {
        "sites": audit_of([f"site {g}" for g in range(15)], n_small=6),
        "hostile": audit_of(HOSTILE),
        "three columns": three_columns(),
    }


@pytest.fixture(scope="module")
def pages(audits, tmp_path_factory):
    """Return addresses of pages; each page is written once."""
    folder = tmp_path_factory.mktemp("pages")
    for name, audit in audits.items():
        audit.to_html(folder / f"{name}.html")
    comparison_of(audits["sites"].report.n_groups).to_html(folder / "comparison.html")
    return {name: (folder / f"{name}.html").as_uri() for name in [*audits, "comparison"]}


@pytest.fixture
def sites(browser, pages):
    browser.get(pages["sites"])
    return browser


@pytest.fixture
def emulate(chromium):
    """Run a command of Chromium's developer tools, and undo its effect after the test."""
    yield chromium.execute_cdp_cmd
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def heading(browser, column):
    return browser.find_elements(CSS, ".groups table.sortable thead tr:last-child th")[column]


def numbers(cells):
    """Return the shown numbers; None for cells without a number."""
    texts = [cell.replace("\N{MINUS SIGN}", "-").replace("<0.001", "0") for cell in cells]
    return [None if text == "\N{EN DASH}" else float(text) for text in texts]


def in_order(values, *, falls):
    """Return the sorted values, with undefined values last."""
    defined = sorted((v for v in values if v is not None), reverse=falls)
    return defined + [None] * (len(values) - len(defined))


def click(button):
    button.click()


def press_enter(button):
    button.send_keys(ENTER)


def press_space(button):
    button.send_keys(SPACE)


@pytest.mark.parametrize("act", [click, press_enter, press_space])
def test_columns_sort_in_both_directions(sites, act):
    for column in (POSITIVES, PVALUE, DISPARITY):
        before = [numbers(cells) for cells in sites.execute_script(COLUMN, column)]
        assert list(map(len, before)) == [9, 6]
        button = heading(sites, column).find_element(CSS, "button")
        for falls, order in enumerate(["ascending", "descending"]):
            act(button)
            assert heading(sites, column).get_attribute("aria-sort") == order
            after = [numbers(cells) for cells in sites.execute_script(COLUMN, column)]
            assert after == [in_order(values, falls=falls) for values in before]
        sorted_by = sites.find_elements(CSS, ".groups th[aria-sort]")
        assert len(sorted_by) == 1


def test_what_is_undefined_comes_last(sites):
    for column in (0, AUC, AUC):
        heading(sites, column).find_element(CSS, "button").click()
        _, small = sites.execute_script(COLUMN, AUC)
        undefined = [number is None for number in numbers(small)]
        assert sum(undefined) == 3
        assert (undefined == sorted(undefined)) == (column == AUC)


def test_labels_sort_by_their_values_and_rows_stay_whole(sites):
    rows = "return [...document.querySelectorAll('tbody.groups tr')].map((row) => row.innerText)"
    before = sites.execute_script(rows)
    heading(sites, 0).find_element(CSS, "button").click()
    large, small = sites.execute_script(COLUMN, 0)
    assert large == sorted(large)
    assert small == ["site 10", "site 11", "site 12", "site 13", "site 14", "site 9"]
    assert sorted(sites.execute_script(rows)) == sorted(before)


def test_the_keyboard_reaches_what_can_be_used(sites):
    reached = set()
    for _ in range(120):
        sites.switch_to.active_element.send_keys(TAB)
        element = sites.switch_to.active_element
        reached.add((element.tag_name, element.get_attribute("class")))
    assert {("button", ""), ("div", "scroll"), ("div", "plot"), ("summary", "")} <= reached


@pytest.mark.parametrize("width", [1280, 390])
def test_labels_stay_text(browser, pages, emulate, width):
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    emulate("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(pages["hostile"])
    # An open alert would raise an error here.
    assert browser.find_elements(CSS, "img") == []
    assert len(browser.find_elements(CSS, "script")) == 1
    (labels,) = browser.execute_script(COLUMN, 0)
    assert sorted(labels) == sorted(HOSTILE)
    findings = browser.find_element(CSS, ".findings").text
    assert any(repr(label) in findings for label in HOSTILE[:2])
    plotted = browser.execute_script(
        "return [...document.querySelectorAll('svg text')].map((text) => text.textContent)"
    )
    assert "$x$" in plotted
    assert any(text.startswith("<script>") for text in plotted)
    assert any(text.startswith('"><img') for text in plotted)


def by_group_of(audit):
    """The table of the groups as the page sorts it, with labels as text and no index."""
    table = audit.by_group.sort_values(["is_small", "auc"], kind="stable").reset_index()
    columns = [column for column in table.columns if column != "is_small"]
    return table[[*columns, "is_small"]]


def test_tables_are_downloaded_and_copied_with_all_digits(sites, emulate, audits, tmp_path):
    emulate("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    sites.execute_script(
        "addEventListener('copy', (event) => {"
        "window.copied = event.clipboardData.getData('text/plain'); })"
    )
    buttons = sites.find_elements(CSS, ".tools button")
    assert len(buttons) == 15
    names = {button.accessible_name for button in buttons}
    assert {"Download as CSV: Groups by group", "Copy: Gaps between groups by group"} <= names
    for button in buttons:
        sites.execute_script("window.copied = null")
        button.click()
        if button.text == "Copy" and "Groups" in button.accessible_name:
            copied = sites.execute_script("return window.copied")
    expected = {
        f"{kind}.{ending}"
        for ending in ("csv", "json")
        for kind in (
            "groups-by-group",
            "gaps-between-groups-by-group",
            "auc-of-the-model-by-group",
            "calibration-by-group",
            "rates-of-the-decisions-by-group",
        )
    }
    wait_until(lambda: {file.name for file in tmp_path.iterdir()} == expected)
    audit = audits["sites"]
    table = by_group_of(audit)
    for found in (
        pd.read_csv(tmp_path / "groups-by-group.csv"),
        pd.read_json(tmp_path / "groups-by-group.json", precise_float=True),
        pd.read_csv(io.StringIO(copied), sep="\t"),
    ):
        pd.testing.assert_frame_equal(found, table, check_dtype=False, rtol=1e-13, atol=0)
    gaps = pd.read_csv(tmp_path / "gaps-between-groups-by-group.csv", index_col=0)
    pd.testing.assert_frame_equal(
        gaps, audit.gaps.drop(columns="rate"), check_dtype=False, rtol=1e-13, atol=0
    )
    calibration = pd.read_csv(tmp_path / "calibration-by-group.csv", index_col=0)
    expected = audit.calibration.rename({"all": "all groups"}).loc[calibration.index]
    assert len(calibration) == len(expected) == len(audit.calibration)
    pd.testing.assert_frame_equal(
        calibration,
        expected[calibration.columns],
        check_dtype=False,
        rtol=1e-13,
        atol=0,
        check_names=False,
    )
    rates = pd.read_csv(tmp_path / "rates-of-the-decisions-by-group.csv")
    expected = audit.rates().reset_index()
    found = expected[["rate", "group"]].merge(rates, how="left", validate="one_to_one")
    assert len(rates) == len(expected)
    pd.testing.assert_frame_equal(
        found, expected[found.columns], check_dtype=False, rtol=1e-13, atol=0
    )
    quality = json.loads((tmp_path / "auc-of-the-model-by-group.json").read_text())
    assert [row["auc"] for row in quality] == audit.quality["auc"].tolist()


def test_hostile_labels_are_downloaded_whole(browser, pages, emulate, tmp_path):
    emulate("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    browser.get(pages["hostile"])
    browser.find_element(CSS, ".groups .tools button").click()
    file = tmp_path / "groups-by-group.csv"
    wait_until(file.exists)
    assert sorted(pd.read_csv(file)["group"]) == sorted(HOSTILE)


def test_links_of_findings_lead_to_tables_and_definitions(sites):
    links = sites.find_elements(CSS, ".links a")
    assert len(links) >= 10
    for link in links:
        sites.execute_script("arguments[0].click()", link)
        target = sites.find_element(CSS, ":target")
        assert target.is_displayed()
        top = sites.execute_script("return arguments[0].getBoundingClientRect().top", target)
        assert -1 <= top < 900
        if link.text == "Table":
            assert target.tag_name == "tr" or target.find_elements(CSS, "table")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["sites", "hostile", "comparison"])
def test_axe_finds_no_violation(browser, pages, emulate, axe, name, width, scheme):
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    emulate("Emulation.setDeviceMetricsOverride", metrics)
    emulate(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    browser.get(pages[name])
    violations, unsure = axe()
    assert violations == []
    assert unsure == []  # The next test computes contrasts in SVGs, which axe does not.


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_texts_and_plots(browser, pages, emulate, scheme):
    emulate(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    browser.get(pages["sites"])
    back, texts, lines = browser.execute_script(
        """
        document.querySelectorAll("details").forEach((part) => { part.open = true; });
        const numbers = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
        const behind = (part) => {
          const color = numbers(getComputedStyle(part).backgroundColor);
          return color.length === 3 || !part.parentElement ? color : behind(part.parentElement);
        };
        const own = (part) => [...part.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
        const seen = [...document.querySelectorAll("body *")].filter((p) => p.checkVisibility());
        const color = (part) => getComputedStyle(part)[part.closest("svg") ? "fill" : "color"];
        return [
          numbers(getComputedStyle(document.body).backgroundColor),
          seen.filter((part) => own(part) && !part.closest("script"))
            .map((part) => [part.outerHTML, numbers(color(part)), behind(part)]),
          [...document.querySelectorAll(".plot path")]
            .map((part) => [part.getAttribute("style"), numbers(getComputedStyle(part).stroke)])
            .filter(([style, color]) => /vermillion|blue|green|text/.test(style) && color.length),
        ];
        """
    )
    assert (luminance(back) > 0.5) == (scheme == "light")
    assert len(texts) > 300
    assert len(lines) > 20
    # WCAG 2.2, 1.4.3 and 1.4.11: 4.5 for text, 3 for graphics
    assert [html for html, color, behind in texts if contrast(color, behind) < 4.5] == []
    assert [style for style, color in lines if contrast(color, back) < 3] == []
    # Numbers in the matrix of cross AUCs, on its strongest colors
    figure = Figure()
    text = browser.execute_script("return getComputedStyle(document.body).color")
    matrix = CrossAUCDisplay.from_predictions(
        [0, 1, 0, 1], [0.1, 0.6, 0.3, 0.4], groups=list("aabb"), ax=figure.subplots()
    )
    *color, opacity = matrix.im_.to_rgba(np.array([9.0, -9.0])).T
    for mixed in (opacity * 255 * np.array(color) + (1 - opacity) * np.array(back)[:3, None]).T:
        assert contrast([float(part) for part in re.findall(r"[\d.]+", text)], mixed) >= 4.5


def test_definitions_unfold(sites):
    details = sites.find_elements(CSS, "details")
    assert len(details) == 7
    for element in details:
        text = element.find_element(CSS, "dd, li")
        assert not text.is_displayed()
        element.find_element(CSS, "summary").click()
        assert text.is_displayed()


@pytest.mark.parametrize("name", ["sites", "hostile", "comparison"])
def test_a_phone_scrolls_tables_and_not_the_page(browser, pages, emulate, name):
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    emulate("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(pages[name])
    widths = "const e = document.querySelector(arguments[0]); return [e.scrollWidth, e.clientWidth]"
    page_width, shown = browser.execute_script(widths, "html")
    assert page_width == shown == 390
    table_width, shown = browser.execute_script(widths, ".groups .scroll")
    assert table_width > shown
    # Only parts that scroll have a cue, and narrow plots do not scroll.
    cues = browser.execute_script(
        "return [...document.querySelectorAll('.scroll, .plot')].map((part) => {"
        "const cue = part.parentElement.querySelector('.cue');"
        "return [part.className, part.scrollWidth > part.clientWidth, "
        "cue !== null && cue.checkVisibility()]; })"
    )
    assert all(scrolls == is_cued for _, scrolls, is_cued in cues)
    assert [scrolls for kind, scrolls, _ in cues if kind == "plot"][:3] == [False] * 3
    dots = browser.execute_script(
        "return [...document.querySelector('.plot').querySelectorAll('use')]"
        ".map((dot) => dot.getBoundingClientRect().right)"
    )
    assert 0 < max(dots) < 390


def test_print_shows_whole_tables_and_the_definitions(sites, emulate):
    emulate("Emulation.setEmulatedMedia", {"media": "print"})
    hidden = """
    return [...document.querySelectorAll(".scroll, .plot")].filter(
        (e) => e.scrollHeight > e.clientHeight + 1 && getComputedStyle(e).overflow !== "visible")
    """
    assert sites.execute_script(hidden) == []
    assert all(table.is_displayed() for table in sites.find_elements(CSS, "table"))
    emulate("Emulation.setEmulatedMedia", {"media": ""})
    unfolded = "document.querySelectorAll('details[open]').length"
    sites.execute_script(f"addEventListener('beforeprint', () => {{ window.n = {unfolded} }})")
    printed = base64.b64decode(sites.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert printed.startswith(b"%PDF")
    assert sites.execute_script(f"return [window.n, {unfolded}]") == [7, 0]


@pytest.mark.parametrize("name", ["sites", "hostile", "three columns", "comparison"])
def test_pages_are_printed_in_full_size(browser, pages, emulate, name):
    """An element wider than the paper makes browsers print the whole page smaller, or cut it."""
    browser.get(pages[name])
    paper = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
    printed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", paper)["data"])
    contents = []
    for stream in re.finditer(rb"stream\r?\n", printed):
        with contextlib.suppress(zlib.error):
            contents.append(zlib.decompressobj().decompress(printed[stream.end() :]))
    printed_pages = [content for content in contents if b" Tf" in content and b" cm\n" in content]
    assert len(printed_pages) > 3
    for content in printed_pages:
        # The first scales are points by dot and dots by pixel; 3/4 point is one pixel of CSS.
        first, second = re.findall(rb"([\d.]+) 0 0 -?[\d.]+ [-\d.]+ [-\d.]+ cm", content)[:2]
        assert float(first) * float(second) == pytest.approx(0.75, rel=0.005)


def test_nothing_is_loaded_and_no_other_script_runs(sites):
    assert sites.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert sites.get_log("browser") == []
    sites.execute_script(
        "const script = document.createElement('script'); script.text = 'window.ran = 1';"
        "document.body.append(script)"
    )
    assert sites.execute_script("return window.ran") is None
    fetched = sites.execute_async_script(
        "const done = arguments[0]; fetch('data:,x').then(() => done(true), () => done(false))"
    )
    assert not fetched
    refusals = sites.get_log("browser")
    assert refusals
    assert all("Content Security Policy" in entry["message"] for entry in refusals)
