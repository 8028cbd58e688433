#!/usr/bin/env bash
# Whether scripts/baselines/graph_filter.py runs: over a small log, its measures of the scores alone are those of `slide
# evaluate`. usage: graph_filter_test.sh PYTHON SLIDE WORK_FOLDER
set -euo pipefail
python=${1:?} slide=$(realpath "${2:?}") work=${3:?}
"$python" -c 'import scipy' 2> /dev/null || { echo "SKIPPED: no SciPy"; exit 77; }
script=$(realpath "$(dirname "$0")/../../scripts/baselines/graph_filter.py")
rm -rf "$work"
mkdir -p "$work"
cd "$work"
# Users like the items of their group; a fifth of each user's is asked for.
awk 'BEGIN { srand(3); for (u = 0; u < 120; ++u) {
  known = "u" u; test = "u" u
  for (i = 0; i < 60; ++i) if (rand() < (i % 4 == u % 4 ? 0.6 : 0.05)) { if (rand() < 0.2) test = test " i" i; else known = known " i" i }
  print known > "known"; if (test ~ / /) print test > "test" } }'
"$slide" train known --set data.kind=interactions train.epochs=1 --out run --quiet
"$slide" recommend run --k 60 --out scores.npz 2> log
"$python" -B "$script" known test --scores scores.npz --vectors 8 > told
"$slide" evaluate scores.npz test --set data.kind=interactions --known known --k 20 --json > evaluated 2> log
"$python" - <<'PYTHON'
import json
recall, ndcg = [float(word) for word in open("told").readline().split()[2::2]]
said = json.load(open("evaluated"))
assert abs(recall - said["recall_at_20"]) < 6e-5 and abs(ndcg - said["ndcg_at_20"]) < 6e-5, (recall, ndcg, said)
PYTHON
[ "$(wc -l < told)" = 10 ]
