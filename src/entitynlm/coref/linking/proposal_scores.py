"""Equation 4 of a proposal along a path of links that others decide: how likely is each entity, given the mentions linked so far?

Entity vectors are those of the path (equation 8), so the scores of a mention take account of all links before it, whoever chose
them. A proposal's own string match is left out: the linker compares strings with more care.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from entitynlm.coref.linking.entity_memory import NEW_ENTITY
from entitynlm.inference.readings import Readings
from entitynlm.inference.story_state import EntityStates, StoryState
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork

WordSpan = tuple[int, int, int]
"""First word, end and mention type of a mention, in the model's words."""


class ProposalScorer:
    """Asked about a mention, then told its entity; mentions that the model does not see (no span) are passed over."""

    def __init__(
        self,
        proposal: EntityNetwork,
        document: EncodedDocument,
        spans: Sequence[WordSpan | None],
        readings: Readings | None = None,
    ) -> None:
        self._document = document
        self._spans = spans
        self._chunks = (readings or Readings(document)).read(proposal)
        self._start, self._stop, self._tables = next(self._chunks)
        self._state = StoryState(proposal, EntityStates(proposal, self._tables))
        self._numbers: dict[int, int] = {}  # the linker's entities → the state's

    def score_entities(self, number: int, candidates: Sequence[int]) -> np.ndarray:
        """log Q of each candidate (:data:`NEW_ENTITY`: a new entity); zeros where the proposal has nothing to say."""
        span = self._spans[number]
        if span is None:
            return np.zeros(len(candidates))
        word, _, mention_type = span
        at = self._find_row(word)
        state = self._state.skip_to(word, int(self._document.sentence[word]))
        new = float(self._tables.queries[at] @ state.states.rows.vectors[mention_type])
        known = np.append(new, state.score_entities(self._tables, at))
        # An entity that was mentioned only where the proposal does not look is a new one to it.
        places = [self._numbers.get(entity, 0) if entity != NEW_ENTITY else 0 for entity in candidates]
        scores = known[places]
        result: np.ndarray = scores - np.logaddexp.reduce(scores)
        return result

    def add_mention(self, number: int, entity: int) -> None:
        """The mention's words change its entity (equation 8)."""
        span = self._spans[number]
        if span is None:
            return
        start, end, mention_type = span
        sentence = self._document.sentence
        own = self._numbers.setdefault(entity, len(self._numbers) + 1)
        self._state = self._state.skip_to(start, int(sentence[start]))
        for word in range(start, end):
            at = self._find_row(word)
            analysed = (int(self._document.x[word]), mention_type, own, end - word)
            following = int(sentence[min(word + 1, end - 1)])
            self._state = self._state.observe(analysed, self._tables, at, sentence=following)

    def _find_row(self, word: int) -> int:
        """The row of a word in the tables, which are read on if it is beyond them."""
        while word >= self._stop:
            self._start, self._stop, self._tables = next(self._chunks)
        return word - self._start
