#!/usr/bin/env python3
"""Runs our engine and the baselines on the same data and writes their epoch times side by side.

Times of ours are differences of `train_seconds` in metrics.jsonl: the median of five epochs, the first one, which
builds the tables, among them. The dense runs are timed on a part of the file where an epoch would be long, and
extrapolated; the table says so. fastText reads the file in every run: its epoch is the difference between runs of
six epochs and of one. fastText sees the words without their weights and draws one label a sample in every epoch.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EPOCHS = 5
DENSE_PART = 10000        # samples of our dense run
TORCH_SECONDS = 40        # of PyTorch's epoch that are timed
FASTTEXT = ["-loss", "hs", "-dim", "128", "-lr", "0.5", "-minCount", "1", "-verbose", "0"]
FASTTEXT_EPOCHS = 25      # for its quality


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True)


def header_of(path):
    with open(path, encoding="ascii") as file:
        return tuple(map(int, file.readline().split()))


def part_of(path, samples, out):
    """A copy of the first `samples` of a file, or the file itself when it has no more."""
    count, features, labels = header_of(path)
    if count <= samples:
        return path, count
    with open(path, encoding="ascii") as source, open(out, "w", encoding="ascii") as target:
        source.readline()
        target.write(f"{samples} {features} {labels}\n")
        target.writelines(source.readline() for _ in range(samples))
    return out, samples


def train_ours(options, folder, train, test, threads, epochs, overrides=()):
    """One run; returns the seconds of each epoch, the last epoch event and the last evaluation."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [options.slide, "train", options.config, "--threads", str(threads), "--out", folder]
    settings = [f"data.train={train}", f"data.test={test}", f"train.epochs={epochs}", "train.eval_every=0",
                *overrides, *options.set]
    for setting in settings:
        command += ["--set", setting]
    run(command)
    with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as file:
        events = [json.loads(line) for line in file if line.strip()]
    epoch_events = [event for event in events if event["event"] == "epoch"]
    ends = [0.0] + [event["train_seconds"] for event in epoch_events]
    evaluations = [event for event in events if event["event"] == "eval"]
    return ([after - before for before, after in zip(ends, ends[1:])], epoch_events[-1],
            evaluations[-1] if evaluations else {})


def ours(options, paths, threads):
    train, test, work = paths
    seconds, last, evaluation = train_ours(options, os.path.join(work, f"slide-{threads}"), train, test, threads,
                                           EPOCHS)
    return {"system": "slide", "epoch_seconds": statistics.median(seconds), "epochs_timed": seconds,
            "p_at_1": evaluation.get("p_at_1"), "note": f"{last['active_mean']:.0f} active a sample, {EPOCHS} epochs"}


def ours_dense(options, paths, threads):
    train, _, work = paths
    part, samples = part_of(train, DENSE_PART, os.path.join(work, "part.txt"))
    seconds, _, _ = train_ours(options, os.path.join(work, f"dense-{threads}"), part, "", threads, 3,
                               ["layer.1.kind=dense"])
    count = header_of(train)[0]
    return {"system": "slide, all neurons", "epoch_seconds": statistics.median(seconds) * count / samples,
            "note": "" if samples == count else f"from {samples:,} of {count:,} samples"}


def pytorch(options, paths, threads):
    train, _, _ = paths
    script = os.path.join(ROOT, "scripts", "baselines", "pytorch_dense.py")
    command = [options.python, script, train, "--threads", str(threads), "--budget", str(options.torch_seconds)]
    result = json.loads(run(command).stdout.splitlines()[-1])
    timed, count = result["samples_timed"], result["samples"]
    return {"system": result["system"], "epoch_seconds": result["epoch_seconds"],
            "note": "Adam 1e-3, batch 128" + (f"; from {timed:,} of {count:,} samples" if timed < count else "")}


def to_fasttext(path, out):
    """XMC text as fastText wants it: __label__ words, feature words without their weights."""
    if os.path.exists(out):
        return out
    with open(path, encoding="ascii") as source, open(out + ".part", "w", encoding="ascii") as target:
        source.readline()
        for line in source:
            tokens = line.split()
            labels = tokens.pop(0).split(",") if tokens and ":" not in tokens[0] else []
            words = [f"__label__{label}" for label in labels] + ["f" + token.split(":", 1)[0] for token in tokens]
            target.write(" ".join(words) + "\n")
    os.replace(out + ".part", out)
    return out


