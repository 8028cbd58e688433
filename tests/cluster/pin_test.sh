#!/usr/bin/env bash
# `--pin` of several processes on one machine: the model of one process to the bit, no two threads on one core, and one
# line where that cannot be. Exit status 77 without MPI.
# usage: tests/cluster/pin_test.sh RANKS SLIDE [LAUNCHER PLUG-IN]
set -euo pipefail
ranks=${1:?usage: pin_test.sh RANKS SLIDE [LAUNCHER PLUG-IN]} slide=${2:?} launcher=${3:-} plugin=${4:-}
. "$(dirname "$0")/launch.sh"
config=$(cd "$(dirname "$0")/../../configs" && pwd)/default.toml
cd "$work"
limit=60
"$slide" generate --samples 1600 --features 300 --labels 120 --test-samples 300 --out data > log
train=(train "$config" --set data.train=data/train.txt --set train.shards="$ranks" --set train.epochs=1)
one_test=(test one/model.slide data/test.txt)
mapfile -t cores < <(taskset -pc $$ | sed 's/.*: //' | tr , '\n' |
  awk -F- '{ for (core = $1; core <= $NF; ++core) print core }')

"$slide" "${train[@]}" --out one > log

# All ranks fail with one line.
refused() {  # what, exit code, what the line holds
  [ "$2" -eq 2 ] || fail "$1: exit code $2, not 2"
  [ "$(grep -c '^slide: ' log)" = 1 ] || fail "$1: not one line"
  grep -q "^slide: rank 0 of $ranks .*$3" log || fail "$1: another line than '$3'"
  [ ! -e out ] || fail "$1: a folder is left"
}

code=0
launch -n 1 "$slide" "${train[@]}" --out out --pin : -n $((ranks - 1)) "$slide" "${train[@]}" --out out || code=$?
refused 'one process alone with --pin' $code 'rank 1 of .* has another --pin'

code=0
several "$ranks" "${train[@]}" --out out --pin --threads $((${#cores[@]} / ranks + 1)) || code=$?
refused 'too many threads' $code "cannot be bound to a core each: the process may use $((${#cores[@]} / ranks))"

if [ "${#cores[@]}" -lt "$ranks" ]; then
  echo "$ranks processes on ${#cores[@]} cores cannot be pinned, which is refused"
  exit 0
fi

several "$ranks" "${train[@]}" --out shared --pin || fail "exit code $?"
cmp one/model.slide shared/model.slide || fail 'another model on cores that are shared out'
several "$ranks" "${one_test[@]}" --pin || fail "slide test: exit code $?"

# Rank after rank with these cores: launch "${command[@]}".
with_cores() {  # cores of a rank...
  local cores
  command=()
  for cores; do
    [ "${#command[@]}" -eq 0 ] || command+=(:)
    command+=(-n 1 taskset -c "$cores" "$slide" "${train[@]}" --out out --pin)
  done
}

with_cores "${cores[@]:0:ranks}"
launch "${command[@]}" || fail "exit code $?"
cmp one/model.slide out/model.slide || fail 'another model on cores that a launcher gave'
rm -r out

all=$(IFS=,; echo "${cores[*]}")
others=()
for ((rank = 1; rank < ranks; ++rank)); do others+=("$all"); done
with_cores "${cores[0]}" "${others[@]}"
code=0
launch "${command[@]}" || code=$?
refused 'some of the same cores' $code 'ranks 0 and 1 may run on some of the same cores, but not on all'
echo "$ranks processes bind their threads to cores of their own"
