"""
Which average of AUCs is exact depends on the class that devices share
======================================================================

If the negatives of all devices have the same score distribution, the average weighted by positives
equals the AUC of all rows. If the positives of all devices have the same score distribution, the
average weighted by negatives equals the AUC of all rows. If the distributions of both classes
differ between devices, no average equals the AUC of all rows. Four devices test a model on their
own rows and send their AUCs.
"""

# %%
# The devices have the same score distribution for both classes, for the negatives only, for the
# positives only, or for neither class. ``make_group_scores`` draws rows with normal scores for each
# of these four cases. The devices have different numbers of positives and of negatives. With equal
# numbers of rows, all averages would be equal.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import gaussian_kde

from skfedauc import GroupAUC
from skfedauc.datasets import make_group_scores

cases = {
    "identical": "both classes identical",
    "same_negatives": "negatives identical",
    "same_positives": "positives identical",
    "different": "neither class identical",
}
n_positives, n_negatives = [8000, 4000, 2000, 1000], [1000, 3000, 6000, 10_000]
devices = {
    case: make_group_scores(case, n_positives, n_negatives, random_state=0) for case in cases
}

# %%
# The left plots show the score densities of each device. The densities of the positives are above
# the axis, and the densities of the negatives are below the axis. The right plots show the averages
# as points and the pooled AUC as a line.

names = ["macro", "samples", "positives", "negatives", "within"]
scores = np.linspace(-4, 5, 181)
exact = {}
colours = ["#0072B2", "#D55E00", "#009E73", "#A8558B"]
fig, axes = plt.subplots(4, 2, figsize=(5.4, 8.8), sharex="col", sharey="col", layout="constrained")
for (case, title), (left, right) in zip(cases.items(), axes, strict=True):
    rows = devices[case]
    for device, colour in zip(np.unique(rows.groups), colours, strict=True):
        for label, sign in [(1, 1), (0, -1)]:
            own = (rows.groups == device) & (rows.y_true == label)
            density = gaussian_kde(rows.y_score[own])(scores)
            left.plot(scores, sign * density, color=colour, linewidth=1.5, label=device)
    left.axhline(0, color="0.4", linewidth=0.8)
    left.set_title(title, loc="left")
    left.set_yticks([0.25, -0.25], ["positives", "negatives"], rotation=90, va="center")

    report = GroupAUC.from_predictions(rows.y_true, rows.y_score, groups=rows.groups)
    values = np.array([report.average(name) for name in names])
    agree = np.abs(values - report.pooled) < 0.01
    right.axvline(report.pooled, color="#0072B2", linewidth=1.5, zorder=1)
    right.scatter(values, names, 45, color=np.where(agree, "#0072B2", "#D55E00"), zorder=2)
    right.set_title(f"pooled AUC {report.pooled:.2f}", loc="left", color="#0072B2")
    right.grid(axis="y", color="0.9")
    right.margins(0.1)
    exact[case] = [name for name, is_equal in zip(names, agree, strict=True) if is_equal]
axes[0, 1].invert_yaxis()
axes[-1, 0].set_xlabel("score")
axes[-1, 1].set_xlabel("AUC")
lines, labels = axes[0, 0].get_legend_handles_labels()
fig.legend(lines[::2], labels[::2], loc="outside lower center", ncols=2, frameon=False)
plt.show()

# %%
# Averages that equal the pooled AUC are blue:

for case, equal in exact.items():
    print(f"{cases[case]:24} {', '.join(equal)}")
assert list(exact.values()) == [names, ["positives"], ["negatives"], []]

# %%
# All averages are blue in the first case,
# ``positives`` is blue in the second case, and ``negatives`` is blue in the third case. No average
# is blue in the fourth case. The theory predicts this result. Every device has the same AUC in the
# first and in the fourth case, but the pooled AUC of the fourth case is .2 lower.
#
# The conditions are sufficient, but not necessary. If neither condition holds, an average may still
# equal the pooled AUC, because differences of opposite sign can cancel.
#
# If the rows are available, ``GroupAUC.agreement`` tests which case applies. If the devices send
# counts instead of AUCs, the pooled AUC is exact: see :doc:`/how_to/without_moving_data`.
