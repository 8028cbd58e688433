// Draws the figures with Chart.js and answers what is pressed; begins when all scripts are there.

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
  const dotted = figure.curve && shown().some((run) => run.validations.length > 0) && runs.some((run) => run.evals.length > 0);
  figure.hintLine.textContent = figure.hint + (dotted ? " Dotted: on validation samples." : "") +
    (figure.measured && new Set(shown().map((run) => run.group)).size > 1
      ? " Not all of these runs were measured on the same data: see the groups of the table." : "");
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
