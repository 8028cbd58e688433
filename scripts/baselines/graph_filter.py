#!/usr/bin/env python3
"""A graph filter on a log of interactions, beside the scores of `slide recommend` and mixed with them.

GF-CF (Shen et al., "How Powerful is Graph Convolution for Recommendation?", CIKM 2021, section 4): with R of users and
items, both normalised by the roots of their degrees, the scores of a user's row r are r (R'R + alpha D^-1/2 V V' D^1/2);
V has the leading right singular vectors of R, D the degrees of the items. Logs have lines `user item item ...`. Prints
recall@20 and NDCG@20 on the users of --scores, which `slide recommend --out FILE.npz` wrote.
"""

import argparse

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

K = 20
ALPHAS = (0.0, 0.1, 0.3)
SHARES = (0.1, 0.3, 1.0)  # of the logarithm of the filter, added to the log-odds of the scores


def read_log(path):
    with open(path, encoding="utf-8") as file:
        return {user: items for user, *items in (line.split() for line in file if line.strip())}


def matrix_of(log, places):
    rows = [(n, places[item]) for n, items in enumerate(log.values()) for item in set(items)]
    users, items = np.array(rows).T
    return sparse.csr_matrix((np.ones(len(rows), np.float32), (users, items)), (len(log), len(places)))


def measures(scores, truth, known):
    """Sums of recall and NDCG over the users; what they have already is left out."""
    scores = np.where(known, -np.inf, scores)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :K]
    gains = 1 / np.log2(np.arange(2, K + 2))
    hits = np.array([[item in wanted for item in row] for row, (wanted, _) in zip(best, truth)])
    counts = np.array([count for _, count in truth])
    ideal = np.cumsum(gains)[np.minimum(counts, K) - 1]
    return np.array([(hits.sum(1) / counts).sum(), (hits @ gains / ideal).sum()])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("known")
    parser.add_argument("test")
    parser.add_argument("--scores", required=True, metavar="FILE.npz")
    parser.add_argument("--vectors", type=int, default=256)
    args = parser.parse_args()
    known, test = read_log(args.known), read_log(args.test)
    places = {item: n for n, item in enumerate(sorted({item for items in known.values() for item in items}))}
    rows = {user: n for n, user in enumerate(known)}
    links = matrix_of(known, places)
    roots = [np.sqrt(np.maximum(np.asarray(links.sum(axis)).ravel(), 1)) for axis in (1, 0)]
    filter_ = (sparse.diags(1 / roots[0]) @ links @ sparse.diags(1 / roots[1])).tocsr().astype(np.float32)
    vectors = svds(filter_, k=min(args.vectors, min(filter_.shape) - 1))[2].T
    given = np.load(args.scores)
    asked = sparse.csr_matrix((given["data"], given["indices"], given["indptr"]),
                              (len(given["users"]), len(given["labels"])))
    columns = np.array([places.get(str(label), -1) for label in given["labels"]])
    users = [(n, str(user)) for n, user in enumerate(given["users"]) if test.get(str(user)) and str(user) in rows]
    sums = {}
    for first in range(0, len(users), 256):
        some = users[first:first + 256]
        at = [rows[user] for _, user in some]
        linear = ((filter_[at] @ filter_.T) @ filter_).toarray()
        low = np.asarray((links[at] @ sparse.diags(1 / roots[1]) @ vectors) @ (vectors.T * roots[1]))
        scores = np.full(linear.shape, 1e-9)
        for n, (row, _) in enumerate(some):
            part = asked[row]
            column = columns[part.indices]
            scores[n, column[column >= 0]] = part.data[column >= 0]
        odds = np.log(np.maximum(scores, 1e-9) / np.maximum(1 - scores, 1e-9))
        ways = {"scores": odds}
        ways.update({f"filter, alpha {alpha}": linear + alpha * low for alpha in ALPHAS})
        for share in SHARES:
            ways[f"scores + {share} log filter"] = odds + share * np.log(np.maximum(linear, 1e-6))
            ways[f"scores + {share} log low-pass"] = odds + share * np.log(np.maximum(low, 1e-5))
        truth = [({places[i] for i in test[user] if i in places}, len(set(test[user]))) for _, user in some]
        for way, matrix in ways.items():
            sums[way] = sums.get(way, 0) + measures(matrix, truth, links[at].toarray() > 0)
    for way, (recall, ndcg) in sums.items():
        print(f"{way:28} recall@{K} {recall / len(users):.4f}  NDCG@{K} {ndcg / len(users):.4f}")


if __name__ == "__main__":
    main()
