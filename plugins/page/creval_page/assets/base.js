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
