# The compiled part. Internal: what users call stands in the modules beside it.
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

__version__: str

class Error(RuntimeError): ...
class InputError(Error, ValueError): ...

class Config:
    def __init__(self, overrides: List[str] = ...) -> None: ...
    @staticmethod
    def load(path: str, overrides: List[str] = ...) -> Config: ...
    @staticmethod
    def from_toml(text: str, overrides: List[str] = ...) -> Config: ...
    def set(self, overrides: List[str]) -> None: ...
    def to_toml(self) -> str: ...

class Data:
    samples: int
    features: int
    labels: int
    feature_entries: int
    label_entries: int
    copied_bytes: int

class Model:
    features: int
    labels: int
    steps: int
    is_text: bool
    @staticmethod
    def load(path: str) -> Model: ...
    def save(self, path: str) -> None: ...
    def config(self) -> Config: ...
    def label_names(self) -> List[str]: ...

class Predictor:
    k: int
    def __init__(self, model: Model, k: int, logits: bool, inference: str, threads: int) -> None: ...
    def predict(self, data: Data) -> Tuple[NDArray[np.uint32], NDArray[np.float32]]: ...

def from_csr(features: Tuple[Any, Any, Any, int], labels: Optional[Tuple[Any, Any, int]]) -> Data: ...
def from_texts(texts: List[str], model: Model) -> Data: ...
def evaluate(model: Model, data: Data, ks: List[int], threads: int) -> Dict[str, float]: ...
def train(
    config: Config,
    data: Data,
    test: Optional[Data],
    step: Optional[Callable[[Dict[str, Any]], Any]],
    interval: float,
    epoch: Optional[Callable[[Dict[str, Any]], Any]],
    evaluation: Optional[Callable[[Dict[str, Any]], Any]],
    best_path: str,
) -> Tuple[Model, Optional[KeyboardInterrupt]]: ...
