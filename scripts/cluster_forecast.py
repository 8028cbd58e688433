#!/usr/bin/env python3
"""How long a training step takes with so many ranks: a model, compared with measured steps and drawn on to many ranks.

    step    = P / cores + link
    P       = compute + (ranks - 1) * own + ranks * messages * per_message
    link    = exchanges * latency + overhead * bytes / bandwidth
    bytes   = 4 * 2 * hidden * batch * (ranks - 1) / ranks          that a rank sends in a step
    messages = 4 * min(ranks - 1, block) + ranks - 1                that a rank sends in a step

P is processor time, of all ranks. `compute` is that of one process with as many parts (train.shards): it divides.
`own` is what every rank does for itself: it fills the blocks, lists the features of the wide path, makes the first
activations of all samples from their sums. `cores` are those that the ranks use: one each or, where they share a
machine, what it has left for them, if that is fewer. Sums go round in four exchanges (hidden units and gradients, each
collected and spread), the loss in a fifth, under softmax the norms in a sixth; nothing is computed meanwhile. `bytes`
are bfloat16; `overhead` is what headers and acknowledgements add to them on Ethernet.

usage: scripts/cluster_forecast.py --check FILE [--latency-us 60] [--message-us 4]
       scripts/cluster_forecast.py --compute-ms MS --own-ms MS [--hidden 128] [--batch 256] [--block 128] ...

--check takes the lines that scripts/ranks_on_a_link.sh appended to FILE, of one configuration. `compute` and `own` come
from lines that differ in their epochs alone, whose difference is free of what goes before the first step: for one rank,
and on the fastest link for several. A step measured on another link is told from these. Without --check a table is
drawn for --compute-ms and --own-ms, of a step with --batch samples, over ranks on machines of their own; its steps do
not depend on the number of labels, as long as the configuration has so many active neurons, but the memory does.
"""
import argparse
import json
import statistics
import sys

EXCHANGES = 5
OVERHEAD = 1.065       # headers of Ethernet, IP, TCP and Open MPI at 1500 bytes, acknowledgements
RANKS = (1, 2, 4, 8, 16, 64, 256, 1000)
BATCHES = (256, 4096, 65536)
MBITS = (1000, 10000, 100000)


def messages_of(ranks, block):
    return 4 * min(ranks - 1, block) + ranks - 1


def bytes_of(ranks, hidden, batch):
    return 4 * 2 * hidden * batch * (ranks - 1) / ranks


def processor_ms(ranks, block, compute_ms, own_ms, message_us):
    return compute_ms + (ranks - 1) * own_ms + ranks * messages_of(ranks, block) * message_us / 1e3


def link_ms(ranks, hidden, batch, mbit, latency_us):
    if ranks == 1:
        return 0.0
    return EXCHANGES * latency_us / 1e3 + OVERHEAD * bytes_of(ranks, hidden, batch) * 8 / (mbit * 1e3)


def slope_of(points, key):
    """A step's share of `key`, from points that differ in their steps; None where none do."""
    by_steps = {}
    for point in points:
        by_steps.setdefault(point["steps"], []).append(point[key])
    if len(by_steps) < 2:
        return None
    few, many = min(by_steps), max(by_steps)
    return (statistics.median(by_steps[many]) - statistics.median(by_steps[few])) / (many - few)


def fit(points, message_us):
    """(compute_ms, own_ms, ranks of the points that own_ms is from)."""
    alone = slope_of([point for point in points if point["ranks"] == 1], "processor_seconds")
    if alone is None:
        sys.exit("cluster_forecast.py: the file has no two lines of one rank that differ in their epochs")
    compute, owns = 1e3 * alone, {}
    for ranks in sorted({point["ranks"] for point in points} - {1}):
        those = [point for point in points if point["ranks"] == ranks]
        fastest = max(point["mbit"] for point in those)
        slope = slope_of([point for point in those if point["mbit"] == fastest], "processor_seconds")
        if slope is not None:
            sent = messages_of(ranks, those[0]["block"])
            owns[ranks] = (1e3 * slope - compute - ranks * sent * message_us / 1e3) / (ranks - 1)
    if not owns:
        sys.exit("cluster_forecast.py: the file has no two lines of several ranks that differ in their epochs")
    return compute, max(0.0, statistics.median(owns.values())), sorted(owns)


