"""Order and images of the gallery: each plot is saved twice, for the light and the dark theme.

sphinx-gallery calls `scraper` after each block of an example, and `reset` before and after each
example. `conf.py` names both functions.
"""

import contextlib
import warnings
from pathlib import Path

import numpy as np

# Pixels per inch on the page; files have twice as many pixels.
DPI = 100
# Background of the dark theme, `--pst-color-background` of pydata-sphinx-theme
DARK = (0x14, 0x18, 0x1E)
# Text remains readable on phones, where a plot is about 3.6 inches wide.
STYLE = {
    "font.size": 11,
    "axes.titlesize": 11,
    "figure.titlesize": 12,
    "figure.figsize": (5.4, 3.6),
}

# Order of the examples: averages and pooled AUC; fairness; search; sampling error; other topics
ORDER = [
    "persons",
    "schools",
    "travel",
    "flower_average",
    "xgboost_qid",
    "four_cases",
    "loans",
    "arrests",
    "adjusted_roc",
    "candidates",
    "tied_candidates",
    "rows_needed",
    "critical_difference",
    "clusters",
    "states",
    "disclosure_levels",
    "partial_auc",
    "causal_graph",
]

IMAGE = """
.. image:: /{path}
   :alt: {alt}
   :class: sphx-glr-single-img no-scaled-link {theme}
   :width: {width}px
"""

while_an_example_runs = contextlib.ExitStack()


class Order:
    """Sort key of the examples: the place in `ORDER`."""

    def __init__(self, src_dir):
        self.src_dir = src_dir

    def __call__(self, filename):
        """Return the place of an example; an example that is missing in `ORDER` is an error."""
        return ORDER.index(Path(filename).stem.removeprefix("plot_"))


def reset(gallery_conf, fname, when):
    """Set the style of plots, use one thread, and turn warnings into errors in an example."""
    if when == "after":
        while_an_example_runs.close()
        return
    import matplotlib.pyplot as plt
    from threadpoolctl import threadpool_limits

    plt.rcParams.update(STYLE)
    # On busy processors, threads of small matrix products mostly wait for each other.
    while_an_example_runs.enter_context(threadpool_limits(1))
    while_an_example_runs.enter_context(warnings.catch_warnings(action="error"))


def scraper(block, block_vars, gallery_conf):
    """Save the figures of a block, and return reStructuredText that shows them.

    The titles of a figure are the text for readers who cannot see the figure.
    """
    import matplotlib.pyplot as plt

    shown = []
    for number in plt.get_fignums():
        figure = plt.figure(number)
        alt = ". ".join(titles(figure)).replace("\n", " ")
        if not alt:
            raise ValueError("each figure of the gallery needs a title that states its finding")
        light = Path(next(block_vars["image_path_iterator"]))
        figure.savefig(light, dpi=2 * DPI)
        save_first_plots(figure, light)
        for path, theme in ((light, "only-light"), (save_dark(light), "only-dark")):
            relative = path.relative_to(gallery_conf["src_dir"]).as_posix()
            width = round(DPI * figure.get_figwidth())
            shown.append(IMAGE.format(path=relative, alt=alt, theme=theme, width=width))
    plt.close("all")
    return "".join(shown)


def titles(figure):
    """Return the titles of a figure and of its axes."""
    found = [figure.get_suptitle()]
    found += [ax.get_title(loc) for ax in figure.axes for loc in ("left", "center", "right")]
    return [" ".join(title.split()).rstrip(".") for title in found if title]


# Thumbnails -----------------------------------------------------------------------------------

# Largest height of a thumbnail's image, as a share of its width
TALL = 0.95


