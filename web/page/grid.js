/* Grids of cells: a window of a layout's logical indices, or of its memory. */
"use strict";

const ROW_HEIGHT = 25;

function cellWidth(characters) { return Math.max(27, Math.round(characters * 7.3 + 7)); }

/* How many cells of that width there is room for. */
function roomFor(pane, width, header) { return Math.max(4, Math.min(40, Math.floor((pane.clientWidth - header - 6) / width))); }

/* grid: {label, rows, columns, width, header, rowHead(r), columnHead(c), cell(r, c)}; a cell is {text, label, key, place, kind,
   classes}: kind undefined is padding. */
function gridHtml(grid) {
  const head = Array.from({ length: grid.columns }, (_, c) => `<div role="columnheader">${grid.columnHead(c)}</div>`).join("");
  let html = `<div class="cells" role="grid" aria-label="${escapeText(grid.label)}" aria-readonly="true" style="grid-template-columns:${grid.header}px repeat(${grid.columns},${grid.width}px)">
    <div role="row"><div role="columnheader" aria-label="index"></div>${head}</div>`;
  for (let r = 0; r < grid.rows; r++) {
    html += `<div role="row"><div role="rowheader">${grid.rowHead(r)}</div>`;
    for (let c = 0; c < grid.columns; c++) {
      const cell = grid.cell(r, c);
      if (!cell) break;
      const kind = cell.kind === undefined ? "padding" : "t" + (((cell.kind % 8) + 8) % 8);
      html += `<div role="gridcell" tabindex="${r + c ? -1 : 0}" class="cell ${kind} ${cell.classes || ""}" data-r="${r}" data-c="${c}"` +
        (cell.key === undefined ? "" : ` data-k="${cell.key}"`) + (cell.place === undefined ? "" : ` data-o="${cell.place}"`) +
        ` aria-label="${escapeText(cell.label)}">${escapeText(cell.text)}</div>`;
    }
    html += "</div>";
  }
  return html + "</div>";
}

/* Arrow keys go from cell to cell; pan(rows, columns) is asked for what lies beyond the edge, and is true when the window moved. */
function goThrough(pane, pan) {
  pane.addEventListener("keydown", async (event) => {
    const cell = event.target.closest?.(".cell");
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!cell || !by) return;
    event.preventDefault();
    const r = Number(cell.dataset.r), c = Number(cell.dataset.c);
    const find = (row, column) => pane.querySelector(`.cell[data-r="${row}"][data-c="${column}"]`);
    const next = find(r + by[0], c + by[1]);
    if (next) focusCell(next);
    else if (await pan(by[0], by[1])) focusCell(find(r, c) || find(0, 0));
  });
}

function focusCell(cell) {
  if (!cell) return;
  cell.closest(".cells").querySelectorAll('[tabindex="0"]').forEach((old) => { old.tabIndex = -1; });
  cell.tabIndex = 0;
  cell.focus();
}

/* ---- The whole of it, small ---- */

const HATCHING = `<defs><pattern id="hatching" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
  <rect width="5" height="5" fill="var(--hatch-paper)"/><line x1="0" y1="0" x2="0" y2="5" stroke="var(--hatch)" stroke-width="2.4"/></pattern></defs>`;

function tileLines(count, size, step, other, flat) {
  if (!step || size / step > 64 || count <= 0) return "";
  let path = "";
  for (let at = step; at < size; at += step) path += flat ? `M${at * count},0v${other}` : `M0,${at * count}h${other}`;
  return path;
}

/* all, data: [rows, columns]; tile: the same, 0 for none; window: [row, column, rows, columns]. */
function overviewSvg({ all, data, tile, window: seen, width, height }) {
  const w = width, h = height, y = h / all[0], x = w / all[1];
  const rectangle = (name, r, c, rows, columns) =>
    `<rect class="${name}" x="${c * x}" y="${r * y}" width="${Math.max(1.5, columns * x)}" height="${Math.max(1.5, rows * y)}"/>`;
  return `<svg class="overview" viewBox="-1 -1 ${w + 2} ${h + 2}" height="${h + 2}" preserveAspectRatio="none" aria-hidden="true">${HATCHING}
    ${rectangle("all", 0, 0, all[0], all[1])}${rectangle("data", 0, 0, data[0], data[1])}
    <path class="tiles" d="${tileLines(x, all[1], tile[1], h, true)}${tileLines(y, all[0], tile[0], w, false)}"/>
    ${rectangle("window", ...seen)}</svg>`;
}
