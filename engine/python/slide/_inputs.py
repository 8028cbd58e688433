"""Samples and targets as they are given, into the arrays that the engine takes.

Of a CSR matrix of float32 with indices of 32 bits nothing is copied here, and the engine copies only its row offsets;
see ``Classifier`` for what other types cost.
"""

from __future__ import annotations

import warnings
from typing import Any, Optional

import numpy as np

from . import _slide
from ._slide import InputError

MOST_LABEL = 2**31 - 2
Rows = tuple  # (offsets, ids, values or None, columns)


def told(data: Any) -> Any:
    """The same data, once Python has warned of what the engine has."""
    for warning in data.warnings:
        warnings.warn(warning, UserWarning, stacklevel=3)
    return data


def is_sparse(x: Any) -> bool:
    from scipy.sparse import issparse

    return bool(issparse(x))


def are_texts(x: Any) -> bool:
    """Whether `x` is a sequence of texts, one a sample."""
    if isinstance(x, str) or is_sparse(x) or getattr(x, "ndim", 1) != 1 or not hasattr(x, "__len__") or len(x) == 0:
        return False
    return all(isinstance(one, str) for one in x)


def feature_names(x: Any) -> Optional[np.ndarray]:
    """The names of the columns of a data frame, if all are strings."""
    columns = getattr(x, "columns", None)
    if columns is None or len(columns) == 0 or not all(isinstance(name, str) for name in columns):
        return None
    return np.asarray(columns, dtype=object)


def csr_of(x: Any) -> Any:
    """Features as a CSR matrix of float32: the same object where it is one."""
    import scipy.sparse as sparse

    if sparse.issparse(x):
        if np.issubdtype(x.dtype, np.complexfloating):
            raise InputError("Complex data not supported: features are real numbers")
        x = x.tocsr()
        return x if x.dtype == np.float32 else x.astype(np.float32)
    if are_texts(x):
        raise InputError("X holds texts, and features are wanted: a matrix with a row a sample")
    from sklearn.utils import check_array

    return sparse.csr_matrix(check_array(x, dtype=np.float32, ensure_min_samples=0, estimator="Classifier"))


def array_of(x: Any) -> np.ndarray:
    """Features as a dense array of float32 without gaps: the same object where it is one."""
    from sklearn.utils import check_array

    x = csr_of(x).toarray() if is_sparse(x) else x
    return np.ascontiguousarray(check_array(x, dtype=np.float32, ensure_min_samples=0, estimator="Classifier"))


def features_of(x: Any) -> Any:
    """Features as the engine takes them best: an array of which more than half is not 0 as it is, all else as CSR."""
    if is_sparse(x) or are_texts(x):
        return csr_of(x)
    array = array_of(x)
    return array if 2 * np.count_nonzero(array) > array.size else csr_of(array)


def features_for(model: _slide.Model, x: Any) -> Any:
    """Features as those of the model are."""
    return array_of(x) if model.dense_columns and not are_texts(x) else csr_of(x)


def rows_of(x: Any) -> Rows:
    """What ``_slide.from_csr`` takes for a CSR matrix."""
    return x.indptr, x.indices, x.data, x.shape[1]


def labels_of_sparse(y: Any) -> Rows:
    """The same of labels: what is not 0."""
    y = y.tocsr()
    if y.nnz and not np.all(y.data):
        y = y.copy()
        y.eliminate_zeros()
    return y.indptr, y.indices, None, y.shape[1]


def _is_list_of_labels(one: Any) -> bool:
    return isinstance(one, (list, tuple, set, frozenset)) or (isinstance(one, np.ndarray) and one.ndim == 1)


class Targets:
    """Y, encoded: `rows` for the engine, `classes` by column, `single` where every sample has one label, `found` where
    the classes are names that were found in Y, in any order."""

    def __init__(self, rows: Rows, classes: np.ndarray, single: bool, found: bool = False):
        self.rows, self.classes, self.single, self.found = rows, classes, single, found

    @property
    def samples(self) -> int:
        return len(self.rows[0]) - 1


def _of_lists(y: Any, known: Optional[np.ndarray]) -> Targets:
    offsets = np.zeros(len(y) + 1, np.int64)
    np.cumsum([len(one) for one in y], out=offsets[1:])
    flat = [label for one in y for label in one]
    if all(isinstance(label, str) for label in flat) and (flat or (known is not None and known.dtype.kind in "UO")):
        classes = known if known is not None else np.array(sorted(set(flat)), dtype=object)
        place = {name: number for number, name in enumerate(classes)}
        try:
            ids = np.array([place[name] for name in flat], np.int32)
        except KeyError as missing:
            raise InputError(f"labels: there is no label {missing}; give only those that the model was fitted with")
    elif all(isinstance(label, (int, np.integer)) and not isinstance(label, bool) for label in flat):
        largest = max(flat, default=-1)
        if largest > MOST_LABEL or min(flat, default=0) < 0:
            at = next(i for i, one in enumerate(y) if any(not 0 <= label <= MOST_LABEL for label in one))
            raise InputError(f"labels: row {at}: its numbers must be from 0 to {MOST_LABEL}")
        ids = np.array(flat, np.int64)
        classes = known if known is not None else np.arange(int(ids.max(initial=-1)) + 1)
    else:
        raise InputError("labels: give whole numbers from 0 or names, the same for all samples")
    return Targets((offsets, ids, None, len(classes)), classes, False, known is None and classes.dtype.kind == "O")


