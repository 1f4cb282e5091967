"""Continuations of a text with a cast, and with constraints on who is mentioned next.

Words are sampled by ``generator`` and become text by ``rendering``; here names become entities, and requests constraints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import torch

from entitynlm.coref.annotation import annotate_document, can_annotate
from entitynlm.discourse.naming import choose_names
from entitynlm.errors import ConfigError
from entitynlm.generation.agreement import MentionAgreement, list_spellings
from entitynlm.generation.generator import Constraints, GeneratedWord, Generator, Words
from entitynlm.generation.rendering import Renderer, list_mention_spans
from entitynlm.generation.request import Continuation, ContinuationRequest
from entitynlm.generation.verification import append_text, is_next_mention
from entitynlm.inference.readings import ReadText
from entitynlm.inference.story_state import StoryState
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.detokenization import PAIRS, capitalise_start, ends_sentence, list_unopened
from entitynlm.text.document import Document, Span
from entitynlm.text.english import DETERMINERS, PREPOSITIONS, PRONOUNS

MENTION_PATIENCE = 8  # words after which a mention of the entity that was asked for is forced
MOST_PATHS, MOST_PLACES = 5, 3
"""How often words up to the entity that was asked for are drawn, and at how many places it is tried in each."""
COMMON_OPENERS = {*PRONOUNS, *DETERMINERS} - {"i"}  # they have a capital only where a sentence starts
LONGEST_SENTENCE = 80  # words after which a sentence is ended at the next chance outside of a mention


def generate_continuations(
    pretrained: Pretrained,
    prompt: Document | None = None,
    request: ContinuationRequest | None = None,
    *,
    count: int = 1,
    seed: int = 0,
) -> list[Continuation]:
    """Generate continuations of a text (None: from nothing); its mentions are found where it has none."""
    if count < 1:
        raise ConfigError(f"there must be one continuation at least, not {count}")
    writer = prepare_writer(pretrained, prompt, request or ContinuationRequest(), seed)
    return [writer.write(f"continuation-{number}") for number in range(1, count + 1)]


def prepare_writer(
    pretrained: Pretrained, prompt: Document | None, request: ContinuationRequest, seed: int
) -> ContinuationWriter:
    """Read the prompt, and make a writer that goes on from it."""
    text = None
    if prompt is not None and prompt.tokens:
        text = ReadText(pretrained.encoder, prompt)
        if not prompt.mentions and can_annotate(pretrained):
            text = text.with_mentions(annotate_document(pretrained, prompt, encoded=text.encoded))
    network = pretrained.get("generative")
    draws = torch.Generator(device="cpu").manual_seed(seed)
    tokenizer = pretrained.encoder.tokenizer
    generator = Generator(network, sentence_end=tokenizer.sentence_end, generator=draws, tokenizer=tokenizer)
    return ContinuationWriter(pretrained, generator, text, request)


@dataclass
class PartialText:
    """A continuation while it is generated, which can be copied and gone back to.

    :param tokens: all words, those of the prompt included.  :param fresh: whether a sentence has just ended, or none has begun.
    :param length: words of the sentence so far.
    """

    state: StoryState
    constraints: Constraints
    tokens: list[str]
    fresh: bool
    words: list[GeneratedWord] = field(default_factory=list)
    sentences: int = 0
    length: int = 0

    def copy(self) -> PartialText:
        return replace(self, tokens=[*self.tokens], words=[*self.words])

    def add(self, state: StoryState, word: GeneratedWord, token: str, *, fresh: bool) -> None:
        self.state, self.fresh = state, fresh
        self.words.append(word)
        self.tokens.append(token)
        self.constraints = self.constraints.settle(word.e, word.l)
        self.sentences += word.ends_sentence
        self.length = 0 if fresh else self.length + 1

    def is_enough(self, request: ContinuationRequest) -> bool:
        """Tell whether there are the sentences that were asked for, or else the words, in whole sentences."""
        if request.sentences is not None:
            return self.sentences >= request.sentences
        return len(self.words) >= request.words and self.fresh


class ContinuationWriter:
    """Write continuations from one state: a prompt that was read, with the cast added to its entities."""

    def __init__(
        self,
        pretrained: Pretrained,
        generator: Generator,
        text: ReadText | None,
        request: ContinuationRequest,
    ) -> None:
        self.pretrained, self.encoder = pretrained, pretrained.encoder
        self.generator, self.request = generator, request
        self.text, self.prompt = text, None if text is None else text.document
        self.names: dict[int, tuple[str, ...]] = {}  # of entities, by their numbers
        self.spans: dict[int, list[Span]] = {}  # their mentions in the prompt
        self.renderer = Renderer(self.encoder, generator.words, self.names)
        spaced = self.renderer.spaced
        (self.sentence_end,) = (
            self.renderer.encode((".",)) if spaced else (self.encoder.tokenizer.sentence_end,)
        )
        self.verified = spaced and can_annotate(pretrained)
        self.marks = self._list_marks()
        self.state = self._read_prompt()
        self.mention_pieces = self._list_mention_pieces() if self.verified and request.next_entity else ()
        added = [
            self._add_entity(tuple(member.split()))
            for member in request.cast
            if self.find_entity(member) is None
        ]
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
        ids, longest = self.renderer.encode(words), self.encoder.max_length
        if len(ids) > longest:
            raise ConfigError(f"the name {' '.join(words)!r} has more than the {longest} words of a mention")
        self.state = self.generator.add_entity(self.state, ids, self.generator.guess_type(self.state, ids[0]))
        number = self.state.history.entities
        self.names[number] = words
        return number

    def _constrain(self, added: Iterable[int]) -> Constraints:
        vocabulary, request, encode = self.renderer.vocabulary, self.request, self.renderer.encode
        specials = (vocabulary.start, vocabulary.unknown, vocabulary.number) if vocabulary else ()
        unknown = vocabulary.unknown if vocabulary else None
        return Constraints(
            temperature=request.temperature,
            top_p=request.top_p,
            next_entity=None if request.next_entity is None else self.require_entity(request.next_entity),
            new_entities=request.new_entities,
            banned=tuple(word for word in specials if word is not None),
            unknown=unknown,
            unknown_for=frozenset(n for n, words in self.names.items() if unknown in encode(words)),
            names={number: encode(self.names[number]) for number in added},
            agreement=self._describe_entities(),
            spellings=list_spellings(vocabulary.words) if vocabulary else {},
        )

    def _describe_entities(self) -> MentionAgreement:
        """Collect the expressions and types of the entities of the prompt and the cast."""
        found = MentionAgreement()
        for number, words in self.names.items():
            type = self._name_type(self.state.history.mention_types[number - 1])
            for form in (words, *map(self._get_tokens, self.spans.get(number, ()))):
                found = found.hear(number, tuple(form), type)
        return found

    def _name_type(self, mention_type: int) -> str | None:
        return self.encoder.types[int(mention_type) - 1] if self.encoder.types and mention_type else None

    def _get_tokens(self, span: Span) -> tuple[str, ...]:
        assert self.prompt is not None
        return self.prompt.tokens[span[0] : span[1]][: self.encoder.max_length]

    def _list_marks(self) -> dict[str, int]:
        """List the closing quotes and brackets that the model can tell from the opening ones, with their ids."""
        marks = [mark for mark in PAIRS if not self.encoder.tokenizer.is_unknown(mark)]
        closing, opening = (self.renderer.encode(own) for own in (marks, [PAIRS[mark] for mark in marks]))
        return {mark: own for mark, own, other in zip(marks, closing, opening, strict=True) if own != other}

    def _list_mention_pieces(self) -> tuple[int, ...]:
        """List the pieces that are words of mentions: pronouns, and words by which the text's entities are called."""
        assert self.generator.words is not None
        spans = (span for of_entity in self.spans.values() for span in of_entity)
        said = {word for span in spans for word in self._get_tokens(span)}
        said = {word for word in said if word.isalpha() and word.lower() not in {*DETERMINERS, *PREPOSITIONS}}
        return self.generator.words.list_first_pieces({*said, *PRONOUNS} - {*DETERMINERS})

    # -- names ---------------------------------------------------------------------------------------------------------

    def require_entity(self, name: str) -> int:
        """Find the entity of a name, or refuse the request."""
        if (found := self.find_entity(name)) is not None:
            return found
        called = ", ".join(" ".join(words) for words in self.names.values()) or "none"
        raise ConfigError(f"no entity is called {name!r}; the text has: {called}")

    def find_entity(self, name: str) -> int | None:
        """Find the entity of a name: in full, else by one of its words."""
        wanted = name.lower().split()
        for number, words in self.names.items():
            if [word.lower() for word in words] == wanted:
                return number
        for number, words in self.names.items() if self.prompt is not None else ():
            if set(wanted) <= {word.lower() for word in words}:
                return number
        return None

    def _list_forms(self, partial: PartialText, entity: int, *, pronouns: bool = True) -> list[Words]:
        """List the expressions for a known entity that fit the place, in ids: as before or, if wanted, by a pronoun."""
        constraints = partial.constraints
        assert constraints.agreement is not None
        own = constraints.agreement.list_forms(entity) if pronouns else constraints.agreement.called[entity]
        known = [form[: self.encoder.max_length] for form in own]
        if partial.fresh:
            forms = [tuple(capitalise_start(form)) for form in known]
        else:
            proper = [form for form in known if form[0].lower() not in COMMON_OPENERS]
            common = [(form[0].lower(), *form[1:]) for form in known if form[0].lower() in COMMON_OPENERS]
            forms = [*proper, *common]
        spelled = dict.fromkeys(map(self.renderer.encode, forms))
        named = entity in constraints.unknown_for  # then the unknown word can be shown as its name
        return [form for form in spelled if named or constraints.unknown not in form]

    # -- words ---------------------------------------------------------------------------------------------------------

    def begin(self) -> PartialText:
        """Make a continuation without a word."""
        tokens = list(self.prompt.tokens) if self.prompt is not None else []
        at_start = self.state.history.position == 0 or ends_sentence(tokens)
        return PartialText(self.state, self.constraints, tokens, fresh=at_start)

    def write(self, id: str) -> Continuation:
        """Write a continuation as long as was asked for."""
        partial = self.begin()
        if self.verified and self.constraints.next_entity is not None:
            partial = self._reach_entity(partial)
        while not partial.is_enough(self.request):
            self.extend(partial)
        return self.finish(partial, id)

    def finish(self, partial: PartialText, id: str) -> Continuation:
        """Close the last sentence, and make text of the words."""
        if not self.renderer.spaced:
            return self.renderer.render(partial.words, id, self.prompt, at_start=self.begin().fresh)
        while self.extend(partial, closing=True):
            pass
        return self.renderer.render_spaced(partial.words, id)[0]

    def extend(self, partial: PartialText, *, closing: bool = False, mention: bool | None = None) -> bool:
        """Add one word; with ``closing`` only if it closes the sentence that has just ended.

        :param mention: whether a mention starts with it; None: that is drawn.
        """
        constraints = partial.constraints
        banned = [self.marks[mark] for mark in list_unopened(partial.tokens[-200:]) if mark in self.marks]
        banned += [self.encoder.tokenizer.sentence_end] if partial.fresh else []
        too_long = {0: (self.sentence_end,)} if partial.length >= LONGEST_SENTENCE else {}
        if constraints.next_entity is not None and len(partial.words) >= MENTION_PATIENCE:
            mention = True if mention is None else mention
        step = replace(
            constraints,
            banned=(*constraints.banned, *banned),
            banned_pieces=self.mention_pieces if mention is False else (),
            mention=mention,
            names={**constraints.names, **too_long},
            list_forms=lambda entity: self._list_forms(partial, entity),
        )
        state, word = self.generator.step(partial.state, step)
        closes = partial.fresh and bool(partial.words) and word.closes_sentence
        if closing and not closes:
            return False
        partial.add(state, word, self.renderer.get_word(word.x), fresh=word.ends_sentence or closes)
        self._hear_mention(partial, word)
        return True

    def _hear_mention(self, partial: PartialText, word: GeneratedWord) -> None:
        """Keep to the words that were chosen for a mention until it ends, and to the expression from then on."""
        constraints = partial.constraints
        if word.form and word.l > 1:
            partial.constraints = replace(constraints, names={**constraints.names, word.e: word.form})
        elif word.e and word.l == 1 and constraints.agreement is not None:
            first, end, _ = list(list_mention_spans(partial.words))[-1]
            form = tuple(self.renderer.get_word(own.x) for own in partial.words[first:end])
            heard = constraints.agreement.hear(word.e, form, self._name_type(word.r))
            partial.constraints = replace(constraints, agreement=heard)

    # -- the entity that was asked for -----------------------------------------------------------------------------------

    def _reach_entity(self, start: PartialText) -> PartialText:
        """Write up to the mention that was asked for and a few words more, so that a reader finds it there.

        Some words outside of mentions are drawn; the mention is put where equations 3, 4 and 6 like it best, or next best, until
        the model, when it annotates the text, finds it as the next one; then other words are tried.
        """
        assert start.constraints.next_entity is not None
        first: PartialText | None = None
        for _ in range(MOST_PATHS):
            path, places = start.copy(), []
            while len(path.words) < MENTION_PATIENCE:
                places.append(self._prepare_mention(path.copy(), start.constraints.next_entity))
                self.extend(path, mention=False)
            for _, partial in sorted(places, key=lambda place: -place[0])[:MOST_PLACES]:
                while partial.constraints.next_entity is not None or partial.state.history.remaining:
                    self.extend(partial, mention=True)
                self.extend(partial)
                if self._is_found(partial.words):
                    return partial
                first = first or partial
        assert first is not None
        return first

    def _prepare_mention(self, partial: PartialText, entity: int) -> tuple[float, PartialText]:
        """Choose an expression for an entity at the next word; returns how probable a mention of it is there, and the text.

        The expression is one that the text has for it (or the name of a member of the cast), by which a reader knows the entity.
        """
        names = partial.constraints.names
        choices = [names[entity]] if entity in names else self._list_forms(partial, entity, pronouns=False)
        score, words = self.generator.choose_words(partial.state, entity, choices, partial.constraints)
        partial.constraints = replace(partial.constraints, names={**names, entity: words})
        return score, partial

    def _is_found(self, words: Sequence[GeneratedWord]) -> bool:
        """Tell whether the mention asked for is the first one that the model finds in the text."""
        continuation, text = self.renderer.render_spaced(words, "draft")
        entity = self.constraints.next_entity or 0
        asked = [m.span for m in continuation.document.mentions if m.entity == str(entity)]
        if not asked:
            return False
        count = 0 if self.prompt is None else len(self.prompt.tokens)
        whole = append_text(self.prompt, text, continuation.document)
        span = (asked[0][0] + count, asked[0][1] + count)
        return is_next_mention(self.pretrained, whole, count, span, self.spans.get(entity, ()))
