#!/usr/bin/env python3
"""The label tree baselines, by --recipe:

plt        a probabilistic label tree (PLT; Jasinska et al., ICML 2016): two children a node, logistic, C 10
xr-linear  PECOS XR-Linear (Yu et al., JMLR 2022, section 4): sixteen children a node, squared hinge, C 1; a node's score
           is exp(-max(0, 1 - margin)^3)

The tree is built as in Parabel (Prabhu et al., WWW 2018): balanced two-means over the normalised sums of the samples of
each label, as often as a node has children, down to leaves of at most --leaf labels. Each node is fitted by liblinear
(dual, L2-regularised) on the samples that reach its parent; small weights are cut. Prediction is a beam search, a
label's score the product along its path; scores of several --trees of other seeds are averaged. Reads XMC text, prints
one JSON object with P@1/3/5 on the test file; --scores keeps the best 20 labels of each sample for `slide evaluate`. It
exists for its accuracy: nodes are fitted one by one from Python, so that its seconds are no measure of what a tree costs.
"""

import argparse
import json
import multiprocessing
import time
import warnings

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.preprocessing import normalize

from xmc import read_xmc

RECIPES = {"plt": {"arity": 2, "cost": 10.0}, "xr-linear": {"arity": 16, "cost": 1.0}}
TRAINING = {}  # what the worker processes inherit: features, labels by label, options


def read_matrices(path):
    """Features [samples, features] with rows of unit length, labels [samples, labels], both CSR."""
    data = read_xmc(path)
    count, feature_count, label_count = data["sizes"]
    features = sparse.csr_matrix((data["values"], data["features"], data["feature_ends"]), shape=(count, feature_count))
    ones = np.ones(len(data["labels"]), np.float32)
    labels = sparse.csr_matrix((ones, data["labels"], data["label_ends"]), shape=(count, label_count))
    return normalize(features), labels