def _of_matrix(y: np.ndarray) -> Targets:
    from scipy.sparse import csr_matrix

    if y.dtype.kind not in "biuf" or not np.all((y == 0) | (y == 1)):
        raise InputError("labels: an array of two dimensions has a column for each label, and 0 or 1 in it")
    return Targets(labels_of_sparse(csr_matrix(y)), np.arange(y.shape[1]), False)


def _of_single(y: np.ndarray, known: Optional[np.ndarray]) -> Targets:
    from sklearn.utils.multiclass import check_classification_targets

    check_classification_targets(y)
    if known is None:
        classes, ids = np.unique(y, return_inverse=True)
    else:
        classes = known
        ids = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        if not np.array_equal(classes[ids], y):
            raise InputError("labels: there is a class that is not in classes_; give all classes to the first call")
    return Targets((np.arange(len(y) + 1), ids.astype(np.int32), None, len(classes)), classes, True)


def targets_of(y: Any, known: Optional[np.ndarray] = None) -> Targets:
    """Encodes Y. `known`: the classes there are; without, they are found in Y.

    Raises InputError, a ValueError, for what is none of the forms that ``Classifier.fit`` names.
    """
    if y is None:
        raise InputError("This Classifier estimator requires y to be passed, but the target y is None")
    if is_sparse(y):
        return Targets(labels_of_sparse(y), np.arange(y.shape[1]), False)
    if not isinstance(y, (np.ndarray, list, tuple)):
        y = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if getattr(y, "ndim", 1) == 1 and len(y) and all(_is_list_of_labels(one) for one in y):
        return _of_lists(list(y), known)
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] != 1:
        return _of_matrix(array)
    from sklearn.utils import column_or_1d
    from sklearn.utils.validation import assert_all_finite

    array = column_or_1d(array, warn=True)
    if array.dtype.kind == "f":
        assert_all_finite(array, input_name="y")
    return _of_single(array, known)


def _check_samples(samples: int, targets: Optional[Targets], what: str) -> None:
    if targets is not None and targets.samples != samples:
        raise InputError(f"{samples} {what}, but {targets.samples} of labels; they must be of the same samples")


def data_of(features: Any, targets: Optional[Targets] = None) -> _slide.Data:
    """A CSR matrix or a dense array, and its labels where there are some, for the engine."""
    _check_samples(features.shape[0], targets, "rows of features")
    rows = None if targets is None else targets.rows
    if isinstance(features, np.ndarray):
        return _slide.from_dense(features, rows)
    return _slide.from_csr(rows_of(features), rows)


def learnt_data_of(texts: Any, targets: Targets, config: _slide.Config) -> _slide.Data:
    """Texts for the engine, which learns a vocabulary from them. Where the classes were found they get the order that
    those of a file would have."""
    _check_samples(len(texts), targets, "texts")
    names = tuple(str(name) for name in targets.classes)
    data = _slide.learn_texts(tuple(texts), targets.rows, names, config, not targets.found)
    if targets.found:
        targets.classes = np.array(data.label_names(), dtype=object)
    return data


def text_data_of(texts: Any, model: _slide.Model, targets: Optional[Targets] = None) -> _slide.Data:
    """Texts, and labels of the model's numbers where there are some, for a model that was trained on text."""
    _check_samples(len(texts), targets, "texts")
    return _slide.from_texts(tuple(texts), model, None if targets is None else targets.rows)


def weighted(data: _slide.Data, weights: Any) -> _slide.Data:
    """The samples with weights, [n]; None leaves them as they are."""
    if weights is None:
        return data
    array = np.asarray(weights)
    if array.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar: there are {array.ndim} dimensions")
    return data.weighted(array)


def _texts_of(values: Any, what: str) -> list[str]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{what}: want one for each sample, in one dimension; there are {array.ndim}")
    return (array.astype(str) if array.dtype.kind == "M" else array).astype(object).astype(str).tolist()


def keyed(data: _slide.Data, groups: Any, times: Any) -> _slide.Data:
    """The samples with groups and times, [n] each, by which some are held out; None leaves them as they are."""
    if groups is not None:
        data = data.grouped(_texts_of(groups, "groups"))
    return data if times is None else data.timed(_texts_of(times, "times"))
