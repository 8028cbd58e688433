"""Reads a model file as engine/model/FORMAT.md describes it. Weights come as float64, whatever the file holds."""

import dataclasses
import tomllib
import zlib

import numpy as np

OPTIMIZER, WIDE, TEXT, FACTORS, NEIGHBOURS, BF16, INT8, IDLE, DENSE, PAIRS = 1, 2, 4, 8, 16, 32, 64, 128, 256, 512  # flags
FEATURE_WEIGHTS, THRESHOLDS, CALIBRATION = 1024, 2048, 4096
MAGIC, END = b"SLIDEMDL", b"SLIDEEND"


class BadModel(Exception):
    pass


@dataclasses.dataclass
class Layer:
    weights: np.ndarray  # [inputs, neurons]
    bias: np.ndarray  # [neurons]
    activation: str  # of a hidden layer


@dataclasses.dataclass
class Text:
    form: int
    hashes: dict  # number of a feature by its hash
    weights: np.ndarray  # [features]
    label_names: list


@dataclasses.dataclass
class Model:
    config: dict
    features: int
    labels: int
    layers: list
    pairs: np.ndarray = None  # [pairs, 2]: features, behind which they stand as features
    wide: np.ndarray = None  # [features, neurons]
    factors: np.ndarray = None  # [features]
    neighbours: np.ndarray = None  # [samples, features]
    neighbour_labels: np.ndarray = None  # [samples, neurons], whether it has the label
    feature_weights: np.ndarray = None  # [features]: of the kNN prediction
    text: Text = None
    calibration: np.ndarray = None  # slope, offset, mass
    dense: int = 0  # columns: the last of the features

    @property
    def inputs(self):
        """Features with pairs."""
        return self.features + len(self.pairs)

    @property
    def is_dense(self):
        return self.dense == self.features

    @property
    def bf16(self):
        return is_bf16(self.config)


def is_bf16(config):
    return config["train"].get("weights", "fp32") == "bf16"


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        if self.at + size > len(self.data):
            raise BadModel(f"{size} bytes at {self.at} are not there")
        self.at += size
        return self.data[self.at - size : self.at]

    def array(self, kind, count):
        return np.frombuffer(self.take(np.dtype(kind).itemsize * count), kind)

    def u32(self):
        return int(self.array("<u4", 1)[0])

    def u64(self):
        return int(self.array("<u8", 1)[0])


def from_bf16(halves):
    return (halves.astype("<u4") << 16).view("<f4").astype(np.float64)


class Bits:
    """The bits of some bytes, the lowest of each first."""

    def __init__(self, data):
        self.bits, self.at = np.unpackbits(np.frombuffer(data, "u1"), bitorder="little"), 0

    def take(self, count):
        self.at += count
        if self.at > len(self.bits):
            raise BadModel("a packed list goes beyond its bytes")
        return sum(int(bit) << i for i, bit in enumerate(self.bits[self.at - count : self.at]))

    def unary(self):
        ones = 0
        while self.take(1):
            ones += 1
        return ones


def read_lists(file, lists):
    """Offsets and ids."""
    entries = file.u64()
    bits = Bits(file.take(file.u64()))
    offsets, ids = [0], []
    for _ in range(lists):
        behind = bits.unary()
        count = 2**behind + bits.take(behind) - 1
        lower = bits.take(5) if count else 0
        following = 0
        for _ in range(count):
            upper = bits.unary()
            ids.append(following + upper * 2**lower + bits.take(lower))
            following = ids[-1] + 1
        offsets.append(len(ids))
    if len(ids) != entries:
        raise BadModel(f"{len(ids)} ids in lists of {entries}")
    return np.array(offsets), np.array(ids, np.int64)


def read_small_rows(file, flags, lists):
    """Sparse rows: offsets, ids and values."""
    offsets, ids = read_lists(file, lists)
    if flags & BF16:
        return offsets, ids, from_bf16(file.array("<u2", len(ids)))
    exponents = np.repeat(file.array("i1", lists).astype(int), np.diff(offsets))
    return offsets, ids, np.ldexp(file.array("i1", len(ids)).astype(np.float64), exponents)


