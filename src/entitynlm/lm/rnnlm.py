"""The RNNLM baseline: log p(x_t | x_<t) of documents by the LSTM of ``model.rnnlm``, a part of a model like the others."""

import numpy as np
import numpy.typing as npt
import torch

from entitynlm.inference.readings import cut_steadily, fill_up
from entitynlm.inference.words.word_scorer import score_states
from entitynlm.model.batch.scores import Carried
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.rnnlm import LanguageModel

WINDOW = 4_000  # words scored at once: long enough to be fast, short enough for any memory


@torch.no_grad()
def score_words(
    network: LanguageModel, document: EncodedDocument, *, window: int = WINDOW
) -> npt.NDArray[np.float64]:
    """(T,) log p(x_t | x_<t) in nats."""
    network.eval()
    carried: Carried | None = None
    pieces = [np.zeros(0)]
    for part in network.cut(document, window):
        if len(part.words) == 0:
            continue
        result = network.score([part], carried)
        carried = result.carried.select(network.backbone, [0])
        pieces.append(result.scores.x.double().cpu().numpy())
    return np.concatenate(pieces)


@torch.no_grad()
def score_words_steadily(network: LanguageModel, document: EncodedDocument) -> npt.NDArray[np.float64]:
    """The same, to the last digit the same for a text and its beginning; of an LSTM that reads straight on."""
    if document.pieces is not None:
        return score_words(network, document)
    network.eval()
    carry, factors = None, network.backbone.class_factors()
    found = [np.zeros(0)]
    for start, stop, full in cut_steadily(len(document)):
        words = fill_up(document.words[start:stop], full - start)
        reading = network.backbone.read([words], carry)
        carry = reading.carry
        states = network.backbone.output_states(reading.table[torch.from_numpy(reading.before[0])])
        found.append(score_states(network.backbone, states, words.x, factors)[: stop - start])
    return np.concatenate(found)
