"""The network: words in context, spans that are mentions, and pairs of mentions that corefer.

    x_t      = [BiLSTM over (W z_t, word, shape); ReLU(W z_t)]       z_t the backbone's state after word t, standardised
    s(a, b)  = mention score of the words a … b, from x_a, x_b, an attention-weighted mean of what is between, and the width
    s(i, j)  = score of mention j as an antecedent of mention i, from both, their product, and features of the pair
    s(i, C)  = what the cluster C adds to the scores of its members, from the messages of its pairs with i (pooled) and
               features of the cluster
    s(i, 0)  = score of no antecedent

Only spans are scored that begin at a likely first word and end at a likely last one, so that long spans cost little.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from entitynlm.coref.cluster_features import CLUSTER_FEATURES, ClusterWeights
from entitynlm.coref.mention_table import CLASSES, MENTION_FEATURES, Floats, MentionTable
from entitynlm.coref.pair_features import PAIR_FEATURES, Pairs
from entitynlm.coref.word_inputs import ROW, SHAPES, WordInputs
from entitynlm.model.additions import Standardisation
from entitynlm.model.encoding.preprocessing import IntArray

WIDTHS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 30)
LIKELY_BOUND = -3.5
"""Log-odds above which a word may be a mention's first or last word."""
RARE = -2.0
"""Initial log-odds of a mention (a bias)."""
LARGEST_ATTENTION = 10.0


@dataclass(frozen=True)
class NetworkSizes:
    """:param states: size of a state.  :param words: length of the word list.  :param types: number of mention types."""

    states: int
    words: int
    types: int = 0
    projected: int = 256
    embedding: int = 64
    shape: int = 16
    lstm: int = 128
    span: int = 200
    pair: int = 160
    product: int = 96
    message: int = 32
    cluster: int = 64
    longest: int = 40
    dropout: float = 0.2


class WordVectors(NamedTuple):
    """(T, d) words in context, (T,) log-odds of being a mention's first and last word, and running sums for means over spans."""

    x: Tensor
    starts: Tensor
    ends: Tensor
    sums: Tensor


class SpanScores(NamedTuple):
    """Spans by first and last words, their vectors (S, d) and log-odds (S,) of being mentions."""

    first: IntArray
    last: IntArray
    hidden: Tensor
    scores: Tensor


class MentionProjections(NamedTuple):
    """Projections (M, d) that pairs are scored from: of each mention as anaphor, as antecedent, and for the product of both."""

    left: Tensor
    right: Tensor
    factors: Tensor


class PairScores(NamedTuple):
    """Scores (N,) of N pairs, and messages (N, d) that are pooled over the members of a cluster."""

    scores: Tensor
    messages: Tensor


