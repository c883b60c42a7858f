"use strict";
function element(name, text) {
  const made = document.createElement(name);
  made.append(text);
  return made;
}
function button(text, act) {
  const made = element("button", text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

// Sorting

function sort(body, column, direction) {
  const key = (row) => parseFloat(row.cells[column].dataset.v);
  const rows = [...body.rows].sort((one, other) => {
    const [a, b] = [key(one), key(other)];
    // Undefined values come last in both directions.
    return isNaN(a) - isNaN(b) || direction * (a - b) || 0;
  });
  body.append(...rows);
}
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.querySelectorAll("thead tr:last-child th")];
  headings.forEach((heading, column) => {
    const sorter = button("", () => {
      const rises = heading.getAttribute("aria-sort") !== "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", rises ? "ascending" : "descending");
      for (const body of table.querySelectorAll("tbody.groups")) {
        sort(body, column, rises ? 1 : -1);
      }
    });
    sorter.append(...heading.childNodes);
    heading.append(sorter);
  });
}

// Downloads and copies, with all digits and with whole labels

function recordsOf(table) {
  const names = [...table.querySelectorAll("thead th[data-name]")].map((th) => th.dataset.name);
  const records = [names];
  const constantOf = (text) => (["true", "false"].includes(text) ? text === "true" : text);
  for (const body of table.tBodies) {
    const constants = Object.keys(body.dataset);
    for (const name of constants) {
      const column = name.replace(/[A-Z]/g, (letter) => "_" + letter.toLowerCase());
      if (!names.includes(column)) names.push(column);
    }
    for (const row of body.rows) {
      if (row.cells.length === 1) continue; // the heading of a part
      const values = [...row.cells].map((cell) => {
        if (cell.dataset.key !== undefined) return cell.dataset.key;
        const label = cell.querySelector("bdi");
        if (label) return label.title || label.textContent;
        return cell.dataset.v === "" ? null : Number(cell.dataset.v);
      });
      records.push([...values, ...constants.map((name) => constantOf(body.dataset[name]))]);
    }
  }
  return records;
}
function delimited(records, separator) {
  const field = (value) => {
    const text = value === null ? "" : String(value);
    const special = text.includes(separator) || /["\r\n]/.test(text);
    return special ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return records.map((record) => record.map(field).join(separator) + "\r\n").join("");
}
function asObjects([names, ...records]) {
  const objects = records.map((values) =>
    Object.fromEntries(names.map((name, place) => [name, values[place]])));
  return JSON.stringify(objects, null, 1) + "\n";
}
function save(text, type, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
function copy(table, text) {
  // Some browsers copy nothing without a selection.
  getSelection().selectAllChildren(table);
  const fill = (event) => {
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  };
  document.addEventListener("copy", fill);
  const done = document.execCommand("copy");
  document.removeEventListener("copy", fill);
  getSelection().removeAllRanges();
  return done;
}
for (const part of document.querySelectorAll(".table")) {
  const table = part.querySelector("table");
  const name = part.querySelector(".scroll").getAttribute("aria-label");
  const file = name.replace(/[^\p{L}\p{N}]+/gu, "-").toLowerCase();
  const status = element("span", "");
  status.setAttribute("role", "status");
  const buttons = [
    ["CSV", "Download as CSV", () => {
      save(delimited(recordsOf(table), ","), "text/csv", file + ".csv");
    }],
    ["JSON", "Download as JSON", () => {
      save(asObjects(recordsOf(table)), "application/json", file + ".json");
    }],
    ["Copy", "Copy", () => {
      const done = copy(table, delimited(recordsOf(table), "\t"));
      status.textContent = done ? "Copied" : "The browser does not permit copies";
    }],
  ].map(([text, about, act]) => {
    const made = button(text, act);
    made.setAttribute("aria-label", `${about}: ${name}`);
    return made;
  });
  const tools = element("p", "");
  tools.className = "tools";
  tools.append(...buttons, status);
  part.append(tools);
}

// The cue for scrolling is for parts that do not fit.

const fits = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const cue = target.parentElement.querySelector(".cue");
    if (cue) cue.hidden = target.scrollWidth <= target.clientWidth;
  }
});
document.querySelectorAll(".scroll, .plot").forEach((part) => fits.observe(part));

// Older browsers neither open the definitions for a link nor print closed ones.

function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  const details = target && target.closest("details");
  if (details && !details.open) {
    details.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", openTarget);
openTarget();
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  opened.forEach((details) => { details.open = true; });
});
addEventListener("afterprint", () => {
  opened.forEach((details) => { details.open = false; });
});
