/* The tab of layouts: texts in, pictures out. */
"use strict";

const EXAMPLES = [
  ["Sub-tiles: bf16 pairs, small", "bf16[10,10]{1,0:T(4,4)(2,1)}", "f32[10,10]{0,1:T(4,4)}"],
  ["XLA's worked example", "f32[3,5]{1,0:T(2,2)}", ""],
  ["TPU tiles: f32 T(8,128)", "f32[20,300]{1,0:T(8,128)}", "f32[20,300]{0,1:T(8,128)}"],
  ["TPU tiles: bf16 T(8,128)(2,1)", "f32[4096,4096]{1,0}", "bf16[4096,4096]{1,0:T(8,128)(2,1)}"],
  ["128-fold padding", "f32[1000,1]{1,0:T(8,128)}", "f32[1000,1]{0,1:T(8,128)}"],
  ["Three dims", "f32[4,6,10]{2,1,0:T(4,4)}", "f32[4,6,10]{0,2,1:T(4,4)}"],
  ["CuTe: swizzled rows", "f32[8,32] S<3,2,3> o 0 o (8,32):(32,1)", ""],
  ["CuTe: nested shape and stride", "f32[8,8] ((2,4),8):((1,16),2)", ""],
  ["Axe: an MMA fragment on lanes and registers", "f32[8,16] S[(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)]", ""],
  ["TVM: index map NCHW4c", "s8[1,8,6,6] lambda n,c,h,w: [n, c//4, h, w, c%4]", "s8[1,8,6,6]"],
  ["An error", "f32[3,5]{1,0:T(2,2}", ""],
];

const seen = { a: null, grid: null, memory: null, b: null, other: null }; /* what the panes show */

/* ---- Colours ---- */

/* By tile; without tiles by what is one run of memory; on several axes by the coordinate on the slowest. */
function kindOf(shape, view, index, point) {
  if (view.swizzle_keep === null && (view.tile[view.grid.row_dim] > 0 || view.tile[view.grid.column_dim] > 0))
    return index.reduce((sum, i, dim) => sum * 3 + Math.floor(i / (view.tile[dim] || shape.dims[dim] || 1)), 0);
  if (view.swizzle_keep !== null) return Math.floor(index[index.length - 1] / 2 ** view.swizzle_keep);
  if (shape.axes.length > 1) return point ? point[0] : index[0];
  const last = shape.digits ? shape.digits.filter((digit) => digit.extent > 1) : [];
  const run = last.length ? Math.max(1, last[last.length - 1].extent) : view.run;
  return point ? Math.floor(point[0] / run) : index[0];
}

/* ---- The logical grid ---- */

function indexOf(view, r, c) {
  const index = [...view.grid.index];
  if (view.grid.row_dim >= 0) index[view.grid.row_dim] += r;
  if (view.grid.column_dim >= 0) index[view.grid.column_dim] += c;
  return index;
}

function bordersAt(view, dim, at, sides) {
  const [first, second] = [view.tile[dim], view.second_tile[dim]];
  if (first > 0 && at % first === 0) return sides[0];
  return second > 1 && at % second === 0 ? sides[1] : "";
}

function gridCell(shape, view, r, c) {
  const index = indexOf(view, r, c), point = view.grid.points[r * view.grid.columns + c];
  const { row_dim: row, column_dim: column } = view.grid;
  const classes = (row >= 0 ? bordersAt(view, row, index[row], ["top", "top2"]) : "") + " " + (column >= 0 ? bordersAt(view, column, index[column], ["left", "left2"]) : "");
  if (!point || (point.length === 0 && shape.axes.length > 0)) return { text: "", label: `(${index}) is padding`, classes };
  const place = point.join(",");
  return { text: place, key: index.join(","), place: shape.axes.length === 1 ? place : undefined, kind: kindOf(shape, view, index, point),
    label: `(${index}) lies at ${placeText(shape, point)}`, classes };
}

function placeText(shape, point) {
  if (shape.axes.length === 1) return (shape.axes[0].name === "m" ? "offset " : shape.axes[0].name + " ") + point[0];
  return shape.axes.map((axis, i) => `${axis.name} ${point[i]}`).join(", ");
}

