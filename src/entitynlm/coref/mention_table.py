"""The mentions of a document as one table: a column (M,) for each thing that is known of a mention.

The resolver and the ranker compare mentions by these columns alone. Parts of speech, lemmas, dependencies and speakers are the
document's own where it has them, and guessed from words and capitals otherwise (English).
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from entitynlm.discourse.discourse import Discourse
from entitynlm.discourse.identity import find_tag_mentions
from entitynlm.discourse.names import guess_gender
from entitynlm.model.encoding.preprocessing import IntArray
from entitynlm.text.document import Document, Span
from entitynlm.text.english import (
    AFTER_HEAD,
    DETERMINERS,
    FEMALE,
    FUNCTION_WORDS,
    GENDERS,
    MALE,
    NEUTER,
    NUMBERS,
    OBJECTIVE_PRONOUNS,
    PLURAL,
    POSSESSIVE_PRONOUNS,
    PRONOUNS,
    SINGULAR,
    TITLES,
    UNKNOWN,
)

Floats = npt.NDArray[np.float32]

PRONOUN, NAME, NOUN = "pronoun", "name", "noun"
GENDERED = (MALE, FEMALE, NEUTER)
GRAMMATICAL_NUMBERS = (SINGULAR, PLURAL)
FORMS = ("i", "you", "he", "she", "it", "we", "they", "this", "that", "who")
DETERMINER_KINDS = ("definite", "indefinite", "demonstrative", "possessive", "none", "bare")
NAME_CLASS, OTHER_CLASS = len(FORMS), len(FORMS) + 1
CLASSES = len(FORMS) + 2 + len(DETERMINER_KINDS)
"""Classes of mentions: the forms of pronouns, names, other pronouns, and nouns by their determiner."""
CONTENT_WORDS = 6
GENITIVES = ("'s", "’s", "'", "’")
CLAUSE_BORDERS = frozenset((",", ";", ":", "--", "—", "“", "”", '"'))
FORMS_OF_BE = frozenset("is was are were be been being am became become 's 're 'm".split())

MENTION_FEATURES = (
    *(f"class {n}" for n in range(CLASSES)), "number of mention", "text seen", "head seen", "content seen", "repetitions",
    "quoted", "opens sentence", "nested", "possessive", "objective", "width", "speaks", "plural",
)  # fmt: skip


class MentionWords(NamedTuple):
    """The words of one mention, a row of ``MentionTable.words``.

    :param kind: pronoun, name or noun.  :param form: a pronoun's citation form, else the kind.
    :param text: without function words.  :param content: the words that are no function words.
    :param gender: male, female, neuter, human or unknown.  :param number: singular, plural or unknown.
    :param speaker: of a transcript.  :param relation: of the head to its governor.
    """

    kind: str
    form: str
    text: str
    head: str
    lemma: str
    content: frozenset[str]
    gender: str
    number: str
    speaker: str | None
    relation: str


class MentionTable:
    """Columns (M,) of a document's mentions in text order, outer mentions before inner ones.

    :param heads: head token of each span; guessed where it is not given.
    :param syntax: whether to use the document's own columns (parts of speech, lemmas, dependencies, speakers).
    :ivar words: the words of each mention, with gender, number and kind read from them.
    """

    def __init__(
        self,
        discourse: Discourse,
        spans: Sequence[Span],
        *,
        heads: Sequence[int] | None = None,
        syntax: bool = True,
    ) -> None:
        document = discourse.document
        self.document, self.spans, self.size = document, spans, len(spans)
        if heads is None:
            heads = [guess_head(document, *span, syntax=syntax) for span in spans]
        self.start, self.end = np.array(spans, dtype=np.int64).reshape(-1, 2).T
        self.head = _make_column(heads)
        self.sentence = _make_column([document.sentence_of[start] for start, _ in spans])
        self.governor = np.full(self.size, -1, dtype=np.int64)
        if syntax and document.heads is not None:
            self.governor = _make_column([document.heads[head] for head in heads])
        self.words = list(_describe_words(document, spans, heads, syntax=syntax))
        self._number_words()
        self._describe_places()
        self._describe_speech(discourse)
        self.text_count, self.next_text, _ = _follow(self.text)
        self.head_count, _, self.previous_head = _follow(self.head_lemma)
        self.next_class = _follow(self.classes * 2 + (self.quote > 0))[1]

    def _number_words(self) -> None:
        """Number the values of each column, so that mentions can be compared by whole columns."""
        numbers: dict[str, int] = {}

        def number(values: Iterable[str]) -> IntArray:
            return _make_column([numbers.setdefault(value, len(numbers)) for value in values])

        tokens = self.document.tokens
        firsts = [tokens[start].lower() for start, _ in self.spans]
        self.pronoun = np.array([mention.kind == PRONOUN for mention in self.words], dtype=np.bool_)
        lengths = (self.end - self.start).tolist()
        rows = zip(self.words, firsts, lengths, strict=True)
        self.classes = _make_column([_classify(*row) for row in rows])
        self.full_text = number(" ".join(tokens[start:end]).lower() for start, end in self.spans)
        self.text = number(f"{mention.kind == PRONOUN} {mention.text}" for mention in self.words)
        self.head_lemma = number(map(_name_head, self.words))
        self.gender = _make_column([_find_index(mention.gender, GENDERED) for mention in self.words])
        self.number = _make_column(
            [_find_index(mention.number, GRAMMATICAL_NUMBERS) for mention in self.words]
        )
        self.content = np.full((self.size, CONTENT_WORDS), -1, dtype=np.int64)
        for row, mention in enumerate(self.words):
            if mention.kind != PRONOUN:
                words = [f"in {word}" for word in sorted(mention.content)[:CONTENT_WORDS]]
                self.content[row, : len(words)] = number(words)
        self.content_count = (self.content >= 0).sum(1)
        self.head_word = number(f"in {mention.head}" for mention in self.words)
        possessive = np.array([first in POSSESSIVE_PRONOUNS for first in firsts], dtype=np.bool_)
        objective = np.array([first in OBJECTIVE_PRONOUNS for first in firsts], dtype=np.bool_)
        self.possessive, self.objective = possessive & self.pronoun, objective & self.pronoun

    def _describe_places(self) -> None:
        document, tokens = self.document, self.document.tokens
        opens = np.zeros(len(tokens) + 1, dtype=np.bool_)
        opens[[start for start, _ in document.sentences]] = True
        self.opens_sentence = opens[self.start]
        reach = np.maximum.accumulate(np.concatenate([[0], self.end]))[:-1]
        self.nested = reach >= self.end
        self.is_comma = np.array([*(token == "," for token in tokens), False])
        self.borders_before = _count_before(token in CLAUSE_BORDERS for token in tokens)
        self.being_before = _count_before(token.lower() in FORMS_OF_BE for token in tokens)

    def _describe_speech(self, discourse: Discourse) -> None:
        """Number, from 1, the quotation around each mention, the latest before it, and the one whose tag the mention is in."""
        tags = find_tag_mentions(discourse, self.spans)
        speakers = {quotation + 1: mentions[0] for quotation, mentions in tags.items()}
        of_token = np.array(discourse.quotation_of, dtype=np.int64) + 1
        self.quote = of_token[self.start]
        self.latest_quote = np.maximum.accumulate(of_token)[self.start]
        self.speaker = _make_column([speakers.get(quote, -1) for quote in self.quote.tolist()])
        self.speaks = np.full(self.size, -1, dtype=np.int64)
        for quote, mention in speakers.items():
            self.speaks[mention] = quote

    @cached_property
    def features(self) -> Floats:
        """(M, F) of :data:`MENTION_FEATURES`."""
        seen = np.zeros(self.size, dtype=np.bool_)
        words: set[int] = set()
        for row, content in enumerate(self.content.tolist()):
            own = {word for word in content if word >= 0}
            seen[row] = bool(own & words)
            words |= own
        columns = [
            *(self.classes == number for number in range(CLASSES)),
            np.log1p(np.arange(self.size)) / 5,
            self.text_count > 0,
            self.head_count > 0,
            seen,
            np.log1p(self.text_count) / 3,
            self.quote > 0,
            self.opens_sentence,
            self.nested,
            self.possessive,
            self.objective,
            np.log(self.end - self.start) / 2,
            self.speaks >= 0,
            self.number == 1,
        ]
        return np.stack(columns, 1).astype(np.float32)


# -- words of a mention ------------------------------------------------------------------------------------------------


def guess_head(document: Document, start: int, end: int, *, syntax: bool = True) -> int:
    """Find the head of a span: by dependencies, else the last word before a preposition, a relative pronoun or a comma."""
    if syntax and document.heads is not None:
        outside = [t for t in range(start, end) if not start <= document.heads[t] < end]
        if outside:
            return outside[0]
    for token in range(start + 1, end):
        word = document.tokens[token].lower()
        if word in AFTER_HEAD and document.tokens[token - 1].lower() not in AFTER_HEAD:
            return token - 1
    possessive = end - start > 1 and document.tokens[end - 1].lower() in GENITIVES
    return end - 2 if possessive else end - 1


def _describe_words(
    document: Document, spans: Sequence[Span], heads: Sequence[int], *, syntax: bool
) -> Iterable[MentionWords]:
    forms = frozenset(document.tokens)
    nothing = (None,) * len(document)
    names = ("pos", "lemma", "deprel", "speaker")
    tags, lemmas, relations, speakers = (document.column(name) if syntax else nothing for name in names)
    for (start, end), at in zip(spans, heads, strict=True):
        words = [token.lower() for token in document.tokens[start:end]]
        head = document.tokens[at].lower()
        tag, lemma = tags[at], (lemmas[at] or head).lower()
        if " ".join(words) in PRONOUNS:
            kind, form = PRONOUN, PRONOUNS[" ".join(words)]
        else:
            # a capital that is not that of a sentence's start alone
            capital = document.tokens[at][0].isupper() and head not in forms
            kind = form = NAME if (capital if tag is None else tag in ("NNP", "NNPS")) else NOUN
        content = [word for word in words if word not in FUNCTION_WORDS]
        yield MentionWords(
            kind=kind,
            form=form,
            text=" ".join(content or words),
            head=head,
            lemma=lemma,
            content=frozenset(word for word in content if word[0].isalnum()),
            gender=_find_gender(kind, form, head, lemma, words),
            number=_find_number(kind, form, head, words, tag),
            speaker=speakers[start],
            relation=relations[at] or "",
        )


def _find_gender(kind: str, form: str, head: str, lemma: str, words: Sequence[str]) -> str:
    """Find the gender from a pronoun, a title, a noun or a first name (the first word of a name without a title)."""
    telling = (form,) if kind == PRONOUN else (words[0], lemma, head)
    found = next((GENDERS[word] for word in telling if word in GENDERS), UNKNOWN)
    if found == UNKNOWN and kind == NAME and words[0] not in TITLES:
        return guess_gender(next((word for word in words if word not in FUNCTION_WORDS), head)) or UNKNOWN
    return found


def _find_number(kind: str, form: str, head: str, words: Sequence[str], tag: str | None) -> str:
    if kind == PRONOUN:
        return PLURAL if words[0] in ("these", "those") else NUMBERS.get(form, UNKNOWN)
    if "and" in words:
        return PLURAL
    if tag is not None:
        return PLURAL if tag in ("NNS", "NNPS") else SINGULAR
    return PLURAL if head.endswith("s") and not head.endswith("ss") else SINGULAR


def _name_head(mention: MentionWords) -> str:
    """Return the head's lemma; each pronoun gets a key of its own, and a plural that of its singular."""
    if mention.kind == PRONOUN:
        return f"pronoun {mention.form}"
    plural = mention.kind == NOUN and len(mention.lemma) > 3 and mention.lemma.endswith("s")
    return mention.lemma[:-1] if plural else mention.lemma