class ResolverNetwork(nn.Module):
    def __init__(self, sizes: NetworkSizes) -> None:
        super().__init__()
        self.sizes = sizes
        width = sizes.projected + 2 * sizes.lstm
        self.drop = nn.Dropout(sizes.dropout)
        self.scaling = Standardisation(sizes.states)
        self.project = nn.Linear(sizes.states, sizes.projected)
        self.words = nn.Embedding(sizes.words, sizes.embedding)
        self.shapes = nn.Embedding(SHAPES, sizes.shape)
        inputs = sizes.projected + sizes.embedding + sizes.shape
        self.lstm = nn.LSTM(inputs, sizes.lstm, bidirectional=True, batch_first=True)
        self.bounds = nn.Linear(width, 2)
        self.attention = nn.Linear(width, 1)
        self.values = nn.Linear(width, sizes.span)
        self.first = nn.Linear(width, sizes.span)
        self.last = nn.Linear(width, sizes.span)
        self.widths = nn.Embedding(len(WIDTHS) + 1, sizes.span)
        outcome = nn.Linear(sizes.span // 2, 1)
        self.score = nn.Sequential(nn.Linear(sizes.span, sizes.span // 2), nn.ReLU(), outcome)
        self.entity_type = nn.Linear(sizes.span, max(sizes.types, 1))
        self.mention = nn.Linear(3 * width + 2 * sizes.span, sizes.span)
        self.classes = nn.Embedding(CLASSES, sizes.span)
        self.left, self.right = (nn.Linear(sizes.span, sizes.pair, bias=False) for _ in range(2))
        self.factors = nn.Linear(sizes.span, sizes.product)
        self.product = nn.Linear(sizes.product, sizes.pair, bias=False)
        self.features = nn.Linear(len(PAIR_FEATURES), sizes.pair)
        self.class_pairs = nn.Embedding(CLASSES * CLASSES, sizes.pair)
        self.antecedent = nn.Linear(sizes.pair, 1)
        self.message = nn.Linear(sizes.pair, sizes.message)
        self.cluster = nn.Sequential(
            nn.Linear(2 * sizes.message + len(CLUSTER_FEATURES), sizes.cluster),
            nn.ReLU(),
            nn.Linear(sizes.cluster, 1),
        )
        self.none = nn.Sequential(
            nn.Linear(sizes.span + len(MENTION_FEATURES), sizes.span // 2),
            nn.ReLU(),
            nn.Linear(sizes.span // 2, 1),
        )
        for bias in (self.bounds.bias, outcome.bias):
            nn.init.constant_(bias, RARE)
        for table in (self.words, self.shapes, self.widths, self.classes, self.class_pairs):
            nn.init.normal_(table.weight, std=0.1)

    # -- words -------------------------------------------------------------------------------------------------------

    def read(self, states: Tensor, words: WordInputs, hidden_words: Tensor | None = None) -> WordVectors:
        """Read words in context.

        :param states: (T, d) states of the backbone.  :param hidden_words: (T,) words whose embeddings are hidden (dropout).
        """
        numbers = torch.from_numpy(words.numbers)
        if hidden_words is not None:
            numbers = numbers.masked_fill(hidden_words, 0)
        projected = self.project(self.drop(self.scaling(states)))
        inputs = torch.cat([projected, self.words(numbers), self.shapes(torch.from_numpy(words.shapes))], 1)
        row, column = (torch.from_numpy(numbers) for numbers in words.rows)
        padded = inputs.new_zeros(int(row[-1]) + 1, ROW, inputs.shape[1])
        padded[row, column] = self.drop(inputs)
        x = self.drop(torch.cat([self.lstm(padded)[0][row, column], projected.relu()], 1))
        starts, ends = self.bounds(x).unbind(1)
        weights = self.attention(x).clamp(-LARGEST_ATTENTION, LARGEST_ATTENTION).double().exp()
        weighted = torch.cat([weights, weights * self.values(x)], 1)
        sums = torch.cat([weighted.new_zeros(1, weighted.shape[1]), weighted.cumsum(0)])
        return WordVectors(x, starts, ends, sums)

    # -- spans -------------------------------------------------------------------------------------------------------

    def score_spans(self, read: WordVectors, first: IntArray, last: IntArray) -> SpanScores:
        a, b = torch.from_numpy(first), torch.from_numpy(last)
        widths = torch.from_numpy(np.searchsorted(WIDTHS, last - first + 1))
        hidden = (
            self.first(read.x)[a] + self.last(read.x)[b] + self._average(read, a, b) + self.widths(widths)
        )
        hidden = self._drop_units(hidden.relu())
        return SpanScores(first, last, hidden, self.score(hidden).squeeze(1))

    def find_candidates(self, read: WordVectors, words: WordInputs) -> tuple[IntArray, IntArray]:
        """Find likely first and last words, and score only the spans between them."""
        likely = [(logits.detach() > LIKELY_BOUND).numpy() for logits in (read.starts, read.ends)]
        return words.list_spans(likely[0], likely[1], self.sizes.longest)

    def _average(self, read: WordVectors, first: Tensor, last: Tensor) -> Tensor:
        total = (read.sums[last + 1] - read.sums[first]).to(read.x.dtype)
        return total[:, 1:] / total[:, :1]

    def _drop_units(self, hidden: Tensor) -> Tensor:
        """Drop the same units in all rows, which for many rows is much faster than to draw a mask for each."""
        return hidden * self.drop(hidden.new_ones(1, hidden.shape[1])) if self.training else hidden

    def join(self, read: WordVectors, spans: SpanScores, heads: IntArray) -> Tensor:
        """(M, d) concatenated vectors of each mention's first, last and head word and of the mean over its words."""
        a, b, x = torch.from_numpy(spans.first), torch.from_numpy(spans.last), read.x
        parts = [x[a], x[b], x[torch.from_numpy(heads)], self._average(read, a, b), spans.hidden]
        joined: Tensor = self.mention(torch.cat(parts, 1))
        return joined

    def embed_mentions(self, joined: Tensor, classes: IntArray) -> Tensor:
        """(M, d) vectors of mentions, from the concatenated vectors and the class of the expression."""
        vectors: Tensor = self.drop((joined + self.classes(torch.from_numpy(classes))).relu())
        return vectors

    # -- pairs -------------------------------------------------------------------------------------------------------

    def project_mentions(self, vectors: Tensor) -> MentionProjections:
        return MentionProjections(self.left(vectors), self.right(vectors), self.factors(vectors))

    def score_pairs(self, sides: MentionProjections, mentions: MentionTable, pairs: Pairs) -> PairScores:
        """Score pairs of a mention and an earlier mention."""
        i, j = torch.from_numpy(pairs.mention), torch.from_numpy(pairs.antecedent)
        classes = mentions.classes[pairs.mention] * CLASSES + mentions.classes[pairs.antecedent]
        hidden = sides.left.index_select(0, i)  # (N, d), added up in place: pairs are many
        hidden += sides.right.index_select(0, j)
        hidden += self.class_pairs(torch.from_numpy(classes))
        factors = sides.factors.index_select(0, i) * sides.factors.index_select(0, j)
        hidden.addmm_(factors, self.product.weight.t())
        hidden.addmm_(torch.from_numpy(pairs.features), self.features.weight.t())
        hidden += self.features.bias
        hidden = self._drop_units(hidden.relu_())
        return PairScores(self.antecedent(hidden).squeeze(1), self.message(hidden))

    def score_clusters(self, messages: Tensor, sizes: IntArray, features: Floats) -> Tensor:
        """(C,) terms that a cluster adds to the scores of a mention with all its members; a cluster's pairs are consecutive."""
        lengths = torch.from_numpy(sizes)
        pooled = [torch.segment_reduce(messages, kind, lengths=lengths, axis=0) for kind in ("max", "mean")]
        scores: Tensor = self.cluster(torch.cat([*pooled, torch.from_numpy(features)], 1)).squeeze(1)
        return scores

    @property
    def cluster_weights(self) -> ClusterWeights:
        inner, inner_bias, outer, outer_bias = (value.detach().numpy() for value in self.cluster.parameters())
        return ClusterWeights(np.ascontiguousarray(inner.T), inner_bias, outer[0], outer_bias)

    def score_none(self, vectors: Tensor, mentions: MentionTable, rows: slice = slice(None)) -> Tensor:
        """(M,) scores of "no antecedent"."""
        features = torch.from_numpy(mentions.features[rows])
        scores: Tensor = self.none(torch.cat([vectors[rows], features], 1)).squeeze(1)
        return scores
