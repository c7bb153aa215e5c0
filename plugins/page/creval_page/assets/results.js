// Results: of every metric each run on one scale, with interval, floor, ceiling, the paper's numbers and the statuses.

function scaleOf(rows) {
  const known = rows.flatMap((row) => [row.value, row.low, row.high, row.floor, row.ceiling, ...row.published.map((each) => each[1])])
    .filter((value) => value !== null && value !== undefined);
  let low = Math.min(...known), high = Math.max(...known);
  if (!known.length) return null;
  if (low === high) { low -= 0.5; high += 0.5; }
  if (low > 0 && low < (high - low) * 0.6) low = 0;
  const pad = (high - low) * 0.03;
  return { low: low === 0 ? 0 : low - pad, high: high === 1 && low >= 0 ? 1 : high + pad };
}

const share = (scale, value) => `${(100 * (value - scale.low)) / (scale.high - scale.low)}%`;

function mark(kind, scale, value, title) {
  const node = make("i", kind);
  node.style.left = share(scale, value);
  node.title = title;
  return node;
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
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", words.join("; "));
  return node;
}

function statuses(counts) {
  const total = STATUSES.reduce((sum, name) => sum + counts[name], 0);
  const bar = make("div", "status");
  const words = STATUSES.filter((name) => counts[name] || name === "scored").map((name) => `${count(counts[name])} ${name}`);
  for (const name of STATUSES) {
    if (!counts[name]) continue;
    const part = make("b");
    part.style.width = `${(100 * counts[name]) / total}%`;
    part.style.background = `var(--${name})`;
    part.title = `${count(counts[name])} ${name}`;
    bar.append(part);
  }
  return make("div", "statuses", bar, make("p", "words", words.join(", ")));
}

