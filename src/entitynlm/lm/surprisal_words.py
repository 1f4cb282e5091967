"""log p(x_t | x_<t) of every word without an annotation: with entities, by sampling, and without their help.

With entities it is a particle filter that also counts how often its particles are in a mention. A word's estimate is the mean of
the conditionals P(x_1 … x_t) / P(x_1 … x_{t-1}) of independent repeats, its error their spread. (``estimate_log_prob`` instead
follows the repeat with the largest P(x_1 … x_t): right for a sum over words, but on a novel one repeat would stand for all;
docs/decisions/081.) Without, it is the LSTM baseline where the model carries one (``rnnlm``), the language model itself where P
stands on a pretrained one, otherwise P with every entity's vector at zero: what is left is a chain of states (outside; in a
mention of this type with so many words to come), whose sum over all analyses is exact, by the forward algorithm.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from entitynlm.inference.marginal import make_filters
from entitynlm.inference.particle_filter import ParticleFilter
from entitynlm.inference.particles import Choices
from entitynlm.inference.readings import Readings
from entitynlm.inference.weights import FloatArray, log_mean_exp, log_sum_exp, normalise
from entitynlm.inference.word_scorer import score_words
from entitynlm.inference.word_tables import WordTables
from entitynlm.lm.rnnlm import score_words as score_baseline
from entitynlm.model.batch.pieces import Pieces
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.features import find_mention_positions
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import SILENT, Progress

Source = Literal["rnnlm", "language model", "entities at zero"]

CHUNK = 2_048  # words between two remarks about progress
CHAIN_CHUNK = 512  # words; each is asked for at every place that a mention may put it in


class ObservedFilter(ParticleFilter):
    """A particle filter that notes, for each word, how much of the weight is in a mention."""

    def start_watching(self) -> None:
        self.free: list[FloatArray] = []  # weight, before each word, of particles that may choose R there
        self.inside: list[FloatArray] = []  # weight, after each word, of particles in a mention

    def _weigh(self, choices: Choices, log_words: FloatArray) -> FloatArray:
        before = self.log_weights.copy()
        log_evidence = super()._weigh(choices, log_words)
        factors = np.cumsum(choices.log_p.sum(0) + log_words - choices.log_q, axis=0)
        after = normalise(before + factors)
        previous = np.concatenate([normalise(before)[None], after[:-1]])
        self.free.append((previous * choices.free).sum(1))
        self.inside.append((after * (choices.mention_type > 0)).sum(1))
        return log_evidence

    def take(self) -> tuple[FloatArray, FloatArray]:
        """What was noted since the last call."""
        noted = np.concatenate(self.free), np.concatenate(self.inside)
        self.start_watching()
        return noted


@dataclass(frozen=True)
class WordEstimates:
    """(T,) log p(x_t | x_<t) with standard errors (nan for one repeat), P(R_t > 0 | x_<t), and P(R_t > 0 | x_1 … x_t)."""

    log_probs: FloatArray
    errors: FloatArray
    mention_expected: FloatArray
    mention_found: FloatArray


def estimate_words(
    model: EntityNetwork,
    proposal: EntityNetwork,
    document: EncodedDocument,
    *,
    particles: int = 50,
    repeats: int = 4,
    seed: int = 0,
    readings: Readings | None = None,
    progress: Progress = SILENT,
) -> WordEstimates:
    """Estimate every word's probability given the words before it; the annotation is not looked at.

    On a pretrained language model a word to come changes no number before it: random numbers depend on the seed alone, and where
    the text ends is not known while it is read.
    """
    stable = model.backbone.pretrained
    filters = make_filters(
        model,
        proposal,
        document,
        particles=particles,
        repeats=repeats,
        seed=seed,
        by_seed_alone=stable,
        make=ObservedFilter,
    )
    length = len(document)
    end = length + model.config.max_length + 1 if stable else length
    progress.start("words", length)
    log_evidence, expected, found = (np.empty((repeats, length)) for _ in range(3))
    for chunk in (readings or Readings(document)).read_both(model, proposal, size=CHUNK):
        part = slice(chunk.start, chunk.stop)
        starts = 1 - np.exp(chunk.model.log_types[:, 0].astype(np.float64))
        for row, particle_filter in enumerate(filters):
            particle_filter.start_watching()
            log_evidence[row, part] = particle_filter.advance(chunk, end=end)
            free, inside = particle_filter.take()
            expected[row, part] = free * starts + (1 - free)
            found[row, part] = inside
        progress.advance("words", chunk.stop - chunk.start)
    progress.finish("words")
    conditionals = np.diff(log_evidence, axis=1, prepend=0.0)
    log_probs = log_mean_exp(conditionals, axis=0)
    errors = np.full(length, np.nan)
    if repeats > 1:  # of the logarithm of the repeats' mean, by the delta method
        errors = np.exp(conditionals - log_probs).std(axis=0, ddof=1) / np.sqrt(repeats)
    return WordEstimates(log_probs, errors, np.clip(expected.mean(0), 0, 1), found.mean(0))


def score_without_entities(
    pretrained: Pretrained, document: EncodedDocument, readings: Readings | None = None
) -> tuple[FloatArray, Source]:
    """(T,) log p(x_t | x_<t) in nats, and by what."""
    if pretrained.language_model is not None:
        return score_baseline(pretrained.language_model, document), "rnnlm"
    network = pretrained.get("generative")
    if network.backbone.pretrained:
        return score_by_backbone(network, document, readings), "language model"
    return score_with_zero_entities(network, document, readings), "entities at zero"


@torch.no_grad()
def score_by_backbone(
    network: EntityNetwork, document: EncodedDocument, readings: Readings | None = None
) -> FloatArray:
    """What the backbone gives the words when nothing is added to its states."""
    network.eval()
    found = [np.zeros(0)]
    for _, _, tables in (readings or Readings(document)).read(network):
        states = torch.from_numpy(tables.piece_states).to(network.W_r.device)
        pieces = Pieces(tables.words, states.device)
        log_probs = network.backbone.log_prob(states, pieces.ids, pieces.places)
        found.append(pieces.sum_words(log_probs.double()).cpu().numpy())
    return np.concatenate(found)


def score_with_zero_entities(
    network: EntityNetwork,
    document: EncodedDocument,
    readings: Readings | None = None,
    *,
    chunk: int = CHAIN_CHUNK,
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
