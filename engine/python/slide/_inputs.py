"""Samples and targets as they are given, into the arrays that the engine takes.

Of a CSR matrix of float32 with indices of 32 bits nothing is copied here, and the engine copies only its row offsets;
see ``Classifier`` for what other types cost.
"""

from __future__ import annotations

import operator
import re
import warnings
from collections import Counter
from typing import Any, Optional

import numpy as np

from . import _slide
from ._slide import InputError

MOST_LABEL = 2**31 - 2
Rows = tuple  # (offsets, ids, values or None, columns)


def told(data: Any, stacklevel: int = 3) -> Any:
    """The same data, once Python has warned of what the engine has."""
    for warning in data.warnings:
        warnings.warn(warning, UserWarning, stacklevel=stacklevel)
    return data


def is_sparse(x: Any) -> bool:
    from scipy.sparse import issparse

    return bool(issparse(x))


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or what pandas has for them."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, (float, np.floating)) and value != value)
        or (isinstance(value, (np.datetime64, np.timedelta64)) and bool(np.isnat(value)))
    )


def _shown(value: Any) -> str:
    text = re.sub(r"\s*\n\s*", " ", repr(value))  # of an array
    return text if len(text) <= 40 else text[:37] + "..."


def are_texts(x: Any) -> bool:
    """Whether `x` is a sequence of texts, one a sample. Raises InputError where some are texts and others are not, and
    for bytes."""
    if isinstance(x, (str, bytes, dict)) or is_sparse(x) or getattr(x, "ndim", 1) != 1 or not hasattr(x, "__len__"):
        return False
    if len(x) == 0 or getattr(getattr(x, "dtype", None), "kind", "O") not in "OUS":
        return False
    other = next((i for i, one in enumerate(x) if not isinstance(one, str)), None)
    if other is None:
        return True
    value = x.iloc[other] if hasattr(x, "iloc") else x[other] if hasattr(x, "__getitem__") else list(x)[other]
    if isinstance(value, bytes):
        raise InputError(f"X: row {other} is bytes, no text; decode them, as text.decode('utf-8')")
    if any(isinstance(one, str) for one in x):
        cause = "is missing" if is_missing(value) else "is no text"
        raise InputError(f"X: row {other} {cause} ({_shown(value)}), but others are texts; give a text, '' for an empty one")
    return False


def _item_name(one: Any) -> Any:
    """A whole number as the name of its digits; anything else as it is."""
    whole = isinstance(one, (int, np.integer)) and not isinstance(one, (bool, np.bool_))
    return str(int(one)) if whole else one


def texts_of_items(x: Any, features: int) -> Optional[list[str]]:
    """Lists of names of items as texts that hold them, in quotes, for a model of interactions of so many features; None for
    anything else. Whole numbers are names of their digits, but for rows as long as there are features. Raises InputError
    where a row is no such list, but others are."""
    if isinstance(x, (str, bytes)) or is_sparse(x) or getattr(x, "ndim", 1) != 1 or not hasattr(x, "__len__"):
        return None
    rows = list(x)
    lists = [list(row) if isinstance(row, (list, tuple, set, frozenset)) else None for row in rows]
    if not all(row is not None and len(row) == features for row in lists):
        lists = [None if row is None else [_item_name(one) for one in row] for row in lists]
    if not any(row is not None and any(isinstance(one, str) for one in row) for row in lists):
        return None
    for at, row in enumerate(lists):
        others = [rows[at]] if row is None else [one for one in row if not isinstance(one, str)]
        if others:
            cause = f"X: row {at}: {_shown(others[0])} is no name of an item"
            raise InputError(f"{cause}; give a list of names for each user")
    return [" ".join('"' + item.replace('"', '""') + '"' for item in row) for row in lists]


def _utf8_fault(texts: Any, what: str) -> Optional[InputError]:
    for row, text in enumerate(texts):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as fault:
            return InputError(
                f"{what}: row {row}: character {fault.start} is half of a surrogate pair, which UTF-8 cannot hold; "
                "take it out, as text.encode('utf-8', 'ignore').decode()"
            )
    return None


