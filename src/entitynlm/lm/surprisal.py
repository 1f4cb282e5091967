"""Measure the surprisal of every token and of every referent of a text, as tables for experiments.

A token's surprisal is -log p(x_t | context). The context is the words alone, with mentions summed out by sampling
(``surprisal_words``); or, where the document's own mentions are used, the words and the mentions before (``referents``), which is
exact. A mention's surprisal is that of its referent, given that a mention starts.

Where mentions are sampled, all figures of tokens are those of a reader who has got as far as that word (``filtering``): a
beginning of the text has the same table.
"""

import bisect
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np

from entitynlm.errors import ConfigError
from entitynlm.inference.readings import ReadText
from entitynlm.inference.weights import FloatArray
from entitynlm.lm.mention_forms import Form, read_form
from entitynlm.lm.next_words import NextWords, add_expected
from entitynlm.lm.spelling import spell_unknown_words
from entitynlm.lm.surprisal_words import (
    BaselineName,
    WordEstimates,
    estimate_words,
    name_baseline,
    score_without_entities,
)
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.tokenizer import Vocabulary
from entitynlm.model.pretrained import Pretrained
from entitynlm.prediction.referents import Referent, Trace, trace_referents
from entitynlm.progress import SILENT, Progress
from entitynlm.results import Result
from entitynlm.text.document import Document, Mention
from entitynlm.text.english import FUNCTION_WORDS
from entitynlm.text.segmentation import segment_text

Mentions = Literal["auto", "given", "sampled"]

# docs/decisions/081-surprisal.md has errors and costs of other numbers
SURPRISAL_SAMPLES = 12
SAMPLES_ON_LANGUAGE_MODEL = 16
SURPRISAL_REPEATS = 8

ATTACHED = re.compile(r"[.,;:!?…)\]}”%]|[’'](?:s|re|ve|ll|d|m)\b|n[’']t\b")
"""The beginning of a text that has no space before it, which language models over pieces of words would notice."""

MENTION_THRESHOLD = 0.5
"""Probability above which a word counts as in a mention, and a mention as starting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRow:
    """One token; the first four fields are lm-zoo's columns, None stands for "not available".

    ``docs/howto-surprisal.md`` explains the columns. Where ``oov`` is true, ``surprisal`` includes the word's spelling, which
    ``spelling`` gives separately. With an open vocabulary no word is ``oov``, and ``spelling`` is None.
    """

    sentence_id: int
    token_id: int
    token: str
    surprisal: float | None
    error: float | None
    without_entities: float | None
    mention_expected: float | None = None
    mention_found: float | None = None
    mention_starts: float | None = None
    entity: str | None = None
    entity_probability: float | None = None
    referent_surprisal: float | None = None
    referent_entropy: float | None = None
    oov: bool | None
    spelling: float | None
    word: str | None
    start: int | None
    end: int | None
    document: str


def get_token_row(top_words: int) -> type[TokenRow]:
    """Return the type of rows of tokens, with the columns of ``next_words`` if ``top_words`` is above 0."""
    return add_expected(TokenRow, top_words) if top_words else TokenRow


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionRow:
    """One mention; ``docs/howto-surprisal.md`` explains the columns.

    Mentions of the document have an end; a mention found on the way, at its first word, has none.
    """

    sentence_id: int
    first_token_id: int
    last_token_id: int | None = None
    mention: str
    entity: str
    type: str | None = None
    is_new: bool
    form: Form
    probability: float | None
    referent_surprisal: float
    entropy: float
    candidates: int | None = None
    start_surprisal: float
    words_surprisal: float | None = None
    since_words: int | None = None
    since_sentences: int | None = None
    since_mentions: int | None = None
    expected: str | None = None
    expected_probability: float | None = None
    start: int | None
    end: int | None
    document: str


@dataclass(frozen=True, eq=False, repr=False)
class Surprisal(Result):
    """The tables of one document.

    :param analysed: the document.  :param given: whether words are conditioned on its mentions; otherwise mentions are summed
        over.
    :param encoded: the encoded document.  :param originals: the document's mention behind each of its spans.
    :param trace: the reading along these mentions (gates, moves, ranked referents), in the model's words.
    :param log_prob: log P(X) of this run in nats, with all sentence ends and the spelling of unknown words: the sum over words.
    :param deviations: (R, T) deviation of each repeat's surprisal of each of the model's words from the estimate.
    :param source: name of the model that gave the surprisal without entities.
    :param top_words: number of likely words in each row of a token, beside the columns ``next_entropy`` and ``rank``.
    """

    INTERNAL = frozenset(("encoded", "originals", "trace", "deviations"))

    tokens: tuple[TokenRow, ...]
    mentions: tuple[MentionRow, ...]
    analysed: Document
    encoded: EncodedDocument
    originals: tuple[Mention, ...]
    trace: Trace
    given: bool
    source: BaselineName
    base: float
    log_prob: float
    deviations: FloatArray
    top_words: int = 0

    @property
    def total(self) -> float:
        """The sum of surprisal over the rows of tokens, so without sentence ends."""
        return math.fsum(row.surprisal for row in self.tokens if row.surprisal is not None)

    @property
    def words(self) -> int:
        return sum(row.surprisal is not None for row in self.tokens)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Surprisal":
        made = super().from_dict(plain)
        kind = get_token_row(made.top_words)
        return replace(made, tokens=tuple(kind(**row) for row in plain["tokens"]))

    def to_pandas(self, rows: Literal["tokens", "mentions"] = "tokens") -> Any:
        """Make a pandas DataFrame of the rows of tokens or of mentions, with the columns of the tables that are written."""
        kind = get_token_row(self.top_words) if rows == "tokens" else MentionRow
        return make_frame(kind, getattr(self, rows))


def make_frame(row_type: type, rows: Sequence[Any]) -> Any:
    """Make a pandas DataFrame of rows, with all columns even if there is no row."""
    columns = [column.name for column in fields(row_type)]
    return import_module("pandas").DataFrame([asdict(row) for row in rows], columns=columns)


def put_before(given: str, document: Document) -> tuple[Document, int]:
    """Join two texts into one, and count the characters of the first."""
    if not given:
        return document, 0
    if document.text is None or document.mentions:
        raise ConfigError(
            "a text can be given before plain text alone; mark the mentions of items: [She:Anna]"
        )
    own = document.text
    joined = given[-1:].isspace() or own[:1].isspace() or ATTACHED.match(own)
    text = given + ("" if joined else " ") + own
    cut = segment_text(text)
    whole = Document(document.id, cut.tokens, cut.sentences, text=text, offsets=cut.offsets)
    return whole, len(text) - len(own)


def choose_samples(pretrained: Pretrained, samples: int | None = None) -> int:
    """Choose how many particles a repeat has, unless that is given: enough that no word's surprisal is off by a bit."""
    if samples is not None:
        return samples
    on_language_model = pretrained.get("generative").backbone.pretrained
    return SAMPLES_ON_LANGUAGE_MODEL if on_language_model else SURPRISAL_SAMPLES


