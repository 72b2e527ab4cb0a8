/* The tab of programs: a text, its run, and where its cycles went. */
"use strict";

const ran = { text: "", lines: new Map() };

function shippedText() { return engine.programs.find((program) => program.name === state.program)?.text || ""; }
function programText() { return state.source === "" ? shippedText() : state.source; }

function showProgram() {
  $("program").value = state.program;
  $("defines").value = state.defines;
  $("check").checked = state.check === "1";
  if ($("source").value !== programText()) $("source").value = programText();
  $("reset").disabled = state.source === "";
  drawGutter();
}

/* The numbers of the lines, with the heat of the last run while its text is there. */
function drawGutter() {
  const count = $("source").value.split("\n").length, lines = ran.text === $("source").value ? ran.lines : new Map(), most = mostOf(lines);
  $("gutter").innerHTML = Array.from({ length: count }, (_, i) => {
    const cycles = cyclesOf(lines.get(`programs/${state.program}:${i + 1}`));
    return `<span class="heat" style="--share:${(100 * cycles / most).toFixed(0)}%"${cycles ? ` title="${grouped(cycles)} cycles"` : ""}>${i + 1}</span>`;
  }).join("");
  $("gutter").scrollTop = $("source").scrollTop;
}

async function runProgram() {
  const path = "programs/" + state.program;
  $("run-state").textContent = "running";
  $("stop").disabled = false;
  const result = await ask("run", "web_run", [path, state.machine, state.defines, state.check === "1" ? 1 : 0], { ["/" + path]: programText() });
  if (!result) return;
  $("stop").disabled = true;
  $("run-state").textContent = result.failed ? "" : `ran in ${result.milliseconds.toFixed(0)} ms`;
  showRunError(result.failed ? result.message : "");
  if (result.failed) {
    $("results").innerHTML = "";
    for (const id of ["timeline-card", "bundles", "loops-of-run"]) $(id).hidden = true;
  } else {
    ran.text = $("source").value;
    drawResults(result.json);
    drawEvents(result);
  }
  document.documentElement.dataset.ran = [state.program, state.machine, state.defines, result.failed ? "failed" : result.json.cycles].join(" ");
}

function showRunError(message) {
  $("run-error").hidden = !message;
  $("run-error").textContent = message.trimEnd();
}

/* ---- Results ---- */

function stallParts(json) {
  const parts = [["a bundle issued", json.bundles, "var(--kind-1)"]];
  const stalls = Object.entries(json.stalls).sort(([, x], [, y]) => y - x);
  stalls.forEach(([name, cycles], i) => parts.push([engine.names.stalls[name], cycles, `var(--kind-${2 + i % 7})`]));
  return parts;
}

function verdict(check) {
  const number = check.max_ulp > 0 && check.max_abs !== null ? `, error at most ${check.max_abs.toExponential(2)}` : "";
  return `<tr><td><span class="verdict ${check.passed ? "good" : "bad"}">${check.passed ? "passed" : "failed"}</span></td><td class="mono">${escapeText(check.check)}</td>
    <td>${check.passed ? `${grouped(check.elements)} elements${number}` : `${grouped(check.failed)} of ${grouped(check.elements)} elements are wrong`}</td></tr>`;
}

/* What bounds it, and how far it is from there. */
function rooflineText(roof) {
  const busy = Object.entries(roof.busy_percent).sort(([, x], [, y]) => y - x).slice(0, 3).map(([name, share]) => `${name} ${share.toFixed(1)} %`).join(", ");
  const flops = roof.flops > 0 ? `${roof.flops_per_s < 1e12 ? `${(roof.flops_per_s / 1e9).toFixed(1)} G` : `${(roof.flops_per_s / 1e12).toFixed(2)} T`}FLOP/s, ${roof.peak_percent.toFixed(1)} % of the ${roof.unit.toUpperCase()}'s peak; ` : "";
  return `${flops}bound by ${escapeText(roof.bound)} (${escapeText(roof.bound_unit)}): at least ${grouped(roof.least_cycles)} cycles. Busiest: ${escapeText(busy)}.`;
}

