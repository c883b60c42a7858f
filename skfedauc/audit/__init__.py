"""Fairness audits: gaps between groups with tests, findings in sentences, and a page."""

from skfedauc.audit.fairness_audit import FairnessAudit

__all__ = ["FairnessAudit"]
