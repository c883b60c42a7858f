"use strict";

// Rows drawn from the groups' score distributions, and the AUCs of these rows.

// 32-bit integers of the generator sfc32 by Chris Doty-Humphrey (PractRand). Numbers of different
// streams are independent.
function generator(seed, draw, stream) {
  let [a, b, c, counter] = [seed | 0, draw | 0, stream | 0, 1];
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 20; i++) next();
  return next;
}

// n normal numbers by Box and Muller (1958), A note on the generation of random normal deviates,
// https://doi.org/10.1214/aoms/1177706645
function normals(next, mean, n) {
  const numbers = new Float64Array(n);
  for (let i = 0; i < n; i += 2) {
    const radius = Math.sqrt(-2 * Math.log((next() + 0.5) / 2 ** 32));
    const angle = (2 * Math.PI * (next() + 0.5)) / 2 ** 32;
    numbers[i] = mean + radius * Math.cos(angle);
    if (i + 1 < n) numbers[i + 1] = mean + radius * Math.sin(angle);
  }
  return numbers;
}

// Sorted scores of each group's positives and negatives. A group and class has its own stream, so
// that the other rows stay if one slider moves.
function drawRows({ meanPositives, meanNegatives, nPositives, nNegatives }, seed, draw = 0) {
  const rows = (means, counts, parity) =>
    means.map((mean, g) => normals(generator(seed, draw, 2 * g + parity), mean, counts[g]).sort());
  return {
    positives: rows(meanPositives, nPositives, 1),
    negatives: rows(meanNegatives, nNegatives, 0),
  };
}

// AUC of sorted scores: the share of pairs in which the positive is higher; ties count one half.
function aucOfSorted(positives, negatives) {
  let twice = 0;
  let below = 0;
  let notAbove = 0;
  for (const score of positives) {
    while (below < negatives.length && negatives[below] < score) below++;
    while (notAbove < negatives.length && negatives[notAbove] <= score) notAbove++;
    twice += below + notAbove;
  }
  return twice / (2 * positives.length * negatives.length);
}

// Statistics of drawn rows.
function sampleOf({ positives, negatives }) {
  const crossMatrix = positives.map((p) => negatives.map((n) => aucOfSorted(p, n)));
  const counts = (scores) => scores.map(({ length }) => length);
  return statisticsOf(crossMatrix, counts(positives), counts(negatives));
}

// Central 95 % of the values of many draws by name; group AUCs have the names 1, 2 and so on.
const DRAWS = 200;
function limitsOf(draws) {
  const tail = Math.round(0.025 * draws.length);
  const limits = {};
  for (const name of Object.keys(draws[0])) {
    const sorted = draws.map((draw) => draw[name]).sort((a, b) => a - b);
    limits[name] = [sorted[tail], sorted.at(-1 - tail)];
  }
  return limits;
}

function valuesOfDraw(groups, draw) {
  // A seed that no link has, so that the shown rows are not one of these draws.
  const { values, byGroup } = sampleOf(drawRows(groups, -1, draw));
  return { ...values, ...Object.fromEntries(byGroup.map((auc, g) => [g + 1, auc])) };
}
