"use strict";

// The controls hold the state. After every change the page reads them, computes and draws, and
// writes the state into the address.

const MOST_DEVICES = 6;
const SPREADS_OF_CASE = {
  identical: [0, 0],
  same_negatives: [0, 1.5],
  same_positives: [1.5, 0],
  different: [1.5, 1.5],
};
const COUNTS = {
  equal: { positives: Array(MOST_DEVICES).fill(500), negatives: Array(MOST_DEVICES).fill(500) },
  unequal: { positives: [800, 400, 200, 100, 600, 50], negatives: [100, 300, 600, 1000, 200, 900] },
};

const element = (id) => document.getElementById(id);
const all = (selector) => [...document.querySelectorAll(selector)];

// Sliders by their names in the address; sliders of counts by class and device.
const sliders = {
  spread_negatives: element("spread-negatives"),
  spread_positives: element("spread-positives"),
  separation: element("separation"),
};
const nDevices = element("n-devices");
const heights = element("heights");
const countSliders = { positives: [], negatives: [] };
const countRows = [];
const deviceRows = [];

function buildRows() {
  for (let g = 0; g < MOST_DEVICES; g++) {
    const counts = element("counts-row").content.firstElementChild.cloneNode(true);
    counts.querySelector("th").textContent = `${g + 1}`;
    ["positives", "negatives"].forEach((name, column) => {
      const cell = counts.querySelectorAll("td")[column];
      const slider = cell.querySelector("input");
      slider.id = `${name}-${g + 1}`;
      cell.querySelector("label").htmlFor = slider.id;
      cell.querySelector("label").textContent = `${name} of device ${g + 1}`;
      cell.querySelector("output").htmlFor = slider.id;
      countSliders[name].push(slider);
    });
    countRows.push(counts);
    const device = element("device-row").content.firstElementChild.cloneNode(true);
    device.querySelector("th").textContent = `device ${g + 1}`;
    device.querySelector("td").dataset.device = g + 1;
    deviceRows.push(device);
  }
  element("counts").append(...countRows);
  element("devices").append(...deviceRows);
}

function readControls() {
  const n = Number(nDevices.value);
  const counts = (name) => countSliders[name].slice(0, n).map((slider) => Number(slider.value));
  return {
    spreadNegatives: Number(sliders.spread_negatives.value),
    spreadPositives: Number(sliders.spread_positives.value),
    separation: Number(sliders.separation.value),
    nPositives: counts("positives"),
    nNegatives: counts("negatives"),
  };
}

function setCounts({ positives, negatives }) {
  positives.forEach((count, g) => (countSliders.positives[g].value = count));
  negatives.forEach((count, g) => (countSliders.negatives[g].value = count));
}

function setSpreads([negatives, positives]) {
  sliders.spread_negatives.value = negatives;
  sliders.spread_positives.value = positives;
}

// The address

function hashOf(state) {
  const parts = [
    ...Object.entries(sliders).map(([name, slider]) => `${name}=${slider.value}`),
    `n_positives=${state.nPositives}`,
    `n_negatives=${state.nNegatives}`,
  ];
  if (!heights.checked) parts.push("heights=equal");
  return `#${parts.join("&")}`;
}

// Keep the current value of whatever is missing or invalid in the address.
function readHash() {
  const given = new URLSearchParams(location.hash.slice(1));
  const numbers = (name) => {
    const texts = (given.get(name) ?? "").split(",");
    const valid = texts.every((text) => text.trim() !== "" && Number.isFinite(Number(text)));
    return valid ? texts.map(Number) : [];
  };
  for (const [name, slider] of Object.entries(sliders)) {
    const value = numbers(name);
    if (value.length === 1) slider.value = value[0];
  }
  const positives = numbers("n_positives");
  const negatives = numbers("n_negatives");
  const n = positives.length;
  if (n === negatives.length && n >= Number(nDevices.min) && n <= MOST_DEVICES) {
    nDevices.value = n;
    setCounts({ positives, negatives });
  }
  if (given.size) heights.checked = given.get("heights") !== "equal";
}

// Wait until quick changes have ended, because browsers limit how often the address may change.
let waiting;
function writeHashSoon(state) {
  clearTimeout(waiting);
  waiting = setTimeout(() => history.replaceState(null, "", hashOf(state)), 200);
}

// Showing

function showNumber(cell, value) {
  cell.dataset.value = value;
  cell.querySelector(".number").textContent = value.toFixed(4);
}

function lessText(value, pooled) {
  const less = value - pooled;
  if (sameAuc(value, pooled)) return "= pooled";
  const sign = less < 0 ? "−" : "+";
  return Math.abs(less) < 0.00005 ? `${sign}<0.0001` : sign + Math.abs(less).toFixed(4);
}

