#!/usr/bin/env bash
# Trains networks of all kinds as one process and as several: the model file is the same to the bit, the log has the lines
# of one run, and what it says of the test data `slide test` says of the model. Exit status 77 without MPI.
# usage: tests/cluster/train_test.sh RANKS SLIDE [LAUNCHER PLUG-IN]
set -euo pipefail
ranks=${1:?usage: train_test.sh RANKS SLIDE [LAUNCHER PLUG-IN]} slide=${2:?} launcher=${3:-} plugin=${4:-}
. "$(dirname "$0")/launch.sh"
configs=$(cd "$(dirname "$0")/../../configs" && pwd)
cd "$work"
"$slide" generate --samples 1600 --features 300 --labels 120 --features-per-sample 20 --test-samples 2000 --out data > log

# The output layer alone, with hash tables of the features themselves.
cat > output.toml <<'EOF'
[train]
batch_size = 64
block_size = 32
[optimizer]
learning_rate = 0.02
[loss]
kind = "sigmoid"
[neighbours]
share = 0
[[layer]]
kind = "sampled"
lsh = 24
uniform = 24
wide = false
[layer.hash]
k = 4
tables = 8
range_pow = 4
rehash_steps = 5
rebuild_steps = 12
EOF
tables=(--set layer.-1.lsh=64 --set layer.-1.hash.rehash_steps=5 --set layer.-1.hash.rebuild_steps=12)

# A value of the last line of this event in a log.
value_of() {  # event, key, file
  grep "\"event\":\"$1\"" "$3" | tail -n 1 | grep -oE "\"$2\":[-+.eE0-9]+" | head -n 1 | cut -d: -f2
}

# Every epoch once, in order, and what the ranks told each other.
check_log() {  # name, processes, epochs
  local log=$1.$2/metrics.jsonl epochs
  epochs=$(grep -oE '"event":"epoch","epoch":[0-9]+' "$log" | cut -d: -f3 | tr '\n' ' ')
  [ "$epochs" = "$(seq -s ' ' "$3") " ] || fail "$1 on $2: the log has epochs $epochs"
  [ "$(grep -c '"event":"start"' "$log")" = 1 ] || fail "$1 on $2: the log does not begin once"
  [ "$(grep -c '"event":"eval"' "$log")" = "$3" ] || fail "$1 on $2: the log has other evaluations than one an epoch"
  [ "$(value_of epoch ranks "$log")" = "$2" ] || fail "$1 on $2: the log has other ranks"
  for key in bytes_sent messages seconds_waited; do
    value_of epoch $key "$log" | awk '{ exit !($1 > 0) }' || fail "$1 on $2: the log has no $key"
  done
}

# Whether a number of two JSON objects is the same, to .002: of 2,000 samples, four whose two best labels are as good
# as tied change sides with the roundings of parts.
diff_of() {  # key, file, file
  grep -ohE "\"$1\": ?[.eE0-9-]+" "$2" "$3" | awk -F: 'NR == 1 { first = $2 } { off = $2 - first }
    END { exit !(NR == 2 && off < 0.0021 && off > -0.0021) }'
}

# P@k of the log and of `slide test`, which adds hidden units up without the roundings of parts.
check_precision() {  # name, processes
  local k told
  "$slide" test "$1.$2/model.slide" data/test.txt --json > tested
  several "$2" test "$1.$2/model.slide" data/test.txt --json || fail "$1: slide test as $2 processes: exit code $?"
  mv "$work/log" tested.together
  [ "$(wc -l < tested.together)" = 1 ] || fail "slide test as $2 processes says more than one line"
  for k in 1 3 5; do
    # As several processes the parts are others than those of the run.
    diff_of "p_at_$k" tested tested.together ||
      fail "$1: P@$k of slide test as $2 processes is that of $(cat tested.together), not of $(cat tested)"
    told=$(value_of eval "p_at_$k" "$1.$2/metrics.jsonl")
    grep -oE "\"p_at_$k\": ?[.eE0-9-]+" tested | head -n 1 | awk -F: -v told="$told" '{ off = $2 - told }
      END { exit !(NR == 1 && told > 0.02 && off < 0.0021 && off > -0.0021) }' ||
      fail "$1 on $2: P@$k is $told in the log, but $(cat tested)"
  done
}

same() {  # name, argument of slide train...
  local name=$1 n; shift
  for n in 1 "$ranks" $((ranks - 1)); do
    [ ! -d "$name.$n" ] || continue
    several "$n" train "$@" --set data.train=data/train.txt --set data.test=data/test.txt --set train.shards=4 \
      --set train.epochs=2 --out "$name.$n" || fail "$name as $n processes: exit code $?"
    cmp "$name.1/model.slide" "$name.$n/model.slide" || fail "$name as $n processes: another model"
    [ "$n" -eq 1 ] || { grep -q ", $n processes of 1 threads" log && grep -q 'epoch 2/2  step .* sent  .* s waited' log; } ||
      fail "$name as $n processes: the run does not tell of them"
    [ "$n" -eq 1 ] || { check_log "$name" "$n" 2; check_precision "$name" "$n"; }
  done
  echo "$name: the same as 1 and as $ranks processes"
}

same one-vs-all "$configs/default.toml" "${tables[@]}" --set data.idf_power=0.5
same softmax-bf16 "$configs/throughput.toml" "${tables[@]}" --set optimizer.learning_rate=0.2
same label-weights "$configs/default.toml" "${tables[@]}" --set data.label_weights=-0.5
same label-weights-softmax "$configs/throughput.toml" "${tables[@]}" --set data.label_weights=-0.5
awk -v labels="$(head -n 1 data/train.txt | cut -d' ' -f3)" 'NR == 1 { print labels, $2, 0; next }
  NR <= labels + 1 { $1 = ""; print }' data/train.txt > data/labels.txt
same label-text "$configs/default.toml" "${tables[@]}" --set data.label_text=data/labels.txt
same output-alone output.toml
same output-alone-bf16-momentum output.toml --set train.weights=bf16 --set optimizer.kind=momentum
same dense-adam "$configs/default.toml" --set layer.-1.kind=dense --set layer.-1.wide=false --set optimizer.kind=adam \
  --set optimizer.learning_rate=0.005 --set neighbours.share=0
same dense-softmax-sgd "$configs/throughput.toml" --set layer.-1.kind=dense --set optimizer.kind=sgd
same dropout-momentum "$configs/throughput.toml" "${tables[@]}" --set layer.0.dropout=0.2 --set optimizer.kind=momentum \
  --set train.weights=fp32
same wide-adam-bf16 "$configs/default.toml" "${tables[@]}" --set optimizer.kind=adam --set optimizer.learning_rate=0.01 \
  --set train.weights=bf16 --set layer.-1.frequency=20
same without-state "$configs/default.toml" --set train.save_optimizer=false --set data.validation=0.1
cmp without-state.1/best-model.slide "without-state.$ranks/best-model.slide" || fail "another best model"

# Every process holds the same samples out.
rows=$(sed -n '1s/ .*//p' data/train.txt)
seq 1 "$rows" | awk '{print $1 % 37}' > groups.txt
seq 1 "$rows" | awk '{print $1 * 7919 % 1009}' > times.txt
same grouped "$configs/default.toml" --set data.validation=0.1 --set data.group=groups.txt
cmp grouped.1/best-model.slide "grouped.$ranks/best-model.slide" || fail "another best model of groups"
same later "$configs/default.toml" --set data.validation=0.1 --set data.group=groups.txt --set data.time=times.txt
cmp later.1/best-model.slide "later.$ranks/best-model.slide" || fail "another best model of times"
