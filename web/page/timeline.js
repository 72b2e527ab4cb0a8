/* A timeline on a canvas, of events in Chrome's trace format: the same that `tilesim run --trace` writes. */
"use strict";

const LABEL = 150, LANE = 19, MOST_LANES = 48;
const chart = { lanes: [], begin: 0, end: 1, from: 0, to: 1, hover: null, canvas: null, cyclesPer: 1 };

/* Events of each row in the order of time; rows by process and thread. */
function readTrace(trace) {
  const names = new Map(), lanes = new Map();
  for (const event of trace.traceEvents) {
    if (event.ph === "M" && /^(process|thread)_name$/.test(event.name)) names.set(`${event.name[0]}${event.pid}/${event.name === "thread_name" ? event.tid : ""}`, event.args.name);
    if (event.ph !== "X" && event.ph !== "C") continue;
    const counter = event.ph === "C", key = `${event.pid}/${event.tid}/${counter ? event.name : ""}`;
    if (!lanes.has(key)) lanes.set(key, { pid: event.pid, tid: event.tid, counter, events: [] });
    lanes.get(key).events.push(event);
  }
  const found = [...lanes.values()].sort((x, y) => x.pid - y.pid || x.tid - y.tid);
  for (const lane of found) {
    lane.events.sort((x, y) => x.ts - y.ts);
    const process = names.get(`p${lane.pid}/`) || "", thread = lane.counter ? lane.events[0].name : names.get(`t${lane.pid}/${lane.tid}`) || "";
    lane.process = process;
    lane.name = process === "core" ? thread : `${process.replace(" engine", "")} ${thread}`;
    lane.most = lane.counter ? Math.max(1e-9, ...lane.events.map(levelOf)) : 0;
  }
  return found.slice(0, MOST_LANES);
}

/* Colours: of bundles the first, of transfers the last, of stalls the others, the most frequent first. */
const kinds = new Map();
function resetKinds(stalls) {
  kinds.clear();
  kinds.set("bundle", 1).set("transfer", 8);
  stalls.forEach((name, i) => kinds.set(name, 2 + i % 6));
}
function colourOf(name) {
  if (!kinds.has(name)) kinds.set(name, 2 + kinds.size % 6);
  return `--kind-${kinds.get(name)}`;
}

function levelOf(event) { return Object.values(event.args).reduce((sum, value) => sum + (Number(value) || 0), 0); }

/* What an event is coloured by. */
function kindOfEvent(lane, event) {
  if (/^DMA/.test(lane.process)) return "transfer";
  if (/stalls$/.test(lane.name)) return event.name;
  return lane.process === "HBM" ? "HBM " + event.name : "bundle";
}

function showTimeline(trace, note) {
  const card = $("timeline");
  chart.lanes = readTrace(trace);
  card.hidden = chart.lanes.length === 0;
  if (card.hidden) return;
  chart.begin = Math.min(...chart.lanes.map((lane) => lane.events[0].ts));
  chart.end = chart.lanes.reduce((end, lane) => lane.events.reduce((last, event) => Math.max(last, event.ts + (event.dur || 0)), end), 0);
  chart.cyclesPer = cyclesPerUnit();
  [chart.from, chart.to] = [chart.begin, chart.end];
  card.innerHTML = `<h2>Timeline</h2><div class="row"><span class="soft">Wheel or + and -: zoom; drag or arrow keys: move; 0: all. ${escapeText(note)}</span></div>
    <canvas id="lanes" tabindex="0" role="img"></canvas><p id="event" class="pointed" aria-live="polite">Point at an event.</p><p class="soft" id="legend"></p>`;
  chart.canvas = $("lanes");
  listenToTimeline();
  drawTimeline();
  $("legend").innerHTML = [...kinds.keys()].map((name) => `<span style="white-space:nowrap"><span class="swatch" style="background:var(${colourOf(name)})"></span>${escapeText(name.replaceAll("_", " "))}</span>`).join(" &nbsp; ");
}

/* Cycles of the core in a unit of the trace's time: of an event that says both. */
function cyclesPerUnit() {
  for (const lane of chart.lanes) for (const event of lane.events) if (event.args?.cycles > 0 && event.dur > 0) return event.args.cycles / event.dur;
  return 1000;
}

function atCycle(time) { return Math.round(time * chart.cyclesPer); }

function drawTimeline() {
  const { canvas, lanes, from, to } = chart, scale = window.devicePixelRatio || 1, width = canvas.clientWidth || 800;
  const label = width < 560 ? 74 : LABEL, height = lanes.length * LANE + 22;
  const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name);
  Object.assign(canvas, { width: width * scale, height: height * scale });
  canvas.style.height = height + "px";
  const draw = canvas.getContext("2d");
  draw.scale(scale, scale);
  draw.font = `11px ${colour("--sans")}`;
  const x = (time) => label + (time - from) / (to - from) * (width - label);
  drawTicks(draw, { label, width, height, x, colour });
  lanes.forEach((lane, n) => {
    const y = n * LANE + 2;
    draw.fillStyle = colour("--soft");
    draw.fillText((label < LABEL ? lane.name.replace(/queue |channel /, "") : lane.name).slice(0, Math.floor(label / 6.2)), 4, y + 12);
    let drawn = -1;
    if (lane.counter) drawCounter(draw, lane, { y, x, label, width, colour });
    else for (const event of lane.events) {
      const left = Math.max(label, x(event.ts)), right = Math.min(width, x(event.ts + event.dur));
      if (right < label || left > width || right - drawn < .35) continue;
      draw.fillStyle = colour(colourOf(kindOfEvent(lane, event)));
      draw.fillRect(left, y, Math.max(.8, right - left - (right - left > 3 ? .6 : 0)), LANE - 4);
      drawn = right;
      if (right - left > 40) {
        draw.fillStyle = colour("--paper");
        draw.fillText(event.name.replaceAll("_", " ").slice(0, Math.floor((right - left) / 6.2)), left + 3, y + 12);
      }
    }
  });
  canvas.setAttribute("aria-label", `timeline of ${lanes.map((lane) => `${lane.name}, ${lane.events.length} events`).join(", ")}; cycles ${grouped(atCycle(from))} to ${grouped(atCycle(to))} are seen`);
}