def _plain_frame(x: Any) -> Any:
    """A data frame of sparse columns as a sparse matrix; everything else as it is."""
    dtypes = getattr(x, "dtypes", None)
    if not hasattr(x, "columns") or dtypes is None or len(x.columns) == 0:
        return x
    if not all(type(one).__name__ == "SparseDtype" for one in dtypes):
        return x
    if any(one.fill_value not in (0, False) for one in dtypes):
        return x.sparse.to_dense()
    return x.sparse.to_coo().tocsr()


def one_text_column(x: Any) -> Any:
    """The column of a data frame or an array of one column that holds a text; everything else as it is."""
    if getattr(x, "ndim", 1) != 2 or is_sparse(x) or x.shape[1] != 1:
        return x
    column = x.iloc[:, 0] if hasattr(x, "iloc") else x[:, 0] if isinstance(x, np.ndarray) else x
    if getattr(getattr(column, "dtype", None), "kind", "O") not in "OUS":
        return x
    return column if any(isinstance(one, str) for one in column) else x


def feature_names(x: Any) -> Optional[np.ndarray]:
    """The names of the columns of a data frame, if all are strings."""
    columns = getattr(x, "columns", None)
    if columns is None or len(columns) == 0 or not all(isinstance(name, str) for name in columns):
        return None
    return np.asarray(columns, dtype=object)


def csr_of(x: Any) -> Any:
    """Features as a CSR matrix of float32: the same object where it is one."""
    import scipy.sparse as sparse

    x = _plain_frame(x)
    if sparse.issparse(x):
        if np.issubdtype(x.dtype, np.complexfloating):
            raise InputError("Complex data not supported: features are real numbers")
        x = x.tocsr()
        return x if x.dtype == np.float32 else x.astype(np.float32)
    if are_texts(x):
        raise InputError("X holds texts, and features are wanted: a matrix with a row a sample")
    return sparse.csr_matrix(_checked_array(x))


def _checked_array(x: Any) -> np.ndarray:
    """An array of float32 of two dimensions. Raises InputError, a ValueError, for texts among the numbers."""
    from ._sklearn import check_array

    if isinstance(x, str):
        raise InputError("X is one text; give a list of texts, a text for each sample")
    if isinstance(x, (dict, set, frozenset)) or getattr(x, "ndim", 1) == 0 or not (hasattr(x, "__len__") or hasattr(x, "__array__")):
        raise InputError(f"X: {_shown(x)}; give a matrix of features with a row a sample, or a list of texts (of a generator, list(X))")
    if isinstance(x, list) and len(x) == 2 and getattr(x[1], "ndim", 0) == 2:
        raise InputError("X is a list of two arrays; features with dense columns beside them are a pair in round brackets, (X, array)")
    if isinstance(x, (list, tuple)):
        require_rows(x)
    try:
        return check_array(x, dtype=np.float32, ensure_min_samples=0, estimator="Classifier")
    except ValueError as fault:
        if "inhomogeneous" in str(fault):
            raise InputError(f"X: features are numbers ({str(fault).splitlines()[0]}); give a matrix with a row a sample") from None
        if "contains NaN" in str(fault) or "contains infinity" in str(fault):
            raise InputError(f"X: {_place_of_no_number(x)}. {fault}") from None
        if "could not convert string to float" not in str(fault):
            raise
        raise InputError(
            f"X: {fault}; features are numbers. Of texts give one column, with others joined to it; of categories use "
            "OneHotEncoder"
        ) from None


def require_rows(x: Any) -> None:
    """Raises InputError for samples that are no rows of equal length."""
    if len(x) == 0:
        raise InputError("X is empty; give a matrix of features with a row a sample, or a list of texts")
    if any(isinstance(one, dict) for one in x):
        row = next(row for row, one in enumerate(x) if isinstance(one, dict))
        raise InputError(f"X: row {row} is a dict ({_shown(x[row])}); scikit-learn's DictVectorizer makes a matrix of dicts")
    row = next((row for row, one in enumerate(x) if is_missing(one)), None)
    if row is not None:
        raise InputError(f"X: row {row} is missing ({_shown(x[row])}); give a text, '' for an empty one, or features")
    lengths = [len(one) if hasattr(one, "__len__") and getattr(one, "ndim", 1) else None for one in x]
    row = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
    if row is not None and not any(isinstance(one, str) for one in x):
        what = ["one number" if length is None else f"{length} values" for length in (lengths[row], lengths[0])]
        raise InputError(f"X: row {row} has {what[0]}, but row 0 has {what[1]}; give as many to each sample")


