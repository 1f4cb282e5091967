"""A plan of a story: who acts next, with probabilities, sentence by sentence.

The model predicts the next entity well (Table 3 of the paper), and its prose is weak. So a plan consists of the distribution over
entities by equation 4 at the start of each sentence, given that a mention comes there; its sentences are what the model read on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from entitynlm.generation.continuations import prepare_writer
from entitynlm.generation.rendering import list_mention_spans
from entitynlm.generation.request import ContinuationRequest
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document

NEW_ACTOR = ""  # the name of an entity that has none yet, as in entity prediction


@dataclass(frozen=True)
class PlanStep:
    """The first mention of a sentence.

    :param actor: the name of the entity, and :param is_new: whether it comes up here.
    :param probability: of this choice (of any new entity, where it is one).
    :param candidates: (name, probability) of all that could have come, the likeliest first; NEW_ACTOR is any new entity.
    :param sentence: a sentence about it, drawn from the model.
    """

    actor: str
    is_new: bool
    probability: float
    candidates: tuple[tuple[str, float], ...]
    sentence: str


def plan_story(
    pretrained: Pretrained,
    prompt: Document | None = None,
    request: ContinuationRequest | None = None,
    *,
    steps: int = 5,
    seed: int = 0,
) -> list[PlanStep]:
    """Plan ``steps`` sentences, each with the entity that it starts from, named as in the text, the cast or its first mention."""
    request = request or ContinuationRequest()
    writer = prepare_writer(pretrained, prompt, replace(request, next_entity=None), seed)
    first = writer.require_entity(request.next_entity) if request.next_entity is not None else None
    partial = writer.begin()
    while not partial.fresh:  # the prompt breaks off: its sentence is ended first
        writer.extend(partial)
    names = {number: " ".join(words) for number, words in writer.names.items()}
    plan: list[PlanStep] = []
    for number in range(steps):
        state, before = partial.state, len(partial.words)
        assert state.hidden is not None
        probs = state.expect(state.hidden, 0).referents()
        if not request.new_entities and len(probs) > 1:
            probs = np.append(0.0, probs[1:] / probs[1:].sum())
        if number == 0 and first is not None:
            partial.constraints = replace(partial.constraints, next_entity=first)
        known = state.history.entities
        writer.extend(partial, mention=True)
        actor = partial.words[-1].e
        while not partial.fresh or partial.state.history.remaining:
            writer.extend(partial)
        words = partial.words[before:]
        for start, end, entity in list_mention_spans(partial.words):
            if entity not in names:  # it is called by its first mention
                names[entity] = writer.renderer.show_mention(partial.words[start:end], entity)
        ranked = [
            (NEW_ACTOR, float(probs[0])),
            *((names.get(n, f"#{n}"), float(probs[n])) for n in range(1, known + 1)),
        ]
        ranked.sort(key=lambda pair: -pair[1])
        is_new = actor > known
        probability = float(probs[0] if is_new else probs[actor])
        sentence = writer.finish(replace(partial, words=[*words]), "step").text
        plan.append(PlanStep(names.get(actor, f"#{actor}"), is_new, probability, tuple(ranked), sentence))
    return plan
