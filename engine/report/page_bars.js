// Figures of bars side by side, and the list of all figures of a section.

// Bars side by side: [{name, line, faded, values}] over categories.
const barView = (section, series, labels, x, y, table) => ({
  type: "bar",
  names: series.map((each) => each.line.name),
  labels,
  datasets: series.map((each) => {
    const colour = colourAt(numberOf(section, each.line));
    return {
      label: each.name,
      data: each.values,
      backgroundColor: colour + (each.faded ? "88" : ""),
      borderColor: colour,
      borderWidth: 1,
      maxBarThickness: 44,
    };
  }),
  x: {type: "category", title: x},
  y: {type: "linear", title: y.title, min: 0},
  tip: (item) => [`${item.dataset.label}: ${y.text(item.raw)}`]
    .concat(y.more ? y.more(series[item.datasetIndex], item.dataIndex) : []),
  tipTitle: (items) => (items.length === 0 ? "" : y.head(items[0].dataIndex)),
  table,
});

// The last histogram of each layer of a line; of several runs, their sum.
const histogramsOf = (line) => {
  const layers = new Map();
  for (const run of line.runs) {
    for (const event of new Map(run.tables.map((each) => [each.layer, each])).values()) {
      const sum = layers.get(event.layer) || {layer: event.layer, histogram: [], full: 0, largest: 0};
      event.histogram.forEach((count, i) => { sum.histogram[i] = (sum.histogram[i] || 0) + count; });
      sum.full += event.full_buckets || 0;
      sum.largest = Math.max(sum.largest, event.largest_bucket || 0);
      layers.set(event.layer, sum);
    }
  }
  return [...layers.values()];
};

const bucketView = (section) => {
  const series = shown(section).flatMap((line) => histogramsOf(line).map((event, i, all) => {
    const reached = event.histogram.reduce((sum, count) => sum + count, 0) || 1;
    return {line, event, faded: i > 0, name: line.name + (all.length > 1 ? `, layer ${event.layer}` : ""),
      values: event.histogram.map((count) => (100 * count) / reached), full: (100 * event.full) / reached};
  }));
  if (series.length === 0) return null;
  const most = Math.max(...series.map((each) => each.values.findLastIndex((value) => value > 0)));
  const labels = ["0", "1"];
  for (let bin = 2; bin <= most; ++bin) labels.push(`${grouped(2 ** (bin - 1))}\u2013${grouped(2 ** bin - 1)}`);
  for (const each of series) each.values = each.values.slice(0, labels.length);
  const full = (each) => `${percent(each.full)} of the buckets are full`;
  return barView(section, series, labels, "Neurons in a bucket",
    {title: "Share of the buckets (%)", text: percent, head: (i) => `${labels[i]} neurons`, more: full},
    [["Run", ...labels, "full", "largest"], series.map((each) =>
      [each.name, ...each.values.map(percent), percent(each.full), grouped(each.event.largest)])]);
};

// What the tables of the output layer do, epoch by epoch.
const kTableCurves = {
  "Recall": {value: (event) => event.tables_recall_at_10, title: "Recall of the ten best", text: measureText},
  "Full buckets": {value: (event) => 100 * event.tables_in_full_buckets, title: "Neurons in full buckets (%)", text: percent},
  "Largest bucket": {value: (event) => 100 * event.tables_largest_bucket, title: "Neurons in the largest bucket (%)", text: percent},
  "Active from tables": {value: (event) => event.active_by_source && event.active_by_source.tables,
    title: "Active neurons from tables", text: (value) => value.toFixed(0)},
};
const tablesView = (section, mode) => {
  const curve = kTableCurves[mode];
  const told = (event) => (event.tables_largest_bucket === undefined ? undefined : curve.value(event));
  return epochView(section, told, {title: curve.title, min: 0, text: curve.text});
};

// What labels are in a group, where a run tells it.
const aboutGroup = (run, group) => {
  const part = run.start && run.start.label_groups && run.start.label_groups[group];
  if (!part) return [];
  const range = part.least === part.most ? grouped(part.most) : `${grouped(part.least)}\u2013${grouped(part.most)}`;
  return [`${grouped(part.labels)} labels`, `${range} samples`];
};

