"""slide.Classifier on texts: the same model as from a file, labels in every form, going on."""

import json
import pickle
import warnings

import numpy as np
import pytest

import slide

TEXTS = ["the violin and the cello", "singing birds in the trees", "the birds and the violin"] * 20
NAMES = [["music"], ["nature"], ["nature", "music"]] * 20


@pytest.fixture(scope="module")
def words():
    """Keys of a run on so little text."""
    return {"verbose": False, "train__epochs": 20, "text__min_count": 1, "layer__0__size": 16, "layer__1__uniform": 4}


def test_the_model_file_is_that_of_the_command_line(program, words, tmp_path, monkeypatch):
    monkeypatch.setattr("slide.classifier.refuse_files", lambda keys: None)  # the file names its data
    lines = [" ".join(f"__label__{name}" for name in names) + " " + text for names, text in zip(NAMES, TEXTS)]
    path = tmp_path / "train.txt"
    path.write_text("\n".join(lines) + "\n")
    sets = [word for key, value in words.items() if key != "verbose"
            for word in ("--set", f"{key.replace('__', '.')}={value}")]
    program("train", "--set", f"data.train={path}", *sets, "--out", tmp_path / "run", "--quiet")
    classifier = slide.Classifier(data__train=str(path), **words).fit(TEXTS, NAMES)
    classifier.model_.save(tmp_path / "python.slide")
    assert (tmp_path / "python.slide").read_bytes() == (tmp_path / "run" / "model.slide").read_bytes()
    assert classifier.classes_.tolist() == classifier.model_.label_names.tolist()


