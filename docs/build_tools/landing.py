"""The plot and the images of the landing page.

``plot()`` draws the AUCs that the first block of code of `index.md` computes. ``python
docs/build_tools/landing.py SITE`` opens the audit of a built site in Chromium, and writes its top
to `_static/audit_light.png` and `_static/audit_dark.png`.
"""

import contextlib
import html
import io
import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1]
WIDTH, LABELS, LINE, TOP = 560, 150, 40, 8
LOWEST, HIGHEST = 0.47, 0.93  # the axis
TICKS = (0.5, 0.6, 0.7, 0.8, 0.9)


def report():
    """Return the report that the landing page prints."""
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    code = re.search(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)[1]
    namespace = {"__name__": "landing"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "index.md", "exec"), namespace)
    return namespace["report"]


def place(auc):
    """Return the horizontal position of an AUC."""
    if not LOWEST < auc < HIGHEST:
        raise ValueError(f"the axis from {LOWEST} to {HIGHEST} does not contain {auc}")
    return round(LABELS + (WIDTH - LABELS - 50) * (auc - LOWEST) / (HIGHEST - LOWEST), 1)


def plot():
    """Return a plot of the pooled AUC, the group AUCs and their average with intervals, as SVG."""
    shown = report()
    groups = shown.confidence_intervals().sort_values("auc", ascending=False)
    statistics = shown.confidence_intervals(of="statistics")
    pooled, macro = (
        statistics.loc[name, ["value", "ci_low", "ci_high"]] for name in ("pooled", "macro")
    )
    lines = [("all rows together", *pooled, "pooled")]
    limits = groups[["auc", "ci_low", "ci_high"]].itertuples(name=None)
    lines += [(str(name), *of_group, "group") for name, *of_group in limits]
    lines += [("average of groups", *macro, "average")]
    bottom = TOP + LINE * len(lines)

    def upright(auc, kind):
        return (
            f'<line class="{kind}" x1="{place(auc)}" y1="{TOP}" x2="{place(auc)}" y2="{bottom}"/>'
        )

    def below(x, y, text):
        return f'<text class="axis" x="{x}" y="{bottom + y}" text-anchor="middle">{text}</text>'

    shapes = [upright(tick, "tick") + below(place(tick), 18, tick) for tick in TICKS]
    shapes.append(upright(shown.pooled, "pooled"))
    for i, (name, auc, low, high, kind) in enumerate(lines):
        x, y = place(auc), TOP + LINE * i + 18
        mark = f'<circle cx="{x}" cy="{y}" r="7"/>'
        if kind == "average":
            mark = f'<path d="M{x - 9},{y} l9,-9 l9,9 l-9,9 z"/>'
        shapes += [
            f'<g class="{kind}"><text class="name" x="0" y="{y + 6}">{html.escape(name)}</text>',
            f'<line class="interval" x1="{place(low)}" y1="{y}" x2="{place(high)}" y2="{y}"/>',
            f'{mark}<text class="value" x="{WIDTH}" y="{y + 6}" text-anchor="end">{auc:.2f}</text>',
            "</g>",
        ]
    named = ", ".join(
        f"{name} {auc:.2f}, {low:.2f} to {high:.2f}" for name, auc, low, high, _ in lines
    )
    middle = (place(TICKS[0]) + place(TICKS[-1])) / 2
    axis = below(middle, 38, "AUC of one model, with 95 % interval")
    return (
        f'<div class="landing"><svg viewBox="0 0 {WIDTH} {bottom + 42}" role="img" '
        f'aria-label="AUC of one model with 95 % intervals: {named}">'
        f"{''.join(shapes)}{axis}</svg></div>"
    )


def take_images(site):
    """Write the top of the audit page of a built site as images, light and dark."""
    from PIL import Image
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    options.add_argument("--headless=new")
    options.add_argument("--no-sandbox")
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        for scheme in ("light", "dark"):
            for command, settings in (
                (
                    "Emulation.setDeviceMetricsOverride",
                    {"width": 900, "height": 612, "deviceScaleFactor": 2, "mobile": False},
                ),
                (
                    "Emulation.setEmulatedMedia",
                    {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
                ),
                ("Emulation.setScrollbarsHidden", {"hidden": True}),
            ):
                driver.execute_cdp_cmd(command, settings)
            driver.get((Path(site) / "signed_off_audit" / "audit.html").resolve().as_uri())
            image = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
            path = DOCS / "_static" / f"audit_{scheme}.png"
            image.quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
            print(path, image.size, f"{path.stat().st_size / 1000:.0f} kB")
    finally:
        driver.quit()


if __name__ == "__main__":
    take_images(sys.argv[1])
