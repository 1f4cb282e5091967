"""Speaker attribution: a conditional random field labels all quotations of a conversation together.

A small network scores each participant of a conversation (:mod:`conversations`) as the speaker of each quotation. A transition
scores whether the speaker goes on, the previous speaker answers, or a third person speaks; a state is therefore a speaker with
the previous other speaker. Each quotation gets the speaker of highest marginal probability. The weights were trained on novels by
``scripts/train_speakers.py``.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from entitynlm.discourse.conversations import MONOLOGUE, NARRATOR_SHARE, Conversation, ConversationReader
from entitynlm.discourse.speaker_features import Dialogue, find_narrator

SPEAKER_WEIGHTS = Path(__file__).parents[1] / "resources" / "discourse" / "speakers.safetensors"
GOES_ON, ANSWERS, JOINS, FIRST_OTHER = range(4)
"""Columns of a step: the speaker goes on, the last other answers, a third joins, or a second where there was none."""
IMPOSSIBLE = -1e4
SAID_BY_NAME = frozenset(("tag after verb name own", "tag between name own"))
"""Features of the person who is named after the verb of a quotation's tag ("said Ida"), and who therefore speaks it."""

Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class SpeakerModel:
    """Weights by name: ``linear`` (F,), ``hidden`` (H, F), ``bias`` (H,), ``output`` (H,), ``steps`` (S, 4).

    :param features: row of each feature in F.  :param steps: row of each step in S.
    """

    weights: Mapping[str, Array]
    features: Mapping[str, int]
    steps: Mapping[str, int]

    def find_speakers(self, conversation: Conversation) -> list[str]:
        """Find the most probable speaker of each quotation of a conversation."""
        scores = self.score_participants(conversation.features)
        steps = np.stack([self._get_step(step) for step in conversation.steps])
        named = [[not SAID_BY_NAME.isdisjoint(found) for found in row] for row in conversation.features]
        best = np.where(named, -IMPOSSIBLE, find_marginals(scores, steps)).argmax(1)
        return [conversation.participants[number] for number in best]

    def _get_step(self, step: str) -> Array:
        if step == MONOLOGUE:  # too few to learn from: 80 of 80 go on in PDNC's training novels
            return np.array([0.0, IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE], dtype=np.float32)
        number = self.steps.get(step)
        return np.zeros(4, dtype=np.float32) if number is None else self.weights["steps"][number]

    def score_participants(self, features: Sequence[Sequence[Mapping[str, float]]]) -> Array:
        """(Q, K) score of each participant as the speaker of each quotation."""
        inputs = np.zeros((len(features), len(features[0]), len(self.features)), dtype=np.float32)
        for number, row in enumerate(features):
            for participant, found in enumerate(row):
                for name, value in found.items():
                    if (column := self.features.get(name)) is not None:
                        inputs[number, participant, column] = value
        weights = self.weights
        hidden = np.maximum(inputs @ weights["hidden"].T + weights["bias"], 0.0)
        scores: Array = inputs @ weights["linear"] + hidden @ weights["output"]
        return scores


def find_marginals(scores: Array, steps: Array) -> Array:
    """(Q, K) log-probability, up to a constant, that each participant speaks each quotation.

    :param scores: (Q, K) score of each participant.  :param steps: (Q, 4) score of each transition; the first row is not used.
    """
    count, people = scores.shape
    after = [
        np.zeros((people, people + 1), dtype=np.float32)
    ]  # (speaker, last other), the last column: no other yet
    for number in range(count - 1, 0, -1):
        going = after[-1] + scores[number][:, None]
        goes_on = going + steps[number, GOES_ON]
        # (speaker, last other, next speaker): the next state is (next speaker, speaker)
        changes = going[:, :people].T[:, None, :] + _score_changes(steps[number], people)[None]
        changes[np.arange(people), :, np.arange(people)] = IMPOSSIBLE
        after.append(np.logaddexp(goes_on, np.logaddexp.reduce(changes, axis=2)))
    after.reverse()
    before = np.full((people, people + 1), IMPOSSIBLE, dtype=np.float32)
    before[:, people] = scores[0]
    marginals = [np.logaddexp.reduce(before + after[0], axis=1)]
    for number in range(1, count):
        changes = before[:, :, None] + _score_changes(steps[number], people)[None]
        changed = np.logaddexp.reduce(changes, axis=1).T  # (next speaker, speaker)
        np.fill_diagonal(changed, IMPOSSIBLE)
        going = before + steps[number, GOES_ON]
        going[:, :people] = np.logaddexp(going[:, :people], changed)
        before = going + scores[number][:, None]
        marginals.append(np.logaddexp.reduce(before + after[number], axis=1))
    return np.stack(marginals)


def _score_changes(step: Array, people: int) -> Array:
    """Score changes of speaker: (previous other speaker, next speaker)."""
    table = np.full((people + 1, people), step[JOINS], dtype=np.float32)
    np.fill_diagonal(table, step[ANSWERS])
    table[people] = step[FIRST_OTHER]
    return table


@cache
def load_speaker_model() -> SpeakerModel:
    """Load the packaged model."""
    from safetensors import safe_open

    with safe_open(SPEAKER_WEIGHTS, framework="numpy") as stored:
        weights = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
        names = {name: json.loads(text) for name, text in stored.metadata().items()}
    features, steps = ({name: row for row, name in enumerate(names[kind])} for kind in ("features", "steps"))
    return SpeakerModel(weights, features, steps)


def find_speakers(dialogue: Dialogue, model: SpeakerModel | None = None) -> list[str | None]:
    """Find the entity that speaks each quotation; None where no person is mentioned near it."""
    model = model or load_speaker_model()
    speakers: list[str | None] = [None] * len(dialogue.quotations)
    for conversation in read_conversations(dialogue):
        if conversation.participants:
            found = model.find_speakers(conversation)
            speakers[conversation.first : conversation.first + len(found)] = found
    return speakers


def read_conversations(dialogue: Dialogue) -> list[Conversation]:
    """Read the conversations of a text, with its narrator as a participant if it has one."""
    told = sum(dialogue.find_form(mention) == "i" for mention in dialogue.outside)
    narrated = told >= NARRATOR_SHARE * len(dialogue.tokens)
    return list(ConversationReader(dialogue, find_narrator(dialogue) if narrated else None).read())
