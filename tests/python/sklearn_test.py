"""slide.Classifier among scikit-learn's tools."""

import copy
import io
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import accuracy_score, average_precision_score, classification_report, f1_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import slide

# Checks that do not apply, as their name or their name and arguments, and why.
EXCEPTIONS = {
    "check_sample_weights_invariance(kind=zeros)": "it leaves out samples and shuffles the others, whose order counts for "
    "stochastic gradients; text_test.py leaves out samples alone",
    "check_methods_subset_invariance": "scores differ in the last bits with the samples that come along: those of a "
    "full block are added up in another order than those of a single sample",
}

DOCUMENTS = [
    "the violin and the cello", "a concert for the cello", "violin and piano in concert",
    "birds and trees", "the forest and its trees", "singing birds in the forest",
    "parliament passed the law", "a law on elections", "elections to the parliament",
] * 8
SUBJECTS = [["music"]] * 3 + [["nature"], ["nature"], ["nature", "music"]] + [["politics"]] * 3
SUBJECTS = SUBJECTS * 8


@parametrize_with_checks([slide.Classifier(verbose=False)])
def test_check_estimator(estimator, check):
    name = check.func.__name__
    arguments = ", ".join(f"{key}={value}" for key, value in check.keywords.items())
    for exception in (name, f"{name}({arguments})"):
        if exception in EXCEPTIONS:
            pytest.skip(f"{exception}: {EXCEPTIONS[exception]}")
    check(estimator)


def test_in_a_pipeline_behind_tf_idf(few):
    pipeline = make_pipeline(TfidfVectorizer(), slide.Classifier(**{**few, "train__epochs": 20}))
    pipeline.fit(DOCUMENTS, SUBJECTS)
    assert pipeline[-1].top_k(pipeline[:-1].transform(["a cello", "the law"]), k=1).tolist() == [["music"], ["politics"]]
    pipeline.set_params(classifier__train__epochs=1)
    assert "train__epochs" in pipeline.get_params()["classifier"].get_params()


def test_grid_search_over_keys(samples, few):
    x, y = samples
    grid = {"optimizer__learning_rate": [1e-9, 0.1], "layer__0__size": [16, 32], "train__epochs": [30]}
    few = {name: value for name, value in few.items() if name != "layer"}
    few |= {"layer__-1__wide": False, "neighbours__share": 0}  # which know the answers without training
    search = GridSearchCV(slide.Classifier(**few), grid, cv=KFold(2)).fit(x, y)
    assert search.best_params_["optimizer__learning_rate"] == 0.1
    assert len(search.cv_results_["mean_test_score"]) == 4 and search.best_score_ > 0.5


def test_cross_validation_over_processes(samples, few):
    x, y = samples
    alone = cross_val_score(slide.Classifier(**few), x, y, cv=KFold(3))
    together = cross_val_score(slide.Classifier(**few), x, y, cv=KFold(3), n_jobs=2)
    assert np.array_equal(alone, together) and alone.min() > 0.8


# ---- rare classes, indicator matrices, thresholds ----


