"""The names of labels that lie beside a model file, in ``PATH.labels``: a line each, label 0 first."""

from __future__ import annotations

import os
import warnings
from typing import Optional, Sequence

import numpy as np

from ._slide import Error, InputError


def path_of(model: str) -> str:
    """Where the names of the labels of a model lie: a file, or the folder of one."""
    if os.path.isdir(model):
        files = [os.path.join(model, name) for name in ("best-model.slide", "model.slide")]
        model = next(filter(os.path.exists, files), files[-1])
    return model + ".labels"


def read_names(model: str, labels: int) -> Optional[np.ndarray]:
    """The names by label [labels], bytes that are not UTF-8 as halves of surrogate pairs; None without such a file, or
    with a UserWarning where it has another number of names. Raises InputError where it cannot be read."""
    path = path_of(model)
    try:
        with open(path, "rb") as file:
            content = file.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as failure:
        raise InputError(f"{path}: cannot be read ({failure.strerror}); it names the labels of the model") from failure
    lines = content.removesuffix(b"\n").split(b"\n") if content else []
    if len(lines) != labels:
        warnings.warn(
            f"{path}: {len(lines)} names, but the model has {labels} labels, which stay numbers; remove it, or give a name a line",
            UserWarning,
            stacklevel=4,
        )
        return None
    return np.array([line.removesuffix(b"\r").decode("utf-8", "surrogateescape") for line in lines], dtype=object)


def write_names(model: str, names: Optional[Sequence[str]], stacklevel: int = 3) -> None:
    """Writes the names of the labels of a model file. Where one fits no line, none are written, with a UserWarning. Without
    names those of an earlier model are removed, with a UserWarning. Raises Error where that fails."""
    path = path_of(model)
    unfit = None if names is None else next((name for name in names if name.splitlines() != [name]), None)
    try:
        if unfit is not None:
            if os.path.lexists(path):
                os.remove(path)
            cause = "has a line break" if unfit else "is empty"
            warnings.warn(
                f"{path} is not written, and labels are numbers there: it has a name a line, and the class {unfit!r} {cause}; "
                "rename it", UserWarning, stacklevel=stacklevel + 1)
        elif names is not None:
            with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
                file.writelines(name + "\n" for name in names)
        elif os.path.lexists(path):
            os.remove(path)
            warnings.warn(f"{path} is removed: it named the labels of another model", UserWarning, stacklevel=stacklevel + 1)
    except OSError as failure:
        raise Error(f"{path}: cannot be written ({failure.strerror})") from failure
