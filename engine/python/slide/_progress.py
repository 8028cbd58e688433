"""What a training run shows and keeps of its course."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional

Report = dict[str, Any]
BAR_SECONDS = 0.1  # between two looks of the bar


# Parts of scikit-learn that fit the user's own estimator, not copies of it.
_OF_THE_USER = ("sklearn.base", "sklearn.pipeline", "sklearn.utils")


def _is_fit_by_scikit_learn() -> bool:
    """Whether a fit is one of several that scikit-learn makes, as in ``cross_val_score``."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("sklearn.") and not name.startswith(_OF_THE_USER):
            return True
        frame = frame.f_back
    return False


def _is_watched() -> bool:
    """Whether somebody sees a bar: in a notebook, or where standard error is a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    terminal = sys.stderr is not None and sys.stderr.isatty()
    return (terminal or hasattr(shell, "kernel")) and not _is_fit_by_scikit_learn()


class Course:
    """Collects the history of a run, moves the bar, and calls the user's callbacks."""

    def __init__(
        self,
        verbose: Optional[bool],
        on_step: Optional[Callable[[Report], Any]],
        on_epoch: Optional[Callable[[Report], Any]],
        history: dict[str, list],
    ):
        self.history = history
        self._on_step, self._on_epoch = on_step, on_epoch
        verbose = _is_watched() if verbose is None else verbose
        self._bar = self._make_bar() if verbose else None
        self._lines = verbose and self._bar is None  # without tqdm

    @staticmethod
    def _make_bar() -> Any:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        return tqdm(unit="step", leave=True)

    @property
    def step(self) -> Optional[Callable[[Report], Any]]:
        return self._step if self._on_step is not None or self._bar is not None else None

    @property
    def interval(self) -> float:
        return 0.0 if self._on_step is not None else BAR_SECONDS

    def _step(self, report: Report) -> Any:
        if self._bar is not None:
            self._bar.total = report["total_steps"]
            self._bar.set_postfix(epoch=report["epoch"], loss=f"{report['loss']:.4g}", refresh=False)
            self._bar.update(report["step"] - self._bar.n)
        return None if self._on_step is None else self._on_step(report)

    def epoch(self, report: Report) -> None:
        for name in ("epoch", "step", "loss", "train_seconds", "samples_per_second"):
            self.history[name].append(report[name])
        if self._lines:
            print(f"epoch {report['epoch']}  loss {report['loss']:.4g}  {report['train_seconds']:.2f} s", file=sys.stderr)
        if self._on_epoch is not None:
            self._on_epoch(report)

    def evaluation(self, report: Report) -> None:
        self.history["evaluations"].append(
            {"epoch": report["epoch"], "best": report["best"], **report["measures"]}
        )

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def new_history() -> dict[str, list]:
    """An empty history: lists of the same length by epoch, and a dict for each evaluation."""
    return {"epoch": [], "step": [], "loss": [], "train_seconds": [], "samples_per_second": [], "evaluations": []}


def figure_of(history: dict[str, list]) -> Any:
    """The learning curve as a matplotlib figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(range(1, len(history["loss"]) + 1), history["loss"], marker="o", label="loss")
    axes.set_xlabel("epoch")
    axes.set_ylabel("loss")
    evaluations = history["evaluations"]
    if evaluations:
        name = next(iter(name for name in evaluations[0] if name.startswith("p_at_")))
        other = axes.twinx()
        other.plot([e["epoch"] for e in evaluations], [e[name] for e in evaluations], "C1", marker="s", label=name)
        other.set_ylabel(name)
    return figure
