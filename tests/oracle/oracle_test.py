"""Trains a small model with `slide`, predicts with it, and holds the answers against the oracle's.
usage: oracle_test.py SLIDE CONFIGS CASE; exit 77 = skipped for want of NumPy or data."""

import os
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import tomllib  # noqa: F401  model_file reads configurations with it

    import numpy as np
except ImportError as missing:
    print(f"SKIPPED: {sys.executable} has no {missing.name}: install python3-numpy, for Python 3.11 or newer")
    sys.exit(77)

import compare
from model_file import read_model
from prediction import predict
from rows import features_of

K = 5
NO_WIDE, NO_VOTES = "layer.-1.wide=false", "neighbours.share=0"
PLAIN = [NO_WIDE, NO_VOTES]
HIDDEN = "[[layer]]\nsize = {}\n{}\n"
OUTPUT = '[[layer]]\nkind = "{}"\nsize = 0\nlsh = 64\nuniform = 128\nwide = {}\n'
# A test for each: the hidden layers (size, further lines), kind of the output layer, keys. CMake reads the names.
CASES = {
    "sigmoid": ([(24, "")], "sampled", PLAIN),
    "softmax": ([(24, "")], "sampled", ["loss.kind=softmax", "train.save_optimizer=false", *PLAIN]),
    "wide": ([(24, "")], "sampled", [NO_VOTES]),
    "wide_softmax": ([(24, "")], "dense", ["loss.kind=softmax", NO_VOTES]),
    "neighbours": ([(24, "")], "sampled", [NO_WIDE, "neighbours.count=30", "neighbours.power=1.5"]),
    "neighbours_softmax": ([(24, "")], "sampled",
                           ["loss.kind=softmax", NO_WIDE, "neighbours.share=0.4", "neighbours.count=3",
                            "neighbours.cooccurrence=0.6"]),
    "neighbours_alone": ([(24, "")], "sampled", ["neighbours.cooccurrence=0"]),
    "neighbours_unweighted": ([(24, "")], "sampled", ["neighbours.learn=false"]),
    "all_parts": ([(24, "")], "sampled", ["data.idf_power=0.5"]),
    "pairs": ([(24, "")], "sampled", ["data.crosses=8"]),
    "pairs_all_parts": ([(24, "")], "sampled", ["data.crosses=8", "data.idf_power=0.5"]),
    "pairs_no_hidden": ([], "sampled", ["data.crosses=4", "data.normalize=false", "train.epochs=2"]),
    "idf_as_it_is": ([(24, "")], "sampled", ["data.idf_power=-1.5", "data.normalize=false", "train.epochs=2"]),
    "bf16": ([(24, "")], "sampled", ["train.weights=bf16", *PLAIN]),
    "bf16_all_parts": ([(24, "")], "sampled", ["train.weights=bf16", "data.idf_power=1"]),
    "bf16_softmax_deep": ([(40, ""), (24, "")], "dense", ["train.weights=bf16", "loss.kind=softmax", *PLAIN]),
    "deep": ([(24, 'activation = "tanh"'), (20, 'activation = "sigmoid"'), (17, 'activation = "linear"')], "dense",
             ["optimizer.kind=adam", "optimizer.learning_rate=0.01", *PLAIN]),
    "dropout": ([(33, "dropout = 0.3"), (16, "")], "sampled", ["optimizer.kind=momentum", *PLAIN]),
    "no_hidden": ([], "dense", PLAIN),
    "no_hidden_all_parts": ([], "sampled", ["data.idf_power=1"]),
    "bf16_no_hidden": ([], "sampled", ["train.weights=bf16", "loss.kind=softmax", *PLAIN]),
    "spare_neurons": ([(24, "")], "sampled", ["loss.kind=softmax", "layer.-1.size=210"]),
    "many_labels": ([(24, "")], "sampled", ["train.epochs=2"]),
    "text": ([(24, "")], "sampled", ["data.idf_power=-0.5"]),
    "text_buckets": ([(24, "")], "sampled", ["text.char_ngrams_max=4", "text.min_count=4", "text.hash_buckets=50"]),
    "text_counts": ([(24, "")], "dense",
                    ["text.weighting=counts", "text.tokens=blanks", "text.lowercase=false", NO_VOTES]),
    "small_bf16": ([(24, "")], "sampled", ["data.idf_power=0.5"]),
    "small_int8": ([(24, "")], "sampled", ["data.idf_power=0.5", "data.crosses=8"]),
    "small_deep": ([(40, ""), (24, "")], "dense", ["optimizer.kind=adam", "loss.kind=softmax", NO_VOTES]),
    "text_small": ([(24, "")], "sampled", ["data.crosses=8"]),
    "calibrated": ([(24, "")], "sampled", ["data.idf_power=0.5"]),
    "dense": ([(24, "")], "sampled", ["neighbours.count=30"]),
    "dense_no_hidden": ([], "sampled", ["loss.kind=softmax", "data.normalize=false"]),
    "dense_no_hidden_bf16": ([], "dense", ["train.weights=bf16", NO_VOTES]),
    "dense_bf16": ([(40, ""), (24, "")], "sampled", ["train.weights=bf16", NO_VOTES]),
    "dense_small_bf16": ([(24, "")], "sampled", []),
    "dense_small_int8": ([(24, "")], "sampled", []),
}
# Of these, what `slide convert` makes of the model.
SMALL = {
    "small_bf16": ["--weights", "bf16"],
    "small_int8": ["--weights", "int8"],
    "small_deep": ["--weights", "int8", "--prune", "20%"],
    "text_small": ["--weights", "int8", "--prune", "0.01"],
    "calibrated": ["--calibrate", "{folder}/test.txt"],
    "dense_small_bf16": ["--weights", "bf16"],
    "dense_small_int8": ["--weights", "int8"],
}


