// Runs on their way: asks for their state every other second, and gives way to the page of results once all have ended.

const EVERY = 1500;
const drawn = new Map(); // what each part of the page showed last
let gone = false;

const named = (status, run) => (status === "scored" && run.scored < run.made ? "answered" : status); // until it is scored
const dollars = (value) => `$${value.toFixed(value < 1 ? 4 : 2)}`;
const perTime = (rate) => (rate >= 1 ? `${rate.toFixed(1)}/s` : `${(rate * 60).toFixed(1)}/min`);

function clock(seconds) {
  const minutes = Math.ceil(seconds / 60);
  return seconds < 90 ? `${Math.ceil(seconds)} s` : minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}

function spent(run) {
  const unpriced = run.unpriced ? `${several(run.unpriced, "call")} without a price` : "";
  return run.cost ? [dollars(run.cost), unpriced].filter(Boolean).join(", ") : unpriced || (run.made ? "$0" : "");
}

function bar(run) {
  // The share of each status among all that is planned.
  const node = make("div", "progress");
  for (const name of STATUSES) {
    if (!run.counts[name]) continue;
    const part = make("b");
    part.style.width = `${(100 * run.counts[name]) / Math.max(run.planned, 1)}%`;
    part.style.background = `var(--${name})`;
    node.append(tell(part, `${count(run.counts[name])} ${named(name, run)}`));
  }
  node.setAttribute("role", "progressbar");
  node.setAttribute("aria-valuemin", "0");
  node.setAttribute("aria-valuemax", String(run.planned));
  node.setAttribute("aria-valuenow", String(run.made));
  node.setAttribute("aria-label", run.name ?? "all runs");
  return node;
}

function factsOf(run) {
  const failed = STATUSES.filter((name) => name !== "scored" && run.counts[name]).map((name) => `${count(run.counts[name])} ${name}`);
  const scoring = run.scored && run.scored < run.made ? `${count(run.scored)} scored` : "";
  const rate = run.rate ? perTime(run.rate) : "";
  const left = run.left ? `about ${clock(run.left)} left` : "";
  const batches = run.batches ? `${several(run.batches[0], "batch").replace("batchs", "batches")} with ${several(run.batches[1], "request")} pending` : "";
  const roles = Object.entries(run.roles ?? {}).map(([role, [calls, cost]]) => `${role}: ${several(calls, "call")}${cost ? `, ${dollars(cost)}` : ""}`);
  return [`${count(run.made)} of ${count(run.planned)}`, scoring, ...failed, rate, left, spent(run), batches, ...roles].filter(Boolean);
}

function runNode(run) {
  const state = make("span", "state", run.behind ? "reading …" : run.status);
  state.dataset.status = run.status;
  const name = make("span", "name", run.short, run.shard ? make("small", "", ` shard ${run.shard}`) : null);
  tell(name, `${run.model}, ${run.folder}`);
  const node = make("div", "live-run", make("div", "line", name, state), bar(run), make("p", "facts", factsOf(run).join(" · ")));
  if (run.fault) node.append(make("p", "lost", run.fault));
  if (run.resume) node.append(make("p", "facts", "Resume it: ", make("code", "", run.resume)));
  return asGroup(node);
}

function sampleNode(row, runs) {
  const dot = make("i", "dot");
  dot.style.background = `var(--${row.status})`;
  const scores = Object.entries(row.scores ?? {}).map(([name, value]) => `${name} ${show(value)}`);
  const took = [row.tokens ? `${count(row.tokens[0])}+${count(row.tokens[1])} tokens` : "", row.seconds ? `${row.seconds.toFixed(1)} s` : ""];
  const field = (word, value) => (value === null || value === undefined || value === "" ? null : make("p", "field", make("small", "", word), " ", value));
  return make("div", "live-sample",
    make("div", "line", dot, make("span", "key", row.key), make("span", "number", scores.length ? scores.join(", ") : row.status === "scored" ? "answered" : row.status)),
    field("input", row.input), field("right", row.target), field("read", row.answer), field("output", row.output), field("reason", row.reason),
    make("p", "facts", [runs.length > 1 ? runs[row.run].short : "", ...took].filter(Boolean).join(" · ")));
}

