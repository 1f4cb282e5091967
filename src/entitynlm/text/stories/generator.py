"""The generator: seeded annotated stories, one after the other, each a document of its own.

Story ``i`` depends on the seed and ``i`` alone, so a corpus can be cut, streamed or made longer without changing what
it has. Stories are always named as generated, in their id and in their metadata.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from entitynlm.errors import ConfigError
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.segmentation import join_words
from entitynlm.text.stories.cast import StoryCast, choose
from entitynlm.text.stories.lexicon import has_word, inflect_third_person, list_words, look_up
from entitynlm.text.stories.reference import Discourse, MentionContext, Phrase, Token, refer
from entitynlm.text.stories.scenarios import load_detours, load_scenarios
from entitynlm.text.stories.script import Scenario, ScriptState, StoryEvent, choose_weighted, draw_event
from entitynlm.text.stories.templates import Template, TemplateSlot, compile_event

BE_FORMS = {"VBD": {"1s": "was", "3s": "was", "pl": "were"}, "": {"1s": "am", "3s": "is", "pl": "are"}}
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
    """Generate a corpus of so many stories, or one split of it, one by one; without ``scenarios``, by those of the package."""
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
            discourse.cast.roles.update((role.key, role) for role in scene.roles)
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


def realise(
    discourse: Discourse, state: ScriptState, template: Template, link: str
) -> tuple[Phrase, tuple[str, ...]]:
    """Say the next event in the words of a template after a linking phrase; beside the sentence are the roles of its slots."""
    sentence, slots = Phrase(), []
    for parts in link.split(";") if link else ():
        form, tag, head, relation = parts.split()
        sentence.add(form, tag, int(head), relation)
    prefix = len(sentence.tokens)
    anchors: list[int] = []
    agreements: dict[int, str] = {}
    for index, item in enumerate(template.items):
        if isinstance(item, TemplateSlot):
            slots.append(state.resolve(item.role))
            phrase = refer(discourse, slots[-1], _find_context(template, index, item, state))
            moves = _moves_particle(template, index, phrase)
            particle = sentence.tokens.pop() if moves else None
            anchors.append(sentence.append(phrase))
            if particle is not None:
                anchors[index - 1] = len(sentence.tokens)
                sentence.tokens.append(particle)
            agreements[index] = phrase.agreement
        else:
            anchors.append(len(sentence.tokens))
            sentence.add(item.form, template.tree.tags[index], -1, "", item.lemma)
    _attach(sentence, template, anchors, prefix)
    _agree(sentence, template, anchors, agreements)
    for index, token in enumerate(sentence.tokens):
        if index == 0 or sentence.tokens[index - 1].pos == "``":
            token.form = _capitalise(token.form)
    return sentence, tuple(slots)


def _capitalise(form: str) -> str:
    return form[0].upper() + form[1:]


def _moves_particle(template: Template, index: int, phrase: Phrase) -> bool:
    """Whether the particle before an object has to follow it, a pronoun: she put it on, not she put on it."""
    relations = template.tree.relations
    pronoun = len(phrase.tokens) == 1 and phrase.tokens[0].pos == "PRP"
    return pronoun and relations[index] == "obj" and relations[index - 1] == "compound:prt"


def _find_context(template: Template, index: int, slot: TemplateSlot, state: ScriptState) -> MentionContext:
    tree, event = template.tree, state.event
    relation, form = tree.relations[index], slot.form
    if relation == "conj":  # the case of a coordinated mention is that of the first one
        relation = tree.relations[tree.heads[index]]
    if not form and relation == "obj" and _has_dependent(template, tree.heads[index], "iobj"):
        form = "full"  # gave her it is no English
    speaker = state.resolve(event.speaker) if slot.quoted and event.speaker else None
    hearer = state.resolve(event.hearer) if slot.quoted and event.hearer else None
    return MentionContext(relation, form, speaker, hearer, event.clear)


def _has_dependent(template: Template, head: int, relation: str) -> bool:
    return (head, relation) in zip(template.tree.heads, template.tree.relations, strict=True)


def _attach(sentence: Phrase, template: Template, anchors: list[int], prefix: int) -> None:
    """Turn the template's tree into heads of tokens, and attach the linking phrase to the root."""
    tree = template.tree
    for anchor, head, relation in zip(anchors, tree.heads, tree.relations, strict=True):
        sentence.attach(anchor, anchors[head] if head >= 0 else -1, relation)
    root = anchors[tree.heads.index(-1)]
    for token in sentence.tokens[:prefix]:
        if token.head == -1:
            token.head = root


def _agree(sentence: Phrase, template: Template, anchors: list[int], agreements: dict[int, str]) -> None:
    for index, subject in template.subjects.items():
        if subject not in agreements:
            continue
        agreement = "pl" if _has_dependent(template, subject, "conj") else agreements[subject]
        token = sentence.tokens[anchors[index]]
        present = token.pos in ("VBZ", "VBP")
        form = token.form
        if token.lemma == "be":
            form = BE_FORMS["" if present else "VBD"][agreement]
        elif present:
            third = {"have": "has", "do": "does"}.get(token.lemma) or inflect_third_person(token.lemma)
            form = third if agreement == "3s" else token.lemma
        if present:
            token.pos = "VBZ" if agreement == "3s" else "VBP"
        token.form = _capitalise(form) if token.form[0].isupper() else form


@cache
def _universal_tags() -> dict[str, str]:
    return {penn: tag for tag in list_words("universal_tags") for penn in list_words(tag, "universal_tags")}


def find_upos(token: Token) -> str:
    """The universal part of speech that goes with a Penn tag, a lemma and a relation."""
    pos, relation = token.pos, token.relation
    if relation in ("aux", "aux:pass", "cop") and not pos.startswith("P"):
        return "AUX"
    if relation == "mark" and pos in ("IN", "TO"):
        return "PART" if pos == "TO" else "SCONJ"
    if token.lemma == "not":
        return "PART"
    if has_word(token.lemma, "pronoun_nouns") or (pos == "DT" and not relation.startswith("det")):
        return "PRON"
    return _universal_tags()[pos]


def detokenise(tokens: list[Token]) -> tuple[str, tuple[Span, ...]]:
    """Text as people write it, and where each token stands in it."""
    after_opening = [True, *(token.pos == "``" for token in tokens[:-1])]
    clinging = [t.pos in (",", ".", ":", "''", "POS") or t.form in ("n't", "'m") for t in tokens]
    tight = (first or second for first, second in zip(after_opening, clinging, strict=True))
    return join_words([token.form for token in tokens], tight)
