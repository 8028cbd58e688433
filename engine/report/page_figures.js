// What each figure shows, without drawing it.

// --- Figures: each says what it shows of the runs that are shown
//
// view() returns null when no run has it, else {type, runs, labels, datasets, x, y, tip, tipTitle,
// table: [head, rows]} and, for bars, {across, legend, height}.

const events = (run) => [
  ["", run.evals], [runs.some((other) => other.evals.length > 0) ? " (validation)" : "", run.validations],
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
    const suffix = run.evals.length === 0 && runs.some((other) => other.evals.length > 0) ? " (validation)" : "";
    return values.every(is) ? [{run, name: run.name + suffix, values}] : [];
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
