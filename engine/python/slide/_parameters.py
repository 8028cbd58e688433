"""Names that scikit-learn has for parameters, as keys of the configuration, and what `threshold` can be."""

from __future__ import annotations

import numbers
import os
import warnings
from typing import Any, Iterable, Optional, Union

import numpy as np

from ._inputs import _shown, number
from ._keys import is_key, overrides_of, sections
from ._slide import InputError, near_name

# Parameters of other estimators, and what a Classifier has for them.
HAS_INSTEAD = {
    "C": "it is optimizer__weight_decay here, which is larger where C is smaller",
    "activation": "it is layer__0__activation here",
    "alpha": "it is optimizer__weight_decay here",
    "batch_size": "it is train__batch_size here",
    "dropout": "it is layer__0__dropout here",
    "early_stopping": "it is validation, as 0.1, or eval_set of fit here",
    "early_stopping_rounds": "it is train__patience here, in epochs, with validation or eval_set of fit",
    "epochs": "it is train__epochs or max_iter here",
    "eta0": "it is optimizer__learning_rate here",
    "hidden_layer_sizes": "it is layer__0__size, or layer, a list of dicts here",
    "learning_rate": "it is optimizer__learning_rate here",
    "learning_rate_init": "it is optimizer__learning_rate here",
    "loss": "it is loss__kind here",
    "n_estimators": "it is train__epochs or max_iter here",
    "multi_class": "leave it out; labels are those of y, one or several a sample",
    "n_iter_no_change": "it is train__patience here",
    "momentum": "it is optimizer__momentum here, with optimizer__kind='momentum'",
    "n_threads": "it is train__threads or n_jobs here",
    "patience": "it is train__patience here",
    "penalty": "weights shrink by optimizer__weight_decay here",
    "seed": "it is train__seed or random_state here",
    "shuffle": "it is train__shuffle here",
    "solver": "it is optimizer__kind here",
    "tol": "there is no tolerance here; with validation, training ends after train__patience epochs without a better one",
    "validation_fraction": "it is validation here",
    # fastText's names
    "bucket": "it is text__hash_buckets here",
    "dim": "it is layer__0__size here",
    "epoch": "it is train__epochs or max_iter here",
    "lr": "it is optimizer__learning_rate here",
    "maxn": "it is text__char_ngrams_max here",
    "minCount": "it is text__min_count here",
    "minCountLabel": "it is text__min_label_count here",
    "minn": "it is text__char_ngrams_min here, with text__char_ngrams_max",
    "neg": "it is layer__-1__uniform here, as Classifier(**{'layer__-1__uniform': 512})",
    "pretrainedVectors": "it is train__vectors here",
    "thread": "it is train__threads or n_jobs here",
    "wordNgrams": "it is text__word_ngrams here",
}

# What tune has for arguments of other searches.
_OF_TUNE = {
    "minutes": "it is seconds here, 60 a minute",
    "max_time": "it is seconds here",
    "n_iter": "it is trials here",
    "n_trials": "it is trials here",
    "timeout": "it is seconds here",
}

# Keys of files, which have no effect on samples that are given otherwise.
_FILES = {
    "data.train": "the samples are those that are given",
    "data.test": "measure others by score, or by evaluate of the Model",
    "data.test_newest": "measure other samples by score, or by evaluate of the Model",
    "data.test_after": "measure other samples by score, or by evaluate of the Model",
}


def refuse_files(keys: dict[str, Any]) -> None:
    """Raises InputError for a key that names files, where samples are given otherwise."""
    for override in overrides_of(keys):
        key = override.split("=", 1)[0]
        if key in _FILES:
            raise InputError(f"{key.replace('.', '__')}: it has no effect here, {_FILES[key]}; leave it out")


def refuse_arguments(method: str, keys: Iterable[str], parameters: Iterable[str]) -> None:
    """Raises InputError for the first of `keys` that is none of the configuration. `parameters`: those of `method`."""
    for name in keys:
        if is_key(name.replace(".", "__")):
            continue
        here = _OF_TUNE[name] if method == "tune" and name in _OF_TUNE else instead_of(name, parameters)
        raise InputError(f"Invalid argument {name!r} of {method}; {here}")


