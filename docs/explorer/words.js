"use strict";

// A state in words and in Python.

// Case of make_group_scores that the state corresponds to, or null.
function caseOf({ spreadNegatives, spreadPositives }) {
  if (spreadNegatives === 0) return spreadPositives === 0 ? "identical" : "same_negatives";
  if (spreadPositives === 0) return "same_positives";
  return spreadNegatives === spreadPositives ? "different" : null;
}

function isConstant(counts) {
  return counts.every((count) => count === counts[0]);
}

function hasEqualCounts({ nPositives, nNegatives }) {
  return isConstant(nPositives) && isConstant(nNegatives);
}

// State which averages equal the pooled AUC, and why.
function verdictOn(state, { values, terms }) {
  const equal = AVERAGES.filter((name) => sameAuc(values[name], values.pooled));
  switch (caseOf(state)) {
    case "identical":
      return (
        "Both classes have the same score distribution on every device, so every average equals " +
        "the pooled AUC for any class counts."
      );
    case "same_negatives":
      return (
        "The negatives have the same score distribution on every device, so a positive outranks " +
        "the same share of them on its own device as on all devices. The average by positives " +
        "therefore equals the pooled AUC." +
        othersThatEqual("positives", equal, state, terms)
      );
    case "same_positives":
      return (
        "The positives have the same score distribution on every device, so the same share of " +
        "them outranks a negative on its own device as on all devices. The average by negatives " +
        "therefore equals the pooled AUC." +
        othersThatEqual("negatives", equal, state, terms)
      );
    case "different":
      return (
        "Both classes differ by the same amount, so all devices and all averages have the same AUC. " +
        "The pooled AUC also compares rows of devices that are shifted against each other" +
        (equal.length ? ". It is equal here by coincidence." : ", and no average equals it.")
      );
    default:
      return (
        "The score distributions of both classes differ between devices, so no average has to " +
        "equal the pooled AUC." +
        (equal.length ? ` By coincidence, ${withVerb(equal, "equals", "equal")} it.` : "")
      );
  }
}

// State which averages equal the pooled AUC in addition to `name`.
function othersThatEqual(name, equal, state, terms) {
  if (hasEqualCounts(state)) {
    return " With equal class counts, all averages have the same weights.";
  }
  const others = equal.filter((other) => other !== name);
  const sameWeights = others.filter((other) =>
    terms[other].every(
      ({ weight }, g) =>
        weight * terms[name][0].weight === terms[name][g].weight * terms[other][0].weight,
    ),
  );
  const byCoincidence = others.filter((other) => !sameWeights.includes(other));
  let words = others.length ? "" : " The others have other weights.";
  if (sameWeights.length) {
    words += ` With these counts ${withVerb(sameWeights, "has", "have")} the same weights.`;
  }
  if (byCoincidence.length) {
    words += ` By coincidence, ${withVerb(byCoincidence, "equals", "equal")} it as well.`;
  }
  return words;
}

// "a has", "a and b have", "a, b and c have"
function withVerb(names, ofOne, ofSeveral) {
  if (names.length === 1) return `${names[0]} ${ofOne}`;
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)} ${ofSeveral}`;
}

// Call of make_group_scores that gives the numbers of the state, or null.
function pythonOf(state, { values }) {
  const name = caseOf(state);
  if (name === null) return null;
  const { spreadNegatives, spreadPositives, separation, nPositives, nNegatives } = state;
  const end = Math.max(spreadNegatives, spreadPositives) / 2;
  return [
    "import numpy as np",
    "from skfedauc.datasets import make_group_scores",
    "",
    "devices = make_group_scores(",
    `    "${name}",`,
    `    n_positives=[${nPositives.join(", ")}],`,
    `    n_negatives=[${nNegatives.join(", ")}],`,
    `    shifts=np.linspace(${-end}, ${end}, ${nPositives.length}),`,
    `    separation=${separation},`,
    ")",
    `print(devices.population["pooled"])  # ${values.pooled.toFixed(4)}`,
  ].join("\n");
}
