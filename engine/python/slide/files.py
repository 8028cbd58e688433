"""Data files as SciPy's matrices, and back."""

from __future__ import annotations

import os
import warnings
from inspect import signature
from typing import Any, Optional

import numpy as np

from . import _slide
from ._inputs import apart, csr_of, data_of, numbered, told
from ._keys import config_of
from ._parameters import refuse_arguments, refuse_files
from .model import Model, left_out_line

_INT32 = np.iinfo(np.int32).max


def _matrix(offsets: np.ndarray, ids: np.ndarray, values: np.ndarray, columns: int) -> Any:
    from scipy.sparse import csr_matrix

    kind = np.int32 if max(len(ids), columns) <= _INT32 else np.int64
    return csr_matrix((values, ids.astype(kind, copy=False), offsets.astype(kind)), (len(offsets) - 1, columns))


def read(
    path: "str | os.PathLike[str]",
    *,
    model: Optional[Model] = None,
    names: bool = False,
    known: "Optional[str | os.PathLike[str]]" = None,
    **keys: Any,
) -> tuple:
    """Reads a data file of any format that ``slide train`` takes: XMC text, libsvm, labelled text, a pair of .npz files
    (named by its features), IDX images, each of them packed with gzip or not.

    Returns X, features [n, features] of float32, and Y, labels [n, labels] of 0 and 1 as int8, both CSR; of a matrix
    ``X.npy`` X is an array, of ``X.npy+SAMPLES``, and of JSON lines with a column of numbers (``data__dense``), the pair
    of both, as ``Classifier.fit`` takes it. Values are as they stand in the file, unless ``data__normalize=True`` is
    among the keys, as ``data__one_based=True`` or ``data__format="libsvm"`` can be.

    From labelled text a vocabulary is learnt by the keys of ``text``, ``text__min_count=2``; with `model` the text is read
    with that of the model, and its labels get the model's numbers. names: return X, Y, feature names and label names,
    object arrays, None of data that are no text. ``fit(X, Y)`` takes the columns of Y by number; for classes by name give
    ``[label_names[row.indices].tolist() for row in Y]``.

    known: with a model of interactions, the log of what users have. Then a row is a user of the log at `path`, in the order
    of their names; X is what the user has, and Y what else is at `path`, as ``slide test`` reads it.

    Raises InputError with file, line and column of what is wrong. What is read and probably not meant so, labels that are
    not parted for one, is a UserWarning.
    """
    if model is not None:
        if keys:
            raise _slide.InputError(f"{next(iter(keys))}: the model says how its data are read; leave it out")
        if known is not None:
            data = model._known_users(known).held_out(os.fspath(path))
        else:
            data = _slide.read_for(os.fspath(path), model._engine)
        told(data)
        if data.unknown_features and not data.is_text:
            warnings.warn(left_out_line(data.unknown_features), stacklevel=2)
    elif known is not None:
        raise _slide.InputError("known: give a model of interactions, too")
    else:
        refuse_arguments("read", keys, signature(read).parameters)
        refuse_files(keys)
        config = config_of(None, {"data__normalize": False, **keys})
        data = _slide.Data.read(os.fspath(path), config)
        told(data)
    offsets, ids, values = data.feature_rows()
    label_offsets, labels = data.label_rows()
    columns = data.features - data.dense_columns
    if columns == 0 and data.dense_columns:
        x = data.dense_rows()
    else:
        x = _matrix(offsets, ids, values, columns)
        x = (x, data.dense_rows()) if data.dense_columns else x
    y = _matrix(label_offsets, labels, np.ones(len(labels), np.int8), data.labels)
    if not names:
        return x, y
    if not data.is_text:
        return x, y, None, None
    return x, y, np.array(data.feature_names(), dtype=object), np.array(data.label_names(), dtype=object)


def write(path: "str | os.PathLike[str]", X: Any, Y: Any = None, *, format: Optional[str] = None) -> None:
    """Writes samples to a file, which gets its name when it is whole.

    X: features as a sparse matrix or a dense array [n, features]. Y: labels as a sparse matrix or an array of 0 and 1
    [n, labels], as n lists of numbers, or as n numbers, one a sample, all written as they are given; without, the samples
    have none. format: ``"xmc"``, ``"libsvm"``, ``"fasttext"``,
    ``"tsv"`` or ``"npz"``, else as the name ends: .xmc or .txt, .libsvm or .svm, .ft, .tsv, .npz. The labels of X.npz go
    into a file beside it, X....npz into Y....npz, or are named as ``"FEATURES.npz,LABELS.npz"``. Values read back to the
    same float32, but from text, where feature i is the word ``fi``, as often as a count says.

    Raises InputError for matrices at fault and a format that is not known, Error when the file cannot be written.
    """
    if apart(X)[1] is not None:
        raise _slide.InputError("X: dense columns beside sparse features are not written; save them by numpy.save")
    data_of(csr_of(X), None if Y is None else numbered(Y)).write(os.fspath(path), format or "")
