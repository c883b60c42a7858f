"""Make patients.csv, the file of the tutorial "Fit, select and audit a model".

The 442 patients are those of scikit-learn's diabetes data. The hospitals are simulated: younger
patients tend to have lower hospital numbers. The missing values, about 3 % of the cells in four
columns, are simulated as well.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes


def make_patients():
    rng = np.random.default_rng(0)
    table = load_diabetes(as_frame=True, scaled=False).frame.rename(columns={"bp": "pressure"})
    place = table["age"].rank(pct=True) + rng.normal(scale=0.35, size=len(table))
    table.insert(0, "hospital", 1 + (4 * place.rank(pct=True, method="first") - 1e-9) // 1)
    table["progressed"] = np.where(table.pop("target") > 140, "yes", "no")
    for column in ("hospital", "sex", "bmi", "pressure"):
        table.loc[rng.random(len(table)) < 0.03, column] = np.nan
    return table


if __name__ == "__main__":
    make_patients().to_csv(Path(__file__).with_name("patients.csv"), index=False)
