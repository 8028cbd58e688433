#!/usr/bin/env python3
"""How long a training step takes with so many ranks: a model, compared with measured steps and drawn on to many ranks.

    step     = max(work, link) + apart * min(work, link)
    work     = (compute + (ranks - 1) * own + ranks * (messages * per_message + releases * per_release)) / cores
    link     = exchanges * latency + overhead * bytes / bandwidth
    bytes    = 2 * 2 * hidden * (batch * (1 - share) + batch * share * (ranks - 1))
    messages = 2 * groups * (min(ranks, block) - 1 + ranks - 1) + ranks - 1

Bytes and messages are those that the busiest rank sends in a step: bfloat16 sums go to those who add them up, each a
`share` of the samples, 1 / ranks, or 1 / block where ranks are more than samples of a block; these send the totals to
all; once for the hidden units, once for their gradients. Batches go in two groups where a message has 8 KB, and while
one group is under way the other is computed; `apart` tells what of the shorter of work and link this does not hide.

Four numbers are measured, on the lines of one file:
  compute      the step of one rank: processor time, which divides
  own          what every rank does for itself: 4 ranks on the fastest link
  per_release  what the shaped link itself costs the cores, each time it lets packets go: 4 ranks, link in the middle;
               0 on a real network
  apart        4 ranks, slowest link
All other points are told from these. `cores` are those that the ranks share, one each where they have machines of their
own. `overhead` is what the interfaces counted over what the program did.

usage: scripts/cluster_forecast.py --check FILE [--link-of FILE] [--latency-us 60] [--message-us 4]
       scripts/cluster_forecast.py --compute-ms MS --own-ms MS --apart X [--hidden 128] [--batch 256] [--block 128] ...

--check takes the lines that scripts/ranks_on_a_link.sh appended to FILE, of one configuration; with --link-of,
per_release and apart are those of another file's configuration. Without --check a table is drawn, of a step with
--batches samples, over ranks on machines of their own; its steps do not depend on the number of labels, as long as the
configuration has so many active neurons, but the memory does.
"""
import argparse
import json
import statistics
import sys

EXCHANGES = 5
OVERHEAD = 1.065       # headers of Ethernet, IP, TCP and Open MPI at 1500 bytes, acknowledgements
FITTED = 4             # ranks of the points that own, per_release and apart are from
LEAST_HALVED = 8192    # bytes of a message
RANKS = (1, 2, 4, 8, 16, 64, 256, 1000)
BATCHES = (256, 4096, 65536)
MBITS = (1000, 10000, 100000)


def messages_of(ranks, hidden, batch, block):
    groups = 2 if 2 * hidden * batch / ranks >= LEAST_HALVED and batch > block else 1
    return 2 * groups * (min(ranks, block) - 1 + ranks - 1) + ranks - 1


