"""How the package gets into the build folder."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def test_the_module_is_built_with_the_sources_beside_it():
    """A folder with the module alone would be imported, too, and hold no names."""
    build = Path(os.environ["SLIDE_BINARY"]).parent
    if shutil.which("ninja") is None or not (build / "build.ninja").exists():
        pytest.skip("the build has no ninja")
    inputs = subprocess.run(["ninja", "-C", build, "-t", "inputs", "slide_python"], capture_output=True, text=True)
    if inputs.returncode != 0:
        pytest.skip("this ninja tells no inputs")
    sources = Path(__file__).resolve().parents[2] / "engine" / "python" / "slide"
    names = [path.name for path in sources.iterdir() if path.suffix in (".py", ".pyi", ".typed")]
    missing = [name for name in names if not any(line.endswith(f"/slide/{name}") for line in inputs.stdout.splitlines())]
    assert len(names) > 10 and not missing
