"""Rendering of generated words: as readable text, and as a document with mentions.

What no reader should see (the unknown word, a number's stand-in) is kept out: where a name is not in the vocabulary, the unknown
word inside a mention of the entity is spelled as its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from entitynlm.generation.generator import GeneratedWord
from entitynlm.generation.open_vocabulary import OpenVocabulary
from entitynlm.generation.request import Continuation
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.preprocessing import normalise_word, unescape_word
from entitynlm.model.encoding.vocabulary import Vocabulary
from entitynlm.text.detokenization import capitalise_start, join_tokens, learn_capitals, restore_capitals
from entitynlm.text.document import Document, Mention
from entitynlm.text.segmentation import align_span, segment_text


class Renderer:
    """Translate between words and their ids, and make text of generated words.

    :param open_words: the words of a model that spells them by pieces; None for one with a closed vocabulary.
    :param names: the words that entities are called by, by their numbers; filled while a prompt is read.
    """

    def __init__(
        self, encoder: Encoder, open_words: OpenVocabulary | None, names: Mapping[int, tuple[str, ...]]
    ) -> None:
        self.encoder, self.tokenizer = encoder, encoder.tokenizer
        self.open_words, self.names = open_words, names
        self.vocabulary = self.tokenizer if isinstance(self.tokenizer, Vocabulary) else None
        self.spaced = open_words is not None and not open_words.reads_sentence_ends
        """Whether pieces say where white space is."""

    def encode(self, words: Sequence[str]) -> tuple[int, ...]:
        """Find the ids of words; an open vocabulary learns them."""
        recipe = self.encoder.recipe
        normal = [normalise_word(word, lowercase=recipe.lowercase, numbers=recipe.numbers) for word in words]
        if self.vocabulary is None:
            assert self.open_words is not None
            return tuple(self.open_words.learn(word) for word in normal)
        return tuple(self.vocabulary[word] for word in normal)

    def get_word(self, x: int) -> str:
        return self.tokenizer.join((x,)) if self.open_words is None else self.open_words[x]

    def show_mention(self, words: Sequence[GeneratedWord], entity: int) -> str:
        """Write the words of a mention as text."""
        spelled: dict[int, int] = {}
        known = entity if entity in self.names else 0
        return join_tokens([self._spell(known, word.x, spelled) for word in words])[0]

    def _spell(self, entity: int, x: int, spelled: dict[int, int]) -> str:
        """Spell a word; ``spelled`` counts the unknown words of each entity's names that were used so far."""
        if self.vocabulary is None or x != self.vocabulary.unknown:
            return unescape_word(self.get_word(x))
        strange = [word for word in self.names[entity] if self.encode((word,)) == (self.vocabulary.unknown,)]
        spelled[entity] = spelled.get(entity, -1) + 1
        return strange[spelled[entity] % len(strange)]

    def render_spaced(self, generated: Sequence[GeneratedWord], id: str) -> tuple[Continuation, str]:
        """Write the text of a language model whose pieces say where white space is, and cut it into words as any other text.

        The text is returned a second time, with the white space around it.
        """
        written = [self.tokenizer.write(word.pieces) or "" for word in generated]
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
        found = tuple(mentions.values())
        document = Document(id, cut.tokens, cut.sentences, found, text=text, offsets=cut.offsets)
        return self._describe(document, generated), whole

    def render(
        self, generated: Sequence[GeneratedWord], id: str, prompt: Document | None, *, at_start: bool
    ) -> Continuation:
        """Write words of a closed vocabulary as text: with spaces, capitals and full stops.

        :param at_start: whether the first word begins a sentence.
        """
        tokens: list[str] = []
        places: list[int] = []  # token of each word
        bounds: list[int] = [0]
        sentence: list[str] = []
        known = [prompt.tokens[a:b] for a, b in prompt.sentences] if prompt else []
        capitals = learn_capitals(known, self.names.values())
        spelled: dict[int, int] = {}

        def end_sentence() -> None:
            tokens.extend(self._finish_sentence(sentence, capitals, capital=at_start or len(bounds) > 1))
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
        mentions = tuple(
            Mention(places[first], places[first] + end - first, str(entity))
            for first, end, entity in list_mention_spans(generated)
        )
        sentences = tuple((a, b) for a, b in pairwise(bounds) if a < b)
        shown = tuple(text[a:b] for a, b in offsets)
        document = Document(id, shown, sentences, mentions, text=text, offsets=offsets)
        return self._describe(document, generated)

    def _finish_sentence(
        self, sentence: list[str], capitals: Mapping[str, str], *, capital: bool
    ) -> list[str]:
        if not sentence:
            return []
        recipe = self.encoder.recipe
        words = restore_capitals(sentence, capitals) if recipe.lowercase else sentence
        if capital:
            words = capitalise_start(words)
        return [*words, "."] if recipe.punctuation == "drop" else words

    def _describe(self, document: Document, generated: Sequence[GeneratedWord]) -> Continuation:
        """Add the types and the names of the entities that are mentioned."""
        names = self.encoder.types
        types = {str(word.e): names[word.r - 1] for word in generated if word.e} if names else {}
        present = {mention.entity for mention in document.mentions}
        called = {str(n): join_tokens(words)[0] for n, words in self.names.items() if str(n) in present}
        assert document.text is not None
        return Continuation(document.text, replace(document, entity_types=types), called)


def list_mention_spans(generated: Sequence[GeneratedWord]) -> Iterator[tuple[int, int, int]]:
    """List the first and the end word of each mention, and its entity; a mention may be cut off at the end."""
    for at, word in enumerate(generated):
        if word.r and (at == 0 or generated[at - 1].l == 1):
            yield at, at + min(word.l, len(generated) - at), word.e