def _place_of_no_number(x: Any) -> str:
    """Where the first NaN, infinity or number beyond float32 stands, as row and column."""
    array = np.asarray(x)
    with np.errstate(over="ignore"):
        row, column = np.argwhere(~np.isfinite(array.astype(np.float32)))[0].tolist()
    return f"row {row}, column {column} is {array[row, column]}"


def _require_sound(x: Any, what: str) -> Any:
    """A CSR matrix whose indices and pointers are those of its shape, which SciPy does not check before it follows them."""
    try:
        x.check_format(full_check=True)
    except ValueError as fault:
        raise InputError(f"{what}: the sparse matrix is damaged: {fault}") from None
    return x


def array_of(x: Any) -> np.ndarray:
    """Features as a dense array of float32 without gaps: the same object where it is one."""
    x = _plain_frame(x)
    return np.ascontiguousarray(_checked_array(_require_sound(csr_of(x), "X").toarray() if is_sparse(x) else x))


def features_of(x: Any) -> Any:
    """Features as the engine takes them best: an array of which more than half is not 0 as it is, all else as CSR."""
    x = _plain_frame(x)
    if is_sparse(x) or are_texts(x):
        return csr_of(x)
    array = array_of(x)
    return array if 2 * np.count_nonzero(array) > array.size else csr_of(array)


def apart(x: Any) -> tuple[Any, Optional[np.ndarray]]:
    """X and the dense columns beside it where X is a pair (features or texts, columns), else X and None."""
    if isinstance(x, tuple) and len(x) == 2 and is_sparse(x[0]) and isinstance(x[1], list):
        raise InputError("X: the second of a pair is dense columns, an array [n, columns]; this is a list")
    if not isinstance(x, tuple) or len(x) != 2 or getattr(x[1], "ndim", 0) != 2:
        return x, None
    if is_sparse(x[1]):
        raise InputError("X: the second of a pair is dense columns, an array [n, columns]; this is a sparse matrix")
    return x[0], array_of(x[1])


def beside(data: _slide.Data, columns: Optional[np.ndarray]) -> _slide.Data:
    """The samples with dense columns; None leaves them as they are."""
    return data if columns is None else data.with_dense(columns)


def features_for(source: "_slide.Model | _slide.Data", x: Any, columns: Optional[np.ndarray] = None) -> Any:
    """Features of X as those of a model or of other samples are. `columns`: the dense ones beside them."""
    if columns is None and source.dense_columns:
        sparse = source.features - source.dense_columns
        if sparse == 0:
            return array_of(x)
        raise InputError(
            f"X: give a pair of {sparse} sparse features and {source.dense_columns} dense columns, as in training"
        )
    return csr_of(x)


def csr_of_ids(ids: np.ndarray, scores: np.ndarray, columns: int) -> Any:
    """CSR [n, columns] of the scores [n, k] of `ids`, where less than 0 is none; ids ascend."""
    from scipy.sparse import csr_matrix

    found = ids >= 0
    indptr = np.zeros(len(ids) + 1, np.int64)
    np.cumsum(found.sum(axis=1), out=indptr[1:])
    matrix = csr_matrix((scores[found], ids[found], indptr), shape=(len(ids), columns))
    matrix.sort_indices()
    return matrix


def rows_of(x: Any) -> Rows:
    """What ``_slide.from_csr`` takes for a CSR matrix."""
    return x.indptr, x.indices, x.data, x.shape[1]


def labels_of_sparse(y: Any) -> Rows:
    """The same of labels: what is 1. Raises InputError where a value is neither 0 nor 1."""
    y = y.tocsr()
    bad = np.flatnonzero((y.data != 0) & (y.data != 1))
    if bad.size:
        row = int(np.searchsorted(y.indptr, bad[0], side="right")) - 1
        raise InputError(
            f"labels: row {row}, column {y.indices[bad[0]]} is {y.data[bad[0]]}; give 1 where a sample has a label, and else 0, "
            "as (Y > 0).astype(int)"
        )
    if y.nnz and not np.all(y.data):
        y = _require_sound(y, "labels").copy()
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


