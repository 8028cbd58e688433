#!/usr/bin/env python3
"""Hash tables beside hnswlib and faiss, over the rows of trained output layers.

Trains configs/throughput.toml on each set (epochs below), runs index_comparison over its output layer, and writes
configs/experiments/index-comparison.md with a figure for each set: what is missed of the true top 5 against the
processor time of a query. Data, models and results stay in the folder of --work; what is there is not made again. The
page keeps its sections of other sets, so that sets can be run one after the other.
usage: scripts/index_comparison.py [--work build/index-comparison] [--only tables,all,hnsw,ivf,flat] [--train-samples N]
                                   [--smoke] [SET ...]
       SET is debian-depends (from SLIDE_DATA), or a number of labels, which are generated; default: debian-depends 670091
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

from scaling import draw

TITLES = {"longest rows": ("longest rows", "#7f7f7f"), "longest rows alone": ("longest rows, one sample at a time", "#bfbfbf"),
          "tables": ("hash tables of this engine", "#0072b2"), "tables alone": ("hash tables, one sample at a time", "#56b4e9"),
          "all neurons": ("all neurons of this engine", "#000000"), "all neurons alone": ("all neurons, one sample at a time", "#e69f00"), "hnswlib": ("hnswlib 0.6, M 12", "#d55e00"),
          "faiss ivf": ("faiss IVF, 1,024 lists", "#009e73"), "faiss flat": ("faiss flat", "#cc79a7")}
SETTINGS = {"tables": "found", "tables alone": "found", "hnswlib": "ef",
             "faiss ivf": "probes"}
RECALLS = (0.95, 0.98, 0.99)
ABOUT = """\
Written by `scripts/index_comparison.py`. Rows: the output layer of `configs/throughput.toml`, weights and bias, of the named
number of labels; queries: hidden activations of test samples. Answers: the 5 labels of the largest inner product. Time: processor
time of one thread, medians of five passes; of the tables and of all neurons that of predictions, hidden layers included, 512 samples
at a time as `slide test` asks, or one at a time; of the others one sample at a time. MB: index and rows. The index of the tables holds
the longest rows apart, one in 8 up to 8,192 and at least one in 48, which are scored for every sample: "longest rows" are those
without tables. The sections of 20,000 and 1,000,000 rows are older: tables without hidden layers, bounds in any order of rows.
"""
CONCLUSION = """\
- **Where frequencies of labels differ much, an exact search needs no index.** Rows are gone through by falling length; rows that are
  too short for the best five of a sample are not looked at, and of the long ones rounded copies are kept. A single sample takes 21 us
  of 30,923 rows, 8 us of 670,091 and 19 us of 3,000,000, in batches 28, 7 and 17 us; hnswlib takes 64, 90 and 108 us for .991 to .993
  of the answers, 954 us for .997 of 670,091, and is built in 4, 201 and 1,195 s; the order in .04, .3 and 1.2 s. Of 3,000,000 rows
  batches took 2,330 to 2,610 us without this order.
- **The longest rows hold the answers there**: .999 of them. Tables add nothing to them, and are slower than all neurons by length.
- **With equally frequent labels the index fails.** On bible-xref (most frequent label in 0.6 % of the samples) it reaches .989,
  hnswlib .999. On wordnet-senses (each label in four samples) it reaches .404 whatever the number found, hnswlib .967;
  `slide test --inference lsh` has P@1 .188 there, all neurons .449. `default.toml` has .735 both ways: it takes candidates from the
  linear term and the kNN too. With 104,000 such labels and `throughput.toml` it has P@1 .071, all neurons .224.
  So `eval.inference = "auto"` takes all neurons of networks without a linear term.
- **All neurons are then as fast as a graph or faster, too**: 8-bit bounds of all scores, then exact scores where these can be among
  the top. On bible-xref a single sample takes 94 us, one of 512 takes 44 us, and hnswlib 90 us for .99; 20,000 rows of wordnet-senses
  take 44 us, 512 at a time, and hnswlib 712 us for .967 of the answers.
