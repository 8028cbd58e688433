#!/usr/bin/env bash
# End-to-end accuracy on real data: trains with a configuration as it is and holds the last evaluation against
# floors, and the P@1 of candidates of hash tables against 99.9 % of the P@1 of all neurons. usage: accuracy_test.sh SLIDE CONFIG SET P@1 P@5 [--set ...]; exit 77 = skipped for want of data.
set -euo pipefail
slide=$1 config=$2 set=$3 floor_1=$4 floor_5=$5
shift 5
if [ -z "${SLIDE_DATA:-}" ] || [ ! -d "$SLIDE_DATA/$set" ]; then
  echo "SKIPPED: no $set under SLIDE_DATA=${SLIDE_DATA:-(not set)}"
  exit 77
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
case $set in
  mnist*) train=$SLIDE_DATA/$set/t10k-images-idx3-ubyte.gz test=$train ;;
  *)      train=$SLIDE_DATA/$set/train.txt test=$SLIDE_DATA/$set/test.txt ;;
esac
"$slide" train "$config" --set data.train="$train" --set data.test="$test" --set train.eval_every=0 --out "$out" "$@"
case $set in  # of ten labels all are candidates
  mnist*) tables='{"p_at_1": 1}' ;;
  *)      tables=$("$slide" test "$out" "$test" --inference lsh --json) ;;
esac
python3 - "$out/metrics.jsonl" "$floor_1" "$floor_5" "$tables" <<'EOF'
import json, sys
path, floor_1, floor_5, tables = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), json.loads(sys.argv[4])
last = [e for e in map(json.loads, open(path)) if e["event"] == "eval"][-1]
print(f"P@1 {last['p_at_1']:.4f} (at least {floor_1}), P@5 {last['p_at_5']:.4f} (at least {floor_5})")
print(f"P@1 by tables {tables['p_at_1']:.4f}")
sys.exit(last["p_at_1"] < floor_1 or last["p_at_5"] < floor_5 or tables["p_at_1"] < 0.999 * last["p_at_1"])
EOF
