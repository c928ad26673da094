"use strict";

// The page shows the whole output. The slider takes it back to any moment: what the parser emitted
// is never taken back, so the message at a moment is the whole message, cut to lengths.

const byId = (id) => document.getElementById(id);

/** The text nodes of an element, each with its text and where that begins in the element's text. */
function textOf(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  let start = 0;
  while (walker.nextNode()) {
    const full = walker.currentNode.data;
    nodes.push({ node: walker.currentNode, full, start });
    start += full.length;
  }
  return { root, nodes, length: start };
}

/** Show the first `length` units of a text. */
function cut(text, length) {
  for (const { node, full, start } of text.nodes) {
    const kept = full.slice(0, Math.max(0, length - start));
    if (node.data !== kept) node.data = kept;
  }
  text.root.classList.toggle("empty", length === 0);
}

/** The text node and the place in it that stand at an offset of a text. */
function placeIn(text, offset) {
  let low = 0;
  let high = text.nodes.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (text.nodes[middle].start <= offset) low = middle;
    else high = middle - 1;
  }
  const { node, full, start } = text.nodes[low];
  return [node, Math.min(offset - start, full.length)];
}

function rangeOf(text, start, end) {
  const range = new Range();
  range.setStart(...placeIn(text, start));
  range.setEnd(...placeIn(text, end));
  return range;
}

/**
 * HTML cannot hold NUL and lone surrogates: the page's text has U+FFFD in their place, in elements
 * whose labels name each character.
 */
function restoreSigns(root) {
  for (const sign of root.querySelectorAll(".sign")) {
    const names = sign.dataset.label.split(" ");
    const restored = Array.from(sign.textContent, (character, at) =>
      character === "\ufffd" ? characterOf(names[at]) : character,
    );
    sign.textContent = restored.join("");
  }
}

function characterOf(name) {
  return name === "NUL" ? "\0" : String.fromCharCode(parseInt(name.slice("U+".length), 16));
}

/** What has been fed and how long each text of the message is, after `count` steps. */
function momentOf(steps, count) {
  const moment = { before: 0, fed: 0, grown: {} };
  for (const step of steps.slice(0, count)) {
    moment.before = moment.fed;
    moment.fed += step.fed;
    for (const part in step.grown) {
      moment.grown[part] = (moment.grown[part] ?? 0) + step.grown[part];
    }
  }
  return moment;
}

/** Where the slider stands, in words. */
function placeOf(steps, count) {
  const deltas = steps.length - 1;
  const place = count > deltas ? `${deltas} of ${deltas}, and the end` : `${count} of ${deltas}`;
  const characters = count === 0 ? 0 : steps[count - 1].at;
  return `${place} (${characters} of ${steps.at(-1).at} characters)`;
}

/** What a delta fed and gave, in words: those of its row in the list. */
function saidBy(row) {
  if (!row) return "Nothing is fed yet.";
  const events = [...row.querySelectorAll("li")].map((event) => event.textContent);
  return `${row.querySelector(".fed").textContent} → ${events.join("; ")}`.slice(0, 300);
}

/** Scroll a pane, and nothing else, until a box in it can be seen. */
function bringIntoView(pane, box) {
  const frame = pane.getBoundingClientRect();
  const margin = Math.min(40, frame.height / 4);
  if (box.top < frame.top + margin) pane.scrollTop += box.top - frame.top - margin;
  else if (box.bottom > frame.bottom - margin) pane.scrollTop += box.bottom - frame.bottom + margin;
}

/** Mark the delta in the raw text and dim what is not fed yet; the range of the delta. */
function paintRaw(raw, { before, fed }, isWhole) {
  CSS.highlights?.clear();
  if (isWhole || raw.length === 0) return null;
  const delta = rangeOf(raw, before, fed);
  CSS.highlights?.set("not-fed", new Highlight(rangeOf(raw, fed, raw.length)));
  CSS.highlights?.set("delta", new Highlight(delta));
  return delta;
}

/** Make the page show the output as it was after any number of steps. */
function player(steps) {
  const raw = textOf(byId("raw"));
  const parts = [...document.querySelectorAll("[data-part]")].map(textOf);
  const things = [...document.querySelectorAll("[data-step]")];
  let row = null;

  return (count) => {
    const isWhole = count === steps.length;
    const moment = momentOf(steps, count);
    for (const text of parts) cut(text, moment.grown[text.root.dataset.part] ?? 0);
    for (const thing of things) thing.classList.toggle("later", thing.dataset.step > count);
    row?.removeAttribute("aria-current");
    row = byId(`step-${count}`);
    row?.setAttribute("aria-current", "step");
    return { row, delta: paintRaw(raw, moment, isWhole) };
  };
}

function switchTheme(event) {
  document.documentElement.style.colorScheme = event.target.value;
}

function start() {
  const steps = JSON.parse(byId("playback").textContent);
  const slider = byId("slider");
  restoreSigns(byId("raw"));
  const show = player(steps);

  const move = () => {
    const count = slider.valueAsNumber;
    const { row, delta } = show(count);
    const place = placeOf(steps, count);
    byId("where").textContent = place;
    slider.setAttribute("aria-valuetext", `Delta ${place}`);
    byId("now").textContent = saidBy(row);
    return { row, delta };
  };

  document.querySelector(".theme").addEventListener("change", switchTheme);
  slider.form.addEventListener("submit", (event) => event.preventDefault());
  slider.addEventListener("input", () => {
    const { row, delta } = move();
    if (row) bringIntoView(byId("steps-pane"), row.getBoundingClientRect());
    if (delta) bringIntoView(byId("raw-pane"), delta.getBoundingClientRect());
  });
  document.documentElement.classList.add("js");
  move();
}

start();
