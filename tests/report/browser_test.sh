#!/usr/bin/env bash
# Makes real runs on generated data and loads their reports in headless Chromium: every figure must be drawn, with no
# word on the console, no request, nothing wider than the screen of a phone, and a name that holds a tag stays a name.
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
html.tables = rows.length;
html.requests = performance.getEntriesByType("resource").filter((entry) => !entry.name.startsWith("data:")).length;
html.overflow = document.documentElement.scrollWidth > window.innerWidth;
html.buttons = document.querySelectorAll("#legend button").length;
const chart = canvases.length > 0 && Chart.getChart(canvases[0]);
if (chart) {
  const point = chart.getDatasetMeta(0).data[0];
  const box = canvases[0].getBoundingClientRect();
  canvases[0].dispatchEvent(new MouseEvent("mousemove", {clientX: box.left + point.x, clientY: box.top + point.y}));
}
setTimeout(() => {
  if (chart) html.hover = chart.tooltip.opacity > 0 ? "shown" : "none";
  const buttons = document.querySelectorAll("#legend button");
  if (buttons.length > 0) {  // a run is hidden and comes back
    const before = chart.data.datasets.length;
    buttons[0].click();
    html.hidden = before - Chart.getChart(document.querySelector("canvas")).data.datasets.length;
    buttons[0].click();
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
  document.documentElement.append(page.querySelector("#runs"));
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

"$slide" report first "$tag" untested begun -o several.html > /dev/null
"$slide" report first -o one.html > /dev/null
"$slide" report untested -o untested.html > /dev/null
"$slide" report begun -o begun.html > /dev/null

for style in 0 1; do  # dark, light
  for width in 1280 390; do
    load several.html "$width" --blink-settings=preferredColorScheme="$style"
    check several.html ready=8 inked=8 tables=8 requests=0 overflow=false buttons=4 hover=shown hidden=2
    grep -qF 'onerror=console.log(1)&gt;' several.html.dom || fault "the name of a run is not shown as it is"
  done
done
load one.html 390
check one.html ready=8 inked=8 tables=8 requests=0 overflow=false buttons=0 hover=shown
load untested.html 1280
check untested.html ready=5 inked=5 requests=0 hover=shown
load begun.html 1280
check begun.html ready=1 inked=1 requests=0
grep -qF 'interrupted' begun.html.dom || fault "an interrupted run is not called so"
[ "$failed" -eq 0 ] || exit 1
echo "four reports drawn by $browser, light and dark, wide and narrow"
