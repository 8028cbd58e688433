// The page of an evaluation, of which evaluation.h describes the data: rates of the labels given, the precision-recall
// curve, and the reliability of the scores.

const results = data.results;
const ranks = Object.keys(results).filter((key) => /^p_at_\d+$/.test(key)).map(rankOf);
const bestPoint = data.points.reduce((best, point) => (best === null || point.f1 > best.f1 ? point : best), null);
const scoreText = (value) => `${Number(value.toPrecision(4))}`;

// --- Rates

const kMeans = [["micro", "all pairs"], ["macro", "labels"], ["samples", "samples"]];
const ratesOf = (suffix) => kMeans.map(([mean]) =>
  ["precision", "recall", "f1"].map((rate) => results[`${rate}_${mean}${suffix}`]));
const rateRows = (name, suffix) => ratesOf(suffix).map((rates, i) => row(make("th", {scope: "row"}, i === 0 ? name : ""),
  make("td", {class: "fact"}, kMeans[i][1]), ...rates.map((rate) => make("td", {}, measureText(rate)))));

const drawRates = () => {
  document.getElementById("about").textContent = [data.name, `${grouped(results.samples)} samples`,
    `${grouped(results.labels)} labels`, `slide ${data.version}`].join(" \u00b7 ");
  document.title = `${cut(data.name, 60)} \u2013 slide evaluate`;
  document.getElementById("rates-hint").textContent = bestPoint === null ? "There are no scores."
    : `The best F1 over all pairs, ${measureText(bestPoint.f1)}, is that of scores from ${scoreText(bestPoint.threshold)} on.`;
  const rows = ranks.flatMap((k) => rateRows(`the best ${k}`, `_at_${k}`));
  const given = () => is(results.label_thresholds) ? "label thresholds" : `scores from ${scoreText(results.threshold)}`;
  if (is(results.threshold)) rows.push(...rateRows(given(), ""));
  document.getElementById("rates").replaceChildren(
    make("thead", {}, row(...["Labels given", "Mean over", "Precision", "Recall", "F1"].map((text) => make("th", {scope: "col"}, text)))),
    make("tbody", {}, ...rows));
};

// --- Figures

const lineOf = (label, number, points, more = {}) => ({
  label, data: points, borderColor: colourAt(number), backgroundColor: colourAt(number), borderWidth: 2,
  pointStyle: shapeAt(number), pointRadius: points.length > 60 ? 0 : 3, pointHoverRadius: 6, borderDash: dashAt(number), ...more,
});
const pointTable = [["Score from", "Precision", "Recall", "F1"], data.points.map((point) =>
  [scoreText(point.threshold), ...["precision", "recall", "f1"].map((rate) => measureText(point[rate]))])];
const share = (title) => ({type: "linear", title, min: 0, high: 1});
const pointTip = ({raw}) => [`precision ${measureText(raw.of.precision)}`, `recall ${measureText(raw.of.recall)}`,
  `F1 ${measureText(raw.of.f1)}`];
const fromText = (items) => (items.length === 0 ? "" : `scores from ${scoreText(items[0].raw.of.threshold)} on`);

const curveView = () => (data.points.length === 0 ? null : {
  type: "line",
  names: ["scores"],
  datasets: [lineOf("Scores", 0, data.points.map((point) => ({x: point.recall, y: point.precision, of: point})))],
  x: share("Recall"),
  y: share("Precision"),
  tip: pointTip,
  tipTitle: fromText,
  table: pointTable,
});

const thresholdView = () => (data.points.length === 0 ? null : {
  type: "line",
  names: ["scores"],
  legend: true,
  datasets: [["Precision", "precision"], ["Recall", "recall"], ["F1", "f1"]].map(([label, rate], number) =>
    lineOf(label, number, data.points.map((point) => ({x: point.threshold, y: point[rate], of: point})))),
  x: {type: "linear", title: "Scores from"},
  y: share("Share"),
  tip: pointTip,
  tipTitle: fromText,
  table: pointTable,
});

const kAllScores = "all scores", kBestLabel = "best label";
const reliabilityView = (mode) => {
  if (!results.reliability) return null;
  const bins = mode === kBestLabel ? results.reliability.top_bins : results.reliability.bins;
  return {
    type: "line",
    names: ["scores"],
    legend: true,
    datasets: [
      lineOf("Scores", 0, bins.map((bin) => ({x: bin.mean_score, y: bin.true_share, bin})), {pointRadius: 4}),
      lineOf("As probabilities should be", 7, [{x: 0, y: 0}, {x: 1, y: 1}], {borderDash: [5, 4], pointRadius: 0, pointHitRadius: 0}),
    ],
    x: share("Mean score"),
    y: share("Share of true labels"),
    tip: ({raw}) => (raw.bin ? [`${measureText(raw.y)} of ${grouped(raw.bin.predictions)} are true`] : ""),
    tipTitle: (items) => (items.length === 0 || !items[0].raw.bin ? "" : `mean score ${measureText(items[0].raw.x)}`),
    table: [["Mean score", "Share of true labels", "Predictions"],
      bins.map((bin) => [measureText(bin.mean_score), measureText(bin.true_share), grouped(bin.predictions)])],
  };
};

const evaluationFigures = [
  {title: () => "Precision and recall", hint: "All scores from a threshold on are predictions, over all pairs of sample and label.",
   none: "There are no scores.", view: curveView},
  {title: () => "By threshold", hint: "Precision, recall and F1 of all scores from a threshold on.",
   none: "There are no scores.", view: thresholdView},
  {title: () => "Reliability", modes: [kAllScores, kBestLabel],
   hint: "Scores are probabilities where of those near p a share of p is true: on the broken line."
     + (results.reliability ? ` Expected calibration error: ${measureText(results.reliability.error)}, of the best label alone ${
       measureText(results.reliability.top_error)}.` : ""),
   none: "The scores are no probabilities: some are outside 0 to 1.", view: reliabilityView},
];

drawRates();
for (const figure of evaluationFigures) {
  figure.wanted = () => ["scores"];
  build(figure, document.getElementById("figures"));
}
begin(() => evaluationFigures.forEach(draw));