def check(path, latency_us, message_us):
    with open(path, encoding="utf-8") as file:
        points = [json.loads(line) for line in file if line.strip()]
    compute, own, fitted = fit(points, message_us)
    print(f"compute {compute:.2f} ms a step, own {own:.2f} ms a step and rank (from {fitted} ranks), "
          f"{message_us:g} us a message, {latency_us:g} us latency\n")
    print("| Ranks | Mbit/s | Cores left | Messages | Link, ms | Model, ms | Measured, ms | Deviation |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    deviations, groups = [], {}
    for point in points:
        groups.setdefault((point["ranks"], point["mbit"] or 0), []).append(point)
    for (ranks, mbit), those in sorted(groups.items()):
        point = those[0]
        link = link_ms(ranks, point["hidden"], point["batch"], mbit or 1, latency_us + point["delay_us"])
        work = processor_ms(ranks, point["block"], compute, own, message_us)
        # Each line has its own neighbours on the machine.
        cores = [min(ranks, max(0.1, one["cores"] - one["others_cores"])) for one in those]
        model = statistics.median(work / left + link for left in cores)
        measured = statistics.median(one["step_ms"] for one in those)
        deviations.append(model / measured - 1)
        print(f"| {ranks} | {mbit or '-'} | {statistics.median(cores):.2f} | "
              f"{messages_of(ranks, point['block'])} | {link:.2f} | {model:.2f} | {measured:.2f} | "
              f"{100 * deviations[-1]:+.0f} % |")
    print(f"\nLargest deviation: {100 * max(map(abs, deviations)):.0f} %")


def draw(options):
    """Batches other than --batch take compute and own in proportion: blocks are as large."""
    print(f"{options.hidden} hidden units, blocks of {options.block}, {options.labels:.0e} labels of "
          f"{options.label_bytes:.0f} bytes, {options.latency_us:g} us latency, {options.message_us:g} us a message.\n")
    print("| Batch | Ranks | GB a rank | Messages | MB sent | Compute, ms | "
          + " | ".join(f"Step at {mbit // 1000:,} Gbit/s, ms | Speed-up" for mbit in options.mbit) + " |")
    print("|--:|--:|--:|--:|--:|--:|" + "--:|--:|" * len(options.mbit))
    for batch in options.batches:
        times = batch / options.batch
        for ranks in RANKS:
            compute = processor_ms(ranks, options.block, times * options.compute_ms, times * options.own_ms,
                                   options.message_us) / ranks
            steps = [compute + link_ms(ranks, options.hidden, batch, mbit, options.latency_us)
                     for mbit in options.mbit]
            print(f"| {batch:,} | {ranks:,} | {options.labels * options.label_bytes / ranks / 1e9:.1f} | "
                  f"{messages_of(ranks, options.block):,} | "
                  f"{bytes_of(ranks, options.hidden, batch) / 1e6:.2f} | {compute:.2f} | "
                  + " | ".join(f"{step:.2f} | {times * options.compute_ms / step:.1f}" for step in steps) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", metavar="FILE", help="compare the model with the lines of ranks_on_a_link.sh")
    parser.add_argument("--compute-ms", type=float, help="processor time of a step in one process")
    parser.add_argument("--own-ms", type=float, help="of it what each rank does for itself")
    parser.add_argument("--message-us", type=float, default=4.0, help="processor time to send or receive a message")
    parser.add_argument("--latency-us", type=float, default=60.0, help="of the network and of waking up")
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--batch", type=int, default=256, help="samples of the step that was measured")
    parser.add_argument("--block", type=int, default=128)
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES, help="of the table")
    parser.add_argument("--mbit", type=int, nargs="+", default=MBITS, help="of the table")
    parser.add_argument("--labels", type=float, default=1e8)
    parser.add_argument("--label-bytes", type=float, default=2400.0, help="weights, optimizer and tables of a label")
    options = parser.parse_args()
    if options.check:
        check(options.check, options.latency_us, options.message_us)
    elif options.compute_ms is None or options.own_ms is None:
        parser.error("give --check FILE, or --compute-ms and --own-ms")
    else:
        draw(options)


if __name__ == "__main__":
    main()
