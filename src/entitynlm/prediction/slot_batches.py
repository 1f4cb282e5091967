"""Turn slots into arrays for the predictor network: states around a slot, and features and states of each candidate.

States are those of the model's backbone: SmolLM2's, or the LSTM's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from torch import Tensor

from entitynlm.model.backbones.base import Backbone
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.pretrained import Pretrained
from entitynlm.prediction.contexts import (
    PRONOUN_HEADS,
    Context,
    extract_candidate_features,
    extract_contexts,
    stem,
)
from entitynlm.prediction.slots import TrainingSlots
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document

UNKNOWN_WORD, NO_HEAD = 0, 1
"""The ids of a word that is not in the vocabulary, and of no word."""
SPECIAL_WORDS = ("<unk>", "<none>", "<s>")
RECENT_CANDIDATES = 3  # how many of the latest mentioned candidates the context is encoded with
PAIR_FIELDS = ("features", "heads", "candidate_rows")
STORY_FIELDS = ("states",)
"""Fields with a row per pair of slot and candidate, and with rows that belong to no slot; all others have a row per slot."""


class StoryStates:
    """States of the model's backbone, which depend on the words of a story alone.

    The state that words are predicted from (D numbers) comes first. A pretrained language model has states of a middle layer
    after it; other backbones use the first state for both.
    """

    def __init__(self, encoder: Encoder, backbone: Backbone) -> None:
        self.encoder, self.backbone = encoder, backbone.eval()

    @classmethod
    def of_model(cls, pretrained: Pretrained) -> "StoryStates":
        return cls(pretrained.encoder, pretrained.get("generative").backbone)

    @property
    def width(self) -> int:
        """D, size of the state that words are predicted from."""
        return self.backbone.hidden_size

    @property
    def middle_width(self) -> int:
        """Size of the states that describe slots and candidates."""
        return self.backbone.state_size - self.width or self.width

    def prepare(self, stories: Sequence[Document], progress: Progress = SILENT) -> None:
        """Let a pretrained language model read stories that are not in its cache."""
        self.backbone.prepare([self.encoder.encode_words(story).words for story in stories], progress)

    @torch.no_grad()
    def read(self, story: Document) -> tuple[np.ndarray, np.ndarray]:
        """Return (T + 1, D) and (T + 1, middle) states before each of T tokens and after the last.

        A state depends only on the words before its token.
        """
        encoded = self.encoder.encode_words(story)
        if not len(encoded):
            shapes = [(len(story) + 1, width) for width in (self.width, self.middle_width)]
            return np.zeros(shapes[0], np.float32), np.zeros(shapes[1], np.float32)
        read = self.backbone.read([encoded.words])
        real = np.flatnonzero(encoded.origin >= 0)  # words that are no </s>
        following = np.searchsorted(encoded.origin[real], np.arange(len(story) + 1))
        rows = np.append(read.before[0][real], read.after[0][-1])[following]
        states = read.table.cpu().numpy()[rows]
        return states[:, : self.width], states[:, -self.middle_width :]

    def find_outputs(self, words: Sequence[str]) -> Tensor:
        """Return (words, D) the language model's output vector of each word's first piece.

        They are zero for words that it lacks, and for a backbone without a softmax over all pieces.
        """
        found = torch.zeros(len(words), self.width)
        layer = self.backbone.output_layer()
        if layer is not None:
            for number, word in enumerate(words):
                encoded = self.encoder.encode_words(Document("word", ("and", word), ((0, 2),)))
                assert encoded.pieces is not None and encoded.piece_bounds is not None
                first = int(encoded.pieces[encoded.piece_bounds[1]])
                found[number] = layer.weight[layer.columns[first]].detach().float().cpu()
        return found


@dataclass(frozen=True)
class SlotBatch:
    """M slots with P (slot, candidate) pairs; the last pair of each slot is a new entity."""

    recent: np.ndarray  # (M, RECENT_CANDIDATES) numbers of the latest mentioned candidates, -1 for none
    sizes: np.ndarray  # (M,) the number of each slot's pairs
    features: np.ndarray  # (P, F)
    heads: np.ndarray  # (P, 2) the candidate's latest head word, and its latest one that is no pronoun
    answers: np.ndarray  # (M,) the true candidate; zeros here and below where nothing is learned
    words: np.ndarray  # (M,) the head word
    outcomes: np.ndarray  # (M,) type and newness
    states: np.ndarray  # (N, middle) of all tokens of the stories
    last_states: np.ndarray  # (M, D) the states before each slot that words are predicted from
    context_rows: np.ndarray  # (M,) the row in ``states`` before each slot
    candidate_rows: np.ndarray  # (P, 2) the rows after each candidate's latest mention and after its first

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
        """(M,) the true pair of each slot."""
        return self.bounds[:-1] + self.answers

    def select(self, chosen: np.ndarray) -> "SlotBatch":
        """Return the slots with these numbers."""
        bounds = self.bounds
        pairs = np.concatenate([np.arange(bounds[slot], bounds[slot + 1]) for slot in chosen])
        changed = {
            field.name: getattr(self, field.name)[pairs if field.name in PAIR_FIELDS else chosen]
            for field in fields(self)
            if field.name not in STORY_FIELDS
        }
        return replace(self, **changed)


def join_batches(parts: Sequence[SlotBatch]) -> SlotBatch:
    """Concatenate batches, with rows of states renumbered."""
    firsts = np.cumsum([0, *(len(part.states) for part in parts)])
    moved = [
        replace(part, context_rows=part.context_rows + first, candidate_rows=part.candidate_rows + first)
        for part, first in zip(parts, firsts, strict=False)
    ]
    names = [field.name for field in fields(SlotBatch)]
    return SlotBatch(**{name: np.concatenate([getattr(part, name) for part in moved]) for name in names})


class SlotExtractor:
    """Turns stories into arrays by the vocabulary and entity types of the training stories and the states of a backbone."""

    def __init__(self, words: Sequence[str], types: Sequence[str], states: StoryStates) -> None:
        self.words = tuple(words)
        self.word_ids = {word: number for number, word in enumerate(words)}
        self.types = tuple(types)
        self.type_ids = {name: number for number, name in enumerate(types)}
        self.states = states

    @classmethod
    def fit(cls, stories: TrainingSlots, states: StoryStates) -> "SlotExtractor":
        """Collect all entity types, and the words that occur at least twice."""
        documents = [story for story, _ in stories]
        found, seen = np.unique([w.lower() for d in documents for w in d.tokens], return_counts=True)
        types = {story.entity_types.get(entity.id) or "" for story in documents for entity in story.entities}
        return cls((*SPECIAL_WORDS, *found[seen >= 2].tolist()), sorted(types), states)

    def extract(
        self, story: Document, positions: Sequence[int], *, with_answers: bool = False
    ) -> tuple[SlotBatch, list[Context]]:
        """Return the slots at some positions, with their answers if they are for training."""
        contexts = extract_contexts(story, positions)
        features = [extract_candidate_features(context) for context in contexts]
        answers = [self._find_answer(story, c) if with_answers else (0, 0, 0) for c in contexts]
        columns = np.array(answers, dtype=np.int64).T
        before = np.array([context.position for context in contexts], dtype=np.int64)
        last_states, states = self.states.read(story)
        batch = SlotBatch(
            recent=np.array(
                [[*c.by_recency, *[-1] * RECENT_CANDIDATES][:RECENT_CANDIDATES] for c in contexts],
                dtype=np.int64,
            ),
            sizes=np.array([len(rows) for rows in features]),
            features=np.concatenate(features),
            heads=np.array([pair for c in contexts for pair in self._find_heads(c)], dtype=np.int64),
            **dict(zip(("answers", "words", "outcomes"), columns, strict=True)),
            states=states.copy(),
            last_states=last_states[before],
            context_rows=before,
            candidate_rows=find_candidate_rows(story, contexts),
        )
        return batch, contexts

    def _find_heads(self, context: Context) -> list[list[int]]:
        found = []
        for candidate in context.candidates:
            nouns = [head for head in candidate.heads if head not in PRONOUN_HEADS]
            pair = (candidate.heads[-1], nouns[-1] if nouns else candidate.heads[-1])
            found.append([self.word_ids.get(head, UNKNOWN_WORD) for head in pair])
        return [*found, [NO_HEAD, NO_HEAD]]

    def _find_answer(self, story: Document, context: Context) -> tuple[int, int, int]:
        """Return, for training, the number of the candidate, the head word, and the type with newness."""
        answer, mention = context.find_answer(story), context.find_mention(story)
        is_new = answer == len(context.candidates)
        head = story.tokens[mention.end - 1].lower()
        word = self.word_ids.get(head, self.word_ids.get(stem(head), UNKNOWN_WORD))
        number = self.type_ids.get(story.entity_types.get(mention.entity) or "", 0)
        return answer, word, number + len(self.types) * is_new


def find_candidate_rows(story: Document, contexts: Sequence[Context]) -> np.ndarray:
    """Return (P, 2) the tokens after each candidate's latest and after its first mention; zeros for a new entity."""
    ends = {(mention.entity, mention.start): mention.end for mention in story.mentions}
    rows = []
    for context in contexts:
        for candidate in context.candidates:
            first = min(ends[candidate.entity, candidate.starts[0]], context.position)
            rows.append((candidate.last + 1, first))
        rows.append((0, 0))
    return np.array(rows, dtype=np.int64)
