"""The explorer within the site: its page includes the body of the explorer's own page."""

import re
import shutil
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "explorer"


def body():
    """Return the part of the own page between its marks, with the links to styles and scripts."""
    page = (FOLDER / "index.html").read_text(encoding="utf-8")
    files = re.findall(r'^ *((?:<link rel="stylesheet"|<script).*)$', page, re.MULTILINE)
    _, _, part = page.partition("<!-- explorer: begin -->")
    part, _, _ = part.partition("<!-- explorer: end -->")
    return re.sub(r'(href|src)="', r'\1="explorer/', "\n".join(files)) + part


def write(app):
    """Write the file that the page of the site includes."""
    path = Path(app.srcdir) / "generated" / "explorer.html"
    path.parent.mkdir(exist_ok=True)
    path.write_text(body(), encoding="utf-8")


def copy(app, exception):
    """Copy the own page and the files of both pages into the site."""
    if exception is None and app.builder.format == "html":
        shutil.copytree(FOLDER, Path(app.outdir) / "explorer", dirs_exist_ok=True)


def setup(app):
    """Connect the functions above to the build."""
    app.connect("builder-inited", write)
    app.connect("build-finished", copy)
