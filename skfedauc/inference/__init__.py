"""Variances, intervals and tests.

All results need only a `ScoreCounts`, except the paired comparison of two models, which needs the
rows.

* `pair_moments.py`: variance of an AUC for any number of rows, and its value for normal scores;
* `variances.py`: variances of group AUCs and of the pooled AUC, from placement values;
* `clusters.py`, `cluster_bootstrap.py`: variances and resamples of clustered rows;
* `intervals.py`: confidence intervals of AUCs, averages and the worst group;
* `binomial.py`: limits of a probability, by the tails of the binomial distribution;
* `calibration.py`: calibration of probabilities, and the test of perfect calibration;
* `equal_calibration.py`: test that all groups have the same calibration;
* `disjoint_pairs.py`: intervals of AUCs from random pairs without common rows;
* `over_groups.py`: averages of random groups;
* `pairwise.py`: comparisons of two groups and of all pairs, and the largest difference;
* `margins.py`: non-inferiority of the worst group, and equivalence of all groups;
* `power.py`: power of tests and width of intervals for given numbers of rows;
* `heterogeneity.py`: test that all groups are equal, and standard deviation of the true AUCs;
* `shrinkage.py`: shrunken group AUCs (empirical Bayes);
* `rank_sets.py`: ranks of the groups, with confidence sets;
* `group_comparisons.py`: comparisons of each group with the rest;
* `cross_gap.py`: tests of xAUC disparities;
* `agreement.py`: comparisons of the groups' score distributions;
* `roc_curves.py`: ROC curves, and the area between two curves;
* `average_ranks.py`: average ranks of several models over groups;
* `paired.py`: comparison of two models on the same rows;
* `joint_models.py`: comparison of several models on the same rows; `largest_difference.py`: null
  distribution of the largest difference;
* `critical_difference.py`: critical differences of test sets.
"""
