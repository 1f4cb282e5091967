"""Slots as a frozen language model's states show them; stories are read once, and their states kept on disk.

What is counted in training stories (types, scenarios, selection rates, words around a slot) is left out here: beside the states
it makes the development loss worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entitynlm.errors import ModelError
from entitynlm.model.backbones.huggingface.backbone import choose_layers
from entitynlm.model.backbones.huggingface.state_cache import read_cached
from entitynlm.model.backbones.huggingface.tokenizer import SubwordTokenizer
from entitynlm.model.backbones.huggingface.weights import load_language_model
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.prediction.contexts import Context, extract_contexts
from entitynlm.prediction.features import extract_features
from entitynlm.prediction.network.inputs import SPECIAL_WORDS, SlotBatch, WordNumbers, join_batches
from entitynlm.prediction.slots import TrainingSlots
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document

RECIPE = Recipe(lowercase=False, punctuation="keep", numbers=False, sentence_ends=False)


class StoryStates:
    """States of two layers, the last and one at four fifths of the height (see ``choose_layers``).

    :param name: of the language model.  :param digest: of its files, if it must be a certain one.
    """

    def __init__(self, name: str, digest: str | None = None) -> None:
        self.runtime = load_language_model(name, digest)
        self.layers = choose_layers("", self.runtime.layers, "generative")
        self.encoder = Encoder(RECIPE, SubwordTokenizer.of_runtime(self.runtime))

    @property
    def width(self) -> int:
        """W, the numbers of a layer's state."""
        return self.runtime.width

    def find_outputs(self, words: Sequence[str]) -> Tensor:
        """(words, W) the language model's output vector of each word's first piece; zero for special words."""
        found = torch.zeros(len(words), self.width)
        for number, word in enumerate(words):
            if word not in SPECIAL_WORDS:
                pieces, rows = self.spell(Document("word", ("and", word), ((0, 2),)))
                found[number] = self.runtime.output_weight[int(pieces[rows[1]])].detach().float()
        return found

    def prepare(self, stories: Sequence[Document], progress: Progress = SILENT) -> None:
        """Let the language model read stories that were not read before."""
        read_cached(self.runtime, [self.spell(story)[0] for story in stories], self.layers, progress)

    def read(self, story: Document) -> np.ndarray:
        """(T + 1, 2 W) the state before each token, and the one after the last: of the last layer, then of the other."""
        pieces, rows = self.spell(story)
        (states,) = read_cached(self.runtime, [pieces], self.layers)
        return np.array(states[rows])

    def spell(self, story: Document) -> tuple[np.ndarray, np.ndarray]:
        """The pieces that are read, and how many of them there are before each token and after the last."""
        words = self.encoder.encode_words(story).words
        if len(words) != len(story) or words.piece_bounds is None:
            raise ModelError(f"{story.id}: a language model reads all tokens of a story")
        real = words.all_pieces < self.runtime.pieces
        return words.all_pieces[real], np.concatenate([[0], np.cumsum(real)])[words.piece_bounds]

    def to_dict(self) -> dict[str, Any]:
        return {"language_model": self.runtime.name, "digest": self.runtime.digest}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> StoryStates:
        return cls(values["language_model"], values["digest"])


@dataclass(frozen=True)
class StateBatch(SlotBatch):
    states: np.ndarray  # (N, W) of the layer at four fifths of the height
    last_states: np.ndarray  # (M, W) of the last layer, before each slot
    context_rows: np.ndarray  # (M,) the state before each slot
    candidate_rows: np.ndarray  # (P, 2) the states after each candidate's latest mention and after its first


def join_state_batches(parts: Sequence[StateBatch]) -> StateBatch:
    firsts = np.cumsum([0, *(len(part.states) for part in parts)])
    return join_batches(
        [
            replace(part, context_rows=part.context_rows + first, candidate_rows=part.candidate_rows + first)
            for part, first in zip(parts, firsts, strict=False)
        ]
    )


class StateExtractor(WordNumbers):
    """Turns stories into arrays by the vocabulary of the training stories and the states of a language model."""

    def __init__(self, words: Sequence[str], types: Sequence[str], states: StoryStates) -> None:
        super().__init__(words, types)
        self.states = states

    @classmethod
    def fit(cls, stories: TrainingSlots, states: StoryStates) -> StateExtractor:
        documents = [story for story, _ in stories]
        types = {story.entity_types.get(entity.id) or "" for story in documents for entity in story.entities}
        return cls(cls.list_words(documents), sorted(types), states)

    def extract(
        self, story: Document, positions: Sequence[int], *, with_answers: bool = False
    ) -> tuple[StateBatch, list[Context]]:
        """The slots of a story at one position at least, with their answers if they are to be learned from."""
        contexts = extract_contexts(story, positions)
        features = [extract_features(context) for context in contexts]
        ends = {(mention.entity, mention.start): mention.end for mention in story.mentions}
        rows = []
        for context in contexts:
            for candidate in context.candidates:
                first = min(ends[candidate.entity, candidate.starts[0]], context.position)
                rows.append((candidate.last + 1, first))
            rows.append((0, 0))  # a new entity
        before = np.array([context.position for context in contexts], dtype=np.int64)
        states = self.states.read(story)
        batch = StateBatch(
            **self.list_common(story, contexts, features, with_answers=with_answers),
            states=states[:, self.states.width :].copy(),
            last_states=states[before, : self.states.width],
            context_rows=before,
            candidate_rows=np.array(rows, dtype=np.int64),
        )
        return batch, contexts

    def to_dict(self) -> dict[str, Any]:
        return {"words": self.words, "types": self.types, "states": self.states.to_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> StateExtractor:
        return cls(values["words"], values["types"], StoryStates.from_dict(values["states"]))
