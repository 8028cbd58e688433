// Draws figures with Chart.js. A figure is {title(), hint, none, view(mode)} and, where it has them, {modes}; what view()
// returns is drawn, of what wanted() names; where(), if it is there, says of what the figure is:
//   null      no data: `none` is said in its place
//   {constant: text}   nothing to see in a figure, which is hidden; the page says the text
//   {type, names, labels, datasets, x, y, tip, tipTitle, table: [head, rows]} and, for bars, {across, legend, height}
// `names` are those of what is in it.

const axisOf = (axis, theme, isCategory) => ({
  type: axis.type,
  min: axis.min,
  suggestedMin: axis.low,
  suggestedMax: axis.high,
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

const tickText = (value) => (value >= 1000
  ? value.toLocaleString("en", {notation: "compact", maximumFractionDigits: 1}) : `${Number(value.toFixed(4))}`);
// Of a logarithmic axis 1, 2 and 5 of each power of ten.
const logTickText = (value) => ([1, 2, 5].includes(Number(value.toExponential(9).split("e")[0])) ? tickText(value) : "");

const axesOf = (view, theme) => {
  const x = axisOf(view.x, theme, view.x.type === "category");
  const y = axisOf(view.y, theme, view.y.type === "category");
  if (view.across) {
    x.stacked = !view.apart;
    y.stacked = true;
    y.ticks.callback = function name(value) {
      return cut(this.getLabelForValue(value), narrow.matches ? 19 : 26);
    };
  }
  if (view.x.places) {  // values that have no distance
    Object.assign(x, {min: -0.5, max: view.x.places.length - 0.5});
    Object.assign(x.ticks, {stepSize: 1, callback: (value) => view.x.places[value] || ""});
    x.afterBuildTicks = (axis) => { axis.ticks = view.x.places.map((_, value) => ({value})); };
  } else if (view.x.type === "linear") {
    x.ticks.callback = tickText;
    x.ticks.maxTicksLimit = narrow.matches ? 6 : 9;
  } else if (view.x.type === "logarithmic") {
    x.ticks.callback = logTickText;
  }
  if (view.y.type === "logarithmic") y.ticks.callback = logTickText;
  return {x, y};
};

const optionsOf = (view) => {
  const theme = {text: styleOf("--text"), quiet: styleOf("--quiet"), grid: styleOf("--grid"), line: styleOf("--line")};
  return {
    animation: false,
    locale: "en",
    responsive: true,
    maintainAspectRatio: false,
    indexAxis: view.across ? "y" : "x",
    interaction: {mode: "nearest", axis: view.type === "line" ? "xy" : view.across ? "y" : "x", intersect: false},
    layout: {padding: {right: 8}},
    scales: axesOf(view, theme),
    plugins: {
      legend: {
        display: Boolean(view.legend),
        position: "bottom",
        labels: {color: theme.text, boxWidth: 12, boxHeight: 12, padding: 10, font: {size: 12}},
      },
      tooltip: {
        backgroundColor: styleOf("--card"),
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

// Between the lowest and the highest of what a line is the mean of: points with {low, high}.
const kBands = {
  id: "bands",
  beforeDatasetsDraw(chart) {
    const {ctx, scales: {x, y}, chartArea: area} = chart;
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, area.top, area.width, area.height);
    ctx.clip();
    for (const dataset of chart.data.datasets) {
      if (!dataset.banded) continue;
      const at = (point, value) => [x.getPixelForValue(point.x), y.getPixelForValue(value)];
      ctx.beginPath();
      for (const point of dataset.data) ctx.lineTo(...at(point, point.high));
      for (const point of [...dataset.data].reverse()) ctx.lineTo(...at(point, point.low));
      ctx.closePath();
      ctx.fillStyle = `${dataset.borderColor}38`;
      ctx.fill();
      ctx.lineWidth = 1;
      ctx.strokeStyle = `${dataset.borderColor}70`;
      ctx.stroke();
    }
    ctx.restore();
  },
};

// Says beside an axis of numbers what cannot be seen at once: that it does not begin at 0, or is logarithmic.
const tellAxes = (chart) => {
  let told = false;
  for (const [name, scale] of Object.entries(chart.scales)) {
    const title = chart.options.scales[name].title;
    const text = scale.type === "logarithmic" ? "logarithmic"
      : scale.type === "linear" && scale.min > 0 ? `axis from ${Number(scale.min.toPrecision(4))}, not 0` : "";
    if (text === "") continue;
    title.text += title.text ? ` (${text})` : text;
    told = true;
  }
  if (told) chart.update();
};

const modeSwitch = (figure) => {
  if (!figure.modes) return null;
  const press = (mode) => {
    figure.mode = mode;
    draw(figure);
  };
  if (figure.modes.length > 3 || figure.modes.join("").length > 24)  // no room for buttons
    return make("div", {}, chooser("What the figure shows", figure.modes, 0, (i) => press(figure.modes[i])));
  const group = make("div", {class: "switch", role: "group", "aria-label": "What the figure shows"});
  for (const mode of figure.modes) {
    const button = make("button", {type: "button"}, mode);
    button.addEventListener("click", () => press(mode));
    group.append(button);
  }
  return group;
};

const built = [];  // all figures of the page

const build = (figure, place) => {
  const id = `figure-${built.push(figure)}`;
  figure.mode = figure.modes && figure.modes[0];
  figure.heading = make("h3", {id});
  figure.switch = modeSwitch(figure);
  figure.plot = make("div");
  figure.hintLine = make("p", {class: "hint"}, figure.hint);
  figure.values = make("div", {class: "scroll", tabindex: "0", role: "region"});
  figure.missing = make("p", {class: "hint"});
  figure.details = make("details", {}, make("summary", {}, "Values as a table"), figure.values);
  figure.article = make("article", {class: "figure", "aria-labelledby": id},
    make("div", {class: "head"}, figure.heading, figure.switch), figure.hintLine,
    figure.plot, figure.missing, figure.details);
  place.append(figure.article);
};

const drawView = (figure, view, title) => {
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
    plugins: [kBands],
  });
  tellAxes(figure.chart);
};

const draw = (figure) => {
  if (figure.chart) figure.chart.destroy();
  figure.chart = null;
  const title = figure.title();
  figure.heading.textContent = title;
  figure.hintLine.textContent = [figure.hint, figure.where ? figure.where() : ""].filter(Boolean).join(" ");
  for (const button of figure.switch ? figure.switch.querySelectorAll("button") : [])
    button.setAttribute("aria-pressed", String(button.textContent === figure.mode));
  const wanted = figure.wanted();
  const view = wanted.length === 0 ? null : figure.view(figure.mode);
  figure.constant = view && view.constant ? view.constant : "";
  figure.leftOut = view === null && wanted.length > 0 && figure.optional ? title : "";
  figure.article.hidden = figure.constant !== "" || figure.leftOut !== "";
  if (figure.article.hidden) {
    figure.plot.replaceChildren();
    return;
  }
  figure.details.hidden = view === null;
  const missing = view === null ? [] : wanted.filter((name) => !view.names.includes(name));
  figure.missing.hidden = missing.length === 0;
  figure.missing.textContent = `Without data for this figure: ${missing.join(", ")}.`;
  if (figure.switch) figure.switch.hidden = view === null;
  if (view !== null) {
    drawView(figure, view, title);
    return;
  }
  figure.plot.className = "empty";
  figure.plot.removeAttribute("style");
  figure.plot.textContent = wanted.length === 0 ? "All runs are hidden." : figure.none;
};

// Draws all with `drawPage`, and again when the colours or the width change.
const begin = (drawPage) => {
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  drawPage();
  dark.addEventListener("change", drawPage);
  narrow.addEventListener("change", drawPage);
  window.addEventListener("beforeprint", () => built.forEach((figure) => figure.chart && figure.chart.resize()));
  // Tells programs that load the page that it is drawn.
  document.documentElement.dataset.ready = String(built.filter((figure) => figure.chart).length);
};
