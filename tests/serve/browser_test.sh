#!/usr/bin/env bash
# Trains two small models, serves them, and tries their page in headless Chromium: labels with bars and the words that
# spoke for each, an input that is refused, nothing wider than the screen of a phone, names that hold a tag, no word on
# the console.
# usage: browser_test.sh SLIDE; exit 77 = skipped for want of Chromium.
set -euo pipefail
slide=$(realpath "${1:?usage: browser_test.sh SLIDE}")
. "$(dirname "$0")/../browser.sh"
find_browser "the page"
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OMP_WAIT_POLICY=passive
work=$(mktemp -d) server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
export HOME=$work

failed=0
fault() { echo "FAILED: $*" >&2; failed=1; }

serve() {  # model; sets url and server
  [ -z "$server" ] || { kill "$server" && wait "$server" || true; }
  : > serve.log  # what the server before said in it must not count
  "$slide" serve "$1" --port 0 > serve.log & server=$!
  until grep -q listening serve.log || ! kill -0 "$server"; do sleep 0.05; done
  url=$(sed 's/listening on //' serve.log)
}

# The page in a window as wide as a desk's screen, asked about an input as it stands in an address: page.dom, page.log.
load() {  # input
  local code=0
  for _ in 1 2 3; do  # a browser that dies says nothing about the page: it is asked again
    code=0
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
      --enable-logging=stderr --virtual-time-budget=10000 --window-size=1280,900 --dump-dom "$url/?input=$1" \
      > page.dom 2> page.log || code=$?
    [ "$code" -ne 0 ] || break
    rm -rf "$work/profile"
  done
  [ "$code" -eq 0 ] || fault "$browser did not show the page"
  if grep ':CONSOLE' page.log | grep -v 'Failed to load resource'; then fault "the page speaks on the console"; fi
}
has() { grep -qF -- "$1" page.dom || fault "the page has no '$1'"; }

for _ in 1 2 3 4 5 6; do
  printf 'music\ta violin, a cello and a choir\n<b>garden\troses and tulips\ncooking\tbread from the oven\n'
done > train.tsv
"$slide" train train.tsv --out text --epochs 20 --set text.min_count=1 --set neighbours.share=0 --quiet
"$slide" generate --samples 300 --features 120 --labels 60 --seed 3 --out data > /dev/null
"$slide" train data/train.txt --out ids --epochs 2 --quiet

serve text
load 'the%20cello%20sings'
has '<li><div class="name"><b>music</b><span>'
has '<div class="bar"><div style="width: '
grep -oF '<p class="because">' page.dom | grep -c . | grep -qx 3 || fault "not three labels with what speaks for them"
grep -o '<b>music.*' page.dom | grep -qE '^<b>music</b>.{0,120}<p class="because">cello \+' || fault "'cello' does not speak for music"
has '&lt;b&gt;garden'
has 'Model '
load '%3Cscript%3Econsole.log(1)%3C/script%3E'
has 'music'

serve ids
load '3:1%20700:1'
has '>Features that the model does not know, left out: 1.<'
load '3:1%207'
has '<b>label '
load 'cello'
has "'cello' is no ID:VALUE"
[ "$failed" -eq 0 ] || exit 1
echo "the page of two models tried by $browser"