def split_in_two(centroids, random):
    """Balanced two-means on unit rows: a boolean for each row, true for half of them."""
    count = centroids.shape[0]
    first, second = centroids[random.choice(count, 2, replace=False)].toarray()
    half, last = None, -1.0
    for _ in range(50):
        difference = centroids @ (first - second)
        half = np.zeros(count, bool)
        half[np.argsort(-difference, kind="stable")[: count // 2]] = True
        first = np.asarray(centroids[half].sum(axis=0)).ravel()
        second = np.asarray(centroids[~half].sum(axis=0)).ravel()
        gain = (np.linalg.norm(first) + np.linalg.norm(second)) / count
        first /= max(np.linalg.norm(first), 1e-12)
        second /= max(np.linalg.norm(second), 1e-12)
        if gain - last < 1e-4:
            break
        last = gain
    return half


def split(members, centroids, arity, random):
    """The labels in `arity` (a power of two) groups of equal size, by two-means again and again."""
    groups = [members]
    while len(groups) < arity:
        halves = [(group, split_in_two(centroids[group], random)) for group in groups]
        groups = [part for group, half in halves for part in (group[half], group[~half])]
    return groups


def build_tree(features, labels, leaf, arity, seed):
    """Nodes in order of depth, each (labels, children): children are nodes, or none where the labels are leaves."""
    random = np.random.default_rng(seed)
    centroids = normalize((labels.T @ features).tocsr())
    used = np.flatnonzero(np.diff(labels.tocsc().indptr))
    nodes, at = [[used, []]], 0
    while at < len(nodes):
        members = nodes[at][0]
        if len(members) > leaf:
            groups = split(members, centroids, arity, random)
            nodes[at][1] = list(range(len(nodes), len(nodes) + arity))
            nodes += [[group, []] for group in groups]
        at += 1
    return nodes


def fit(features, positive):
    """Weights and bias of one node as (feature ids, weights, bias); one-sided nodes answer by their bias."""
    if positive.all() or not positive.any():
        return np.zeros(0, np.int32), np.zeros(0, np.float32), 20.0 if positive.all() else -20.0
    if TRAINING["recipe"] == "plt":
        model = LogisticRegression(C=TRAINING["cost"], solver="liblinear", dual=True, tol=0.1, max_iter=20,
                                   intercept_scaling=1.0, random_state=1)
    else:
        model = LinearSVC(C=TRAINING["cost"], tol=0.1, max_iter=100, random_state=1)
    model.fit(features, positive)
    kept = np.flatnonzero(np.abs(model.coef_[0]) > TRAINING["cut"])
    return kept.astype(np.int32), model.coef_[0][kept].astype(np.float32), float(model.intercept_[0])


def fit_children(groups):
    """One classifier for each group of labels, on the samples that carry a label of any of the groups."""
    warnings.simplefilter("ignore")
    by_label = TRAINING["by_label"]
    rows = [np.unique(np.concatenate([by_label.indices[by_label.indptr[j]:by_label.indptr[j + 1]] for j in group]))
            for group in groups]
    reached = np.unique(np.concatenate(rows))
    samples = TRAINING["features"][reached]
    used = np.unique(samples.indices)
    local = samples[:, used]
    weights = []
    for own in rows:
        ids, values, bias = fit(local, np.isin(reached, own, assume_unique=True))
        weights.append((used[ids], values, bias))
    return weights


def groups_of(node, nodes):
    return [nodes[child][0] for child in node[1]] if node[1] else [[label] for label in node[0]]


def train(features, labels, options, seed):
    nodes = build_tree(features, labels, options.leaf, RECIPES[options.recipe]["arity"], seed)
    TRAINING.update(features=features, by_label=labels.tocsc(), cost=options.cost, cut=options.cut, recipe=options.recipe)
    with multiprocessing.Pool(options.processes) as pool:
        fitted = pool.map(fit_children, [groups_of(node, nodes) for node in nodes], chunksize=4)
    classifiers = []
    for weights in fitted:
        starts = np.cumsum([0] + [len(ids) for ids, _, _ in weights])
        matrix = sparse.csr_matrix((np.concatenate([w for _, w, _ in weights]),
                                    np.concatenate([ids for ids, _, _ in weights]), starts),
                                   shape=(len(weights), features.shape[1]))
        classifiers.append((matrix.T.tocsr(), np.array([bias for _, _, bias in weights])))
    return nodes, classifiers


def log_score(recipe, margin):
    return -np.logaddexp(0.0, -margin) if recipe == "plt" else -np.maximum(0.0, 1.0 - margin) ** 3


def predict(features, nodes, classifiers, recipe, beam, top):
    """Scores [samples, labels], CSR, of the `top` best labels of each row that the beam reaches."""
    count = features.shape[0]
    frontier = {0: (np.arange(count), np.zeros(count))}
    found = [[] for _ in range(count)]
    while frontier:
        reached = [[] for _ in range(count)]
        for at, (rows, scores) in frontier.items():
            weights, bias = classifiers[at]
            logits = np.asarray((features[rows] @ weights).todense()) + bias
            logits = scores[:, None] + log_score(recipe, logits)
            members, children = nodes[at]
            for row, line in zip(rows, logits):
                if children:
                    reached[row].extend(zip(line, children))
                else:
                    found[row].extend((line[i], members[i]) for i in np.argsort(-line)[:top])
        lists = {}
        for row, candidates in enumerate(reached):
            for score, child in sorted(candidates, reverse=True)[:beam]:
                lists.setdefault(child, []).append((row, score))
        frontier = {child: (np.array([r for r, _ in pairs]), np.array([s for _, s in pairs]))
                    for child, pairs in lists.items()}
    return strongest([sorted(candidates, reverse=True)[:top] for candidates in found])


def strongest(rows):
    """A list of (log score, label) for each row as a CSR matrix of scores."""
    ends = np.cumsum([0] + [len(row) for row in rows])
    scores = np.exp([score for row in rows for score, _ in row])
    return sparse.csr_matrix((scores, [label for row in rows for _, label in row], ends))


def precision(scores, labels, k):
    hits = 0
    for row in range(labels.shape[0]):
        here = slice(scores.indptr[row], scores.indptr[row + 1])
        best = scores.indices[here][np.argsort(-scores.data[here], kind="stable")[:k]]
        hits += np.isin(best, labels.indices[labels.indptr[row]:labels.indptr[row + 1]]).sum()
    return hits / (k * labels.shape[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--recipe", choices=sorted(RECIPES), default="plt")
    parser.add_argument("--trees", type=int, default=1, help="trees whose scores are averaged")
    parser.add_argument("--leaf", type=int, default=100, help="labels in a leaf node of the tree")
    parser.add_argument("--cost", type=float, help="C of liblinear (default: the recipe's)")
    parser.add_argument("--cut", type=float, default=0.1, help="weights below this are dropped")
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--scores", help="file.npz for the 20 best labels of each sample of the test file")
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.cost = options.cost or RECIPES[options.recipe]["cost"]
    features, labels = read_matrices(options.train)
    test_features, test_labels = read_matrices(options.test)
    scores, seconds, node_count = sparse.csr_matrix(test_labels.shape), 0.0, 0
    for seed in range(options.seed, options.seed + options.trees):
        start = time.perf_counter()
        nodes, classifiers = train(features, labels, options, seed)
        seconds, node_count = seconds + time.perf_counter() - start, node_count + len(nodes)
        found = predict(test_features, nodes, classifiers, options.recipe, options.beam, 20)
        found.resize(scores.shape)
        scores = scores + found / options.trees
    if options.scores:
        sparse.save_npz(options.scores, scores)
    print(json.dumps({"train_seconds": round(seconds, 2), "nodes": node_count,
                      **{f"p_at_{k}": round(precision(scores, test_labels, k), 4) for k in (1, 3, 5)}}))


if __name__ == "__main__":
    main()
