"""Keys of a configuration as Python writes them, and as the engine does."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Mapping, Optional, Sequence

from . import _slide


@lru_cache(maxsize=None)
def sections() -> frozenset[str]:
    """The first parts of all keys: ``data``, ``train``, ``layer`` and so on."""
    return frozenset(re.findall(r"^\[+(\w+)", _slide.Config().to_toml(), re.MULTILINE))


def is_key(name: str) -> bool:
    """Whether `name` can be that of a key, as ``train__epochs``, or of a section, as ``train``."""
    return name.split("__")[0] in sections()


def text_of(value: Any) -> str:
    """A value as it stands behind ``--set key=``."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:  # a scalar of NumPy
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(text_of(one) for one in value) + "]"
    return repr(value) if isinstance(value, float) else str(value)


def _toml_of(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {_toml_of(inner)}" for name, inner in value.items()) + "}"
    return json.dumps(value) if isinstance(value, str) else text_of(value)


def _flatten(path: str, value: Any, into: list[str]) -> None:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _flatten(f"{path}.{str(name).replace('__', '.')}", inner, into)
    else:
        into.append(f"{path}={text_of(value)}")


def overrides_of(keys: Mapping[str, Any]) -> list[str]:
    """``{"train__epochs": 3}`` and ``{"train": {"epochs": 3}}`` as ``["train.epochs=3"]``.

    A key that is ``None`` is left as the configuration has it.
    """
    overrides: list[str] = []
    for name, value in keys.items():
        if value is not None:
            _flatten(name.replace("__", "."), value, overrides)
    return overrides


def _with_layers(toml: str, layers: Sequence[Mapping[str, Any]]) -> str:
    """The configuration `toml`, as ``to_toml()`` writes it, with other layers."""
    if not all(isinstance(layer, Mapping) for layer in layers):
        raise _slide.InputError("layer: give a dict of keys for each layer, from the input on")
    rest = re.sub(r"^\[\[?layer(?:\..*)?\]\]? *(?:#.*)?\n(?:(?!\[).*\n)*", "", toml, flags=re.MULTILINE)
    return f"layer = [{', '.join(_toml_of(layer) for layer in layers)}]\n{rest}"


def config_of(path: Optional[str], keys: Mapping[str, Any], more: Sequence[str] = ()) -> _slide.Config:
    """The configuration at `path`, or the defaults, with `keys` and then `more` overrides.

    ``layer`` may be a list of dicts, which takes the place of all layers; dicts by number, ``{-1: {...}}``, change some.
    """
    keys = dict(keys)
    layers = keys.pop("layer") if isinstance(keys.get("layer"), (list, tuple)) else None
    overrides = overrides_of(keys) + list(more)
    try:
        if layers is None:
            return _slide.Config(overrides) if path is None else _slide.Config.load(path, overrides)
        base = _slide.Config() if path is None else _slide.Config.load(path)
        return _slide.Config.from_toml(_with_layers(base.to_toml(), layers), overrides)
    except _slide.InputError as fault:  # keys come as options do
        if keys.get("loss") is not None and str(fault).removeprefix("--set ").startswith("loss="):
            raise _slide.InputError(f"loss: {keys['loss']!r}; it is loss__kind here, 'sigmoid' (one against all) or 'softmax'") from None
        raise _slide.InputError(str(fault).removeprefix("--set ")) from None


def value_in(toml: str, section: str, name: str) -> str:
    """The text of a key in what ``Config.to_toml()`` wrote."""
    found = re.search(rf"^\[{section}\]\n(?:(?!\[).*\n)*?{name} = (.*?) *(?:#.*)?$", toml, re.MULTILINE)
    if found is None:
        raise KeyError(f"{section}.{name}")
    return found.group(1)
