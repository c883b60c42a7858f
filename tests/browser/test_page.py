"""The page of an audit in a browser: reading, folding, printing, and labels as text."""

import base64
import contextlib
import json
import re
import zlib

import numpy as np
import pandas as pd
import pytest
from colors import contrast, luminance
from matplotlib.figure import Figure
from waiting import open_details

from skfedauc import FairnessAudit
from skfedauc.plotting import CrossAUCDisplay

# WebDriver's name of a search strategy
CSS = "css selector"
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&lt;b&gt;", "$x$"]
NAMES = ["sites", "hostile", "three columns", "intersection", "comparison"]
PAPERS = {"A4": (8.27, 11.69), "Letter": (8.5, 11.0)}


def rows_of(labels, n=1600, n_small=0, shift=0.4):
    """Return labels, scores and groups; the last groups have five rows each."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, len(labels) - n_small, n)
    group[: 5 * n_small] = np.repeat(np.arange(len(labels) - n_small, len(labels)), 5)
    y = rng.integers(0, 2, n)
    score = 1 / (1 + np.exp(-(rng.normal(size=n) * (1 + group % 2) + 2 * y + shift * (group % 3))))
    return y, score, [labels[g] for g in group]


def by_columns(intersections=(), n=2000):
    """Return an audit by columns whose labels take two lines on paper."""
    rng = np.random.default_rng(1)
    more = ["Amer-Indian-Eskimo", "Asian-Pac-Islander"] if intersections else []
    labels = {
        "sex": ["female", "male"],
        "age group": ["18 to 29", "30 to 64", "65 and older"],
        "race": ["African-American", "Caucasian", "Hispanic or Latino", *more],
    }
    groups = pd.DataFrame({name: rng.choice(found, n) for name, found in labels.items()})
    y = rng.integers(0, 2, n)
    score = 1 / (1 + np.exp(-(rng.normal(size=n) + y + (groups["sex"] == "male"))))
    return FairnessAudit.from_predictions(
        y,
        score,
        groups=groups if not intersections else groups[["sex", "race"]],
        intersections=intersections,
        min_per_class=5,
        tolerances={"difference": 0.05, "demographic_parity_ratio": 0.8},
    )


@pytest.fixture(scope="module")
def audits():
    sites = [f"site {g}" for g in range(15)]
    y, score, groups = rows_of(sites, n_small=6)
    audit = FairnessAudit.from_predictions(y, score, groups=groups)
    other = FairnessAudit.from_predictions(y, rows_of(sites, n_small=6, shift=0)[1], groups=groups)
    y, score, groups = rows_of(HOSTILE)
    return {
        "sites": audit,
        "hostile": FairnessAudit.from_predictions(y, score, groups=groups),
        "three columns": by_columns(),
        "intersection": by_columns([("sex", "race")]),
        "comparison": audit.compare(other),
    }


@pytest.fixture(scope="module")
def pages(audits, tmp_path_factory):
    """Return addresses of pages; each page is written once."""
    folder = tmp_path_factory.mktemp("pages")
    for name, audit in audits.items():
        audit.to_html(folder / f"{name}.html")
    return {name: (folder / f"{name}.html").as_uri() for name in audits}


@pytest.fixture
def sites(browser, pages):
    browser.get(pages["sites"])
    return browser


@pytest.mark.parametrize("name", NAMES)
def test_the_first_screen_has_the_lines_of_the_terminal(browser, pages, audits, name):
    browser.get(pages[name])
    document = audits[name]._document
    title, headline, promise = (document.data[key] for key in ("title", "headline", "promise"))
    shown = " ".join(browser.find_element(CSS, "main").text.split())
    assert browser.find_element(CSS, "h1").text == title
    said = [headline, promise]
    said += [text for card in document.cards for text in card.notes]
    said += [cell.text for card in document.cards for cell in card.answers]
    said += [cell.text for row in (*document.also, *document.tolerances) for cell in row.cells]
    assert len(said) > 8
    for text in said:
        assert " ".join(text.split()) in shown
    assert "Auditor, date" in shown


@pytest.mark.parametrize("width", [1280, 390])
def test_groups_come_lowest_first_with_their_rows(browser, pages, audits, set_width, width):
    set_width(width, is_mobile=width < 500)
    browser.get(pages["sites"])
    plotted = [text.text for text in browser.find_elements(CSS, ".card .plot g text")]
    labels, n_rows = plotted[::2], plotted[1::2]
    table = audits["sites"].by_group("group").sort_values("auc")
    sizes = table["n_positives"] + table["n_negatives"]
    assert len(labels) == 9
    assert labels == table.index.tolist()
    assert n_rows == [f"{n:,}" for n in sizes]
    (note,) = [n.text for n in browser.find_elements(CSS, ".note") if "Left out" in n.text]
    assert note.endswith("and 1 more group with 5 rows.")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_does_not_scroll_sideways(browser, pages, set_width, name, width):
    set_width(width, is_mobile=width < 500)
    browser.get(pages[name])
    open_details(browser)
    page_width, shown = browser.execute_script(
        "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
    )
    assert page_width == shown
    cut = browser.execute_script(
        """
        return [...document.querySelectorAll("main *, aside *")].filter((part) => {
          const scrolls = part.closest(".scroll");
          const box = part.getBoundingClientRect();
          return !scrolls && box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
        }).map((part) => part.outerHTML.slice(0, 200));
        """
    )
    assert cut == []


def test_the_appendix_folds(sites, audits):
    tables = sites.find_elements(CSS, "aside table")
    assert len(tables) == len(audits["sites"]._document.tables) >= 6
    assert not any(table.is_displayed() for table in tables)
    sites.find_element(CSS, "summary").click()
    assert all(table.is_displayed() for table in tables)
    for table, shown in zip(audits["sites"]._document.tables, tables, strict=True):
        cells = [cell.text for cell in shown.find_elements(CSS, "tbody tr:first-child > *")]
        assert cells == [" ".join(text.split()) for text in table.rows[0]]


def test_all_numbers_are_downloaded(sites, audits):
    address = sites.find_element(CSS, "a[download]").get_attribute("href")
    assert address.startswith("data:application/json;base64,")
    document = json.loads(base64.b64decode(address.partition(",")[2]))
    assert document == json.loads(audits["sites"].to_json())


@pytest.mark.parametrize("width", [1280, 390])
def test_labels_stay_text(browser, pages, set_width, width):
    set_width(width, is_mobile=width < 500)
    browser.get(pages["hostile"])
    open_details(browser)
    # An open alert would raise an error here.
    assert browser.find_elements(CSS, "img, script") == []
    body = browser.find_element(CSS, "body").text
    plotted = browser.execute_script(
        "return [...document.querySelectorAll('.card svg text')].map((text) => text.textContent)"
    )
    for label in HOSTILE:
        assert label in body
    assert "$x$" in plotted
    assert any(text.startswith("<script>") for text in plotted)
    assert any(text.startswith('"><img') for text in plotted)


def test_nothing_is_loaded_and_no_script_runs(sites):
    assert sites.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert sites.find_elements(CSS, "script, [onclick], link[rel=stylesheet]") == []
    assert sites.get_log("browser") == []
    sites.execute_script(
        "const script = document.createElement('script'); script.text = 'window.ran = 1';"
        "document.body.append(script)"
    )
    assert sites.execute_script("return window.ran") is None
    refusals = sites.get_log("browser")
    assert refusals
    assert all("Content Security Policy" in entry["message"] for entry in refusals)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_no_violation(browser, pages, emulate, set_width, axe, name, width, scheme):
    set_width(width, is_mobile=width < 500)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    emulate("Emulation.setEmulatedMedia", {"features": features})
    browser.get(pages[name])
    violations, unsure = axe()
    assert violations == []
    # The next test computes all contrasts, of which axe does not decide some.
    assert [what for what in unsure if what[0] != "color-contrast"] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_contrast_of_texts_and_plots(browser, pages, emulate, name, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    emulate("Emulation.setEmulatedMedia", {"features": features})
    browser.get(pages[name])
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
          [...document.querySelectorAll("svg .ci, svg .curve, svg .null, svg .pooled")]
            .filter((part) => part.checkVisibility() && !part.closest(".few"))
            .map((part) => [part.outerHTML, numbers(getComputedStyle(part).stroke)]),
        ];
        """
    )
    assert (luminance(back) > 0.5) == (scheme == "light")
    assert len(texts) > 150
    assert len(lines) > 8
    # WCAG 2.2, 1.4.3 and 1.4.11: 4.5 for text, 3 for graphics
    assert [html for html, color, behind in texts if contrast(color, behind) < 4.5] == []
    assert [style for style, color in lines if contrast(color, back) < 3] == []
    # Numbers in the matrix of cross AUCs, on its strongest colors
    figure = Figure()
    text = browser.execute_script("return getComputedStyle(document.querySelector('main')).color")
    matrix = CrossAUCDisplay.from_predictions(
        [0, 1, 0, 1], [0.1, 0.6, 0.3, 0.4], groups=list("aabb"), ax=figure.subplots()
    )
    *color, opacity = matrix.im_.to_rgba(np.array([9.0, -9.0])).T
    for mixed in (opacity * 255 * np.array(color) + (1 - opacity) * np.array(back)[:3, None]).T:
        assert contrast([float(part) for part in re.findall(r"[\d.]+", text)], mixed) >= 4.5