def measure_surprisal(
    pretrained: Pretrained,
    document: Document,
    *,
    given: str = "",
    mentions: Mentions = "auto",
    samples: int | None = None,
    repeats: int = SURPRISAL_REPEATS,
    seed: int = 0,
    base: float = 2.0,
    top_words: int = 0,
    progress: Progress = SILENT,
) -> Surprisal:
    """Measure the surprisal of all tokens and referents of a document.

    The rows of mentions are those of the document where it has any, and else those that a reader finds on the way.

    :param given: a text that is read first; rows are those of the document's own text.
    :param mentions: how words are measured: ``given`` reads along the document's own mentions, ``sampled`` sums over all that are
        possible, ``auto`` is ``given`` for a document that has any.
    :param samples: particles per repeat (None: 12, or 16 on a language model), and :param repeats: independent estimates, whose
        spread is the error.
    :param top_words: if above 0, also columns for what was expected in a word's place (``next_words``), with so many words.
    """
    if mentions not in ("auto", "given", "sampled"):
        raise ConfigError(f"mentions are 'auto', 'given' or 'sampled', not {mentions!r}")
    if not 1 < base < math.inf:  # which nan is not either
        raise ConfigError(f"the base of a logarithm is above 1, not {base}")
    model = pretrained.get("generative")
    samples = choose_samples(pretrained, samples)
    for name, number in (("samples", samples), ("repeats", repeats)):
        if not isinstance(number, int) or number < 1:
            raise ConfigError(f"{name} is a whole number above 0, not {number!r}")
    document, before = put_before(given, document)
    along = mentions == "given" or (mentions == "auto" and bool(document.mentions))
    if pretrained.untrained and not along:  # whose guesses at referents say nothing
        document = document.with_mentions(())
    text = ReadText(pretrained.encoder, document)
    encoded, readings = text.encoded, text.readings
    traced = along or bool(document.mentions)
    expected = NextWords(model, pretrained.encoder.tokenizer, top_words, 1 / math.log(base))
    trace = Trace.empty(encoded)
    if traced:
        observer = expected.note if along and top_words else None
        trace = trace_referents(model, encoded, with_words=along, readings=readings, observer=observer)
    words: WordEstimates | None = None
    if along or not len(encoded):
        words = WordEstimates(np.minimum(trace.log_words, 0.0), np.zeros((1, len(encoded))))
    elif not pretrained.untrained:
        sampling: dict[str, Any] = {"particles": samples, "repeats": repeats, "seed": seed}
        sampling |= {"next_words": expected if top_words else None, "progress": progress}
        words = estimate_words(model, pretrained.get("causal"), encoded, readings, **sampling)
    elif top_words:
        expected.note_language_model(readings)
    without = score_without_entities(pretrained, encoded, readings, words)
    words = words or WordEstimates(without, np.zeros((2, len(encoded))))
    writer = _RowWriter(text, words, without, trace if along else None, expected, before)
    found = (
        writer.write_mentions(trace.referents, text.originals) if traced else writer.write_found_mentions()
    )
    return Surprisal(
        tuple(writer.write_tokens()),
        tuple(found),
        text.document,
        encoded,
        text.originals,
        trace,
        along,
        name_baseline(pretrained),
        base,
        math.fsum(writer.log_probs[writer.first_word :].tolist()),
        words.deviations / math.log(base),
        top_words,
    )


