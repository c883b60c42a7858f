"""
2,613 arrests cannot show a gap of .05, and cannot rule it out
==============================================================

A test detects no difference between the AUCs of black and white persons, but the test set is too
small both to detect a difference of .05 and to show that the groups are equivalent. The next study
needs 3,054 rows of each group. This example uses the arrests of :doc:`plot_arrests`.
"""

# %%
# The color is not a feature of the model. The model is trained on half of the arrests.

import matplotlib.pyplot as plt
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklego.datasets import load_arrests

from skfedauc import GroupAUC, rows_needed

X = load_arrests(as_frame=True)
y = X.pop("released") == "Yes"
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
model = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(drop="if_binary"), ["employed", "citizen", "sex"]),
        (StandardScaler(), ["age", "checks", "year"]),
    ),
    LogisticRegression(),
).fit(X_train, y_train)
report = GroupAUC.from_estimator(model, X_test, y_test, groups="colour")
print(report.by_group[["auc", "n_positives", "n_negatives"]].round(3))

# %%
# The test does not detect a difference. The test of equivalence also does not show that the AUCs
# differ by less than .05:

print(report.test_difference())
print(report.test_margin(0.05))

# %%
# The report is a pilot for the next study. The rows of the pilot determine the AUC, the share of
# positives and the variance:

detect = rows_needed(report, difference=0.05)
equivalent = rows_needed(report, equivalence=0.05)
print(detect)
print(equivalent)
assert len(X_test) == 2613
assert detect.n_rows == 3054

# %%
# The curves show the power by the number of rows per group, and the diamonds mark the plans:

fig, axes = plt.subplots(2, 1, figsize=(5.4, 6.6), layout="constrained")
for ax, plan, title in zip(
    axes,
    [detect, equivalent],
    ["To detect a difference of .05", "To show equivalence"],
    strict=True,
):
    plan.curve().plot(ax=ax, legend=False, ylim=(0, 1))
    ax.plot(plan.n_rows, plan.reached, "D")
    ax.set(xlabel="rows per group", ylabel="power of the test")
    ax.set_title(f"{title}: {plan.n_rows:,} rows per group", loc="left")
plt.show()
