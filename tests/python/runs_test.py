"""Training and predicting as a part of a program: callbacks, signals, threads, processes, memory, the same bits."""

import multiprocessing
import os
import resource
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import slide


def test_the_model_file_is_that_of_the_command_line(program, tmp_path, monkeypatch):
    monkeypatch.setattr("slide.classifier.refuse_files", lambda keys: None)  # the file names its data
    program("generate", "--samples", 3000, "--features", 2000, "--labels", 500, "--out", tmp_path / "data")
    path = tmp_path / "data" / "train.txt"
    with open(path) as file:
        rows, columns, labels = map(int, file.readline().split())
        lines = [line.rstrip("\n").split(" ") for line in file]
    x = np.zeros((rows, columns), np.float32)
    for i, parts in enumerate(lines):
        for pair in parts[1:]:
            feature, value = pair.split(":")
            x[i, int(feature)] = np.float32(value)
    y = np.zeros((rows, labels), bool)
    for i, parts in enumerate(lines):
        y[i, [int(label) for label in parts[0].split(",") if label]] = True
    program("train", "--set", f"data.train={path}", "--set", "train.epochs=2", "--out", tmp_path / "run", "--quiet")
    classifier = slide.Classifier(verbose=False, data__train=str(path), train__epochs=2).fit(x, y)
    classifier.model_.save(tmp_path / "python.slide")
    assert (tmp_path / "python.slide").read_bytes() == (tmp_path / "run" / "model.slide").read_bytes()


def test_callbacks_see_every_step_and_epoch(samples, few):
    steps, epochs = [], []
    classifier = slide.Classifier(**few, on_step=steps.append, on_epoch=epochs.append).fit(*samples)
    assert [report["step"] for report in steps] == list(range(1, 13)) and steps[-1]["total_steps"] == 12
    assert [report["epoch"] for report in epochs] == [1, 2]
    assert classifier.history["loss"] == [report["loss"] for report in epochs] == [steps[5]["loss"], steps[11]["loss"]]


def test_a_callback_ends_training(samples, few):
    classifier = slide.Classifier(**few, on_step=lambda report: report["step"] < 5).fit(*samples)
    assert classifier.model_.steps == 5 and classifier.top_k(samples[0]).shape == (1500, 5)


def test_what_a_callback_raises_comes_out(samples, few):
    def fail(report):
        raise LookupError("of the callback")

    for name in ("on_step", "on_epoch"):
        classifier = slide.Classifier(**few, **{name: fail})
        with pytest.raises(LookupError, match="of the callback"):
            classifier.fit(*samples)
        assert not hasattr(classifier, "model_")


def test_interrupt_keeps_the_model(samples, few):
    classifier = slide.Classifier(**{**few, "train__epochs": 1000000})
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        classifier.fit(*samples)
    assert time.monotonic() - started < 5
    assert classifier.model_.steps > 0 and classifier.top_k(samples[0]).shape == (1500, 5)


def test_other_threads_run_while_it_trains(samples, few):
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.wait(0.001):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    slide.Classifier(**{**few, "train__epochs": 100}).fit(*samples)
    done.set()
    thread.join()
    assert counted >= 20


def test_threads_predict_at_once(samples, few):
    x, y = samples
    classifier = slide.Classifier(**few).fit(x, y)
    expected = classifier.top_k(x)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: classifier.top_k(x), range(32)):
            assert (found == expected).all()
        rows = list(pool.map(lambda i: classifier.top_k(x[i], 1)[0, 0], range(200)))
    assert np.mean(rows == expected[:200, 0]) > 0.99


def test_a_sample_alone_gets_the_same_answer(samples, few):
    x, y = samples
    model = slide.Classifier(**few).fit(x, y).model_
    labels, scores = model.predict(x[:100])
    alone = [model.predict(x[i]) for i in range(100)]
    np.testing.assert_allclose(np.vstack([score for _, score in alone]), scores, atol=1e-5)
    assert np.mean(np.vstack([label for label, _ in alone]) == labels) > 0.98


def predict_and_fit(classifier, x, y, answers):
    again = slide.Classifier(**classifier.get_params()).fit(x, y)
    answers.put((classifier.top_k(x), again.top_k(x)))


def test_fork_after_fit(samples, few):
    x, y = samples
    classifier = slide.Classifier(**few).fit(x, y)
    expected = classifier.top_k(x)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=predict_and_fit, args=(classifier, x, y, answers))
    child.start()
    try:
        for found in answers.get(timeout=60):
            assert (found == expected).all()
        child.join(60)
        assert child.exitcode == 0
    finally:
        child.kill()


def interrupted_fit(classifier, x, y, answers):
    try:
        classifier.fit(x, y)
    except KeyboardInterrupt:
        answers.put(classifier.model_.steps)


def test_interrupt_in_a_forked_process(samples, few):
    slide.Classifier(**few).fit(*samples)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    endless = slide.Classifier(**{**few, "train__epochs": 1000000})
    child = context.Process(target=interrupted_fit, args=(endless, *samples, answers))
    child.start()
    try:
        time.sleep(1)
        os.kill(child.pid, signal.SIGINT)
        assert answers.get(timeout=60) > 0
    finally:
        child.kill()


def test_a_hundred_fits_leave_nothing_behind(samples, few):
    x, y = samples

    def fit(times):
        for _ in range(times):
            slide.Classifier(**{**few, "train__epochs": 1}).fit(x, y).top_k(x)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    before = fit(20)
    assert fit(100) - before < 2 << 20
