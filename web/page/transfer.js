/* The price of a transfer, on this machine and on all, and its steps: loops, bursts, banks. */
"use strict";

const COMPONENT_COLOURS = {
  useful: "var(--kind-1)", padding: "var(--hatch)", burst_waste: "var(--kind-6)", row_misses: "var(--kind-2)",
  conflicts: "var(--kind-5)", refresh: "var(--kind-7)", reordering: "var(--kind-4)", fixed: "var(--kind-8)",
};
const moved = { price: null, steps: null, text: "", stepping: false };

function stackedBar(parts, total, label) {
  const pieces = parts.filter(([, value]) => value > 0).map(([name, value, colour]) =>
    `<span style="width:${100 * value / Math.max(1, total)}%;background:${colour}" title="${escapeText(name)}: ${grouped(value)}"></span>`);
  return `<div class="bar" role="img" aria-label="${escapeText(label)}">${pieces.join("")}</div>`;
}

function partsTable(parts, total, head) {
  const rows = parts.filter(([, value]) => value > 0).map(([name, value, colour]) =>
    `<tr><td><span class="swatch" style="background:${colour}"></span>${escapeText(name)}</td><td class="number">${grouped(value)}</td><td class="number">${percent(value, total)}</td></tr>`);
  return `<table><thead><tr><th>${head}</th><th class="number">cycles</th><th class="number">share</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function partsOf(price) {
  return Object.entries(price.parts).map(([key, value]) => [engine.names.components[key], value, COMPONENT_COLOURS[key]]);
}

function drawPrice(price, milliseconds) {
  const card = $("price"), parts = partsOf(price);
  const by = price.core_program ? `<p>The engine cannot ${escapeText(price.core_program.engine_cannot)}: the core does it, with <code>${escapeText(price.core_program.program)}</code>.</p>` : "";
  card.innerHTML = `<h2>What the transfer costs on ${escapeText(price.machine)}</h2>
    <p class="headline"><b>${price.estimated ? "~" : ""}${grouped(price.cycles)}</b> cycles, ${price.microseconds.toFixed(3)} us, ${price.gb_per_s.toFixed(1)} GB/s of data, ${price.peak_percent.toFixed(1)} % of HBM's peak</p>
    ${stackedBar(parts, price.cycles, "cycles by cause: " + parts.filter((part) => part[1]).map(([name, value]) => `${name} ${value}`).join(", "))}
    ${partsTable(parts, price.cycles, "where the cycles go")}
    <p>Limited by: ${escapeText(price.limiter)}.</p>${by}
    <p class="soft">${escapeText(price.kind)}, ${grouped(price.descriptors)} descriptor${price.descriptors === 1 ? "" : "s"}; ${bytesText(price.useful_bytes)} useful, ${bytesText(price.moved_bytes)} moved at both ends: ${bytesText(price.padding_bytes)} padding, ${bytesText(price.waste_bytes)} burst waste.
    ${grouped(price.bursts)} bursts, ${grouped(price.activations)} activations. Computed in ${milliseconds.toFixed(0)} ms.</p><div id="others"></div>`;
}

async function updateTransfer() {
  const b = state.b.trim(), both = Boolean(b) && Boolean(seen.b?.axes);
  for (const id of ["price", "steps", "machines"]) $(id).hidden = !both;
  if (!both) { delete document.documentElement.dataset.priced; return; }
  const text = `${state.a} -> ${b} on ${state.machine}`;
  const result = await ask("dma", "web_dma", [state.a, b, state.machine, "", 1]);
  if (!result) return;
  if (result.failed) {
    $("price").innerHTML = `<h2>What the transfer costs</h2><pre class="error">${escapeText(result.message.trimEnd())}</pre>`;
    $("steps").hidden = $("machines").hidden = true;
    document.documentElement.dataset.priced = text;
    return;
  }
  moved.price = result.json;
  moved.text = text;
  drawPrice(result.json, result.milliseconds);
  document.documentElement.dataset.priced = text;
  await updateSteps(true);
  lookAround();
}

/* ---- Other layouts, other machines ---- */

const lookAround = settled(350, async () => {
  const text = moved.text, cycles = moved.price.cycles;
  const result = await ask("others", "web_dma", [state.a, state.b.trim(), state.machine, "", 0]);
  if (!result || result.failed || text !== moved.text) return;
  const best = (key, name, what) => result.json[key].slice(0, 3).map((one) => `<tr><td>${what}</td><td><button type="button" class="linked" data-${name}="${escapeText(one.shape)}">${escapeText(one.shape)}</button></td>
    <td class="number">${one.estimated ? "~" : ""}${grouped(one.cycles)}</td><td class="number">${(one.cycles / cycles).toFixed(2)} x</td></tr>`).join("");
  const rows = best("other_sources", "a", "from") + best("other_destinations", "b", "to");
  $("others").innerHTML = rows && `<h3 style="margin:.8em 0 .2em">With another layout of one end</h3><div class="scroll"><table><thead><tr><th></th><th>layout</th><th class="number">cycles</th><th class="number">ratio</th></tr></thead><tbody>${rows}</tbody></table></div>`;
  await everyMachine(text);
});

async function everyMachine(text) {
  const found = [];
  for (const { machine: name } of engine.machines) {
    const result = await ask("machine " + name, "web_dma", [state.a, state.b.trim(), name, "", 1]);
    if (!result || text !== moved.text) return;
    found.push([name, result]);
  }
  const most = Math.max(...found.map(([, result]) => result.json.microseconds || 0));
  const rows = found.sort(([, x], [, y]) => (x.json.microseconds ?? Infinity) - (y.json.microseconds ?? Infinity)).map(([name, { json, failed }]) => failed
    ? `<tr><td>${escapeText(name)}</td><td colspan="3" class="soft">${escapeText(json.error?.message || "cannot")}</td></tr>`
    : `<tr class="${name === state.machine ? "chosen" : ""}"><td>${escapeText(name)}</td><td class="number">${json.microseconds.toFixed(3)}</td><td class="grow"><span class="meter ${name === state.machine ? "chosen" : ""}" style="width:${100 * json.microseconds / most}%"></span></td>
       <td>${escapeText(engine.names.components[json.limiter_part])}</td></tr>`);
  $("machines").innerHTML = `<h2>On every machine</h2><div class="scroll"><table><thead><tr><th>machine</th><th class="number">us</th><th><span class="soft">shorter is faster</span></th><th>largest part</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
  document.documentElement.dataset.everywhere = text;
}

