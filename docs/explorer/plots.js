"use strict";

// Plots as SVG. Positions along an axis are in per cent of its width, so that a new size of the
// window needs no new drawing.

// All means that the sliders can set, and three standard deviations on both sides.
const SCORES = { low: -4.5, high: 7, ticks: [-4, -2, 0, 2, 4, 6] };
const UPPER_AUCS = { low: 0.5, high: 1, ticks: [0.5, 0.6, 0.7, 0.8, 0.9, 1] };
const ALL_AUCS = { low: 0, high: 1, ticks: [0, 0.25, 0.5, 0.75, 1] };

function aucAxis({ crossMatrix }) {
  return Math.min(...crossMatrix.flat()) < 0.5 ? ALL_AUCS : UPPER_AUCS;
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

// Densities of two mixtures of normal scores, given as lists of {mean, weight}. The density of the
// standard normal distribution at 0 has the height `tallest`.
function drawDensities(svg, { negatives, positives, tallest }) {
  const zero = 97;
  const path = (parts, name) => {
    const points = [];
    for (let x = SCORES.low; x <= SCORES.high + 1e-9; x += 0.1) {
      let density = 0;
      for (const { mean, weight } of parts) density += weight * Math.exp(-((x - mean) ** 2) / 2);
      const y = zero - (90 * density) / tallest;
      points.push(`${(10 * position(x, SCORES, 0)).toFixed(1)},${y.toFixed(2)}`);
    }
    const curve = `M${points.join("L")}`;
    return (
      `<path class="area ${name}" d="${curve}L1000,${zero}L0,${zero}Z"/>` +
      `<path class="curve ${name}" d="${curve}"/>`
    );
  };
  const grid = SCORES.ticks
    .map((tick) => 10 * position(tick, SCORES, 0))
    .map((x) => `<path class="grid" d="M${x},0V${zero}"/>`);
  svg.innerHTML =
    grid.join("") +
    `<path class="grid" d="M0,${zero}H1000"/>` +
    path(negatives, "negative") +
    path(positives, "positive");
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

// Discs at the AUCs, with the weights as areas, and a diamond at the weighted average.
function drawBalance(svg, terms, value, pooled, axis) {
  const total = terms.reduce((sum, { weight }) => sum + weight, 0);
  const discs = joined(terms).map(({ auc, weight }) => {
    const share = weight / total;
    return (
      `<circle class="disc" cx="${position(auc, axis)}%" cy="50%" r="${12 * Math.sqrt(share)}">` +
      `<title>AUC ${auc.toFixed(4)}, weight ${(100 * share).toFixed(1)} %</title></circle>`
    );
  });
  const equals = sameAuc(value, pooled) ? " equal" : "";
  svg.innerHTML =
    aucGrid(axis) +
    discs.join("") +
    pooledLine(pooled, axis) +
    `<svg class="mark" x="${position(value, axis)}%" y="50%">` +
    `<path class="diamond${equals}" d="M0-6L6,0L0,6L-6,0Z"/></svg>`;
}

// A dot for each device with its number above. Numbers that would overlap are placed side by side.
function drawDevices(svg, byDevice, pooled, axis) {
  const dots = byDevice.map((auc, g) => ({ x: position(auc, axis), names: `${g + 1}` }));
  const labels = [];
  for (const { x, names } of [...dots].sort((a, b) => a.x - b.x)) {
    const last = labels.at(-1);
    if (last && x - last.end < 5) {
      last.names += ` ${names}`;
      last.end = x;
    } else {
      labels.push({ names, start: x, end: x });
    }
  }
  svg.innerHTML =
    aucGrid(axis) +
    pooledLine(pooled, axis) +
    dots.map(({ x }) => `<circle class="device" cx="${x}%" cy="70%" r="4.5"/>`).join("") +
    labels
      .map(({ names, start, end }) => `<text x="${(start + end) / 2}%" y="40%">${names}</text>`)
      .join("");
}
