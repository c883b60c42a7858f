"""
Four hospitals, each with its own level of disclosure
=====================================================

Four hospitals evaluate the same model. Each hospital sends what it may send: exact counts, bins
without small numbers, a summary, or counts with noise for differential privacy. The recipient
computes the results that each level determines, with the price of the level as an interval.
"""

# %%
# The rows are simulated, so that the results can be compared with the exact AUCs. All hospitals
# agree on the bins before they count. The bins are for probabilities.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfedauc import Bins, GroupAUC, ScoreCounts
from skfedauc.privacy import PrivateCounts

bins = Bins.of_probabilities(octaves=6, parts=8)
rng = np.random.default_rng(0)
rows = {}
for name, n_rows, effect in [
    ("Oslo", 4_000, 1.6),
    ("Bern", 3_000, 1.2),
    ("Graz", 1_500, 1.5),
    ("Lyon", 8_000, 1.3),
]:
    died = rng.random(n_rows) < 0.3
    risk = 1 / (1 + np.exp(-rng.normal(effect * died - 1.5)))
    rows[name] = pd.DataFrame({"hospital": name, "died": died, "risk": risk})
counted = {
    name: ScoreCounts.from_predictions(of["died"], of["risk"], groups=of["hospital"])
    for name, of in rows.items()
}

# %%
# What each hospital sends
# ------------------------
# Oslo sends exact counts. Bern sends bins in which no number is from 1 to 9. Graz sends the numbers
# of rows, the AUC and its variance. Lyon sends bins with random noise: epsilon 1 protects each
# patient with one row.

sent = {
    "Oslo": counted["Oslo"],
    "Bern": counted["Bern"].reduced(bins, min_count=10),
    "Graz": counted["Graz"].reduced("summary"),
    "Lyon": PrivateCounts.from_counts(counted["Lyon"], bins, ["Lyon"], epsilon=1, source="Lyon"),
}
for name, counts in sent.items():
    print(f"{name}: {counts}")

# %%
# Results of each level
# ---------------------
# The pooled AUC needs scores, which Oslo and Bern send. After reduction to the same bins, the
# counts of both can be merged. The certain interval contains the exact pooled AUC of the rows:

two = ScoreCounts.merge([sent["Oslo"], sent["Bern"]], disclosure=bins)
low, high = GroupAUC(two).bounds().loc["pooled", ["low", "high"]]
exact = GroupAUC(ScoreCounts.merge([counted["Oslo"], counted["Bern"]])).pooled
print(f"pooled AUC of Oslo and Bern: {low:.4f} to {high:.4f}, exact {exact:.4f}")

# %%
# The counts of Lyon have noise. Oslo's exact counts are counted by the same bins, and no noise is
# added to them. The interval covers the sampling of the rows, the noise and the bins:

noisy = PrivateCounts.merge([sent["Oslo"], sent["Lyon"]])
pooled = noisy.confidence_intervals(of="statistics").loc["pooled"]
exact = GroupAUC(ScoreCounts.merge([counted["Oslo"], counted["Lyon"]])).pooled
print(f"pooled AUC of Oslo and Lyon: {pooled['value']:.4f}, exact {exact:.4f}")
print(f"95 % interval: {pooled['ci_low']:.4f} to {pooled['ci_high']:.4f}")

# %%
# The AUC within hospitals needs no scores. Oslo, Bern and Graz are reduced to summaries on request.
# Averages, the largest difference and its test follow:

three = GroupAUC(
    ScoreCounts.merge([sent[n] for n in ("Oslo", "Bern", "Graz")], disclosure="summary")
)
print(three)
print(three.test_difference())

# %%
# The intervals of the groups include the sampling error and the price of the level. The interval of
# Lyon includes the noise:

within = three.confidence_intervals()[["auc", "ci_low", "ci_high"]]
private = sent["Lyon"].confidence_intervals()[["auc", "ci_low", "ci_high"]]
table = pd.concat([within, private]).loc[list(rows)]
table["exact"] = [GroupAUC(counted[name]).pooled for name in rows]
print(table.round(4))

fig, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
levels = ["exact counts", "bins, min_count=10", "summary", "noise, epsilon 1"]
ax.hlines(range(4), table["ci_low"], table["ci_high"], linewidth=3, alpha=0.5)
ax.plot(table["auc"], range(4), "o", label="from what the hospital sent")
ax.plot(table["exact"], range(4), "|", color="black", markersize=16, label="exact AUC of the rows")
ax.set_yticks(range(4), [f"{name}: {level}" for name, level in zip(rows, levels, strict=True)])
ax.set_ylim(3.5, -0.5)
ax.set_xlabel("AUC, with 95 % interval")
ax.legend(loc="upper left", fontsize="small")
plt.show()