function showControls(state) {
  for (const slider of Object.values(sliders)) {
    slider.parentElement.querySelector("output").textContent = Number(slider.value).toFixed(2);
  }
  for (const slider of [nDevices, ...countSliders.positives, ...countSliders.negatives]) {
    slider.parentElement.querySelector("output").textContent = slider.value;
  }
  [...countRows, ...deviceRows].forEach((row, i) => {
    row.hidden = i % MOST_DEVICES >= state.nPositives.length;
  });
  for (const button of all("button[data-case]")) {
    button.setAttribute("aria-pressed", button.dataset.case === caseOf(state));
  }
  for (const button of all("button[data-counts]")) {
    const pressed = (button.dataset.counts === "equal") === hasEqualCounts(state);
    button.setAttribute("aria-pressed", pressed);
  }
}

function showDistributions(state, known) {
  const { nPositives, nNegatives } = state;
  const weight = (count) => (heights.checked ? count : 1);
  const parts = (means, counts) => means.map((mean, g) => ({ mean, weight: counts[g] }));
  const negatives = parts(known.meanNegative, nNegatives);
  const positives = parts(known.meanPositive, nPositives);
  const drawn = (part) => ({ mean: part.mean, weight: weight(part.weight) });
  known.byDevice.forEach((auc, g) => {
    showNumber(deviceRows[g].querySelector("td"), auc);
    drawDensities(deviceRows[g].querySelector("svg"), {
      negatives: [drawn(negatives[g])],
      positives: [drawn(positives[g])],
      tallest: Math.max(...[...negatives, ...positives].map((part) => weight(part.weight))),
    });
  });
  const total = (counts) => counts.reduce((sum, count) => sum + count, 0);
  const totals = [total(nNegatives), total(nPositives)];
  const shares = (list, sum) =>
    list.map((part) => ({ mean: part.mean, weight: (weight(sum) * part.weight) / sum }));
  drawDensities(element("density-pooled"), {
    negatives: shares(negatives, totals[0]),
    positives: shares(positives, totals[1]),
    tallest: Math.max(...totals.map(weight)),
  });
}

function showAverages(known) {
  const { values, terms, byDevice, best } = known;
  const axis = aucAxis(known);
  for (const cell of all("[data-statistic]")) {
    const value = values[cell.dataset.statistic];
    showNumber(cell, value);
    const less = cell.querySelector(".less");
    if (less) less.textContent = lessText(value, values.pooled);
  }
  element("range").querySelector(".number").textContent = values.worst.toFixed(4);
  element("range").querySelector(".less").textContent = `to ${best.toFixed(4)}`;
  for (const svg of all("[data-terms]")) {
    const name = svg.dataset.terms;
    drawBalance(svg, terms[name], values[name], values.pooled, axis);
  }
  drawDevices(element("axis-devices"), byDevice, values.pooled, axis);
  drawAxis(element("auc-axis"), axis);
}

function showCrossMatrix({ crossMatrix }) {
  const numbers = crossMatrix.map((_, g) => `<th scope="col">${g + 1}</th>`).join("");
  const cell = (auc, g, h) =>
    `<td${g === h ? ' class="own"' : ""} data-value="${auc}">${auc.toFixed(4)}</td>`;
  const table = element("cross-matrix");
  table.tHead.innerHTML = `<tr><th scope="col">Device</th>${numbers}</tr>`;
  table.tBodies[0].innerHTML = crossMatrix
    .map((row, g) => row.map((auc, h) => cell(auc, g, h)).join(""))
    .map((cells, g) => `<tr><th scope="row">${g + 1}</th>${cells}</tr>`)
    .join("");
}

function showWords(state, known) {
  const verdict = verdictOn(state, known);
  // Set only a different text, or a screen reader would read it at every step of a slider.
  if (element("verdict").textContent !== verdict) element("verdict").textContent = verdict;
  const python = pythonOf(state, known);
  element("snippet").textContent = python ?? "";
  element("python").hidden = python === null;
  element("no-case").hidden = python !== null;
  element("copied").textContent = "";
}

function show() {
  const state = readControls();
  const known = populationOf(state);
  showControls(state);
  showDistributions(state, known);
  showAverages(known);
  showCrossMatrix(known);
  showWords(state, known);
  return state;
}

async function copyPython() {
  try {
    await navigator.clipboard.writeText(element("snippet").textContent);
    element("copied").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(element("snippet"));
    element("copied").textContent = "Selected: copy it with Ctrl+C";
  }
}

function start() {
  buildRows();
  setCounts(COUNTS.unequal);
  readHash();
  drawAxis(element("score-axis"), SCORES, 0);
  show();

  const change = () => writeHashSoon(show());
  for (const input of all("input")) input.addEventListener("input", change);
  for (const button of all("button[data-case]")) {
    button.addEventListener("click", () => {
      setSpreads(SPREADS_OF_CASE[button.dataset.case]);
      change();
    });
  }
  for (const button of all("button[data-counts]")) {
    button.addEventListener("click", () => {
      setCounts(COUNTS[button.dataset.counts]);
      change();
    });
  }
  element("copy").addEventListener("click", copyPython);
  addEventListener("hashchange", () => {
    clearTimeout(waiting);
    readHash();
    show();
  });
}

start();
