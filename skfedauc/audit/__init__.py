"""Fairness audits: a registry of questions, their answers, and one document for all outputs."""

from skfedauc.audit.answers import Answer
from skfedauc.audit.comparison import AuditComparison
from skfedauc.audit.fairness_audit import FairnessAudit
from skfedauc.audit.rates_and_gaps import QUESTIONS, Question

__all__ = ["QUESTIONS", "Answer", "AuditComparison", "FairnessAudit", "Question"]
