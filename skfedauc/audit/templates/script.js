"use strict";
function sort(body, column, direction) {
  const key = (row) => parseFloat(row.cells[column].dataset.value);
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
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const rises = heading.getAttribute("aria-sort") !== "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", rises ? "ascending" : "descending");
      for (const body of table.querySelectorAll("tbody.groups")) {
        sort(body, column, rises ? 1 : -1);
      }
    });
  });
}
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  opened.forEach((details) => { details.open = true; });
});
addEventListener("afterprint", () => {
  opened.forEach((details) => { details.open = false; });
});
