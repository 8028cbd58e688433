"""Probabilities of all labels in double precision, by the formulas of engine/model/FORMAT.md, and how far rounding
to single precision may take a prediction from them: where a sum lies so near to the middle between two bf16 values,
or two neighbours have so nearly equal similarities, that the last bits of a float decide."""

import dataclasses

import numpy as np

FLOAT_ERROR = 1e-6  # of a sum in single precision, as a share of the sum of its terms' sizes
POSTINGS, CANDIDATES, LEAST_VALUE, PRIOR_NEIGHBOUR = 4096, 64, 2.0**-30, 0.75
AMONG, PROPAGATING, COOCCURRENCE, TOGETHER, UNSEEN, ENTRIES = 7, 3, 8, 2, 10, 2**14  # see FORMAT.md
MASS_LABELS = 20
PAIRED, PAIR_SCALE = 40, 0.5  # entries of a row that make pairs, and what these weigh
ACTIVATIONS = {
    "relu": lambda z: np.maximum(z, 0),
    "tanh": np.tanh,
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "linear": lambda z: z,
}


@dataclasses.dataclass
class Prediction:
    probability: np.ndarray  # [samples, labels]
    score: np.ndarray  # [samples, labels], as `--scores logit` prints it
    probability_slack: np.ndarray  # [samples, 1], that of the votes
    logit_slack: np.ndarray  # [samples, 1]

    def part(self, samples):
        return Prediction(*(getattr(self, field.name)[samples] for field in dataclasses.fields(self)))


def to_unit_length(x):
    length = np.sqrt((x**2).sum(axis=1, keepdims=True))
    return x / np.where(length > 0, length, 1)


def values_of_pairs(x, pairs):
    if len(pairs) == 0:
        return x[:, :0]
    kept = np.zeros_like(x)
    for row, kept_row in zip(np.abs(x), kept):
        largest_first = np.argsort(-row, kind="stable")[:PAIRED]
        kept_row[largest_first] = row[largest_first]
    first, second = pairs.T
    return PAIR_SCALE * np.sqrt(kept[:, first] * kept[:, second])


def scaled(x, model):
    normalize = model.config["data"]["normalize"]
    x = to_unit_length(x) if normalize else x
    of_pairs = values_of_pairs(x, model.pairs)
    if model.factors is not None:
        x = x * model.factors
        x = to_unit_length(x) if normalize else x
    return np.hstack([x, of_pairs])


