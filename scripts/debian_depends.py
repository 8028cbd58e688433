#!/usr/bin/env python3
"""Makes a data set for extreme classification from the machine's own package index.

The task: predict what a package depends on from what its description says. One sample is a package, its features
are the words of its short and long description (TF-IDF, unit length), its labels the packages it depends on. Names
of packages and the Depends field itself are never features. All binary packages of one source package fall on the
same side of the split, so that siblings with the same description cannot leak.

Writes into OUT: train.txt and test.txt (XMC text), labels.txt and features.txt (line i names id i),
packages_train.txt and packages_test.txt (line i names sample i), sources_train.txt and sources_test.txt (line i names
the source package of sample i, for data.group). With --text also the descriptions themselves, of
the same packages in the same order: text_train.txt and text_test.txt (`__label__a __label__b words ...`), and the
same as tables, text_train.tsv and text_test.tsv (`a,b<TAB>words ...`), and in text_labels.tsv what the index says of the
dependencies themselves (`a<TAB>words ...`), for data.label_text.

Needs apt and Python's standard library only. Without long descriptions in the index it works from the short ones;
`apt-get -o Acquire::Languages=en update` brings the long ones.
"""

import argparse
import hashlib
import math
import os
import re
import subprocess
import sys
import time
from collections import Counter

WORD = re.compile(r"[a-z][a-z0-9+.-]*[a-z0-9+]")
RUN = re.compile(r"[A-Za-z0-9+.-]+")
NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")


def index_files(kind, lists):
    """Paths of the index files of one kind, 'Packages' or 'Translations', as apt itself names them."""
    command = ["apt-get", "-o", "Acquire::Languages=en"]
    if lists:
        command += ["-o", f"Dir::State::lists={os.path.abspath(lists)}"]
    command += ["indextargets", "--format", "$(FILENAME)", f"Created-By: {kind}"]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    return [path for path in found if os.path.exists(path)]


def read_index(path):
    """Text of an index file, however it is compressed on disk."""
    helper = "/usr/lib/apt/apt-helper"
    if not re.search(r"\.(lz4|xz|gz|bz2|zst)$", path):
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    result = subprocess.run([helper, "cat-file", path], capture_output=True, check=True)
    return result.stdout.decode("utf-8", errors="replace")


def stanzas(text, wanted):
    """Yields one dict for each stanza, with the wanted fields only; continuation lines keep their line breaks."""
    for stanza in text.split("\n\n"):
        fields, value = {}, None
        for line in stanza.split("\n"):
            if line[:1] in (" ", "\t"):
                if value is not None:
                    value.append(line.strip())
                continue
            name, _, rest = line.partition(":")
            value = None
            if name in wanted:
                value = fields[name] = [rest.strip()]
        if fields:
            yield {name: "\n".join(lines) for name, lines in fields.items()}


def dependencies(field):
    """Names in a Depends field: the first alternative of each, without version, architecture or multi-arch mark."""
    names = []
    for group in field.replace("\n", " ").split(","):
        match = NAME.match(group.strip())
        if match:
            names.append(match.group())
    return names


def packages(lists):
    """The first stanza of every package that depends on something: name, source, description, dependencies; the
    number of long descriptions; and the descriptions of all packages by name."""
    text = "\n\n".join(read_index(path) for path in index_files("Packages", lists))
    if not text:
        text = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, check=True).stdout.decode(errors="replace")
    long_text = {}
    for path in index_files("Translations", lists):
        for entry in stanzas(read_index(path), {"Description-md5", "Description-en"}):
            if "Description-en" in entry:
                long_text[entry.get("Description-md5")] = entry["Description-en"]
    found, described = {}, {}
    wanted = {"Package", "Source", "Depends", "Pre-Depends", "Description", "Description-md5"}
    for entry in stanzas(text, wanted):
        name = entry.get("Package")
        depends = dependencies(entry.get("Depends", "") + "," + entry.get("Pre-Depends", ""))
        if not name or name in found:
            continue
        description = long_text.get(entry.get("Description-md5")) or entry.get("Description", "")
        described.setdefault(name, description)
        if not depends:
            continue
        source = entry.get("Source", name).split(" ")[0]
        found[name] = (name, source, description, sorted(set(depends)))
    return [found[name] for name in sorted(found)], len(long_text), described


def words(name, description):
    """Lower-case words of a description, without the package's own name."""
    return [word for word in WORD.findall(description.lower()) if word != name]


