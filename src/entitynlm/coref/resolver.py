"""The component of a model that finds mentions and links them from the language model's states."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor

from entitynlm.coref.cluster_features import CLUSTER_FEATURES
from entitynlm.coref.decoding import choose_spans, cluster_mentions
from entitynlm.coref.mention_table import MENTION_FEATURES, MentionTable, guess_head
from entitynlm.coref.pair_features import PAIR_FEATURES
from entitynlm.coref.resolver_network import NetworkSizes, ResolverNetwork
from entitynlm.coref.word_inputs import WordInputs, WordList, describe_words
from entitynlm.discourse.discourse import Discourse
from entitynlm.discourse.identity import IdentityRules
from entitynlm.errors import ModelError
from entitynlm.model.backbones.huggingface.reader import LanguageModelRuntime
from entitynlm.model.backbones.huggingface.tokenizer import SubwordTokenizer
from entitynlm.model.backbones.huggingface.weights import load_language_model
from entitynlm.model.components import StoredComponent
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.preprocessing import IntArray
from entitynlm.model.stored_weights import build_network
from entitynlm.text.document import Document, Span

FEATURES = [*PAIR_FEATURES, *MENTION_FEATURES, *CLUSTER_FEATURES]
BLOCK = 2048
SHORT = 300  # tokens; a longer document is as quickly read alone
"""Words that are read at a time."""
HEIGHT = 0.6
"""How high between the first layer and the last the states are read: SmolLM2's layer 18 of 30 was the best of its kind."""


@dataclasses.dataclass(frozen=True)
class ResolvedMention:
    """A span of tokens, its cluster, its type, and how probable it is that it is a mention, and of that cluster."""

    span: Span
    cluster: int
    type: str | None
    probability: float
    link_probability: float


class Resolver:
    """A trained network with what it needs to read a document.

    :param layer: the language model's layer whose states it reads.  :param digest: the language model's hash.
    :param threshold: the log-odds above which a span is a mention.
    """

    component_name: ClassVar[str] = "resolver"

    def __init__(
        self,
        network: ResolverNetwork,
        words: WordList,
        types: Sequence[str],
        *,
        layer: int,
        digest: str,
        threshold: float = 0.0,
    ) -> None:
        self.network, self.words, self.types = network.eval(), words, tuple(types)
        self.layer, self.digest, self.threshold = layer, digest, threshold

    # -- stored ------------------------------------------------------------------------------------------------------

    def to_stored(self) -> StoredComponent:
        """In half precision, but for the scale of states."""
        tensors = {
            name: value if name.startswith("scaling.") else value.half()
            for name, value in self.network.state_dict().items()
        }
        return tensors, {
            "sizes": dataclasses.asdict(self.network.sizes),
            "words": " ".join(self.words.words),
            "types": list(self.types),
            "layer": self.layer,
            "language_model": self.digest,
            "threshold": self.threshold,
            "features": FEATURES,
        }

    @classmethod
    def from_stored(cls, tensors: Mapping[str, Tensor], settings: Mapping[str, Any]) -> Resolver:
        if settings["features"] != FEATURES:
            raise ModelError(
                "the end-to-end resolver of this model was made with other features, by another version"
            )
        sizes = NetworkSizes(**settings["sizes"])
        network = build_network(lambda: ResolverNetwork(sizes), tensors, cls.component_name)
        return cls(
            network,
            WordList(settings["words"].split()),
            settings["types"],
            layer=int(settings["layer"]),
            digest=str(settings["language_model"]),
            threshold=float(settings["threshold"]),
        )

    # -- resolving ---------------------------------------------------------------------------------------------------

    @torch.no_grad()
    def resolve(
        self,
        encoder: Encoder,
        document: Document,
        *,
        encoded: EncodedDocument | None = None,
        given: Sequence[Span] | None = None,
        discourse: Discourse | None = None,
    ) -> list[ResolvedMention]:
        """The mentions of a document (or those that are given) with their clusters, in text order, outer before inner.

        With the discourse structure of the document, the rules of identity are kept.

        Blocks of the text are read one after the other, and only their mentions are kept.
        """
        blocks = describe_words(document, self.words).cut_blocks(BLOCK, given or ())
        encoded = encoded or encoder.encode_words(document)
        states = read_blocks(find_runtime(encoder, self.digest), self.layer, encoded, blocks)
        return self.resolve_states(document, zip(blocks, states, strict=True), given, discourse)

    def read_ahead(self, encoder: Encoder, documents: Sequence[Document]) -> None:
        """Let the language model read short documents together, which is quicker; :meth:`resolve` takes the states from there.

        Their last digits may differ from those of a document that is read alone.
        """
        runtime = find_runtime(encoder, self.digest)
        wanted = []
        for document in documents:
            if 0 < len(document) <= SHORT:
                encoded = encoder.encode_words(document)
                pieces = find_pieces(encoded, runtime.pieces)
                after = int(find_last_pieces(encoded, runtime.pieces, len(document))[-1])
                wanted += [pieces[:after], make_opening(runtime, int(pieces[0]))] if after else []
        runtime.read_ahead(wanted, (self.layer,))

    @torch.no_grad()
    def resolve_states(
        self,
        document: Document,
        blocks: Iterable[tuple[Span, Tensor]],
        given: Sequence[Span] | None = None,
        discourse: Discourse | None = None,
    ) -> list[ResolvedMention]:
        """The same from states of blocks of whole sentences."""
        words = describe_words(document, self.words)
        wanted = None if given is None else sorted(set(given), key=lambda span: (span[0], -span[1]))
        found: list[_Mentions] = []
        for (start, stop), states in blocks:
            here = None if wanted is None else [span for span in wanted if start <= span[0] < stop]
            found.append(self._read_block(document, words.cut(start, stop), states, start, here))
        spans = [span for block in found for span in block.spans]
        if not spans:
            return []
        table = MentionTable(document, spans, syntax=False)
        vectors = self.network.embed_mentions(torch.cat([block.joined for block in found]), table.classes)
        rules = IdentityRules(discourse, spans) if discourse is not None else None
        clusters, sure = cluster_mentions(self.network, vectors, table, rules)
        types = torch.cat([block.types for block in found]).tolist()
        names = [self.types[number] if self.types else None for number in types]
        scores = torch.cat([block.scores for block in found]).sigmoid().tolist()
        return [ResolvedMention(*row) for row in zip(spans, clusters, names, scores, sure, strict=True)]

    def _read_block(
        self, document: Document, words: WordInputs, states: Tensor, start: int, given: Sequence[Span] | None
    ) -> _Mentions:
        """The mentions of a block that begins with the word ``start``."""
        network = self.network
        read = network.read(states, words)
        if given is None:
            first, last = network.find_candidates(read, words)
            scores = network.score_spans(read, first, last).scores.numpy()
            chosen = choose_spans(first, last, scores, self.threshold)
            first, last = first[chosen], last[chosen]
        else:
            first, last = np.array(given, dtype=np.int64).reshape(-1, 2).T - np.array([[start], [start + 1]])
        pairs = zip((first + start).tolist(), (last + start + 1).tolist(), strict=True)
        spans = list(pairs)
        heads = (
            np.array([guess_head(document, *span, syntax=False) for span in spans], dtype=np.int64) - start
        )
        scored = network.score_spans(read, first, last)
        types = network.entity_type(scored.hidden).argmax(1)
        return _Mentions(spans, network.join(read, scored, heads), types, scored.scores)


