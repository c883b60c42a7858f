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
WIDTH, LABELS, LINE, TOP = 460, 150, 40, 30
LOWEST, HIGHEST = 0.65, 0.87  # the axis


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
    return LABELS + (WIDTH - LABELS - 10) * (auc - LOWEST) / (HIGHEST - LOWEST)


def plot():
    """Return a plot of the pooled AUC, the group AUCs and their average as SVG."""
    shown = report()
    groups = shown.by_group["auc"].sort_values(ascending=False)
    lines = [("all rows together", shown.pooled, "pooled")]
    lines += [(str(name), auc, "group") for name, auc in groups.items()]
    lines += [("average of groups", shown.average("macro"), "average")]
    bottom = TOP + LINE * len(lines)
    x = place(shown.pooled)
    shapes = [f'<line class="pooled" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom - 8}"/>']
    for i, (name, auc, kind) in enumerate(lines):
        x, y = place(auc), TOP + LINE * i + 12
        side, anchor = (14, "start") if kind == "pooled" else (-14, "end")
        mark = f'<circle cx="{x:.1f}" cy="{y}" r="8"/>'
        if kind == "average":
            mark = f'<path d="M{x - 10:.1f},{y} l10,-10 l10,10 l-10,10 z"/>'
        shapes.append(
            f'<g class="{kind}"><text class="name" x="0" y="{y + 6}">{html.escape(name)}</text>'
            f'{mark}<text class="value" x="{x + side:.1f}" y="{y + 6}" text-anchor="{anchor}">'
            f"{auc:.2f}</text></g>"
        )
    named = ", ".join(f"{name} {auc:.2f}" for name, auc, _ in lines)
    return (
        f'<div class="landing"><svg viewBox="0 0 {WIDTH} {bottom}" role="img" '
        f'aria-label="AUC of one model: {named}">'
        f'<text class="axis" x="{WIDTH - 10}" y="14" text-anchor="end">AUC of one model</text>'
        f"{''.join(shapes)}</svg></div>"
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