def save_first_plots(figure, path):
    """Save the plots at the top of a tall figure, for the thumbnail."""
    from PIL import Image

    width, height = figure.get_size_inches()
    if height <= TALL * width:
        return
    figure.draw_without_rendering()
    # Distances of the plots from the top, in inches
    boxes = [ax.get_tightbbox() for ax in figure.axes]
    tops = [height - box.y1 / figure.dpi for box in boxes]
    bottoms = [height - box.y0 / figure.dpi for box in boxes]
    cuts = [
        bottom
        for bottom in bottoms
        if bottom <= TALL * width
        and not any(t < bottom < b for t, b in zip(tops, bottoms, strict=True))
    ]
    if cuts:
        with Image.open(path) as image:
            cut = round(2 * DPI * max(cuts)) + 8
            image.crop((0, 0, image.width, cut)).save(path.with_name(f"{path.stem}_top.png"))


def save_thumbnails(app):
    """Replace thumbnails of tall figures, and save each thumbnail for the dark theme."""
    from sphinx_gallery.utils import scale_image

    size = app.config.sphinx_gallery_conf["thumbnail_size"]
    for thumbnail in Path(app.srcdir).glob("auto_examples/images/thumb/*_thumb.png"):
        name = thumbnail.name.replace("_thumb.png", "_001_top.png")
        top = thumbnail.parents[1] / name
        if top.exists():
            scale_image(top, thumbnail, *size)
        save_dark(thumbnail)


# The dark theme -------------------------------------------------------------------------------


def save_dark(light):
    """Save an image in the colors of the dark theme beside the image, and return the path."""
    from PIL import Image

    with Image.open(light) as image:
        on_white = Image.new("RGBA", image.size, "white")
        on_white.alpha_composite(image.convert("RGBA"))
    pixels = np.asarray(on_white.convert("RGB"))
    # An image has few colors, so that the table of colors is small.
    colors, which = np.unique(pixels.reshape(-1, 3) @ [1 << 16, 1 << 8, 1], return_inverse=True)
    table = dark(np.stack([colors >> 16, colors >> 8 & 255, colors & 255], axis=1))
    path = light.with_name(f"{light.stem}_dark{light.suffix}")
    Image.fromarray(table[which].reshape(pixels.shape)).save(path)
    return path


def dark(colors):
    """Return colors with the contrast against dark that `colors` have against white.

    Parameters
    ----------
    colors : ndarray of shape (n_colors, 3)
        Red, green and blue from 0 to 255.

    Returns
    -------
    ndarray of uint8, shape (n_colors, 3)
        Colors of about the same hue. White becomes `DARK`.
    """
    part, background = linear(colors), linear(np.array(DARK))
    weights = np.array([0.2126, 0.7152, 0.0722])  # of relative luminance in WCAG 2.2
    old, back = part @ weights, background @ weights
    new = np.minimum(1.05 / (old + 0.05) * (back + 0.05) - 0.05, 1.0)
    # Lighter colors are mixed with white, darker colors with the background.
    up = np.clip((new - old) / np.maximum(1 - old, 1e-9), 0, 1)[:, None]
    lighter = part + up * (1 - part)
    share = np.clip((old - new) / np.maximum(old - back, 1e-9), 0, 1)[:, None]
    darker = part + share * (background - part)
    mixed = np.where((new >= old)[:, None], lighter, darker)
    coded = np.where(mixed <= 0.0031308, 12.92 * mixed, 1.055 * mixed ** (1 / 2.4) - 0.055)
    return np.round(255 * coded).astype(np.uint8)


def linear(colors):
    """Return the linear intensities of colors from 0 to 255."""
    part = colors / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def add_dark_thumbnails(app, doctree):
    """Show a thumbnail in the light theme only, and its copy in the dark theme."""
    from docutils.nodes import image

    for light in list(doctree.findall(image)):
        if light["uri"].endswith("_thumb.png"):
            copy = light.deepcopy()
            copy["uri"] = light["uri"].removesuffix(".png") + "_dark.png"
            light["classes"].append("only-light")
            copy["classes"].append("only-dark")
            light.parent.insert(light.parent.index(light) + 1, copy)