function dimChoice(id, label, shape, chosen) {
  if (shape.dims.length < 3) return "";
  return `<label>${label} <select data-state="${id}">${shape.dims.map((_, d) => `<option value="${d}" ${d === chosen ? "selected" : ""}>d${d}</option>`).join("")}</select></label>`;
}

function otherDims(shape, view) {
  return shape.dims.map((extent, d) => (d === view.grid.row_dim || d === view.grid.column_dim ? "" :
    `<span class="stepper">d${d} = <button type="button" data-dim="${d}" data-by="-1" aria-label="index of d${d}: less">&minus;</button><b>${view.grid.index[d]}</b>
     <button type="button" data-dim="${d}" data-by="1" aria-label="index of d${d}: more">+</button></span>`)).join("");
}

function panButtons(name, flat) {
  const one = (by, text, label) => `<button type="button" data-pan="${by}" aria-label="${label}">${text}</button>`;
  return `<span class="stepper" role="group" aria-label="Move the window of ${name}">${flat ? "" : one("0,-1", "&larr;", "left")}${one("-1,0", "&uarr;", "up")}${one("1,0", "&darr;", "down")}${flat ? "" : one("0,1", "&rarr;", "right")}</span>`;
}

function drawGrid(pane, shape, view, title) {
  const { rows, columns, row_dim: row, column_dim: column, index } = view.grid;
  const all = [row >= 0 ? view.drawn[row] : 1, column >= 0 ? view.drawn[column] : 1];
  const data = [row >= 0 ? shape.dims[row] : 1, column >= 0 ? shape.dims[column] : 1];
  const characters = Math.max(...view.grid.points.map((point) => point.join(",").length), 2);
  const whole = rows === all[0] && columns === all[1];
  const from = [row >= 0 ? index[row] : 0, column >= 0 ? index[column] : 0];
  pane.innerHTML = `<figcaption><h2>${title}</h2><span class="soft">each cell: where it lies</span>
    ${dimChoice("rows", "down", shape, row)}${dimChoice("columns", "across", shape, column)}${otherDims(shape, view)}${whole ? "" : panButtons("the grid")}</figcaption><div>` +
    gridHtml({ label: `Logical indices of ${shape.canonical}`, rows, columns, width: view.width || cellWidth(characters), header: 40,
      rowHead: (r) => (row >= 0 ? from[0] + r : ""), columnHead: (c) => (column >= 0 ? from[1] + c : ""), cell: (r, c) => gridCell(shape, view, r, c) }) +
    (whole ? "" : `<p class="soft">${data[0] < all[0] || data[1] < all[1] ? '<span class="swatch hatched"></span>padding. ' : ""}Seen: ${rows} x ${columns} of ${grouped(all[0])} x ${grouped(all[1])}, tiles to scale:</p>` +
      overviewSvg({ all, data, tile: [row >= 0 ? view.tile[row] : 0, column >= 0 ? view.tile[column] : 0], window: [from[0], from[1], rows, columns],
        width: Math.max(200, pane.clientWidth - 4), height: Math.max(28, Math.min(90, pane.clientWidth * all[0] / all[1])) })) + "</div>";
  pane.querySelector(".overview")?.addEventListener("click", (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    moveGrid((event.clientY - box.top) / box.height * all[0] - rows / 2, (event.clientX - box.left) / box.width * all[1] - columns / 2);
  });
}

/* ---- Memory ---- */

function memoryCell(shape, view, r, c) {
  const memory = view.memory, at = r * memory.line + c, point = pointAt(memory, r, c), elements = memory.elements[at];
  if (elements === undefined || point[memory.place_axis] > view.high[memory.place_axis]) return null;
  const place = shape.axes.length === 1 ? point[0] : undefined;
  if (elements === null) return { text: "", place, label: `${placeText(shape, point)} holds padding` };
  if (elements === "many") return { text: "many", place, kind: 0, label: `${placeText(shape, point)} holds many elements` };
  const rank = shape.dims.length, keys = [];
  for (let i = 0; i < elements.length; i += rank) keys.push(elements.slice(i, i + rank).join(","));
  const index = elements.slice(0, rank);
  return { text: keys[0] + (keys.length > 1 ? ` +${keys.length - 1}` : ""), place, key: keys.join(" "), kind: kindOf(shape, view, index, point),
    label: `${placeText(shape, point)} holds (${keys.join("), (")})` };
}

