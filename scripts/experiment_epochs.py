"""Runs of sources of negatives for several numbers of epochs, and their curves over epochs and processor time.

Used by scripts/experiments.py for experiments with `epochs`: each `[[source]]` has a run with each of them, or with those of its own.
"""

import html
import json
import math
import os
import resource
import statistics

COLOURS = ["#d55e00", "#e69f00", "#7f7f7f", "#0072b2", "#56b4e9", "#cc79a7", "#009e73"]
WIDTH, HEIGHT, LEFT, GAP, BETWEEN, RIGHT, ROW = 330, 170, 64, 44, 44, 20, 250


def run_of(source, epochs):
    run = {"name": f"{source['name']}, {epochs} epochs", "set": [*source.get("set", []), f"train.epochs={epochs}"]}
    return {**run, **{key: source[key] for key in ("config", "data") if key in source}}


def epochs_of(experiment, source):
    return source.get("epochs", experiment["epochs"])


def runs_of(experiment):
    return [run_of(source, epochs) for source in experiment["source"] for epochs in epochs_of(experiment, source)]


# ---- processor time -------------------------------------------------------------------------------------------


def processor_seconds_so_far():
    """User time of all programs that were run and have ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def keep_seconds(folder, seconds):
    with open(os.path.join(folder, "processor.json"), "w", encoding="utf-8") as file:
        json.dump(seconds, file)


def seconds_of(folders):
    """User time of each run, reading and the test included."""
    found = []
    for folder in folders:
        with open(os.path.join(folder, "processor.json"), encoding="utf-8") as file:
            found.append(json.load(file))
    return found


def beside_training(experiment, folders_of, data):
    """Seconds of reading and the test: those of the first source at 0 epochs, by the line through its shortest and longest runs."""
    source = experiment["source"][0]
    epochs = sorted(epochs_of(experiment, source))
    first, last = (folders_of(data, run_of(source, count)) for count in (epochs[0], epochs[-1]))
    if not first or not last or epochs[0] == epochs[-1]:
        return 0.0
    short, long = (statistics.median(seconds_of(folders)) for folders in (first, last))
    return max(0.0, short - epochs[0] * (long - short) / (epochs[-1] - epochs[0]))


def training_seconds(experiment, folders_of, data, run):
    """Median processor seconds of training over the seeds; None without runs."""
    folders = folders_of(data, run)
    if not folders:
        return None
    return max(0.01, statistics.median(seconds_of(folders)) - beside_training(experiment, folders_of, data))


# ---- the picture ----------------------------------------------------------------------------------------------


def points_of(experiment, folders_of, measure_of, data):
    """(source's place, [(epochs, seconds, mean of the measure, standard deviation)]) of each source with runs."""
    found = []
    for place, source in enumerate(experiment["source"]):
        points = []
        for epochs in epochs_of(experiment, source):
            run = run_of(source, epochs)
            values = [measure_of(folder) for folder in folders_of(data, run)]
            if values:
                spread = statistics.stdev(values) if len(values) > 1 else 0.0
                points.append((epochs, training_seconds(experiment, folders_of, data, run), statistics.mean(values), spread))
        if points:
            found.append((place, points))
    return found


class Panel:
    """A plot of values over a logarithmic axis, with its left upper corner at (x, y)."""

    def __init__(self, corner, horizontal, vertical):
        self.x, self.y = corner
        self.low_x, self.high_x = (math.log(value) for value in (horizontal[0] / 1.15, horizontal[1] * 1.15))
        self.low, self.high = vertical

    def at(self, x, y):
        return (self.x + (math.log(x) - self.low_x) / (self.high_x - self.low_x) * WIDTH,
                self.y + HEIGHT - (y - self.low) / (self.high - self.low) * HEIGHT)

    def frame(self, title, marks, levels, digits):
        out = [f'<text x="{self.x + WIDTH / 2:.0f}" y="{self.y + HEIGHT + 34}" text-anchor="middle">{title}</text>']
        for level in levels:
            _, y = self.at(math.exp(self.low_x), level)
            out.append(f'<line x1="{self.x}" x2="{self.x + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
            out.append(f'<text x="{self.x - 6}" y="{y + 4:.1f}" text-anchor="end">{level:.{digits}f}</text>')
        for mark in marks:
            x, _ = self.at(mark, self.low)
            out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{self.y + HEIGHT}" y2="{self.y + HEIGHT + 4}" stroke="#888"/>')
            out.append(f'<text x="{x:.1f}" y="{self.y + HEIGHT + 17}" text-anchor="middle">{mark:g}</text>')
        out.append(f'<rect x="{self.x}" y="{self.y}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>')
        return out

    def line(self, colour, points):
        """points: (x, mean, standard deviation)."""
        places = [self.at(x, y) for x, y, _ in points]
        out = [f'<polyline fill="none" stroke="{colour}" stroke-width="1.6" points="' +
               " ".join(f"{x:.1f},{y:.1f}" for x, y in places) + '"/>']
        for (x, y), (value, mean, spread) in zip(places, points):
            if spread > 0:
                ends = [self.at(value, max(self.low, min(self.high, mean + sign * spread)))[1] for sign in (-1, 1)]
                out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}" stroke="{colour}"/>')
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
        return out


def marks_between(low, high):
    """1, 3, 10, 30, ... from low to high."""
    values = [base * 10.0 ** power for power in range(-2, 5) for base in (1, 3)]
    return [value for value in values if low / 1.1 <= value <= high * 1.1]


def row_of(data, top, series, ticks):
    """The two panels of a set: over epochs, and over processor seconds."""
    values = [mean + sign * spread for _, points in series for _, _, mean, spread in points for sign in (-1, 1)]
    gap = max(max(values) - min(values), 0.01) * 0.06
    vertical = (min(values) - gap, max(values) + gap)
    levels, digits = ticks(*vertical)
    out = [f'<text x="{LEFT}" y="{top - 8}" font-size="14" font-weight="bold">{html.escape(data)}</text>']
    for column, (title, which) in enumerate((("epochs", 0), ("processor seconds of training, one thread", 1))):
        across = sorted({point[which] for _, points in series for point in points})
        panel = Panel((LEFT + column * (WIDTH + BETWEEN + GAP), top), (across[0], across[-1]), vertical)
        out += panel.frame(title, across if which == 0 else marks_between(across[0], across[-1]), levels, digits)
        for place, points in series:
            out += panel.line(COLOURS[place % len(COLOURS)], [(point[which], point[2], point[3]) for point in points])
    return out


def draw(path, experiment, folders_of, measure_of, ticks):
    """P@1 of the sources on each set that has runs. Returns whether there were any."""
    rows = [(data, points_of(experiment, folders_of, measure_of, data)) for data in experiment["data"]]
    rows = [(data, series) for data, series in rows if series]
    if not rows:
        return False
    legend = 20 * math.ceil(len(experiment["source"]) / 2)
    width = LEFT + 2 * WIDTH + BETWEEN + GAP + RIGHT
    height = 40 + legend + ROW * len(rows)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{LEFT}" y="20" font-size="14">P@1 by the source of negatives; bars: standard deviation over the seeds</text>']
    for place, source in enumerate(experiment["source"]):
        x, y = LEFT + (place % 2) * (WIDTH + BETWEEN + GAP), 42 + 20 * (place // 2)
        out.append(f'<line x1="{x}" x2="{x + 22}" y1="{y - 4}" y2="{y - 4}" stroke="{COLOURS[place % len(COLOURS)]}" stroke-width="3"/>'
                   f'<text x="{x + 30}" y="{y}">{html.escape(source["name"])}</text>')
    for place, (data, series) in enumerate(rows):
        out += row_of(data, 66 + legend + ROW * place, series, ticks)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out + ["</svg>"]) + "\n")
    return True
