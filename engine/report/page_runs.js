// The runs of the page, as comparison.h describes them: data sets, the lines that are drawn for them, their measures.

const runs = data.runs;

const kPhases = [
  ["loading", "Loading"], ["setup", "Setup"], ["data", "Data"], ["hashing", "Hashing"], ["forward", "Forward"], ["backward", "Backward"],
  ["update", "Update"], ["rehash", "Rehash"], ["other", "Other"], ["evaluation", "Evaluation"],
];
const kParts = [
  ["data", "Data"], ["weights", "Weights"], ["optimizer", "Optimizer state"], ["tables", "Hash tables"],
  ["neighbours", "Neighbours"], ["workspaces", "Workspaces"],
];
const kGroups = ["head", "middle", "tail"];

// --- Lines: a run, or runs that differ in their seeds alone

const lines = data.lines.map((line) => ({name: line.name, runs: line.runs.map((i) => runs[i])}));
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const spread = (values) => {
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / Math.max(1, values.length - 1));
};
// The mean over the runs that tell a value.
const meanOf = (members, value) => {
  const told = members.map(value).filter(is);
  return told.length > 0 ? mean(told) : undefined;
};

// --- Data sets: a section of the page each; nothing is compared between two

const sections = data.groups.map((group) => {
  const members = new Set(group.runs.map((i) => runs[i]));
  const section = {
    title: group.title,
    lines: lines.filter((line) => members.has(line.runs[0])),
    splits: group.splits.map((split) => ({...split, runs: new Set(split.runs.map((i) => runs[i]))})),
    hidden: new Set(),
    figures: [],
  };
  section.split = section.splits[0] || null;
  return section;
});
const numberOf = (section, line) => section.lines.indexOf(line);
const shown = (section) => section.lines.filter((line) => !section.hidden.has(line));
// The runs of a line that were measured on the samples of a split, and their evaluations on these.
const measuredOf = (line, split) => (split === null ? [] : line.runs.filter((run) => split.runs.has(run)));
const evaluationsOf = (run, split) => (split.test ? run.evals : run.validations);
const lastOf = (run, split) => evaluationsOf(run, split).at(-1);

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
for (const section of sections) section.measure = measures[0] || null;
