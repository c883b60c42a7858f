"use strict";

// The state: what the controls set and a link holds. The lists have an entry for each group that
// can be shown, so that a group that comes back has its former numbers.

const MOST_GROUPS = 6;
const RANGES = {
  mean: { low: -2.5, high: 4.5 },
  count: { low: 10, high: 1000 },
  groups: { low: 2, high: MOST_GROUPS },
  seed: { low: 1, high: 999999 },
};
// Differences of the groups' means: of negatives, of positives
const CASES = {
  identical: [0, 0],
  same_negatives: [0, 1.5],
  same_positives: [1.5, 0],
  different: [1.5, 1.5],
  neither: [0.75, 2.25],
};
const COUNTS = {
  equal: { nPositives: Array(MOST_GROUPS).fill(500), nNegatives: Array(MOST_GROUPS).fill(500) },
  unequal: { nPositives: [800, 400, 200, 100, 600, 50], nNegatives: [100, 300, 600, 1000, 200, 900] },
};
const LISTS = ["meanNegatives", "meanPositives", "nPositives", "nNegatives"];
const NAMES_IN_LINK = {
  mean_negatives: "meanNegatives",
  mean_positives: "meanPositives",
  n_positives: "nPositives",
  n_negatives: "nNegatives",
};

const clamp = (value, { low, high }) => Math.min(high, Math.max(low, value));
// Four decimals, so that a link holds the state exactly
const toMean = (value) => clamp(Math.round(value * 1e4) / 1e4, RANGES.mean);
const toCount = (value) => clamp(10 * Math.round(value / 10), RANGES.count);
const toWhole = (value, range) => clamp(Math.round(value), range);

function evenMeans(middle, spread, n) {
  return Array.from({ length: n }, (_, g) => toMean(middle + spread * (g / (n - 1) - 0.5)));
}

// The lists of the groups that are shown.
function groupsOf(state) {
  return Object.fromEntries(LISTS.map((name) => [name, state[name].slice(0, state.nGroups)]));
}

// A copy of the state with other entries for the groups that are shown.
function withGroups(state, lists) {
  const changed = { ...state };
  for (const [name, list] of Object.entries(lists)) {
    changed[name] = [...list, ...state[name].slice(list.length)];
  }
  return changed;
}

function withCase(state, name) {
  const [negatives, positives] = CASES[name];
  return withGroups(state, {
    meanNegatives: evenMeans(0, negatives, state.nGroups),
    meanPositives: evenMeans(1, positives, state.nGroups),
  });
}

// Scale the distances from the middle; equal means become evenly spaced.
function withSpread(state, name, spread) {
  const means = groupsOf(state)[name];
  const middle = meanOf(means);
  const present = spreadOf(means);
  const scaled = present
    ? means.map((mean) => toMean(middle + ((mean - middle) * spread) / present))
    : evenMeans(middle, spread, means.length);
  return withGroups(state, { [name]: scaled });
}

function withSeparation(state, separation) {
  const { meanPositives, meanNegatives } = groupsOf(state);
  const step = separation - separationOf({ meanPositives, meanNegatives });
  return withGroups(state, { meanPositives: meanPositives.map((mean) => toMean(mean + step)) });
}

function separationOf({ meanPositives, meanNegatives }) {
  return meanOf(meanPositives) - meanOf(meanNegatives);
}

// Evenly spaced means stay evenly spaced, with the same ends.
function withNumberOfGroups(state, nGroups) {
  const lists = {};
  for (const name of ["meanNegatives", "meanPositives"]) {
    const means = groupsOf(state)[name];
    const [first, last] = [means[0], means.at(-1)];
    const even = evenMeans((first + last) / 2, last - first, means.length);
    if (even.every((mean, g) => Math.abs(mean - means[g]) < 2e-4)) {
      lists[name] = evenMeans((first + last) / 2, last - first, nGroups);
    }
  }
  return withGroups({ ...state, nGroups }, lists);
}

function withEntry(state, name, g, value) {
  return { ...state, [name]: state[name].map((old, i) => (i === g ? value : old)) };
}

const FIRST_STATE = withCase(
  {
    nGroups: 4,
    meanNegatives: Array(MOST_GROUPS).fill(0),
    meanPositives: Array(MOST_GROUPS).fill(1),
    ...COUNTS.unequal,
    average: "macro",
    seed: 1,
    sampled: false,
    proportional: true,
    digits: 2,
  },
  "different",
);

// The link

function hashOf(state) {
  const groups = groupsOf(state);
  const parts = Object.entries(NAMES_IN_LINK).map(([name, key]) => `${name}=${groups[key]}`);
  if (state.average !== "macro") parts.push(`average=${state.average}`);
  if (state.sampled) parts.push(`seed=${state.seed}`);
  if (!state.proportional) parts.push("heights=equal");
  if (state.digits !== 2) parts.push(`digits=${state.digits}`);
  return `#${parts.join("&")}`;
}

// The state of a link. What is missing or invalid in the link stays as it is in `state`.
function stateOfHash(hash, state) {
  const given = new URLSearchParams(hash.slice(1));
  const numbers = (name) => {
    const texts = (given.get(name) ?? "").split(",");
    const valid = texts.every((text) => text.trim() !== "" && Number.isFinite(Number(text)));
    return valid ? texts.map(Number) : [];
  };
  const lists = {};
  for (const [name, key] of Object.entries(NAMES_IN_LINK)) {
    const list = numbers(name);
    if (given.has(name)) lists[key] = list.map(key.startsWith("n") ? toCount : toMean);
  }
  const lengths = new Set(Object.values(lists).map(({ length }) => length));
  const [n] = lengths;
  let changed = { ...state };
  if (lengths.size === 1 && n === toWhole(n, RANGES.groups)) {
    changed = withGroups(withNumberOfGroups(changed, n), lists);
  }
  if (!given.size) return changed;
  const [seed] = numbers("seed");
  changed.sampled = seed !== undefined;
  if (changed.sampled) changed.seed = toWhole(seed, RANGES.seed);
  changed.average = AVERAGES.includes(given.get("average")) ? given.get("average") : "macro";
  changed.proportional = given.get("heights") !== "equal";
  changed.digits = given.get("digits") === "3" ? 3 : 2;
  return changed;
}

// A state between two others, for animations; `share` is 0 at the first and 1 at the second.
function stateBetween(from, to, share) {
  if (share >= 1) return to;
  const between = { ...to };
  for (const name of LISTS) {
    const round = name.startsWith("n") ? Math.round : toMean;
    between[name] = to[name].map((end, g) => round(from[name][g] + share * (end - from[name][g])));
  }
  return between;
}

// What the state is

// Case of make_group_scores that the state corresponds to, or "neither".
function caseOf({ meanPositives, meanNegatives }) {
  const constant = (numbers) => spreadOf(numbers) < 1e-9;
  if (constant(meanNegatives)) return constant(meanPositives) ? "identical" : "same_negatives";
  if (constant(meanPositives)) return "same_positives";
  return constant(meanPositives.map((mean, g) => mean - meanNegatives[g])) ? "different" : "neither";
}

function hasEqualCounts({ nPositives, nNegatives }) {
  return spreadOf(nPositives) === 0 && spreadOf(nNegatives) === 0;
}
