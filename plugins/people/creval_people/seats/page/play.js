// The page of `creval play --web`. It shows what /state says and sends what is chosen; it loads nothing from elsewhere.
// All text from the run becomes text nodes, never markup.
"use strict";

const at = (id) => document.getElementById(id);

function make(tag, text, className) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
}

function withRuns(node, runs) {
  for (const [text, style] of runs) {
    node.append(style ? make(style, text) : document.createTextNode(text));
  }
  return node;
}

function readingNodes(blocks) {
  const nodes = [];
  let lists = []; // open lists, from the outermost
  for (const block of blocks) {
    if (block.kind === "item") {
      lists.length = Math.min(lists.length, block.level + 1);
      while (lists.length <= block.level) {
        const list = make("ul");
        const parent = lists.at(-1);
        if (parent) (parent.lastElementChild ?? parent.appendChild(make("li"))).append(list);
        else nodes.push(list);
        lists.push(list);
      }
      lists.at(-1).append(withRuns(make("li"), block.runs));
      continue;
    }
    lists = [];
    if (block.kind === "heading") nodes.push(withRuns(make(`h${Math.min(block.level + 2, 6)}`), block.runs));
    else if (block.kind === "rule") nodes.push(make("hr"));
    else nodes.push(withRuns(make("p", undefined, block.kind === "plain" ? "plain" : ""), block.runs));
  }
  return nodes;
}

function groupNode(group, index) {
  const set = make("fieldset", undefined, group.final ? "final" : "");
  set.append(make("legend", group.title));
  const options = make("div", undefined, "options");
  group.choices.forEach(([value, note], number) => {
    const label = make("label");
    const input = make("input");
    input.type = "radio";
    input.name = "choice";
    input.value = value;
    input.id = `choice-${index}-${number}`;
    input.dataset.final = group.final ? "yes" : "";
    label.append(input, make("span", value));
    if (note) label.append(make("span", note, "note"));
    options.append(label);
  });
  set.append(options);
  return set;
}

function freeAnswer() {
  const set = make("fieldset");
  set.append(make("legend", "Your answer"));
  const area = make("textarea");
  area.name = "text";
  area.id = "free";
  area.setAttribute("aria-label", "Your answer");
  set.append(area);
  return set;
}

function wordBoxes(number) {
  const set = make("fieldset", undefined, "words");
  set.append(make("legend", number > 1 ? `Your words, one in each box` : "Your word"));
  for (let index = 1; index <= number; index += 1) {
    const label = make("label");
    const input = make("input");
    Object.assign(input, { type: "text", name: "word", autocomplete: "off", spellcheck: false, maxLength: 200 });
    input.setAttribute("aria-label", number > 1 ? `Word ${index} of ${number}` : "Your word");
    input.addEventListener("keydown", (event) => { // Enter goes on to the next box, and sends from the last
      if (event.key !== "Enter" || index === number) return;
      event.preventDefault();
      set.querySelectorAll("input")[index].focus();
    });
    label.append(make("span", number > 1 ? String(index) : ""), input);
    set.append(label);
  }
  return set;
}

const words = () => [...document.querySelectorAll("input[name=word]")].map((input) => input.value.trim()).filter(Boolean);

function written() {
  if (at("free")) return at("free").value;
  if (document.querySelector("input[name=word]")) return words().join("\n");
  return chosen()?.value ?? "";
}

let view = null; // number of the question shown
let sample = null;
let warned = false; // that boxes are empty

function chosen() {
  return document.querySelector("input[name=choice]:checked");
}

function say(text, kind = "") {
  at("message").textContent = text;
  at("message").className = kind;
}

function labelButton() {
  const picked = chosen();
  const free = at("free") || document.querySelector("input[name=word]");
  const send = at("send");
  send.classList.toggle("final", Boolean(picked?.dataset.final));
  send.textContent = free ? "Send the answer" : picked ? `${picked.dataset.final ? "Answer" : "Take"}: ${picked.value}` : "Choose something";
}

