/* What the page shows, as texts; kept in the address behind '#'. */
"use strict";

const INITIAL = {
  tab: "layout", machine: "tpu-v5e",
  a: "bf16[10,10]{1,0:T(4,4)(2,1)}", b: "f32[10,10]{0,1:T(4,4)}",
  rows: "", columns: "", at: "", lines: "", places: "", from: "", other: "", step: "0",
  program: "softmax.tsim", defines: "", source: "", check: "",
};
const state = Object.assign({}, INITIAL);
const listeners = []; /* told of a state that came from the address */

function $(id) { return document.getElementById(id); }

function readAddress() {
  const found = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(INITIAL)) state[key] = found.has(key) ? found.get(key) : INITIAL[key];
}

let written = null, writing = 0;
function writeAddress() {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) if (value !== INITIAL[key]) words.set(key, value);
  written = "#" + words;
  if (written !== (location.hash || "#")) history.replaceState(null, "", written);
}

/* Changes the state; the address follows when no other change comes at once. */
function change(values) {
  Object.assign(state, values);
  clearTimeout(writing);
  writing = setTimeout(writeAddress, 120);
}

window.addEventListener("hashchange", () => {
  if (location.hash === written) return;
  readAddress();
  listeners.forEach((told) => told());
});

/* ---- Texts ---- */

function escapeText(text) {
  return String(text).replace(/[&<>"']/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[c]);
}
function grouped(value) { return Number(value).toLocaleString("en-US"); }
function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0, value = bytes;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit++; }
  return unit === 0 ? `${grouped(bytes)} B` : `${value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${units[unit]}`;
}
function percent(part, whole) { return whole > 0 ? (100 * part / whole).toFixed(1) + " %" : "0.0 %"; }
function list(text) { return text === "" ? [] : text.split(",").map(Number); }

/* One that waits until no call came for so many milliseconds. */
function settled(wait, action) {
  let timer = 0;
  return (...values) => { clearTimeout(timer); timer = setTimeout(() => action(...values), wait); };
}
