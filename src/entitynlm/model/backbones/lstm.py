"""The paper's language model: word embeddings, an LSTM (equation 2) and a softmax over words (equations 1 and 6).

``h_t`` depends on words alone, so a document's states are computed once and shared by its annotation, its samples and its
candidate analyses.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from entitynlm.config import ModelConfig
from entitynlm.model.backbones.base import (
    Backbone,
    HiddenStates,
    count_words_read,
    draw_mask,
    register_backbone,
)
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.tokenizer import EncodedWords
from entitynlm.model.encoding.word_classes import WordClasses
from entitynlm.model.softmax import ClassSoftmax, make_softmax
from entitynlm.text.document import Span

LstmCarry = tuple[Tensor, Tensor]
"""(h, c), each (1, B, D)."""


@register_backbone("lstm")
class LstmBackbone(Backbone):
    """One piece per word, with the dropout of strong LSTM language models as options.

    Words are laid out (T, B, …), time first, as the fused LSTM kernel needs them, so that nothing is copied. Proposals predict no
    words and have no softmax.
    """

    def __init__(
        self, config: ModelConfig, words: int, start: int, classes: WordClasses | None = None
    ) -> None:
        super().__init__()
        self.config = config
        self.hidden_size, self.vocabulary_size = config.hidden_size, words
        self.start_word = start
        self.embedding = nn.Embedding(words, config.embedding_size)
        self.lstm = nn.LSTM(config.embedding_size, config.hidden_size)
        self.softmax: ClassSoftmax | None = None
        if config.mode in ("generative", "rnnlm"):
            self.softmax = make_softmax(config, words, classes)

    # -- reading -----------------------------------------------------------------------------------------------------

    def read(self, documents: Sequence[EncodedWords], carry: LstmCarry | None = None) -> HiddenStates:
        words = [document.all_pieces for document in documents]
        if carry is None:
            hidden, final = self._run(self._pad(words, first=1), None)  # (1 + T, B, D)
        else:
            hidden, final = self._run(self._pad(words), carry)
            hidden = torch.cat([carry[0][-1:], hidden])  # in front, h of the last word already read
        hidden = self._drop(hidden, self.config.dropout)
        before = [column + len(words) * np.arange(len(x)) for column, x in enumerate(words)]
        after = [rows + len(words) for rows in before]
        return HiddenStates(documents, hidden.reshape(-1, hidden.shape[-1]), before, after, final)

    def _pad(self, documents: Sequence[np.ndarray], first: int = 0) -> Tensor:
        """(first + T, B) word ids, padded before and after each document with the start symbol."""
        length = first + max(len(x) for x in documents)
        # an LSTM wants a word
        ids = np.full((max(1, length), len(documents)), self.start_word, dtype=np.int64)
        for column, x in enumerate(documents):
            ids[first : first + len(x), column] = x
        return torch.from_numpy(ids).to(self.embedding.weight.device)

    def _run(self, ids: Tensor, carry: LstmCarry | None) -> tuple[Tensor, LstmCarry]:
        lstm, rate = self.lstm, self.config.weight_dropout
        embedded = self._drop(self.embedding(ids), self.config.dropout)  # (T, B, embedding size)
        weights = {}
        if self.training and rate > 0:
            recurrent = ((name, value) for name, value in lstm.named_parameters() if "weight_hh" in name)
            weights = {name: nn.functional.dropout(value, rate) for name, value in recurrent}
        hidden, final = (
            torch.func.functional_call(lstm, weights, (embedded, carry)) if weights else lstm(embedded, carry)
        )
        return hidden, final

    def _drop(self, values: Tensor, rate: float) -> Tensor:
        if not self.training or rate == 0:
            return values
        return values * draw_mask(values[:1] if self.config.variational else values, rate)

    # -- states of tokens --------------------------------------------------------------------------------------------

    @property
    def token_state_size(self) -> int:
        return self.hidden_size + self.embedding.embedding_dim

    def read_tokens(
        self, document: EncodedDocument, chunks: Sequence[Span], *, exact: bool = True
    ) -> Iterator[Tensor]:
        """Yield h_t concatenated with the word's own vector, which a small LSTM remembers badly."""
        words = self._embed_tokens(document, chunks[-1][1])
        for (start, stop), states in zip(chunks, super().read_tokens(document, chunks), strict=True):
            yield torch.cat([states, words[start:stop]], 1)

    @torch.no_grad()
    def read_short(
        self, documents: Sequence[EncodedDocument], lengths: Sequence[int], *, exact: bool = True
    ) -> list[Tensor]:
        words = map(self._embed_tokens, documents, lengths)
        return [
            torch.cat(pair, 1) for pair in zip(super().read_short(documents, lengths), words, strict=True)
        ]

    def _embed_tokens(self, document: EncodedDocument, tokens: int) -> Tensor:
        """(tokens, E) vector of each token; a token that the model does not read has the vector of the word before it."""
        ids = np.concatenate([[self.start_word], document.words.all_pieces])
        latest = torch.from_numpy(ids[count_words_read(document, tokens)])
        return self.embedding(latest.to(self.embedding.weight.device))

    # -- predicting --------------------------------------------------------------------------------------------------

    def log_prob(self, u: Tensor, pieces: Tensor, places: Tensor | None = None) -> Tensor:
        assert self.softmax is not None
        result: Tensor = self.softmax(u, pieces, self._tied())
        return result

    def log_probs(self, u: Tensor, places: Tensor | int = 0) -> Tensor:
        assert self.softmax is not None
        return self.softmax.log_probs(u, self._tied())

    def class_factors(self) -> tuple[ClassSoftmax, Tensor | None] | None:
        return None if self.softmax is None else (self.softmax, self._tied())

    def _tied(self) -> Tensor | None:
        return self.embedding.weight if self.config.tied else None

    # -- going on piece by piece -------------------------------------------------------------------------------------

    def start(self) -> LstmCarry:
        return self.step(None, torch.tensor([self.start_word], device=self.embedding.weight.device))

    def state(self, carry: LstmCarry) -> Tensor:
        return carry[0][-1]

    def step(self, carry: LstmCarry | None, pieces: Tensor) -> LstmCarry:
        _, after = self.lstm(self.embedding(pieces[None]), carry)
        return after[0], after[1]

    def select(self, carry: LstmCarry, documents: Sequence[int]) -> LstmCarry:
        h, c = (state[:, list(documents)].detach().contiguous() for state in carry)
        return h, c

    # -- parameters --------------------------------------------------------------------------------------------------

    @property
    def piece_vectors(self) -> Tensor:
        return self.embedding.weight