function showQuestion(state) {
  const fresh = state.sample !== sample;
  view = state.view;
  warned = false;
  at("title").textContent = state.title;
  at("goal").textContent = state.goal;
  at("guide").hidden = !state.guide;
  at("guide-text").textContent = state.guide;
  if (fresh) {
    sample = state.sample;
    at("reading-title").textContent = state.reading_title;
    at("text").replaceChildren(...readingNodes(state.reading), ...state.images.map((url) => {
      const image = make("img");
      image.src = url;
      return image;
    }));
    at("reading").scrollTop = 0;
  }
  at("scroll").scrollTop = 0; // what was just observed stands at the top
  at("past").hidden = state.past.length === 0;
  at("past-title").textContent = state.past_title;
  at("past-list").replaceChildren(...state.past.map(([step, result]) => {
    const line = make("li", `${step}: `);
    line.append(make("span", result, "result"));
    return line;
  }));
  at("choices").replaceChildren(...(state.groups.length ? state.groups.map(groupNode) : [state.boxes ? wordBoxes(state.boxes) : freeAnswer()]));
  say(state.notice, "info");
  labelButton();
  setBusy(false);
  (document.querySelector("input[name=word]") ?? at("choices")).focus({ preventScroll: true });
}

function setBusy(busy) {
  for (const node of at("form").querySelectorAll("button, input, textarea")) node.disabled = busy;
}

function showStanding(state) {
  at("person").textContent = state.person;
  if (state.total) {
    at("count").textContent = `${Math.min(state.done + 1, state.total)} of ${state.total}`;
    at("progress").max = state.total;
    at("progress").value = state.done;
  }
  at("progress").hidden = !state.total;
}

function showClosing(state) {
  at("title").textContent = "The end";
  at("count").textContent = "";
  at("progress").hidden = true;
  at("closing-title").textContent = state.title;
  at("closing-lines").replaceChildren(...state.lines.map((line) => make("p", line)));
  at("closing-table").hidden = state.rows.length === 0;
  document.querySelector("#closing-table thead tr").replaceChildren(...state.columns.map((name) => {
    const head = make("th", name);
    head.scope = "col";
    return head;
  }));
  document.querySelector("#closing-table tbody").replaceChildren(...state.rows.map((cells) => {
    const row = make("tr");
    row.append(...cells.map((cell) => make("td", cell)));
    return row;
  }));
  at("closing-title").focus();
}

function show(state) {
  document.body.dataset.phase = state.phase;
  at("play").hidden = state.phase !== "ask";
  at("closing").hidden = state.phase !== "closing";
  showStanding(state);
  if (state.phase === "ask" && state.view !== view) showQuestion(state);
  if (state.phase === "closing") showClosing(state);
  document.title = `${at("title").textContent} · creval play`;
}

async function send(path, told) {
  setBusy(true);
  try {
    const response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(told) });
    if (response.ok || response.status === 409) return; // the next state comes by itself
    const refused = await response.json().catch(() => ({ reason: "That could not be taken." }));
    say(refused.reason);
  } catch {
    at("lost").hidden = false;
  }
  setBusy(false);
}

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  say("");
  const empty = document.querySelectorAll("input[name=word]").length - words().length;
  if (empty && words().length && !warned) {
    warned = true;
    say(`${empty === 1 ? "One box is" : `${empty} boxes are`} still empty. Send once more to leave ${empty === 1 ? "it" : "them"} so.`);
    return;
  }
  send("answer", { view, value: written() });
});
at("form").addEventListener("change", () => { say(""); labelButton(); });
at("stop").addEventListener("click", () => send("stop", { view }));

async function follow() {
  let version = 0;
  for (;;) {
    try {
      const response = await fetch(`state?after=${version}`);
      const state = await response.json();
      at("lost").hidden = true;
      if (state.version !== version) {
        version = state.version;
        show(state);
      }
      if (state.phase === "closing") {
        // Now the server may go; that it is gone already does no harm.
        fetch("seen", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }).catch(() => {});
        return;
      }
    } catch {
      at("lost").hidden = false;
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}

follow();
