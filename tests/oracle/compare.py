"""Holds the answers of `slide predict` against the oracle's."""

import dataclasses

import numpy as np

TOLERANCE = 1e-5  # of a probability, and of a logit as a share of it
PRINTED = 5e-6  # what six digits leave out, as a share
MOST_ROUNDED = 0.05  # of the samples, or two


@dataclasses.dataclass
class Difference:
    greatest: float = 0.0  # of an expected and a printed score, but for those samples
    rounded: float = 0.0  # share of the samples that were rounded another way, and differ by that
    faults: list = dataclasses.field(default_factory=list)


def parse_answers(text, names):
    """A list of (label, score) for each line."""
    number = {name: i for i, name in enumerate(names)} if names else None
    answers = []
    for line in text.splitlines():
        parts = [part.rpartition(":") for part in line.split("\t" if names else " ") if part]
        answers.append([(number[name] if names else int(name), float(score)) for name, _, score in parts])
    return answers


def compare(answers, scores, tolerance, slack, k):
    """`scores`, `tolerance` and `slack`, what is tolerated besides in a few samples, are [samples, labels]. Labels
    may change places with those of a like score."""
    result = Difference()
    if len(answers) != len(scores):
        result.faults.append(f"{len(answers)} answers to {len(scores)} samples")
        return result
    for i, answer in enumerate(answers):
        labels = [label for label, _ in answer]
        if len(set(labels)) != min(k, scores.shape[1]):
            result.faults.append(f"sample {i}: labels {labels}")
            continue
        expected = scores[i, labels]
        off = np.abs([score for _, score in answer] - expected)
        behind = (np.sort(scores[i])[::-1][: len(labels)] - expected) / 2  # both of two labels may be off
        worst = np.maximum(off, behind)
        if np.all(worst <= tolerance[i, labels]):
            result.greatest = max(result.greatest, off.max())
        elif np.all(worst <= tolerance[i, labels] + slack[i].max()):
            result.rounded += 1 / len(answers)
        else:
            best = " ".join(f"{b}:{scores[i, b]:.6g}" for b in np.argsort(-scores[i])[:k])
            printed = " ".join(f"{label}:{score:.6g}" for label, score in answer)
            result.faults.append(f"sample {i}: {printed}, by the formulas {best}")
    if result.rounded > max(MOST_ROUNDED, 2.5 / len(answers)):
        result.faults.append(f"{result.rounded:.0%} of the samples were rounded another way")
    return result


def compare_probabilities(answers, expected, k):
    p = expected.probability
    slack = expected.probability_slack + 2 * p * (1 - p) * expected.logit_slack
    return compare(answers, p, np.full(p.shape, TOLERANCE), slack, k)


def compare_scores(answers, expected, k):
    """Those of `--scores logit`."""
    p = np.clip(expected.probability, 1e-12, 1 - 1e-12)
    slack = expected.probability_slack / (p * (1 - p)) + 2 * expected.logit_slack
    tolerance = np.maximum(1, np.abs(expected.score)) * (TOLERANCE + PRINTED)
    return compare(answers, expected.score, tolerance, slack, k)
