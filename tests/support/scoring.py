"""Score whole documents in one batch."""

from collections.abc import Sequence

from entitynlm.model.batch.scores import Scores, cut_windows, score_windows
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import Noise


def score_encoded(
    network: EntityNetwork, documents: Sequence[EncodedDocument], *, noise: Noise | None
) -> Scores:
    """Read, lay out and score whole documents."""
    windows = [cut_windows(document, network)[0] for document in documents]
    return score_windows(network, windows, noise=noise).scores
