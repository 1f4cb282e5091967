"""A second backbone, as unlike the LSTM as it can be in a few lines: a causal convolution over letters, with an open vocabulary.

A word is spelled by its letters, the last one in a form of its own that ends the word; ``</s>`` is one piece. Nothing here has
a vocabulary, one piece per word, a recurrent state or word classes.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, get_args

import numpy as np
import torch
from torch import Tensor, nn

from entitynlm.config import Mode, ModelConfig
from entitynlm.model.backbones.base import Backbone, HiddenStates, register_backbone
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.preprocessing import SENTENCE_END, Recipe
from entitynlm.model.encoding.tokenizer import EncodedWords, SpelledWords, Tokenizer, register_tokenizer
from entitynlm.model.encoding.variables import Analysis
from entitynlm.model.encoding.word_classes import WordClasses
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.pretrained import Pretrained

START, END = 0, 1
SEEN = 3  # pieces that a state has seen
STATE_SIZE = 6  # D, where d is the configuration's


@register_tokenizer
class Letters(Tokenizer):
    """Letter i of the alphabet is piece 2 + 2 i inside of a word and 3 + 2 i at its end; other letters are the last one."""

    tokenizer_name: ClassVar[str] = "letters"

    def __init__(self, alphabet: str = "ab", longest: int = 2) -> None:
        self.alphabet, self.longest = alphabet, longest
        self.start, self.sentence_end = START, self._key(SENTENCE_END)

    def __len__(self) -> int:
        return 2 + 2 * len(self.alphabet)

    def _key(self, word: str) -> int:
        spelled = ",".join(map(str, self.pieces(word)))
        return int.from_bytes(hashlib.blake2b(spelled.encode(), digest_size=8).digest(), "big") >> 1

    def encode(self, words: Iterable[str]) -> np.ndarray:
        return np.array([self._key(word) for word in words], dtype=np.int64)

    def encode_pieces(self, words: Sequence[str], spaces: np.ndarray | None = None) -> SpelledWords:
        spelled = [self.pieces(word) for word in words]
        bounds = np.concatenate([[0], np.cumsum([len(pieces) for pieces in spelled])]).astype(np.int64)
        numbered = [place_and_piece for pieces in spelled for place_and_piece in enumerate(pieces)]
        places, pieces = np.array(numbered, dtype=np.int64).reshape(-1, 2).T
        return pieces, bounds, places

    def pieces(self, word: str) -> tuple[int, ...]:
        if word == SENTENCE_END:
            return (END,)
        last = len(self.alphabet) - 1
        letters = [2 + 2 * (i if (i := self.alphabet.find(letter)) >= 0 else last) for letter in word]
        letters = letters[: self.longest]
        return (*letters[:-1], letters[-1] + 1)

    def place(self, before: Sequence[int], last: int | None) -> int:
        return len(before)

    def ends_word(self, piece: int) -> bool:
        return piece % 2 == 1

    def join(self, pieces: Sequence[int]) -> str:
        if tuple(pieces) == (END,):
            return SENTENCE_END
        return "".join(self.alphabet[piece // 2 - 1] for piece in pieces)

    def write(self, pieces: Sequence[int]) -> str:
        return " " + self.join(pieces)

    def is_unknown(self, word: str) -> bool:
        return False

    def check_recipe(self, recipe: Recipe) -> None:
        pass

    def to_dict(self) -> dict[str, Any]:
        return {"alphabet": self.alphabet, "longest": self.longest}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Letters":
        return cls(values["alphabet"], values["longest"])

    def list_words(self) -> list[str]:
        """Every word that can be spelled."""
        words, spelled = [SENTENCE_END], [""]
        for _ in range(self.longest):
            spelled = [word + letter for word in spelled for letter in self.alphabet]
            words += spelled
        return words


@register_backbone("letters")
class LetterBackbone(Backbone):
    """h after a piece sees the last pieces; ``backbone = "letters:LONGEST"`` bounds the letters of a word."""

    def __init__(
        self, config: ModelConfig, pieces: int, start: int, classes: WordClasses | None = None
    ) -> None:
        super().__init__()
        self.config = config
        self.hidden_size = STATE_SIZE
        self.vocabulary_size = pieces
        self.start_piece, self.longest = start, int(config.backbone.partition(":")[2] or 2)
        self.embedding = nn.Embedding(pieces, config.embedding_size)
        self.convolution = nn.Linear(SEEN * config.embedding_size, self.hidden_size)
        if config.mode in ("generative", "rnnlm"):
            self.output = nn.Linear(self.hidden_size, pieces)

    def _see(self, pieces: Tensor) -> Tensor:
        """(P + 1, D) states after the start and each piece, given SEEN pieces in front."""
        windows = pieces.unfold(0, SEEN, 1)
        return torch.tanh(self.convolution(self.embedding(windows).flatten(1)))

    def read(self, documents: Sequence[EncodedWords], carry: Tensor | None = None) -> HiddenStates:
        states, before, after, rows, carries, base = [], [], [], [], [], 0
        for number, words in enumerate(documents):
            first = torch.full((SEEN,), self.start_piece) if carry is None else carry[number]
            pieces = torch.cat([first, torch.from_numpy(words.all_pieces)])
            assert words.piece_bounds is not None
            seen, bounds = self._see(pieces), words.piece_bounds
            states.append(seen)
            before.append(base + bounds[:-1])
            after.append(base + bounds[1:])
            rows.append(base + np.arange(len(words.all_pieces)))
            carries.append(pieces[-SEEN:])
            base += len(seen)
        return HiddenStates(documents, torch.cat(states), before, after, torch.stack(carries), rows)

    def _mask(self, scores: Tensor, places: Tensor) -> Tensor:
        numbers = torch.arange(self.vocabulary_size)
        inside = places[:, None] > 0
        full = places[:, None] >= self.longest - 1
        impossible = (numbers == START) | (inside & (numbers == END)) | (full & (numbers % 2 == 0))
        return scores.masked_fill(impossible, -torch.inf)

    def log_prob(self, u: Tensor, pieces: Tensor, places: Tensor | None = None) -> Tensor:
        assert places is not None
        log_probs = torch.log_softmax(self._mask(self.output(u), places), -1)
        return log_probs.gather(1, pieces[:, None]).squeeze(1)

    def log_probs(self, u: Tensor, places: Tensor | int = 0) -> Tensor:
        scores = self._mask(self.output(u), torch.as_tensor(places).expand(len(u)))
        return scores - scores.logsumexp(-1, keepdim=True)

    def start(self) -> Tensor:
        return torch.full((1, SEEN), self.start_piece)

    def state(self, carry: Tensor) -> Tensor:
        return torch.tanh(self.convolution(self.embedding(carry).flatten(1)))

    def step(self, carry: Tensor, pieces: Tensor) -> Tensor:
        return torch.cat([carry[:, 1:], pieces[:, None]], 1)

    def select(self, carry: Tensor, documents: Sequence[int]) -> Tensor:
        return carry[list(documents)]

    @property
    def piece_vectors(self) -> Tensor:
        return self.embedding.weight


def make_letter_config(tokenizer: Letters, **options: Any) -> ModelConfig:
    """h of 6, e of 4; ``options`` are those of ``ModelConfig``."""
    settings: dict[str, Any] = {
        "backbone": f"letters:{tokenizer.longest}",
        "hidden_size": 4,
        "embedding_size": 3,
        "max_length": 3,
        "sigma": 0.0,
        **options,
    }
    return ModelConfig(**settings)


def make_letter_network(
    tokenizer: Letters, *, seed: int = 0, std: float = 0.6, **options: Any
) -> EntityNetwork:
    """A network in double precision with parameters so large that none of its distributions is flat."""
    network = EntityNetwork(make_letter_config(tokenizer, **options), len(tokenizer), tokenizer.start)
    generator = torch.Generator().manual_seed(seed)
    for parameter in network.parameters():
        parameter.data = std * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return network.double().eval()


def make_letter_encoder(tokenizer: Letters, *, max_length: int = 3) -> Encoder:
    recipe = Recipe(lowercase=True, punctuation="keep", numbers=False)
    return Encoder(recipe, tokenizer, (), "keep", max_length)


def spell_document(
    tokenizer: Letters, words: Sequence[str], analysis: Analysis | None = None, name: str = "letters"
) -> EncodedDocument:
    """Words in sentences of three, with an analysis or none."""
    analysis = analysis or Analysis.empty(len(words))
    places = np.arange(len(words))
    x, pieces = tokenizer.encode(words), tokenizer.encode_pieces(words)
    return EncodedDocument(name, x, *analysis, places // 3, places, *pieces)


def draw_words(tokenizer: Letters, count: int, seed: int = 0) -> list[str]:
    words = tokenizer.list_words()
    return [words[i] for i in np.random.default_rng(seed).integers(0, len(words), count)]


ALPHABET = "abcdefghijklmnopqrstuvwxyz.,'?"


def make_letter_model(*, seed: int = 0, **options: Any) -> Pretrained:
    """A model with all parts over any English words, spelled out; nothing was trained."""
    tokenizer = Letters(ALPHABET, 8)
    pretrained = Pretrained(make_letter_encoder(tokenizer), None)
    generator = torch.Generator().manual_seed(seed)
    for mode in get_args(Mode):
        config = make_letter_config(tokenizer, mode=mode, **options)
        network = pretrained.add(config)
        for parameter in network.parameters():
            parameter.data = 0.5 * torch.randn(parameter.shape, generator=generator)
        network.eval()
    return pretrained
