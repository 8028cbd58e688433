"""Lets the Python package use a model file, as its users do. What it raises but slide.Error is a finding."""

import os
import warnings

import numpy as np
import slide

warnings.simplefilter("ignore")


def _refusable(call, *arguments, **options):
    """What some models have no answer for: None where that is said."""
    try:
        return call(*arguments, **options)
    except slide.Error:
        return None


def _check_answers(model, answers):
    labels, scores = answers
    assert np.isfinite(scores).all(), "scores are finite"
    if labels.dtype != object:
        assert ((labels >= -1) & (labels < model.labels)).all(), "a predicted label is one"


def use(path, samples, folder):
    model = slide.Model.load(path)
    assert model.features > 0 and model.labels > 0 and model.steps >= 0 and "[train]" in model.config
    names = model.label_names
    assert names is None or len(names) == model.labels
    of_users = 'kind = "interactions"' in model.config
    X, Y = slide.read(samples, model=model, known=samples) if of_users else slide.read(samples, model=model)
    if of_users:
        _check_answers(model, model.predict([["i1", "i5"], []], k=3))
    elif model.is_text:
        _check_answers(model, model.predict(["a choir of roses", ""], k=3))
    for k in (1, 3):
        _check_answers(model, model.predict(X, k=k))
    _check_answers(model, model.predict(X, threshold=0.5))
    _refusable(model.evaluate, X, Y)
    label = int(model.labels) - 1
    _refusable(model.nearest_labels, label, 3)
    _refusable(model.strongest_features, 0, 3)
    _refusable(model.similar, [0, label], 2)
    assert np.isfinite(model.label_vectors()).all(), "vectors are finite"
    vectors = _refusable(model.hidden_vectors, X)
    assert vectors is None or np.isfinite(vectors).all(), "vectors are finite"
    copy = os.path.join(folder, "copied")
    model.save(copy, force=True)
    slide.Model.load(copy)
