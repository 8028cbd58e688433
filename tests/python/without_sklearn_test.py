"""The package where scikit-learn is not installed."""

import subprocess
import sys

SCRIPT = """
import sys
sys.modules["sklearn"] = None  # an import of it fails
import numpy as np, scipy.sparse as sparse
import slide
texts = ["the violin and the cello", "singing birds", "birds and trees", "a concert for the cello"]
tags = [["music"], ["music", "nature"], ["nature"], ["music"]]
model = slide.Classifier(text__min_count=1, verbose=False).fit(texts, tags)
assert model.top_k(["a cello"], k=1).tolist() == [["music"]]
again = slide.Classifier(train__epochs=3, verbose=False, random_state=2)
assert repr(again) == "Classifier(max_iter=None, train__epochs=3)" or "train__epochs=3" in repr(again)
x = np.eye(4, dtype=np.float32).repeat(20, axis=0)
y = np.array(["a", "b", "c", "d"]).repeat(20)
again.fit(sparse.csr_matrix(x), y)
assert again.score(x, y) == 1.0 and again.predict(x[:1]).tolist() == ["a"]
again.partial_fit(x, y)
slide.Classifier(train__epochs=1, verbose=False).partial_fit(x, y)
for call, part in [
    (lambda: slide.Classifier().predict(x), "not fitted yet"),
    (lambda: again.fit(np.full((4, 2), np.nan), ["a", "b", "c", "d"]), "NaN"),
    (lambda: again.fit(np.ones(4), ["a", "b", "c", "d"]), "Expected 2D array"),
    (lambda: again.fit([["x", "y"]], ["a"]), ""),
    (lambda: again.fit(x, np.linspace(0, 1, 80)), "continuous"),
]:
    try:
        call()
    except slide.InputError as failure:
        assert part in str(failure), failure
    else:
        raise SystemExit("not refused: " + part)
print("done")
"""


def test_a_classifier_fits_predicts_and_refuses_as_with_it():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr[-2000:]
