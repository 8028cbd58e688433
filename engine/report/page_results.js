// The table of results, the line above it and the settings that differ.

// --- Results

const machineOf = (run) => {
  const facts = run.environment || {};
  return [facts.processor, is(facts.threads) ? `${facts.threads} ${facts.threads === 1 ? "thread" : "threads"}` : "",
    facts.instruction_set].filter(Boolean).join(", ");
};
const several = (values) => {
  const known = [...new Set(values.filter(Boolean))];
  return known.length === 0 ? dash : known.join("; ");
};
const daysOf = (members) => several(members.map((run) => run.date.replace("T", " ").replace(/:\d\dZ$/, "")).sort()
  .filter((date, i, all) => i === 0 || i === all.length - 1));
const wholeOrDash = (value) => (is(value) ? grouped(value) : dash);
const activeOf = (run) => (run.epochs.length > 0 ? 100 * run.epochs.at(-1).active_fraction : undefined);

// The end of a path is what tells data sets apart.
const settingText = (value) => {
  if (value === null || value === undefined) return dash;
  const path = /^"(.*\/[^/]+\/[^/]+)"$/.exec(value);
  return path ? path[1].split("/").slice(-2).join("/") : value;
};

// Settings that vary are columns, the seed last; data and samples are said above the runs that had them.
const kToldElsewhere = ["data.train", "data.test", "data.validation"];
const kMaxSettings = 5;
const differing = data.differences.filter(({key}) => !kToldElsewhere.includes(key))
  .sort((a, b) => (a.key === "train.seed") - (b.key === "train.seed"));
const settingOf = (members, {key, values}) => {
  const texts = [...new Set(members.map((run) => settingText(values[runs.indexOf(run)])))];
  return texts.length === 1 ? texts[0] : key === "train.seed" ? `${texts.length} seeds` : texts.join(", ");
};

// What a column shows of a run; columns of measures ask for the samples they are on. `costs` depend on the machine. `last`:
// where the page has no room, columns with the highest number are left out first.
const columns = [
  ...measures.filter((key) => /^(p|psp)_at_/.test(key)).map((key) => ({
    title: measureName(key), measure: true, better: Math.max, text: measureText,
    value: (run, split) => (split !== null && split.runs.has(run) ? lastOf(run, split)[key] : undefined),
    last: key === measures[0] ? 0 : key.startsWith("psp") ? 4 : 2,
  })),
  {title: "Training (s)", last: 1, value: (run) => run.summary.train_seconds, text: shortOrDash, better: Math.min, costs: true},
  {title: "Samples/s", last: 5, value: (run) => run.summary.samples_per_second, text: wholeOrDash, better: Math.max, costs: true},
  {title: "Active (%)", last: 6, value: activeOf, text: (value) => (is(value) ? `${Number(value.toPrecision(3))}` : dash)},
  {title: "Model (MB)", last: 3, value: (run) => run.model_mb, text: shortOrDash, better: Math.min},
  {title: "Peak memory (MB)", last: 5, value: (run) => run.summary.peak_rss_mb, text: wholeOrDash, better: Math.min, costs: true},
  ...(runs.some((run) => run.summary.ranks > 1) ? [  // of the process that wrote the log
    {title: "Processes", last: 3, value: (run) => run.summary.ranks || 1, text: grouped},
    {title: "Sent (MB)", last: 6, value: (run) => run.summary.bytes_sent,
     text: (value) => (is(value) ? grouped(Math.round(value / 1e6)) : dash), better: Math.min},
    {title: "Waited (s)", last: 6, value: (run) => run.summary.seconds_waited, text: shortOrDash, better: Math.min, costs: true},
  ] : []),
];

const nameOf = (text, title) => {
  const name = make("span", title ? {title} : {});
  text.split(/(?<=[/_-])/).forEach((part) => name.append(part, make("wbr")));
  return name;
};
const isOver = (run) => run.state !== "running" && run.state !== "interrupted";
const badgesOf = (members) => [...new Set(members.filter((run) => !isOver(run)).map((run) => run.state))]
  .map((state) => make("span", {class: "badge"}, state));
