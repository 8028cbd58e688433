#!/usr/bin/env bash
# Runs mpi_ranks as several processes: its tests, with whole messages and with messages cut into pieces; then ways in
# which one rank ends early, after each of which all must be gone within seconds. Exit status 77 without MPI.
# usage: tests/cluster/mpi_test.sh RANKS PROGRAM [LAUNCHER PLUG-IN]
set -euo pipefail
ranks=${1:?usage: mpi_test.sh RANKS PROGRAM [LAUNCHER PLUG-IN]}
program=${2:?}
launcher=${3:-}
plugin=${4:-}
. "$(dirname "$0")/launch.sh"
run() { launch -n "$ranks" "$program" "$@"; }

for longest in 1073741824 999; do
  run "$work" "$longest" || fail "with messages of at most $longest bytes, exit code $?"
  grep -q '\[  PASSED  \]' "$work/log" || fail "no test was run"
done

# Ways to end, with the exit code, the rank's own or what the launcher makes of a signal.
limit=30
for way in abort:7 throw:3 leave:5 kill:137; do
  code=0 began=$SECONDS
  run "${way%:*}" || code=$?
  [ "$code" -eq "${way#*:}" ] && [ $((SECONDS - began)) -lt "$limit" ] || fail "${way%:*}: exit code $code, not ${way#*:}"
done

# Said to be one of several by another launcher than the one of this MPI.
code=0
PMI_SIZE=2 TMPDIR=/tmp timeout 60 "$program" "$work" 999 > "$work/log" 2>&1 || code=$?
{ [ "$code" -eq 2 ] && grep -q 'started as one of 2, but MPI knows of 1' "$work/log"; } || fail "another launcher: $code"
echo "$ranks ranks exchange, gather, write and end as they should"