def printed(browser, paper):
    """Return the contents of the printed pages."""
    width, height = PAPERS[paper]
    size = {"paperWidth": width, "paperHeight": height, "preferCSSPageSize": True}
    file = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", size)["data"])
    n_pages = len(re.findall(rb"/Type\s*/Page\b", file))
    contents = []
    for stream in re.finditer(rb"stream\r?\n", file):
        with contextlib.suppress(zlib.error):
            contents.append(zlib.decompressobj().decompress(file[stream.end() :]))
    return n_pages, [content for content in contents if b" Tf" in content and b" cm\n" in content]


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("name", NAMES)
def test_the_first_screen_is_one_printed_page(browser, pages, name, paper):
    browser.get(pages[name])
    assert printed(browser, paper)[0] == 1
    open_details(browser)
    n_pages, contents = printed(browser, paper)
    assert n_pages > 2
    # An element wider than the paper makes browsers print the whole page smaller, or cut it. The
    # first scales are points by dot and dots by pixel; 3/4 point is one pixel of CSS.
    assert len(contents) >= n_pages
    for content in contents[:n_pages]:
        first, second = re.findall(rb"([\d.]+) 0 0 -?[\d.]+ [-\d.]+ [-\d.]+ cm", content)[:2]
        assert float(first) * float(second) == pytest.approx(0.75, rel=0.005)


def test_print_shows_whole_tables(sites, emulate):
    open_details(sites)
    emulate("Emulation.setEmulatedMedia", {"media": "print"})
    cut = """
    return [...document.querySelectorAll(".scroll")].filter(
        (e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.getAttribute("aria-label"))
    """
    assert sites.execute_script(cut) == []
