"use strict";

// Plots as SVG. Positions along an axis are in per cent of its width, so that a new size of the
// window needs no new drawing.

const SCORES = { low: -4.5, high: 6.5, ticks: [-4, -2, 0, 2, 4, 6] };
const BIN = 0.25; // width of a histogram's bar
const UPPER_AUCS = { low: 0.5, high: 1, ticks: [0.5, 0.6, 0.7, 0.8, 0.9, 1] };
const MOST_AUCS = { low: 0.2, high: 1, ticks: [0.2, 0.4, 0.6, 0.8, 1] };
const ALL_AUCS = { low: 0, high: 1, ticks: [0, 0.25, 0.5, 0.75, 1] };

function aucAxis({ crossMatrix }) {
  const lowest = Math.min(...crossMatrix.flat());
  return [UPPER_AUCS, MOST_AUCS, ALL_AUCS].find(({ low }) => lowest >= low);
}

// Per cent of the width, with a margin for marks at either end.
function position(value, { low, high }, margin = 4) {
  return margin + ((100 - 2 * margin) * (value - low)) / (high - low);
}

function drawAxis(svg, axis, margin) {
  svg.innerHTML = axis.ticks
    .map((tick) => `<text x="${position(tick, axis, margin)}%" y="75%">${tick}</text>`)
    .join("");
}

// Densities of two mixtures of normal scores, given as lists of {mean, weight, rows}. The density
// of the standard normal distribution at 0 has the height `tallest`. With rows, histograms of their
// scores are filled instead of the areas under the curves.
function drawDensities(svg, { negatives, positives, tallest }) {
  const zero = 97;
  const x = (score) => (10 * position(score, SCORES, 0)).toFixed(1);
  const y = (density) => (zero - (88 * density) / tallest).toFixed(2);
  const path = (parts, name) => {
    const points = [];
    for (let score = SCORES.low; score <= SCORES.high + 1e-9; score += 0.1) {
      const density = totalOf(
        parts.map(({ mean, weight }) => weight * Math.exp(-((score - mean) ** 2) / 2)),
      );
      points.push(`${x(score)},${y(density)}`);
    }
    const curve = `M${points.join("L")}`;
    const area = parts[0].rows ? histogram(parts) : `${curve}L1000,${zero}L0,${zero}Z`;
    return (
      `<path class="area ${name}${parts[0].rows ? " rows" : ""}" d="${area}"/>` + `<path class="curve ${name}" d="${curve}"/>`
    );
  };
  const histogram = (parts) => {
    const bars = new Float64Array(Math.round((SCORES.high - SCORES.low) / BIN));
    for (const { weight, rows } of parts) {
      const height = (Math.sqrt(2 * Math.PI) * weight) / (rows.length * BIN);
      for (const score of rows) {
        const bar = Math.floor((score - SCORES.low) / BIN);
        if (bar >= 0 && bar < bars.length) bars[bar] += height;
      }
    }
    const tops = [...bars].map((height, i) => `V${y(height)}H${x(SCORES.low + (i + 1) * BIN)}`);
    return `M0,${zero}${tops.join("")}V${zero}Z`;
  };
  const grid = SCORES.ticks.map((tick) => `<path class="grid" d="M${x(tick)},0V${zero}"/>`);
  svg.innerHTML =
    grid.join("") +
    `<path class="grid" d="M0,${zero}H1000"/>` +
    path(negatives, "negative") +
    path(positives, "positive");
}

// ROC curves in a square of 100 units: of each group with its number, the average of the groups'
// curves, and that of all rows. The area between the last two is filled.
function drawRoc(svg, { byGroup, pooled, average }, areEqual) {
  const point = ([x, y]) => `${(100 * x).toFixed(2)},${(100 - 100 * y).toFixed(2)}`;
  const points = (curve) => curve.map(point).join("L");
  const line = (curve, name, extra = "") => `<path class="${name}" ${extra} d="M${points(curve)}"/>`;
  const ticks = [0, 0.5, 1];
  const marks = numbersOf(byGroup.map(crossingOf), 9).map(
    ({ names, at }) =>
      `<text class="number" x="${(100 * at).toFixed(1)}" y="${(100 * at).toFixed(1)}">${names}</text>`,
  );
  svg.innerHTML =
    ticks.map((tick) => `<path class="grid" d="M${100 * tick},0V100M0,${100 * tick}H100"/>`).join("") +
    ticks.map((tick) => `<text x="${100 * tick}" y="106.5">${tick}</text>`).join("") +
    ticks.map((tick) => `<text class="left" x="-2" y="${101.5 - 100 * tick}">${tick}</text>`).join("") +
    `<path class="grid" d="M0,100L100,0"/>` +
    `<text x="50" y="113">False positive rate</text>` +
    `<text transform="translate(-10,50) rotate(-90)">True positive rate</text>` +
    (areEqual
      ? ""
      : `<path class="between" d="M${points(average)}L${points([...pooled].reverse())}Z"/>`) +
    byGroup.map((curve, g) => line(curve, "of-group", `data-group="${g + 1}"`)).join("") +
    line(pooled, "of-all") +
    line(average, "of-average") +
    marks.join("");
}