// The columns that are drawn: settings, what is measured, facts.
const view = {settings: [], columns: [], facts: []};
const kFacts = [
  {title: "Machine", last: 8, text: (members) => several(members.map(machineOf))},
  {title: "Date (UTC)", last: 7, text: daysOf},
];
// All columns, or those without the `left` that matter least. Returns how many there are in all.
const chooseColumns = (left) => {
  const settings = differing.slice(0, kMaxSettings).map((setting, i) => ({title: setting.key, setting, last: i < 2 ? 1 : 3}));
  const machines = new Set(runs.map(machineOf));
  const facts = kFacts.filter(({title}) => title !== "Machine" || machines.size > 1);
  const all = [...settings, ...columns, ...facts];
  const out = new Set(all.map((column, i) => ({column, i})).sort((a, b) => b.column.last - a.column.last || b.i - a.i)
    .slice(0, left).map(({column}) => column));
  const kept = (list) => list.filter((column) => !out.has(column));
  Object.assign(view, {settings: kept(settings), columns: kept(columns), facts: kept(facts)});
  return all.length;
};

const nameCell = (section, line, members) => make("th", {scope: "row"},
  make("div", {class: "name"}, swatch(numberOf(section, line)),
    members.length === 1 ? nameOf(members[0].name, members[0].path) : nameOf(line.name), ...badgesOf(members)));
const settingCells = (members) => view.settings.map(({setting}) => {
  const text = settingOf(members, setting);
  return make("td", {class: "setting", title: `${setting.key} = ${text}`}, cut(text, 18));
});
const factCells = (members) => view.facts.map(({text}) => make("td", {class: "fact"}, text(members)));

// A line of the table, and below a line of several seeds its runs.
const rowsOfLine = (section, split, {line, members}, best) => {
  const cells = view.columns.map((column) => {
    const value = meanOf(members, (run) => column.value(run, split));
    const values = members.map((run) => column.value(run, split)).filter(is);
    const wide = column.measure && values.length > 1 ? ` \u00b1\u00a0${spread(values).toFixed(4)}` : "";
    return make("td", is(value) && value === best.get(column) ? {class: "best"} : {}, column.text(value) + wide);
  });
  const own = row(nameCell(section, line, members), ...settingCells(members), ...cells, ...factCells(members));
  if (members.length < 2) return [own];
  return [own, ...members.map((run) => {
    const name = make("div", {class: "name"}, nameOf(run.name, run.path), run.seed ? ` seed ${run.seed}` : "");
    const member = row(make("th", {scope: "row"}, name), ...settingCells([run]),
      ...view.columns.map((column) => make("td", {}, column.text(column.value(run, split)))), ...factCells([run]));
    member.className = "member";
    return member;
  })];
};

// The best of each column among finished lines; what depends on the machine only where all ran on one.
const bestOf = (list, split) => {
  const over = list.filter(({members}) => members.every(isOver));
  const machines = new Set(over.flatMap(({members}) => members.map(machineOf)));
  return new Map(columns.map((column) => {
    const values = over.map(({members}) => meanOf(members, (run) => column.value(run, split))).filter(is);
    return [column, column.better && new Set(values).size > 1 && (!column.costs || machines.size < 2)
      ? column.better(...values) : null];
  }));
};

const headRow = (text, kind) => row(make("th", {scope: "colgroup", colspan: 1 + view.settings.length + view.columns.length + view.facts.length, class: kind},
  make("span", {}, text)));

const rowsOfSplit = (section, split) => {
  const list = section.lines.map((line) => ({line, members: split === null
    ? line.runs.filter((run) => section.splits.every((each) => !each.runs.has(run))) : measuredOf(line, split)}))
    .filter(({members}) => members.length > 0);
  if (list.length === 0) return [];
  const best = bestOf(list, split);
  const rows = list.flatMap((each) => rowsOfLine(section, split, each, best));
  if (sections.length === 1 && section.splits.length < 2 && (split !== null || section.splits.length === 0)) return rows;
  return [headRow(split === null ? "not measured" : `measured on ${split.title}`, "split"), ...rows];
};

const headOf = ({title, setting}) => {
  const head = make("th", {scope: "col"});
  (setting ? title.split(/(?<=[._])/) : [title]).forEach((part) => head.append(part, make("wbr")));
  return head;
};

