"""Hypothesis strategies for documents of every shape that a format may meet.

Import with ``from strategies import documents`` (pytest puts ``tests/`` on the path). Words contain the characters
that formats use for themselves; mentions nest, cross, repeat and run over sentence ends.

Hypothesis chooses (and shrinks) tokens, sentences and mentions. Columns, heads and raw text are filled in by a random
generator whose seed it chooses: ten times as quick, and a failure shrinks to a document without them if it can.
"""

import random
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from entitynlm.text.document import Document, Mention, Span

AWKWARD_WORDS = (
    ".", "(", ")", "()", "|", "-", "*", "#", "#begin", "%", "%28", "[1/2]", "a=b", "a:b,c", "\\", "\\s", "``",
    "-LRB-", "{}", "7", "O'Hara", "naïve", "東京", "🙂", "1-2", "3.1", "Entity=(1)", "</s>",
)  # fmt: skip
PLAIN_WORDS = ("a", "the", "Dog", "dog", "it", "It", "X-9", "won't", "o_o", "12")
VALUES = tuple(word for word in PLAIN_WORDS + AWKWARD_WORDS if word not in ("-", "*"))  # "-", "*": no value
GAPS = ("", " ", " ", " ", " ", "\n", "  ", "\n\n", "\t", " \n ", "¶", " | ", "\\n", "\u00a0")
ATTRIBUTES = ("infstat", "minspan", "label", "a:b", "other", "head", "naïve-name")

WORDS = st.sampled_from(PLAIN_WORDS + AWKWARD_WORDS) | st.text(
    st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=4
).filter(lambda word: word != "_")
LINES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)
ENTITY_IDS = st.integers(0, 20).map(str) | LINES
TYPES = st.sampled_from(VALUES)
META = st.dictionaries(st.sampled_from(("title", "genre", "x")), LINES, max_size=2)
SEEDS = st.integers(0, 2**16)


def words() -> SearchStrategy[str]:
    """Words without whitespace; ``_`` alone is left out, which column formats read as "nothing"."""
    return WORDS


def lines() -> SearchStrategy[str]:
    """Text on one line, with single spaces inside."""
    return LINES


@st.composite
def sentence_spans(draw: DrawFn, tokens: int) -> tuple[Span, ...]:
    """A division of that many tokens into sentences."""
    inner = draw(st.sets(st.integers(1, tokens - 1), max_size=4)) if tokens > 1 else set()
    return tuple(pairwise(sorted({0, tokens} | inner)))


@st.composite
def mentions_in(
    draw: DrawFn, tokens: int, entities: Sequence[str], *, heads: bool = True, attributes: bool = True
) -> Mention:
    """A mention anywhere in a document of that many tokens."""
    start, end = sorted(draw(st.sets(st.integers(0, tokens), min_size=2, max_size=2)))
    entity = draw(st.sampled_from(entities))
    fill = random.Random(draw(SEEDS))
    head = fill.choice(range(start, end)) if heads and fill.random() < 0.5 else None
    extra: tuple[tuple[str, str], ...] = ()
    if attributes and fill.random() < 0.3:
        extra = tuple((fill.choice(ATTRIBUTES), fill.choice(VALUES)) for _ in range(fill.randint(1, 2)))
    return Mention(start, end, entity, head, extra)


def fill_text(fill: random.Random, tokens: Sequence[str], spelled: bool) -> tuple[str, tuple[Span, ...]]:
    """Raw text around the tokens, most (all, if ``spelled``) of which stand in it as they are, and their offsets."""
    text = fill.choice(("", "", "", " ", "\n ", "Title: "))
    offsets = []
    for index, token in enumerate(tokens):
        surface = token if spelled or fill.random() < 0.9 else fill.choice(("", "x", "a b", token * 2))
        offsets.append((len(text), len(text) + len(surface)))
        last = index == len(tokens) - 1
        text += surface + fill.choice(("", "", "\n", " .") if last else GAPS)
    return text, tuple(offsets)


