"""Pages of calibration.md, which is one file in the repository.

Each heading of the first level starts the part of a topic, which becomes a page of the folder
`FOLDER`. The part above the first topic remains as the overview. Links to headings of
calibration.md lead to the page with the heading.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import calibration_plots

if TYPE_CHECKING:
    from benchmarks.calibration.table import Plot

SOURCE = Path(__file__).parents[1] / "reference" / "calibration.md"
FOLDER = SOURCE.with_suffix("")
# A link to a heading of the file, from a page in Markdown
LINK = re.compile(r"\]\((?P<path>(?:[\w./]*/)?calibration\.md)?#(?P<slug>[\w-]+)\)")
TOPICS = """\
```{{toctree}}
:hidden:

{pages}
```
"""


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and myst_parser form anchors."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def parts(source: str) -> dict[str, str]:
    """Return the topics of the file by the names of their pages, and the overview by ""."""
    overview, *topics = re.split(r"\n(?=# )", source)
    return {"": overview} | {
        anchor(topic.split("\n")[0].removeprefix("# ")).replace("-", "_"): topic for topic in topics
    }


def places(source: str) -> dict[str, str]:
    """Return the page of each heading, by the anchor of the heading."""
    return {
        anchor(heading): name
        for name, part in parts(source).items()
        for heading in re.findall(r"^##? (.+)$", part, re.MULTILINE)
    }


def with_links(text: str, pages: dict[str, str], folder: str | None = None) -> str:
    """Return a page in Markdown with links to the headings of calibration.md on their pages.

    Parameters
    ----------
    text : str
    pages : dict
        The page of each heading, from `places`.
    folder : str, optional
        The path to `FOLDER` from a page that is a part of calibration.md. Links to other headings
        of such a page have no path.
    """

    def on_page(link: re.Match[str]) -> str:
        path, slug = link["path"], link["slug"]
        if slug not in pages or (path is None and folder is None):
            return link[0]
        start = folder if path is None else path.removesuffix(".md") + "/"
        return f"]({start}{pages[slug]}.md#{slug})" if pages[slug] else link[0]

    return LINK.sub(on_page, text)


def overview(source: str) -> str:
    """Return the overview with links to the pages of the topics.

    Its table has the class "overview", by which phones show the cells of a row below each other.
    """
    names = [name for name in parts(source) if name]
    toctree = TOPICS.format(pages="\n".join(f"calibration/{name}" for name in names))
    text = with_links(parts(source)[""], places(source), folder="calibration/")
    text = calibration_plots.TABLE.sub(r"::::{div} overview\n\n\g<0>\n::::\n", text)
    return f"{text}\n{toctree}"


def write(plots: dict[str, list[Plot]]) -> None:
    """Write the pages of the topics with the plots of tables, and remove pages of other topics.

    Pages that remain the same are not written, so that Sphinx does not read them again.
    """
    source = SOURCE.read_text(encoding="utf-8")
    FOLDER.mkdir(exist_ok=True)
    pages = {
        FOLDER / f"{name}.md": calibration_plots.with_plots(
            with_links(part, places(source), folder=""), plots
        )
        for name, part in parts(source).items()
        if name
    }
    for path in set(FOLDER.glob("*.md")) - set(pages):
        path.unlink()
    for path, text in pages.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
