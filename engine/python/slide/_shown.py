"""What calls return, as tables in a notebook."""

from __future__ import annotations

import re
from html import escape
from typing import Any, NamedTuple, Sequence, Union

_LEFT = "style='text-align:left'"
_NAMES = {
    "p": "precision", "ndcg": "nDCG", "recall": "recall", "psp": "PSP", "psndcg": "PSnDCG", "hit_rate": "hit rate",
    "mrr": "MRR", "f1": "F1",
    **{f"f1_{mean}": f"F1 {mean}" for mean in ("micro", "macro", "samples")},
}


def table_of(caption: str, head: Sequence[str], rows: "Sequence[Sequence[str]]") -> str:
    """A table of HTML; the cells are HTML, the first of a row its name."""
    first = "".join(f"<th>{name}</th>" for name in head)
    body = "".join(
        f"<tr><th {_LEFT}>{row[0]}</th>" + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>" for row in rows
    )
    return f"<table><caption>{escape(caption)}</caption>{f'<tr>{first}</tr>' if head else ''}{body}</table>"


RATES = [f"{rate}_{mean}" for mean in ("micro", "macro", "samples") for rate in ("precision", "recall", "f1")]


class Measures(dict):
    """Metrics by name, ``{"p_at_1": ...}``; in a notebook a table with a column for each rank."""

    def _repr_html_(self) -> str:
        ranks: list[int] = []
        rows: dict[str, dict[int, float]] = {}
        numbers = {name: value for name, value in self.items() if name != "reliability"}
        if "reliability" in self:
            numbers["expected_calibration_error"] = self["reliability"]["error"]
        for name, value in numbers.items():
            found = re.fullmatch(r"([a-z][a-z0-9_]*?)_at_(\d+)(_\w+)?", name)
            what, rank, third = (found[1], int(found[2]), found[3] or "") if found else (name, 0, "")
            ranks = sorted({*ranks, rank})
            rows.setdefault(_NAMES.get(what, what.replace("_", " ")) + third.replace("_", " "), {})[rank] = value
        head = ["", *(f"at {rank}" if rank else "" for rank in ranks)]
        cells = [[name, *(f"{of[rank]:.4f}" if rank in of else "" for rank in ranks)] for name, of in rows.items()]
        return table_of("evaluation", head, cells)


class Reason(NamedTuple):
    """label: name or number. score: its probability. features: (name or number, part of the logit), largest first."""

    label: Any
    score: float
    features: "list[tuple[Union[str, int], float]]"


class Explanation(list):
    """The best labels of a sample, a Reason each, best first; in a notebook a table."""

    def __repr__(self) -> str:
        return "\n".join(
            f"{one.label}: {one.score:.3g}  (" + ", ".join(f"{name} {part:+.3g}" for name, part in one.features) + ")"
            for one in self
        )

    def _repr_html_(self) -> str:
        top = max((part for one in self for _, part in one.features), default=1.0)

        def shown(name: Any, part: float) -> str:
            share = 0.6 * part / top
            return (
                f"<span style='background:rgba(42,120,214,{share:.2f});padding:0 3px'>{escape(str(name))}</span> {part:.2g}"
            )

        rows = [
            [escape(str(one.label)), f"{one.score:.3g}", " &nbsp;".join(shown(*feature) for feature in one.features)]
            for one in self
        ]
        return table_of("explanation", ["", "score", "features that speak for it"], rows)
