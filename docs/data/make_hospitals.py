"""Make oslo.csv and bern.csv, the files of the tutorial "Evaluate at several sites".

The patients are simulated. The model ranks the patients of both hospitals equally well, and its
risks are higher in Bern. Risks have two digits.
"""

from pathlib import Path

import numpy as np
import pandas as pd

HOSPITALS = {"oslo": (160, 0.0, 1), "bern": (120, 0.8, 2)}


def make_hospital(name):
    n_patients, shift, seed = HOSPITALS[name]
    rng = np.random.default_rng(seed)
    died = (rng.random(n_patients) < 0.3).astype(int)
    logit = rng.normal(size=n_patients) + 1.2 * died + shift - 1.2
    return pd.DataFrame(
        {
            "patient": np.arange(1, n_patients + 1),
            "hospital": name.capitalize(),
            "sex": rng.choice(["f", "m"], n_patients),
            "died": np.where(died == 1, "yes", "no"),
            "risk": (1 / (1 + np.exp(-logit))).round(2),
        }
    )


if __name__ == "__main__":
    for name in HOSPITALS:
        make_hospital(name).to_csv(Path(__file__).with_name(f"{name}.csv"), index=False)
