#!/usr/bin/env python3
"""Makes four public data sets from the machine's package index: rare labels from text, and items seen, items wanted.

  package-sources   the description of a package -> its source package, of those with several; 7,900 labels
  package-files     half of the file names in a package -> the other half; 65,000 items
  directory-files   half of the file names in a directory -> the other half; 152,000 items
  name-directories  words of a file name, and the packages with such files -> their directories; 318,000 labels

package-files and directory-files are what logs of items seen and items wanted look like. Names of files count that stand in
three packages or directories; at most 100 a sample. name-directories takes two names of each directory, of those that stand
in at most 50. Needs apt, for the file names the lists of `apt-file update` or files of --contents, and Python's standard
library. Writes OUT/<name>/train.txt and test.txt as word_sets.py does.
"""

import argparse
import collections
import functools
import gzip
import math
import os
import random
import re
import subprocess

from debian_depends import index_files, packages, words
from word_sets import write

LEAST_USES, MOST_ITEMS = 3, 100
DIRECTORIES, PACKAGES = 0, 1
MOST_DIRECTORIES, NAMES_OF_DIRECTORY = 50, 2
NAME_WORD = re.compile(r"[A-Z]*[a-z]+|[A-Z]+|[0-9]+")


def lines_of(path, given):
    """Lines of a Contents list: of apt's, however it is compressed, or of a file that the user gave."""
    if given:
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
            yield from file
        return
    with subprocess.Popen(["/usr/lib/apt/apt-helper", "cat-file", path], stdout=subprocess.PIPE, text=True,
                          encoding="utf-8", errors="replace") as helper:
        yield from helper.stdout


def contents(given):
    """(directory, name, packages) of each file, from Contents lists: the given ones, or apt's."""
    for path in given or index_files("Contents-deb", None):
        for line in lines_of(path, given):
            file, _, sections = line.rstrip("\n").rpartition(" ")
            directory, _, name = file.rstrip().rpartition("/")
            yield directory, name, [section.rpartition("/")[2] for section in sections.split(",")]


@functools.cache
def places_of_names(given):
    """(directories, packages) of each name of a file. Read once for all sets."""
    places = collections.defaultdict(lambda: (set(), set()))
    for directory, name, packages_of_file in contents(given):
        places[name][DIRECTORIES].add(directory)
        places[name][PACKAGES].update(packages_of_file)
    return places


def names_by(kind, places, most=math.inf):
    """The names in each directory or package, sorted, of those that stand in at most `most` of these."""
    names = collections.defaultdict(list)
    for name in sorted(places):
        if len(places[name][kind]) <= most:
            for place in places[name][kind]:
                names[place].append(name)
    return names


def seen_and_wanted(groups):
    random.seed(7)
    uses = collections.Counter(name for names in groups.values() for name in names)
    for key in sorted(groups):
        items = sorted(name for name in groups[key] if uses[name] >= LEAST_USES)
        random.shuffle(items)
        items = items[:MOST_ITEMS]
        if len(items) >= 4:
            yield items[:len(items) // 2], items[len(items) // 2:]


def name_directories(places):
    """Features of a name: its words, its packages and their words. Names are drawn from each directory alone, so that
    large ones do not prevail."""
    random.seed(7)
    by_directory = names_by(DIRECTORIES, places, MOST_DIRECTORIES)
    drawn = set()
    for directory in sorted(by_directory):
        names = by_directory[directory]
        drawn.update(random.sample(names, min(NAMES_OF_DIRECTORY, len(names))))
    for name in sorted(drawn):
        directories, own = places[name][DIRECTORIES], sorted(places[name][PACKAGES])
        features = [word.lower() for word in NAME_WORD.findall(name)]
        features += [f"package {package}" for package in own] + [word for package in own for word in package.split("-")]
        yield features, sorted(directories)


def package_sources():
    rows, _, _ = packages(None)
    uses = collections.Counter(source for _, source, _, _ in rows)
    for name, source, description, _ in rows:
        if uses[source] > 1:
            yield words(name, description), [source]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="folder to write into")
    parser.add_argument("sets", nargs="*", metavar="SET", help="which of the sets; default: all")
    parser.add_argument("--contents", action="append", default=[], metavar="FILE",
                        help="a list of files, Contents-<architecture>.gz of Debian's archive, in place of apt's lists")
    options = parser.parse_args()
    given = tuple(options.contents)
    makers = {"package-sources": (package_sources, 2, True),
              "package-files": (lambda: seen_and_wanted(names_by(PACKAGES, places_of_names(given))), 1, False),
              "directory-files": (lambda: seen_and_wanted(names_by(DIRECTORIES, places_of_names(given))), 1, False),
              "name-directories": (lambda: name_directories(places_of_names(given)), 2, True)}
    for name in options.sets:
        if name not in makers:
            parser.exit(2, f"package_sets.py: there is no set '{name}'; there are: {', '.join(makers)}\n")
    for name in options.sets or list(makers):
        samples_of, least, weigh = makers[name]
        samples = list(samples_of())
        if not samples:
            parser.exit(2, f"package_sets.py: nothing for {name}: apt's lists are not here; run `apt-get update`, install "
                           "apt-file and run `apt-file update`, or give lists of files by --contents\n")
        write(os.path.join(options.out, name), samples, least, weigh)


if __name__ == "__main__":
    main()
