"""slide.Classifier by itself: what it takes and gives, its parameters, files and errors."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.base import clone

import slide


def lists_of(y):
    return [y.indices[y.indptr[i] : y.indptr[i + 1]].tolist() for i in range(y.shape[0])]


def bytes_of(classifier, folder):
    classifier.model_.save(folder / "model.slide", force=True)
    return (folder / "model.slide").read_bytes()


def test_all_forms_of_samples_and_labels_give_one_model(samples, few, tmp_path):
    x, y = samples
    wide = sparse.csr_matrix((x.data, x.indices.astype(np.int64), x.indptr.astype(np.int64)), x.shape)
    zeros = sparse.csr_matrix(y.toarray() + 1)
    zeros.data -= 1  # zeros that are stored
    expected = bytes_of(slide.Classifier(**few).fit(x, y), tmp_path)
    for features in (wide, x.astype(np.float64), x.toarray(), x.tocsc(), sparse.csr_array(x)):
        assert bytes_of(slide.Classifier(**few).fit(features, y), tmp_path) == expected
    for labels in (zeros, y.toarray(), y.toarray().astype(bool), lists_of(y), y.tocoo()):
        assert bytes_of(slide.Classifier(**few).fit(x, labels), tmp_path) == expected


def test_an_array_without_zeros_is_dense(tmp_path):
    draw = np.random.default_rng(1)
    y = np.arange(600) % 20
    x = (draw.normal(0, 0.3, (600, 30)) + np.eye(20, 30)[y]).astype(np.float32)
    classifier = slide.Classifier(train__epochs=3, train__batch_size=64, train__block_size=32).fit(x, y)
    assert classifier.model_._engine.dense_columns == 30
    assert (classifier.predict(x) == y).mean() > 0.9
    assert (classifier.predict(sparse.csr_matrix(x)) == classifier.predict(x)).all()
    assert (classifier.predict(x.astype(np.float64)) == classifier.predict(x)).all()
    classifier.partial_fit(x, y)
    assert (classifier.predict(x) == y).mean() > 0.9
    classifier.model_.save(tmp_path / "model.slide")
    read = slide.Model.load(tmp_path / "model.slide")
    assert (read.predict(x, 3)[0] == classifier.model_.predict(x, 3)[0]).all()
    x[7, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        slide.Classifier().fit(x, y)


def encoded(y, seed):
    """Dense columns [n, 8] that tell some of the labels, as an encoder's do."""
    draw = np.random.default_rng(seed)
    return (draw.normal(0, 0.1, (y.shape[0], 8)) + y.toarray()[:, :8]).astype(np.float32)


def test_sparse_features_have_dense_columns_beside_them(samples, few, program, tmp_path):
    x, y = samples
    columns, two_epochs = encoded(y, 1), {"verbose": False, "train__epochs": 2}
    classifier = slide.Classifier(**two_epochs).fit((x, columns), y)
    engine = classifier.model_._engine
    assert (engine.features, engine.dense_columns, classifier.n_features_in_) == (128, 8, 120)
    np.save(tmp_path / "x.npy", columns)
    slide.write(tmp_path / "train.txt", x, y)
    both = f"{tmp_path / 'x.npy'}+{tmp_path / 'train.txt'}"
    program("train", "--set", f"data.train={both}", "--set", "train.epochs=2", "--out", tmp_path / "run")
    of_files, scores = slide.Model.load(tmp_path / "run" / "model.slide").predict((x, columns), 3)
    assert (classifier.top_k((x, columns), 3) == of_files).all()
    assert (scores == classifier.model_.predict((x, columns), 3)[1]).all()
    assert (classifier.top_k((x[:5], columns[:5]), 3) == of_files[:5]).all()
    assert not (classifier.model_.predict((x, -columns), 3)[1] == scores).all()
    assert slide.Classifier(**few).fit((x, columns), y, eval_set=((x[:50], columns[:50]), y[:50])).history["evaluations"]
    assert classifier.partial_fit((x, columns), y).score((x, columns), y) > 0.9


