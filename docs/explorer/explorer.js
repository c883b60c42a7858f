"use strict";

// Every control changes the state; the page then shows it and writes it into the address.

const element = (id) => document.getElementById(id);
const all = (selector) => [...document.querySelectorAll(`.explorer ${selector}`)];
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
const KEYS_OF_CLASS = { negatives: "meanNegatives", positives: "meanPositives" };

let state = FIRST_STATE;
const groupRows = [];
const countRows = [];

function buildRows() {
  for (let g = 0; g < MOST_GROUPS; g++) {
    const group = element("group-row").content.firstElementChild.cloneNode(true);
    group.querySelector("td").dataset.group = g + 1;
    for (const input of group.querySelectorAll("input")) {
      const name = input.dataset.class;
      const key = KEYS_OF_CLASS[name];
      Object.assign(input, {
        id: `mean-${name}-${g + 1}`,
        min: RANGES.mean.low,
        max: RANGES.mean.high,
        step: 0.05,
      });
      input.setAttribute("aria-label", `Mean score of the ${name} of group ${g + 1}`);
      input.addEventListener("input", () =>
        change((old) => withEntry(old, key, g, toMean(Number(input.value)))),
      );
    }
    makeMovable(group, g);
    groupRows.push(group);

    const counts = element("counts-row").content.firstElementChild.cloneNode(true);
    counts.querySelector("th").textContent = `${g + 1}`;
    ["positives", "negatives"].forEach((name, column) => {
      const cell = counts.querySelectorAll("td")[column];
      const slider = cell.querySelector("input");
      const key = column ? "nNegatives" : "nPositives";
      const { low: min, high: max } = RANGES.count;
      Object.assign(slider, { id: `${name}-${g + 1}`, min, max, step: 10 });
      cell.querySelector("label").htmlFor = slider.id;
      cell.querySelector("label").textContent = `${name} of group ${g + 1}`;
      cell.querySelector("output").htmlFor = slider.id;
      slider.addEventListener("input", () =>
        change((old) => withEntry(old, key, g, toCount(Number(slider.value)))),
      );
    });
    countRows.push(counts);
  }
  element("groups").append(...groupRows);
  element("counts").append(...countRows);
}

// Drag the curve whose handle is nearest to the pointer. The sliders of the keyboard are the same
// controls: the slider of the curve gets the focus.
function makeMovable(row, g) {
  const pane = row.querySelector(".pane");
  const inputs = [...pane.querySelectorAll("input")];
  let drag = null;
  pane.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const distance = (input) => {
      const box = input.nextElementSibling.getBoundingClientRect();
      const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
      return Math.hypot(event.clientX - x, event.clientY - y);
    };
    const input = inputs.reduce((a, b) => (distance(b) < distance(a) ? b : a));
    const key = KEYS_OF_CLASS[input.dataset.class];
    event.preventDefault(); // keep the focus on the slider, and select no text
    input.focus({ preventScroll: true });
    pane.setPointerCapture(event.pointerId);
    finishAnimation();
    drag = { key, from: state[key][g], x: event.clientX };
    pane.classList.add("dragged");
  });
  pane.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const width = pane.getBoundingClientRect().width;
    const step = ((SCORES.high - SCORES.low) * (event.clientX - drag.x)) / width;
    const mean = Math.round((drag.from + step) * 20) / 20;
    change((old) => withEntry(old, drag.key, g, toMean(mean)));
  });
  for (const end of ["pointerup", "pointercancel"]) {
    pane.addEventListener(end, () => {
      drag = null;
      pane.classList.remove("dragged");
    });
  }
  const mark = (isCurrent) => () => {
    for (const curve of all(`#roc [data-group="${g + 1}"]`)) {
      curve.classList.toggle("current", isCurrent);
    }
  };
  for (const start of ["pointerenter", "focusin"]) row.addEventListener(start, mark(true));
  for (const end of ["pointerleave", "focusout"]) row.addEventListener(end, mark(false));
}

// Changes

// `update` returns the next state from the present one.
function change(update) {
  finishAnimation();
  state = update(state);
  show();
  for (const what of ["copied", "shared"]) element(what).textContent = "";
  writeHashSoon();
}

let animation = null; // the frame that comes, and the state whose curves are drawn
function finishAnimation() {
  if (!animation) return;
  cancelAnimationFrame(animation.frame);
  animation = null;
}