/* Steps: a value holds until the next one. */
function drawCounter(draw, lane, { y, x, label, width, colour }) {
  draw.fillStyle = colour("--kind-6");
  lane.events.forEach((event, i) => {
    const left = Math.max(label, x(event.ts)), right = Math.min(width, x(i + 1 < lane.events.length ? lane.events[i + 1].ts : chart.end));
    const high = (LANE - 4) * levelOf(event) / lane.most;
    if (right > left && high > 0) draw.fillRect(left, y + LANE - 4 - high, Math.max(.5, right - left), high);
  });
}

function drawTicks(draw, { label, width, height, x, colour }) {
  const cycles = (chart.to - chart.from) * chart.cyclesPer;
  let step = 10 ** Math.floor(Math.log10(Math.max(1, cycles / 4)));
  if (cycles / step > 10) step *= 2;
  draw.strokeStyle = colour("--line");
  draw.fillStyle = colour("--soft");
  for (let cycle = Math.ceil(chart.from * chart.cyclesPer / step) * step; cycle <= chart.to * chart.cyclesPer; cycle += step) {
    const at = x(cycle / chart.cyclesPer);
    draw.beginPath();
    draw.moveTo(at, 0);
    draw.lineTo(at, height - 16);
    draw.stroke();
    if (at < width - 50 && at >= label) draw.fillText(grouped(cycle), at + 2, height - 5);
  }
}

function zoomTimeline(factor, middle) {
  const span = Math.min(chart.end - chart.begin, Math.max((chart.to - chart.from) * factor, 8 / chart.cyclesPer));
  const share = (middle - chart.from) / (chart.to - chart.from);
  moveTimeline(middle - share * span, span);
}

function moveTimeline(from, span) {
  chart.from = Math.max(chart.begin, Math.min(from, chart.end - span));
  chart.to = chart.from + span;
  drawTimeline();
}

function timeAt(event) {
  const box = chart.canvas.getBoundingClientRect(), label = box.width < 560 ? 74 : LABEL;
  return chart.from + (event.clientX - box.left - label) / (box.width - label) * (chart.to - chart.from);
}

function sayEvent(event) {
  const lane = chart.lanes[Math.floor((event.clientY - chart.canvas.getBoundingClientRect().top - 2) / LANE)], time = timeAt(event);
  const slack = (chart.to - chart.from) / chart.canvas.clientWidth;
  const found = lane?.counter ? lane.events.findLast((one) => one.ts <= time) : lane?.events.find((one) => time >= one.ts - slack && time <= one.ts + one.dur + slack);
  if (!found) return;
  if (lane.counter) {
    $("event").innerHTML = `<b>${escapeText(lane.name)}</b> from cycle ${grouped(atCycle(found.ts))}: ${escapeText(Object.entries(found.args).map(([name, value]) => `${grouped(value)} ${name}`).join(", "))}`;
    return;
  }
  const where = found.args?.line ? `, line ${found.args.line}` : "";
  $("event").innerHTML = `<b>${escapeText(found.name)}</b>${where}: cycle ${grouped(atCycle(found.ts))}, ${grouped(atCycle(found.dur))} cycle${atCycle(found.dur) === 1 ? "" : "s"}${found.args?.useful_bytes ? `, ${bytesText(found.args.useful_bytes)}` : ""}`;
}

function listenToTimeline() {
  const { canvas } = chart;
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoomTimeline(event.deltaY > 0 ? 1.25 : .8, timeAt(event)); }, { passive: false });
  canvas.addEventListener("pointermove", sayEvent);
  canvas.addEventListener("pointerdown", (event) => {
    const begin = chart.from, span = chart.to - chart.from, x = event.clientX, width = canvas.clientWidth - LABEL;
    const move = (next) => moveTimeline(begin - (next.clientX - x) / width * span, span);
    const up = () => { window.removeEventListener("pointermove", move); window.removeEventListener("pointerup", up); };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
  });
  canvas.addEventListener("keydown", (event) => {
    const span = chart.to - chart.from, middle = (chart.from + chart.to) / 2;
    const actions = { "+": () => zoomTimeline(.7, middle), "=": () => zoomTimeline(.7, middle), "-": () => zoomTimeline(1.4, middle), 0: () => moveTimeline(chart.begin, chart.end - chart.begin),
      ArrowLeft: () => moveTimeline(chart.from - span / 8, span), ArrowRight: () => moveTimeline(chart.from + span / 8, span) };
    if (!actions[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    actions[event.key]();
  });
}
