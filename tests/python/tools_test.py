"""slide.read and write, evaluate, tune and report."""

import json
import os
import re
import shutil
import signal
import threading

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.metrics import precision_recall_fscore_support

import slide


def test_what_is_written_is_read_again(samples, tmp_path):
    x, y = samples
    for name in ("a.xmc", "a.libsvm", "X.a.npz"):
        slide.write(tmp_path / name, x, y)
        x_again, y_again = slide.read(tmp_path / name)
        assert x_again.dtype == np.float32 and (x_again != x).nnz == 0, name
        assert x_again.shape == x.shape and y_again.shape == y.shape and (y_again != y).nnz == 0, name
    assert slide.read(tmp_path / "a.xmc", names=True)[2:] == (None, None)
    unit, _ = slide.read(tmp_path / "a.xmc", data__normalize=True)
    assert np.allclose(np.sqrt(unit.multiply(unit).sum(axis=1)), 1)


def test_text_is_read_with_its_names(tmp_path):
    counts = sparse.csr_matrix(np.array([[2, 0, 1], [0, 3, 0]], np.float32))
    for name in ("a.ft", "a.tsv"):
        slide.write(tmp_path / name, counts, [[4], [0, 4]])
        x, y, words, labels = slide.read(tmp_path / name, names=True, text__min_count=1, text__weighting="counts")
        assert labels.tolist() == ["4", "0"] and y.toarray().tolist() == [[1, 0], [1, 1]]
        column = {word: i for i, word in enumerate(words)}
        dense = x.toarray()
        assert dense[0, column["f0"]] == 2 and dense[1, column["f1"]] == 3 and dense[0, column["f2"]] == 1


def test_text_is_read_as_a_model_sees_it(few, tmp_path):
    (tmp_path / "t.txt").write_text("__label__a one two\n__label__b two three\n" * 5)
    texts = ["one two", "two three"] * 5
    model = slide.Classifier(**few, text__min_count=1).fit(texts, [["a"], ["b"]] * 5).model_
    x, y = slide.read(tmp_path / "t.txt", model=model)
    assert x.shape == (10, model.features) and y.shape == (10, 2)
    assert (model.predict(x)[0] == model.predict(texts)[0]).all()
    with pytest.raises(slide.InputError, match="the model says how"):
        slide.read(tmp_path / "t.txt", model=model, text__min_count=1)


def test_files_at_fault_are_told(samples, tmp_path):
    (tmp_path / "bad.txt").write_text("2 3 2\n0 1:1\n0 7:1\n")
    with pytest.raises(slide.InputError, match="bad.txt:3:"):
        slide.read(tmp_path / "bad.txt")
    with pytest.raises(slide.InputError, match="no such file"):
        slide.read(tmp_path / "none.txt")
    with pytest.raises(slide.InputError, match="does not tell the format"):
        slide.write(tmp_path / "data", *samples)
    with pytest.raises(slide.InputError, match="want xmc, libsvm"):
        slide.write(tmp_path / "data", *samples, format="csv")
    with pytest.raises(slide.InputError, match="labels: give numbers"):
        slide.write(tmp_path / "data.xmc", samples[0], [["a"]] * 1500)
    with pytest.raises(slide.Error):
        slide.write(tmp_path / "no" / "folder.xmc", *samples)


def test_scores_are_measured_as_a_model_is(samples, few):
    x, y = samples
    classifier = slide.Classifier(**few).fit(x, y)
    expected = classifier.model_.evaluate(x, y, [1, 3, 5])
    labels, scores = classifier.model_.predict(x, 5)
    rows = np.repeat(np.arange(len(labels)), 5)
    matrix = sparse.csr_matrix((scores.ravel(), (rows, labels.ravel())), y.shape)
    measured = slide.evaluate(y, matrix, Y_train=y)
    assert {"coverage_at_1", "catalogue_at_5"} < set(expected)
    for name in set(expected) - {"reliability"}:
        assert measured[name] == pytest.approx(expected[name], abs=1e-12), name
    for k in (1, 5):
        parts = [measured[f"p_at_{k}_{group}"] for group in ("head", "middle", "tail")]
        assert sum(parts) == pytest.approx(measured[f"p_at_{k}"])
    assert slide.evaluate(y, matrix.toarray(), [1])["p_at_1"] == measured["p_at_1"]
    assert "psp_at_1" not in slide.evaluate(y, matrix)


def test_measures_are_those_of_numpy():
    rng = np.random.default_rng(3)
    truth, scores = rng.random((200, 30)) < 0.1, rng.normal(size=(200, 30)).astype(np.float32)
    order = np.argsort(-scores, axis=1, kind="stable")
    hits = np.take_along_axis(truth, order, axis=1)
    found = slide.evaluate(truth.astype(int), scores, [1, 7])
    counts = np.maximum(truth.sum(axis=1), 1)
    discounts = 1 / np.log2(np.arange(30) + 2)
    for k in (1, 7):
        hit = {label for row in range(200) for label in order[row, :k] if truth[row, label]}
        assert found[f"coverage_at_{k}"] == len(hit) / truth.any(axis=0).sum()
        assert found[f"catalogue_at_{k}"] == len(np.unique(order[:, :k])) / 30
        assert found[f"p_at_{k}"] == pytest.approx(hits[:, :k].sum(axis=1).mean() / k)
        assert found[f"recall_at_{k}"] == pytest.approx((hits[:, :k].sum(axis=1) / counts).mean())
        best = np.array([discounts[: min(k, n)].sum() for n in counts])
        assert found[f"ndcg_at_{k}"] == pytest.approx(((hits * discounts)[:, :k].sum(axis=1) / best).mean())


