#!/usr/bin/env bash
# Models move between machines: trains with a configuration here and on another machine, under emulation, and predicts
# with both models on both. The answers of one model file differ by rounding alone: probabilities by at most 0.0001, and
# the first label only where another one is as near. Exit code 77 = skipped: no program for this machine.
# usage: machines_test.sh CONFIG SLIDE_HERE EMULATOR SLIDE_THERE
set -euo pipefail
config=$1 here=$2 there=("${@:3}")
[ -x "$here" ] || { echo "SKIPPED: no $here to compare with"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The default configuration has so many labels that bounds of all scores are computed first, by products of bytes.
case $config in
  */default.toml) labels=5000 ;;
  */mnist.toml) labels=10 ;;
  *) labels=300 ;;
esac
"$here" generate --samples 600 --features 400 --labels $labels --features-per-sample 15 --out "$work/data" > /dev/null
data=(--set data.train="$work/data/train.txt" --set data.test="$work/data/test.txt" --set data.train_first=0 --set data.test_last=0)
if [[ $config == */interactions.toml ]]; then
  awk 'BEGIN {  # a user has 12 of 40 items, which neighbours share
    for (u = 0; u < 400; ++u) {
      line = "u" u
      for (i = 0; i < 12; ++i) line = line " i" u % 9 * 20 + (u * 7 + i * i) % 40
      print line
    }
  }' > "$work/data/train.txt"
  sed -n '1,60p' "$work/data/train.txt" > "$work/data/test.txt"
  data=(--set data.train="$work/data/train.txt")
fi
run() {  # machine, arguments...
  local machine=$1
  shift
  if [ "$machine" = here ]; then "$here" "$@"; else "${there[@]}" "$@"; fi
}
for machine in here there; do
  run $machine train "$config" "${data[@]}" --set train.epochs=2 --threads 2 --quiet --out "$work/$machine"
done
for model in here there; do
  for machine in here there; do
    run $machine predict "$work/$model" "$work/data/test.txt" --k 5 --threads 2 --json > "$work/$model.$machine"
  done
  python3 - "$work/$model.here" "$work/$model.there" <<'EOF'
import json, sys
bound = 0.0001
rows = [[json.loads(line) for line in open(path)] for path in sys.argv[1:3]]
assert len(rows[0]) == len(rows[1]) > 50, (len(rows[0]), len(rows[1]))
most = other = 0
for a, b in zip(*rows):
    p, q = ({label["id"]: label["score"] for label in row["predictions"]} for row in (a, b))
    most = max([most] + [abs(p[l] - q[l]) for l in p if l in q])
    first, second = a["predictions"][0]["id"], b["predictions"][0]["id"]
    if first != second:
        other += 1
        assert first in q and abs(q[first] - q[second]) <= bound, (a, b)
print(f"{len(rows[0])} samples: probabilities differ by {most:.6f} at most, {other} first labels of equal score")
sys.exit(most > bound)
EOF
done
