#!/usr/bin/env bash
# Runs clang-tidy, with the checks of .clang-tidy and clang's own warnings as errors, over every source of a configured
# build. Some minutes on two cores.
# usage: scripts/tidy.sh [BUILD_FOLDER [FILE...]]     default: build/release, all sources
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/data.sh
install_packages "${check_packages[@]}"

build=${1:-build/release}
shift || true
[ -e "$build/compile_commands.json" ] || { echo "tidy.sh: $build is not configured; run scripts/test.sh first" >&2; exit 2; }
files=("$@")
# Files for one instruction set are mostly intrinsics, whose headers clang-tidy takes apart without end.
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(find engine lsh datasets -name '*.cpp' ! -path 'engine/kernels/kernels_a*' | sort)

failed=0
printf '%s\0' "${files[@]}" |
  xargs -0 -P "$(jobs_at_once)" -n 4 clang-tidy -p "$build" --quiet 2> "$build/tidy.err" || failed=1
grep -vE '^[0-9]+ warnings? (and [0-9]+ errors? )?generated\.$' "$build/tidy.err" >&2 || true
[ "$failed" -eq 0 ] || { echo "clang-tidy found something in ${#files[@]} files" >&2; exit 1; }
echo "clang-tidy: ${#files[@]} files are clean"