def test_files_with_dense_columns_are_read_as_they_are(samples, tmp_path):
    x, y = samples
    columns = encoded(y, 4)
    np.save(tmp_path / "x.npy", columns)
    slide.write(tmp_path / "train.txt", x, y)
    (both, array), labels = slide.read(f"{tmp_path / 'x.npy'}+{tmp_path / 'train.txt'}")
    assert (both != x).nnz == 0 and (array == columns).all() and (labels != y).nnz == 0
    (tmp_path / "y.txt").write_text("\n".join(",".join(map(str, row)) for row in lists_of(y)) + "\n")
    alone, labels = slide.read(f"{tmp_path / 'x.npy'},{tmp_path / 'y.txt'}")
    assert (alone == columns).all() and (labels != y).nnz == 0
    with pytest.raises(slide.InputError, match="save them by numpy.save"):
        slide.write(tmp_path / "both.txt", (x, columns), y)


def test_texts_where_numbers_belong_are_refused(samples, few):
    x, y = samples
    model = slide.Classifier(**few).fit(x, y).model_
    with pytest.raises(slide.InputError, match="give a list of texts"):
        model.predict("red sky")
    with pytest.raises(slide.InputError, match="features are numbers"):
        slide.Classifier(**few).fit(np.array([["a", "b"], ["c", "d"]], dtype=object), [0, 1])
    with pytest.raises(slide.InputError, match="give a list of names or numbers"):
        model.similar(16)
    with pytest.raises(slide.InputError, match="^train.epoch=3: unknown key"):
        slide.Classifier(train__epoch=3).fit(x, y)
    with pytest.raises(slide.InputError, match="training ends by one set"):
        slide.Classifier(**few).fit(x, y, eval_set=[(x, y), (x, y)])


def test_texts_have_dense_columns_beside_them(samples, few):
    _, y = samples
    columns, texts = encoded(y, 2), [f"word{i % 40} and more" for i in range(y.shape[0])]
    classifier = slide.Classifier(**few).fit((texts, columns), y)
    assert classifier.model_.is_text and classifier.model_._engine.dense_columns == 8
    assert classifier.score((texts, columns), y) > 0.9
    assert classifier.partial_fit((texts, columns), y).top_k((texts[:3], columns[:3]), 1).tolist() == [[0], [1], [2]]


def test_pairs_at_fault_are_refused(samples, few):
    x, y = samples
    columns = encoded(y, 3)
    classifier = slide.Classifier(**few).fit((x, columns), y)
    for bad, message in (
        (x, "a pair of 120 sparse features and 8 dense columns"),
        ((x, columns[:, :5]), "5 dense columns, the model 8"),
        ((x, columns[:7]), "7 rows of 8; give a row of at least one for each of the 1500 samples"),
        ((x, sparse.csr_matrix(columns)), "this is a sparse matrix"),
        ((x[:, :80], columns), "X has 80 features, but Classifier is expecting 120"),
        ((["a"] * 1500, columns), "was fitted on features"),
    ):
        with pytest.raises(ValueError, match=message):
            classifier.predict(bad)
    columns[3, 4] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        slide.Classifier(**few).fit((x, columns), y)
    with pytest.raises(ValueError, match="0 dense columns, the model 8|8 dense columns, the model 0"):
        slide.Classifier(**few).fit(x, y).predict((x, encoded(y, 3)))


def test_names_are_labels(samples, few):
    x, y = samples
    names = [[f"label {label:02}" for label in row] for row in lists_of(y)]
    classifier = slide.Classifier(**few).fit(x, names)
    assert classifier.classes_.tolist() == [f"label {label:02}" for label in range(40)]
    assert classifier.top_k(x[:3], 1).tolist() == [["label 00"], ["label 01"], ["label 02"]]
    assert classifier.top_k(x[:1], 45)[0, 40:].tolist() == [None] * 5
    assert classifier.score(x, names) == slide.Classifier(**few).fit(x, y).score(x, y) > 0.9
    assert classifier.score(x[:1], [["unknown"]]) == 0  # a miss, as in `slide test`


def test_predictions_have_their_shapes(samples, few):
    x, y = samples
    classifier = slide.Classifier(**few).fit(x, y)
    best = classifier.top_k(x)
    assert best.shape == (1500, 5) and best.dtype.kind == "i"
    assert classifier.top_k(x[:7], k=43).shape == (7, 43)
    assert (classifier.top_k(x[:7], k=43)[:, 40:] == -1).all()
    probabilities = classifier.predict_proba(x, 3)
    assert sparse.issparse(probabilities) and probabilities.shape == (1500, 40)
    assert (np.diff(probabilities.indptr) == 3).all() and probabilities.has_sorted_indices
    assert ((probabilities.data >= 0) & (probabilities.data <= 1)).all()
    first = [set(row) for row in best[:, :3].tolist()]
    assert [set(probabilities[i].indices.tolist()) for i in range(1500)] == first
    scores = classifier.decision_function(x)
    assert scores.shape == (1500, 40)
    assert (scores.argmax(axis=1) == best[:, 0]).mean() > 0.999
    assert classifier.decision_function(x, 4).nnz == 6000
    assert classifier.score(x, y) == pytest.approx(np.mean([b in row for b, row in zip(best[:, 0], lists_of(y))]))


