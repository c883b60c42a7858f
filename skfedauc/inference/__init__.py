"""Variances, intervals and tests, from a partial; of two models on the same rows, from the rows.

* `variances.py`: of group AUCs and the pooled AUC, from the placements of rows;
* `intervals.py`: limits of AUCs, averages and the worst;
* `over_groups.py`: averages over new groups;
* `pairwise.py`: two groups, all pairs of groups, and the largest difference;
* `heterogeneity.py`: are all groups equal, how much do their true AUCs differ;
* `group_comparisons.py`: each group with the rest;
* `agreement.py`: how alike the groups' scores are;
* `paired.py`: two models on the same rows;
* `luck.py`: critical differences of test sets, and of the candidates of a search.
"""
