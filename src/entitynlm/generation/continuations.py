"""Continuations of a text as readable text with mentions: with a cast, and with constraints on who is mentioned next.

Words are sampled by ``generator``; here names become entities and back, and words become text. What nobody should read (the
unknown word, a number's stand-in) is kept out: where a name is not in the vocabulary, the unknown word inside a mention of the
entity is spelled as its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import torch

from entitynlm.coref.annotation import annotate_document
from entitynlm.coref.mention_forms import choose_names
from entitynlm.errors import ConfigError
from entitynlm.generation.generator import Constraints, GeneratedWord, Generator
from entitynlm.inference.readings import ReadText
from entitynlm.inference.story_state import StoryState
from entitynlm.model.encoding.preprocessing import normalise, unescape
from entitynlm.model.encoding.vocabulary import Vocabulary
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

PATIENCE = 8  # words after which a mention of the entity that was asked for is forced
LONGEST_SENTENCE = 80  # words after which a sentence is ended at the next chance outside of a mention


@dataclass(frozen=True)
class Request:
    """What a continuation is asked for.

    :param words: so many words at least, then on to the sentence's end; or :param sentences: so many sentences.
    :param cast: names of entities that the story starts with, besides those of the text.
    :param next_entity: the name of the entity that the next mention must be of.
    :param new_entities: whether other entities may come up.
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
    """A generated text, the same as a document with mentions, and the names of its entities."""

    text: str
    document: Document
    names: Mapping[str, str]


def generate_continuations(
    pretrained: Pretrained,
    prompt: Document | None = None,
    request: Request | None = None,
    *,
    count: int = 1,
    seed: int = 0,
) -> list[Continuation]:
    """``count`` continuations of a text (None: from nothing); its mentions are found where it has none."""
    request = request or Request()
    if count < 1:
        raise ConfigError(f"there must be one continuation at least, not {count}")
    text = None
    if prompt is not None and prompt.tokens:
        text = ReadText(pretrained.encoder, prompt)
        if not prompt.mentions:
            text = text.with_mentions(annotate_document(pretrained, prompt, text=text))
    network = pretrained.get("generative")
    draws = torch.Generator(device="cpu").manual_seed(seed)
    tokenizer = pretrained.encoder.tokenizer
    generator = Generator(network, sentence_end=tokenizer.sentence_end, generator=draws, tokenizer=tokenizer)
    writer = _ContinuationWriter(pretrained, generator, text, request)
    return [writer.write(f"continuation-{number}") for number in range(1, count + 1)]