function pointAt(memory, r, c) {
  const point = [...memory.point];
  point[memory.line_axis] += r * (memory.line_axis === memory.place_axis ? memory.line : 1);
  point[memory.place_axis] += c;
  return point;
}

function axisChoice(id, label, shape, chosen) {
  if (shape.axes.length < 2) return "";
  return `<label>${label} <select data-state="${id}">${shape.axes.map((axis, i) => `<option value="${i}" ${i === chosen ? "selected" : ""}>${escapeText(axis.name)}</option>`).join("")}</select></label>`;
}

function otherAxes(shape, view) {
  const memory = view.memory;
  if (shape.axes.length < 3) return "";
  return shape.axes.map((axis, i) => (i === memory.line_axis || i === memory.place_axis ? "" :
    `<span class="stepper">${escapeText(axis.name)} = <button type="button" data-axis="${i}" data-by="-1" aria-label="${escapeText(axis.name)}: less">&minus;</button><b>${memory.point[i]}</b>
     <button type="button" data-axis="${i}" data-by="1" aria-label="${escapeText(axis.name)}: more">+</button></span>`)).join("");
}

function drawMemory(pane, shape, view, title) {
  const memory = view.memory;
  if (!memory?.elements) {
    pane.innerHTML = `<figcaption><h2>${title}</h2></figcaption><div><p class="soft">${memory ? "This map has no inverse but by trying every element, which are too many here." : "Nothing is stored."}</p></div>`;
    return;
  }
  const one = memory.line_axis === memory.place_axis, [low, high] = [view.low[memory.place_axis], view.high[memory.place_axis]];
  const first = memory.point[memory.place_axis], shown = memory.lines * memory.line;
  const whole = one ? first === low && shown > high - low : memory.lines > view.high[memory.line_axis] - view.low[memory.line_axis] && memory.line > high - low;
  pane.innerHTML = `<figcaption><h2>${title}</h2><span class="soft">each place: what it holds</span>
    ${axisChoice("lines", "down", shape, memory.line_axis)}${axisChoice("places", "across", shape, memory.place_axis)}${otherAxes(shape, view)}${whole ? "" : panButtons("memory", one)}</figcaption><div>` +
    gridHtml({ label: `Memory of ${shape.canonical}`, rows: memory.lines, columns: memory.line, width: view.memoryWidth, header: placeWidth(view),
      rowHead: (r) => pointAt(memory, r, 0)[memory.line_axis], columnHead: (c) => (one ? "+" + c : memory.point[memory.place_axis] + c),
      cell: (r, c) => memoryCell(shape, view, r, c) }) +
    (whole || !one ? "" : `<p class="soft">Seen: places ${grouped(first)} to ${grouped(Math.min(high, first + shown - 1))} of ${grouped(low)} to ${grouped(high)}</p>` +
      overviewSvg({ all: [1, high - low + 1], data: [1, high - low + 1], tile: [0, 0], window: [0, first - low, 1, shown], width: Math.max(200, pane.clientWidth - 4), height: 14 })) + "</div>";
  pane.querySelector(".overview")?.addEventListener("click", (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    moveMemory(pane.id, low + (event.clientX - box.left) / box.width * (high - low));
  });
}

/* ---- Windows ---- */

/* Whole runs of memory on a line, up to 16 places; where a run does not fit, a power of two. */
function lineFor(run, most) {
  if (run > most) return 2 ** Math.floor(Math.log2(most));
  while (run * 2 <= Math.min(16, most)) run *= 2;
  return run;
}

const ROWS_SEEN = 18;

/* What is seen through a window that its panes have room for: asked for as wide as the longest texts might be, then, if those
 * that came are shorter, once more. */
