// Samples: a list of which only what is seen is drawn, filters, search through everything said, and whole transcripts.

const ROW = 92; // the height of .item
const PIECE = 50;
const column = Object.fromEntries(data.samples.columns.map((name, index) => [name, index]));
const samples = data.samples.rows.map((row, index) => ({
  index, run: row[column.run], key: row[column.key], task: row[column.task], doc: row[column.doc], condition: row[column.condition],
  repeat: row[column.repeat], status: row[column.status], scores: row[column.scores], preview: row[column.preview],
  input: row[column.input], target: row[column.target], answer: row[column.answer], tokens: row[column.tokens], seconds: row[column.seconds],
}));
const primaryScore = {}; // of each task the score behind its primary metric, and whether more of it is better
for (const row of data.metrics) {
  if (row.primary && row.condition === null && row.score && samples.some((sample) => sample.task === row.task && row.score in sample.scores)) primaryScore[row.task] ??= [row.score, row.higher !== false];
}
for (const sample of samples) {
  const first = Object.keys(sample.scores)[0];
  if (first !== undefined) primaryScore[sample.task] ??= [first, true];
}
const scoreOf = (sample) => sample.scores[primaryScore[sample.task]?.[0]];
const twins = new Map();
const twinKey = (sample) => [sample.task, sample.doc, sample.condition, sample.repeat].join("\u001f");
for (const sample of samples) {
  const key = twinKey(sample);
  if (twins.has(key)) twins.get(key).push(sample); else twins.set(key, [sample]);
}

let shown = samples;
let chosen = -1; // place in `shown`
let beside = data.runs.length > 1 && data.runs.length < MANY;
let unfolded = false;
let answersShown = !data.runs.some((run) => /^person\//.test(run.model)); // right answers; who plays asks for them
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
  fill(at("by-run"), data.runs.map((run, number) => [number, run.short]), "every run");
  fill(at("by-task"), unique("task").map((task) => [task, task]), "every task");
  fill(at("by-status"), STATUSES.filter((name) => samples.some((sample) => sample.status === name)).map((name) => [name, name]), "every status");
  fill(at("by-condition"), unique("condition").map((name) => [name, name]), "every condition");
  for (const id of ["flip-from", "flip-to"]) fill(at(id), data.runs.map((run, number) => [number, run.short]), "–");
  fillOrder();
}

function fillOrder() {
  // Of the chosen task its own scores; of several tasks what all samples have.
  const before = at("order").value;
  const tasks = new Set(samples.map((sample) => sample.task));
  const task = at("by-task").value || (tasks.size === 1 ? [...tasks][0] : "");
  const names = [...new Set(samples.filter((sample) => sample.task === task).flatMap((sample) => Object.keys(sample.scores)))];
  const options = [["", "as they ended"]];
  for (const name of names) options.push([`+s:${name}`, `${name}, lowest first`], [`-s:${name}`, `${name}, highest first`]);
  if (samples.some((sample) => sample.seconds)) options.push(["-seconds", "slowest first"]);
  if (samples.some((sample) => sample.tokens)) options.push(["-tokens", "most tokens first"]);
  at("order").replaceChildren(...options.map(([value, words]) => new Option(words, value)));
  if (options.some(([value]) => value === before)) at("order").value = before;
}

// What changed between two runs: the samples of the later one whose status or primary score is another.

function flipPair() {
  const from = at("flip-from").value, to = at("flip-to").value;
  return from === "" || to === "" || from === to ? null : { from: Number(from), to: Number(to), kind: at("flip-kind").value };
}

function flipOf(sample, pair) {
  const old = twins.get(twinKey(sample)).find((each) => each.run === pair.from);
  if (!old) return null;
  const [was, is] = [scoreOf(old), scoreOf(sample)];
  const sign = primaryScore[sample.task]?.[1] === false ? -1 : 1;
  const change = was !== undefined && is !== undefined ? sign * Math.sign(is - was) : (is !== undefined) - (was !== undefined);
  if (!change && old.status === sample.status) return null;
  const words = (each, value) => (each.status === "scored" && value !== undefined ? show(value) : each.status);
  return { change, words: `${words(old, was)} → ${words(sample, is)}` };
}

function flipped(sample, pair) {
  if (sample.run !== pair.to) return false;
  const flip = flipOf(sample, pair);
  return flip !== null && (pair.kind === "" || (pair.kind === "better" ? flip.change > 0 : flip.change < 0));
}

