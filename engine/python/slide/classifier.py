"""The estimator for scikit-learn."""

from __future__ import annotations

import os
import pickle
import tempfile
import warnings
from copy import deepcopy
from inspect import signature
from typing import Any, Callable, Optional

import numpy as np

from . import _slide
from ._inputs import (
    Targets,
    apart,
    are_texts,
    beside,
    check_known,
    csr_of,
    csr_of_ids,
    data_of,
    feature_names,
    features_for,
    features_of,
    keyed,
    learnt_data_of,
    more_targets_of,
    numbers_of_weights,
    one_text_column,
    require_labels,
    rows_of,
    targets_of,
    text_data_of,
    warn_of_gaps,
    warn_of_joined,
    warn_of_swapped,
    weighted,
    whole,
)
from ._keys import config_of, is_key, value_in
from ._names import write_names
from ._parameters import (
    BEST_F1,
    check_flag,
    check_proba_k,
    check_threshold,
    class_weights_of,
    cut_of,
    instead_of,
    label_weights_of,
    refuse_files,
    share_of,
    with_known_names,
)
from ._predictions import Predictions
from ._progress import Course, Report, figure_of, new_history
from ._sklearn import BaseEstimator, ClassifierMixin, check_is_fitted, clone
from ._slide import InputError
from .model import Model

_FORMAT = 2  # of the files that save() writes
_LABELS_SEARCHED = 100  # of a sample, for the threshold of best F1


def _classes_of(classes: Any) -> np.ndarray:
    if isinstance(classes, (int, np.integer)):
        return np.arange(whole(classes, "classes", 1))
    return np.array(sorted(set(classes)), dtype=object) if _are_names(classes) else np.unique(np.asarray(classes))


def _are_names(classes: Any) -> bool:
    return not isinstance(classes, np.ndarray) and all(isinstance(name, str) for name in classes)


