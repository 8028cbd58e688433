#!/usr/bin/env bash
# Breaks each rule of walls_test.sh once, in a copy of the sources, and expects to be told.
# usage: tests/structure/walls_fail_test.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0

# Runs a command in a fresh copy and expects walls_test.sh to fail with `expected` in what it says.
breach() {  # expected, command
  rm -rf "$work/tree"
  mkdir "$work/tree"
  cp -r engine lsh datasets "$work/tree/"
  (cd "$work/tree" && eval "$2")
  if tests/structure/walls_test.sh "$work/tree" > "$work/log" 2>&1 || ! grep -qF "$1" "$work/log"; then
    echo "not told of: $2" >&2
    cat "$work/log" >&2
    faults=$((faults + 1))
  fi
}

breach 'lsh may not include engine/network' "echo '#include \"engine/network/layer.h\"' >> lsh/simhash.cpp"
breach 'datasets/rows may not include lsh' "echo '#include \"lsh/simhash.h\"' >> datasets/rows/dataset.h"
breach 'engine/config may not include datasets/text' "echo '#include \"datasets/text/table.h\"' >> engine/config/config.h"
breach 'engine/cluster may not include engine/network' \
  "echo '#include \"engine/network/layer.h\"' >> engine/cluster/alone.cpp"
breach 'rooms in a circle' "echo 'target_link_libraries(slide_base PUBLIC slide_run)' >> engine/base/CMakeLists.txt"
breach 'files in a circle' "echo '#include \"engine/network/network.h\"' >> engine/network/layer.h"
breach 'not in a room' "touch engine/loose.cpp"
breach 'has no line for engine/wide/' "sed -i '/^| .engine.wide/d' engine/README.md"
breach 'files of more than 400 lines' "for i in 1 2 3; do seq 500 | sed 's,^,// ,' > lsh/long_\$i.h; done"
[ "$faults" -eq 0 ] || exit 1
echo "every breach is told"
