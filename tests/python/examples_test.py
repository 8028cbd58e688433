"""The examples, as a reader of theirs would run them."""

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "engine" / "python" / "examples"


def run(folder, name, *arguments):
    done = subprocess.run([sys.executable, EXAMPLES / name, *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_text_to_tags(program, tmp_path, monkeypatch):
    lines = run(tmp_path, "tags.py", tmp_path / "named.slide").splitlines()
    assert lines.pop() == f"written: {tmp_path / 'named.slide'}"
    assert [line.split(" -> ")[1].split(", ")[0] for line in lines] == ["baking", "music", "garden"]
    told = subprocess.run([os.environ["SLIDE_BINARY"], "predict", tmp_path / "named.slide", "-", "--k", "1"],
                          input="Fresh bread\n", capture_output=True, text=True, check=True).stdout
    assert told.startswith("baking:")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert run(here, "tags.py").splitlines()[-1] == f"written: {tmp_path / 'tags.slide'}"
    assert not list(here.iterdir())


def test_comparison_at_equal_time(program, tmp_path):
    program("generate", "--samples", 600, "--features", 300, "--labels", 40, "--test-samples", 200, "--out", tmp_path / "data")
    figure = tmp_path / "figure.png"
    out = run(tmp_path, "compare.py", tmp_path / "data" / "train.txt", tmp_path / "data" / "test.txt", "--seconds", 2,
              "--figure", figure)
    for method in ("slide", "one-vs-rest logistic regression", "one-vs-rest SGD", "PyTorch"):
        assert method in out
    best = {line[:45].strip(): float(line.split("P@1 ")[1]) for line in out.splitlines() if "P@1" in line}
    assert best["slide"] > 0.5
    assert figure.exists() or "no figure" in out


def test_comparison_tells_of_files_at_fault(tmp_path):
    done = subprocess.run([sys.executable, EXAMPLES / "compare.py", tmp_path / "none", tmp_path / "none"],
                          capture_output=True, text=True)
    assert done.returncode != 0 and "no such file" in done.stderr