function filtered() {
  const run = at("by-run").value, task = at("by-task").value, status = at("by-status").value, condition = at("by-condition").value;
  const pair = flipPair();
  at("flip-kind").closest("label").hidden = pair === null;
  at("by-run").disabled = pair !== null;
  if (pair) return samples.filter((sample) => flipped(sample, pair) && (task === "" || sample.task === task)
    && (status === "" || sample.status === status) && (condition === "" || sample.condition === condition));
  return samples.filter((sample) => (run === "" || sample.run === Number(run)) && (task === "" || sample.task === task)
    && (status === "" || sample.status === status) && (condition === "" || sample.condition === condition));
}

function ordered(found) {
  const order = at("order").value;
  if (!order) return found;
  const name = order.slice(1), sign = order[0] === "+" ? 1 : -1;
  const value = (sample) => (name.startsWith("s:") ? sample.scores[name.slice(2)] ?? null : name === "tokens" ? sample.tokens && allTokens(sample) : sample.seconds);
  return [...found].sort((a, b) => (value(a) === null) - (value(b) === null) || sign * (value(a) - value(b)));
}

const allTokens = (sample) => (sample.tokens[0] ?? 0) + (sample.tokens[1] ?? 0);

async function search() {
  const turn = ++searching;
  const words = at("query").value.trim().toLowerCase();
  const base = filtered();
  if (!words) return list(base);
  const found = new Set(base.filter((sample) => `${sample.key} ${sample.preview} ${sample.input ?? ""}`.toLowerCase().includes(words)));
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

function said(record) {
  const texts = record.turns.flatMap((turn) => [turn.text, turn.thinking, turn.error, turn.refusal, ...(turn.calls ?? []).flatMap((call) => [call.name, call.arguments])]);
  return [record.reason, ...texts].filter(Boolean).join("\n").toLowerCase();
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
  const pair = flipPair();
  const score = pair ? flipOf(sample, pair)?.words : sample.status === "scored" ? show(scoreOf(sample)) : sample.status;
  const field = (word, value) => (value === null || value === undefined || value === "" ? null : make("span", "", make("small", "", word), " ", value));
  const answers = [field("read", sample.answer), answersShown ? field("right", sample.target) : null].filter(Boolean);
  const took = [sample.tokens ? `${count(sample.tokens[0] ?? 0)}+${count(sample.tokens[1] ?? 0)} tokens` : "", sample.seconds ? `${sample.seconds.toFixed(1)} s` : ""].filter(Boolean);
  const output = [data.runs.length > 1 ? data.runs[sample.run].short : "", sample.preview].filter(Boolean).join(" · ");
  const node = make("div", "item",
    make("div", "line", dot, make("span", "key", sample.key), make("span", "number", score)),
    make("p", "preview", sample.input ?? ""),
    make("p", "preview answers", answers.length ? answers : ""),
    make("p", "preview took", make("span", "", output), make("span", "", took.join(" · "))));
  node.title = [`${sample.key}: ${sample.status}`, data.runs[sample.run].name, sample.input && `input: ${sample.input}`, answersShown && sample.target !== null && `right answer: ${sample.target}`,
    sample.answer !== null && `answer as read: ${sample.answer}`, sample.preview && `output: ${sample.preview}`, took.join(", ")].filter(Boolean).join("\n");
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

let draws = 0; // a drawing that others have overtaken is dropped

async function drawDetail() {
  const sample = shown[chosen];
  if (!sample) return;
  const turn = ++draws;
  const own = twins.get(twinKey(sample));
  at("side").disabled = own.length < 2;
  at("side").setAttribute("aria-pressed", String(beside && own.length > 1));
  at("previous").disabled = chosen <= 0;
  at("next").disabled = chosen >= shown.length - 1;
  history.replaceState(null, "", `#s${sample.index}`);
  const pair = flipPair();
  const others = own.filter((each) => each !== sample && (pair === null || each.run === pair.from));
  const wanted = beside || pair ? [...others, sample].sort((a, b) => (pair ? (a === sample) - (b === sample) : a.run - b.run)) : [sample];
  const nodes = await Promise.all(wanted.map(async (each) => sampleNode(each, await transcriptOf(each))));
  if (turn === draws) at("detail").replaceChildren(make("div", "columns", nodes));
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

function rightAnswer(target) {
  const text = make("p", "right", String(target));
  if (answersShown) return block("Right answer", text);
  const folded = onDemand("Show the right answer", () => text);
  return make("div", "block", folded);
}

function sampleNode(sample, record) {
  const badge = make("span", "badge", sample.status);
  const node = make("div", "sample", make("h3", "", sample.key), make("p", "facts", badge, " ", [
    data.runs.length > 1 ? data.runs[sample.run].name : "", data.tasks.length > 1 ? sample.task : "", `condition ${sample.condition}`, `repeat ${sample.repeat}`,
    sample.tokens ? `${count(sample.tokens[0] ?? 0)}+${count(sample.tokens[1] ?? 0)} tokens` : "", `${record.seconds.toFixed(2)} s`, record.cost ? `$${record.cost.toFixed(5)}` : "", record.served_by.length ? `served by ${record.served_by.join(", ")}` : "",
  ].filter(Boolean).join(" · ")));
  node.style.setProperty("--of", `var(--${sample.status})`);
  node.style.setProperty("--run", runColour(sample.run));
  if (record.reason) node.append(make("p", "reason", record.reason));
  node.append(...record.turns.map(turnNode));
  const scores = Object.entries(record.scores ?? {});
  if (record.target !== null && record.target !== undefined) node.append(rightAnswer(record.target));
  const read = block("Read and scored", make("p", "facts", `parser: ${record.route ?? "none read it"}`));
  if (scores.length) read.append(make("table", "", make("tbody", "", scores.map(([name, value]) => make("tr", "", make("td", "", name), make("td", "", show(value)))))));
  for (const [name, why] of Object.entries(record.missing ?? {})) read.append(make("p", "facts", `${name}: none (${why})`));
  if (record.value !== null && record.value !== undefined) read.append(block("Answer as read", plainData(record.value)));
  if (Object.keys(record.details ?? {}).length) read.append(details("Details", plainData(record.details)));
  node.append(read);
  if (Object.keys(record.outcome).length) node.append(block("Outcome", details("Moves and state", plainData(record.outcome))));
  for (const judge of record.judges) {
    const turns = [...judge.turns, ...judge.answers.map((answer) => ({ who: judge.role, ...answer }))];
    node.append(block(`${judge.role} · ${judge.model}`, details("What it was asked and said", ...turns.map(turnNode), judge.error ? make("p", "lost", judge.error) : null)));
  }
  node.append(block("Doc", record.by_reference ? make("p", "quiet", "Kept by reference: its text is not in this page.") : details(sample.doc, plainData(record.doc_fields))));
  return node;
}

function toggle(button, on) {
  at(button).setAttribute("aria-pressed", String(on));
}

function jump(id) {
  at(id).scrollIntoView({ behavior: "instant" });
  if (id === "samples") at("list").focus({ preventScroll: true });
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
  else if (event.key === "a") at("answers").click();
  else if (event.key === "f" && data.runs.length > 1) at("flip-from").focus();
  else if (event.key === "Home" && inList) choose(0);
  else if (event.key === "End" && inList) choose(shown.length - 1);
  else if (["1", "2", "3"].includes(event.key)) jump(["results", "runs", "samples"][event.key - 1]);
  else if (event.key === "?") at("keys").showModal();
  else return;
  event.preventDefault();
}

let waiting = 0;
at("query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 150); });
at("filters").addEventListener("submit", (event) => event.preventDefault());
at("by-task").addEventListener("change", fillOrder);
for (const id of ["by-run", "by-task", "by-status", "by-condition", "order", "flip-from", "flip-to", "flip-kind"]) at(id).addEventListener("change", () => { at("list").scrollTop = 0; search(); });
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
at("answers").addEventListener("click", () => {
  answersShown = !answersShown;
  toggle("answers", answersShown);
  drawList();
  drawDetail();
});
toggle("answers", answersShown);
at("answers").hidden = samples.every((sample) => sample.target === null);
at("marks").append(...statusMarks((name) => samples.some((sample) => sample.status === name)));
fillFilters();
at("side").hidden = data.runs.length < 2;
at("samples-note").textContent = samples.length < data.samples.total
  ? `${count(samples.length)} of ${count(data.samples.total)} samples are in this page, drawn by a hash of task, doc and repeat; the numbers above are over all of them.`
  : `All ${several(samples.length, "sample")} with every message, answer and score.`;
list(samples);
const asked = /^#s(\d+)$/.exec(location.hash);
if (asked && Number(asked[1]) < samples.length) choose(Number(asked[1]));
