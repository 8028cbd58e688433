#!/usr/bin/env python3
"""Runs the experiments described in configs/experiments/*.toml and writes their tables and curves.

An experiment names a base configuration (`config`), settings for all its runs (`set`), and its variations (`[[run]]`
with `name` and `set`); every variation runs with seeds 1 to `seeds` on each of `data`. `curve = true` evaluates after
every epoch and draws P@1 over train seconds. In place of `[[run]]`, `[[source]]` and `[[cell]]` make a run of each source
of negatives in each cell, which says how many neurons are drawn for a block of how many samples; a map is drawn of what
sources gain over the first one (experiment_map.py). With `epochs`, a list, `[[source]]` alone makes a run with each
number, and curves are drawn over epochs and processor time (experiment_epochs.py). `program`, of an experiment or a run,
names a program of tests/bench that trains in place of `slide train`. `[[generate]]` makes data, by `slide generate` or by
a `script`, which is given a folder and the name of the set. `[probe]` asks recall_probe, also of tests/bench, how many of
the neurons that fire most are found by tables of several shapes. Called by scripts/experiments.sh.
"""

import argparse
import glob
import html
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tomllib

import experiment_epochs
import experiment_map

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "configs", "experiments")
MEASURES = ["p_at_1", "p_at_3", "p_at_5", "psp_at_1", "psp_at_5"]
COLOURS = ["#1b6ca8", "#d1495b", "#2e8b57", "#e29b26", "#7b4fa3", "#4d4d4d", "#17a2a2", "#a0522d",
           "#9acd32", "#ff69b4", "#000080", "#808000"]


def stop(message):
    sys.exit(f"experiments: {message}")


def smaller(experiment):
    """The experiment with every run once, for one epoch, on a tiny generated set: whether it still runs."""
    size = ["--labels", 600, "--features", 300, "--samples", 300, "--test-samples", 64, "--seed", 1]
    experiment["generate"], experiment["data"], experiment["seeds"] = [{"name": "tiny", "options": size}], ["tiny"], 1
    experiment["run"] = list({run["name"]: run for run in experiment["run"]}.values())
    for run in experiment["run"]:
        run.pop("data", None)
        run["set"] = [*run.get("set", []), "train.epochs=1"]
    if "probe" in experiment:
        experiment["probe"].update(data=["tiny"], samples=64, wanted=40)


def load(names):
    known = {os.path.basename(path)[:-5]: path for path in glob.glob(os.path.join(FOLDER, "*.toml"))}
    known = dict(sorted(known.items(), key=lambda entry: int(entry[0].split("-")[0])))
    for name in names:
        if name not in known:
            stop(f"there is no experiment '{name}'; there are: {', '.join(known)}")
    experiments = []
    for name, path in known.items():
        with open(path, "rb") as file:
            experiment = {"name": name, **tomllib.load(file)}
        if "cell" in experiment:
            experiment["run"] = experiment_map.runs_of(experiment)
        elif "epochs" in experiment:
            experiment["run"] = experiment_epochs.runs_of(experiment)
        experiments.append(experiment)
    return experiments


