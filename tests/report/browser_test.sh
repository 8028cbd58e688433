#!/usr/bin/env bash
# Makes real runs and a search on generated data and loads their reports in headless Chromium: every figure must be drawn,
# with no word on the console, no request, nothing wider than the screen of a phone, and a name that holds a tag stays a
# name. Runs of other data and measures on other samples must never be in one figure.
# usage: browser_test.sh SLIDE; exit 77 = skipped for want of Chromium.
set -euo pipefail
slide=$(realpath "${1:?usage: browser_test.sh SLIDE}")
. "$(dirname "$0")/../browser.sh"
find_browser "the report"
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OMP_WAIT_POLICY=passive
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME=$work

# Chromium's frames keep the time of the machine, its timers the virtual time of --virtual-time-budget, which can run out
# between two frames: a chart, which sees the pointer with the next frame, would sometimes not see it at all. So frames
# come by timers too. Runs before the page's own scripts.
cat > frames.js <<'FRAMES'
<script>window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 16);</script>
FRAMES

# What a page says about itself once it is drawn: figures with ink, tables with rows, requests, its width, and what a
# pointer over the first figure brings up. Runs behind the page's own script.
cat > probe.js <<'PROBE'
<script>
const canvases = [...document.querySelectorAll("canvas")];
const inked = canvases.filter((canvas) => {
  const {width, height} = canvas;
  const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const colours = new Set();
  for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] > 200) colours.add(pixels.slice(i, i + 3).join());
  return colours.size > 3;
});
const rows = [...document.querySelectorAll(".figure table")].filter((table) => table.querySelectorAll("tbody tr").length > 0);
const html = document.documentElement.dataset;
html.inked = inked.length;
html.empty = document.querySelectorAll(".figure:not([hidden]) > .empty").length;
html.untabled = [...document.querySelectorAll(".data-set > .hint")].some((line) => line.textContent.includes("no run has hash tables"));
html.tables = rows.length;
html.requests = performance.getEntriesByType("resource").filter((entry) => !entry.name.startsWith("data:")).length;
html.overflow = document.documentElement.scrollWidth > window.innerWidth;
html.buttons = document.querySelectorAll(".legend button").length;
const charts = canvases.map((canvas) => Chart.getChart(canvas));
const results = document.querySelector("#runs");
html.scrolls = results !== null && results.parentElement.scrollWidth > results.parentElement.clientWidth;
html.heads = results === null ? "" : [...results.querySelectorAll("thead th")].slice(0, 3).map((head) => head.textContent).join(" ");
html.measured = results !== null && [...results.querySelectorAll("thead th")].some((head) => head.textContent === "P@1");
html.logs = charts.flatMap((each) => Object.values(each.scales)).filter((scale) => scale.type === "logarithmic" &&
  scale.options.title.text.includes("(logarithmic)")).length;
const legend = document.querySelector(".legend");
html.below = legend !== null && legend.getBoundingClientRect().top > document.querySelector(".figure").getBoundingClientRect().top;
html.banded = charts.flatMap((each) => each.data.datasets).filter((set) => set.banded).length;
html.sections = document.querySelectorAll(".data-set").length;
html.best = document.querySelectorAll("td.best").length > 0;
// An axis of numbers begins at 0 or says where.
html.untold = charts.flatMap((each) => Object.values(each.scales)).filter((scale) =>
  scale.type === "linear" && !scale.options.ticks.stepSize && scale.min > 0 && !scale.options.title.text.includes("not 0")).length;
