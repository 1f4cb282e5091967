"""The fast path: log P(R, E, L, X) of many documents at once (equation 9), by gathers and matrix products.

One run of the backbone per batch, one scan for all entity states, and then every factor of every word of every document in a
handful of operations. The slow twin of the tests computes the same numbers word by word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from entitynlm.model.additions import find_mention_positions
from entitynlm.model.backbones.base import Backbone, Carry, HiddenStates, LanguageModel
from entitynlm.model.batch.document_index import DocumentIndex, index_document
from entitynlm.model.batch.entity_choice import log_prob_chosen
from entitynlm.model.batch.scan import scan_states
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.tokenizer import EncodedWords
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import Noise


def as_rows(values: np.ndarray, device: torch.device) -> Tensor:
    """Convert row numbers to an index tensor."""
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64)).to(device)


class Pieces:
    """The pieces of N words, chosen among those of a text, with repetitions (None: all of them, once).

    A word's log-probability is the sum over its pieces, each with a state of its own before it. Where each word is one piece
    (with a vocabulary, that is), nothing is expanded and nothing is added up.

    :ivar index: (P,) which pieces of the text (None: all).  :ivar ids: (P,) the pieces.
    :ivar owners: (P,) which of the N words each belongs to, and :ivar places: (P,) its place (see
        :class:`EncodedWords`); None where each word is one piece.
    """

    def __init__(self, words: EncodedWords, device: torch.device, chosen: np.ndarray | None = None) -> None:
        chosen = np.arange(len(words)) if chosen is None else chosen
        index, owners = words.expand(chosen)
        places, self.count = words.piece_places, len(chosen)
        self.index = as_rows(index, device)
        self.ids = as_rows(words.all_pieces[index], device)
        self.owners = None if owners is None else as_rows(owners, device)
        self.places = None if places is None else as_rows(places[index], device)

    def of_words(self, values: Tensor) -> Tensor:
        """(P, …) each piece's value of its word, from values (N, …) of words."""
        return values if self.owners is None else values[self.owners]

    def sum_words(self, log_probs: Tensor) -> Tensor:
        """(N,) the sums over the pieces of each word."""
        if self.owners is None:
            return log_probs
        return log_probs.new_zeros(self.count).index_add(0, self.owners, log_probs)


def draw_words(count: int, share: float) -> np.ndarray:
    """Draw the words whose equation 6 is computed: each with probability ``share``, or all for a share of one."""
    return np.arange(count) if share >= 1 else np.flatnonzero(torch.rand(count).numpy() < share)


def scale_to_all_words(log_x: Tensor, chosen: np.ndarray, count: int, share: float) -> Tensor:
    """Scale the sum over the drawn words to all words: an unbiased estimate of the whole sum."""
    if share >= 1:
        return log_x
    return log_x.new_zeros(count).index_copy(0, as_rows(chosen, log_x.device), log_x / max(share, 1e-9))


def log_prob_chosen_words(
    network: EntityNetwork,
    states: Tensor,
    words: EncodedWords,
    chosen: np.ndarray,
    We: Tensor,
    positions: Tensor | None,
) -> Tensor:
    """(N,) log p(X = word | h + W_e e) for pairs of a word of a text and an entity's vector.

    :param states: (P, D) the state before each piece of the text.  :param chosen: (N,) the words.
    :param We: (N, D) W_e e and :param positions: (N,) the place in a mention, of each pair.
    """
    pieces = Pieces(words, states.device, chosen)
    u = states[pieces.index] + pieces.of_words(We)
    positions = None if positions is None else pieces.of_words(positions)
    return pieces.sum_words(network.log_prob_piece(u, pieces.ids, positions, pieces.places))


Network = EntityNetwork | LanguageModel


