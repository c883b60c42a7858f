"""Sphinx extension that writes formulas as MathML, which browsers and screen readers read.

The formulas need no script, no font and no other host. docutils converts the TeX.
"""

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def mathml(tex, *, block=False):
    """Return the MathML of a formula in TeX."""
    return latex2mathml.tex2mathml(tex, as_block=block)


def _converted(node, block):
    try:
        return mathml(node.astext(), block=block)
    except MathError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        return ""


def visit_math(translator, node):
    """Write a formula within a line."""
    translator.body.append(_converted(node, block=False))
    raise nodes.SkipNode


def visit_math_block(translator, node):
    """Write a formula on its own lines."""
    translator.body.append(f'<div class="formula">{_converted(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Register the writer of formulas, which `html_math_renderer` selects."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