async function lookAt(text, shape, panes, point) {
  const { grid, memory } = panes, at = state.at || shape.dims.map(() => 0).join(",") || "0";
  const request = (columns, line) => ask(panes.key, "web_window", [text, [state.rows || -1, state.columns || -1, ROWS_SEEN, columns, state.lines || -1,
    state.places || -1, ROWS_SEEN, line].join(","), at, point || "-1"]);
  const first = await request(grid ? 12 : 4, 0);
  if (!first || first.failed) return null;
  const size = { columns: grid ? roomFor(grid, cellWidth(longest(first.json.grid.points, 2)), 40) : 4, line: lineOf(first.json, roomFor(memory, memoryCellWidth(first.json), placeWidth(first.json))) };
  const same = (!grid || size.columns === first.json.grid.columns) && size.line === (first.json.memory?.line ?? 0);
  const found = same ? first : await request(size.columns, size.line);
  if (!found || found.failed) return null;
  return Object.assign(found.json, { width: cellWidth(longest(found.json.grid.points, 2)), memoryWidth: memoryCellWidth(found.json) });
}

function longest(lists, least) { return lists.reduce((most, one) => Math.max(most, Array.isArray(one) ? one.join(",").length : 4), least); }

function memoryCellWidth(view) {
  const rank = view.drawn.length, keys = (view.memory?.elements || []).filter(Array.isArray);
  return cellWidth(longest(keys.map((list) => list.slice(0, rank)), 3) + (keys.some((list) => list.length > rank) ? 3 : 0));
}

/* Of the numbers in front of the lines. */
function placeWidth(view) {
  const memory = view.memory, last = memory ? memory.point[memory.line_axis] + memory.lines * memory.line : 0;
  return 14 + 6.7 * Math.max(3, String(last).length);
}

function lineOf(view, most) {
  const memory = view.memory;
  if (!memory) return 0;
  return memory.line_axis === memory.place_axis ? lineFor(view.run, most) : Math.min(most, view.high[memory.place_axis] - view.low[memory.place_axis] + 1);
}

function showError(name, result) {
  const place = $(name + "-error"), failed = Boolean(result?.failed);
  place.hidden = !failed;
  place.textContent = failed ? result.message.trimEnd() : "";
  $(name).setAttribute("aria-invalid", String(failed));
}

async function updateLayouts() {
  const b = state.b.trim();
  scrubs.a.show(state.a);
  scrubs.b.show(state.b);
  const from = await ask("a", "web_layout", [state.a, "", "", "", ""]);
  const to = b ? await ask("b", "web_layout", [b, "", "", "", ""]) : null;
  if (!from || to === undefined) return;
  showError("a", from);
  showError("b", to);
  if (from.failed) { document.documentElement.dataset.shown = state.a; return; }
  seen.a = from.json;
  seen.b = to && !to.failed ? to.json : null;
  $("other").hidden = !seen.b?.axes;
  document.querySelector(".panes").classList.toggle("three", !$("other").hidden);
  showFacts(seen.a, seen.b);
  showAnatomy(seen.a);
  await updatePanes();
  later();
}

async function updatePanes() {
  const text = state.a;
  if (!seen.a?.axes) {
    for (const id of ["grid", "memory"]) $(id).innerHTML = id === "grid" ? `<p class="soft">There is no one layout to draw: the shape is a tuple, or has no data.</p>` : "";
    document.documentElement.dataset.shown = text;
    return;
  }
  const view = await lookAt(text, seen.a, { key: "window a", grid: $("grid"), memory: $("memory") }, state.from);
  if (!view) return;
  seen.grid = view;
  drawGrid($("grid"), seen.a, view, "Logical indices");
  drawMemory($("memory"), seen.a, view, seen.b ? "Memory before" : "Memory");
  if (seen.b?.axes) {
    const other = await lookAt(state.b.trim(), seen.b, { key: "window b", memory: $("other") }, state.other);
    if (other) drawMemory($("other"), seen.b, seen.other = other, "Memory after");
  }
  showStepCells();
  document.documentElement.dataset.shown = text;
}

const later = settled(60, () => { showNotations(state.a); updateTransfer(); });

/* ---- Moving the windows ---- */

function clampTo(value, least, most) { return Math.max(least, Math.min(Math.round(value), Math.max(least, most))); }

function moveGrid(row, column) {
  const view = seen.grid, index = [...view.grid.index];
  const before = index.join(",");
  if (view.grid.row_dim >= 0) index[view.grid.row_dim] = clampTo(row, 0, view.drawn[view.grid.row_dim] - view.grid.rows);
  if (view.grid.column_dim >= 0) index[view.grid.column_dim] = clampTo(column, 0, view.drawn[view.grid.column_dim] - view.grid.columns);
  if (index.join(",") === before) return Promise.resolve(false);
  change({ at: index.join(",") });
  return updatePanes().then(() => true);
}

