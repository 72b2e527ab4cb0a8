/* The tab of programs: a text, its run, and where its cycles went. */
"use strict";

const ran = { json: null, text: "" };

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

function drawGutter() {
  const lines = $("source").value.split("\n").length;
  $("gutter").textContent = Array.from({ length: lines }, (_, i) => i + 1).join("\n") + "\n\n";
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
    $("timeline").hidden = $("bundles").hidden = true;
  } else {
    ran.json = result.json;
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
  resetKinds(stalls.map(([name]) => name));
  stalls.forEach(([name, cycles]) => parts.push([name.replaceAll("_", " "), cycles, `var(${colourOf(name)})`]));
  return parts;
}

function verdict(check) {
  const number = check.max_ulp > 0 && check.max_abs !== null ? `, error at most ${check.max_abs.toExponential(2)}` : "";
  return `<tr><td><span class="verdict ${check.passed ? "good" : "bad"}">${check.passed ? "passed" : "failed"}</span></td><td class="mono">${escapeText(check.check)}</td>
    <td>${check.passed ? `${grouped(check.elements)} elements${number}` : `${grouped(check.failed)} of ${grouped(check.elements)} elements are wrong`}</td></tr>`;
}

function drawResults(json) {
  const cores = json.cores.length, total = cores > 1 ? json.cores.reduce((sum, core) => sum + core.cycles, 0) : json.cycles;
  const parts = stallParts(json), hbm = json.hbm_read_bytes + json.hbm_written_bytes;
  const params = Object.entries(json.params).map(([name, value]) => `${name}=${value}`).join(" ");
  const tensors = json.tensors.map((tensor) => `<tr><td>${escapeText(tensor.name)}</td><td>${escapeText(tensor.space)}</td><td class="mono"><button type="button" class="linked" data-shape="${escapeText(tensor.shape)}">${escapeText(tensor.shape)}</button></td>
    <td class="number">${bytesText(tensor.bytes)}</td><td class="number">${tensor.padding_percent.toFixed(1)} %</td></tr>`).join("");
  const warnings = [...(json.warnings || []), ...(json.findings || [])].map((one) => `<li>${escapeText(one.message || JSON.stringify(one))}${one.line ? ` (line ${one.line})` : ""}</li>`).join("");
  $("results").innerHTML = `<section class="card" aria-label="Result"><h2>${escapeText(state.program)} on ${escapeText(json.machine)}</h2>
    <p class="headline"><b>${grouped(json.cycles)}</b> cycles, ${json.microseconds.toFixed(3)} us; ${json.gb_per_s.toFixed(1)} GB/s of useful bytes</p>
    ${stackedBar(parts, total, "cycles: " + parts.map(([name, value]) => `${name} ${value}`).join(", "))}
    ${partsTable(parts, total, cores > 1 ? `where the cycles of ${cores} cores went` : "where the cycles went")}
    <p class="soft mono">${escapeText(params)}</p></section>
    <section class="card" aria-label="Checks"><h2>Checks</h2><div class="scroll"><table><tbody>${json.checks.map(verdict).join("") || "<tr><td>none</td></tr>"}</tbody></table></div>
    ${Object.entries(json.reports).map(([name, value]) => `<p>${escapeText(name)} = <b>${value}</b></p>`).join("")}${warnings ? `<ul>${warnings}</ul>` : ""}</section>
    <section class="card" aria-label="Tensors and traffic"><h2>Tensors and traffic</h2><div class="scroll"><table><thead><tr><th>tensor</th><th>in</th><th>layout: click to see it</th><th class="number">bytes</th><th class="number">padding</th></tr></thead><tbody>${tensors}</tbody></table></div>
    <p>${grouped(json.transfers)} transfers; ${bytesText(json.useful_bytes)} useful, ${bytesText(json.moved_bytes)} moved at both ends; HBM: ${bytesText(hbm)}, ${grouped(json.row_hits)} row hits.</p></section>`;
}

/* ---- Bundles and the timeline ---- */

/* Of each line: how often it issued, and for what it stalled. */
function countByLine(trace, main) {
  const lines = new Map();
  const rows = new Map(trace.traceEvents.filter((event) => event.ph === "M" && event.name === "thread_name").map((event) => [`${event.pid}/${event.tid}`, event.args.name]));
  for (const event of trace.traceEvents) {
    if (event.ph !== "X" || !event.args?.line) continue;
    const row = rows.get(`${event.pid}/${event.tid}`) || "", key = `${event.args.file || main}:${event.args.line}`;
    if (!/bundles|stalls/.test(row)) continue;
    if (!lines.has(key)) lines.set(key, { issued: 0, stalled: 0, reasons: new Map() });
    const line = lines.get(key);
    if (/bundles/.test(row)) line.issued++;
    else {
      line.stalled += event.args.cycles;
      line.reasons.set(event.name, (line.reasons.get(event.name) || 0) + event.args.cycles);
    }
  }
  return lines;
}

const MOST_EVENTS = 100000; /* as calls.c keeps */

function drawEvents({ json, timeline, bundles }) {
  const events = timeline.traceEvents.filter((event) => event.ph === "X").length;
  const note = events >= MOST_EVENTS ? ` Only the last ${grouped(MOST_EVENTS)} events are kept.` : "";
  showTimeline(timeline, note);
  drawBundles(bundles.bundles, countByLine(timeline, json.program), note);
}

function drawBundles(bundles, lines, note) {
  const most = Math.max(1, ...[...lines.values()].map((line) => line.issued + line.stalled)), told = new Set();
  const rows = bundles.map((bundle, i) => {
    const key = `${bundle.file}:${bundle.line}`, first = !told.has(key), line = first ? lines.get(key) : null;
    told.add(key);
    const reasons = line ? [...line.reasons].sort(([, x], [, y]) => y - x).slice(0, 2).map(([name, value]) => `${name} ${grouped(value)}`).join(", ") : "";
    const share = line ? (100 * (line.issued + line.stalled) / most).toFixed(1) : 0;
    return `<tr><td class="number">${i}</td><td class="number"><button type="button" class="linked" data-line="${bundle.line}">${bundle.line}</button></td><td class="number">${line ? grouped(line.issued) : ""}</td>
      <td class="number heat" style="--share:${share}%">${line?.stalled ? grouped(line.stalled) : ""}</td><td>${escapeText(reasons.replaceAll("_", " "))}</td><td>${escapeText(bundle.text)}</td></tr>`;
  });
  const card = $("bundles");
  card.hidden = false;
  card.innerHTML = `<h2>Bundles</h2><p class="soft">As the assembler made them; issued and stalled cycles are of a line and stand at its first bundle.${note}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Table of bundles"><table><thead><tr><th class="number">bundle</th><th class="number">line</th><th class="number">issued</th><th class="number">stalled</th><th>waited for</th><th>instructions</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
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
  window.addEventListener("resize", settled(150, () => { if (chart.canvas && !$("timeline").hidden && state.tab === "program") drawTimeline(); }));
}
