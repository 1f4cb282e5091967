"""Read the states of a model's backbone (SmolLM2's, or the LSTM's own) before and after the tokens of a story."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from entitynlm.model.backbones.base import Backbone
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document


class StoryStates:
    """States of the generative part's backbone; they are the same whatever the mentions of a story are.

    The state that words are predicted from (D numbers) comes first. A pretrained language model has states of a middle layer
    after it; where a backbone has no other layer, the state that words are predicted from stands for both.
    """

    def __init__(self, encoder: Encoder, backbone: Backbone) -> None:
        self.encoder, self.backbone = encoder, backbone.eval()

    @classmethod
    def of_model(cls, pretrained: Pretrained) -> StoryStates:
        return cls(pretrained.encoder, pretrained.get("generative").backbone)

    @property
    def width(self) -> int:
        """D, the size of the state that words are predicted from."""
        return self.backbone.hidden_size

    @property
    def middle_width(self) -> int:
        """The size of the states that slots and candidates are described by."""
        return self.backbone.state_size - self.width or self.width

    def prepare(self, stories: Sequence[Document], progress: Progress = SILENT) -> None:
        """Let a pretrained language model read stories that are not in its cache yet."""
        self.backbone.prepare([self.encoder.encode_words(story).words for story in stories], progress)

    @torch.no_grad()
    def read(self, story: Document) -> tuple[np.ndarray, np.ndarray]:
        """Return (T + 1, D) and (T + 1, middle) states before each of T tokens and after the last.

        A state has read the words before its token and no other.
        """
        encoded = self.encoder.encode_words(story)
        if not len(encoded):
            shapes = [(len(story) + 1, width) for width in (self.width, self.middle_width)]
            return np.zeros(shapes[0], np.float32), np.zeros(shapes[1], np.float32)
        read = self.backbone.read([encoded.words])
        real = np.flatnonzero(encoded.origin >= 0)  # words that are no </s>
        following = np.searchsorted(encoded.origin[real], np.arange(len(story) + 1))
        rows = np.append(read.before[0][real], read.after[0][-1])[following]
        states = read.table.cpu().numpy()[rows]
        return states[:, : self.width], states[:, -self.middle_width :]

    def find_outputs(self, words: Sequence[str]) -> Tensor:
        """Return (words, D) the language model's output vector of each word's first piece.

        They are zero for words that it does not list, and where the backbone has no softmax over all pieces.
        """
        found = torch.zeros(len(words), self.width)
        layer = self.backbone.output_layer()
        if layer is not None:
            for number, word in enumerate(words):
                encoded = self.encoder.encode_words(Document("word", ("and", word), ((0, 2),)))
                assert encoded.pieces is not None and encoded.piece_bounds is not None
                first = int(encoded.pieces[encoded.piece_bounds[1]])
                found[number] = layer.weight[layer.columns[first]].detach().float().cpu()
        return found
