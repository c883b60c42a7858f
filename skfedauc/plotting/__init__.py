"""Displays: plots of a report, with the interface of scikit-learn's displays.

``from_report``, ``from_predictions`` and ``from_estimator`` make and draw a display; ``plot`` draws
it again, on other axes. Matplotlib is an optional dependency: ``pip install "skfedauc[plot]"``.
"""

from skfedauc.plotting.cross_auc import CrossAUCDisplay
from skfedauc.plotting.curves import GroupRocCurveDisplay, ReliabilityDisplay
from skfedauc.plotting.forest import GroupAUCDisplay, RankingDisplay
from skfedauc.plotting.score import GroupScoreDisplay

__all__ = [
    "CrossAUCDisplay",
    "GroupAUCDisplay",
    "GroupRocCurveDisplay",
    "GroupScoreDisplay",
    "RankingDisplay",
    "ReliabilityDisplay",
]