def test_what_is_read_otherwise_than_meant_is_warned_of(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("a;b\tred ball\nb\tblue ball\n")
    with pytest.warns(UserWarning, match=r"t\.tsv:1: .*data\.label_separator=;"):
        slide.read(path, text__min_count=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, labels = slide.read(path, text__min_count=1, data__label_separator=";")
    assert labels.toarray().tolist() == [[1, 1], [0, 1]] or labels.toarray().tolist() == [[1, 1], [1, 0]]


def test_lines_with_a_column_of_numbers_are_a_pair(program, words, tmp_path):
    columns = np.random.default_rng(1).normal(size=(60, 5)).astype(np.float32)
    lines = [json.dumps({"text": text, "labels": names, "vector": row.tolist()})
             for text, names, row in zip(TEXTS, NAMES, columns)]
    path = tmp_path / "train.jsonl"
    path.write_text("\n".join(lines) + "\n")
    keys = {"data__text": "text", "data__labels": "labels", "text__min_count": 1}
    (features, array), labels, _, label_names = slide.read(path, names=True, **keys)
    assert (array == columns).all() and features.shape[0] == 60
    assert [[label_names[label] for label in row.indices] for row in labels] == [sorted(names) for names in NAMES]
    alone, _ = slide.read(path, data__dense="none", **keys)
    assert (alone != features).nnz == 0
    classifier = slide.Classifier(**words).fit((features, array), labels)
    assert classifier.score((features, array), labels) > 0.9
    sets = [word for key, value in {**words, **keys}.items() if key != "verbose"
            for word in ("--set", f"{key.replace('__', '.')}={value}")]
    program("train", "--set", f"data.train={path}", *sets, "--out", tmp_path / "run", "--quiet")
    model = slide.Model.load(tmp_path / "run" / "model.slide")
    (again, array), _ = slide.read(path, model=model)
    expected = classifier.model_.predict((features, columns), 2)
    for given in (again, array), (TEXTS, columns):
        assert np.allclose(model.predict(given, 2)[1], expected[1], atol=1e-6)
    path.write_text("\n".join(lines[:3]) + '\n{"text": "a", "labels": ["music"], "vector": [1.5]}\n')
    with pytest.raises(slide.InputError, match=r"train\.jsonl:4:1: the column 'vector' has 1 numbers"):
        slide.read(path, model=model)


def test_labels_have_the_forms_of_features(words):
    by_name = slide.Classifier(**words).fit(TEXTS, NAMES)
    assert by_name.top_k(["a cello"], k=1).tolist() == [["music"]] and by_name.score(TEXTS, NAMES) > 0.9
    matrix = np.array([[1, 0, 0], [0, 0, 1], [1, 0, 1]] * 20)  # nobody has the second
    by_column = slide.Classifier(**words).fit(TEXTS, matrix)
    assert by_column.top_k(["a cello"], k=1).tolist() == [[0]] and by_column.score(TEXTS, matrix) > 0.9
    assert by_column.predict_proba(TEXTS, 3).shape == (60, 3)
    single = slide.Classifier(**words).fit(np.array(TEXTS), ["m", "n", "b"] * 20)
    assert single.classes_.tolist() == ["b", "m", "n"] and single.predict(TEXTS[:3]).tolist() == ["m", "n", "b"]
    assert single.predict_proba(TEXTS[:2]).shape == (2, 3)


def test_it_goes_on_with_new_texts(words):
    classifier = slide.Classifier(**words).partial_fit(TEXTS, NAMES, classes=["music", "nature", "law"])
    assert classifier.classes_.tolist() == ["law", "music", "nature"]
    assert not hasattr(classifier, "n_features_in_")
    for _ in range(10):
        classifier.partial_fit(["birds in court"] * 20, [["law"]] * 20)
    assert classifier.top_k(["birds in court"], k=1).tolist() == [["law"]]
    again = pickle.loads(pickle.dumps(classifier))
    assert (again.top_k(TEXTS) == classifier.top_k(TEXTS)).all()


def test_new_labels_and_words_join(words, tmp_path):
    classifier = slide.Classifier(**words).fit(TEXTS, NAMES)
    known, features = classifier.classes_.tolist(), classifier.model_.features
    classifier.partial_fit(["birds before a judge"] * 20, [["law", "nature"]] * 20, epochs=20)
    assert classifier.classes_.tolist() == [*known, "law"] == classifier.model_.label_names.tolist()
    assert classifier.model_.features > features
    assert classifier.top_k(["judge"], k=1).tolist() == [["law"]] or "law" in classifier.top_k(["judge"], k=2)[0]
    classifier.save(tmp_path / "c.slide")
    again = slide.Classifier.load(tmp_path / "c.slide").partial_fit(["sea"] * 20, [["water"]] * 20)
    assert again.classes_.tolist() == [*known, "law", "water"]
    single = slide.Classifier(**words).fit(TEXTS, [3, 5] * 30).partial_fit(["sea", "sky"] * 9, [7, 3] * 9, epochs=20)
    assert single.classes_.tolist() == [3, 5, 7] and single.predict(["sea"]).tolist() == [7]


def test_a_series_or_a_frame_of_one_column_holds_texts(words):
    pandas = pytest.importorskip("pandas")
    plain = slide.Classifier(**words).fit(TEXTS, NAMES)
    for given in (pandas.Series(TEXTS), pandas.Series(TEXTS, dtype="string"), pandas.DataFrame({"text": TEXTS}),
                  pandas.DataFrame({"text": TEXTS}, dtype="string"), np.array(TEXTS, dtype=object)[:, None]):
        fitted = slide.Classifier(**words).fit(given, pandas.Series(NAMES))
        assert (fitted.model_.label_vectors() == plain.model_.label_vectors()).all()
        assert (fitted.top_k(given) == plain.top_k(TEXTS)).all()
        assert (plain.model_.predict(given)[0] == plain.model_.predict(TEXTS)[0]).all()
    for missing in (None, float("nan"), pandas.NA):
        texts = [*TEXTS[:7], missing, *TEXTS[8:]]
        for given in (texts, pandas.Series(texts, dtype=object), pandas.DataFrame({"text": texts})):
            with pytest.raises(slide.InputError, match="X: row 7 is missing .*, but others are texts"):
                slide.Classifier(**words).fit(given, NAMES)
    with pytest.raises(slide.InputError, match="X: row 0 is missing"):
        plain.top_k(pandas.DataFrame({"text": [None, "a cello"]}))


def test_what_does_not_fit_is_told(samples, words):
    classifier = slide.Classifier(**words).fit(TEXTS, NAMES)
    with pytest.raises(slide.InputError, match="fitted on texts; give a list of texts"):
        classifier.predict(samples[0])
    with pytest.raises(slide.InputError, match="fitted on features; give a matrix"):
        slide.Classifier(**{**words, "train__epochs": 1}).fit(*samples).predict(TEXTS)
    with pytest.raises(slide.InputError, match="60 texts, but 3 of labels"):
        slide.Classifier(**words).fit(TEXTS, NAMES[:3])
    with pytest.raises(slide.InputError, match="no word occurs in 99 samples"):
        slide.Classifier(**{**words, "text__min_count": 99}).fit(TEXTS, NAMES)
    with pytest.raises(slide.InputError, match="line break"):
        slide.Classifier(**words).fit(TEXTS, [["a\nb"]] * 60)
    with pytest.raises(slide.InputError, match="X: row 0: character 0 is half of a surrogate pair"):
        slide.Classifier(**words).fit(["\ud800"] * 2, [["a"], ["b"]])


def test_weights_of_samples_count(samples, few, words):
    x, y = samples
    keys = {name: value for name, value in few.items() if name != "layer"}
    keys |= {"layer": [{"size": 16}, {"kind": "dense"}], "neighbours__share": 0, "train__epochs": 3}
    plain = slide.Classifier(**keys).fit(x, y)
    equal = slide.Classifier(**keys).fit(x, y, sample_weight=np.full(1500, 3.0))
    assert (plain.model_.label_vectors() == equal.model_.label_vectors()).all()
    half = slide.Classifier(**keys).fit(x, y, sample_weight=np.arange(1500) < 750)
    alone = slide.Classifier(**keys).fit(x[:750], y[:750])
    assert (half.model_.label_vectors() == alone.model_.label_vectors()).all()
    assert slide.Classifier(**words).fit(TEXTS, NAMES, sample_weight=[1, 2, 3] * 20).score(TEXTS, NAMES) > 0.9
    for wrong, line in ((np.ones(3), "3 for 1500"), (np.ones((1500, 2)), "1D"), (-np.ones(1500), "not negative")):
        with pytest.raises(slide.InputError, match=line):
            slide.Classifier(**keys).fit(x, y, sample_weight=wrong)


def test_conflicting_samples_follow_the_heavier(few):
    x = np.ones((400, 3), np.float32)
    y = np.arange(400) % 2
    keys = {**few, "layer": [{"size": 8}, {"kind": "dense"}], "neighbours__share": 0, "train__epochs": 20}
    for heavy in (0, 1):
        weights = np.where(y == heavy, 5.0, 1.0)
        classifier = slide.Classifier(**keys).fit(x, y, sample_weight=weights)
        assert classifier.predict(x[:1]).tolist() == [heavy]
        assert classifier.predict_proba(x[:1])[0, heavy] == pytest.approx(5 / 6, abs=0.1)


def test_names_that_are_no_utf8_are_kept(tmp_path, program):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"g\xe4rten\troses and tulips gr\xfcn\nmusic\ta violin\n" * 20)
    name, word = (text.decode("utf-8", "surrogateescape") for text in (b"g\xe4rten", b"gr\xfc"))
    sets = ["--set", "text.min_count=1", "--set", "layer.0.size=4", "--epochs", "5", "--seed", "1"]
    program("train", "--set", f"data.train={path}", *sets, "--out", tmp_path / "run", "--quiet")
    model = slide.Model.load(tmp_path / "run")
    assert model.label_names.tolist() == [name, "music"]
    assert model.predict(["roses and tulips"], 1)[0].tolist() == [[name]]
    assert model.nearest_labels(name, 1)[0].tolist() == [1]
    assert any("\udcfc" in model.feature_name(i) or "gr" in model.feature_name(i) for i in range(model.features)), word
    with pytest.warns(UserWarning, match="this is not UTF-8"):
        _, _, features, labels = slide.read(path, names=True, text__min_count=1)
    assert labels.tolist() == [name, "music"] and len(features) > 3
    with pytest.raises(slide.InputError, match="there is no label"):
        model.nearest_labels("g\udce5rten")


def test_words_of_labels_are_left_out_as_of_lines(program, words, tmp_path):
    """Of lines `slide predict` takes them for labels."""
    lines = [" ".join(f"__label__{name}" for name in names) + " " + text for names, text in zip(NAMES, TEXTS)]
    plain = slide.Classifier(**words, train__threads=1).fit(TEXTS, NAMES)
    same = slide.Classifier(**words, train__threads=1).fit(lines, NAMES)
    assert (plain.model_.label_vectors() == same.model_.label_vectors()).all()
    plain.save(tmp_path / "model.slide")
    asked = ["the __label__music violin", "__label__nature the cello", "birds and __label__x"]
    (tmp_path / "asked.txt").write_text("\n".join(asked) + "\n")
    printed = program("predict", tmp_path / "model.slide", tmp_path / "asked.txt", "--k", 2).splitlines()
    _, scores = plain.model_.predict(asked, 2)
    for line, row in zip(printed, scores):
        np.testing.assert_allclose([float(part.rsplit(":", 1)[1]) for part in line.split("\t")], row, rtol=1e-4)


def test_texts_without_a_known_word_are_warned_of(words):
    classifier = slide.Classifier(**words).fit(TEXTS, NAMES)
    line = "^texts: 1 of 1 samples have no feature that the model knows; check that the data are those that the model is for$"
    for call in (classifier.predict, classifier.top_k, classifier.model_.predict, classifier.model_.explain):
        with pytest.warns(UserWarning, match=line) as told:
            call(["qqq www"])
        assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier.model_.predict(["the violin", "qqq", ""])


def test_names_of_a_file_go_into_fit(words, tmp_path):
    """As the page says."""
    path = tmp_path / "train.ft"
    path.write_text("".join(f"__label__{name} {text}\n" for (name, *_), text in zip(NAMES, TEXTS)))
    x, y, _, names = slide.read(path, names=True, text__min_count=1)
    classifier = slide.Classifier(**words).fit(x, [names[row.indices].tolist() for row in y])
    assert classifier.classes_.tolist() == ["music", "nature"]
