#!/usr/bin/env bash
# What several processes may not do: each is refused in one line, whatever their number, with the program's exit code,
# and leaves no folder. Exit status 77 without MPI.
# usage: tests/cluster/refuse_test.sh RANKS SLIDE [LAUNCHER PLUG-IN]
set -euo pipefail
ranks=${1:?usage: refuse_test.sh RANKS SLIDE [LAUNCHER PLUG-IN]} slide=${2:?} launcher=${3:-} plugin=${4:-}
. "$(dirname "$0")/launch.sh"
config=$(cd "$(dirname "$0")/../../configs" && pwd)/default.toml
cd "$work"
limit=60
data=(--set data.train=data/train.txt --set data.test=data/test.txt)
train=(train "$config" "${data[@]}" --out out)
"$slide" generate --samples 300 --features 100 --labels 40 --test-samples 50 --out data > log
"$slide" generate --samples 300 --features 100 --labels 40 --test-samples 50 --seed 2 --out other > log

expect() {  # what, code, its exit code, what the one line holds
  [ "$3" -eq "$2" ] || fail "$1: exit code $3, not $2"
  [ "$(grep -c '^slide: ' log)" = 1 ] || fail "$1: not one line"
  grep -q "^slide: .*$4" log || fail "$1: another line than '$4'"
}

refused() {  # code, what the line holds, argument of slide...
  local expected=$1 line=$2 code=0; shift 2
  several "$ranks" "$@" || code=$?
  expect "$*" "$expected" "$code" "$line"
  [ ! -e out ] || fail "$*: a folder is left"
}

# All but the last process as it should be, the last with more arguments.
one_differs() {  # code, what the line holds, argument...
  local expected=$1 line=$2 code=0; shift 2
  launch -n $((ranks - 1)) "$slide" "${train[@]}" --set train.shards="$ranks" : \
    -n 1 "$slide" "${train[@]}" --set train.shards="$ranks" "$@" || code=$?
  expect "one with $*" "$expected" "$code" "$line"
  [ ! -e out ] || fail "one with $*: a folder is left"
}

last=$((ranks - 1))
refused 2 "rank 0 of $ranks .*no.toml" train no.toml --out out
refused 2 "rank 0 of $ranks .*unknown key 'train.nothing'" "${train[@]}" --set train.nothing=1
refused 2 "rank 0 of $ranks .*none.txt: no such file" "${train[@]}" --set train.shards=4 --set data.train=none.txt
refused 2 "rank 0 of $ranks .*no run to go on with" train --resume out
refused 2 'no option --nothing' "${train[@]}" --nothing
refused 2 "unknown command 'nothing'" nothing
refused 2 "rank 0 of $ranks .*neighbours.share" "${train[@]}" --set train.shards=4 --set loss.kind=softmax
one_differs 2 "rank $last of $ranks has another configuration" --set train.seed=2
one_differs 2 "rank $last of $ranks has another data.train" --set data.train=other/train.txt
one_differs 2 "rank $last of $ranks has another data.test" --set data.test=other/test.txt
one_differs 2 "rank $last of $ranks .*none.txt: no such file" --set data.train=none.txt
seq 1 300 | awk '{print $1 % 30}' > groups.txt
seq 1 300 | awk '{print $1 % 29}' > others.txt
train+=(--set data.validation=0.1 --set data.group=groups.txt)
one_differs 2 "rank $last of $ranks has another data.train" --set data.group=others.txt
train=("${train[@]:0:${#train[@]}-4}")

touch file
code=0
several "$ranks" train "$config" "${data[@]}" --set train.shards=4 --out file/out || code=$?
expect 'a folder that cannot be made' 2 "$code" 'file/out: file is no folder'

code=0
several $((ranks + 1)) "${train[@]}" --set train.shards="$ranks" || code=$?
expect 'too many' 2 "$code" "$((ranks + 1)) processes cannot share a network of train.shards = $ranks"

