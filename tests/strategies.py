"""Hypothesis strategies for documents of every shape that a format may meet.

Import with ``from strategies import documents`` (pytest puts ``tests/`` on the path). Words contain the characters
that formats use for themselves; mentions nest, cross, repeat, run over sentence ends and may be discontinuous.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from entitynlm.data.document import Document, Mention, Span

AWKWARD_WORDS = (
    ".", "(", ")", "()", "|", "-", "*", "#", "#begin", "%", "%28", "[1/2]", "a=b", "a:b,c", "\\", "\\s", "``",
    "-LRB-", "{}", "7", "O'Hara", "naïve", "東京", "🙂", "1-2", "3.1", "Entity=(1)", "</s>",
)  # fmt: skip
GAPS = ("", " ", " ", " ", " ", "\n", "  ", "\n\n", "\t", " \n ", "¶", " | ", "\\n", "\u00a0")


def words() -> SearchStrategy[str]:
    """Words without whitespace; ``_`` alone is left out, which column formats read as "nothing"."""
    letters = st.text("abcXYZ019-_'", min_size=1, max_size=6)
    anything = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=4)
    return st.one_of(letters, st.sampled_from(AWKWARD_WORDS), anything).filter(lambda word: word != "_")


def values() -> SearchStrategy[str]:
    """Values of columns: words that no format takes for "no value"."""
    return words().filter(lambda value: value not in ("-", "*"))


def lines() -> SearchStrategy[str]:
    """Text on one line, with single spaces inside."""
    return st.lists(words(), min_size=1, max_size=4).map(" ".join)


@st.composite
def sentence_spans(draw: DrawFn, tokens: int) -> tuple[Span, ...]:
    """A division of that many tokens into sentences."""
    inner = draw(st.sets(st.integers(1, tokens - 1), max_size=6)) if tokens > 1 else set()
    edges = sorted({0, tokens} | inner)
    return tuple(pairwise(edges))


@st.composite
def spans(draw: DrawFn, tokens: int) -> Span:
    start = draw(st.integers(0, tokens - 1))
    return start, draw(st.integers(start + 1, tokens))


@st.composite
def span_parts(draw: DrawFn, tokens: int) -> tuple[Span, ...]:
    """The parts of a discontinuous mention: two or three, apart and in order; ``()`` where there is no room."""
    edges = sorted(draw(st.sets(st.integers(0, tokens), min_size=0, max_size=6)))
    edges = edges[: len(edges) // 2 * 2]
    return tuple(zip(edges[::2], edges[1::2], strict=True)) if len(edges) >= 4 else ()


@st.composite
def mention_lists(
    draw: DrawFn,
    tokens: int,
    entities: Sequence[str],
    *,
    max_mentions: int = 10,
    discontinuous: bool = True,
    heads: bool = True,
    attributes: bool = True,
) -> tuple[Mention, ...]:
    """Mentions anywhere in a document of that many tokens."""
    if not tokens:
        return ()
    mentions = []
    names = st.sampled_from(("infstat", "minspan", "label", "a:b", "other", "head", "naïve-name"))
    for _ in range(draw(st.integers(0, max_mentions))):
        parts = draw(span_parts(tokens)) if discontinuous and draw(st.integers(0, 3)) == 0 else ()
        start, end = (parts[0][0], parts[-1][1]) if parts else draw(spans(tokens))
        inside = [token for a, b in parts or ((start, end),) for token in range(a, b)]
        head = draw(st.none() | st.sampled_from(inside)) if heads else None
        extra = draw(st.lists(st.tuples(names, lines()), max_size=2)) if attributes else []
        mentions.append(Mention(start, end, draw(st.sampled_from(entities)), parts, head, tuple(extra)))
    return tuple(mentions)


@st.composite
def texts(draw: DrawFn, tokens: Sequence[str]) -> tuple[str, tuple[Span, ...]]:
    """Raw text around the tokens, most of which stand in it as they are, and their offsets."""
    text = draw(st.sampled_from(("", "", "", " ", "\n ", "Title: ")))
    offsets = []
    for index, token in enumerate(tokens):
        surface = token if draw(st.integers(0, 7)) else draw(st.sampled_from(("", "x", "a b", token * 2)))
        offsets.append((len(text), len(text) + len(surface)))
        last = index == len(tokens) - 1
        text += surface + draw(st.sampled_from(("", "", "\n", " .") if last else GAPS))
    return text, tuple(offsets)


@st.composite
def columns_of(
    draw: DrawFn, names: Sequence[str], sentences: Sequence[Span]
) -> dict[str, tuple[str | None, ...]]:
    """Some of the named columns, with a value here and there or one per sentence."""
    chosen = draw(st.sets(st.sampled_from(tuple(names)))) if names else set()
    columns: dict[str, tuple[str | None, ...]] = {}
    for name in sorted(chosen):
        by_sentence = draw(st.booleans())
        found: list[str | None] = []
        for start, end in sentences:
            size = end - start
            if by_sentence:
                found += [draw(st.none() | values())] * size
            else:
                found += draw(st.lists(st.none() | values(), min_size=size, max_size=size))
        if any(value is not None for value in found):
            columns[name] = tuple(found)
    return columns


@st.composite
def heads_of(draw: DrawFn, sentences: Sequence[Span]) -> tuple[int, ...]:
    """A syntactic head for each token: a token of its sentence, or -1."""
    found = []
    for start, end in sentences:
        for _ in range(start, end):
            found.append(draw(st.just(-1) | st.integers(start, end - 1)))
    return tuple(found)


@st.composite
def documents(
    draw: DrawFn,
    *,
    min_tokens: int = 0,
    max_tokens: int = 16,
    max_mentions: int = 10,
    entity_ids: SearchStrategy[str] | None = None,
    discontinuous: bool = True,
    mention_heads: bool = True,
    attributes: bool = True,
    types: bool = True,
    text: bool = True,
    columns: Sequence[str] = ("pos", "upos", "lemma", "feats", "deprel", "speaker"),
    heads: bool = True,
    meta: bool = True,
) -> Document:
    """A document; each keyword that is false leaves out what a format does not have."""
    tokens = tuple(draw(st.lists(words(), min_size=min_tokens, max_size=max_tokens)))
    sentences = draw(sentence_spans(len(tokens))) if tokens else ()
    some_ids = st.one_of(st.integers(0, 20).map(str), words(), lines())
    entities = draw(st.lists(entity_ids or some_ids, min_size=1, max_size=4, unique=True))
    mentions = draw(
        mention_lists(
            len(tokens),
            entities,
            max_mentions=max_mentions,
            discontinuous=discontinuous,
            heads=mention_heads,
            attributes=attributes,
        )
    )
    raw = draw(texts(tokens)) if text and tokens and draw(st.booleans()) else None
    return Document(
        id=draw(lines()),
        tokens=tokens,
        sentences=sentences,
        mentions=mentions,
        entity_types=draw(st.dictionaries(st.sampled_from(entities), values())) if types else {},
        text=raw[0] if raw else None,
        offsets=raw[1] if raw else None,
        columns=draw(columns_of(columns, sentences)) if tokens else {},
        heads=draw(st.none() | heads_of(sentences)) if heads and tokens else None,
        meta=draw(st.dictionaries(st.sampled_from(("title", "genre", "x")), lines())) if meta else {},
    )


def sorted_clusters(document: Document) -> list[tuple[Span, ...]]:
    """The clusters without regard to names and order, for comparing across formats that rename entities."""
    return sorted(document.clusters)
