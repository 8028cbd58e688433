# Read by the tests that start `slide` as several processes. Sets `work`, a folder for this test alone that is removed at
# the end, and the environment of the launcher; skips the test, exit status 77, without MPI.
# usage: . launch.sh     behind: slide=PROGRAM launcher=MPIRUN plugin=FILE
# shellcheck shell=bash disable=SC2154
[ -n "$plugin" ] || { echo "SKIPPED: built without MPI (package libopenmpi-dev)"; exit 77; }
[ -x "$launcher" ] || { echo "SKIPPED: there is no mpirun (package openmpi-bin)"; exit 77; }
export SLIDE_MPI_PLUGIN=$plugin
# More ranks than cores, also as root; names of Open MPI 4 and 5.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
  OMPI_MCA_hwloc_base_binding_policy=none PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMP_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$(basename "$0"): $*" >&2; [ ! -e "$work/log" ] || cat "$work/log" >&2; exit 1; }

# The launcher with these arguments; what it and all ranks print goes into the log, errors last: the launcher passes
# them on in pieces, which would cut lines of output in two. TMPDIR: the launcher's own files, whose names grow too long
# for sockets in deep folders.
launch() {
  local ended=0
  TMPDIR=/tmp timeout -k 5 "${limit:-120}" "$launcher" "$@" > "$work/log" 2> "$work/errors" || ended=$?
  cat "$work/errors" >> "$work/log"
  return "$ended"
}

# So many processes that each run `slide` with these arguments; one is the program alone.
several() {  # processes, argument...
  local n=$1; shift
  if [ "$n" -gt 1 ]; then launch -n "$n" "$slide" "$@"; else "$slide" "$@" > "$work/log" 2>&1; fi
}

# The same in the background, at least two: `job` is the launcher, pids/R the process of rank R. The last rank may write
# no files above `blocks` KiB, if set. Call it in $work.
start() {  # processes, argument...
  local n=$1; shift
  rm -rf "$work/pids"; mkdir "$work/pids"
  # shellcheck disable=SC2016
  TMPDIR=/tmp blocks=${blocks:-} "$launcher" -n "$n" bash -c 'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
    if [ -n "$blocks" ] && [ "$rank" = "$1" ]; then ulimit -f "$blocks"; fi
    echo $$ > "$2/new.$rank"; mv "$2/new.$rank" "$2/$rank"
    shift 2; exec "$@"' bash $((n - 1)) "$work/pids" "$slide" "$@" > "$work/log" 2>&1 &
  job=$!
}

wait_for() {  # tenths of a second, command...
  local tenths=$1; shift
  until "$@" 2> /dev/null; do
    [ $((tenths--)) -gt 0 ] || return 1
    sleep 0.1
  done
}

# Sends a signal to ranks of the job: to those of this folder, should a number be another's meanwhile.
signal() {  # name, rank...
  local name=$1 rank pid; shift
  for rank; do
    pid=$(cat "$work/pids/$rank")
    [ ! "/proc/$pid/cwd" -ef "$PWD" ] || kill -"$name" "$pid" 2> /dev/null || true
  done
}
all_gone() { local pid; for pid in "$work"/pids/*; do [ ! "/proc/$(cat "$pid")/cwd" -ef "$PWD" ] || return 1; done; }
job_gone() { ! kill -0 "$job"; }

# Waits for the job, whose exit code becomes `code`; fails where launcher and ranks are not gone in so many seconds. Counts
# in `stuck` how often all ranks were gone and the launcher had named the killed one, but stayed: that of Open MPI 4 takes
# a lock of its own twice (PMIx_server_finalize) where a rank is killed while it connects to it.
stuck=0
ends_within() {  # seconds, what
  code=0
  if ! wait_for $(($1 * 10)) job_gone && all_gone && grep -q 'PMIX ERROR: UNREACHABLE' "$work/log" &&
    grep -q 'exited on signal 9' "$work/log"; then
    stuck=$((stuck + 1))
    kill -KILL "$job"
  fi
  if ! wait_for $(($1 * 10)) job_gone || ! wait_for 20 all_gone; then
    kill -KILL "$job" 2> /dev/null || true
    mapfile -t ranks_here < <(ls "$work/pids")
    signal KILL "${ranks_here[@]}"
    fail "$2: it did not end within $1 s"
  fi
  wait "$job" || code=$?
}