def _is_indicator(y: list) -> bool:
    """Whether lists are rows of a matrix of 0 and 1, with a column for each label. Raises InputError where they can be
    lists of labels as well."""
    width = len(y[0])
    if width < 2 or any(isinstance(one, (set, frozenset)) or len(one) != width for one in y):
        return False
    if all(isinstance(value, (bool, np.bool_)) for one in y for value in one):
        return True
    if not all(isinstance(value, (int, np.integer)) and value in (0, 1) for one in y for value in one):
        return False
    if any(len(set(one)) < width for one in y):
        return True
    raise InputError(
        "labels: every list is 0 and 1, which can be two labels or a column for each of two labels; "
        "give sets for labels, or numpy.array(y) for columns"
    )


def _ids_of(values: list, known: np.ndarray, unseen: bool) -> tuple[np.ndarray, int]:
    """The places of `values` in `known`, and how many labels there are. With `unseen`, others come behind, each with a
    place of its own, so that measures count them as missed; else they are InputErrors."""
    place = {name: number for number, name in enumerate(known.tolist())}
    if not unseen:
        try:
            return np.array([place[value] for value in values], np.int32), len(known)
        except KeyError as missing:
            raise InputError(f"labels: there is no label {missing} among the classes given; name all of them, or leave classes out")
    return np.array([place.setdefault(value, len(place)) for value in values], np.int32), len(place)


def _of_lists(y: Any, known: Optional[np.ndarray], unseen: bool = False) -> Targets:
    if _is_indicator(y):
        return _of_columns(np.array(y))
    offsets = np.zeros(len(y) + 1, np.int64)
    np.cumsum([len(one) for one in y], out=offsets[1:])
    flat = [label for one in y for label in one]
    if all(isinstance(label, str) for label in flat) and (flat or (known is not None and known.dtype.kind in "UO")):
        classes = known if known is not None else np.array(sorted(set(flat)), dtype=object)
        ids, count = _ids_of(flat, classes, unseen)
        return Targets((offsets, ids, None, count), classes, False, known is None)
    elif all(isinstance(label, (int, np.integer)) and not isinstance(label, bool) for label in flat):
        largest = max(flat, default=-1)
        if largest > MOST_LABEL or min(flat, default=0) < 0:
            at = next(i for i, one in enumerate(y) if any(not 0 <= label <= MOST_LABEL for label in one))
            raise InputError(f"labels: row {at}: its numbers must be from 0 to {MOST_LABEL}")
        ids = np.array(flat, np.int64)
        classes = known if known is not None else np.arange(int(ids.max(initial=-1)) + 1)
    else:
        _require_no_missing(y)
        raise InputError("labels: give whole numbers from 0 or names, the same for all samples")
    columns = max(len(classes), int(ids.max(initial=-1)) + 1) if unseen else len(classes)
    return Targets((offsets, ids, None, columns), classes, False)


def _require_no_missing(y: Any) -> None:
    """Raises InputError for the first row of labels that is missing, or has a label that is."""
    for row, one in enumerate(y):
        for label in one if _is_list_of_labels(one) else (one,):
            if is_missing(label):
                raise InputError(f"labels: row {row} is missing ({_shown(label)}); leave the sample out, or give its label")


def _of_columns(y: Any) -> Targets:
    """A sparse matrix or an array with a column for each label."""
    from scipy.sparse import csr_matrix

    if is_sparse(y):
        return Targets(labels_of_sparse(y), np.arange(y.shape[1]), False)
    if y.dtype.kind not in "biuf" or not np.all((y == 0) | (y == 1)):
        raise InputError(
            "labels: an array of two dimensions has a column for each label, and 0 or 1 in it, as (Y > 0).astype(int) has"
        )
    return Targets(labels_of_sparse(csr_matrix(y)), np.arange(y.shape[1]), False)


def label_names_of(y: Any) -> Optional[np.ndarray]:
    """The names of the columns of a data frame that has a column for each label, else None."""
    names = feature_names(y)
    if names is None or len(names) < 2:
        return None
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise InputError(f"labels: two columns are named {twice!r}")
    return names


