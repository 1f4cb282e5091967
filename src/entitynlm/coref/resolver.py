"""The resolver: the component of a model that finds mentions and links them, from the states of the model's backbone.

States are read chunk by chunk, and only the mentions are kept: the table of mentions, and a vector for each. Clusters are then
made from the first mention to the last.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor

from entitynlm.coref.cluster_features import CLUSTER_FEATURES, ClusterMemory, ScoredPairs
from entitynlm.coref.mention_table import MENTION_FEATURES, MentionTable, choose_spans, guess_head
from entitynlm.coref.pair_features import PAIR_FEATURES, Pairs, pair_mentions
from entitynlm.coref.resolver_network import NetworkSizes, PairScores, ResolverNetwork
from entitynlm.coref.word_inputs import WordInputs, WordList, describe_words
from entitynlm.discourse.discourse import Discourse
from entitynlm.discourse.identity import IdentityRules
from entitynlm.errors import ModelError
from entitynlm.model.backbones.base import Backbone
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.pretrained import StoredComponent, build_network
from entitynlm.progress import SILENT, Progress, track
from entitynlm.text.document import Span
from entitynlm.text.english import PRONOUNS

RESOLVER_FEATURES = [*PAIR_FEATURES, *MENTION_FEATURES, *CLUSTER_FEATURES]
CHUNK_TOKENS = 2048
"""Approximate number of tokens whose states are in memory at a time."""
MENTIONS_AT_ONCE = 32
"""Number of mentions whose antecedents are scored at a time, which bounds the memory."""


class FoundMentions(NamedTuple):
    """M mentions: spans and heads in the document, vectors (M, d), numbers of types (M,), log-odds (M,).

    :param sure: (M,) whether the log-odds are above the threshold; other spans may only be names.
    """

    spans: list[Span]
    heads: list[int]
    joined: Tensor
    types: Tensor
    scores: Tensor
    sure: Tensor

    def take_spans(self, rows: Sequence[int]) -> list[Span]:
        return [self.spans[row] for row in rows]


class Resolution(NamedTuple):
    """The mentions of a document as columns (M,): their table, clusters from 0, types, and two probabilities.

    :param confidence: probability that the span is a mention.  :param link_confidence: probability that it belongs to its
        cluster.
    """

    table: MentionTable
    clusters: list[int]
    types: list[str | None]
    confidence: list[float]
    link_confidence: list[float]


class Resolver:
    """A trained network with all that it needs to read a document.

    :param words: words with embeddings of their own.  :param types: entity types.
    :param threshold: log-odds above which a span is a mention.
    """

    component_name: ClassVar[str] = "resolver"

    def __init__(
        self, network: ResolverNetwork, words: WordList, types: Sequence[str], *, threshold: float = 0.0
    ) -> None:
        self.network, self.words, self.types = network.eval(), words, tuple(types)
        self.threshold = threshold

    # -- stored ------------------------------------------------------------------------------------------------------

    def to_stored(self) -> StoredComponent:
        """Return the weights in half precision (but for the scale of states), and the settings."""
        tensors = {
            name: value if name.startswith("scaling.") else value.half()
            for name, value in self.network.state_dict().items()
        }
        return tensors, {
            "sizes": dataclasses.asdict(self.network.sizes),
            "words": " ".join(self.words.words),
            "types": list(self.types),
            "threshold": self.threshold,
            "features": RESOLVER_FEATURES,
        }

    @classmethod
    def from_stored(cls, tensors: Mapping[str, Tensor], settings: Mapping[str, Any]) -> "Resolver":
        if settings["features"] != RESOLVER_FEATURES:
            raise ModelError("the resolver of this model was made with other features, by another version")
        sizes = NetworkSizes(**settings["sizes"])
        network = build_network(lambda: ResolverNetwork(sizes), tensors, cls.component_name)
        words, threshold = WordList(settings["words"].split()), float(settings["threshold"])
        return cls(network, words, settings["types"], threshold=threshold)

    # -- resolving ---------------------------------------------------------------------------------------------------

    @torch.no_grad()
    def find_mentions(
        self,
        backbone: Backbone,
        discourse: Discourse,
        encoded: EncodedDocument,
        *,
        given: Sequence[Span] | None = None,
        states: Tensor | None = None,
        exact: bool = True,
        progress: Progress = SILENT,
    ) -> FoundMentions:
        """Find the mentions of a document, or describe given ones.

        :param backbone: reads the document's words, given as :param encoded:, for their states; :param states: states already
            read.
        :param exact: see :meth:`Backbone.read_tokens`.
        """
        if backbone.token_state_size != self.network.sizes.states:
            raise ModelError(
                f"this resolver reads states of {self.network.sizes.states} numbers, and the model's have "
                f"{backbone.token_state_size}: train it again with --parts resolver"
            )
        words = describe_words(discourse, self.words)
        chunks = [(0, len(words))] if states is not None else words.cut_chunks(CHUNK_TOKENS, given or ())
        tables = [states] if states is not None else backbone.read_tokens(encoded, chunks, exact=exact)
        pairs = zip(chunks, tables, strict=True)
        read = (
            (chunk, own.float().cpu())
            for chunk, own in track(progress, "finding entities", pairs, len(chunks))
        )
        return self.find_in_states(discourse, words, read, given=given)

    @torch.no_grad()
    def find_in_states(
        self,
        discourse: Discourse,
        words: WordInputs,
        chunks: Iterable[tuple[Span, Tensor]],
        *,
        given: Sequence[Span] | None = None,
    ) -> FoundMentions:
        """Find mentions from the states (T, d) of chunks of whole sentences."""
        wanted = None if given is None else sorted(set(given), key=lambda span: (span[0], -span[1]))
        found: list[FoundMentions] = []
        for (start, stop), states in chunks:
            here = None if wanted is None else [span for span in wanted if start <= span[0] < stop]
            found.append(self._read_chunk(discourse, words.cut(start, stop), states, start, here))
        spans = [span for chunk in found for span in chunk.spans]
        heads = [head for chunk in found for head in chunk.heads]
        tensors = (torch.cat(parts) for parts in zip(*(chunk[2:] for chunk in found), strict=True))
        return FoundMentions(spans, heads, *tensors)

    @torch.no_grad()
    def cluster(
        self,
        discourse: Discourse,
        found: FoundMentions,
        rows: Sequence[int] | None = None,
        rules: IdentityRules | None = None,
    ) -> Resolution:
        """Cluster the mentions with these row numbers (default: all that are sure), as far as ``rules`` allow."""
        rows = found.sure.nonzero().squeeze(1).tolist() if rows is None else rows
        table = MentionTable(
            discourse, found.take_spans(rows), heads=[found.heads[r] for r in rows], syntax=False
        )
        if not rows:
            return Resolution(table, [], [], [], [])
        vectors = self.network.embed_mentions(found.joined[rows], table.classes)
        clusters, links = cluster_mentions(self.network, vectors, table, rules)
        confidence = found.scores[rows].sigmoid().tolist()
        return Resolution(table, clusters, self.name_types(found, rows), confidence, links)

    def name_types(self, found: FoundMentions, rows: Sequence[int]) -> list[str | None]:
        return [self.types[number] if self.types else None for number in found.types[rows].tolist()]

    def _read_chunk(
        self,
        discourse: Discourse,
        words: WordInputs,
        states: Tensor,
        start: int,
        given: Sequence[Span] | None,
    ) -> FoundMentions:
        """Find the mentions of a chunk that begins with the token ``start``, and further spans that may be names."""
        network, document = self.network, discourse.document
        read = network.read(states, words)
        known = given
        if known is None:
            first, last = network.find_candidates(read, words)
            scores = network.score_spans(read, first, last).scores.numpy()
            chosen = choose_spans(first, last, scores, self.threshold)
            known = list(
                zip((first[chosen] + start).tolist(), (last[chosen] + start + 1).tolist(), strict=True)
            )
        heads = {span: guess_head(document, *span, syntax=False) for span in known}
        if given is None:
            heads |= find_unmarked_names(discourse, (start, start + len(words)), heads)
        spans = sorted(heads, key=lambda span: (span[0], -span[1]))
        first, last = np.array(spans, dtype=np.int64).reshape(-1, 2).T - np.array([[start], [start + 1]])
        scored = network.score_spans(read, first, last)
        types = network.entity_type(scored.hidden).argmax(1)
        joined = network.join(read, scored, np.array([heads[span] for span in spans], dtype=np.int64) - start)
        certain = frozenset(known)
        sure = torch.tensor([span in certain for span in spans], dtype=torch.bool)
        return FoundMentions(spans, [heads[span] for span in spans], joined, types, scored.scores, sure)


def find_unmarked_names(discourse: Discourse, chunk: Span, heads: Mapping[Span, int]) -> dict[Span, int]:
    """Find runs of capitalised words that cross no mention and end with the head of none, with their heads.

    :param heads: heads of the chunk's mentions.
    """
    taken, tokens, common = frozenset(heads.values()), discourse.document.tokens, discourse.common_words
    found: dict[Span, int] = {}
    token, stop = chunk
    while token < stop:
        end = token
        while end < stop and tokens[end][0].isupper() and tokens[end].lower() not in PRONOUNS:
            end += 1
        start = token
        while start < end and tokens[start].lower() in common:
            start += 1
        named = start < end and end - 1 not in taken
        if named and not any(a < start < b < end or start < a < end < b for a, b in heads):
            found[start, end] = end - 1
        token = end + 1
    return found


@torch.no_grad()
def cluster_mentions(
    network: ResolverNetwork, vectors: Tensor, mentions: MentionTable, rules: IdentityRules | None = None
) -> tuple[list[int], list[float]]:
    """Assign each mention to a cluster, numbered from 0, with the decision's probability; ``rules`` may exclude clusters."""
    memory, sides = ClusterMemory(mentions), network.project_mentions(vectors)
    probabilities: list[float] = []
    for low, high in pairwise([*range(0, mentions.size, MENTIONS_AT_ONCE), mentions.size]):
        pairs = pair_mentions(mentions, low, high)
        scores = network.score_pairs(sides, mentions, pairs)
        none = network.score_none(vectors, mentions, slice(low, high))
        scored = arrange_scores(low, pairs, scores, none)
        probabilities += memory.follow(scored, network.cluster_weights, rules=rules)[1].tolist()
    return memory.clusters.tolist(), probabilities


def arrange_scores(low: int, pairs: Pairs, scores: PairScores, none: Tensor) -> ScoredPairs:
    """Arrange the network's scores of the mentions from ``low`` on as the compiled loop takes them."""
    bounds = np.searchsorted(pairs.mention, np.arange(low, low + len(none) + 1))
    numbers = (part.detach().numpy() for part in (*scores, none))
    return ScoredPairs(low, bounds, pairs.antecedent, *numbers)
