"""Slots: the mentions of a story that a model, or a person, has to predict.

The test slots of InScript are those that people were asked about (``humanPredictions.json``: story, ``sentence_token``, the true
label, 20 guesses), the first 30 of each story. A slot inside a mention asks about that mention, so it is predicted before the
mention's first word. In stories without such a list a similar rule selects the mentions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from entitynlm.errors import DataError
from entitynlm.files import read_json
from entitynlm.text.corpora.corpus import Corpus
from entitynlm.text.document import Document, Mention

GUESSES = "humanPredictions.json"
LIMIT = 30  # the most slots of a story, as in Modi et al. (2017)
FIRST_SENTENCE = 2  # people read two sentences before they were asked anything
OUTSIDE = "NPart"
"""InScript's type of entities that are no participants of the script; people were not asked about them."""

Guesses = Mapping[str, Mapping[tuple[int, int], tuple[str, ...]]]
"""By story and by (sentence, token), both counted from 1: the labels that people guessed."""
TrainingSlots = Sequence[tuple[Document, Sequence[int]]]
"""Annotated stories, and in each the first words of the mentions to learn from."""


@dataclass(frozen=True)
class Slot:
    """The mention at a position; people's guesses, in the order of the file, are entity ids or participants not mentioned yet."""

    position: int
    entity: str
    is_new: bool
    guesses: tuple[str, ...] = ()


@dataclass(frozen=True)
class SlottedStory:
    story: Document
    slots: tuple[Slot, ...]

    @property
    def positions(self) -> list[int]:
        return [slot.position for slot in self.slots]


def read_guesses(path: str | Path) -> Guesses:
    found: dict[str, dict[tuple[int, int], tuple[str, ...]]] = {}
    try:
        stories = read_json(Path(path))
        for story, slots in stories.items():
            own = found.setdefault(str(story), {})
            for key, answers in slots.items():
                sentence, token = map(int, key.split("_"))
                ((_, guesses),) = answers.items()
                own[sentence, token] = tuple(map(str, guesses))
    except OSError as error:
        raise DataError(f"can't be read ({error.strerror or error})", path=path) from error
    except (ValueError, AttributeError, TypeError) as error:
        expected = '{"story": {"sentence_token": {"label": ["guess", …]}}}'
        raise DataError(
            f"people's guesses can't be understood ({error})", path=path, expected=expected
        ) from error
    return found


def find_human_slots(story: Document, guesses: Guesses, *, limit: int = LIMIT) -> SlottedStory:
    slots = []
    for (sentence, token), answers in sorted(guesses.get(story.id, {}).items())[:limit]:
        if not 1 <= sentence <= len(story.sentences):
            raise DataError(f"{story.id}: people were asked about sentence {sentence}, which does not exist")
        position = story.sentences[sentence - 1][0] + token - 1
        around = [m for m in story.mentions if m.start <= position < m.end]
        if not around:
            raise DataError(f"{story.id}: people were asked about {sentence}_{token}, where no mention is")
        slots.append(_make_slot(story, around[-1], answers))
    return SlottedStory(story, tuple(slots))


def find_similar_slots(
    story: Document, *, limit: int | None = LIMIT, first_sentence: int = FIRST_SENTENCE
) -> SlottedStory:
    """Find mentions like those that people were asked about; annotation (verbs, types) only selects *which* ones to ask about."""
    verbs = story.column("verb_head")
    has_verbs = any(verbs)
    chosen = [
        mention
        for mention in story.mentions
        if story.sentence_of[mention.start] >= first_sentence
        and (not has_verbs or any(verbs[mention.start : mention.end]))
        and story.entity_types.get(mention.entity) != OUTSIDE
    ]
    return SlottedStory(story, tuple(_make_slot(story, mention) for mention in chosen[:limit]))


def find_all_slots(story: Document) -> SlottedStory:
    return SlottedStory(story, tuple(_make_slot(story, mention) for mention in story.mentions))


def collect_slots(stories: Sequence[Document], guesses: Guesses | None) -> list[SlottedStory]:
    """Collect the slots of many stories: people's if there are any, else similar ones; leave out stories without slots."""
    if guesses is not None and any(story.id in guesses for story in stories):
        found = [find_human_slots(story, guesses) for story in stories]
    else:
        found = [find_similar_slots(story) for story in stories]
    return [slotted for slotted in found if slotted.slots]


def read_slots(corpus: Corpus, split: str | None) -> list[SlottedStory]:
    """Read the slots of a split (None: all splits), with people's guesses where the corpus has them."""
    path = corpus.path / GUESSES
    return collect_slots(list(corpus.documents(split)), read_guesses(path) if path.is_file() else None)


def has_guesses(stories: Sequence[SlottedStory]) -> bool:
    """Tell whether people were asked at every slot."""
    return bool(stories) and all(slot.guesses for slotted in stories for slot in slotted.slots)


def _make_slot(story: Document, mention: Mention, guesses: tuple[str, ...] = ()) -> Slot:
    first = next(m.start for m in story.mentions if m.entity == mention.entity)
    return Slot(mention.start, mention.entity, first == mention.start, guesses)
