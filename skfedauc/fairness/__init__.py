"""What fairlearn adds to scikit-learn, made to work in its searches."""

from skfedauc.fairness.audit import FairnessAudit
from skfedauc.fairness.mitigation import MitigatedClassifier

__all__ = ["FairnessAudit", "MitigatedClassifier"]