@dataclass(frozen=True)
class Scores:
    """log P of each variable at each word, one flat tensor per variable; a forced value has log-probability zero.

    ``bounds[i]`` … ``bounds[i + 1]`` are the words of document i. ``x`` is zero throughout for the discriminative variant.
    """

    r: Tensor
    e: Tensor
    l: Tensor
    x: Tensor
    bounds: np.ndarray

    @property
    def total(self) -> Tensor:
        """log P(R, E, L, X) of the whole batch (equation 9)."""
        return self.r.sum() + self.e.sum() + self.l.sum() + self.x.sum()


@dataclass(frozen=True)
class Carried:
    """The states that a window passes to the next: the backbone's carry and, per document, its entities' vectors (N, d)."""

    backbone: Carry | None
    entities: list[Tensor]

    def select(self, backbone: Backbone, documents: Sequence[int]) -> "Carried":
        """Select the states of the documents that go on, detached from the gradient of the past."""
        carry = None if self.backbone is None else backbone.select(self.backbone, documents)
        return Carried(carry, [self.entities[i].detach() for i in documents])


@dataclass(frozen=True)
class Window:
    """Words of a document that are scored at once: all of it, or the words after the previous window.

    ``index`` is None for models without entities.
    """

    words: EncodedWords
    index: DocumentIndex | None


@dataclass(frozen=True)
class BatchScores:
    """Scores, and the states from which the next windows start."""

    scores: Scores
    carried: Carried


class _Rows:
    """The indexes of a batch joined into one, with state rows, hidden rows and mention numbers shifted document by document."""

    def __init__(
        self, indexes: Sequence[DocumentIndex], reading: HiddenStates, shift: bool, device: torch.device
    ) -> None:
        sizes = np.array([index.size for index in indexes])
        self.size = int(sizes.sum())
        self.state_bases = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.bounds = np.concatenate([[0], np.cumsum([index.tokens for index in indexes])])
        contexts = reading.after if shift else reading.before

        join = np.concatenate

        def shifted(name: str, bases: np.ndarray) -> np.ndarray:
            pairs = zip(indexes, bases, strict=False)
            return join([getattr(index, name) + base for index, base in pairs])

        both = list(zip(indexes, self.state_bases, strict=True))
        new_entities = [base + index.first_new + np.arange(index.mentions) for index, base in both]
        carried = [base + 1 + np.arange(index.past.entities) for index, base in both]
        updates = [base + index.first_update + np.arange(len(index.update_tokens)) for index, base in both]
        self.steps = (
            join(new_entities + carried),
            join(updates),
            shifted("update_previous", self.state_bases),
        )
        of_updates = zip(indexes, reading.after, strict=True)
        self.updates = as_rows(join([after[index.update_tokens] for index, after in of_updates]), device)
        joined = join(contexts)
        self.contexts = as_rows(joined, device)  # (words,) hidden rows that words are predicted from
        starts = shifted("starts", self.bounds)
        self.starts = as_rows(starts, device)  # (mentions,) word of the batch
        self.start_contexts = as_rows(joined[starts], device)
        self.mention_types = as_rows(join([index.mention_types for index in indexes]), device)
        self.chooses = torch.from_numpy(join([index.chooses for index in indexes])).to(device)
        self.current = shifted("current_rows", self.state_bases)
        self.types_of_mentions = as_rows(join([index.types_of_mentions for index in indexes]), device)
        self.lengths = as_rows(join([index.lengths for index in indexes]), device)
        self.reaches_end = torch.from_numpy(join([index.reaches_end for index in indexes])).to(device)
        self.entity_rows = as_rows(shifted("entity_rows", self.state_bases), device)
        self.final_rows = as_rows(shifted("final_rows", self.state_bases), device)
        self.final_sizes = [len(index.final_rows) for index in indexes]
        self.pairs = _join_pairs(indexes, self.state_bases)


def _join_pairs(indexes: Sequence[DocumentIndex], state_bases: np.ndarray) -> tuple[np.ndarray, ...]:
    """Join the (mention, candidate) pairs of a batch: bounds, rows, features and chosen pairs for :func:`log_prob_chosen`."""
    counts = np.concatenate([np.diff(index.pair_bounds) for index in indexes])
    pair_bases = np.concatenate([[0], np.cumsum([len(index.pair_rows) for index in indexes])])
    return (
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([a.pair_rows + np.int32(base) for a, base in zip(indexes, state_bases, strict=True)]),
        np.concatenate([index.pair_features for index in indexes]),
        np.concatenate([a.chosen_pairs + base for a, base in zip(indexes, pair_bases, strict=False)]),
    )


