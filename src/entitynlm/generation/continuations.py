"""Continuations of a text with a cast, and with constraints on who is mentioned next.

Requests become constraints on R and E for :mod:`generator`. The entity that was asked for is mentioned by its name with the first
word, and each member of the cast with the first word of a sentence, where R and E are drawn given that one of them is mentioned.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate

import numpy as np
import torch

from entitynlm.errors import ConfigError
from entitynlm.generation.agreement import COMMON_OPENERS, POSSESSIVE_FORMS, Expression, MentionAgreement
from entitynlm.generation.generator import (
    LONGEST_PHRASE,
    Constraints,
    GeneratedWord,
    Generator,
    Reading,
    Words,
    run_together,
)
from entitynlm.generation.open_vocabulary import OpenVocabulary
from entitynlm.generation.opening import StoryOpening
from entitynlm.generation.request import Continuation, ContinuationRequest
from entitynlm.inference.story_state import StoryState
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.preprocessing import SENTENCE_END, escape_word
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.detokenization import PAIRS, capitalise_start, join_tokens, list_unopened, write_plainly
from entitynlm.text.document import Document, Mention
from entitynlm.text.segmentation import align_span, segment_text


def render(
    encoder: Encoder, generated: Sequence[GeneratedWord], id: str, names: Mapping[int, tuple[str, ...]]
) -> Continuation:
    """Join the generated pieces to a text, and cut it into tokens as any other text.

    :param names: name of each entity by its number.
    """
    written = [encoder.tokenizer.write(word.pieces) or "" for word in generated]
    bounds = [0, *accumulate(map(len, written))]
    whole = "".join(written)
    starts = [end - len(own.lstrip()) for own, end in zip(written, bounds[1:], strict=True)]
    lead, text = len(whole) - len(whole.lstrip()), whole.strip()
    cut = segment_text(text)
    mentions: dict[tuple[int, int], Mention] = {}
    for first, end, entity in list_mention_spans(generated):
        span, _ = align_span(cut.offsets, starts[first] - lead, bounds[end] - lead)
        if span is not None:
            mentions.setdefault(span, Mention(*span, str(entity)))
    types = {str(word.e): encoder.types[word.r - 1] for word in generated if word.e} if encoder.types else {}
    found = tuple(mentions.values())
    document = Document(id, cut.tokens, cut.sentences, found, types, text=text, offsets=cut.offsets)
    present = {mention.entity for mention in found}
    called = {str(n): join_tokens(words)[0] for n, words in names.items() if str(n) in present}
    return Continuation(text, document, called)


def list_mention_spans(generated: Sequence[GeneratedWord]) -> Iterator[tuple[int, int, int]]:
    """List the span and the entity of each mention; the last mention may be cut off by the end."""
    for at, word in enumerate(generated):
        if word.r and (at == 0 or generated[at - 1].l == 1):
            yield at, at + min(word.l, len(generated) - at), word.e


AGAIN = 3  # words after a mention in which its entity is mentioned by a possessive alone
PHRASE = 3  # words of a phrase that does not come again within the words REMEMBERED
REMEMBERED = 100
SINGLE_MARKS = {"'", "‘", "`"}
"""Marks of quotations that are drawn only where the text before has some, because an apostrophe closes none."""
SURE_WORDS = 200
"""Words in which marks of quotations are paired; a longer text may have one that nothing closes."""
LONGEST_SENTENCE = 80  # words after those asked for, by which the last sentence must have ended


def writes_prose(pretrained: Pretrained) -> bool:
    """Tell whether a model generates text, for which its pieces must carry the white space."""
    return not pretrained.encoder.tokenizer.pieces(SENTENCE_END)


def generate_continuations(
    pretrained: Pretrained,
    prompt: Document | None = None,
    request: ContinuationRequest | None = None,
    *,
    count: int = 1,
    seed: int = 0,
    on_word: Callable[[int, GeneratedWord, str], None] = lambda number, word, text: None,
) -> list[Continuation]:
    """Generate continuations of a text (None: from nothing), whose mentions are found where it has none.

    :param on_word: called with each word, its text with white space, and the number of its continuation, from 1.
    """
    if count < 1:
        raise ConfigError(f"there must be one continuation at least, not {count}")
    if not writes_prose(pretrained):
        raise ConfigError(
            "this model has a closed vocabulary and writes no prose; `entitynlm generate --plan` predicts who is "
            "mentioned next, and a model on a pretrained language model (entitynlm-en-smollm2) writes"
        )
    request, draws = request or ContinuationRequest(), torch.Generator().manual_seed(seed)
    opening = StoryOpening(pretrained, prompt, request.cast, draws)
    words = OpenVocabulary(pretrained.encoder.tokenizer)
    if opening.encoded is not None:
        words.learn_text(opening.encoded)
    seeds = np.random.SeedSequence(seed).generate_state(count - 1).tolist()
    others = [torch.Generator().manual_seed(own) for own in seeds]
    readings = []
    for number, own in enumerate((draws, *others), start=1):
        writer = ContinuationWriter(
            pretrained.encoder, opening, request, Generator(opening.network, words, own)
        )
        readings.append(writer.write(f"continuation-{number}", partial(on_word, number)))
    return run_together(opening.network.backbone, readings)


@dataclass
class PartialText:
    """A continuation while it is generated.

    :param tokens: all words, those of the prompt included.  :param fresh: whether the next word begins a sentence.
    :param due: numbers of the cast's members that are not mentioned yet.
    :param form: all words of the open mention, where they were chosen at its start.
    :param told: number of words passed on; the words of an open mention wait for its end, because it may turn out to be none.
    """

    state: StoryState
    tokens: list[str]
    fresh: bool
    agreement: MentionAgreement
    due: tuple[int, ...]
    form: Words = ()
    words: list[GeneratedWord] = field(default_factory=list)
    told: int = 0

    def get_begun(self) -> Expression:
        """Return the words of the open mention so far."""
        if not self.words or self.words[-1].l == 1:
            return ()
        first = list(list_mention_spans(self.words))[-1][0]
        return tuple(self.tokens[first - len(self.words) :])

    def is_quoting(self) -> bool:
        """Tell whether a quotation is open."""
        return "".join(map(write_plainly, self.tokens[-SURE_WORDS:])).count('"') % 2 == 1

    def begins(self) -> bool:
        """Tell whether the next word is the first one of a sentence or of a quotation."""
        return self.fresh or (self.tokens[-1] in ('"', "“", "‘") and self.is_quoting())

    def repeats(self, word: str) -> bool:
        """Tell whether a word would end a phrase that stands shortly before, as where a language model goes in circles."""
        words = [each.lower() for each in (*self.tokens[-REMEMBERED:], word)]
        return any(words[at : at + PHRASE] == words[-PHRASE:] for at in range(len(words) - PHRASE))

    def fits_outside_mentions(self, word: str, *, people: bool) -> bool:
        """Tell whether the next word can stand outside of mentions; ``people``: whether nouns for persons can."""
        after = (
            self.tokens[-1].lower() if self.words and self.words[-1].e else ""
        )  # a mention that is open ends here
        after = "" if after in POSSESSIVE_FORMS else after
        if self.repeats(word):
            return False
        return self.agreement.fits_outside_mentions(word, begins=self.begins(), after=after, people=people)


class ContinuationWriter:
    """Writes continuations from one state, after a prompt was read and the cast was added to its entities."""

    def __init__(
        self, encoder: Encoder, opening: StoryOpening, request: ContinuationRequest, generator: Generator
    ) -> None:
        self.encoder, self.opening, self.request, self.generator = encoder, opening, request, generator
        self.words = generator.words
        closing = {mark: self._learn((mark, other)) for mark, other in PAIRS.items()}
        self.marks = {mark: own for mark, (own, other) in closing.items() if own != other}
        prompt = opening.prompt
        self.one_line = prompt is None or "\n" not in (prompt.text or "").strip()
        single = [] if prompt is not None and {*prompt.tokens} & SINGLE_MARKS else sorted(SINGLE_MARKS)
        self.single = self._learn(single)
        self.asked = None if request.next_entity is None else opening.require_entity(request.next_entity)

    def _learn(self, words: Sequence[str]) -> Words:
        """Add words to the open vocabulary; returns their keys."""
        return tuple(self.words.learn(escape_word(word)) for word in words)

    def _describe_entities(self) -> MentionAgreement:
        """Collect the expressions for the entities of the prompt and the cast: their names, and other short phrases."""
        found, prompt = MentionAgreement(), self.opening.prompt
        for number, name in self.opening.names.items():
            found = found.record(number, name[: self.encoder.max_length])
            for start, end in self.opening.spans.get(number, ()):
                if prompt is not None and end - start <= LONGEST_PHRASE:
                    found = found.record(number, prompt.tokens[start:end])
        return found

    def write(self, id: str, on_word: Callable[[GeneratedWord, str], None]) -> Reading[Continuation]:
        """Write a continuation of at least the requested length, and end its last sentence."""
        opening, request = self.opening, self.request
        tokens = list(opening.prompt.tokens) if opening.prompt is not None else []
        cast = tuple(map(opening.require_entity, request.cast))
        text = PartialText(opening.state, tokens, opening.begins_sentence, self._describe_entities(), cast)
        while len(text.words) < request.words or not text.fresh:
            yield from self._extend(text, on_word, due=self._list_due(text))
            if len(text.words) >= request.words + LONGEST_SENTENCE and not text.form:
                break
        while (yield from self._extend(text, on_word, closing=True)):
            pass
        if text.is_quoting() and len(text.tokens) <= SURE_WORDS:
            self._end_quotation(text, on_word)
        missing = tuple(join_tokens(opening.names[number])[0] for number in text.due)
        return replace(render(self.encoder, text.words, id, opening.names), missing=missing)

    def _list_due(self, text: PartialText) -> tuple[int, ...]:
        """List the entities one of which must be mentioned next: the requested one first, the cast at starts of sentences."""
        if self.asked is not None and not text.words:
            return (self.asked,)
        return text.due if text.fresh and not text.is_quoting() else ()

    def _extend(
        self,
        text: PartialText,
        on_word: Callable[[GeneratedWord, str], None],
        *,
        due: tuple[int, ...] = (),
        closing: bool = False,
    ) -> Reading[bool]:
        """Add one word; with ``closing`` only if it closes the sentence that has just ended."""
        unopened = list_unopened(text.tokens[-SURE_WORDS:])
        constraints = Constraints(
            self.request.temperature,
            self.request.top_p,
            due,
            self.request.new_entities,
            bool(text.tokens) and text.tokens[-1].lower() in ("a", "an", "the"),
            self.one_line,
            text.is_quoting() if len(text.tokens) <= SURE_WORDS else None,
            (*self.single, *(self.marks[mark] for mark in unopened if mark in self.marks)),
            text.form,
            text.get_begun(),
            text.agreement,
            lambda entity: self._list_forms(text, entity, by_name=entity in {*due, *text.due}),
            partial(text.fits_outside_mentions, people=self.request.new_entities),
        )
        state, word = yield from self.generator.step(text.state, constraints)
        closes = text.fresh and bool(text.words) and word.closes_sentence
        if closing and not closes:
            return False
        if text.words and text.words[-1].l > 1 and not word.e:
            self._shorten_mention(text)
        text.state, text.fresh = state, word.ends_sentence or closes
        text.form = word.form if word.l > 1 else ()
        text.due = tuple(number for number in text.due if number != word.e)
        text.words.append(word)
        text.tokens.append(self.words[word.x])
        if word.l == 1:
            if word.e:
                self._record_mention(text)
            for own in text.words[text.told :]:
                on_word(own, self.words.tokenizer.write(own.pieces) or "")
            text.told = len(text.words)
        return True

    def _end_quotation(self, text: PartialText, on_word: Callable[[GeneratedWord, str], None]) -> None:
        """Add the closing mark of the quotation in which the last sentence stands."""
        (key,), pieces = self._learn(("”",)), self.words.tokenizer.pieces("”")
        text.words.append(GeneratedWord(0, 0, 1, key, pieces))
        on_word(text.words[-1], self.words.tokenizer.write(pieces) or "")

    def _record_mention(self, text: PartialText) -> None:
        """Record the expression of the last mention."""
        first, end, entity = list(list_mention_spans(text.words))[-1]
        form = tuple(self.words[own.x] for own in text.words[first:end])
        text.agreement = text.agreement.record(entity, form)

    def _shorten_mention(self, text: PartialText) -> None:
        """End the open mention with the last word, because no word that could continue it was probable.

        If it can't end with that word, it is no mention.
        """
        *before, last = text.get_begun()
        first, left = len(text.words) - len(before) - 1, text.words[-1].l - 1
        if text.agreement.introduces(last, tuple(before), last=True):
            text.words[first:] = [word._replace(l=word.l - left) for word in text.words[first:]]
            self._record_mention(text)
        else:
            text.words[first:] = [word._replace(r=0, e=0, l=1) for word in text.words[first:]]

    def _list_forms(self, text: PartialText, entity: int, *, by_name: bool) -> list[Words]:
        """List the expressions, in ids, by which a known entity may be mentioned here: its name, an earlier one, or a pronoun."""

        def fit(form: Expression) -> Expression:
            if text.begins():
                return tuple(capitalise_start(form))
            return (form[0].lower(), *form[1:]) if form[0].lower() in COMMON_OPENERS else form

        again = any(word.e == entity for word in text.words[-AGAIN:]) and not text.begins()
        known = text.agreement.list_forms(entity, again=again)
        known = [self.opening.names[entity]] if by_name else known or text.agreement.list_forms(entity)
        forms = (fit(form[: self.encoder.max_length]) for form in known)
        return list(dict.fromkeys(map(self._learn, forms)))