def bytes_of(ranks, hidden, batch, block):
    """Of the busiest rank."""
    share = -(-block // ranks) / block
    return 2 * 2 * hidden * batch * (1 - share + share * (ranks - 1))


def link_ms(bytes_sent, overhead, mbit, latency_us):
    return EXCHANGES * latency_us / 1e3 + overhead * bytes_sent * 8 / (mbit * 1e3)


def step_ms(work, link, apart):
    return max(work, link) + apart * min(work, link)


class Group:
    """Lines of one number of ranks on one link."""

    def __init__(self, lines, latency_us, message_us):
        self.lines, one = lines, lines[0]
        self.ranks, self.mbit, self.mtu = one["ranks"], one["mbit"] or 0, one["mtu"]
        self.cores = min(one["cores"], self.ranks)
        self.step = statistics.median(line["step_ms"] for line in lines)
        self.link = self.releases = self.message_ms = 0.0
        if self.ranks == 1:
            return
        batch = one["samples"] / one["steps"]
        wire = max(statistics.median(line["wire_bytes_a_sample"]) for line in lines)
        sent = bytes_of(self.ranks, one["hidden"], batch, one["block"])
        self.link = link_ms(sent, wire / one["bytes_a_sample"], self.mbit, latency_us + one["delay_us"])
        # As ranks_on_a_link.sh has it.
        self.releases = self.ranks * wire * batch / max(one["mtu"] + 200, self.mbit * 20 / 8)
        messages = messages_of(self.ranks, one["hidden"], one["batch"], one["block"])
        self.message_ms = self.ranks * messages * message_us / 1e3

    def work(self, compute, own, release_us):
        processor = compute + (self.ranks - 1) * own + self.message_ms + self.releases * release_us / 1e3
        return processor / self.cores


def groups_of(path, latency_us, message_us):
    with open(path, encoding="utf-8") as file:
        points = [json.loads(line) for line in file if line.strip()]
    lines = {}
    for point in points:
        lines.setdefault((point["ranks"], point["mbit"] or 0), []).append(point)
    return [Group(lines[key], latency_us, message_us) for key in sorted(lines)]


def fit(groups, apart=None, release_us=None):
    """(compute_ms, own_ms, release_us, apart, groups that these are from)"""
    alone = [group for group in groups if group.ranks == 1]
    most = max(group.ranks for group in groups)
    several = [group for group in groups if group.ranks == (FITTED if apart is None else min(FITTED, most))]
    several = several or [group for group in groups if group.ranks == most]
    if not alone or not several or most == 1 or (apart is None and len(several) < 3):
        sys.exit("cluster_forecast.py: needs lines of 1 rank, and of 4 ranks on three links or --link-of")
    compute, slowest, fastest = alone[0].step, several[0], several[-1]
    middle = several[len(several) // 2]
    own, given = 0.0, apart is not None
    apart, release_us = apart or 0.0, release_us or 0.0
    for _ in range(100):  # each from the others, until they agree
        hidden = apart * fastest.link
        work = (fastest.step - hidden) * fastest.cores - fastest.message_ms - fastest.releases * release_us / 1e3
        own = max(0.0, (work - compute) / (fastest.ranks - 1))
        if given:
            continue
        work = (middle.step - apart * middle.link) * middle.cores - middle.work(compute, own, 0) * middle.cores
        release_us = max(0.0, 1e3 * work / middle.releases)
        work = slowest.work(compute, own, release_us)
        apart = min(1.0, max(0.0, (slowest.step - max(work, slowest.link)) / min(work, slowest.link)))
    used = [alone[0], fastest] + ([] if given else [middle, slowest])
    return compute, own, release_us, apart, used


def check(options):
    groups = groups_of(options.check, options.latency_us, options.message_us)
    apart = release_us = None
    if options.link_of:
        *_, release_us, apart, _ = fit(groups_of(options.link_of, options.latency_us, options.message_us))
    compute, own, release_us, apart, used = fit(groups, apart, release_us)
    print(f"compute {compute:.2f} ms a step, own {own:.2f} ms a step and rank, {release_us:.0f} us a release, "
          f"{apart:.2f} apart; {options.message_us:g} us a message, {options.latency_us:g} us latency\n")
    print("| Ranks | Mbit/s | Runs | Work, ms | Link, ms | Model, ms | Measured, ms | Deviation | Measured / longer |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    most = 0.0
    for group in groups:
        work = group.work(compute, own, release_us)
        model = step_ms(work, group.link, apart)
        deviation = model / group.step - 1
        most = max(most, abs(deviation))
        told = "fitted" if group in used else f"{100 * deviation:+.0f} %"
        print(f"| {group.ranks} | {group.mbit or '-'} | {len(group.lines)} | {work:.2f} | {group.link:.2f} | "
              f"{model:.2f} | {group.step:.2f} | {told} | {group.step / max(work, group.link):.2f} |")
    print(f"\nLargest deviation: {100 * most:.0f} %")


def draw(options):
    """Batches other than --batch take compute and own in proportion: blocks are as large."""
    print(f"{options.hidden} hidden units, blocks of {options.block}, {options.labels:.0e} labels of "
          f"{options.label_bytes:.0f} bytes, {options.latency_us:g} us latency, {options.message_us:g} us a message.\n")
    print("| Batch | Ranks | GB a rank | Messages | MB sent | Work, ms | "
          + " | ".join(f"Step at {mbit // 1000:,} Gbit/s, ms | Speed-up" for mbit in options.mbit) + " |")
    print("|--:|--:|--:|--:|--:|--:|" + "--:|--:|" * len(options.mbit))
    for batch in options.batches:
        times = batch / options.batch
        for ranks in RANKS:
            messages = messages_of(ranks, options.hidden, batch, options.block) if ranks > 1 else 0
            sent = bytes_of(ranks, options.hidden, batch, options.block) if ranks > 1 else 0
            work = times * (options.compute_ms + (ranks - 1) * options.own_ms) / ranks
            work += messages * options.message_us / 1e3
            links = [link_ms(sent, OVERHEAD, mbit, options.latency_us) if ranks > 1 else 0.0 for mbit in options.mbit]
            steps = [step_ms(work, link, options.apart) for link in links]
            print(f"| {batch:,} | {ranks:,} | {options.labels * options.label_bytes / ranks / 1e9:.1f} | "
                  f"{messages:,} | {sent / 1e6:.2f} | {work:.2f} | "
                  + " | ".join(f"{step:.2f} | {times * options.compute_ms / step:.1f}" for step in steps) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", metavar="FILE", help="compare the model with the lines of ranks_on_a_link.sh")
    parser.add_argument("--compute-ms", type=float, help="processor time of a step in one process")
    parser.add_argument("--own-ms", type=float, help="of it what each rank does for itself")
    parser.add_argument("--link-of", metavar="FILE", help="has the shaped link's numbers")
    parser.add_argument("--apart", type=float, help="share of the shorter of work and link that is not hidden")
    parser.add_argument("--message-us", type=float, default=4.0, help="processor time to send or receive a message")
    parser.add_argument("--latency-us", type=float, default=60.0, help="of the network and of waking up")
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--batch", type=int, default=256, help="samples of the step that was measured")
    parser.add_argument("--block", type=int, default=128)
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES, help="of the table")
    parser.add_argument("--mbit", type=int, nargs="+", default=MBITS, help="of the table")
    parser.add_argument("--labels", type=float, default=1e8)
    parser.add_argument("--label-bytes", type=float, default=5000.0, help="weights, optimizer and tables of a label")
    options = parser.parse_args()
    if options.check:
        check(options)
    elif None in (options.compute_ms, options.own_ms, options.apart):
        parser.error("give --check FILE, or --compute-ms, --own-ms and --apart")
    else:
        draw(options)


if __name__ == "__main__":
    main()