def test_one_class_a_sample_is_predicted_as_elsewhere(samples, few):
    x, y = samples
    classes = np.array([f"c{row[0]}" for row in lists_of(y)])
    classifier = slide.Classifier(**few).fit(x, classes)
    assert classifier.predict(x).shape == (1500,)
    assert classifier.predict_proba(x).shape == (1500, 40)
    np.testing.assert_allclose(classifier.predict_proba(x).sum(axis=1), 1)
    assert classifier.score(x, classes) == np.mean(classifier.predict(x) == classes)
    assert classifier.top_k(x, k=2).shape == (1500, 2)


def test_parameters_are_keys(samples, few):
    classifier = slide.Classifier(train={"epochs": 3}, optimizer__learning_rate=0.5, **{"layer__-1__uniform": 77})
    config = classifier._configuration().to_toml()
    assert "\nepochs = 3 " in config and "\nlearning_rate = 0.5 " in config and "\nuniform = 77 " in config
    assert classifier.get_params()["layer__-1__uniform"] == 77
    copy = clone(classifier).set_params(optimizer__learning_rate=None, train__seed=9)
    config = copy._configuration().to_toml()
    assert "\nlearning_rate = 0.1 " in config and "\nseed = 9 " in config and "\nepochs = 3 " in config
    assert "train__seed" not in classifier.get_params()
    config = slide.Classifier(layer=[{"size": 9}, {"size": 8}, {"hash": {"k": 3}}], loss__kind="softmax")._configuration()
    assert config.to_toml().count("[[layer]]") == 3 and "\nsize = 8 " in config.to_toml()
    assert '\nkind = "softmax" ' in config.to_toml() and "\nk = 3 " in config.to_toml()
    with pytest.raises(slide.InputError, match="a dict of keys for each layer"):
        slide.Classifier(layer=[3]).fit(*samples)
    with pytest.raises(ValueError, match="Invalid parameter 'nothing'"):
        slide.Classifier(nothing=1)
    with pytest.raises(slide.InputError, match="did you mean 'train.epochs'"):
        slide.Classifier(train__epoch=1).fit(*samples)
    with pytest.raises(slide.InputError, match="epochs"):
        slide.Classifier(train__epochs="many").fit(*samples)


def test_a_file_is_the_base_of_keys(samples, few, tmp_path):
    (tmp_path / "base.toml").write_text("[train]\nepochs = 4\nseed = 5\n")
    one_layer = {"layer": [{"kind": "dense"}], "train__seed": 6}
    config = slide.Classifier(config=tmp_path / "base.toml", **one_layer)._configuration().to_toml()
    assert config.count("[[layer]]") == 1 and "\nepochs = 4 " in config and "\nseed = 6 " in config
    config = slide.Classifier(config=tmp_path / "base.toml", train__seed=6)._configuration().to_toml()
    assert "\nepochs = 4 " in config and "\nseed = 6 " in config
    with pytest.raises(slide.InputError, match="none.toml"):
        slide.Classifier(config=tmp_path / "none.toml").fit(*samples)


