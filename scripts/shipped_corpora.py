"""Corpora of the models that ship with the package: ``python scripts/shipped_corpora.py --data DIR --out RUN``.

DIR holds the folders ``litbank``, ``gum``, ``ontogum`` (for its splits), ``pdnc`` and ``novels`` of ``entitynlm data get``.
Written are RUN/annotated (LitBank and six genres of GUM, with four entity types) and RUN/plain (the novels and the
words of the annotated documents), each with train.jsonl and dev.jsonl, and RUN/books.jsonl (stretches of PDNC's training novels,
in which only some mentions are annotated); ``make model-pretrained`` needs no RUN/plain.
"""

import argparse
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, cycle
from pathlib import Path
from types import MappingProxyType

from entitynlm.discourse.names import TITLE_GENDERS
from entitynlm.text.corpora import open_corpus
from entitynlm.text.corpora.pdnc import TEXT_FILE, Novel, NovelQuotation, list_novels, read_novel
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.english import PRONOUNS
from entitynlm.text.formats.registry import read_documents, write_documents

PIECE = 5_000  # tokens of a piece of a novel
GENRES = (
    "academic",
    "bio",
    "court",
    "interview",
    "news",
    "voyage",
)  # whose licences allow a derived model to ship
BOOK_TOKENS = 24_000  # of each novel of PDNC, from its beginning
STRETCHES = (2000, 4000, 3000, 8000, 5000)  # tokens of stretches, one after the other
FEWEST_MENTIONS = 20  # of a stretch
TAG_PRONOUN = re.compile(r"\b(?:he|she)\b", re.IGNORECASE)
TAG_REACH = 60  # characters between a quotation and its tag
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
        (document,) = read_documents(path)
        for start, stop in cut_stretches(document, [PIECE], len(document)):
            yield take_stretch(document, start, stop)


def cut_stretches(document: Document, sizes: Sequence[int], tokens: int) -> Iterator[Span]:
    """Cut the first tokens of a document into stretches of whole sentences, of these sizes in turn."""
    ends, start = [end for _, end in document.sentences], 0
    for size in cycle(sizes):
        if start >= tokens:
            return
        stop = ends[min(bisect_left(ends, min(start + size, tokens)), len(ends) - 1)]
        yield start, stop
        start = stop


def take_stretch(
    document: Document, start: int, stop: int, mentions: Mapping[Span, str] = MappingProxyType({})
) -> Document:
    """Take the sentences of a stretch, with the mentions that lie in it."""
    own = [Mention(a - start, b - start, who) for (a, b), who in mentions.items() if start <= a and b <= stop]
    sentences = tuple((a - start, b - start) for a, b in document.sentences if start <= a and b <= stop)
    return Document(f"{document.id}-{start}", document.tokens[start:stop], sentences, tuple(own))


class BookMentions:
    """The mentions of a novel of PDNC whose characters are known, as spans of tokens."""

    def __init__(self, novel: Novel, document: Document) -> None:
        assert document.offsets is not None
        self.novel, self.tokens, self.offsets = novel, document.tokens, document.offsets
        self.starts = {start: token for token, (start, _) in enumerate(document.offsets)}
        self.ends = {end: token + 1 for token, (_, end) in enumerate(document.offsets)}
        self.found: dict[Span, str] = {}
        for place, who in novel.mentions.items():
            self._add(*place, who)
        for quotation in novel.quotations:
            if quotation.has_speaker:
                self._add_speaker(quotation)
        for (start, end), who in novel.find_names().items():
            self._add_name(start, end, who)

    def _add(self, start: int, end: int, who: str) -> None:
        """Add a mention by its first and last letters; a full stop that belongs to the last word is taken in."""
        words = [match.span() for match in re.finditer(r"[A-Za-z0-9]+", self.novel.text[start:end])]
        if words:
            start, end = start + words[0][0], start + words[-1][1]
        last = next((end + more for more in range(3) if end + more in self.ends), None)
        if start in self.starts and last is not None and self.starts[start] < self.ends[last]:
            self.found.setdefault((self.starts[start], self.ends[last]), who)

    def _add_speaker(self, quotation: NovelQuotation) -> None:
        """Add "I" in a quotation, and "he" or "she" in its tag."""
        for start, end in quotation.parts:
            token = bisect_left(self.offsets, (start, 0))
            while token < len(self.offsets) and self.offsets[token][0] < end:
                if PRONOUNS.get(self.tokens[token].lower()) == "i":
                    self.found.setdefault((token, token + 1), quotation.speaker)
                token += 1
        if quotation.kind != "anaphoric" or not TAG_PRONOUN.search(quotation.tag):
            return
        tag = re.compile(r"\s+".join(map(re.escape, quotation.tag.split())))
        before = quotation.parts[0][0]
        places = [(end, end + len(quotation.tag) + TAG_REACH) for _, end in quotation.parts]
        for start, end in [*places, (max(before - len(quotation.tag) - TAG_REACH // 2, 0), before)]:
            match = tag.search(self.novel.text, start, end)
            pronoun = match and TAG_PRONOUN.search(self.novel.text, *match.span())
            if pronoun:
                self._add(*pronoun.span(), quotation.speaker)
                return

    def _add_name(self, start: int, end: int, who: str) -> None:
        """Add a name with the title before it, unless a mention that is known ends with it."""
        if start not in self.starts or end not in self.ends:
            return
        first = token = self.starts[start]
        while (
            first > 0
            and self.tokens[first - 1][0].isupper()
            and self.tokens[first - 1].rstrip(".").lower() in TITLE_GENDERS
        ):
            first -= 1
        if not any((other, self.ends[end]) in self.found for other in range(max(first - 4, 0), token + 1)):
            self._add(self.offsets[first][0], end, who)


def read_books(data: Path) -> Iterator[Document]:
    """Stretches of the beginnings of PDNC's training novels; the lengths grow and begin anew."""
    for folder in list_novels(data / "pdnc", "train"):
        (document,) = read_documents(folder / TEXT_FILE)
        found = BookMentions(read_novel(folder), document).found
        named = replace(document, id=folder.name)
        for start, stop in cut_stretches(document, STRETCHES, min(len(document), BOOK_TOKENS)):
            stretch = take_stretch(named, start, stop, found)
            if len(stretch.mentions) >= FEWEST_MENTIONS:
                yield stretch


def strip(documents: Iterable[Document]) -> Iterator[Document]:
    """Tokens and sentences alone."""
    for document in documents:
        yield Document(document.id, document.tokens, document.sentences)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("corpora"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--annotated-only", action="store_true", help="leave out RUN/plain")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if not (given.out / "books.jsonl").exists():
        write_documents(read_books(given.data), given.out / "books.jsonl", "jsonl")
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
