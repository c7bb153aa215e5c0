// Results: of every metric each run on one scale, with interval, floor, ceiling, the paper's numbers and the statuses.

function scaleOf(rows) {
  // From 0 to the highest value; from the lowest one where 0 would leave most of the scale empty.
  const known = rows.flatMap((row) => [row.value, row.low, row.high, row.floor, row.ceiling, ...row.published.map((each) => each[1])])
    .filter((value) => value !== null && value !== undefined);
  if (!known.length) return null;
  let low = Math.min(...known), high = Math.max(...known);
  if (low === high || (low > 0 && low < high * 0.6)) low = Math.min(low, 0);
  if (high < 0 && high > low * 0.6) high = 0;
  if (low === high) high = low === 0 ? 1 : 0; // nothing but zeros; or one value below zero
  const pad = (high - low) * 0.03;
  return { low: low === 0 ? 0 : low - pad, high: high === 0 || (high === 1 && low >= 0) ? high : high + pad };
}

const share = (scale, value) => `${(100 * (value - scale.low)) / (scale.high - scale.low)}%`;

function mark(kind, scale, value, title) {
  const node = make("i", kind);
  node.style.left = share(scale, value);
  return tell(node, title);
}

function track(row, scale) {
  const node = make("div", "track");
  node.style.setProperty("--run", runColour(row.run));
  const words = [`${show(row.value)}`];
  for (const [model, value, , source] of row.published) node.append(mark("paper", scale, value, `${model}: ${show(value)} (${source})`));
  if (row.floor !== null) { node.append(mark("bound", scale, row.floor, `floor ${show(row.floor)}`)); words.push(`floor ${show(row.floor)}`); }
  if (row.ceiling !== null) { node.append(mark("bound ceiling", scale, row.ceiling, `ceiling ${show(row.ceiling)}`)); words.push(`ceiling ${show(row.ceiling)}`); }
  if (row.published_same !== null) node.append(mark("paper same", scale, row.published_same, `published: ${show(row.published_same)}`));
  if (row.low !== null) {
    const span = make("i", "span");
    span.style.left = share(scale, row.low);
    span.style.width = `${(100 * (row.high - row.low)) / (scale.high - scale.low)}%`;
    node.append(span);
    words.push(`95 % interval ${show(row.low)} to ${show(row.high)}`);
  }
  if (row.value !== null) node.append(mark("dot", scale, row.value, words.join("; ")));
  return node;
}

const statusWords = (counts) => STATUSES.filter((name) => counts[name] || name === "scored").map((name) => `${count(counts[name])} ${name}`).join(", ");

const statuses = (counts) => make("div", "statuses", statusBar(counts), make("p", "words", statusWords(counts)));

function statusBar(counts) {
  const total = STATUSES.reduce((sum, name) => sum + counts[name], 0);
  const bar = make("div", "status");
  for (const name of STATUSES) {
    if (!counts[name]) continue;
    const part = make("b");
    part.style.width = `${(100 * counts[name]) / total}%`;
    part.style.background = `var(--${name})`;
    bar.append(tell(part, `${count(counts[name])} ${name}`));
  }
  return bar;
}

function rowWords(row) {
  // All that a row says, for the pointer and for who cannot see it.
  const parts = [`${row.group ? `${row.group.name}, ` : ""}${data.runs[row.run].name}: ${show(row.value)}`];
  if (row.low !== null) parts.push(`95 % interval ${show(row.low)} to ${show(row.high)}${row.method ? ` (${row.method})` : ""}`);
  else if (row.no_interval) parts.push(`no interval: ${row.no_interval}`);
  if (row.floor !== null) parts.push(`floor ${show(row.floor)}`);
  if (row.ceiling !== null) parts.push(`ceiling ${show(row.ceiling)}`);
  if (row.published_same !== null) parts.push(`published ${show(row.published_same)}`);
  parts.push(`n = ${count(row.n)}`, statusWords(row.counts));
  return parts.join("; ");
}

