// Draws the report: tables and figures from the data in the page. `runs` are as history.h describes them.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const runs = data.runs;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const narrow = window.matchMedia("(max-width: 46rem)");

  // Colours that people with any colour vision tell apart (Okabe and Ito), lighter ones in the dark; each run also has
  // a shape of its own, and beyond the eighth a broken line.
  const kRunColours = {
    light: ["#0072b2", "#d55e00", "#009e73", "#b0508c", "#8a6d00", "#3f9bd8", "#5b4fc4", "#5c656f"],
    dark: ["#56b4e9", "#f0833a", "#35c69b", "#e49cc8", "#e9cd55", "#a5d8f7", "#a89df5", "#b7c0ca"],
  };
  const kShapes = ["circle", "triangle", "rect", "rectRot", "cross", "crossRot"];
  const kDashes = [[], [7, 4], [2, 3]];
  // Paul Tol's light scheme, for parts of a whole.
  const kPartColours = ["#77aadd", "#ee8866", "#eedd88", "#44bb99", "#ffaabb", "#99ddff", "#bbcc33", "#aaaa00", "#8f97a1", "#cfd4da"];

  const kPhases = [
    ["loading", "Loading"], ["setup", "Setup"], ["data", "Data"], ["hashing", "Hashing"], ["forward", "Forward"], ["backward", "Backward"],
    ["update", "Update"], ["rehash", "Rehash"], ["other", "Other"], ["evaluation", "Evaluation"],
  ];
  const kParts = [
    ["data", "Data"], ["weights", "Weights"], ["optimizer", "Optimizer state"], ["tables", "Hash tables"],
    ["neighbours", "Neighbours"], ["workspaces", "Workspaces"],
  ];
  const kGroups = ["head", "middle", "tail"];

  const state = {hidden: new Set(), measure: null, modes: {}};

  // --- Numbers and names

  const is = Number.isFinite;
  const grouped = (value, digits = 0) =>
    value.toLocaleString("en", {minimumFractionDigits: digits, maximumFractionDigits: digits});
  const dash = "\u2013";
  const measureText = (value) => (is(value) ? value.toFixed(4) : dash);
  const short = (value) => grouped(value, Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0);
  const shortOrDash = (value) => (is(value) ? short(value) : dash);
  const measureName = (key) => {
    const [, kind, k] = /^(.*)_at_(\d+)$/.exec(key);
    return `${{p: "P", ndcg: "nDCG", psp: "PSP"}[kind] || kind}@${k}`;
  };
  const rankOf = (key) => Number(/\d+$/.exec(key)[0]);
  const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}\u2026` : text);

  // The unit in which values up to `most` are read most easily.
  const timeUnit = (most) =>
    most > 3 * 3600 ? {name: "hours", by: 3600} : most > 300 ? {name: "minutes", by: 60} : {name: "seconds", by: 1};
  const memoryUnit = (most) => (most > 4096 ? {name: "GB", by: 1024} : {name: "MB", by: 1});

  // --- Elements; text goes in as text, never as HTML

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null));
    return element;
  };
  const row = (...cells) => make("tr", {}, ...cells);
  const tableOf = (caption, head, rows) => {
    const table = make("table", {"aria-label": caption});
    table.append(make("thead", {}, row(...head.map((text) => make("th", {scope: "col"}, text)))));
    table.append(make("tbody", {}, ...rows.map(([first, ...rest]) =>
      row(make("th", {scope: "row"}, first), ...rest.map((text) => make("td", {}, text))))));
    return table;
  };

  // --- Runs

  const colours = () => kRunColours[dark.matches ? "dark" : "light"];
  const colourOf = (run) => colours()[runs.indexOf(run) % colours().length];
  const roundOf = (run) => Math.floor(runs.indexOf(run) / colours().length);
  const shapeOf = (run) => kShapes[(runs.indexOf(run) + roundOf(run)) % kShapes.length];
  const dashOf = (run) => kDashes[roundOf(run) % kDashes.length];
  const shown = () => runs.filter((run) => !state.hidden.has(run));

  const kPaths = {
    circle: "M13 3.5a4.5 4.5 0 1 0 .01 0z",
    triangle: "M13 3l5 9H8z",
    rect: "M9 4h8v8H9z",
    rectRot: "M13 2.5L18.5 8 13 13.5 7.5 8z",
    cross: "M12 3h2v4h4v2h-4v4h-2V9H8V7h4z",
    crossRot: "M9.5 3L13 6.5 16.5 3 18 4.5 14.5 8 18 11.500 16.500 13 13 9.500 9.500 13 8 11.500 11.500 8 8 4.500z",
  };
  const swatch = (run) => {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    for (const [name, value] of [["width", 26], ["height", 16], ["viewBox", "0 0 26 16"], ["aria-hidden", true]])
      svg.setAttribute(name, value);
    const line = document.createElementNS(space, "path");
    line.setAttribute("d", "M0 8h26");
    line.setAttribute("stroke", colourOf(run));
    line.setAttribute("stroke-width", 2);
    line.setAttribute("stroke-dasharray", dashOf(run).join(" "));
    const mark = document.createElementNS(space, "path");
    mark.setAttribute("d", kPaths[shapeOf(run)]);
    mark.setAttribute("fill", colourOf(run));
    svg.append(line, mark);
    return svg;
  };

  const measures = (() => {
    const keys = new Set();
    for (const run of runs) {
      for (const event of [...run.evals, ...run.validations]) {
        for (const key of Object.keys(event)) if (/_at_\d+$/.test(key)) keys.add(key);
      }
    }
    const order = ["p", "ndcg", "psp", "recall"];
    const rank = (key) => order.indexOf(key.split("_at_")[0]) * 1e6 + rankOf(key);
    return [...keys].sort((a, b) => rank(a) - rank(b));
  })();
  state.measure = measures[0] || null;

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
    const best = columns.map((column) => {
      const values = runs.filter((run) => run.state !== "running" && run.state !== "interrupted")
        .map(column.value).filter(is);
      return new Set(values).size > 1 ? column.better(...values) : null;
    });
    table.replaceChildren(
      make("thead", {}, row(...["Run", ...columns.map((column) => column.title)]
        .map((title) => make("th", {scope: "col"}, title)))),
      make("tbody", {}, ...runs.map((run) => row(nameCell(run), ...columns.map((column, i) => {
        const value = column.value(run);
        return make("td", is(value) && value === best[i] ? {class: "best"} : {}, column.text(value));
      })))));
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
      (runs.length > 1 ? " The best value of the finished runs is bold." : "");
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

  // --- Figures: each says what it shows of the runs that are shown
  //
  // view() returns null when no run has it, else {type, runs, labels, datasets, x, y, tip, tipTitle,
  // table: [head, rows]} and, for bars, {across, legend, height}.

  const events = (run) => [
    ["", run.evals], [run.evals.length > 0 ? " (validation)" : "", run.validations],
  ].filter(([, list]) => list.length > 0);

  // Lines of points {x, y, epoch}.
  const lineView = (series, x, y) => {
    const lines = series.map((line) => ({...line, points: line.points.filter((p) => is(p.x) && is(p.y))}))
      .filter((line) => line.points.length > 0);
    if (lines.length === 0) return null;
    const points = lines.flatMap((line) => line.points);
    const height = Math.max(...points.map((p) => Math.abs(p.y)));
    const coincide = (a, b) => a.points.every((p, i) =>
      i >= b.points.length || Math.abs(p.y - b.points[i].y) < 0.004 * height);
    // Drawn below the lines before them, wider, so that both are seen.
    const below = lines.map((line, i) => lines.slice(0, i).filter((other) => coincide(line, other)).length);
    const unit = x.unit ? x.unit(Math.max(...points.map((p) => p.x))) : {name: x.name, by: 1};
    const ys = points.map((p) => p.y).filter((value) => value > 0);
    const wide = y.log && ys.length > 0 && Math.max(...ys) > 20 * Math.min(...ys);
    return {
      type: "line",
      runs: lines.map((line) => line.run),
      datasets: lines.map((line, i) => ({
        label: line.run.name + line.suffix,
        data: line.points.map((p) => ({x: p.x / unit.by, y: p.y, epoch: p.epoch})),
        borderColor: colourOf(line.run),
        backgroundColor: colourOf(line.run),
        pointStyle: shapeOf(line.run),
        borderDash: line.suffix ? [3, 3] : dashOf(line.run),
        borderWidth: 2 + 3 * below[i],
        pointRadius: line.points.length > 40 ? 0 : 3.5 + 2 * below[i],
        pointHoverRadius: 6 + 2 * below[i],
        pointBorderWidth: shapeOf(line.run).startsWith("cross") ? 2 : 1,
      })),
      x: {type: "linear", title: x.title ? `${x.title} (${unit.name})` : unit.name, min: 0},
      y: {type: wide ? "logarithmic" : "linear", title: y.title, min: wide ? undefined : y.min},
      tip: (item) => `${item.dataset.label}: ${y.text(item.raw.y)}`,
      tipTitle: (items) => (items.length === 0 ? "" :
        `epoch ${items[0].raw.epoch}, ${short(items[0].raw.x)} ${unit.name}`),
      table: [["Run", "Epoch", x.title ? `${x.title} (${unit.name})` : unit.name, y.title],
        lines.flatMap((line) => line.points.map((p) =>
          [line.run.name + line.suffix, `${p.epoch}`, short(p.x / unit.by), y.text(p.y)]))],
    };
  };

  const kSeconds = {title: "Training time", unit: timeUnit};
  const kSamples = {name: "Training samples seen, all epochs"};

  const accuracyView = (x, key) => {
    if (state.measure === null) return null;
    const series = shown().flatMap((run) => events(run).map(([suffix, list]) => ({
      run, suffix, points: list.map((event) => ({x: event[key], y: event[state.measure], epoch: event.epoch})),
    })));
    return lineView(series, x,
      {title: measureName(state.measure), text: measureText});
  };

  const epochView = (value, y) => lineView(shown().map((run) => ({
    run, suffix: "", points: run.epochs.map((event) => ({x: event.samples, y: value(event), epoch: event.epoch})),
  })), kSamples, y);

  const percent = (value) => `${Number(value.toPrecision(3))} %`;

  // Bars across, `rems` high for a run, of parts {name, colour, stack, value: of a run}.
  const stackView = (list, parts, title, text, rems) => ({
    type: "bar",
    runs: list,
    across: true,
    labels: list.map((run) => run.name),
    datasets: parts.map((part) => ({
      label: part.name,
      stack: part.stack,
      data: list.map(part.value),
      backgroundColor: part.colour,
      borderColor: getComputedStyle(document.documentElement).getPropertyValue("--card"),
      borderWidth: {left: 0, right: 1, top: 0, bottom: 0},
      borderSkipped: false,
      maxBarThickness: 30,
    })),
    legend: true,
    x: {type: "linear", title, min: 0},
    y: {type: "category"},
    tip: (item) => `${item.dataset.label}: ${text(item.raw)}`,
    tipTitle: (items) => (items.length === 0 ? "" : items[0].label),
    table: [["Run", ...parts.map((part) => part.name)],
      list.map((run) => [run.name, ...parts.map((part) => text(part.value(run)))])],
    height: 7.5 + list.length * rems,
  });

  const phaseView = (mode) => {
    const list = shown().filter((run) => run.summary.seconds);
    if (list.length === 0) return null;
    const seconds = (run, key) => (key === "loading" ? run.start && run.start.load_seconds : run.summary.seconds[key]) || 0;
    const sum = (run) => kPhases.reduce((total, [key]) => total + seconds(run, key), 0);
    const share = mode === "Share";
    const unit = timeUnit(Math.max(...list.map(sum)));
    const by = (run) => (share ? sum(run) / 100 || 1 : unit.by);
    return stackView(list, kPhases.map(([key, name], i) => ({
      name, stack: "phases", colour: kPartColours[i], value: (run) => seconds(run, key) / by(run),
    })), share ? "Share of the time (%)" : `Time (${unit.name})`,
    (value) => (share ? percent(value) : `${short(value)} ${unit.name}`), 2.6);
  };

  const memoryView = () => {
    const list = shown().filter((run) => is(run.summary.peak_rss_mb) || (run.start && run.start.planned_mb));
    if (list.length === 0) return null;
    const planned = (run, key) => (run.start && run.start.planned_mb && run.start.planned_mb[key]) || 0;
    const total = (run) => kParts.reduce((sum, [key]) => sum + planned(run, key), 0);
    const unit = memoryUnit(Math.max(...list.map((run) => Math.max(total(run), run.summary.peak_rss_mb || 0))));
    const parts = kParts.map(([key, name], i) => ({
      name, stack: "planned", colour: kPartColours[i], value: (run) => planned(run, key) / unit.by,
    }));
    parts.push({name: "Measured peak", stack: "measured", colour: dark.matches ? "#8b96a3" : "#6b7580",
      value: (run) => (run.summary.peak_rss_mb || 0) / unit.by});
    return stackView(list, parts, `Memory (${unit.name})`, (value) => `${short(value)} ${unit.name}`, 3.6);
  };

  // Bars side by side: [{name, run, faded, values}] over categories.
  const barView = (series, labels, x, y, table) => ({
    type: "bar",
    runs: series.map((line) => line.run),
    labels,
    datasets: series.map((line) => ({
      label: line.name,
      data: line.values,
      backgroundColor: colourOf(line.run) + (line.faded ? "88" : ""),
      borderColor: colourOf(line.run),
      borderWidth: 1,
      maxBarThickness: 44,
    })),
    x: {type: "category", title: x},
    y: {type: "linear", title: y.title, min: 0},
    tip: (item) => [`${item.dataset.label}: ${y.text(item.raw)}`]
      .concat(y.more ? y.more(series[item.datasetIndex], item.dataIndex) : []),
    tipTitle: (items) => (items.length === 0 ? "" : y.head(items[0].dataIndex)),
    table,
  });

  const bucketView = () => {
    const series = shown().flatMap((run) => {
      const last = new Map(run.tables.map((event) => [event.layer, event]));
      return [...last.values()].map((event, i) => {
        const reached = event.histogram.reduce((sum, count) => sum + count, 0) || 1;
        return {run, event, faded: i > 0, name: run.name + (last.size > 1 ? `, layer ${event.layer}` : ""),
          values: event.histogram.map((count) => (100 * count) / reached),
          full: (100 * (event.full_buckets || 0)) / reached};
      });
    });
    if (series.length === 0) return null;
    const most = Math.max(...series.map((line) => line.values.findLastIndex((value) => value > 0)));
    const labels = ["0", "1"];
    for (let bin = 2; bin <= most; ++bin) labels.push(`${grouped(2 ** (bin - 1))}\u2013${grouped(2 ** bin - 1)}`);
    for (const line of series) line.values = line.values.slice(0, labels.length);
    const full = (line) => `${percent(line.full)} of the buckets are full`;
    return barView(series, labels, "Neurons in a bucket",
      {title: "Share of the buckets (%)", text: percent, head: (i) => `${labels[i]} neurons`, more: full},
      [["Run", ...labels, "full", "largest"], series.map((line) =>
        [line.name, ...line.values.map(percent), percent(line.full),
          is(line.event.largest_bucket) ? grouped(line.event.largest_bucket) : dash])]);
  };

  const groupView = (mode) => {
    if (state.measure === null) return null;
    const recall = mode === "Recall";
    const key = `${recall ? "recall" : "p"}_at_${rankOf(state.measure)}`;
    const series = shown().flatMap((run) => {
      const last = (run.evals.length > 0 ? run.evals : run.validations).at(-1);
      const values = kGroups.map((group) => last && last.groups && last.groups[group] && last.groups[group][key]);
      return values.every(is) ? [{run, name: run.name, values}] : [];
    });
    if (series.length === 0) return null;
    const about = (run, group) => {
      const part = run.start && run.start.label_groups && run.start.label_groups[group];
      if (!part) return [];
      const range = part.least === part.most ? grouped(part.most) : `${grouped(part.least)}\u2013${grouped(part.most)}`;
      return [`${grouped(part.labels)} labels`, `${range} samples`];
    };
    // Under the axis when all runs have the same groups, else where a bar is pointed at.
    const alike = kGroups.every((group) => new Set(series.map((line) => about(line.run, group).join())).size === 1);
    const labels = kGroups.map((group) => (alike ? [group, ...about(series[0].run, group)] : group));
    const title = recall ? `Recall@${rankOf(key)}` : `Part of P@${rankOf(key)}`;
    return barView(series, labels, "Labels by their number of training samples",
      {title, text: measureText, head: (i) => kGroups[i], more: (line, i) => about(line.run, kGroups[i]).join(", ")},
      [["Run", ...kGroups.map((group) => `${group}: ${title}`)],
        series.map((line) => [line.name, ...line.values.map(measureText)])]);
  };

  const figures = [
    {title: () => `${state.measure ? measureName(state.measure) : "Accuracy"} over training time`,
     hint: "Up and to the left is better: the run that reaches a height first learns it in the least time.",
     none: "No run was evaluated: set data.test or data.validation.",
     view: () => accuracyView(kSeconds, "train_seconds"), measured: true, curve: true},
    {title: () => `${state.measure ? measureName(state.measure) : "Accuracy"} over samples`,
     hint: "The same against samples seen: what a run learns from each sample, whatever its speed.",
     none: "No run was evaluated: set data.test or data.validation.",
     view: () => accuracyView(kSamples, "samples"), measured: true, curve: true},
    {title: () => "Training loss",
     hint: "Mean of each epoch, lower is better; it is over the active neurons, so compare runs of one loss and one " +
           "number of active neurons only.",
     none: "No epoch has ended yet.",
     view: () => epochView((event) => event.loss, {title: "Loss", text: (value) => value.toPrecision(4)})},
    {title: () => "Active neurons",
     hint: "Share of the output layer that a sample computes and updates; a step costs in proportion to it.",
     none: "No epoch has ended yet.",
     view: () => epochView((event) => 100 * event.active_fraction,
       {title: "Active neurons (%)", log: true, min: 0, text: percent})},
    {title: () => "Time by phase", modes: ["Time", "Share"],
     hint: "Wall time of the whole run; the widest part is what a faster run has to save on. Press a name to hide it.",
     none: "No run tells its phases yet.", view: phaseView},
    {title: () => "Occupancy of the hash tables",
     hint: "Share of the buckets that hold so many neurons at the last evaluation; buckets that are empty or " +
           "all full tell neurons apart badly.",
     none: "No run has told of hash tables: a dense output layer and lsh = 0 have none.", view: bucketView},
    {title: () => "Accuracy by label frequency", modes: ["Recall", "Part of P@k"],
     hint: "Frequent, middling and rare labels, each with about a third of the labels in training: recall is the share " +
           "of a group's labels that is found, its parts of P@k add up to P@k.",
     none: "No run was evaluated: set data.test or data.validation.", view: groupView, measured: true},
    {title: () => "Memory",
     hint: "What the data, the model and training need as planned, and the most that the process has held.",
     none: "No epoch has ended yet.", view: memoryView},
  ];

  // --- Drawing

  const axisOf = (axis, theme, isCategory) => ({
    type: axis.type,
    min: axis.min,
    grid: {color: theme.grid, borderColor: theme.line, drawOnChartArea: !isCategory},
    title: {display: Boolean(axis.title), text: axis.title || "", color: theme.quiet, font: {size: 12}},
    ticks: {
      color: theme.quiet,
      font: {size: 11},
      maxRotation: isCategory ? 50 : 0,
      autoSkipPadding: 12,
      autoSkip: axis.type !== "category",
    },
  });

  const optionsOf = (view) => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const theme = {text: colour("--text"), quiet: colour("--quiet"), grid: colour("--grid"), line: colour("--line")};
    const x = axisOf(view.x, theme, view.x.type === "category");
    const y = axisOf(view.y, theme, view.y.type === "category");
    if (view.across) {
      x.stacked = true;
      y.stacked = true;
      y.ticks.callback = function name(value) {
        return cut(this.getLabelForValue(value), narrow.matches ? 13 : 22);
      };
    }
    if (view.x.type === "linear") {
      x.ticks.callback = (value) => (value >= 1000
        ? value.toLocaleString("en", {notation: "compact", maximumFractionDigits: 1}) : `${Number(value.toFixed(4))}`);
      x.ticks.maxTicksLimit = narrow.matches ? 6 : 9;
    }
    return {
      animation: false,
      locale: "en",
      responsive: true,
      maintainAspectRatio: false,
      indexAxis: view.across ? "y" : "x",
      interaction: {mode: "nearest", axis: view.type === "line" ? "xy" : view.across ? "y" : "x", intersect: false},
      layout: {padding: {right: 8}},
      scales: {x, y},
      plugins: {
        legend: {
          display: Boolean(view.legend),
          position: "bottom",
          labels: {color: theme.text, boxWidth: 12, boxHeight: 12, padding: 10, font: {size: 12}},
        },
        tooltip: {
          backgroundColor: colour("--card"),
          titleColor: theme.text,
          bodyColor: theme.text,
          borderColor: theme.quiet,
          borderWidth: 1,
          padding: 10,
          usePointStyle: view.type === "line",
          callbacks: {label: view.tip, title: view.tipTitle},
        },
      },
    };
  };

  const modeSwitch = (figure) => {
    if (!figure.modes) return null;
    const group = make("div", {class: "switch", role: "group", "aria-label": "What the figure shows"});
    for (const mode of figure.modes) {
      const button = make("button", {type: "button"}, mode);
      button.addEventListener("click", () => {
        figure.mode = mode;
        draw(figure);
      });
      group.append(button);
    }
    return group;
  };

  const build = (figure, number) => {
    figure.mode = figure.modes && figure.modes[0];
    figure.heading = make("h2", {id: `figure-${number}`});
    figure.switch = modeSwitch(figure);
    figure.plot = make("div");
    figure.hintLine = make("p", {class: "hint"});
    figure.values = make("div", {class: "scroll", tabindex: "0", role: "region"});
    figure.missing = make("p", {class: "hint"});
    figure.details = make("details", {}, make("summary", {}, "Values as a table"), figure.values);
    document.getElementById("figures").append(make("article", {class: "figure", "aria-labelledby": `figure-${number}`},
      make("div", {class: "head"}, figure.heading, figure.switch), figure.hintLine,
      figure.plot, figure.missing, figure.details));
  };

  const draw = (figure) => {
    if (figure.chart) figure.chart.destroy();
    figure.chart = null;
    const title = figure.title();
    figure.heading.textContent = title;
    const dotted = figure.curve && shown().some((run) => run.evals.length > 0 && run.validations.length > 0);
    figure.hintLine.textContent = figure.hint + (dotted ? " Dotted: on validation samples." : "");
    for (const button of figure.switch ? figure.switch.children : [])
      button.setAttribute("aria-pressed", String(button.textContent === figure.mode));
    const view = figure.view(figure.mode);
    figure.details.hidden = view === null;
    const missing = view === null ? [] : shown().filter((run) => !view.runs.includes(run));
    figure.missing.hidden = missing.length === 0;
    figure.missing.textContent = `Without data for this figure: ${missing.map((run) => run.name).join(", ")}.`;
    if (figure.switch) figure.switch.hidden = view === null;
    if (view === null) {
      figure.plot.className = "empty";
      figure.plot.removeAttribute("style");
      figure.plot.textContent = shown().length === 0 ? "All runs are hidden." : figure.none;
      return;
    }
    figure.plot.className = "plot";
    if (view.height) figure.plot.style.height = `max(${narrow.matches ? 17 : 19}rem, ${view.height}rem)`;
    const canvas = make("canvas", {role: "img", "aria-label": `${title}. ${figure.hint} The values are in the table below.`});
    figure.plot.replaceChildren(canvas);
    figure.values.setAttribute("aria-label", title);
    figure.values.replaceChildren(tableOf(title, view.table[0], view.table[1]));
    figure.chart = new Chart(canvas, {
      type: view.type,
      data: {labels: view.labels, datasets: view.datasets},
      options: optionsOf(view),
    });
  };

  const drawLegend = () => {
    const legend = document.getElementById("legend");
    if (runs.length < 2) {
      legend.hidden = true;
      return;
    }
    legend.replaceChildren(...runs.map((run) => {
      const button = make("button", {type: "button", "aria-pressed": String(!state.hidden.has(run))},
        swatch(run), make("span", {}, run.name));
      button.addEventListener("click", () => {
        if (!state.hidden.delete(run)) state.hidden.add(run);
        button.setAttribute("aria-pressed", String(!state.hidden.has(run)));
        figures.forEach(draw);
      });
      return button;
    }));
  };

  const drawMeasures = () => {
    if (measures.length === 0) {
      document.getElementById("measure-label").hidden = true;
      document.getElementById("bar").hidden = runs.length < 2;
      return;
    }
    const select = document.getElementById("measure");
    select.replaceChildren(...measures.map((key) => make("option", {value: key}, measureName(key))));
    select.addEventListener("change", () => {
      state.measure = select.value;
      figures.filter((figure) => figure.measured).forEach(draw);
    });
  };

  const drawAll = () => {
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    drawResults();
    drawLegend();
    figures.forEach(draw);
  };

  drawIntroduction();
  drawMeasures();
  figures.forEach(build);
  drawAll();
  dark.addEventListener("change", drawAll);
  narrow.addEventListener("change", () => figures.forEach(draw));
  window.addEventListener("beforeprint", () => figures.forEach((figure) => figure.chart && figure.chart.resize()));
  // Whoever loads the page by program finds here that it is drawn.
  document.documentElement.dataset.ready = String(figures.filter((figure) => figure.chart).length);
})();
