"""The script that opens the pages of the built documentation finds faults of the pages."""

from test_docs import load

START = '<html lang="en"><head><title>A page</title><link rel="icon" href="data:,"></head><body>'
BAD = f"""<main><h1>A page</h1><p style="color: #bbb; background: #fff">Pale</p>
<p style="width: 900px">Wide</p><div style="overflow: hidden">LongName{"x" * 99}</div>
<div style="overflow: auto">Scrolled{"x" * 99}</div><img src="missing.png" alt=""></main>"""
# Titles as search results, one of them twice
RESULTS = """<div id="search-results"><h2>Search Results</h2><ul class="search">
<li><a href="a/b.html?highlight=x">b</a><p class="context">A sentence of the page, which is long.
</p></li><li class="kind-object"><a href="a/b.html#c">c</a><p class="context">
Function. Return the sum of two numbers.</p></li>
<li><a href="d.html">Page d</a><p class="context">Page d</p></li></ul></div>"""


def test_what_is_wrong_with_a_page_is_found(browser, serve, tmp_path):
    check_pages = load("check_pages")
    for name, body in {
        "good": "<main><h1>A page</h1></main>",
        "bad": BAD,
        "search": RESULTS,
    }.items():
        page = f"<!doctype html>{START}{body}</body></html>"
        (tmp_path / f"{name}.html").write_text(page, encoding="utf-8")
    address = serve(tmp_path)
    try:
        assert list(check_pages.wrong_on_page(browser, address, "good")) == []
        found = "\n".join(check_pages.wrong_on_page(browser, address, "bad"))
        expected = ["bad, 390: needs 9", "1280, dark: color-contrast", "missing.png"]
        for part in [*expected, "bad, 390: cuts 'LongName"]:
            assert part in found
        assert "cuts 'Scrolled" not in found
        assert check_pages.first_results(browser, address, "x") == ["a/b", "d"]
        check_pages.SEARCHES = {"x": ["d"], "y": ["e"]}
        poor = "the page 'Page d' has no sentence as excerpt"
        assert list(check_pages.wrong_searches(browser, address)) == [
            f"search for 'x': {poor}",
            "search for 'y' finds ['a/b', 'd'], expected one of ['e']",
            f"search for 'y': {poor}",
        ]
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