def rare(seed, labels=12, rows=90, several=True):
    """(X, Y): half of the labels are of one or two samples, so that folds lack some."""
    rng = np.random.default_rng(seed)
    first = np.r_[np.arange(labels), rng.integers(0, labels // 2, rows - labels)]
    x = (rng.normal(0, 0.3, (rows, labels + 3)) + np.eye(labels, labels + 3)[first]).astype(np.float32)
    if not several:
        return x, first
    y = np.eye(labels, dtype=np.int64)[first]
    y[np.arange(rows), rng.integers(0, labels // 2, rows)] = 1
    return x, y


def f1_of(truth, predicted):
    hits = ((truth == 1) & (predicted == 1)).sum()
    return 2 * hits / (truth.sum() + predicted.sum())


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("seed", range(5))
def test_scores_of_rare_classes_are_those_computed_by_hand(seed, few):
    folds = KFold(3, shuffle=True, random_state=seed)
    several, labels = rare(seed)
    alone, classes = rare(seed, several=False)
    estimator = slide.Classifier(**few, threshold=0.2)
    by_f1, by_p1, by_default, lacking = [], [], [], []
    for train, test in folds.split(several):
        fitted = slide.Classifier(**few, threshold=0.2).fit(several[train], labels[train])
        lacking += [labels[test].sum(axis=0)[labels[train].sum(axis=0) == 0].sum(), len(set(classes) - set(classes[train]))]
        probabilities = fitted.predict_proba(several[test], k=12).toarray()
        by_f1.append(f1_of(labels[test], (probabilities >= np.float32(0.2)).astype(int)))
        by_p1.append(labels[test][np.arange(len(test)), probabilities.argmax(axis=1)].mean())
        one = slide.Classifier(**few).fit(alone[train], classes[train])
        by_default.append((one.predict(alone[test]) == classes[test]).mean())
    assert sum(lacking[::2]) == sum(lacking[1::2]) == 6
    np.testing.assert_allclose(cross_val_score(estimator, several, labels, cv=folds, scoring="f1_micro"), by_f1)
    np.testing.assert_allclose(cross_val_score(estimator, several, labels, cv=folds), by_p1)
    np.testing.assert_allclose(cross_val_score(slide.Classifier(**few), alone, classes, cv=folds), by_default)
    grid = {"threshold": [0.2, 1]}
    search = GridSearchCV(estimator, grid, cv=folds, scoring="f1_micro").fit(several, labels)
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(by_f1))
    assert np.isfinite(cross_val_score(slide.Classifier(**few), alone, classes)).all()
    assert np.isfinite(GridSearchCV(slide.Classifier(**{**few, "train__epochs": None}), {"max_iter": [1, 2]}).fit(alone, classes).best_score_)


def test_predict_gives_an_indicator_matrix(samples, few):
    x, y = samples
    classifier = slide.Classifier(**few, threshold=0.3).fit(x, y)
    predicted = classifier.predict(x)
    assert sparse.issparse(predicted) and predicted.shape == y.shape and set(predicted.data.tolist()) == {1}
    wanted = classifier.predict_proba(x, k=40).toarray() >= np.float32(0.3)
    assert (predicted.toarray() == wanted).all()
    assert "micro avg" in classification_report(y, predicted)
    assert f1_score(y, predicted, average="micro") > 0.8
    three = classifier.set_params(threshold=3).predict(x)
    assert (np.diff(three.indptr) == 3).all()
    assert [set(row) for row in classifier.top_k(x, 3).tolist()] == [set(three[i].indices) for i in range(1500)]
    labels, scores = classifier.top_k(x, 3, return_scores=True)
    np.testing.assert_array_equal(np.take_along_axis(classifier.predict_proba(x, 3).toarray(), labels, axis=1), scores)
    with pytest.warns(FutureWarning, match=r"is now called top_k\(X, k\)"):
        assert (classifier.predict(x, k=2) == classifier.top_k(x, 2)).all()
    for wrong in (1.5, -1, "best", True, 0.5j):
        with pytest.raises(slide.InputError, match="threshold: .*; give a probability from 0 to 1"):
            classifier.set_params(threshold=wrong).predict(x)


@pytest.mark.parametrize("wrong", ["bestf1", -3, 1.5, True, float("nan"), [0.3]])
def test_thresholds_at_fault_are_refused_before_training(wrong, samples, few):
    message = "threshold: .*; give a probability from 0 to 1 as a float, a number of labels as an int, or 'best-f1'"
    for fit in ("fit", "partial_fit"):
        classifier = slide.Classifier(**few, threshold=wrong)
        with pytest.raises(slide.InputError, match=message):
            getattr(classifier, fit)(*samples)
        assert not hasattr(classifier, "model_")
    fitted = slide.Classifier(**few, warm_start=True).fit(*samples)
    steps = fitted.model_.steps
    for fit in (fitted.fit, fitted.partial_fit):
        with pytest.raises(slide.InputError, match=message):
            fitted.set_params(threshold=wrong)
            fit(*samples)
        assert fitted.model_.steps == steps


def test_probabilities_are_of_as_many_labels_as_asked_for(samples, few):
    x, y = samples
    classifier = slide.Classifier(**few).fit(x, y)
    with pytest.warns(UserWarning, match="best 5 of 40 labels; set proba_k") as told:
        assert (np.diff(classifier.predict_proba(x).indptr) == 5).all()
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for proba_k, wanted in ((3, 3), (np.int64(7), 7), (50, 40), ("all", 40)):
            probabilities = classifier.set_params(proba_k=proba_k).predict_proba(x)
            assert sparse.issparse(probabilities) and (np.diff(probabilities.indptr) == wanted).all()
            assert (np.diff(classifier.predict_proba(x, k=2).indptr) == 2).all()
        reached = classifier.set_params(proba_k=3).predict_proba(x, threshold=0.0)
        assert reached.nnz == 1500 * 40
        assert slide.Classifier(**few).fit(x, y[:, :5]).predict_proba(x).shape == (1500, 5)
        assert isinstance(slide.Classifier(**few, proba_k=2).fit(*rare(1, several=False)).predict_proba(rare(1)[0]), np.ndarray)
    for wrong in (0, -1, 2.5, "each", True):
        with pytest.raises(slide.InputError, match="proba_k: .*; give a number of labels from 1, or 'all'"):
            slide.Classifier(**few, proba_k=wrong).fit(x, y)
        with pytest.raises(slide.InputError, match="proba_k: "):
            classifier.set_params(proba_k=wrong).predict_proba(x)


def test_average_precision_is_that_of_all_labels(few):
    x, y = rare(3, rows=300)
    layers = [{"size": 2}, {"uniform": 12, "wide": False}]  # too small to rank all labels right
    keys = {**few, "layer": layers, "neighbours__share": 0}
    classifier = slide.Classifier(**keys, proba_k="all")
    probabilities, scores = (
        cross_val_predict(classifier, x, y, cv=KFold(3), method=name) for name in ("predict_proba", "decision_function"))
    by_all = average_precision_score(y, probabilities.toarray(), average="micro")
    assert average_precision_score(y, scores, average="micro") == pytest.approx(by_all, abs=1e-3)
    with pytest.warns(UserWarning, match="best 5 of 12 labels"):
        few_of_them = cross_val_predict(slide.Classifier(**keys), x, y, cv=KFold(3), method="predict_proba")
    assert average_precision_score(y, few_of_them.toarray(), average="micro") < by_all - 0.01


def test_decision_scores_are_those_of_all_labels(samples, few):
    x, y = samples
    tables = {**few, "eval__inference": "lsh", "eval__candidates": 8}
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, np.asarray):
        classifier = slide.Classifier(**tables).fit(x, kind(y.toarray()))
        assert (classifier.predict_proba(x, k=40).nnz < 1500 * 40), "tables find some labels"
        scores = classifier.decision_function(x)
        assert type(scores) is np.ndarray and scores.shape == (1500, 40) and scores.dtype == np.float64
        ids, wanted = classifier.model_.predict(x, 40, logits=True, inference="full")
        assert (np.take_along_axis(scores, ids, axis=1) == wanted).all()
        best = classifier.decision_function(x, k=3)
        assert sparse.issparse(best) and best.shape == (1500, 40) and np.diff(best.indptr).max() == 3
    single = slide.Classifier(**tables).fit(x, np.arange(1500) % 40)
    proba = single.predict_proba(x)
    assert (proba > 0).all() and proba.sum(axis=1) == pytest.approx(np.ones(1500))


def test_predict_without_a_threshold_warns_of_nothing(samples, few):
    classifier = slide.Classifier(**few).fit(*samples)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        half = classifier.predict(samples[0])
        assert (half != classifier.predict(samples[0], threshold=0.5)).nnz == 0


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_is_shown_where_somebody_sees_it(samples, few, monkeypatch):
    x, y = samples
    keys = {**few, "verbose": None}

    def shown(stream, act):
        monkeypatch.setattr(sys, "stderr", stream)
        act()
        return stream.getvalue()

    fit = lambda: slide.Classifier(**keys).fit(x, y)  # noqa: E731
    assert slide.Classifier().verbose is None
    assert shown(io.StringIO(), fit) == "" != shown(Terminal(), fit)
    assert shown(Terminal(), lambda: make_pipeline("passthrough", slide.Classifier(**keys)).fit(x, y)) != ""
    for tool in (
        lambda: cross_val_score(slide.Classifier(**keys), x, y, cv=2),
        lambda: GridSearchCV(slide.Classifier(**keys), {"threshold": [0.2, 0.5]}, cv=2).fit(x, y),
        lambda: slide.Classifier(**{**keys, "verbose": False}).fit(x, y),
    ):
        assert shown(Terminal(), tool) == ""
    assert shown(io.StringIO(), lambda: cross_val_score(slide.Classifier(**{**keys, "verbose": True}), x, y, cv=2)) != ""


def test_scores_take_weights_of_samples(samples, few):
    x, y = samples
    classifier = slide.Classifier(**few).fit(x, y)
    weights = np.random.default_rng(2).integers(0, 4, y.shape[0]).astype(float)
    for k in (1, 3, 60):
        assert classifier.score(x, y, k, sample_weight=np.ones(1500)) == pytest.approx(classifier.score(x, y, k))
        rows = np.repeat(np.arange(1500), weights.astype(int))
        assert classifier.score(x, y, k, sample_weight=weights) == pytest.approx(classifier.score(x[rows], y[rows], k))
    alone, classes = rare(1, several=False)
    one = slide.Classifier(**few).fit(alone, classes)
    weights = np.arange(len(classes))
    assert one.score(alone, classes, sample_weight=weights) == pytest.approx(
        accuracy_score(classes, one.predict(alone), sample_weight=weights))
    texts = slide.Classifier(**{**few, "text__min_count": 1}).fit(DOCUMENTS, SUBJECTS)
    assert texts.score(["a cello", "the law"], [["never"], ["politics"]], sample_weight=[0, 2]) == texts.score(["the law"], [["politics"]])
    for wrong, message in (([1], "there are"), ([-1] * 1500, "from 0"), ([0] * 1500, "from 0"), ([np.nan] * 1500, "finite")):
        with pytest.raises(slide.InputError, match=f"sample_weight: .*{message}"):
            classifier.score(x, y, sample_weight=wrong)


def test_parts_of_a_cross_validation_are_put_together(samples, few):
    x, y = samples
    classifier = slide.Classifier(**few, threshold=0.3, proba_k=5)
    by_sparse, by_dense = (cross_val_predict(classifier, x, one, cv=KFold(3)) for one in (y, y.toarray()))
    assert (by_sparse != by_dense).nnz == 0 and by_sparse.shape == y.shape
    assert cross_val_predict(classifier, x, y.toarray(), cv=KFold(3), method="predict_proba").shape == y.shape
    # scikit-learn itself takes a sparse Y for no method of columns, of no classifier.
    for other in (classifier, KNeighborsClassifier()):
        with pytest.raises(IndexError):
            cross_val_predict(other, x, y, cv=KFold(3), method="predict_proba")


def test_the_threshold_of_best_f1_is_found_on_samples_held_out(few):
    x, y = rare(7, rows=400)
    given = slide.Classifier(**few, threshold="best-f1").fit(x[:300], y[:300], eval_set=(x[300:], y[300:]))
    probabilities = given.predict_proba(x[300:], k=12).toarray()
    by_hand = {t: f1_of(y[300:], probabilities >= t) for t in np.unique(probabilities[probabilities > 0])}
    assert f1_of(y[300:], probabilities >= np.float32(given.threshold_)) == max(by_hand.values())
    assert np.float32(given.threshold_) not in by_hand, "it lies between scores"
    assert (given.predict(x).toarray() == (given.predict_proba(x, k=12).toarray() >= np.float32(given.threshold_))).all()
    shared = slide.Classifier(**few, threshold="best-f1", validation=0.25).fit(x, y)
    plain = slide.Classifier(**few, validation=0.25).fit(x, y)
    assert 0 < shared.threshold_ < 1 and not hasattr(plain, "threshold_")
    assert (shared.model_.label_vectors() == plain.model_.label_vectors()).all()
    with pytest.raises(slide.InputError, match="fit with validation=0.1 or an eval_set"):
        slide.Classifier(**few, threshold="best-f1").fit(x, y)
    with pytest.raises(slide.InputError, match="fit with validation=0.1 or an eval_set"):
        plain.set_params(threshold="best-f1").predict(x)


def test_an_eval_set_ends_training_early(samples, few):
    x, y = samples
    keys = {**few, "train__epochs": 40, "train__patience": 2}
    for given in ((x[1200:], y[1200:]), [(x[1200:], y[1200:])]):
        classifier = slide.Classifier(**keys).fit(x[:1200], y[:1200], eval_set=given)
        evaluations = classifier.history["evaluations"]
        best = max(one["epoch"] for one in evaluations if one["best"])
        assert len(evaluations) == best + 2 == classifier.n_iter_ < 40
        assert classifier.model_.evaluate(x[1200:], y[1200:], 1)["p_at_1"] == pytest.approx(evaluations[best - 1]["p_at_1"])
    words = slide.Classifier(**{**few, "text__min_count": 1}).fit(
        DOCUMENTS, SUBJECTS, eval_set=(["a cello", "the law"], [["music"], ["never", "politics"]]))
    assert words.history["evaluations"][0]["recall_at_1"] <= 0.75
    dense = np.asarray(x.todense()) + 1
    assert slide.Classifier(**few).fit(dense, y, eval_set=(dense[:50], y[:50])).history["evaluations"]
    for given, message in (
        (x, "eval_set: give a pair"),
        ((x[:, :9], y), "eval_set: X has 9 features, but that of fit has 120"),
        ((DOCUMENTS, SUBJECTS), "eval_set: give a matrix of features"),
        ((x[:9], y), "9 rows of features, but 1500 of labels"),
    ):
        with pytest.raises(slide.InputError, match=message):
            slide.Classifier(**few).fit(x, y, eval_set=given)
    with pytest.raises(slide.InputError, match="give one of the two"):
        slide.Classifier(**few, validation=0.1).fit(x, y, eval_set=(x, y))


# ---- names of parameters ----


def test_names_of_scikit_learn_stand_for_keys(samples, few):
    x, y = samples
    plain = {name: value for name, value in few.items() if name != "train__epochs" and name != "train__threads"}
    one = slide.Classifier(**plain, max_iter=3, random_state=7, n_jobs=2).fit(x, y)
    same = slide.Classifier(**plain, train__epochs=3, train__seed=7, train__threads=2).fit(x, y)
    assert (one.model_.label_vectors() == same.model_.label_vectors()).all() and one.n_iter_ == 3
    other = slide.Classifier(**plain, max_iter=3, random_state=np.random.RandomState(1), n_jobs=-1).fit(x, y)
    assert (other.model_.label_vectors() != one.model_.label_vectors()).any()
    for keys, message in (
        ({"random_state": 1, "train__seed": 2}, "random_state and train__seed are one parameter"),
        ({"max_iter": 1, "train": {"epochs": 2}}, "max_iter and train__epochs are one parameter"),
        ({"n_jobs": 0}, "n_jobs: 0; .* train__threads"),
        ({"max_iter": 0}, "max_iter: 0; .* train__epochs"),
        ({"random_state": "x"}, "random_state: 'x'; give a number"),
    ):
        with pytest.raises(slide.InputError, match=message):
            slide.Classifier(**keys).fit(x, y)
    for name, here in (("batch_size", "train__batch_size"), ("early_stopping", "eval_set"), ("alpha", "optimizer__weight_decay"),
                       ("early_stopping_rounds", "train__patience")):
        with pytest.raises(slide.InputError, match=f"Invalid parameter '{name}' .*{here}.* here"):
            slide.Classifier(**{name: 1})
    with pytest.raises(slide.InputError, match="'tol' for .*; there is no tolerance here; with validation, .* train__patience"):
        slide.Classifier(tol=1e-4)


def test_weights_of_classes_multiply_those_of_samples(few):
    x, y = rare(3, several=False)
    counts = np.bincount(y)
    by_hand = len(y) / (12 * counts[y])
    balanced = slide.Classifier(**few, class_weight="balanced").fit(x, y)
    weighed = slide.Classifier(**few).fit(x, y, sample_weight=by_hand)
    assert (balanced.model_.label_vectors() == weighed.model_.label_vectors()).all()
    half = slide.Classifier(**few, class_weight={3: 4.0}).fit(x, y, sample_weight=np.full(len(y), 0.5))
    weighed = slide.Classifier(**few).fit(x, y, sample_weight=np.where(y == 3, 2.0, 0.5))
    assert (half.model_.label_vectors() == weighed.model_.label_vectors()).all()
    with pytest.raises(slide.InputError, match="there is no class 77 in y"):
        slide.Classifier(**few, class_weight={77: 1}).fit(x, y)
    with pytest.raises(slide.InputError, match="class_weight: 'even'; give 'balanced'"):
        slide.Classifier(**few, class_weight="even").fit(x, y)
    with pytest.raises(slide.InputError, match="data__label_weights"):
        slide.Classifier(**few, class_weight="balanced").fit(*rare(3))


def test_weights_of_labels_are_those_of_a_file(few, tmp_path):
    x, y = rare(3)
    weights = {1: 4.0, 7: 0.5, 11: 0.0}
    (tmp_path / "weights").write_text("".join(f"{weights.get(label, 1.0)}\n" for label in range(12)))
    keys = {**few, "layer": [{"size": 16}, {"uniform": 8, "wide": False}], "neighbours__share": 0}
    by_file = slide.Classifier(**keys, data__label_weights=str(tmp_path / "weights")).fit(x, y)
    by_dict = slide.Classifier(**keys, class_weight=weights).fit(x, y)
    assert (by_dict.model_.label_vectors() == by_file.model_.label_vectors()).all()
    assert (by_dict.model_.label_vectors() != slide.Classifier(**keys).fit(x, y).model_.label_vectors()).any()
    held = {"validation": 0.2, "train__epochs": 3}
    one = slide.Classifier(**{**keys, **held}, data__label_weights=str(tmp_path / "weights")).fit(x, y)
    same = slide.Classifier(**{**keys, **held}, class_weight=weights).fit(x, y)
    assert (one.model_.label_vectors() == same.model_.label_vectors()).all()
    # Names, and further calls.
    names = [[f"n{label}" for label in np.flatnonzero(row)] for row in y]
    named = slide.Classifier(**keys, class_weight={f"n{label}": weight for label, weight in weights.items()})
    plain = slide.Classifier(**keys)
    weighed = [one.fit(x, names).partial_fit(x, names).model_.label_vectors() for one in (named, plain)]
    assert (weighed[0] != weighed[1]).any()
    zero = slide.Classifier(**keys, class_weight={label: 0.0 for label in range(11)}).fit(x, y)
    before = zero.model_.label_vectors()
    assert (zero.partial_fit(x, y).model_.label_vectors() != before).any()
    for class_weight, message in (
        ({77: 1.0}, "there is no class 77 in y"), ({1: -1.0}, "that of 1 is -1; give a number from 0"),
        ({label: 0 for label in range(12)}, "all are 0"),
    ):
        with pytest.raises(slide.InputError, match=message):
            slide.Classifier(**keys, class_weight=class_weight).fit(x, y)
    with pytest.raises(slide.InputError, match="give one of the two"):
        slide.Classifier(**keys, class_weight=weights, data__label_weights=-0.5).fit(x, y)


def test_a_warm_start_continues(samples, few):
    x, y = samples
    warm = slide.Classifier(**few, warm_start=True).fit(x, y)
    steps = warm.model_.steps
    assert warm.fit(x, y).model_.steps == 2 * steps
    assert slide.Classifier(**few).fit(x, y).fit(x, y).model_.steps == steps
    with pytest.raises(slide.InputError, match="warm_start continues the model without validation"):
        warm.set_params(validation=0.1).fit(x, y)


def test_a_history_stays_as_it_was_handed_out(samples, few):
    x, y = samples
    warm = slide.Classifier(**few, warm_start=True).fit(x, y)
    history, twin = warm.history, copy.copy(warm)
    before = copy.deepcopy(history)
    for more in (lambda: warm.fit(x, y), lambda: warm.partial_fit(x, y)):
        more()
        assert history == before == twin.history
    assert len(warm.history["epoch"]) == warm.n_iter_ == 5
    warm.history["loss"].clear()
    assert len(warm.history["loss"]) == 5
    seen = []
    warm.set_params(on_epoch=lambda report: seen.append(warm.history)).fit(x, y)
    assert [len(one["loss"]) for one in seen] == [6, 7]


def test_partial_fit_takes_new_labels(few):
    draw = np.random.default_rng(1)
    x = (draw.normal(0, 0.1, (300, 9)) + np.eye(9)[np.arange(300) % 9]).astype(np.float32)
    y = np.arange(300) % 9
    keys = {**few, "train__epochs": 10, "proba_k": "all"}
    old = y < 6
    for name in (lambda one: one, lambda one: f"c{one}", lambda one: [one], lambda one: [f"n{one}"]):
        labels = [name(one) for one in y.tolist()]
        classifier = slide.Classifier(**keys).fit(x[old], [labels[i] for i in np.flatnonzero(old)])
        classifier.partial_fit(x, labels, epochs=20)
        assert len(classifier.classes_) == 9 == classifier.model_.labels
        assert classifier.score(x, labels) > 0.95
        assert classifier.predict_proba(x).shape[1] == 9
    with pytest.raises(slide.InputError, match="has another type than the labels of the first call"):
        slide.Classifier(**keys).fit(x, y).partial_fit(x, [f"c{one}" for one in y])
    with pytest.raises(slide.InputError, match="in the form of the first call"):
        slide.Classifier(**keys).fit(x, y).partial_fit(x, [[one] for one in y.tolist()])


def test_a_fitted_one_goes_to_other_processes(samples, few):
    joblib = pytest.importorskip("joblib")
    x, y = samples
    classifier = slide.Classifier(**few).fit(x, y)
    parts = joblib.Parallel(n_jobs=2)(joblib.delayed(classifier.top_k)(x[i : i + 500]) for i in (0, 500, 1000))
    assert (np.vstack(parts) == classifier.top_k(x)).all()
