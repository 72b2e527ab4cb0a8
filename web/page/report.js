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
