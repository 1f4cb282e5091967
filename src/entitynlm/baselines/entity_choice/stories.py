"""Stories as numbers for the anticipating network: words, the places where mentions start, and a row of numbers per candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from entitynlm.baselines.entity_choice.measures import measure_situation
from entitynlm.baselines.entity_choice.situations import PRONOUNS, Situation, look_around, stem
from entitynlm.baselines.entity_choice.statistics import ContextStatistics
from entitynlm.data.document import Document

UNKNOWN, BOUNDARY = 0, 1
"""The numbers of a word that is not in the vocabulary, and of the border before each sentence."""
SPECIAL_WORDS = 2


@dataclass(frozen=True)
class Words:
    """The words that a network knows."""

    names: tuple[str, ...]

    @property
    def numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    @classmethod
    def collect(cls, stories: Sequence[Document], *, minimum: int = 2) -> Words:
        """All words that were seen ``minimum`` times."""
        found, counts = np.unique([w.lower() for story in stories for w in story.tokens], return_counts=True)
        return cls(("<unk>", "<s>", *(str(w) for w, n in zip(found, counts, strict=True) if n >= minimum)))


@dataclass(frozen=True)
class NumberedStory:
    """One story: T words (sentence borders included), M mentions to predict, P (mention, candidate) pairs.

    :param x: (T,) words.  :param flags: (T,) 0 outside of mentions, 1 in a first mention, 2 in a later one.
    :param places: (M,) the row of x that is read last before the mention.
    :param bounds: (M + 1,) the pairs of mention m.  :param features: (P, F).
    :param heads: (P, 2) the candidate's latest head and its latest head that is no pronoun.
    :param latest: (P,) row of x at the candidate's latest word, -1 for a new entity.
    :param answers: (M,) the pair that came true, :param weights: (M,) how much it counts, :param words: (M,) the head word,
        :param outcomes: (M,) type and newness.
    """

    x: np.ndarray
    flags: np.ndarray
    places: np.ndarray
    bounds: np.ndarray
    features: np.ndarray
    heads: np.ndarray
    latest: np.ndarray
    answers: np.ndarray
    weights: np.ndarray
    words: np.ndarray
    outcomes: np.ndarray


def number_story(
    story: Document,
    positions: Sequence[int],
    words: dict[str, int],
    statistics: ContextStatistics,
    *,
    learn: Sequence[float] | None = None,
) -> tuple[NumberedStory, list[Situation]]:
    """A story with the situations at ``positions``; with ``learn`` (a weight per position) their answers too."""
    situations = look_around(story, positions)
    shares = statistics.measure(story, situations)
    x, rows = _number_words(story, words)
    features, heads, latest, sizes = [], [], [], []
    for situation, share in zip(situations, shares, strict=True):
        features.append(np.hstack([measure_situation(situation), share.words, share.types, share.kinds]))
        sizes.append(len(situation.candidates) + 1)
        for candidate in situation.candidates:
            nouns = [head for head in candidate.heads if head not in PRONOUNS]
            pair = (candidate.heads[-1], nouns[-1] if nouns else candidate.heads[-1])
            heads.append([words.get(head, UNKNOWN) for head in pair])
            latest.append(rows[candidate.last])
        heads.append([UNKNOWN, UNKNOWN])
        latest.append(-1)
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    answers, targets, outcomes = _find_answers(story, situations, words, statistics, learn is not None)
    return NumberedStory(
        x,
        _flag_words(story, rows, len(x)),
        np.array([_find_place(rows, s) for s in situations], dtype=np.int64),
        bounds,
        np.concatenate(features).astype(np.float32) if features else np.zeros((0, 1), dtype=np.float32),
        np.array(heads, dtype=np.int64).reshape(-1, 2),
        np.array(latest, dtype=np.int64),
        bounds[:-1] + answers,
        np.asarray(learn if learn is not None else np.zeros(len(situations)), dtype=np.float32),
        targets,
        outcomes,
    ), situations


def _number_words(story: Document, words: dict[str, int]) -> tuple[np.ndarray, list[int]]:
    """Word numbers with a border before each sentence, and the row of each token; one border more stands after the end."""
    x: list[int] = []
    rows: list[int] = []
    for start, end in story.sentences:
        x.append(BOUNDARY)
        for token in story.tokens[start:end]:
            rows.append(len(x))
            x.append(words.get(token.lower(), UNKNOWN))
    return np.array([*x, BOUNDARY], dtype=np.int64), rows


def _find_place(rows: list[int], situation: Situation) -> int:
    """The row before a mention: the word before it, or the border that opens its sentence."""
    if situation.position < len(rows):
        return rows[situation.position] - 1
    if not rows:
        return 0
    return rows[-1] + (1 if situation.offset == 0 else 0)


def _flag_words(story: Document, rows: list[int], size: int) -> np.ndarray:
    flags = np.zeros(size, dtype=np.int64)
    seen: set[str] = set()
    for mention in story.mentions:
        flags[rows[mention.start] : rows[mention.end - 1] + 1] = 2 if mention.entity in seen else 1
        seen.add(mention.entity)
    return flags


def _find_answers(
    story: Document,
    situations: Sequence[Situation],
    words: dict[str, int],
    statistics: ContextStatistics,
    known: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For training: which candidate, which head word, which type; zeros where there is nothing to learn."""
    found = np.zeros((3, len(situations)), dtype=np.int64)
    if known:
        at = {mention.start: mention for mention in reversed(story.mentions)}
        for number, situation in enumerate(situations):
            mention = at[situation.position]
            names = [candidate.entity for candidate in situation.candidates]
            old = mention.entity in names
            kind = statistics.types.get(story.entity_types.get(mention.entity) or "", 0)
            head = story.tokens[mention.end - 1].lower()
            found[0, number] = names.index(mention.entity) if old else len(names)
            found[1, number] = words.get(head, words.get(stem(head), UNKNOWN))
            found[2, number] = kind + (0 if old else len(statistics.types))
    return found[0], found[1], found[2]