def call(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        stop(f"{' '.join(command)} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def generate(options, experiment):
    """Generated data, unless they are there."""
    for about in experiment.get("generate", []):
        folder = os.path.join(options.out, "data", about["name"])
        if os.path.isfile(os.path.join(folder, "test.txt")):
            continue
        if "script" in about:
            call([sys.executable, os.path.join(ROOT, about["script"]), os.path.dirname(folder), about["name"]])
        else:
            call([options.slide, "generate", "--out", folder, *map(str, about["options"])])


def data_file(options, name, part):
    path = os.path.join(options.out, "data", name, part + ".txt")
    if os.path.isfile(path):
        return path
    path = os.path.join(options.data, name, part + ".txt")
    if not os.path.isfile(path):
        stop(f"{path} is missing; set SLIDE_DATA to a folder that holds {name}/{part}.txt")
    return path


def folder_of(options, experiment, data, run, seed):
    return os.path.join(options.out, experiment["name"], data, run["name"].replace(" ", "-").replace("/", "-"),
                        str(seed))


def settings_of(experiment, run, seed, threads):
    curve = 1 if experiment.get("curve") else 0
    return [*experiment.get("set", []), *run.get("set", []), f"train.seed={seed}", f"train.threads={threads}",
            f"train.eval_every={curve}", "train.save_optimizer=false"]


def train(options, experiment, data, run, seed):
    """One run, unless it is there already with the same settings."""
    folder = folder_of(options, experiment, data, run, seed)
    config = run.get("config", experiment["config"])
    settings = settings_of(experiment, run, seed, options.threads)
    arguments = [str(word) for word in run.get("arguments", [])]
    done = os.path.join(folder, "done.json")
    stamp = json.dumps([config, settings, *arguments])
    if not options.fresh and os.path.exists(done):
        with open(done, encoding="utf-8") as file:
            if file.read() == stamp:
                return
    shutil.rmtree(folder, ignore_errors=True)
    settings = [f"data.train={data_file(options, data, 'train')}", f"data.test={data_file(options, data, 'test')}",
                *settings]
    program = run.get("program", experiment.get("program"))
    before = experiment_epochs.processor_seconds_so_far()
    if program:
        call([os.path.join(options.programs, program), os.path.join(ROOT, config), folder, *arguments, *settings])
    else:
        call([options.slide, "train", os.path.join(ROOT, config), "--out", folder,
              *(word for setting in settings for word in ("--set", setting))])
    if not program and (not experiment.get("probe") or seed != 1):
        os.remove(os.path.join(folder, "model.slide"))
    experiment_epochs.keep_seconds(folder, experiment_epochs.processor_seconds_so_far() - before)
    with open(done, "w", encoding="utf-8") as file:
        file.write(stamp)
    print(f"{experiment['name']}: {data}: {run['name']}, seed {seed}: P@1 {last(folder)['p_at_1']:.3f}", flush=True)


def events(folder, kind):
    with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as file:
        return [event for event in map(json.loads, file) if event["event"] == kind]


def last(folder):
    return events(folder, "eval")[-1]


def probe_file(options, experiment, data, block):
    return os.path.join(options.out, experiment["name"], f"probe-{data}-{block}.jsonl")


def probe(options, experiment):
    """Trains the probe's model and writes a line of JSON for each shape to probe-<data>-<block>.jsonl."""
    about = experiment["probe"]
    run = {"name": "probe model", "set": about.get("set", [])}
    program = os.path.join(options.programs, "recall_probe")
    for data in about["data"]:
        train(options, experiment, data, run, 1)
        model = os.path.join(folder_of(options, experiment, data, run, 1), "model.slide")
        for block in about["blocks"]:
            text = call([program, model, data_file(options, data, "test"), str(about["samples"]), str(block),
                         str(about["wanted"]), *about["shapes"]])
            with open(probe_file(options, experiment, data, block), "w", encoding="utf-8") as file:
                file.write(text)
        print(f"{experiment['name']}: {data}: recall of {len(about['shapes'])} shapes", flush=True)


def seeds_of(options, experiment):
    return range(1, (options.seeds or experiment.get("seeds", 3)) + 1)


def perform(options, experiment):
    os.makedirs(os.path.join(options.out, experiment["name"]), exist_ok=True)
    for data in experiment["data"]:
        for seed in seeds_of(options, experiment):
            for run in experiment["run"]:
                if seed <= run.get("seeds", seed) and data in run.get("data", [data]):
                    train(options, experiment, data, run, seed)
    if experiment.get("probe"):
        probe(options, experiment)


# ---- the report -----------------------------------------------------------------------------------------------


def done_folders(options, experiment, data, run):
    found = []
    for seed in range(1, 100):
        folder = folder_of(options, experiment, data, run, seed)
        if os.path.exists(os.path.join(folder, "done.json")):
            found.append(folder)
    return found


def folders_in(options, experiment):
    return lambda data, run: done_folders(options, experiment, data, run)


def spread(values, digits):
    text = f"{statistics.mean(values):.{digits}f}"
    if len(values) > 1:
        text += f" ± {statistics.stdev(values):.{digits}f}"
    return text


def table(options, experiment):
    lines = ["| Set | Run | Seeds | Active | P@1 | P@3 | P@5 | PSP@1 | PSP@5 | Train seconds |",
             "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    if "epochs" in experiment:
        lines[0] = lines[0].replace("Train seconds", "Processor seconds of training")
    for data in experiment["data"]:
        for run in experiment["run"]:
            folders = done_folders(options, experiment, data, run)
            if not folders:
                continue
            ends = [last(folder) for folder in folders]
            cells = [spread([end[measure] for end in ends], 3) for measure in MEASURES]
            times = [end["train_seconds"] for end in ends]
            seconds = spread(times, 1) + (f" (min {min(times):.1f})" if len(times) > 1 else "")
            if "epochs" in experiment:
                seconds = f"{experiment_epochs.training_seconds(experiment, folders_in(options, experiment), data, run):.1f}"
            active = statistics.mean(events(folder, "epoch")[-1]["active_mean"] for folder in folders)
            lines.append(f"| {data} | {run['name']} | {len(folders)} | {active:,.0f} | {' | '.join(cells)} | "
                         f"{seconds} |")
    return lines if len(lines) > 2 else []


def probe_table(options, experiment):
    about, lines = experiment["probe"], []
    for data in about["data"]:
        by_block = []
        for block in about["blocks"]:
            path = probe_file(options, experiment, data, block)
            if not os.path.exists(path):
                break
            with open(path, encoding="utf-8") as file:
                by_block.append([json.loads(line) for line in file])
        else:
            limits = ", ".join(f"{rows[0]['best']:.3f} in blocks of {block}"
                               for block, rows in zip(about["blocks"], by_block))
            lines += ["", "Recall of each sample's true top 10 neurons in its block's candidates, "
                      f"{about['wanted']} a block, {data}: trained model, {about['samples']:,} test samples, mean "
                      f"over three draws of the hash functions. By chance: {by_block[0][0]['chance']:.3f}. The best "
                      f"possible choice: {limits}.", "",
                      "| Family | K | L | Capacity | Policy | " +
                      " | ".join(f"Recall, block {block}" for block in about["blocks"]) + " | Build ms | " +
                      " | ".join(f"Query µs, block {block}" for block in about["blocks"]) + " |",
                      "|---|--:|--:|--:|---|" + "--:|" * (2 * len(by_block) + 1)]
            for rows in zip(*by_block):
                shape = rows[0]["shape"].split(":")
                shape[4:] = [", ".join(shape[4:]) or "vanilla"]
                lines.append(f"| {' | '.join(shape)} | " + " | ".join(f"{row['recall']:.3f}" for row in rows) +
                             f" | {rows[0]['build_ms']:.0f} | " +
                             " | ".join(f"{row['query_us']:.0f}" for row in rows) + " |")
    return lines


def ticks(low, high, most=6):
    """Round numbers from low to high, at most `most` of them, and the digits behind the point that they need."""
    step = next(base * 10.0 ** power for power in range(-6, 7) for base in (1, 2, 5)
                if (high - low) / (base * 10.0 ** power) < most)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)], max(0, math.ceil(-math.log10(step) - 1e-9))


def draw(path, title, series):
    """P@1 over train seconds as SVG. series: (name, [(seconds, p)])."""
    width, height, left, right, top, bottom = 720, 380, 56, 190, 34, 44
    most_x = max(x for _, points in series for x, _ in points) * 1.04
    low = min(y for _, points in series for _, y in points)
    high = max(y for _, points in series for _, y in points)
    gap = max(high - low, 0.01) * 0.08
    low, high = low - gap, high + gap

    def place(x, y):
        return (left + x / most_x * (width - left - right),
                height - bottom - (y - low) / (high - low) * (height - top - bottom))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
           'font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="20" font-size="14">{html.escape(title)}</text>']
    values, digits = ticks(low, high)
    for y in values:
        _, py = place(0, y)
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{py:.1f}" y2="{py:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 6}" y="{py + 4:.1f}" text-anchor="end">{y:.{digits}f}</text>')
    values, digits = ticks(0, most_x)
    for x in values:
        px, _ = place(x, low)
        out.append(f'<text x="{px:.1f}" y="{height - bottom + 16}" text-anchor="middle">{x:.{digits}f}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 8}" text-anchor="middle">train seconds</text>')
    for i, (name, points) in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        places = [place(x, y) for x, y in points]
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="' +
                   " ".join(f"{x:.1f},{y:.1f}" for x, y in places) + '"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        out.append(f'<text x="{width - right + 10}" y="{top + 14 + 18 * i}" fill="{colour}">{html.escape(name)}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out + ["</svg>"]) + "\n")