# Folders that are not shared: each process has a folder of its own behind the same name. A quarter of the limit: no
# rank may wait for another forever.
limit=15
apart() {  # what the line holds, argument of slide...
  local line=$1 code=0; shift
  # shellcheck disable=SC2016
  launch -n "$ranks" bash -c 'cd "mine.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && exec "$@"' bash "$slide" "$@" || code=$?
  expect "folders apart: $*" 2 "$code" "rank [1-9] of $ranks .*$line"
}
for ((r = 0; r < ranks; ++r)); do mkdir "mine.$r"; ln -s ../data "mine.$r/data"; done
lone=(train "$config" "${data[@]}" --set train.shards="$ranks")
share='name a folder on a disk that all processes share'
apart "cannot open there what rank 0 writes .*$share" "${lone[@]}" --out out
for ((r = 0; r < ranks; ++r)); do [ ! -e "mine.$r/out" ] || fail 'folders apart: a folder is left'; mkdir "mine.$r/out"; done
apart "cannot open there what rank 0 writes .*$share" "${lone[@]}" --out out
apart "cannot open there what rank 0 writes .*$share" train --resume out
[ -z "$(ls -A mine.0/out)" ] || fail 'folders apart: a file is left'

# All but the last process do one thing, the last another.
differ() {  # what the line holds, argument of slide... : argument of the last
  local line=$1 code=0 first=(); shift
  while [ "$1" != : ]; do first+=("$1"); shift; done
  shift
  launch -n $((ranks - 1)) "$slide" "${first[@]}" : -n 1 "$slide" "$@" < data/test.txt || code=$?
  expect "${first[*]} beside $*" 2 "$code" "$line"
}
"$slide" train "$config" "${data[@]}" --set train.epochs=1 --out model > log
"$slide" train "$config" "${data[@]}" --set train.epochs=1 --seed 9 --out seed > log
sed -n 2,41p data/test.txt > head.txt
sed '9s/ [^ ]*$//' data/test.txt > other.txt
cmp data/test.txt other.txt > log && fail 'the data do not differ'
printf '0 1\n' > one.filter
printf '0 1\n0 2\n' > two.filter
for command in test predict; do
  differ "rank $last of $ranks has another model than rank 0" $command model data/test.txt : $command seed data/test.txt
  differ "has another set of options" $command model - : $command model data/test.txt
  differ "has another set of options" $command model data/test.txt : $command model -
  differ "has another set of options" $command model data/test.txt --k 3 : $command model data/test.txt --k 4
  differ "has another set of samples" $command model data/test.txt : $command model other.txt
  differ "has another set of samples" $command model data/test.txt : $command model head.txt
  differ "has another set of samples" $command model head.txt : $command model data/test.txt
  differ "has another command" "${lone[@]}" --out out : $command model data/test.txt
done
differ "has another filter" test model data/test.txt --filter one.filter : test model data/test.txt --filter two.filter
differ "has another command" predict model data/test.txt : test model data/test.txt
differ "has another command" train --resume out : "${lone[@]}" --out out
differ "slide inspect runs as one process" predict model data/test.txt : inspect model
tune=(tune "$config" "${data[@]}" --set train.epochs=1 --set train.shards="$ranks" --out tuned.toml)
differ "has another search" "${tune[@]}" --trials 1 : "${tune[@]}" --trials 2
differ "has another configuration" "${lone[@]}" --set data.cache=true --out out : "${lone[@]}" --out out
[ ! -e out ] || fail 'a folder is left'
rm -r model
limit=60

# Commands that would do the same thing so many times, and over each other.
"$slide" train "$config" "${data[@]}" --set train.epochs=1 --out model > log
for command in 'serve model/model.slide' 'generate --out out' 'inspect model/model.slide' 'report model' 'config --doc'; do
  read -ra words <<< "$command"
  refused 2 "slide ${words[0]} runs as one process; start it without mpirun" "${words[@]}"
done
several "$ranks" --version || fail "--version: exit code $?"
several "$ranks" test --help || fail "test --help: exit code $?"
launch -n 1 "$slide" test model/model.slide data/test.txt || fail "one process under the launcher: exit code $?"
echo "what $ranks processes may not do is refused once"
