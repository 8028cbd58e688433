"""Reads XMC text for the baselines."""

import numpy as np


def read_xmc(path):
    """CSR arrays of an XMC text file, values as they stand: features, values, labels, where rows end, sizes."""
    with open(path, encoding="ascii") as file:
        count, feature_count, label_count = map(int, file.readline().split())
        features, values, labels = [], [], []
        feature_ends, label_ends = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
        for row, line in enumerate(file):
            tokens = line.split()
            if tokens and ":" not in tokens[0]:
                labels.extend(map(int, tokens.pop(0).split(",")))
            for token in tokens:
                feature, value = token.split(":")
                features.append(int(feature))
                values.append(float(value))
            feature_ends[row + 1], label_ends[row + 1] = len(features), len(labels)
    return {"features": np.array(features, np.int64), "values": np.array(values), "labels": np.array(labels, np.int64),
            "feature_ends": feature_ends, "label_ends": label_ends, "sizes": (count, feature_count, label_count)}
