"""Configuration of the documentation; CONTRIBUTING.md has the command that builds it."""

import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent
# The modules that build the site, those that make data, and `benchmarks`
sys.path[:0] = [str(DOCS / "build_tools"), str(DOCS / "data"), str(DOCS.parent)]

import architecture  # noqa: E402
import benchmark_plots  # noqa: E402
import calibration_pages  # noqa: E402
import density_plots  # noqa: E402
import display_images  # noqa: E402
import explorer_page  # noqa: E402
import gallery_images  # noqa: E402
import inventories  # noqa: E402
import landing  # noqa: E402
import make_held_out  # noqa: E402
from docutils import nodes  # noqa: E402

import skfedauc  # noqa: E402

project = "skfedauc"
author = "The skfedauc developers"
copyright = f"{author}, BSD-3-Clause"
version = release = skfedauc.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "generated_pages",
    "lite",
    "mathml",
]
root_doc = "index"
exclude_patterns = ["_build", "_templates", "examples", "explorer", "generated", "**/README.rst"]
templates_path = ["_templates"]
nitpicky = True
toc_object_entries_show_parents = "hide"
default_role = "autolink"  # a link if the word is an object, otherwise emphasis
# Ordinary words in docstrings that are also names of modules, or of folders of the documentation.
ORDINARY = (
    "audit|boosting|cluster_counts|counts|datasets|metrics|mitigation|plotting|report|scoring|"
    "data|examples|explanation|explorer|reference|tutorials"
)
nitpick_ignore_regex = [("py:obj", f"({ORDINARY})")]

# Pages in Markdown --------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "attrs_inline", "deflist", "dollarmath"]
# "$5 and $6" is text.
myst_dmath_allow_digits = myst_dmath_allow_space = False
myst_heading_anchors = 3

# The API ------------------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"  # docstrings have the types
autodoc_class_signature = "mixed"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists them
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # only the names below and skfedauc's own names become links
numpydoc_xref_aliases = {
    "DataFrame": "pandas.DataFrame",
    "Series": "pandas.Series",
    "pandas.DataFrame": "pandas.DataFrame",
    "pandas.Series": "pandas.Series",
    "ndarray": "numpy.ndarray",
    "GroupAUC": "skfedauc.GroupAUC",
    "ScoreCounts": "skfedauc.ScoreCounts",
}

# Inventories are written from a list, so that the build needs no network and does not depend on
# other sites.
intersphinx_mapping = inventories.write(DOCS / "generated" / "inventories")


# The gallery --------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "within_subsection_order": "gallery_images.Order",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("skfedauc",),
    "reference_url": {"skfedauc": None},
    "reset_modules": ("matplotlib", "gallery_images.reset"),
    "image_scrapers": ("gallery_images.scraper",),
    "reset_modules_order": "both",
    "abort_on_example_error": True,
    "run_stale_examples": True,  # the package may have changed since they ran
    "download_all_examples": False,
    "thumbnail_size": (520, 320),
    "show_memory": False,
    "write_computation_times": False,  # that page would load scripts from other sites
    "show_signature": False,
    "min_reported_time": 1,
    "remove_config_comments": True,
}

# Appearance ---------------------------------------------------------------------------------

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"skfedauc {release}"
html_static_path = ["_static"]
html_css_files = ["skfedauc.css", "landing.css", "decision_trees.css"]
html_js_files = ["names.js"]
html_search_scorer = str(DOCS / "build_tools" / "search.js")
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}
html_copy_source = False
html_domain_indices = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "skfedauc"},
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "explorer": [], "contributing": [], "changelog": []}
copybutton_exclude = ".linenos, .gp, .go"  # prompts and outputs are not copied


# Generated in every build --------------------------------------------------------------------


def skip_inherited(app, what, name, obj, skip, options):
    """Skip members that are inherited from scikit-learn."""
    return skip or str(getattr(obj, "__module__", "")).startswith("sklearn.")


