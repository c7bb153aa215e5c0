// Samples: a list of which only what is seen is drawn, filters, search through everything said, and whole transcripts.

const ROW = 60; // the height of .item
const PIECE = 50;
const column = Object.fromEntries(data.samples.columns.map((name, index) => [name, index]));
const samples = data.samples.rows.map((row, index) => ({
  index, run: row[column.run], key: row[column.key], task: row[column.task], doc: row[column.doc], condition: row[column.condition],
  repeat: row[column.repeat], status: row[column.status], scores: row[column.scores], preview: row[column.preview],
}));
const primaryScore = {};
for (const sample of samples) primaryScore[sample.task] ??= Object.keys(sample.scores)[0];
const twins = new Map();
const twinKey = (sample) => [sample.task, sample.doc, sample.condition, sample.repeat].join("\u001f");
for (const sample of samples) {
  const key = twinKey(sample);
  if (twins.has(key)) twins.get(key).push(sample); else twins.set(key, [sample]);
}

let shown = samples;
let chosen = -1; // place in `shown`
let beside = data.runs.length > 1;
let unfolded = false;
let searching = 0;
const kept = new Map(); // pieces read last

async function piece(number) {
  if (kept.has(number)) return kept.get(number);
  const bytes = Uint8Array.from(atob(data.pieces[number]), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const read = JSON.parse(await new Response(stream).text());
  kept.set(number, read);
  if (kept.size > 24) kept.delete(kept.keys().next().value);
  return read;
}

const transcriptOf = async (sample) => (await piece(Math.floor(sample.index / PIECE)))[sample.index % PIECE];

function fill(select, values, all) {
  select.append(new Option(all, ""), ...values.map(([value, words]) => new Option(words, value)));
  select.closest("label").hidden = values.length < 2;
}

function fillFilters() {
  const unique = (name) => [...new Set(samples.map((sample) => sample[name]))];
  fill(at("by-run"), data.runs.map((run, number) => [number, run.name]), "every run");
  fill(at("by-task"), unique("task").map((task) => [task, task]), "every task");
  fill(at("by-status"), STATUSES.filter((name) => samples.some((sample) => sample.status === name)).map((name) => [name, name]), "every status");
  fill(at("by-condition"), unique("condition").map((name) => [name, name]), "every condition");
  const scores = [...new Set(samples.flatMap((sample) => Object.keys(sample.scores)))];
  for (const name of scores) at("order").append(new Option(`${name}, lowest first`, `+${name}`), new Option(`${name}, highest first`, `-${name}`));
}

function filtered() {
  const run = at("by-run").value, task = at("by-task").value, status = at("by-status").value, condition = at("by-condition").value;
  return samples.filter((sample) => (run === "" || sample.run === Number(run)) && (task === "" || sample.task === task)
    && (status === "" || sample.status === status) && (condition === "" || sample.condition === condition));
}

function ordered(found) {
  const order = at("order").value;
  if (!order) return found;
  const name = order.slice(1), sign = order[0] === "+" ? 1 : -1;
  const value = (sample) => sample.scores[name] ?? null;
  return [...found].sort((a, b) => (value(a) === null) - (value(b) === null) || sign * (value(a) - value(b)));
}

async function search() {
  const turn = ++searching;
  const words = at("query").value.trim().toLowerCase();
  const base = filtered();
  if (!words) return list(base);
  const found = new Set(base.filter((sample) => `${sample.key} ${sample.preview}`.toLowerCase().includes(words)));
  list(base.filter((sample) => found.has(sample)), "searching …");
  const pieces = new Map();
  for (const sample of base) {
    if (found.has(sample)) continue;
    const number = Math.floor(sample.index / PIECE);
    if (pieces.has(number)) pieces.get(number).push(sample); else pieces.set(number, [sample]);
  }
  let done = 0, drawn = performance.now();
  for (const [number, waiting] of pieces) {
    const read = await piece(number);
    if (turn !== searching) return;
    for (const sample of waiting) if (said(read[sample.index % PIECE]).includes(words)) found.add(sample);
    done += 1;
    if (performance.now() - drawn > 200) { // the page stays at hand while it searches
      list(base.filter((sample) => found.has(sample)), `searching … ${Math.round((100 * done) / pieces.size)} %`);
      await new Promise((resume) => setTimeout(resume));
      drawn = performance.now();
    }
  }
  if (turn === searching) list(base.filter((sample) => found.has(sample)));
}

function said(told) {
  const texts = told.turns.flatMap((turn) => [turn.text, turn.thinking, turn.error, turn.refusal, ...(turn.calls ?? []).flatMap((call) => [call.name, call.arguments])]);
  return [told.reason, ...texts].filter(Boolean).join("\n").toLowerCase();
}

function list(found, note = "") {
  const before = shown[chosen];
  shown = ordered(found);
  chosen = before ? shown.indexOf(before) : -1;
  at("count").textContent = [several(shown.length, "sample"), note].filter(Boolean).join(" · ");
  at("list-space").style.height = `${shown.length * ROW}px`;
  drawList();
}

function itemNode(sample, place) {
  const dot = make("i", "dot");
  dot.style.background = `var(--${sample.status})`;
  dot.title = sample.status;
  const score = sample.scores[primaryScore[sample.task]];
  const node = make("div", "item",
    make("div", "line", dot, make("span", "key", sample.key), make("span", "number", sample.status === "scored" ? show(score) : sample.status)),
    make("p", "preview", [data.runs.length > 1 ? data.runs[sample.run].name : "", sample.preview].filter(Boolean).join(" · ")));
  node.style.top = `${place * ROW}px`;
  node.id = `item-${place}`;
  node.setAttribute("role", "option");
  node.setAttribute("aria-selected", String(place === chosen));
  node.setAttribute("aria-setsize", String(shown.length));
  node.setAttribute("aria-posinset", String(place + 1));
  node.addEventListener("click", () => choose(place));
  return node;
}

function drawList() {
  const pane = at("list");
  const first = Math.max(0, Math.floor(pane.scrollTop / ROW) - 6);
  const last = Math.min(shown.length, Math.ceil((pane.scrollTop + pane.clientHeight) / ROW) + 6);
  const items = [];
  for (let place = first; place < last; place += 1) items.push(itemNode(shown[place], place));
  at("list-space").replaceChildren(...items);
  at("list-space").style.position = "relative";
  pane.setAttribute("aria-activedescendant", chosen >= first && chosen < last ? `item-${chosen}` : "");
}

async function choose(place) {
  if (place < 0 || place >= shown.length) return;
  chosen = place;
  const pane = at("list");
  if (place * ROW < pane.scrollTop) pane.scrollTop = place * ROW;
  if ((place + 1) * ROW > pane.scrollTop + pane.clientHeight) pane.scrollTop = (place + 1) * ROW - pane.clientHeight;
  const opened = !at("browser").classList.contains("open");
  at("browser").classList.add("open");
  if (opened && getComputedStyle(at("back")).display !== "none") at("browser").scrollIntoView({ behavior: "instant" }); // a phone
  drawList();
  await drawDetail();
  at("detail").scrollTop = 0;
}

async function drawDetail() {
  const sample = shown[chosen];
  if (!sample) return;
  const own = twins.get(twinKey(sample));
  at("side").disabled = own.length < 2;
  at("side").setAttribute("aria-pressed", String(beside && own.length > 1));
  at("previous").disabled = chosen <= 0;
  at("next").disabled = chosen >= shown.length - 1;
  history.replaceState(null, "", `#s${sample.index}`);
  const wanted = beside ? [sample, ...own.filter((each) => each !== sample)].sort((a, b) => a.run - b.run) : [sample];
  const nodes = await Promise.all(wanted.map(async (each) => sampleNode(each, await transcriptOf(each))));
  if (shown[chosen] === sample) at("detail").replaceChildren(make("div", "columns", nodes));
}

function marked(text) {
  const words = at("query").value.trim().toLowerCase();
  if (!words) return [text];
  const parts = [], low = text.toLowerCase();
  if (low.length !== text.length) return [text];
  let start = 0;
  for (let found = low.indexOf(words); found >= 0 && parts.length < 400; found = low.indexOf(words, start)) {
    parts.push(text.slice(start, found), make("mark", "", text.slice(found, found + words.length)));
    start = found + words.length;
  }
  return [...parts, text.slice(start)];
}

const LONG = 6000;

function textNode(text) {
  const node = make("pre", "", marked(text.length > LONG ? text.slice(0, LONG) : text));
  if (text.length <= LONG) return node;
  const more = make("button", "plain", `Show all ${count(text.length)} characters`);
  more.type = "button";
  more.addEventListener("click", () => { node.replaceChildren(...marked(text)); more.remove(); });
  return make("div", "", node, more);
}

function partNode(part) {
  const shown = part.type === "image" && data.images[part.sha256];
  if (!shown) return make("p", "quiet", `${part.type}: ${part.url ?? (part.sha256 ? `${count(part.bytes)} bytes, not in this page` : "kept by reference")}`);
  const image = make("img", "sent");
  image.src = shown;
  image.alt = part.name ?? "";
  return image;
}

function turnNode(turn) {
  const answer = !["system", "user", "assistant", "tool"].includes(turn.who);
  const who = [turn.who, turn.to ? `to ${turn.to}` : "", turn.ended ? `ended: ${turn.ended}` : ""].filter(Boolean).join(" · ");
  const node = make("div", answer ? "turn answer" : "turn", make("p", "who", who));
  if (turn.thinking) {
    const folded = details(`Thinking, ${count(turn.thinking.length)} characters`, textNode(turn.thinking));
    folded.open = unfolded;
    folded.classList.add("thinking");
    node.append(folded);
  }
  if (turn.digest) node.append(make("p", "quiet", `${count(turn.characters)} characters, kept by reference: the text is not in this page.`));
  else if (turn.error) node.append(make("p", "lost", turn.error));
  else if (turn.text || !(turn.parts || turn.calls)) node.append(turn.text ? textNode(turn.text) : make("p", "quiet", "(nothing)"));
  node.append(...(turn.parts ?? []).map(partNode));
  for (const call of turn.calls ?? []) node.append(make("p", "facts", `calls ${call.name}${call.malformed ? " (malformed arguments)" : ""}`), plainData(call.arguments));
  if (turn.refusal) node.append(make("p", "lost", `refused: ${turn.refusal}`));
  return node;
}

function block(title, ...children) {
  return make("div", "block", make("h4", "", title), ...children);
}

const plainData = (value) => make("pre", "data", marked(typeof value === "string" ? value : JSON.stringify(value, null, 1)));

function sampleNode(sample, told) {
  const badge = make("span", "badge", sample.status);
  const node = make("div", "sample", make("h3", "", sample.key), make("p", "facts", badge, " ", [
    data.runs.length > 1 ? data.runs[sample.run].name : "", data.tasks.length > 1 ? sample.task : "", `condition ${sample.condition}`, `repeat ${sample.repeat}`,
    `${told.seconds.toFixed(2)} s`, told.cost ? `$${told.cost.toFixed(5)}` : "", told.served_by.length ? `served by ${told.served_by.join(", ")}` : "",
  ].filter(Boolean).join(" · ")));
  node.style.setProperty("--of", `var(--${sample.status})`);
  node.style.setProperty("--run", runColour(sample.run));
  if (told.reason) node.append(make("p", "reason", told.reason));
  node.append(...told.turns.map(turnNode));
  const scores = Object.entries(told.scores ?? {});
  const read = block("Read and scored", make("p", "facts", `parser: ${told.route ?? "none read it"}`));
  if (scores.length) read.append(make("table", "", make("tbody", "", scores.map(([name, value]) => make("tr", "", make("td", "", name), make("td", "", show(value)))))));
  for (const [name, why] of Object.entries(told.missing ?? {})) read.append(make("p", "facts", `${name}: none (${why})`));
  if (told.value !== null && told.value !== undefined) read.append(details("What was read", plainData(told.value)));
  if (Object.keys(told.details ?? {}).length) read.append(details("Details", plainData(told.details)));
  node.append(read);
  if (Object.keys(told.outcome).length) node.append(block("Outcome", details("Moves and state", plainData(told.outcome))));
  for (const judge of told.judges) {
    const turns = [...judge.turns, ...judge.answers.map((answer) => ({ who: judge.role, ...answer }))];
    node.append(block(`${judge.role} · ${judge.model}`, details("What it was asked and said", ...turns.map(turnNode), judge.error ? make("p", "lost", judge.error) : null)));
  }
  node.append(block("Doc", told.by_reference ? make("p", "quiet", "Kept by reference: its text is not in this page.") : details(sample.doc, plainData(told.doc_fields))));
  return node;
}

function toggle(button, on) {
  at(button).setAttribute("aria-pressed", String(on));
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement?.tagName);
  if (event.key === "Escape") {
    if (typing) { at("list").focus(); } else at("browser").classList.remove("open");
    return;
  }
  if (typing || at("keys").open) return;
  const inList = document.activeElement === at("list");
  const moves = { j: 1, k: -1, ...(inList ? { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 } : {}) };
  if (event.key in moves) choose(Math.min(shown.length - 1, Math.max(0, chosen + moves[event.key])));
  else if (event.key === "/") at("query").focus();
  else if (event.key === "s") at("side").click();
  else if (event.key === "t") at("fold").click();
  else if (event.key === "?") at("keys").showModal();
  else return;
  event.preventDefault();
}

