"""Continuations of a text for people: with a cast, with wishes about who comes next, as readable text with its mentions.

The telling itself is ``generation``; here names become entities and back, words become text, and what nobody should read (the
unknown word, a number's stand-in) is kept out: where a name is not in the vocabulary, the unknown word inside a mention of
its bearer is spelled as the name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import torch

from entitynlm.coref.entity_names import choose_names
from entitynlm.errors import ConfigError
from entitynlm.generation.generator import Constraints, GeneratedWords, GenerationState, Generator, settle
from entitynlm.lm.surprisal import Finder, find_mentions
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.preprocessing import normalise, unescape
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.detokenization import (
    PAIRS,
    capitalise_start,
    ends_sentence,
    join_tokens,
    learn_capitals,
    list_unopened,
    restore_capitals,
)
from entitynlm.text.document import Document, Mention

PATIENCE = 8
"""Words after which a wish for an entity is insisted upon."""

LONGEST_SENTENCE = 80
"""Words after which a sentence is ended at the next chance outside of a mention."""


@dataclass(frozen=True)
class Request:
    """What people ask for.

    :param words: so many words at least, then on to the sentence's end; or :param sentences: so many sentences.
    :param cast: how the entities are called that the story starts with, besides those of the text.
    :param next_entity: how the one is called that the next mention shall be of.
    :param new_entities: whether others than these may come up.
    """

    words: int = 60
    sentences: int | None = None
    temperature: float = 0.8
    top_p: float = 0.95
    cast: tuple[str, ...] = ()
    next_entity: str | None = None
    new_entities: bool = True

    def __post_init__(self) -> None:
        if self.words < 1 or (self.sentences is not None and self.sentences < 1):
            raise ConfigError("a continuation has one word and one sentence at least")
        Constraints(temperature=self.temperature, top_p=self.top_p)
        for name in self.cast:
            if not name.split():
                raise ConfigError("a member of the cast has an empty name")


@dataclass(frozen=True)
class Continuation:
    """What was told: its text, the same as a document with mentions, and what its entities are called."""

    text: str
    document: Document
    names: Mapping[str, str]


def tell_stories(
    pretrained: Pretrained,
    prompt: Document | None = None,
    request: Request | None = None,
    *,
    count: int = 1,
    seed: int = 0,
    finder: Finder | None = None,
) -> list[Continuation]:
    """``count`` continuations of a text (None: stories from nothing); its mentions are found where it has none."""
    request = request or Request()
    if count < 1:
        raise ConfigError(f"there must be one continuation at least, not {count}")
    if prompt is not None and prompt.tokens and not prompt.mentions:
        prompt = (finder or find_mentions)(pretrained, prompt)
    network = pretrained.get("generative")
    draws = torch.Generator(device="cpu").manual_seed(seed)
    generator = Generator(network, sentence_end=pretrained.encoder.vocabulary.sentence_end, generator=draws)
    stage = Stage(pretrained, generator, prompt, request)
    return [stage.tell(f"continuation-{number}") for number in range(1, count + 1)]


class Stage:
    """A prompt that was listened to and a cast that was introduced: continuations start from here."""

    def __init__(
        self, pretrained: Pretrained, generator: Generator, prompt: Document | None, request: Request
    ) -> None:
        self.encoder, self.generator, self.request = pretrained.encoder, generator, request
        self.vocabulary = pretrained.encoder.vocabulary
        self.prompt = prompt
        self.names: dict[int, tuple[str, ...]] = {}  # how entities are called, by their numbers
        self.story = self._listen()
        self.known = dict(self.names)
        introductions: dict[int, tuple[str, ...]] = {}
        for member in request.cast:
            words = tuple(member.split())
            if self._find(member) is None:
                introductions[self._introduce(words)] = words
        self.constraints = self._constrain(introductions)

    def _listen(self) -> GenerationState:
        if self.prompt is None or not self.prompt.tokens:
            return self.generator.listen(None)
        encoded, _, originals = self.encoder.encode_with_report(self.prompt)
        numbers = {m.entity: int(encoded.e[place]) for m, place in _pair_spans(encoded, originals)}
        for entity, mention in choose_names(self.prompt, originals).items():
            self.names[numbers[entity]] = self.prompt.tokens[mention.start : mention.end]
        if len(encoded) and encoded.origin[-1] < 0 and not ends_sentence(self.prompt.tokens):
            encoded = _drop_last(encoded)  # the text breaks off: its sentence goes on
        return self.generator.listen(encoded)

    def _introduce(self, words: tuple[str, ...]) -> int:
        ids = self._encode(words)
        if len(ids) > self.encoder.max_length:
            raise ConfigError(
                f"the name {' '.join(words)!r} has more than the {self.encoder.max_length} words of a mention"
            )
        self.story = self.generator.introduce(self.story, ids, self._choose_type(ids))
        number = self.story.past.entities
        self.names[number] = words
        return number

    @torch.no_grad()
    def _choose_type(self, ids: Sequence[int]) -> int:
        """The type of mention that makes a name likeliest, in a model with types."""
        network = self.generator.network
        mention_types = torch.arange(1, network.config.mention_types + 1)
        if len(mention_types) == 1:
            return 1
        h = network.backbone.state(self.story.carry)[0]
        new_entities = network.create_entity(mention_types, None)
        places = (
            1 + (mention_types - 1) * 2 * network.config.mention_positions + network.config.mention_positions
        )
        contexts = h.expand(len(mention_types), -1)
        words = network.log_prob_words(contexts, network.project_entity(new_entities), places)
        scores = network.log_prob_types(network.project_state(h))[1:] + words[:, ids[0]]
        return int(mention_types[int(scores.argmax())])

    def _encode(self, words: Sequence[str]) -> list[int]:
        recipe = self.encoder.recipe
        normal = (normalise(word, lowercase=recipe.lowercase, numbers=recipe.numbers) for word in words)
        return [self.vocabulary[word] for word in normal]

    def _constrain(self, introductions: Mapping[int, tuple[str, ...]]) -> Constraints:
        vocabulary, request = self.vocabulary, self.request
        banned = [vocabulary.start, vocabulary.unknown]
        if vocabulary.number is not None:
            banned.append(vocabulary.number)
        constrained = None
        if request.next_entity is not None:
            constrained = self._find(request.next_entity)
            if constrained is None:
                called = ", ".join(" ".join(name) for name in self.names.values()) or "nobody"
                raise ConfigError(f"nobody is called {request.next_entity!r}; in the text are: {called}")
        unknown = vocabulary.unknown
        unnamed = [n for n, words in self.names.items() if unknown in self._encode(words)]
        return Constraints(
            temperature=request.temperature,
            top_p=request.top_p,
            next_entity=constrained,
            new_entities=request.new_entities,
            banned=tuple(banned),
            unknown=unknown,
            unknown_for=frozenset(unnamed),
            names={number: tuple(self._encode(words)) for number, words in introductions.items()},
        )

    def _find(self, name: str) -> int | None:
        """The entity that is called so: in full, else by one of its words."""
        wanted = name.lower().split()
        for number, words in self.names.items():
            if [word.lower() for word in words] == wanted:
                return number
        if self.prompt is not None:
            for number, words in self.names.items():
                if set(wanted) <= {word.lower() for word in words}:
                    return number
        return None

    # -- telling -------------------------------------------------------------------------------------------------------------

    def tell(self, name: str) -> Continuation:
        """One continuation."""
        generated, constraints, story = GeneratedWords(), self.constraints, self.story
        unopened = {mark: self.vocabulary[mark] for mark in PAIRS if mark in self.vocabulary}
        heard = list(self.prompt.tokens) if self.prompt is not None else []
        at_start = self.story.past.position == 0 or ends_sentence(heard)
        fresh, sentences, length = at_start, 0, 0
        while not self._is_enough(len(generated.x), sentences, fresh):
            banned = [unopened[mark] for mark in list_unopened(heard[-200:]) if mark in unopened]
            banned += [self.vocabulary.sentence_end] if fresh else []
            insist = constraints.next_entity is not None and len(generated.x) >= PATIENCE
            too_long = {0: (self.vocabulary.sentence_end,)} if length >= LONGEST_SENTENCE else {}
            step = replace(
                constraints,
                banned=(*constraints.banned, *banned),
                insist=insist,
                names={**constraints.names, **too_long},
            )
            story, (r, e, l, x) = self.generator.step(story, step)
            generated.append(r, e, l, x)
            constraints = settle(constraints, e, l)
            heard.append(self.vocabulary.words[x])
            fresh = x == self.vocabulary.sentence_end
            sentences, length = sentences + fresh, 0 if fresh else length + 1
        return self._write(generated, name, at_start)

    def _is_enough(self, words: int, sentences: int, fresh: bool) -> bool:
        if self.request.sentences is not None:
            return sentences >= self.request.sentences
        return words >= self.request.words and fresh

    def _write(self, generated: GeneratedWords, name: str, at_start: bool) -> Continuation:
        """Words as text, with mentions."""
        tokens: list[str] = []
        places: list[int] = []  # token of each told word
        bounds: list[int] = [0]
        sentence: list[str] = []
        capitals = self._learn_capitals()
        spelled: dict[int, int] = {}
        for e, x in zip(generated.e, generated.x, strict=True):
            places.append(len(tokens) + len(sentence))
            if x == self.vocabulary.sentence_end:
                tokens += self._finish(sentence, capitals, capital=at_start or len(bounds) > 1)
                bounds.append(len(tokens))
                sentence = []
            else:
                sentence.append(self._spell(e, x, spelled))
        tokens += self._finish(sentence, capitals, capital=at_start or len(bounds) > 1)
        bounds.append(len(tokens))
        text, offsets = join_tokens(tokens)
        mentions = [
            Mention(places[start], places[start] + length, str(generated.e[start]))
            for start, length in _list_mentions(generated)
        ]
        ranges = [(a, b) for a, b in pairwise(bounds) if a < b]
        shown = tuple(text[a:b] for a, b in offsets)
        document = Document(
            name, shown, tuple(ranges), tuple(mentions), self._list_types(generated), text, offsets
        )
        present = {mention.entity for mention in document.mentions}
        names = {str(n): join_tokens(words)[0] for n, words in self.names.items() if str(n) in present}
        return Continuation(text, document, names)

    def _spell(self, entity: int, x: int, spelled: dict[int, int]) -> str:
        if x != self.vocabulary.unknown:
            return unescape(self.vocabulary.words[x])
        ids = self._encode(self.names[entity])
        strange = [w for w, i in zip(self.names[entity], ids, strict=True) if i == self.vocabulary.unknown]
        spelled[entity] = spelled.get(entity, -1) + 1
        return strange[spelled[entity] % len(strange)]

    def _learn_capitals(self) -> dict[str, str]:
        known = [self.prompt.tokens[a:b] for a, b in self.prompt.sentences] if self.prompt else []
        return learn_capitals(known, self.names.values())

    def _finish(self, sentence: list[str], capitals: Mapping[str, str], *, capital: bool) -> list[str]:
        if not sentence:
            return []
        recipe = self.encoder.recipe
        words = restore_capitals(sentence, capitals) if recipe.lowercase else sentence
        if capital:
            words = capitalise_start(words)
        return [*words, "."] if recipe.punctuation == "drop" else words

    def _list_types(self, generated: GeneratedWords) -> dict[str, str]:
        types = self.encoder.types
        if not types:
            return {}
        return {str(e): types[r - 1] for e, r in zip(generated.e, generated.r, strict=True) if e}


def _list_mentions(generated: GeneratedWords) -> list[tuple[int, int]]:
    """(first word, length) of each mention; one that was cut off at the end is as long as what was told of it."""
    found, remaining = [], 0
    for place, (r, l) in enumerate(zip(generated.r, generated.l, strict=True)):
        if r and not remaining:
            found.append((place, min(l, len(generated.x) - place)))
            remaining = l
        remaining = max(0, remaining - 1)
    return found


def _pair_spans(encoded: EncodedDocument, originals: Sequence[Mention]) -> list[tuple[Mention, int]]:
    """Each mention with the place of its first word."""
    starts = [start for start, _, _, _ in encoded.analysis.spans()]
    return list(zip(originals, starts, strict=True))


def _drop_last(encoded: EncodedDocument) -> EncodedDocument:
    columns = ("x", "r", "e", "l", "sentence", "origin")
    return replace(encoded, **{name: getattr(encoded, name)[:-1] for name in columns})
