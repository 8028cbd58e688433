#!/usr/bin/env bash
# What several processes do with a model, against what one does: predictions from a file and from standard input, with
# calibrated probabilities, of users with items, a search for a configuration, and a conversion. Exit status 77 without MPI.
# usage: tests/cluster/use_test.sh RANKS SLIDE [LAUNCHER PLUG-IN]
set -euo pipefail
ranks=${1:?usage: use_test.sh RANKS SLIDE [LAUNCHER PLUG-IN]} slide=${2:?} launcher=${3:-} plugin=${4:-}
. "$(dirname "$0")/launch.sh"
configs=$(cd "$(dirname "$0")/../../configs" && pwd)
cd "$work"
"$slide" generate --samples 1600 --features 300 --labels 120 --features-per-sample 20 --test-samples 500 --out data > log
data=(--set data.train=data/train.txt --set data.test=data/test.txt)

# Whether two files of predictions have the same labels with scores as far apart as roundings of hidden units to bfloat16
# make them; labels whose scores are so close may change places, and leave the list.
agree() {  # file, file
  [ "$(wc -l < "$1")" = 500 ] && paste -d '|' "$1" "$2" | tr '\t' ' ' | awk -F '|' '
    {
      delete score
      n = split($1, one, " "); m = split($2, other, " ")
      for (i = 1; i <= n; ++i) { split(one[i], part, ":"); score[part[1]] = part[2] }
      least = n > 0 ? part[2] : 0
      for (i = 1; i <= m; ++i) {
        split(other[i], part, ":")
        off = part[2] - (part[1] in score ? score[part[1]] : least)
        if (off < -0.03 || off > 0.03) { print NR ": " $1 " or " $2; exit 1 }
        common += part[1] in score
      }
      all += n
      if (n != m) { print NR ": " $1 " or " $2; exit 1 }
    }
    END { if (all == 0 || common < 0.97 * all) { print "only " common " labels of " all " agree"; exit 1 } }'
}

for config in default throughput; do
  "$slide" train "$configs/$config.toml" "${data[@]}" --set train.epochs=3 --out "$config" > log
  for options in '--k 3' '--k 7 --scores logit' '--k 4 --inference lsh'; do
    read -ra words <<< "$options"
    predict=(predict "$config/model.slide" "${words[@]}")
    "$slide" "${predict[@]}" data/test.txt > one
    several "$ranks" "${predict[@]}" data/test.txt || fail "$config $options: exit code $?"
    mv log all
    agree one all || fail "$config $options: $ranks processes predict otherwise than one"
    several "$ranks" "${predict[@]}" - < data/test.txt || fail "$config $options: standard input: exit code $?"
    agree all log || fail "$config $options: $ranks processes predict otherwise from standard input"
  done
done

# A calibrated probability depends on the best labels of the sample, which several processes hold.
"$slide" convert default/model.slide calibrated.slide --calibrate data/test.txt > log
for options in '--k 3' '--k 4 --rare 0.5' '--threshold 0.2'; do
  read -ra words <<< "$options"
  "$slide" predict calibrated.slide data/test.txt "${words[@]}" > one
  several "$ranks" predict calibrated.slide data/test.txt "${words[@]}" || fail "calibrated $options: exit code $?"
  agree one log || fail "calibrated $options: $ranks processes predict otherwise than one"
done

# Items that a user has raise those that co-occur with them, but are left out.
awk 'BEGIN { srand(1); for (u = 0; u < 500; ++u) { line = "u" u; kind = int(rand() * 6)
  for (i = 0; i < 8; ++i) line = line " i" (rand() < 0.8 ? kind * 7 + int(rand() * 7) : int(rand() * 42)); print line } }' > users.txt
"$slide" train users.txt --set data.kind=interactions neighbours.share=0.3 neighbours.cooccurrence=1 --out users > log
cut -d ' ' -f 1 users.txt | sed '7s/.*/nobody/' > asked.txt
for options in '--k 3' '--k 3 --keep-known'; do
  read -ra words <<< "$options"
  "$slide" predict users asked.txt "${words[@]}" > one 2> /dev/null
  several "$ranks" predict users asked.txt "${words[@]}" 2> /dev/null || fail "users $options: exit code $?"
  grep -v '^slide: ' log > all
  agree one all || fail "users $options: $ranks processes predict otherwise than one"
done

# Lines with faults, and none at all.
sed '3s/:/:x/' data/test.txt > faulty.txt
code=0; several "$ranks" predict default/model.slide faulty.txt || code=$?
[ "$code" = 2 ] && [ "$(grep -c 'faulty.txt:3:' log)" = 1 ] || fail "a line with a fault: exit code $code, $(cat log)"
code=0; several "$ranks" predict default/model.slide --skip-bad - < faulty.txt || code=$?
[ "$code" = 3 ] && [ "$(grep -cE '^[0-9]+:[0-9]' log)" = 499 ] || fail "a line with a fault that is left out: exit code $code"
# The first alone says so: what it has printed is lost where the launcher sees another end otherwise than done before.
# shellcheck disable=SC2016
launch -n "$ranks" bash -c 'code=0; "$@" || code=$?; echo "$code" > "code.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"' bash \
  "$slide" predict default/model.slide --skip-bad faulty.txt || fail "a line that is left out: the launcher fails"
[ "$(cat code.*)" = "$(printf '3\n'; for ((r = 1; r < ranks; ++r)); do echo 0; done)" ] ||
  fail "a line that is left out: exit codes $(cat code.* | xargs)"
several "$ranks" predict default/model.slide - < /dev/null || fail "no lines: exit code $?"
[ ! -s log ] || fail "predictions of nothing: $(cat log)"

# A search's scores are those of one process but for the roundings of hidden units.
tune=(tune "$configs/throughput.toml" --set data.train=data/train.txt --set train.epochs=2 --set "train.shards=$ranks" --trials 3)
"$slide" "${tune[@]}" --out one.toml > one
several "$ranks" "${tune[@]}" --out all.toml || fail "tune: exit code $?"
trials() { sed -nE 's/ dropped / score 0 /; s/^ +([0-9]+)[ *] score ([0-9.]+) .* data  (.*)/\1 \2 \3/p' "$1"; }
paste -d ' ' <(trials one) <(trials log) | awk '
  { half = NF / 2; off = $2 - $(half + 2); $2 = $(half + 2) = ""
    for (i = 1; i <= half; ++i) same += $i == $(half + i)
    if (same != half || off > 0.003 || off < -0.003) exit 1
    same = 0 }
  END { exit NR != 3 }' || { trials one >&2; fail "tune: $ranks processes find other scores than one"; }
grep -q "^shards = $ranks " all.toml || fail "tune: the configuration does not name its parts"

"$slide" convert data/test.txt one.libsvm > one
several "$ranks" convert data/test.txt all.libsvm || fail "convert: exit code $?"
cmp one.libsvm all.libsvm || fail "convert: $ranks processes write another file"
[ "$(wc -l < log)" = 1 ] || fail "convert says more than a line: $(cat log)"
echo "$ranks processes predict, tune and convert as one"