// Move the curves from the present state to the next one, unless the reader wants no motion. The
// numbers and the words are those of the next state at once: between the two, they would be wrong.
function moveTo(update) {
  const from = animation?.drawn ?? state;
  change(update);
  const end = state;
  if (reducedMotion.matches || from.nGroups !== end.nGroups) return;
  const duration = 700;
  let start = null;
  const step = (now) => {
    start ??= now;
    const time = Math.min(1, (now - start) / duration);
    if (time === 1) finishAnimation();
    else animation.drawn = stateBetween(from, end, (1 - Math.cos(Math.PI * time)) / 2);
    showCurves(animation?.drawn ?? end);
    if (animation) animation.frame = requestAnimationFrame(step);
  };
  animation = { frame: requestAnimationFrame(step), drawn: from };
  showCurves(from);
}

// Wait until quick changes have ended, because browsers limit how often the address may change.
let waiting;
function writeHash() {
  clearTimeout(waiting);
  history.replaceState(history.state, "", hashOf(state));
}
function writeHashSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(writeHash, 200);
}

// Showing

const digits = (value) => value.toFixed(state.digits);

function showNumber(cell, value) {
  cell.dataset.value = value;
  (cell.querySelector(".number") ?? cell).textContent = digits(value);
}

function showSlider(slider, value, text, spoken) {
  slider.value = value;
  slider.setAttribute("aria-valuetext", spoken ?? text);
  const output = slider.parentElement.querySelector("output");
  if (output) output.textContent = text;
}

function showControls(groups, shown) {
  const units = (value) => `${value.toFixed(2)} standard deviations`;
  const values = {
    "spread-negatives": spreadOf(groups.meanNegatives),
    "spread-positives": spreadOf(groups.meanPositives),
    separation: separationOf(groups),
  };
  for (const [id, value] of Object.entries(values)) {
    showSlider(element(id), value, value.toFixed(2), units(value));
  }
  showSlider(element("n-groups"), state.nGroups, `${state.nGroups}`, `${state.nGroups} groups`);
  const isShown = (g) => g < state.nGroups;
  groupRows.forEach((row, g) => {
    row.hidden = !isShown(g);
    if (row.hidden) return;
    row.querySelector("th").innerHTML =
      `${g + 1} <small>${groups.nPositives[g]} pos.<br>${groups.nNegatives[g]} neg.</small>`;
    for (const input of row.querySelectorAll("input")) {
      const mean = groups[KEYS_OF_CLASS[input.dataset.class]][g];
      const spoken = `${units(mean)}, AUC of the group ${digits(shown.byGroup[g])}`;
      showSlider(input, mean, "", spoken);
    }
  });
  countRows.forEach((row, g) => {
    row.hidden = !isShown(g);
    [state.nPositives[g], state.nNegatives[g]].forEach((count, column) => {
      const name = column ? "negatives" : "positives";
      showSlider(row.querySelectorAll("input")[column], count, `${count}`, `${count} ${name}`);
    });
  });
  const press = (button, isPressed) => button.setAttribute("aria-pressed", isPressed);
  for (const button of all("[data-case]")) press(button, button.dataset.case === caseOf(groups));
  for (const button of all("[data-counts]")) {
    press(button, (button.dataset.counts === "equal") === hasEqualCounts(groups));
  }
  element("average").value = state.average;
  element("sampled").checked = state.sampled;
  element("again").disabled = !state.sampled;
  element("heights").checked = state.proportional;
  element("three-digits").checked = state.digits === 3;
}

function showDistributions({ meanPositives, meanNegatives, nPositives, nNegatives }, rows) {
  const weight = (count) => (state.proportional ? count : 1);
  const parts = (means, counts, scores) =>
    means.map((mean, g) => ({ mean, weight: counts[g], rows: scores?.[g] }));
  const negatives = parts(meanNegatives, nNegatives, rows?.negatives);
  const positives = parts(meanPositives, nPositives, rows?.positives);
  const drawn = (part) => ({ ...part, weight: weight(part.weight) });
  meanPositives.forEach((_, g) => {
    for (const input of groupRows[g].querySelectorAll("input")) {
      const mean = { negatives: meanNegatives, positives: meanPositives }[input.dataset.class][g];
      input.nextElementSibling.style.left = `${position(mean, SCORES, 0)}%`;
    }
    drawDensities(groupRows[g].querySelector("svg"), {
      negatives: [drawn(negatives[g])],
      positives: [drawn(positives[g])],
      tallest: Math.max(...[...negatives, ...positives].map((part) => weight(part.weight))),
    });
  });
  const totals = [totalOf(nNegatives), totalOf(nPositives)];
  const shares = (list, sum) =>
    list.map((part) => ({ ...part, weight: (weight(sum) * part.weight) / sum }));
  drawDensities(element("density-pooled"), {
    negatives: shares(negatives, totals[0]),
    positives: shares(positives, totals[1]),
    tallest: Math.max(...totals.map(weight)),
  });
}

