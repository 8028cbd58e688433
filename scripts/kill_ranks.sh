#!/usr/bin/env bash
# Trains as several processes, so many runs, and kills one of them at some time; fails unless all ranks end within seconds
# and the run goes on, as another number of processes, to the model of a run that nobody stopped. Eight seconds a run on two
# cores.
# usage: scripts/kill_ranks.sh [RUNS [BUILD_FOLDER]]     default: 100, build/release
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-100} build=${2:-build/release}
[[ $runs =~ ^[1-9][0-9]*$ ]] || { echo "usage: scripts/kill_ranks.sh [RUNS [BUILD_FOLDER]]" >&2; exit 2; }
build=$(cd "$build" && pwd)
[ -e "$build/slide_mpi.so" ] || { echo "kill_ranks.sh: $build has no slide_mpi.so; see scripts/README.md" >&2; exit 2; }
SLIDE_KILLS=$runs exec tests/cluster/kill_test.sh 4 "$build/slide" "$(command -v mpirun || echo mpirun)" "$build/slide_mpi.so"
