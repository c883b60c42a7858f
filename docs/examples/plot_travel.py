"""
GAUC reverses the ranking of two recommenders
=============================================

Which score should rank four ways to travel for each of 210 travelers: a short wait, or a short
journey? The pooled AUC prefers the wait. GAUC, the average of each traveler's own AUC, prefers the
short journey.
"""

# %%
# The data of Greene and Hensher (1997) come with ``statsmodels``. Each traveler could go by plane,
# train, bus or car, and chose one of the four. A traveler is a group with one positive and three
# negatives, like the list of items that a recommender shows to a user. GAUC (Zhu et al., 2017) is
# the average of the users' AUCs, weighted by the numbers of items. Each traveler has four items,
# so all weights are equal.

import matplotlib.pyplot as plt
import pandas as pd
from statsmodels.datasets import modechoice

from skfedauc import GroupAUC, compare_models

data = modechoice.load_pandas().data
chosen, traveler = data["choice"].astype(int), data["individual"].astype(int)
scores = {"short wait": -data["ttme"], "short journey": -data["invt"]}
reports = {
    name: GroupAUC.from_predictions(chosen, score, groups=traveler)
    for name, score in scores.items()
}
table = pd.DataFrame(
    {name: [report.pooled, report.average("samples")] for name, report in reports.items()},
    index=["pooled", "GAUC"],
)
print(table.round(3))
assert table.loc["pooled"].idxmax() == "short wait"
assert table.loc["GAUC"].idxmax() == "short journey"

# %%
# GAUC makes the same comparisons as a traveler: the comparisons of the four ways of one traveler.
# The pooled AUC compares rows of two travelers in nearly all pairs. A traveler with a long way has
# four long journeys: all four journeys get low scores, although the traveler chooses one of the
# four. The standard deviation between travelers shows this difference:

mean_of_traveler = data.groupby("individual")[["ttme", "invt"]].mean().std()
across = 1 - reports["short wait"].decomposition().share_within
print(mean_of_traveler.round(0).rename("minutes, between travelers").to_string())
print(f"{across:.1%} of the pairs compare two travelers")

# %%
# The travelers are a random sample, so the test treats the groups as random. GAUC establishes the
# difference between both scores:

of_travelers = {"groups": traveler, "over": "groups", "min_per_class": 1}
compared = compare_models(chosen, scores, statistic="samples", **of_travelers)
print(compared)

fig, ax = plt.subplots(figsize=(5.4, 3), layout="constrained")
for (name, column), color, dash in zip(
    table.items(), ["#b94f00", "#0072b2"], ["s--", "o-"], strict=True
):
    ax.plot([0, 1], column, dash, color=color, linewidth=2, markersize=7)
    for x, side in [(0, "right"), (1, "left")]:
        label = f"  {name} {column.iloc[x]:.2f}  "
        ax.text(x, column.iloc[x], label, ha=side, va="center", color=color)
ax.set_xticks([0, 1], ["pooled AUC", "GAUC"])
ax.set_yticks([])
ax.set_xlim(-0.75, 1.75)
ax.margins(y=0.2)
ax.set_title("Pooled AUC prefers the wait, GAUC the journey", loc="left")
ax.spines[:].set_visible(False)
plt.show()

# %%
# A search for the best recommender needs the scorer ``make_group_auc_scorer("samples",
# groups="user")``. A user who chose all items or no item has no AUC: the argument ``undefined``
# leaves out such users. :doc:`plot_persons` has such groups.
#
# Zhu, H., Jin, J., Tan, C., Pan, F., Zeng, Y., Li, H. and Gai, K. (2017). Optimized cost per click
# in Taobao display advertising. KDD. https://doi.org/10.1145/3097983.3098134
