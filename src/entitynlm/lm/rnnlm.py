"""Score words by the language model without entities (``model.rnnlm``), the baseline that a model carries."""

import numpy as np
import numpy.typing as npt
import torch

from entitynlm.inference.scoring import SCORED_WORDS
from entitynlm.model.batch.scores import Carried
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.rnnlm import LanguageModel


@torch.no_grad()
def score_baseline(
    network: LanguageModel, document: EncodedDocument, *, window: int = SCORED_WORDS
) -> npt.NDArray[np.float64]:
    """Give (T,) log p(x_t | x_<t) in nats."""
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