function panGrid(rows, columns) {
  const { grid } = seen.grid;
  return moveGrid((grid.row_dim >= 0 ? grid.index[grid.row_dim] : 0) + rows, (grid.column_dim >= 0 ? grid.index[grid.column_dim] : 0) + columns);
}

function viewOf(id) { return id === "memory" ? seen.grid : seen.other; }

/* To a place of one axis; to a line's beginning. */
function moveMemory(id, place) {
  const view = viewOf(id), memory = view.memory, axis = memory.place_axis;
  const line = memory.line, low = view.low[axis], last = low + Math.max(0, Math.ceil((view.high[axis] - low + 1) / line) - memory.lines) * line;
  const point = [...memory.point];
  point[axis] = clampTo(low + Math.floor((place - low) / line) * line, low, last);
  if (point.join(",") === memory.point.join(",")) return Promise.resolve(false);
  change({ [id === "memory" ? "from" : "other"]: point.join(",") });
  return updatePanes().then(() => true);
}

function panMemory(id, rows, columns) {
  const view = viewOf(id), memory = view.memory;
  if (memory.line_axis === memory.place_axis) return moveMemory(id, memory.point[memory.place_axis] + rows * memory.line);
  const point = [...memory.point], { line_axis: down, place_axis: across } = memory;
  point[down] = clampTo(point[down] + rows, view.low[down], view.high[down] - memory.lines + 1);
  point[across] = clampTo(point[across] + columns, view.low[across], view.high[across] - memory.line + 1);
  if (point.join(",") === memory.point.join(",")) return Promise.resolve(false);
  change({ [id === "memory" ? "from" : "other"]: point.join(",") });
  return updatePanes().then(() => true);
}

/* ---- Pointing ---- */

const sayPointed = settled(30, (text) => { $("pointed").innerHTML = text; });

function point(cell) {
  document.querySelectorAll(".cell.on").forEach((old) => old.classList.remove("on"));
  if (!cell) return;
  cell.classList.add("on");
  for (const key of (cell.dataset.k || "").split(" ").filter(Boolean))
    document.querySelectorAll(`.panes .cell[data-k~="${key}"]`).forEach((same) => same.classList.add("on"));
  sayPointed(pointedText(cell));
}

function pointedText(cell) {
  const text = escapeText(cell.getAttribute("aria-label")), key = (cell.dataset.k || "").split(" ")[0];
  if (!key) return text;
  const bits = seen.a.element_bits, inGrid = cell.closest("#grid");
  const bytes = cell.dataset.o !== undefined && inGrid && bits % 8 === 0 ? `, byte ${grouped(cell.dataset.o * bits / 8)}` : "";
  const other = document.querySelector(`#other .cell[data-k~="${key}"]`);
  return text.replace(/\(([^)]*)\)/, "<b>($1)</b>") + bytes + (other && !cell.closest("#other") ? `; after the move at offset <b>${other.dataset.o}</b>` : "");
}

/* What a cell is of is brought into the other windows. */
async function bring(cell) {
  const key = (cell.dataset.k || "").split(" ")[0];
  if (!key) return;
  const index = key.split(",").map(Number), own = cell.closest(".pane").id;
  const { grid } = seen.grid;
  if (own !== "grid") await moveGrid(grid.row_dim >= 0 ? index[grid.row_dim] - grid.rows / 2 : 0, grid.column_dim >= 0 ? index[grid.column_dim] - grid.columns / 2 : 0);
  for (const [id, text, shape] of [["memory", state.a, seen.a], ["other", state.b, seen.b]]) {
    if (!shape?.axes || shape.axes.length !== 1 || own === id) continue;
    const at = await ask("at " + id, "web_layout", [text, key, "", "", ""]);
    const view = viewOf(id);
    if (at && !at.failed && view?.memory) await moveMemory(id, at.json.offset - view.memory.line * Math.floor(view.memory.lines / 2));
  }
  const again = document.querySelector(`#${own} .cell[data-k~="${key}"]`);
  if (again) { focusCell(again); point(again); }
}