def test_f1_is_that_of_scikit_learn_and_of_the_command(program, tmp_path):
    rng = np.random.default_rng(3)
    truth, scores = (rng.random((200, 30)) < 0.1).astype(int), rng.random((200, 30)).astype(np.float32)
    found = slide.evaluate(truth, scores, [1, 4], threshold=0.9)
    order = np.argsort(-scores, axis=1, kind="stable")
    for suffix, given in (
        ("_at_4", np.argsort(order, axis=1) < 4), ("", scores >= np.float32(0.9)),
    ):
        for mean in ("micro", "macro", "samples"):
            rates = precision_recall_fscore_support(truth, given.astype(int), average=mean, zero_division=0)
            for name, value in zip(("precision", "recall", "f1"), rates):
                assert found[f"{name}_{mean}{suffix}"] == pytest.approx(value), name + mean + suffix
    slide.write(tmp_path / "X.npz", sparse.csr_matrix(scores), truth)
    sparse.save_npz(tmp_path / "scores.npz", sparse.csr_matrix(scores))
    told = json.loads(program("evaluate", tmp_path / "scores.npz", tmp_path / "X.npz", "--k", "1,4", "--threshold", "0.9", "--json"))
    rates = {name: value for name, value in told.items() if name.startswith(("precision_", "recall_m", "recall_s", "f1_"))}
    assert len(rates) == 27 and {name: found[name] for name in rates} == pytest.approx(rates)
    assert "f1_micro" not in slide.evaluate(truth, scores) and "<th>at 4</th>" in found._repr_html_()
    with pytest.raises(slide.InputError, match="threshold: give a number"):
        slide.evaluate(truth, scores, threshold=float("nan"))


def test_scores_at_fault_are_told():
    y = sparse.csr_matrix(np.eye(2))
    with pytest.raises(slide.InputError, match="1 rows of scores, but 2 of labels"):
        slide.evaluate(y, np.ones((1, 2)))
    with pytest.raises(slide.InputError, match="want two dimensions"):
        slide.evaluate(y, np.ones(2))
    with pytest.raises(slide.InputError, match="not finite"):
        slide.evaluate(y, np.array([[1, np.nan], [0, 1]]))
    with pytest.raises(slide.InputError, match="ranks"):
        slide.evaluate(y, np.ones((2, 2)), [])
    for threshold in ("x", "0.5", [1], [0.5, 0.5], True, 1j, np.nan):
        with pytest.raises(slide.InputError, match="threshold: .*give a number"):
            slide.evaluate(y, y, threshold=threshold)
    for constants in (("x", 1), 3, (1,), (None, 1), "ab"):
        with pytest.raises(slide.InputError, match="propensity: "):
            slide.evaluate(y, y, Y_train=y, propensity=constants)
    for scores in ([["a", "b"], ["c", "d"]], [[1, 2], [3]], None):
        with pytest.raises(slide.InputError, match="scores: "):
            slide.evaluate(y, scores)
    assert slide.evaluate(y, y, threshold=np.float32(0.5)) == slide.evaluate(y, y, threshold=0.5)


def test_arguments_that_are_no_numbers_are_named(samples, few, tmp_path):
    x, y = samples
    model = slide.Classifier(**few).fit(x, y).model_
    for name, call in (
        ("threshold", lambda: model.predict(x, threshold="x")),
        ("rare", lambda: model.predict(x, rare="x")),
        ("threshold", lambda: model.save(tmp_path / "m.slide", threshold="x")),
        ("seconds", lambda: slide.tune(x, y, seconds="x")),
        ("train_seconds", lambda: slide.tune(x, y, train_seconds="x")),
    ):
        with pytest.raises(slide.InputError, match=f"^{name}: 'x'; give a number"):
            call()


