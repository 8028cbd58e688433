"""One truth: what a model is worth by Python is what the command line says, on labels that training lacks, too."""

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sparse

import slide

try:
    import pandas
except ImportError:  # the tests of its types are left out then
    pandas = None

WORDS = {"music": "violin cello", "nature": "bird tree", "sport": "ball goal", "x": "rare seldom"}


def drawn(labels, rows, seed):
    """(lists of names, texts)."""
    rng = np.random.default_rng(seed)
    names = [sorted(set(rng.choice(labels, 2).tolist())) for _ in range(rows)]
    return names, [" ".join(word for name in one for word in rng.choice(WORDS[name].split(), 3)) for one in names]


@pytest.fixture(scope="module")
def text_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    names, texts = drawn(["music", "nature", "sport"], 120, 1)
    (folder / "tr.tsv").write_text("".join(f"{','.join(n)}\t{t}\n" for n, t in zip(names, texts)))
    model = slide.Classifier(train__epochs=3, verbose=False, text__min_count=1).fit(texts, names)
    model.model_.save(folder / "m.slide")
    tested, words = drawn(["music", "nature", "sport", "x"], 40, 2)
    (folder / "te.tsv").write_text("".join(f"{','.join(n)}\t{t}\n" for n, t in zip(tested, words)))
    return model, folder, tested, words


def same(one, other):
    compared = [name for name in one if name in other and "_at_" in name]
    assert len(compared) >= 8
    for name in compared:
        assert one[name] == pytest.approx(other[name], abs=1e-9), name


def test_all_doors_agree_on_labels_that_training_lacks(text_model, program):
    classifier, folder, names, texts = text_model
    ranks = [1, 2, 3]
    tested = json.loads(program("test", folder / "m.slide", folder / "te.tsv", "--k", "1,2,3", "--json"))
    assert tested["unknown_labels"] == sum("x" in one for one in names) > 5
    model = slide.Model.load(folder / "m.slide")
    same(tested, model.evaluate(texts, names, ranks))
    assert {name for name in tested if "_at_" in name} <= set(model.evaluate(texts, names, ranks))
    same(tested, classifier.model_.evaluate(texts, names, ranks))
    x, y, _, found = slide.read(folder / "te.tsv", model=model, names=True)
    assert found.tolist() == [*model.label_names, "x"] and y.shape[1] == 4
    same(tested, model.evaluate(x, y, ranks))
    scores = classifier.predict_proba(texts, k=3)
    train = slide.read(folder / "tr.tsv", model=model)[1]
    assert train.shape[1] == 3
    same(tested, slide.evaluate(y, scores, ranks, Y_train=train))
    assert classifier.score(texts, names) == pytest.approx(tested["p_at_1"], abs=1e-9)
    assert tested["recall_at_3"] < 1


def same_reliability(one, other):
    assert one["error"] == pytest.approx(other["error"], abs=1e-6) and one["error"] > 0
    assert one["top_error"] == pytest.approx(other["top_error"], abs=1e-6)
    for bins in ("bins", "top_bins"):
        assert [bin["predictions"] for bin in one[bins]] == [bin["predictions"] for bin in other[bins]]
        for mine, theirs in zip(one[bins], other[bins]):
            assert mine == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("loss", ["sigmoid", "softmax"])
def test_all_doors_agree_on_calibration_and_thresholds(text_model, program, tmp_path, loss):
    _, folder, names, texts = text_model
    tagged, words = drawn(["music", "nature", "sport"], 120, 1)
    classifier = slide.Classifier(train__epochs=3, verbose=False, text__min_count=1, loss__kind=loss).fit(words, tagged)
    classifier.save(path := tmp_path / "m.slide")
    program("predict", path, folder / "te.tsv", "--k", 3, "--out", tmp_path / "s.npz")
    told = json.loads(program("evaluate", tmp_path / "s.npz", folder / "te.tsv", "--model", path, "--threshold", 0.3, "--json"))
    measures = slide.load(path).evaluate(texts, names, [1, 3], threshold=0.3)
    same_reliability(measures["reliability"], told["reliability"])
    assert "threshold" not in slide.load(path).evaluate(texts, names, 1)
    y = slide.read(folder / "te.tsv", model=slide.load(path))[1]
    of_scores = slide.evaluate(y, classifier.predict_proba(texts, k=3), [1, 3], threshold=0.3)
    same_reliability(of_scores["reliability"], told["reliability"])
    rates = [name for name in told if name.split("_")[0] in ("precision", "recall", "f1") and "_at_" not in name]
    assert len(rates) == 9
    for name in ["threshold", *rates]:
        assert measures[name] == of_scores[name] == pytest.approx(told[name], abs=1e-6), name
    assert "expected calibration error" in measures._repr_html_()
    logits = classifier.decision_function(texts)
    assert "reliability" not in slide.evaluate(y, logits, 1)  # no probabilities