function drawResults(json) {
  const cores = json.cores.length, total = cores > 1 ? json.cores.reduce((sum, core) => sum + core.cycles, 0) : json.cycles;
  const parts = stallParts(json), hbm = json.hbm_read_bytes + json.hbm_written_bytes;
  const params = Object.entries(json.params).map(([name, value]) => `${name}=${value}`).join(" ");
  const tensors = json.tensors.map((tensor) => `<tr><td>${escapeText(tensor.name)}</td><td>${escapeText(tensor.space)}</td><td class="mono"><button type="button" class="linked" data-shape="${escapeText(tensor.shape)}">${escapeText(tensor.shape)}</button></td>
    <td class="number">${bytesText(tensor.bytes)}</td><td class="number">${tensor.padding_percent.toFixed(1)} %</td></tr>`).join("");
  const warnings = [...(json.warnings || []), ...(json.findings || [])].map((one) => `<li>${escapeText(one.message || JSON.stringify(one))}${one.line ? ` (line ${one.line})` : ""}</li>`).join("");
  $("results").innerHTML = `<section class="card" aria-label="Result"><h2>${escapeText(state.program)} on ${escapeText(json.machine)}</h2>
    <p class="headline"><b>${json.estimated ? "~" : ""}${grouped(json.cycles)}</b> cycles, ${json.microseconds.toFixed(3)} us; ${json.gb_per_s.toFixed(1)} GB/s of useful bytes</p>
    ${stackedBar(parts, total, "cycles: " + parts.map(([name, value]) => `${name} ${value}`).join(", "))}
    ${partsTable(parts, total, cores > 1 ? `where the cycles of ${cores} cores went` : "where the cycles went")}
    <p>${rooflineText(json.roofline)}</p><details><summary>${Object.keys(json.params).length} parameters</summary><p class="soft mono">${escapeText(params)}</p></details></section>
    <section class="card" aria-label="Checks"><h2>Checks</h2><div class="scroll"><table><tbody>${json.checks.map(verdict).join("") || "<tr><td>none</td></tr>"}</tbody></table></div>
    ${Object.entries(json.reports).map(([name, value]) => `<p>${escapeText(name)} = <b>${value}</b></p>`).join("")}${warnings ? `<ul>${warnings}</ul>` : ""}</section>
    <section class="card" aria-label="Tensors and traffic"><h2>Tensors and traffic</h2><div class="scroll"><table><thead><tr><th>tensor</th><th>in</th><th>layout: click to see it</th><th class="number">bytes</th><th class="number">padding</th></tr></thead><tbody>${tensors}</tbody></table></div>
    <p>${grouped(json.transfers)} transfers; ${bytesText(json.useful_bytes)} useful, ${bytesText(json.moved_bytes)} moved at both ends; HBM: ${bytesText(hbm)}, ${grouped(json.row_hits)} row hits.</p></section>`;
}

/* ---- Lines, loops, bundles, the timeline ---- */

/* Of each line: a line of a macro has a row for every place that calls it. */
function sumByLine(rows) {
  const lines = new Map();
  for (const row of rows) {
    const key = `${row.file}:${row.line}`;
    if (!lines.has(key)) lines.set(key, { issued: 0, stalled: 0, reasons: new Map() });
    const line = lines.get(key);
    line.issued += row.issued;
    line.stalled += row.stalled;
    for (const [name, cycles] of Object.entries(row.stalls)) line.reasons.set(name, (line.reasons.get(name) || 0) + cycles);
  }
  return lines;
}

function cyclesOf(line) { return line ? line.issued + line.stalled : 0; }
function mostOf(lines) { return Math.max(1, ...[...lines.values()].map(cyclesOf)); }

function reasonsText(reasons) {
  return [...reasons].sort(([, x], [, y]) => y - x).slice(0, 2).map(([name, cycles]) => `${grouped(cycles)} ${engine.names.stalls[name]}`).join("; ");
}

function drawEvents({ json, timeline, bundles }) {
  ran.lines = sumByLine(json.lines);
  $("timeline-card").hidden = timeline.tracks.length === 0;
  showTimeline($("timeline"), timeline);
  drawLoops(json);
  drawBundles(bundles.bundles, ran.lines);
  drawGutter();
}

