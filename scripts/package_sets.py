#!/usr/bin/env python3
"""Makes three public data sets from the machine's package index: rare labels from text, and items seen, items wanted.

  package-sources  the description of a package -> its source package, of those with several; 7,900 labels
  package-files    half of the file names in a package -> the other half; 65,000 items
  directory-files  half of the file names in a directory -> the other half; 152,000 items

The last two are what logs of items seen and items wanted look like. Names of files count that stand in three packages or
directories; at most 100 a sample. Needs apt, for the file names the lists of `apt-file update`, and Python's standard
library. Writes OUT/<name>/train.txt and test.txt as word_sets.py does.
"""

import argparse
import collections
import os
import random
import subprocess

from debian_depends import index_files, packages, words
from word_sets import write

LEAST_USES, MOST_ITEMS = 3, 100


def contents():
    """(path, packages) of each file, from apt's Contents lists."""
    for path in index_files("Contents-deb", None):
        with subprocess.Popen(["/usr/lib/apt/apt-helper", "cat-file", path], stdout=subprocess.PIPE, text=True,
                              encoding="utf-8", errors="replace") as helper:
            for line in helper.stdout:
                name, _, sections = line.rstrip("\n").rpartition(" ")
                yield name.rstrip(), [section.rpartition("/")[2] for section in sections.split(",")]


def file_names():
    """Names of the files of each package, and of each directory."""
    by_package, by_directory = collections.defaultdict(set), collections.defaultdict(set)
    for path, names in contents():
        directory, _, name = path.rpartition("/")
        by_directory[directory].add(name)
        for package in names:
            by_package[package].add(name)
    return by_package, by_directory


def seen_and_wanted(groups):
    random.seed(7)
    uses = collections.Counter(name for names in groups.values() for name in names)
    for key in sorted(groups):
        items = sorted(name for name in groups[key] if uses[name] >= LEAST_USES)
        random.shuffle(items)
        items = items[:MOST_ITEMS]
        if len(items) >= 4:
            yield items[:len(items) // 2], items[len(items) // 2:]


def package_sources():
    rows, _, _ = packages(None)
    uses = collections.Counter(source for _, source, _, _ in rows)
    for name, source, description, _ in rows:
        if uses[source] > 1:
            yield words(name, description), [source]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="folder to write into")
    out = parser.parse_args().out
    sources = list(package_sources())
    by_package, by_directory = file_names()
    if not sources or not by_package:
        parser.exit(2, "package_sets.py: apt's lists are not here; run `apt-get update`, install apt-file and run "
                       "`apt-file update`\n")
    write(os.path.join(out, "package-sources"), sources, 2, True)
    write(os.path.join(out, "package-files"), list(seen_and_wanted(by_package)), 1, False)
    write(os.path.join(out, "directory-files"), list(seen_and_wanted(by_directory)), 1, False)


if __name__ == "__main__":
    main()
