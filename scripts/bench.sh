#!/usr/bin/env bash
# Measures on this machine, in one go: an epoch with configs/throughput.toml, our own dense run, PyTorch dense and fastText,
# on one thread and on all. Prints the ratios and writes build/bench/table.json and build/bench/table.md.
# Data come from SLIDE_DATA. Nothing else should run meanwhile; takes ten to thirty minutes on two cores.
# usage: scripts/bench.sh [SET ...] [-- options of scripts/bench_table.py]
#        sets default to debian-depends uboot-commits wikitext2-nextword
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/data.sh

case "${1:-}" in
  -h | --help) sed -n '2,/^set /{ /^#/s/^# \{0,1\}//p }' "$0"; exit 0 ;;
  -?*) [ "$1" = -- ] || { echo "bench.sh: unknown option $1; options of scripts/bench_table.py come after --" >&2; exit 2; } ;;
esac
sets=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do sets+=("$1"); shift; done
[ $# -eq 0 ] || shift
[ ${#sets[@]} -gt 0 ] || sets=(debian-depends uboot-commits wikitext2-nextword)

install_packages "${build_packages[@]}"
install_packages "${baseline_packages[@]}" || echo "Going on with the baselines that are there." >&2
find_data "${sets[@]}"
for name in "${sets[@]}"; do
  [ -z "${SLIDE_DATA:-}" ] || [ -d "$SLIDE_DATA/$name" ] ||
    { echo "bench.sh: there is no data set $name in $SLIDE_DATA" >&2; exit 2; }
done
[ -n "${SLIDE_DATA:-}" ] || { echo "bench.sh: there are no data to measure on" >&2; exit 1; }

cmake --preset release > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
cmake --build --preset release -j "$(jobs_at_once)" --target slide
python3 scripts/bench_table.py --data "$SLIDE_DATA" "$@" "${sets[@]}"
