"""Simulated patients of ten clinics, and the logistic regression that the clinics train."""

import numpy as np
from sklearn.linear_model import SGDClassifier

from skfedauc import Bins

# Number of patients of each clinic, and the mean severity of their illness. A family practice sees
# mild cases, a trauma center severe ones. The severity is the sum of what the model measures.
CLINICS = {
    "almond street": (900, -1.8),
    "beech road": (700, -1.5),
    "cedar lane": (600, -1.2),
    "dogwood": (500, -0.8),
    "elm hospital": (500, -0.4),
    "fir hospital": (400, 0.0),
    "general": (800, 0.5),
    "harbor": (400, 0.9),
    "infirmary": (300, 1.3),
    "trauma center": (200, 1.8),
}
NAMES = tuple(CLINICS)
WEIGHTS = np.array([1.0, 0.8, 0.7, 0.6])
# Ranges of scores for masked counts, which all clinics and the server agree on
BINS = Bins.at(np.linspace(-6, 6, 481))


def load(clinic, part):
    """Return measurements, shape (n_patients, 4), and outcomes of a clinic.

    The outcome depends on the measurements in the same way at all clinics. Clinics differ only in
    how severe their cases are.
    """
    n_patients, severity = CLINICS[clinic]
    rng = np.random.default_rng([NAMES.index(clinic), ["train", "test"].index(part)])
    X = rng.normal(severity * WEIGHTS / (WEIGHTS @ WEIGHTS), size=(n_patients, WEIGHTS.size))
    y = rng.random(n_patients) < 1 / (1 + np.exp(-X @ WEIGHTS))
    return X, y.astype(int)


def initial_arrays():
    """Return the coefficients and the intercept of a model that has learned nothing."""
    return [np.zeros((1, WEIGHTS.size)), np.zeros(1)]


def fit(arrays, X, y):
    """Continue training with the patients of one clinic."""
    coefficients, intercept = arrays
    model = SGDClassifier(
        loss="log_loss", learning_rate="constant", eta0=0.01, max_iter=1, tol=None, random_state=0
    ).fit(X, y, coef_init=coefficients, intercept_init=intercept)
    return [model.coef_, model.intercept_]


def predict(arrays, X):
    """Return the score of each patient."""
    coefficients, intercept = arrays
    return (X * coefficients).sum(axis=1) + intercept
