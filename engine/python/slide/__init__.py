"""Networks with very many outputs, trained and used on the CPU.

``Classifier`` is an estimator for scikit-learn: it trains on arrays and sparse matrices, and predicts the best
labels of each sample. ``Model`` uses a model file, whoever trained it. ``Error`` and ``InputError`` are what the
engine raises, each with one line that says what is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._slide import Error, InputError, __version__

if TYPE_CHECKING:
    from .classifier import Classifier
    from .model import Model

__all__ = ["Classifier", "Error", "InputError", "Model", "__version__"]

# Loaded when they are first asked for: the one needs scikit-learn, which takes a second to import, both NumPy.
_HOMES = {"Classifier": ".classifier", "Model": ".model"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