/* ---- Steps ---- */

const BATCH = 256;
let playing = 0;

async function updateSteps(anew) {
  const step = Math.max(0, Number(state.step) || 0), first = Math.floor(step / BATCH) * BATCH;
  const result = await ask("steps", "web_steps", [state.a, state.b.trim(), state.machine, first, BATCH]);
  if (!result) return;
  $("steps").hidden = result.failed || result.json.steps.length === 0;
  if ($("steps").hidden) { moved.steps = null; return; }
  moved.steps = result.json;
  const last = first + result.json.steps.length - 1;
  if (step > last) change({ step: String(last) });
  if (anew) drawSteps();
  drawStep();
}

function drawSteps() {
  $("steps").innerHTML = `<h2>Step through the plan</h2>
    <p class="soft">The engine takes blocks of up to 4 KiB along the plan's loops: it reads the lines of the source, then writes those of the destination.</p>
    <div class="row"><button type="button" id="step-back" aria-label="one step back">&larr;</button><button type="button" id="step-play">Play</button><button type="button" id="step-on" aria-label="one step on">&rarr;</button>
    <input type="range" id="step" min="0" aria-label="step"><span id="step-at" role="status"></span></div>
    <div class="loops" id="loops"></div><canvas id="banks" role="img"></canvas><p class="soft" id="bank-text"></p>`;
  $("step").addEventListener("input", () => goTo(Number($("step").value)));
  $("step-back").addEventListener("click", () => goTo(Number(state.step) - 1));
  $("step-on").addEventListener("click", () => goTo(Number(state.step) + 1));
  $("step-play").addEventListener("click", () => play(!playing));
}

function play(wanted) {
  clearInterval(playing);
  playing = wanted ? setInterval(async () => { if (!(await goTo(Number(state.step) + 1))) play(false); }, 250) : 0;
  if ($("step-play")) $("step-play").textContent = playing ? "Pause" : "Play";
}

async function goTo(step) {
  const { first, steps, more } = moved.steps, end = first + steps.length;
  if (step < 0 || (step >= end && !more)) return false;
  change({ step: String(step) });
  moved.stepping = true;
  if (step < first || step >= end) await updateSteps(false);
  else drawStep();
  return true;
}

function bitsText(bits) { return bits % 8 ? `${bits} bits` : `${grouped(bits / 8)} B`; }

function currentStep() { return moved.steps?.steps[Number(state.step) - moved.steps.first]; }

