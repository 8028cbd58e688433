"""A trained model: from a file or from a Classifier, for predictions."""

from __future__ import annotations

import operator
import os
import tempfile
import threading
import warnings
from html import escape
from typing import Any, Iterable, Optional, Sequence

import numpy as np

from . import _slide
from ._inputs import (
    Targets,
    apart,
    are_texts,
    beside,
    csr_of_ids,
    data_of,
    features_for,
    first_label,
    integer,
    is_missing,
    is_sparse,
    number,
    numbered,
    one_text_column,
    ranks_of,
    rows_of,
    targets_of,
    text_data_of,
    texts_of_items,
    told,
    whole,
)
from ._keys import value_in
from ._names import read_names, write_names
from ._parameters import is_count, require_count
from ._shown import RATES, Explanation, Measures, Reason, table_of

MOST_K = 10000  # where there are fewer labels
NO_LABEL = 0xFFFFFFFF  # the engine's id where there are less than k labels


def left_out_line(features: int) -> str:
    """What a warning says of values of features that the model does not know."""
    return f"{features} values are of features that the model does not know, and were left out"


def _id_of(value: Any, what: str) -> int:
    number = operator.index(value)
    if not 0 <= number < NO_LABEL:
        raise _slide.InputError(f"there is no {what} {number}; they count from 0")
    return number


def _no_such(what: str, name: str, names: Iterable[str]) -> _slide.InputError:
    try:
        near = _slide.near_name(name, names)
    except UnicodeEncodeError:
        near = ""
    return _slide.InputError(f"there is no {what} {name!r} in the model" + (f"; did you mean {near!r}?" if near else ""))


def load(path: "str | os.PathLike[str]") -> "Model":
    """A trained model: a file, or the folder of a run. The same as ``Model.load``."""
    return Model.load(path)


def _unpickle(content: bytes, names: Optional[np.ndarray] = None) -> "Model":
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.slide")
        with open(path, "wb") as file:
            file.write(content)
        model = Model._load_to_train(path)
    model._names_beside = names
    return model


