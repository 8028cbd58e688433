// The page of a search, of which search.h describes the data: what was kept, figures, and all trials.

const scored = data.trials.filter((trial) => trial.state === "scored");
const best = data.trials.find((trial) => trial.number === data.best);
const first = data.trials[0];
const signed = (value) => `${value < 0 ? "\u2212" : "+"}${Math.abs(value).toFixed(4)}`;
const plain = (text) => text.replace(/^"(.*)"$/, "$1");
const scoreName = data.ks.length === 1 ? `P@${data.ks[0]}` : `mean of ${data.ks.map((k) => `P@${k}`).join(", ")}`;
const changesText = (trial) => (trial.changes.length === 0 ? "the configuration as it was" : trial.changes.join(" \u00b7 "));
const kStages = {start: "as it was", sweep: "one key", random: "at random", proposal: "suited such sets", votes: "other votes"};

const kChosen = {file: ", of a file", group: ", whole groups", time: ", the latest", order: ", the last of the file",
  "group and time": ", the latest groups", "group and order": ", the last groups of the file"};

// --- What was kept

// What the search gained where it took this key's value: trials that became the best by this key alone.
const gainOf = (key) => {
  const told = data.keys.find((each) => each.key === key);
  const taken = told ? told.alone.filter(({trial}) => data.trials.find(({number}) => number === trial).best) : [];
  return taken.length > 0 ? signed(taken.reduce((sum, {change}) => sum + change, 0)) : "with others";
};

const drawKept = () => {
  document.getElementById("about").textContent = [data.name, `${grouped(data.trials.length)} trials`,
    `${short(data.trials.at(-1).ended)} s`, `${grouped(data.samples)} samples to train on`,
    `${grouped(data.validation_samples)} to score on${kChosen[data.validation_by] || ""}${data.splits > 1 ? `, in ${data.splits} splits` : ""}`,
    `slide ${data.version}`].join(" \u00b7 ");
  document.title = `${cut(data.name, 60)} \u2013 slide tune`;
  const rise = first.state === "scored" ? ` (the configuration as it was: ${measureText(first.score)})` : "";
  const leader = data.trials.find((trial) => trial.number === data.leader);
  const chance = data.decision ? `On ${grouped(data.decision.samples)} further samples, by which no trial was chosen, its score differs from ` +
    `the configuration as it was by ${signed(data.decision.difference)} (${data.decision.interval.map(signed).join(" to ")}), ` +
    `${best === leader ? "" : "not "}more than chance${best === leader ? "" : ": that configuration stays"}. ` : "";
  document.getElementById("kept-hint").textContent =
    `Trial ${leader.number} has the highest score, the ${scoreName}: ${measureText(leader.score)} on the held-out samples${rise}. ${chance}` +
    `Trial ${best.number} was written to ${data.file}; training on all data takes about ${short(best.full_seconds)} s.`;
  document.getElementById("kept").replaceChildren(
    make("thead", {}, row(...["Setting", "Began with", "Kept", "Gain"].map((text) => make("th", {scope: "col"}, text)))),
    make("tbody", {}, ...(data.kept.length === 0 ? [row(make("th", {scope: "row"}, "The start stays as it was."))]
      : data.kept.map(({key, start, value}) => row(make("th", {scope: "row"}, key),
        ...[plain(start), plain(value), gainOf(key)].map((text) => make("td", {}, text)))))));
};

// --- All trials

const drawTrials = () => {
  const limit = data.limit ? ` Only what trains on all data within ${short(data.limit)} s was kept.` : "";
  document.getElementById("trials-hint").textContent =
    `Marked: what was the best when it was tried.${limit} Seconds: of the trial, and as estimated of training on all data.`;
  document.getElementById("trials").replaceChildren(
    make("thead", {}, row(...["Trial", "Score", ...data.ks.map((k) => `P@${k}`), "Trial (s)", "All data (s)", "Tried as", "Settings"]
      .map((text) => make("th", {scope: "col"}, text)))),
    make("tbody", {}, ...data.trials.map((trial) => row(make("th", {scope: "row"}, `${trial.number}`),
      make("td", trial.best ? {class: "best"} : {}, trial.state === "scored" ? measureText(trial.score)
        : trial.state === "dropped" ? `dropped at ${signed(trial.gain)}` : trial.state),
      ...data.ks.map((k, i) => make("td", {}, measureText(trial.precision[i]))),
      make("td", {}, short(trial.train_seconds)), make("td", {}, short(trial.full_seconds)),
      make("td", {}, kStages[trial.stage] || trial.stage),
      make("td", {class: "fact settings"}, changesText(trial))))));
};

// --- Figures

const dots = (name, colour, shape, points) => ({
  label: name, data: points, showLine: false, borderColor: colour, backgroundColor: colour, pointStyle: shape,
  pointRadius: points.length > 200 ? 2.5 : 4, pointHoverRadius: 7,
});
const trialTip = ({raw}) => (raw.trial ? [`trial ${raw.trial.number}: ${measureText(raw.trial.score)}`,
  ...raw.trial.changes.slice(0, 8), ...(raw.trial.changes.length > 8 ? ["\u2026"] : [])] : `best: ${measureText(raw.y)}`);
const trialTable = (head, value) => [["Trial", "Score", head],
  scored.map((trial) => [`${trial.number}`, measureText(trial.score), value(trial)])];

