#!/usr/bin/env python3
"""The dense baseline in PyTorch: one hidden layer, softmax over all labels, Adam over all weights.

Reads XMC text, whose sparse features an EmbeddingBag takes, or dense features X.NAME.npy with labels in Y.NAME.npz,
trains and prints one JSON object: what was timed, the seconds an epoch takes (extrapolated when only a part was timed)
and, with --test, P@1/3/5 on the whole test file. Reading and evaluation are not in the times.
"""

import argparse
import json
import os
import time

import numpy as np
import torch
from scipy import sparse
from torch import nn

from xmc import read_xmc

WARM_UP_STEPS = 5


def read_unit(path):
    """read_xmc() with each sample scaled to unit length, in single precision; of dense features their rows."""
    if path.endswith(".npy"):
        return read_dense(path)
    data = read_xmc(path)
    values = data["values"].astype(np.float32)
    for begin, end in zip(data["feature_ends"], data["feature_ends"][1:]):
        values[begin:end] /= max(float(np.linalg.norm(values[begin:end])), 1e-12)
    return {**data, "values": values}


def read_dense(path):
    rows = np.load(path).astype(np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    folder, name = os.path.split(path)
    labels = sparse.load_npz(os.path.join(folder, "Y" + name[1:-len(".npy")] + ".npz"))
    return {"rows": torch.from_numpy(rows), "labels": labels.indices.astype(np.int64),
            "label_ends": labels.indptr.astype(np.int64), "sizes": (len(rows), rows.shape[1], labels.shape[1])}


def gather(ids, ends, rows):
    """Positions in the flat array of the given rows, and the row offsets of the result."""
    sizes = ends[rows + 1] - ends[rows]
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    positions = np.arange(offsets[-1]) + np.repeat(ends[rows] - offsets[:-1], sizes)
    return positions, offsets, sizes


class Dense(nn.Module):
    """Of sparse features; DenseRows of dense ones."""

    def __init__(self, features, hidden, labels):
        super().__init__()
        self.input = nn.EmbeddingBag(features, hidden, mode="sum", include_last_offset=True)
        nn.init.normal_(self.input.weight, std=(2.0 / hidden) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.output = nn.Linear(hidden, labels)

    def forward(self, ids, offsets, values):
        return self.output(torch.relu(self.input(ids, offsets, per_sample_weights=values) + self.bias))


class DenseRows(nn.Module):
    def __init__(self, features, hidden, labels):
        super().__init__()
        self.input = nn.Linear(features, hidden)
        self.output = nn.Linear(hidden, labels)

    def forward(self, rows):
        return self.output(torch.relu(self.input(rows)))


def inputs(data, rows):
    if "rows" in data:
        return (data["rows"][torch.from_numpy(rows)],)
    positions, offsets, _ = gather(data["features"], data["feature_ends"], rows)
    return (torch.from_numpy(data["features"][positions]), torch.from_numpy(offsets),
            torch.from_numpy(data["values"][positions]))


def loss_of(model, data, rows):
    """Softmax cross-entropy with target 1 / |labels|, mean over the batch."""
    logits = model(*inputs(data, rows))
    positions, _, sizes = gather(data["labels"], data["label_ends"], rows)
    samples = np.repeat(np.arange(len(rows)), sizes)
    share = torch.from_numpy((1.0 / np.maximum(sizes, 1))[samples].astype(np.float32))
    picked = logits[torch.from_numpy(samples), torch.from_numpy(data["labels"][positions])]
    return (torch.logsumexp(logits, 1).sum() - (picked * share).sum()) / len(rows)


def train_epoch(model, optimizer, data, batch, order, budget):
    """Steps until the epoch or the budget ends; returns the samples and seconds after the warm-up."""
    samples, started, begun = 0, time.perf_counter(), time.perf_counter()
    for step in range(0, len(order), batch):
        if step == WARM_UP_STEPS * batch and budget:
            samples, started = 0, time.perf_counter()
        rows = order[step:step + batch]
        optimizer.zero_grad(set_to_none=True)
        loss_of(model, data, rows).backward()
        optimizer.step()
        samples += len(rows)
        if budget and time.perf_counter() - begun > budget and step > WARM_UP_STEPS * batch:
            break
    return samples, time.perf_counter() - started


def precision(model, data, batch):
    """P@1, P@3 and P@5; samples without labels count as zero."""
    count = data["sizes"][0]
    hits = np.zeros(5)
    with torch.no_grad():
        for start in range(0, count, batch):
            rows = np.arange(start, min(count, start + batch))
            best = model(*inputs(data, rows)).topk(5).indices.numpy()
            for row, predicted in zip(rows, best):
                true = data["labels"][data["label_ends"][row]:data["label_ends"][row + 1]]
                hits += np.isin(predicted, true)
    return {f"p_at_{k}": round(hits[:k].sum() / k / count, 4) for k in (1, 3, 5)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("--test", help="evaluate on this file at the end")
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0, help="0 = all cores")
    parser.add_argument("--budget", type=float, default=0, help="seconds after which the epoch is cut off, 0 = never")
    arguments = parser.parse_args()

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    data = read_unit(arguments.train)
    count, feature_count, label_count = data["sizes"]
    labelled = np.flatnonzero(np.diff(data["label_ends"]) > 0)
    model = (DenseRows if "rows" in data else Dense)(feature_count, arguments.hidden, label_count)
    optimizer = torch.optim.Adam(model.parameters(), lr=arguments.rate)
    random = np.random.default_rng(1)
    epochs = []
    for _ in range(arguments.epochs):
        samples, seconds = train_epoch(model, optimizer, data, arguments.batch, random.permutation(labelled),
                                       arguments.budget)
        epochs.append(seconds / samples * len(labelled))
    result = {"system": f"PyTorch {torch.__version__} dense", "threads": torch.get_num_threads(),
              "samples_timed": samples, "samples": len(labelled), "epochs": arguments.epochs,
              "epoch_seconds": round(float(np.median(epochs)), 3)}
    if arguments.test:
        result.update(precision(model, read_unit(arguments.test), 256))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