def read_matrix(file, bf16, state, int8=False):
    """[rows, columns]; passes over the optimizer's state."""
    rows, columns = file.u64(), file.u64()
    if int8:
        exponents = file.array("i1", rows).astype(int)[:, np.newaxis]
        return np.ldexp(file.array("i1", rows * columns).reshape(rows, columns).astype(np.float64), exponents)
    if bf16:
        groups = -(-columns // 32)
        pairs = file.array("<u2", rows * groups * 32).reshape(rows, groups, 16, 2)
        matrix = from_bf16(pairs.swapaxes(2, 3).reshape(rows, groups * 32)[:, :columns])
    else:
        matrix = file.array("<f4", rows * columns).reshape(rows, columns).astype(np.float64)
    for kind in ("<f4", "<f4", "<u4") if state else ():
        file.array(kind, file.u64())
    return matrix


def read_layers(file, config, flags):
    layers, sections = [], config["layer"]
    for number, section in enumerate(sections):
        weights = read_matrix(file, is_bf16(config), flags & OPTIMIZER, flags & INT8)
        bias = read_matrix(file, False, flags & OPTIMIZER).ravel()
        by_feature = number == 0 and len(sections) > 1 and section["kind"] == "dense"
        layers.append(Layer(weights if by_feature else weights.T, bias, section["activation"]))
    return layers


def spread(offsets, columns, values, width):
    """The sparse rows as a matrix [rows, width]."""
    matrix = np.zeros((len(offsets) - 1, width), np.asarray(values).dtype)
    matrix[np.repeat(np.arange(len(offsets) - 1), np.diff(offsets.astype(np.int64))), columns] = values
    return matrix


def read_wide(file, model, flags):
    if flags & (BF16 | INT8):
        rows = read_small_rows(file, flags, len(model.layers[-1].bias))
        model.wide = spread(*rows, model.features).T.copy()
        return
    count = file.u64()
    offsets = file.array("<u8", len(model.layers[-1].bias) + 1)
    columns, values = file.array("<u4", count), file.array("<f4", count).astype(np.float64)
    if flags & OPTIMIZER:
        file.array("<f4", count)
    model.wide = spread(offsets, columns, values, model.features).T.copy()


def read_small_neighbours(file, model, flags):
    samples = file.u64()
    model.neighbours = spread(*read_small_rows(file, flags, samples), model.features)
    model.neighbour_labels = spread(*read_lists(file, samples), True, len(model.layers[-1].bias))
    if model.is_dense:
        model.neighbours = read_int8_rows(file, model, samples) if flags & INT8 else read_dense_rows(file, model, samples)


def read_int8_rows(file, model, samples):
    rows = file.array(np.dtype([("exponent", "i1"), ("q", "i1", model.dense)]), samples)
    return np.ldexp(rows["q"].astype(np.float64).reshape(samples, -1), rows["exponent"].astype(int)[:, None])


def read_dense_rows(file, model, samples):
    return from_bf16(file.array("<u2", samples * model.dense)).reshape(samples, -1)


def read_neighbours(file, model):
    samples, features, labels = file.u64(), file.u64(), file.u64()
    feature_offsets, label_offsets = file.array("<u8", samples + 1), file.array("<u8", samples + 1)
    feature_ids, label_ids = file.array("<u4", features), file.array("<u4", labels)
    values = from_bf16(file.array("<u2", features))
    model.neighbours = spread(feature_offsets, feature_ids, values, model.features)
    model.neighbour_labels = spread(label_offsets, label_ids, True, len(model.layers[-1].bias))
    if model.is_dense:
        model.neighbours = read_dense_rows(file, model, samples)


def read_text(file):
    file.u64()  # bytes of it all
    form = file.u64()
    file.u64()  # samples
    vocabulary, features, labels = file.u64(), file.u64(), file.u64()
    hashes = {int(h): i for i, h in enumerate(file.array("<u8", vocabulary))}
    weights = file.array("<f4", features).astype(np.float64)
    for _ in range(vocabulary):
        file.take(file.u32())
    return Text(form, hashes, weights, [file.take(file.u32()).decode() for _ in range(labels)])


def parse_model(data):
    if len(data) < 36 or data[:8] != MAGIC or data[-8:] != END:
        raise BadModel("no whole model file")
    if zlib.crc32(data[:-12]) != int.from_bytes(data[-12:-8], "little"):
        raise BadModel("the checksum is wrong")
    file = Reader(data[:-12])
    file.take(8)
    version, flags, length = file.u32(), file.u32(), file.u64()
    if version not in (*range(1, 8), 9, 10, 11, 12) or length != len(data):
        raise BadModel(f"version {version}, {length} bytes of {len(data)}")
    file.u64()  # steps
    config = tomllib.loads(file.take(file.u64()).decode())
    features, labels, _ = file.u64(), file.u64(), file.u64()
    dense = file.u64() if flags & DENSE else 0
    file.array("<u4", labels)  # frequencies
    pairs = file.array("<u4", 2 * file.u64() if flags & PAIRS else 0).reshape(-1, 2)
    file.array("<u8", 2 * file.u64())  # hash functions
    model = Model(config, features, labels, read_layers(file, config, flags), dense=dense, pairs=pairs)
    if flags & WIDE:
        read_wide(file, model, flags)
    if flags & FACTORS:
        model.factors = file.array("<f4", model.features).astype(np.float64)
    if flags & NEIGHBOURS:
        read_small_neighbours(file, model, flags) if flags & (BF16 | INT8) else read_neighbours(file, model)
    if flags & FEATURE_WEIGHTS:
        model.feature_weights = from_bf16(file.array("<u2", model.features))
    if flags & TEXT:
        model.text = read_text(file)
    if flags & IDLE:
        file.array("<u4", labels)
    if flags & THRESHOLDS:
        file.array("<f8", 1)
        count = file.u64()
        model.thresholds = dict(zip(file.array("<u4", count).tolist(), file.array("<f8", count).tolist()))
    if flags & CALIBRATION:
        model.calibration = file.array("<f4", 3).astype(float)
    if file.at != len(file.data):
        raise BadModel(f"{len(file.data) - file.at} bytes are left over")
    return model


def read_model(path):
    with open(path, "rb") as file:
        return parse_model(file.read())
