"""Continuations of a text as readable text with mentions: with a cast, and with constraints on who is mentioned next.

Words are sampled by ``generator``; here names become entities and back, and words become text. What nobody should read (the
unknown word, a number's stand-in) is kept out: where a name is not in the vocabulary, the unknown word inside a mention of the
entity is spelled as its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

import torch

from entitynlm.coref.annotation import annotate_document
from entitynlm.discourse.naming import choose_names
from entitynlm.errors import ConfigError
from entitynlm.generation.agreement import Agreement, list_spellings
from entitynlm.generation.generator import Constraints, GeneratedWord, Generator
from entitynlm.generation.partial_text import PartialText
from entitynlm.generation.request import Continuation, Request
from entitynlm.generation.verification import append_text, is_next_mention
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
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.english import DETERMINERS, PREPOSITIONS, PRONOUNS
from entitynlm.text.segmentation import align_span, segment_text

PATIENCE = 8  # words after which a mention of the entity that was asked for is forced
MOST_PATHS, MOST_PLACES = 5, 3
"""How often words up to the entity that was asked for are drawn, and at how many places it is tried in each."""
AHEAD = (
    4  # words after the mention that was asked for, before a model that looks ahead says whether it is one
)
COMMON_OPENERS = {*PRONOUNS, *DETERMINERS} - {"i"}  # they have a capital only where a sentence starts
LONGEST_SENTENCE = 80  # words after which a sentence is ended at the next chance outside of a mention


def generate_continuations(
    pretrained: Pretrained,
    prompt: Document | None = None,
    request: Request | None = None,
    *,
    count: int = 1,
    seed: int = 0,
) -> list[Continuation]:
    """``count`` continuations of a text (None: from nothing); its mentions are found where it has none."""
    if count < 1:
        raise ConfigError(f"there must be one continuation at least, not {count}")
    writer = prepare_writer(pretrained, prompt, request or Request(), seed)
    return [writer.write(f"continuation-{number}") for number in range(1, count + 1)]


def prepare_writer(
    pretrained: Pretrained, prompt: Document | None, request: Request, seed: int
) -> ContinuationWriter:
    """A writer that has read the prompt."""
    text = None
    if prompt is not None and prompt.tokens:
        text = ReadText(pretrained.encoder, prompt)
        if not prompt.mentions:
            text = text.with_mentions(annotate_document(pretrained, prompt, text=text))
    network = pretrained.get("generative")
    draws = torch.Generator(device="cpu").manual_seed(seed)
    tokenizer = pretrained.encoder.tokenizer
    generator = Generator(network, sentence_end=tokenizer.sentence_end, generator=draws, tokenizer=tokenizer)
    return ContinuationWriter(pretrained, generator, text, request)


class ContinuationWriter:
    """A prompt that was read, with the cast added to its entities: all continuations start from this state."""

    def __init__(
        self, pretrained: Pretrained, generator: Generator, text: ReadText | None, request: Request
    ) -> None:
        self.pretrained, self.encoder = pretrained, pretrained.encoder
        self.generator, self.request = generator, request
        self.tokenizer = pretrained.encoder.tokenizer
        self.vocabulary = self.tokenizer if isinstance(self.tokenizer, Vocabulary) else None
        open_words = generator.words
        self.spaced = open_words is not None and not open_words.reads_sentence_ends
        self.sentence_end = (
            open_words.learn(".") if open_words and self.spaced else self.tokenizer.sentence_end
        )
        self.text, self.prompt = text, None if text is None else text.document
        self.verified = self.spaced and bool({"causal", "lookahead"} & {*pretrained.networks})
        self.names: dict[int, tuple[str, ...]] = {}  # of entities, by their numbers
        self.spans: dict[int, list[Span]] = {}  # their mentions in the prompt
        self.look_ahead = AHEAD if "lookahead" in pretrained.networks else 1
        self.marks = self._list_marks()
        self.state = self._read_prompt()
        self.mention_pieces = self._list_mention_pieces() if self.verified and request.next_entity else ()
        added: dict[int, tuple[str, ...]] = {}
        for member in request.cast:
            words = tuple(member.split())
            if self.find_entity(member) is None:
                added[self._add_entity(words)] = words
        self.constraints = self._constrain(added)

    def _read_prompt(self) -> StoryState:
        if self.text is None or self.prompt is None:
            return self.generator.start()
        encoded, originals = self.text.encoded, self.text.originals
        spans = zip(originals, encoded.analysis.spans(), strict=True)
        numbers = {mention.entity: number for mention, (_, _, number, _) in spans}
        for mention in originals:
            self.spans.setdefault(numbers[mention.entity], []).append(mention.span)
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
        last = self.state.pieces[-1] if self.state.pieces else None
        place = self.tokenizer.place((), last)
        words = network.log_prob_words(contexts, network.project_entity(new_entities), places, place)
        types = torch.from_numpy(self.state.hidden.log_types[0, 1:]).to(words)
        open_words = self.generator.words
        first = ids[0] if open_words is None else open_words.spell(ids[0], self.state.pieces)[0]
        return 1 + int((types + words[:, first]).argmax())

    def _encode(self, words: Sequence[str]) -> list[int]:
        recipe = self.encoder.recipe
        normal = [normalise(word, lowercase=recipe.lowercase, numbers=recipe.numbers) for word in words]
        if self.vocabulary is None:
            assert self.generator.words is not None
            return [self.generator.words.learn(word) for word in normal]
        return [self.vocabulary[word] for word in normal]

    def _constrain(self, added: Mapping[int, tuple[str, ...]]) -> Constraints:
        vocabulary, request = self.vocabulary, self.request
        specials = (vocabulary.start, vocabulary.unknown, vocabulary.number) if vocabulary else ()
        next_entity = None if request.next_entity is None else self.require_entity(request.next_entity)
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
            agreement=self._describe_entities(),
            spellings=list_spellings(vocabulary.words) if vocabulary else {},
        )

    def _describe_entities(self) -> Agreement:
        """What the entities of the prompt and the cast are called, and their types."""
        found = Agreement()
        for number, words in self.names.items():
            type = self._name_type(self.state.history.mention_types[number - 1])
            for form in (words, *(self._get_tokens(span) for span in self.spans.get(number, ()))):
                found = found.hear(number, tuple(form), type)
        return found

    def _name_type(self, mention_type: int) -> str | None:
        return self.encoder.types[int(mention_type) - 1] if self.encoder.types and mention_type else None

    def require_entity(self, name: str) -> int:
        """The entity that is called so."""
        if (found := self.find_entity(name)) is not None:
            return found
        called = ", ".join(" ".join(words) for words in self.names.values()) or "nobody"
        raise ConfigError(f"nobody is called {name!r}; in the text are: {called}")

    def find_entity(self, name: str) -> int | None:
        """The entity that is called so: in full, else by one of its words."""
        wanted = name.lower().split()
        for number, words in self.names.items():
            if [word.lower() for word in words] == wanted:
                return number
        for number, words in self.names.items() if self.prompt is not None else ():
            if set(wanted) <= {word.lower() for word in words}:
                return number
        return None

    def begin(self) -> PartialText:
        """Nothing written yet."""
        tokens = list(self.prompt.tokens) if self.prompt is not None else []
        at_start = self.state.history.position == 0 or ends_sentence(tokens)
        return PartialText(self.state, self.constraints, tokens, fresh=at_start)

    def write(self, name: str) -> Continuation:
        """One continuation."""
        partial = self.begin()
        if self.verified and self.constraints.next_entity is not None:
            partial = self._reach_entity(partial)
        while not partial.is_enough(self.request.words, self.request.sentences):
            self.extend(partial)
        return self.finish(partial, name)

    def finish(self, partial: PartialText, name: str) -> Continuation:
        """The text of what was written."""
        if not self.spaced:
            return self._make_text(partial.words, name, self.begin().fresh)
        while self.extend(partial, closing=True):
            pass
        return self._make_spaced_text(partial.words, name)[0]

    def extend(self, partial: PartialText, *, closing: bool = False, mention: bool | None = None) -> bool:
        """One word more; with ``closing`` only if it closes the sentence that has just ended.

        :param mention: whether a mention starts with it; None: that is drawn.
        """
        constraints = partial.constraints
        banned = [self.marks[mark] for mark in list_unopened(partial.tokens[-200:]) if mark in self.marks]
        banned += [self.tokenizer.sentence_end] if partial.fresh else []
        late = len(partial.words) >= PATIENCE
        too_long = {0: (self.sentence_end,)} if partial.length >= LONGEST_SENTENCE else {}
        step = replace(
            constraints,
            banned=(*constraints.banned, *banned),
            banned_pieces=self.mention_pieces if mention is False else (),
            force_mention=mention or (constraints.next_entity is not None and late),
            no_mention=mention is False,
            names={**constraints.names, **too_long},
            list_forms=lambda entity: self._list_forms(partial, entity),
        )
        state, word = self.generator.step(partial.state, step)
        closes = partial.fresh and bool(partial.words) and word.closes_sentence
        if closing and not closes:
            return False
        partial.add(state, word, self._get_word(word.x), fresh=word.ends_sentence or closes)
        self._hear_mention(partial, word)
        return True

    def _hear_mention(self, partial: PartialText, word: GeneratedWord) -> None:
        """Keep to the words that were chosen for a mention until it ends; then they are known."""
        constraints = partial.constraints
        if word.form and word.l > 1:
            partial.constraints = replace(constraints, names={**constraints.names, word.e: word.form})
        elif word.e and word.l == 1 and constraints.agreement is not None:
            first, end, _ = list(self.list_mentions(partial.words))[-1]
            form = tuple(self._get_word(own.x) for own in partial.words[first:end])
            heard = constraints.agreement.hear(word.e, form, self._name_type(word.r))
            partial.constraints = replace(constraints, agreement=heard)

    def _list_forms(self, partial: PartialText, entity: int) -> list[tuple[int, ...]]:
        """What an entity may be called by here, in words of the vocabulary."""
        assert partial.constraints.agreement is not None
        known = [form[: self.encoder.max_length] for form in partial.constraints.agreement.list_forms(entity)]
        capitals = [tuple(capitalise_start(form)) for form in known]
        inside = [(form[0].lower(), *form[1:]) for form in known if form[0].lower() in COMMON_OPENERS]
        proper = (form for form in known if form[0].lower() not in COMMON_OPENERS)
        forms = capitals if partial.fresh else [*proper, *inside]
        spelled = dict.fromkeys(tuple(self._encode(form)) for form in forms)
        named = entity in partial.constraints.unknown_for  # then the unknown word can be shown as its name
        return [form for form in spelled if named or partial.constraints.unknown not in form]

    def _reach_entity(self, start: PartialText) -> PartialText:
        """The text up to the mention that was asked for and a few words more, as a reader would find it there.

        Some words outside of mentions are drawn; the mention is put where equations 3, 4 and 6 like it best, or next best, until
        the model, when it annotates the text, finds it as the next one; then other words are tried.
        """
        assert start.constraints.next_entity is not None
        first: PartialText | None = None
        for _ in range(MOST_PATHS):
            path, places = start.copy(), []
            while len(path.words) < PATIENCE:
                places.append(self._prepare_mention(path.copy(), start.constraints.next_entity))
                self.extend(path, mention=False)
            for _, partial in sorted(places, key=lambda place: -place[0])[:MOST_PLACES]:
                while partial.constraints.next_entity is not None or partial.state.history.remaining:
                    self.extend(partial, mention=True)
                for _ in range(self.look_ahead):
                    self.extend(partial)
                if self._is_found(partial.words):
                    return partial
                first = first or partial
        assert first is not None
        return first

    def _prepare_mention(self, partial: PartialText, entity: int) -> tuple[float, PartialText]:
        """How probable a mention of an entity is at the next word, and the text with its words, which are to come.

        They are one of the expressions that the text has for it (the cast's names, for others): that is what a reader knows the
        entity by. Which one it is, the language model decides.
        """
        names = partial.constraints.names
        if entity in names:
            choices = [names[entity]]
        else:
            known = [self.names[entity], *(self._get_tokens(span) for span in self.spans.get(entity, ()))]
            capitals = [tuple(capitalise_start(form)) for form in known]
            inside = [(form[0].lower(), *form[1:]) for form in known if form[0].lower() in COMMON_OPENERS]
            forms = dict.fromkeys(capitals if partial.fresh else [*known, *inside])
            choices = [tuple(self._encode(form)) for form in forms]
        score, words = self.generator.choose_words(partial.state, entity, choices, partial.constraints)
        partial.constraints = replace(partial.constraints, names={**names, entity: words})
        return score, partial

    def _list_mention_pieces(self) -> tuple[int, ...]:
        """Pieces that are words of mentions: pronouns, and what the text's entities are called."""
        assert self.generator.words is not None
        spans = (span for of_entity in self.spans.values() for span in of_entity)
        said = {word for span in spans for word in self._get_tokens(span)}
        said = {word for word in said if word.isalpha() and word.lower() not in {*DETERMINERS, *PREPOSITIONS}}
        return self.generator.words.list_first_pieces({*said, *PRONOUNS} - {*DETERMINERS})

    def _get_tokens(self, span: Span) -> tuple[str, ...]:
        assert self.prompt is not None
        return self.prompt.tokens[span[0] : span[1]][: self.encoder.max_length]

    def _is_found(self, words: Sequence[GeneratedWord]) -> bool:
        """Whether the mention asked for is the first one that the model finds in the text."""
        continuation, text = self._make_spaced_text(words, "draft")
        entity = str(self.constraints.next_entity)
        asked = [mention.span for mention in continuation.document.mentions if mention.entity == entity]
        if not asked:
            return False
        count = 0 if self.prompt is None else len(self.prompt.tokens)
        whole = append_text(self.prompt, text, continuation.document)
        earlier = self.spans.get(self.constraints.next_entity or 0, ())
        span = (asked[0][0] + count, asked[0][1] + count)
        return is_next_mention(self.pretrained, whole, count, span, earlier)

    def _list_marks(self) -> dict[str, int]:
        """Closing quotes and brackets that the model can tell from the opening ones, with their words."""
        marks = [mark for mark in PAIRS if not self.tokenizer.is_unknown(mark)]
        closing, opening = self._encode(marks), self._encode([PAIRS[mark] for mark in marks])
        return {mark: own for mark, own, other in zip(marks, closing, opening, strict=True) if own != other}

    def show_words(self, words: Sequence[GeneratedWord], entity: int) -> str:
        """Words of a mention of an entity, as text."""
        spelled: dict[int, int] = {}
        known = entity in self.names
        return join_tokens([self._spell(entity if known else 0, word.x, spelled) for word in words])[0]

    def _get_word(self, x: int) -> str:
        return self.tokenizer.join((x,)) if self.generator.words is None else self.generator.words[x]

    def _make_spaced_text(self, generated: Sequence[GeneratedWord], name: str) -> tuple[Continuation, str]:
        """The text of a language model whose pieces say where white space is, cut into words as any other text; and the same
        with the white space around it.
        """
        written = [self.tokenizer.write(word.pieces) or "" for word in generated]
        bounds = [0, *accumulate(map(len, written))]
        whole = "".join(written)
        starts = [end - len(own.lstrip()) for own, end in zip(written, bounds[1:], strict=True)]
        lead, text = len(whole) - len(whole.lstrip()), whole.strip()
        cut = segment_text(text)
        mentions: dict[tuple[int, int], Mention] = {}
        for first, end, entity in self.list_mentions(generated):
            span, _ = align_span(cut.offsets, starts[first] - lead, bounds[end] - lead)
            if span is not None:
                mentions.setdefault(span, Mention(*span, str(entity)))
        document = Document(
            name, cut.tokens, cut.sentences, tuple(mentions.values()), text=text, offsets=cut.offsets
        )
        return self._finish_continuation(document, generated), whole

    def list_mentions(self, generated: Sequence[GeneratedWord]) -> Iterator[tuple[int, int, int]]:
        """Words from … to …, and the entity; a mention that was cut off at the end is as long as what there is."""
        for at, word in enumerate(generated):
            if word.r and (at == 0 or generated[at - 1].l == 1):
                yield at, at + min(word.l, len(generated) - at), word.e

    def _finish_continuation(self, document: Document, generated: Sequence[GeneratedWord]) -> Continuation:
        """With the types and the names of the entities that are in it."""
        names = self.encoder.types
        types = {str(word.e): names[word.r - 1] for word in generated if word.e} if names else {}
        present = {mention.entity for mention in document.mentions}
        called = {str(n): join_tokens(words)[0] for n, words in self.names.items() if str(n) in present}
        assert document.text is not None
        return Continuation(document.text, replace(document, entity_types=types), called)

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
        mentions = [
            Mention(places[first], places[first] + end - first, str(entity))
            for first, end, entity in self.list_mentions(generated)
        ]
        ranges = tuple((a, b) for a, b in pairwise(bounds) if a < b)
        shown = tuple(text[a:b] for a, b in offsets)
        document = Document(name, shown, ranges, tuple(mentions), text=text, offsets=offsets)
        return self._finish_continuation(document, generated)

    def _spell(self, entity: int, x: int, spelled: dict[int, int]) -> str:
        if self.vocabulary is None or x != self.vocabulary.unknown:
            return unescape(self._get_word(x))
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
