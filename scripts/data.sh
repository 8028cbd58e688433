# Finds the real data sets for tests and benchmarks. To be sourced from the root of the tree.

# Sets that tests read; the largest one is for benchmarks alone.
test_sets=(debian-depends tate-subjects uboot-commits mulan-delicious mulan-bibtex mnist-t10k)

# Exports SLIDE_DATA when it is unset and the sets lie packed beside the repository; else says what will be missed.
# Arguments: the sets to unpack, default those the tests read.
find_data() {
  mkdir -p build
  if [ -n "${SLIDE_DATA:-}" ]; then
    echo "Real data: $SLIDE_DATA"
  elif [ -x ../shared/data/unpack.sh ]; then
    [ $# -gt 0 ] || set -- "${test_sets[@]}"
    ../shared/data/unpack.sh build/data "$@"
    export SLIDE_DATA=$PWD/build/data
    echo "Real data: unpacked into build/data"
  else
    echo "Real data: SLIDE_DATA is not set, so tests on real data WILL BE SKIPPED."
    echo "           Set it to a folder with <name>/train.txt and <name>/test.txt to run them."
  fi
}

# Jobs for compilers and tests: the cores there are, and not more than memory allows (about 1 GB a job).
jobs_at_once() {
  local cores memory
  cores=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN || echo 2)
  memory=$(awk '/^MemAvailable/ {print int($2 / 1000000)}' /proc/meminfo 2>/dev/null || true)
  [ -n "$memory" ] && [ "$memory" -ge 1 ] && [ "$memory" -lt "$cores" ] && cores=$memory
  echo "$cores"
}

# Tests that run at once: one and a half as many, for some wait most of the time.
tests_at_once() { echo $((($(jobs_at_once) * 3 + 1) / 2)); }