def test_data_with_other_labels_are_written_with_their_names(text_model, tmp_path):
    classifier, folder, names, _ = text_model
    data = slide._slide.read_for(str(folder / "te.tsv"), classifier.model_._engine)
    data.write(str(tmp_path / "o.tsv"), "")
    written = [line.split("\t")[0].split(",") for line in (tmp_path / "o.tsv").read_text().splitlines()]
    assert [sorted(one) for one in written] == names


# ---- labels as they are given ----


def test_labels_that_are_one_number_a_sample_keep_their_numbers(tmp_path):
    y = np.array([2, 3, 5, 5, 3])
    perfect = np.eye(6, dtype=np.float32)[y]
    series = [] if pandas is None else [pandas.Series(y), pandas.Series(y, dtype="Int64")]
    for given in (y, y.tolist(), y.astype(float), y[:, None], [[int(v)] for v in y], sparse.csr_matrix(perfect),
                  perfect, *series):
        assert slide.evaluate(given, perfect, k=[1])["p_at_1"] == 1.0
        assert slide.evaluate(given, perfect, k=1, Y_train=given)["psp_at_1"] == 1.0
        slide.write(tmp_path / "o.libsvm", sparse.identity(5, dtype=np.float32, format="csr"), given)
        assert [line.split()[0] for line in open(tmp_path / "o.libsvm")] == ["2", "3", "5", "5", "3"]
    for bad, message in ((["a", "b", "c", "d", "e"], "give numbers"), ([0, -1, 2, 3, 4], "row 1 is -1"),
                         ([0.5, 1, 2, 3, 4], "row 0 is 0.5"), ([0, 1, None, 3, 4], "row 2 is missing")):
        with pytest.raises(slide.InputError, match=message):
            slide.evaluate(bad, perfect, k=[1])
    with pytest.raises(slide.InputError, match=r"ranks: \['x'\]; give a whole number"):
        slide.evaluate(y, perfect, k=["x"])


def test_lists_of_zeros_and_ones_are_a_matrix(few):
    x = np.eye(20, 6, dtype=np.float32) + 1
    rows = [[0, 0, 1], [1, 0, 0]] * 10
    for given in (rows, [tuple(one) for one in rows], [[bool(v) for v in one] for one in rows], np.array(rows)):
        assert slide.Classifier(**few).fit(x, given).classes_.tolist() == [0, 1, 2]
        assert slide.evaluate(given, np.array(rows, float), 1)["p_at_1"] == 1.0
    assert slide.evaluate([[1, 1], [0, 1]], [[1.0, 0.5], [0.0, 1.0]], 2)["p_at_2"] == 0.75
    with pytest.raises(slide.InputError, match="can be two labels or a column for each of two labels"):
        slide.Classifier(**few).fit(x, [[0, 1], [1, 0]] * 10)
    assert slide.evaluate([{0, 1}, {1, 0}], [[1.0, 0.5], [0.0, 1.0]], 2)["p_at_2"] == 1.0


def test_a_model_measures_numbers_as_they_are(samples, few):
    x, y = samples
    model = slide.Classifier(**few).fit(x, y).model_
    one = np.asarray(y.argmax(axis=1)).ravel()
    as_lists = model.evaluate(x, [[int(v)] for v in one], 1)
    assert model.evaluate(x, one, 1) == as_lists and model.evaluate(x, one.tolist(), [1]) == as_lists
    keep = one >= 20  # classes of a part are not counted from 0
    assert model.evaluate(x[keep], one[keep], 1) == model.evaluate(x[keep], [[int(v)] for v in one[keep]], 1)


def test_classes_that_fit_has_not_seen_are_missed(few):
    from sklearn.model_selection import cross_val_score

    x = np.eye(40, 12, dtype=np.float32) + 1
    y = np.r_[np.arange(39) % 3, 99]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = cross_val_score(slide.Classifier(**few), x, y, cv=2)
    assert np.isfinite(scores).all()
    seen = slide.Classifier(**few).fit(x[:39], y[:39])
    right = (seen.predict(x) == y).mean()
    assert seen.score(x, y) == pytest.approx(right, abs=1e-12)
    names = slide.Classifier(**few).fit(x[:20], [["a"], ["b"]] * 10)
    hits = (names.top_k(x[20:], 1)[:, 0] == "a").mean()
    assert names.score(x[20:], [["a", "new"]] * 20) == pytest.approx(hits, abs=1e-12)
    numbers = slide.Classifier(**few).fit(x[:20], [[0], [1]] * 10)
    assert numbers.score(x[20:], [[7]] * 20) == 0