class _Mentions(NamedTuple):
    """The mentions of a block: spans of the document, vectors (M, d), numbers of types (M,), log-odds (M,)."""

    spans: list[Span]
    joined: Tensor
    types: Tensor
    scores: Tensor


def find_runtime(encoder: Encoder, digest: str | None = None) -> LanguageModelRuntime:
    """The language model whose pieces a model reads, checked by its hash."""
    tokenizer = encoder.tokenizer
    if not isinstance(tokenizer, SubwordTokenizer):
        raise ModelError(
            "a resolver reads the states of a pretrained language model, and this model has none"
        )
    return load_language_model(tokenizer.model, digest or tokenizer.digest)


def choose_layer(runtime: LanguageModelRuntime) -> int:
    return round(HEIGHT * runtime.layers)


def read_blocks(
    runtime: LanguageModelRuntime, layer: int, encoded: EncodedDocument, blocks: Sequence[Span]
) -> Iterator[Tensor]:
    """The state after each token of each block; layers above are not run."""
    pieces, tokens = find_pieces(encoded, runtime.pieces), blocks[-1][1]
    last = find_last_pieces(encoded, runtime.pieces, tokens)
    carry, read = None, 0
    for start, stop in blocks:
        after = int(last[stop - 1])
        states, carry = runtime.read([pieces[read:after]], (layer,), carry, keep=stop < tokens)
        block = states[0][torch.from_numpy(last[start:stop] - read)]
        if start == 0 and after:
            block[torch.from_numpy(last[:stop] == 1)] = read_opening(runtime, layer, int(pieces[0]))
        yield block
        read = after


def read_opening(runtime: LanguageModelRuntime, layer: int, piece: int) -> Tensor:
    """The state (D,) after the first piece of a text, as if a line break stood before it.

    Attention rests on the first pieces, whose states are unlike all others and say little of the word: of eight names at the
    beginning of a text, six were not found by such states, and all by these.
    """
    return runtime.read([make_opening(runtime, piece)], (layer,), keep=False)[0][0][-1]


def make_opening(runtime: LanguageModelRuntime, piece: int) -> IntArray:
    """The first piece of a text after a line break."""
    return np.array([*runtime.tokenizer("\n", add_special_tokens=False).input_ids, piece])


def find_pieces(encoded: EncodedDocument, size: int) -> IntArray:
    """The pieces that the language model reads."""
    pieces = encoded.words.all_pieces
    return pieces[pieces < size]


def find_last_pieces(encoded: EncodedDocument, size: int, tokens: int) -> IntArray:
    """(tokens,) how many pieces have been read after each token; a token that the model does not read changes nothing."""
    assert encoded.piece_bounds is not None
    count = np.concatenate([[0], np.cumsum(encoded.words.all_pieces < size)])
    after = np.zeros(tokens, dtype=np.int64)
    own = encoded.origin >= 0
    after[encoded.origin[own]] = count[encoded.piece_bounds[1:]][own]
    return np.maximum.accumulate(after)
