"""What the package refuses or warns of, in one line that names the argument."""

import os
import warnings

import numpy as np
import pytest
from scipy import sparse

import slide

TEXTS = ["red ball", "blue sky"] * 10
NAMES = [["warm"], ["cold", "far"]] * 10
EYE = np.eye(4, dtype=np.float32).repeat(5, axis=0)
BRIEF = {"max_iter": 2, "verbose": False, "layer__0__size": 16}
OF_TEXTS = {**BRIEF, "text__min_count": 1}


@pytest.fixture(scope="module")
def of_texts():
    return slide.Classifier(**OF_TEXTS).fit(TEXTS, NAMES)


@pytest.fixture(scope="module")
def of_features():
    return slide.Classifier(**BRIEF).fit(EYE, EYE.astype(int))


def refused(line, call):
    with pytest.raises(slide.InputError, match=line) as told:
        call()
    assert "\n" not in str(told.value)


def test_labels_of_many_texts_are_measured():
    """Their arrays are made for the call, and have to outlive it."""
    texts = [f"w{i % 200} a b" for i in range(6000)]
    names = [f"l{i % 200}" for i in range(6000)]
    classifier = slide.Classifier(**OF_TEXTS).fit(texts, names)
    assert classifier.model_.evaluate(texts[:500], names[:500], k=[1])["p_at_1"] > 0.99
    assert classifier.score(texts[:500], names[:500]) > 0.99

    best = slide.Classifier(**OF_TEXTS, threshold="best-f1")
    several = [[name, "x"] for name in names]
    for y in ([[name] for name in names], several):
        best.fit(texts, y, eval_set=(texts[:500], y[:500]))
        assert 0 < best.threshold_ < 1 and best.score(texts[:500], y[:500]) > 0.99
    several[3] = several[10] = []
    some = slide.Classifier(**OF_TEXTS).fit(texts, several)
    assert some.model_.evaluate(texts[:500], several[:500], k=[1])["p_at_1"] == pytest.approx(498 / 500)

    dense = np.zeros((6000, 200), int)
    dense[np.arange(6000), np.arange(6000) % 200] = 1
    of_columns = slide.Classifier(**OF_TEXTS).fit(texts, dense)
    assert of_columns.model_.evaluate(texts[:500], dense[:500], k=[1])["p_at_1"] > 0.99
    assert of_columns.score(texts[:500], dense[:500]) > 0.99


@pytest.mark.parametrize("count", [0, -3, np.int64(0)])
def test_no_labels_are_no_threshold(of_features, count):
    line = "^threshold: .*; give a probability from 0 to 1 as a float, a number of labels as an int, .*; an int counts labels, from 1"
    refused(line, lambda: slide.Classifier(**BRIEF, threshold=count).fit(EYE, EYE.astype(int)))
    refused(line, lambda: of_features.predict(EYE, threshold=count))
    refused("^threshold: .* is no probability; give one from 0 to 1 as a float, or a number of labels as an int from 1",
            lambda: of_features.model_.predict(EYE, threshold=count))
    assert of_features.predict(EYE, threshold=0.0).nnz == EYE.size
    assert of_features.model_.predict(EYE, threshold=0.0)[0].shape == EYE.shape
    assert of_features.model_.predict(EYE, threshold=-10**6, logits=True)[0].shape == EYE.shape  # any number


def test_a_truth_value_is_no_threshold(of_features):
    refused("threshold: True", lambda: of_features.predict(EYE, threshold=True))
    refused("threshold: False", lambda: of_features.model_.predict(EYE, threshold=False))


