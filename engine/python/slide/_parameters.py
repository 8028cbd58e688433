"""Names that scikit-learn has for parameters, as keys of the configuration, and what `threshold` can be."""

from __future__ import annotations

import numbers
import os
import warnings
from typing import Any, Optional, Union

import numpy as np

from ._slide import InputError

# Parameters of other estimators, and what they are called here.
CALLED_HERE = {
    "C": "optimizer__learning_rate or train__epochs; there is no penalty",
    "activation": "layer__0__activation",
    "alpha": "optimizer__learning_rate or train__epochs; there is no penalty",
    "batch_size": "train__batch_size",
    "early_stopping": "validation, as 0.1, or eval_set of fit",
    "epochs": "train__epochs or max_iter",
    "hidden_layer_sizes": "layer__0__size, or layer, a list of dicts",
    "learning_rate": "optimizer__learning_rate",
    "learning_rate_init": "optimizer__learning_rate",
    "loss": "loss__kind",
    "n_estimators": "train__epochs or max_iter",
    "n_iter_no_change": "train__patience",
    "n_threads": "train__threads or n_jobs",
    "patience": "train__patience",
    "seed": "train__seed or random_state",
    "solver": "optimizer__kind",
    "tol": "train__patience",
    "validation_fraction": "validation",
}

_told: set[str] = set()


def tell_once(line: str, stacklevel: int = 3) -> None:
    """Warns with a FutureWarning, once in a process."""
    if line not in _told:
        _told.add(line)
        warnings.warn(line, FutureWarning, stacklevel=stacklevel)


def _seed_of(random_state: Any) -> int:
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise InputError(f"random_state: {random_state}; give a number from 0, which becomes train__seed")
        return int(random_state)
    if isinstance(random_state, (np.random.RandomState, np.random.Generator)):
        draw = random_state.randint if isinstance(random_state, np.random.RandomState) else random_state.integers
        return int(draw(2**31 - 1))
    raise InputError(f"random_state: {random_state!r}; give a number, a RandomState or a Generator of NumPy")


def _threads_of(n_jobs: Any) -> int:
    if not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise InputError(f"n_jobs: {n_jobs!r}; give a number of threads, which becomes train__threads, or -1 for all cores")
    if n_jobs > 0:
        return int(n_jobs)
    return 0 if n_jobs == -1 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def _epochs_of(max_iter: Any) -> int:
    if not isinstance(max_iter, numbers.Integral) or isinstance(max_iter, bool) or max_iter < 1:
        raise InputError(f"max_iter: {max_iter!r}; give a number of epochs from 1, which becomes train__epochs")
    return int(max_iter)


_KEYS = {
    "random_state": ("train__seed", _seed_of),
    "n_jobs": ("train__threads", _threads_of),
    "max_iter": ("train__epochs", _epochs_of),
}


def with_known_names(keys: dict[str, Any], estimator: Any) -> dict[str, Any]:
    """`keys` with those that random_state, n_jobs and max_iter of `estimator` stand for. Raises InputError where a key
    is given by both names."""
    keys = dict(keys)
    for name, (key, value_of) in _KEYS.items():
        value = getattr(estimator, name)
        if value is None:
            continue
        section, inner = key.split("__")
        nested = keys.get(section)
        if keys.get(key) is not None or (isinstance(nested, dict) and inner in nested):
            raise InputError(f"{name} and {key} are one parameter; give one of the two")
        keys[key] = value_of(value)
    return keys


def _by_class(class_weight: dict, classes: np.ndarray) -> np.ndarray:
    known = set(classes.tolist())
    other = next((one for one in class_weight if one not in known), None)
    if other is not None:
        raise InputError(f"class_weight: there is no class {other!r} in y")
    return np.array([class_weight.get(one, 1.0) for one in classes.tolist()], np.float64)


def class_weights_of(class_weight: Any, ids: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The weight of each sample, [n], by its class, `ids`: "balanced" or a dict, as scikit-learn has them."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.bincount(ids, minlength=len(classes))
        return (len(ids) / (np.count_nonzero(counts) * np.maximum(counts, 1)))[ids]
    if not isinstance(class_weight, dict):
        raise InputError(f"class_weight: {class_weight!r}; give 'balanced', or a dict of weights by class")
    return _by_class(class_weight, classes)[ids]


def label_weights_of(class_weight: Any, classes: np.ndarray) -> np.ndarray:
    """The weight of each label, [labels], where samples have several: those of a dict, else 1."""
    if not isinstance(class_weight, dict):
        raise InputError(
            f"class_weight: {class_weight!r}; where samples have several labels, give a dict of weights by label, or set "
            "data__label_weights to a negative power of the frequency"
        )
    return _by_class(class_weight, classes)


BEST_F1 = "best-f1"
DEFAULT_THRESHOLD = 0.5


class Cut:
    """Which labels of a sample are predicted: the best `k`, or where k is None, those whose probability reaches
    `probability`."""

    def __init__(self, k: Optional[int], probability: Optional[float]):
        self.k, self.probability = k, probability


def cut_of(threshold: Union[None, int, float, str], found: Optional[float]) -> Cut:
    """What a `threshold` means. `found`: the threshold of best F1, where fit has looked for it. Raises InputError."""
    if threshold is None:
        return Cut(None, DEFAULT_THRESHOLD)
    if isinstance(threshold, str) and threshold == BEST_F1:
        if found is None:
            raise InputError(
                f"threshold={BEST_F1!r}: fit finds it on samples held out; fit with validation=0.1 or an eval_set"
            )
        return Cut(None, found)
    if isinstance(threshold, numbers.Integral) and not isinstance(threshold, bool) and threshold >= 1:
        return Cut(int(threshold), None)
    if isinstance(threshold, numbers.Real) and not isinstance(threshold, bool) and 0 <= threshold <= 1:
        return Cut(None, float(threshold))
    raise InputError(
        f"threshold: {threshold!r}; give a probability from 0 to 1 as a float, a number of labels as an int, or {BEST_F1!r}"
    )