def _classify(mention: MentionWords, first: str, length: int) -> int:
    """Number the class of a mention: a pronoun's form, a name, or a noun's determiner."""
    if mention.kind == PRONOUN:
        return FORMS.index(mention.form) if mention.form in FORMS else OTHER_CLASS
    if mention.kind == NAME:
        return NAME_CLASS
    kind = "bare" if length == 1 else DETERMINERS.get(first, "none")
    return OTHER_CLASS + 1 + DETERMINER_KINDS.index(kind if kind in DETERMINER_KINDS else "none")


# -- columns -----------------------------------------------------------------------------------------------------------


def _make_column(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def _count_before(values: Iterable[bool]) -> IntArray:
    """(T + 1,) the number of true values before each token."""
    return np.concatenate([[0], np.cumsum(np.fromiter(values, dtype=np.int64))])


def _find_index(value: str, known: Sequence[str]) -> int:
    return known.index(value) if value in known else -1


def _follow(values: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """For each mention, count earlier mentions of the same value, and find the next (M: none) and the previous one (-1: none)."""
    size = len(values)
    count, following, previous = np.zeros(size, np.int64), np.full(size, size), np.full(size, -1)
    last: dict[int, int] = {}
    for row, value in enumerate(values.tolist()):
        if value in last:
            previous[row] = last[value]
            count[row] = count[last[value]] + 1
            following[last[value]] = row
        last[value] = row
    return count, following, previous


def choose_spans(first: IntArray, last: IntArray, scores: np.ndarray, threshold: float) -> IntArray:
    """Choose the spans above a threshold; of two that cross each other only the better one."""
    chosen: list[int] = []
    for number in np.argsort(-scores, kind="stable").tolist():
        if scores[number] <= threshold:
            break
        a, b = first[number], last[number]
        kept = np.array(chosen, dtype=np.int64)
        c, d = first[kept], last[kept]
        if not (((c < a) & (a <= d) & (d < b)) | ((a < c) & (c <= b) & (b < d))).any():
            chosen.append(number)
    kept = np.array(chosen, dtype=np.int64)
    return kept[np.lexsort((-last[kept], first[kept]))]
