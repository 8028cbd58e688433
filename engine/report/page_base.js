// What the other scripts of a page draw with: data, colours, numbers and names, elements. A page runs all its scripts as
// one function.

const data = JSON.parse(document.getElementById("data").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const narrow = window.matchMedia("(max-width: 46rem)");

// Colours that people with any colour vision tell apart (Okabe and Ito), lighter ones in the dark; each line also has
// a shape of its own, and beyond the eighth it is broken.
const kLineColours = {
  light: ["#0072b2", "#d55e00", "#009e73", "#b0508c", "#8a6d00", "#3f9bd8", "#5b4fc4", "#5c656f"],
  dark: ["#56b4e9", "#f0833a", "#35c69b", "#e49cc8", "#e9cd55", "#a5d8f7", "#a89df5", "#b7c0ca"],
};
const kShapes = ["circle", "triangle", "rect", "rectRot", "cross", "crossRot"];
const kDashes = [[], [7, 4], [2, 3]];
// Parts of a whole: Paul Tol's muted scheme in an order in which neighbours differ in lightness, too.
const kPartColours = {
  light: ["#332288", "#88ccee", "#117733", "#ddcc77", "#882255", "#44aa99", "#cc6677", "#5f6873", "#aa4499", "#c3cad2"],
  dark: ["#7b6be0", "#6fc4f0", "#2f9e58", "#ecdc8a", "#b8407f", "#5fd0bd", "#f08a98", "#77828f", "#d27cc6", "#d5dbe2"],
};

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
const chooser = (label, names, chosen, choose) => {
  const select = make("select", {"aria-label": label}, ...names.map((name, i) => make("option", {value: i}, name)));
  select.value = chosen;
  select.addEventListener("change", () => choose(Number(select.value)));
  return select;
};
const tableOf = (caption, head, rows) => {
  const table = make("table", {"aria-label": caption});
  table.append(make("thead", {}, row(...head.map((text) => make("th", {scope: "col"}, text)))));
  table.append(make("tbody", {}, ...rows.map(([first, ...rest]) =>
    row(make("th", {scope: "row"}, first), ...rest.map((text) => make("td", {}, text))))));
  return table;
};

// --- Marks of the lines of a figure, by their number

const scheme = (colours) => colours[dark.matches ? "dark" : "light"];
const colourAt = (number) => scheme(kLineColours)[number % kLineColours.light.length];
const roundAt = (number) => Math.floor(number / kLineColours.light.length);
const shapeAt = (number) => kShapes[(number + roundAt(number)) % kShapes.length];
const dashAt = (number) => kDashes[roundAt(number) % kDashes.length];
const partAt = (number) => scheme(kPartColours)[number % kPartColours.light.length];
const styleOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const kPaths = {
  circle: "M13 3.5a4.5 4.5 0 1 0 .01 0z",
  triangle: "M13 3l5 9H8z",
  rect: "M9 4h8v8H9z",
  rectRot: "M13 2.5L18.5 8 13 13.5 7.5 8z",
  cross: "M12 3h2v4h4v2h-4v4h-2V9H8V7h4z",
  crossRot: "M9.5 3L13 6.5 16.5 3 18 4.5 14.5 8 18 11.500 16.500 13 13 9.500 9.500 13 8 11.500 11.500 8 8 4.500z",
};
const swatch = (number) => {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  for (const [name, value] of [["width", 26], ["height", 16], ["viewBox", "0 0 26 16"], ["aria-hidden", true]])
    svg.setAttribute(name, value);
  const line = document.createElementNS(space, "path");
  line.setAttribute("d", "M0 8h26");
  line.setAttribute("stroke", colourAt(number));
  line.setAttribute("stroke-width", 2);
  line.setAttribute("stroke-dasharray", dashAt(number).join(" "));
  const mark = document.createElementNS(space, "path");
  mark.setAttribute("d", kPaths[shapeAt(number)]);
  mark.setAttribute("fill", colourAt(number));
  svg.append(line, mark);
  return svg;
};
