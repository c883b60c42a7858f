"""Variances, intervals and tests.

All results need only a `ScoreCounts`, except the paired comparison of two models, which needs the
rows.

Variances:

* `variances.py`: variances of group AUCs and of the pooled AUC, from placement values;
* `fold_variances.py`: variances of AUCs over the pairs of rows of the same fold;
* `clusters.py`: variances of clustered rows;
* `pair_moments.py`: variance of an AUC for any number of rows, and its value for normal scores;
* `class_averages.py`: variances of averages over comparisons of classes.

Intervals:

* `intervals.py`: confidence intervals of AUCs, averages and the worst group;
* `binomial.py`, `proportions.py`: limits of probabilities, and of differences and ratios of shares.

Comparisons of groups:

* `equal_groups.py`: test that all groups have the same true AUC;
* `null_difference.py`: expected difference of the largest and the smallest AUC of equal groups;
* `heterogeneity.py`: standard deviation of the true AUCs;
* `pairwise.py`: comparisons of two groups and of all pairs, and the largest difference;
* `group_comparisons.py`: comparisons of each group with the rest;
* `margins.py`: non-inferiority of the worst group, and equivalence of all groups;
* `ranking.py`: shrunken group AUCs (empirical Bayes), and ranks with confidence sets;
* `cross_gap.py`: tests of xAUC disparities;
* `agreement.py`: comparisons of the groups' score distributions.

Comparisons of models:

* `paired.py`: comparison of two models on the same rows;
* `paired_measures.py`: comparison of two models by other measures than the AUC;
* `changed_pairs.py`: pairs of rows whose order differs between two models;
* `largest_gap.py`, `disparity_changes.py`, `paired_rates.py`: changes of the largest difference, of
  xAUC disparities, and of rates of decisions;
* `models.py`: comparison of several models on the same rows;
* `critical_difference.py`: critical differences of test sets.

Curves and calibration:

* `curves.py`: ROC curves of all groups, the area between two curves, variances of a summary;
* `measures.py`: measures of curves: partial areas, sensitivity, specificity, average precision;
* `calibration.py`: calibration of probabilities: mean scores, slopes and bins.

Plans and simulations:

* `quantiles.py`: null distributions of ranges, largest differences and averages of random groups;
* `power.py`: power of tests and width of intervals for given numbers of rows;
* `simulation.py`: p values from simulated statistics.
"""
