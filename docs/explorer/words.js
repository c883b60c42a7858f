"use strict";

// What a state means, in words and in Python.

// The case of make_group_scores that a state is, or null.
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

// Which averages equal the pooled AUC, and why.
function verdictOn(state, { values, terms }) {
  const equal = AVERAGES.filter((name) => sameAuc(values[name], values.pooled));
  switch (caseOf(state)) {
    case "identical":
      return (
        "Both classes score alike on every device, so every average equals the pooled AUC, " +
        "whatever the class counts."
      );
    case "same_negatives":
      return (
        "The negatives score alike on every device, so a positive outranks the same share of " +
        "them on its own as on all: the average by positives equals the pooled AUC." +
        othersThatEqual("positives", equal, state, terms)
      );
    case "same_positives":
      return (
        "The positives score alike on every device, so the same share of them outranks a " +
        "negative on its own as on all: the average by negatives equals the pooled AUC." +
        othersThatEqual("negatives", equal, state, terms)
      );
    case "different":
      return (
        "Both classes differ by the same amount, so every device has the same AUC, and so has every " +
        "average. The pooled AUC also compares rows of devices that are shifted against each other" +
        (equal.length ? ": that it is the same here is a coincidence." : ": no average equals it.")
      );
    default:
      return (
        "Neither the negatives nor the positives score alike on every device, so no average need " +
        "equal the pooled AUC." +
        (equal.length ? ` That ${withVerb(equal, "equals", "equal")} it is a coincidence.` : "")
      );
  }
}

// The averages besides `name`, which equals the pooled AUC by the case, that equal it as well.
function othersThatEqual(name, equal, state, terms) {
  if (hasEqualCounts(state)) {
    return " Equal class counts hide the difference: all averages have the same weights.";
  }
  const others = equal.filter((other) => other !== name);
  const sameWeights = others.filter((other) =>
    terms[other].every(
      ({ weight }, g) =>
        weight * terms[name][0].weight === terms[name][g].weight * terms[other][0].weight,
    ),
  );
  const byChance = others.filter((other) => !sameWeights.includes(other));
  let words = others.length ? "" : " The others have other weights.";
  if (sameWeights.length) {
    words += ` With these counts ${withVerb(sameWeights, "has", "have")} the same weights.`;
  }
  if (byChance.length) {
    words += ` That ${withVerb(byChance, "equals", "equal")} it too is a coincidence.`;
  }
  return words;
}

// "a has", "a and b have", "a, b and c have"
function withVerb(names, ofOne, ofSeveral) {
  if (names.length === 1) return `${names[0]} ${ofOne}`;
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)} ${ofSeveral}`;
}

// The call of make_group_scores that has the state's numbers, or null.
function pythonOf(state, { values }) {
  const name = caseOf(state);
  if (name === null) return null;
  const { spreadNegatives, spreadPositives, separation, nPositives, nNegatives } = state;
  const end = Math.max(spreadNegatives, spreadPositives) / 2;
  return [
    "import numpy as np",
    "from skfedauc import make_group_scores",
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
