"""Sphinx extension that writes formulas as MathML, which browsers and screen readers read.

The formulas need no script and no other host. docutils converts the TeX. The font, STIX Two Math,
is a part of the package ziamath. Without a font for formulas, integrals and sums are too small.
"""

from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

# Latin, Greek, punctuation, arrows, operators, braces, and italic Latin and Greek
CHARACTERS = [
    *range(0x20, 0x7F),
    *(0xB1, 0xB7, 0xD7),
    *range(0x391, 0x3CA),
    *range(0x2010, 0x2040),
    0x210E,  # italic h
    *range(0x2190, 0x2194),
    *range(0x2200, 0x2300),
    *(0x23DE, 0x23DF),
    *range(0x1D434, 0x1D468),
    *range(0x1D6E2, 0x1D71C),
]


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


def write_font(app, exception):
    """Write the font of formulas, with the characters that formulas need and its license."""
    if exception is not None or app.builder.format != "html":
        return
    import ziamath
    from fontTools import subset
    from fontTools.ttLib import TTFont

    font = TTFont(Path(ziamath.__file__).parent / "fonts" / "STIXTwoMath-Regular.ttf")
    # `ssty` has the small forms of subscripts and superscripts.
    options = subset.Options(layout_features=["ccmp", "dtls", "flac", "ssty"], name_IDs=["*"])
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=CHARACTERS)
    subsetter.subset(font)
    font.flavor = "woff"
    font.save(Path(app.outdir) / "_static" / "formulas.woff")


def setup(app):
    """Register the writer of formulas, which `html_math_renderer` selects."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect("build-finished", write_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
