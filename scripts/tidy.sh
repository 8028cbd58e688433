#!/usr/bin/env bash
# Runs clang-tidy, with the checks of .clang-tidy and clang's own warnings as errors, over every source of a build that
# it configures for Clang in build/tidy. Some minutes on two cores.
# usage: scripts/tidy.sh [FILE...]     default: all sources, those of a room as one file, which takes a third of the time
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/data.sh
install_packages "${build_packages[@]}" "${sanitizer_packages[@]}" "${check_packages[@]}"

build=build/tidy
mkdir -p "$build"
unity=ON
[ $# -eq 0 ] || unity=OFF
cmake --preset release -B "$build" -DCMAKE_CXX_COMPILER=clang++ -DSLIDE_UNITY=$unity -DSLIDE_WARNINGS=ON \
  -DSLIDE_BUILD_TESTS=OFF > "$build/configure.log" 2>&1 ||
  { cat "$build/configure.log"; exit 1; }
cmake --build "$build" --target slide_commit > "$build/commit.log"  # a header that the build makes
files=("$@")
# Files for one instruction set are mostly intrinsics, whose headers clang-tidy takes apart without end.
[ ${#files[@]} -gt 0 ] ||
  mapfile -t files < <(sed -n "s|^ *\"file\": \"$PWD/\(.*\)\".*|\1|p" "$build/compile_commands.json" |
                       grep -E '^((engine|lsh|datasets)/|'$build'/(engine|lsh|datasets)/.*/Unity/)' | grep -v '^engine/kernels/kernels_a' | sort -u)
# The largest first, so that no core waits for them at the end.
mapfile -t files < <(for file in "${files[@]}"; do echo "$(grep -c '^#include' "$file") $file"; done | sort -rn | cut -d ' ' -f 2-)

failed=0
printf '%s\0' "${files[@]}" |
  xargs -0 -P "$(jobs_at_once)" -n 1 clang-tidy -p "$build" --quiet 2> "$build/tidy.err" || failed=1
grep -vE '^[0-9]+ warnings? (and [0-9]+ errors? )?generated\.$' "$build/tidy.err" >&2 || true
[ "$failed" -eq 0 ] || { echo "clang-tidy found something in ${#files[@]} files" >&2; exit 1; }
echo "clang-tidy: ${#files[@]} files are clean"