"""
LEAST_MISSED = 1e-4  # what is drawn for nothing


def run(command, **more):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    try:
        return subprocess.run(command, check=True, env=environment, **more)
    except FileNotFoundError:
        sys.exit(f"index_comparison.py: {command[0]}: no such program; build it with 'cmake --build --preset release'")
    except subprocess.CalledProcessError as error:
        sys.exit(f"index_comparison.py: {' '.join(command)} ended with exit code {error.returncode}")


def data_of(name, options):
    """Folder with train.txt and test.txt."""
    if not name.isdigit():
        if not os.environ.get("SLIDE_DATA"):
            sys.exit(f"index_comparison.py: no data: set SLIDE_DATA to a folder with {name}")
        return os.path.join(os.environ["SLIDE_DATA"], name)
    folder, labels = os.path.join(options.work, f"data-{name}"), int(name)
    if not os.path.exists(os.path.join(folder, "test.txt")):
        # Amazon-670K has 490,449 samples of 5 labels and 76 of 135,909 features for 670,091 labels.
        samples = options.train_samples or max(1000, labels * 490449 // 670091)
        run([options.slide, "generate", "--samples", str(samples), "--test-samples", "4000", "--features", "135909",
             "--labels", name, "--labels-per-sample", "5", "--features-per-sample", "40", "--out", folder + ".part"])
        os.rename(folder + ".part", folder)
    return folder


def results_of(name, options):
    """Lines of index_comparison, each a dictionary."""
    path = os.path.join(options.work, f"results-{name}.jsonl")
    if not os.path.exists(path):
        data, model = data_of(name, options), os.path.join(options.work, f"model-{name}")
        if not os.path.exists(os.path.join(model, "model.slide")):
            shutil.rmtree(model, ignore_errors=True)
            run([options.slide, "train", options.config, "--set", f"data.train={data}/train.txt",
                 "train.save_optimizer=false", "train.eval_every=0", "--epochs", "1" if name.isdigit() else "4",
                 "--threads", str(options.threads), "--quiet", "--out", model])
        with open(path + ".part", "w", encoding="utf-8") as file:
            run([options.program, os.path.join(model, "model.slide"), f"{data}/test.txt", "--samples",
                 str(options.samples), "--only", options.only], stdout=file)
        os.rename(path + ".part", path)
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def by_index(results):
    found = {}
    for line in results:
        found.setdefault(line["index"], []).append(line)
    return found


def microseconds_at(lines, recall):
    """Of the fastest setting that reaches the recall."""
    enough = [line["query_us"] for line in lines if line["recall_at_5"] >= recall]
    return min(enough) if enough else None


def number(value, digits=1):
    return "–" if value is None else f"{value:,.{digits}f}"


def sections_so_far(path):
    """Lines of each section of the page, by its heading."""
    try:
        with open(path, encoding="utf-8") as file:
            sections = file.read().split("\n## ")[1:]
    except FileNotFoundError:
        return {}
    return {f"## {section.partition(chr(10))[0]}": [*f"## {section.rstrip()}".splitlines(), ""] for section in sections}


def part(name, results, out):
    indexes, rows = by_index(results), results[0]["rows"]
    title = f"{rows:,} rows, generated" if name.isdigit() else f"{rows:,} rows of {name}"
    curves = [(TITLES[index][0], TITLES[index][1], "",
               [(line["query_us"], max(LEAST_MISSED, 1 - line["recall_at_5"])) for line in lines])
              for index, lines in indexes.items()]
    figure = f"index-comparison-{name}.svg"
    others = {"hnswlib", "faiss ivf", "faiss flat"} & indexes.keys()  # nothing to draw this engine beside, otherwise
    if others:
        draw(os.path.join(out, figure), f"{title}: the true top 5", curves, "microseconds a query", "share that is missed")
    head = "".join(f" µs at recall {recall} |" for recall in RECALLS)
    text = [f"## {title}", "", *([f"![{title}]({figure})", ""] if others else []), f"| Index |{head} Built in, s | MB |",
            "|---|" + "--:|" * (len(RECALLS) + 2)]
    for index, lines in indexes.items():
        times = "".join(f" {number(microseconds_at(lines, recall))} |" for recall in RECALLS)
        text.append(f"| {TITLES[index][0]} |{times} {lines[0]['build_seconds']:.1f} | {lines[0]['bytes'] / 1e6:,.0f} |")
    text += ["", "| Index | Setting | Recall of the top 5 | First label found | µs a query |", "|---|---|--:|--:|--:|"]
    for index, lines in indexes.items():
        for line in [] if index.endswith(" alone") else lines:  # found as in batches
            setting = f"{line['setting']} {SETTINGS[index]}" if index in SETTINGS else ""
            text.append(f"| {TITLES[index][0]} | {setting} | {line['recall_at_5']:.4f} | {line['first']:.4f} | "
                        f"{line['query_us']:.1f} |")
    return text + [""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET", default=["debian-depends", "670091"])
    parser.add_argument("--slide", default="build/release/slide")
    parser.add_argument("--program", default="build/release/tests/bench/index_comparison")
    parser.add_argument("--config", default="configs/throughput.toml")
    parser.add_argument("--work", default="build/index-comparison")
    parser.add_argument("--out", default="configs/experiments")
    parser.add_argument("--only", default="tables,all,hnsw,ivf,flat")
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=0, help="of training")
    parser.add_argument("--train-samples", type=int, default=0, help="of generated sets; default: as many a label as Amazon-670K has")
    parser.add_argument("--smoke", action="store_true", help="a small generated set, to see that it runs")
    options = parser.parse_args()
    if options.smoke:
        options.sets, options.samples = ["5000"], 128
    os.makedirs(options.work, exist_ok=True)
    text = ["# Hash tables beside hnswlib and faiss", "", ABOUT, CONCLUSION]
    page = os.path.join(options.out, "index-comparison.md")
    sections = sections_so_far(page)
    for name in options.sets:
        lines = part(name, results_of(name, options), options.out)
        sections[lines[0]] = lines
    for heading in sorted(sections, key=lambda heading: int(heading.split()[1].replace(",", ""))):
        text += sections[heading]
    with open(page, "w", encoding="utf-8") as file:
        file.write("\n".join(text))


if __name__ == "__main__":
    main()
