#!/usr/bin/env bash
# Whether scripts/index_comparison.py runs: over a small generated set, tables and all neurons find nearly all, and the page and the figure
# name each index that is installed; sections of other sets stay. usage: index_comparison_test.sh PYTHON SLIDE INDEX_COMPARISON WORK_FOLDER
set -euo pipefail
python=${1:?} slide=${2:?} program=${3:?} work=${4:?}
[ -n "$python" ] || { echo "SKIPPED: no Python"; exit 77; }
cd "$(dirname "$0")/../.."
rm -rf "$work"
mkdir -p "$work"
printf '# A page\n\n## 9,000 rows\n\nkept\n' > "$work/index-comparison.md"
"$python" -B scripts/index_comparison.py --smoke --slide "$slide" --program "$program" --threads 2 --work "$work" --out "$work"
page=$work/index-comparison.md
[ "$(grep '^## ' "$page")" = $'## 5,000 rows, generated\n## 9,000 rows' ] && grep -q '^kept$' "$page" || { cat "$page" >&2; exit 1; }
grep -q '^| hash tables of this engine | 1024 found | \(1\.0000\|0\.9[0-9]*\) ' "$page" || { cat "$page" >&2; exit 1; }
grep -q '^| all neurons, one sample at a time | [0-9.]\+ | [0-9.]\+ | [0-9.]\+ | ' "$page" || { cat "$page" >&2; exit 1; }
grep -q 'hash tables of this engine' "$work/index-comparison-5000.svg"
for index in $(grep -o '"index": "[a-z ]*"' "$work/results-5000.jsonl" | sort -u | cut -d'"' -f4 | tr ' ' '_'); do
  grep -q "^| ${index%%_*}" "$page" || [ "${index%%_*}" = tables ] || { echo "$index is not on the page" >&2; exit 1; }
done
