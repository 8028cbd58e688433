"""slide.Classifier among scikit-learn's tools."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import slide

# Checks that do not apply, as their name or their name and arguments, and why.
EXCEPTIONS = {
    "check_sample_weights_invariance(kind=zeros)": "it leaves out samples and shuffles the others, whose order counts for "
    "stochastic gradients; text_test.py leaves out samples alone",
    "check_methods_subset_invariance": "scores differ in the last bits with the samples that come along: those of a "
    "full block are added up in another order than those of a single sample",
}

DOCUMENTS = [
    "the violin and the cello", "a concert for the cello", "violin and piano in concert",
    "birds and trees", "the forest and its trees", "singing birds in the forest",
    "parliament passed the law", "a law on elections", "elections to the parliament",
] * 8
SUBJECTS = [["music"]] * 3 + [["nature"], ["nature"], ["nature", "music"]] + [["politics"]] * 3
SUBJECTS = SUBJECTS * 8


@parametrize_with_checks([slide.Classifier(verbose=False)])
def test_check_estimator(estimator, check):
    name = check.func.__name__
    arguments = ", ".join(f"{key}={value}" for key, value in check.keywords.items())
    for exception in (name, f"{name}({arguments})"):
        if exception in EXCEPTIONS:
            pytest.skip(f"{exception}: {EXCEPTIONS[exception]}")
    check(estimator)


def test_in_a_pipeline_behind_tf_idf(few):
    pipeline = make_pipeline(TfidfVectorizer(), slide.Classifier(**{**few, "train__epochs": 20}))
    pipeline.fit(DOCUMENTS, SUBJECTS)
    assert pipeline.predict(["a cello", "the law"], k=1).tolist() == [["music"], ["politics"]]
    pipeline.set_params(classifier__train__epochs=1)
    assert "train__epochs" in pipeline.get_params()["classifier"].get_params()


def test_grid_search_over_keys(samples, few):
    x, y = samples
    grid = {"optimizer__learning_rate": [1e-9, 0.1], "layer__0__size": [16, 32], "train__epochs": [30]}
    few = {name: value for name, value in few.items() if name != "layer"}
    few |= {"layer__-1__wide": False, "neighbours__share": 0}  # which know the answers without training
    search = GridSearchCV(slide.Classifier(**few), grid, cv=KFold(2)).fit(x, y)
    assert search.best_params_["optimizer__learning_rate"] == 0.1
    assert len(search.cv_results_["mean_test_score"]) == 4 and search.best_score_ > 0.5


def test_cross_validation_over_processes(samples, few):
    x, y = samples
    alone = cross_val_score(slide.Classifier(**few), x, y, cv=KFold(3))
    together = cross_val_score(slide.Classifier(**few), x, y, cv=KFold(3), n_jobs=2)
    assert np.array_equal(alone, together) and alone.min() > 0.8


def test_a_fitted_one_goes_to_other_processes(samples, few):
    joblib = pytest.importorskip("joblib")
    x, y = samples
    classifier = slide.Classifier(**few).fit(x, y)
    parts = joblib.Parallel(n_jobs=2)(joblib.delayed(classifier.predict)(x[i : i + 500]) for i in (0, 500, 1000))
    assert (np.vstack(parts) == classifier.predict(x)).all()
