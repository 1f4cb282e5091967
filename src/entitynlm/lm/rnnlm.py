"""The RNNLM baseline: log p(x_t | x_<t) of documents by the LSTM of ``model.rnnlm``, a part of a model like the others."""

import numpy as np
import numpy.typing as npt
import torch

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
