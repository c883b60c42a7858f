"""
A regulator's audit: no gap in AUC is established, but one color is favored
===========================================================================

A model predicts whether a person was released after an arrest for possession of marijuana in
Toronto. An audit by color finds no established difference between the AUCs, yet the model favors
persons of one color over persons of the other color. For each of four sensitive columns, the audit
tests whether the group AUCs differ.
"""

# %%
# The data of 5,226 arrests come with ``scikit-lego``. The model is trained on half of the arrests.
# The color is not a feature of the model.

import matplotlib.pyplot as plt
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklego.datasets import load_arrests

from skfedauc import FairnessAudit

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

# %%
# One call audits each column. The gap is the largest group AUC minus the smallest group AUC. Each
# column is an audit of its own, so that its p value does not depend on the others. ``expected`` is
# the mean gap if all true AUCs were equal.

columns = ["colour", "sex", "citizen", "employed"]
audit = FairnessAudit.from_estimator(
    model, X_test, y_test, groups=columns, threshold=0.8, favorable="positive"
)
gaps = {column: audit.answers[column]["difference"] for column in columns}
for column, found in gaps.items():
    print(f"{column:9} difference {found.estimate:.3f}, p = {found.pvalue:.2f}: {found.verdict}")

# %%
# Intervals of the group AUCs, with the gap of each column:

fig, axes = plt.subplots(4, 1, figsize=(5.4, 6.4), sharex=True, layout="constrained")
for ax, (column, found) in zip(axes, gaps.items(), strict=True):
    colour = "#D55E00" if found.verdict == "differ" else "#0072B2"
    table, labels = found.table, [f"{label}" for label in found.groups]
    ax.hlines(labels, table["ci_low"], table["ci_high"], color=colour, linewidth=2)
    ax.scatter(table["value"], labels, 45, color=colour, zorder=3)
    ax.set_title(f"{column}: gap {found.estimate:.2f}, p = {found.pvalue:.2f}", loc="left")
    ax.margins(y=0.4)
    ax.grid(axis="x", color="0.92")
    ax.spines[["top", "right"]].set_visible(False)
axes[-1].set_xlabel("AUC within the group, 95 % interval")
plt.show()

# %%
# Four columns are four audits: without any gap, each makes a false claim on the AUC in at most 5 %
# of cases. Test a gap that only one of several columns shows again on new data.
#
# A model may score one group lower than another group although no difference between their AUCs is
# established. The answers on color contain an example, although the color is not a feature of the
# model:

assert gaps["colour"].verdict == "undecided"
for found in audit.answers["colour"].values():
    print(found)

# %%
# Release is the favorable outcome. The model favors arrested persons of one color over arrested
# persons of the other color. Decisions at any single threshold also favor these persons.
# :doc:`plot_loans` analyzes such a gap.
# ``audit.to_html("audit.html")`` writes the whole audit with plots to one HTML page.