class _ContinuationWriter:
    """A prompt that was read, with the cast added to its entities: all continuations start from this state."""

    def __init__(
        self, pretrained: Pretrained, generator: Generator, text: ReadText | None, request: Request
    ) -> None:
        self.encoder, self.generator, self.request = pretrained.encoder, generator, request
        self.tokenizer = pretrained.encoder.tokenizer
        self.vocabulary = self.tokenizer if isinstance(self.tokenizer, Vocabulary) else None
        self.text, self.prompt = text, None if text is None else text.document
        self.names: dict[int, tuple[str, ...]] = {}  # of entities, by their numbers
        self.state = self._read_prompt()
        added: dict[int, tuple[str, ...]] = {}
        for member in request.cast:
            words = tuple(member.split())
            if self._find(member) is None:
                added[self._add_entity(words)] = words
        self.constraints = self._constrain(added)

    def _read_prompt(self) -> StoryState:
        if self.text is None or self.prompt is None:
            return self.generator.start()
        encoded, originals = self.text.encoded, self.text.originals
        spans = zip(originals, encoded.analysis.spans(), strict=True)
        numbers = {mention.entity: number for mention, (_, _, number, _) in spans}
        for entity, mention in choose_names(self.prompt, originals).items():
            self.names[numbers[entity]] = self.prompt.tokens[mention.start : mention.end]
        if len(encoded) and encoded.origin[-1] < 0 and not ends_sentence(self.prompt.tokens):
            encoded = encoded.cut(len(encoded) - 1)  # the text breaks off: its sentence goes on
        return self.generator.read_prompt(encoded)

    def _add_entity(self, words: tuple[str, ...]) -> int:
        ids = self._encode(words)
        if len(ids) > self.encoder.max_length:
            longest = self.encoder.max_length
            raise ConfigError(f"the name {' '.join(words)!r} has more than the {longest} words of a mention")
        self.state = self.generator.add_entity(self.state, ids, self._choose_type(ids))
        number = self.state.history.entities
        self.names[number] = words
        return number

    @torch.no_grad()
    def _choose_type(self, ids: Sequence[int]) -> int:
        """The type of mention that makes a name likeliest, in a model with types."""
        network = self.generator.network
        mention_types = torch.arange(1, network.config.mention_types + 1)
        if len(mention_types) == 1:
            return 1
        assert self.state.hidden is not None
        h = torch.from_numpy(self.state.hidden.contexts[0]).to(network.W_r.device)
        new_entities = network.create_entity(mention_types, None)
        places = 1 + (2 * mention_types - 1) * network.config.mention_positions
        contexts = h.expand(len(mention_types), -1)
        words = network.log_prob_words(contexts, network.project_entity(new_entities), places)
        types = network.log_prob_types(network.project_state(h))[1:]
        return 1 + int((types + words[:, self.generator.spell(ids[0])[0]]).argmax())

    def _encode(self, words: Sequence[str]) -> list[int]:
        recipe = self.encoder.recipe
        normal = [normalise(word, lowercase=recipe.lowercase, numbers=recipe.numbers) for word in words]
        if self.vocabulary is None:
            return [self.generator.learn_word(word) for word in normal]
        return [self.vocabulary[word] for word in normal]

    def _constrain(self, added: Mapping[int, tuple[str, ...]]) -> Constraints:
        vocabulary, request = self.vocabulary, self.request
        specials = (vocabulary.start, vocabulary.unknown, vocabulary.number) if vocabulary else ()
        next_entity = None if request.next_entity is None else self._find(request.next_entity)
        if request.next_entity is not None and next_entity is None:
            called = ", ".join(" ".join(name) for name in self.names.values()) or "nobody"
            raise ConfigError(f"nobody is called {request.next_entity!r}; in the text are: {called}")
        unknown = vocabulary.unknown if vocabulary else None
        unnamed = [n for n, words in self.names.items() if unknown in self._encode(words)]
        return Constraints(
            temperature=request.temperature,
            top_p=request.top_p,
            next_entity=next_entity,
            new_entities=request.new_entities,
            banned=tuple(word for word in specials if word is not None),
            unknown=unknown,
            unknown_for=frozenset(unnamed),
            names={number: tuple(self._encode(words)) for number, words in added.items()},
        )

    def _find(self, name: str) -> int | None:
        """The entity that is called so: in full, else by one of its words."""
        wanted = name.lower().split()
        for number, words in self.names.items():
            if [word.lower() for word in words] == wanted:
                return number
        for number, words in self.names.items() if self.prompt is not None else ():
            if set(wanted) <= {word.lower() for word in words}:
                return number
        return None

    def write(self, name: str) -> Continuation:
        """One continuation."""
        generated: list[GeneratedWord] = []
        constraints, state = self.constraints, self.state
        marks = [mark for mark in PAIRS if not self.tokenizer.is_unknown(mark)]
        unopened = dict(zip(marks, self._encode(marks), strict=True))
        tokens = list(self.prompt.tokens) if self.prompt is not None else []
        at_start = self.state.history.position == 0 or ends_sentence(tokens)
        fresh, sentences, length = at_start, 0, 0
        while not self._is_enough(len(generated), sentences, fresh):
            banned = [unopened[mark] for mark in list_unopened(tokens[-200:]) if mark in unopened]
            banned += [self.tokenizer.sentence_end] if fresh else []
            forced = constraints.next_entity is not None and len(generated) >= PATIENCE
            too_long = {0: (self.tokenizer.sentence_end,)} if length >= LONGEST_SENTENCE else {}
            step = replace(
                constraints,
                banned=(*constraints.banned, *banned),
                force_mention=forced,
                names={**constraints.names, **too_long},
            )
            state, word = self.generator.step(state, step)
            generated.append(word)
            constraints = constraints.settle(word.e, word.l)
            tokens.append(self.tokenizer.join(self.generator.spell(word.x)))
            fresh = word.x == self.tokenizer.sentence_end
            sentences, length = sentences + fresh, 0 if fresh else length + 1
        return self._make_text(generated, name, at_start)

    def _is_enough(self, words: int, sentences: int, fresh: bool) -> bool:
        if self.request.sentences is not None:
            return sentences >= self.request.sentences
        return words >= self.request.words and fresh

    def _make_text(self, generated: Sequence[GeneratedWord], name: str, at_start: bool) -> Continuation:
        """Words as text, with mentions."""
        tokens: list[str] = []
        places: list[int] = []  # token of each word
        bounds: list[int] = [0]
        sentence: list[str] = []
        known = [self.prompt.tokens[a:b] for a, b in self.prompt.sentences] if self.prompt else []
        capitals = learn_capitals(known, self.names.values())
        spelled: dict[int, int] = {}

        def end_sentence() -> None:
            tokens.extend(self._finish(sentence, capitals, capital=at_start or len(bounds) > 1))
            bounds.append(len(tokens))
            sentence.clear()

        for word in generated:
            places.append(len(tokens) + len(sentence))
            if word.x == self.tokenizer.sentence_end:
                end_sentence()
            else:
                sentence.append(self._spell(word.e, word.x, spelled))
        end_sentence()
        text, offsets = join_tokens(tokens)
        mentions = []
        for at, word in enumerate(generated):
            if word.r and (at == 0 or generated[at - 1].l == 1):
                end = places[at] + min(word.l, len(generated) - at)  # one may be cut off at the end
                mentions.append(Mention(places[at], end, str(word.e)))
        names = self.encoder.types
        types = {str(word.e): names[word.r - 1] for word in generated if word.e and names}
        ranges = tuple((a, b) for a, b in pairwise(bounds) if a < b)
        shown = tuple(text[a:b] for a, b in offsets)
        document = Document(name, shown, ranges, tuple(mentions), types, text, offsets)
        present = {mention.entity for mention in mentions}
        called = {str(n): join_tokens(words)[0] for n, words in self.names.items() if str(n) in present}
        return Continuation(text, document, called)

    def _spell(self, entity: int, x: int, spelled: dict[int, int]) -> str:
        if self.vocabulary is None or x != self.vocabulary.unknown:
            return unescape(self.tokenizer.join(self.generator.spell(x)))
        ids = self._encode(self.names[entity])
        strange = [w for w, i in zip(self.names[entity], ids, strict=True) if i == self.vocabulary.unknown]
        spelled[entity] = spelled.get(entity, -1) + 1
        return strange[spelled[entity] % len(strange)]

    def _finish(self, sentence: list[str], capitals: Mapping[str, str], *, capital: bool) -> list[str]:
        if not sentence:
            return []
        recipe = self.encoder.recipe
        words = restore_capitals(sentence, capitals) if recipe.lowercase else sentence
        if capital:
            words = capitalise_start(words)
        return [*words, "."] if recipe.punctuation == "drop" else words