function drawStep() {
  const { first, steps, more, boxes, box_count } = moved.steps, step = currentStep();
  if (!step || !$("loops")) return;
  const last = first + steps.length - 1;
  $("step").max = more ? last + BATCH : last;
  $("step").value = state.step;
  $("step-at").textContent = `step ${grouped(Number(state.step) + 1)} of ${more ? "more than " : ""}${grouped(last + 1)}`;
  const box = boxes[step.box];
  const lines = (box?.loops || []).map(([extent, from, to], i) => {
    const now = step.extent[i] === 1 ? `${step.at[i]}` : `${step.at[i]} .. ${step.at[i] + step.extent[i] - 1}`;
    return `${"  ".repeat(i)}for i${i} in 0 .. ${extent - 1}: from += ${bitsText(from)}, to += ${bitsText(to)}   <span class="now">i${i} = ${now}</span>`;
  });
  $("loops").innerHTML = `box ${step.box + 1} of ${grouped(box_count)}: ${grouped(step.elements)} element${step.elements === 1 ? "" : "s"} now\n` + lines.join("\n");
  drawBanks(step);
  showStepCells();
}

/* Every bank of every channel: how often this step and those before it in this batch came there. */
function drawBanks(step) {
  const { channels, banks, steps, first } = moved.steps, canvas = $("banks");
  const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name);
  const wide = Math.max(channels, 1), scale = window.devicePixelRatio || 1, width = canvas.clientWidth || 600, x = width / wide, y = Math.max(2.5, Math.min(8, 190 / banks));
  canvas.width = width * scale;
  canvas.height = banks * y * scale;
  canvas.style.height = banks * y + "px";
  const draw = canvas.getContext("2d");
  draw.scale(scale, scale);
  const before = new Map(), rows = new Map();
  let opened = 0, hits = 0;
  for (const one of steps.slice(0, Number(state.step) - first)) for (const [, , , channel, bank, row] of one.accesses) {
    const at = channel * banks + bank;
    before.set(at, (before.get(at) || 0) + 1);
    rows.set(at, row);
  }
  const most = Math.max(1, ...before.values()), gap = x > 6 ? 1 : 0;
  const fill = (at, name, alpha) => {
    draw.globalAlpha = alpha;
    draw.fillStyle = colour(name);
    draw.fillRect(Math.floor(at / banks) * x, (at % banks) * y, Math.max(1, x - gap), Math.max(1.5, y - .5));
  };
  for (const [at, count] of before) fill(at, "--kind-6", .18 + .5 * count / most);
  const reads = new Set(), writes = new Set();
  for (const [, write, , channel, bank, row] of step.accesses) {
    const at = channel * banks + bank;
    (write ? writes : reads).add(at);
    if (rows.get(at) === row) hits++; else opened++;
    rows.set(at, row);
  }
  for (const at of reads) fill(at, "--kind-1", 1);
  for (const at of writes) fill(at, "--kind-2", 1);
  draw.globalAlpha = 1;
  const used = new Set([...reads, ...writes].map((at) => Math.floor(at / banks))).size;
  const text = `${grouped(step.accesses.length)} lines of HBM in ${used} of ${channels} channels: banks read: ${reads.size}, written: ${writes.size}; in this order ${grouped(opened)} come to another row than the last in their bank, ${grouped(hits)} to the same.`;
  canvas.setAttribute("aria-label", "channels across, banks down. " + text);
  $("bank-text").innerHTML = `Channels across, banks down. <span class="swatch" style="background:var(--kind-1)"></span>read <span class="swatch" style="background:var(--kind-2)"></span>written <span class="swatch" style="background:var(--kind-6)"></span>before. ${escapeText(text)}`;
}

/* The elements of the step, in all panes. */
function showStepCells() {
  document.querySelectorAll(".cell.step").forEach((cell) => cell.classList.remove("step"));
  const step = currentStep(), box = moved.steps?.boxes[step?.box];
  if (!step || !box || !(moved.stepping || state.step !== "0") || $("steps").hidden || !state.b || seen.a?.axes.length !== 1 || seen.b?.axes?.length !== 1) return;
  const sets = [new Set(), new Set()], sides = [[box.src_bits - moved.steps.src_at * 8, moved.steps.src_bits, 1], [box.dst_bits - moved.steps.dst_at * 8, moved.steps.dst_bits, 2]];
  sides.forEach(([base, bits, column], side) => {
    let offsets = [base];
    box.loops.forEach((loop, i) => {
      const next = [];
      for (const offset of offsets) for (let k = 0; k < step.extent[i]; k++) next.push(offset + (step.at[i] + k) * loop[column]);
      offsets = next;
    });
    for (const offset of offsets) sets[side].add(String(offset / bits));
  });
  for (const [id, set] of [["grid", sets[0]], ["memory", sets[0]], ["other", sets[1]]])
    for (const cell of document.querySelectorAll(`#${id} .cell[data-o]`)) cell.classList.toggle("step", set.has(cell.dataset.o) && cell.dataset.k !== undefined);
}
