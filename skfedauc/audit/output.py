"""What audits and comparisons return: text, notebook, Markdown, JSON and a page.

All outputs render one `Document`; none of them computes, selects or words anything.
"""

from __future__ import annotations

import json
import os
from typing import Any

from skfedauc._output_file import check_target, write_whole
from skfedauc.audit.document import Document
from skfedauc.audit.page import rendered


class Output:
    """Outputs for an object with a document."""

    @property
    def document(self) -> Document:
        """What all outputs hold: the first screen, the appendix and the numbers."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n".join(self.document.lines())

    def _repr_html_(self) -> str:
        """Return the first screen, for notebooks."""
        return rendered(self.document, "screen.html.jinja")

    def to_dict(self) -> dict[str, Any]:
        """Return the answers, tables, sentences and facts as plain values.

        Returns
        -------
        dict
            The `facts`, the `headline`, the answers and left out groups by column, and the
            `tolerances`. Undefined values are None.
        """
        return self.document.data

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return `to_dict` as JSON, or write it to a file.

        Parameters
        ----------
        path : str or os.PathLike, default=None
            File to write, replaced only when the document is complete. None returns the document.

        Returns
        -------
        str or None
            The document; None with a `path`.
        """
        return _text_or_file(as_json(self.to_dict()), path)

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return the first screen, the tables and the definitions in Markdown, for a model card.

        Parameters
        ----------
        path : str or os.PathLike, default=None
            File to write, replaced only when the text is complete. None returns the text.

        Returns
        -------
        str or None
            The text; None with a `path`.
        """
        return _text_or_file(self.document.to_markdown(), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return a self-contained page, or write it: one screen, and an appendix that folds.

        Parameters
        ----------
        path : str or os.PathLike, default=None
            File to write, replaced only when the page is complete. None returns the page.

        Returns
        -------
        str or None
            The page; None with a `path`.

        Raises
        ------
        ImportError
            If jinja2 is missing; ``pip install "skfedauc[html]"`` installs it.
        OSError
            If writing the file fails. An existing file then remains unchanged.
        """
        if path is not None:
            check_target(path)
        return _text_or_file(page_of(self), path)


def page_of(result: Output) -> str:
    """Return the text of the page that `to_html` writes."""
    return rendered(result.document, "page.html.jinja")


def as_json(document: dict[str, Any]) -> str:
    """Return nested plain values as JSON, without NaN or infinite numbers."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _text_or_file(text: str, path: str | os.PathLike[str] | None) -> str | None:
    if path is None:
        return text
    check_target(path)
    write_whole(path, text)
    return None