def _with_names(targets: Targets, names: np.ndarray, known: Optional[np.ndarray], unseen: bool) -> Targets:
    """The same labels under the names of their columns, in the places that `known` names have."""
    from scipy.sparse import csr_matrix

    if known is None:
        return Targets(targets.rows, names, False)
    places, count = _ids_of(names.tolist(), known, unseen)
    offsets, ids, _, _ = targets.rows
    moved = csr_matrix((np.ones(len(ids), np.int8), places[ids], offsets), shape=(targets.samples, count))
    moved.sort_indices()
    return Targets(labels_of_sparse(moved), known, False)


def _of_single(y: np.ndarray, known: Optional[np.ndarray], unseen: bool = False) -> Targets:
    from ._sklearn import check_classification_targets

    check_classification_targets(y)
    if known is None:
        classes, ids = np.unique(y, return_inverse=True)
    else:
        classes = known
        ids, count = _ids_of(y.tolist(), classes, True)
        if count > len(classes) and not unseen:
            missing = next(value for value in y.tolist() if value not in set(classes.tolist()))
            raise InputError(f"labels: y has the class {missing!r}, which classes lacks; name all classes in it, or leave it out")
        return Targets((np.arange(len(y) + 1), ids, None, count), classes, True)
    return Targets((np.arange(len(y) + 1), ids.astype(np.int32), None, len(classes)), classes, True)


def _numbers_where_they_are(array: np.ndarray) -> np.ndarray:
    """Objects that are all whole numbers, as pandas has them in nullable columns, as such; else the same array."""
    if array.dtype.kind != "O" or array.size == 0:
        return array
    if all(isinstance(one, (bool, np.bool_)) for one in array.flat):
        return array.astype(bool)
    if all(isinstance(one, (int, np.integer)) and not isinstance(one, bool) for one in array.flat):
        return array.astype(np.int64)
    return array


def _require_same_kind(y: Any) -> None:
    """Raises InputError where some rows are lists of labels and others are not."""
    lists = [_is_list_of_labels(one) for one in y]
    if not any(lists) or all(lists):
        return
    _require_no_missing(y)
    row = lists.index(False)
    raise InputError(f"labels: row {row} is one label ({_shown(y[row])}), but others are lists; give a list for each sample")


def _plain_labels(y: Any) -> Any:
    """Labels of any form as a sparse matrix, a list or an array of NumPy."""
    if y is None:
        raise InputError("This Classifier estimator requires y to be passed, but the target y is None")
    if isinstance(y, (dict, set, frozenset)):
        raise InputError(f"labels: {_shown(y)}; give a list or an array with one for each sample")
    y = _plain_frame(y)
    if not is_sparse(y) and not isinstance(y, (np.ndarray, list, tuple)):
        y = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if not is_sparse(y) and getattr(y, "ndim", 1) == 1:
        _require_same_kind(y)
    if getattr(y, "ndim", 1) == 0:
        raise InputError(f"labels: {_shown(y.item())}; give a list or an array with one for each sample (of a generator, list(y))")
    if isinstance(y, np.ndarray) and y.dtype.kind == "O" and not (y.ndim == 1 and any(map(_is_list_of_labels, y))):
        _require_no_missing(y.reshape(len(y), -1) if y.ndim > 1 else y)
        y = _numbers_where_they_are(y)
    return y


def first_label(y: Any) -> Any:
    """Some label of Y where there is one, else None."""
    if is_sparse(y) or getattr(y, "ndim", 1) != 1:
        return None
    for one in y:
        if not _is_list_of_labels(one):
            return one
        for label in one:
            return label
    return None


def _are_lists(y: Any) -> bool:
    return getattr(y, "ndim", 1) == 1 and len(y) > 0 and all(_is_list_of_labels(one) for one in y)


def targets_of(y: Any, known: Optional[np.ndarray] = None, unseen: bool = False) -> Targets:
    """Encodes Y. `known`: the classes there are; without, they are found in Y. `unseen`: others may be there, for
    measures, which count them as missed.

    Raises InputError, a ValueError, for what is none of the forms that ``Classifier.fit`` names.
    """
    names = label_names_of(y)
    if names is not None:
        return _with_names(_of_columns(_plain_labels(y)), names, known, unseen)
    y = _plain_labels(y)
    if is_sparse(y):
        return _of_columns(y)
    if _are_lists(y):
        return _of_lists(list(y), known, unseen)
    if isinstance(y, (list, tuple)):
        _require_no_missing(y)
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] != 1:
        return _of_columns(array)
    from ._sklearn import assert_all_finite, column_or_1d

    array = column_or_1d(array, warn=True)
    if array.dtype.kind == "f":
        assert_all_finite(array, input_name="y")
    return _of_single(array, known, unseen)