let waiting = 0;
at("query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 150); });
at("filters").addEventListener("submit", (event) => event.preventDefault());
for (const id of ["by-run", "by-task", "by-status", "by-condition", "order"]) at(id).addEventListener("change", () => { at("list").scrollTop = 0; search(); });
at("list").addEventListener("scroll", () => requestAnimationFrame(drawList), { passive: true });
addEventListener("resize", () => requestAnimationFrame(drawList));
document.addEventListener("keydown", press);
at("previous").addEventListener("click", () => choose(chosen - 1));
at("next").addEventListener("click", () => choose(chosen + 1));
at("back").addEventListener("click", () => at("browser").classList.remove("open"));
at("help").addEventListener("click", () => at("keys").showModal());
at("side").addEventListener("click", () => { beside = !beside; drawDetail(); });
at("fold").addEventListener("click", () => {
  unfolded = !unfolded;
  toggle("fold", unfolded);
  for (const node of document.querySelectorAll("details.thinking")) node.open = unfolded;
});
fillFilters();
at("side").hidden = data.runs.length < 2;
at("samples-note").textContent = samples.length < data.samples.total
  ? `${count(samples.length)} of ${count(data.samples.total)} samples are in this page, drawn by a hash of task, doc and repeat; the numbers above are over all of them.`
  : `All ${several(samples.length, "sample")} with every message, answer and score.`;
list(samples);
const asked = /^#s(\d+)$/.exec(location.hash);
if (asked && Number(asked[1]) < samples.length) choose(Number(asked[1]));
