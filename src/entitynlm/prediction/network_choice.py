"""Predict the next entity by equation 4: P(E_t | R_t = 1, h_{t-1}) over the entities so far and a new one.

The state before a mention depends on the words before it alone, and an entity's vector on its earlier mentions, so one pass over
a story answers all its slots, and no answer uses the mention itself.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from entitynlm.errors import ConfigError
from entitynlm.inference.readings import Readings
from entitynlm.inference.story_state import read_along
from entitynlm.inference.weights import log_sum_exp
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.prediction.choices import Choice, make_choice
from entitynlm.prediction.contexts import find_sentence
from entitynlm.text.document import Document, Mention

NEXT = "next mention"  # the entity of a mention that stands in for the one to come
PLACEHOLDER = "it"  # its word, which nothing looks at


class NetworkChooser:
    """EntityNLM as in the paper's Table 3; singletons are kept, because it is not known yet which entities remain singletons."""

    def __init__(self, network: EntityNetwork, encoder: Encoder) -> None:
        if network.config.mode != "generative":
            raise ConfigError(
                "only the generative part predicts the next entity; other parts have read the word already"
            )
        self.network = network.eval()
        self.encoder = replace(encoder, singletons="keep")

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        starts = {mention.start for mention in story.mentions}
        known = self._choose_all(story) if starts & set(positions) else {}
        for position in {*positions} - {*known}:  # no mention starts there: cut the story and let one begin
            known[position] = self._choose_all(cut_story(story, position))[position]
        return [known[position] for position in positions]

    def _choose_all(self, story: Document) -> dict[int, Choice]:
        """Choose at all mentions of a story, by their first tokens; probabilities are summed over types, if there are any."""
        encoded, _, originals = self.encoder.encode_with_report(story)
        found: dict[int, Choice] = {}
        names: dict[str, None] = {}
        mentions = iter(originals)
        chunks = Readings(encoded).read(self.network)
        for step in read_along(self.network, encoded, chunks, starts_only=True):
            if step.before.history.remaining or not encoded.r[step.before.history.position]:
                continue
            mention = next(mentions)
            log_probs = step.before.expect(step.tables, step.at, step.new_entities).log_probs
            new = log_sum_exp(log_probs[len(names) :])
            found[mention.start] = make_choice(list(names), np.append(log_probs[: len(names)], new))
            names.setdefault(mention.entity)
        return found


def cut_story(story: Document, position: int) -> Document:
    """Keep the words before a position, the mentions that ended there, and a mention of an unknown entity at the end."""
    _, begin = find_sentence(story, position)
    sentences = [*(span for span in story.sentences if span[0] < begin), (begin, position + 1)]
    mentions = [m for m in story.mentions if m.end <= position]
    return Document(
        story.id,
        (*story.tokens[:position], PLACEHOLDER),
        tuple(sentences),
        (*mentions, Mention(position, position + 1, NEXT)),
        story.entity_types,
    )