function showRoc(groups, { values, terms }, rows) {
  const curves = rocCurvesOf(groups, rows);
  curves.average = averageCurve(curves.byGroup, terms[state.average]);
  drawRoc(element("roc"), curves, sameAuc(values[state.average], values.pooled));
  const current = document.activeElement?.closest?.("#groups tr");
  if (current) current.dispatchEvent(new Event("focusin"));
  return curves;
}

function showTables(groups, curves) {
  const columns = [...curves.byGroup, curves.average, curves.pooled];
  const names = [...curves.byGroup.map((_, g) => `${g + 1}`), state.average, "pooled"];
  const table = element("roc-table");
  const cells = (texts, tag) => texts.map((text) => `<${tag}>${text}</${tag.split(" ")[0]}>`).join("");
  table.tHead.innerHTML = `<tr>${cells(["At", ...names], 'th scope="col"')}</tr>`;
  table.tBodies[0].innerHTML = [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9]
    .map((rate) => {
      const rates = columns.map((curve) => digits(rateAt(curve, rate)));
      return `<tr><th scope="row">${rate.toFixed(2)}</th>${cells(rates, "td")}</tr>`;
    })
    .join("");
  element("means-table").tBodies[0].innerHTML = groups.meanNegatives
    .map((negative, g) => [negative, groups.meanPositives[g]].map((mean) => mean.toFixed(2)))
    .map((means, g) => `<tr><th scope="row">${g + 1}</th>${cells(means, "td")}</tr>`)
    .join("");
}

function showAverages(shown, limits) {
  const { values, terms, byGroup, best } = shown;
  const axis = aucAxis(shown);
  for (const cell of all("[data-statistic]")) {
    const name = cell.dataset.statistic;
    showNumber(cell, values[name]);
    const less = cell.querySelector(".less");
    if (less) less.textContent = differenceText(values[name], values.pooled, state.digits);
    const bounds = cell.querySelector(".limits");
    if (bounds) bounds.textContent = limits ? limits[name].map(digits).join(" to ") : "";
  }
  element("range").querySelector(".number").textContent = digits(values.worst);
  element("range").querySelector(".less").textContent = `to ${digits(best)}`;
  for (const svg of all("[data-terms]")) {
    const name = svg.dataset.terms;
    const marks = {
      value: values[name],
      pooled: values.pooled,
      limits: limits?.[name],
      digits: state.digits,
      isChosen: name === state.average,
    };
    drawBalance(svg, terms[name], marks, axis);
  }
  drawGroups(element("axis-groups"), byGroup, values.pooled, axis);
  drawAxis(element("auc-axis"), axis);
  element("limits-key").hidden = !limits;

  const average = values[state.average];
  element("average-value").textContent = digits(average);
  element("average-name").textContent = state.average;
  const isEqual = sameAuc(average, values.pooled);
  element("sign").innerHTML = isEqual
    ? 'equals<b aria-hidden="true">=</b>'
    : 'is not<b aria-hidden="true">≠</b>';
  element("sign").parentElement.classList.toggle("equal", isEqual);
}

function showCrossMatrix({ crossMatrix }) {
  const numbers = crossMatrix.map((_, g) => `<th scope="col">${g + 1}</th>`).join("");
  const cell = (auc, g, h) =>
    `<td${g === h ? ' class="own"' : ""} data-value="${auc}">${digits(auc)}</td>`;
  const table = element("cross-matrix");
  table.tHead.innerHTML = `<tr><th scope="col">Group</th>${numbers}</tr>`;
  table.tBodies[0].innerHTML = crossMatrix
    .map((row, g) => row.map((auc, h) => cell(auc, g, h)).join(""))
    .map((cells, g) => `<tr><th scope="row">${g + 1}</th>${cells}</tr>`)
    .join("");
}

// Say the numbers when changes have ended, and the reason only when it is another one.
let saying;
let reasonSaid = "";
function announceSoon(numbers, reason) {
  clearTimeout(saying);
  saying = setTimeout(() => {
    const words = reason === reasonSaid ? numbers : `${numbers} ${reason}`;
    reasonSaid = reason;
    if (element("announcement").textContent !== words) element("announcement").textContent = words;
  }, 700);
}

