#!/usr/bin/env bash
# Checks the structure of the tree against what it says of itself:
#   - each room (a folder of sources) includes only rooms that its CMake target links, directly or through others;
#   - no circle between rooms, and none between files, where X.h and X.cpp are one;
#   - engine/ itself holds main.cpp alone, and each room has its line in engine/README.md;
#   - no file of more than 400 lines.
# Prints what is wrong and exits with 1.
# usage: tests/structure/walls_test.sh [ROOT]
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

faults=0
fault() { echo "$*" >&2; faults=$((faults + 1)); }

mapfile -t rooms < <(find engine lsh datasets -name CMakeLists.txt -exec dirname {} + | sort | grep -vx engine)
mapfile -t sources < <(find engine lsh datasets -name '*.h' -o -name '*.cpp' | sort)
[ "${#rooms[@]}" -ge 10 ] && [ "${#sources[@]}" -ge 100 ] || { echo "walls_test.sh: no sources found" >&2; exit 1; }

# The targets that a room's CMakeLists.txt links, as rooms: slide_base -> engine/base.
linked_by() {  # room
  awk '/^target_link_libraries\(/ { inside = 1 } inside { print } inside && /\)/ { inside = 0 }' "$1/CMakeLists.txt" |
    grep -oE '\bslide_[a-z]+' | sed 's/^slide_//' | sort -u | while read -r name; do
    for room in "${rooms[@]}"; do
      [ "${room##*/}" != "$name" ] || [ "$room" = "$1" ] || echo "$room"
    done
  done
}

declare -A reach  # "room other": room may include other
for room in "${rooms[@]}"; do
  reach["$room $room"]=1
  for other in $(linked_by "$room"); do reach["$room $other"]=1; done
done
for through in "${rooms[@]}"; do
  for room in "${rooms[@]}"; do
    [ -n "${reach["$room $through"]:-}" ] || continue
    for other in "${rooms[@]}"; do
      [ -z "${reach["$through $other"]:-}" ] || reach["$room $other"]=1
    done
  done
done

# FILE:LINE:INCLUDED for each include of the project's own files.
includes() { grep -nHoE '^#include "[^"]+"' "${sources[@]}" | sed -E 's/#include "([^"]+)"/\1/'; }

while IFS=: read -r file line included; do
  [ -e "$included" ] || { [[ $included == */* ]] || fault "$file:$line: '$included' is no path from the root"; continue; }
  from=${file%/*} to=${included%/*}
  [ "$file" = engine/main.cpp ] || [ -n "${reach["$from $to"]:-}" ] ||
    fault "$file:$line: $from may not include $to (its CMake target does not link it)"
done < <(includes)

# `tsort` names what is in a circle.
circles() { tsort 2>&1 >/dev/null | grep -v 'input contains a loop' | sed 's/^tsort: //' || true; }

room_circles=$(for room in "${rooms[@]}"; do for other in $(linked_by "$room"); do echo "$room $other"; done; done | circles)
[ -z "$room_circles" ] || fault "rooms in a circle:" $room_circles

pair_circles=$(includes | sed -E 's/:[0-9]+:/ /; s/\.(h|cpp)( |$)/\2/g' | awk '$1 != $2' | sort -u | circles)
[ -z "$pair_circles" ] || fault "files in a circle:" $pair_circles

mapfile -t loose < <(find engine -maxdepth 1 -type f \( -name '*.h' -o -name '*.cpp' \) ! -name main.cpp)
[ "${#loose[@]}" -eq 0 ] || fault "not in a room: ${loose[*]}"
for room in "${rooms[@]}"; do
  grep -qE "^\| \`$room/\` " engine/README.md || fault "engine/README.md has no line for $room/"
done

mapfile -t long < <(wc -l "${sources[@]}" | awk '$2 != "total" && $1 > 400 { print $2 " (" $1 ")" }')
[ "${#long[@]}" -eq 0 ] || fault "files of more than 400 lines: ${long[*]}"

[ "$faults" -eq 0 ] || { echo "$faults faults in the structure" >&2; exit 1; }
echo "the walls hold: ${#rooms[@]} rooms, ${#sources[@]} files, $(includes | wc -l) includes"