// Where a curve crosses the line from the upper left to the lower right corner.
function crossingOf(curve) {
  const [x] = curve.find(([x, y]) => x + y >= 1);
  return x;
}

// Numbers of the groups at their places. Numbers that would overlap share a place.
function numbersOf(places, width) {
  const marks = [];
  const sorted = places.map((at, g) => ({ at, g })).sort((a, b) => a.at - b.at || a.g - b.g);
  for (const { at, g } of sorted) {
    const last = marks.at(-1);
    if (last && 100 * (at - last.end) < width / 2) {
      last.groups.push(g + 1);
      last.end = at;
      last.at = (last.start + at) / 2;
    } else {
      marks.push({ groups: [g + 1], start: at, end: at, at });
    }
  }
  return marks.map(({ groups, at }) => ({ names: groups.sort().join(" "), at }));
}

function aucGrid(axis) {
  return axis.ticks
    .map((tick) => `${position(tick, axis)}%`)
    .map((x) => `<line class="grid" x1="${x}" x2="${x}" y1="0" y2="100%"/>`)
    .join("");
}

function pooledLine(pooled, axis) {
  const x = `${position(pooled, axis)}%`;
  return `<line class="pooled" x1="${x}" x2="${x}" y1="0" y2="100%"/>`;
}

// Join terms with equal AUCs and add their weights.
function joined(terms) {
  const places = [];
  for (const { auc, weight } of terms) {
    const place = places.find((other) => sameAuc(other.auc, auc));
    if (place) place.weight += weight;
    else places.push({ auc, weight });
  }
  return places;
}

// Discs at the AUCs, with the weights as areas, and a diamond at the weighted average. `limits` are
// the ends of the bar of sampling error, or null.
function drawBalance(svg, terms, { value, pooled, limits, digits, isChosen }, axis) {
  const total = totalOf(terms.map(({ weight }) => weight));
  const discs = joined(terms).map(({ auc, weight }) => {
    const share = weight / total;
    return (
      `<circle class="disc" cx="${position(auc, axis)}%" cy="50%" r="${12 * Math.sqrt(share)}">` +
      `<title>AUC ${auc.toFixed(digits)}, weight ${(100 * share).toFixed(0)} %</title></circle>`
    );
  });
  const [low, high] = (limits ?? []).map((limit) => `${position(limit, axis)}%`);
  const bar = limits ? `<line class="limits" x1="${low}" x2="${high}" y1="50%" y2="50%"/>` : "";
  const names = `${sameAuc(value, pooled) ? " equal" : ""}${isChosen ? " chosen" : ""}`;
  svg.innerHTML =
    aucGrid(axis) +
    discs.join("") +
    pooledLine(pooled, axis) +
    bar +
    `<svg class="mark" x="${position(value, axis)}%" y="50%">` +
    `<path class="diamond${names}" d="M0-6L6,0L0,6L-6,0Z"/></svg>`;
}

// A dot for each group with its number above.
function drawGroups(svg, byGroup, pooled, axis) {
  const places = byGroup.map((auc) => position(auc, axis));
  svg.innerHTML =
    aucGrid(axis) +
    pooledLine(pooled, axis) +
    places.map((x) => `<circle class="group" cx="${x}%" cy="70%" r="4.5"/>`).join("") +
    numbersOf(places.map((x) => x / 100), 10)
      .map(({ names, at }) => `<text x="${100 * at}%" y="40%">${names}</text>`)
      .join("");
}
