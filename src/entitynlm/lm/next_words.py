"""Describe the distribution in the place of each word: entropy over the next word, rank of the observed word, likeliest words.

It is the distribution of ``surprisal``: P's, summed over the ways to continue (no mention, or a mention of each entity), given or
sampled; or that of the language model alone if the entity side is untrained. Where words have several pieces, it is the
distribution over the first piece of the next word.
"""

from typing import Any

import numpy as np
import torch

from entitynlm.inference.particle_filter import WeighedSegment
from entitynlm.inference.readings import Readings, WordTables
from entitynlm.inference.weights import log_sum_exp
from entitynlm.model.encoding.tokenizer import Tokenizer
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.prediction.expectation import list_top_words
from entitynlm.prediction.referents import Ways, keep_likely
from entitynlm.results import add_columns


def add_expected(row_type: type, top: int) -> type:
    """Make the type of rows that also have entropy, rank and the ``top`` likeliest words with their probabilities."""
    columns: list[tuple[str, Any]] = [("next_entropy", float | None), ("rank", int | None)]
    for n in range(1, top + 1):
        columns += [(f"top_{n}", str | None), (f"top_{n}_probability", float | None)]
    return add_columns(row_type, "ExpectingRow", *((*column, None) for column in columns))


class NextWords:
    """Collects these columns for the words of one text, in reading order.

    :ivar columns: columns by the word's place; a word without a piece of its own has none.
    """

    def __init__(self, network: EntityNetwork, tokenizer: Tokenizer, top: int, unit: float) -> None:
        self.network, self.tokenizer, self.top, self.unit = network, tokenizer, top, unit
        self.columns: dict[int, dict[str, Any]] = {}

    @torch.no_grad()
    def note(self, tables: WordTables, ways: Ways) -> None:
        """Record the distribution at one word, averaged over the ways to continue there."""
        words, device = tables.words, self.network.W_r.device
        index, _ = words.expand(np.array([ways.row]))
        if not len(index):
            return
        place = 0 if words.piece_places is None else int(words.piece_places[index[0]])
        h = torch.from_numpy(tables.contexts[ways.row : ways.row + 1]).to(device)
        We = self.network.project_entity(torch.from_numpy(ways.vectors).to(device))
        positions = torch.from_numpy(ways.places.astype(np.int64)).to(device)
        by_way = self.network.log_prob_words(h, We, positions, place).double().exp()
        probs = np.exp(ways.log_probs) @ by_way.cpu().numpy()
        own, positive = probs[words.all_pieces[index[0]]], probs[probs > 0]
        found = self.columns[ways.position] = {
            "next_entropy": float(-(positive * np.log(positive)).sum()) * self.unit,
            "rank": 1 + int((probs > own).sum()),
        }
        for n, (word, probability) in enumerate(list_top_words(self.tokenizer, probs, self.top), start=1):
            shown = word if word.strip() else repr(word or " ")
            found |= {f"top_{n}": shown, f"top_{n}_probability": probability}

    def note_segment(
        self, segment: WeighedSegment, tables: WordTables, row: int, position: int, vectors: np.ndarray
    ) -> None:
        """Record the distributions at the words of a particle filter's segment, whose first word has this row and position.

        A particle counts by its weight before the word, corrected for having been drawn from Q and not from P.
        """
        choices = segment.choices.narrow(len(segment.island))
        islands, log_weights = np.unique(segment.island), segment.log_weights.copy()
        for s, log_factors in enumerate(segment.log_factors):
            with np.errstate(divide="ignore"):  # a particle that was not there yet has no copies
                counted = np.log(choices.copies[s]) - choices.log_q[s]
            prior = log_weights + choices.log_p[:, s].sum(0) + counted
            log_weights += log_factors
            shares = np.zeros(int(choices.pairs[0]))
            for island in islands:
                own = segment.island == island
                np.add.at(
                    shares, choices.pair[s, own], np.exp(prior[own] - log_sum_exp(prior[own])) / len(islands)
                )
            kept = keep_likely(shares)
            log_probs = np.log(shares[kept] / shares[kept].sum())
            at = choices.pair_places[kept]
            self.note(tables, Ways(position + s, row + s, log_probs, at, vectors[choices.pair_rows[kept]]))

    def note_language_model(self, readings: Readings) -> None:
        """Record the distributions of the language model alone."""
        nobody = np.zeros((1, self.network.config.hidden_size), dtype=np.float32)
        for chunk in readings.read(self.network):
            for row in range(len(chunk)):
                one = Ways(chunk.start + row, row, np.zeros(1), np.zeros(1), nobody)
                self.note(chunk.model, one)
