/* The engine, which is in a worker: requests with a key replace those of the same key that have not begun. */
"use strict";

const engine = { worker: null, queue: [], busy: null, number: 0, up: false, ready: null, url: null, programs: [], machines: [], names: {} };

function showEngine(text) { $("engine-state").textContent = text; }

function startEngine() {
  if (!engine.url) {
    const texts = [$("engine").textContent, $("worker").textContent];
    engine.url = URL.createObjectURL(new Blob(texts, { type: "text/javascript" }));
  }
  engine.worker = new Worker(engine.url);
  engine.worker.onmessage = ({ data }) => (data.id === undefined ? began(data) : answered(data));
  engine.worker.onerror = (event) => began({ broken: event.message });
}

function began(data) {
  if (data.broken) { showEngine("the simulator does not start: " + data.broken); return; }
  engine.up = true;
  engine.programs = data.programs;
  engine.machines = data.machines;
  engine.names = data.names;
  showEngine("");
  document.documentElement.dataset.ready = "1";
  engine.ready();
  sendNext();
}

function sendNext() {
  if (engine.busy || engine.queue.length === 0 || !engine.up) return;
  engine.busy = engine.queue.shift();
  engine.worker.postMessage(engine.busy.message);
}

function answered(data) {
  const request = engine.busy;
  if (!request || request.message.id !== data.id) return;
  engine.busy = null;
  if (data.dead) {
    restartEngine();
    request.done({ failed: true, message: "the simulator stopped: " + data.dead, json: {} });
  } else {
    const json = JSON.parse(data.text);
    request.done({ json, text: data.text, failed: "error" in json, message: data.message, milliseconds: data.milliseconds,
      timeline: data.timeline && JSON.parse(data.timeline), bundles: data.bundles && JSON.parse(data.bundles) });
  }
  sendNext();
}

/* Ends what it is doing; what waits is done by another. */
function restartEngine() {
  const request = engine.busy;
  engine.worker.terminate();
  engine.busy = null;
  engine.up = false;
  startEngine();
  return request;
}

/* {json, text, failed, message}; undefined when another of the same key came first. */
function ask(key, name, values, files) {
  return new Promise((done) => {
    const old = engine.queue.findIndex((request) => request.key === key && key !== "");
    if (old >= 0) engine.queue.splice(old, 1)[0].done(undefined);
    engine.queue.push({ key, done, message: { id: ++engine.number, name, values, files } });
    sendNext();
  });
}