def test_messages_name_no_options_of_the_command_line(program, samples, few, tmp_path):
    log, run = tmp_path / "log.csv", tmp_path / "run"
    log.write_text("user,item\nann,tea\nann,jam\nbob,tea\nbob,rice\ncid,rice\ncid,jam\n")
    program("train", "--set", f"data.train={log}", "data.kind=interactions", "--out", run, "--quiet")
    shutil.copy(run / "model.slide", tmp_path / "away.slide")
    (tmp_path / "checkpoint").write_bytes(b"SLIDERUN" + bytes(64))
    slide.Classifier(**few).fit(*samples).save(tmp_path / "m.slide")
    log.rename(tmp_path / "moved.csv")
    for message, call in (
        ("name it by known=...", lambda: slide.load(tmp_path / "away.slide").recommend(["ann"])),
        ("name a log by known=...", lambda: log.mkdir() or slide.load(run).predict(users=["ann"])),
        ("give more train_seconds, or", lambda: slide.tune(*samples, trials=1, train_seconds=1e-9, **few)),
        ("name another file with `path`", lambda: slide.report(run, tmp_path / "m.slide")),
        ("by `slide train --resume`", lambda: slide.read(tmp_path / "checkpoint")),
        ("in Python by partial_fit()", lambda: slide.Classifier(train__init=str(tmp_path / "m.slide")).fit(*samples)),
        ("see help(slide.Classifier)", lambda: slide.Classifier(nothing=1)),
    ):
        with pytest.raises(slide.InputError, match=re.escape(message)) as told:
            call()
        assert " --" not in str(told.value).replace("`slide train --resume`", "")


def test_a_search_finds_parameters_for_a_classifier(samples, few, capsys):
    x, y = samples
    seen = []
    found = slide.tune(x, y, trials=4, on_trial=seen.append, **{**few, "verbose": True})
    assert seen == found.trials and [trial["number"] for trial in seen] == [1, 2, 3, 4]
    leader = seen[found.decision["leader"] - 1]
    assert leader["score"] == max(trial["score"] for trial in seen) and leader["best"]
    assert found.score == (leader if found.decision["taken"] else seen[0])["score"]
    assert (found.params == {}) == (found.score == seen[0]["score"])
    assert found.decision["by"] == "random" and found.decision["samples"] > 0
    assert all(isinstance(trial["dropped"], bool) and not (trial["dropped"] and trial["score"]) for trial in seen)
    assert capsys.readouterr().out.count("\n") == 4 + (found.decision["leader"] != 1)
    assert "train__epochs" not in found.params  # which was given
    classifier = found.classifier(verbose=False)
    assert classifier.get_params()["train__epochs"] == 2
    assert classifier.fit(x, y).score(x, y) > 0.5
    again = slide.tune(x, y, trials=4, **few)
    assert [trial["changes"] for trial in again.trials] == [trial["changes"] for trial in found.trials]


def test_a_search_in_a_file_is_that_of_the_command_line(program, samples, few, tmp_path):
    path = tmp_path / "train.txt"
    slide.write(path, *samples)
    keys = {"train__epochs": 2, "layer__0__size": 16, "data__normalize": True}
    sets = [word for key, value in keys.items() for word in ("--set", f"{key.replace('__', '.')}={value}".lower())]
    printed = program("tune", os.devnull, "--set", f"data.train={path}", *sets, "--trials", 3, "--out", tmp_path / "best.toml")
    found = slide.tune(path, trials=3, verbose=False, **keys)
    scores = [line.split("score ")[1][:6] for line in printed.splitlines() if " score 0." in line and " s, " in line]
    assert scores == [f"{trial['score']:.4f}" for trial in found.trials if not trial["dropped"]]


def test_a_dropped_trial_is_told_from_one_that_scores_nothing():
    from slide.tools import _line_of

    trial = {"number": 2, "best": False, "changes": [], "score": 0.0, "train_seconds": 1.0, "within": True}
    trial["too_large"] = False
    assert " score 0.0000 " in _line_of({**trial, "diverged": False, "dropped": False})
    assert " dropped " in _line_of({**trial, "diverged": False, "dropped": True})
    assert " too large " in _line_of({**trial, "diverged": False, "dropped": False, "too_large": True})


def test_a_search_ends_by_what_is_raised(samples, few):
    def fail(trial):
        raise LookupError("of the callback")

    with pytest.raises(LookupError, match="of the callback"):
        slide.tune(*samples, on_trial=fail, **few)
    with pytest.raises(slide.InputError, match="^1e-06 seconds were too short"):
        slide.tune(*samples, seconds=1e-6, **few)
    with pytest.raises(slide.InputError, match="give X and Y"):
        slide.tune(samples[0], **few)
    seen = []
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        slide.tune(*samples, on_trial=seen.append, **few)


def test_a_report_compares_runs(program, samples, tmp_path):
    slide.write(tmp_path / "train.txt", *samples)
    for name, epochs in (("a", 1), ("b", 2)):
        program("train", "--set", f"data.train={tmp_path}/train.txt", "--set", f"train.epochs={epochs}", "--quiet",
                "--out", tmp_path / name)
    made = slide.report([tmp_path / "a", tmp_path / "b"], tmp_path / "page.html")
    assert made.runs == 2 and made.groups and "<html" in (tmp_path / "page.html").read_text()
    assert made._repr_html_().startswith("<iframe srcdoc=") and "&lt;html" in made._repr_html_()
    assert "gone.html" in made._replace(path=str(tmp_path / "gone.html"))._repr_html_()
    assert slide.report(tmp_path / "a", tmp_path / "page.html").runs == 1
    with pytest.raises(slide.InputError):
        slide.report(tmp_path / "missing", tmp_path / "page.html")
    with pytest.raises(slide.InputError, match="no report"):
        slide.report(tmp_path / "a", tmp_path / "train.txt")