def take_rows(table: Tensor, rows: Tensor) -> Tensor:
    """``table[rows]``, as an embedding lookup, whose gradient torch adds up in one pass."""
    return F.embedding(rows, table)


def score_indexes(
    network: EntityNetwork,
    indexes: Sequence[DocumentIndex],
    reading: HiddenStates,
    *,
    noise: Noise | None,
    carried: Sequence[Tensor] | None = None,
    word_share: float = 1.0,
) -> BatchScores:
    """Score documents that were read and laid out before.

    :param noise: the noise of new entities (None: σ = 0).
    :param carried: entity vectors left by the windows before these, one (N, D) per document.
    :param word_share: of equation 6, score only this share of the words, drawn at random, and let them stand for all: an estimate
        without bias, for training on a language model whose softmax is dear.
    """
    config = network.config
    hidden = network.backbone.output_states(reading.table)
    rows = _Rows(indexes, reading, config.mode != "generative", hidden.device)

    # Entity states: new entities (eq. 7), then all updates (eq. 8).
    drawn = None
    if noise is not None:
        firsts = [index.past.position + index.starts for index in indexes]
        drawn = torch.cat([noise.draw(positions, config.hidden_size) for positions in firsts])
    initial = network.create_entity(rows.types_of_mentions, drawn)
    if carried is not None and any(len(vectors) for vectors in carried):
        initial = torch.cat([initial, *carried])
    projected = network.project_state(reading.table)
    contexts = take_rows(projected, rows.contexts)  # (words, d)
    h = take_rows(projected, rows.start_contexts)  # (M, d)
    if network.projection.shared:
        updating = take_rows(projected, rows.updates)  # (U, d)
    else:
        updating = network.project_update(reading.table[rows.updates])
    states = scan_states(initial, updating, network.gate_query(updating), rows.size, *rows.steps)  # (S, d)

    # eq. 3, where R is chosen and not forced by an open mention
    zero = hidden.new_zeros(len(rows.contexts))
    log_r = network.log_prob_types(contexts).gather(1, rows.mention_types[:, None]).squeeze(1)
    log_r = torch.where(rows.chooses, log_r, zero)

    # eq. 4 and 5, at the first word of each mention
    chosen = log_prob_chosen(network.entity_query(h), states, network.distance_weights(), *rows.pairs)
    log_e = zero.index_copy(0, rows.starts, chosen)
    log_lengths = network.log_prob_lengths(h, take_rows(states, rows.entity_rows))  # (M, max_length)
    log_l = zero.index_copy(0, rows.starts, choose_lengths(log_lengths, rows.lengths, rows.reaches_end))

    # eq. 6, for every word
    log_x = zero
    if config.mode == "generative":
        whole = contexts if projected is hidden else take_rows(hidden, rows.contexts)
        log_x = _score_words(network, indexes, reading, whole, states, rows, word_share)

    scores = Scores(log_r, log_e, log_l, log_x, rows.bounds)
    final = list(states.index_select(0, rows.final_rows).split(rows.final_sizes))
    return BatchScores(scores, Carried(reading.carry, final))