function best(rows) {
  // By value, the best first; those without one last.
  const sign = rows[0]?.higher === false ? 1 : -1;
  return [...rows].sort((a, b) => (a.value === null) - (b.value === null) || sign * (a.value - b.value) || a.run - b.run);
}

const MANY = 12; // rows from which on each takes one line

function sampleCell(row, dense) {
  if (!dense) return statuses(row.counts);
  const total = STATUSES.reduce((sum, name) => sum + row.counts[name], 0);
  const cell = make("div", "statuses", statusBar(row.counts), make("span", "words", row.counts.scored === total ? count(total) : `${count(row.counts.scored)} of ${count(total)}`));
  return cell;
}

function figure(rows, named, title) {
  const scale = scaleOf(rows);
  const dense = rows.length >= MANY;
  const grid = make("div", dense ? "rows dense" : "rows");
  grid.append(...["", "value", "", "95 % interval", "samples"].map((word, index) => make("span", index === 1 ? "head right" : "head", word)));
  for (const row of rows) {
    const digits = row.value === null ? 3 : places(row.value);
    const interval = row.low === null ? (row.no_interval && !dense ? `none: ${row.no_interval}` : "none") : `${show(row.low, digits)} to ${show(row.high, digits)}`;
    const cells = [
      make("span", "name", named(row)),
      make("span", "value", show(row.value)),
      scale ? track(row, scale) : make("span"),
      make("span", "interval", interval),
      sampleCell(row, dense),
    ];
    const words = rowWords(row);
    for (const cell of cells) tell(cell, words);
    grid.append(...cells);
  }
  if (scale) {
    const axis = make("div", "scale");
    for (const [value, words] of ticks(scale.low, scale.high)) {
      const place = (value - scale.low) / (scale.high - scale.low);
      const tick = make("span", place < 0.03 ? "first" : place > 0.97 ? "last" : "", words);
      tick.style.left = share(scale, value);
      axis.append(tick);
    }
    grid.append(make("span", "head"), make("span", "head"), axis, make("span", "head"), make("span", "head"));
  }
  return asGroup(grid);
}

function namesNode(runs, word = "run") {
  // A few names, or their count with the list on demand.
  const all = runs.map((run) => data.runs[run]);
  if (all.length <= 3) return make("span", "names", all.map((run) => run.name).join(", "));
  const item = (run) => make("li", "", run.short === run.name ? run.name : [make("b", "", run.short), ` ${run.name}`]);
  const list = details(several(all.length, word), make("ul", "", all.map(item)));
  list.classList.add("names");
  return list;
}

function besideNotes(rows) {
  const notes = [], groups = new Map();
  for (const row of rows.filter((each) => each.published.length)) {
    const key = JSON.stringify([row.differs, row.published_remarks, row.published_same]);
    if (groups.has(key)) groups.get(key).push(row); else groups.set(key, [row]);
  }
  for (const own of groups.values()) {
    const row = own[0];
    const who = own.length < rows.length || groups.size > 1 ? [namesNode(own.map((each) => each.run)), own.length > 3 ? "" : ": "] : [];
    const same = row.published_same !== null ? `the paper's number for this model is ${show(row.published_same)}` : `the paper has ${several(row.published.length, "model")}, ${own.length > 1 ? "these are" : "this one is"} not among them`;
    const note = make("div", "beside", who, row.differs.length || row.published_remarks.length ? make("span", "flag", "≠ not the paper's measurement") : make("span", "fine", `= ${row.published_equal.join(", ")} agree`), `; ${same} (${row.published_source})`);
    if (row.differs.length) note.append(`. Here: ${row.differs.join("; ")}`);
    if (row.published_remarks.length) note.append(`. The paper's: ${row.published_remarks.join("; or ")}`);
    if (row.differs.length || row.published_remarks.length) note.append(".");
    notes.push(note);
  }
  return notes;
}

