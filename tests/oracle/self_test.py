"""That the comparison can fail: a model with one changed weight, and formulas with one thing changed, must be told
from what `slide` does. usage: self_test.py SLIDE CONFIGS; exit 77 = skipped for want of NumPy."""

import copy
import pathlib
import sys
import tempfile
import zlib

from oracle_test import K, answers_of, prepare

import numpy as np

import compare
import prediction
from model_file import BadModel, parse_model
from rows import features_of


def differs(answers, lines, model):
    expected = prediction.predict(features_of(lines, model), model)
    return bool(compare.compare_probabilities(answers, expected, K).faults)


def times(array, place, factor):
    array[place] *= factor


def add(array, place, more):
    array[place] += more


def flip(array, place):
    array[place] = not array[place]


def first_answer(model, lines, answers):
    """Features of the first sample, its best label, and the hidden unit that says most of it."""
    x, label = prediction.scaled(features_of(lines[:1], model), model)[0], answers[0][0][0]
    hidden = x @ model.layers[0].weights + model.layers[0].bias
    return x, label, int(np.argmax(hidden * np.abs(model.layers[-1].weights[:, label])))


def changed_numbers(model, lines, answers):
    """What changes one number of a model, by its name: one that matters to the first answer."""
    x, label, unit = first_answer(model, lines, answers)
    single, by_unit = x[: model.features], x * np.abs(model.layers[0].weights[:, unit])
    feature = int(np.argmax(by_unit[: model.features]))
    changes = {
        "a hidden weight": lambda m: times(m.layers[0].weights, (feature, unit), 1.5),
        "a hidden bias": lambda m: add(m.layers[0].bias, unit, 0.02),
        "an output weight": lambda m: times(m.layers[-1].weights, (unit, label), 1.02),
        "an output bias": lambda m: add(m.layers[-1].bias, label, 0.01),
    }
    if model.wide is not None:
        strongest = int(np.argmax(single * np.abs(model.wide[:, label])))
        changes["a wide weight"] = lambda m: times(m.wide, (strongest, label), 1.01)
    by_pair = by_unit[model.features :]
    if len(by_pair) > 0 and by_pair.max() > 0:
        pair = model.features + int(np.argmax(by_pair))
        changes["a pair's weight"] = lambda m: times(m.layers[0].weights, (pair, unit), 1.5)
    if model.factors is not None:
        changes["a factor"] = lambda m: times(m.factors, feature, 1.01)
    if model.neighbours is not None:
        nearest = int(np.argmax(model.neighbours @ single))
        common = int(np.argmax(model.neighbours[nearest] * single))
        changes["a neighbour's value"] = lambda m: times(m.neighbours, (nearest, common), 1.5)
        if model.feature_weights is not None:
            changes["what a feature weighs"] = lambda m: times(m.feature_weights, common, 1.5)
        changes["a neighbour's label"] = lambda m: flip(m.neighbour_labels, (nearest, label))
    if model.text:
        changes["a word's weight"] = lambda m: times(m.text.weights, feature, 1.05)
    return changes


def changed_keys(model):
    """Keys of the configuration, and other values of theirs."""
    other = {"softmax": "sigmoid", "sigmoid": "softmax"}
    yield "loss", "kind", other[model.config["loss"]["kind"]]
    yield "data", "normalize", False
    if model.bf16:
        yield "train", "weights", "fp32"
    if model.neighbours is not None:
        yield from (("neighbours", key, value) for key, value in {"share": 0.251, "power": 4.05, "count": 19, "cooccurrence": 0.3, "mean": 0.52}.items())
    if model.text:
        values = {"weighting": "counts", "lowercase": False, "tokens": "blanks", "word_ngrams": 1}
        yield from (("text", key, value) for key, value in values.items())


def changed_models(model, lines, answers):
    """Copies of the model in which one thing is another: what, and the copy."""
    for what, change in changed_numbers(model, lines, answers).items():
        changed = copy.deepcopy(model)
        change(changed)
        yield what, changed
    for section, key, value in changed_keys(model):
        changed = copy.deepcopy(model)
        changed.config[section][key] = value
        yield f"{section}.{key} = {value}", changed


FORMULAS = {  # of `prediction`, by the case that has a use for them, and another one
    "all_parts": {
        "ACTIVATIONS": {"relu": lambda z: z},
        "PRIOR_NEIGHBOUR": 0.76,
        "POSTINGS": 3000,
        "PAIR_SCALE": 0.51,
        "PROPAGATING": 1,
        "COOCCURRENCE": 1,
    },
    "softmax": {"log_softmax": lambda z: z - np.log1p(np.exp(z).sum(axis=1, keepdims=True))},
    "bf16": {"to_bf16": lambda x: x},
}


def with_checksum(data):
    return data[:-12] + zlib.crc32(data[:-12]).to_bytes(4, "little") + data[-8:]


def damage_is_seen(data):
    """Whether a reader of the bytes refuses a bit that is another one, and an end that is missing."""
    for at in [*range(0, len(data), len(data) // 20), len(data) - 1]:
        damaged = bytearray(data)
        damaged[at] ^= 4
        for bad in (bytes(damaged), data[:at]):
            try:
                parse_model(bad)
            except BadModel:
                continue
            return False
    return True


def file_faults(slide, folder, model, lines, answers):
    """The same weight changed in the file: `slide` and the oracle must both see it, and agree."""
    path = folder / "run/model.slide"
    data = path.read_bytes()
    _, label, unit = first_answer(model, lines, answers)
    at = data.index(model.layers[-1].weights[:, label].astype("<f4").tobytes()) + 4 * unit
    weight = np.frombuffer(data[at : at + 4], "<f4") * np.float32(1.5)
    changed = with_checksum(data[:at] + weight.tobytes() + data[at + 4 :])
    path.write_bytes(changed)
    theirs = answers_of(slide, folder, model, lines)
    path.write_bytes(data)
    if not differs(theirs, lines, model):
        yield "a weight that is changed in the file makes no difference to slide"
    if differs(theirs, lines, parse_model(changed)):
        yield "slide and the oracle do not see the same change of the file"
    if not damage_is_seen(data):
        yield "a damaged file is read as if it were whole"


def faults_of(slide, configs, case, folder):
    lines = prepare(slide, configs, case, folder)
    model = parse_model((folder / "run/model.slide").read_bytes())
    answers = answers_of(slide, folder, model, lines)
    if differs(answers, lines, model):
        yield "the model as it is does not agree"
    for what, changed in changed_models(model, lines, answers):
        if not differs(answers, lines, changed):
            yield f"{what}: not noticed"
    if case == "all_parts":
        yield from file_faults(slide, folder, model, lines, answers)
    for name, formula in FORMULAS.get(case, {}).items():
        good = getattr(prediction, name)
        setattr(prediction, name, formula)
        if not differs(answers, lines, model):
            yield f"another {name}: not noticed"
        setattr(prediction, name, good)


def main(slide, configs):
    count = 0
    for case in ("all_parts", "bf16", "softmax", "text"):
        with tempfile.TemporaryDirectory() as name:
            for fault in faults_of(slide, configs, case, pathlib.Path(name)):
                print(f"{case}: {fault}")
                count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
