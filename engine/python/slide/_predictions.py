"""What a fitted Classifier predicts."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _slide
from ._inputs import (
    Targets,
    apart,
    are_texts,
    beside,
    csr_of_ids,
    data_of,
    feature_names,
    features_for,
    hits_of,
    integer,
    label_names_of,
    numbered,
    one_text_column,
    ranks_of,
    require_rows,
    targets_of,
    text_data_of,
    told,
    weights_of,
    whole,
)
from ._parameters import cut_of, proba_k_of, tell_once
from ._sklearn import check_is_fitted
from ._shown import Explanation
from ._slide import InputError
from .model import Model


class Predictions:
    """The methods of a Classifier that predict and measure, after fit."""

    model_: Model
    classes_: np.ndarray
    threshold: "float | int | str | None"
    proba_k: "int | str | None" = None  # of pickles from before it was a parameter
    n_features_in_: int
    feature_names_in_: np.ndarray
    _single: bool
    _text: bool
    _threads: int

    def _data(self, x: Any, targets: Optional[Targets] = None) -> _slide.Data:
        check_is_fitted(self, "model_")
        x, columns = apart(x)
        x = one_text_column(x) if self._text else x
        if self._text and isinstance(x, (list, tuple, np.ndarray)) and len(x) == 0:
            raise InputError("X is empty; give a list of one text or more")
        if self._text != are_texts(x):
            if self._text and isinstance(x, (list, tuple)):
                require_rows(x)
            was, want = ("texts", "a list of texts") if self._text else ("features", "a matrix of features")
            raise InputError(f"Classifier was fitted on {was}; give {want}")
        if self._text:
            return beside(told(text_data_of(x, self.model_._engine, targets), stacklevel=5), columns)
        features = features_for(self.model_._engine, x, columns)
        if features.shape[0] == 0:
            raise InputError(f"Found array with 0 sample(s) (shape={features.shape}) while a minimum of 1 is required.")
        if features.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {features.shape[1]} features, but Classifier is expecting {self.n_features_in_} features as input"
            )
        names = feature_names(x)
        if names is not None and hasattr(self, "feature_names_in_") and not np.array_equal(names, self.feature_names_in_):
            raise InputError("The feature names should match those that were passed during fit.")
        return beside(data_of(features, targets), columns)

    def _best(
        self, x: Any, k: Optional[int], logits: bool = False, threshold: Optional[float] = None, **how: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        return self.model_._predict(self._data(x), k, threshold, logits=logits, threads=self._threads, **how)

    def predict(self, X: Any, k: Optional[int] = None, threshold: "float | int | str | None" = None) -> Any:
        """The labels of each sample: an indicator matrix, CSR [n, labels] of 0 and 1 as int8 with a column for each of
        ``classes_``, of the labels that ``threshold`` of the Classifier asks for, or the `threshold` given here; without
        both those with a probability of 0.5 or more, often none: ``top_k`` gives the best ones in order.

        Fitted with one class a sample, without a threshold: the class of each, [n].
        k: what ``top_k`` gives; call that.
        """
        check_is_fitted(self, "model_")
        if k is not None:
            tell_once("Classifier.predict(X, k) is now called top_k(X, k); predict gives an indicator matrix")
            return self.top_k(X, k, threshold)
        if threshold is None and self._single:
            return self.classes_[self._best(X, 1)[0][:, 0]]
        cut = cut_of(self.threshold if threshold is None else threshold, getattr(self, "threshold_", None))
        matrix = self._scores(X, cut.k, False, cut.probability)
        matrix.data = np.ones(matrix.nnz, np.int8)
        return matrix

    def top_k(
        self, X: Any, k: Optional[int] = None, threshold: Optional[float] = None, *, return_scores: bool = False
    ) -> Any:
        """The best `k` labels of each sample, best first, as they stand in ``classes_``: [n, k], without k 5 of them, or
        with a threshold alone all whose probability reaches it. Where there are less, numbers end in -1 and names in None.

        return_scores: returns (labels, probabilities [n, k] of float32, 0 where there are less).
        """
        ids, scores = self._best(X, k, threshold=threshold)
        labels = self.classes_[ids]
        missing = ids < 0
        if missing.any():
            if labels.dtype.kind not in "iO":
                labels = labels.astype(object)
            labels[missing] = -1 if labels.dtype.kind == "i" else None
        return (labels, scores) if return_scores else labels

    def explain(self, X: Any, k: int = 3, *, features: int = 10) -> "Explanation | list[Explanation]":
        """Why samples have their best labels: the features that raise the score of each most, as ``Model.explain``.

        X: as in ``predict``, or one text. k: labels a sample. features: at most so many for a label. Labels stand as in
        ``classes_``, features as words of texts, names of a data frame's columns, or numbers of columns.
        """
        check_is_fitted(self, "model_")
        one = isinstance(X, str)
        if isinstance(X, (list, tuple)) and len(X) == 0:
            return []
        columns = getattr(self, "feature_names_in_", ())
        name_of = self.model_.feature_name if self._text else (lambda at: columns[at] if at < len(columns) else at)
        explanations = self.model_._explanations(
            self._data([X] if one else X), k, features, lambda ids: self.classes_[ids], name_of, threads=self._threads)
        return explanations[0] if one else explanations

    def _scores(self, x: Any, k: Optional[int], logits: bool, threshold: Optional[float] = None) -> Any:
        """CSR [n, labels] of float32 with min(k, labels) entries a row, fewer where fewer are found, ids ascending."""
        ids, scores = self._best(x, None if k is None else min(integer(k, "k"), self.model_.labels), logits, threshold)
        return csr_of_ids(ids, scores, len(self.classes_))

    def _dense(self, x: Any, logits: bool) -> np.ndarray:
        """Scores of all labels, [n, labels], of those too that ``eval__inference="lsh"`` would not score."""
        ids, scores = self._best(x, self.model_.labels, logits, inference="full")
        dense = np.zeros(ids.shape, np.float64)
        np.put_along_axis(dense, ids, scores.astype(np.float64), axis=1)
        return dense[:, : len(self.classes_)]

    def predict_proba(self, X: Any, k: Optional[int] = None, threshold: Optional[float] = None) -> Any:
        """Probabilities of the best `k` labels as a CSR matrix [n, labels] with k entries a row; with a threshold alone
        of all that reach it; without both of as many as ``proba_k`` of the Classifier says, 5 unless set.

        Labels without an entry count as 0 in metrics of scikit-learn. For those that rank all labels, as average
        precision and ROC AUC, take ``decision_function``, or ``proba_k="all"``.

        With the loss of one against all, the default, they are those of each label alone. Fitted with one class a
        sample and without k: a dense array [n, classes] whose rows are divided by their sum.
        """
        check_is_fitted(self, "model_")
        if k is None and threshold is None and not self._single:
            k = proba_k_of(self.proba_k, self.model_.labels)
        if k is not None or threshold is not None:
            return self._scores(X, k, False, threshold)
        dense = self._dense(X, False)
        return dense / np.maximum(dense.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)

    def decision_function(self, X: Any, k: Optional[int] = None) -> Any:
        """Scores of the output neurons: a CSR matrix [n, labels] of the best `k`, or without k a dense array
        [n, labels] of all, whatever ``eval__inference`` is and whether the labels of fit were a sparse matrix. Fitted with two classes and without k: the log of the ratio of their probabilities,
        positive where the second is ahead, [n]."""
        check_is_fitted(self, "model_")
        if k is not None:
            return self._scores(X, k, True)
        if not self._single or len(self.classes_) != 2:
            return self._dense(X, True)
        logs = np.log(np.maximum(self._dense(X, False), np.finfo(np.float64).tiny))
        return logs[:, 1] - logs[:, 0]

    def score(self, X: Any, y: Any, k: int = 1, *, sample_weight: Any = None) -> float:
        """Mean precision at `k`: the share of the best k labels that are right. With one class a sample and k = 1 it is
        the accuracy. Labels that are not in ``classes_`` count as missed; a matrix has a column for each of these. sample_weight: [n], for a weighted mean."""
        check_is_fitted(self, "model_")
        targets, k = self._known(y, unseen=True), whole(k, "k", 1)
        columns = y.shape[1] if getattr(y, "ndim", 1) == 2 and not self._single and label_names_of(y) is None else len(self.classes_)
        if columns != len(self.classes_):
            raise InputError(
                f"labels: y has {columns} columns, but Classifier has {len(self.classes_)} classes; give a column for each of classes_"
            )
        data = self._data(X, targets)
        if sample_weight is None:
            return _slide.evaluate(self.model_._engine, data, ranks_of(k), self._threads)[f"p_at_{k}"]
        weights = weights_of(sample_weight, targets.samples)
        ids, _ = self.model_._predict(data, k, threads=self._threads)
        return float(np.average(hits_of(ids, targets).sum(axis=1) / k, weights=weights))

    def _known(self, y: Any, unseen: bool = False) -> Targets:
        by_number = self.classes_.dtype.kind == "i" and not self._single
        if by_number and unseen:
            return numbered(y)
        return targets_of(y, None if by_number and hasattr(y, "shape") else self.classes_, unseen)
