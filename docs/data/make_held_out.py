"""Make held_out.csv: scores of a model for patients that it has not seen, from real data.

The measurements are those of scikit-learn's diabetes data: 442 patients with ten measurements and
the progression of the disease a year later. The model learns from every second patient, and scores
the others.
"""

from pathlib import Path

import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import FairnessAudit


def make_held_out():
    """Return label, score and groups of the patients of the second half."""
    patients = load_diabetes(as_frame=True, scaled=False).frame
    progressed = patients.pop("target") > 140
    is_train = patients.index % 2 == 0
    measured = patients.drop(columns=["age", "sex"])
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(measured[is_train], progressed[is_train])
    return pd.DataFrame(
        {
            "progressed": progressed.map({False: "no", True: "yes"}),
            "risk": model.predict_proba(measured)[:, 1].round(3),
            "sex": patients["sex"].map({1.0: "sex 1", 2.0: "sex 2"}),
            "age": (patients["age"] < 50).map({False: "50+", True: "<50"}),
        }
    )[~is_train]


def audit():
    """Return the audit of the tutorial that signs an audit."""
    patients = make_held_out()
    return FairnessAudit.from_predictions(
        patients["progressed"],
        patients["risk"],
        groups=patients[["sex", "age"]],
        intersections=[("sex", "age")],
        pos_label="yes",
        names={
            "model": "logistic regression of 8 measurements",
            "label": "disease progressed within a year",
            "score": "risk",
        },
        favorable="negative",
        threshold=0.5,
        min_per_class=10,
    )


if __name__ == "__main__":
    make_held_out().to_csv(Path(__file__).with_name("held_out.csv"), index=False)
