/* Puts the page together: tabs, machine, address, engine. */
"use strict";

const TABS = ["layout", "program"];

function showTab() {
  for (const name of TABS) {
    const chosen = state.tab === name;
    $("panel-" + name).hidden = !chosen;
    $("tab-" + name).setAttribute("aria-selected", String(chosen));
    $("tab-" + name).tabIndex = chosen ? 0 : -1;
  }
}

function refreshTab() {
  if (state.tab === "layout") updateLayouts();
  else if (engine.programs.length) { showProgram(); runProgram(); }
}

function chooseTab(name) {
  change({ tab: name });
  showTab();
}

function showState() {
  if (!TABS.includes(state.tab)) state.tab = "layout";
  $("a").value = state.a;
  $("b").value = state.b;
  $("machine").value = state.machine;
  showTab();
  refreshTab();
}

function listMachines() {
  $("machine").innerHTML = engine.machines.map((machine) => `<option>${escapeText(machine.machine)}</option>`).join("");
  $("machine").value = state.machine;
}

function beginTabs() {
  for (const name of TABS) $("tab-" + name).addEventListener("click", () => { chooseTab(name); refreshTab(); });
  document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    const next = TABS[(TABS.indexOf(state.tab) + by + TABS.length) % TABS.length];
    $("tab-" + next).focus();
    chooseTab(next);
    refreshTab();
  });
  $("machine").addEventListener("change", () => { change({ machine: $("machine").value, step: "0" }); refreshTab(); });
}

let first = true;
engine.ready = () => {
  listMachines();
  listPrograms();
  if (first) showState();
  first = false;
};

readAddress();
beginTabs();
beginLayouts();
beginPrograms();
showTab();
$("a").value = state.a;
$("b").value = state.b;
scrubs.a.show(state.a);
scrubs.b.show(state.b);
listeners.push(showState);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { drawStepIfAny(); });
function drawStepIfAny() { if (moved.steps) drawStep(); }
requestAnimationFrame(() => setTimeout(startEngine, 0));