function direction(row) {
  const better = row.higher === true ? "higher is better" : row.higher === false ? "lower is better" : "";
  return [row.unit ? `in ${row.unit}` : "", better].filter(Boolean).join(", ");
}

function metricNode(task, name, rows) {
  const head = make("h3", "", name, make("small", "", [direction(rows[0]), task.metrics[name.split("[")[0]]].filter(Boolean).join(" · ")));
  const nodes = [head, figure(best(rows), (row) => data.runs[row.run].short), ...besideNotes(rows)];
  if (rows.some((row) => row.cluster === "trial")) nodes.push(make("p", "beside", "The interval is over trials, not docs."));
  return make("div", "metric", ...nodes);
}

function conditionNode(rows) {
  const names = [...new Set(rows.map((row) => row.condition))];
  if (names.length < 2) return null;
  const sections = [...new Set(rows.map((row) => row.metric))].map((metric) => {
    const own = rows.filter((row) => row.metric === metric);
    return make("div", "metric", make("h3", "", metric), figure(own, (row) => (data.runs.length > 1 ? `${row.condition} · ${data.runs[row.run].short}` : row.condition)));
  });
  const curves = conditionCurves(rows);
  if (!curves) return details("By condition", ...sections);
  const shown = details(`By ${curves.label}`, curveLegend(rows), make("div", "curves", curves.nodes), details("As numbers", ...sections));
  shown.open = true;
  return shown;
}

const HIST = { wide: 300, high: 118, left: 34, right: 6, top: 14, bottom: 22 };

function histogram(each, run, most) {
  // Bars with their counts, a scale of counts at the left and one of values below.
  const { wide, high, left, right, top, bottom } = HIST;
  const counts = each.counts[run], step = (wide - left - right) / counts.length;
  const up = (number) => high - bottom - ((high - bottom - top) * number) / most;
  const name = data.runs[run].name;
  const picture = draw("svg", { viewBox: `0 0 ${wide} ${high}`, role: "group", "aria-label": `${each.score}, ${name}: samples by value` });
  picture.style.setProperty("--run", runColour(Number(run)));
  const text = (words, attributes) => picture.append(draw("text", attributes, words));
  for (const number of new Set([0, Math.floor(most / 2), most])) {
    picture.append(draw("line", { class: "grid", x1: left, x2: wide - right, y1: up(number), y2: up(number) }));
    text(count(number), { x: left - 5, y: up(number) + 3.5, "text-anchor": "end" });
  }
  const plain = (value) => (Number.isInteger(value) ? show(value, 0) : show(value));
  counts.forEach((number, index) => {
    const where = each.edges ? `${show(each.edges[index])} to ${show(each.edges[index + 1])}` : show(each.values[index]);
    const x = left + index * step, bar = draw("rect", { x: x + step * 0.08, y: up(number), width: Math.max(step * 0.84, 1), height: high - bottom - up(number) });
    picture.append(tell(bar, `${name}, ${where}: ${several(number, "sample")}`));
    if (number && counts.length <= MANY) text(count(number), { x: x + step / 2, y: up(number) - 3, "text-anchor": "middle" });
    if (each.values && (counts.length <= 6 || index % 2 === 0)) text(plain(each.values[index]), { x: x + step / 2, y: high - 8, "text-anchor": "middle" });
  });
  if (each.edges) {
    const [first, last] = [each.edges[0], each.edges.at(-1)];
    for (const [value, words] of ticks(first, last)) {
      const place = left + ((wide - left - right) * (value - first)) / (last - first);
      text(words, { x: place, y: high - 8, "text-anchor": place > wide - 16 ? "end" : "middle" });
    }
  }
  return make("div", "histogram", data.runs.length > 1 ? make("p", "run", data.runs[run].short) : null, asGroup(picture));
}

