"""Holds the measures of `slide evaluate` and `slide test` against a computation of their definitions on dense arrays.
usage: measures_test.py SLIDE CONFIGS random|mulan-bibtex; exit 77 = skipped for want of NumPy or data."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as missing:
    print(f"SKIPPED: {sys.executable} has no {missing.name}: install python3-numpy")
    sys.exit(77)

KS = [1, 3, 5]
A, B = 0.6, 2.6
NEAR = 1e-9


def run(slide, *arguments):
    done = subprocess.run([slide, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"slide {' '.join(map(str, arguments))} fails: {done.stderr}")
    return done.stdout


def read_npz(path, samples, labels):
    """Dense scores; what has none is minus infinity."""
    with np.load(path) as file:
        assert bytes(file["format"]) == b"csr" and tuple(file["shape"]) == (samples, labels), path
        dense = np.full((samples, labels), -np.inf, dtype=np.float32)
        for row in range(samples):
            entries = slice(file["indptr"][row], file["indptr"][row + 1])
            dense[row, file["indices"][entries]] = file["data"][entries]
    return dense


def write_npz(path, dense):
    """As scipy.sparse.save_npz does."""
    there = np.isfinite(dense)
    np.savez(path, indices=np.nonzero(there)[1].astype(np.int32), data=dense[there], format=b"csr",
             indptr=np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int32),
             shape=np.array(dense.shape))


def write_xmc(path, truth):
    rows = [",".join(map(str, np.flatnonzero(row))) + " 0:1" for row in truth]
    path.write_text("\n".join([f"{len(truth)} 1 {truth.shape[1]}", *rows]) + "\n")


def read_xmc(path):
    head, *lines = path.read_text().splitlines()
    truth = np.zeros((len(lines), int(head.split()[2])), dtype=bool)
    for row, line in zip(truth, lines):
        row[[int(label) for label in line.split(" ")[0].split(",") if label and ":" not in label]] = True
    return truth


# ---- the definitions

def propensity_weights(train):
    samples = len(train)
    return 1 + (np.log(samples) - 1) * (B + 1) ** A * (train.sum(axis=0) + B) ** -A


def ranking_measures(scores, truth, weights):
    samples, labels = truth.shape
    order = np.argsort(-scores.astype(float), axis=1, kind="stable")
    valid = np.isfinite(np.take_along_axis(scores, order, axis=1))
    hits = np.take_along_axis(truth, order, axis=1) & valid
    best = -np.sort(-(truth * weights), axis=1)  # weights of the true labels, falling
    discount = 1 / np.log2(np.arange(labels) + 2)
    positives = truth.sum(axis=1)
    found = {}
    for k in KS:
        hit, gain = hits[:, :k], hits[:, :k] * weights[order[:, :k]]
        ideal = np.array([discount[:min(k, n)].sum() if n else np.inf for n in positives])
        found[f"p_at_{k}"] = (hit.sum(axis=1) / k).mean()
        found[f"ndcg_at_{k}"] = ((hit * discount[:k]).sum(axis=1) / ideal).mean()
        found[f"psp_at_{k}"] = gain.sum() / best[:, :k].sum()
        found[f"psndcg_at_{k}"] = (((gain * discount[:k]).sum(axis=1) / ideal).sum() /
                                   ((best[:, :k] * discount[:k]).sum(axis=1) / ideal).sum())
        found[f"recall_at_{k}"] = (hit.sum(axis=1) / np.maximum(positives, 1)).mean()
        hit_labels, shown = np.zeros(labels, dtype=bool), np.zeros(labels, dtype=bool)
        hit_labels[order[:, :k][hit]] = True
        shown[order[:, :k][valid[:, :k]]] = True
        found[f"coverage_at_{k}"] = hit_labels.sum() / truth.any(axis=0).sum()
        found[f"catalogue_at_{k}"] = shown.mean()
    assert found["p_at_1"] > 0
    return found, order, hits, valid


def f1_measures(scores, truth, threshold):
    predicted = scores >= np.float32(threshold)

    def f1(axis):
        hits, both = (predicted & truth).sum(axis=axis), predicted.sum(axis=axis) + truth.sum(axis=axis)
        return np.where(both > 0, 2 * hits / np.maximum(both, 1), 0.0), both

    by_label, both = f1(0)
    return {"f1_micro": float(f1(None)[0]), "f1_macro": by_label[both > 0].mean(), "f1_samples": f1(1)[0].mean()}


def label_table(order, hits, valid, truth):
    """[labels, 1 + 2 x KS]: positives, and predictions and hits at each k."""
    labels = truth.shape[1]
    columns = [truth.sum(axis=0)]
    for k in KS:
        columns.append(np.bincount(order[:, :k][valid[:, :k]], minlength=labels))
        columns.append(np.bincount(order[:, :k][hits[:, :k]], minlength=labels))
    return np.stack(columns, axis=1)


# ---- comparison

def agree(answer, expected, what):
    faults = [f"{what}: {name} is {answer.get(name)}, not {value}" for name, value in expected.items()
              if not (name in answer and abs(answer[name] - value) <= NEAR)]
    if faults:
        sys.exit("\n".join(faults))
    print(f"{what}: {len(expected)} measures agree")


def agree_table(path, expected, what):
    head, *lines = path.read_text().splitlines()
    names = head.split("\t")
    wanted = ["positives", *(f"{kind}_at_{k}" for k in KS for kind in ("predicted", "hits"))]
    found = np.array([[int(line.split("\t")[names.index(name)]) for name in wanted] for line in lines])
    if found.shape != expected.shape or (found != expected).any():
        sys.exit(f"{what}: the table of labels differs")


def filtered(draw, folder, truth, ranked):
    """Pairs of true and of highly ranked labels, in a file and as an array."""
    pairs = np.zeros(truth.shape, dtype=bool)
    pairs[truth & (draw.random(truth.shape) < 0.2)] = True
    rows = draw.integers(len(truth), size=len(truth))
    pairs[rows, ranked[rows, draw.integers(3, size=len(rows))]] = True
    lines = [f"{sample} {label}" for sample, label in zip(*np.nonzero(pairs))]
    draw.shuffle(lines)
    (folder / "filter.txt").write_text("\n".join(lines) + "\n")
    return pairs


def without(scores, truth, pairs):
    return np.where(pairs, np.float32(-np.inf), scores), truth & ~pairs


def random_scores(draw, truth):
    """Some labels of each sample, in steps so large that there are ties; true ones are a little higher."""
    scores = np.round(draw.random(truth.shape) + 0.3 * truth, 2).astype(np.float32)
    return np.where(draw.random(truth.shape) < 0.3 + 0.5 * truth, scores, np.float32(-np.inf))


def random_case(slide, folder):
    draw = np.random.default_rng(5)
    chance = 0.3 / (1 + np.arange(60))
    train, truth, validation = (draw.random((n, 60)) < chance for n in (500, 300, 200))
    one, two, early = random_scores(draw, truth), random_scores(draw, truth), random_scores(draw, validation)
    for name, scores in {"one": one, "two": two, "early": early}.items():
        write_npz(folder / f"{name}.npz", scores)
    for name, labels in {"train": train, "test": truth, "validation": validation}.items():
        write_xmc(folder / f"{name}.txt", labels)
    pairs = filtered(draw, folder, truth, np.argsort(-one.astype(float), axis=1, kind="stable"))
    options = ["--k", "1,3,5", "--train", folder / "train.txt", "--propensity", f"{A},{B}", "--json"]
    weights = propensity_weights(train)

    answer = json.loads(run(slide, "evaluate", folder / "one.npz", folder / "test.txt", *options,
                            "--threshold", "0.7"))
    agree(answer, {**ranking_measures(one, truth, weights)[0], **f1_measures(one, truth, 0.7)}, "random scores")

    kept, true = without(one, truth, pairs)
    table = folder / "labels.tsv"
    answer = json.loads(run(slide, "evaluate", folder / "one.npz", folder / "test.txt", *options, "--filter",
                            folder / "filter.txt", "--per-label", table, "--best-threshold", folder / "early.npz",
                            folder / "validation.txt"))
    found, order, hits, valid = ranking_measures(kept, true, weights)
    steps = np.unique(early[np.isfinite(early)])
    threshold = max(steps, key=lambda t: (f1_measures(early, validation, t)["f1_micro"], t))
    halfway = (float(threshold) + float(steps[steps < threshold].max())) / 2
    agree(answer, {**found, "threshold": float(f"{halfway:.6g}"), **f1_measures(kept, true, threshold)}, "with a filter")
    agree_table(table, label_table(order, hits, valid, true), "with a filter")

    sums = np.where(np.isfinite(one), 0.3 * one.astype(float), 0) + np.where(np.isfinite(two), 0.7 * two.astype(float), 0)
    mean = np.where(np.isfinite(one) | np.isfinite(two), sums, -np.inf).astype(np.float32)
    answer = json.loads(run(slide, "evaluate", folder / "one.npz", folder / "two.npz", folder / "test.txt", *options,
                            "--weights", "0.3,0.7", "--filter", folder / "filter.txt"))
    agree(answer, ranking_measures(*without(mean, truth, pairs), weights)[0], "two files with weights")
    intervals(slide, folder, options, (one, two), (truth, weights))


def intervals(slide, folder, options, scores, data):
    """The difference that is told is that of the measures, and lies in its interval, as each measure in its own."""
    (one, two), (truth, weights) = scores, data
    first, second = (ranking_measures(each, truth, weights)[0] for each in (one, two))
    answer = json.loads(run(slide, "evaluate", folder / "one.npz", folder / "test.txt", *options, "--bootstrap", 500,
                            "--compare", folder / "two.npz"))
    for name, told in answer["compare"].items():
        low, high = told["interval"]
        own_low, own_high = answer["intervals"][name]
        if abs(told["difference"] - (first[name] - second[name])) > NEAR or not 0 < told["p_value"] <= 1:
            sys.exit(f"the difference of {name} is {first[name] - second[name]}, not {told}")
        if not (low <= told["difference"] <= high and own_low <= answer[name] <= own_high):
            sys.exit(f"{name} lies outside its interval: {answer[name]}, {told}")
    print(f"{len(answer['compare'])} differences and intervals hold")


def real_case(slide, folder, configs, name):
    """A model measured by `test`, and its scores by `evaluate`, with a filter of pairs that it ranks high."""
    data = pathlib.Path(os.environ.get("SLIDE_DATA", "/nowhere")) / name
    if not (data / "train.txt").exists():
        print(f"SKIPPED: no {name} under SLIDE_DATA={os.environ.get('SLIDE_DATA', '(not set)')}")
        sys.exit(77)
    run(slide, "train", pathlib.Path(configs) / "default.toml", "--set", f"data.train={data}/train.txt", "--set",
        "train.epochs=1", "--out", folder / "run", "--quiet")
    model, test = folder / "run" / "model.slide", data / "test.txt"
    truth, train = read_xmc(test), read_xmc(data / "train.txt")
    run(slide, "predict", model, test, "--k", truth.shape[1], "--scores", "logit", "--out", folder / "scores.npz")
    scores = read_npz(folder / "scores.npz", *truth.shape)
    draw = np.random.default_rng(6)
    pairs = filtered(draw, folder, truth, np.argsort(-scores.astype(float), axis=1, kind="stable"))
    expected = ranking_measures(*without(scores, truth, pairs), propensity_weights(train))[0]
    options = ["--k", "1,3,5", "--propensity", f"{A},{B}", "--filter", folder / "filter.txt", "--json"]
    agree(json.loads(run(slide, "evaluate", folder / "scores.npz", test, "--train", data / "train.txt", *options)),
          expected, f"evaluate on {name}")
    agree(json.loads(run(slide, "test", model, test, *options)), expected, f"test on {name}")


def main():
    slide, configs, case = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if case == "random":
            random_case(slide, folder)
        else:
            real_case(slide, folder, configs, case)


if __name__ == "__main__":
    main()
