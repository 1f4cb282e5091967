"""The paper's three tables with ours beside them, in one simple shape for terminals, Markdown and pages.

Each task has its own richer results; here they are cut to a row per system: what we measured, how it spreads, what is printed in
the paper. Rows are made from the figures that the tasks' verbs write as JSON, so a report can be made again from files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TITLES = {
    "lm": "Table 1: language modelling (perplexity, lower is better)",
    "coref": "Table 2: reranking coreference (CoNLL F1, higher is better)",
    "entity": "Table 3: entity prediction (accuracy in percent, higher is better)",
}
PAPER_CORPORA = {"lm": "CoNLL-2012 test", "coref": "CoNLL-2012 test", "entity": "InScript"}
SYSTEMS = {
    "always-new": "Always new",
    "shallow": "Shallow features",
    "modi": "Modi et al. (2017)",
    "entitynlm": "EntityNLM",
    "ours": "Ours (entity predictor)",
    "ensemble": "Ours and EntityNLM",
    "human": "Human",
}


@dataclass(frozen=True)
class PaperRow:
    """One system: ``ours`` with its ``spread`` (None: there is none to know), and the paper's figure where it has one."""

    system: str
    ours: float
    spread: float | None
    paper: float | None
    note: str = ""

    def show(self) -> tuple[str, str, str]:
        """System, our figure and the paper's as text."""
        ours = f"{self.ours:.2f}" + (f" ± {self.spread:.2f}" if self.spread else "")
        return self.system, ours, "" if self.paper is None else f"{self.paper:.2f}"


@dataclass(frozen=True)
class PaperTable:
    """One table on one corpus; ``facts`` say how it was measured."""

    task: str
    corpus: str
    rows: tuple[PaperRow, ...]
    facts: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return TITLES[self.task]

    @property
    def paper_corpus(self) -> str:
        return PAPER_CORPORA[self.task]

    def to_dict(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "title": self.title,
            "corpus": self.corpus,
            "paper_corpus": self.paper_corpus,
            "rows": [vars(row) for row in self.rows],
            "facts": list(self.facts),
        }


def from_lm(figures: Mapping[str, Any], *, split: str = "test") -> PaperTable:
    """Table 1 from the figures of ``reproduce lm``: rows that can be compared, over seeds."""
    paper = figures["paper"]["perplexity"]
    found = figures["splits"][split]
    rows = [
        PaperRow(row["model"], row["mean"], row["spread"], paper.get(row["model"]), row["reading"])
        for row in found["rows"]
        if row["reading"] in ("exact", "marginal")
    ]
    seeds = ", ".join(map(str, figures["seeds"]))
    sampling = figures["sampling"]
    facts = (
        f"{figures['corpus']['name']}, {split}; mean and spread over seeds {seeds}",
        f"EntityNLM: {sampling['method']}, N = {sampling['particles']} × {sampling['repeats']}",
    )
    return PaperTable("lm", figures["corpus"]["name"], tuple(rows), facts)


def from_entity(figures: Mapping[str, Any]) -> PaperTable:
    """Table 3 from the figures of ``reproduce entity`` (or ``evaluate entity``)."""
    seeds = figures.get("seeds", {}) if isinstance(figures.get("seeds"), Mapping) else {}
    rows = []
    for name, row in figures["rows"].items():
        over_seeds = seeds.get("rows", {}).get(name)
        ours = over_seeds["mean"] if over_seeds else row["accuracy"]
        spread = over_seeds["spread"] if over_seeds else None
        rows.append(PaperRow(SYSTEMS.get(name, name), ours, spread, row["paper"]))
    facts = (
        f"{figures['corpus']['name']}, {figures['split']}; {figures['slots']:,} slots in {figures['stories']:,} stories",
    )
    return PaperTable("entity", figures["corpus"]["name"], tuple(rows), facts)


def from_coref(figures: Mapping[str, Any], *, split: str = "test") -> PaperTable:
    """Table 2 from the figures of ``evaluate coref`` or ``reproduce coref``."""
    paper = figures["paper"]["f1"]
    rows: list[PaperRow] = []
    for block in figures["blocks"]:
        for row in block["splits"][split]["rows"]:
            plain = row["name"].split(": ")[-1]
            printed = paper.get(plain, {}).get("conll") if _is_the_papers(row["name"]) else None
            versus = row.get("versus_first", {}).get("conll")
            gain = f"{versus['difference']:+.2f}, p = {versus['p_value']:.3f}" if versus else ""
            rows.append(PaperRow(f"{block['title']}, {row['name']}", row["conll"], None, printed, gain))
    for row in figures.get("alone", {}).get(split, []):
        rows.append(PaperRow(f"EntityNLM by itself, {row['name']}", row["conll"], None, None))
    facts = (
        f"{figures['corpus']['name']}, {split}; k = {figures['k']}; gains over the block's one best, p by randomisation",
    )
    return PaperTable("coref", figures["corpus"]["name"], tuple(rows), facts)


def _is_the_papers(name: str) -> bool:
    """Whether a row is of a kind that the paper has: the one best, or swaps reranked."""
    return ": " not in name or name.startswith(("swaps: ", "given: "))
