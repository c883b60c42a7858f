"""Inference for AUCs over groups: which file answers which question, by which method.

There are two doors. A report from counts takes everything from sums of placement values by group
(``skfedauc._kernel``). Where rows must be paired, for several models and for clusters, the
effects of rows add up (`effects.py`). Both fill one frozen `Variances`, which everything else
reads.

One model:

===================  ======================================================================
``variances``        DeLong 1988; unbiased; bounded (Birnbaum and Klose 1957); pooled over groups;
                     the pooled AUC for fixed groups (strata) and for random groups; the same for
                     the pairs of rows in the same fold, and Obuchowski's (1997) for clusters
``effects``          placement values of rows, units, corrections (Bell and McCaffrey 2002);
                     averages over comparisons of classes
``limits``           hull of the logit and Newcombe's method 5 (2006); exact (Hoeffding 1963)
``intervals``        pooled; averages by MOVER (Zou and Donner 2008); worst group
``differences``      all pairs (Kramer 1956), reference and rest (Sidak 1967), largest difference,
                     and its expectation for equal groups
``group_tests``      equal groups: ANOVA-type statistic, Box's approximation (Brunner, Dette and
                     Munk 1997); non-inferiority of the worst group, equivalence (Berger 1982)
``ranking``          tau by REML (Viechtbauer 2005), shrunken AUCs (Morris 1983; Morris and Lysy
                     2012), rank sets (Mogstad 2024), worst group (Gupta 1965)
``cross_gap``        xAUC disparities (Kallus and Zhou 2019)
``agreement``        averages and the pooled AUC (TOST); Anderson and Darling's test
===================  ======================================================================

Shares: `rates.py` (limits of shares, their differences and ratios, and gaps; also of clustered
rows). Tools: `quantiles.py` (null distributions and roots).

Two or more models on the same rows:

===================  ======================================================================
``models``           pooled, averages, by group and over groups (Hothorn et al. 2008); changes of
                     the largest difference between groups, and of rates of decisions
``measures``         the same for other measures than the AUC
===================  ======================================================================

Curves and calibration:

* `curves.py`: ROC curves of all groups, the area between two curves, variances of a summary;
* `measures.py`: measures of curves: partial areas, sensitivity, specificity, average precision;
* `calibration.py`: calibration of probabilities: mean scores, slopes and bins.

Plans: `power.py` (critical differences, power of tests and width of intervals for given numbers of
rows).
"""
