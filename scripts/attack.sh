#!/usr/bin/env bash
# A long attack on `slide serve`, on this machine alone: so many well-formed requests, hostile ones among them, models
# that change meanwhile. Counts what is lost or wrong; fails when anything is. A million take some minutes.
# usage: scripts/attack.sh [REQUESTS [BUILD_FOLDER]]     default: 1000000, build/release
set -euo pipefail
cd "$(dirname "$0")/.."
requests=${1:-1000000} build=${2:-build/release}
[[ $requests =~ ^[1-9][0-9]*$ ]] || { echo "usage: scripts/attack.sh [REQUESTS [BUILD_FOLDER]]" >&2; exit 2; }
[ -x "$build/tests/serve_tests" ] || { echo "attack.sh: $build has no tests; run scripts/test.sh first" >&2; exit 2; }
SLIDE_ATTACK_REQUESTS=$requests exec "$build/tests/serve_tests" --gtest_filter='AttackTest.EveryWellFormed*'
