// What each figure shows of the lines of a section that are shown, without drawing it.

// Points {x, y, epoch} of some runs: at each epoch the mean, with the lowest and the highest.
const pointsOf = (members, events, x, y) => {
  const epochs = new Map();
  for (const run of members) {
    for (const event of events(run)) {
      if (!is(x(event)) || !is(y(event))) continue;
      if (!epochs.has(event.epoch)) epochs.set(event.epoch, []);
      epochs.get(event.epoch).push({x: x(event), y: y(event)});
    }
  }
  return [...epochs].sort((a, b) => a[0] - b[0]).map(([epoch, points]) => {
    const ys = points.map((p) => p.y);
    return {epoch, x: mean(points.map((p) => p.x)), y: mean(ys), low: Math.min(...ys), high: Math.max(...ys)};
  });
};

// {constant} where a figure would show nothing that a sentence does not say: every line is level.
const levelOf = (series, y) => {
  const level = series.every(({points}) => points.every((p) => p.low === points[0].y && p.high === points[0].y));
  const told = [...new Set(series.map(({points}) => y.text(points[0].y)))];
  if (!level || (y.time && series.length > 1 && told.length > 1)) return null;
  return {constant: `${y.title}: ${told.length === 1 ? told[0]
    : series.map(({line, points}) => `${line.name} ${y.text(points[0].y)}`).join(", ")}`};
};

const lineDataset = (section, {line, points}, unit, below) => {
  const number = numberOf(section, line), shape = shapeAt(number);
  return {
    label: line.name,
    data: points.map((p) => ({...p, x: p.x / unit.by})),
    banded: points.some((p) => p.high > p.low),
    borderColor: colourAt(number),
    backgroundColor: colourAt(number),
    pointStyle: shape,
    borderDash: dashAt(number),
    borderWidth: 2 + 3 * below,
    pointRadius: points.length > 40 ? 0 : 3.5 + 2 * below,
    pointHoverRadius: 6 + 2 * below,
    pointBorderWidth: shape.startsWith("cross") ? 2 : 1,
  };
};

// Whether one line leaves little of an axis to the rest: its largest value is six times the median of all, or of two
// the other's.
const squeezes = (values) => {
  const order = [...values].sort((a, b) => a - b);
  return order.length > 1 && order[0] > 0 && order.at(-1) > 6 * order[Math.floor((order.length - 1) / 2)];
};

// Curves of lines: [{line, points}].
const lineView = (section, all, x, y) => {
  const series = all.filter(({points}) => points.length > 0);
  if (series.length === 0) return null;
  const level = levelOf(series, y);
  if (level) return level;
  const points = series.flatMap((each) => each.points);
  const unit = x.unit ? x.unit(Math.max(...points.map((p) => p.x))) : {name: x.name, by: 1};
  const ys = points.map((p) => p.y).filter((value) => value > 0);
  const most = (value) => series.map((each) => Math.max(...each.points.map(value)));
  const wide = ys.length === points.length && squeezes(most((p) => p.y)) ||
    y.log && ys.length > 0 && Math.max(...ys) > 20 * Math.min(...ys);
  const long = points.every((p) => p.x > 0) && squeezes(most((p) => p.x));
  const place = (p) => (wide && p.y > 0 ? Math.log10(p.y) : p.y);
  const places = points.map(place);
  const height = wide ? Math.max(...places) - Math.min(...places) : Math.max(...places.map(Math.abs));
  const coincide = (a, b) => a.points.every((p, i) =>
    i >= b.points.length || Math.abs(place(p) - place(b.points[i])) < 0.004 * height);
  // Drawn below the lines before them, wider, so that both are seen.
  const below = series.map((each, i) => Math.min(3, series.slice(0, i).filter((other) => coincide(each, other)).length));
  const range = (p) => (p.high > p.low ? `${y.text(p.y)} (${y.text(p.low)} to ${y.text(p.high)})` : y.text(p.y));
  const across = x.title ? `${x.title} (${unit.name})` : unit.name;
  return {
    type: "line",
    names: series.map(({line}) => line.name),
    datasets: series.map((each, i) => lineDataset(section, each, unit, below[i])),
    x: long ? {type: "logarithmic", title: across} : {type: "linear", title: across, min: 0},
    y: {type: wide ? "logarithmic" : "linear", title: y.title, min: wide ? undefined : y.min,
        low: Math.min(...points.map((p) => p.low)), high: Math.max(...points.map((p) => p.high))},
    tip: (item) => `${item.dataset.label}: ${range(item.raw)}`,
    tipTitle: (items) => (items.length === 0 ? "" :
      `epoch ${items[0].raw.epoch}, ${short(items[0].raw.x)} ${unit.name}`),
    table: [["Run", "Epoch", across, y.title],
      series.flatMap(({line, points: own}) => own.map((p) => [line.name, `${p.epoch}`, short(p.x / unit.by), range(p)]))],
  };
};

