#!/usr/bin/env bash
# Installs what is missing, builds the release preset with warnings as errors and runs all tests.
# Tests on real data look in SLIDE_DATA, a folder with <name>/{train,test}.txt, and are skipped without it.
# usage: [SLIDE_UNITY_TESTS=ON] scripts/test.sh [ctest options]     ON: each test program is built as one file
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/data.sh

install_packages "${build_packages[@]}"
install_packages "${python_packages[@]}" || echo "Going on without the Python package." >&2
install_packages "${oracle_packages[@]}" || echo "Going on without NumPy: nothing recomputes predictions." >&2
install_packages "${package_packages[@]}" "${package_test_packages[@]}" || echo "Going on without debootstrap: no package is tried." >&2
find_data

cmake --preset release -DSLIDE_WERROR=ON -DSLIDE_UNITY_TESTS="${SLIDE_UNITY_TESTS:-OFF}" > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
cmake --build --preset release -j "$(jobs_at_once)"
ctest --preset release -j "$(jobs_at_once)" "$@"