# ---- features, thresholds ----


def test_features_that_the_model_does_not_know_are_left_out(few, tmp_path, program):
    x = sparse.csr_matrix(np.eye(4, 3, dtype=np.float32)[np.arange(40) % 3])
    model = slide.Classifier(**few).fit(x, np.arange(40) % 3).model_
    wide = sparse.hstack([x, sparse.csr_matrix(np.ones((40, 2), np.float32))]).tocsr()
    with pytest.warns(UserWarning, match="80 values are of features that the model does not know"):
        labels, scores = model.predict(wide)
    assert (labels == model.predict(x)[0]).all() and (scores == model.predict(x)[1]).all()
    slide.write(tmp_path / "w.libsvm", wide)
    with pytest.warns(UserWarning, match="80 values are of features"):
        again, _ = slide.read(tmp_path / "w.libsvm", model=model)
    assert again.shape == (40, 3)


def test_a_threshold_alone_gives_all_labels_above_it(samples, few):
    x, y = samples
    classifier = slide.Classifier(**few).fit(x, y)
    model = classifier.model_
    labels, scores = model.predict(x, 40)
    for threshold in (0.5, 0.01, 0.0):
        reached, theirs = model.predict(x, threshold=threshold)
        wanted = (scores >= np.float32(threshold)).sum(axis=1)
        assert ((reached >= 0).sum(axis=1) == wanted).all() and reached.shape[1] == wanted.max()
        for row in range(0, 1500, 97):
            assert reached[row, : wanted[row]].tolist() == labels[row, : wanted[row]].tolist()
            assert (theirs[row, wanted[row] :] == 0).all()
        proba = classifier.predict_proba(x, threshold=threshold)
        assert proba.nnz == wanted.sum() and proba.shape == (1500, 40)
        assert ((classifier.top_k(x, threshold=threshold) >= 0).sum(axis=1) == wanted).all()
        assert (np.diff(classifier.predict(x, threshold=threshold).indptr) == wanted).all()
    few_labels, few_scores = model.predict(x, 3, threshold=0.5)
    assert few_labels.shape == (1500, 3) and ((few_labels >= 0) == (few_scores >= 0.5)).all()
    for wrong in (30.0, -1, float("nan")):
        for k in (None, 3):
            with pytest.raises(slide.InputError, match="is no probability; give one from 0 to 1"):
                model.predict(x, k, threshold=wrong)
    assert model.predict(x, threshold=2000.0, logits=True)[0].shape == (1500, 0)
    assert model.predict(x[:1], threshold=0.0)[0].shape == (1, 40)


# ---- what is given and cannot be taken ----


