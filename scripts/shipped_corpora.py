"""Corpora of the models that ship with the package: ``python scripts/shipped_corpora.py --data DIR --out RUN``.

DIR holds the folders ``litbank``, ``gum``, ``ontogum`` (for its list of splits) and ``novels`` as ``entitynlm data get`` makes
them. Written are RUN/annotated (LitBank and six genres of GUM, with four entity types) and RUN/plain (the novels and the words of
the annotated documents), each with train.jsonl and dev.jsonl; ``make model-pretrained`` needs the first alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from entitynlm.text.corpora import open_corpus
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import read_documents, write_documents

PIECE = 24_000  # characters of a piece of a novel, some 5,000 words
GENRES = (
    "academic",
    "bio",
    "court",
    "interview",
    "news",
    "voyage",
)  # whose licences allow a derived model to ship
TYPES = {  # of LitBank and of GUM → ours; GUM's things, events and abstractions are not mentions for LitBank, so not for us
    "PER": "person",
    "FAC": "place",
    "GPE": "place",
    "LOC": "place",
    "VEH": "vehicle",
    "ORG": "organization",
    "person": "person",
    "place": "place",
    "organization": "organization",
}


def read_litbank(data: Path, split: str) -> Iterator[Document]:
    """LitBank with the entity types of its standoff files (the CoNLL columns have none)."""
    corpus = open_corpus(data / "litbank")
    for path, document in zip(corpus.files(split), corpus.documents(split), strict=True):
        (typed,) = read_documents(data / "litbank" / "brat" / f"{path.stem}.ann")
        assert typed.tokens == document.tokens, path
        yield keep_types(document.with_mentions(typed.mentions, typed.entity_types))


def read_gum(data: Path, split: str) -> Iterator[Document]:
    """GUM's documents of the licensed genres."""
    for document in open_corpus(data / "gum").documents(split):
        if document.id.split("_")[1] in GENRES:
            yield keep_types(document)


def keep_types(document: Document) -> Document:
    """The mentions of people, places, organizations and vehicles, with our names for these types."""
    types = {entity: TYPES[name] for entity, name in document.entity_types.items() if name in TYPES}
    mentions = tuple(mention for mention in document.mentions if mention.entity in types)
    return Document(document.id, document.tokens, document.sentences, mentions, types)


def read_novels(data: Path) -> Iterator[Document]:
    """The novels in pieces, without those of LitBank's development and test documents."""
    litbank = open_corpus(data / "litbank")
    held_out = {p.stem.removesuffix("_brat") for s in ("dev", "test") for p in litbank.files(s)}
    files = sorted((data / "novels").glob("*.txt"))
    kept = [path for path in files if path.stem not in held_out]
    assert len(files) - len(kept) == len(held_out), "a held-out novel was not found by its name"
    for path in kept:
        yield from read_documents(path, part_size=PIECE)


def strip(documents: Iterable[Document]) -> Iterator[Document]:
    """Tokens and sentences alone."""
    for document in documents:
        yield Document(document.id, document.tokens, document.sentences)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--annotated-only", action="store_true", help="leave out RUN/plain")
    given = parser.parse_args()
    for split in ("train", "dev"):
        annotated = [*read_litbank(given.data, split), *read_gum(given.data, split)]
        novels = read_novels(given.data) if split == "train" else []
        corpora = {"annotated": annotated, "plain": strip(chain(novels, annotated))}
        for name, documents in list(corpora.items())[: 1 if given.annotated_only else 2]:
            path = given.out / name / f"{split}.jsonl"
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                write_documents(documents, path, "jsonl")


if __name__ == "__main__":
    main()