def refer_to_public_name(app, env, node, contnode):
    """Resolve a public name that a docstring mentions without its package."""
    if node.get("refdomain") != "py" or node["reftarget"].startswith("skfedauc."):
        return None
    for module in ("skfedauc", *(f"skfedauc.{name}" for name in skfedauc._PUBLIC_MODULES)):
        found = env.get_domain("py").resolve_xref(
            env,
            node["refdoc"],
            app.builder,
            node["reftype"],
            f"{module}.{node['reftarget']}",
            node,
            contnode,
        )
        if found is not None:
            return found
    return None


def draw_plots(app):
    """Write the plots that pages include."""
    folder = DOCS / "generated"
    folder.mkdir(exist_ok=True)
    plots = {
        "architecture": architecture.svg,
        "landing": landing.plot,
        "threshold": density_plots.threshold,
        "cases": density_plots.cases,
        "benchmark_times": benchmark_plots.times,
        "benchmark_memory": benchmark_plots.memory,
    }
    for name, draw in plots.items():
        (folder / f"{name}.html").write_text(draw(), encoding="utf-8")
    display_images.save()


def write_command_line(app):
    """Write what the commands print as help."""
    text = ""
    for command in ("audit", "compare", "count", "merge", "report", "show"):
        words = [sys.executable, "-m", "skfedauc", command, "--help"]
        help_text = subprocess.run(
            words, env={**os.environ, "COLUMNS": "90"}, check=True, capture_output=True, text=True
        ).stdout
        text += f"## {command}\n\n```text\n{help_text}```\n\n"
    (DOCS / "generated" / "command_line.md").write_text(text, encoding="utf-8")


def write_calibration(app):
    """Write the pages of the topics of calibration.md."""
    from benchmarks.calibration import TABLES

    calibration_pages.write({table.title: table.plots for table in TABLES if table.plots})


def link_calibration(app, docname, source):
    """Reduce calibration.md to its overview, and let links to its headings lead to their pages."""
    text = calibration_pages.SOURCE.read_text(encoding="utf-8")
    if docname == "reference/calibration":
        source[0] = calibration_pages.overview(text)
    elif Path(app.env.doc2path(docname)).suffix == ".md":
        source[0] = calibration_pages.with_links(source[0], calibration_pages.places(text))


def keep_percent_signs(app, doctree):
    """Keep a number and its percent sign on one line."""
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, nodes.literal | nodes.FixedTextElement | nodes.raw):
            together = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)
            if together != text:
                text.parent.replace(text, nodes.Text(together))


def correct_roles(app, page, template, context, doctree):
    """Mend the HTML of pandas and docutils, in which axe finds errors."""
    for wrong, right in (
        ("<th></th>", "<td></td>"),
        ('<th class="head"><p></p></th>', '<td class="head"></td>'),
        (' role="doc-biblioentry"', ""),
        ('<div role="list" class="citation-list">', '<div class="citation-list">'),
    ):
        context["body"] = context.get("body", "").replace(wrong, right)


def make_signed_off_audit(app, exception):
    """Make the page of the audit that a tutorial signs off, by the code of the tutorial."""
    if exception is None and app.builder.format == "html":
        folder = Path(app.outdir) / "signed_off_audit"
        folder.mkdir(exist_ok=True)
        make_held_out.audit().to_html(folder / "audit.html")


def setup(app):
    """Connect the functions above to the build."""
    app.connect("autodoc-skip-member", skip_inherited)
    app.connect("missing-reference", refer_to_public_name)
    app.connect("builder-inited", draw_plots)
    app.connect("builder-inited", write_command_line)
    app.connect("builder-inited", write_calibration)
    explorer_page.setup(app)
    # sphinx-gallery runs the examples in the same event, with priority 500.
    app.connect("builder-inited", gallery_images.save_thumbnails, priority=600)
    # Sphinx collects images in the same event, with priority 500.
    app.connect("doctree-read", gallery_images.add_dark_thumbnails, priority=400)
    app.connect("source-read", link_calibration)
    app.connect("doctree-read", keep_percent_signs)
    app.connect("html-page-context", correct_roles)
    app.connect("build-finished", make_signed_off_audit)
