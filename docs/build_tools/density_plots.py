"""Plots of score densities for the page on federated learning, as SVG in the colors of the page."""

import inspect

import numpy as np
from scipy.stats import norm

from skfedauc.datasets import make_group_scores

SHIFTS = np.array(inspect.signature(make_group_scores).parameters["shifts"].default)
# By case: means of the scores of the positives and of the negatives on each device
CASES = {
    "Case 1": ("f+ and f- are the same on all devices", 1 + 0 * SHIFTS, 0 * SHIFTS),
    "Case 2.1": ("f- is the same on all devices", 1 + SHIFTS, 0 * SHIFTS),
    "Case 2.2": ("f+ is the same on all devices", 1 + 0 * SHIFTS, SHIFTS),
    "Case 2.3": ("neither f+ nor f- is the same", 1 + SHIFTS, SHIFTS),
}
SCORES = np.linspace(-3.4, 4.4, 118)
WIDTH, HEIGHT, LOWEST, UNIT = 340, 190, 160, 290  # UNIT: height of a density of 1


def _x(score):
    return (score - SCORES[0]) / (SCORES[-1] - SCORES[0]) * WIDTH


def _path(x, y, closed_at=None):
    """Return a path through points, which closes along the height `closed_at`."""
    points = " L".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    if closed_at is None:
        return f"M{points}"
    return f"M{x[0]:.1f},{closed_at:.1f} L{points} L{x[-1]:.1f},{closed_at:.1f} Z"


def _raised(words, tag, attributes=""):
    """Raise the sign of f+ and f-, and write - as a minus sign."""
    for sign, written in [("+", "+"), ("-", "&#8722;")]:
        words = words.replace(f"f{sign}", f"f<{tag}{attributes}>{written}</{tag}>")
    return words


def _text(x, y, words, kind=""):
    words = _raised(words, "tspan", ' dy="-4" font-size="80%"')
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{words}</text>'


def _figure(panels):
    """Return panels, each with a description for screen readers and a caption."""
    drawn = [
        f'<figure><svg viewBox="0 0 {width} {HEIGHT}" role="img" aria-label="{described}">'
        f"{''.join(shapes)}</svg><figcaption>{_raised(caption, 'sup')}</figcaption></figure>"
        for width, described, caption, shapes in panels
    ]
    return f'<div class="densities">{"".join(drawn)}</div>'


def threshold(cut=0.8):
    """Draw the densities of a device with the areas above a threshold, and the ROC curve."""
    shapes = []
    for kind, sign, mean in [("negatives", "-", 0), ("positives", "+", 1)]:
        above = np.linspace(cut, SCORES[-1], 60)
        heights = LOWEST - UNIT * norm.pdf(above, mean)
        shapes.append(f'<path class="area {kind}" d="{_path(_x(above), heights, LOWEST)}"/>')
        heights = LOWEST - UNIT * norm.pdf(SCORES, mean)
        shapes.append(f'<path class="{kind}" d="{_path(_x(SCORES), heights)}"/>')
        side = -1 if kind == "negatives" else 1
        shapes.append(_text(_x(mean + 1.35 * side), 72, f"f{sign}", f"{kind} large"))
    shapes.append(f'<path class="axis" d="M0,{LOWEST} H{WIDTH}"/>')
    shapes.append(f'<path class="threshold" d="M{_x(cut):.1f},22 V{LOWEST}"/>')
    shapes.append(_text(_x(cut), 15, "threshold t", "middle"))
    shapes.append(_text(WIDTH / 2, 182, "score", "middle"))
    fpr, tpr = norm.sf(cut), norm.sf(cut, 1)
    densities = (
        WIDTH,
        "Densities of the scores of one device. The negatives are centered at 0, the positives at "
        f"1. Above the threshold {cut:g} lie {fpr:.0%} of the negatives and {tpr:.0%} of the "
        "positives.",
        f"Above t lie {tpr:.0%} of the area under f+, the TPR, and {fpr:.0%} of the "
        "area under f-, the FPR.",
        shapes,
    )

    left, side = (WIDTH - 140) / 2, 140
    rates = norm.sf(np.linspace(5, -4, 120))
    curve = norm.sf(norm.isf(rates) - 1)
    x, y = left + side * rates, LOWEST - side * curve
    at = left + side * fpr, LOWEST - side * tpr
    auc = norm.cdf(1 / np.sqrt(2))
    shapes = [
        f'<path class="area positives" d="{_path(x, y, LOWEST)}"/>',
        f'<path class="positives" d="{_path(x, y)}"/>',
        f'<path class="axis" d="M{left:g},{LOWEST - side} V{LOWEST} H{left + side:g}"/>',
        f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="4"/>',
        _text(at[0] + 10, at[1] + 14, "threshold t"),
        _text(left + side / 2 + 18, LOWEST - 34, f"AUC {auc:.3f}", "middle large"),
        _text(left + side / 2, 182, "FPR", "middle"),
        _text(left - 36, LOWEST - side / 2, "TPR"),
    ]
    roc = (
        WIDTH,
        f"ROC curve of the same device: TPR against FPR for all thresholds. The area is {auc:.3f}.",
        "Each threshold is a point of the ROC curve. The area under the curve is the AUC.",
        shapes,
    )
    return _figure([densities, roc])


def cases():
    """Draw the densities of four devices in each case, positives above and negatives below."""
    axis, unit = HEIGHT / 2, 150
    panels = []
    for case, (condition, positives, negatives) in CASES.items():
        shapes = [f'<path class="axis" d="M0,{axis} H{WIDTH}"/>']
        for kind, sign, means in [("positives", 1, positives), ("negatives", -1, negatives)]:
            for mean in np.unique(means):
                heights = axis - sign * unit * norm.pdf(SCORES, mean)
                shapes.append(f'<path class="{kind}" d="{_path(_x(SCORES), heights)}"/>')
            peak = axis - sign * (unit * norm.pdf(0) + 9) + 4
            if np.ptp(means):
                labels = [(mean, str(k)) for k, mean in enumerate(means, start=1)]
            else:
                labels = [(means[0], "1 to 4")]
            shapes += [_text(_x(mean), peak, label, "middle") for mean, label in labels]
            name = "f+" if kind == "positives" else "f-"
            shapes.append(_text(8, axis - sign * 42 + 5, name, f"{kind} large"))
        panels.append(
            (
                WIDTH,
                f"{case}. Densities of the scores of four devices, f+ above and f- below the axis: "
                f"{condition}.",
                f"<strong>{case}:</strong> {condition}",
                shapes,
            )
        )
    return _figure(panels)
