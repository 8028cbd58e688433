#!/usr/bin/env python3
"""Shows what a model predicts for some samples of a test file, in words.

usage: show_predictions.py SLIDE MODEL DATA [COUNT]

DATA is a folder as debian_depends.py writes it: test.txt, labels.txt and packages_test.txt. Right predictions are
marked with *; how many of the sample's labels there are stands behind its name.
"""

import os
import subprocess
import sys

LABELS_SHOWN = 5


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def spread(names, count):
    """Positions of `count` samples spread over the file."""
    step = max(1, len(names) // count)
    return list(range(step // 2, len(names), step))[:count]


def predict(slide, model, header, lines):
    """Predicted labels of each line, best first: a list of ids a sample."""
    _, features, labels = header.split()
    text = "\n".join([f"{len(lines)} {features} {labels}", *lines]) + "\n"
    command = [slide, "predict", model, "-", "--k", str(LABELS_SHOWN)]
    output = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return [[int(pair.split(":")[0]) for pair in line.split()] for line in output.splitlines()]


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    slide, model, data = sys.argv[1:4]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 12
    label_names = read_lines(os.path.join(data, "labels.txt"))
    package_names = read_lines(os.path.join(data, "packages_test.txt"))
    header, *samples = read_lines(os.path.join(data, "test.txt"))
    chosen = spread(samples, count)
    width = max(len(package_names[i]) for i in chosen)
    for i, predicted in zip(chosen, predict(slide, model, header, [samples[i] for i in chosen])):
        true = set(map(int, samples[i].split(" ", 1)[0].split(",")))
        shown = "  ".join(("*" if label in true else " ") + label_names[label] for label in predicted)
        print(f"{package_names[i]:{width}} ({len(true):2})  {shown}")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"show_predictions.py: {error.stderr.strip() or error}")
