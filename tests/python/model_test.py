"""slide.Model: files of the command line, predictions, texts."""

import csv
import json
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sparse

import slide


@pytest.fixture(scope="module")
def text_model(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    lines = ["music\tThe violin and the cello", "music,nature\tSinging birds", "nature\tBirds and trees"]
    (folder / "train.tsv").write_text("".join(line + "\n" for line in lines * 5), encoding="utf-8")
    program("train", "--set", f"data.train={folder / 'train.tsv'}", "--out", folder / "run", "--quiet")
    return folder / "run" / "model.slide"


def test_texts_are_predicted_as_by_the_command_line(program, text_model, tmp_path):
    model = slide.Model.load(text_model)
    assert model.is_text and model.label_names.tolist() == ["music", "nature"]
    texts = ["Trees in a forest", "A cello", ""]
    (tmp_path / "in.txt").write_text("".join(text + "\n" for text in texts))
    printed = program("predict", text_model, tmp_path / "in.txt", "--k", 2).splitlines()
    labels, scores = model.predict(texts, 2)
    numbers, again = model.predict(texts, 2, names=False)
    assert (model.label_names[numbers] == labels).all() and (scores == again).all()
    for line, row, values in zip(printed, labels, scores):
        for part, label, value in zip(line.split(), row, values):
            name, _, score = part.rpartition(":")
            assert name == label and float(score) == pytest.approx(value, abs=1e-4)


def test_a_model_of_features_takes_no_texts(samples, few):
    model = slide.Classifier(**few).fit(*samples).model_
    with pytest.raises(slide.InputError, match="trained on features, not on text"):
        model.predict(["some text"])
    with pytest.raises(slide.InputError, match="names: the labels of this model have none"):
        model.predict(samples[0], names=True)
    assert model.label_names is None


def test_models_travel(samples, few, tmp_path):
    x, y = samples
    model = slide.Classifier(**few).fit(x, y).model_
    model.save(tmp_path / "m.slide")
    labels, scores = model.predict(x, 4)
    for other in (slide.Model.load(tmp_path / "m.slide"), pickle.loads(pickle.dumps(model))):
        assert (other.features, other.labels, other.steps) == (120, 40, 12)
        assert (other.predict(x, 4)[0] == labels).all() and (other.predict(x, 4)[1] == scores).all()
    (tmp_path / "m.slide").write_bytes(b"SLIDEMDL and more")
    with pytest.raises(slide.InputError, match="m.slide"):
        slide.Model.load(tmp_path / "m.slide")


def test_candidates_are_searched_by_hash_tables(samples, few):
    x, y = samples
    model = slide.Classifier(**few).fit(x, y).model_
    labels, scores = model.predict(x, 5, inference="lsh")
    assert labels.shape == (1500, 5) and (np.diff(scores, axis=1) <= 0).all()
    assert (labels[:, 0] == model.predict(x, 5, inference="full")[0][:, 0]).mean() > 0.5
    with pytest.raises(slide.InputError, match="inference = 'some'"):
        model.predict(x, inference="some")


def test_measures_are_those_of_the_command_line(program, samples, few, tmp_path):
    x, y = samples
    model = slide.Classifier(**few).fit(x, y).model_
    measures = model.evaluate(x, y, [1, 3])
    best = model.predict(x, 1)[0][:, 0]
    assert measures["p_at_1"] == np.mean([y[i, label] for i, label in enumerate(best)])
    assert set(measures) == {f"{name}_at_{k}" for name in ("p", "ndcg", "psp", "psndcg", "recall", "coverage", "catalogue") for k in (1, 3)} | {"reliability"}


def test_vectors_and_what_is_related(samples, few):
    x, y = samples
    model = slide.Classifier(**few).fit(x, y).model_
    vectors, hidden = model.label_vectors(), model.hidden_vectors(x)
    assert vectors.shape == (40, 16) and hidden.shape == (1500, 16) and hidden.dtype == np.float32
    np.testing.assert_allclose(model.hidden_vectors(x[:3].toarray()), hidden[:3], atol=1e-6)
    labels, cosines = model.nearest_labels(7, 3)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = np.delete(np.argsort(-unit @ unit[7], kind="stable"), 0)[:3]
    assert labels.tolist() == expected.tolist() and (np.diff(cosines) <= 0).all()
    features, weights = model.strongest_features(7, 2)
    assert features[0] == 7 and weights[0] > weights[1]
    for wrong in (40, -1, 2**40):
        with pytest.raises(slide.InputError, match="there is no label|count from 0"):
            model.nearest_labels(wrong)
    with pytest.raises(slide.InputError, match="no label 'name'"):
        model.strongest_features("name")
    with pytest.raises(slide.InputError, match="121 features"):
        model.hidden_vectors(np.ones((1, 121)))


def test_explanations_rank_the_features_of_a_sample(samples, few):
    x, y = samples
    model = slide.Classifier(**few).fit(x, y).model_
    labels, scores = model.predict(x[:6], 3)
    found = model.explain(x[:6], 3, features=1000)
    assert [[reason.label for reason in one] for one in found] == labels.tolist()
    for row, one in enumerate(found):
        assert np.float32(one[0].score) == scores[row, 0]
        assert one[0].features[0][0] == row % 40 and all(part > 0 for _, part in one[0].features)
        assert {feature for feature, _ in one[0].features} <= set(x[row].indices)
        assert (np.diff([part for _, part in one[0].features]) <= 0).all()
    with pytest.raises(slide.InputError, match="features"):
        model.explain(x[:1], features=0)
    assert model.explain([]) == [] and len(model.explain(x[:1], 1, features=2)[0][0].features) <= 2


def test_of_a_text_words_speak_for_its_label(text_model):
    model = slide.load(text_model)
    told = model.explain("the cello", 1)
    assert told[0].label == "music" and "cello" in [name for name, _ in told[0].features]
    assert model.explain(["the cello"], 1) == [told] and "music: 0." in repr(told)
    assert "<table>" in told._repr_html_() and "cello</span>" in told._repr_html_()
    assert isinstance(model.explain("the cello", 1, names=False)[0].label, int)
    assert "music" in model._repr_html_() or "trained on" in model._repr_html_()


def test_an_evaluation_is_a_table_in_a_notebook(samples, few):
    x, y = samples
    measures = slide.Classifier(**few).fit(x, y).model_.evaluate(x, y, [1, 10])
    page = measures._repr_html_()
    assert page.count("<tr>") == 9 and "<th>at 1</th><th>at 10</th>" in page and f"{measures['ndcg_at_10']:.4f}" in page
    assert "precision head" in slide.evaluate(y, y.toarray(), Y_train=y)._repr_html_()


def test_features_of_text_have_names(text_model):
    model = slide.Model.load(text_model)
    features, _ = model.strongest_features("music", 5)
    assert "cello" in [model.feature_name(feature) for feature in features] or len(features) == 5
    with pytest.raises(slide.InputError, match="there is no feature"):
        model.feature_name(10**6)


def test_what_a_user_has_is_left_out_unless_asked_for(program, tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("".join(f"{u} " + " ".join(str(u % 4 * 6 + i) for i in range(6)) + "\n" for u in range(60)))
    run = tmp_path / "run"
    keys = ("--set", f"data.train={log}", "data.kind=interactions", "train.epochs=2")
    program("train", *keys, "--out", run, "--quiet")
    model = slide.Model.load(run / "model.slide")
    x = np.zeros((1, model.features), np.float32)
    x[0, :3] = 1
    known = {0, 1, 2}
    known_names = {model.label_names[one] for one in known}
    assert not known & set(model.predict(x, model.labels, names=False)[0][0])
    assert not known_names & set(model.predict(x, model.labels)[0][0])
    assert known <= set(model.predict(x, model.labels, keep_known=True, names=False)[0][0])


@pytest.fixture
def items(program, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(
        "user,item,rating\nann,tea,5\nann,jam,4\nbob,tea,1\nbob,rice,2\nbob,salt,2\ncid,rice,3\ncid,salt,1\n"
    )
    run = tmp_path / "run"
    keys = ("--set", f"data.train={log}", "data.kind=interactions", "train.epochs=2")
    program("train", *keys, "--out", run, "--quiet")
    return run


def test_users_are_looked_up_by_name(items, program, tmp_path):
    model = slide.Model.load(items / "model.slide")
    labels, scores = model.predict(users=["bob", "ann"], k=4)
    assert labels.shape == scores.shape == (2, 4)
    assert labels[0].tolist() == ["jam", None, None, None]
    found = model.recommend(["bob", "ann"], k=4)
    assert list(found) == ["bob", "ann"]
    (users := tmp_path / "users.txt").write_text("bob\nann\n")
    answers = [json.loads(line) for line in program("predict", items, users, "--k", 4, "--json").splitlines()]
    for answer in answers:
        wanted = [(one["label"], pytest.approx(one["score"], abs=1e-5)) for one in answer["predictions"]]
        assert found[answer["user"]] == wanted
    assert len(model.recommend(["bob"], k=4, keep_known=True)["bob"]) == 4
    with pytest.warns(UserWarning, match="1 of 2 users have no item"):
        assert len(model.recommend(["dora", "bob"], k=4)["dora"]) == 4
    (other := tmp_path / "other.csv").write_text("user,item\ndora,tea\ndora,rice\n")
    assert len(model.recommend(["dora"], k=4, known=other)["dora"]) == 2


def test_all_users_of_the_log_get_what_the_command_gives_them(items, program, tmp_path):
    model = slide.Model.load(items / "model.slide")
    lines = program("recommend", items, "--users", "all", "--k", 4, "--json").splitlines()
    found = model.recommend(users="all", k=4)
    assert list(found) == ["ann", "bob", "cid"] and len(lines) == 3 and found == model.recommend(k=4)
    for answer in map(json.loads, lines):
        wanted = [(one["label"], pytest.approx(one["score"], abs=1e-5)) for one in answer["predictions"]]
        assert found[answer["user"]] == wanted
    (other := tmp_path / "other.csv").write_text("user,item\ndora,tea\nall,jam\ndora,rice\n")
    assert list(model.recommend("all", known=other)) == ["all", "dora"]
    assert list(model.recommend(["all"], known=other)) == ["all"]
    with pytest.raises(slide.InputError, match="users: give a list of names, or 'all'"):
        model.recommend("ann")
    with pytest.raises(slide.InputError, match="users: row 1 is no name; give lists of items to predict"):
        model.recommend(["ann", ["tea"]])


def test_lists_of_names_are_users_and_their_lists_are_items(program, tmp_path):
    log = tmp_path / "log.csv"
    pairs = [("ann", "green tea"), ("ann", 'a "b", c'), ("bob", "green tea"), ("bob", "ann"), ("cid", "ann")]
    with open(log, "w", newline="") as file:
        csv.writer(file).writerows([("user", "item"), *pairs])
    keys = ("--set", f"data.train={log}", "data.kind=interactions", "train.epochs=2")
    program("train", *keys, "--out", tmp_path / "run", "--quiet")
    model = slide.Model.load(tmp_path / "run")
    of_users = model.predict(users=["ann", "bob"], k=3)
    for names in (["ann", "bob"], np.array(["ann", "bob"]), ("ann", "bob")):
        for found, wanted in zip(model.predict(names, k=3), of_users):
            assert np.array_equal(found, wanted)
    # A user who is an item, too, is one or the other by the form.
    of_items = model.predict([["green tea", 'a "b", c'], ("ann", "green tea")], k=3)
    for found, wanted in zip(of_items, of_users):
        assert np.array_equal(found, wanted)
    assert np.array_equal(model.hidden_vectors(["ann"]), model.hidden_vectors([["green tea", 'a "b", c']]))
    with pytest.warns(UserWarning, match="1 of 2 users have no item"):
        model.predict(["green tea", "bob"])
    with pytest.warns(UserWarning, match="1 of 2 users have no item"):
        model.predict([["never"], ["ann"]])
    with pytest.warns(UserWarning, match="the samples: 2 of 3 items are none of the model's and are left out") as told:
        model.predict([["ann", "99999", "never"]])
    assert len(told) == 1 and told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.predict([["ann", "green tea"]])
    with pytest.raises(slide.InputError, match="X: row 0 is no text"):
        model.predict([["ann"], "bob"])
    for wrong in ([["ann"], [3.5]], [["ann"], None]):
        with pytest.raises(slide.InputError, match="X: row 1: .* is no name of an item"):
            model.predict(wrong)
    with pytest.raises(slide.InputError, match="slide.read"):
        model.evaluate(["ann"], [[0]])
    (other := tmp_path / "other.csv").write_text("user,item\ndora,ann\n")
    assert np.array_equal(model.predict(["dora"], known=other)[0], model.predict([["ann"]])[0])


def test_whole_numbers_are_names_of_items(program, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("user,item\n" + "".join(f"u{i},{90 - i % 7}\nu{i},{80 + i % 3}\nu{i},{i % 5}\n" for i in range(40)))
    program("train", "--set", f"data.train={log}", "data.kind=interactions", "train.epochs=2", "--out", tmp_path / "run", "--quiet")
    model = slide.load(tmp_path / "run")
    for given in ([[90, 3], (81,)], [np.array([90, 3]).tolist(), {np.int64(81)}], [[90, "3"], ["81"]]):
        for found, wanted in zip(model.predict(given, k=3), model.predict([["90", "3"], ["81"]], k=3)):
            assert np.array_equal(found, wanted)
    for of in ("labels", "features"):
        for found, wanted in zip(model.similar([3, 90], k=2, of=of), model.similar(["3", "90"], k=2, of=of)):
            assert np.array_equal(found, wanted)
    assert model.predict(np.eye(model.features)[:1].tolist(), k=1)[0] == model.predict([[model.label_names[0]]], k=1)[0]


def test_similar_items_are_those_of_nearest_labels(items, text_model, samples, few):
    model = slide.Model.load(items / "model.slide")
    names, cosines = model.similar(["tea", "rice"], k=3)
    for item, row, values in zip(("tea", "rice"), names, cosines):
        ids, wanted = model.nearest_labels(item, 3)
        assert model.label_names[ids].tolist() == [one for one in row if one is not None]
        np.testing.assert_allclose(values[: len(wanted)], wanted, atol=1e-6)
    assert (model.similar("tea", k=3)[0] == model.similar(["tea"], k=3)[0]).all()
    every, _ = model.similar(k=2, names=False)
    assert every.shape == (model.labels, 2) and every.dtype == np.int64
    words, _ = slide.Model.load(text_model).similar(["birds"], k=1, of="features")
    assert isinstance(words[0, 0], str) and words[0, 0] != "birds"
    numbers, _ = slide.Classifier(**few).fit(*samples).model_.similar([7], k=3)
    assert numbers.tolist()[0] == slide.Classifier(**few).fit(*samples).model_.nearest_labels(7, 3)[0].tolist()
    for given, message in (
        (["never"], "there is no label 'never' in the model$"), (16, "give a list"), (["\ud800"], "can't encode"),
        (["tea", "rica"], "there is no label 'rica' in the model; did you mean 'rice'[?]"),
    ):
        with pytest.raises(ValueError, match=message):
            model.similar(given)
    with pytest.raises(slide.InputError, match="there is no feature 'birdz' in the model; did you mean 'birds'[?]"):
        slide.Model.load(text_model).similar(["birdz"], of="features")
    with pytest.raises(slide.InputError, match="there is no label 'musik' in the model; did you mean 'music'[?]"):
        slide.Model.load(text_model).strongest_features("musik")
    with pytest.raises(slide.InputError, match="of: 'words'; give 'labels' or 'features'"):
        model.similar(["tea"], of="words")
    with pytest.raises(slide.InputError, match="there is no label 99; the model has"):
        model.similar([99])


def test_users_need_a_model_of_interactions_and_a_log(items, text_model):
    model = slide.Model.load(items / "model.slide")
    with pytest.raises(slide.InputError, match="give either X or users"):
        model.predict()
    with pytest.raises(slide.InputError, match="give a list of names"):
        model.predict(users="ann")
    with pytest.raises(slide.InputError, match="there is no such file"):
        model.predict(users=["ann"], known="none.csv")
    with pytest.raises(slide.InputError, match="not trained on interactions"):
        slide.Model.load(text_model).predict(users=["ann"])


def test_recommendations_are_measured_as_by_test(items, program, tmp_path):
    model = slide.Model.load(items / "model.slide")
    (test := tmp_path / "test.csv").write_text("user,item\ncid,tea\ncid,salt\nbob,jam\nbob,never\n")
    x, y = slide.read(test, model=model, known=tmp_path / "log.csv")
    told = json.loads(program("test", items, test, "--k", "1,3", "--json"))
    for name, value in model.evaluate(x, y, k=[1, 3]).items():
        if name in told:
            assert value == pytest.approx(told[name], abs=1e-9), name
    with pytest.raises(slide.InputError, match="known=..."):
        model.evaluate(*slide.read(test, model=model))


def test_save_replaces_a_model_only_by_force(items, tmp_path):
    model = slide.Model.load(items / "model.slide")
    path = tmp_path / "kept.slide"
    model.save(path)
    with pytest.raises(slide.InputError, match="a model lies there; give force"):
        model.save(path)
    model.save(path, force=True)


def test_many_labels_are_answered_by_tables(samples, few):
    x, y = samples
    few = {**few, "train__epochs": 1, "neighbours__share": 0.0}
    for labels, by in ((100_000, "lsh"), (99_999, "full")):
        many = sparse.csr_matrix((y.data, y.indices, y.indptr), (y.shape[0], labels))
        model = slide.Classifier(**few).fit(x, many).model_
        expected = model.predict(x, 5, inference=by)
        for inference in ("configured", "auto"):
            labels_of, scores = model.predict(x, 5, inference=inference)
            assert (labels_of == expected[0]).all() and (scores == expected[1]).all()


def test_rare_labels_rank_higher_and_keep_their_scores(text_model):
    model, texts = slide.Model.load(text_model), ["Trees in a forest", "A cello", "Singing birds"]
    count = model.labels
    plain, rare = model.predict(texts, count), model.predict(texts, count, rare=1)
    assert [dict(zip(*row)) for row in zip(*plain)] == [dict(zip(*row)) for row in zip(*rare)]
    assert (model.predict(texts, count, rare=0)[0] == plain[0]).all()
    labels, scores = model.predict(texts, count, rare=1, threshold=0.3)
    assert all((row[: int((row > 0).sum())] >= 0.3).all() for row in scores)
    with pytest.raises(slide.InputError, match="rare = 2 must be from 0 to 1"):
        model.predict(texts, rare=2)


def test_thresholds_of_a_model_decide(program, text_model, tmp_path):
    decided = tmp_path / "decided.slide"
    (tmp_path / "t.json").write_text('{"threshold":0.4,"labels":[{"label":"nature","threshold":0.05}]}')
    program("convert", text_model, decided, "--threshold", tmp_path / "t.json")
    plain, model = slide.Model.load(text_model), slide.Model.load(decided)
    assert plain.threshold is None and model.threshold == 0.4
    assert plain.own_thresholds == {} and model.own_thresholds == {"nature": 0.05}
    assert "threshold" not in repr(plain) and repr(model).endswith(" steps, threshold 0.4 (1 label has another)>")
    texts = ["Trees in a forest", "A cello", "Singing birds"]
    labels, scores = plain.predict(texts, 2)
    wanted = [[name for name, score in zip(*row) if score >= {"music": 0.4, "nature": 0.05}[name]] for row in zip(labels, scores)]
    assert [[name for name in row if name is not None] for row in model.predict(texts)[0]] == wanted
    assert (model.predict(texts, 2)[0] == labels).all()
    assert model.predict(texts, logits=True)[0].shape == (3, 5)
    assert model.predict([])[0].shape == (0, 0)
    model.save(tmp_path / "again.slide")
    assert slide.Model.load(tmp_path / "again.slide").threshold == 0.4
