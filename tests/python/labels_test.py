"""slide.Classifier: labels as given, and what speaks for those it predicts."""

import warnings

import numpy as np
import pytest

import slide


def test_explain_tells_features_of_the_labels_in_classes():
    texts = ["red ball", "blue ball", "red cat", "blue sky"] * 5
    classifier = slide.Classifier(train__epochs=3, text__min_count=1).fit(texts, ["warm", "cold"] * 10)
    reasons = classifier.explain("red cat", k=1)
    assert reasons[0].label == classifier.predict(["red cat"])[0] == "warm"
    assert reasons[0].features and {name for name, _ in reasons[0].features} <= {"red", "cat", "red cat"}
    assert [one[0].label for one in classifier.explain(texts[:2], k=1)] == ["warm", "cold"]
    assert classifier.explain(texts[:1], k=1)[0][0].features == classifier.model_.explain(texts[:1], k=1)[0][0].features
    assert classifier.explain([]) == []

    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.eye(4, dtype=np.float32).repeat(5, axis=0), columns=["a", "b", "c", "d"])
    of_columns = slide.Classifier(train__epochs=20).fit(frame, np.arange(4).repeat(5) + 10)
    best = of_columns.explain(frame.iloc[5:6], k=1)[0][0]
    assert best.label == 11 and best.features[0][0] == "b"


def test_labels_that_look_like_several_are_warned_of(few):
    texts = ["red ball", "blue sky"] * 10
    few = {**few, "text__min_count": 1}
    for joined, plain in (("a,b", "c"), ("a;b;d", "c")):
        with pytest.warns(UserWarning, match=f"'{joined}' looks like several labels parted by '{joined[1]}'"):
            slide.Classifier(**few).fit(texts, [joined, plain] * 10)
    for y in (["Lee, Ann", "c"] * 10, [["a,b"], ["c"]] * 10, ["ab", "c"] * 10, list(range(2)) * 10):
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            slide.Classifier(**few).fit(texts, y)


def test_labels_and_texts_in_the_wrong_places_are_told(few):
    tags = ["music", "nature"] * 10
    texts = [f"a violin and {one} cellos sing in the forest" for one in range(20)]
    few = {**few, "text__min_count": 1}
    swapped = "X looks like labels \\('music'\\) and y like texts \\('a violin and 0 cellos .*fit\\(texts, labels\\)"
    for x, y in ((tags, texts), (np.array(tags), np.array(texts, dtype=object)), (np.array(tags)[:, None], texts)):
        with pytest.warns(UserWarning, match=swapped) as told:
            slide.Classifier(**few).fit(x, y)
        assert len(told) == 1 and told[0].filename == __file__
    with pytest.warns(UserWarning, match=swapped) as told:
        slide.Classifier(**few).partial_fit(tags, texts)
    assert told[0].filename == __file__
    with pytest.raises(slide.InputError, match="X is lists of names and y is texts: fit takes texts first"):
        slide.Classifier(**few).fit([[tag] for tag in tags], texts)
    short = ["red ball", "blue sky"] * 10
    for x, y in (
        (texts, tags), (short, tags), (short, short), (tags, short),  # names of labels may be long, and repeat
        (texts, texts), (texts, [[tag] for tag in tags]), (short, [f"label{one}" for one in range(20)]),
        (["red ball", "blue sky", "green"], texts[:3]), (tags, [[text] for text in texts]),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            slide.Classifier(**few).fit(x, y)


def test_a_class_beyond_those_of_the_first_call_is_named(few):
    for y, classes in ((["a", "z"], ["a", "b"]), ([["a"], ["z"]], ["a", "b"])):
        with pytest.raises(slide.InputError, match="'z'.*or leave (it|classes) out"):
            slide.Classifier(**few).partial_fit(["red", "blue"], y, classes=classes)


def test_numbers_of_labels_with_gaps_are_told(few):
    x = np.eye(4, dtype=np.float32)
    gaps = "labels: the largest label id is 200000, but samples have only 4 labels in all: number the ids without gaps"
    for fit in (slide.Classifier(**few).fit, slide.Classifier(**few).partial_fit):
        with pytest.warns(UserWarning, match=gaps) as told:
            fit(x, [{5}, {200000}, {5}, {6}])
        assert told[0].filename == __file__
    classifier = slide.Classifier(**few).fit(x, [{1}, {2}, {1}, {0}])
    with pytest.warns(UserWarning, match=gaps):
        classifier.partial_fit(x, [{5}, {200000}, {5}, {6}])
    from scipy.sparse import csr_matrix

    stated = csr_matrix(([1, 1, 1, 1], ([0, 1, 2, 3], [5, 200000, 5, 6])), shape=(4, 200001))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        classifier.partial_fit(x, [{5}, {200000}, {5}, {7}])  # known by now
        slide.Classifier(**few).fit(x, [5, 200000, 5, 6])  # classes, which are numbered
        slide.Classifier(**few).fit(x, stated)