def instead_of(name: str, parameters: Iterable[str]) -> str:
    """What to write in place of `name`, which is no parameter. `parameters`: those that are no keys."""
    if name in HAS_INSTEAD:
        return HAS_INSTEAD[name]
    section, *rest = name.split("__")
    if rest:
        near = near_name(section, sorted(sections()))
        return f"did you mean {'__'.join([near, *rest])}?" if near else "see help(slide.Classifier)"
    near = near_name(name, [*parameters, *HAS_INSTEAD])
    if not near:
        return "see help(slide.Classifier)"
    return f"did you mean {near}?" + (f" {HAS_INSTEAD[near]}" if near in HAS_INSTEAD else "")


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
    weights = {one: number(weight, f"class_weight of {one!r}") for one, weight in class_weight.items()}
    for one, weight in weights.items():
        if not 0 <= weight < np.inf:
            raise InputError(f"class_weight: that of {one!r} is {weight:g}; give a number from 0")
    return np.array([weights.get(one, 1.0) for one in classes.tolist()], np.float64)


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
ALL = "all"
DEFAULT_PROBA_K = 5


class Cut:
    """Which labels of a sample are predicted: the best `k`, or where k is None, those whose probability reaches
    `probability`."""

    def __init__(self, k: Optional[int], probability: Optional[float]):
        self.k, self.probability = k, probability


def is_count(threshold: Any) -> bool:
    """Whether a `threshold` is a number of labels."""
    return isinstance(threshold, numbers.Integral) and not isinstance(threshold, bool) and threshold >= 1


def require_count(threshold: Any) -> None:
    """Raises InputError for an int that is no number of labels."""
    if isinstance(threshold, numbers.Integral) and not isinstance(threshold, bool) and threshold < 1:
        raise InputError(
            f"threshold: {threshold!r} is no probability; give one from 0 to 1 as a float, or a number of labels as an int from 1"
        )


def share_of(validation: Any) -> float:
    """The share of the samples that ``validation`` is. Raises InputError."""
    try:
        return float(validation)
    except (TypeError, ValueError):
        raise InputError(
            f"validation: {_shown(validation)}; give a share of the samples from 0 to 1, as 0.1; samples of yours go to "
            "fit as eval_set=(X, y)"
        ) from None


def check_flag(value: Any, what: str) -> None:
    """Raises InputError unless the argument `what` is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{what}: {value!r}; give True or False")


def check_threshold(threshold: Any) -> None:
    """Raises InputError unless `threshold` is a probability, a number of labels, "best-f1" or None."""
    if threshold is None or (isinstance(threshold, str) and threshold == BEST_F1):
        return
    if isinstance(threshold, numbers.Real) and not isinstance(threshold, bool):
        if is_count(threshold) or (0 <= threshold <= 1 and not isinstance(threshold, numbers.Integral)):
            return
    no_count = "; an int counts labels, from 1" if isinstance(threshold, numbers.Integral) else ""
    raise InputError(
        f"threshold: {threshold!r}; give a probability from 0 to 1 as a float, a number of labels as an int, or {BEST_F1!r}{no_count}"
    )


def cut_of(threshold: Union[None, int, float, str], found: Optional[float]) -> Cut:
    """What a `threshold` means. `found`: the threshold of best F1, where fit has looked for it. Raises InputError."""
    if threshold is None:
        return Cut(None, DEFAULT_THRESHOLD)
    check_threshold(threshold)
    if isinstance(threshold, str):
        if found is None:
            raise InputError(
                f"threshold={BEST_F1!r}: fit finds it on samples held out; fit with validation=0.1 or an eval_set"
            )
        return Cut(None, found)
    if is_count(threshold):
        return Cut(int(threshold), None)
    return Cut(None, float(threshold))


def check_proba_k(proba_k: Any) -> None:
    """Raises InputError unless `proba_k` is a number of labels, "all" or None."""
    if proba_k is None or (isinstance(proba_k, str) and proba_k == ALL):
        return
    if not isinstance(proba_k, numbers.Integral) or isinstance(proba_k, bool) or proba_k < 1:
        raise InputError(f"proba_k: {proba_k!r}; give a number of labels from 1, or {ALL!r}")


def proba_k_of(proba_k: Any, labels: int) -> int:
    """How many probabilities a sample gets of so many labels. Warns where None leaves some out, raises InputError."""
    check_proba_k(proba_k)
    if isinstance(proba_k, str):
        return labels
    if proba_k is None and labels > DEFAULT_PROBA_K:
        warnings.warn(
            f"predict_proba gives the best {DEFAULT_PROBA_K} of {labels} labels; set proba_k to a number of them or "
            f"{ALL!r}, or give k; decision_function has the scores of all",
            UserWarning,
            stacklevel=3,
        )
    return min(DEFAULT_PROBA_K if proba_k is None else int(proba_k), labels)
