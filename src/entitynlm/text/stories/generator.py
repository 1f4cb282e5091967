"""The generator: seeded annotated stories, one after the other, each a document of its own.

Story ``i`` depends on the seed and ``i`` alone, so a corpus can be cut, streamed or made longer without changing what
it has. Stories are always named as generated, in their id and in their metadata.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from entitynlm.errors import ConfigError
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.stories.cast import StoryCast, choose
from entitynlm.text.stories.lexicon import list_words, look_up
from entitynlm.text.stories.realisation import detokenise, find_upos, realise
from entitynlm.text.stories.reference import Discourse, Phrase
from entitynlm.text.stories.scenarios import load_detours, load_scenarios
from entitynlm.text.stories.script import Scenario, ScriptState, StoryEvent, choose_weighted, draw_event
from entitynlm.text.stories.templates import Template, TemplateSlot, compile_event

SPLITS = ("train", "dev", "test")
LINK_PROBABILITY = 0.15
SENTENCES, TOKENS, ENTITIES = (8, 20), (80, 250), (10, 25)
"""Bounds, both ends included, within which every story is; others are drawn again."""
DRAFTS = 1000  # after so many drafts that are too short or too long there is an error


@dataclass(frozen=True, eq=False)
class SentencePlan:
    """One sentence as it was drawn: the script before it and with its event next, its wording, who fills the slots."""

    before: ScriptState
    state: ScriptState
    template: Template
    linked: bool
    slots: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class StoryPlan:
    """A story with the choices that made it, for the reader who knows the scripts."""

    document: Document
    sentences: tuple[SentencePlan, ...]


def generate_stories(
    documents: int, *, seed: int, split: str | None = None, scenarios: Sequence[Scenario] = ()
) -> Iterator[Document]:
    """Generate a corpus of so many stories, or those of one split of it, one by one.

    :param scenarios: what the stories are about, from :func:`read_scenario`; without, the scenarios of the package.
    """
    if documents < 1:
        raise ConfigError(f"a corpus of {documents} stories makes no sense; ask for at least one")
    if split is not None and split not in SPLITS:
        raise ConfigError(f"there is no split {split!r}; choose one of {', '.join(SPLITS)}")
    for story in range(documents):
        if split is None or find_split(story) == split:
            yield generate_story(story, seed=seed, scenarios=scenarios).document


def split_stories(documents: int, *, seed: int) -> dict[str, list[Document]]:
    """The same stories as train, dev and test: eight, one and one of every ten."""
    splits: dict[str, list[Document]] = {name: [] for name in SPLITS}
    for story, document in enumerate(generate_stories(documents, seed=seed)):
        splits[find_split(story)].append(document)
    return splits


def find_split(story: int) -> str:
    """The split of a story by its number, so that a longer corpus never moves a story elsewhere."""
    return {4: "dev", 9: "test"}.get(story % 10, "train")


def generate_story(story: int, *, seed: int, scenarios: Sequence[Scenario] = ()) -> StoryPlan:
    """Generate one story; drafts that come out too short or too long are drawn again."""
    random = Random(f"entitynlm stories {seed} {story}")  # a text as seed is hashed alike everywhere
    for _ in range(DRAFTS):
        scenario = choose(scenarios or load_scenarios(), random)
        plans, sentences, discourse = _draft(scenario, random)
        if _fits(sentences):
            return StoryPlan(_make_document(story, seed, scenario, sentences, discourse), tuple(plans))
    raise ConfigError(
        f"no story of the scenario {scenario.name!r} has {SENTENCES[0]} to {SENTENCES[1]} sentences, {TOKENS[0]} to "
        f"{TOKENS[1]} tokens and {ENTITIES[0]} to {ENTITIES[1]} entities; give it more or fewer events and roles"
    )


def _draft(scenario: Scenario, random: Random) -> tuple[list[SentencePlan], list[Phrase], Discourse]:
    narrator = scenario.hero if random.random() < scenario.narrated else None
    discourse = Discourse(StoryCast(scenario.roles, narrator, random), random)
    before = ScriptState(scenario.steps, {"hero": scenario.hero})
    links = list_words("linking_phrases")
    plans: list[SentencePlan] = []
    sentences: list[Phrase] = []
    while (state := draw_event(before, load_detours(), random)) is not None:
        for scene in state.scenes[len(before.scenes) :]:
            discourse.cast.add_roles(scene.roles)
        template = choose_weighted(compile_event(state.event), random)
        link = weigh_link(state.event, template)
        linked = bool(plans) and link > 0 and random.random() < link
        discourse.registers = state.registers
        sentence, slots = realise(discourse, state, template, choose(links, random) if linked else "")
        plans.append(SentencePlan(before, state, template, linked, slots))
        sentences.append(sentence)
        for role, adjective in state.event.gains:
            discourse.cast[state.resolve(role)].gained = None if adjective == "-" else look_up(adjective)
        before = state.pass_event(slots)
        discourse.sentence += 1
    return plans, sentences, discourse


def weigh_link(event: StoryEvent, template: Template) -> float:
    """The probability of a linking phrase: none unless the event allows it and the wording begins with a mention."""
    return LINK_PROBABILITY if event.linked and isinstance(template.items[0], TemplateSlot) else 0.0


def _fits(sentences: list[Phrase]) -> bool:
    tokens = sum(len(sentence.tokens) for sentence in sentences)
    entities = len({key for sentence in sentences for _, _, key, _ in sentence.mentions})
    measured = ((len(sentences), SENTENCES), (tokens, TOKENS), (entities, ENTITIES))
    return all(low <= value <= high for value, (low, high) in measured)


def _make_document(
    story: int, seed: int, scenario: Scenario, sentences: list[Phrase], discourse: Discourse
) -> Document:
    """Put the sentences together; entities are numbered in the order of their first mention."""
    tokens = [token for sentence in sentences for token in sentence.tokens]
    text, offsets = detokenise(tokens)
    spans: list[Span] = []
    heads: list[int] = []
    mentions: list[Mention] = []
    numbers: dict[str, str] = {}
    for sentence in sentences:
        start = len(heads)
        heads += [token.head + start if token.head >= 0 else -1 for token in sentence.tokens]
        spans.append((start, len(heads)))
        for first, last, key, head in sorted(sentence.mentions, key=lambda m: (m[0], -m[1])):
            number = numbers.setdefault(key, str(len(numbers) + 1))
            mentions.append(Mention(start + first, start + last, number, head=start + head))
    return Document(
        id=f"stories-{seed}-{story:06d}",
        tokens=tuple(token.form for token in tokens),
        sentences=tuple(spans),
        mentions=tuple(mentions),
        entity_types={number: discourse.cast[key].role.type for key, number in numbers.items()},
        text=text,
        offsets=offsets,
        columns={
            "pos": tuple(token.pos for token in tokens),
            "upos": tuple(find_upos(token) for token in tokens),
            "lemma": tuple(token.lemma for token in tokens),
            "deprel": tuple(token.relation for token in tokens),
        },
        heads=tuple(heads),
        meta={
            "scenario": scenario.name,
            "generated": f"entitynlm stories, seed={seed}",
            "seed": str(seed),
            "story": str(story),
        },
    )