const scatter = (title, unit, x) => {
  const points = (trials) => trials.map((trial) => ({x: x(trial) / unit.by, y: trial.score, trial}));
  return {
    type: "line",
    names: ["trials"],
    legend: true,
    datasets: [
      dots("Kept", colourAt(1), "triangle", points([best])),
      dots("Other trials", colourAt(7), "circle", points(scored.filter((trial) => trial !== best))),
    ],
    x: {type: "linear", title: `${title} (${unit.name})`, min: 0},
    y: {type: "linear", title: "Score"},
    tip: trialTip,
    tipTitle: (items) => (items.length === 0 ? "" : `${short(items[0].raw.x)} ${unit.name}`),
    table: trialTable(`${title} (${unit.name})`, (trial) => short(x(trial) / unit.by)),
  };
};

// Whether there is no more to see than a sentence says.
const levelScores = () => (scored.length < 2 || scored.every((trial) => trial.score === scored[0].score)
  ? {constant: `Score: ${measureText(best.score)} in ${scored.length === 1 ? "the one trial" : "all trials"}`} : null);

const progressView = () => levelScores() || (() => {
  const unit = timeUnit(data.trials.at(-1).ended);
  const view = scatter("Since the search began", unit, (trial) => trial.ended);
  const steps = data.trials.filter((trial) => trial.best).map((trial) => ({x: trial.ended / unit.by, y: trial.score, trial}));
  steps.push({x: data.trials.at(-1).ended / unit.by, y: steps.at(-1).y});
  view.datasets.splice(1, 0, {label: "Best so far", data: steps, stepped: true, borderColor: colourAt(0),
    backgroundColor: colourAt(0), pointStyle: "line", pointRadius: 0, borderWidth: 2});
  return view;
})();

const costView = () => levelScores() ||
  scatter("Training on all data, as estimated", timeUnit(Math.max(...scored.map((trial) => trial.full_seconds))),
    (trial) => trial.full_seconds);

// From the largest loss to the largest gain of each key that was changed alone.
const effectView = () => {
  const keys = data.keys.filter((key) => key.alone.length > 0);
  if (keys.length === 0) return null;
  const text = ({from, to, change}) => `${plain(from)} to ${plain(to)}: ${signed(change)}`;
  const range = ({alone}) => [Math.min(0, ...alone.map((each) => each.change)), Math.max(0, ...alone.map((each) => each.change))];
  if (keys.every((key) => range(key).every((end) => end === 0))) return {constant: "What a setting changes: nothing"};
  return {
    type: "bar",
    names: ["trials"],
    across: true,
    apart: true,
    legend: true,
    labels: keys.map((key) => key.key),
    datasets: [["Gain", 0, (key) => [0, range(key)[1]]], ["Loss", 1, (key) => [range(key)[0], 0]]].map(([label, colour, data]) => ({
      label, data: keys.map(data), backgroundColor: colourAt(colour), grouped: false, maxBarThickness: 22,
    })),
    x: {type: "linear", title: `Change of the score`},
    y: {type: "category"},
    tip: (item) => keys[item.dataIndex].alone.filter(({change}) => (item.datasetIndex === 0 ? change >= 0 : change < 0)).slice(0, 8).map(text),
    tipTitle: (items) => (items.length === 0 ? "" : items[0].label),
    table: [["Setting", "Trial", "Change of the value", "Change of the score"], keys.flatMap((key) => key.alone.map((each) =>
      [key.key, `${each.trial}`, `${plain(each.from)} to ${plain(each.to)}`, signed(each.change)]))],
    height: 5 + keys.length * 1.5,
  };
};

// The scores of all trials by their value of a key.
const valueView = (key) => {
  const told = data.keys.find((each) => each.key === key);
  if (!told || told.values.length < 2) return null;
  const order = [...told.values].sort((a, b) => Number(a.value) - Number(b.value));
  const trials = (value) => scored.filter((trial) => {
    const change = trial.changes.find((text) => text.startsWith(`${key}=`));
    return change ? change.slice(key.length + 1) === value : value === told.start;
  });
  const points = order.flatMap((each, i) => trials(each.value).map((trial) => ({x: i, y: trial.score, trial})));
  return {
    type: "line",
    names: ["trials"],
    datasets: [dots("Trials", colourAt(0), "circle", points)],
    x: {type: "linear", title: key, places: order.map((each) => plain(each.value))},
    y: {type: "linear", title: "Score"},
    tip: trialTip,
    tipTitle: (items) => (items.length === 0 ? "" : `${key} = ${plain(order[items[0].raw.x].value)}`),
    table: [["Value", "Trials", "Best score"],
      order.map((each) => [plain(each.value), `${each.trials}`, measureText(each.best)])],
  };
};

const variedKeys = data.keys.filter((key) => key.values.length > 1).map((key) => key.key);
const searchFigures = [
  {title: () => "How the best rose", hint: `Each trial when it was done, and the best until then. The score is the ${scoreName}.`,
   none: "No trial was scored.", view: progressView},
  {title: () => "Score against training time", hint: "Up and to the left is better: as much for less time.",
   none: "No trial was scored.", view: costView},
  {title: () => "Which settings mattered",
   hint: "The most that a step of one setting alone won and lost, against the trial that it was tried on; of what was " +
         "dropped, on the splits until then.",
   none: "No trial changed one setting alone.", view: effectView},
  {title: () => "Score by value", modes: variedKeys.length > 0 ? variedKeys : null,
   hint: "All trials by their value of one setting; the others differ, too, so look at the highest of each.",
   none: "No setting was tried with two values.", view: (mode) => (mode ? valueView(mode) : null)},
];

drawKept();
drawTrials();
for (const figure of searchFigures) {
  figure.wanted = () => ["trials"];
  build(figure, document.getElementById("figures"));
}
begin(() => {
  searchFigures.forEach(draw);
  const constant = searchFigures.map((figure) => figure.constant).filter(Boolean);
  document.getElementById("notes").replaceChildren(...[...new Set(constant)].map((text) => make("li", {}, `${text}.`)));
});
