"use strict";

// AUCs of devices with normal scores of standard deviation 1, with the names that the attribute
// population of skfedauc.datasets.make_group_scores uses.

// Weight of a device in each average, computed from its numbers of positives and negatives.
const DEVICE_WEIGHTS = {
  macro: () => 1,
  samples: (positives, negatives) => positives + negatives,
  positives: (positives) => positives,
  negatives: (positives, negatives) => negatives,
  within: (positives, negatives) => positives * negatives,
};
const AVERAGES = Object.keys(DEVICE_WEIGHTS);

// Normal distribution function in double precision, by its power series
// 1/2 + phi(x) (x + x^3 / 3 + x^5 / (3 5) + ...): Abramowitz and Stegun (1964), Handbook of
// Mathematical Functions, 26.2.11; Marsaglia (2004), Evaluating the normal distribution, Journal
// of Statistical Software 11(4), https://doi.org/10.18637/jss.v011.i04
function normalCdf(x) {
  if (Math.abs(x) > 9) return x > 0 ? 1 : 0; // by less than 1e-18
  let term = x;
  let sum = x;
  for (let odd = 3; Math.abs(term) > 1e-17 * Math.abs(sum); odd += 2) {
    term *= (x * x) / odd;
    sum += term;
  }
  return 0.5 + (sum * Math.exp(-(x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

// Weighted mean of the AUCs of a list of terms.
function balance(terms) {
  let sum = 0;
  let total = 0;
  for (const { auc, weight } of terms) {
    sum += weight * auc;
    total += weight;
  }
  return sum / total;
}

// Evenly spaced means of n devices around a middle; `spread` is the last minus the first.
function deviceMeans(middle, spread, n) {
  return Array.from({ length: n }, (_, g) => middle + spread * (g / (n - 1) - 0.5));
}

// `values` holds each statistic by name; `terms` holds the AUCs and weights of each average.
function populationOf({ spreadNegatives, spreadPositives, separation, nPositives, nNegatives }) {
  const meanNegative = deviceMeans(0, spreadNegatives, nNegatives.length);
  const meanPositive = deviceMeans(separation, spreadPositives, nPositives.length);
  const crossMatrix = meanPositive.map((positive) =>
    meanNegative.map((negative) => normalCdf((positive - negative) / Math.SQRT2)),
  );
  // One term for each pair of devices: g has the positives, h the negatives.
  const pairs = crossMatrix.flatMap((row, g) =>
    row.map((auc, h) => ({ g, h, auc, weight: nPositives[g] * nNegatives[h] })),
  );
  const within = pairs.filter(({ g, h }) => g === h);
  const terms = { pooled: pairs, cross: pairs.filter(({ g, h }) => g !== h) };
  for (const [name, weightOf] of Object.entries(DEVICE_WEIGHTS)) {
    terms[name] = within.map((term) => ({
      ...term,
      weight: weightOf(nPositives[term.g], nNegatives[term.g]),
    }));
  }
  const byDevice = within.map(({ auc }) => auc);
  const worst = Math.min(...byDevice);
  const best = Math.max(...byDevice);
  const weightOf = (list) => list.reduce((sum, { weight }) => sum + weight, 0);
  const shareWithin = weightOf(within) / weightOf(pairs);
  return {
    meanPositive,
    meanNegative,
    crossMatrix,
    byDevice,
    best,
    terms,
    values: {
      ...Object.fromEntries(Object.entries(terms).map(([name, list]) => [name, balance(list)])),
      worst,
      ratio: worst / best,
      difference: best - worst,
      cross_difference: Math.max(
        ...pairs.map(({ g, h }) => Math.abs(crossMatrix[g][h] - crossMatrix[h][g])),
      ),
      share_within: shareWithin,
      share_across: 1 - shareWithin,
    },
  };
}

// Whether two AUCs are equal up to rounding.
function sameAuc(a, b) {
  return Math.abs(a - b) < 1e-12;
}
