#!/usr/bin/env bash
# Whether an experiment of configs/experiments still runs: all of its runs, for one epoch on a tiny generated set, and the
# report of them. Exit status 77 without a Python that reads TOML.
# usage: tests/experiments/experiments_test.sh PYTHON SLIDE FOLDER_OF_PROGRAMS EXPERIMENT WORK_FOLDER
set -euo pipefail
python=${1:?} slide=${2:?} programs=${3:?} name=${4:?} work=${5:?}
"$python" -c 'import tomllib' 2> /dev/null || { echo "SKIPPED: $python is no Python of 3.11 or newer"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
# Threads that wait by spinning would be slow where several tests run at once.
export OMP_WAIT_POLICY=passive
"$python" -B "$(dirname "$0")/../../scripts/experiments.py" --smoke --slide "$slide" --programs "$programs" --out "$work" "$name"
# A row of the report for each run, and nothing of them that is no number.
runs=$(find "$work/$name" -name done.json -not -path '*/probe-model/*' | wc -l)
rows=$(cat "$work"/results-*.md | grep -c '^| tiny |' || true)
[ "$rows" -ge 1 ] && [ "$rows" -eq "$runs" ] || { echo "$runs runs, $rows rows in $work/results-*.md" >&2; exit 1; }
! grep -n '^| tiny |.*nan' "$work"/results-*.md || { echo "a metric is no number" >&2; exit 1; }
