"""How hard the stories are: entity prediction by readers who know the scripts and by readers who do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from entitynlm.errors import DataError
from entitynlm.text.document import Document
from entitynlm.text.stories.generator import tell_story
from entitynlm.text.stories.readers import (
    FIRST_SENTENCE,
    NEW,
    find_outermost,
    guess_always_new,
    guess_most_frequent,
    guess_most_recent,
    read_knowingly,
)

KNOWING = "knows the script"
BASELINES: Mapping[str, Callable[[Sequence[str]], str]] = {
    "always new": guess_always_new,
    "most recent": guess_most_recent,
    "most frequent": guess_most_frequent,
}
REQUIRED_MARGIN = 15.0
"""Points of accuracy that each baseline has to stay under the reader who knows the script."""


def measure_difficulty(documents: Iterable[Document]) -> dict[str, object]:
    """Accuracies of entity prediction on generated stories, in percent.

    A slot is an outermost mention from the third sentence on; the answer is an old entity or "new". Nested mentions
    don't count, also not as first mentions. The result has ``documents``, ``slots``, ``accuracy`` (by reader),
    ``margin`` (points between the knowing reader and the best baseline), ``required_margin`` and ``hard_enough``.
    """
    right = {KNOWING: 0} | dict.fromkeys(BASELINES, 0)
    slots = count = 0
    for document in documents:
        count += 1
        guesses = _read_as_knowing(document)
        slots += len(guesses)
        right[KNOWING] += sum(guesses)
        for name, hits in _read_as_baselines(document).items():
            right[name] += hits
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


def _read_as_knowing(document: Document) -> list[bool]:
    """Tell the story again from its seed, to know what could have come at each point."""
    try:
        seed, story = int(document.meta["seed"]), int(document.meta["story"])
    except (KeyError, ValueError) as error:
        raise DataError(
            f"document {document.id!r} is no generated story as it came from the generator",
            hint="Difficulty is measured on what `entitynlm data get stories` makes",
        ) from error
    telling = tell_story(story, seed=seed)
    if telling.document.tokens != document.tokens:
        raise DataError(f"document {document.id!r} is not story {story} of seed {seed} any more")
    return [guess.right for guess in read_knowingly(telling)]


def _read_as_baselines(document: Document) -> dict[str, int]:
    hits = dict.fromkeys(BASELINES, 0)
    before: list[str] = []
    for mention in find_outermost(document):
        if document.sentence_of[mention.start] >= FIRST_SENTENCE:
            truth = mention.entity if mention.entity in before else NEW
            for name, guess in BASELINES.items():
                hits[name] += guess(before) == truth
        before.append(mention.entity)
    return hits