def require_labels(targets: Targets) -> None:
    """Raises InputError where there are samples, but none has a label."""
    if targets.samples > 0 and targets.rows[0][-1] == targets.rows[0][0]:
        raise InputError("labels: no training sample has a label; give 1 in its column, or its name, where a sample has one")


def check_known(what: str, targets: Targets, y: Any, known: int, stacklevel: int = 4) -> None:
    """Raises InputError where all labels are beyond the first `known` ones, and warns where most are."""
    ids = np.asarray(targets.rows[1])
    unknown = int(np.count_nonzero(ids >= known))
    if unknown and unknown == len(ids):
        raise InputError(f"{what}: none of its labels is one of those in y ({_shown(first_label(y))}); give labels as in y")
    if 2 * unknown > len(ids):
        warnings.warn(
            f"{what}: {unknown} of {len(ids)} labels are none of those in y, and count as missed", UserWarning,
            stacklevel=stacklevel)


def numbered(y: Any) -> Targets:
    """Labels that are numbers, as they are given: one a sample, lists, or a matrix with a column for each."""
    y = _plain_labels(y)
    if is_sparse(y):
        return _of_columns(y)
    if _are_lists(y):
        targets = _of_lists(list(y), None)
        if targets.found:
            raise InputError("labels: give numbers, or a matrix with a column for each label; names are not known here")
        return targets
    if isinstance(y, (list, tuple)):
        _require_no_missing(y)
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] != 1:
        return _of_columns(array)
    if array.ndim not in (1, 2):
        raise InputError(f"labels: want one or two dimensions, a row a sample; there are {array.ndim}")
    array = array.ravel()
    if array.size and array.dtype.kind not in "biuf":
        raise InputError("labels: give numbers, or a matrix with a column for each label; names are not known here")
    good = (array >= 0) & (array <= MOST_LABEL) & (array == np.floor(array)) if array.dtype.kind == "f" else (
        (array >= 0) & (array <= MOST_LABEL))
    if not np.all(good):
        row = int(np.argmin(good))
        raise InputError(f"labels: row {row} is {array[row]}; give whole numbers from 0 to {MOST_LABEL}")
    ids = array.astype(np.int64)
    columns = int(ids.max(initial=-1)) + 1
    return Targets((np.arange(len(ids) + 1), ids, None, columns), np.arange(columns), True)


def more_targets_of(y: Any, classes: np.ndarray, single: bool, more: Optional[np.ndarray] = None) -> Targets:
    """Encodes Y for a model with these classes. Others, those of `more` and then those of Y, join them at the end of
    `classes` of the result. Raises InputError where Y has another form than before."""
    if classes.dtype.kind == "i" and not single:
        targets = numbered(y)
        columns = max(len(classes), targets.rows[3], 0 if more is None else len(more))
        targets.rows = (*targets.rows[:3], columns)
        targets.classes = np.arange(columns)
    else:
        found = targets_of(y)
        if getattr(y, "ndim", 1) == 2 and found.classes.dtype.kind == "i" and len(found.classes) == len(classes):
            found.classes = classes  # a column for each, in their order
        known = set(classes.tolist())
        others = [] if more is None else [one for one in more.tolist() if one not in known]
        known.update(others)
        others += [one for one in found.classes.tolist() if one not in known]
        if others and isinstance(others[0], str) != (classes.dtype.kind in "UO"):
            raise InputError(f"labels: {others[0]!r} has another type than the labels of the first call")
        if others:
            classes = np.concatenate([classes, np.array(others, dtype=object if classes.dtype.kind == "O" else None)])
        targets = targets_of(y, classes)
        targets.classes = classes
    if targets.single != single:
        raise InputError("labels: give them in the form of the first call")
    return targets


def whole(value: Any, what: str, least: int = 0, most: int = 2**31 - 1) -> int:
    """The argument `what` as a number from `least` to `most`. Raises InputError that names it."""
    number = integer(value, what)
    if not least <= number <= most:
        raise InputError(f"{what}: {_shown(value)}; give a whole number from {least} to {most}")
    return number


