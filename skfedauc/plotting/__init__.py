"""Displays: pictures of a report and of a search, in scikit-learn's manner.

Each is made by a class method, ``from_report``, ``from_predictions``, ``from_estimator`` or
``from_search``, which draws at once; ``plot`` draws again, on other axes. matplotlib is an optional
dependency: ``pip install "skfedauc[plot]"``.
"""

from skfedauc.plotting.candidates import CandidatesDisplay
from skfedauc.plotting.cross_auc import CrossAUCDisplay
from skfedauc.plotting.group_auc import GroupAUCDisplay
from skfedauc.plotting.roc_curve import GroupRocCurveDisplay
from skfedauc.plotting.score import GroupScoreDisplay

__all__ = [
    "CandidatesDisplay",
    "CrossAUCDisplay",
    "GroupAUCDisplay",
    "GroupRocCurveDisplay",
    "GroupScoreDisplay",
]
