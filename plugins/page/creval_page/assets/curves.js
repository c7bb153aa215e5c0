// Curves: a metric over a setting that the runs vary (temperature), or over numbered tasks (state0, state1, ...).

const WIDE = 420, HIGH = 210, LEFT = 44, RIGHT = 14, TOP = 10, BOTTOM = 36;

function draw(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const swept = (condition) => /^([\w.]+)=(-?\d+(?:\.\d+)?)$/.exec(condition ?? "");

function curve(name, label, rows) {
  // rows carry `x`, the place of each on the axis below.
  const scale = scaleOf(rows);
  if (!scale || rows.every((row) => row.value === null)) return null;
  const values = [...new Set(rows.map((row) => row.x))].sort((one, other) => one - other);
  const [first, last] = [values[0], values.at(-1)];
  const across = (x) => LEFT + 10 + ((WIDE - LEFT - RIGHT - 20) * (x - first)) / (last - first || 1);
  const up = (value) => HIGH - BOTTOM - ((HIGH - BOTTOM - TOP) * (value - scale.low)) / (scale.high - scale.low);
  const text = (words, attributes) => draw("text", attributes, words);
  const picture = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "group", "aria-label": `${name} over ${label}` });
  for (const [value, words] of ticks(scale.low, scale.high)) {
    picture.append(draw("line", { class: "grid", x1: LEFT, x2: WIDE - RIGHT, y1: up(value), y2: up(value) }));
    picture.append(text(words, { x: LEFT - 6, y: up(value) + 3.5, "text-anchor": "end" }));
  }
  for (const x of values) picture.append(text(String(x), { x: across(x), y: HIGH - BOTTOM + 15, "text-anchor": "middle" }));
  picture.append(text(label, { x: (LEFT + WIDE - RIGHT) / 2, y: HIGH - 5, "text-anchor": "middle" }));
  const path = (points) => points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  for (const bound of ["floor", "ceiling"]) {
    const known = rows.filter((row) => row[bound] !== null && row.run === rows[0].run).sort((one, other) => one.x - other.x);
    if (known.length > 1) picture.append(draw("path", { class: bound, d: path(known.map((row) => [across(row.x), up(row[bound])])) }));
  }
  const papers = new Map(rows.flatMap((row) => row.published.map(([model, value, , source]) => [`${row.x} ${model}`, [row, value, `${model}: ${show(value)} (${source})`]])));
  for (const [row, value, words] of papers.values()) {
    const kind = rows.some((each) => each.x === row.x && each.published_same === value) ? "paper same" : "paper";
    picture.append(tell(draw("line", { class: kind, x1: across(row.x) - 6, x2: across(row.x) + 6, y1: up(value), y2: up(value) }), words));
  }
  const runs = [...new Set(rows.filter((row) => row.value !== null).map((row) => row.run))];
  runs.forEach((run, place) => {
    const own = rows.filter((row) => row.run === run && row.value !== null).sort((one, other) => one.x - other.x);
    const aside = (place - (runs.length - 1) / 2) * 5; // so that intervals at one place do not hide each other
    const group = draw("g", { class: "series" });
    group.style.setProperty("--run", runColour(run)); // a style attribute is what the page's own policy forbids
    group.append(draw("path", { class: "line", d: path(own.map((row) => [across(row.x) + aside, up(row.value)])) }));
    for (const row of own) {
      const x = across(row.x) + aside;
      const words = [`${data.runs[run].name}, ${label} ${row.x}: ${show(row.value)}`];
      if (row.low !== null) {
        group.append(draw("line", { class: "span", x1: x, x2: x, y1: up(row.low), y2: up(row.high) }));
        words.push(`95 % interval ${show(row.low)} to ${show(row.high)}`);
      }
      group.append(tell(draw("circle", { cx: x, cy: up(row.value), r: 4 }), words.join("; ")));
    }
    picture.append(group);
  });
  const names = runs.map((run) => {
    const entry = make("span", "", make("i", "swatch"), data.runs[run].short);
    tell(entry, data.runs[run].name);
    entry.firstChild.style.background = runColour(run);
    return entry;
  });
  const other = rows.some((row) => row.published.length && (row.differs.length || row.published_remarks.length));
  const note = other ? make("p", "beside", make("span", "flag", "≠"), " the paper's numbers are of another measurement: see below") : null;
  return make("div", "curve", make("h4", "", name), asGroup(picture), runs.length > 3 ? details(several(runs.length, "run"), asGroup(make("p", "legend", names))) : data.runs.length > 1 ? asGroup(make("p", "legend", names)) : null, note);
}

function curveLegend(rows) {
  const entry = (kind, words) => make("span", "", make("i", kind), words);
  const parts = [entry("dot", "value")];
  if (rows.some((row) => row.low !== null)) parts.push(entry("interval upright", "95 % interval"));
  if (rows.some((row) => row.floor !== null)) parts.push(entry("bound", "floor"));
  if (rows.some((row) => row.ceiling !== null)) parts.push(entry("bound ceiling", "ceiling"));
  if (rows.some((row) => row.published.length)) parts.push(entry("paper level", "a model in the paper"));
  if (rows.some((row) => row.published_same !== null)) parts.push(entry("paper same level", "this model in the paper"));
  return make("p", "legend", parts);
}

function conditionCurves(rows) {
  // Nothing where the conditions are no numbers of one setting.
  const found = rows.map((row) => swept(row.condition));
  if (found.some((each) => !each) || new Set(found.map((each) => each[1])).size !== 1) return null;
  const placed = rows.map((row, index) => ({ ...row, x: Number(found[index][2]) }));
  const metrics = [...new Set(rows.map((row) => row.metric))];
  return { label: found[0][1], nodes: metrics.map((metric) => curve(metric, found[0][1], placed.filter((row) => row.metric === metric))) };
}

function numberedTasks() {
  // Tasks that differ in a number at their end: three at least make a curve.
  const families = new Map();
  for (const { task } of data.tasks) {
    const found = /^(.*?)(\d+)$/.exec(task);
    if (found) families.set(found[1], [...(families.get(found[1]) ?? []), [task, Number(found[2])]]);
  }
  const nodes = [];
  for (const [stem, members] of families) {
    if (members.length < 3) continue;
    const label = stem.split("_").filter(Boolean).at(-1) ?? "number";
    const places = new Map(members);
    const rows = data.metrics.filter((row) => places.has(row.task) && row.condition === null && !row.group).map((row) => ({ ...row, x: places.get(row.task) }));
    const metrics = [...new Set(rows.map((row) => row.metric))].filter((metric) => new Set(rows.filter((row) => row.metric === metric).map((row) => row.x)).size > 2);
    const curves = metrics.map((metric) => curve(metric, label, rows.filter((row) => row.metric === metric)));
    nodes.push(make("div", "task", make("h2", "", `${stem.replace(/_*[a-z]*$/i, "") || stem} by ${label}`), curveLegend(rows), make("div", "curves", curves)));
  }
  return nodes;
}
