#!/usr/bin/env python3
"""Makes four public data sets with many rare labels from WordNet 3.0 and the LibreOffice thesaurus.

  wordnet-links   a sense (its words and gloss) -> the senses that WordNet links it with; 103,000 labels, 2.8 samples each
  wordnet-lemmas  the gloss alone -> the words it explains, of those with several senses; 26,000 labels, 2.6 samples each
  thesaurus       half of the synonyms of a word -> the other half: items seen, items wanted; 75,000 labels
  wordnet-senses  five words of a sense -> the sense: 20,000 labels, each of exactly four training samples and one test sample

Needs the packages wordnet-base and mythes-en-us and Python's standard library. Writes OUT/<name>/train.txt and test.txt
(XMC text; the first three 80/20 by chance): TF-IDF of unit length, for the thesaurus ones of unit length. Features must occur in two
training samples (the thesaurus: in one); labels without a training sample are left out of the test file.
"""

import argparse
import collections
import math
import os
import random
import re

from debian_depends import vector, vocabulary, write_lines

WORDNET, THESAURUS = "/usr/share/wordnet", "/usr/share/mythes/th_en_US_v2.dat"
PARTS = ("noun", "verb", "adj", "adv")
ANTONYM = "!"


def words(text):
    return re.findall(r"[a-z0-9+]{2,}", text.lower())


def senses():
    """(lemmas, links, gloss) of each sense: wndb(5WN). A link names a sense by offset and part of speech."""
    for part in PARTS:
        with open(os.path.join(WORDNET, f"data.{part}"), encoding="latin1") as file:
            for line in file:
                if line.startswith("  "):  # the licence
                    continue
                head, gloss = line.split(" | ", 1)
                fields = head.split()
                at = 4 + 2 * int(fields[3], 16)
                lemmas = [word.lower() for word in fields[4:at:2]]
                links = [fields[at + 1 + 4 * i:at + 4 + 4 * i] for i in range(int(fields[at]))]
                yield lemmas, [target + kind for symbol, target, kind in links if symbol != ANTONYM], gloss


def wordnet_links():
    for lemmas, links, gloss in senses():
        yield words(gloss) + words(" ".join(lemmas).replace("_", " ")), links


def wordnet_lemmas():
    every = list(senses())
    uses = collections.Counter(lemma for lemmas, _, _ in every for lemma in set(lemmas))
    for lemmas, _, gloss in every:
        yield words(gloss), [lemma for lemma in lemmas if uses[lemma] > 1]


def thesaurus():
    random.seed(7)
    with open(THESAURUS, encoding="utf8") as file:
        next(file)
        for line in file:
            items = set()
            for _ in range(int(line.rsplit("|", 1)[1])):
                items.update(next(file).rstrip("\n").split("|")[1:])
            items = sorted({re.sub(r" \((generic|related|similar) term\)", "", item) for item in items})
            random.shuffle(items)
            if len(items) >= 4:
                yield items[:len(items) // 2], items[len(items) // 2:]


def wordnet_senses(count=20_000, draws=5, size=5):
    """Training and test samples: `size` different words of a sense that has at least twice as many; its last draw is for the test."""
    random.seed(7)
    every = [sorted(set(words(gloss) + words(" ".join(lemmas).replace("_", " ")))) for lemmas, _, gloss in senses()]
    chosen = random.sample([bag for bag in every if len(bag) >= 2 * size], count)
    parts = [[(random.sample(bag, size), [label]) for label, bag in enumerate(chosen)] for _ in range(draws)]
    train = [sample for part in parts[:-1] for sample in part]
    random.shuffle(train)
    return train, parts[-1]


def write(folder, samples, least, weigh):
    """Splits by chance and writes both parts."""
    random.seed(7)
    random.shuffle(samples)
    count = int(len(samples) * 0.8)
    write_parts(folder, samples[:count], samples[count:], least, weigh)


def write_parts(folder, train, test, least, weigh):
    """Counts features and labels on the training part, and writes both parts."""
    count = len(train)
    occurs = collections.Counter(feature for features, _ in train for feature in set(features))
    vocab = vocabulary(occurs, least)
    idf = {feature: math.log(count / occurs[feature]) if weigh else 1.0 for feature in vocab}
    label_ids = {l: i for i, l in enumerate(sorted({l for _, labels in train for l in labels}))}
    os.makedirs(folder, exist_ok=True)
    for part, chosen in (("train", train), ("test", test)):
        rows = []
        for features, labels in chosen:
            values = vector(collections.Counter(features), vocab, idf, 4)
            wanted = sorted({label_ids[label] for label in labels if label in label_ids})
            if wanted and values:
                rows.append(f"{','.join(map(str, wanted))} {values}")
        write_lines(os.path.join(folder, f"{part}.txt"), [f"{len(rows)} {len(vocab)} {len(label_ids)}", *rows])
        print(f"{folder}/{part}.txt: {len(rows):,} samples, {len(vocab):,} features, {len(label_ids):,} labels")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("out", help="folder to write into")
    parser.add_argument("sets", nargs="*", metavar="SET", help="which of the sets; default: all")
    options = parser.parse_args()
    makers = {"wordnet-links": lambda folder: write(folder, list(wordnet_links()), 2, True),
              "wordnet-lemmas": lambda folder: write(folder, list(wordnet_lemmas()), 2, True),
              "thesaurus": lambda folder: write(folder, list(thesaurus()), 1, False),
              "wordnet-senses": lambda folder: write_parts(folder, *wordnet_senses(), 2, True)}
    for name in options.sets:
        if name not in makers:
            parser.exit(2, f"word_sets.py: there is no set '{name}'; there are: {', '.join(makers)}\n")
    chosen = options.sets or list(makers)
    for path, package in ((WORDNET, "wordnet-base"), (THESAURUS, "mythes-en-us")):
        if not os.path.exists(path) and any((name == "thesaurus") == (path == THESAURUS) for name in chosen):
            parser.exit(2, f"word_sets.py: there is no {path}; install the package {package}\n")
    for name in chosen:
        makers[name](os.path.join(options.out, name))


if __name__ == "__main__":
    main()
