"""Surprisal of every token and of every referent of a text: tables for experiments.

A token's surprisal is -log p(x_t | what came before). What came before is the words alone, and mentions are sampled and summed
out (``surprisal_words``); or, where the document's own mentions are to be used, the words and the mentions before
(``referents``), which is exact. A mention's surprisal is that of its referent, given that somebody is mentioned.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from entitynlm.coref.annotation import annotate_document
from entitynlm.coref.mention_forms import Form, FormReader
from entitynlm.errors import ConfigError
from entitynlm.inference.readings import ReadText
from entitynlm.inference.weights import FloatArray
from entitynlm.lm.spelling import SpellingModel
from entitynlm.lm.surprisal_words import Source, WordEstimates, estimate_words, score_without_entities
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.preprocessing import SENTENCE_END
from entitynlm.model.encoding.vocabulary import Vocabulary
from entitynlm.model.pretrained import Pretrained
from entitynlm.prediction.referents import Referent, Trace, trace_referents
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document, Mention

Mentions = Literal["auto", "given", "sampled"]

SAMPLES = 50
REPEATS = 4


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One token; the first four fields are lm-zoo's columns, None stands for "not to be had".

    ``docs/howto-psycholinguists.md`` explains the columns. Where ``oov`` is true, ``surprisal`` is that of any unknown word, and
    ``spelled`` that of this very word, with a spelling model for p(word | unknown). With an open vocabulary both are None.
    """

    sentence_id: int
    token_id: int
    token: str
    surprisal: float | None
    error: float | None
    without_entities: float | None
    mention_expected: float | None
    mention_found: float | None
    entity: str | None
    oov: bool | None
    spelled: float | None
    word: str | None
    start: int | None
    end: int | None
    document: str


@dataclass(frozen=True, slots=True)
class MentionRow:
    """One mention; ``docs/howto-psycholinguists.md`` explains the columns."""

    sentence_id: int
    first_token_id: int
    last_token_id: int
    mention: str
    entity: str
    type: str | None
    is_new: bool
    form: Form
    referent_surprisal: float
    entropy: float
    candidates: int
    start_surprisal: float
    words_surprisal: float | None
    since_words: int | None
    since_sentences: int | None
    since_mentions: int | None
    expected: str
    expected_probability: float
    start: int | None
    end: int | None
    document: str


@dataclass(frozen=True)
class Surprisal:
    """The tables of one document.

    :param analysed: the document with its mentions (its own ones if ``given``), and :param encoded: the same as numbers.
    :param originals: the document's mention behind each mention row.
    :param trace: the reading along these mentions (gates, moves, ranked referents), in the model's words.
    :param source: what "without entities" was measured by.
    """

    tokens: tuple[TokenRow, ...]
    mentions: tuple[MentionRow, ...]
    analysed: Document
    encoded: EncodedDocument
    originals: tuple[Mention, ...]
    trace: Trace
    given: bool
    source: Source
    base: float

    @property
    def total(self) -> float:
        """Of all words, sentence ends included where they are rows."""
        return math.fsum(row.surprisal for row in self.tokens if row.surprisal is not None)

    @property
    def words(self) -> int:
        return sum(row.surprisal is not None for row in self.tokens)


def measure_surprisal(
    pretrained: Pretrained,
    document: Document,
    *,
    mentions: Mentions = "auto",
    samples: int = SAMPLES,
    repeats: int = REPEATS,
    seed: int = 0,
    base: float = 2.0,
    sentence_ends: bool = False,
    spelling: SpellingModel | None = None,
    annotated: Document | None = None,
    progress: Progress = SILENT,
) -> Surprisal:
    """Surprisal of all tokens and referents of a document.

    :param mentions: ``given`` reads along the document's own mentions, ``sampled`` sums over all that are possible, ``auto`` is
        ``given`` for a document that has any.
    :param samples: particles per repeat, and :param repeats: independent estimates, whose spread is the error.
    :param sentence_ends: also rows for the ends of sentences, where the model predicts these.
    :param spelling: p(word | unknown); made from the vocabulary if needed and not given.
    :param annotated: the document with the mentions that ``annotate_document`` finds, where that was done before.
    """
    if mentions not in ("auto", "given", "sampled"):
        raise ConfigError(f"mentions are 'auto', 'given' or 'sampled', not {mentions!r}")
    if base <= 1:
        raise ConfigError(f"the base of a logarithm is above 1, not {base}")
    given = mentions == "given" or (mentions == "auto" and bool(document.mentions))
    text = ReadText(pretrained.encoder, document)
    if not given:  # an untrained model's guesses at mentions would help nobody
        if pretrained.untrained:
            annotated = document.with_mentions(())
        text = text.with_mentions(annotated or annotate_document(pretrained, document, text=text))
    encoded, readings = text.encoded, text.readings
    model = pretrained.get("generative")
    trace = trace_referents(model, encoded, with_words=given, readings=readings)
    without, source = score_without_entities(pretrained, encoded, readings)
    unknown = np.full(len(encoded), math.nan)
    if given or not len(encoded):  # after a word, there is no doubt about mentions that are known
        found_mentions = (~np.isnan(trace.gates)).astype(np.float64)
        words = WordEstimates(trace.log_words, unknown, trace.mention_expected, found_mentions)
    elif pretrained.untrained:
        words = WordEstimates(without, np.zeros(len(encoded)), unknown, unknown)
    else:
        sampling: dict[str, Any] = {"particles": samples, "repeats": repeats, "seed": seed}
        proposal = pretrained.get("causal")
        words = estimate_words(model, proposal, encoded, readings=readings, progress=progress, **sampling)
        if not model.words_see_entities:  # then there is nothing to estimate
            words = replace(words, log_probs=without, errors=np.zeros(len(encoded)))
    writer = _RowWriter(text, words, without, 1 / math.log(base), spelling)
    return Surprisal(
        tuple(writer.write_tokens(sentence_ends=sentence_ends)),
        tuple(writer.write_mentions(trace.referents, text.originals)),
        text.document,
        encoded,
        text.originals,
        trace,
        given,
        source,
        base,
    )