class Classifier(Predictions, ClassifierMixin, BaseEstimator):
    """A network with very many outputs as a scikit-learn estimator.

    Parameters are keys of the engine's configuration, dots written as two underscores or as nested dicts, beside
    those named here: ``Classifier(train__epochs=3)``, ``Classifier(train={"epochs": 3})``,
    ``Classifier(**{"layer__-1__uniform": 512})``; a list of dicts, ``layer=[{"size": 64}, {"uniform": 512}]``, takes the
    place of all layers. ``slide config --doc`` lists them.

    config: a TOML file to begin with instead of the defaults.
    validation: share of the samples that is held out. After each epoch the network is measured on them, the best
        one is kept, and training ends after ``train__patience`` epochs without a better one (3 unless set).
    verbose: show a bar while training, without tqdm a line an epoch on standard error. None: where standard error is a
        terminal or this is a notebook, but not of the fits that scikit-learn makes, as those of ``GridSearchCV``.
    on_step, on_epoch: called with a dict after each step (``epoch``, ``step``, ``total_steps``, ``samples``,
        ``loss``, ``seconds``) and each epoch (``epoch``, ``step``, ``loss``, ``train_seconds``,
        ``samples_per_second``). An on_step that returns False ends training, and the model stays as it is then.
    threshold: which labels ``predict`` gives where samples have several: a float, all whose probability reaches it (0.5
        unless set); an int from 1, so many; ``"best-f1"``, those above the threshold of best micro F1 on the samples of
        ``validation`` or ``eval_set``, which fit finds (``threshold_``). It may be changed after fit.
    proba_k: how many probabilities ``predict_proba`` gives a sample where samples have several labels: an int, or
        ``"all"``, which takes 8 bytes for each sample and label. None: 5, with a UserWarning where that leaves labels out.
        It may be changed after fit.
    random_state, n_jobs, max_iter: scikit-learn's names for ``train__seed``, ``train__threads`` (-1: all cores, -2: all
        but one, and so on) and ``train__epochs``.
    class_weight: "balanced" or a dict of weights by class; where samples have one class each they multiply sample_weight.
        Where they have several labels, a dict alone: the weight of a label multiplies its terms of the loss, as
        ``data__label_weights``, which also balances them by a power of the frequency.
    warm_start: fit continues the present model, as ``partial_fit`` does, for ``train__epochs`` epochs.

    **What is copied.** Of a CSR matrix of float32 with indices of int32 the engine uses ids and values where they
    are, and copies the row offsets; with indices of int64 it copies the ids instead. Rows whose ids do not ascend
    are sorted in a copy. An array of float32 of which more than half is not 0 is used where it is, as dense features: they
    are multiplied as a matrix, and have no linear term. Other types are converted once, for the time of the call: an array
    with more zeros or another sparse format into CSR, other numbers into float32. With ``data__normalize``, the default, values are scaled to unit
    length in a copy of 4 bytes an entry.

    **Ctrl-C** ends training after a step: the model so far is kept, and KeyboardInterrupt raised.

    After fit: ``classes_`` [labels], by column; ``model_``, the Model; ``n_features_in_``, but not of texts;
    ``feature_names_in_`` where X was a data frame; ``history``, how training went.

    Errors are InputError, a ValueError, for parameters and data, and Error for all else, with the engine's line.
    """

    _FIXED = (
        "config", "validation", "verbose", "on_step", "on_epoch", "threshold", "proba_k", "random_state", "n_jobs",
        "max_iter", "class_weight", "warm_start",
    )

    def __init__(
        self,
        *,
        config: "str | os.PathLike[str] | None" = None,
        validation: float = 0.0,
        verbose: Optional[bool] = None,
        on_step: Optional[Callable[[Report], Any]] = None,
        on_epoch: Optional[Callable[[Report], Any]] = None,
        threshold: "float | int | str | None" = None,
        proba_k: "int | str | None" = None,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        max_iter: Optional[int] = None,
        class_weight: "dict | str | None" = None,
        warm_start: bool = False,
        **keys: Any,
    ):
        self.config = config
        self.validation = validation
        self.verbose = verbose
        self.on_step = on_step
        self.on_epoch = on_epoch
        self.threshold = threshold
        self.proba_k = proba_k
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.warm_start = warm_start
        self._take_keys(keys)

    # ---- parameters ----

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(cls._FIXED)

    def _take_keys(self, keys: dict[str, Any]) -> None:
        for name, value in keys.items():
            if not is_key(name):
                here = instead_of(name, self._FIXED)
                raise InputError(f"Invalid parameter {name!r} for estimator Classifier; {here}")
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

    def _configuration(self, validated: bool = False) -> _slide.Config:
        """validated: there is an eval_set."""
        more = []
        keys = with_known_names(self._keys(), self)
        refuse_files(keys)
        if validated and self.validation:
            raise InputError("validation holds out samples, and eval_set gives others; give one of the two")
        if self.validation or validated:
            keys.setdefault("train__patience", 3)
            more.append(f"data.validation={'eval_set' if validated else repr(share_of(self.validation))}")
        return config_of(None if self.config is None else os.fspath(self.config), keys, more)

    def _more_tags(self) -> dict[str, Any]:
        return {"X_types": ["2darray", "sparse"], "requires_y": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ---- training ----

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, times: Any = None, eval_set: Any = None,
        **others: Any
    ) -> "Classifier":
        """Trains a new model.

        X: features as a CSR matrix, another sparse matrix, or a dense array, [n, features]; or n texts (a list, an array,
            a Series or a data frame of one column), from which words and their weights are learnt as the keys of
            ``text`` say. A pair (features or texts, array) has dense columns [n, columns] beside them, such as an
            encoder's.
        y: labels, in one of these forms:
            a CSR matrix or an array of 0 and 1, [n, labels]: what is not 0 is a label; the names of a data frame's columns
            become ``classes_``, and later frames are read by these names;
            n lists of labels, all of them numbers from 0 or all of them names; lists of 0 and 1 alone are rows of such an
            array as soon as one has a number twice, and sets are always labels;
            n classes, one a sample, as any classifier of scikit-learn takes them.

        The last form makes ``predict``, ``predict_proba`` and ``score`` behave as those of other classifiers.
        sample_weight: [n], what the gradients of each sample are multiplied with, over the mean of all. Samples of
            weight 0 are left out. The loss of ``history`` takes no notice of weights.
        groups: [n], with ``validation``: samples of one value are held out all or not at all.
        times: [n], numbers, dates or texts that sort by time, with ``validation``: the latest samples are held out.
            ``data__time="order"`` holds out the last rows.
        eval_set: (X, y) of the same forms, in place of ``validation``: after each epoch the network is measured on
            them, the best one is kept, and training ends early. Labels that X and y lack count as missed.

        Samples without labels are left out. Names of labels of texts stand in ``classes_`` by falling frequency, those
        of ``text__min_label_count`` samples or more. The same arrays or texts give the model that ``slide train`` makes of the same
        file and configuration, its weights to the bit.

        Raises InputError, which is a ValueError, for parameters and data at fault.
        """
        self._refuse_others("fit", others)
        self._check_predictions()
        check_flag(self.warm_start, "warm_start")
        if self.warm_start and hasattr(self, "model_"):
            return self._fit_warm(X, y, sample_weight, groups, times, eval_set)
        config = self._configuration(eval_set is not None)
        if self.threshold == BEST_F1 and not self.validation and eval_set is None:
            cut_of(self.threshold, None)  # which says what is missing
        warn_of_swapped(X, y)
        targets = targets_of(y)
        require_labels(targets)
        warn_of_joined(targets.classes, y)
        warn_of_gaps(targets, y)
        data = self._take(X, targets, config, self._weights(targets, sample_weight), groups, times)
        held = None if eval_set is None else self._held(data, eval_set)
        if held is None and self.threshold == BEST_F1:
            data, held = _slide.hold_out(config, data)
        data = self._with_label_weights(data, targets, config.to_toml())
        self._run(lambda course: self._train(config, data, held, course))
        self._keep("threshold_", self._best_threshold(held) if self.threshold == BEST_F1 else None)
        return self

    def _refuse_others(self, method: str, others: dict[str, Any]) -> None:
        """Raises InputError for an argument that `method` does not have."""
        for name in others:
            here = f"it is a parameter: Classifier({name}=...)"
            if name not in self._FIXED and not is_key(name):
                here = instead_of(name, (*self._FIXED, *signature(getattr(self, method)).parameters))
            raise InputError(f"Invalid argument {name!r} of {method}; {here}")

    def _check_predictions(self) -> None:
        check_threshold(self.threshold)
        check_proba_k(self.proba_k)

    def _fit_warm(self, x: Any, y: Any, weights: Any, groups: Any, times: Any, eval_set: Any) -> "Classifier":
        if self.validation or groups is not None or times is not None or eval_set is not None:
            raise InputError("warm_start continues the model without validation; leave out validation, groups, times, eval_set")
        epochs = int(value_in(self._configuration().to_toml(), "train", "epochs"))
        return self.partial_fit(x, y, epochs=epochs, sample_weight=weights)

    def _weights(self, targets: Targets, sample_weight: Any) -> Any:
        """The weights of samples, [n], with those of their classes; None where there are none."""
        if self.class_weight is None or not targets.single:
            return sample_weight
        by_class = class_weights_of(self.class_weight, np.asarray(targets.rows[1]), targets.classes)
        return by_class if sample_weight is None else by_class * numbers_of_weights(sample_weight)

    def _with_label_weights(self, data: _slide.Data, targets: Targets, config: str) -> _slide.Data:
        """The samples with the weights of their labels, where they have several. `config`: as TOML."""
        if self.class_weight is None or targets.single:
            return data
        weights = label_weights_of(self.class_weight, targets.classes)
        if value_in(config, "data", "label_weights") not in ("0", "0.0"):
            raise InputError("class_weight and data__label_weights both weigh labels; give one of the two")
        return data.label_weighted(weights)

    def _held(self, data: "_slide.Data | _slide.Model", eval_set: Any, what: str = "eval_set") -> _slide.Data:
        """The samples of an eval_set, as those of `data` are; `what` is its name in messages."""
        if isinstance(eval_set, list) and len(eval_set) == 1:
            eval_set = eval_set[0]
        several = isinstance(eval_set, list) and all(isinstance(one, tuple) for one in eval_set)
        if several or not isinstance(eval_set, (tuple, list)) or len(eval_set) != 2:
            raise InputError(f"{what}: give a pair (X, y), or a list of one; training ends by one set")
        x, columns = apart(eval_set[0])
        x, y = one_text_column(x), eval_set[1]
        if all(isinstance(one, (list, tuple)) and len(one) == 0 for one in (x, y)):
            raise InputError(f"{what}: there are no samples; give some, or leave {what} out")
        if self._text != are_texts(x):
            raise InputError(f"{what}: give {'texts' if self._text else 'a matrix of features'}, as X is")
        targets = self._known(y, unseen=True)
        check_known(what, targets, y, len(self.classes_))
        if self._text:
            return beside(text_data_of(x, data, targets), columns)
        features = features_for(data, x, columns)
        if features.shape[1] != self.n_features_in_:
            raise InputError(f"{what}: X has {features.shape[1]} features, but that of fit has {self.n_features_in_}")
        return beside(data_of(features, targets), columns)

    def _best_threshold(self, held: _slide.Data) -> float:
        ids, scores = self.model_._predict(held, min(_LABELS_SEARCHED, self.model_.labels), threads=self._threads)
        matrix = csr_of_ids(ids, scores, max(self.model_.labels, held.labels))
        offsets, labels = held.label_rows()
        return float(_slide.best_threshold(rows_of(matrix), (offsets, labels, None, matrix.shape[1]))[0])

    def _take(
        self, x: Any, targets: Targets, config: _slide.Config, weights: Any, groups: Any = None, times: Any = None
    ) -> _slide.Data:
        """The samples of a first fit, and all that it knows of them."""
        x, dense = apart(x)
        x = one_text_column(x)
        texts = are_texts(x)
        if texts:
            data, columns = learnt_data_of(x, targets, config), None
        else:
            features = features_of(x) if dense is None else csr_of(x)
            if features.shape[0] == 0 or features.shape[1] == 0:
                kind, dimension = ("sample", 0) if features.shape[0] == 0 else ("feature", 1)
                raise InputError(
                    f"Found array with {features.shape[dimension]} {kind}(s) (shape={features.shape}) while a minimum of "
                    "1 is required."
                )
            data, columns = data_of(features, targets), features.shape[1]
        data = weighted(keyed(beside(data, dense), groups, times), weights)
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

    def _train(
        self, config: _slide.Config, data: _slide.Data, held: Optional[_slide.Data], course: Course
    ) -> tuple:
        if not self.validation and held is None:
            return _slide.train(config, data, None, course.step, course.interval, course.epoch, None, "")
        with tempfile.TemporaryDirectory() as folder:
            best = os.path.join(folder, "best.slide")
            engine, interrupt = _slide.train(
                config, data, held, course.step, course.interval, course.epoch, course.evaluation, best
            )
            if interrupt is None and os.path.exists(best):
                engine = _slide.Model.load(best, True)
            return engine, interrupt

    def _run(self, train: Callable[[Course], tuple]) -> None:
        """Keeps the model that `train` makes; what stopped it is raised then."""
        self._history = deepcopy(self._history)  # copies of this estimator may share it
        course = Course(self.verbose, self.on_step, self.on_epoch, self._history)
        try:
            engine, interrupt = train(course)
        finally:
            course.close()
        self.model_ = Model(engine)
        self.n_iter_ = len(self._history["epoch"])
        if interrupt is not None:
            raise interrupt

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, epochs: int = 1, sample_weight: Any = None, **others: Any
    ) -> "Classifier":
        """Continues the current model on new samples, `epochs` times; without a model, trains from the beginning.

        X, y, sample_weight: as in ``fit``, X with the same number of features. Classes, names and columns of y that are
            new join ``classes_``, at its end; words of texts that occur in ``text__min_count`` of them join the
            vocabulary.
        classes: for the first call, all labels there will be: classes or names; or where labels are numbers, how many
            there are. Not needed where y is a matrix, nor where later calls may bring more.

        Parameters that were changed since the first call count from the next ``fit`` on, but for the callbacks. The
        learning rate follows its schedule in each call; adagrad and adam keep their state.
        With ``neighbours__share`` the kNN index contains the samples of all calls, so that the model grows with them; so does
        the linear term, by features that are new for a label.

        Raises InputError, which is a ValueError, for data at fault.
        """
        self._refuse_others("partial_fit", others)
        self._check_predictions()
        epochs = whole(epochs, "epochs", 1)
        if not hasattr(self, "model_"):
            return self._begin(X, y, classes, epochs, sample_weight)
        more = None if classes is None else _classes_of(classes)
        targets = more_targets_of(y, self.classes_, self._single, more)
        warn_of_gaps(targets, y, max(len(self.classes_), 0 if more is None else len(more)))
        data = weighted(self._more_data(X, targets), self._weights(targets, sample_weight))
        data = self._with_label_weights(data, targets, self.model_.config)

        def further(course: Course) -> tuple:
            made = _slide.continue_training(
                self.model_._engine, data, epochs, course.step, course.interval, course.epoch)
            self.classes_ = targets.classes
            return made

        self._run(further)
        return self

    def _more_data(self, x: Any, targets: Targets) -> _slide.Data:
        words, columns = apart(x)
        words = one_text_column(words)
        if self._text and are_texts(words):
            return beside(learnt_data_of(words, targets, self.model_._engine), columns)
        return self._data(x, targets)

    def _begin(self, x: Any, y: Any, classes: Any, epochs: int, weights: Any) -> "Classifier":
        first = clone(self).set_params(validation=0.0, max_iter=None, train__epochs=epochs)
        config = first._configuration()
        warn_of_swapped(x, y, stacklevel=4)
        targets = targets_of(y, None if classes is None else _classes_of(classes))
        if classes is None:
            warn_of_gaps(targets, y, stacklevel=4)
        data = self._take(x, targets, config, self._weights(targets, weights))
        data = self._with_label_weights(data, targets, config.to_toml())
        self._keep("threshold_", None)
        self._run(lambda course: first._train(config, data, None, course))
        return self

    @property
    def history(self) -> dict[str, list]:
        """How training went, by epoch: ``epoch``, ``step``, ``loss``, ``train_seconds``, ``samples_per_second``; with
        ``validation``, ``evaluations`` holds a dict of measures for each. A copy, which later fits leave as it is."""
        check_is_fitted(self, "model_")
        return deepcopy(self._history)

    def plot_history(self) -> Any:
        """The learning curve as a matplotlib figure. Raises ImportError without matplotlib."""
        return figure_of(self.history)

    def calibrate(self, X: Any, y: Any) -> dict[str, float]:
        """Fits the probabilities to samples that fit has not seen, as ``Model.calibrate`` does: classes with a probability of p
        are true in a share p of such samples then; their order stays. X, y: as in ``fit``, with classes of it. A ``threshold`` of
        "best-f1" is found anew on them. Returns the expected calibration errors before and after. Raises InputError as
        ``Model.calibrate``."""
        check_is_fitted(self, "model_")
        held = self._held(self.model_._engine, (X, y), "calibrate")
        found = self.model_._calibrate(held, self._threads)
        if self.threshold == BEST_F1:
            self._keep("threshold_", self._best_threshold(held))
        return found

    # ---- files ----

    def save(self, path: "str | os.PathLike[str]", *, force: bool = False) -> None:
        """Writes the model file, for the command line, ``Model.load`` and ``Classifier.load``, and beside it
        ``PATH.classes``: the classes, parameters and history, without the callbacks. Raises InputError when a model lies at
        `path`, unless `force` replaces it, and Error when a file cannot be written.

        A ``threshold`` that is a probability, or "best-f1", goes into the model file, where samples have several labels; with
        another one the file has none, and ``slide.load(path).predict(X, threshold=3)`` takes a number of labels.
        Of features, labels are numbers in that file, columns of ``classes_``: other classes go into ``PATH.labels``, a
        line each, for ``slide predict --labels`` and ``slide serve --labels``. Without such classes a ``PATH.labels`` of
        another model is removed, with a UserWarning. A class that is empty or has a line break fits no line; then there is
        no ``PATH.labels``, with a UserWarning."""
        check_is_fitted(self, "model_")
        probability = self._stored_threshold()
        if probability is None and self.model_.threshold is not None:
            warnings.warn(
                f"{os.fspath(path)} has no threshold: that of {self.model_.threshold}, which the model had, is not that of the "
                "Classifier", UserWarning, stacklevel=2)
        self.model_._save_file(path, force, probability, keep_thresholds=False)
        write_names(os.fspath(path), self._names(), stacklevel=3)
        state = {name: value for name, value in vars(self).items() if name not in ("model_", "on_step", "on_epoch")}
        try:
            with open(os.fspath(path) + ".classes", "wb") as file:
                pickle.dump({"format": _FORMAT, "state": state}, file)
        except OSError as failure:
            raise _slide.Error(f"{failure.filename}: cannot be written ({failure.strerror})") from failure

    def _stored_threshold(self) -> Optional[float]:
        """The probability for the model file, if there is one."""
        if self._single or self.threshold is None:
            return None
        return cut_of(self.threshold, getattr(self, "threshold_", None)).probability

    def _names(self) -> Optional[list[str]]:
        """What the labels of a model of features are called; None where that are their numbers."""
        names = [str(one) for one in self.classes_.tolist()]
        numbers = names == [str(number) for number in range(len(names))]
        return None if self._text or numbers or len(names) != self.model_.labels else names

    def _fits(self, model: Model) -> bool:
        """Whether the classes can be those of the labels of a model; of one trained on text, whether they are."""
        if model.is_text != self._text or model.labels < len(self.classes_):
            return False
        return not self._text or list(map(str, self.classes_)) == model.label_names.tolist()

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
            raise InputError(
                f"{failure.filename}: cannot be read ({failure.strerror}); slide.load reads models of the command line"
            ) from failure
        except (pickle.UnpicklingError, EOFError, AttributeError, KeyError, TypeError) as failure:
            raise InputError(f"{os.fspath(path)}.classes: is damaged; copy it again or fit again") from failure
        estimator = cls()
        vars(estimator).update(state)
        if not estimator._fits(model):
            raise InputError(
                f"{os.fspath(path)}.classes: is not of this model, which was saved over the one it belongs to; "
                "slide.load reads the model alone"
            )
        estimator.model_ = model
        return estimator