def run(slide, *arguments, **environment):
    done = subprocess.run([slide, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, **environment}, check=False)
    if done.returncode != 0:
        sys.exit(f"slide {' '.join(map(str, arguments))} fails: {done.stderr}")
    return done.stdout


# ---- data

WORDS = ("Größe groß GROSS nai\u0308ve naïve Ελλάς ΕΛΛΆΣ κόσμος 東京タワー 東京 カメラ2台 soft\u00adware software "
         "l'été état-major x_1 3,14 Ⅷ ½ हिन्दी\u200dभाषा हिन्दी мир Мир word Word words ﬁne fine a b c d").split(" ")


def write_text(folder):
    """Labelled lines, and lines without labels, of words that common tokenizers do not agree on."""
    draw = random.Random(1)
    words = [*WORDS, *(f"w{i}" for i in range(150))]
    lines = [draw.choices(words, k=draw.randint(3, 20)) for _ in range(700)]
    labels = [f"__label__l{words.index(line[0]) % 40} __label__l{len(line)} " for line in lines]
    labelled = [label + " ".join(line) for label, line in zip(labels, lines[:600])]
    (folder / "train.txt").write_text("\n".join(labelled) + "\n", encoding="utf-8")
    plain = [" ".join(line + ["unheard-of"] * (len(line) % 2)) for line in lines[600:]]
    return plain + ["", "\t", "never heard of"]


def write_numbers(slide, folder, samples, labels):
    """Generated samples, each with feature 400 besides. Odd ones to predict for: features that are named twice, out
    of order, or seen in no training sample, and no features at all."""
    run(slide, "generate", "--samples", samples, "--test-samples", 140, "--features", 400, "--labels", labels,
        "--out", folder)
    head, *train = (folder / "train.txt").read_text().splitlines()
    head = head.replace(" 400 ", " 403 ")
    (folder / "train.txt").write_text("\n".join([head, *(line + " 400:0.8" for line in train)]) + "\n")
    _, *test = (folder / "test.txt").read_text().splitlines()
    odd = ["", " 400:1", " 401:2", "3 402:1 401:3", " 7:1 3:0.25 7:-0.5", " 5"]
    return [line + " 400:0.8" for line in test] + odd


def write_dense(slide, folder):
    """Rows of 40 columns; one to predict for is all zeros."""
    run(slide, "generate", "--dense", 40, "--samples", 1000, "--test-samples", 140, "--features", 400, "--labels", 200,
        "--out", folder)
    (folder / "X.train.npy").rename(folder / "X.npy")
    (folder / "Y.train.txt").rename(folder / "Y.txt")
    return np.concatenate([np.load(folder / "X.test.npy"), np.zeros((1, 40), np.float32)])