// Colours of the parts of one bar, each pair as far apart as eyes need (the distance is in CIE Lab).
const lab = (colour) => {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16) / 255)
    .map((v) => (v > 0.04045 ? ((v + 0.055) / 1.055) ** 2.4 : v / 12.92));
  const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b,
    (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089].map((v) => (v > 0.008856 ? Math.cbrt(v) : 7.787 * v + 16 / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
};
const parts = charts.map((each) => each.data.datasets).find((sets) => sets.some((set) => set.stack === "phases")) || [];
const colours = parts.map((set) => lab(set.backgroundColor));
html.similar = colours.flatMap((a, i) => colours.slice(i + 1).filter((b) => Math.hypot(...a.map((v, k) => v - b[k])) < 20)).length;
const chart = canvases.length > 0 && Chart.getChart(canvases[0]);
if (chart) {
  const point = chart.getDatasetMeta(0).data[0];
  const box = canvases[0].getBoundingClientRect();
  canvases[0].dispatchEvent(new MouseEvent("mousemove", {clientX: box.left + point.x, clientY: box.top + point.y}));
}
setTimeout(() => {
  if (chart) html.hover = chart.tooltip.opacity > 0 ? "shown" : "none";
  const buttons = document.querySelectorAll(".legend button");
  if (buttons.length > 0) {  // a run is hidden and comes back
    const drawn = () => [...document.querySelectorAll("canvas")].map((canvas) => Chart.getChart(canvas))
      .reduce((sum, each) => sum + (each.config.type === "line" ? each.data.datasets.length : 0), 0);
    const before = drawn();
    buttons[0].click();
    html.hidden = drawn() < before;
    buttons[0].click();
    html.shown = drawn() === before;
  }
  const chosen = document.querySelector('select[aria-label="Measured on"]');
  if (chosen) {  // validation samples, on which one line alone was measured
    chosen.value = "1";
    chosen.dispatchEvent(new Event("change"));
    html.mixed = [...document.querySelectorAll(".figure")].filter((each) => each.querySelector("h3").textContent.startsWith("P@"))
      .flatMap((each) => [...each.querySelectorAll("canvas")]).flatMap((canvas) => Chart.getChart(canvas).data.datasets)
      .filter((set) => !set.label.startsWith("first")).length;
  }
  html.probed = "yes";
}, 500);
</script>
PROBE

failed=0
fault() { echo "FAILED: $*" >&2; failed=1; }

# Loads a page in a frame as wide as the screen and leaves what it says about itself in PAGE.dom, its console in
# PAGE.log. The frame, since a window of Chromium cannot be as narrow as a phone.
load() {  # page, width, arguments...
  local page=$1 width=$2; shift 2
  sed -e '/^<head>$/r frames.js' -e '/^<\/body>$/{r probe.js' -e 'N}' "$page" > "$page.probed.html"
  cat > "$page.frame.html" <<FRAME
<html><body><iframe src="$page.probed.html" style="border:0" width="$width" height="900"></iframe><script>
const waiting = setInterval(() => {
  const page = document.querySelector("iframe").contentDocument.documentElement;
  if (!page || page.dataset.probed !== "yes") return;
  clearInterval(waiting);
  Object.assign(document.documentElement.dataset, page.dataset);
  document.documentElement.append(page.querySelector("#runs, #trials, #rates"));
}, 100);
</script></body></html>
FRAME
  local code=0
  for _ in 1 2 3; do  # a browser that dies says nothing about the page: it is asked again
    code=0
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
      --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr --virtual-time-budget=60000 \
      --window-size=1400,950 --allow-file-access-from-files "$@" --dump-dom "file://$work/$page.frame.html" \
      > "$page.dom" 2> "$page.log" || code=$?
    [ "$code" -ne 0 ] || return 0
    echo "$browser ended with status $code on $page; the end of what it said:" >&2
    tail -n 5 "$page.log" >&2
    rm -rf "$work/profile"
    [ "$code" -ne 124 ] || break  # but not one that hangs
  done
  fault "$browser did not show $page"
}

# Looks at a page: VALUE of each NAME=VALUE that it must say about itself.
check() {  # page, name=value...
  local page=$1 said; shift
  said=$(grep -o '<html[^>]*>' "$page.dom" | head -n 1) || true
  for want in "$@"; do
    [[ $said == *"data-${want%%=*}=\"${want#*=}\""* ]] || fault "$page: not ${want}, but $said"
  done
  if grep -q ':CONSOLE' "$page.log"; then fault "$page speaks on the console: $(grep ':CONSOLE' "$page.log")"; fi
}

"$slide" generate --samples 600 --features 300 --labels 120 --seed 1 --out data > /dev/null
train() {  # folder, arguments...
  local out=$1; shift
  "$slide" train config.toml --set data.train=data/train.txt --out "$out" --quiet "$@"
}
cat > config.toml <<'CONFIG'
[train]
epochs = 3
batch_size = 64
block_size = 32
[neighbours]
share = 0
[[layer]]
size = 16
[[layer]]
kind = "sampled"
lsh = 16
uniform = 16
wide = false
[layer.hash]
candidates = "vanilla"
k = 4
tables = 8
range_pow = 4
rehash_steps = 5
CONFIG
tag='</script><img src=x onerror=console.log(1)>'
tested=(--set data.test=data/test.txt)
train first "${tested[@]}" --set data.validation=0.1
train "$tag" "${tested[@]}" --set 'layer.-1.kind="dense"'
train untested
mkdir -p begun && cp first/config.toml begun/ && head -n 1 first/metrics.jsonl > begun/metrics.jsonl
echo '{"finished": false}' > begun/environment.json

for seed in 2 3; do train "first-seed$seed" "${tested[@]}" --set data.validation=0.1 --set train.seed=$seed; done
"$slide" generate --samples 500 --features 200 --labels 90 --seed 5 --out more > /dev/null
"$slide" train config.toml --set data.train=more/train.txt --set data.test=more/test.txt --out elsewhere --quiet
"$slide" tune config.toml --set data.train=data/train.txt --trials 12 --minutes 10 --out tuned.toml > /dev/null
"$slide" tune config.toml --set data.train=data/train.txt --trials 1 --out once.toml > /dev/null

"$slide" report first "$tag" untested begun -o several.html > /dev/null
"$slide" report first first-seed2 first-seed3 "$tag" elsewhere -o apart.html > /dev/null
"$slide" report first -o one.html > /dev/null
"$slide" report untested -o untested.html > /dev/null
"$slide" report begun -o begun.html > /dev/null
"$slide" report "$tag" -o dense.html > /dev/null

# Twelve runs, of which one took and lost a hundred times what the others did.
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
  mkdir "run-of-twelve-$i"
  sed -e "s/^size = 16/size = $((16 * i))/" -e "s/^learning_rate = .*/learning_rate = 0.0$i/" first/config.toml > "run-of-twelve-$i/config.toml"
  cp first/environment.json first/metrics.jsonl "run-of-twelve-$i"
done
sed -i -E 's/"(train_seconds|loss)":([0-9.]+)/"\1":9\2/g' run-of-twelve-7/metrics.jsonl
"$slide" report run-of-twelve-* -o twelve.html > /dev/null
load twelve.html 1300
check twelve.html ready=9 inked=9 requests=0 overflow=false scrolls=false buttons=12 'heads=Run optimizer.learning_rate layer.0.size' \
  below=false untold=0
grep -q 'data-logs="[1-9]' twelve.html.dom || fault "twelve.html has no logarithmic axis"
load twelve.html 390
check twelve.html ready=9 inked=9 requests=0 overflow=false scrolls=false measured=true buttons=12 below=true \
  'heads=Run optimizer.learning_rate layer.0.size'
for style in 0 1; do  # dark, light
  for width in 1280 390; do
    load several.html "$width" --blink-settings=preferredColorScheme="$style"
    check several.html ready=9 inked=9 tables=9 requests=0 overflow=false scrolls=false buttons=4 hover=shown hidden=true shown=true mixed=0 sections=1 \
      untold=0 similar=0 best=true
    grep -qF 'onerror=console.log(1)&gt;' several.html.dom || fault "the name of a run is not shown as it is"
  done
done
for width in 1280 800 390; do
  # Two sets, of the first one line of three seeds and one run; the second has one run, in two figures of measures.
  load apart.html "$width"
  check apart.html ready=18 inked=18 mixed=2 requests=0 overflow=false scrolls=false measured=true sections=2 buttons=2 untold=0 similar=0
  grep -q 'data-banded="[1-9]' apart.html.dom || fault "apart.html has no band of seeds"
  grep -q 'first (3 seeds)' apart.html.dom || fault "apart.html does not name the seeds"
  load tuned.html "$width"
  check tuned.html ready=4 inked=4 requests=0 overflow=false hover=shown untold=0 best=true
  grep -q 'suited such sets' tuned.html.dom || fault "tuned.html does not list its trials"
done
"$slide" predict first data/test.txt --k 20 --out scores.npz
"$slide" evaluate scores.npz data/test.txt --report evaluated.html > /dev/null
for width in 1280 390; do
  load evaluated.html "$width"
  check evaluated.html ready=3 inked=3 tables=3 requests=0 overflow=false untold=0
done
load one.html 390
check one.html ready=9 inked=9 tables=9 requests=0 overflow=false buttons=0 hover=shown empty=0 untabled=false
load once.html 390
check once.html requests=0 overflow=false
load untested.html 1280
check untested.html ready=6 inked=6 requests=0 hover=shown
load dense.html 1280
check dense.html requests=0 overflow=false empty=0 untabled=true
load begun.html 1280
check begun.html ready=1 inked=1 requests=0
grep -qF 'interrupted' begun.html.dom || fault "an interrupted run is not called so"
[ "$failed" -eq 0 ] || exit 1
echo "nine reports drawn by $browser, light and dark, wide and narrow"
