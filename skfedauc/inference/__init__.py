"""Inference for AUCs over groups: variances, intervals, tests and rankings.

There are two doors. A report from counts takes everything from sums of placement values by group
(``skfedauc._kernel``). Where rows must be paired, for several models and for clusters, the
effects of rows add up (`row_effects.py`). Both fill one frozen `Variances`, which everything else
reads.

The docstring of each module says which questions it answers, and by which methods.

References, which docstrings name by author and year:

* Agresti, A. and Coull, B. A. (1998). https://doi.org/10.1080/00031305.1998.10480550; and Min, Y.
  (2005). https://doi.org/10.1002/sim.1781
* Albert, A. and Anderson, J. A. (1984). https://doi.org/10.1093/biomet/71.1.1
* Bamber, D. (1975). https://doi.org/10.1016/0022-2496(75)90001-2
* Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression
  with multi-stage samples. Survey Methodology 28(2).
* Benjamini, Y. and Hochberg, Y. (1995). https://doi.org/10.1111/j.2517-6161.1995.tb02031.x
* Berger, R. L. (1982). https://doi.org/10.1080/00401706.1982.10487790
* Bhatia, R. and Davis, C. (2000). https://doi.org/10.1080/00029890.2000.12005203
* Birnbaum, Z. W. and Klose, O. M. (1957). Bounds for the variance of the Mann-Whitney statistic.
  Annals of Mathematical Statistics 28(4).
* Brunner, E., Dette, H. and Munk, A. (1997). https://doi.org/10.1080/01621459.1997.10473671
* Chandrupatla, T. R. (1997). https://doi.org/10.1016/S0965-9978(96)00051-8
* Clopper, C. J. and Pearson, E. S. (1934). https://doi.org/10.1093/biomet/26.4.404
* Cochran, W. G. (1977). Sampling techniques. Wiley.
* Cox, D. R. (1958). https://doi.org/10.1093/biomet/45.3-4.562
* Deak, I. (1980). Three digit accurate multiple normal probabilities. Numerische Mathematik 35.
* DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). https://doi.org/10.2307/2531595
* Dodd, L. E. and Pepe, M. S. (2003). https://doi.org/10.1111/1541-0420.00071
* Donner, A. and Zou, G. Y. (2012). https://doi.org/10.1177/0962280210383082
* Gardner, J., Brooks, C. and Baker, R. (2019). https://doi.org/10.1145/3303772.3303791
* Gupta, S. S. (1965). On some multiple decision (selection and ranking) rules. Technometrics 7(2),
  225-245.
* Hampel, F. R. (1974). https://doi.org/10.1080/01621459.1974.10482962
* Hanley, J. A. and McNeil, B. J. (1982). https://doi.org/10.1148/radiology.143.1.7063747
* Hasler, M. and Hothorn, L. A. (2008). Multiple contrast tests in the presence of
  heteroscedasticity. Biometrical Journal 50(5).
* He, Y. and Escobar, M. (2008). https://doi.org/10.1002/sim.3335
* Hoeffding, W. (1956). https://doi.org/10.1214/aoms/1177728178
* Hoeffding, W. (1963). https://doi.org/10.1080/01621459.1963.10500830
* Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
  Statistics 6(2).
* Hothorn, T., Bretz, F. and Westfall, P. (2008). https://doi.org/10.1002/bimj.200810425
* Kallus, N. and Zhou, A. (2019). The fairness of risk scores beyond classification: bipartite
  ranking and the xAUC metric. NeurIPS 32.
* Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected
  number of positive counts estimated from survey data. Survey Methodology 24(2).
* Kramer, C. Y. (1956). https://doi.org/10.2307/3001469
* Liang, K.-Y. and Zeger, S. L. (1986). https://doi.org/10.1093/biomet/73.1.13
* McDiarmid, C. (1989). https://doi.org/10.1017/CBO9781107359949.008
* Mogstad, M., Romano, J. P., Shaikh, A. M. and Wilhelm, D. (2024).
  https://doi.org/10.1093/restud/rdad006
* Morris, C. N. (1983). https://doi.org/10.1080/01621459.1983.10477920
* Morris, C. N. and Lysy, M. (2012). https://arxiv.org/abs/1203.5610
* Newcombe, R. G. (1998), paired data.
  https://doi.org/10.1002/(SICI)1097-0258(19981130)17:22<2635::AID-SIM954>3.0.CO;2-C
* Newcombe, R. G. (1998), independent proportions.
  https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I
* Newcombe, R. G. (2006). https://doi.org/10.1002/sim.2324
* Obuchowski, N. A. (1997). https://doi.org/10.2307/2533958
* Owen, D. B. (1956). https://doi.org/10.1214/aoms/1177728074
* Rao, J. N. K. and Scott, A. J. (1992). https://doi.org/10.2307/2532311
* Scholz, F. W. and Stephens, M. A. (1987). https://doi.org/10.1080/01621459.1987.10478517
* Schuirmann, D. J. (1987). https://doi.org/10.1007/BF01068419
* Sidak, Z. (1967). https://doi.org/10.1080/01621459.1967.10482935
* Tukey, J. W. (1953). The problem of multiple comparisons. Princeton University.
* Viechtbauer, W. (2005). https://doi.org/10.3102/10769986030003261
* White, H. (1982). https://doi.org/10.2307/1912526
* Wilson, E. B. (1927). https://doi.org/10.1080/01621459.1927.10502953
* Zou, G. Y. and Donner, A. (2008). https://doi.org/10.1002/sim.3095
"""
