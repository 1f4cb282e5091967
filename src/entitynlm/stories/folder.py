"""Write generated stories as a corpus folder: a file per split and a ``corpus.json`` that says how they were made."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from entitynlm.files import move_into_place, write_text
from entitynlm.stories.generator import SPLITS, generate_stories
from entitynlm.text.corpora.corpus import CARD
from entitynlm.text.corpora.statistics import SplitStatistics
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import write_documents

NAME = "stories (generated)"


def write_stories(
    documents: int,
    target: Path,
    *,
    seed: int,
    on_document: Callable[[Document], None] = lambda document: None,
) -> dict[str, SplitStatistics]:
    """Generate stories one at a time into a folder and count them; the same seed gives the same bytes.

    Files are moved into the folder when all of them are whole.
    """
    statistics = {split: SplitStatistics() for split in SPLITS}
    made = target.with_name(f".{target.name}.part")
    shutil.rmtree(made, ignore_errors=True)
    for split in SPLITS:
        stories = generate_stories(documents, seed=seed, split=split)
        write_documents(_count(stories, statistics[split], on_document), made / f"{split}.jsonl", "jsonl")
    card = {"corpus": NAME, "generated": True, "documents": documents, "seed": seed}
    write_text(made / CARD, json.dumps(card, indent=2) + "\n")
    target.mkdir(exist_ok=True)
    move_into_place(made, target)
    shutil.rmtree(made)
    return statistics


def _count(
    documents: Iterable[Document], statistics: SplitStatistics, on_document: Callable[[Document], None]
) -> Iterator[Document]:
    for document in documents:
        statistics.add(document)
        on_document(document)
        yield document
