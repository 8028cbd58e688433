#!/usr/bin/env bash
# Planned against taken memory of `slide train` on real sets, for 1, 8 and 64 threads: planned_mb.total of metrics.jsonl
# against the peak of the process, in units of 2^20 bytes.
# usage: SLIDE_DATA=FOLDER memory_plan.sh PROGRAM [SET...]
set -euo pipefail
program=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- ml-1m-lists mulan-bibtex mulan-delicious tate-subjects debian-depends
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in "$@"; do
  for threads in 1 8 64; do
    python3 - "$program" "$SLIDE_DATA/$name" "$threads" "$work/run" << 'PYTHON'
import json, os, resource, subprocess, sys

program, data, threads, run = sys.argv[1:]
subprocess.run([program, "train", f"{data}/train.txt", "--test", f"{data}/test.txt", "--threads", threads, "--epochs", "1",
                "--quiet", "--force", "--out", run], check=True, stdout=subprocess.DEVNULL)
taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # units of 2^20 bytes, as planned_mb
with open(f"{run}/metrics.jsonl") as events:
    planned = next(e["planned_mb"]["total"] for e in map(json.loads, events) if "planned_mb" in e)
print(f"{os.path.basename(data):16} {threads:>2} threads: planned {planned:6.0f} MiB, taken {taken:6.0f}, {planned / taken:.2f}")
PYTHON
  done
done