const groupView = (section, mode) => {
  if (section.measure === null || section.split === null) return null;
  const recall = mode === "Recall";
  const key = `${recall ? "recall" : "p"}_at_${rankOf(section.measure)}`;
  const series = shown(section).flatMap((line) => {
    const members = measuredOf(line, section.split);
    const values = kGroups.map((group) => meanOf(members, (run) => {
      const last = lastOf(run, section.split);
      return last.groups && last.groups[group] && last.groups[group][key];
    }));
    return members.length > 0 && values.every(is) ? [{line, run: members[0], name: line.name, values}] : [];
  });
  if (series.length === 0) return null;
  // Under the axis when all runs have the same groups, else where a bar is pointed at.
  const equal = kGroups.every((group) => new Set(series.map(({run}) => aboutGroup(run, group).join())).size === 1);
  const labels = kGroups.map((group) => (equal ? [group, ...aboutGroup(series[0].run, group)] : group));
  const title = recall ? `Recall@${rankOf(key)}` : `Part of P@${rankOf(key)}`;
  return barView(section, series, labels, "Labels by their number of training samples",
    {title, text: measureText, head: (i) => kGroups[i], more: ({run}, i) => aboutGroup(run, kGroups[i]).join(", ")},
    [["Run", ...kGroups.map((group) => `${group}: ${title}`)],
      series.map((each) => [each.name, ...each.values.map(measureText)])]);
};

const kUnmeasured = "No run was evaluated: set data.test or data.validation.";

// The figures of a section; `measured` ones are of the samples that section.split has, `optional` ones are left out where
// no run has hash tables, which they draw.
const figuresOf = (section) => [
  {title: () => `${section.measure ? measureName(section.measure) : "Accuracy"} over training time`,
   hint: "Up and to the left is better: the run that reaches a height first learns it in the least time.",
   none: kUnmeasured, view: () => accuracyView(section, kSeconds, "train_seconds"), measured: true},
  {title: () => `${section.measure ? measureName(section.measure) : "Accuracy"} over samples`,
   hint: "The same against samples seen: what a run learns from each sample, whatever its speed.",
   none: kUnmeasured, view: () => accuracyView(section, kSamples, "samples"), measured: true},
  {title: () => "Training loss",
   hint: "Mean of each epoch, lower is better; it is over the active neurons, so compare runs of one loss and one " +
         "number of active neurons only.",
   none: "No epoch has ended yet.",
   view: () => epochView(section, (event) => event.loss, {title: "Loss", text: (value) => value.toPrecision(4)})},
  {title: () => "Active neurons",
   hint: "Share of the output layer that a sample computes and updates; a step costs in proportion to it.",
   none: "No epoch has ended yet.",
   view: () => epochView(section, (event) => 100 * event.active_fraction,
     {title: "Active neurons (%)", log: true, min: 0, text: percent})},
  {title: () => "What the hash tables do", modes: ["Recall", "Full buckets", "Largest bucket", "Active from tables"],
   hint: "Recall: which share of the ten neurons that fire most for a sample its own query of the tables finds. Neurons in " +
         "full buckets, or in one large one, are told apart badly. The rest of the active neurons are labels and draws.",
   optional: true,
   view: (mode) => tablesView(section, mode)},
  {title: () => "Time by phase", modes: ["Time", "Share"],
   hint: "Wall time of the whole run; the widest part is what a faster run has to save on. Press a name to hide it.",
   none: "No run tells its phases yet.", view: (mode) => phaseView(section, mode)},
  {title: () => "Occupancy of the hash tables",
   hint: "Share of the buckets that hold so many neurons at the last evaluation; buckets that are empty or " +
         "all full tell neurons apart badly.",
   optional: true, view: () => bucketView(section)},
  {title: () => "Accuracy by label frequency", modes: ["Recall", "Part of P@k"],
   hint: "Frequent, middling and rare labels, each with about a third of the labels in training: recall is the share " +
         "of a group's labels that is found, its parts of P@k add up to P@k.",
   none: kUnmeasured, view: (mode) => groupView(section, mode), measured: true},
  {title: () => "Memory",
   hint: "Planned: what data, model and training need, made before the run. The peak is the most that the process has " +
         "held at any time, and the two differ. Above the plan come the program and its libraries, what reading the files " +
         "took before training, and memory that was given back but is kept for reuse. Below it the peak stays where less is " +
         "touched than was planned: the plan takes the most that a linear term, a block of samples and an evaluation can need.",
   none: "No epoch has ended yet.", view: () => memoryView(section)},
];
