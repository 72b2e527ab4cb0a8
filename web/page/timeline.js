// The timeline of a run on a canvas: rows of intervals, counters, regions. Wheel, drag, keys; what is seen is also said.
// `data` is what ts_report_page_trace_json (sim/report/timeline.h) writes.
"use strict";
function showTimeline(place, data) {
  const ROW = 20, AXIS = 24, LEAST_CYCLES = 10, NARROW = 560;
  const grouped = value => Number(value).toLocaleString("en-US");
  const view = { from: data.from, to: data.to, row: 0, event: -1 };
  const span = Math.max(1, data.to - data.from), dark = matchMedia("(prefers-color-scheme: dark)");

  // ---- Rows ----

  // Begins, lengths, what, and how many, of every fourth number.
  function decode(list) {
    const count = list.length / 4, begin = new Float64Array(count), end = new Float64Array(count), what = new Int32Array(count), many = new Float64Array(count);
    for (let i = 0, at = 0; i < count; i++) {
      begin[i] = at += list[4 * i];
      end[i] = at + list[4 * i + 1];
      what[i] = list[4 * i + 2];
      many[i] = list[4 * i + 3];
    }
    return { begin, end, what, many };
  }

  // A row for each depth of regions.
  function regionRows(row) {
    const rows = [], open = [];
    let at = 0;
    const close = () => {
      const [depth, begin, what] = open.pop();
      rows[depth] ??= { process: row.process, name: depth ? "" : row.name, events: [] };
      rows[depth].events.push([begin, at, what]);
    };
    for (let i = 0; i < row.events.length; i += 4) {
      at += row.events[i];
      if (row.events[i + 1]) open.push([open.length, at, row.events[i + 2]]);
      else if (open.length) close();
    }
    at = data.to;
    while (open.length) close();
    return rows.map(one => {
      one.events.sort((x, y) => x[0] - y[0]);
      return { ...one, begin: Float64Array.from(one.events, e => e[0]), end: Float64Array.from(one.events, e => e[1]), what: Int32Array.from(one.events, e => e[2]), many: new Float64Array(one.events.length) };
    });
  }

  function counterRow(row) {
    const count = row.events.length / 4, begin = new Float64Array(count), values = [new Float64Array(count), new Float64Array(count)];
    let at = 0, most = 1e-9;
    for (let i = 0; i < count; i++) {
      begin[i] = at += row.events[4 * i];
      for (let k = 0; k < row.series.length; k++) values[k][i] = row.events[4 * i + 1 + k] / (row.rate ? 100 : 1);
      most = Math.max(most, values[0][i] + values[1][i]);
    }
    return { process: row.process, name: row.name, series: row.series, counter: true, begin, end: begin, values, most };
  }

  const rows = [], firstOf = new Map();
  for (const { number, row } of data.tracks) {
    firstOf.set(number, rows.length);
    if (row.regions) rows.push(...regionRows(row));
    else rows.push(row.series.length ? counterRow(row) : { process: row.process, name: row.name, ...decode(row.events) });
  }

  // The first event that ends behind a cycle.
  function firstAt(row, cycle) {
    let low = 0, high = row.begin.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row.end[middle] <= cycle) low = middle + 1; else high = middle;
    }
    return low;
  }

  // The last that begins by then, or -1.
  function lastAt(row, cycle) {
    let low = 0, high = row.begin.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row.begin[middle] <= cycle) low = middle + 1; else high = middle;
    }
    return low - 1;
  }

  // ---- Drawing ----

  place.classList.add("timeline");
  place.innerHTML = `<div class="tools"><button type="button" data-key="+" aria-label="zoom in">+</button><button type="button" data-key="-" aria-label="zoom out">&minus;</button>
    <button type="button" data-key="ArrowLeft" aria-label="to the left">&larr;</button><button type="button" data-key="ArrowRight" aria-label="to the right">&rarr;</button>
    <button type="button" data-key="0">all</button>
    <span class="soft">Drag, or Ctrl and the wheel; keys + &minus; &larr; &rarr; 0; &uarr; &darr; choose a row, n and p an event of it.</span></div>
    <p class="soft notes"></p><canvas tabindex="0" role="application" aria-label="Timeline" aria-describedby="timeline-said"></canvas><p class="said" id="timeline-said" aria-live="polite">Point at an event.</p>`;
  place.querySelector(".notes").textContent = data.notes;
  const canvas = place.querySelector("canvas"), said = place.querySelector(".said"), pen = canvas.getContext("2d");
  let width = 0, label = 0, colours = [];
  const x = cycle => label + (cycle - view.from) / (view.to - view.from) * (width - label);

  function fill(kind, left, top, wide, high) {
    pen.fillStyle = colours[kind];
    pen.fillRect(left, top, wide, high);
  }

  // Events of less than a pixel share it: as opaque as they fill it, in the colour of the longest.
  function drawIntervals(row, top) {
    const perPixel = (view.to - view.from) / (width - label);
    let pixel = -1, covered = 0, longest = 0, kind = 0;
    const flush = () => {
      if (covered > 0) {
        pen.globalAlpha = Math.min(1, .2 + .8 * covered);
        fill(kind, pixel, top, 1, ROW - 4);
        pen.globalAlpha = 1;
      }
      covered = longest = 0;
    };
    for (let i = firstAt(row, view.from); i < row.begin.length && row.begin[i] < view.to; i++) {
      const begin = Math.max(row.begin[i], view.from), end = Math.min(row.end[i], view.to), wide = (end - begin) / perPixel, left = x(begin);
      if (wide < 1.5) {
        if (Math.floor(left) !== pixel) { flush(); pixel = Math.floor(left); }
        covered += wide;
        if (wide > longest) { longest = wide; kind = data.what[row.what[i]][2]; }
        continue;
      }
      flush();
      fill(data.what[row.what[i]][2], left, top, wide - (wide > 4 ? 1 : 0), ROW - 4);
      if (wide > 34) {
        pen.save();
        pen.beginPath();
        pen.rect(left, top, wide - 4, ROW);
        pen.clip();
        pen.fillStyle = colours.paper;
        pen.fillText(data.what[row.what[i]][0], left + 4, top + 12);
        pen.restore();
      }
    }
    flush();
  }

  // Steps: a value holds until the next. Of each pixel the most.
  function drawCounter(row, top) {
    let pixel = -1, most = 0;
    for (let i = Math.max(0, lastAt(row, view.from)); i < row.begin.length && row.begin[i] < view.to; i++) {
      const value = row.values[0][i] + row.values[1][i], left = Math.max(label, x(row.begin[i])), right = Math.min(width, i + 1 < row.begin.length ? x(row.begin[i + 1]) : width);
      if (Math.floor(left) !== pixel) { pixel = Math.floor(left); most = 0; }
      if (right - left < 1 && value <= most) continue;
      most = Math.max(most, value);
      const high = (ROW - 4) * value / row.most, both = value > 0 ? row.values[0][i] / value : 1;
      fill(row.series.length > 1 ? 3 : 6, left, top + ROW - 4 - high, Math.max(1, right - left), high * both);
      if (row.series.length > 1) fill(5, left, top + ROW - 4 - high * (1 - both), Math.max(1, right - left), high * (1 - both));
    }
  }

  function drawAxis(height) {
    const wanted = (view.to - view.from) / Math.max(2, (width - label) / 110);
    let step = 10 ** Math.ceil(Math.log10(Math.max(1, wanted)));
    if (step / 5 >= wanted) step /= 5; else if (step / 2 >= wanted) step /= 2;
    step = Math.max(1, step);
    for (let cycle = Math.ceil(view.from / step) * step; cycle <= view.to; cycle += step) {
      pen.fillStyle = colours.line;
      pen.fillRect(x(cycle), 0, 1, height - AXIS + 4);
      pen.fillStyle = colours.soft;
      const text = grouped(cycle), at = Math.min(x(cycle) + 2, width - pen.measureText(text).width - 2);
      pen.fillText(text, at, height - 8);
    }
  }

  function drawArrow([left, top], [right, bottom]) {
    const bend = Math.min(30, (right - left) / 2);
    pen.beginPath();
    pen.moveTo(left, top);
    pen.bezierCurveTo(left + bend, top, right - bend, bottom, right, bottom);
    pen.stroke();
  }

  function drawArrows() {
    const { arrows } = data, seen = [];
    for (let i = 0; i < arrows.length; i += 6)
      if (arrows[i + 5] >= view.from && arrows[i + 1] <= view.to) seen.push(i);
    if (seen.length > 60) return;
    pen.strokeStyle = colours.ink;
    pen.globalAlpha = .55;
    for (const i of seen) {
      let last = null;
      for (const [track, cycle] of [arrows.slice(i, i + 2), arrows.slice(i + 2, i + 4), arrows.slice(i + 4, i + 6)]) {
        if (!firstOf.has(track)) continue;
        const next = [Math.max(label, x(cycle)), firstOf.get(track) * ROW + ROW / 2];
        if (last) drawArrow(last, next);
        last = next;
      }
    }
    pen.globalAlpha = 1;
  }

  const begins = n => n === 0 || rows[n - 1].process !== rows[n].process;
  const nameOf = n => (begins(n) && rows[n].process !== "core" && width >= NARROW ? `${rows[n].process}: ${rows[n].name}` : rows[n].name);

  /* As wide as the longest name, which is measured once in either form, up to a part of the whole. */
  const longest = [];
  function labelWidth() {
    const wide = Number(width >= NARROW);
    longest[wide] ??= rows.reduce((most, row, n) => Math.max(most, Math.ceil(pen.measureText(nameOf(n)).width)), 0);
    return Math.min(width / (wide ? 4 : 3), Math.max(wide ? 168 : 84, longest[wide] + 16));
  }

  function drawLabels(height) {
    pen.fillStyle = colours.panel;
    pen.fillRect(0, 0, label - 2, height);
    rows.forEach((row, n) => {
      if (begins(n) && n > 0) { pen.fillStyle = colours.strong; pen.fillRect(0, n * ROW, width, 1); }
      if (n === view.row && document.activeElement === canvas) { pen.fillStyle = colours.chosen; pen.fillRect(0, n * ROW + 1, label - 2, ROW - 1); }
      pen.fillStyle = n === view.row && document.activeElement === canvas ? colours.ink : colours.soft;
      pen.save();
      pen.beginPath();
      pen.rect(0, n * ROW, label - 6, ROW);
      pen.clip();
      pen.fillText(nameOf(n), 6, n * ROW + 14);
      pen.restore();
    });
  }

  function drawChosen() {
    const row = rows[view.row], i = view.event;
    if (!row || i < 0 || i >= row.begin.length) return;
    const left = Math.max(label, x(row.begin[i])), right = Math.min(width, row.counter ? x(row.begin[i]) + 2 : x(row.end[i]));
    if (right < left) return;
    pen.strokeStyle = colours.ink;
    pen.lineWidth = 2;
    pen.strokeRect(left, view.row * ROW + 2, Math.max(2, right - left), ROW - 4);
    pen.lineWidth = 1;
  }

  function draw() {
    const scale = window.devicePixelRatio || 1, style = getComputedStyle(document.documentElement), colour = name => style.getPropertyValue(name).trim();
    const height = rows.length * ROW + AXIS;
    colours = [colour("--hatch"), ...Array.from({ length: 8 }, (_, i) => colour(`--kind-${i + 1}`))];
    Object.assign(colours, { paper: colour("--paper"), panel: colour("--panel"), line: colour("--line"), strong: colour("--strong-line"), soft: colour("--soft"), ink: colour("--ink"), chosen: colour("--accent-soft") });
    width = canvas.clientWidth;
    canvas.style.height = `${height}px`;
    Object.assign(canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = `11.5px ${colour("--sans")}`;
    label = labelWidth();
    drawAxis(height);
    rows.forEach((row, n) => (row.counter ? drawCounter : drawIntervals)(row, n * ROW + 3));
    drawArrows();
    drawLabels(height);
    drawChosen();
    canvas.dataset.from = view.from;
    canvas.dataset.to = view.to;
    canvas.setAttribute("aria-label", `Timeline of ${rows.length} rows, cycles ${grouped(Math.round(view.from))} to ${grouped(Math.round(view.to))}`);
  }

  let asked = false;
  function redraw() {
    if (!canvas.isConnected) dark.removeEventListener("change", redraw);
    if (asked || !canvas.isConnected) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; if (canvas.clientWidth > 0) draw(); });
  }

  // ---- What an event is ----

  function sayEvent() {
    const row = rows[view.row], i = view.event, name = `${row.process}, ${row.name || "regions"}`;
    if (i < 0 || i >= row.begin.length) { said.textContent = `${name}: ${grouped(row.begin.length)} events`; return; }
    if (row.counter) {
      said.textContent = `${name} from cycle ${grouped(row.begin[i])}: ${row.series.map((series, k) => `${grouped(row.values[k][i])} ${series}`).join(", ")}`;
      return;
    }
    const [what, where] = data.what[row.what[i]], cycles = row.end[i] - row.begin[i], many = row.many[i];
    const extra = !many ? "" : /^channel/.test(row.name) ? `, ${grouped(many)} bursts` : /^queue|^link|^arrivals/.test(row.name) && where ? `, ${grouped(many)} bytes` : where ? "" : `, ${grouped(many)} summed up`;
    said.textContent = `${name}: ${what}${where ? `, ${where}` : ""}; cycle ${grouped(row.begin[i])}, for ${grouped(cycles)}${extra}`;
  }

  function pointed(event) {
    const box = canvas.getBoundingClientRect(), n = Math.floor((event.clientY - box.top) / ROW), at = event.clientX - box.left;
    if (n < 0 || n >= rows.length || at < label) return;
    const row = rows[n], cycle = view.from + (at - label) / (width - label) * (view.to - view.from), slack = 2 * (view.to - view.from) / width;
    const i = row.counter ? lastAt(row, cycle) : firstAt(row, cycle - slack);
    if (i < 0 || i >= row.begin.length || row.begin[i] > cycle + slack) return;
    Object.assign(view, { row: n, event: i });
    sayEvent();
    redraw();
  }

  // ---- Moving ----

  function move(from, wide) {
    wide = Math.min(span, Math.max(LEAST_CYCLES, wide));
    view.from = Math.max(data.from, Math.min(from, data.to - wide));
    view.to = view.from + wide;
    redraw();
  }

  function zoom(factor, middle) {
    const wide = Math.min(span, Math.max(LEAST_CYCLES, (view.to - view.from) * factor));
    move(middle - (middle - view.from) / (view.to - view.from) * wide, wide);
  }

  function chooseRow(step) {
    view.row = Math.max(0, Math.min(rows.length - 1, view.row + step));
    view.event = -1;
    sayEvent();
    redraw();
  }

  function chooseEvent(step) {
    const row = rows[view.row], wide = view.to - view.from;
    view.event = view.event < 0 ? firstAt(row, view.from) : view.event + step;
    view.event = Math.max(0, Math.min(row.begin.length - 1, view.event));
    if (row.begin[view.event] < view.from || row.begin[view.event] > view.to) move(row.begin[view.event] - wide / 2, wide);
    sayEvent();
    redraw();
  }

  function press(key) {
    const wide = view.to - view.from, middle = (view.from + view.to) / 2;
    const actions = { "+": () => zoom(.6, middle), "=": () => zoom(.6, middle), "-": () => zoom(1 / .6, middle), 0: () => move(data.from, span),
      ArrowLeft: () => move(view.from - wide / 6, wide), ArrowRight: () => move(view.from + wide / 6, wide), ArrowUp: () => chooseRow(-1), ArrowDown: () => chooseRow(1),
      n: () => chooseEvent(1), p: () => chooseEvent(-1), Home: () => move(data.from, wide), End: () => move(data.to, wide) };
    actions[key]?.();
    return key in actions;
  }

  canvas.addEventListener("keydown", event => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && press(event.key)) event.preventDefault();
  });
  for (const button of place.querySelectorAll("[data-key]")) button.addEventListener("click", () => press(button.dataset.key));
  canvas.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    const box = canvas.getBoundingClientRect(), at = view.from + (event.clientX - box.left - label) / (width - label) * (view.to - view.from);
    if (event.ctrlKey) zoom(1.002 ** event.deltaY, at);
    else move(view.from + (event.deltaX || event.deltaY) / width * (view.to - view.from), view.to - view.from);
  }, { passive: false });
  canvas.addEventListener("pointerdown", event => {
    const start = event.clientX, from = view.from;
    const drag = next => move(from - (next.clientX - start) / (width - label) * (view.to - view.from), view.to - view.from);
    const stop = () => { removeEventListener("pointermove", drag); removeEventListener("pointerup", stop); removeEventListener("pointercancel", stop); };
    for (const [name, action] of [["pointermove", drag], ["pointerup", stop], ["pointercancel", stop]]) addEventListener(name, action);
  });
  canvas.addEventListener("pointermove", pointed);
  canvas.addEventListener("dblclick", event => { pointed(event); const row = rows[view.row], i = view.event; if (i >= 0 && !row.counter) move(row.begin[i] - (row.end[i] - row.begin[i]) / 2, 2 * (row.end[i] - row.begin[i])); });
  for (const name of ["focus", "blur"]) canvas.addEventListener(name, redraw);
  dark.addEventListener("change", redraw);
  new ResizeObserver(redraw).observe(canvas);
  draw();
}