def to_bf16(x):
    """The nearest of the values with 8 significant bits, of two the even one."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.rint(np.ldexp(mantissa, 8)), exponent - 8)


def by_neuron(model):
    """Whether the first layer takes dense features neuron by neuron."""
    return model.dense > 0 and (len(model.layers) == 1 or model.config["layer"][0]["kind"] == "sampled")


def logits_of(x, model):
    """Logits [samples, neurons], and their slack [samples, 1]."""
    h, error = x, np.zeros_like(x)
    for number, layer in enumerate(model.layers):
        if model.bf16 and (number > 0 or by_neuron(model)):
            low, high = to_bf16(h - error), to_bf16(h + error)
            h, error = to_bf16(h), high - low
        size = np.abs(h) @ np.abs(layer.weights) + np.abs(layer.bias)
        h = h @ layer.weights + layer.bias
        error = error @ np.abs(layer.weights)
        if number + 1 < len(model.layers):
            h = ACTIVATIONS[layer.activation](h)
            error = error + FLOAT_ERROR * size if model.bf16 else error
    if model.wide is not None:
        h = h + x[:, : model.features] @ model.wide
    return h, error.max(axis=1, keepdims=True)


def chosen_lists(q, lengths):
    """The features of q whose lists are gone through."""
    features = [f for f in np.flatnonzero(np.abs(q) >= LEAST_VALUE) if lengths[f] > 0]
    tells = {f: q[f] ** 2 / np.sqrt(lengths[f]) for f in features}
    chosen, left = [], POSTINGS
    for f in sorted(features, key=lambda f: (-round_off(tells[f]), -f)):
        if lengths[f] <= left:
            chosen.append(f)
            left -= lengths[f]
    return chosen


def round_off(x):
    """Without the last bits of a double: what is equal by the formula is equal."""
    return np.float64(f"{x:.11e}")


def largest(values, count):
    """Places of the largest values, of equal ones the first, and whether a float might see others as the last."""
    order = np.argsort(-np.round(values, 11), kind="stable")
    gap = values[order[count - 1]] - values[order[count]] if len(order) > count else 1.0
    return order[:count], 1e-11 < gap < FLOAT_ERROR


def bounded_scores(q, stored, model, lengths):
    if model.is_dense:
        return np.maximum(stored @ to_bf16(q), 0)
    chosen = chosen_lists(q, lengths)
    return np.abs(stored[:, chosen]) @ np.abs(q[chosen])


def votes_of(q, stored, model, lengths):
    """Votes [labels] or None, and their slack."""
    config = model.config["neighbours"]
    rough = bounded_scores(q, stored, model, lengths)
    touched = np.flatnonzero(rough)
    candidates, unsure = largest(rough[touched], max(CANDIDATES, 3 * config["count"]))
    candidates = np.sort(touched[candidates])
    cosine = np.minimum(stored[candidates] @ q, 1)
    candidates, cosine = candidates[cosine > 0], cosine[cosine > 0]
    nearest, unsure_too = largest(cosine, config["count"])
    if len(nearest) == 0:
        return None, 0.0
    weights = cosine[nearest] ** config["power"]
    total = PRIOR_NEIGHBOUR ** config["power"] + weights.sum()
    slack = 2 * weights.min() / total if unsure or unsure_too else 0.0
    return weights @ model.neighbour_labels[candidates[nearest]] / total, slack


def mix_votes(p, x, model):
    """In place; returns the slack [samples, 1]."""
    config, slack = model.config["neighbours"], np.zeros((len(x), 1))
    share, mean = config["share"], config["mean"]
    lengths = np.count_nonzero(model.neighbours, axis=0)
    stored = model.neighbours
    if model.feature_weights is not None:
        x, stored = x * model.feature_weights, to_unit_length(stored * model.feature_weights)
    for i, q in enumerate(to_unit_length(x)):
        votes, unsure = votes_of(q, stored, model, lengths)
        if votes is not None:
            mixed = (1 - share) * p[i] ** mean + share * votes**mean
            most = (mixed + share * ((votes + unsure) ** mean - votes**mean)) ** (1 / mean)
            p[i] = mixed ** (1 / mean)
            slack[i] = np.max(most - p[i])
    return slack


def cooccurring_with(model):
    """P(y | z) as [z, y], of the labels y that co-occur with label z; else 0."""
    has = model.neighbour_labels.astype(np.float64)
    share = np.zeros((has.shape[1], has.shape[1]))
    entries = has.sum(axis=1)
    for z in np.flatnonzero(has.any(axis=0)):
        samples = np.flatnonzero(has[:, z])
        samples = samples[:: int(-(-entries[samples].sum() // ENTRIES))]
        together = has[samples].sum(axis=0)
        together[z] = 0
        together[together < TOGETHER] = 0
        kept = np.argsort(-together, kind="stable")[:COOCCURRENCE]
        share[z, kept] = together[kept] / (len(samples) + UNSEEN)
    return share


def propagate_cooccurrence(p, model):
    """In place; returns the slack [samples, 1]: of samples where rounding decides who is among the best."""
    share = model.config["neighbours"]["cooccurrence"]
    slack = np.zeros((len(p), 1))
    if share == 0:
        return slack
    by_label = cooccurring_with(model)
    for i, row in enumerate(p):
        order = np.argsort(-row, kind="stable")
        some, rest = order[:AMONG], order[AMONG:]
        lent = np.sort(share * row[some, None] * by_label[np.ix_(some, some)], axis=0)[-PROPAGATING:]
        if len(rest) > 0 and row[some[-1]] - row[rest[0]] < 1e-5 * row[some[-1]]:
            slack[i] = PROPAGATING * share
        row[some] += (1 - row[some]) * (1 - np.prod(1 - lent, axis=0))
    return slack


def log_softmax(z):
    z = z - z.max(axis=1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))


def calibrated(raw, model):
    if model.calibration is None:
        return raw
    slope, offset, mass = model.calibration
    sums = np.sort(raw.probability, axis=1)[:, -MASS_LABELS:].sum(axis=1, keepdims=True)
    score = slope * raw.score + offset + mass * np.log(sums)
    more = slope + abs(mass)  # what a score and the mass are wrong by
    return Prediction(1 / (1 + np.exp(-score)), score, 4 * more * raw.probability_slack, more * raw.logit_slack)


def predict(x, model):
    """Of features [samples, features] as they stand in a file."""
    x = scaled(x, model)
    z, logit_slack = logits_of(x, model)
    softmax = model.config["loss"]["kind"] == "softmax"
    p = np.exp(log_softmax(z)) if softmax else 1 / (1 + np.exp(-z))
    if model.neighbours is None:
        return calibrated(Prediction(p, z, np.zeros((len(x), 1)), logit_slack), model)
    slack = mix_votes(p, x[:, : model.features], model)
    more = 1 + PROPAGATING * model.config["neighbours"]["cooccurrence"]  # what one label is wrong by, others take
    slack = more * slack + propagate_cooccurrence(p, model)
    score = np.log(p) if softmax else np.log(p) - np.log1p(-p)
    return calibrated(Prediction(p, score, slack, more * logit_slack), model)
