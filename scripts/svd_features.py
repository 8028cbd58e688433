#!/usr/bin/env python3
"""Dense features of a sparse data set: its truncated singular value decomposition, as an encoder of texts stands for.

Reads XMC text and writes X.train.npy and Y.train.npz, X.test.npy and Y.test.npz: a row of --columns numbers and the
labels of each sample. Values are weighted by rarity, rows have unit length before the decomposition, which is fitted to
the training file alone, and after it.
"""

import argparse
import os
import sys

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "baselines"))
from xmc import read_xmc  # noqa: E402


def read_matrices(path, feature_count=None):
    """Features and labels of a file, both CSR."""
    data = read_xmc(path)
    count, features, labels = data["sizes"]
    shape = (count, feature_count or features)
    ones = np.ones(len(data["labels"]), np.float32)
    return (sparse.csr_matrix((data["values"], data["features"], data["feature_ends"]), shape=shape),
            sparse.csr_matrix((ones, data["labels"], data["label_ends"]), shape=(count, labels)))


def write(folder, part, rows, labels, kind):
    np.save(os.path.join(folder, f"X.{part}.npy"), np.ascontiguousarray(normalize(rows), dtype=kind))
    sparse.save_npz(os.path.join(folder, f"Y.{part}.npz"), labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("out", help="folder to write to")
    parser.add_argument("--columns", type=int, default=256)
    parser.add_argument("--type", choices=["float32", "float16"], default="float32")
    arguments = parser.parse_args()

    os.makedirs(arguments.out, exist_ok=True)
    features, labels = read_matrices(arguments.train)
    weights = TfidfTransformer(sublinear_tf=False).fit(features)
    decomposition = TruncatedSVD(arguments.columns, n_iter=4, random_state=1).fit(weights.transform(features))
    write(arguments.out, "train", decomposition.transform(weights.transform(features)), labels, arguments.type)
    tested, test_labels = read_matrices(arguments.test, features.shape[1])
    write(arguments.out, "test", decomposition.transform(weights.transform(tested)), test_labels, arguments.type)
    print(f"{arguments.out}: {arguments.columns} columns hold {decomposition.explained_variance_ratio_.sum():.2f} "
          "of the variance")


if __name__ == "__main__":
    main()