function put(id, told, draw) {
  // Draw a part again only where it has changed, so that what is selected or folded out stays.
  const text = JSON.stringify(told);
  if (drawn.get(id) === text) return;
  drawn.set(id, text);
  const focused = marksOf(at(id)).indexOf(document.activeElement); // a mark that is told stays so
  at(id).replaceChildren(...draw());
  if (focused >= 0) marksOf(at(id))[focused]?.focus();
}

function together(runs) {
  const sum = (name) => runs.reduce((total, run) => total + (run[name] ?? 0), 0);
  const counts = Object.fromEntries(STATUSES.map((name) => [name, runs.reduce((total, run) => total + (run.counts[name] ?? 0), 0)]));
  const [planned, made, rate] = [sum("planned"), sum("made"), sum("rate")];
  return { planned, made, rate, scored: sum("scored"), cost: sum("cost"), unpriced: sum("unpriced"), counts, left: rate && planned > made ? (planned - made) / rate : null };
}

function draw(state) {
  const { runs, waiting } = state;
  const all = together(runs);
  const going = runs.filter((run) => run.status === "running").length;
  const share = all.planned ? `${Math.floor((100 * all.made) / all.planned)} %` : "";
  at("title").textContent = runs.length ? `${count(all.made)} of ${several(all.planned, "sample")}` : "No run has begun yet";
  document.title = [share, "creval live"].filter(Boolean).join(" · ");
  const byStatus = [...new Set(runs.map((run) => run.status))].map((name) => `${count(runs.filter((run) => run.status === name).length)} ${name}`);
  const words = [runs.length === 1 ? runs[0].name : `${several(runs.length, "run")}: ${byStatus.join(", ")}`, waiting.length ? `${count(waiting.length)} waiting` : "", going ? "" : "nothing is at work now"];
  at("subtitle").textContent = gone ? "The server has gone: this is the last that it said." : [...words, state.fault ?? ""].filter(Boolean).join(" · ");
  at("report").hidden = !runs.some((run) => run.status === "done" || run.status === "budget");
  put("marks", STATUSES.filter((name) => all.counts[name]).map((name) => named(name, all)), () => STATUSES.filter((name) => all.counts[name]).map((name) => {
    const part = make("span", "", make("i", "swatch"), named(name, all));
    part.firstChild.style.background = `var(--${name})`;
    return part;
  }));
  put("runs", [runs, waiting], () => [
    ...(runs.length > 1 ? [runNode({ ...all, short: "All runs", model: "all runs", folder: "", status: going ? "running" : "" })] : []),
    ...runs.map(runNode),
    ...waiting.map((name) => make("div", "live-run", make("div", "line", make("span", "name", name), make("span", "state", "waiting")))),
  ]);
  at("live-errors").hidden = at("to-errors").hidden = !state.errors.length;
  put("errors", state.errors, () => state.errors.map((row) => make("p", "lost", make("b", "", row.key), ` ${runs.length > 1 ? `${runs[row.run].short}: ` : ""}${row.reason ?? ""}`)).reverse());
  put("samples", [state.samples, runs.map((run) => run.short)], () => state.samples.map((row) => sampleNode(row, runs)));
  at("samples-note").textContent = state.samples.length ? "The latest first." : "None yet.";
}

async function ask() {
  try {
    const answer = await fetch("state", { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.statusText);
    const state = await answer.json();
    gone = false;
    draw(state);
    if (state.ended) return location.reload(); // the same address now has the page of the results
    setTimeout(ask, state.runs.some((run) => run.behind) ? 50 : EVERY);
  } catch {
    gone = true;
    at("subtitle").textContent = "The server has gone: this is the last that it said.";
    setTimeout(ask, EVERY * 2);
  }
}

draw(data);
setTimeout(ask, 300);
