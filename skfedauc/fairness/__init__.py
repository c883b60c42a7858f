"""Fairness audits, and fairlearn's mitigators for scikit-learn searches."""

from skfedauc.fairness.audit import FairnessAudit
from skfedauc.fairness.mitigation import MitigatedClassifier

__all__ = ["FairnessAudit", "MitigatedClassifier"]
