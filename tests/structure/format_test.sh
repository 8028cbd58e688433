#!/usr/bin/env bash
# Every source is laid out as .clang-format says. Exit status 77 without clang-format.
# usage: tests/structure/format_test.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v clang-format > /dev/null || { echo "SKIPPED: there is no clang-format (package clang-format)"; exit 77; }
mapfile -t sources < <(find engine lsh datasets tests scripts -name '*.h' -o -name '*.cpp' | sort)
[ "${#sources[@]}" -ge 100 ] || { echo "format_test.sh: no sources found" >&2; exit 1; }
clang-format --dry-run -Werror "${sources[@]}"
echo "${#sources[@]} files are laid out as .clang-format says"
