"""Equation 6 over pieces: a word's log-probability is the sum over its pieces, each with a state of its own before it.

Where each word is one piece (with a vocabulary, that is), nothing is expanded and nothing is added up.
"""

import numpy as np
import torch
from torch import Tensor

from entitynlm.model.encoding.tokenizer import EncodedWords
from entitynlm.model.entitynlm import EntityNetwork


def as_rows(values: np.ndarray, device: torch.device) -> Tensor:
    """Row numbers as a tensor that can index."""
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64)).to(device)


class Pieces:
    """The pieces of N words, chosen among those of a text, with repetitions (None: all of them, once).

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
        """(P, …) what each piece has of its word's values (N, …)."""
        return values if self.owners is None else values[self.owners]

    def sum_words(self, log_probs: Tensor) -> Tensor:
        """(N,) the sums over the pieces of each word."""
        if self.owners is None:
            return log_probs
        return log_probs.new_zeros(self.count).index_add(0, self.owners, log_probs)


def draw_words(count: int, share: float) -> np.ndarray:
    """Draw the words whose equation 6 is computed: each with probability ``share``, all of them for a share of one."""
    return np.arange(count) if share >= 1 else np.flatnonzero(torch.rand(count).numpy() < share)


def stand_for_all(log_x: Tensor, chosen: np.ndarray, count: int, share: float) -> Tensor:
    """Let the words that were drawn stand for all (count,): an estimate of their sum without bias."""
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
