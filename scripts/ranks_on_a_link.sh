#!/usr/bin/env bash
# Trains with several ranks on this machine as if each had a machine of its own on a network of a given rate: every rank
# runs in a network namespace, joined to the others by a bridge, with a link of that rate in both directions. Prints a
# line of JSON: steps and their time, processor time, and what the ranks sent, counted by the program and by the links.
# usage: scripts/ranks_on_a_link.sh [-n RANKS] [-r RATE] [-d DELAY] [-m MTU] [-c FILE] -- SLIDE train CONFIG ...
#   -n RANKS  processes, 4 unless told; 1 is measured without a network
#   -r RATE   of each link as tc writes it, 1gbit unless told: 100mbit, 10gbit
#   -d DELAY  of what a rank sends, 200us say; needs a kernel with netem
#   -m MTU    bytes of a packet, 9000 unless told: each costs these cores what a network card would do; 1500 for bytes
#             as most networks count them
#   -c FILE   appends the line to FILE too, which scripts/cluster_forecast.py --check compares with its model
# The command is started as it stands, so give it --threads and --out. Needs root, Open MPI, iproute2 and Python
# 3.11; touches no interface or namespace but those that it makes, and takes these down when it ends, however that is.
# Exit code: 0, 1 where the run failed, 2 where it could not be begun.
set -euo pipefail

usage() { sed -n '2,/^# Exit code/s/^# \{0,1\}//p' "$0"; }
refuse() { echo "ranks_on_a_link.sh: $1" >&2; exit 2; }

ranks=4 rate=1gbit delay="" mtu=9000 copy=""
while getopts n:r:d:m:c:h option; do
  case $option in
    n) ranks=$OPTARG ;;
    r) rate=$OPTARG ;;
    d) delay=$OPTARG ;;
    m) mtu=$OPTARG ;;
    c) copy=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[[ $ranks =~ ^[1-9][0-9]?$ ]] || refuse "-n takes 1 to 99 ranks, not '$ranks'"
