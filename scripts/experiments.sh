#!/usr/bin/env bash
# Runs the experiments of configs/experiments/*.toml: each a base configuration and a list of variations, with
# several seeds. Writes configs/experiments/RESULTS.md and results-*.md (mean and spread of accuracy, train seconds) and the
# curves of accuracy over time beside them. Runs that are done are kept in build/experiments and not repeated; --fresh does.
# usage: scripts/experiments.sh [--seeds N] [--threads N] [--fresh] [--report-only] [EXPERIMENT ...]
#        EXPERIMENT is the name of a file without .toml; all by default: about an hour on one thread.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/data.sh

mkdir -p build
find_data debian-depends tate-subjects uboot-commits mulan-bibtex mulan-delicious bible-xref wikitext2-nextword > build/experiments-data.log 2>&1 || { cat build/experiments-data.log >&2; exit 1; }
case " $* " in
  *" --report-only "* | *" --help "* | *" -h "*) ;;
  *)
    [ -n "${SLIDE_DATA:-}" ] ||
      { echo "experiments.sh: no data: set SLIDE_DATA to a folder with the data sets that configs/experiments name" >&2; exit 1; }
    install_packages "${build_packages[@]}" python3
    cmake --preset release > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
    cmake --build --preset release -j "$(jobs_at_once)" --target slide found_negatives recall_probe hidden_probe
    ;;
esac
exec python3 scripts/experiments.py --data "${SLIDE_DATA:-}" "$@"