/* ---- Events ---- */

const scrubs = {};

function setLayout(name, text, dim, value) {
  const values = { [name]: text, step: "0" };
  if (name === "a" && dim >= 0 && state.b) values.b = withDim(state.b, dim, value);
  if (name === "b" && dim >= 0) values.a = withDim(state.a, dim, value);
  change(values);
  for (const one of ["a", "b"]) if (document.activeElement !== $(one)) $(one).value = state[one];
  updateLayouts();
}

function otherWindow() { return { at: "", from: "", other: "", rows: "", columns: "", lines: "", places: "", step: "0" }; }

function beginLayouts() {
  for (const name of ["a", "b"]) {
    scrubs[name] = new Scrub($(name + "-scrub"), name === "a" ? "layout" : "other layout", (text, dim, value) => setLayout(name, text, dim, value));
    $(name).addEventListener("input", () => { change({ [name]: $(name).value, ...otherWindow() }); updateLayouts(); });
  }
  $("example").innerHTML = `<option value="">choose one</option>` + EXAMPLES.map(([name], i) => `<option value="${i}">${escapeText(name)}</option>`).join("");
  $("example").addEventListener("change", () => {
    const example = EXAMPLES[$("example").value];
    if (example) showLayouts({ a: example[1], b: example[2] });
  });
  $("swap").addEventListener("click", () => { if (state.b) showLayouts({ a: state.b, b: state.a }); });
  $("panel-layout").addEventListener("click", (event) => {
    const link = event.target.closest("[data-a],[data-b]");
    if (link) showLayouts(link.dataset.a ? { a: link.dataset.a } : { b: link.dataset.b });
  });
  goThrough($("grid"), panGrid);
  goThrough($("memory"), (r, c) => panMemory("memory", r, c));
  goThrough($("other"), (r, c) => panMemory("other", r, c));
  for (const pane of document.querySelectorAll(".pane")) beginPane(pane);
  window.addEventListener("resize", settled(150, () => { if (state.tab === "layout") updatePanes(); }));
}

function showLayouts(values) {
  change({ ...otherWindow(), ...values });
  $("a").value = state.a;
  $("b").value = state.b;
  updateLayouts();
}

function beginPane(pane) {
  pane.addEventListener("pointerover", (event) => { const cell = event.target.closest(".cell"); if (cell) point(cell); });
  pane.addEventListener("focusin", (event) => { const cell = event.target.closest(".cell"); if (cell) point(cell); });
  pane.addEventListener("pointerleave", () => point(document.activeElement?.closest?.(".cell")));
  pane.addEventListener("keydown", (event) => {
    const cell = event.target.closest(".cell");
    if (cell && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); bring(cell); }
  });
  pane.addEventListener("click", (event) => {
    const cell = event.target.closest(".cell"), button = event.target.closest("button");
    if (cell) bring(cell);
    if (button?.dataset.pan) pan(pane.id, button.dataset.pan.split(",").map(Number));
    if (button?.dataset.dim) stepIndex("at", seen.grid.grid.index, Number(button.dataset.dim), Number(button.dataset.by), (d) => [0, seen.a.dims[d] - 1]);
    if (button?.dataset.axis) {
      const view = viewOf(pane.id);
      stepIndex(pane.id === "memory" ? "from" : "other", view.memory.point, Number(button.dataset.axis), Number(button.dataset.by), (i) => [view.low[i], view.high[i]]);
    }
  });
  pane.addEventListener("change", (event) => {
    if (!event.target.dataset.state) return;
    change({ [event.target.dataset.state]: event.target.value, at: "", from: "" });
    updatePanes();
  });
}

async function pan(id, [rows, columns]) {
  const view = viewOf(id === "grid" ? "memory" : id);
  if (id === "grid") await panGrid(rows * view.grid.rows, columns * view.grid.columns);
  else await panMemory(id, rows * view.memory.lines, columns * view.memory.line);
  document.querySelector(`#${id} [data-pan="${rows},${columns}"]`)?.focus();
}

async function stepIndex(key, index, at, by, range) {
  const next = [...index], [low, high] = range(at);
  next[at] = clampTo(next[at] + by, low, high);
  change({ [key]: next.join(",") });
  await updatePanes();
}
