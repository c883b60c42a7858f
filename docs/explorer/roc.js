"use strict";

// ROC curves as lists of [false positive rate, true positive rate].

const THRESHOLDS = Array.from({ length: 281 }, (_, i) => 10 - i * 0.065);

// Curve of two mixtures of normal scores.
function rocOfNormals(meanPositives, nPositives, meanNegatives, nNegatives) {
  const above = (threshold, means, counts) =>
    totalOf(means.map((mean, g) => counts[g] * normalCdf(mean - threshold))) / totalOf(counts);
  return THRESHOLDS.map((threshold) => [
    above(threshold, meanNegatives, nNegatives),
    above(threshold, meanPositives, nPositives),
  ]);
}

// Curve of rows with sorted scores. Points closer than half a pixel are left out.
function rocOfRows(positives, negatives) {
  const curve = [[0, 0]];
  let p = positives.length;
  let n = negatives.length;
  while (p > 0 || n > 0) {
    const score = Math.max(p ? positives[p - 1] : -Infinity, n ? negatives[n - 1] : -Infinity);
    while (p > 0 && positives[p - 1] === score) p--;
    while (n > 0 && negatives[n - 1] === score) n--;
    const point = [1 - n / negatives.length, 1 - p / positives.length];
    const [x, y] = curve.at(-1);
    if (point[0] - x + point[1] - y > 0.0015 || p + n === 0) curve.push(point);
  }
  return curve;
}

// True positive rate of a curve at a false positive rate.
function rateAt(curve, rate) {
  let low = 0;
  let high = curve.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (curve[middle][0] <= rate) low = middle;
    else high = middle;
  }
  const [[x0, y0], [x1, y1]] = [curve[low], curve[high]];
  return x1 > x0 ? y0 + ((y1 - y0) * Math.min(1, (rate - x0) / (x1 - x0))) : y1;
}

// Weighted mean of the true positive rates at each false positive rate. The area under this curve
// is the average of the AUCs with the same weights.
function averageCurve(curves, terms) {
  const total = totalOf(terms.map(({ weight }) => weight));
  const rates = [0, ...Array.from({ length: 399 }, (_, i) => normalCdf(-4 + (i + 1) * 0.02)), 1];
  return rates.map((rate) => [
    rate,
    totalOf(curves.map((curve, g) => (terms[g].weight / total) * rateAt(curve, rate))),
  ]);
}

// Curves of each group and of all rows; `rows` is null for infinitely many rows.
function rocCurvesOf({ meanPositives, meanNegatives, nPositives, nNegatives }, rows) {
  if (rows) {
    const all = (scores) => Float64Array.from(scores.flatMap((part) => [...part])).sort();
    return {
      byGroup: rows.positives.map((positives, g) => rocOfRows(positives, rows.negatives[g])),
      pooled: rocOfRows(all(rows.positives), all(rows.negatives)),
    };
  }
  return {
    byGroup: meanPositives.map((mean, g) => rocOfNormals([mean], [1], [meanNegatives[g]], [1])),
    pooled: rocOfNormals(meanPositives, nPositives, meanNegatives, nNegatives),
  };
}
