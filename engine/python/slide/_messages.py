"""What the engine says of options of the command line, as Python says it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

from ._slide import InputError

# Parts of messages that name options, and the same for callers of Python.
_IN_PYTHON = {
    "by --known": "by known=...",
    "more --train-seconds": "a larger train_seconds",
    "fixed by --set": "given",
    "name another file with --out": "give another path",
    "go on with its run by --resume": "go on with its run by `slide train --resume`",
    "train() begins anew; load that model and use continue_training()":
        "fit begins anew; leave it out, and continue a model by partial_fit",
}


def in_python(message: str) -> str:
    for there, here in _IN_PYTHON.items():
        message = message.replace(there, here)
    return message


@contextmanager
def messages_in_python() -> Iterator[None]:
    """Raises InputError of the engine with its message as Python says it. Also a decorator, of functions that do
    not warn: it adds a frame, and a warning names that of its caller."""
    try:
        yield
    except InputError as fault:
        line = in_python(str(fault))
        if line == str(fault):
            raise
        raise InputError(line) from None