@dataclass
class _RowWriter:
    text: ReadText
    estimates: WordEstimates
    without: FloatArray
    unit: float
    spelling: SpellingModel | None

    def __post_init__(self) -> None:
        self.document = self.text.document
        self.shift = int(self.document.meta.get("text_start", 0))

    def write_tokens(self, *, sentence_ends: bool) -> list[TokenRow]:
        """One row per token, those that the model drops included."""
        encoded = self.text.encoded
        owners: dict[int, str] = {}
        for mention in reversed(self.document.mentions):  # of nested ones the outermost is the first
            for start, end in mention.parts or (mention.span,):
                owners.update(dict.fromkeys(range(start, end), mention.entity))
        place_of = {token: place for place, token in enumerate(encoded.origin.tolist()) if token >= 0}
        ends = {int(encoded.sentence[place]): place for place in np.flatnonzero(encoded.origin < 0).tolist()}
        rows = []
        for number, (start, end) in enumerate(self.document.sentences):
            for index in range(start, end):
                place = place_of.get(index)
                rows.append(self._write_token(number, index - start, index, place, owners.get(index)))
            if sentence_ends and number in ends:
                rows.append(self._write_token(number, end - start, None, ends[number], None))
        return rows

    def _write_token(
        self, sentence: int, number: int, index: int | None, place: int | None, entity: str | None
    ) -> TokenRow:
        encoder = self.text.encoder
        word = None if place is None else self.text.words.words[place]
        closed = isinstance(encoder.tokenizer, Vocabulary)
        oov = encoder.tokenizer.is_unknown(word) if closed and word is not None else None
        surprisal = self._take(-self.unit, self.estimates.log_probs, place)
        spelled = None
        if oov and surprisal is not None and word is not None:
            self.spelling = self.spelling or SpellingModel.of_tokenizer(encoder.tokenizer)
            if self.spelling is not None:
                spelled = surprisal - self.spelling.log_prob(word) * self.unit
        start, end = (None, None) if index is None else self._locate(index, index)
        return TokenRow(
            sentence_id=sentence + 1,
            token_id=number + 1,
            token=SENTENCE_END if index is None else self.document.tokens[index],
            surprisal=surprisal,
            error=self._take(self.unit, self.estimates.errors, place),
            without_entities=self._take(-self.unit, self.without, place),
            mention_expected=self._take(1.0, self.estimates.mention_expected, place),
            mention_found=self._take(1.0, self.estimates.mention_found, place),
            entity=entity,
            oov=oov,
            spelled=spelled,
            word=word,
            start=start,
            end=end,
            document=self.document.id,
        )

    def _locate(self, first: int, last: int) -> tuple[int | None, int | None]:
        """The characters of the file from the first token to the last one."""
        offsets = self.document.offsets
        if offsets is None:
            return None, None
        return offsets[first][0] + self.shift, offsets[last][1] + self.shift

    def _take(self, factor: float, values: FloatArray, place: int | None) -> float | None:
        """A word's value in the unit asked for; nothing where there is no word or no value."""
        value = math.nan if place is None else float(values[place])
        return None if math.isnan(value) else 0.0 + factor * value

    def write_mentions(self, referents: Sequence[Referent], originals: Sequence[Mention]) -> list[MentionRow]:
        forms = FormReader(self.document)
        names = {found.entity: mention.entity for found, mention in zip(referents, originals, strict=True)}
        return [
            self._write_mention(found, mention, names, forms)
            for found, mention in zip(referents, originals, strict=True)
        ]

    def _write_mention(
        self, found: Referent, mention: Mention, names: dict[int, str], forms: FormReader
    ) -> MentionRow:
        sentence = self.document.sentence_of[mention.start]
        first, _ = self.document.sentences[sentence]
        start, end = self._locate(mention.start, mention.end - 1)
        best, probability = found.ranked[0]
        since = found.since or (None, None, None)
        words = self.estimates.log_probs[found.start : found.end]
        return MentionRow(
            sentence_id=sentence + 1,
            first_token_id=mention.start - first + 1,
            last_token_id=mention.end - first,
            mention=" ".join(self.document.words(*mention.span).split()),
            entity=mention.entity,
            type=self.document.entity_types.get(mention.entity),
            is_new=found.is_new,
            form=forms.describe(mention),
            referent_surprisal=found.surprisal * self.unit,
            entropy=found.entropy * self.unit,
            candidates=found.candidates,
            start_surprisal=max(0.0, -math.log(max(found.expected, 1e-300))) * self.unit,
            words_surprisal=0.0 - float(words.sum()) * self.unit,
            since_words=since[0],
            since_sentences=since[1],
            since_mentions=since[2],
            expected=names[best] if best else "NEW",
            expected_probability=probability,
            start=start,
            end=end,
            document=self.document.id,
        )
