"""Surprisal without the entities' help: what the same words cost a model that does not know who it is about.

That is the LSTM baseline where the model carries one (``rnnlm``). Otherwise it is P with every entity's vector at zero: mentions
still start and end, but of no entity. What is left is a chain of states (outside; in a mention of this type with so many
words to come), and its sum over all analyses is exact, by the forward algorithm (docs/decisions/081).
"""

from typing import Literal

import numpy as np

from entitynlm.inference.readings import Readings
from entitynlm.inference.weights import FloatArray, log_sum_exp
from entitynlm.inference.word_scorer import score_words
from entitynlm.inference.word_tables import WordTables
from entitynlm.lm.rnnlm import score_words as score_baseline
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.features import find_mention_positions
from entitynlm.model.pretrained import Pretrained

Source = Literal["rnnlm", "entities at zero"]

CHUNK = 512  # words; each is asked for at every place that a mention may put it in


def score_without_entities(
    pretrained: Pretrained, document: EncodedDocument, readings: Readings | None = None
) -> tuple[FloatArray, Source]:
    """(T,) log p(x_t | x_<t) in nats, and by what."""
    if pretrained.language_model is not None:
        return score_baseline(pretrained.language_model, document), "rnnlm"
    return score_with_zero_entities(pretrained.get("generative"), document, readings), "entities at zero"


def score_with_zero_entities(
    network: EntityNetwork, document: EncodedDocument, readings: Readings | None = None, *, chunk: int = CHUNK
) -> FloatArray:
    """P's words with all entity vectors at zero, summed over the chain's states."""
    network.eval()
    chain = Chain(network)
    chunks = (readings or Readings(document)).read(network, size=chunk)
    pieces = [chain.read(tables, document.x[start:stop]) for start, stop, tables in chunks]
    return np.concatenate([np.zeros(0), *pieces])


class Chain:
    """The forward algorithm over (outside, or mention type × words to come × whether it is the mention's first word).

    ``open`` (K, longest) is the probability, given the words so far, that a mention of a type goes on for so many more words.
    """

    def __init__(self, network: EntityNetwork) -> None:
        self.network = network
        mention_types, longest = network.config.mention_types, network.config.max_length
        self.open = np.zeros((mention_types, longest))
        # (2, K, longest) the place of a word in a mention that (0) goes on or (1) starts with so many words to come
        first, mention_type, remaining = np.indices((2, mention_types, longest))
        self.places = find_mention_positions(
            network.config, mention_type + 1, remaining + 1, first.astype(bool)
        )

    def read(self, tables: WordTables, x: np.ndarray) -> FloatArray:
        """Go through a chunk of words."""
        scores = tables.length_scores.astype(np.float64)
        lengths = np.exp(scores - log_sum_exp(scores)[:, None])  # (T, longest)
        mention_types = np.exp(tables.log_types.astype(np.float64))
        if not self.network.config.mention_positions:
            return self._score(tables, np.arange(len(x)), np.zeros(len(x), dtype=np.int64))
        count = 1 + int(self.places.max())
        every_word, every_place = (grid.ravel() for grid in np.indices((len(x), count)))
        table = self._score(tables, every_word, every_place).reshape(len(x), count)
        found = np.empty(len(x))
        for t in range(len(x)):
            free = 1 - self.open.sum()
            starting = free * mention_types[t, 1:, None] * lengths[t]
            likelihood = np.exp(table[t] - table[t].max())
            outside = free * mention_types[t, 0] * likelihood[0]
            going = self.open * likelihood[self.places[0]]
            starting = starting * likelihood[self.places[1]]
            total = outside + going.sum() + starting.sum()
            found[t] = np.log(total) + table[t].max()
            after = (going + starting) / total
            self.open = np.zeros_like(after)
            self.open[:, :-1] = after[:, 1:]  # one word fewer to come; those with none are free again
        return found

    def _score(self, tables: WordTables, words: np.ndarray, places: np.ndarray) -> FloatArray:
        """log p(x_t | h_t, e = 0, place) of pairs of a word and a place."""
        zero = np.broadcast_to(np.float64(0), (len(words), self.network.config.entity_dim))
        return score_words(self.network, tables, words, zero, places)