def fasttext(options, paths, threads):
    train, test, work = paths
    train_text = to_fasttext(train, os.path.join(work, "fasttext-train.txt"))
    test_text = to_fasttext(test, os.path.join(work, "fasttext-test.txt"))
    model = os.path.join(work, "fasttext")

    def seconds(epochs):
        started = time.perf_counter()
        run(["fasttext", "supervised", "-input", train_text, "-output", model, "-thread", str(threads),
             "-epoch", str(epochs), *FASTTEXT])
        return time.perf_counter() - started

    one = statistics.median(seconds(1) for _ in range(3))
    six = statistics.median(seconds(6) for _ in range(3))
    row = {"system": "fastText", "epoch_seconds": (six - one) / 5, "note": "hierarchical softmax, one label a sample"}
    if threads != 1 and header_of(train)[0] < 500000:
        seconds(FASTTEXT_EPOCHS)
        for line in run(["fasttext", "test", model + ".bin", test_text, "1"]).stdout.splitlines():
            if line.startswith("P@1"):
                row["p_at_1"] = float(line.split()[1])
        row["note"] += f"; P@1 after {FASTTEXT_EPOCHS} epochs"
    return row


def systems(options):
    """What can be measured here; the rest is named."""
    chosen = [ours, ours_dense]
    if subprocess.run([options.python, "-c", "import torch"], capture_output=True, check=False).returncode == 0:
        chosen.append(pytorch)
    else:
        print("PyTorch is not there: left out", file=sys.stderr)
    if shutil.which("fasttext"):
        chosen.append(fasttext)
    else:
        print("fastText is not there: left out", file=sys.stderr)
    return chosen


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def measure(options):
    threads = sorted({1, os.cpu_count() or 1})
    rows = []
    for name in options.sets:
        work = os.path.join(options.out, name)
        os.makedirs(work, exist_ok=True)
        paths = (os.path.join(options.data, name, "train.txt"), os.path.join(options.data, name, "test.txt"), work)
        samples = header_of(paths[0])[0]
        for count in threads:
            reference = None
            for system in systems(options):
                row = {"set": name, "threads": count, **system(options, paths, count)}
                reference = reference or row["epoch_seconds"]
                row["samples_per_second"] = samples / row["epoch_seconds"]
                row["times_ours"] = row["epoch_seconds"] / reference
                rows.append(row)
                print(f"{name}, {count} thread{'s' if count > 1 else ''}: {row['system']}: "
                      f"{row['epoch_seconds']:.3f} s an epoch, {row['times_ours']:.1f} x ours", flush=True)
    return rows


def speedups(rows):
    """One line a set: our time on one thread over that on all."""
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        times = {row["threads"]: row["epoch_seconds"] for row in rows
                 if row["set"] == name and row["system"] == "slide"}
        most = max(times)
        if most > 1:
            lines.append(f"{name}: {most} threads against 1: {times[1] / times[most]:.2f} x")
    return lines


def markdown(rows, machine):
    lines = [f"{machine['cpu']}, {machine['cores']} cores. Seconds of one epoch, 128 hidden.", "",
             "| set | threads | system | s an epoch | samples/s | times ours | P@1 | |",
             "|---|--:|---|--:|--:|--:|--:|---|"]
    for row in rows:
        quality = f"{row['p_at_1']:.3f}" if row.get("p_at_1") is not None else ""
        lines.append(f"| {row['set']} | {row['threads']} | {row['system']} | {row['epoch_seconds']:.3f} | "
                     f"{row['samples_per_second']:,.0f} | {row['times_ours']:.1f} | {quality} | {row['note']} |")
    return "\n".join(lines + [""] + speedups(rows)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--data", required=True, help="folder with <set>/train.txt and <set>/test.txt")
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "bench"))
    parser.add_argument("--slide", default=os.path.join(ROOT, "build", "release", "slide"))
    parser.add_argument("--config", default=os.path.join(ROOT, "configs", "throughput.toml"))
    parser.add_argument("--set", action="append", default=[], help="setting for our runs, as of `slide train`")
    parser.add_argument("--python", default="/usr/bin/python3", help="the Python that has PyTorch")
    parser.add_argument("--torch-seconds", type=float, default=TORCH_SECONDS)
    options = parser.parse_args()
    try:
        rows = measure(options)
    except subprocess.CalledProcessError as error:
        sys.exit(f"bench_table.py: {' '.join(error.cmd)} failed:\n{error.stderr}")
    machine = {"cpu": cpu_name(), "cores": os.cpu_count(), "system": platform.platform()}
    table = markdown(rows, machine)
    with open(os.path.join(options.out, "table.json"), "w", encoding="utf-8") as file:
        json.dump({"machine": machine, "rows": rows}, file, indent=1)
    with open(os.path.join(options.out, "table.md"), "w", encoding="utf-8") as file:
        file.write(table)
    print("\n" + table)


if __name__ == "__main__":
    main()