def test_what_is_at_fault_is_named_with_its_row():
    def fit(x, y, validation=0.0, **more):
        return slide.Classifier(train__epochs=1, verbose=False, text__min_count=1, validation=validation).fit(x, y, **more)

    x = np.eye(20, 6, dtype=np.float32) + 1
    y = np.arange(20) % 2
    texts = ["one two", "three four"] * 10

    def refused(message, *arguments, **more):
        with pytest.raises(slide.InputError, match=message):
            fit(*arguments, **more)

    refused(r"X: row 0 is missing \(nan\), but others are texts", np.array([np.nan] + texts[1:], dtype=object), y)
    refused(r"X: row 3 is missing \(None\)", texts[:3] + [None] + texts[4:], y)
    refused(r"X: row 5 is no text \(7\)", texts[:5] + [7] + texts[6:], y)
    refused("X: row 0 is bytes, no text; decode them", [one.encode() for one in texts], y)
    refused("X: row 1: character 2 is half of a surrogate pair", ["one", "a \ud83d"] + texts[2:], y)
    refused("labels: row 1: character 0 is half of a surrogate pair", texts, [["a"], ["\ud83d"]] * 10)
    dates = np.arange("2024-01-01", "2024-01-21", dtype="datetime64[D]")
    dates[0] = np.datetime64("NaT")
    refused("times: row 0 is missing", x, y, 0.2, times=dates)
    if pandas is not None:
        refused("times: row 0 is missing", x, y, 0.2, times=pandas.Series(dates))
        refused(r"X: row 0 is missing \(nan\), but others are texts", pandas.Series([np.nan] + texts[1:]), y)
        refused("labels: row 2 is missing", x, pandas.Series([0, 1, None] + [0] * 17, dtype="Int64"))
    refused("times: row 1 is missing", x, y, 0.2, times=[1, None] + [2] * 18)
    refused(r"groups: row 0 is missing \(nan\)", x, y, 0.2, groups=np.r_[np.nan, np.arange(19) // 4])
    refused("labels: row 2 is missing", x, ["a", "b", None] + ["a"] * 17)
    refused("labels: row 1 is missing", x, [["a"], ["a", None]] * 10)
    classifier = fit(texts, y)
    with pytest.raises(slide.InputError, match="X: row 0: character 0 is half"):
        classifier.predict(["\ud83d"])


@pytest.mark.skipif(pandas is None, reason="there is no pandas")
def test_nullable_and_sparse_frames_are_taken():
    x = np.eye(20, 6, dtype=np.float32) + 1
    y = np.arange(20) % 2

    def fit(x, y):
        return slide.Classifier(train__epochs=1, verbose=False).fit(x, y)

    plain = fit(x, y)
    for nullable in ("Int64", "UInt8", "boolean", "category"):
        other = fit(x, pandas.Series(y).astype(nullable))
        assert other.classes_.tolist() == [0, 1]
        assert (other.predict_proba(x) == plain.predict_proba(x)).all(), nullable
    matrix = sparse.csr_matrix(x * (x > 1))
    frame = pandas.DataFrame.sparse.from_spmatrix(matrix, columns=[f"f{i}" for i in range(6)])
    of_frame, of_matrix = fit(frame, y), fit(matrix, y)
    assert (of_frame.predict_proba(frame) == of_matrix.predict_proba(matrix)).all()
    assert of_frame.feature_names_in_.tolist() == frame.columns.tolist()
    labels = pandas.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(np.eye(2, dtype=np.int8)[y]))
    assert fit(matrix, labels).classes_.tolist() == [0, 1]


@pytest.mark.skipif(pandas is None, reason="there is no pandas")
def test_columns_of_a_frame_name_the_labels():
    rng = np.random.default_rng(4)
    y = (rng.random((60, 3)) < 0.4).astype(np.int8)
    x = y.astype(np.float32) + 0.1 * rng.random((60, 3), dtype=np.float32)
    frame = pandas.DataFrame(y, columns=["music", "nature", "sport"])
    classifier = slide.Classifier(train__epochs=5, verbose=False, threshold=0.5).fit(x, frame)
    assert classifier.classes_.tolist() == ["music", "nature", "sport"]
    plain = slide.Classifier(train__epochs=5, verbose=False, threshold=0.5).fit(x, y)
    assert (classifier.predict(x) != plain.predict(x)).nnz == 0
    assert classifier.top_k(x, 1).ravel().tolist() == frame.columns[plain.top_k(x, 1).ravel()].tolist()
    # By name, in whatever order; what training lacks is missed.
    turned = frame[["sport", "music", "nature"]]
    assert classifier.score(x, turned) == classifier.score(x, y) == plain.score(x, y)
    renamed = frame.rename(columns={"music": "theatre"})
    assert classifier.score(x, renamed) == pytest.approx(plain.score(x, y * np.array([0, 1, 1])))
    assert classifier.score(x, pandas.DataFrame.sparse.from_spmatrix(
        sparse.csr_matrix(turned), columns=turned.columns)) == plain.score(x, y)
    # New names join, an array has the columns there were.
    more = classifier.partial_fit(x, y).partial_fit(x, frame[["nature"]].assign(dance=1 - y[:, 1]))
    assert more.classes_.tolist() == ["music", "nature", "sport", "dance"]
    with pytest.raises(slide.InputError, match="two columns are named 'music'"):
        slide.Classifier().fit(x, frame.rename(columns={"sport": "music"}))
    with pytest.raises(slide.InputError, match="a column for each label"):
        slide.Classifier().fit(x, frame * 2)


def test_what_a_saved_model_knows_of_classes_and_thresholds(few, tmp_path):
    x = np.eye(30, 6, dtype=np.float32) + np.eye(30, 6, k=-6, dtype=np.float32)
    names = [["a b", "c"] if row % 2 else ["d"] for row in range(30)]
    named = slide.Classifier(**few, threshold=0.25).fit(x, names)
    named.save(tmp_path / "named")
    assert (tmp_path / "named.labels").read_text() == "a b\nc\nd\n"
    assert slide.load(tmp_path / "named").threshold == 0.25
    assert slide.Classifier.load(tmp_path / "named").partial_fit(x, names).top_k(x, 1).shape == (30, 1)
    best = slide.Classifier(**few, threshold="best-f1", validation=0.3).fit(x, names)
    best.save(tmp_path / "best")
    assert slide.load(tmp_path / "best").threshold == pytest.approx(best.threshold_)
    best.model_.save(tmp_path / "other", threshold=0.125)
    assert slide.load(tmp_path / "other").threshold == 0.125
    with pytest.raises(slide.InputError, match="threshold: .*from 0 to 1"):
        best.model_.save(tmp_path / "beyond", threshold=1.5)
    # Classes that are their numbers need no file; one class a sample no threshold.
    numbers = slide.Classifier(**few, threshold=3).fit(x, np.arange(30) % 3)
    numbers.save(tmp_path / "numbers")
    assert not (tmp_path / "numbers.labels").exists() and slide.load(tmp_path / "numbers").threshold is None


def test_names_of_labels_stay_with_their_model(few, tmp_path):
    x = np.eye(30, 6, dtype=np.float32) + np.eye(30, 6, k=-6, dtype=np.float32)
    path, labels = tmp_path / "model", tmp_path / "model.labels"
    named = slide.Classifier(**few).fit(x, [["a", "b"] if row % 2 else ["c"] for row in range(30)])
    named.save(path)
    assert labels.read_text() == "a\nb\nc\n"
    numbers = slide.Classifier(**few).fit(x, [[0, 1] if row % 2 else [2] for row in range(30)])
    with pytest.warns(UserWarning, match="model.labels is removed: it named the labels of another model"):
        numbers.save(path, force=True)
    assert not labels.exists() and slide.Classifier.load(path).classes_.tolist() == [0, 1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        numbers.save(path, force=True)
        named.save(path, force=True)
        named.save(path, force=True)
    assert labels.exists()
    # Neither do the classes of one become those of another.
    texts = ["one two", "three four"] * 10
    of_texts = slide.Classifier(**few, text__min_count=1).fit(texts, [["p"], ["q"]] * 10)
    with pytest.warns(UserWarning, match="model.labels is removed"):
        of_texts.model_.save(path, force=True)
    with pytest.raises(slide.InputError, match="model.classes: is not of this model"):
        slide.Classifier.load(path)
    of_texts.save(path, force=True)
    assert not labels.exists() and slide.Classifier.load(path).classes_.tolist() == of_texts.classes_.tolist()
    slide.Classifier(**few, text__min_count=1).fit(texts, [["p"], ["r"]] * 10).model_.save(path, force=True)
    with pytest.raises(slide.InputError, match="model.classes: is not of this model"):
        slide.Classifier.load(path)


def test_values_that_are_no_numbers_are_named_by_place():
    x = np.ones((4, 3), np.float32)
    x[2, 1] = np.nan
    with pytest.raises(slide.InputError, match="X: row 2, column 1 is nan"):
        slide.Classifier().fit(x, [0, 1, 0, 1])
    wide = np.ones((4, 3))
    wide[1, 2] = 1e300
    with pytest.raises(slide.InputError, match=r"X: row 1, column 2 is 1e\+300"):
        slide.Classifier().fit(wide, [0, 1, 0, 1])
    with pytest.raises(slide.InputError, match="X is a list of two arrays"):
        slide.Classifier().fit([np.ones((4, 3)), np.ones((4, 2))], [0, 1, 0, 1])


def test_no_samples_have_no_answers(few):
    texts = ["one two", "three four"] * 10
    model = slide.Classifier(**few, text__min_count=1).fit(texts, np.arange(20) % 2).model_
    labels, scores = model.predict([])
    assert labels.shape == scores.shape == (0, 5) and labels.dtype == object
    assert model.predict([], names=False)[0].dtype == np.int64
    assert model.predict([], 2)[0].shape == (0, 2)


def test_labels_beyond_the_model_are_counted(samples, few):
    x, y = samples
    model = slide.Classifier(**few).fit(x, y).model_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        known = model.evaluate(x, y, 1)
    wide = sparse.csr_matrix((np.ones(1500, np.int8), (np.arange(1500), np.arange(1500) % 60)), (1500, 60))
    with pytest.warns(UserWarning, match="500 of 1500 labels are none of the 40 that the model knows, and count as missed") as told:
        measured = model.evaluate(x, wide, 1)
    assert len(told) == 1 and told[0].filename == __file__ and measured["p_at_1"] < known["p_at_1"]
    with pytest.warns(UserWarning, match="2 of 4 labels"):
        model.evaluate(x[:2], [[1, 70], [80, 3]], 1)