@dataclass
class _RowWriter:
    text: ReadText
    estimates: WordEstimates
    without: FloatArray
    given: Trace | None
    expected: NextWords
    before: int  # characters that are given, which offsets are counted from

    def __post_init__(self) -> None:
        self.unit, self.row_type = self.expected.unit, get_token_row(self.expected.top)
        self.document, origin = self.text.document, self.text.encoded.origin
        self.first_token = sum(start < self.before for start, _ in self.document.offsets or ())
        self.first_word = np.searchsorted(np.maximum.accumulate(origin), self.first_token)
        self.spelling = np.full(len(self.text.encoded), math.nan)
        if isinstance(self.text.encoder.tokenizer, Vocabulary):
            self.spelling = spell_unknown_words(self.text.encoder.vocabulary, self.text.words.words)
        spelled = np.nan_to_num(self.spelling)
        self.log_probs, self.without = self.estimates.log_probs + spelled, self.without + spelled
        self.reader = self.estimates.reader
        known = self.document.tokens if self.document.mentions else FUNCTION_WORDS
        self.ordinary = frozenset(known)  # without mentions, words to come are not looked at

    def write_tokens(self) -> list[TokenRow]:
        """Write one row per token, also for tokens that the model does not read."""
        encoded = self.text.encoded
        owners: dict[int, str] = {}
        for mention in reversed(self.document.mentions):  # of nested ones the outermost is the first
            owners.update(dict.fromkeys(range(*mention.span), mention.entity))
        place_of = {token: place for place, token in enumerate(encoded.origin.tolist()) if token >= 0}
        return [
            self._write_token(index, place_of.get(index), owners.get(index))
            for index in range(self.first_token, len(self.document))
        ]

    def _write_token(self, index: int, place: int | None, owner: str | None) -> TokenRow:
        sentence = self.document.sentence_of[index]
        word = None if place is None else self.text.words.words[place]
        oov = None if word is None else self.text.encoder.tokenizer.is_unknown(word)
        start, end = self._locate(index, index)
        return self.row_type(
            sentence_id=sentence + 1,
            token_id=index - self.document.sentences[sentence][0] + 1,
            token=self.document.tokens[index],
            surprisal=self._take(-self.unit, self.log_probs, place),
            error=self._take(self.unit, self.estimates.errors, place),
            without_entities=self._take(-self.unit, self.without, place),
            **self._describe_reader(place, owner),
            oov=oov,
            spelling=self._take(-self.unit, self.spelling, place),
            word=word,
            start=start,
            end=end,
            document=self.document.id,
            **(self.expected.columns.get(place, {}) if place is not None else {}),
        )

    def _describe_reader(self, place: int | None, owner: str | None) -> dict[str, Any]:
        """Fill the columns about mentions: from the given mentions, or from the filtered posterior at this word."""
        found: dict[str, Any] = {"entity": owner if self.given else None}
        if place is None:
            return found
        if self.given is not None:  # after a word, there is no doubt about mentions that are known
            found["mention_expected"] = self._take(1.0, self.given.mention_expected, place)
            found["mention_found"] = float(not math.isnan(self.given.gates[place]))
        elif self.reader is not None:
            for name in ("mention_expected", "mention_found", "mention_starts"):
                found[name] = self._take(1.0, getattr(self.reader, name), place)
            if found["mention_starts"] >= MENTION_THRESHOLD:
                found["referent_surprisal"] = self._take(self.unit, self.reader.referent, place)
                found["referent_entropy"] = self._take(self.unit, self.reader.entropy, place)
            if (first := int(self.reader.entity[place])) >= 0:
                found["entity"] = self._name(first)
                found["entity_probability"] = float(self.reader.probability[place])
        return found

    def _name(self, first: int) -> str:
        """Name an entity by the word at which it was first mentioned, and that word's number in the text."""
        return f"{self.text.words.words[first]}@{first + 1}"

    def _locate(self, first: int, last: int) -> tuple[int | None, int | None]:
        """Locate the characters of the file from the first token to the last one."""
        offsets = self.document.offsets
        if offsets is None:
            return None, None
        return offsets[first][0] - self.before, offsets[last][1] - self.before

    def _take(self, factor: float, values: FloatArray, place: int | None) -> float | None:
        """Return a word's value in the unit asked for; None without a word or a value."""
        value = math.nan if place is None else float(values[place])
        return None if math.isnan(value) else 0.0 + factor * value

    def write_found_mentions(self) -> list[MentionRow]:
        """List the mentions that start, by the filtered posterior, with a probability above one half, given the words so far."""
        if self.reader is None:
            return []
        rows: list[MentionRow] = []
        places: list[int] = []
        latest: dict[int, tuple[int, ...]] = {}  # word, sentence and number of each entity's latest mention
        sentences = self.text.encoded.sentence
        for place in np.flatnonzero(self.reader.mention_starts >= MENTION_THRESHOLD).tolist():
            token, entity = int(self.text.encoded.origin[place]), int(self.reader.entity[place])
            if token < 0 or entity < 0:
                continue
            mention = Mention(token, token + 1, self._name(entity))
            now = place, int(sentences[place]), len(rows)
            past = latest.get(entity)
            if past is None and entity != place:  # first mentioned where a mention was less probable than not
                past = entity, int(sentences[entity]), bisect.bisect(places, entity) - 1
            since = None if past is None else tuple(n - p for n, p in zip(now, past, strict=True))
            latest[entity] = now
            places.append(place)
            expected = float(self.reader.mention_expected[place])
            rows.append(
                MentionRow(
                    **self._describe_mention(mention, mention.start + 1, expected, since),
                    is_new=entity == place,
                    probability=float(self.reader.mention_starts[place]),
                    referent_surprisal=self.unit * float(self.reader.referent[place]),
                    entropy=self.unit * float(self.reader.entropy[place]),
                )
            )
        return [row for row in rows if row.start is None or row.start >= 0]

    def _describe_mention(
        self, mention: Mention, last: int, expected: float, since: tuple[int, ...] | None
    ) -> dict[str, Any]:
        """Fill the columns that say where a mention is, up to the token before ``last``, its form, and how long ago its
        entity was mentioned; ``expected`` is the probability that a mention starts.
        """
        sentence = self.document.sentence_of[mention.start]
        first, _ = self.document.sentences[sentence]
        start, end = self._locate(mention.start, last - 1)
        distances = dict(zip(("since_words", "since_sentences", "since_mentions"), since or (), strict=False))
        return {
            "sentence_id": sentence + 1,
            "first_token_id": mention.start - first + 1,
            "mention": " ".join(self.document.words(mention.start, last).split()),
            "entity": mention.entity,
            "form": read_form(self.document, mention, self.ordinary),
            "start_surprisal": max(0.0, -math.log(max(expected, 1e-300))) * self.unit,
            **distances,
            "start": start,
            "end": end,
            "document": self.document.id,
        }

    def write_mentions(self, referents: Sequence[Referent], originals: Sequence[Mention]) -> list[MentionRow]:
        names = {found.entity: mention.entity for found, mention in zip(referents, originals, strict=True)}
        return [
            self._write_mention(found, mention, names)
            for found, mention in zip(referents, originals, strict=True)
        ]

    def _write_mention(self, found: Referent, mention: Mention, names: dict[int, str]) -> MentionRow:
        first, _ = self.document.sentences[self.document.sentence_of[mention.start]]
        best, probability = found.ranked[0]
        return MentionRow(
            **self._describe_mention(mention, mention.end, found.expected, found.since),
            probability=None
            if self.reader is None
            else self._take(1.0, self.reader.mention_starts, found.start),
            referent_surprisal=found.surprisal * self.unit,
            entropy=found.entropy * self.unit,
            last_token_id=mention.end - first,
            type=self.document.entity_types.get(mention.entity),
            is_new=found.is_new,
            candidates=found.candidates,
            words_surprisal=0.0 - float(self.log_probs[found.start : found.end].sum()) * self.unit,
            expected=names[best] if best else "NEW",
            expected_probability=probability,
        )