const kSeconds = {title: "Training time", unit: timeUnit};
const kSamples = {name: "Training samples seen, all epochs"};

const accuracyView = (section, x, key) => {
  if (section.measure === null || section.split === null) return null;
  return lineView(section, shown(section).map((line) => ({
    line,
    points: pointsOf(measuredOf(line, section.split), (run) => evaluationsOf(run, section.split),
      (event) => event[key], (event) => event[section.measure]),
  })), x, {title: measureName(section.measure), text: measureText, time: key === "train_seconds"});
};

const epochView = (section, value, y) => lineView(section, shown(section).map((line) => ({
  line, points: pointsOf(line.runs, (run) => run.epochs, (event) => event.samples, value),
})), kSamples, y);

const percent = (value) => (is(value) ? `${Number(value.toPrecision(3))} %` : dash);

// Bars across, `rems` high for a line, of parts {name, colour, stack, value: of a line}.
const stackView = (list, parts, title, text, rems) => ({
  type: "bar",
  names: list.map((line) => line.name),
  across: true,
  labels: list.map((line) => line.name),
  datasets: parts.map((part) => ({
    label: part.name,
    stack: part.stack,
    data: list.map(part.value),
    backgroundColor: part.colour,
    borderColor: styleOf("--card"),
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
    list.map((line) => [line.name, ...parts.map((part) => text(part.value(line)))])],
  height: (narrow.matches ? 11 : 7.5) + list.length * rems,
});

const phaseView = (section, mode) => {
  const told = (line) => line.runs.filter((run) => run.summary.seconds);
  const list = shown(section).filter((line) => told(line).length > 0);
  if (list.length === 0) return null;
  const seconds = (line, key) => mean(told(line).map((run) =>
    (key === "loading" ? run.start && run.start.load_seconds : run.summary.seconds[key]) || 0));
  const sum = (line) => kPhases.reduce((total, [key]) => total + seconds(line, key), 0);
  const share = mode === "Share";
  const unit = timeUnit(Math.max(...list.map(sum)));
  const by = (line) => (share ? sum(line) / 100 || 1 : unit.by);
  return stackView(list, kPhases.map(([key, name], i) => ({
    name, stack: "phases", colour: partAt(i), value: (line) => seconds(line, key) / by(line),
  })), share ? "Share of the time (%)" : `Time (${unit.name})`,
  (value) => (share ? percent(value) : `${short(value)} ${unit.name}`), 2.6);
};

const memoryView = (section) => {
  const planned = (line, key) => meanOf(line.runs, (run) => run.start && run.start.planned_mb && run.start.planned_mb[key]);
  const peak = (line) => meanOf(line.runs, (run) => run.summary.peak_rss_mb);
  const list = shown(section).filter((line) => is(peak(line)) || is(planned(line, "weights")));
  if (list.length === 0) return null;
  const total = (line) => kParts.reduce((sum, [key]) => sum + (planned(line, key) || 0), 0);
  const unit = memoryUnit(Math.max(...list.map((line) => Math.max(total(line), peak(line) || 0))));
  const parts = kParts.map(([key, name], i) => ({
    name, stack: "planned", colour: partAt(i), value: (line) => (planned(line, key) || 0) / unit.by,
  }));
  parts.push({name: "Measured peak", stack: "measured", colour: partAt(7),
    value: (line) => (peak(line) || 0) / unit.by});
  return stackView(list, parts, `Memory (${unit.name})`, (value) => `${short(value)} ${unit.name}`, 3.6);
};