def test_files_and_pickles_bring_the_same_back(samples, few, tmp_path):
    x, y = samples
    classifier = slide.Classifier(**few).fit(x, [[f"n{label}" for label in row] for row in lists_of(y)])
    classifier.save(tmp_path / "c.slide")
    for other in (slide.Classifier.load(tmp_path / "c.slide"), pickle.loads(pickle.dumps(classifier))):
        assert other.get_params() == classifier.get_params() and other.history == classifier.history
        assert (other.top_k(x) == classifier.top_k(x)).all()
        assert (other.predict_proba(x, 5) != classifier.predict_proba(x, 5)).nnz == 0
    assert not hasattr(clone(classifier), "model_")
    with pytest.raises(slide.InputError, match="no such model"):
        slide.Classifier.load(tmp_path / "nothing.slide")
    for damaged in (b"", b"damaged", (tmp_path / "c.slide.classes").read_bytes()[:-9]):
        (tmp_path / "c.slide.classes").write_bytes(damaged)
        with pytest.raises(slide.InputError, match="is damaged"):
            slide.Classifier.load(tmp_path / "c.slide")
    (tmp_path / "c.slide.classes").unlink()
    with pytest.raises(slide.InputError, match="cannot be read"):
        slide.Classifier.load(tmp_path / "c.slide")
    with pytest.raises(slide.Error, match="no-folder"):
        classifier.save(tmp_path / "no-folder" / "c.slide")


def test_validation_keeps_the_best_model(samples, few, tmp_path):
    x, y = samples
    classifier = slide.Classifier(**{**few, "train__epochs": 40}, validation=0.2, train__patience=2).fit(x, y)
    evaluations = classifier.history["evaluations"]
    best = max(e["epoch"] for e in evaluations if e["best"])
    assert len(evaluations) == len(classifier.history["loss"]) == best + 2 < 40
    assert classifier.model_.steps == classifier.history["step"][best - 1]
    with pytest.raises(slide.InputError, match="data.validation"):
        slide.Classifier(**few, validation=1.5).fit(x, y)


def test_validation_goes_by_groups_and_times(samples, few):
    x, y = samples
    n = x.shape[0]
    last = 4 * n // 5
    few = {**few, "train__epochs": 1}
    alone = slide.Classifier(**few).fit(x[:last], y[:last])
    vectors = alone.model_.label_vectors()
    days = np.datetime64("2024-01-01") + np.arange(n)
    for times in (np.arange(n), np.arange(n) / 7, days, [str(day) for day in days]):
        later = slide.Classifier(**few, validation=0.2, train__patience=0).fit(x, y, times=times)
        np.testing.assert_array_equal(later.model_.label_vectors(), vectors)
    ordered = slide.Classifier(**few, validation=0.2, train__patience=0, data__time="order").fit(x, y)
    np.testing.assert_array_equal(ordered.model_.label_vectors(), vectors)
    groups = np.where(np.arange(n) < last, "first", "last")
    grouped = slide.Classifier(**few, validation=0.2, train__patience=0).fit(x, y, groups=groups)
    np.testing.assert_array_equal(grouped.model_.label_vectors(), vectors)
    with pytest.raises(slide.InputError, match=f"groups: there are 3 for {n} samples"):
        slide.Classifier(**few, validation=0.2).fit(x, y, groups=[1, 2, 3])
    with pytest.raises(slide.InputError, match="so none is the latest"):
        slide.Classifier(**few, validation=0.2).fit(x, y, times=np.zeros(n))


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda x, y: (x[:9], y), "9 rows of features, but 1500 of labels"),
        (lambda x, y: (x, y * 0), "no training sample has a label"),
        (lambda x, y: (x, y.toarray() * 2), "a column for each label, and 0 or 1"),
        (lambda x, y: (x, [[0.5]] * 1500), "whole numbers from 0 or names"),
        (lambda x, y: (x, [[0], [-1]] * 750), "labels: row 1: its numbers must be from 0"),
        (lambda x, y: (x, [[2**40]] * 1500), "labels: row 0: its numbers must be from 0"),
        (lambda x, y: (x * np.float32("inf"), y), "the value of id .* is not finite"),
        (lambda x, y: (x.astype(complex), y), "Complex data not supported"),
        (lambda x, y: (x[:0], y[:0]), "0 sample"),
        (lambda x, y: (x, None), "requires y"),
    ],
)
def test_bad_data_are_told(samples, few, change, message):
    with np.errstate(all="ignore"):
        x, y = change(*samples)
    with pytest.raises(slide.InputError, match=message):
        slide.Classifier(**few).fit(x, y)