def curves(options, experiment):
    """Draws a picture a set; each point is an epoch, the mean over seeds at the least seconds. Returns the lines that show them."""
    lines = []
    for data in experiment["data"] if experiment.get("curve") else []:
        series = []
        for run in experiment["run"]:
            runs = [events(folder, "eval") for folder in done_folders(options, experiment, data, run)]
            if runs:
                series.append((run["name"], [(min(e["train_seconds"] for e in epoch),
                                              statistics.mean(e["p_at_1"] for e in epoch)) for epoch in zip(*runs)]))
        if series:
            name = f"{experiment['name']}-{data}.svg"
            draw(os.path.join(options.report, name), f"{data}: P@1 over train seconds", series)
            lines += ["", f"![P@1 over train seconds, {data}]({name})"]
    return lines


def maps(options, experiment):
    """The map of an experiment with cells or epochs, and the line that shows it."""
    if "epochs" in experiment:
        name = f"{experiment['name']}.svg"
        drawn = experiment_epochs.draw(os.path.join(options.report, name), experiment, folders_in(options, experiment),
                                       lambda folder: last(folder)["p_at_1"], ticks)
        return ["", f"![P@1 over epochs and processor seconds]({name})"] if drawn else []
    if len(experiment.get("cell", [])) < 2:
        return []

    def by_seed(data, name):
        runs = done_folders(options, experiment, data, {"name": name})
        return {os.path.basename(folder): last(folder)["p_at_1"] for folder in runs}

    name = f"{experiment['name']}.svg"
    experiment_map.draw(os.path.join(options.report, name), experiment, by_seed)
    return ["", f"![Points of P@1 that sources of negatives gain]({name})"]


