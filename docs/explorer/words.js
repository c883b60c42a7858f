"use strict";

// A state in words and in Python. `groups` are the lists of the groups that are shown.

// "a has", "a and b have", "a, b and c have"
function withVerb(names, ofOne, ofSeveral) {
  if (names.length === 1) return `${names[0]} ${ofOne}`;
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)} ${ofSeveral}`;
}

// State which averages equal the pooled AUC, and why.
function verdictOn(groups, { values, terms }) {
  const equal = AVERAGES.filter((name) => sameAuc(values[name], values.pooled));
  switch (caseOf(groups)) {
    case "identical":
      return (
        "Both classes have the same score distribution in every group, so every average equals " +
        "the pooled AUC for any class counts."
      );
    case "same_negatives":
      return (
        "The negatives have the same score distribution in every group, so a positive outranks " +
        "the same share of them in its own group as in all groups. The average by positives " +
        "therefore equals the pooled AUC." +
        othersThatEqual("positives", equal, groups, terms)
      );
    case "same_positives":
      return (
        "The positives have the same score distribution in every group, so the same share of " +
        "them outranks a negative in its own group as in all groups. The average by negatives " +
        "therefore equals the pooled AUC." +
        othersThatEqual("negatives", equal, groups, terms)
      );
    case "different":
      return (
        "Both classes are shifted by the same amount, so all groups and all averages have the " +
        "same AUC. The pooled AUC also compares rows of groups that are shifted against each other" +
        (equal.length ? ". It is equal here by coincidence." : ", and no average equals it.")
      );
    default:
      return (
        "The score distributions of both classes differ between groups, so no average has to " +
        "equal the pooled AUC." +
        (equal.length ? ` By coincidence, ${withVerb(equal, "equals", "equal")} it.` : "")
      );
  }
}

// State which averages equal the pooled AUC in addition to `name`.
function othersThatEqual(name, equal, groups, terms) {
  if (hasEqualCounts(groups)) {
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
  let words = others.length ? "" : " The other averages have other weights.";
  if (sameWeights.length) {
    words += ` With these counts ${withVerb(sameWeights, "has", "have")} the same weights.`;
  }
  if (byCoincidence.length) {
    words += ` By coincidence, ${withVerb(byCoincidence, "equals", "equal")} it as well.`;
  }
  return words;
}

// State what sampling error does to the numbers; `limits` is null until the draws are made.
function samplingWords({ nPositives, nNegatives }, shown, population, limits, digits) {
  const n = (totalOf(nPositives) + totalOf(nNegatives)).toLocaleString("en");
  let words =
    `Sampling error is on: all numbers are of ${n} drawn rows. Without sampling error pooled is ` +
    `${population.values.pooled.toFixed(digits)}, here ${shown.values.pooled.toFixed(digits)}.`;
  if (limits) {
    const [low, high] = limits.pooled.map((limit) => limit.toFixed(digits));
    words += ` In 95 % of ${DRAWS} draws pooled is between ${low} and ${high}.`;
  }
  return words;
}

// A value minus pooled.
function differenceText(value, pooled, digits) {
  if (sameAuc(value, pooled)) return "= pooled";
  const difference = value - pooled;
  const sign = difference < 0 ? "−" : "+";
  const smallest = 10 ** -digits;
  const size = Math.abs(difference);
  return size < smallest / 2 ? `${sign}<${smallest}` : sign + size.toFixed(digits);
}

// All six averages in one sentence, for screen readers.
function announcementOf({ values }, digits) {
  const averages = AVERAGES.map((name) => {
    const difference = differenceText(values[name], values.pooled, digits);
    const words = difference
      .replace("= pooled", "equal to pooled")
      .replace(/^\+<(.*)/, "above pooled by less than $1")
      .replace(/^−<(.*)/, "below pooled by less than $1")
      .replace(/^\+(.*)/, "above pooled by $1")
      .replace(/^−(.*)/, "below pooled by $1");
    return `${name} ${values[name].toFixed(digits)}, ${words}`;
  });
  return `Pooled ${values.pooled.toFixed(digits)}; ${averages.join("; ")}.`;
}

// Code with the numbers of the state.
function pythonOf(groups, { values }, digits) {
  const { meanPositives, meanNegatives, nPositives, nNegatives } = groups;
  const list = (numbers) => `[${numbers.join(", ")}]`;
  const rounded = (numbers) => numbers.map((number) => Math.round(number * 1e4) / 1e4);
  const name = caseOf(groups);
  const pooled = values.pooled.toFixed(digits);
  if (name === "neither") {
    const repeated = meanPositives.map((_, g) => g + 1);
    return [
      "import numpy as np",
      "from skfedauc import GroupAUC",
      "",
      `counts = ${list([...nPositives, ...nNegatives])}`,
      `means = ${list([...meanPositives, ...meanNegatives])}`,
      `y_true = np.repeat([1, 0], [${totalOf(nPositives)}, ${totalOf(nNegatives)}])`,
      `groups = np.repeat(${list([...repeated, ...repeated])}, counts)`,
      "y_score = np.random.default_rng(0).normal(np.repeat(means, counts))",
      "report = GroupAUC.from_predictions(y_true, y_score, groups=groups)",
      `print(report.pooled)  # ${pooled} without sampling error`,
    ].join("\n");
  }
  const [separation] = rounded([
    name === "different" ? meanPositives[0] - meanNegatives[0] : separationOf(groups),
  ]);
  const shifts = {
    identical: () => meanPositives.map(() => 0),
    same_negatives: () => meanPositives.map((mean) => mean - meanNegatives[0] - separation),
    same_positives: () => meanNegatives.map((mean) => mean - meanPositives[0] + separation),
    different: () => meanNegatives.map((mean) => mean - meanNegatives[0]),
  }[name]();
  return [
    "from skfedauc.datasets import make_group_scores",
    "",
    "groups = make_group_scores(",
    `    "${name}",`,
    `    n_positives=${list(nPositives)},`,
    `    n_negatives=${list(nNegatives)},`,
    `    shifts=${list(rounded(shifts))},`,
    `    separation=${separation},`,
    ")",
    `print(groups.population["pooled"])  # ${pooled}`,
  ].join("\n");
}
