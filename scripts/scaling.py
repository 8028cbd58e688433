#!/usr/bin/env python3
"""The cost of a training step against the number of outputs, sampled and dense, forward and backward.

Runs the scaling benchmarks of slide_bench and writes configs/experiments/scaling.md (medians) and the figures
scaling-block.svg and scaling-single.svg beside it. Wants an otherwise idle machine; takes about ten minutes.
usage: scripts/scaling.py [--bench build/release/tests/bench/slide_bench] [--repetitions 5] [--out configs/experiments]
"""
import argparse
import html
import json
import math
import os
import subprocess
import sys

CURVES = {  # by benchmark: name, colour
    "BM_block_sampled": ("sampled, 32 samples", "#0072b2"),
    "BM_block64_sampled": ("sampled, 64 samples", "#009e73"),
    "BM_block128_sampled": ("sampled, 128 samples", "#cc79a7"),
    "BM_block_dense": ("dense, 32 samples", "#d55e00"),
    "BM_single_sampled": ("sampled, one sample", "#0072b2"),
    "BM_single_dense": ("dense, one sample", "#d55e00"),
}
FIGURES = {
    "block": ("A step of a block: 128 inputs, 512 active neurons",
              ["BM_block_sampled", "BM_block64_sampled", "BM_block128_sampled", "BM_block_dense"]),
    "single": ("A step of one sample: 512 inputs, 64 active neurons", ["BM_single_sampled", "BM_single_dense"]),
}


def measure(bench, repetitions):
    """{benchmark: {outputs: {"total", "forward", "backward" in microseconds, "mb", "active"}}}, medians."""
    command = [bench, "--benchmark_filter=^BM_(block|block64|block128|single)_", "--benchmark_format=json",
               "--benchmark_min_time=0.2", f"--benchmark_repetitions={repetitions}",
               "--benchmark_report_aggregates_only=true"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    except FileNotFoundError:
        sys.exit(f"scaling.py: {bench}: no such program; build it with 'cmake --build --preset release'")
    except subprocess.CalledProcessError as error:
        sys.exit(f"scaling.py: {bench} ended with exit code {error.returncode}")
    found = {}
    for entry in json.loads(done.stdout)["benchmarks"]:
        if entry["aggregate_name"] != "median":
            continue
        name, outputs = entry["run_name"].split("/")[:2]
        found.setdefault(name, {})[int(outputs)] = {
            "total": entry["real_time"], "forward": entry["forward_us"], "backward": entry["backward_us"],
            "mb": entry["layer_mb"], "active": entry["active"]}
    return found


def draw(path, title, curves, across="outputs", upwards="microseconds"):
    """Both axes logarithmic. curves: [(name, colour, dashed, [(x, y)])]; across, upwards: what these are."""
    width, height, left, right, top, bottom = 840, 420, 64, 256, 34, 48
    xs = [math.log2(x) for *_, points in curves for x, _ in points]
    ys = [math.log10(y) for *_, points in curves for _, y in points]
    low_x, high_x, low_y, high_y = min(xs), max(xs), math.floor(min(ys)), math.ceil(max(ys))

    def place(x, y):
        return (left + (x - low_x) / (high_x - low_x) * (width - left - right),
                height - bottom - (y - low_y) / (high_y - low_y) * (height - top - bottom))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
           'font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="20" font-size="14">{html.escape(title)}</text>']
    for y in range(low_y, high_y + 1):
        _, at = place(low_x, y)
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{10 ** y:,}</text>')
    for x in range(round(low_x), round(high_x) + 1, 2):
        at, _ = place(x, low_y)
        out.append(f'<text x="{at:.1f}" y="{height - bottom + 16}" text-anchor="middle">2^{x}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle">{across}</text>')
    out.append(f'<text x="14" y="{(top + height - bottom) / 2}" text-anchor="middle" '
               f'transform="rotate(-90 14 {(top + height - bottom) / 2})">{upwards}</text>')
    for i, (name, colour, dash, points) in enumerate(curves):
        places = [place(math.log2(x), math.log10(y)) for x, y in points]
        style = f'stroke="{colour}" stroke-width="2"' + (f' stroke-dasharray="{dash}"' if dash else "")
        out.append(f'<polyline fill="none" {style} points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in places) + '"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in places]
        at = top + 14 + 18 * i
        out.append(f'<line x1="{width - right + 8}" x2="{width - right + 32}" y1="{at - 4}" y2="{at - 4}" {style}/>')
        out.append(f'<text x="{width - right + 38}" y="{at}">{html.escape(name)}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out + ["</svg>"]) + "\n")


def figure(path, title, names, found):
    curves = []
    for name in names:
        label, colour = CURVES[name]
        for part, dash in (("forward", "6 3"), ("backward", "2 3"), ("total", "")):
            points = [(outputs, row[part]) for outputs, row in sorted(found[name].items())]
            curves.append((f"{label}: {part}" if part != "total" else label, colour, dash, points))
    draw(path, title, curves)


def table(names, found):
    lines = ["| Curve | Outputs | Active | Step, µs | Forward, µs | Backward, µs | Against the first | Layer, MB |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for name in names:
        rows = sorted(found[name].items())
        base = dict(rows).get(1024, rows[0][1])["total"]
        for outputs, row in rows:
            lines.append(f"| {CURVES[name][0]} | {outputs:,} | {row['active']:.0f} | {row['total']:.0f} | "
                         f"{row['forward']:.0f} | {row['backward']:.0f} | {row['total'] / base:.2f} | {row['mb']:.1f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default="build/release/tests/bench/slide_bench")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--out", default="configs/experiments")
    options = parser.parse_args()
    found = measure(options.bench, options.repetitions)
    text = ["# Cost of a step against the number of outputs", "",
            "Written by `scripts/scaling.py`. One output layer, one thread, row-wise Adagrad, fp32; tables (K 7, 24 of "
            "them) and their amortised rehash included. Forward holds the choice of the active set, backward the "
            f"gradient into the inputs and the update. Medians of {options.repetitions}; \"against the first\" is the "
            "step against that of 1,024 outputs. Layer: weights, optimizer state, tables.", ""]
    for key, (title, names) in FIGURES.items():
        figure(os.path.join(options.out, f"scaling-{key}.svg"), title, names, found)
        text += [f"## {title}", "", f"![{title}](scaling-{key}.svg)", "", table(names, found), ""]
    with open(os.path.join(options.out, "scaling.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(text))


if __name__ == "__main__":
    main()
