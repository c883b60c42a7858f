"""Fairlearn's mitigations as classifiers for scikit-learn's pipelines and searches."""

from skfedauc.mitigation.mitigated_classifier import MitigatedClassifier

__all__ = ["MitigatedClassifier"]