const fillResults = () => {
  const rows = sections.flatMap((section) => [
    ...(sections.length > 1 ? [headRow(section.title, "group")] : []),
    ...[...section.splits, null].flatMap((split) => rowsOfSplit(section, split))]);
  document.getElementById("runs").replaceChildren(
    make("thead", {}, row(make("th", {scope: "col"}, "Run"), ...view.settings.map(headOf), ...view.columns.map(headOf),
      ...view.facts.map(headOf))),
    make("tbody", {}, ...rows));
};

// Columns are left out until the table is no wider than its place, or has two; all are there where they are asked for.
let allColumns = false;
const drawResults = () => {
  const place = document.getElementById("runs").parentElement;
  const more = document.getElementById("more-columns");
  let left = 0;
  const all = chooseColumns(0);
  fillResults();
  while (!allColumns && place.scrollWidth > place.clientWidth && left < all - 2) {
    left += 1;
    chooseColumns(left);
    fillResults();
  }
  more.hidden = left === 0 && !allColumns;
  more.textContent = allColumns ? "Fewer columns" : `All columns (${left} more)`;
  const settings = differing.length - kMaxSettings;
  document.getElementById("more-settings").textContent = settings > 0
    ? `${grouped(settings)} more ${settings === 1 ? "setting differs" : "settings differ"}, see below.` : "";
};

// --- Introduction

const drawAbout = () => {
  const parts = [`${runs.length} ${runs.length === 1 ? "run" : "runs"}`];
  for (const [key, name] of [["samples", "training samples"], ["test_samples", "test samples"],
                             ["features", "features"], ["labels", "labels"]]) {
    const values = new Set(runs.map((run) => run.start && run.start[key]));
    const [value] = values;
    if (values.size === 1 && value > 0) parts.push(`${grouped(value)} ${name}`);
  }
  const machines = [...new Set(runs.map(machineOf).filter(Boolean))];
  parts.push(`slide ${data.version}`, ...(machines.length === 1 ? machines : []));
  document.getElementById("about").textContent = parts.join(" \u00b7 ");
  if (runs.length === 1) document.querySelector("h1").textContent = `Training run ${runs[0].name}`;
  document.title = `${cut(lines.map((line) => line.name).join(", "), 80)} \u2013 slide report`;
};

const hintText = () => {
  const apart = sections.length > 1 || sections[0].splits.length > 1;
  const machines = new Set(runs.map(machineOf)).size > 1;
  return "Measures after the last evaluation. Training is wall time without loading and evaluation; " +
    "samples a second are the median over epochs." +
    (lines.length > 1 ? ` The best value of the finished runs${apart ? " on the same samples" : ""} is bold` +
      (machines ? ", of time and memory only among runs on one machine." : ".") : "") +
    (lines.some((line) => line.runs.length > 1) ? " Runs that differ in their seed alone are one line: the mean, \u00b1 the " +
      "standard deviation; figures show the mean, and from the lowest to the highest as a band." : "") +
    (data.live ? ` The page shows runs that go on; it loads itself again every ${data.live} s.` : "") +
    (apart ? " Runs on other data, and measures on test and on validation samples, stand apart and are compared nowhere." : "");
};

const drawSettings = () => {
  const settings = document.getElementById("settings");
  const count = data.differences.length;
  if (count === 0) {
    settings.replaceWith(make("p", {class: "hint"}, "No setting differs."));
    return;
  }
  settings.append(
    make("summary", {}, `All settings that differ (${count})`),
    make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Settings that differ"},
      tableOf("Settings that differ", ["Setting", ...runs.map((run) => run.name)],
        data.differences.map((difference) => [difference.key, ...difference.values.map(settingText)]))));
};

const drawIntroduction = () => {
  drawAbout();
  document.getElementById("runs-hint").textContent = hintText();
  document.getElementById("notes").replaceChildren(...runs.flatMap((run) =>
    run.notes.map((note) => make("li", {}, make("b", {}, run.name), `: ${note}`))));
  if (runs.length > 1) drawSettings();
  document.getElementById("more-columns").addEventListener("click", () => {
    allColumns = !allColumns;
    drawResults();
  });
};
