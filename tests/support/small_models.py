"""Tiny models with large random parameters, and arbitrary small documents for them.

Parameters are drawn far from zero so that nothing cancels by accident: with the small values of a fresh network a forgotten
factor may hide below any tolerance.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from entitynlm.config import ModelConfig
from entitynlm.model.batch.scores import Scores
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.word_classes import WordClasses
from entitynlm.model.entitynlm import EntityNetwork

WORDS = 8
CLASSES = (-1, 1, 0, 1, 2, 0, 2, 2)  # the classes of the words: neither sorted nor of one size
VARIABLES = ("r", "e", "l", "x")


def make_network(
    *, words: int = WORDS, seed: int = 0, std: float = 0.7, classes: tuple[int, ...] = CLASSES, **options: Any
) -> EntityNetwork:
    """A float64 network in evaluation mode. ``options`` are those of ``ModelConfig``."""
    defaults: dict[str, Any] = {"hidden_size": 5, "embedding_size": 4, "max_length": 4}
    if options.get("tied"):
        defaults["embedding_size"] = 5
    config = ModelConfig(**{**defaults, **options})
    network = EntityNetwork(config, words, 0, WordClasses(np.array(classes[:words])))
    generator = torch.Generator().manual_seed(seed)
    for parameter in network.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * std
    return network.double().eval()


def make_document(
    x: list[int], mentions: list[tuple[int, int, int, int]] | None = None, sentences: list[int] | None = None
) -> EncodedDocument:
    """A document from its words and mentions (start, end, entity, kind)."""
    size = len(x)
    r, e, l = np.zeros(size, np.int64), np.zeros(size, np.int64), np.ones(size, np.int64)
    for start, end, entity, mention_type in mentions or []:
        r[start:end], e[start:end], l[start:end] = mention_type, entity, np.arange(end - start, 0, -1)
    sentence = np.array(sentences if sentences is not None else [0] * size, dtype=np.int64)
    return EncodedDocument("small", np.array(x, np.int64), r, e, l, sentence, np.arange(size))


def extend_document(
    rng: np.random.Generator,
    start: EncodedDocument | None,
    size: int,
    *,
    mention_types: int,
    max_length: int = 4,
) -> EncodedDocument:
    """A random document of ``size`` words, the first of which are those of ``start``."""
    x = rng.integers(1, WORDS, size)
    r, e, l = np.zeros(size, np.int64), np.zeros(size, np.int64), np.ones(size, np.int64)
    sentence = np.cumsum(rng.random(size) < 0.2)
    t = 0
    if start is not None:
        t = len(start)
        x[:t], r[:t], e[:t], l[:t], sentence[:t] = start.x, start.r, start.e, start.l, start.sentence
        sentence[t:] = (start.sentence[-1] if t else 0) + np.cumsum(rng.random(size - t) < 0.2)
    kind_of = {
        int(entity): int(mention_type)
        for entity, mention_type in zip(e[:t], r[:t], strict=True)
        if entity > 0
    }
    crowd = rng.random()  # from documents without mentions to documents of nothing else
    while t < size:
        if rng.random() < crowd:
            mention_type = int(rng.integers(1, mention_types + 1))
            known = [entity for entity, its_kind in kind_of.items() if its_kind == mention_type]
            entity = int(rng.choice([*known, len(kind_of) + 1]))
            kind_of[entity] = mention_type
            length = min(int(rng.integers(1, max_length + 1)), size - t)
            r[t : t + length], e[t : t + length], l[t : t + length] = (
                mention_type,
                entity,
                np.arange(length, 0, -1),
            )
            t += length
        else:
            t += 1
    return EncodedDocument("random", x, r, e, l, sentence, np.arange(size))


@st.composite
def encoded_documents(
    draw: st.DrawFn, *, mention_types: int = 1, min_size: int = 0, max_size: int = 14
) -> EncodedDocument:
    """Any small document: none, one or many mentions, up to all words, of any length that the model allows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return extend_document(rng, None, draw(st.integers(min_size, max_size)), mention_types=mention_types)


@st.composite
def model_options(draw: st.DrawFn, *modes: str) -> dict[str, Any]:
    """Any combination of the options that change what is computed (dropout apart)."""
    states = draw(st.sampled_from([0, 1, 3]))
    return {
        "mode": draw(st.sampled_from(modes or ("generative", "causal"))),
        "mention_types": draw(st.integers(1, 3)),
        "softmax": draw(st.sampled_from(["classes", "full"])),
        "tied": draw(st.booleans()),
        "features": draw(st.sampled_from(["paper", "rich", "none"])),
        "mention_positions": states,
        "new_entity": draw(st.sampled_from(["noise", "zero"])),
        "sigma": draw(st.sampled_from([0.0, 0.01, 1.0])),
        "seed": draw(st.integers(0, 1000)),
    }


def part(scores: Scores, number: int, variable: str) -> torch.Tensor:
    """One variable of one document of a batch."""
    values: torch.Tensor = getattr(scores, variable)
    return values[scores.bounds[number] : scores.bounds[number + 1]]


def assert_close(actual: torch.Tensor, expected: torch.Tensor, tolerance: float = 1e-10) -> None:
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def with_words(document: EncodedDocument, x: tuple[int, ...] | list[int]) -> EncodedDocument:
    """The same mentions over other words."""
    return replace(document, x=np.array(x, dtype=np.int64))