function placeButton(file, line, text) {
  return file === "programs/" + state.program ? `<button type="button" class="linked" data-line="${line}">${text}</button>` : `${escapeText(file.replace("programs/", ""))}:${text}`;
}

function drawLoops(json) {
  const card = $("loops-of-run"), most = Math.max(1, ...json.loops.map((loop) => loop.own_cycles));
  card.hidden = json.loops.length === 0;
  const rows = json.loops.slice(0, 10).map((loop) => `<tr><td>${placeButton(loop.file, loop.line, `${loop.line} to ${loop.last_line}`)}</td><td class="number">${grouped(loop.times)}</td>
    <td class="number">${grouped(loop.own_cycles)}</td><td class="grow"><span class="meter" style="width:${100 * loop.own_cycles / most}%"></span></td><td class="number">${grouped(loop.issued)}</td><td>${escapeText(reasonsText(Object.entries(loop.stalls)))}</td></tr>`);
  card.innerHTML = `<h2>Hottest loops</h2><div class="scroll"><table><thead><tr><th>lines</th><th class="number">turns</th><th class="number">own cycles</th><th></th><th class="number">issued</th><th>waited for, with inner loops</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

function drawBundles(bundles, lines) {
  const most = mostOf(lines), told = new Set();
  const rows = bundles.map((bundle, i) => {
    const key = `${bundle.file}:${bundle.line}`, first = !told.has(key), line = first ? lines.get(key) : null;
    told.add(key);
    return `<tr><td class="number">${i}</td><td>${placeButton(bundle.file || "", bundle.line, bundle.line)}</td><td class="number">${line ? grouped(line.issued) : ""}</td>
      <td class="number heat" style="--share:${(100 * cyclesOf(line) / most).toFixed(1)}%">${line?.stalled ? grouped(line.stalled) : ""}</td><td>${escapeText(line ? reasonsText(line.reasons) : "")}</td><td>${escapeText(bundle.text)}</td></tr>`;
  });
  const card = $("bundles");
  card.hidden = false;
  card.innerHTML = `<h2>Bundles</h2><p class="soft">As the assembler made them; issued and stalled cycles are of a whole line, and stand at its first bundle.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Table of bundles"><table><thead><tr><th class="number">bundle</th><th>line</th><th class="number">issued</th><th class="number">stalled</th><th>waited for</th><th>instructions</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

function goToLine(number) {
  const source = $("source"), lines = source.value.split("\n"), begin = lines.slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
  source.focus();
  source.setSelectionRange(begin, begin + (lines[number - 1] || "").length);
  source.scrollTop = (number - 8) * 18.75;
}

/* ---- Events ---- */

/* Those whose inputs are not files, which the page does not carry. */
function offered() { return engine.programs.filter(({ name, text }) => !name.includes("/") && !text.includes("file(\"")); }

function listPrograms() {
  $("program").innerHTML = offered().map(({ name }) => `<option>${escapeText(name)}</option>`).join("");
}

function beginPrograms() {
  $("program").addEventListener("change", () => { change({ program: $("program").value, source: "", defines: "" }); showProgram(); runProgram(); });
  $("defines").addEventListener("change", () => { change({ defines: $("defines").value.trim() }); });
  $("check").addEventListener("change", () => change({ check: $("check").checked ? "1" : "" }));
  $("source").addEventListener("input", () => {
    change({ source: $("source").value === shippedText() ? "" : $("source").value });
    $("reset").disabled = state.source === "";
    drawGutter();
  });
  $("source").addEventListener("scroll", () => { $("gutter").scrollTop = $("source").scrollTop; });
  $("run").addEventListener("click", () => { change({ defines: $("defines").value.trim() }); runProgram(); });
  $("reset").addEventListener("click", () => { change({ source: "" }); showProgram(); });
  $("stop").addEventListener("click", () => {
    const request = restartEngine();
    request?.done({ failed: true, message: "stopped\n", json: {} });
  });
  $("panel-program").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); change({ defines: $("defines").value.trim() }); runProgram(); }
  });
  $("panel-program").addEventListener("click", (event) => {
    if (event.target.dataset.line) goToLine(Number(event.target.dataset.line));
    if (event.target.dataset.shape) { chooseTab("layout"); showLayouts({ a: event.target.dataset.shape, b: "" }); }
  });
}
