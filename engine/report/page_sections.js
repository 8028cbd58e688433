// A section of the page for each data set: which lines and measures it shows, and its figures. Begins when all scripts
// are there.

const drawSection = (section) => {
  section.figures.forEach(draw);
  const all = (of) => section.figures.map(of).filter(Boolean).join("; ");
  const constant = all((figure) => figure.constant), leftOut = all((figure) => figure.leftOut);
  const lines = [constant && `The same all the way, and so not drawn: ${constant}.`,
    leftOut && `Not drawn, for no run has hash tables (a dense output layer and lsh = 0 have none): ${leftOut}.`];
  section.rest.textContent = lines.filter(Boolean).join(" ");
  section.rest.hidden = section.rest.textContent === "";
};

const drawLegend = (section) => {
  section.legend.hidden = section.lines.length < 2;
  if (section.legend.hidden) return;
  section.legend.replaceChildren(...section.lines.map((line, number) => {
    const button = make("button", {type: "button", "aria-pressed": String(!section.hidden.has(line))},
      swatch(number), make("span", {}, line.name));
    button.addEventListener("click", () => {
      if (!section.hidden.delete(line)) section.hidden.add(line);
      button.setAttribute("aria-pressed", String(!section.hidden.has(line)));
      drawSection(section);
    });
    return button;
  }));
};

// What a section is asked to show: the samples of the measures, and the measure.
const choicesOf = (section) => {
  const choices = make("div", {class: "choices"});
  const again = () => drawSection(section);
  if (section.splits.length > 1) {
    choices.append(make("label", {}, "Measured on ", chooser("Measured on", section.splits.map((split) => split.title), 0,
      (i) => { section.split = section.splits[i]; again(); })));
  }
  if (measures.length > 0 && section.splits.length > 0) {
    choices.append(make("label", {}, "Measure ", chooser("Measure", measures.map(measureName), measures.indexOf(section.measure),
      (i) => { section.measure = measures[i]; again(); })));
  }
  return choices;
};

const wantedOf = (section, figure) => shown(section).filter((line) =>
  !figure.measured || section.split === null || measuredOf(line, section.split).length > 0).map((line) => line.name);

const buildSection = (section) => {
  section.legend = make("div", {class: "legend", role: "group", "aria-label": "Runs: press to show or hide"});
  section.rest = make("p", {class: "hint"});
  const place = make("div", {class: "figures"});
  const bar = make("div", {class: "bar"}, section.legend, choicesOf(section));
  bar.hidden = section.lines.length < 2 && measures.length === 0;
  document.getElementById("sections").append(make("div", {class: "data-set"},
    sections.length > 1 ? make("h2", {}, section.title) : null, bar, place, section.rest));
  section.figures = figuresOf(section);
  for (const figure of section.figures) {
    figure.wanted = () => wantedOf(section, figure);
    if (figure.measured) figure.where = () => (section.split === null ? "" : `On ${section.split.title}.`);
    build(figure, place);
  }
};

// --- A page that is written again while runs go on loads itself again

const kStore = `slide report ${location.pathname}`;
const keepChoices = () => {
  const kept = sections.map((section) => ({
    title: section.title, measure: section.measure, hidden: [...section.hidden].map((line) => line.name),
  }));
  try { sessionStorage.setItem(kStore, JSON.stringify(kept)); } catch { /* a browser that keeps nothing */ }
};
const restoreChoices = () => {
  let kept = [];
  try { kept = JSON.parse(sessionStorage.getItem(kStore)) || []; } catch { return; }
  for (const section of sections) {
    const own = kept.find(({title}) => title === section.title);
    if (!own) continue;
    if (measures.includes(own.measure)) section.measure = own.measure;
    section.lines.filter((line) => own.hidden.includes(line.name)).forEach((line) => section.hidden.add(line));
  }
};
// Not while a table is open, which is being read.
const reload = () => {
  if (document.hidden || document.querySelector("details[open]") !== null) return;
  keepChoices();
  location.reload();
};
if (data.live) {
  restoreChoices();
  setInterval(reload, 1000 * data.live);
}

drawIntroduction();
sections.forEach(buildSection);
begin(() => {
  drawResults();
  sections.forEach(drawLegend);
  sections.forEach(drawSection);
});
