"""The generator: seeded annotated stories, one after the other, each a document of its own.

Story ``i`` depends on the seed and ``i`` alone, so a corpus can be cut, streamed or made longer without changing what
it has. Stories are always named as generated, in their id and in their metadata.
"""

from collections.abc import Iterator
from random import Random

from entitynlm.errors import ConfigError
from entitynlm.stories.cast import StoryCast
from entitynlm.stories.lexicon import choose, choose_weighted, load_lexicon
from entitynlm.stories.reference import MentionContext, Phrase, StoryDiscourse
from entitynlm.stories.script import Scenario, StoryEvent, draw_events, load_scenarios
from entitynlm.stories.templates import Template, compile_wordings
from entitynlm.text.detokenization import join_tokens
from entitynlm.text.document import Document, Mention, Span

SPLITS = ("train", "dev", "test")
SENTENCES, TOKENS, ENTITIES = (8, 20), (80, 250), (10, 25)
"""Bounds, both ends included, within which every story is; others are drawn again."""


def generate_stories(documents: int, *, seed: int, split: str | None = None) -> Iterator[Document]:
    """Generate a corpus of so many stories, or one split of it, one by one."""
    if documents < 1:
        raise ConfigError(f"a corpus of {documents} stories makes no sense; ask for at least one")
    if split is not None and split not in SPLITS:
        raise ConfigError(f"there is no split {split!r}; choose one of {', '.join(SPLITS)}")
    for story in range(documents):
        if split is None or find_split(story) == split:
            yield generate_story(story, seed=seed)


def split_stories(documents: int, *, seed: int) -> dict[str, list[Document]]:
    """Generate stories as train, dev and test: eight, one and one of every ten."""
    return {split: list(generate_stories(documents, seed=seed, split=split)) for split in SPLITS}


def find_split(story: int) -> str:
    """Find the split of a story by its number, so that a longer corpus never moves a story elsewhere."""
    return {4: "dev", 9: "test"}.get(story % 10, "train")


def generate_story(story: int, *, seed: int) -> Document:
    """Generate one story; drafts that come out too short or too long are drawn again."""
    random = Random(f"entitynlm stories {seed} {story}")  # a text as seed is hashed alike everywhere
    while True:
        scenario = choose(load_scenarios(), random)
        sentences, cast = _draft(scenario, random)
        if _fits(sentences):
            return _make_document(story, seed, scenario, sentences, cast)


def _draft(scenario: Scenario, random: Random) -> tuple[list[Phrase], StoryCast]:
    discourse = StoryDiscourse(StoryCast(scenario.roles, random), random)
    sentences: list[Phrase] = []
    for event in draw_events(scenario.steps, random):
        template = choose_weighted(compile_wordings(event.wordings), random)
        sentences.append(realise(discourse, event, template))
        discourse.sentence += 1
    return sentences, discourse.cast


def _fits(sentences: list[Phrase]) -> bool:
    words = sum(len(sentence.words) for sentence in sentences)
    entities = len({key for sentence in sentences for _, _, key, _ in sentence.mentions})
    measured = ((len(sentences), SENTENCES), (words, TOKENS), (entities, ENTITIES))
    return all(low <= value <= high for value, (low, high) in measured)


def _make_document(
    story: int, seed: int, scenario: Scenario, sentences: list[Phrase], cast: StoryCast
) -> Document:
    """Put the sentences together; entities are numbered in the order of their first mention."""
    tokens: list[str] = []
    spans: list[Span] = []
    mentions: list[Mention] = []
    numbers: dict[str, str] = {}
    for sentence in sentences:
        start = len(tokens)
        tokens += sentence.words
        spans.append((start, len(tokens)))
        for first, last, key, head in sorted(sentence.mentions, key=lambda m: (m[0], -m[1])):
            number = numbers.setdefault(key, str(len(numbers) + 1))
            mentions.append(Mention(start + first, start + last, number, head=start + head))
    text, offsets = join_tokens(tokens)
    return Document(
        id=f"stories-{seed}-{story:06d}",
        tokens=tuple(tokens),
        sentences=tuple(spans),
        mentions=tuple(mentions),
        entity_types={number: cast[key].role.type for key, number in numbers.items()},
        text=text,
        offsets=offsets,
        meta={
            "scenario": scenario.name,
            "generated": f"entitynlm stories, seed={seed}",
            "seed": str(seed),
            "story": str(story),
        },
    )


def realise(discourse: StoryDiscourse, event: StoryEvent, template: Template) -> Phrase:
    """Say an event in the words of a template."""
    sentence = Phrase()
    places: list[int] = []
    agreements: dict[int, str] = {}
    for item in template:
        places.append(len(sentence.words))
        if isinstance(item, str):
            sentence.words.append(item)
            continue
        speaker, hearer = (event.speaker, event.hearer) if item.quoted else (None, None)
        context = MentionContext(item.relation, item.form, speaker, hearer, event.clear)
        phrase = discourse.refer(item.role, context)
        sentence.append(phrase)
        if item.verb is not None:
            agreements[item.verb] = phrase.agreement
    for index, agreement in agreements.items():
        place = places[index]
        sentence.words[place] = inflect(sentence.words[place], agreement)
    for index, word in enumerate(sentence.words):
        if index == 0 or (sentence.words[index - 1] == '"' and sentence.words[:index].count('"') % 2):
            sentence.words[index] = word[0].upper() + word[1:]
    return sentence


def inflect(verb: str, agreement: str) -> str:
    """Inflect a verb that the lexicon lists with its forms after I, he and they; others have one form."""
    forms = load_lexicon()["agreement"].get(verb.lower())
    found: str = forms.split()[("1s", "3s", "pl").index(agreement)] if forms else verb
    return found.capitalize() if verb[0].isupper() else found