[[ $rate =~ ^([1-9][0-9]*)(mbit|gbit)$ ]] || refuse "-r takes a rate such as 100mbit or 10gbit, not '$rate'"
mbit=${BASH_REMATCH[1]}
[ "${BASH_REMATCH[2]}" = mbit ] || mbit=$((mbit * 1000))
[[ $mtu =~ ^[1-9][0-9]{3}$ ]] || refuse "-m takes 1000 to 9999 bytes, not '$mtu'"
[[ $delay =~ ^([1-9][0-9]*(us|ms))?$ ]] || refuse "-d takes a delay such as 200us or 5ms, not '$delay'"
[ $# -gt 0 ] || { usage >&2; exit 2; }
command=("$@") out=""
for ((i = 0; i < $#; ++i)); do
  case ${command[i]} in
    --out) out=${command[i + 1]:-} ;;
    --out=*) out=${command[i]#--out=} ;;
  esac
done
[ -n "$out" ] || refuse "the command has no --out FOLDER, where the figures are read"
[ "$(id -u)" = 0 ] || refuse "needs root, to make network namespaces"
for tool in ip tc mpirun python3; do
  [ -n "$(command -v $tool)" ] || refuse "there is no $tool; install iproute2, openmpi-bin and python3"
done

# Namespaces $mark-hub, where the bridge and mpirun are, and $mark-0, $mark-1, ...; addresses 10.213.0.1 and on.
mark=slide-link-$$ net=10.213.0 work=$(mktemp -d)
made=() child=""

clean_up() {
  trap '' INT TERM HUP
  local space pid
  [ -z "$child" ] || kill -KILL "$child" 2> /dev/null || true
  for space in "${made[@]}"; do
    for pid in $(ip netns pids "$space" 2> /dev/null); do kill -KILL "$pid" 2> /dev/null || true; done
  done
  for space in "${made[@]}"; do ip netns del "$space" 2> /dev/null || true; done
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# Runs the command; signals are seen meanwhile.
run() {
  "$@" >&2 < /dev/null &
  child=$!
  wait "$child" || { echo "ranks_on_a_link.sh: the run ended with exit code $?" >&2; exit 1; }
  child=""
}

add_space() {
  made+=("$1")  # first, so that a signal in between leaves nothing
  ip netns add "$1"
  ip -n "$1" link set lo up
}

# What leaves an interface of a namespace has this rate. A queue of 4 MB holds what all ranks send one at once; of a
# bucket of a packet or 20 us hardly anything goes faster. Packets leave one by one, so that counts have their headers.
shape() {
  local bucket=$((mbit * 20 / 8))
  [ "$bucket" -ge $((mtu + 200)) ] || bucket=$((mtu + 200))
  ip -n "$1" link set dev "$2" mtu "$mtu" gso_max_segs 1 up
  tc -n "$1" qdisc add dev "$2" root handle 1: tbf rate "$rate" burst "$bucket" limit 4194304
  [ -z "$3" ] || tc -n "$1" qdisc add dev "$2" parent 1:1 netem delay "$3" limit 100000 2> /dev/null ||
    refuse "this kernel cannot delay (it has no netem); leave -d out"
}

join_ranks() {
  local i
  add_space "$mark-hub"
  ip -n "$mark-hub" link add ranks type bridge
  ip -n "$mark-hub" addr add "$net.254/24" dev ranks
  ip -n "$mark-hub" link set ranks up
  for ((i = 0; i < ranks; ++i)); do
    add_space "$mark-$i"
    ip -n "$mark-hub" link add "rank$i" type veth peer name link netns "$mark-$i"
    ip -n "$mark-hub" link set "rank$i" master ranks
    ip -n "$mark-$i" addr add "$net.$((i + 1))/24" dev link
    shape "$mark-$i" link "$delay"
    shape "$mark-hub" "rank$i" ""
  done
}

sent() { ip netns exec "$mark-$1" cat /sys/class/net/link/statistics/tx_bytes; }

# Open MPI calls `remote HOST COMMAND` where it would call ssh. `rank COMMAND` notes the processor time of a rank.
cat > "$work/remote" << END
#!/usr/bin/env bash
number=\$((\${1##*.} - 1)); shift
mkdir -p "$work/tmp\$number"
TMPDIR="$work/tmp\$number" exec ip netns exec "$mark-\$number" sh -c "\$*"
END
cat > "$work/rank" << END
#!/usr/bin/env bash
TIMEFORMAT='%U %S'
{ time "\$@" 2>&3; } 3>&2 2> "$work/processor.\${OMPI_COMM_WORLD_RANK:-0}"
END
chmod +x "$work/remote" "$work/rank"

# Total processor time of the machine, in ticks.
busy() { awk '$1 == "cpu" { print $2 + $3 + $4 + $7 + $8 + $9 }' /proc/stat; }

before=() after=() begun=$(busy) begun_at=$(date +%s.%N)
if [ "$ranks" = 1 ]; then
  add_space "$mark-hub"
  run ip netns exec "$mark-hub" "$work/rank" "${command[@]}"
else
  join_ranks
  hosts=$(for ((i = 1; i <= ranks; ++i)); do echo "$net.$i:1"; done | paste -sd,)
  for ((i = 0; i < ranks; ++i)); do before+=("$(sent "$i")"); done
  # No core is given to a rank, since there may be fewer; waiting ranks yield.
  run ip netns exec "$mark-hub" env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TMPDIR="$work" \
    mpirun -np "$ranks" --host "$hosts" --bind-to none --leave-session-attached --mca plm rsh \
    --mca plm_rsh_agent "$work/remote" --mca plm_rsh_no_tree_spawn 1 --mca mpi_yield_when_idle 1 \
    --mca oob_tcp_if_include "$net.0/24" --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include "$net.0/24" \
    "$work/rank" "${command[@]}"
  for ((i = 0; i < ranks; ++i)); do after+=("$(sent "$i")"); done
fi

python3 - "$ranks" "$mbit" "$mtu" "${delay:-0}" "$out" "$work" "${before[*]}" "${after[*]}" \
  "$(($(busy) - begun))" "$begun_at" << 'END' | tee -a ${copy:+"$copy"}
import glob, json, os, re, sys, time, tomllib
ranks, mbit, mtu, delay, out, work, before, after, busy, begun_at = sys.argv[1:]
seconds = time.time() - float(begun_at)
with open(os.path.join(out, "config.toml"), "rb") as file:
    config = tomllib.load(file)
with open(os.path.join(out, "metrics.jsonl"), encoding="utf-8") as file:
    events = [json.loads(line) for line in file if line.strip()]
start = next(event for event in events if event["event"] == "start")
epoch = [event for event in events if event["event"] == "epoch"][-1]
processor = sum(sum(map(float, open(path, encoding="ascii").read().split()[-2:]))
                for path in glob.glob(os.path.join(work, "processor.*")))
wire = [b - a for a, b in zip(map(int, before.split()), map(int, after.split()))]
number, unit = re.fullmatch(r"([0-9.]+)([a-z]*)", delay).groups()
others = int(busy) / os.sysconf("SC_CLK_TCK") - processor
training = epoch["train_seconds"] - epoch["setup_seconds"]
point = {
    "ranks": int(ranks), "mbit": int(mbit) if int(ranks) > 1 else None, "mtu": int(mtu),
    "delay_us": float(number) * {"us": 1, "ms": 1e3, "s": 1e6}.get(unit, 1), "cores": len(os.sched_getaffinity(0)),
    "shards": config["train"]["shards"], "threads": config["train"]["threads"], "hidden": config["layer"][0]["size"],
    "batch": config["train"]["batch_size"], "block": config["train"]["block_size"], "labels": start["labels"],
    "steps": epoch["step"], "samples": epoch["samples"], "train_seconds": round(epoch["train_seconds"], 3),
    "step_ms": round(1e3 * training / epoch["step"], 3),
    "phases_ms": {phase: round(1e3 * epoch[phase + "_seconds"] / epoch["step"], 3)
                  for phase in ("data", "hashing", "forward", "backward", "update", "rehash")},
    "processor_seconds": round(processor, 2), "others_cores": round(max(0.0, others / seconds), 2),
    "waited_seconds": round(epoch.get("seconds_waited", 0.0), 3),
    "messages_a_step": round(epoch.get("messages", 0) / epoch["step"], 1),
    "bytes_a_sample": round(epoch.get("bytes_sent", 0) / epoch["samples"], 1),
    "wire_bytes_a_sample": [round(bytes_sent / epoch["samples"], 1) for bytes_sent in wire]}
print(json.dumps(point))
END
