#!/usr/bin/env bash
# Kills a rank of a run at some time, once or twice, SLIDE_KILLS runs, and goes on as another number of processes: all
# ranks end within seconds, and the model is that of the run which nobody stopped. Exit status 77 without MPI.
# usage: tests/cluster/kill_test.sh RANKS SLIDE [LAUNCHER PLUG-IN]     RANKS: at most, 4 at most
set -euo pipefail
ranks=${1:?usage: kill_test.sh RANKS SLIDE [LAUNCHER PLUG-IN]} slide=${2:?} launcher=${3:-} plugin=${4:-}
runs=${SLIDE_KILLS:-4}
. "$(dirname "$0")/launch.sh"
config=$(cd "$(dirname "$0")/../../configs" && pwd)/default.toml
cd "$work"
"$slide" generate --samples 3000 --features 300 --labels 200 --features-per-sample 20 --test-samples 200 --out data > log
epochs=12
train=(train "$config" --set data.train=data/train.txt --set data.test=data/test.txt --set train.shards=4
       --set train.epochs="$epochs" --set train.checkpoint_every=5 --set layer.-1.hash.rehash_steps=7)
several 1 "${train[@]}" --out whole || fail "exit code $?"
began=${EPOCHREALTIME/./}
several "$ranks" "${train[@]}" --out timed || fail "exit code $?"
took=$((${EPOCHREALTIME/./} - began))  # microseconds
cmp whole/model.slide timed/model.slide || fail "another model without a kill"

# Sets `command`: what goes on with the run, or begins it again where there is nothing to go on with.
choose_command() {
  command=("${train[@]}" --out run)
  [ ! -e run/config.toml ] || command=(train --resume run)
}

kill_once() {  # processes; returns 1 when the run was faster
  local n=$1 victim=$((RANDOM % $1)) after=$((RANDOM * 32768 + RANDOM))
  after=$((after % took))
  choose_command
  start "$n" "${command[@]}"
  sleep "$((after / 1000000)).$(printf %06d $((after % 1000000)))"
  wait_for 100 test -e "pids/$victim" || fail "no process $victim of $n"
  signal KILL "$victim"
  ends_within 10 "$n processes, $victim of them killed after $after us"
  [ "$code" -ne 0 ]
}

go_on() {  # processes
  choose_command
  several "$1" "${command[@]}" || fail "going on as $1 processes: exit code $?"
  cmp whole/model.slide run/model.slide || fail "going on as $1 processes: another model"
  [ "$(grep -oE '"event":"epoch","epoch":[0-9]+' run/metrics.jsonl | cut -d: -f3 | tr '\n' ' ')" = \
    "$(seq -s ' ' $epochs) " ] || fail "going on as $1 processes: another log"
  [ -z "$(find run -name '*.tmp')" ] || fail "going on as $1 processes: $(find run -name '*.tmp') is left"
}

good=0 kills=0
while [ "$good" -lt "$runs" ]; do
  rm -rf run
  n=$((ranks > 2 ? 2 + RANDOM % (ranks - 1) : 2))
  kill_once "$n" || { cmp whole/model.slide run/model.slide || fail "$n processes: another model"; continue; }
  kills=$((kills + 1))
  if [ $((RANDOM % 2)) -eq 0 ]; then kill_once $((n == 2 ? ranks : n - 1)) && kills=$((kills + 1)); fi
  go_on $(((n + RANDOM % 3) % 4 + 1))
  good=$((good + 1))
done
echo "$good of $runs runs ended cleanly and resumed to the bit ($kills kills of a rank, after $stuck the launcher had to be killed, too)"
