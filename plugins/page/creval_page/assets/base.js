"use strict";
// The page of `creval report --html`. It contains everything that it shows; all text of runs becomes text nodes, never markup.

const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const HUES = [214, 28, 152, 330, 262, 190, 52, 0];
const STATUSES = ["scored", "unparsed", "truncated", "refused", "errored", "skipped"];

function make(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  for (const child of children.flat()) if (child !== null && child !== undefined && child !== "") node.append(child);
  return node;
}

const runColour = (number) => `hsl(${HUES[number % HUES.length]} 48% ${number < HUES.length ? 47 : 34}%)`;

function places(value) {
  const size = Math.abs(value);
  return size < 10 ? 3 : size < 100 ? 2 : 1;
}

function show(value, digits) {
  if (value === null || value === undefined) return "–";
  return value.toFixed(digits ?? places(value)).replace("-", "−");
}

function ticks(low, high) {
  // Round numbers of a scale, four to seven of them.
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const found = [];
  for (let number = Math.ceil(low / step - 1e-9); number * step <= high + step * 1e-9; number += 1) found.push(number * step);
  return found.map((value) => [value, show(value === 0 ? 0 : value, digits)]);
}

const count = (value) => Math.round(value).toLocaleString("en");
const several = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

function details(summary, ...children) {
  return make("details", "", make("summary", "", summary), ...children);
}

// What a mark says when the pointer is over it is told without a pointer too: by focus, click and tap, in a line at the
// foot of the screen. The marks of a figure are one stop of the tab key; arrow keys go from one to the next.

function tell(node, words) {
  node.dataset.told = words;
  if (node instanceof SVGElement) {
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = words;
    node.append(title);
  } else node.title = words;
  return node;
}

function asGroup(figure) {
  // Every mark that says what none before it has said can be reached.
  const said = new Set();
  figure.dataset.marks = "";
  for (const node of figure.querySelectorAll("[data-told]")) {
    const parts = node.dataset.told.split("; ");
    if (parts.every((part) => said.has(part))) continue;
    for (const part of parts) said.add(part);
    node.setAttribute("tabindex", figure.querySelector("[data-told][tabindex]") ? "-1" : "0");
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", node.dataset.told);
  }
  return figure;
}

const marksOf = (figure) => [...figure.querySelectorAll("[data-told][tabindex]")];
const told = { node: null, bar: make("aside"), words: make("p") };

function nearestMark(node) {
  // The mark of a figure that can be reached, at or before a node.
  const figure = node.closest("[data-marks]");
  return figure && marksOf(figure).findLast((mark) => mark === node || mark.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING);
}

function showTold(node) {
  told.node = node;
  told.words.textContent = node?.dataset.told ?? "";
  told.bar.hidden = !node;
}

function stepTold(steps) {
  const mark = told.node && nearestMark(told.node);
  if (!mark) return;
  const marks = marksOf(mark.closest("[data-marks]"));
  const next = marks[Math.min(marks.length - 1, Math.max(0, marks.indexOf(mark) + steps))];
  for (const each of marks) each.setAttribute("tabindex", each === next ? "0" : "-1");
  next.focus();
  showTold(next);
}

function setUpTold() {
  const button = (words, label, act) => {
    const node = make("button", "plain", words);
    node.type = "button";
    node.setAttribute("aria-label", label);
    node.addEventListener("click", act);
    return node;
  };
  told.bar.id = "told";
  told.bar.hidden = true;
  told.bar.setAttribute("aria-label", "What a mark says");
  told.words.setAttribute("role", "status");
  told.bar.append(told.words, button("‹", "Mark before", () => stepTold(-1)), button("›", "Next mark", () => stepTold(1)), button("×", "Close", () => showTold(null)));
  document.body.append(told.bar);
  document.addEventListener("focusin", (event) => {
    if (event.target.dataset?.told !== undefined) showTold(event.target);
    else if (!told.bar.contains(event.target)) showTold(null);
  });
  document.addEventListener("click", (event) => {
    if (!told.bar.contains(event.target)) showTold(event.target.closest("[data-told]"));
  });
  document.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
    const here = document.activeElement?.dataset?.told !== undefined || told.bar.contains(document.activeElement);
    if (event.key === "Escape") showTold(null);
    else if (here && steps && !event.ctrlKey && !event.metaKey && !event.altKey) { stepTold(steps); event.preventDefault(); }
  });
}

setUpTold();

function onDemand(summary, draw) {
  // Details whose inside is drawn when they are first opened.
  const node = details(summary);
  node.addEventListener("toggle", () => { if (node.open && node.children.length === 1) node.append(draw()); });
  return node;
}

function store(name, value) {
  try {
    if (value === undefined) return localStorage.getItem(name);
    localStorage.setItem(name, value);
  } catch { /* a page from a file may have no storage */ }
  return null;
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}

setTheme(store("creval-theme"));
at("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(dark ? "light" : "dark");
  store("creval-theme", dark ? "light" : "dark");
});
