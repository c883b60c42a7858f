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
# One audit covers all columns, and ``audit.of`` selects a column. The gap is the largest group AUC
# minus the smallest group AUC. ``expected`` is the mean gap if all true AUCs were equal. ``pvalue``
# is the unadjusted p value of the gap. ``pvalue_adjusted`` is adjusted for all claims of the audit.

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
# The gap of .03 between colors is about equal to the expected gap. The gaps by ``citizen`` and by
# ``employed`` are three times the expected gaps. Both of these gaps have an unadjusted p value of
# .02.

fig, axes = plt.subplots(4, 1, figsize=(5.4, 6.4), sharex=True, layout="constrained")
for ax, (column, by_column) in zip(axes, audits.items(), strict=True):
    table, gap = by_column.by_group, by_column.gaps.loc["difference"]
    pvalue, adjusted = gap["pvalue"], gap["pvalue_adjusted"]
    colour = "#D55E00" if pvalue < 0.05 else "#0072B2"
    labels = [f"{label}" for label in table.index]
    ax.hlines(labels, table["ci_low"], table["ci_high"], color=colour, linewidth=2)
    ax.scatter(table["auc"], labels, 45, color=colour, zorder=3)
    title = f"{column}: gap {gap['value']:.2f}, p = {pvalue:.2f}, adjusted {adjusted:.2f}"
    ax.set_title(title, loc="left")
    ax.margins(y=0.4)
    ax.grid(axis="x", color="0.92")
    ax.spines[["top", "right"]].set_visible(False)
axes[-1].set_xlabel("AUC within the group, 95 % interval")
plt.show()

# %%
# An audit of four columns tests several claims. After adjustment for all claims of the audit, no
# gap in AUC by a single column is established. Test the gaps by ``citizen`` and by ``employed`` on
# new data.
#
# A model may score one group lower than another group although no difference between their AUCs is
# established. The findings on color contain an example, although the color is not a feature of the
# model:

assert audits["colour"].gaps.at["difference", "pvalue_adjusted"] > 0.05
for finding in audits["colour"].findings:
    print(textwrap.fill(finding, 92, initial_indent="- ", subsequent_indent="  "))

# %%
# Release is the favorable outcome. The model favors arrested persons of one color over arrested
# persons of the other color. Decisions at any single threshold also favor these persons.
# :doc:`plot_loans` analyzes such a gap.
# ``audit.to_html("audit.html")`` writes the whole audit with plots to one HTML page.
