#!/usr/bin/env bash
# Lets every call to the system that the commands make fail, once each: files, memory, the process killed; tells how many
# there were of each command and kind, and fails where one is not survived or not told. Half an hour on two cores.
# usage: scripts/faults.sh [BUILD_FOLDER]     default: build/release
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
[ -x "$build/tests/faults_tests" ] || { echo "faults.sh: $build has no tests; run scripts/test.sh first" >&2; exit 2; }
SLIDE_FAULTS=all exec "$build/tests/faults_tests"
