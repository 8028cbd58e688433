"""What the tests share: a small set that is easy to learn, as arrays."""

import os
import subprocess

import numpy as np
import pytest
import scipy.sparse as sparse


@pytest.fixture(scope="session")
def samples():
    """(X, Y): CSR [1500, 120] of float32 and [1500, 40]; sample i has label i % 40 and its feature, some a second."""
    rng = np.random.default_rng(1)
    rows = 1500
    first = np.arange(rows) % 40
    x = sparse.random(rows, 120, 0.03, format="csr", dtype=np.float32, random_state=1)
    x = sparse.csr_matrix(x + sparse.csr_matrix((np.full(rows, 2, np.float32), (np.arange(rows), first)), x.shape))
    y = sparse.csr_matrix((np.ones(rows, np.int8), (np.arange(rows), first)), (rows, 40)).tolil()
    for i in rng.choice(rows, 300, replace=False):
        y[i, (first[i] + 1) % 40] = 1
    return x, y.tocsr()


@pytest.fixture(scope="session")
def few():
    """Keys of a run that takes a blink."""
    return {
        "verbose": False,
        "train__epochs": 2,
        "train__threads": 2,
        "layer": [{"size": 16}, {"uniform": 16, "lsh": 16, "hash": {"k": 4, "range_pow": 4}}],
    }


@pytest.fixture(scope="session")
def program():
    """Calls the command line and returns what it prints."""
    binary = os.environ["SLIDE_BINARY"]

    def run(*arguments):
        if arguments[0] == "train":  # whose configuration may be empty
            arguments = ("train", os.devnull, *arguments[1:])
        return subprocess.run([binary, *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    return run