// The spread of many draws is computed in parts after changes have ended.
let spread = { key: null, limits: null };
let spreading;
function limitsSoon(groups) {
  const key = JSON.stringify(groups);
  if (spread.key === key) return spread.limits;
  clearTimeout(spreading);
  const draws = [];
  const part = () => {
    const end = performance.now() + 12;
    while (draws.length < DRAWS && performance.now() < end) {
      draws.push(valuesOfDraw(groups, draws.length + 1));
    }
    if (draws.length < DRAWS) {
      spreading = setTimeout(part);
    } else {
      spread = { key, limits: limitsOf(draws) };
      show();
    }
  };
  spreading = setTimeout(part, 250);
  return null;
}

// Draw the densities and the ROC curves of a state, and return the ROC curves.
function showCurves(drawn) {
  const groups = groupsOf(drawn);
  const rows = drawn.sampled ? drawRows(groups, drawn.seed) : null;
  showDistributions(groups, rows);
  return showRoc(groups, rows ? sampleOf(rows) : populationOf(groups), rows);
}

let started = false;
function show() {
  const groups = groupsOf(state);
  const population = populationOf(groups);
  const rows = state.sampled ? drawRows(groups, state.seed) : null;
  const shown = rows ? sampleOf(rows) : population;
  if (!rows) clearTimeout(spreading);
  const limits = rows ? limitsSoon(groups) : null;
  showControls(groups, shown);
  shown.byGroup.forEach((auc, g) => showNumber(groupRows[g].querySelector("td"), auc));
  showTables(groups, showCurves(state));
  if (animation) showCurves(animation.drawn); // the spread of draws arrived during the motion
  showAverages(shown, limits);
  showCrossMatrix(shown);

  const verdict = verdictOn(groups, population);
  element("verdict").textContent = verdict;
  const sampling = rows ? samplingWords(groups, shown, population, limits, state.digits) : "";
  element("sampling").textContent = sampling;
  element("sampling").hidden = !rows;
  element("snippet").textContent = pythonOf(groups, population, state.digits);
  if (started) announceSoon(announcementOf(shown, state.digits), rows ? sampling : verdict);
}

async function copy(text, status, select) {
  try {
    await navigator.clipboard.writeText(text);
    status.textContent = "Copied";
  } catch {
    select();
    status.append(" Selected: copy it with Ctrl+C");
  }
}

function copyLink() {
  writeHash();
  const status = element("shared");
  copy(location.href, status, () => {
    const link = document.createElement("code");
    link.textContent = location.href;
    status.replaceChildren(link);
    getSelection().selectAllChildren(link);
  });
}

function copyPython() {
  const snippet = element("snippet");
  copy(snippet.textContent, element("copied"), () => getSelection().selectAllChildren(snippet));
}

function start() {
  buildRows();
  state = stateOfHash(location.hash, state);
  drawAxis(element("score-axis"), SCORES, 0);
  show();
  started = true;

  const onInput = (id, next) =>
    element(id).addEventListener("input", ({ target }) => change((old) => next(old, target)));
  onInput("spread-negatives", (old, { value }) => withSpread(old, "meanNegatives", Number(value)));
  onInput("spread-positives", (old, { value }) => withSpread(old, "meanPositives", Number(value)));
  onInput("separation", (old, { value }) => withSeparation(old, Number(value)));
  onInput("n-groups", (old, { value }) => withNumberOfGroups(old, Number(value)));
  onInput("average", (old, { value }) => ({ ...old, average: value }));
  onInput("sampled", (old, { checked }) => ({ ...old, sampled: checked }));
  onInput("heights", (old, { checked }) => ({ ...old, proportional: checked }));
  onInput("three-digits", (old, { checked }) => ({ ...old, digits: checked ? 3 : 2 }));
  for (const button of all("[data-case]")) {
    button.addEventListener("click", () => moveTo((old) => withCase(old, button.dataset.case)));
  }
  for (const button of all("[data-counts]")) {
    button.addEventListener("click", () => moveTo((old) => ({ ...old, ...COUNTS[button.dataset.counts] })));
  }
  element("again").addEventListener("click", () =>
    change((old) => ({ ...old, seed: (old.seed % RANGES.seed.high) + 1 })),
  );
  // The numbers, the reason and the curves are far above the links that change them.
  for (const link of all(".try a")) {
    link.addEventListener("click", () => document.querySelector(".explorer").scrollIntoView());
  }
  element("share").addEventListener("click", copyLink);
  element("copy").addEventListener("click", copyPython);
  addEventListener("hashchange", ({ newURL }) => {
    clearTimeout(waiting);
    // Before this event, `writeHash` may have put the old state into the address again.
    moveTo((old) => stateOfHash(new URL(newURL).hash, old));
  });
}

start();
