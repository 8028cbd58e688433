"""The estimator for scikit-learn."""

from __future__ import annotations

import os
import pickle
import tempfile
from typing import Any, Callable, Optional

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from . import _slide
from ._inputs import (
    Targets,
    are_texts,
    data_of,
    feature_names,
    features_for,
    features_of,
    keyed,
    learnt_data_of,
    numbered,
    targets_of,
    text_data_of,
    weighted,
)
from ._keys import config_of, is_key, value_in
from ._progress import Course, Report, figure_of, new_history
from ._slide import InputError
from .model import NO_LABEL, Model

_FORMAT = 2  # of the files that save() writes


def _classes_of(classes: Any) -> np.ndarray:
    if isinstance(classes, (int, np.integer)):
        return np.arange(classes)
    return np.array(sorted(set(classes)), dtype=object) if _are_names(classes) else np.unique(np.asarray(classes))


def _are_names(classes: Any) -> bool:
    return not isinstance(classes, np.ndarray) and all(isinstance(name, str) for name in classes)


class Classifier(ClassifierMixin, BaseEstimator):
    """A network with very many outputs as a scikit-learn estimator.

    Parameters are keys of the engine's configuration, dots written as two underscores or as nested dicts, beside
    those named here: ``Classifier(train__epochs=3)``, ``Classifier(train={"epochs": 3})``,
    ``Classifier(**{"layer__-1__uniform": 512})``; a list of dicts, ``layer=[{"size": 64}, {"uniform": 512}]``, takes the
    place of all layers. ``slide config --doc`` lists them.

    config: a TOML file to begin with instead of the defaults.
    validation: share of the samples that is held out. After each epoch the network is measured on them, the best
        one is kept, and training ends after ``train__patience`` epochs without a better one (3 unless set).
    verbose: show a bar while training, where tqdm is installed.
    on_step, on_epoch: called with a dict after each step (``epoch``, ``step``, ``total_steps``, ``samples``,
        ``loss``, ``seconds``) and each epoch (``epoch``, ``step``, ``loss``, ``train_seconds``,
        ``samples_per_second``). An on_step that returns False ends training, and the model stays as it is then.

    **What is copied.** Of a CSR matrix of float32 with indices of int32 the engine uses ids and values where they
    are, and copies the row offsets; with indices of int64 it copies the ids instead. Rows whose ids do not ascend
    are sorted in a copy. An array of float32 of which more than half is not 0 is used where it is, as dense features: they
    are multiplied as a matrix, and have no wide path. Other types are converted once, for the time of the call: an array
    with more zeros or another sparse format into CSR, other numbers into float32. With ``data__normalize``, the default, values are scaled to unit
    length in a copy of 4 bytes an entry.

    **Ctrl-C** ends training after a step: the model so far is kept, and KeyboardInterrupt raised.

    After fit: ``classes_`` [labels], by column; ``model_``, the Model; ``n_features_in_``, but not of texts;
    ``feature_names_in_`` where X was a data frame; ``history``, how training went.

    Errors are InputError, a ValueError, for parameters and data, and Error for all else, with the engine's line.
    """

    _FIXED = ("config", "validation", "verbose", "on_step", "on_epoch")

    def __init__(
        self,
        *,
        config: "str | os.PathLike[str] | None" = None,
        validation: float = 0.0,
        verbose: bool = True,
        on_step: Optional[Callable[[Report], Any]] = None,
        on_epoch: Optional[Callable[[Report], Any]] = None,
        **keys: Any,
    ):
        self.config = config
        self.validation = validation
        self.verbose = verbose
        self.on_step = on_step
        self.on_epoch = on_epoch
        self._take_keys(keys)

    # ---- parameters ----

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(cls._FIXED)

    def _take_keys(self, keys: dict[str, Any]) -> None:
        for name, value in keys.items():
            if not is_key(name):
                raise InputError(f"Invalid parameter {name!r} for estimator Classifier; see `slide config --doc`")
            setattr(self, name, value)

    def _keys(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in self._FIXED and is_key(name)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters that were given, and the named ones."""
        return {**{name: getattr(self, name) for name in self._FIXED}, **self._keys()}

    def set_params(self, **params: Any) -> "Classifier":
        """Changes parameters. A key that was not set before counts from now on; None takes it back."""
        named = {name: value for name, value in params.items() if name in self._FIXED}
        self._take_keys({name: value for name, value in params.items() if name not in named})
        for name, value in named.items():
            setattr(self, name, value)
        return self

    def _configuration(self) -> _slide.Config:
        more = []
        keys = self._keys()
        if self.validation:
            keys.setdefault("train__patience", 3)
            more.append(f"data.validation={float(self.validation)!r}")
        return config_of(None if self.config is None else os.fspath(self.config), keys, more)

    def _more_tags(self) -> dict[str, Any]:
        return {"X_types": ["2darray", "sparse"], "requires_y": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ---- training ----

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, times: Any = None
    ) -> "Classifier":
        """Trains a new model.

        X: features as a CSR matrix, another sparse matrix, or a dense array, [n, features]; or n texts, from which words
            and their weights are learnt as the keys of ``text`` say.
        y: labels, in one of these forms:
            a CSR matrix or an array of 0 and 1, [n, labels]: what is not 0 is a label;
            n lists of labels, all of them numbers from 0 or all of them names; lists of 0 and 1 alone are rows of such an
            array as soon as one has a number twice, and sets are always labels;
            n classes, one a sample, as any classifier of scikit-learn takes them.

        The last form makes ``predict``, ``predict_proba`` and ``score`` behave as those of other classifiers.
        sample_weight: [n], what the gradients of each sample are multiplied with, over the mean of all. Samples of
            weight 0 are left out. The loss of ``history`` takes no notice of weights.
        groups: [n], with ``validation``: samples of one value are held out all or not at all.
        times: [n], numbers, dates or texts that sort by time, with ``validation``: the latest samples are held out.
            ``data__time="order"`` holds out the last rows.

        Samples without labels are left out. Names of labels of texts stand in ``classes_`` by falling frequency, those
        of ``text__min_label_count`` samples or more. The same arrays or texts give the model that ``slide train`` makes of the same
        file and configuration, to the bit.

        Raises InputError, which is a ValueError, for parameters and data at fault.
        """
        config = self._configuration()
        data = self._take(X, targets_of(y), config, sample_weight, groups, times)
        self._run(lambda course: self._train(config, data, course))
        return self

    def _take(
        self, x: Any, targets: Targets, config: _slide.Config, weights: Any, groups: Any = None, times: Any = None
    ) -> _slide.Data:
        """The samples of a first fit, and all that it knows of them."""
        texts = are_texts(x)
        if texts:
            data, columns = learnt_data_of(x, targets, config), None
        else:
            features = features_of(x)
            if features.shape[0] == 0 or features.shape[1] == 0:
                kind, dimension = ("sample", 0) if features.shape[0] == 0 else ("feature", 1)
                raise InputError(
                    f"Found array with {features.shape[dimension]} {kind}(s) (shape={features.shape}) while a minimum of "
                    "1 is required."
                )
            data, columns = data_of(features, targets), features.shape[1]
        data = weighted(keyed(data, groups, times), weights)
        self._text = texts
        self._keep("n_features_in_", columns)
        self._keep("feature_names_in_", None if texts else feature_names(x))
        self._take_targets(targets)
        self._threads = int(value_in(config.to_toml(), "train", "threads"))
        self._history = new_history()
        return data

    def _keep(self, name: str, value: Any) -> None:
        """Sets an attribute; None takes it away."""
        if value is not None:
            setattr(self, name, value)
        elif hasattr(self, name):
            delattr(self, name)

    def _take_targets(self, targets: Targets) -> None:
        self.classes_ = targets.classes
        self._single = targets.single

    def _train(self, config: _slide.Config, data: _slide.Data, course: Course) -> tuple:
        if not self.validation:
            return _slide.train(config, data, None, course.step, course.interval, course.epoch, None, "")
        with tempfile.TemporaryDirectory() as folder:
            best = os.path.join(folder, "best.slide")
            engine, interrupt = _slide.train(
                config, data, None, course.step, course.interval, course.epoch, course.evaluation, best
            )
            if interrupt is None and os.path.exists(best):
                engine = _slide.Model.load(best, True)
            return engine, interrupt

    def _run(self, train: Callable[[Course], tuple]) -> None:
        """Keeps the model that `train` makes; what stopped it is raised then."""
        course = Course(self.verbose, self.on_step, self.on_epoch, self._history)
        try:
            engine, interrupt = train(course)
        finally:
            course.close()
        self.model_ = Model(engine)
        if interrupt is not None:
            raise interrupt

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, epochs: int = 1, sample_weight: Any = None
    ) -> "Classifier":
        """Continues the current model on new samples, `epochs` times; without a model, trains from the beginning.

        X, y, sample_weight: as in ``fit``, X with the same number of features, or texts with the words of the first call,
            y with labels that are known already; weights count over their mean in this call.
        classes: for the first call, all labels there will be: classes or names; or where labels are numbers, how many
            there are. Not needed where y is a matrix.

        Parameters that were changed since the first call count from the next ``fit`` on, but for the callbacks. The
        learning rate follows its schedule in each call; adagrad and adam keep their state.
        With ``neighbours__share`` the kNN index contains the samples of all calls, so that the model grows with them; so does
        the linear term, by features that are new for a label.

        Raises InputError, which is a ValueError, for data at fault.
        """
        if not hasattr(self, "model_"):
            return self._begin(X, y, classes, epochs, sample_weight)
        if classes is not None and not np.array_equal(_classes_of(classes), self.classes_):
            raise InputError("classes are not those of the first call to partial_fit")
        targets = self._known(y)
        if targets.single != self._single or targets.rows[3] > len(self.classes_):
            raise InputError("labels: give them in the form of the first call, with no more columns than it had")
        data = weighted(self._data(X, targets), sample_weight)
        self._run(lambda course: _slide.continue_training(
            self.model_._engine, data, epochs, course.step, course.interval, course.epoch))
        return self

    def _begin(self, x: Any, y: Any, classes: Any, epochs: int, weights: Any) -> "Classifier":
        first = clone(self).set_params(validation=0.0, train__epochs=epochs)
        config = first._configuration()
        targets = targets_of(y, None if classes is None else _classes_of(classes))
        data = self._take(x, targets, config, weights)
        self._run(lambda course: first._train(config, data, course))
        return self

    @property
    def history(self) -> dict[str, list]:
        """How training went, by epoch: ``epoch``, ``step``, ``loss``, ``train_seconds``, ``samples_per_second``; with
        ``validation``, ``evaluations`` holds a dict of measures for each."""
        check_is_fitted(self, "model_")
        return self._history

    def plot_history(self) -> Any:
        """The learning curve as a matplotlib figure. Raises ImportError without matplotlib."""
        return figure_of(self.history)

    # ---- predictions ----

    def _data(self, x: Any, targets: Optional[Targets] = None) -> _slide.Data:
        check_is_fitted(self, "model_")
        if self._text != are_texts(x):
            was, want = ("texts", "a list of texts") if self._text else ("features", "a matrix of features")
            raise InputError(f"Classifier was fitted on {was}; give {want}")
        if self._text:
            return text_data_of(x, self.model_._engine, targets)
        features = features_for(self.model_._engine, x)
        if features.shape[0] == 0:
            raise InputError(f"Found array with 0 sample(s) (shape={features.shape}) while a minimum of 1 is required.")
        if features.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {features.shape[1]} features, but Classifier is expecting {self.n_features_in_} features as input"
            )
        names = feature_names(x)
        if names is not None and hasattr(self, "feature_names_in_") and not np.array_equal(names, self.feature_names_in_):
            raise InputError("The feature names should match those that were passed during fit.")
        return data_of(features, targets)

    def _best(
        self, x: Any, k: Optional[int], logits: bool = False, threshold: Optional[float] = None
    ) -> tuple[np.ndarray, np.ndarray]:
        return self.model_._predict(self._data(x), k, threshold, logits=logits, threads=self._threads)

    def predict(self, X: Any, k: Optional[int] = None, threshold: Optional[float] = None) -> np.ndarray:
        """The best `k` labels of each sample, best first, as they stand in ``classes_``: [n, k], without k 5 of them, or
        with a threshold alone all whose probability reaches it. Where there are less, numbers end in -1 and names in None.

        Fitted with one class a sample, without k and threshold: the best class of each, [n].
        """
        check_is_fitted(self, "model_")
        if k is None and threshold is None and self._single:
            return self.classes_[self._best(X, 1)[0][:, 0]]
        ids, _ = self._best(X, k, threshold=threshold)
        labels = self.classes_[ids]
        missing = ids < 0
        if missing.any():
            if labels.dtype.kind not in "iO":
                labels = labels.astype(object)
            labels[missing] = -1 if labels.dtype.kind == "i" else None
        return labels

    def _scores(self, x: Any, k: Optional[int], logits: bool, threshold: Optional[float] = None) -> Any:
        """CSR [n, labels] of float32 with min(k, labels) entries a row, fewer where fewer are found, ids ascending."""
        from scipy.sparse import csr_matrix

        ids, scores = self._best(x, None if k is None else min(k, self.model_.labels), logits, threshold)
        found = ids >= 0
        indptr = np.zeros(len(ids) + 1, np.int64)
        np.cumsum(found.sum(axis=1), out=indptr[1:])
        matrix = csr_matrix((scores[found], ids[found], indptr), shape=(len(ids), len(self.classes_)))
        matrix.sort_indices()
        return matrix

    def _dense(self, x: Any, logits: bool) -> np.ndarray:
        ids, scores = self._best(x, self.model_.labels, logits)
        dense = np.zeros(ids.shape, np.float64)
        np.put_along_axis(dense, ids, scores.astype(np.float64), axis=1)
        return dense[:, : len(self.classes_)]

    def predict_proba(self, X: Any, k: Optional[int] = None, threshold: Optional[float] = None) -> Any:
        """Probabilities of the best `k` labels as a CSR matrix [n, labels] with k entries a row; without k 5 of them, or
        with a threshold alone all that reach it.

        With the loss of one against all, the default, they are those of each label alone. Fitted with one class a
        sample and without k: a dense array [n, classes] whose rows are divided by their sum.
        """
        check_is_fitted(self, "model_")
        if k is not None or threshold is not None or not self._single:
            return self._scores(X, k, False, threshold)
        dense = self._dense(X, False)
        return dense / np.maximum(dense.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)

    def decision_function(self, X: Any, k: Optional[int] = None) -> Any:
        """Scores of the output neurons: a CSR matrix [n, labels] of the best `k`, or without k a dense array
        [n, labels] of all. Fitted with two classes and without k: the log of the ratio of their probabilities,
        positive where the second is ahead, [n]."""
        check_is_fitted(self, "model_")
        if k is not None:
            return self._scores(X, k, True)
        if not self._single or len(self.classes_) != 2:
            return self._dense(X, True)
        logs = np.log(np.maximum(self._dense(X, False), np.finfo(np.float64).tiny))
        return logs[:, 1] - logs[:, 0]

    def score(self, X: Any, y: Any, k: int = 1) -> float:
        """Mean precision at `k`: the share of the best k labels that are right. With one class a sample and k = 1 it is
        the accuracy. Labels that are not in ``classes_`` count as missed."""
        check_is_fitted(self, "model_")
        targets = self._known(y, unseen=True)
        return _slide.evaluate(self.model_._engine, self._data(X, targets), [k], self._threads)[f"p_at_{k}"]

    def _known(self, y: Any, unseen: bool = False) -> Targets:
        by_number = self.classes_.dtype.kind == "i" and not self._single
        if by_number and unseen:
            return numbered(y)
        return targets_of(y, None if by_number and hasattr(y, "shape") else self.classes_, unseen)

    # ---- files ----

    def save(self, path: "str | os.PathLike[str]", *, force: bool = False) -> None:
        """Writes the model file, for the command line, ``Model.load`` and ``Classifier.load``, and beside it
        ``PATH.classes``: the classes, parameters and history, without the callbacks. Raises InputError when a model lies at
        `path`, unless `force` replaces it, and Error when a file cannot be written."""
        check_is_fitted(self, "model_")
        self.model_.save(path, force=force)
        state = {name: value for name, value in vars(self).items() if name not in ("model_", "on_step", "on_epoch")}
        try:
            with open(os.fspath(path) + ".classes", "wb") as file:
                pickle.dump({"format": _FORMAT, "state": state}, file)
        except OSError as failure:
            raise _slide.Error(f"{failure.filename}: cannot be written ({failure.strerror})") from failure

    @classmethod
    def load(cls, path: "str | os.PathLike[str]") -> "Classifier":
        """Reads what ``save`` wrote. The file of classes is a pickle: load none from people you do not trust. Raises
        InputError when a file is missing or damaged."""
        model = Model._load_to_train(os.fspath(path))
        try:
            with open(os.fspath(path) + ".classes", "rb") as file:
                content = pickle.load(file)
            if content["format"] != _FORMAT:
                raise InputError(f"{file.name}: another version wrote it; fit again")
            state = content["state"]
        except OSError as failure:
            raise InputError(f"{failure.filename}: cannot be read ({failure.strerror})") from failure
        except (pickle.UnpicklingError, EOFError, AttributeError, KeyError, TypeError) as failure:
            raise InputError(f"{os.fspath(path)}.classes: is damaged; copy it again or fit again") from failure
        estimator = cls()
        vars(estimator).update(state)
        estimator.model_ = model
        return estimator
