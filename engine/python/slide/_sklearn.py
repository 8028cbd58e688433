"""What the package takes from scikit-learn, and small stand-ins where that is not installed.

With the stand-ins a Classifier fits, predicts, scores, saves and loads; scikit-learn's own tools are not there to use it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._slide import InputError

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, clone
    from sklearn.utils import check_array, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import assert_all_finite, check_is_fitted
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.split(".")[0] != "sklearn":
        raise  # a damaged installation

    class BaseEstimator:  # type: ignore[no-redef]
        def __repr__(self) -> str:
            given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items() if value is not None)
            return f"{type(self).__name__}({given})"

    class ClassifierMixin:  # type: ignore[no-redef]
        pass

    def clone(estimator: Any) -> Any:
        return type(estimator)(**estimator.get_params())

    def assert_all_finite(x: Any, *, input_name: str = "X") -> None:
        if np.asarray(x).dtype.kind == "f" and not np.isfinite(x).all():
            raise InputError(f"Input {input_name} contains NaN, infinity or a value too large for {x.dtype!r}.")

    def check_array(x: Any, *, dtype: Any, ensure_min_samples: int = 1, estimator: str = "") -> np.ndarray:
        try:
            array = np.asarray(x, dtype=dtype)
        except (TypeError, ValueError) as failure:
            raise InputError(f"X: features are numbers ({failure})") from failure
        if array.ndim != 2:
            raise InputError(f"Expected 2D array, got {array.ndim}D array instead; a row is a sample")
        assert_all_finite(array)
        return array

    def column_or_1d(y: Any, *, warn: bool = False) -> np.ndarray:
        array = np.asarray(y)
        if array.ndim != 1 and (array.ndim != 2 or array.shape[1] != 1):
            raise InputError(f"y should be a 1d array, got an array of shape {array.shape} instead.")
        return array.ravel()

    def check_classification_targets(y: np.ndarray) -> None:
        if y.dtype.kind == "f" and not np.array_equal(y, np.floor(y)):
            raise InputError("Unknown label type: continuous. Labels are classes, not numbers between them.")

    def check_is_fitted(estimator: Any, attribute: str) -> None:
        if not hasattr(estimator, attribute):
            raise InputError(f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' first.")


__all__ = [
    "BaseEstimator", "ClassifierMixin", "assert_all_finite", "check_array", "check_classification_targets",
    "check_is_fitted", "clone", "column_or_1d",
]
