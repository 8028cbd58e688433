"""Accuracy by time: slide beside scikit-learn's one-vs-rest classifiers and a dense network of PyTorch.

    compare.py TRAIN TEST [--seconds S] [--figure FILE.png] [--without sgd ...]

TRAIN and TEST are files of any format that `slide train` reads. Each method gets S seconds. slide is trained anew for 1, 2,
4 ... epochs. One-vs-rest takes the labels by falling frequency, a binary classifier each, and is measured on the way: what
it has not come to it does not predict; as many processes as there are cores share its labels. The dense network (128 hidden
units, one sigmoid a label) is measured after each epoch; it is left out without PyTorch, the figure without matplotlib.
"""

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier

import slide

LABELS_AT_ONCE = 32  # of a process
ROWS_AT_ONCE = 512


def precision(scores, truth):
    """P@1 of scores [n, labels], of which the rest are misses."""
    best = np.asarray(scores.argmax(axis=1)).ravel()
    return np.asarray(truth[np.arange(len(best)), best]).mean()


def slide_curve(train, test, seconds):
    epochs = 1
    while True:
        began = time.perf_counter()
        classifier = slide.Classifier(train__epochs=epochs, verbose=False).fit(*train)
        took = time.perf_counter() - began
        if took > seconds and epochs > 1:
            return
        yield took, classifier.score(*test)
        if took > seconds / 2:
            return
        epochs *= 2


def fit_labels(make, x, columns):
    """Weights [labels, features + 1] of a binary classifier for each column of 0 and 1."""
    return np.stack([np.append(model.coef_[0], model.intercept_[0])
                     for model in (make().fit(x, column) for column in columns)])


def measure_rows(x, weights, bias, labels, truth):
    """P@1 with a linear classifier for some of the labels."""
    hits = 0.0
    for first in range(0, x.shape[0], ROWS_AT_ONCE):
        scores = x[first : first + ROWS_AT_ONCE] @ weights + bias
        best = labels[scores.argmax(axis=1)]
        hits += truth[first : first + ROWS_AT_ONCE][np.arange(len(best)), best].sum()
    return hits / x.shape[0]


def one_vs_rest_curve(make, train, test, seconds):
    x, y = train
    by_label = y.tocsc()
    frequencies = np.diff(by_label.indptr)
    order = np.argsort(-frequencies, kind="stable")
    order = order[(frequencies[order] > 0) & (frequencies[order] < x.shape[0])]
    parts = [order[i : i + LABELS_AT_ONCE] for i in range(0, len(order), LABELS_AT_ONCE)]
    found, spent, next_look = [], 0.0, 1.0
    cores = os.cpu_count()
    with ProcessPoolExecutor(cores) as pool:
        while len(found) < len(parts) and spent < seconds:
            now = parts[len(found) : len(found) + cores]
            columns = [by_label[:, part].toarray().T for part in now]
            began = time.perf_counter()
            found += pool.map(fit_labels, [make] * len(now), [x] * len(now), columns)
            spent += time.perf_counter() - began
            if spent >= next_look or len(found) == len(parts):
                next_look = 2 * spent
                all_weights = np.vstack(found).astype(np.float32).T
                labels = order[: all_weights.shape[1]]
                yield spent, measure_rows(test[0], all_weights[:-1], all_weights[-1], labels, test[1])


def dense_curve(train, test, seconds):
    import torch

    torch.manual_seed(1)
    x, y = train
    network = torch.nn.Sequential(torch.nn.Linear(x.shape[1], 128), torch.nn.ReLU(), torch.nn.Linear(128, y.shape[1]))
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    rng, spent = np.random.default_rng(1), 0.0
    while spent < seconds:
        began = time.perf_counter()
        for rows in np.array_split(rng.permutation(x.shape[0]), max(1, x.shape[0] // 128)):
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                network(torch.from_numpy(x[rows].toarray())), torch.from_numpy(y[rows].toarray().astype(np.float32)),
                reduction="sum") / len(rows)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if time.perf_counter() - began > seconds:
                break
        spent += time.perf_counter() - began
        with torch.no_grad():
            parts = [network(torch.from_numpy(test[0][i : i + 512].toarray())).argmax(1).numpy()
                     for i in range(0, test[0].shape[0], 512)]
        best = np.concatenate(parts)
        yield spent, np.asarray(test[1][np.arange(len(best)), best]).mean()


def logistic():
    return LogisticRegression(solver="liblinear")


def hinge():
    return SGDClassifier(random_state=1)


METHODS = {
    "slide": slide_curve,
    "logistic": lambda *given: one_vs_rest_curve(logistic, *given),
    "sgd": lambda *given: one_vs_rest_curve(hinge, *given),
    "dense": dense_curve,
}
NAMES = {
    "slide": "slide",
    "logistic": "scikit-learn, one-vs-rest logistic regression",
    "sgd": "scikit-learn, one-vs-rest SGD",
    "dense": "PyTorch, dense network",
}


def draw(curves, path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for name, points in curves.items():
        axes.plot(*zip(*points), marker="o", label=NAMES[name])
    axes.set(xscale="log", xlabel="seconds of training", ylabel="P@1", ylim=(0, 1))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each method (60)")
    parser.add_argument("--figure", help="file to draw to")
    parser.add_argument("--without", nargs="*", choices=METHODS, default=[], help="methods to leave out")
    given = parser.parse_args()
    train, test = slide.read(given.train), slide.read(given.test)
    for one, other in zip(train, test):  # files without a header end with the columns that they name
        one.resize(one.shape[0], max(one.shape[1], other.shape[1]))
        other.resize(other.shape[0], one.shape[1])
    curves = {}
    for name, curve in METHODS.items():
        if name in given.without:
            continue
        try:
            for seconds, score in curve(train, test, given.seconds):
                curves.setdefault(name, []).append((seconds, score))
                print(f"{NAMES[name]:45}  {seconds:8.2f} s  P@1 {score:.4f}", flush=True)
        except ImportError as missing:
            print(f"{NAMES[name]:45}  left out: {missing}")
    if given.figure and curves:
        try:
            draw(curves, given.figure)
        except ImportError as missing:
            print(f"no figure: {missing}")


if __name__ == "__main__":
    main()
