"""Follow every link within a built site: ``python docs/check_links.py docs/_build/html``.

Sphinx checks the links that it creates. This script also checks links in raw HTML, in images and in
copied pages. It lists missing pages and anchors, and addresses of other sites with a placeholder,
and exits with code 1 if there are any.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit


class Page(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the links and anchors of a tag."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def broken(site: Path) -> list[str]:
    """List links without a target, each with its page."""
    files = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    pages = {path.resolve(): Page(path) for path in files}
    found = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if "$" in link:
                    found.append(f"{path.relative_to(site.resolve())}: {link}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            # A fragment such as #n_rows=5 holds settings for the page, not an anchor.
            anchor = "" if "=" in parts.fragment else unquote(parts.fragment)
            is_there = target.is_file() and (
                not anchor or target not in pages or anchor in pages[target].anchors
            )
            # The notebook that a page of JupyterLite opens
            for notebook in parse_qs(parts.query).get("path", ()):
                is_there = is_there and (target.parents[1] / "files" / notebook).is_file()
            if not is_there:
                found.append(f"{path.relative_to(site.resolve())}: {link}")
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links")
    return found


if __name__ == "__main__":
    lost = broken(Path(sys.argv[1]))
    print("\n".join(lost))
    sys.exit(bool(lost))
