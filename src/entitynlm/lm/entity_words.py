"""List the words that an entity's vector brings nearer: those that P says of this entity rather than of the others.

In contexts in which mentions start, word probabilities with the entity's vector as e_current (equation 6) are compared with their
mean over all the vectors asked about; a word's part of the divergence between the two says how much it belongs to the entity.
"""

from collections.abc import Sequence

import numpy as np
import torch

from entitynlm.model.additions import find_mention_positions
from entitynlm.model.encoding.preprocessing import is_punctuation, unescape_word
from entitynlm.model.encoding.tokenizer import Tokenizer
from entitynlm.model.encoding.vocabulary import Vocabulary
from entitynlm.model.entitynlm import EntityNetwork

MOST_CONTEXTS = 16


@torch.no_grad()
def list_near_words(
    network: EntityNetwork,
    tokenizer: Tokenizer,
    vectors: np.ndarray,
    mention_types: Sequence[int],
    contexts: np.ndarray,
    *,
    count: int = 8,
) -> list[list[str]]:
    """For each of N vectors (N, D) with its R the words that are nearest to it, in the states (C, D) in which mentions start.

    Where words have several pieces these are words of one piece, or the first pieces of longer ones.
    """
    if not len(vectors) or not len(contexts):
        return [[] for _ in vectors]
    picked = np.linspace(0, len(contexts) - 1, min(MOST_CONTEXTS, len(contexts))).round().astype(int)
    h = torch.from_numpy(contexts[picked]).to(network.W_r)
    one = np.ones(1, dtype=np.int64)
    means = []
    for vector, mention_type in zip(vectors, mention_types, strict=True):
        place = find_mention_positions(network.config, one * mention_type, one, one.astype(bool))
        We = network.project_entity(torch.from_numpy(vector).to(network.W_r))
        states = torch.from_numpy(place).to(h.device).expand(len(h))
        means.append(network.log_prob_words(h, We.expand(len(h), -1), states).exp().mean(0))
    probs = torch.stack(means).double().cpu().numpy()
    score = probs * (np.log(probs + 1e-12) - np.log(probs.mean(0) + 1e-12))
    specials = range(tokenizer.specials) if isinstance(tokenizer, Vocabulary) else tokenizer.never_generated
    score[:, list(specials)] = -np.inf
    nearest = []
    for row in score:
        best = [number for number in np.argsort(-row, kind="stable")[: 4 * count].tolist() if row[number] > 0]
        words = [unescape_word(tokenizer.join((number,))) for number in best]
        nearest.append([word for word in words if not is_punctuation(word)][:count])
    return nearest