def plain_text(name, description):
    """The description as one line, without the package's own name."""
    kept = RUN.sub(lambda match: "" if match.group().lower().strip("+.-") == name.strip("+.-") else match.group(),
                   description)
    return " ".join(kept.split())


def in_test(source, share):
    """The same side for a source package on every machine and in every run."""
    return int(hashlib.md5(source.encode()).hexdigest()[:8], 16) < share * 2**32


def vocabulary(counts, min_count):
    return {word: i for i, word in enumerate(sorted(w for w, n in counts.items() if n >= min_count))}


def vector(bag, vocab, idf, digits=5):
    """'feature:weight ...', sorted by feature, of unit length, with so many digits."""
    entries = sorted((vocab[w], (1.0 + math.log(n)) * idf[w]) for w, n in bag.items() if w in vocab)
    norm = math.sqrt(sum(value * value for _, value in entries)) or 1.0
    return " ".join(f"{feature}:{value / norm:.{digits}f}" for feature, value in entries)


def write_lines(path, lines):
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    os.replace(path + ".part", path)


def write_text(out, part, samples):
    """Labels and descriptions in the two forms of labelled text."""
    table, marked = [], []
    for text, labels in samples:
        table.append(f"{','.join(labels)}\t{text}")
        marked.append(" ".join([*(f"__label__{label}" for label in labels), text]))
    write_lines(os.path.join(out, f"text_{part}.tsv"), table)
    write_lines(os.path.join(out, f"text_{part}.txt"), marked)


def write_set(out, part, samples, vocab, idf, label_ids):
    """One XMC file and the names of its samples; samples with no known label or no known word are left out."""
    lines, names, sources, texts = [], [], [], []
    for name, source, bag, depends, text in samples:
        labels = sorted(label_ids[d] for d in depends if d in label_ids)
        features = vector(bag, vocab, idf)
        if labels and features:
            lines.append(f"{','.join(map(str, labels))} {features}")
            names.append(name)
            sources.append(source)
            texts.append((text, [d for d in depends if d in label_ids]))
    if texts and texts[0][0] is not None:
        write_text(out, part, texts)
    write_lines(os.path.join(out, f"packages_{part}.txt"), names)
    write_lines(os.path.join(out, f"sources_{part}.txt"), sources)
    write_lines(os.path.join(out, f"{part}.txt"), [f"{len(lines)} {len(vocab)} {len(label_ids)}", *lines])
    return len(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT", help="folder to write into")
    parser.add_argument("--lists", help="folder with apt's lists, when they are not the system's")
    parser.add_argument("--min-count", type=int, default=2, help="packages a word must occur in (default %(default)s)")
    parser.add_argument("--test-share", type=float, default=0.2, help="share of source packages (default %(default)s)")
    parser.add_argument("--text", action="store_true", help="also write the descriptions as labelled text")
    arguments = parser.parse_args()

    started = time.monotonic()
    rows, long_descriptions, described = packages(arguments.lists)
    if not rows:
        sys.exit("debian_depends.py: the package index is empty: run `apt-get update` first")
    train, test = [], []
    for name, source, description, depends in rows:
        part = test if in_test(source, arguments.test_share) else train
        text = plain_text(name, description) if arguments.text else None
        part.append((name, source, Counter(words(name, description)), depends, text))

    document_count = Counter()
    labels = set()
    for _, _, bag, depends, _ in train:
        document_count.update(bag.keys())
        labels.update(depends)
    vocab = vocabulary(document_count, arguments.min_count)
    idf = {word: math.log(len(train) / document_count[word]) for word in vocab}
    label_ids = {label: i for i, label in enumerate(sorted(labels))}

    os.makedirs(arguments.out, exist_ok=True)
    write_lines(os.path.join(arguments.out, "labels.txt"), sorted(labels))
    write_lines(os.path.join(arguments.out, "features.txt"), sorted(vocab))
    if arguments.text:
        texts = ((label, " ".join(described.get(label, "").split())) for label in sorted(labels))
        write_lines(os.path.join(arguments.out, "text_labels.tsv"), [f"{label}\t{text}" for label, text in texts if text])
    test_count = write_set(arguments.out, "test", test, vocab, idf, label_ids)
    train_count = write_set(arguments.out, "train", train, vocab, idf, label_ids)  # last: its presence means done
    print(f"{train_count} packages to train on, {test_count} to test on, {len(vocab)} words, {len(labels)} "
          f"dependencies, {'long' if long_descriptions else 'short'} descriptions, "
          f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