def machine():
    text = f"{os.cpu_count()} cores"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = file.read()
        text += ", AVX-512" if "avx512f" in flags else ", AVX2" if "avx2" in flags else ""
    except OSError:
        pass
    return text


PAGES = {"sampling": "Sources of active neurons, hash tables", "hard-negatives": "Hard negatives",
         "hashing": "Hash tables as the source of negatives", "step": "Sampling, optimizers, losses",
         "linear": "The linear term of the output layer",
         "knn": "kNN prediction, co-occurrence, feature crosses", "hidden": "Wide hidden layers"}


def page_name(experiment):
    return f"results-{experiment['page']}.md"


def sections_so_far():
    """What the pages say of each experiment: title -> lines. They stay where no runs are at hand to write them again."""
    sections = []
    for page in PAGES:
        try:
            with open(os.path.join(FOLDER, f"results-{page}.md"), encoding="utf-8") as file:
                sections += file.read().split("\n## ")[1:]
        except FileNotFoundError:
            pass
    return {section.partition("\n")[0]: [*f"## {section.rstrip()}".splitlines(), ""] for section in sections}


def section(options, experiment, rows):
    threads = f"{options.threads} thread" + ("s" if options.threads != 1 else "")
    lines = [f"## {experiment['title']}", "", experiment["question"].strip(), "",
             f"Command: `scripts/experiments.sh {experiment['name']}`. Base: `{experiment['config']}`" +
             (f" with `{'`, `'.join(experiment['set'])}`" if experiment.get("set") else "") +
             f". Machine: {machine()}; {threads} a run.", "", *rows]
    lines += probe_table(options, experiment) if experiment.get("probe") else []
    lines += curves(options, experiment) + maps(options, experiment)
    if experiment.get("conclusion"):
        lines += ["", experiment["conclusion"].strip()]
    lines += ["", "<details><summary>Settings</summary>", ""]
    for run in experiment["run"]:
        base = f"base `{run['config']}`, " if "config" in run else ""
        words = [" ".join(map(str, run["arguments"]))] if "arguments" in run else []
        words = [*words, *run.get("set", [])]
        lines.append(f"- {run['name']}: {base}" + (" ".join(f"`{word}`" for word in words) or "as the base"))
    return [*lines, "", "</details>", ""]