function figure(rows, named) {
  const scale = scaleOf(rows);
  const grid = make("div", "rows");
  grid.append(...["", "value", "", "95 % interval", "samples"].map((word, index) => make("span", index === 1 ? "head right" : "head", word)));
  for (const row of rows) {
    const digits = row.value === null ? 3 : places(row.value);
    const interval = row.low === null ? (row.no_interval ? `none: ${row.no_interval}` : "none") : `${show(row.low, digits)} to ${show(row.high, digits)}`;
    grid.append(
      make("span", "name", named(row)),
      make("span", "value", show(row.value)),
      scale ? track(row, scale) : make("span"),
      make("span", "interval", interval),
      statuses(row.counts),
    );
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
  return grid;
}

function besideNotes(rows) {
  const notes = [], groups = new Map();
  for (const row of rows.filter((each) => each.published.length)) {
    const key = JSON.stringify([row.differs, row.published_remarks, row.published_same]);
    if (groups.has(key)) groups.get(key).push(row); else groups.set(key, [row]);
  }
  for (const own of groups.values()) {
    const row = own[0];
    const who = own.length < rows.length || groups.size > 1 ? `${own.map((each) => data.runs[each.run].name).join(", ")}: ` : "";
    const same = row.published_same !== null ? `the paper's number for this model is ${show(row.published_same)}` : `the paper has ${several(row.published.length, "model")}, ${own.length > 1 ? "these are" : "this one is"} not among them`;
    const note = make("p", "beside", who, row.differs.length || row.published_remarks.length ? make("span", "flag", "≠ not the paper's measurement") : make("span", "fine", `= ${row.published_equal.join(", ")} agree`), `; ${same} (${row.published_source})`);
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
  const nodes = [head, figure(rows, (row) => data.runs[row.run].name), ...besideNotes(rows)];
  if (rows.some((row) => row.cluster === "trial")) nodes.push(make("p", "beside", "The interval is over trials, not docs."));
  return make("div", "metric", ...nodes);
}

function conditionNode(rows) {
  const names = [...new Set(rows.map((row) => row.condition))];
  if (names.length < 2) return null;
  const sections = [...new Set(rows.map((row) => row.metric))].map((metric) => {
    const own = rows.filter((row) => row.metric === metric);
    return make("div", "metric", make("h3", "", metric), figure(own, (row) => (data.runs.length > 1 ? `${row.condition} · ${data.runs[row.run].name}` : row.condition)));
  });
  const curves = conditionCurves(rows);
  if (!curves) return details("By condition", ...sections);
  const shown = details(`By ${curves.label}`, make("div", "curves", curves.nodes), details("As numbers", ...sections));
  shown.open = true;
  return shown;
}

function distribution(each) {
  const ends = each.edges ? [each.edges[0], each.edges.at(-1)] : [each.values[0], each.values.at(-1)];
  const most = Math.max(...Object.values(each.counts).flat(), 1);
  const rows = Object.entries(each.counts).map(([run, counts]) => {
    const bars = counts.map((number, index) => {
      const bar = make("b");
      bar.style.height = `${(100 * number) / most}%`;
      if (!number) bar.dataset.none = "yes";
      bar.title = each.edges ? `${show(each.edges[index])} to ${show(each.edges[index + 1])}: ${count(number)}` : `${show(each.values[index])}: ${count(number)}`;
      return bar;
    });
    const row = make("div", "row", bars);
    row.style.setProperty("--run", runColour(Number(run)));
    return make("div", "", data.runs.length > 1 ? make("p", "run", data.runs[run].name) : null, row);
  });
  const plain = (value) => (Number.isInteger(value) ? show(value, 0) : show(value));
  const labels = (each.values ?? ends).map(plain);
  const own = each.values && labels.length <= 8; // a label below its bar
  const shown = own || labels.length <= 2 ? labels : [labels[0], labels.at(-1)];
  return make("div", "plot", make("h4", "", each.score), make("div", "bars", rows), make("div", own ? "ends own" : "ends", shown.map((label) => make("span", "", label))));
}

function legend() {
  const entry = (kind, words) => make("span", "", make("i", kind), words);
  const parts = [];
  if (data.metrics.some((row) => row.floor !== null)) parts.push(entry("bound", "floor: what guessing reaches on the same docs"), entry("bound ceiling", "ceiling: what the best answer reaches"));
  if (data.metrics.some((row) => row.published.length)) parts.push(entry("paper", "a model in the paper"), entry("paper same", "this model in the paper"));
  for (const name of STATUSES) {
    if (!data.metrics.some((row) => row.counts[name])) continue;
    const part = entry("swatch", name);
    part.firstChild.style.background = `var(--${name})`;
    parts.push(part);
  }
  return make("p", "legend", parts);
}

function drawResults() {
  at("results").append(...numberedTasks());
  for (const task of data.tasks) {
    const node = make("div", "task", data.tasks.length > 1 ? make("h2", "", task.title) : null);
    if (task.description) node.append(make("p", "about", task.description));
    if (task.hashes.length > 1) node.append(make("p", "beside", make("span", "flag", "≠ "), "These runs ran different versions of the task: their numbers do not compare."));
    const own = data.metrics.filter((row) => row.task === task.task);
    const whole = own.filter((row) => row.condition === null);
    const names = [...new Set(whole.map((row) => row.metric))];
    const primary = names.filter((name) => whole.some((row) => row.metric === name && row.primary));
    const first = primary.length ? primary : names.slice(0, 1);
    const rows = (name) => whole.filter((row) => row.metric === name);
    node.append(...first.map((name) => metricNode(task, name, rows(name))));
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
      const shown = details("How the scores are spread", make("div", "plots", plots.map(distribution)));
      shown.open = data.tasks.length <= 3;
      node.append(shown);
    }
    at("results").append(node);
  }
  at("results").append(legend());
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
    const card = make("div", "card", make("h3", "", run.name), facts(pairs));
    card.style.setProperty("--run", runColour(number));
    if (run.unpinned) card.append(make("p", "warn", run.unpinned));
    for (const note of run.notes) card.append(make("p", "warn", note));
    at("run-cards").append(card);
  });
}

at("title").textContent = data.tasks.length === 1 ? data.tasks[0].title : `${several(data.tasks.length, "task")}, ${several(data.runs.length, "run")}`;
at("subtitle").textContent = data.runs.map((run) => run.name).join(", ");
drawResults();
drawRuns();