def number(value: Any, what: str) -> float:
    """The argument `what` as a float. Raises InputError that names it."""
    try:
        if isinstance(value, (str, bytes, bool, np.bool_)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{what}: {_shown(value)}; give a number") from None


def integer(value: Any, what: str) -> int:
    """The argument `what` as an integer, whose range the engine checks. Raises InputError that names it."""
    try:
        return operator.index(value)
    except TypeError:
        raise InputError(f"{what}: {_shown(value)}; give a whole number") from None


def ranks_of(k: Any) -> list[int]:
    """The ranks to measure at: several, or one."""
    try:
        ranks = [operator.index(k)] if not np.iterable(k) else [operator.index(one) for one in k]
    except TypeError:
        raise InputError(f"ranks: {_shown(k)}; give a whole number or several") from None
    if any(not 0 < rank < 2**32 for rank in ranks):
        raise InputError(f"ranks: {_shown(k)}; give whole numbers from 1")
    return ranks


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


_SEPARATED = re.compile(r"[^\s,;|]+([,;|])[^\s,;|]+(?:\1[^\s,;|]+)*")  # a,b or a;b;c


def warn_of_joined(classes: np.ndarray, y: Any, stacklevel: int = 3) -> None:
    """Warns where a tenth of the first names, one a sample, look like several with a separator, which stay one label."""
    if classes.dtype.kind not in "OU" or is_sparse(y) or getattr(y, "ndim", 1) != 1:
        return
    first = [name for name in list(y[:1000]) if isinstance(name, str)]
    joined = [(name, found[1]) for name in first if (found := _SEPARATED.fullmatch(name.strip()))]
    if not joined or 10 * len(joined) < len(first):
        return
    name, separator = joined[0]
    warnings.warn(
        f"labels: {_shown(name)} looks like several labels parted by {separator!r} and is read as one; give a list of "
        f"labels for each sample, as [name.split({separator!r}) for name in y]", UserWarning, stacklevel=stacklevel)


def warn_of_gaps(targets: Targets, y: Any, known: int = 0, stacklevel: int = 3) -> None:
    """Warns where labels are numbers with such gaps that most of them cannot occur. `known`: labels that were there before."""
    if is_sparse(y) or getattr(y, "ndim", 1) != 1 or targets.classes.dtype.kind != "i" or targets.rows[3] <= known:
        return
    gaps = _slide.label_gaps(targets.rows[3], len(targets.rows[1]))
    if gaps:
        warnings.warn(f"labels: {gaps}", UserWarning, stacklevel=stacklevel)


_FIRST = 1000  # rows by which X and y are told apart


def _words_a_text(texts: list) -> float:
    return sum(len(text.split()) for text in texts) / len(texts)


def warn_of_swapped(x: Any, y: Any, stacklevel: int = 3) -> None:
    """Warns where X looks like labels, short and at most half of them distinct, and y like texts, each once; raises InputError
    where X is lists of names and y texts, which nothing takes."""
    if is_sparse(y) or getattr(y, "ndim", 1) != 1 or not hasattr(y, "__len__") or isinstance(y, (str, bytes, dict)):
        return
    texts = list(y[:_FIRST]) if hasattr(y, "__getitem__") else []
    if not texts or not all(isinstance(text, str) for text in texts):
        return
    x = one_text_column(apart(x)[0])
    if isinstance(x, (list, tuple)) and _are_lists(x) and all(isinstance(name, str) for one in x[:_FIRST] for name in one):
        raise InputError("X is lists of names and y is texts: fit takes texts first, fit(texts, labels)")
    if len(texts) < 3 or not are_texts(x):
        return
    labels = list(x[:_FIRST])
    long = _words_a_text(texts)
    if len(set(texts)) < len(texts) or 2 * len(set(labels)) > len(labels) or long < 2 or not _words_a_text(labels) < min(long, 5):
        return
    warnings.warn(
        f"X looks like labels ({_shown(labels[0])}) and y like texts ({_shown(texts[0])}), each of which is read as a label; "
        "fit takes texts first, fit(texts, labels)", UserWarning, stacklevel=stacklevel)


def learnt_data_of(texts: Any, targets: Targets, source: "_slide.Config | _slide.Model") -> _slide.Data:
    """Texts for the engine, which learns a vocabulary from them, or more words for that of a model. Where the classes
    were found they get the order that those of a file would have."""
    _check_samples(len(texts), targets, "texts")
    names = tuple(str(name) for name in targets.classes)
    try:
        if isinstance(source, _slide.Model):
            return _slide.learn_more_texts(tuple(texts), targets.rows, names, source)
        data = _slide.learn_texts(tuple(texts), targets.rows, names, source, not targets.found)
    except UnicodeEncodeError:
        raise (_utf8_fault(texts, "X") or _utf8_fault(names, "labels")) from None
    if targets.found:
        targets.classes = np.array(data.label_names(), dtype=object)
    return data


def text_data_of(texts: Any, model: "_slide.Model | _slide.Data", targets: Optional[Targets] = None) -> _slide.Data:
    """Texts, and labels of the model's numbers where there are some, for a model that was trained on text, or that is
    to be trained on such data."""
    _check_samples(len(texts), targets, "texts")
    try:
        return _slide.from_texts(tuple(texts), model, None if targets is None else targets.rows)
    except UnicodeEncodeError:
        raise _utf8_fault(texts, "X") from None


def numbers_of_weights(sample_weight: Any) -> np.ndarray:
    """Weights of samples as an array of numbers. Raises InputError."""
    try:
        array = np.asarray(sample_weight)
        return array if array.dtype.kind in "biuf" else array.astype(np.float64)
    except (TypeError, ValueError) as fault:
        raise InputError(f"sample_weight: {fault}; give a number for each sample") from None


def weighted(data: _slide.Data, weights: Any) -> _slide.Data:
    """The samples with weights, [n]; None leaves them as they are."""
    if weights is None:
        return data
    array = numbers_of_weights(weights)
    if array.ndim == 0:
        array = np.full(data.samples, array)
    if array.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar: there are {array.ndim} dimensions")
    return data.weighted(array)


def weights_of(sample_weight: Any, samples: int) -> np.ndarray:
    """Weights of samples for a mean, [samples] of float64. Raises InputError."""
    weights = numbers_of_weights(sample_weight).astype(np.float64)
    if weights.ndim == 0:
        weights = np.full(samples, weights)
    if weights.shape != (samples,):
        raise InputError(f"sample_weight: there are {weights.shape} weights for {samples} samples; give one for each")
    if not np.isfinite(weights).all() or (weights < 0).any() or weights.sum() == 0:
        raise InputError("sample_weight: give finite numbers from 0, of which some are above")
    return weights


def hits_of(ids: np.ndarray, targets: Targets) -> np.ndarray:
    """Whether predicted labels, [n, k] where less than 0 is none, are among those of the targets: bool [n, k]."""
    from scipy.sparse import csr_matrix

    offsets, labels, _, columns = targets.rows
    shape = (targets.samples, max(columns, int(ids.max(initial=-1)) + 1))
    truth = csr_matrix((np.ones(len(labels), np.int32), labels, offsets), shape=shape)
    found = np.asarray(truth[np.arange(len(ids))[:, None], np.maximum(ids, 0)].todense())
    return (found > 0) & (ids >= 0)


def _texts_of(values: Any, what: str) -> list[str]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{what}: want one for each sample, in one dimension; there are {array.ndim}")
    if array.dtype.kind in "OfMm":
        missing = next((row for row, one in enumerate(array) if is_missing(one)), None)
        if missing is not None:
            raise InputError(f"{what}: row {missing} is missing ({_shown(array[missing])}); give one for each sample")
    texts = (array.astype(str) if array.dtype.kind == "M" else array).astype(object).astype(str).tolist()
    fault = _utf8_fault(texts, what) if array.dtype.kind in "OU" else None
    if fault is not None:
        raise fault
    return texts


def keyed(data: _slide.Data, groups: Any, times: Any) -> _slide.Data:
    """The samples with groups and times, [n] each, by which some are held out; None leaves them as they are."""
    if groups is not None:
        data = data.grouped(_texts_of(groups, "groups"))
    return data if times is None else data.timed(_texts_of(times, "times"))