function distribution(each) {
  const runs = Object.keys(each.counts);
  const most = Math.max(...Object.values(each.counts).flat(), 1);
  const named = make("h4", "", each.score, make("small", "", " samples by value"));
  return make("div", runs.length >= MANY ? "plot wide" : "plot", named, make("div", "bars", runs.map((run) => histogram(each, run, most))));
}

function legend(rows) {
  // The marks that a section uses.
  const entry = (kind, words) => make("span", "", make("i", kind), words);
  const parts = [];
  if (rows.some((row) => row.value !== null)) parts.push(entry("dot", "value"));
  if (rows.some((row) => row.low !== null)) parts.push(entry("interval", "95 % interval"));
  if (rows.some((row) => row.floor !== null)) parts.push(entry("bound", "floor: what guessing reaches on the same docs"));
  if (rows.some((row) => row.ceiling !== null)) parts.push(entry("bound ceiling", "ceiling: what the best answer reaches"));
  if (rows.some((row) => row.published.length)) parts.push(entry("paper", "a model in the paper"));
  if (rows.some((row) => row.published_same !== null)) parts.push(entry("paper same", "this model in the paper"));
  parts.push(...statusMarks((name) => rows.some((row) => row.counts[name])));
  return make("p", "legend", parts);
}

function statusMarks(used) {
  return STATUSES.filter(used).map((name) => {
    const part = make("span", "", make("i", "swatch"), name);
    part.firstChild.style.background = `var(--${name})`;
    return part;
  });
}

function groupNodes(rows) {
  // Of each metric by a field one figure: the means over its groups, then the groups in the order of their names.
  const kinds = new Map();
  for (const row of rows) {
    const title = `${row.group.metric} by ${row.group.by}`;
    kinds.set(title, [...(kinds.get(title) ?? []), row]);
  }
  return [...kinds].map(([title, own]) => {
    const named = ({ group, condition, run }) => [group.name, condition, data.runs.length > 1 ? data.runs[run].short : null].filter(Boolean).join(" · ");
    const places = [...new Set(own.map((row) => row.group.name))];
    const ordered = [...own].sort((a, b) => b.group.mean - a.group.mean || places.indexOf(a.group.name) - places.indexOf(b.group.name) || a.run - b.run);
    const shown = onDemand(`${title}: ${several(new Set(own.filter((row) => !row.group.mean).map((row) => row.group.name)).size, "group")}`, () => figure(ordered, named));
    shown.classList.add("groups");
    shown.open = own.length < MANY;
    return shown;
  });
}

function suiteNode(suite) {
  // The numbers of a suite, each above those of its tasks.
  const own = data.suite_metrics.filter((row) => row.task === suite.task);
  const node = make("div", "task suite", make("h2", "", suite.title));
  if (suite.hashes.length > 1) node.append(make("p", "beside", make("span", "flag", "≠ "), "These runs ran different versions of the suite: their numbers do not compare."));
  node.append(legend(own));
  for (const name of new Set(own.map((row) => row.metric))) {
    const rows = own.filter((row) => row.metric === name);
    const found = (row) => row.of.map(([task, metric]) => data.metrics.find((each) => each.run === row.run && each.task === task && each.metric === metric && each.condition === null));
    const columns = rows.map(found), parts = columns[0].flatMap((_, place) => columns.map((column) => column[place])).filter(Boolean);
    const named = (row) => (data.runs.length > 1 ? `${row.task} · ${data.runs[row.run].short}` : row.task);
    const shown = onDemand(`${name}: ${several(columns[0].length, "task")}`, () => figure(parts, named));
    shown.open = rows[0].primary && parts.length < MANY;
    node.append(metricNode(suite, name, rows), shown);
  }
  return node;
}

