"use strict";

// AUCs of groups with normal scores of standard deviation 1, with the names in GroupAUC.

// Weight of a group in each average, computed from its numbers of positives and negatives.
const GROUP_WEIGHTS = {
  macro: () => 1,
  samples: (positives, negatives) => positives + negatives,
  positives: (positives) => positives,
  negatives: (positives, negatives) => negatives,
  within: (positives, negatives) => positives * negatives,
};
const AVERAGES = Object.keys(GROUP_WEIGHTS);

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

const totalOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
const meanOf = (numbers) => totalOf(numbers) / numbers.length;
const spreadOf = (numbers) => Math.max(...numbers) - Math.min(...numbers);

// Weighted mean of the AUCs of a list of terms.
function balance(terms) {
  return totalOf(terms.map(({ auc, weight }) => auc * weight)) / totalOf(terms.map((t) => t.weight));
}

// All statistics from the AUCs of each pair of groups, with the positives' groups in the rows.
// `values` holds each statistic by name; `terms` holds the AUCs and weights of each average.
function statisticsOf(crossMatrix, nPositives, nNegatives) {
  // One term for each pair of groups: g has the positives, h the negatives.
  const pairs = crossMatrix.flatMap((row, g) =>
    row.map((auc, h) => ({ g, h, auc, weight: nPositives[g] * nNegatives[h] })),
  );
  const within = pairs.filter(({ g, h }) => g === h);
  const terms = { pooled: pairs, cross: pairs.filter(({ g, h }) => g !== h) };
  for (const [name, weightOf] of Object.entries(GROUP_WEIGHTS)) {
    terms[name] = within.map((term) => ({
      ...term,
      weight: weightOf(nPositives[term.g], nNegatives[term.g]),
    }));
  }
  const byGroup = within.map(({ auc }) => auc);
  const worst = Math.min(...byGroup);
  const best = Math.max(...byGroup);
  const weightOf = (list) => totalOf(list.map(({ weight }) => weight));
  const shareWithin = weightOf(within) / weightOf(pairs);
  return {
    crossMatrix,
    byGroup,
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

// Statistics of infinitely many rows.
function populationOf({ meanPositives, meanNegatives, nPositives, nNegatives }) {
  const crossMatrix = meanPositives.map((positive) =>
    meanNegatives.map((negative) => normalCdf((positive - negative) / Math.SQRT2)),
  );
  return statisticsOf(crossMatrix, nPositives, nNegatives);
}

// Whether two AUCs are equal up to rounding.
function sameAuc(a, b) {
  return Math.abs(a - b) < 1e-12;
}
