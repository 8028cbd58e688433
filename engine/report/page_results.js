// The table of results, the line above it and the settings that differ.

// --- Results

const columns = [
  ...measures.filter((key) => /^(p|psp)_at_/.test(key)).map((key) => ({
    title: measureName(key), value: (run) => run.summary.measures && run.summary.measures[key],
    text: measureText, better: Math.max,
  })),
  {title: "Training (s)", value: (run) => run.summary.train_seconds, text: shortOrDash, better: Math.min},
  {title: "Samples/s", value: (run) => run.summary.samples_per_second,
   text: (value) => (is(value) ? grouped(value) : dash), better: Math.max},
  {title: "Peak memory (MB)", value: (run) => run.summary.peak_rss_mb,
   text: (value) => (is(value) ? grouped(value) : dash), better: Math.min},
  ...(runs.some((run) => run.summary.ranks > 1) ? [  // of the process that wrote the log
    {title: "Processes", value: (run) => run.summary.ranks || 1, text: grouped},
    {title: "Sent (MB)", value: (run) => run.summary.bytes_sent,
     text: (value) => (is(value) ? grouped(Math.round(value / 1e6)) : dash), better: Math.min},
    {title: "Waited (s)", value: (run) => run.summary.seconds_waited, text: shortOrDash, better: Math.min},
  ] : []),
];

// The end of a path is what tells data sets apart.
const settingText = (value) => {
  if (value === null || value === undefined) return dash;
  const path = /^"(.*\/[^/]+\/[^/]+)"$/.exec(value);
  return path ? path[1].split("/").slice(-2).join("/") : value;
};

const kMostChanges = 6;
const changesOf = (run) => {
  const at = runs.indexOf(run);
  const differing = data.differences.filter((difference) => difference.values[at] !== null);
  if (differing.length === 0) return null;
  const line = make("div", {class: "changes"});
  differing.slice(0, kMostChanges).forEach((difference, i) => {
    line.append(i > 0 ? " \u00b7 " : "", `${difference.key} `, make("code", {}, settingText(difference.values[at])));
  });
  if (differing.length > kMostChanges) line.append(` \u00b7 and ${differing.length - kMostChanges} more`);
  return line;
};

const nameCell = (run) => {
  const name = make("span", {title: run.path});
  run.name.split(/(?<=[/_-])/).forEach((part) => name.append(part, make("wbr")));
  const line = make("div", {class: "name"}, swatch(run), name);
  if (run.state === "running" || run.state === "interrupted")
    line.append(make("span", {class: "badge"}, run.state));
  if (run.summary.measured === "validation") line.append(make("span", {class: "badge"}, "on validation samples"));
  return make("th", {scope: "row"}, line, changesOf(run));
};

const drawResults = () => {
  const table = document.getElementById("runs");
  const groups = data.groups.map((title, group) => ({title, members: runs.filter((run) => run.group === group)}));
  const rowsOf = ({title, members}) => {
    const best = columns.map((column) => {
      const values = members.filter((run) => run.state !== "running" && run.state !== "interrupted")
        .map(column.value).filter(is);
      return column.better && new Set(values).size > 1 ? column.better(...values) : null;
    });
    const rows = members.map((run) => row(nameCell(run), ...columns.map((column, i) => {
      const value = column.value(run);
      return make("td", is(value) && value === best[i] ? {class: "best"} : {}, column.text(value));
    })));
    if (groups.length < 2) return rows;
    return [row(make("th", {scope: "colgroup", colspan: columns.length + 1, class: "group"}, title)), ...rows];
  };
  table.replaceChildren(
    make("thead", {}, row(...["Run", ...columns.map((column) => column.title)]
      .map((title) => make("th", {scope: "col"}, title)))),
    make("tbody", {}, ...groups.flatMap(rowsOf)));
};

const drawIntroduction = () => {
  const parts = [`${runs.length} ${runs.length === 1 ? "run" : "runs"}`];
  for (const [key, name] of [["samples", "training samples"], ["test_samples", "test samples"],
                             ["features", "features"], ["labels", "labels"]]) {
    const values = new Set(runs.map((run) => run.start && run.start[key]));
    const [value] = values;
    if (values.size === 1 && value > 0) parts.push(`${grouped(value)} ${name}`);
  }
  parts.push(`slide ${data.version}`);
  document.getElementById("about").textContent = parts.join(" \u00b7 ");
  if (runs.length === 1) document.querySelector("h1").textContent = `Training run ${runs[0].name}`;
  document.title = `${cut(runs.map((run) => run.name).join(", "), 80)} \u2013 slide report`;
  document.getElementById("runs-hint").textContent =
    "Measures after the last evaluation. Training is wall time without loading and evaluation; " +
    "samples a second are the median over epochs." +
    (runs.length > 1 ? ` The best value of the finished runs${data.groups.length > 1 ? " of a group" : ""} is bold.` : "") +
    (data.groups.length > 1 ? " The groups differ in their data or in what was measured: compare measures within a group only." : "");
  document.getElementById("notes").replaceChildren(...runs.flatMap((run) =>
    run.notes.map((note) => make("li", {}, make("b", {}, run.name), `: ${note}`))));
  if (runs.length < 2) return;
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