class Model:
    """A trained network. Nothing but ``calibrate`` changes it: any number of threads may use it at once.

    Made by ``Model.load``, or found as ``model_`` of a fitted ``Classifier``. Labels are numbers from 0 here; those of
    a model trained on text, and those that ``PATH.labels`` names beside a model file, have names too, ``label_names``.
    """

    def __init__(self, engine: _slide.Model):
        self._engine = engine
        self._predictors: dict[tuple, _slide.Predictor] = {}
        self._users: dict[str, _slide.KnownUsers] = {}
        self._names: Optional[np.ndarray] = None
        self._names_beside: Optional[np.ndarray] = None  # of a model that has none itself
        self._ids: Optional[dict[str, int]] = None  # of names beside it
        self._feature_ids: Optional[dict[str, int]] = None
        self._lock = threading.Lock()
        self._of_users = self.is_text and value_in(self.config, "data", "kind") == '"interactions"'

    @classmethod
    def load(cls, path: "str | os.PathLike[str]") -> "Model":
        """Reads what ``save`` or ``slide train`` wrote, and the names of the labels that ``Classifier.save`` wrote into
        ``PATH.labels`` beside it; a file there with another number of names is a UserWarning. Raises InputError when `path` is
        no model or is damaged."""
        model = cls(_slide.Model.load(os.fspath(path)))
        if not model.is_text:
            model._names_beside = read_names(os.fspath(path), model.labels)
        return model

    @classmethod
    def _load_to_train(cls, path: str) -> "Model":
        return cls(_slide.Model.load(path, True))

    def save(
        self, path: "str | os.PathLike[str]", *, force: bool = False, threshold: Optional[float] = None
    ) -> None:
        """Writes the model file, which gets its name when it is whole. Raises InputError when a model lies at `path`,
        unless `force` replaces it, and Error when the file cannot be written. Names of labels that were loaded from beside a
        model go into ``PATH.labels``; without them one of another model is removed, with a UserWarning.

        threshold: a probability that the file gets: ``predict``, ``slide predict`` and ``slide serve`` give all labels
            that reach it then, unless they are asked for k labels. None: that of the model, if it has one."""
        self._save_file(path, force, threshold)
        write_names(os.fspath(path), None if self._names_beside is None else self._names_beside.tolist())

    def _save_file(
        self, path: "str | os.PathLike[str]", force: bool, threshold: Optional[float], keep_thresholds: bool = True
    ) -> None:
        if is_count(threshold):
            raise _slide.InputError(
                f"threshold: {threshold!r} is a number of labels, and a model file has a probability; give one from 0 to 1 as a float"
            )
        threshold = None if threshold is None else number(threshold, "threshold")
        self._engine.save(os.fspath(path), force, threshold, keep_thresholds)

    @property
    def features(self) -> int:
        """Columns of the features that it was trained on."""
        return self._engine.features

    @property
    def labels(self) -> int:
        """Labels that it tells apart."""
        return self._engine.labels

    @property
    def steps(self) -> int:
        """Steps that it was trained for."""
        return self._engine.steps

    @property
    def threshold(self) -> Optional[float]:
        """The probability that a label needs to be predicted, where ``save`` or ``slide convert --threshold`` has stored one;
        labels can have ``own_thresholds`` beside it."""
        return self._engine.threshold

    @property
    def own_thresholds(self) -> "dict[int | str, float]":
        """The labels with a threshold of their own in place of ``threshold``, by name or number, and these."""
        own = self._engine.own_thresholds()
        names = self.label_names if own and self._named else None
        return {label if names is None else names[label]: threshold for label, threshold in own.items()}

    @property
    def is_text(self) -> bool:
        """Whether it was trained on text; then it takes texts, and its labels have names."""
        return self._engine.is_text

    @property
    def config(self) -> str:
        """The configuration of its training run, every key of it, as TOML."""
        return self._engine.config().to_toml()

    @property
    def label_names(self) -> Optional[np.ndarray]:
        """Names by label [labels], of a model trained on text or with names beside it, else None."""
        if self.is_text:
            return np.array(self._engine.label_names(), dtype=object)
        return None if self._names_beside is None else self._names_beside.copy()

    @property
    def _named(self) -> bool:
        return self.is_text or self._names_beside is not None

    def predict(
        self,
        X: Any = None,
        k: Optional[int] = None,
        *,
        users: "Optional[Sequence[str]]" = None,
        known: "Optional[str | os.PathLike[str]]" = None,
        threshold: "float | int | None" = None,
        logits: bool = False,
        inference: str = "configured",
        threads: int = 0,
        keep_known: bool = False,
        names: Optional[bool] = None,
        rare: Optional[float] = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best labels of each sample, best first.

        X: samples as a CSR matrix, a dense array [n, features or less], or a list of texts for a model trained on text; for a
        model of interactions a list of names of users, as `users`, or of lists of items by name, [["tea", "jam"], ...], which
        the users have. Features of a matrix that the model does not know are left out, with a warning. k: labels a sample; 5, or with
        a threshold alone, or one that the model has (``Model.threshold``), all that reach it.
        users: in place of X, names of users of a model of interactions, a row for each in their order; what they have is
        looked up, as ``slide predict`` does, in the log `known`, or in the model's ``data.known`` or training file, which is
        read once.
        threshold: a float, leaves out labels with lower scores; from 0 to 1, of logits any number; an int from 1, so many labels, as of
        ``Classifier``. logits: scores are those of the output neurons, else probabilities. inference: ``"full"`` scores all
        labels, ``"lsh"`` only candidates that hash tables find, ``"auto"`` the latter from 100,000 labels on where they are as good
        (the first call for a k then builds tables), ``"configured"`` does what ``eval.inference`` of the
        model says. threads: 0 = all cores; up to 128 samples are always answered by the calling thread. keep_known: a
        model of interactions answers with what a sample has already, too. names: False gives numbers of labels that have
        names. rare: ranks the k best by probability divided by the propensity of the label to this power, from 0, which suits
        P@k, to 1, which suits PSP@k; scores stay, and descend no more; ``eval.rare`` of the model by default.

        Returns labels [n, k]: names, objects that end in None where there are less than k, or where labels have none or
        `names` is False, int64 that end in -1; and scores [n, k] of float32, 0 there; with a
        threshold alone k is how many the sample with the most of them has. Of no samples, X = [], both have no rows.

        Raises InputError when X does not fit the model, when `k` is below 1 or above both 10,000 and the number of labels, and
        for `users` when it was not trained on interactions or the log is not there. Users of whom no item is known are a
        UserWarning. Ctrl-C raises KeyboardInterrupt before the answer is there.
        """
        options = {
            "logits": logits, "inference": inference, "threads": whole(threads, "threads"), "keep_known": keep_known,
            "rare": None if rare is None else number(rare, "rare"),
        }
        if not logits:
            require_count(threshold)
            if is_count(threshold):
                if k is not None:
                    raise _slide.InputError(
                        f"threshold: {threshold!r} is a number of labels, as k is; give one of the two, or a probability as a float"
                    )
                k, threshold = int(threshold), None
        if (X is None) == (users is None):
            raise _slide.InputError("give either X or users")
        if names and not self._named:
            raise _slide.InputError("names: the labels of this model have none; leave it out")
        if users is None and self._of_users and are_texts(X):
            users = list(X)
        if users is None and known is not None:
            raise _slide.InputError("known: it is the log that users are looked up in; leave it out")
        if isinstance(X, (list, tuple)) and len(X) == 0:
            by_threshold = threshold is not None or (self.threshold is not None and not logits)
            width = 0 if k is None and by_threshold else 5 if k is None else whole(k, "k", 1)
            ids, scores = np.empty((0, width), np.int64), np.empty((0, width), np.float32)
        else:
            data = self._data(X) if users is None else self._data_of_users(users, known)
            ids, scores = self._predict(data, k, threshold, own_threshold=True, **options)
        return (self._names_of(ids) if self._named and names is not False else ids), scores

    def _names_of(self, ids: np.ndarray) -> np.ndarray:
        """Names by number, None where it is -1."""
        if self._names is None:
            self._names = np.array([*self.label_names, None], dtype=object)
        return self._names[ids]

    def recommend(
        self, users: "Sequence[str] | str" = "all", k: Optional[int] = None, **options: Any
    ) -> "dict[str, list[tuple[str, float]]]":
        """The best items of each user by name, best first: ``{"ann": [("tea", 0.9), ...], ...}``.

        users: names, or ``"all"`` of the log, in the order of their names; ``["all"]`` is one of this name. k and `options`:
        as for ``predict``. Raises what it does.
        """
        if isinstance(users, str):
            if users != "all":
                raise _slide.InputError("users: give a list of names, or 'all'")
            users = self._known_users(options.get("known")).names()
        elif not np.iterable(users):
            raise _slide.InputError(f"users: {users!r}; give a list of names, or 'all'")
        users = list(users)
        labels, scores = self.predict(k=k, users=users, **options)
        return {
            str(user): [(label, float(score)) for label, score in zip(row, of_row) if label is not None]
            for user, row, of_row in zip(users, labels, scores)
        }

    def _known_users(self, known: "Optional[str | os.PathLike[str]]" = None) -> _slide.KnownUsers:
        path = "" if known is None else os.fspath(known)
        with self._lock:
            if path not in self._users:
                self._users[path] = _slide.KnownUsers.read(self._engine, path)
            return self._users[path]

    def _data_of_users(self, users: "Sequence[str]", known: "Optional[str | os.PathLike[str]]") -> _slide.Data:
        if isinstance(users, str) or not np.iterable(users):
            raise _slide.InputError("users: give a list of names")
        users = list(users)
        missing = next((row for row, user in enumerate(users) if is_missing(user)), None)
        if missing is not None:
            raise _slide.InputError(f"users: row {missing} is missing ({users[missing]!r}); leave it out, or give a name")
        listed = next((row for row, user in enumerate(users) if isinstance(user, (list, tuple, set, dict, np.ndarray))), None)
        if listed is not None:
            raise _slide.InputError(f"users: row {listed} is no name; give lists of items to predict(X)")
        return told(self._known_users(known).samples([str(user) for user in users]), stacklevel=4)

    def _predict(
        self,
        data: _slide.Data,
        k: Optional[int] = None,
        threshold: Optional[float] = None,
        *,
        own_threshold: bool = False,
        **options: Any,
    ) -> tuple[np.ndarray, np.ndarray]:
        threshold = None if threshold is None else number(threshold, "threshold")
        if threshold is not None and not options.get("logits") and not 0 <= threshold <= 1:
            raise _slide.InputError(
                f"threshold: {threshold!r} is no probability; give one from 0 to 1, or any number with logits=True"
            )
        k = None if k is None else integer(k, "k")
        predictor = self._predictor(k=5 if k is None else k, low_latency=data.samples == 1, **options)
        if k is None and threshold is not None:
            labels, scores = predictor.predict_reaching(data, threshold)
        elif k is None and own_threshold and not options.get("logits") and self.threshold is not None:
            labels, scores = predictor.predict_reaching(data)
        else:
            labels, scores = predictor.predict(data)
        ids = labels.astype(np.int64)
        if (labels.size and labels.max() == NO_LABEL) or labels.shape[1] > self.labels:
            ids[labels == NO_LABEL] = -1
        if k is not None and threshold is not None:
            low = scores < np.float32(threshold)
            ids[low], scores[low] = -1, 0
            order = np.argsort(low, axis=1, kind="stable")  # with rare, scores need not descend
            ids, scores = np.take_along_axis(ids, order, axis=1), np.take_along_axis(scores, order, axis=1)
        return ids, scores

    def evaluate(
        self,
        X: Any,
        Y: Any,
        k: "int | Sequence[int]" = (),
        *,
        threshold: Optional[float] = None,
        threads: int = 0,
    ) -> Measures:
        """Precision, nDCG, propensity-scored precision and recall at the ranks `k`, as ``slide test`` prints them; and how
        reliable the probabilities of the labels down to the largest rank are: ``["reliability"]["error"]`` is the expected
        calibration error, ``"top_error"`` that of the best label of each sample, as ``slide evaluate --json`` has them.

        X: as in ``predict``. Y: labels of the samples as a CSR matrix [n, labels], an array of 0 and 1, lists of numbers of
        labels, or of names of a model trained on text, or one number or name a sample, [n]. Labels that the model does not
        know count as missed, with a UserWarning that counts them. ``coverage_at_k`` and ``catalogue_at_k`` are shares of labels, and of interactions
        ``novelty_at_k`` is in bits, as of ``slide test``. Without `k` the ranks are ``eval.k`` of the model. threshold: also precision, recall and F1 of
        the labels whose probability reaches it: ``f1_micro``, ``precision_macro`` and so on. Returns means over all samples,
        ``{"p_at_1": ...}``.
        """
        data, threads = self._data(X, self._targets(Y)), whole(threads, "threads")
        offsets, labels = data.label_rows()
        beyond = int(np.count_nonzero(labels >= self.labels))
        if beyond:
            warnings.warn(
                f"{beyond} of {data.label_entries} labels are none of the {self.labels} that the model knows, and count as missed",
                UserWarning, stacklevel=2)
        measures = Measures(_slide.evaluate(self._engine, data, ranks_of(k), threads, True))
        if threshold is not None:
            ids, scores = self._predict(data, None, threshold, threads=threads)
            scored, truth = csr_of_ids(ids, scores, max(self.labels, data.labels)), (offsets, labels, None, data.labels)
            rates = _slide.evaluate_scores(rows_of(scored), truth, [1], None, 0.55, 1.5, number(threshold, "threshold"))
            measures["threshold"] = number(threshold, "threshold")
            measures.update({name: value for name, value in rates.items() if name in RATES})
        return measures

    def calibrate(self, X: Any, Y: Any, *, threads: int = 0) -> dict[str, float]:
        """Fits the probabilities to samples that training has not seen, as ``slide convert --calibrate``: labels with a
        probability of p are true in a share p of such samples then. The order of the labels stays, ``save`` writes it, and
        thresholds of the model are dropped. X, Y: as in ``evaluate``. Returns the map and the expected calibration errors of the 20
        best labels of a sample, ``error_before`` and ``error``, and of the best alone, ``top_error_before`` and
        ``top_error``. Raises InputError for a model with softmax, and where no map fits, as without a true label among
        the best. No other thread may use the model meanwhile."""
        return self._calibrate(self._data(X, self._targets(Y)), whole(threads, "threads"))

    def _calibrate(self, data: _slide.Data, threads: int) -> dict[str, float]:
        found = self._engine.calibrate(data, threads)
        with self._lock:
            self._predictors.clear()
        return dict(found)

    @property
    def is_calibrated(self) -> bool:
        """Whether ``calibrate`` or ``slide convert --calibrate`` has fitted the probabilities."""
        return self._engine.is_calibrated

    def _targets(self, y: Any) -> Targets:
        if self._named and isinstance(first_label(y), str):
            return targets_of(y, self.label_names, unseen=True)
        return numbered(y)

    def nearest_labels(self, label: "int | str", count: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """The other labels whose vectors have the largest cosines with that of `label`, a number or a name.

        Returns labels [count or less] of int64, best first, and cosines of float64. Raises InputError when there is no
        such label.
        """
        return self._engine.nearest_labels(self._label(label), whole(count, "count"))

    def similar(
        self,
        items: "Sequence[int | str] | str | None" = None,
        k: int = 10,
        *,
        of: str = "labels",
        names: Optional[bool] = None,
        threads: int = 0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The `k` others most similar to each of `items`, by the cosine of their vectors.

        items: labels (of a model of interactions its items) by number or name, or one name; a number that is the name of an item
        in the log stands for it; without, all of them in the order of
        their numbers. of: ``"features"`` compares features, or words. The vectors are made by the first call and kept.

        Returns (names or numbers [n, k], as ``predict`` has them; cosines [n, k] of float32, 0 where there are less).
        Raises InputError for what is not in the model, and where it has no such vectors.
        """
        if of not in ("labels", "features"):
            raise _slide.InputError(f"of: {of!r}; give 'labels' or 'features'")
        if isinstance(items, str):
            items = [items]
        if items is not None and not np.iterable(items):
            raise _slide.InputError("items: give a list of names or numbers")
        features = of == "features"
        if items is None:
            ids = list(range(self.features if features else self.labels))
        else:
            ids = [self._feature(one) if features else self._label(one) for one in items]
        k = whole(k, "k", 1, max(MOST_K, self.features if features else self.labels))
        found, cosines = self._engine.similar(ids, k, features, whole(threads, "threads"))
        if not (self.is_text if features else self._named) or names is False:
            return found, cosines
        return (self._feature_names_of(found) if features else self._names_of(found)), cosines

    def _feature(self, feature: "int | str") -> int:
        feature = self._number_as_name(feature)
        if not isinstance(feature, str):
            return _id_of(feature, "feature")
        if self._feature_ids is None:
            count = self.features if self.is_text else 0
            self._feature_ids = {self._engine.feature_name(i): i for i in range(count)}
        if feature not in self._feature_ids:
            raise _no_such("feature", feature, self._feature_ids)
        return self._feature_ids[feature]

    def _feature_names_of(self, ids: np.ndarray) -> np.ndarray:
        names = {int(i): self._engine.feature_name(int(i)) for i in np.unique(ids[ids >= 0])}
        return np.array([[names.get(int(i)) for i in row] for row in ids], dtype=object).reshape(ids.shape)

    def strongest_features(self, label: "int | str", count: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """The features with the largest weights straight to `label`, a number or a name.

        Returns features [count or less] of int64, best first, and weights of float64. Raises InputError when there is no
        such label, or the model has hidden layers but no linear term (``layer.-1.wide``).
        """
        return self._engine.strongest_features(self._label(label), whole(count, "count"))

    def explain(
        self, X: Any, k: int = 3, *, features: int = 10, inference: str = "configured", names: Optional[bool] = None
    ) -> "Explanation | list[Explanation]":
        """Why samples have their best labels: the features that raise the logit of each most.

        X: as in ``predict``, or one text. k: labels a sample. features: at most so many for a label. names: as in
        ``predict``. Returns for each sample an ``Explanation``, a list with a ``Reason`` for each label: ``label``, ``score`` (a
        probability) and ``features``, [(name, or without names column; part of the logit), ...], all above 0, largest
        first; of one text its Explanation alone.

        A part is the gradient times the input. With ReLU, the default, the parts of all features and of the biases add up
        to the logit, votes of similar samples aside. Raises what ``predict`` raises.
        """
        one = isinstance(X, str)
        if isinstance(X, (list, tuple)) and len(X) == 0:
            return []
        named, words = self._named and names is not False, self.is_text and names is not False
        explanations = self._explanations(
            self._data([X] if one else X), k, features, self._names_of if named else (lambda ids: ids),
            lambda at: self._name_of(at, words), inference=inference)
        return explanations[0] if one else explanations

    def _explanations(
        self, data: _slide.Data, k: int, features: int, labels_of: Any, name_of: Any, **how: Any
    ) -> "list[Explanation]":
        """Explanations of samples, with labels and features named by these functions, of ids [n, k] and of a feature."""
        k, features = whole(k, "k", 1, max(MOST_K, self.labels)), whole(features, "features", 1)
        ids, scores = self._predict(data, min(k, self.labels), **how)
        parts = self._engine.explain(data, np.where(ids < 0, NO_LABEL, ids).ravel().tolist(), features)
        labels = labels_of(ids)
        return [
            Explanation(
                Reason(
                    label if isinstance(label, str) else int(label) if isinstance(label, np.integer) else label,
                    float(score), [(name_of(at), part) for at, part in told_of])
                for number, label, score, told_of in zip(ids[row], labels[row], scores[row], parts[row * ids.shape[1] : (row + 1) * ids.shape[1]])
                if number >= 0
            )
            for row in range(len(ids))
        ]

    def _name_of(self, feature: int, named: bool) -> "str | int":
        return self._engine.feature_name(feature) if named else feature

    def feature_name(self, feature: int) -> str:
        """The word or n-gram that a feature is. Raises InputError unless the model was trained on text."""
        return self._engine.feature_name(_id_of(feature, "feature"))

    def label_vectors(self) -> np.ndarray:
        """The weights of the output layer: [labels, size of the layer below] of float32, a copy."""
        return self._engine.label_vectors()

    def hidden_vectors(self, X: Any, *, threads: int = 0) -> np.ndarray:
        """What the hidden layers make of samples, and the output layer multiplies its weights with.

        X: as in ``predict``. Returns [n, size of the last hidden layer] of float32. Raises InputError when the model has
        no hidden layer, or X does not fit it.
        """
        return self._engine.hidden_vectors(self._data(X), whole(threads, "threads"))

    def _number_as_name(self, one: Any) -> Any:
        """Of a model of interactions, a whole number that is the name of an item, as in its log, as this name."""
        if not self._of_users or isinstance(one, str):
            return one
        name = str(operator.index(one))
        return one if self._engine.label_id(name) is None else name

    def _label(self, label: "int | str") -> int:
        label = self._number_as_name(label)
        if not isinstance(label, str):
            return _id_of(label, "label")
        if self._names_beside is not None and self._ids is None:
            self._ids = {name: at for at, name in enumerate(self._names_beside.tolist())}
        found = self._engine.label_id(label) if self.is_text else (self._ids or {}).get(label)
        if found is None:
            raise _no_such("label", label, self.label_names if self._named else ())
        return found

    def _data(self, x: Any, targets: Optional[Targets] = None) -> _slide.Data:
        x, columns = apart(x)
        x = one_text_column(x) if self.is_text else x
        if self._of_users and are_texts(x):
            if targets is not None:
                raise _slide.InputError("X: of names of users, slide.read(test, model=..., known=...) gives X and Y")
            return self._data_of_users(list(x), None)
        if self._of_users and (texts := texts_of_items(x, self.features)) is not None:
            return told(text_data_of(texts, self._engine, targets), stacklevel=4)
        if are_texts(x):
            return beside(told(text_data_of(x, self._engine, targets), stacklevel=4), columns)
        features = features_for(self._engine, x, columns)
        most = self.features - (0 if columns is None else self._engine.dense_columns)
        beyond = features.shape[1] - most
        if beyond > 0 and is_sparse(x) and is_sparse(features):  # an array has a size; what is beyond is a mistake
            known = features[:, :most]
            if known.nnz < features.nnz:
                warnings.warn(left_out_line(features.nnz - known.nnz), stacklevel=3)
            features = known
        return beside(data_of(features, targets), columns)

    def _predictor(self, k: int, **flags: Any) -> _slide.Predictor:
        # Kept, for most callers ask for the same again and again. Those for samples that come alone spend memory on it.
        key = (operator.index(k), *sorted(flags.items()))
        with self._lock:
            predictor = self._predictors.get(key)
            if predictor is None:
                options = _slide.PredictOptions()
                options.k = min(max(key[0], 0), 2**63)  # others are refused
                for name, value in flags.items():
                    setattr(options, name, value)
                predictor = _slide.Predictor(self._engine, options)
                while len(self._predictors) >= 4:
                    self._predictors.pop(next(iter(self._predictors)))
                self._predictors[key] = predictor
        return predictor

    def __reduce__(self) -> tuple:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.slide")
            self._save_file(path, False, None)
            with open(path, "rb") as file:
                return _unpickle, (file.read(), self._names_beside)

    def _facts(self) -> dict[str, str]:
        config = self.config
        return {
            "features": f"{self.features:,}",
            "labels": f"{self.labels:,}",
            "steps": f"{self.steps:,}",
            "trained on": "interactions" if self._of_users else "text" if self.is_text else "features",
            "loss": value_in(config, "loss", "kind").strip('"'),
            "inference": value_in(config, "eval", "inference").strip('"'),
            **({} if self.threshold is None else {"threshold": self._threshold_told()}),
        }

    def _threshold_told(self) -> str:
        own = len(self._engine.own_thresholds())
        return f"{self.threshold:g}" + (f" ({own:,} label{'s have' if own > 1 else ' has'} another)" if own else "")

    def __repr__(self) -> str:
        threshold = "" if self.threshold is None else f", threshold {self._threshold_told()}"
        return f"<slide.Model: {self.features} features, {self.labels} labels, {self.steps} steps{threshold}>"

    def _repr_html_(self) -> str:
        rows = [[escape(name), escape(value)] for name, value in self._facts().items()]
        return (
            table_of("slide.Model", [], rows)
            + f"<details><summary>configuration</summary><pre>{escape(self.config)}</pre></details>"
        )
