// Tables that sort: a click, or Enter on a heading; numbers by data-value, else by what is written.
"use strict";
for (const table of document.querySelectorAll("table.sorts")) {
  const body = table.tBodies[0];
  table.querySelectorAll("thead th").forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const up = heading.getAttribute("aria-sort") === "descending";
      for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = row => row.cells[column]?.dataset.value ?? row.cells[column]?.textContent ?? "";
      const order = (a, b) => heading.classList.contains("number") ? Number(key(a) || -1e300) - Number(key(b) || -1e300)
                                                                    : key(a).localeCompare(key(b));
      const rows = [...body.rows].sort((a, b) => up ? order(a, b) : order(b, a));
      body.append(...rows);
    });
  });
}
// The timeline of a run.
const events = document.getElementById("timeline-data");
if (events) showTimeline(document.getElementById("timeline"), JSON.parse(events.textContent));
// Programs fold: what is deeper in than a line with a button goes and comes with it.
for (const button of document.querySelectorAll("button.fold")) {
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") === "false", row = button.closest("tr");
    const depth = cell => Number(cell.querySelector("td.source").dataset.depth);
    button.setAttribute("aria-expanded", open);
    let closed = Infinity; // the depth of what stays closed within
    for (let next = row.nextElementSibling; next && depth(next) > depth(row); next = next.nextElementSibling) {
      if (depth(next) <= closed) closed = Infinity;
      next.hidden = !open || closed < Infinity;
      if (next.querySelector(".fold[aria-expanded=false]") && closed === Infinity) closed = depth(next);
    }
  });
}