function taskNode(task) {
  const titled = data.tasks.length + data.suites.length > 1;
  const node = make("div", "task", titled ? make("h2", "", task.title) : null);
  if (task.description) node.append(make("p", "about", task.description));
  if (task.hashes.length > 1) node.append(make("p", "beside", make("span", "flag", "≠ "), "These runs ran different versions of the task: their numbers do not compare."));
  const every = data.metrics.filter((row) => row.task === task.task), own = every.filter((row) => !row.group);
  node.append(legend(every));
  const whole = own.filter((row) => row.condition === null);
  const names = [...new Set(whole.map((row) => row.metric))];
  const primary = names.filter((name) => whole.some((row) => row.metric === name && row.primary));
  const first = primary.length ? primary : names.slice(0, 1);
  const rows = (name) => whole.filter((row) => row.metric === name);
  node.append(...first.map((name) => metricNode(task, name, rows(name))));
  node.append(...groupNodes(every.filter((row) => row.group)));
  const rest = names.filter((name) => !first.includes(name));
  if (rest.length) {
    const more = details(several(rest.length, "further metric"), ...rest.map((name) => metricNode(task, name, rows(name))));
    more.open = rest.length <= 2;
    node.append(more);
  }
  const split = conditionNode(own.filter((row) => row.condition !== null));
  if (split) node.append(split);
  const plots = data.distributions.filter((each) => each.task === task.task);
  if (plots.length) {
    const shown = onDemand("How the scores are spread", () => make("div", "plots", plots.map(distribution)));
    shown.open = data.tasks.length <= 3 && data.runs.length < MANY;
    node.append(shown);
  }
  return node;
}

function drawResults() {
  at("results").append(...numberedTasks(), ...data.suites.map(suiteNode), ...data.tasks.map(taskNode));
}

function facts(pairs) {
  return make("dl", "", pairs.filter(([, value]) => value !== null && value !== undefined && value !== "").flatMap(([name, value]) => [make("dt", "", name), make("dd", "", String(value))]));
}

function money(usage) {
  if (!usage.calls) return null;
  const unpriced = usage.unpriced_calls ? `, ${several(usage.unpriced_calls, "call")} without a price` : "";
  return `$${usage.cost.toFixed(usage.cost < 1 ? 4 : 2)}${unpriced}`;
}

function drawRuns() {
  data.runs.forEach((run, number) => {
    const usage = run.usage;
    const served = Object.entries(run.served).filter(([name]) => name && name !== run.model.split("/")[0]);
    const pairs = [
      ["model", run.model], ["folder", run.folder], ["status", run.status === "done" ? "" : run.status],
      ["started", (run.started ?? "").replace("T", " ").slice(0, 16)],
      ["calls", count(usage.calls)],
      ["tokens", usage.input_tokens + usage.output_tokens ? `${count(usage.input_tokens)} in, ${count(usage.output_tokens)} out` : null],
      ["spent", money(usage)],
      ["served by", served.map(([name, calls]) => `${name} (${count(calls)})`).join(", ")],
      ["pinned to", run.pinned.join(", ")],
      ["seed", run.seed],
      ...Object.entries(run.own).filter(([name]) => name !== "seed").map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : value]),
      ...Object.entries(run.by_role).map(([role, used]) => [role, `${run.roles[role] ?? ""} ${several(used.calls, "call")}, ${money(used) ?? "nothing spent"}`]),
      ["creval", run.creval],
    ];
    const many = data.runs.length >= MANY;
    const card = many ? details(run.name, facts(pairs)) : make("div", "card", make("h3", "", run.name), facts(pairs));
    if (many) card.className = "card folded";
    card.style.setProperty("--run", runColour(number));
    if (run.unpinned) card.append(make("p", "warn", run.unpinned));
    for (const note of run.notes) card.append(make("p", "warn", note));
    at("run-cards").append(card);
  });
}

at("title").textContent = data.tasks.length === 1 ? data.tasks[0].title : `${several(data.tasks.length, "task")}, ${several(data.runs.length, "run")}`;
at("subtitle").append(namesNode(data.runs.map((_, number) => number)));
drawResults();
drawRuns();
