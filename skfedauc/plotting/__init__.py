"""Displays: plots of a report or of a search, with the interface of scikit-learn's displays.

``from_report``, ``from_predictions``, ``from_estimator`` and ``from_search`` make and draw a
display; ``plot`` draws it again, on other axes. Matplotlib is an optional dependency: ``pip install
"skfedauc[plot]"``.
"""

from skfedauc.plotting.candidates import CandidatesDisplay
from skfedauc.plotting.cross_auc import CrossAUCDisplay
from skfedauc.plotting.group_auc import GroupAUCDisplay
from skfedauc.plotting.ranking import RankingDisplay
from skfedauc.plotting.reliability import ReliabilityDisplay
from skfedauc.plotting.roc_curve import GroupRocCurveDisplay
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
