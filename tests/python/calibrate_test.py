"""Probabilities fitted to samples that training has not seen: Model.calibrate, Classifier.calibrate."""

import numpy as np
import pytest
from scipy import sparse

import slide


@pytest.fixture(scope="module")
def samples():
    random = np.random.default_rng(0)
    x = sparse.random(1500, 200, 0.1, random_state=1, format="csr", dtype=np.float64)
    scores = x @ random.normal(size=(40, 200)).T
    return x, sparse.csr_matrix((scores > np.quantile(scores, 0.95)).astype(int))


def trained(x, y, **keys):
    return slide.Classifier(random_state=1, max_iter=4, **keys).fit(x[:1000], y[:1000])


def test_the_error_falls_and_the_order_stays(samples, tmp_path):
    x, y = samples
    model = trained(x, y).model_
    assert not model.is_calibrated
    before, labels = model.evaluate(x[1250:], y[1250:], 20), model.predict(x[1250:], k=7)[0]
    found = model.calibrate(x[1000:1250], y[1000:1250])
    assert model.is_calibrated and found["slope"] > 0
    assert found["error"] < found["error_before"] and found["top_error"] < found["top_error_before"]
    after = model.evaluate(x[1250:], y[1250:], 20)
    assert after["reliability"]["error"] < before["reliability"]["error"]
    assert after["p_at_20"] == before["p_at_20"]
    again, scores = model.predict(x[1250:], k=7)
    assert np.array_equal(again, labels)
    path = tmp_path / "model.slide"
    model.save(path)
    loaded = slide.load(path)
    assert loaded.is_calibrated and np.array_equal(loaded.predict(x[1250:], k=7)[1], scores)
    assert np.array_equal(loaded.predict(x[1250:], k=1)[1], scores[:, :1]), "of 20 labels, however many are wanted"
    np.testing.assert_allclose(loaded.predict(x[1250], k=7)[1][0], scores[0], rtol=1e-4)


def test_a_classifier_finds_its_threshold_anew(samples):
    x, y = samples
    classifier = trained(x, y, threshold="best-f1", validation=0.1)
    threshold, best = classifier.threshold_, classifier.top_k(x[1250:], 3)
    found = classifier.calibrate(x[1000:1250], y[1000:1250])
    assert found["error"] < found["error_before"]
    assert classifier.threshold_ != threshold
    assert np.array_equal(classifier.top_k(x[1250:], 3), best)


def test_what_cannot_be_is_refused(samples):
    x, y = samples
    classifier = trained(x, y)
    none = sparse.csr_matrix((50, 40), dtype=int)
    for arguments, said in (
        ((x[:50], none), "no calibration fits these 50 samples"),
        ((x[:5, :100], y[:5]), "calibrate: X has 100 features"),
        ((["a text"], [[1]]), "calibrate: give a matrix of features"),
    ):
        with pytest.raises(slide.InputError, match=said):
            classifier.calibrate(*arguments)
    assert not classifier.model_.is_calibrated
    softmax = trained(x, y, loss__kind="softmax")
    with pytest.raises(slide.InputError, match="loss.kind = softmax"):
        softmax.calibrate(x[1000:], y[1000:])