def anchor(title):
    return "".join(c for c in title.lower() if c.isalnum() or c in " _-").replace(" ", "-")


def write(options, name, lines):
    with open(os.path.join(options.report, name), "w", encoding="utf-8") as file:
        file.write("\n".join(lines).rstrip() + "\n")
    print(f"Wrote {os.path.relpath(os.path.join(options.report, name), ROOT)}")


def report(options, experiments):
    """A page for each subject, and RESULTS.md, which lists what stands where."""
    before = sections_so_far()
    index = ["# Experiments", "",
             "`scripts/experiments.sh` writes this page and those it links to from the descriptions beside them. Only the",
             "conclusions are written by hand; they stand in the descriptions. How to read the tables:", "",
             "- Metrics are of the whole test file after the last epoch: mean ± standard deviation over the seeds.",
             "- Active: neurons of the output layer that take part, mean over the samples.",
             "- Machines were shared, so seconds are indicative, the minimum over the seeds more so than the mean. Curves are",
             "  drawn over the minimum.",
             "- Every run: `slide train CONFIG --set data.train=... --set data.test=...` with the settings named,",
             "  `--set train.seed=1` and up, and `--set train.threads` as each section says.", ""]
    for page, title in PAGES.items():
        lines = [f"# {title}", "", "Written by `scripts/experiments.sh`; [RESULTS.md](RESULTS.md) says how to read it.", ""]
        index += [f"**{title}**", ""]
        for experiment in (e for e in experiments if e["page"] == page):
            rows = table(options, experiment)
            lines += section(options, experiment, rows) if rows else before.get(experiment["title"], [])
            index.append(f"- [{experiment['title']}]({page_name(experiment)}#{anchor(experiment['title'])})")
        index.append("")
        write(options, f"results-{page}.md", lines)
    write(options, "RESULTS.md", index)


def main():
    parser = argparse.ArgumentParser(prog="scripts/experiments.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help="default: all")
    parser.add_argument("--seeds", type=int, default=0, help="default: what each description says")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--fresh", action="store_true", help="repeat runs that are done")
    parser.add_argument("--report-only", action="store_true", help="write the tables of the runs that are there")
    parser.add_argument("--data", default="", help=argparse.SUPPRESS)
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "experiments"), help=argparse.SUPPRESS)
    parser.add_argument("--slide", default=os.path.join(ROOT, "build", "release", "slide"), help=argparse.SUPPRESS)
    parser.add_argument("--programs", default=os.path.join(ROOT, "build", "release", "tests", "bench"), help=argparse.SUPPRESS)
    parser.add_argument("--smoke", action="store_true", help=argparse.SUPPRESS)  # of the tests: tiny data, report in --out
    options = parser.parse_args()
    options.report = options.out if options.smoke else FOLDER
    if options.seeds < 0:
        stop("--seeds must not be negative")
    experiments = load(options.experiments)
    chosen = [e for e in experiments if not options.experiments or e["name"] in options.experiments]
    if options.smoke:
        for experiment in chosen:
            smaller(experiment)
    if not options.report_only:
        for experiment in chosen:
            generate(options, experiment)
            for data in experiment["data"]:
                data_file(options, data, "train"), data_file(options, data, "test")
        for experiment in chosen:
            perform(options, experiment)
    report(options, chosen if options.smoke else experiments)


if __name__ == "__main__":
    main()