def write_real(folder, name):
    data = pathlib.Path(os.environ.get("SLIDE_DATA", "/nowhere")) / name
    if not (data / "train.txt").exists():
        print(f"SKIPPED: no {name} under SLIDE_DATA={os.environ.get('SLIDE_DATA', '(not set)')}")
        sys.exit(77)
    (folder / "train.txt").symlink_to((data / "train.txt").resolve())
    return (data / "test.txt").read_text().splitlines()[1:]


# ---- a case

def train(slide, folder, case):
    layers, output, keys = CASES[case]
    wide = "false" if NO_WIDE in keys else "true"
    config = "".join(HIDDEN.format(*layer) for layer in layers) + OUTPUT.format(output, wide)
    (folder / "config.toml").write_text(config)
    keys = [key for key in keys if key != NO_WIDE]
    data = "X.npy" if case.startswith("dense") else "train.txt"
    train_with(slide, folder, folder / "config.toml", ["train.batch_size=64", "train.block_size=32", *keys], data)


def train_with(slide, folder, config, keys, data="train.txt"):
    settings = [argument for key in keys for argument in ("--set", key)]
    run(slide, "train", config, "--set", f"data.train={folder / data}", "--set", "train.eval_every=0",
        *settings, "--threads", 2, "--quiet", "--out", folder / "run")


def answers_of(slide, folder, model, lines, *options, **environment):
    """Of `slide predict` on the lines, or on dense rows, in the way of a data file."""
    data = folder / ("data.npy" if model.is_dense else "data.txt")
    if model.is_dense:
        np.save(data, lines)
    else:
        head = "" if model.text else f"{len(lines)} {model.features} {model.labels}\n"
        data.write_text(head + "".join(line + "\n" for line in lines), encoding="utf-8")
    text = run(slide, "predict", folder / "run/model.slide", data, "--k", K, "--inference", "full", "--threads", 2,
               *options, **environment)
    return compare.parse_answers(text, model.text.label_names if model.text else None)


def check(slide, folder, model, lines):
    """Returns how many faults there are; prints how it went."""
    x = lines.astype(np.float64) if model.is_dense else features_of(lines, model)
    expected, few = predict(x, model), slice(-8, None)
    answers = {simd: answers_of(slide, folder, model, lines, **({"SLIDE_SIMD": simd} if simd else {}))
               for simd in ("", "scalar")}
    results = {
        "probabilities": compare.compare_probabilities(answers[""], expected, K),
        "on any processor": compare.compare_probabilities(answers["scalar"], expected, K),
        "few samples": compare.compare_probabilities(
            answers_of(slide, folder, model, lines[few]), expected.part(few), K),
        "logits": compare.compare_scores(
            answers_of(slide, folder, model, lines, "--scores", "logit"), expected, K),
    }
    for name, result in results.items():
        print(f"{name}: greatest difference {result.greatest:.1e}, {result.rounded:.1%} of samples rounded another way")
        for fault in result.faults[:10]:
            print(f"  {fault}")
    return sum(len(result.faults) for result in results.values())


def prepare(slide, configs, case, folder):
    """Trains, and returns the lines to predict for."""
    if case == "mulan-bibtex":
        lines = write_real(folder, case)
        train_with(slide, folder, f"{configs}/default.toml", ["data.idf_power=0.5"])
        return lines[:400]
    shape = (4500, 4200) if case == "many_labels" else (1000, 200)
    if case.startswith("dense"):
        lines = write_dense(slide, folder)
    else:
        lines = write_text(folder) if case.startswith("text") else write_numbers(slide, folder, *shape)
    train(slide, folder, case)
    if case in SMALL:
        run(slide, "convert", folder / "run", folder / "small.slide",
            *(argument.format(folder=folder) for argument in SMALL[case]))
        (folder / "small.slide").replace(folder / "run/model.slide")
    return lines


def main(slide, configs, case):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = prepare(slide, configs, case, folder)
        return 1 if check(slide, folder, read_model(folder / "run/model.slide"), lines) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
