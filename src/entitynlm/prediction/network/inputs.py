"""Slots as arrays for the predictor network: the words before, the candidates' types, and a row of features per candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypeVar

import numpy as np

from entitynlm.prediction.contexts import PRONOUNS, Context, extract_contexts, stem
from entitynlm.prediction.features import SIZE, extract_features
from entitynlm.prediction.network.candidate_rates import WIDTH, CandidateRates
from entitynlm.prediction.network.context_counts import SHOWN, ContextCounts
from entitynlm.prediction.slots import TrainingSlots
from entitynlm.text.document import Document

UNKNOWN, NOTHING, BOUNDARY = 0, 1, 2
"""The ids of a word that is not in the vocabulary, of no word, and of the boundary before each sentence."""
SPECIAL_WORDS = ("<unk>", "<none>", "<s>")
NEAREST = 6
SENTENCE, PAST = 20, 40
"""How many words are embedded one by one, and how many of the sentence and of the text before it are averaged."""
RECENT = 3  # how many of the latest mentioned candidates the context is encoded with
PAIR_FIELDS = ("features", "heads", "type_probs", "candidate_rows")
STORY_FIELDS = ("states",)
"""Fields with a row per pair of slot and candidate, and with rows that belong to no slot; all others have a row per slot."""
FEATURES = SIZE + 5 * len(SHOWN) + WIDTH  # the number of features of a candidate


@dataclass(frozen=True)
class SlotBatch:
    """M slots with P (slot, candidate) pairs; the last pair of each slot is a new entity."""

    recent: np.ndarray  # (M, RECENT) numbers of the latest mentioned candidates, -1 for none
    sizes: np.ndarray  # (M,) the number of each slot's pairs
    features: np.ndarray  # (P, F)
    heads: np.ndarray  # (P, 2) the candidate's latest head word, and its latest one that is no pronoun
    answers: np.ndarray  # (M,) the true candidate; zeros here and below where nothing is learned
    words: np.ndarray  # (M,) the head word
    outcomes: np.ndarray  # (M,) type and newness

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def bounds(self) -> np.ndarray:
        """(M + 1,) the first pair of each slot, and P."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @property
    def owners(self) -> np.ndarray:
        """(P,) the slot of each pair."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def true_pairs(self) -> np.ndarray:
        """(M,) the pair that is the answer at each slot."""
        return self.bounds[:-1] + self.answers

    def select(self, chosen: np.ndarray) -> Self:
        bounds = self.bounds
        pairs = np.concatenate([np.arange(bounds[slot], bounds[slot + 1]) for slot in chosen])
        changed = {
            field.name: getattr(self, field.name)[pairs if field.name in PAIR_FIELDS else chosen]
            for field in fields(self)
            if field.name not in STORY_FIELDS
        }
        return replace(self, **changed)


Batch = TypeVar("Batch", bound=SlotBatch)


def join_batches(parts: Sequence[Batch]) -> Batch:
    names = [field.name for field in fields(parts[0])]
    return type(parts[0])(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in names})


@dataclass(frozen=True)
class CountedBatch(SlotBatch):
    """With the words before, and what was counted in the training stories."""

    nearest: np.ndarray  # (M, NEAREST) words before, the nearest first
    verbs: np.ndarray  # (M, 3) verb, verb before that, link
    sentence: np.ndarray  # (M, SENTENCE) words before, padded with nothing
    past: np.ndarray  # (M, PAST) words before the sentence
    scenario: np.ndarray  # (M,)
    type_probs: np.ndarray  # (P, types) of the candidate; zeros for a new entity


class WordNumbers:
    """The words of the training stories, numbered, and what candidates and answers are in these numbers."""

    def __init__(self, words: Sequence[str], types: Sequence[str]) -> None:
        self.words = tuple(words)
        self.word_ids = {word: number for number, word in enumerate(words)}
        self.types = tuple(types)
        self.type_ids = {name: number for number, name in enumerate(types)}

    @staticmethod
    def list_words(documents: Sequence[Document]) -> tuple[str, ...]:
        """The words that occur twice."""
        found, seen = np.unique([w.lower() for d in documents for w in d.tokens], return_counts=True)
        return (*SPECIAL_WORDS, *found[seen >= 2].tolist())

    def list_common(
        self,
        story: Document,
        contexts: Sequence[Context],
        features: Sequence[np.ndarray],
        *,
        with_answers: bool,
    ) -> dict[str, np.ndarray]:
        """The fields of :class:`SlotBatch`."""
        answers = [self._find_answer(story, c) if with_answers else (0, 0, 0) for c in contexts]
        columns = np.array(answers, dtype=np.int64).T
        return {
            "recent": np.array([[*c.by_recency, *[-1] * RECENT][:RECENT] for c in contexts], dtype=np.int64),
            "sizes": np.array([len(rows) for rows in features]),
            "features": np.concatenate(features),
            "heads": np.array([pair for c in contexts for pair in self._find_heads(c)], dtype=np.int64),
            **dict(zip(("answers", "words", "outcomes"), columns, strict=True)),
        }

    def _find_heads(self, context: Context) -> list[list[int]]:
        found = []
        for candidate in context.candidates:
            nouns = [head for head in candidate.heads if head not in PRONOUNS]
            pair = (candidate.heads[-1], nouns[-1] if nouns else candidate.heads[-1])
            found.append([self.word_ids.get(head, UNKNOWN) for head in pair])
        return [*found, [NOTHING, NOTHING]]

    def _find_answer(self, story: Document, context: Context) -> tuple[int, int, int]:
        """For training: the number of the candidate, the head word, and the type with newness."""
        answer, mention = context.find_answer(story), context.find_mention(story)
        is_new = answer == len(context.candidates)
        head = story.tokens[mention.end - 1].lower()
        word = self.word_ids.get(head, self.word_ids.get(stem(head), UNKNOWN))
        number = self.type_ids.get(story.entity_types.get(mention.entity) or "", 0)
        return answer, word, number + len(self.types) * is_new


class FeatureExtractor(WordNumbers):
    """Turns stories into arrays by the vocabulary and the counts of the training stories."""

    def __init__(self, words: Sequence[str], counts: ContextCounts, rates: CandidateRates) -> None:
        super().__init__(words, counts.types)
        self.counts = counts
        self.rates = rates

    @classmethod
    def fit(cls, stories: TrainingSlots, counts: ContextCounts | None = None) -> FeatureExtractor:
        """Collect words and counts; ``counts`` of the same stories may be handed in."""
        documents = [story for story, _ in stories]
        counts = counts or ContextCounts.fit(documents)
        return cls(cls.list_words(documents), counts, CandidateRates.fit(stories, counts))

    def extract(
        self, story: Document, positions: Sequence[int], *, with_answers: bool = False
    ) -> tuple[CountedBatch, list[Context]]:
        """The slots of a story at one position at least, with their answers if they are to be learned from."""
        contexts = extract_contexts(story, positions)
        counted = self.counts.measure(story, contexts)
        rates = self.rates.measure(story, contexts, counted)
        features = [
            np.hstack([extract_features(context), *slot.log_probs, rate]).astype(np.float32)
            for context, slot, rate in zip(contexts, counted, rates, strict=True)
        ]
        new_type = np.zeros((1, len(self.counts.types)), dtype=np.float32)
        scenarios = {name: number for number, name in enumerate(self.counts.scenarios.names)}
        batch = CountedBatch(
            **self.list_common(story, contexts, features, with_answers=with_answers),
            nearest=np.array([self._pad(c.before[::-1], NEAREST, BOUNDARY) for c in contexts]),
            verbs=np.array([self._find_verbs(slot.descriptors) for slot in counted]),
            sentence=np.array([self._pad(c.before[::-1], SENTENCE, NOTHING) for c in contexts]),
            past=np.array([self._pad(c.past[::-1], PAST, NOTHING) for c in contexts]),
            scenario=np.array([scenarios.get(s.descriptors["scenario"], 0) for s in counted], dtype=np.int64),
            type_probs=np.concatenate([part for slot in counted for part in (slot.type_probs, new_type)]),
        )
        return batch, contexts

    def _pad(self, words: Sequence[str], size: int, end: int) -> list[int]:
        """The first ``size`` words; after the last one ``end``, and after that nothing."""
        found = [self.word_ids.get(word, UNKNOWN) for word in words[:size]]
        return [*found, end, *([NOTHING] * size)][:size]

    def _find_verbs(self, descriptors: Mapping[str, str]) -> list[int]:
        words = (descriptors[name] for name in ("verb", "earlier_verb", "link"))
        return [self.word_ids.get(word, UNKNOWN) if word else NOTHING for word in words]

    def to_dict(self) -> dict[str, Any]:
        counts = {"statistics": self.counts.to_dict(), "rates": self.rates.to_dict()}
        return {"words": self.words, "expectations": counts}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> FeatureExtractor:
        counts = ContextCounts.from_dict(values["expectations"]["statistics"])
        rates = CandidateRates.from_dict(values["expectations"]["rates"], counts)
        return cls(values["words"], counts, rates)