def test_a_broken_matrix_does_no_harm(samples, few):
    x, y = samples
    broken = x.copy()
    broken.indices[0] = 5000
    with pytest.raises(slide.InputError, match="features: row 0: id 5000 is out of range"):
        slide.Classifier(**few).fit(broken, y)
    dense = slide.Classifier(**few).fit(x.toarray() + 1, y)  # without zeros, so as an array
    for pointer, index in ((1000, 0), (-1, 0), (x.indptr[1], 5000), (x.indptr[1], -1)):
        broken = x[:2].copy()
        broken.indptr[1], broken.indices[0] = pointer, index
        with pytest.raises(slide.InputError, match="X: the sparse matrix is damaged"):
            dense.predict(broken)
    broken = x.copy()
    broken.data = broken.data[:-1]
    with pytest.raises(slide.InputError, match="as many values as ids"):
        slide.Classifier(**few).fit(broken, y)
    classifier = slide.Classifier(**few).fit(x, y)
    with pytest.raises(ValueError, match="X has 119 features, but Classifier is expecting 120"):
        classifier.predict(x[:, :119])
    with pytest.raises(slide.InputError, match="k must be at least 1"):
        classifier.top_k(x, 0)
    with pytest.raises(slide.InputError, match="k: 2.5; give a whole number"):
        classifier.top_k(x, 2.5)


def test_data_are_not_copied(samples):
    from slide._inputs import data_of, targets_of

    x, y = samples
    data = data_of(x, targets_of(y))
    assert data.copied_bytes == 2 * 8 * 1501  # offsets of 32 bits
    wide = sparse.csr_matrix(x.shape, dtype=np.float32)
    wide.data, wide.indices, wide.indptr = x.data, x.indices.astype(np.int64), x.indptr.astype(np.int64)
    assert data_of(wide).copied_bytes == 4 * x.nnz + 8 * 1501  # ids of 64 bits, empty offsets of labels


def test_it_looks_well_in_notebooks(samples, few):
    classifier = slide.Classifier(**few).fit(*samples)
    assert repr(classifier.model_) == "<slide.Model: 120 features, 40 labels, 12 steps>"
    assert "<td>1" in classifier.model_._repr_html_() and "train.epochs" not in repr(classifier)
    assert set(classifier.history) >= {"epoch", "loss"} and len(classifier.history["loss"]) == 2
    pytest.importorskip("matplotlib")
    assert classifier.plot_history().axes[0].get_xlabel() == "epoch"


def test_partial_fit_goes_on_with_new_samples(samples, few):
    x, y = samples
    few = {**few, "neighbours__share": 0}
    classifier = slide.Classifier(**few)
    for start in (0, 500, 1000):
        classifier.partial_fit(x[start : start + 500], y[start : start + 500], epochs=2)
    assert classifier.model_.steps == 12 and len(classifier.history["loss"]) == 6
    losses = classifier.history["loss"]
    assert losses[5] < losses[3] < losses[1] and classifier.score(x, y) > 0.9
    with pytest.raises(slide.InputError, match="119 features"):
        classifier.partial_fit(x[:, :119], y)
    assert len(classifier.partial_fit(x, sparse.hstack([y, y]).tocsr()).classes_) == 80
    with pytest.raises(slide.InputError, match="in the form of the first call"):
        classifier.partial_fit(x, np.arange(1500) % 40)
    with pytest.raises(slide.InputError, match="epochs: 0; give a whole number from 1"):
        classifier.partial_fit(x, y, epochs=0)


def test_partial_fit_goes_on_after_a_file(samples, few, tmp_path):
    x, y = samples
    classifier = slide.Classifier(**few).fit(x, y)
    classifier.save(tmp_path / "c.slide")
    copies = [slide.Classifier.load(tmp_path / "c.slide"), pickle.loads(pickle.dumps(classifier)), classifier]
    written = {bytes_of(copy.partial_fit(x, y), tmp_path) for copy in copies}
    assert len(written) == 1 and copies[0].model_.steps == 18


def test_partial_fit_is_told_all_classes(samples, few):
    x, y = samples
    names = [[f"n{label}" for label in row] for row in lists_of(y)]
    all_names = [f"n{label}" for label in range(40)]
    classifier = slide.Classifier(**few).partial_fit(x[:10], names[:10], classes=all_names)
    classifier.partial_fit(x, names, epochs=3)
    assert classifier.score(x, names) > 0.9
    classifier.partial_fit(x[:1], [["other"]], classes=[*all_names[1:], "later"])
    assert classifier.classes_.tolist() == [*sorted(all_names), "later", "other"]
    numbers = slide.Classifier(**few).partial_fit(x[:10], lists_of(y)[:10], classes=40)
    assert numbers.partial_fit(x, lists_of(y)).classes_.tolist() == list(range(40))
