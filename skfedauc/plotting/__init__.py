"""Displays: plots of a report or of a search, with the interface of scikit-learn's displays.

``from_report``, ``from_predictions``, ``from_estimator`` and ``from_search`` make and draw a
display; ``plot`` draws it again, on other axes. Matplotlib is an optional dependency: ``pip install
"skfedauc[plot]"``.
"""

from skfedauc.plotting.candidates import CandidatesDisplay
from skfedauc.plotting.cross_auc import CrossAUCDisplay
from skfedauc.plotting.curves import GroupRocCurveDisplay, ReliabilityDisplay
from skfedauc.plotting.forest import GroupAUCDisplay, RankingDisplay
from skfedauc.plotting.score import GroupScoreDisplay

__all__ = [
    "CandidatesDisplay",
    "CrossAUCDisplay",
    "GroupAUCDisplay",
    "GroupRocCurveDisplay",
    "GroupScoreDisplay",
    "RankingDisplay",
    "ReliabilityDisplay",
]
