"""Which entity a mention belongs to: the proposal's choice (equation 4) combined with features of the text.

A small network scores every candidate entity and a new one from the rows of ``features``; the proposal's log-probabilities of the
same entities are added with a weight that development documents chose. Mentions are linked from left to right, each to the best,
as the proposal itself does. Its entity vectors are those of the path (equation 8), so the scores of a mention take account of all
links before it, whoever chose them; its own string match is left out, since the features compare strings with more care.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from entitynlm.coref.linking.entity_memory import NEW_ENTITY, EntityMemory, Lexicon, describe_spans
from entitynlm.coref.linking.features import FEATURES, CandidateFeatures, extract_features
from entitynlm.coref.linking.gender_prior import GenderPrior
from entitynlm.coref.linking.speakers import find_speakers
from entitynlm.discourse.identity import IdentityRules
from entitynlm.errors import ModelError
from entitynlm.inference.readings import Readings
from entitynlm.inference.story_state import StoryState
from entitynlm.model.components import StoredComponent
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.progress import SILENT, Progress, track
from entitynlm.text.document import Document, Span

WordSpan = tuple[int, int, int]  # first word, end and mention type of a mention, in the model's words


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
        chunk = next(self._chunks)
        self._start, self._stop, self._tables = chunk.start, chunk.stop, chunk.model
        self._state = StoryState.begin(proposal, self._tables)
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
            chunk = next(self._chunks)
            self._start, self._stop, self._tables = chunk.start, chunk.stop, chunk.model
        return word - self._start


HIDDEN = 48
LOWEST = (
    -6.0
)  # log-probabilities of the proposal below this count as this (the best of −3 to −12 on LitBank dev)
GENDER_PRIOR = "gender_prior"

Chooser = Callable[[int, CandidateFeatures, np.ndarray | None], int]
"""Chooses the entity of a mention, given its number, its candidates and the proposal's log-probabilities of them: None where a
mention is looked up ahead of its turn, because it names the speaker of a quotation."""


@dataclass(frozen=True)
class UnlinkedMentions:
    """Mentions of a document, in text order, outer before inner, and what is known of them beside the document's words."""

    document: Document
    spans: Sequence[Span]
    types: Sequence[str | None] | None = None
    lexicon: Lexicon = field(default_factory=Lexicon)
    proposal: ProposalScorer | None = None


class Linker(nn.Module):
    """Scores of candidate entities from rows of features, to which weighted log-probabilities of the proposal are added."""

    component_name: ClassVar[str] = "linker"

    def __init__(
        self, hidden: int = HIDDEN, *, proposal_weight: float = 0.0, gender_prior: GenderPrior | None = None
    ) -> None:
        super().__init__()
        self.hidden = hidden
        self.layers = nn.Sequential(
            nn.Linear(len(FEATURES), hidden), nn.Tanh(), nn.Dropout(0.2), nn.Linear(hidden, 1)
        )
        self.proposal_weight = proposal_weight
        self.gender_prior = gender_prior or GenderPrior({})

    def forward(self, features: Tensor, log_probs: Tensor) -> Tensor:
        return self.layers(features).squeeze(-1) + self.proposal_weight * log_probs.clamp(min=LOWEST)

    @torch.no_grad()
    def score(self, features: np.ndarray, log_probs: np.ndarray | None = None) -> np.ndarray:
        """(C,) scores of a mention's candidates."""
        given = np.zeros(len(features)) if log_probs is None else log_probs
        return self(torch.from_numpy(features), torch.from_numpy(given).float()).numpy()

    def to_stored(self) -> StoredComponent:
        words, scores = self.gender_prior.to_stored()
        settings = {"features": list(FEATURES), "proposal_weight": self.proposal_weight, GENDER_PRIOR: words}
        return {**self.state_dict(), GENDER_PRIOR: torch.tensor(scores, dtype=torch.int8)}, settings

    @classmethod
    def from_stored(cls, tensors: Mapping[str, Tensor], settings: Mapping[str, Any]) -> Linker:
        if tuple(settings["features"]) != FEATURES:
            raise ModelError("the linker of this model was made with other features, by another version")
        weights = {name: value.float() for name, value in tensors.items() if name != GENDER_PRIOR}
        linker = cls(
            len(weights["layers.0.bias"]),
            proposal_weight=float(settings["proposal_weight"]),
            gender_prior=GenderPrior.from_stored(settings[GENDER_PRIOR], tensors[GENDER_PRIOR].tolist()),
        )
        linker.load_state_dict(weights)
        return linker.eval()


def link_mentions(
    linker: Linker,
    mentions: UnlinkedMentions,
    rules: IdentityRules | None = None,
    progress: Progress = SILENT,
) -> list[int]:
    """The entity of each mention, numbered from 0 in order of first mention; what ``rules`` exclude is no candidate."""

    def choose(number: int, rows: CandidateFeatures, log_probs: np.ndarray | None) -> int:
        scores = linker.score(rows.features, log_probs)
        for place in np.argsort(-scores, kind="stable").tolist():
            entity = rows.candidates[place]
            if rules is None or entity == NEW_ENTITY or rules.allows(number, entity):
                return entity
        return NEW_ENTITY

    return follow_mentions(mentions, choose, rules, progress)


def follow_mentions(
    given: UnlinkedMentions,
    choose: Chooser,
    rules: IdentityRules | None = None,
    progress: Progress = SILENT,
) -> list[int]:
    """Visit the mentions from left to right and let ``choose`` decide; before a quotation, find its speaker."""
    memory, proposal = EntityMemory(given.document, given.lexicon), given.proposal
    mentions = describe_spans(given.document, given.spans)
    speakers = find_speakers(given.document, mentions)
    types = given.types or [None] * len(mentions)
    entities: list[int] = []
    for number, mention in enumerate(track(progress, "linking mentions", mentions)):
        if mention.quote in speakers and mention.quote not in memory.speakers:
            speaker = speakers[mention.quote]
            memory.speakers[mention.quote] = (
                entities[speaker]
                if speaker < number
                else choose(speaker, extract_features(memory, mentions[speaker], types[speaker]), None)
            )
        rows = extract_features(memory, mention, types[number])
        no_scores = np.zeros(len(rows.candidates))
        log_probs = proposal.score_entities(number, rows.candidates) if proposal else no_scores
        known = rules.find_entity(number) if rules else None
        entity = choose(number, rows, log_probs) if known is None else known
        entities.append(memory.add(mention, entity, types[number]))
        if rules:
            rules.note(number, entities[-1])
        if proposal:
            proposal.add_mention(number, entities[-1])
    return entities
