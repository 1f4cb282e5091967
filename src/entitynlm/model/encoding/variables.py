"""Mentions and entities as the paper's sequences R, E and L (its second figure).

:func:`select_mentions` resolves what annotated files may contain and the generative story can't (a word lies in one mention at
    most); :func:`analyse` maps the rest to the model's words. Each counts what it removes. The rules, with their reasons:
    ``docs/decisions/002``.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from entitynlm.errors import ConfigError
from entitynlm.model.encoding.preprocessing import IntArray, WordSequence
from entitynlm.text.document import Document, Mention, sort_mentions

Singletons = Literal["keep", "drop"]

MAX_LENGTH = 25
"""The paper's ℓ_max: the longest mention, in words of the model."""

OTHER = "other"
"""The type of entities whose type is not known, in a model with types."""


FilterCounts = Counter[str]
"""Counts of mentions that were left out (``singletons``, ``duplicates``, ``crossing``, ``nested``, or ``outside`` of the words)
and how many stay, but shorter than annotated: ``truncated`` to the longest length, or ``cut`` by a sentence end.
"""


# -- which mentions ------------------------------------------------------------------------------------------


def select_mentions(
    document: Document, *, singletons: Singletons
) -> tuple[tuple[Mention, ...], FilterCounts]:
    """Select the mentions that the model sees, in text order and without overlaps; count what each step removes.

    1. With ``singletons="drop"``, remove entities annotated with one span.
    2. Of mentions with the same span keep one: that of the entity with more mentions, then of the entity that comes first in the
       text.
    3. Of crossing mentions keep the longer, then the one that starts first.
    4. Of nested mentions keep the outermost.

    A mention that is left is kept even if its entity now has one mention only.
    """
    if singletons not in ("keep", "drop"):
        raise ConfigError(f"singletons are 'keep' or 'drop', not {singletons!r}")
    mentions, counts = document.mentions, FilterCounts()
    for name, step in (
        ("singletons", _drop_singletons),
        ("duplicates", _settle_duplicates),
        ("crossing", _settle_crossings),
        ("nested", _drop_nested),
    ):
        left = mentions if (name, singletons) == ("singletons", "keep") else step(mentions)
        counts[name] = len(mentions) - len(left)
        mentions = left
    return mentions, counts


def _count_spans(mentions: Sequence[Mention]) -> dict[str, int]:
    """Count the different spans of each entity; entities in order of first mention."""
    spans: dict[str, set[tuple[int, int]]] = {}
    for mention in mentions:
        spans.setdefault(mention.entity, set()).add(mention.span)
    return {entity: len(found) for entity, found in spans.items()}


def _drop_singletons(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    sizes = _count_spans(mentions)
    return tuple(mention for mention in mentions if sizes[mention.entity] > 1)


def _settle_duplicates(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    sizes = _count_spans(mentions)
    rank = {entity: (-size, order) for order, (entity, size) in enumerate(sizes.items())}
    best: dict[tuple[int, int], Mention] = {}
    for mention in mentions:
        rival = best.get(mention.span)
        if rival is None or rank[mention.entity] < rank[rival.entity]:
            best[mention.span] = mention
    return tuple(best.values())


def _settle_crossings(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Take the longest mentions first, and keep each one that crosses none kept before."""
    rivals: dict[Mention, list[Mention]] = {}
    open_mentions: list[Mention] = []
    for mention in mentions:
        open_mentions = [other for other in open_mentions if other.end > mention.start]
        for other in open_mentions:
            if other.start < mention.start and other.end < mention.end:
                rivals.setdefault(mention, []).append(other)
                rivals.setdefault(other, []).append(mention)
        open_mentions.append(mention)
    removed: set[Mention] = set()
    kept: set[Mention] = set()
    for mention in sorted(rivals, key=lambda m: (-len(m), m.start)):
        (removed if any(rival in kept for rival in rivals[mention]) else kept).add(mention)
    return tuple(mention for mention in mentions if mention not in removed)


def _drop_nested(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    outermost: list[Mention] = []
    for mention in mentions:  # text order: an enclosing mention comes before the enclosed
        if not outermost or mention.start >= outermost[-1].end:
            outermost.append(mention)
    return tuple(outermost)


# -- R, E, L -------------------------------------------------------------------------------------------------


class Analysis(NamedTuple):
    """R, E and L of one word sequence.

    :param mention_type: R, (T,): 0 outside of mentions, else the type of the mention's entity (1 without types).
    :param entity: E, (T,): 0 outside of mentions, else 1, …, N in order of first mention.
    :param remaining: L, (T,): words left in the mention, this one included; 1 outside of mentions.
    """

    mention_type: IntArray
    entity: IntArray
    remaining: IntArray

    @classmethod
    def empty(cls, length: int) -> "Analysis":
        """Return the analysis of ``length`` words without a mention."""
        return cls(np.zeros(length, np.int64), np.zeros(length, np.int64), np.ones(length, np.int64))


def analyse(
    mentions: Iterable[Mention],
    words: WordSequence,
    *,
    max_length: int = MAX_LENGTH,
    types: Mapping[str, int] | None = None,
    entity_types: Mapping[str, str] | None = None,
) -> tuple[Analysis, tuple[Mention, ...], FilterCounts]:
    """Lay mentions that don't overlap (:func:`select_mentions`) on the model's words.

    A mention that crosses a sentence end (so that it would hold ``</s>``) is cut there; of a mention longer
    than ``max_length`` words the first ``max_length`` stay; a mention with no word left vanishes.

    :param types: the number of each entity type, in a model with types; :data:`OTHER` is for all else.
    :return: the analysis, the mention behind each of its spans, and what was taken away.
    """
    places = np.flatnonzero(words.origin >= 0)
    tokens = words.origin[places]
    ordered = sort_mentions(mentions)
    first = np.searchsorted(tokens, [m.start for m in ordered]).tolist()
    last = np.searchsorted(tokens, [m.end for m in ordered]).tolist()
    analysis = Analysis.empty(len(words))
    mention_type, entity, remaining = analysis
    numbers: dict[str, int] = {}
    originals: list[Mention] = []
    counts = FilterCounts()
    for mention, low, high in zip(ordered, first, last, strict=True):
        if low == high:
            continue
        start, end = int(places[low]), int(places[high - 1]) + 1
        if end - start > high - low:  # there is a sentence end inside
            end = start + int(np.argmin(words.origin[start:end]))
            counts["cut"] += 1
        if end - start > max_length:
            end = start + max_length
            counts["truncated"] += 1
        mention_type[start:end] = _type_of(mention, types, entity_types)
        entity[start:end] = numbers.setdefault(mention.entity, len(numbers) + 1)
        remaining[start:end] = np.arange(end - start, 0, -1)
        originals.append(mention)
    counts["outside"] = len(ordered) - len(originals)
    return analysis, tuple(originals), counts


def _type_of(
    mention: Mention, types: Mapping[str, int] | None, entity_types: Mapping[str, str] | None
) -> int:
    if types is None:
        return 1
    name = (entity_types or {}).get(mention.entity, OTHER)
    mention_type = types.get(name, types.get(OTHER))
    if mention_type is None:
        raise ConfigError(f"there is no mention type for entities of type {name!r}, nor for {OTHER!r}")
    return mention_type