def _score_words(
    network: EntityNetwork,
    indexes: Sequence[DocumentIndex],
    reading: HiddenStates,
    contexts: Tensor,
    states: Tensor,
    rows: _Rows,
    word_share: float,
) -> Tensor:
    """(words,) equation 6 with each word's e_current, piece by piece where words have several."""
    device, config, positions = contexts.device, network.config, None
    chosen = draw_words(len(contexts), word_share)
    pieces = Pieces(EncodedWords.join(reading.words), device, chosen)
    if config.mention_positions:
        found = [find_mention_positions(config, a.mention_types, a.remaining, a.chooses) for a in indexes]
        positions = pieces.of_words(as_rows(np.concatenate(found)[chosen], device))
    if pieces.owners is not None or word_share < 1:
        piece_rows = as_rows(np.concatenate(reading.piece_rows), device)[pieces.index]
        contexts = take_rows(network.backbone.output_states(reading.table), piece_rows)
    current = pieces.of_words(as_rows(rows.current[chosen], device))
    u = contexts + take_rows(network.project_entity(states), current)
    log_x = pieces.sum_words(network.log_prob_piece(u, pieces.ids, positions, pieces.places))
    return scale_to_all_words(log_x, chosen, len(rows.current), word_share)


def choose_lengths(log_lengths: Tensor, lengths: Tensor, reaches_end: Tensor) -> Tensor:
    """log p(L) of the observed lengths (M,).

    A mention whose last word is the text's last word may have been cut by the text's end, so its probability is the sum over all
    lengths of *at least* the observed one. With this rule the joint over texts of a given length sums to one
    (docs/decisions/021-mentions-at-the-end.md).
    """
    exact = log_lengths.gather(1, lengths[:, None] - 1).squeeze(1)
    if not bool(reaches_end.any()):
        return exact
    possible = torch.arange(1, log_lengths.shape[1] + 1, device=log_lengths.device) >= lengths[:, None]
    at_least = log_lengths.masked_fill(~possible, -torch.inf).logsumexp(-1)
    return torch.where(reaches_end, at_least, exact)


def cut_windows(document: EncodedDocument, network: Network, size: int = 0) -> list[Window]:
    """Cut a document into windows of ``size`` words (0: into one); an empty document is one empty window."""
    return list(iterate_windows(document, network, size))


def iterate_windows(document: EncodedDocument, network: Network, size: int) -> Iterator[Window]:
    """Lay out windows one by one, which bounds the memory that a novel needs."""
    index: DocumentIndex | None = None
    step = size or max(1, len(document))
    for start in range(0, max(1, len(document)), step):
        end = min(start + step, len(document))
        if isinstance(network, EntityNetwork):
            past = None if index is None else index.future
            index = index_document(document, network.feature_set, start=start, end=end, past=past)
        yield Window(document.words[start:end], index)


def score_windows(
    network: Network,
    windows: Sequence[Window],
    *,
    noise: Noise | None,
    carried: Carried | None = None,
    word_share: float = 1.0,
) -> BatchScores:
    """Read and score one window of each document, given the states after the windows before."""
    words = [window.words for window in windows]
    reading = network.backbone.read(words, carried.backbone if carried else None)
    if isinstance(network, LanguageModel):
        return score_language_model(network, reading, word_share)
    vectors = carried.entities if carried else None
    indexes = [window.index for window in windows if window.index is not None]
    assert len(indexes) == len(windows), "windows for entity networks are cut by cut_windows"
    return score_indexes(network, indexes, reading, noise=noise, carried=vectors, word_share=word_share)


def score_language_model(network: LanguageModel, reading: HiddenStates, word_share: float) -> BatchScores:
    """Score words by the language model without entities; R, E and L have log-probability zero."""
    words, device = EncodedWords.join(reading.words), reading.table.device
    chosen = draw_words(len(words), word_share)
    pieces = Pieces(words, device, chosen)
    rows = as_rows(np.concatenate(reading.piece_rows), device)[pieces.index]
    states = network.backbone.output_states(reading.table[rows])
    log_x = pieces.sum_words(network.backbone.log_prob(states, pieces.ids, pieces.places))
    log_x = scale_to_all_words(log_x, chosen, len(words), word_share)
    nothing = torch.zeros_like(log_x)
    bounds = np.concatenate([[0], np.cumsum([len(own) for own in reading.words])])
    carried = Carried(reading.carry, [nothing[:0]] * len(reading.words))
    return BatchScores(Scores(nothing, nothing, nothing, log_x, bounds), carried)
