"""
Differences between observed AUCs of equally good models
========================================================

A model with a true AUC of .80 is tested on simulated test sets. Each test set has 950 negatives and
10, 50 or 500 positives. There are 2,000 test sets of each size. The observed AUCs of two test sets
with 50 positives differ by more than .05 with probability .05.
"""

# %%
# The rows come from a population with uniformly distributed scores and a known AUC. Each test set
# is a group, so that one report contains all AUCs.

import matplotlib.pyplot as plt
import numpy as np

from skfedauc import GroupAUC, auc_critical_difference

rng = np.random.default_rng(0)
n_sets, n_negatives = 2000, 950


def aucs_of_test_sets(n_positives):
    """Return the observed AUCs of simulated test sets with a true AUC of .8.

    Scores of negatives are uniform in [0, 1], and scores of positives are uniform in [.6, 1].
    """
    shape = (n_sets, n_positives + n_negatives)
    y = np.broadcast_to(np.arange(shape[1]) < n_positives, shape)
    score = rng.uniform(np.where(y, 0.6, 0.0), 1.0)
    test_set = np.repeat(np.arange(n_sets), shape[1])
    report = GroupAUC.from_predictions(y.ravel(), score.ravel(), groups=test_set)
    return report.by_group["auc"].to_numpy()


# %%
# ``auc_critical_difference`` computes the critical difference without simulation. The AUCs of two
# of these test sets differ by more than the critical difference with probability .05:

observed = {n_positives: aucs_of_test_sets(n_positives) for n_positives in [10, 50, 500]}
for n_positives, auc in observed.items():
    apart = np.abs(auc[::2] - auc[1::2])
    critical = auc_critical_difference(0.8, n_positives, n_negatives, distribution="uniform")
    print(f"{n_positives:4} positives: drawn {np.quantile(apart, 0.95):.3f}, exact {critical:.3f}")

# %%
# The differences decrease as the number of positives increases:

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
bins = np.linspace(0.64, 0.92, 113)
for (n_positives, auc), colour in zip(
    observed.items(), ["#D55E00", "#0072B2", "#009E73"], strict=True
):
    critical = auc_critical_difference(0.8, n_positives, n_negatives, distribution="uniform")
    label = f"{n_positives} positives: critical difference {critical:.2f}"
    ax.hist(auc, bins, histtype="stepfilled", alpha=0.35, color=colour)
    ax.hist(auc, bins, histtype="step", color=colour, linewidth=1.5, label=label)
ax.axvline(0.8, color="0.3", linewidth=1)
ax.set_xlabel("observed AUC of a model whose true AUC is .80")
ax.set_ylabel("test sets")
ax.set_yticks([])
ax.legend(frameon=False, loc="upper left")
ax.spines[["top", "right", "left"]].set_visible(False)
plt.show()

# %%
# Consider a leaderboard of ten equally good models, each with a separate test set. On average, the
# largest observed AUC exceeds the smallest observed AUC by:

for n_positives, auc in observed.items():
    leaderboards = auc.reshape(-1, 10)
    print(f"{n_positives:4} positives, 950 negatives: {np.ptp(leaderboards, axis=1).mean():.2f}")

# %%
# The candidates of a search are tested on the same rows. Compare the candidates with
# ``compare_candidates``: see :doc:`/how_to/better_or_by_chance`.
#
# A critical-difference diagram compares average ranks of models, not AUCs: see
# :doc:`/auto_examples/plot_states`.
