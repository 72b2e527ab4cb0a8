/* In the worker: one call at a time into the engine, and the files that programs are. */
"use strict";

const said = [];
const ready = tilesimEngine({ print: (line) => said.push(line), printErr: (line) => said.push(line) }).then((engine) => {
  const list = (name) => JSON.parse(engine.ccall(name, "string", [], []));
  const all = list("web_programs").programs;
  const programs = all.filter(({ name }) => !name.startsWith("mesh/")); /* a page has one device */
  engine.FS.mkdirTree("/programs/include");
  for (const { name, text } of programs) engine.FS.writeFile("/programs/" + name, text);
  postMessage({ programs, machines: list("web_machines").machines, names: list("web_names") });
  return engine;
});

function call(engine, name, values) {
  return engine.ccall(name, "string", values.map((v) => (typeof v === "number" ? "number" : "string")), values);
}

/* `files` are written first. With a run come its events and its bundles, before another call takes its place. */
async function answer({ id, name, values, files }) {
  const engine = await ready;
  said.length = 0;
  for (const [path, text] of Object.entries(files || {})) engine.FS.writeFile(path, text);
  const start = performance.now();
  const text = call(engine, name, values);
  const milliseconds = performance.now() - start;
  const failed = text.includes('"error": {');
  const events = name === "web_run" && !failed ? { timeline: call(engine, "web_timeline", []), bundles: call(engine, "web_bundles", []) } : {};
  return { id, text, milliseconds, message: failed ? call(engine, "web_message", []) : "", ...events };
}

onmessage = async ({ data }) => {
  try {
    postMessage(await answer(data));
  } catch (thrown) {
    postMessage({ id: data.id, dead: (said.join("\n") || String(thrown)).slice(0, 2000) });
  }
};
ready.catch((thrown) => postMessage({ broken: String(thrown) }));
