#!/usr/bin/env bash
# Builds program and tests for 64-bit ARM with a cross compiler and runs them under emulation: the kernels of NEON, what
# computes by them, and training runs whose models move between the machines. On a machine of another kind; minutes.
# usage: [SLIDE_PRESET=arm64-gate] scripts/arm64.sh [ctest options]
#   SLIDE_PRESET=arm64-gate  what the gate builds and runs: kernels, network, and a training run of each configuration
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/data.sh

add_arm64 || { echo "arm64.sh: this needs apt-get, and Debian's packages for arm64" >&2; exit 2; }
install_packages "${build_packages[@]}" "${arm64_packages[@]}"
[ "${SLIDE_PRESET:-arm64}" != arm64 ] || install_packages "${python_packages[@]}" "${arm64_python_packages[@]}" || true

preset=${SLIDE_PRESET:-arm64}
mkdir -p build
cmake --preset arm64 -DSLIDE_WERROR=ON > build/arm64.log 2>&1 || { cat build/arm64.log; exit 1; }
cmake --build --preset "$preset" -j "$(jobs_at_once)"
ctest --preset "$preset" -j "$(jobs_at_once)" "$@"
