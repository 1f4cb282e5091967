"""How hard the stories are: entity prediction by a reader who knows the scripts and by three baselines.

The knowing reader enumerates all sentences that could come next with their probabilities, keeps those that begin like the one
it is reading, and sums up who would be mentioned here. It knows nothing of the choices that are still to be drawn.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from entitynlm.errors import DataError
from entitynlm.text.document import Document, Mention
from entitynlm.text.stories.generator import SentencePlan, StoryPlan, generate_story, weigh_link
from entitynlm.text.stories.scenarios import load_detours
from entitynlm.text.stories.script import ScriptState, enumerate_events
from entitynlm.text.stories.templates import Template, TemplateSlot, compile_event

NEW = "new"
FIRST_SENTENCE = 2
"""Slots are counted from the third sentence on, as in the protocol of entity prediction on InScript."""
REQUIRED_MARGIN = 15.0
"""Points of accuracy that each baseline has to stay under the reader who knows the script."""


KNOWING = "knows the script"
BASELINES: Mapping[str, Callable[[Sequence[str]], str]] = {
    "always new": lambda before: NEW,
    "most recent": lambda before: before[-1] if before else NEW,
    "most frequent": lambda before: max(reversed(before), key=before.count, default=NEW),
}
"""What each baseline guesses from the entities of the mentions before; of several that are as frequent, the latest."""


def measure_difficulty(documents: Iterable[Document]) -> dict[str, object]:
    """Accuracies of entity prediction on generated stories, in percent.

    A slot is an outermost mention from the third sentence on; the answer is an old entity or "new". ``margin`` has the points
    between the knowing reader and the best baseline.
    """
    right = {KNOWING: 0} | dict.fromkeys(BASELINES, 0)
    slots = count = 0
    for document in documents:
        count += 1
        guesses = [guess.right for guess in predict_by_script(_generate_again(document))]
        slots += len(guesses)
        right[KNOWING] += sum(guesses)
        before: list[str] = []
        for mention in find_outermost(document):
            if document.sentence_of[mention.start] >= FIRST_SENTENCE:
                truth = mention.entity if mention.entity in before else NEW
                for name, guess in BASELINES.items():
                    right[name] += guess(before) == truth
            before.append(mention.entity)
    accuracy = {name: 100 * hits / slots if slots else 0.0 for name, hits in right.items()}
    margin = accuracy[KNOWING] - max(accuracy[name] for name in BASELINES)
    return {
        "documents": count,
        "slots": slots,
        "accuracy": accuracy,
        "margin": margin,
        "required_margin": REQUIRED_MARGIN,
        "hard_enough": margin >= REQUIRED_MARGIN,
    }


def _generate_again(document: Document) -> StoryPlan:
    """Generate a story again from its seed, to know what could have come at each point."""
    try:
        seed, story = int(document.meta["seed"]), int(document.meta["story"])
    except (KeyError, ValueError) as error:
        raise DataError(
            f"document {document.id!r} is no generated story as it came from the generator",
            hint="Difficulty is measured on what `entitynlm data get stories` makes",
        ) from error
    plan = generate_story(story, seed=seed)
    if plan.document.tokens != document.tokens:
        raise DataError(f"document {document.id!r} is not story {story} of seed {seed} any more")
    return plan


def find_outermost(document: Document) -> list[Mention]:
    """The mentions that lie in no other one, in text order: those that entity prediction is about."""
    outermost: list[Mention] = []
    for mention in document.mentions:  # sorted: enclosing ones first
        if not outermost or mention.start >= outermost[-1].end:
            outermost.append(mention)
    return outermost


@dataclass(frozen=True, slots=True)
class SlotGuess:
    """The distribution over old entities and ``new`` at one slot, by role, and what came."""

    probabilities: dict[str, float]
    truth: str

    @property
    def right(self) -> bool:
        return max(self.probabilities, key=lambda role: self.probabilities[role]) == self.truth


def predict_by_script(plan: StoryPlan) -> Iterator[SlotGuess]:
    """The guesses of the reader who knows the scripts, slot by slot."""
    seen: set[str] = set()
    for number, sentence in enumerate(plan.sentences):
        if number < FIRST_SENTENCE:
            seen.update(sentence.slots)
        else:
            yield from _predict_sentence(sentence, seen)


def _predict_sentence(plan: SentencePlan, seen: set[str]) -> Iterator[SlotGuess]:
    own = _list_items(plan.state, plan.template)
    possible = list(_enumerate_sentences(plan))
    for place, (is_slot, truth) in enumerate(own):
        if not is_slot:
            continue
        possible = [
            (probability, items)
            for probability, items in possible
            if items[:place] == own[:place] and len(items) > place and items[place][0]
        ]
        sums: dict[str, float] = defaultdict(float)
        for probability, items in possible:
            role = items[place][1]
            sums[role if role in seen else NEW] += probability
        total = sum(sums.values())
        probabilities = {role: value / total for role, value in sums.items()}
        yield SlotGuess(probabilities, truth if truth in seen else NEW)
        seen.add(truth)


def _enumerate_sentences(plan: SentencePlan) -> Iterator[tuple[float, list[tuple[bool, str]]]]:
    """All sentences that could come, given the script and whether a linking phrase was read, with probabilities."""
    for probability, state in enumerate_events(plan.before, load_detours()):
        for weight, template in compile_event(state.event):
            link = weigh_link(state.event, template)
            share = link if plan.linked else 1 - link
            if share > 0:
                yield probability * weight * share, _list_items(state, template)


def _list_items(state: ScriptState, template: Template) -> list[tuple[bool, str]]:
    """What stands in a sentence: slots (True) with their roles, and words."""
    return [
        (True, state.resolve(item.role)) if isinstance(item, TemplateSlot) else (False, item.form)
        for item in template.items
    ]