def fill_columns(
    fill: random.Random, names: Sequence[str], sentences: Sequence[Span]
) -> dict[str, tuple[str | None, ...]]:
    """Some of the named columns, with a value here and there or one per sentence."""
    columns: dict[str, tuple[str | None, ...]] = {}
    for name in names:
        choices = (None, fill.choice(VALUES), fill.choice(VALUES))
        by_sentence = fill.random() < 0.5
        found: list[str | None] = []
        for start, end in sentences:
            one = fill.choice(choices)
            found += [one if by_sentence else fill.choice(choices) for _ in range(start, end)]
        if fill.random() < 0.5 and any(value is not None for value in found):
            columns[name] = tuple(found)
    return columns


def fill_heads(fill: random.Random, sentences: Sequence[Span]) -> tuple[int, ...]:
    """A syntactic head for each token: a token of its sentence, or -1."""
    return tuple(fill.choice((-1, *range(start, end))) for start, end in sentences for _ in range(start, end))


@st.composite
def documents(
    draw: DrawFn,
    *,
    min_tokens: int = 0,
    max_tokens: int = 12,
    max_mentions: int = 8,
    entity_ids: SearchStrategy[str] = ENTITY_IDS,
    mention_heads: bool = True,
    attributes: bool = True,
    types: bool = True,
    text: bool = True,
    spelled: bool = False,
    columns: Sequence[str] = ("pos", "upos", "lemma", "feats", "deprel", "speaker"),
    heads: bool = True,
    meta: bool = True,
) -> Document:
    """A document; each keyword that is false leaves out what a format does not have."""
    tokens = tuple(draw(st.lists(WORDS, min_size=min_tokens, max_size=max_tokens)))
    sentences = draw(sentence_spans(len(tokens))) if tokens else ()
    entities = draw(st.lists(entity_ids, min_size=1, max_size=4, unique=True))
    mention = mentions_in(len(tokens), entities, heads=mention_heads, attributes=attributes)
    mentions = draw(st.lists(mention, max_size=max_mentions)) if tokens else []
    filled = random.Random(seed) if tokens and (seed := draw(SEEDS)) else None
    raw = fill_text(filled, tokens, spelled) if filled and text and filled.random() < 0.5 else None
    return Document(
        id=draw(LINES),
        tokens=tokens,
        sentences=sentences,
        mentions=tuple(mentions),
        entity_types=draw(st.dictionaries(st.sampled_from(entities), TYPES)) if types else {},
        text=raw[0] if raw else None,
        offsets=raw[1] if raw else None,
        columns=fill_columns(filled, columns, sentences) if filled else {},
        heads=fill_heads(filled, sentences) if filled and heads and filled.random() < 0.5 else None,
        meta=draw(META) if meta else {},
    )


def sorted_clusters(document: Document) -> list[tuple[Span, ...]]:
    """The clusters without regard to names and order, for comparing across formats that rename entities."""
    return sorted(document.clusters())


@st.composite
def damaged(draw: DrawFn, sample: bytes) -> bytes:
    """A valid file with pieces taken out, doubled, moved, overwritten."""
    data = bytearray(sample)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.sampled_from((1, 1, 2, 5, 40)))
        piece = bytes(data[at : at + size])
        junk = st.sampled_from(
            (
                b"",
                b"\t",
                b"\n",
                b"\n\n",
                b"(",
                b")",
                b"|",
                b"\0",
                b"\xff",
                b"9" * 30,
                b"9" * 5000,
                b"[" * 3000,
                b"1e999",
                b"-1",
                b'"',
                b"]",
                b"<",
                b"&",
                b" ",
            )
        )
        change = draw(st.sampled_from(("drop", "double", "replace", "insert", "cut")))
        if change == "cut":
            del data[at:]
        elif change == "insert":
            data[at:at] = draw(junk)
        else:
            data[at : at + size] = {"drop": b"", "double": piece * 2, "replace": draw(junk)}[change]
    return bytes(data)
