#!/usr/bin/env bash
# Installs what is missing, builds a preset, release unless told, with warnings as errors and runs all tests.
# Tests on real data look in SLIDE_DATA, a folder with <name>/{train,test}.txt, and are skipped without it.
# usage: [SLIDE_PRESET=dev] scripts/test.sh [ctest options]
#   -L fast           the fast tier: after a build, a minute
#   SLIDE_PRESET=dev  in build/dev, each source compiled alone: what was changed is built again soonest
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/data.sh

install_packages "${build_packages[@]}"
install_packages "${python_packages[@]}" || echo "Going on without the Python package." >&2
install_packages "${oracle_packages[@]}" || echo "Going on without NumPy: nothing recomputes predictions." >&2
install_packages "${package_packages[@]}" "${package_test_packages[@]}" || echo "Going on without debootstrap: no package is tried." >&2
find_data

preset=${SLIDE_PRESET:-release}
cmake --preset "$preset" -DSLIDE_WERROR=ON > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
cmake --build --preset "$preset" -j "$(jobs_at_once)"
# Threads that wait by spinning would take the cores of the other tests.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
ctest --preset "$preset" -j "$(tests_at_once)" "$@"
