"""Networks with very many outputs, trained and used on the CPU.

``Classifier`` is an estimator for scikit-learn: it trains on arrays and sparse matrices, and predicts the best
labels of each sample. ``load`` opens a trained model as a ``Model``. ``read`` and ``write`` turn data files into
matrices and back, ``evaluate`` measures any scores, ``tune`` searches for a configuration, ``report`` compares runs.
``Error`` and ``InputError`` are what the engine raises, each with one line that says what is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._slide import Error, InputError, __version__

if TYPE_CHECKING:
    from .classifier import Classifier
    from .files import read, write
    from .model import Model, load
    from .tools import evaluate, report, tune

__all__ = [
    "Classifier", "Error", "InputError", "Model", "__version__", "evaluate", "load", "read", "report", "tune", "write"
]

# Loaded when they are first asked for: the one takes scikit-learn, where it is, which needs a second to import, all NumPy.
_HOMES = {
    "Classifier": ".classifier",
    "Model": ".model",
    "evaluate": ".tools",
    "load": ".model",
    "read": ".files",
    "report": ".tools",
    "tune": ".tools",
    "write": ".files",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