@pytest.mark.parametrize("name, cause", [("a\nb", "has a line break"), ("", "is empty")])
def test_names_that_fit_no_line_are_warned_of(tmp_path, name, cause):
    path = tmp_path / "m.slide"
    y = np.array([name, "c", "d", "e"], object).repeat(5)
    classifier = slide.Classifier(**BRIEF).fit(EYE, y)
    for _ in range(2):
        with pytest.warns(UserWarning, match=f"m.slide.labels is not written, .* the class .* {cause}") as told:
            classifier.save(path, force=True)
        assert len(told) == 1 and not os.path.exists(f"{path}.labels")
        (tmp_path / "m.slide.labels").write_text("of\nan\nearlier\nmodel\n")
    os.remove(f"{path}.labels")
    assert set(slide.Classifier.load(path).predict(EYE)) <= {name, "c", "d", "e"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slide.Classifier(**BRIEF).fit(EYE, np.array(list("bcde"), object).repeat(5)).save(path, force=True)


def test_a_report_is_about_runs(tmp_path):
    refused("runs: there are none", lambda: slide.report([], tmp_path / "x.html"))
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize("share", ["10%", "eval_set", (EYE, EYE)])
def test_a_share_is_a_number(share):
    refused("^validation: .*; give a share of the samples", lambda: slide.Classifier(**BRIEF, validation=share).fit(EYE, EYE.astype(int)))


@pytest.mark.parametrize("weight", ["2x", None])
def test_weights_are_numbers(of_features, weight):
    y = np.arange(4).repeat(5)
    refused("^class_weight of 1: .*; give a number", lambda: slide.Classifier(**BRIEF, class_weight={1: weight}).fit(EYE, y))


def test_weights_of_samples_are_numbers(of_features):
    y, words = np.arange(4).repeat(5), ["a"] * 20
    line = "^sample_weight: .*; give a number for each sample"
    refused(line, lambda: slide.Classifier(**BRIEF).fit(EYE, y, sample_weight=words))
    refused(line, lambda: slide.Classifier(**BRIEF, class_weight="balanced").fit(EYE, y, sample_weight=words))
    refused(line, lambda: of_features.score(EYE, EYE.astype(int), sample_weight=words))


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_user_has_no_name(program, tmp_path, missing):
    lines = [f"{user},{item}" for user in ("ann", "None", "nan") for item in ("tea", "jam", "rice")]
    (tmp_path / "log.csv").write_text("\n".join(["user,item", *lines, "dan,tea", ""]))
    run = tmp_path / "run"
    program("train", "--set", f"data.train={tmp_path / 'log.csv'}", "--epochs", "2", "--out", run, "--quiet")
    model = slide.load(run)
    refused("^users: row 1 is missing", lambda: model.recommend(["ann", missing], k=1))
    refused("^users: row 0 is missing", lambda: model.predict(users=[missing], k=1))
    refused("^users: 5; give a list of names", lambda: model.recommend(5, k=1))
    assert list(model.recommend((name for name in ("ann", "None")), k=1)) == ["ann", "None"]


@pytest.mark.parametrize("k", [1.5, "a"])
def test_k_is_whole(of_features, k):
    for call in (of_features.top_k, of_features.predict_proba, of_features.decision_function, of_features.model_.predict):
        refused("^k: .*; give a whole number", lambda: call(EYE, k))


def test_samples_are_rows(of_features, of_texts):
    line = "^X: .*; give a matrix of features with a row a sample, or a list of texts"
    for model in (of_features, of_features.model_, of_texts.model_):
        refused(line, lambda: model.predict(row for row in EYE))
        for wrong in (5, None, {"a": 1}):
            refused(line, lambda: model.explain(wrong))
    refused(line, lambda: slide.Classifier(**OF_TEXTS).fit((text for text in TEXTS), NAMES))
    refused("^labels: <generator", lambda: slide.Classifier(**OF_TEXTS).fit(TEXTS, (names for names in NAMES)))
    refused("fitted on texts; give a list of texts", lambda: of_texts.explain(5))
    for empty in ([], np.array([], object)):
        refused("^X is empty; give a list of one text or more", lambda: of_texts.predict(empty))


@pytest.mark.parametrize("name, here", [
    ("max_iters", "did you mean max_iter[?]$"), ("warmstart", "did you mean warm_start[?]$"),
    ("batch_sizes", "did you mean batch_size[?] it is train__batch_size here"), ("tran__epochs", "did you mean train__epochs[?]$"),
    ("dropout", "layer__0__dropout"), ("shuffle", "train__shuffle"), ("eta0", "optimizer__learning_rate"),
    ("momentum", "optimizer__momentum"), ("penalty", "optimizer__weight_decay"), ("multi_class", "leave it out"),
    ("fit_intercept", r"see help\(slide.Classifier\)"),
])
def test_unknown_parameters_name_known_ones(name, here):
    refused(f"Invalid parameter '{name}' for estimator Classifier; .*{here}", lambda: slide.Classifier(**{name: 3}))


def test_keys_named_for_unknown_parameters_are_keys():
    keys = {"layer__0__dropout": 0.1, "train__shuffle": False, "optimizer__kind": "momentum", "optimizer__momentum": 0.5,
            "optimizer__learning_rate": 0.1, "optimizer__weight_decay": 0.001}
    assert slide.Classifier(**BRIEF, **keys).fit(EYE, EYE.astype(int)).n_iter_ == 2


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_a_warm_start_is_true_or_false(value):
    refused("^warm_start: .*; give True or False", lambda: slide.Classifier(**BRIEF, warm_start=value).fit(EYE, EYE.astype(int)))


def test_negative_jobs_count_from_all_cores():
    classifier = slide.Classifier(**BRIEF, n_jobs=-2).fit(EYE, EYE.astype(int))
    assert f"threads = {max(1, os.cpu_count() - 1)}" in classifier.model_.config


def test_sparse_labels_are_0_and_1_as_dense_ones_are(of_features):
    y = sparse.csr_matrix(EYE)
    for wrong, value in ((y * 2, "2.0"), (y * 0.3, "0.3"), (-y, "-1.0")):
        line = f"^labels: row 0, column 0 is {value}.*; give 1 where a sample has a label, and else 0"
        refused(line, lambda: slide.Classifier(**BRIEF).fit(EYE, wrong))
        refused(line, lambda: slide.evaluate(wrong, EYE))
        refused("^labels: an array of two dimensions", lambda: slide.Classifier(**BRIEF).fit(EYE, wrong.toarray()))
        refused(line, lambda: of_features.score(EYE, wrong))
    with_zeros = y.copy()
    with_zeros.data[3] = 0
    for right in (y.astype(bool), y.astype(np.int8), with_zeros):
        slide.Classifier(**BRIEF).fit(EYE, right)


def test_a_matrix_of_labels_has_a_column_for_each_class(of_features, of_texts):
    y = EYE.astype(int)
    for other, count in ((np.hstack([y, y]), 8), (sparse.csr_matrix(y[:, :3]), 3)):
        refused(f"^labels: y has {count} columns, but Classifier has 4 classes", lambda: of_features.score(EYE, other))
    refused("^labels: y has 2 columns, but Classifier has 3 classes", lambda: of_texts.score(TEXTS, np.eye(2, dtype=int).repeat(10, axis=0)))
    assert of_features.score(EYE, [[7]] * 20) == 0


def test_a_threshold_of_probabilities_is_none_of_other_scores(of_features):
    y, logits = EYE.astype(int), of_features.decision_function(EYE)
    with pytest.warns(UserWarning, match="^threshold: 0.3 cuts scores from -[0-9.]+ to -[0-9.]+, which are no probabilities; predict_proba"):
        slide.evaluate(y, logits - 10, threshold=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slide.evaluate(y, logits, threshold=0)
        slide.evaluate(y, of_features.predict_proba(EYE, 4), threshold=0.3)
        slide.evaluate(y, sparse.csr_matrix((20, 4), dtype=np.float32), threshold=0.3)


def test_what_numpy_would_refuse_has_a_line():
    new = lambda: slide.Classifier(**OF_TEXTS)
    refused(r"^labels: row 1 is one label \('y'\), but others are lists", lambda: new().fit(["a b", "c d"], [["x"], "y"]))
    refused(r"^labels: row 0 is one label \(3\), but others are lists", lambda: slide.evaluate([3, [1]], EYE[:2]))
    refused("^labels: row 1 is missing", lambda: new().fit(["a b", "c d"], [["x"], None]))
    refused("^X: row 0 is a dict .*DictVectorizer", lambda: new().fit([{"a": 1}, {"b": 2}], ["x", "y"]))
    refused("^X: row 1 has 1 values, but row 0 has 2 values", lambda: new().fit([[1, 2], [3]], ["x", "y"]))
    refused("^X: row 1 has one number, but row 0 has 2 values", lambda: new().fit([[1, 2], 3], ["x", "y"]))
    refused("^X is empty", lambda: new().fit([], []))
    refused("^X: features are numbers", lambda: new().fit([[1, [2]], [3, [4]]], ["x", "y"]))
    refused("^X: {1, 2}; give a matrix", lambda: new().fit({1, 2}, ["x", "y"]))
    refused("^labels: {'a': 1}; give a list", lambda: new().fit([[1, 2]], {"a": 1}))


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_arguments_of_other_estimators_are_named(method):
    def call(**others):
        return lambda: getattr(slide.Classifier(**BRIEF), method)(EYE, EYE.astype(int), **others)

    refused(f"^Invalid argument 'early_stopping_rounds' of {method}; it is train__patience here, in epochs", call(early_stopping_rounds=3))
    refused(f"^Invalid argument 'max_iter' of {method}; it is a parameter: Classifier[(]max_iter=", call(max_iter=3))
    refused(f"^Invalid argument 'sample_weights' of {method}; did you mean sample_weight[?]", call(sample_weights=[1] * 20))


@pytest.mark.parametrize("name, here", [
    ("lr", "optimizer__learning_rate"), ("dim", "layer__0__size"), ("wordNgrams", "text__word_ngrams"),
    ("epoch", "train__epochs"), ("minn", "text__char_ngrams_min"), ("maxn", "text__char_ngrams_max"),
    ("minCount", "text__min_count"), ("thread", "train__threads"), ("neg", "layer__-1__uniform"),
])
def test_names_of_fasttext_name_keys(name, here):
    refused(f"Invalid parameter '{name}' for estimator Classifier; it is {here}", lambda: slide.Classifier(**{name: 3}))


def test_a_loss_by_its_name_alone_is_refused():
    refused("^loss: 'ova'; it is loss__kind here", lambda: slide.Classifier(loss="ova", **OF_TEXTS).fit(TEXTS, NAMES))


def test_keys_of_files_are_refused_where_samples_are_given():
    for keys in ({"data__train": "x"}, {"data": {"train": "x"}}, {"data__test": "x"}, {"data__test_newest": 1}, {"data__test_after": "2"}):
        key = "data__train" if "data" in keys else next(iter(keys))
        line = f"^{key}: it has no effect here, .*; leave it out$"
        refused(line, lambda: slide.Classifier(**keys, **OF_TEXTS).fit(TEXTS, NAMES))
        refused(line, lambda: slide.Classifier(**keys, **OF_TEXTS).partial_fit(TEXTS, NAMES))
        refused(line, lambda: slide.tune(TEXTS, NAMES, **keys))


def test_other_names_of_arguments_of_tune_are_refused():
    refused("^Invalid argument 'minutes' of tune; it is seconds here", lambda: slide.tune(TEXTS, NAMES, minutes=1))
    refused("^Invalid argument 'n_trials' of tune; it is trials here", lambda: slide.tune(TEXTS, NAMES, n_trials=1))
    refused("^Invalid argument 'second' of tune; did you mean seconds[?]", lambda: slide.tune(TEXTS, NAMES, second=1))
    refused("^Invalid argument 'mode' of read; did you mean model[?]", lambda: slide.read("x", mode=1))
    refused("^seconds: -1; give a time above 0", lambda: slide.tune(TEXTS, NAMES, seconds=-1, text__min_count=1))


def test_an_eval_set_of_other_labels_is_refused_or_warned_of():
    classifier = slide.Classifier(**OF_TEXTS)
    refused("^eval_set: none of its labels is one of those in y [(]'zzz'[)]",
            lambda: classifier.fit(TEXTS, NAMES, eval_set=(TEXTS[:5], ["zzz"] * 5)))
    refused("^eval_set: none of its labels", lambda: slide.Classifier(**BRIEF).fit(EYE, EYE.astype(int), eval_set=(EYE, [[9]] * 20)))
    refused("^eval_set: there are no samples", lambda: classifier.fit(TEXTS, NAMES, eval_set=([], [])))
    with pytest.warns(UserWarning, match="^eval_set: 3 of 5 labels are none of those in y, and count as missed"):
        classifier.fit(TEXTS, NAMES, eval_set=(TEXTS[:5], [["zzz"], ["zzz"], ["zzz"], ["warm"], ["warm"]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier.fit(TEXTS, NAMES, eval_set=(TEXTS[:3], [["warm"], ["far", "zzz"], ["warm"]]))


def test_weights_at_fault_are_named(of_texts):
    one = [names[0] for names in NAMES]
    for weight in (-1, float("nan"), float("inf")):
        for y in (one, NAMES):
            refused("^class_weight: that of 'warm' is ", lambda: slide.Classifier(class_weight={"warm": weight}, **OF_TEXTS).fit(TEXTS, y))
    plain = slide.Classifier(**OF_TEXTS, random_state=1, train__threads=1).fit(TEXTS, one)
    same = slide.Classifier(**OF_TEXTS, random_state=1, train__threads=1).fit(TEXTS, one, sample_weight=2.0)
    np.testing.assert_allclose(same.predict_proba(TEXTS[:2]), plain.predict_proba(TEXTS[:2]), rtol=1e-4)
    refused("^weights: that of sample 0 is -2", lambda: slide.Classifier(**OF_TEXTS).fit(TEXTS, one, sample_weight=-2.0))


def test_samples_without_any_label_or_text_are_refused(of_texts):
    line = "^labels: no training sample has a label; "
    refused(line, lambda: slide.Classifier(**OF_TEXTS).fit(TEXTS, np.zeros((20, 3), int)))
    refused(line, lambda: slide.Classifier(**BRIEF).fit(EYE, sparse.csr_matrix((20, 3))))
    refused(line, lambda: slide.Classifier(**BRIEF).fit(EYE, [[]] * 20))
    for call in (of_texts.predict, of_texts.model_.predict, lambda x: slide.Classifier(**BRIEF).fit(x, ["a"])):
        refused("^X: row 0 is missing [(]None[)]", lambda: call([None]))


def test_a_pair_with_a_list_says_what_its_second_is():
    features = sparse.csr_matrix(EYE)
    refused("the second of a pair is dense columns", lambda: slide.Classifier(**BRIEF).fit((features, [[1.0, 2.0]] * 20), NAMES))
