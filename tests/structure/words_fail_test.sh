#!/usr/bin/env bash
# Puts each kind of word that words_test.sh looks for into a copy of the sources, and expects it to be told; and what may
# stand, which must not be told.
# usage: tests/structure/words_fail_test.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0
cp -r README.md CMakeLists.txt configs datasets engine lsh scripts "$work/"
mkdir "$work/tests"

# Puts the text into a file of its own, of which so many lines are to be told.
declare -A expected=()
expect() {  # lines, folder/name, text
  local file=${2%.*}${#expected[@]}.${2##*.}
  printf '%b\n' "$3" > "$work/$file"
  expected[$file]=$1
}

expect 1 lsh/new.h '// Which rows are alike.'
expect 1 lsh/new.h 'class AlikeLabels;'
expect 1 lsh/new.h 'constexpr int kMostRows = 3;'
expect 1 lsh/new.h 'struct NearMisses;'
expect 1 lsh/new.h 'class WidePath;'
expect 1 lsh/new.h 'void go_on_from(int start);'
expect 1 lsh/new.h '// Ends without a\n// word.'
expect 1 lsh/new.h '// Best labels, soon: by bounds.'
expect 1 tests/new.cpp 'TEST(Parallel, TakesAllWhoeverAsks) {'
expect 1 configs/new.md 'A training goes\non from a model.'
expect 1 configs/new.toml '# of their likeness'
expect 0 lsh/new.h '// Written as soon as it is known; some will be free soon.\n// The blender and the calendar say most.'
expect 0 lsh/new.h 'constexpr int kMostly = 1, max_panel = 2;'
expect 0 tests/new.cpp 'set("neighbours.companions=0.25");'
expect 0 tests/new.cpp 'files.push_back("lenders");  // old name'

tests/structure/words_test.sh "$work" > "$work/log" 2>&1 || true
for file in "${!expected[@]}"; do
  lines=$(grep -cF "$file:" "$work/log" || true)
  [ "$lines" -eq "${expected[$file]}" ] || {
    echo "told $lines times, not ${expected[$file]}, of: $(cat "$work/$file")" >&2
    faults=$((faults + 1))
  }
done
[ "$faults" -eq 0 ] || exit 1
echo "every word is told"
