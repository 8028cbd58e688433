#!/usr/bin/env bash
# Fuzzes a part of the program that reads foreign bytes (tests/README.md), or all of them one after the other, two at a
# time. Builds what is missing, in the preset asan-ubsan. The corpus is kept in build/fuzz/corpus/TARGET and serves the next
# run; what ends a target is left in build/fuzz/found. Exit status 1 if there is such an input.
# usage: scripts/fuzz.sh TARGET MINUTES
#        scripts/fuzz.sh all SECONDS         in all, the time of building and starting not counted; mutations are drawn from
#                                            a fixed seed, so that a change is judged by its own inputs
#        scripts/fuzz.sh minimise TARGET     keeps of a corpus what covers as much
#        scripts/fuzz.sh list
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/data.sh

fuzz=build/fuzz
programs=build/asan-ubsan/tests/fuzz
at_once=2
export OMP_NUM_THREADS=1
# Small, as time goes into it. To see where memory was taken, run the target on what was found without these options.
export ASAN_OPTIONS=malloc_context_size=1:quarantine_size_mb=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export UBSAN_OPTIONS=print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}

targets() { sed -nE 's/^add_fuzz_target\(([a-z_]+).*/\1/p' tests/fuzz/CMakeLists.txt; }

# The longest input of a target: files with matrices or a header of a page need more than lines.
longest_of() {  # target
  case $1 in
    model_file | checkpoint | cache | npz) echo 16384 ;;
    *) echo 4096 ;;
  esac
}

build() {
  install_packages "${build_packages[@]}" "${sanitizer_packages[@]}"
  mkdir -p "$fuzz/found"
  cmake --preset asan-ubsan > "$fuzz/configure.log" || { cat "$fuzz/configure.log"; return 1; }
  cmake --build --preset asan-ubsan --target fuzz_targets -j "$(jobs_at_once)" > "$fuzz/build.log" ||
    { cat "$fuzz/build.log"; return 1; }
  "$programs/fuzz_seeds" "$fuzz/seeds"
}

# One target; prints its line of results, and the fuzzer's last words where something was found.
campaign() {  # target, seconds, seed; 0: by time
  local target=$1 seconds=$2 seed=$3 log="$fuzz/$1.log" code=0 folders
  mkdir -p "$fuzz/corpus/$target"
  folders=("$fuzz/corpus/$target" "$fuzz/seeds/$target")
  [ ! -d "tests/fuzz/regressions/$target" ] || folders+=("tests/fuzz/regressions/$target")
  local options=(-seed="$seed" -max_total_time="$seconds" -max_len="$(longest_of "$target")" -timeout=10 -rss_limit_mb=2048
    -malloc_limit_mb=2048 -entropic=0 -print_final_stats=1 -artifact_prefix="$fuzz/found/$target-")
  [ ! -e "$fuzz/seeds/$target.dict" ] || options+=(-dict="$fuzz/seeds/$target.dict")
  "$programs/fuzz_$target" "${options[@]}" "${folders[@]}" > "$log" 2>&1 || code=$?
  awk -v target="$target" '
    match($0, /cov: [0-9]+/) { edges = substr($0, RSTART + 5, RLENGTH - 5) }
    /^stat::number_of_executed_units/ { executions = $2 }
    /^stat::average_exec_per_sec/ { speed = $2 }
    END { printf "fuzz: %-14s %9d executions, %6d edges covered, %6d/s\n", target, executions, edges, speed }' "$log"
  [ "$code" -eq 0 ] && return 0
  grep -E '^(==|does not hold|SUMMARY|.*runtime error|.*Test unit written)' "$log" || tail -n 20 "$log"
  echo "fuzz: $target FAILED; its input belongs into tests/fuzz/regressions/$target once it is mended"
  return 1
}

all() {  # seconds in all
  local names seconds
  mapfile -t names < <(targets)
  seconds=$(($1 * at_once / ${#names[@]}))
  [ "$seconds" -ge 1 ] || seconds=1
  printf '%s\n' "${names[@]}" | xargs -P "$at_once" -I NAME scripts/fuzz.sh --built NAME "$seconds"
}

minimise() {  # target
  local corpus="$fuzz/corpus/$1" smaller="$fuzz/corpus/$1.smaller"
  rm -rf "$smaller" && mkdir -p "$smaller"
  "$programs/fuzz_$1" -merge=1 -max_len="$(longest_of "$1")" "$smaller" "$corpus" > "$fuzz/$1.log" 2>&1
  rm -rf "$corpus" && mv "$smaller" "$corpus"
  echo "fuzz: $1 keeps $(find "$corpus" -type f | wc -l) inputs"
}

case ${1:-} in
  list) targets ;;
  all) build && all "${2:?seconds}" ;;
  minimise) build && minimise "${2:?target}" ;;
  --built) campaign "$2" "$3" 1 ;;  # called by all()
  *)
    targets | grep -qx -- "${1:-}" || { sed -n '/^# usage/,/list$/s/^# //p' "$0" >&2; exit 2; }
    build && campaign "$1" $((${2:?minutes} * 60)) 0
    ;;
esac
