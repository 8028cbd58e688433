"""Measures of any scores, the search for a configuration, and the report on runs."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass
from html import escape
from inspect import signature
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional, Sequence

import numpy as np

from . import _slide
from ._inputs import (
    apart,
    are_texts,
    beside,
    csr_of,
    data_of,
    is_sparse,
    keyed,
    learnt_data_of,
    number,
    numbered,
    ranks_of,
    rows_of,
    targets_of,
    told,
    warn_of_gaps,
    warn_of_swapped,
    whole,
)
from ._keys import config_of, overrides_of
from ._parameters import refuse_arguments, refuse_files
from ._shown import Measures, table_of

if TYPE_CHECKING:
    from .classifier import Classifier

# ---- measures ----


def _scores(scores: Any) -> tuple:
    if is_sparse(scores):
        return rows_of(csr_of(scores))
    try:
        dense = np.ascontiguousarray(scores, dtype=np.float32)
    except (TypeError, ValueError) as failure:
        raise _slide.InputError(f"scores: want an array of numbers or a sparse matrix ({failure})") from None
    if dense.ndim != 2:
        raise _slide.InputError(f"scores: want two dimensions, a row a sample; there are {dense.ndim}")
    rows, columns = dense.shape
    return np.arange(rows + 1) * columns, np.tile(np.arange(columns, dtype=np.int32), rows), dense.ravel(), columns


def _constants(propensity: Any) -> tuple[float, float]:
    if not isinstance(propensity, (tuple, list, np.ndarray)) or len(propensity) != 2:
        raise _slide.InputError(f"propensity: {propensity!r}; give a pair of numbers, (A, B)")
    return number(propensity[0], "propensity"), number(propensity[1], "propensity")


def evaluate(
    Y_true: Any,
    scores: Any,
    k: "int | Sequence[int]" = (1, 3, 5),
    *,
    Y_train: Any = None,
    propensity: tuple[float, float] = (0.55, 1.5),
    threshold: Optional[float] = None,
) -> Measures:
    """Metrics of scores of any origin.

    Y_true: labels of n samples, as a sparse matrix or an array of 0 and 1 [n, labels], lists of numbers, or one number a
    sample [n]. scores: a sparse matrix [n, labels], of which what has no entry is not predicted, or a dense array. Labels
    are ranked by falling score, equal ones by number; those that have no column count as missed. k: the ranks to measure
    at, or one.

    Y_train: the labels of the samples that were trained on. With them there are propensity-scored precision and nDCG, with the
    constants (A, B) of `propensity` (Jain, Prabhu, Varma 2016), and precision and recall of frequent, middling and rare
    labels, a third of all entries each: what they add to P@k, and how many of them are found.

    threshold: also precision, recall and F1 of the labels whose score reaches it: ``f1_micro``, ``precision_macro`` and so on. One
    between 0 and 1 for scores that are not is a UserWarning.

    Where all scores are from 0 to 1, ``["reliability"]["error"]`` is the expected calibration error over them, ``"top_error"``
    that of the best label of each sample, ``"bins"`` and ``"top_bins"`` what they come from, as ``slide evaluate --json`` has
    them.

    Returns means over all samples by name, as ``slide test --json``: ``p_at_1``, ``ndcg_at_5``, ``recall_at_3``,
    ``psp_at_1``, ``psndcg_at_3``; ``p_at_1_head``, ``recall_at_5_tail``. ``coverage_at_k`` is the share of the labels of samples
    that is predicted correctly at least once, ``catalogue_at_k`` that of all labels that is predicted. Precision, recall and F1 of the best k come as
    ``slide evaluate --json`` has them: ``f1_micro_at_1`` over all pairs of a sample and a label, ``f1_macro_at_1`` over the
    labels that occur or are predicted, ``f1_samples_at_1`` over the samples.

    Raises InputError for matrices at fault, and for a threshold or constants that are no numbers.
    """
    train = None if Y_train is None else numbered(Y_train).rows
    ranks, constants = ranks_of(k), _constants(propensity)
    cut = None if threshold is None else number(threshold, "threshold")
    rows = _scores(scores)
    if cut is not None and 0 < cut < 1 and rows[2].size and (rows[2].min() < 0 or rows[2].max() > 1):
        warnings.warn(
            f"threshold: {cut:g} cuts scores from {rows[2].min():.4g} to {rows[2].max():.4g}, which are no probabilities; "
            "predict_proba gives these, decision_function does not", UserWarning, stacklevel=2)
    measures = Measures(_slide.evaluate_scores(rows, numbered(Y_true).rows, ranks, train, *constants, cut))
    return measures if cut is None else Measures(measures, threshold=cut)


# ---- search ----


@dataclass
class Tuned:
    """What ``tune`` found.

    params: the keys that changed, for ``Classifier(**params)`` beside those the search began with, which ``classifier``
    puts together. config: all of it as TOML. score: of the best trial, mean of P@k over ``eval__k`` on held-out samples.
    decision: between the trial of highest score, ``leader``, and the configuration as it was, on held-out ``samples`` that no
    trial was chosen by: ``difference`` of their scores, 95 % ``interval``, and ``p`` of a paired randomisation test;
    ``taken`` where the leader is better by more than chance, else the configuration as it was stays the best; ``by``: how
    samples were held out, as ``random``, ``group``, ``time`` or ``order``.
    trials: a dict for each, with ``changes``, ``score``, ``train_seconds`` and ``full_seconds``, the estimate for all
    samples, ``dropped`` where it was behind on the way and ``too_large`` where memory would not do: these have no score.
    """

    params: dict[str, Any]
    config: str
    score: float
    trials: list[dict[str, Any]]
    keys: dict[str, Any]
    base: Optional[str]
    decision: dict[str, Any]

    def classifier(self, **more: Any) -> "Classifier":
        """An estimator of the best configuration, not fitted yet; `more` parameters go on top."""
        from .classifier import Classifier

        return Classifier(config=self.base, **{**self.keys, **self.params, **more})


def _value_of(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _line_of(trial: dict[str, Any]) -> str:
    if trial["too_large"]:
        outcome = "too large"
    elif trial["diverged"]:
        outcome = "diverged"
    elif not trial["within"]:
        outcome = "too slow"
    elif trial["dropped"]:
        outcome = "dropped"
    else:
        outcome = f"score {trial['score']:.4f}"
    changes = "  ".join(trial["changes"]) or "the configuration as it is"
    return f"{trial['number']:4}{'*' if trial['best'] else ' '} {outcome:<12}  {trial['train_seconds']:.1f} s  {changes}"


def _decision_of(decision: dict[str, Any]) -> str:
    low, high = decision["interval"]
    outcome = "better by more than chance" if decision["taken"] else "no more than chance, the configuration stays as it is"
    return (
        f"trial {decision['leader']} scores {decision['difference']:+.4f} ({low:+.4f} to {high:+.4f}) on "
        f"{decision['samples']} further samples: {outcome}"
    )


def tune(
    X: Any,
    Y: Any = None,
    *,
    groups: Any = None,
    times: Any = None,
    config: "str | os.PathLike[str] | None" = None,
    seconds: float = 600.0,
    trials: int = 1000,
    train_seconds: Optional[float] = None,
    verbose: bool = True,
    on_trial: Optional[Callable[[dict[str, Any]], Any]] = None,
    **keys: Any,
) -> Tuned:
    """Searches for a better configuration, on held-out parts of the training samples, as ``slide tune`` does.

    X, Y, groups, times: as ``Classifier.fit`` takes them, or X the path of a training file and no Y. config, keys: what to begin with, as
    of ``Classifier``; keys that are given keep their values. seconds: for the whole search. trials: at most so many.
    train_seconds: accept only configurations that train on all samples in so long, as estimated. verbose: print a line a
    trial. on_trial: called with a dict after each.

    Samples without groups and times are held out at random, or the last of them where labels or features change along the
    rows; ``data__time="random"`` holds out at random. The best trial is kept where it is better than the configuration as it
    is by more than chance.

    The same seed gives the same trials. Ctrl-C ends the search after a step and raises KeyboardInterrupt; what was found
    until then has gone to `on_trial`. Raises InputError for parameters and data at fault, and when the time was too short
    for one trial.
    """
    refuse_arguments("tune", keys, signature(tune).parameters)
    refuse_files(keys)
    base = None if config is None else os.fspath(config)
    start = config_of(base, keys)
    if Y is None:
        if not isinstance(X, (str, os.PathLike)):
            raise _slide.InputError("give X and Y, or the path of a training file")
        data = _slide.Data.read(os.fspath(X), start)
        told(data)
    else:
        warn_of_swapped(X, Y)
        x, columns = apart(X)
        texts = are_texts(x)
        targets = targets_of(Y)
        warn_of_gaps(targets, Y)
        data = learnt_data_of(x, targets, start) if texts else data_of(csr_of(x), targets)
        data = beside(data, columns)
    data = keyed(data, groups, times)
    seconds = number(seconds, "seconds")
    train_seconds = None if train_seconds is None else number(train_seconds, "train_seconds")
    done: list[dict[str, Any]] = []

    def after(trial: dict[str, Any]) -> None:
        done.append(trial)
        if verbose:
            print(_line_of(trial), flush=True)
        if on_trial is not None:
            on_trial(trial)

    fixed = overrides_of({name: value for name, value in keys.items() if not isinstance(value, (list, tuple))})
    note = (lambda line: print(line, flush=True)) if verbose else None
    trials = whole(trials, "trials", 1)
    found = _slide.tune(start, data, seconds, trials, train_seconds, fixed, after, note)
    if verbose and found["decision"]["leader"] != 1:
        print(_decision_of(found["decision"]), flush=True)
    changes = (change.split("=", 1) for change in found["best"]["changes"])
    params = {key.replace(".", "__"): _value_of(value) for key, value in changes}
    return Tuned(params, found["config"], found["best"]["score"], done, keys, base, found["decision"])


# ---- report ----


class Report(NamedTuple):
    """path: of the page. runs: how many it shows. notes: what to know about them, a line each. groups: titles of the
    groups of runs within which measures compare."""

    path: str
    runs: int
    notes: list[str]
    groups: list[str]

    def _repr_html_(self) -> str:
        """The page itself, in a frame of its own; where it is gone, what it was."""
        try:
            with open(self.path, encoding="utf-8") as file:
                page = file.read()
        except OSError:
            return table_of("slide.report", [], [["page", escape(self.path)], ["runs", str(self.runs)]])
        return f'<iframe srcdoc="{escape(page)}" style="width:100%;height:700px;border:1px solid #ccc"></iframe>'


def report(
    runs: "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]", path: "str | os.PathLike[str]" = "report.html"
) -> Report:
    """Writes a page of HTML that compares training runs, as ``slide report`` does, and needs nothing else.

    runs: folders of ``slide train``, or their metrics.jsonl. path: the page; one that is there is replaced.

    Raises InputError for runs at fault and when `path` is something else than a report, Error when it cannot be written.
    """
    if isinstance(runs, (str, os.PathLike)):
        runs = [runs]
    runs = list(runs)
    if not runs:
        raise _slide.InputError("runs: there are none; give a folder of slide train, or several")
    return Report(os.fspath(path), *_slide.report([os.fspath(run) for run in runs], os.fspath(path)))
