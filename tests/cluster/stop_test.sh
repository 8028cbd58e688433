#!/usr/bin/env bash
# Stops a run of several processes by signals, to one of them and to the launcher, and by a rank that cannot write: each
# ends within seconds, says so once, and goes on to the model of a run that nobody stopped. Exit status 77 without MPI.
# usage: tests/cluster/stop_test.sh RANKS SLIDE [LAUNCHER PLUG-IN]
set -euo pipefail
ranks=${1:?usage: stop_test.sh RANKS SLIDE [LAUNCHER PLUG-IN]} slide=${2:?} launcher=${3:-} plugin=${4:-}
. "$(dirname "$0")/launch.sh"
config=$(cd "$(dirname "$0")/../../configs" && pwd)/default.toml
cd "$work"
"$slide" generate --samples 3000 --features 300 --labels 200 --features-per-sample 20 --out data > log
train=(train "$config" --set data.train=data/train.txt --set train.shards=4 --set train.epochs=20
       --set train.checkpoint_every=5 --quiet)
several 1 "${train[@]}" --out whole || fail "exit code $?"

begin() {  # a run that has a checkpoint
  rm -rf run
  start "$ranks" "${train[@]}" --out run
  wait_for 600 test -e run/checkpoint.slide || fail "no checkpoint"
}

goes_on() {  # processes, after what
  several "$1" train --resume run || fail "going on as $1 processes after $2: exit code $?"
  cmp whole/model.slide run/model.slide || fail "going on as $1 processes after $2: another model"
}

stop_rank() {  # signal, rank, exit code
  begin
  signal "$1" "$2"
  ends_within 10 "SIG$1 to rank $2"
  [ "$code" -eq "$3" ] || fail "SIG$1 to rank $2: exit code $code, not $3"
  [ "$(grep -c '^slide: ' log)" = 1 ] || fail "SIG$1 to rank $2: not one line"
  grep -q "^slide: stopped by SIG$1 after step .*--resume run" log || fail "SIG$1 to rank $2: another line"
}

stop_rank TERM $((ranks - 1)) 143
goes_on 1 SIGTERM
stop_rank INT 0 130
goes_on 3 SIGINT

# The launcher gives ranks a second or so. What they save until then is theirs; else the last checkpoint is.
for name in TERM INT; do
  begin
  kill -$name "$job"
  ends_within 10 "SIG$name to the launcher"
  [ "$code" -ne 0 ] || fail "SIG$name to the launcher: exit code 0"
  goes_on $((ranks - 1)) "SIG$name to the launcher"
done

# A rank whose disk is full: all end, the line names it, and the checkpoint before stays.
stop_rank TERM 0 143
cp run/checkpoint.slide before.slide
blocks=100
start "$ranks" train --resume run --quiet
blocks=
ends_within 60 'a rank that cannot write'
[ "$code" -eq 1 ] || fail "a rank that cannot write: exit code $code, not 1"
[ "$(grep -c '^slide: ' log)" = 1 ] || fail 'a rank that cannot write: not one line'
grep -q "^slide: .*checkpoint.slide.*(seen by rank $((ranks - 1)) of $ranks " log || fail 'another line about the disk'
cmp before.slide run/checkpoint.slide || fail 'a rank that cannot write: another checkpoint'
[ -z "$(find run -name '*.tmp')" ] || fail "a rank that cannot write: $(find run -name '*.tmp') is left"
goes_on 2 'a rank that cannot write'
echo "$ranks ranks stop as they should"
