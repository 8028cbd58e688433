"""Ctrl-C ends what the engine does, within a second or so; and arguments that no call takes."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sparse

import slide

MANY = 3_000_000  # samples: much more than are answered in the time of a test


@pytest.fixture(scope="module")
def model(samples, few):
    return slide.Classifier(**few).fit(*samples).model_


@pytest.fixture(scope="module")
def many(samples):
    """(X, Y) of many samples, each with one feature and one label."""
    ids = np.arange(MANY, dtype=np.int32) % 40
    offsets = np.arange(MANY + 1, dtype=np.int64)
    x = sparse.csr_matrix((np.ones(MANY, np.float32), ids, offsets), (MANY, 120))
    return x, sparse.csr_matrix((np.ones(MANY, np.int8), ids, offsets), (MANY, 40))


def interrupted(call):
    """Whether Ctrl-C, soon after its begin, ends a call that would take half a minute or more."""
    started = time.monotonic()
    ended = threading.Event()

    def interrupt():
        time.sleep(0.3)
        if not ended.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        call()
        return False
    except KeyboardInterrupt:
        return time.monotonic() - started < 10
    finally:
        ended.set()
        thread.join()


def test_interrupts_end_predictions_and_metrics(model, many):
    x, y = many
    slow = {"threads": 1, "inference": "full"}
    assert interrupted(lambda: model.predict(x, 40, **slow))
    assert interrupted(lambda: model.predict(x, threshold=0.0, **slow))
    assert interrupted(lambda: model.evaluate(x, y, 40, threads=1))
    assert model.predict(x[:3], 2)[0].shape == (3, 2)


def test_interrupts_end_recommendations(program, tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("".join(f"u{u} " + " ".join(f"i{u % 7 * 20 + i}" for i in range(12)) + "\n" for u in range(600)))
    keys = ("--set", f"data.train={log}", "data.kind=interactions", "train.epochs=1")
    program("train", *keys, "--out", tmp_path / "run", "--quiet")
    model = slide.Model.load(tmp_path / "run" / "model.slide")
    users = [f"u{i % 600}" for i in range(MANY)]
    assert interrupted(lambda: model.predict(users=users, k=100, threads=1))
    assert interrupted(lambda: model.recommend(users, 100, threads=1))


def test_interrupts_end_what_comes_before_the_first_step(many, few):
    x, y = many
    classifier = slide.Classifier(**{**few, "neighbours__share": 0.5, "train__threads": 1})
    assert interrupted(lambda: classifier.fit(x, y))
    assert not hasattr(classifier, "model_")


def test_ranks_beyond_all_labels_are_refused(model, samples):
    x, y = samples
    for k in (10**9, 2**31, 10**30):
        with pytest.raises(slide.InputError, match="give 10000 or less"):
            model.predict(x, k)
        with pytest.raises(slide.InputError, match="ranks: "):
            model.evaluate(x, y, [1, k])
    for k in (0, -1, -(10**30)):
        with pytest.raises(slide.InputError, match="k must be at least 1"):
            model.predict(x, k)
    labels, scores = model.predict(x[:2], 10000)
    assert (labels[:, 40:] == -1).all() and (scores[:, 40:] == 0).all()
    with pytest.raises(slide.InputError, match="ranks: "):
        slide.evaluate(y, x[:, :40], 10**9)


def test_whole_numbers_are_checked_by_name(model, samples, few):
    x, y = samples
    fitted = slide.Classifier(**few).fit(x, y)
    calls = {
        "count": [lambda n: model.nearest_labels(3, n), lambda n: model.strongest_features(3, n)],
        "threads": [lambda n: model.predict(x, threads=n), lambda n: model.evaluate(x, y, threads=n),
                    lambda n: model.similar(threads=n), lambda n: model.hidden_vectors(x, threads=n)],
        "k": [lambda n: model.similar(k=n), lambda n: model.predict([], n), lambda n: model.predict(x, n),
              lambda n: fitted.top_k(x, n), lambda n: fitted.score(x, y, n), lambda n: fitted.predict_proba(x, n),
              lambda n: fitted.decision_function(x, n)],
        "ranks": [lambda n: model.evaluate(x, y, n), lambda n: slide.evaluate(y, x[:, :40], [1, n])],
        "epochs": [lambda n: fitted.partial_fit(x, y, epochs=n),
                   lambda n: slide.Classifier(**few).partial_fit(x, y, epochs=n)],
        "classes": [lambda n: slide.Classifier(**few).partial_fit(x, y, classes=n)],
        "trials": [lambda n: slide.tune(x, y, trials=n)],
        "label": [lambda n: model.nearest_labels(n), lambda n: model.strongest_features(n), lambda n: model.similar([n])],
        "feature": [model.feature_name, lambda n: model.similar([n], of="features")],
        "random_state": [lambda n: slide.Classifier(random_state=n).fit(x, y)],
        "max_iter": [lambda n: slide.Classifier(max_iter=n).fit(x, y)],
        "train.seed": [lambda n: slide.Classifier(train__seed=n).fit(x, y)],
    }
    for name, those in calls.items():
        for call in those:
            for number in (-1, -(10**30)):
                with pytest.raises(slide.InputError, match=name):
                    call(number)
    for k in (10**9, 10**30):
        with pytest.raises(slide.InputError, match="k: .*to 10000"):
            model.similar(k=k)
    with pytest.raises(slide.InputError, match="count: 2.5; give a whole number"):
        model.nearest_labels(3, 2.5)
    assert len(model.nearest_labels(3, np.int64(4))[0]) == 4 and len(model.nearest_labels(3, 0)[0]) == 0


def test_names_with_a_nul_are_refused(model, samples):
    for call in (slide.Model.load, slide.Classifier.load, slide.read, model.save, lambda name: slide.write(name, *samples, format="xmc")):
        with pytest.raises(slide.InputError, match="a b: this name holds a NUL"):
            call("a\0b")
    assert not os.path.exists("a")


def test_negative_labels_are_refused(model, samples, few):
    x, y = samples
    wrong = y.astype(np.int32).tolil()
    wrong[7, 3] = -1
    for matrix in (wrong.tocsr(), wrong.tocsc(), wrong.toarray()):
        for call in (lambda: slide.Classifier(**few).fit(x, matrix), lambda: model.evaluate(x, matrix),
                     lambda: slide.evaluate(matrix, y)):
            with pytest.raises(slide.InputError, match="labels: "):
                call()
    with pytest.raises(slide.InputError, match="labels: row 7, column 3 is -1; give 1 where a sample has a label"):
        model.evaluate(x, wrong.tocsr())
    missing = y.astype(np.float32).tolil()
    missing[2, 1] = np.nan
    with pytest.raises(slide.InputError, match="labels: row 2, column 1 is nan"):
        model.evaluate(x, missing.tocsr())
