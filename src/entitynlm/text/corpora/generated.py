"""The generated corpus of stories, written in splits (with a ``corpus.json``), counted, and checked to be hard enough."""

import json
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from entitynlm.files import announce_writing, move_into_place, write_text
from entitynlm.text.corpora.corpus import CARD
from entitynlm.text.corpora.statistics import SplitStatistics
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import write_documents
from entitynlm.text.stories.difficulty import measure_difficulty
from entitynlm.text.stories.generator import SPLITS, generate_stories

NAME = "stories (generated)"
CHECKED = 500  # stories of the test split on which the difficulty is measured, at most

OnDocument = Callable[[Document], None]


@dataclass(frozen=True)
class StoriesReport:
    """Counts per split of generated stories, and how accurately simple baselines predict the next entity in them."""

    seed: int
    statistics: Mapping[str, SplitStatistics]
    difficulty: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {
            "corpus": NAME,
            "seed": self.seed,
            "splits": {split: counts.as_json() for split, counts in self.statistics.items()},
            "difficulty": dict(self.difficulty),
        }


def make_stories(
    documents: int, *, seed: int, target: Path | None = None, on_document: OnDocument = lambda document: None
) -> StoriesReport:
    """Generate stories one at a time, into the folder ``target`` if it is given; the same seed gives the same bytes.

    Files are moved into the folder when all of them are whole.
    """
    statistics = {}
    made = target.with_name(f".{target.name}.part") if target else None
    if target is not None and made is not None:
        announce_writing([*(target / f"{split}.jsonl" for split in SPLITS), target / CARD])
        shutil.rmtree(made, ignore_errors=True)
    for split in SPLITS:
        statistics[split] = SplitStatistics()
        stories = _count(generate_stories(documents, seed=seed, split=split), statistics[split], on_document)
        if made is None:
            deque(stories, maxlen=0)
        else:
            write_documents(stories, made / f"{split}.jsonl", "jsonl")
    if target is not None and made is not None:
        card = {"corpus": NAME, "generated": True, "documents": documents, "seed": seed}
        write_text(made / CARD, json.dumps(card, indent=2) + "\n")
        target.mkdir(exist_ok=True)
        move_into_place(made, target)
        shutil.rmtree(made)
    return StoriesReport(seed, statistics, check_difficulty(documents, seed=seed))


def check_difficulty(documents: int, *, seed: int) -> dict[str, Any]:
    """Accuracy of entity prediction on the test split: one predictor that knows the scripts and three that don't."""
    return dict(measure_difficulty(islice(generate_stories(documents, seed=seed, split="test"), CHECKED)))


def _count(
    documents: Iterable[Document], statistics: SplitStatistics, on_document: OnDocument
) -> Iterator[Document]:
    for document in documents:
        statistics.add(document)
        on_document(document)
        yield document
