"""Lines of a data file as vectors of features, as engine/model/FORMAT.md describes them."""

import collections
import math
import unicodedata

import numpy as np

G, MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1
WORD_SEED, LETTER_SEED = 0x736C696465776F72, 0x736C696465636872
BLANKS = " \t\n\v\f\r\0"
ALONE = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))


def numbers(lines, features):
    """[lines, features] from lines `label,label feature:value ...`."""
    x = np.zeros((len(lines), features))
    for row, line in zip(x, lines):
        for token in line.split(" ")[1:]:  # a line that begins with a blank has no labels
            name, _, value = token.partition(":")
            if name:
                row[int(name)] += np.float32(value or 1)
    return x


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def hash_of(seed, text):
    data = text.encode()
    h = seed + G * len(data) & MASK
    for at in range(0, len(data), 8):
        h = mix((h ^ int.from_bytes(data[at : at + 8], "little")) + G & MASK)
    return h


def runs_of_words(text):
    token, alone = "", False
    for c in text:
        kind = unicodedata.category(c)
        word = kind[0] in "LN" or c == "_"
        stands_alone = kind == "Lo" and any(low <= ord(c) <= high for low, high in ALONE)
        goes_on = kind[0] == "M" or (kind == "Cf" and token)
        if token and (stands_alone or (alone and word) or not (word or goes_on)):
            yield token
            token, alone = "", False
        if word or goes_on:
            token += c
            alone = alone or stands_alone
    if token:
        yield token


def tokens_of(text, options):
    if options["tokens"] == "blanks":
        for blank in BLANKS:
            text = text.replace(blank, " ")
        raw = text.split(" ")
    else:
        raw = runs_of_words(text)
    for token in raw:
        token = "".join(c for c in token if unicodedata.category(c) != "Cf")  # nearly: what is ignorable
        if options["lowercase"]:
            token = unicodedata.normalize("NFD", token).casefold()
        token = unicodedata.normalize("NFC", token)
        if token:
            yield token


def hashes_of(text, options):
    """Every occurrence of a feature."""
    tokens = list(tokens_of(text, options))
    words = [hash_of(WORD_SEED, token) for token in tokens]
    for first in range(len(words)):
        h = None
        for word in words[first : first + options["word_ngrams"]]:
            h = word if h is None else mix(h * G + word & MASK)
            yield h or 1
    low, high = options["char_ngrams_min"], options["char_ngrams_max"]
    for marked in (f"<{token}>" for token in tokens):
        for first in range(len(marked)):
            for last in range(first + low, min(first + high, len(marked)) + 1):
                if last - first > 1 or 0 < first < len(marked) - 1:
                    yield hash_of(LETTER_SEED, marked[first:last]) or 1


def texts(lines, model):
    """[lines, features] from lines of plain text."""
    options, buckets = model.config["text"], model.config["text"]["hash_buckets"]
    x = np.zeros((len(lines), model.features))
    for row, line in zip(x, lines):
        count = collections.Counter()
        for h in hashes_of(line, options):
            if h in model.text.hashes:
                count[model.text.hashes[h]] += 1
            elif buckets:
                count[len(model.text.hashes) + h % buckets] += 1
        for feature, times in count.items():
            times = times if options["weighting"] == "counts" else 1 + math.log(times)
            row[feature] = times * model.text.weights[feature]
    return x


def features_of(lines, model):
    return texts(lines, model) if model.text else numbers(lines, model.features)
