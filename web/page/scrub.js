/* A text whose numbers can be dragged and stepped. */
"use strict";

/* Where the numbers are that have a size: not those of types and names, nor the order of dims. */
function numbersOf(text) {
  const order = /\{[\d,\s]*[:}]/.exec(text);
  const found = [];
  for (const match of text.matchAll(/\d+/g)) {
    const before = text[match.index - 1] || " ";
    if (/[A-Za-z_.]/.test(before) || (order && match.index > order.index && match.index < order.index + order[0].length)) continue;
    found.push({ at: match.index, text: match[0] });
  }
  return found;
}

/* Which of the logical dims the number at `at` is, or -1. */
function dimAt(text, at) {
  const open = text.indexOf("["), close = text.indexOf("]", open);
  return open >= 0 && at > open && at < close ? text.slice(open, at).split(",").length - 1 : -1;
}

function withDim(text, dim, value) {
  const open = text.indexOf("["), close = text.indexOf("]", open);
  if (open < 0 || close < 0) return text;
  const dims = text.slice(open + 1, close).split(",");
  if (dim >= dims.length) return text;
  dims[dim] = value;
  return text.slice(0, open + 1) + dims.join(",") + text.slice(close);
}

class Scrub {
  /* changed(text, dim, value): the number of logical dim `dim` (-1: of none) is `value` now. */
  constructor(place, what, changed) {
    Object.assign(this, { place, what, changed, text: "", chosen: -1 });
    place.addEventListener("keydown", (event) => this.key(event));
    place.addEventListener("pointerdown", (event) => this.press(event));
    place.addEventListener("focusin", (event) => this.choose(event.target));
    place.addEventListener("click", (event) => {
      const by = event.target.dataset.by;
      if (by) this.step(this.chosen, Number(by));
    });
  }
  show(text) {
    const focused = this.place.contains(document.activeElement) ? document.activeElement.dataset.n : undefined;
    let html = "", end = 0;
    this.text = text;
    this.numbers = numbersOf(text);
    if (this.numbers.length) html += `<button type="button" data-by="-1" aria-label="less">&minus;</button><button type="button" data-by="1" aria-label="more">+</button> `;
    this.numbers.forEach((number, n) => {
      const dim = dimAt(text, number.at);
      const label = dim >= 0 ? `extent of dimension ${dim}` : `number ${n + 1}, in ${text.slice(Math.max(0, number.at - 6), number.at + 6)}`;
      html += escapeText(text.slice(end, number.at)) + `<span role="spinbutton" tabindex="0" data-n="${n}" aria-valuemin="0"
        aria-valuenow="${number.text}" aria-label="${escapeText(this.what + ": " + label)}">${number.text}</span>`;
      end = number.at + number.text.length;
    });
    html += escapeText(text.slice(end));
    this.place.innerHTML = html;
    if (focused !== undefined) this.span(focused)?.focus();
    if (this.chosen >= this.numbers.length) this.chosen = -1;
    this.mark();
  }
  span(n) { return this.place.querySelector(`[data-n="${n}"]`); }
  mark() {
    this.place.querySelectorAll(".chosen").forEach((span) => span.classList.remove("chosen"));
    this.span(this.chosen)?.classList.add("chosen");
  }
  choose(target) {
    if (target.dataset.n === undefined) return;
    this.chosen = Number(target.dataset.n);
    this.mark();
  }
  step(n, by) {
    if (n < 0) n = this.chosen = 0;
    this.set(n, Number(this.numbers[n].text) + by);
  }
  set(n, wanted) {
    const { at, text } = this.numbers[n];
    const value = String(Math.max(dimAt(this.text, at) >= 0 ? 1 : 0, Math.min(1048576, Math.round(wanted))));
    if (value === text) return;
    const dim = dimAt(this.text, at);
    this.show(this.text.slice(0, at) + value + this.text.slice(at + text.length));
    this.changed(this.text, dim, value);
  }
  key(event) {
    if (event.target.dataset.n === undefined) return;
    const n = Number(event.target.dataset.n), now = Number(this.numbers[n].text);
    const wanted = { ArrowUp: now + 1, ArrowRight: now + 1, ArrowDown: now - 1, ArrowLeft: now - 1, PageUp: now * 2, PageDown: now / 2 }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    this.set(n, wanted);
  }
  press(event) {
    if (event.target.dataset.n === undefined) return;
    const n = Number(event.target.dataset.n), first = Number(this.numbers[n].text), x = event.clientX;
    event.target.focus();
    event.preventDefault();
    const move = (moved) => {
      const by = (moved.clientX - x) / 7;
      this.set(n, first + Math.sign(by) * Math.floor(Math.abs(by) > 20 ? Math.abs(by) * Math.abs(by) / 20 : Math.abs(by)));
    };
    const up = () => { window.removeEventListener("pointermove", move); window.removeEventListener("pointerup", up); window.removeEventListener("pointercancel", up); };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
    window.addEventListener("pointercancel", up);
  }
}
