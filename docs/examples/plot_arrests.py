"""
Four columns, two gaps in AUC that are not established
======================================================

A model predicts who was released after an arrest for possession of marijuana in Toronto. For each
sensitive column, is the AUC of some group lower than the AUC of the others?
"""

# %%
# The data come with ``scikit-lego``: 5,226 arrests. The model is trained on half of them and does
# not use the color.

import textwrap

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
# One audit covers all columns, and ``audit.of`` selects a column. The largest minus the smallest
# AUC is never below 0; ``expected`` is its mean if all groups had the same AUC. ``pvalue`` is the
# unadjusted p value of the gap, and ``pvalue_adjusted`` is adjusted for all claims of the audit.

columns = ["colour", "sex", "citizen", "employed"]
audit = FairnessAudit.from_estimator(
    model, X_test, y_test, groups=columns, threshold=0.8, favorable="positive"
)
audits = {column: audit.of(column) for column in columns}
for column, by_column in audits.items():
    gap = by_column.gaps.loc["difference"]
    print(
        f"{column:9} difference {gap['value']:.3f}, if equal {gap['expected']:.3f}, "
        f"p = {gap['pvalue']:.2f}, adjusted {gap['pvalue_adjusted']:.2f}"
    )

# %%
# The gap of .03 between colors is about as large as its mean under equal AUCs. The gaps between
# citizens and others, and between employed and others, are three times their means under equal
# AUCs, and their p values are .02.

fig, axes = plt.subplots(2, 2, figsize=(8.5, 4.2), sharex=True, layout="constrained")
for ax, (column, by_column) in zip(axes.flat, audits.items(), strict=True):
    table, gap = by_column.by_group, by_column.gaps.loc["difference"]
    pvalue, adjusted = gap["pvalue"], gap["pvalue_adjusted"]
    colour = "#D55E00" if pvalue < 0.05 else "#0072B2"
    labels = [f"{label}" for label in table.index]
    ax.hlines(labels, table["ci_low"], table["ci_high"], color=colour, linewidth=2)
    ax.scatter(table["auc"], labels, 45, color=colour, zorder=3)
    title = f"{column}: gap {gap['value']:.2f}, p = {pvalue:.2f}, adjusted {adjusted:.2f}"
    ax.set_title(title, loc="left", fontsize=10)
    ax.margins(y=0.4)
    ax.grid(axis="x", color="0.92")
    ax.spines[["top", "right"]].set_visible(False)
for ax in axes[1]:
    ax.set_xlabel("AUC within the group, 95 % interval")
plt.show()

# %%
# Four columns are several tests. After adjustment for all claims of the audit, no gap in AUC by a
# single column is established. These two gaps deserve another look in new data. A group may be
# scored lower throughout although its AUC is not shown to be lower. The findings on color show
# this, although the model was never given the color:

for finding in audits["colour"].findings:
    print(textwrap.fill(finding, 92, initial_indent="- ", subsequent_indent="  "))

# %%
# Release is the favorable outcome. The model favors arrested persons of one color over those of the
# other, and so do decisions at any single threshold. :doc:`plot_loans` is about such gaps.
#
# ``audit.to_html("audit.html")`` writes the whole audit, with plots, on one page.
