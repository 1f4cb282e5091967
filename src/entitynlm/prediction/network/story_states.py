"""What a frozen language model makes of a story: the states that the predictor looks at, read once and kept on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from entitynlm.errors import ModelError
from entitynlm.model.backbones.huggingface.backbone import choose_layers
from entitynlm.model.backbones.huggingface.state_cache import read_cached
from entitynlm.model.backbones.huggingface.tokenizer import SubwordTokenizer
from entitynlm.model.backbones.huggingface.weights import load_language_model
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document

RECIPE = Recipe(lowercase=False, punctuation="keep", numbers=False, sentence_ends=False)


class StoryStates:
    """States of one layer: that of a model's default choice which is not the last (see ``choose_layers``).

    :param name: of the language model.  :param digest: of its files, if it must be a certain one.
    """

    def __init__(self, name: str, digest: str | None = None) -> None:
        self.runtime = load_language_model(name, digest)
        self.layers = choose_layers("", self.runtime.layers, "generative")
        self.encoder = Encoder(RECIPE, SubwordTokenizer.of_runtime(self.runtime))

    @property
    def width(self) -> int:
        """W, the numbers of a state."""
        return self.runtime.width

    def prepare(self, stories: Sequence[Document], progress: Progress = SILENT) -> None:
        """Let the language model read stories that were not read before."""
        read_cached(self.runtime, [self.spell(story)[0] for story in stories], self.layers, progress)

    def read(self, story: Document) -> np.ndarray:
        """(T + 1, W) the state before each token, and the one after the last."""
        pieces, rows = self.spell(story)
        (states,) = read_cached(self.runtime, [pieces], self.layers)
        return np.array(states[rows, -self.width :])

    def spell(self, story: Document) -> tuple[np.ndarray, np.ndarray]:
        """The pieces that are read, and how many of them there are before each token and after the last."""
        words = self.encoder.encode_words(story).words
        if len(words) != len(story) or words.piece_bounds is None:
            raise ModelError(f"{story.id}: a language model reads all tokens of a story")
        real = words.all_pieces < self.runtime.pieces
        return words.all_pieces[real], np.concatenate([[0], np.cumsum(real)])[words.piece_bounds]

    def to_dict(self) -> dict[str, Any]:
        return {"language_model": self.runtime.name, "digest": self.runtime.digest}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> StoryStates:
        return cls(values["language_model"], values["digest"])
