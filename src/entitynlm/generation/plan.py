"""A plan: who acts next, with the probability of every candidate.

The model predicts the next entity well (Table 3 of the paper), better than a small model writes prose. So a plan consists of the
distribution over entities by equation 4 at the next word, given that a mention starts there; no word is drawn for it.
"""

import torch

from entitynlm.generation.opening import StoryOpening
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document

NEW_ACTOR = ""  # the name of an entity that has none yet, as in entity prediction


def plan_next(
    pretrained: Pretrained,
    prompt: Document | None = None,
    cast: tuple[str, ...] = (),
    *,
    new_entities: bool = True,
    seed: int = 0,
) -> list[tuple[str, float]]:
    """List (name, probability) of all who could act next, the likeliest first; :data:`NEW_ACTOR` is any new entity.

    :param new_entities: whether an entity that neither the prompt nor the cast has may come.
    """
    opening = StoryOpening(pretrained, prompt, cast, torch.Generator(device="cpu").manual_seed(seed))
    assert opening.state.hidden is not None
    probs = opening.state.expect(opening.state.hidden, 0).referents()
    candidates = [(" ".join(opening.names.get(n, (f"#{n}",))), float(probs[n])) for n in range(1, len(probs))]
    if new_entities or not candidates:
        candidates.append((NEW_ACTOR, float(probs[0])))
    total = sum(probability for _, probability in candidates)
    return sorted(((name, own / total) for name, own in candidates), key=lambda pair: -pair[1])
