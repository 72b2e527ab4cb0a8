/* Sizes, padding, digits: what `tilesim layout` says of a shape. */
"use strict";

function paddingBar(name, shape) {
  const replicas = shape.replica_bytes, padding = shape.storage_bytes - shape.unpadded_bytes - replicas, all = Math.max(1, shape.storage_bytes);
  const times = shape.unpadded_bytes > 0 ? (shape.storage_bytes / shape.unpadded_bytes) : 1;
  const share = Math.max(0, Math.min(100, 100 * shape.unpadded_bytes / all));
  const copies = replicas > 0 ? `${bytesText(replicas)} of replicas, ` : "";
  const text = copies + (padding > 0 ? `${bytesText(padding)} of padding, ${percent(padding, all)}: ${times.toFixed(times < 10 ? 2 : 0)} times the data` : "no padding");
  return `<div><p><b>${name}</b> ${escapeText(shape.element)} of ${shape.element_bits} bits, ${bytesText(shape.unpadded_bytes)} of data, ${bytesText(shape.storage_bytes)} in memory</p>
    <div class="bar hatched" role="img" aria-label="${escapeText(text)}" title="${escapeText(text)}"><span class="data" style="width:${share}%"></span></div>
    <p class="soft">${padding > 0 ? '<span class="swatch hatched"></span>' : ""}${text}</p></div>`;
}

function showFacts(a, b) {
  $("facts").innerHTML = [a && paddingBar(b ? "From" : "Layout", a), b && paddingBar("To", b)].filter(Boolean).join("");
}

function showAnatomy(shape) {
  const card = $("anatomy");
  card.hidden = !shape?.digits;
  if (card.hidden) return;
  const costs = shape.costs.map((cost) => `<tr><td>${cost.dims.length ? cost.dims.map((d) => "d" + d).join(" x ") : "tile"}</td><td class="number">${grouped(cost.extent)}</td>
    <td class="number">${grouped(cost.padded)}</td><td class="number">${cost.extent > 0 ? (cost.padded / cost.extent).toFixed(2) : "-"} x</td></tr>`).join("");
  const digits = shape.digits.map((digit) => `<tr><td class="mono">${escapeText(digit.value)}</td><td class="number">${grouped(digit.extent)}</td>
    <td class="number">${grouped(digit.stride)}${shape.axes.length > 1 ? " @" + escapeText(digit.axis) : ""}</td></tr>`).join("");
  card.innerHTML = `<h2>What the layout is made of</h2><div class="scroll"><table><thead><tr><th>dims</th><th class="number">extent</th><th class="number">padded</th><th class="number">expansion</th></tr></thead>
    <tbody>${costs}</tbody></table>
    <table style="margin-top:.7em"><thead><tr><th>digit, of the index (d0, d1 ..)</th><th class="number">extent</th><th class="number">stride</th></tr></thead><tbody>${digits}</tbody></table></div>
    <p class="soft">An element lies where the sum of its digits times their strides says.</p>`;
}

const NOTATIONS = { xla: "XLA", axe: "Axe", cute: "CuTe", tvm: "TVM index map" };

async function showNotations(text) {
  const card = $("notations");
  const found = await Promise.all(Object.keys(NOTATIONS).map((name) => ask("as " + name, "web_layout", [text, "", "", name, ""])));
  if (found.includes(undefined)) return;
  const rows = Object.values(NOTATIONS).map((name, i) => {
    const said = found[i].failed ? `<span class="soft">${escapeText(found[i].json.error?.message || "has no such map")}</span>`
      : `<button type="button" class="linked" data-a="${escapeText(found[i].json.as)}">${escapeText(found[i].json.as)}</button>`;
    return `<tr><td>${name}</td><td>${said}</td></tr>`;
  });
  card.hidden = found.every((one) => one.failed);
  card.innerHTML = `<h2>The same map in other notations</h2><table><tbody>${rows.join("")}</tbody></table>`;
}
