#!/usr/bin/env python3
"""How long a run takes before its first step, against the number of samples, features and labels.

Trains configs/default.toml for an epoch on generated data, of which one size at a time is changed, and writes
configs/experiments/start-up.md (medians) and start-up.svg beside it. Wants an otherwise idle machine; takes about fifteen
minutes on two cores.
usage: scripts/start_up.py [--slide build/release/slide] [--repetitions 3] [--out configs/experiments]
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from scaling import draw

BASE = {"samples": 122_612, "features": 33_977, "labels": 167_523}  # a quarter of Amazon-670K in each
FACTORS = [0.25, 0.5, 1, 2, 4]
COLOURS = {"samples": "#0072b2", "features": "#009e73", "labels": "#d55e00"}


def run(command):
    try:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    except FileNotFoundError:
        sys.exit(f"start_up.py: {command[0]}: no such program; build it with 'cmake --build --preset release'")
    except subprocess.CalledProcessError as error:
        sys.exit(f"start_up.py: {' '.join(command)} ended with exit code {error.returncode}")


def measure(slide, sizes, repetitions):
    """Medians of {"load", "setup": seconds, "mb": peak of memory} of a run on data of these sizes."""
    with tempfile.TemporaryDirectory() as folder:
        run([slide, "generate", "--out", folder, "--seed", "1", "--test-samples", "1"] +
            [word for name, size in sizes.items() for word in (f"--{name}", str(size))])
        found = []
        for _ in range(repetitions):
            run([slide, "train", os.path.join(folder, "train.txt"), "--epochs", "1", "--quiet", "--force", "--set",
                 "train.save_optimizer=false", "--out", os.path.join(folder, "run")])
            with open(os.path.join(folder, "run", "metrics.jsonl"), encoding="utf-8") as file:
                events = {event["event"]: event for event in map(json.loads, file)}
            found.append({"load": events["start"]["load_seconds"], "setup": events["epoch"]["setup_seconds"],
                          "mb": events["epoch"]["peak_rss_mb"]})
    return {key: statistics.median(one[key] for one in found) for key in found[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slide", default="build/release/slide")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--out", default="configs/experiments")
    options = parser.parse_args()
    runs = "one run each" if options.repetitions == 1 else f"medians of {options.repetitions}"
    title = "Seconds before the first step, default.toml"
    base = ", ".join(f"{size:,} {name}" for name, size in BASE.items())
    text = ["# What a run does before its first step", "",
            f"Written by `scripts/start_up.py`. Data of `slide generate`, of {base} (a quarter of Amazon-670K's sizes), one "
            f"size changed at a time; `configs/default.toml`, all cores; {runs}. Reading is the "
            "text file's; set-up is the time up to the first step: feature crosses, initial weights, the linear "
            "term and its fit, feature weights of the kNN, hash tables, working memory. Peak: maximum memory of the run.", "",
            f"![{title}](start-up.svg)", "", "| Changed | Size | Reading, s | Set-up, s | Peak, MB |",
            "|---|--:|--:|--:|--:|"]
    curves, same = [], None
    for name, size in BASE.items():
        points = []
        for factor in FACTORS:
            if factor != 1 or same is None:
                got = measure(options.slide, {**BASE, name: round(size * factor)}, options.repetitions)
            else:
                got = same
            if factor == 1:
                same = got
            points.append((factor, got["setup"]))
            text.append(f"| {name} | {round(size * factor):,} | {got['load']:.2f} | {got['setup']:.2f} | {got['mb']:,.0f} |")
        curves.append((name, COLOURS[name], "", points))
    draw(os.path.join(options.out, "start-up.svg"), title, curves, "times the size in the table's middle", "seconds")
    with open(os.path.join(options.out, "start-up.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
