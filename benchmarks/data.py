"""Documents to measure on: the real corpora where they are, generated stories where they are not."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.model.encoding.word_classes import WordClasses, assign_classes
from entitynlm.stories import generate_stories
from entitynlm.text.corpora import open_corpus
from entitynlm.text.document import Document

STORIES = 400
STORY_SEED = 7
INSCRIPT_RECIPE = Recipe(punctuation="keep", numbers=False, vocabulary_size=1_000)


@dataclass(frozen=True)
class Material:
    """Encoded documents, the size of their vocabulary (with the special words) and their word classes."""

    name: str
    documents: Sequence[EncodedDocument]
    words: int
    classes: WordClasses


@lru_cache(maxsize=4)
def load_ontogum(data: Path | None, name: str = "ontogum") -> Material:
    """OntoGUM's training documents with a vocabulary of 10,000 words; or stories, joined to its length, with drawn words."""
    if data is not None and (data / name).is_dir():
        documents = list(open_corpus(data / name).documents("train"))
        return _encode(name, documents, Recipe(vocabulary_size=10_000, minimum_count=1))
    stories = _encode("stories", _stories(), INSCRIPT_RECIPE)
    pieces = cut_pieces(join_documents(stories.documents), 900)
    return draw_words(replace(stories, name="generated stories, words drawn", documents=pieces), 10_000)


@lru_cache(maxsize=2)
def load_inscript(data: Path | None) -> Material:
    """InScript's training stories with a vocabulary of 1,000 words, as in the paper; or generated ones."""
    if data is not None and (data / "inscript").is_dir():
        documents = list(open_corpus(data / "inscript").documents("train"))
        return _encode("inscript", documents, INSCRIPT_RECIPE)
    stories = _encode("generated stories", _stories(), INSCRIPT_RECIPE)
    return replace(stories, words=max(stories.words, 1_003))


def load_documents(data: Path | None) -> list[Document]:
    """OntoGUM's training documents as they stand, or generated stories."""
    if data is not None and (data / "ontogum").is_dir():
        return list(open_corpus(data / "ontogum").documents("train"))
    return _stories()


def _stories() -> list[Document]:
    return list(generate_stories(STORIES, seed=STORY_SEED))


def _encode(name: str, documents: Sequence[Document], recipe: Recipe) -> Material:
    encoder = Encoder.fit(documents, recipe=recipe, singletons="keep")
    encoded = [encoder.encode(document) for document in documents]
    classes = assign_classes([d.x for d in encoded], len(encoder.vocabulary))
    return Material(name, encoded, len(encoder.vocabulary), classes)


def draw_words(material: Material, words: int, seed: int = 0) -> Material:
    """The same mentions over words drawn by Zipf's law (p ∝ 1 / (rank + 2.7)) from a vocabulary of any size."""
    rng = np.random.default_rng(seed)
    mass = 1 / (np.arange(1, words) + 2.7)
    mass /= mass.sum()
    documents = [
        replace(document, x=1 + rng.choice(words - 1, size=len(document), p=mass))
        for document in material.documents
    ]
    classes = assign_classes([document.x for document in documents], words)
    return Material(material.name, documents, words, classes)


def join_documents(documents: Sequence[EncodedDocument]) -> EncodedDocument:
    """One long document; the entities of each part stay its own, so that entities grow in proportion to words."""
    parts: dict[str, list[np.ndarray]] = {name: [] for name in ("x", "r", "e", "l", "sentence")}
    entities = sentences = 0
    for document in documents:
        parts["x"].append(document.x)
        parts["r"].append(document.r)
        parts["l"].append(document.l)
        parts["e"].append(np.where(document.e > 0, document.e + entities, 0))
        parts["sentence"].append(document.sentence + sentences)
        entities += int(document.e.max(initial=0))
        sentences += int(document.sentence.max(initial=0)) + 1
    joined = {name: np.concatenate(values) for name, values in parts.items()}
    return EncodedDocument("joined", **joined, origin=np.arange(len(joined["x"])))


def cut_pieces(document: EncodedDocument, size: int) -> list[EncodedDocument]:
    """Consecutive documents of ``size`` words; mentions that a cut would part are left out, entities numbered anew."""
    return [_cut(document, start, start + size) for start in range(0, len(document) - size + 1, size)]


def _cut(document: EncodedDocument, start: int, end: int) -> EncodedDocument:
    x, r, e, l, sentence = (
        a[start:end].copy() for a in (document.x, document.r, document.e, document.l, document.sentence)
    )
    inside = np.ones(len(x), dtype=bool)
    if start > 0 and document.l[start - 1] > 1:
        inside[: document.l[start - 1] - 1] = False
    for first in np.flatnonzero((r > 0) & (np.append(1, l[:-1]) == 1)):
        if first + l[first] > len(x):
            inside[first:] = False
    r[~inside], e[~inside], l[~inside] = 0, 0, 1
    numbers: dict[int, int] = {}
    numbered = [numbers.setdefault(n, len(numbers) + 1) if n else 0 for n in e.tolist()]
    e = np.array(numbered, dtype=np.int64)
    return EncodedDocument(document.id, x, r, e, l, sentence - sentence[:1], np.arange(len(x)))


def make_batches(
    documents: Sequence[EncodedDocument], size: int, *, seed: int = 0
) -> list[list[EncodedDocument]]:
    """Documents of about the same length together, the batches in a random order, as in training."""
    order = sorted(range(len(documents)), key=lambda i: -len(documents[i]))
    batches = [[documents[i] for i in order[k : k + size]] for k in range(0, len(order), size)]
    return [batches[i] for i in np.random.default_rng(seed).permutation(len(batches))]


def count_tokens(batches: Sequence[Sequence[EncodedDocument]]) -> int:
    return sum(len(document) for batch in batches for document in batch)
