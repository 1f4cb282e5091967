"""Continuations of a text with a cast, and with constraints on who is mentioned next.

Words are sampled by ``generator`` and become text by ``rendering``; here requests become constraints. A constraint on entities is
about the text that people read: a language model is free to say "the house" where R says that no mention starts, or "he" of Anna.
So the model annotates what it has generated, as a reader would, and a continuation that breaks the constraint is drawn again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from entitynlm.coref.annotation import annotate_document, can_annotate
from entitynlm.errors import ConfigError
from entitynlm.generation.agreement import MentionAgreement
from entitynlm.generation.generator import Constraints, GeneratedWord, Generator, Reading, Words, run_together
from entitynlm.generation.open_vocabulary import OpenVocabulary
from entitynlm.generation.opening import StoryOpening
from entitynlm.generation.rendering import append_text, list_mention_spans, render
from entitynlm.generation.request import Continuation, ContinuationRequest
from entitynlm.inference.story_state import StoryState
from entitynlm.model.encoding.preprocessing import SENTENCE_END, escape_word
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.detokenization import PAIRS, capitalise_start, list_unopened
from entitynlm.text.document import Document, Span
from entitynlm.text.english import DETERMINERS, PREPOSITIONS, PRONOUNS

MENTION_PATIENCE = 8  # words before which the entity that was asked for is mentioned
MOST_PATHS, MOST_PLACES = 5, 3
"""How often words up to the entity that was asked for are drawn, and at how many places it is tried in each."""
COMMON_OPENERS = {*PRONOUNS, *DETERMINERS} - {"i"}  # they have a capital only where a sentence starts
LONGEST_SENTENCE = 80  # words after which a sentence is ended at the next chance outside of a mention


def writes_prose(pretrained: Pretrained) -> bool:
    """Tell whether a model generates text: its words are spelled by pieces that say where white space is."""
    return not pretrained.encoder.tokenizer.pieces(SENTENCE_END)


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
    if not writes_prose(pretrained):
        raise ConfigError(
            "this model has a closed vocabulary and writes no prose; `entitynlm generate --plan` tells who acts next, and a "
            "model on a pretrained language model (entitynlm-en-smollm2) writes"
        )
    request, draws = request or ContinuationRequest(), torch.Generator().manual_seed(seed)
    opening = StoryOpening(pretrained, prompt, request.cast, draws)
    words = OpenVocabulary(pretrained.encoder.tokenizer)
    seeds = np.random.SeedSequence(seed).generate_state(count - 1).tolist()
    others = [torch.Generator().manual_seed(own) for own in seeds]
    writers = [ContinuationWriter(pretrained, opening, request, words, own) for own in (draws, *others)]
    readings = [writer.write(f"continuation-{number}") for number, writer in enumerate(writers, start=1)]
    return run_together(opening.network.backbone, readings)


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
        opening: StoryOpening,
        request: ContinuationRequest,
        words: OpenVocabulary,
        draws: torch.Generator,
    ) -> None:
        self.pretrained, self.encoder = pretrained, pretrained.encoder
        self.opening, self.request = opening, request
        self.words = words
        if opening.encoded is not None:
            self.words.learn_text(opening.encoded)
        self.generator = Generator(opening.network, self.words, draws)
        closing = {mark: self._learn((mark, other)) for mark, other in PAIRS.items()}
        self.marks = {mark: own for mark, (own, other) in closing.items() if own != other}
        self.mention_pieces = self._list_mention_pieces() if request.next_entity else ()
        self.constraints = Constraints(
            temperature=request.temperature,
            top_p=request.top_p,
            next_entity=None if request.next_entity is None else opening.require_entity(request.next_entity),
            new_entities=request.new_entities,
            names={number: self._learn(opening.names[number]) for number in opening.added},
            agreement=self._describe_entities(),
        )

    def _learn(self, words: Sequence[str]) -> Words:
        """Learn words that may be generated; returns their keys."""
        return tuple(self.words.learn(escape_word(word)) for word in words)

    def _describe_entities(self) -> MentionAgreement:
        """Collect the expressions for the entities of the prompt and the cast."""
        found, opening = MentionAgreement(), self.opening
        for number, words in opening.names.items():
            for form in (words, *map(self._get_tokens, opening.spans.get(number, ()))):
                found = found.hear(number, tuple(form))
        return found

    def _get_tokens(self, span: Span) -> tuple[str, ...]:
        assert self.opening.prompt is not None
        return self.opening.prompt.tokens[span[0] : span[1]][: self.encoder.max_length]

    def _list_mention_pieces(self) -> tuple[int, ...]:
        """List the pieces that are words of mentions: pronouns, and words by which the text's entities are called."""
        spans = (span for of_entity in self.opening.spans.values() for span in of_entity)
        said = {word for span in spans for word in self._get_tokens(span)}
        said = {word for word in said if word.isalpha() and word.lower() not in {*DETERMINERS, *PREPOSITIONS}}
        return self.words.list_first_pieces({*said, *PRONOUNS} - {*DETERMINERS})

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
        return list(dict.fromkeys(map(self._learn, forms)))

    # -- words ---------------------------------------------------------------------------------------------------------

    def write(self, id: str) -> Reading[Continuation]:
        """Write a continuation as long as was asked for, and close its last sentence."""
        opening = self.opening
        tokens = list(opening.prompt.tokens) if opening.prompt is not None else []
        partial = PartialText(opening.state, self.constraints, tokens, fresh=opening.begins_sentence)
        if self.constraints.next_entity is not None:
            partial = yield from self._reach_entity(partial)
        while not partial.is_enough(self.request):
            yield from self.extend(partial)
        while (yield from self.extend(partial, closing=True)):
            pass
        return render(self.encoder, partial.words, id, opening.names)[0]

    def extend(
        self, partial: PartialText, *, closing: bool = False, mention: bool | None = None
    ) -> Reading[bool]:
        """Add one word; with ``closing`` only if it closes the sentence that has just ended.

        :param mention: whether a mention starts with it; None: that is drawn.
        """
        constraints = partial.constraints
        banned = [self.marks[mark] for mark in list_unopened(partial.tokens[-200:]) if mark in self.marks]
        too_long = {0: self._learn((".",))} if partial.length >= LONGEST_SENTENCE else {}
        step = replace(
            constraints,
            banned=tuple(banned),
            banned_pieces=self.mention_pieces if mention is False else (),
            mention=mention,
            names={**constraints.names, **too_long},
            list_forms=lambda entity: self._list_forms(partial, entity),
        )
        state, word = yield from self.generator.step(partial.state, step)
        closes = partial.fresh and bool(partial.words) and word.closes_sentence
        if closing and not closes:
            return False
        partial.add(state, word, self.words[word.x], fresh=word.ends_sentence or closes)
        self._hear_mention(partial, word)
        return True

    def _hear_mention(self, partial: PartialText, word: GeneratedWord) -> None:
        """Keep to the words that were chosen for a mention until it ends, and to the expression from then on."""
        constraints = partial.constraints
        if word.form and word.l > 1:
            partial.constraints = replace(constraints, names={**constraints.names, word.e: word.form})
        elif word.e and word.l == 1 and constraints.agreement is not None:
            first, end, _ = list(list_mention_spans(partial.words))[-1]
            form = tuple(self.words[own.x] for own in partial.words[first:end])
            heard = constraints.agreement.hear(word.e, form)
            partial.constraints = replace(constraints, agreement=heard)

    # -- the entity that was asked for -----------------------------------------------------------------------------------

    def _reach_entity(self, start: PartialText) -> Reading[PartialText]:
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
                yield from self.extend(path, mention=False)
            for _, partial in sorted(places, key=lambda place: -place[0])[:MOST_PLACES]:
                while partial.constraints.next_entity is not None or partial.state.history.remaining:
                    yield from self.extend(partial, mention=True)
                yield from self.extend(partial)
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
        """Tell whether the mention asked for is the first one that the model finds in the text, if it can look for mentions."""
        if not can_annotate(self.pretrained):
            return True
        opening, entity = self.opening, self.constraints.next_entity or 0
        continuation, text = render(self.encoder, words, "draft", opening.names)
        asked = [m.span for m in continuation.document.mentions if m.entity == str(entity)]
        if not asked:
            return False
        count = 0 if opening.prompt is None else len(opening.prompt.tokens)
        whole = append_text(opening.prompt, text, continuation.document)
        span = (asked[0][0] + count, asked[0][1] + count)
        annotated = annotate_document(self.pretrained, whole)
        return is_next_mention(annotated, count, span, opening.spans.get(entity, ()))


def is_next_mention(annotated: Document, start: int, asked: Span, earlier: Collection[Span]) -> bool:
    """Tell whether the first mention of a document from a token on, the outermost one, is ``asked``.

    :param earlier: the entity's mentions before; the first mention must be linked to one of them, where there are any.
    """
    later = [mention for mention in annotated.mentions if mention.start >= start]
    if not later:
        return False
    first = min(later, key=lambda mention: (mention.start, -mention.end))
    linked = (m.span for m in annotated.mentions if m.entity == first.entity and m.end <= start)
    if not share_border(first.span, asked):
        return False
    return not earlier or any(share_border(one, other) for one in linked for other in earlier)


def share_border(first: Span, second: Span) -> bool:
    """Tell whether two spans begin or end together: "Anna" and "Anna Smith"."""
    return first[1] == second[1] or first[0] == second[0]
