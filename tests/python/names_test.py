"""Names of labels that a Classifier leaves beside its model: slide.load finds them again."""

import pickle
import warnings

import numpy as np
import pytest

import slide

X = np.eye(30, 6, dtype=np.float32) + np.eye(30, 6, k=-6, dtype=np.float32)
NAMES = [["a b", "c"] if row % 2 else ["d"] for row in range(30)]


@pytest.fixture
def saved(few, tmp_path):
    """(classifier, path of its model)."""
    classifier = slide.Classifier(**few).fit(X, NAMES)
    classifier.save(tmp_path / "model.slide")
    return classifier, tmp_path / "model.slide"


def test_a_loaded_model_answers_with_names(saved):
    classifier, path = saved
    model = slide.load(path)
    wanted = classifier.top_k(X, 2)
    labels, scores = model.predict(X, 2)
    assert labels.dtype == object and (labels == wanted).all()
    assert model.label_names.tolist() == ["a b", "c", "d"]
    ids, same = model.predict(X, 2, names=False)
    assert ids.dtype == np.int64 and (np.array(["a b", "c", "d"])[ids] == labels).all() and (same == scores).all()
    assert model.predict(X, 3, threshold=0.999)[0][0, -1] is None
    assert model.evaluate(X, NAMES, 1)["p_at_1"] == classifier.score(X, NAMES)
    assert [one.label for one in model.explain(X[:1], k=2)[0]] == wanted[0].tolist()
    assert model.explain(X[:1], k=1)[0][0].features[0][0] in range(6)
    assert model.similar(["c"], 1)[0].tolist()[0][0] in ("a b", "d")
    assert (model.nearest_labels("c", 1)[0] == model.nearest_labels(1, 1)[0]).all()
    with pytest.raises(slide.InputError, match="there is no label 'x' in the model"):
        model.nearest_labels("x")
    assert (slide.load(path.parent).predict(X, 2)[0] == wanted).all()  # of the folder


def test_names_go_where_the_model_goes(saved, few, tmp_path):
    model = slide.load(saved[1])
    assert pickle.loads(pickle.dumps(model)).label_names.tolist() == ["a b", "c", "d"]
    model.save(tmp_path / "copy")
    assert (tmp_path / "copy.labels").read_bytes() == b"a b\nc\nd\n"
    assert slide.load(tmp_path / "copy").predict(X, 1)[0][0, 0] == model.predict(X, 1)[0][0, 0]
    numbers = slide.Classifier(**few).fit(X, np.arange(30) % 3).model_
    with pytest.warns(UserWarning, match="copy.labels is removed: it named the labels of another model"):
        numbers.save(tmp_path / "copy", force=True)
    assert slide.load(tmp_path / "copy").label_names is None
    assert slide.load(tmp_path / "copy").predict(X, 1)[0].dtype == np.int64


def test_a_number_of_labels_is_a_threshold_that_load_finds(few, tmp_path):
    classifier = slide.Classifier(**few, threshold=2).fit(X, NAMES)
    classifier.save(tmp_path / "model.slide")
    loaded = slide.Classifier.load(tmp_path / "model.slide")
    assert loaded.threshold == 2 and loaded.get_params()["threshold"] == 2
    assert (loaded.predict(X) != classifier.predict(X)).nnz == 0 and (loaded.predict(X).sum(axis=1) == 2).all()


def test_a_model_takes_the_thresholds_of_a_classifier(few, tmp_path):
    classifier = slide.Classifier(**few).fit(X, NAMES)
    for at, threshold in enumerate((1, 2, np.int64(2), 0.0, 1.0, 0.3, np.float32(0.25))):
        path = tmp_path / str(at)
        classifier.set_params(threshold=threshold).save(path)
        wanted = classifier.predict(X).toarray()
        model, loaded = slide.load(path), slide.Classifier.load(path)
        assert type(loaded.threshold) is type(threshold) and (loaded.predict(X).toarray() == wanted).all()
        names = model.predict(X, threshold=threshold)[0]
        assert [{name for name in row if name is not None} for row in names] == [
            set(classifier.classes_[row > 0]) for row in wanted]
        if isinstance(threshold, (int, np.integer)) and threshold >= 1:
            assert model.threshold is None
        else:
            assert type(model.threshold) is float and model.threshold == float(threshold)
            assert (model.predict(X)[0] == names).all()
    assert model.predict([], threshold=2)[0].shape == (0, 2)
    assert (model.predict(X, threshold=1, logits=True)[1][0] >= 1).sum() == (model.predict(X, 3, logits=True)[1][0] >= 1).sum()
    with pytest.raises(slide.InputError, match="threshold: 2 is a number of labels, as k is; give one of the two"):
        model.predict(X, 3, threshold=2)
    with pytest.raises(slide.InputError, match="threshold: 3 is a number of labels, and a model file has a probability"):
        model.save(tmp_path / "none", threshold=3)
    assert not (tmp_path / "none").exists()


def test_a_threshold_that_was_changed_leaves_none_in_the_file(few, tmp_path):
    slide.Classifier(**few, threshold=0.3).fit(X, NAMES).save(tmp_path / "model")
    loaded = slide.Classifier.load(tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded.set_params(threshold=0.4).save(tmp_path / "model", force=True)
    assert slide.load(tmp_path / "model").threshold == 0.4
    for threshold in (2, None):
        with pytest.warns(UserWarning, match="model has no threshold: that of 0.3, which the model had"):
            loaded.set_params(threshold=threshold).save(tmp_path / "model", force=True)
        assert slide.load(tmp_path / "model").threshold is None


def test_names_of_another_number_are_told(saved):
    path = saved[1]
    names = path.parent / "model.slide.labels"
    names.write_text("a b\nc\n")
    with pytest.warns(UserWarning, match="model.slide.labels: 2 names, but the model has 3 labels, which stay numbers"):
        assert slide.load(path).label_names is None
    names.write_bytes(b"caf\xe9\r\nc\r\nd")  # as an editor leaves them
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = slide.load(path)
    assert model.label_names.tolist() == ["caf\udce9", "c", "d"]
    model.save(path.parent / "other")
    assert (path.parent / "other.labels").read_bytes() == b"caf\xe9\nc\nd\n"
