"""Fairness audits: gaps between groups with tests, findings in sentences, and a page."""

from skfedauc.audit.comparison import AuditComparison
from skfedauc.audit.fairness_audit import FairnessAudit

__all__ = ["AuditComparison", "FairnessAudit"]
