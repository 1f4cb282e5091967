"""Raw text into words and sentences, with the character offsets of every word.

Words are those of spaCy's blank English tokeniser, sentences those of nupunkt, which made the fewest mistakes around quotation
marks and abbreviations of the splitters that we tried. A blank line always ends a sentence. All functions take linear time,
whatever the text.
"""

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from entitynlm.text.document import Span
from entitynlm.text.english import MORE_SPEECH_VERBS, SPEECH_VERBS

# The time of both libraries grows with the square of a word's length. Anything longer than this is a data URL or a script without
# spaces: a plain pattern cuts it, and sentences don't end in it.
LONGEST_WORD = 256

# The tokeniser caches every word that it ever saw; a new one after this many characters bounds its memory.
RENEW_AFTER = 20_000_000

PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*|[\f\u2029]")
# `"Where?" Priya asked.` is one sentence: after a quotation's ? or ! comes who asked. A name or a pronoun stands before the verb,
# perhaps with "had" or an adverb between. Verbs that are not always of speech end their clause: not "Tom finished his tea."
QUESTION_END = re.compile(r"[?!…—][\"”’'»]\s*\Z")
GESTURES = frozenset(("grinned", "nodded", "put", "smiled", "wept", "went"))
WHO_SAID_IT = re.compile(
    r"\s*(?!(?:He|She|They|It|We|You|The|An?|My|His|Her|This|That|There|Then)\b)"
    r"(?:(?:the|my|his|her|an?|old|young|[A-Z][\w.’'-]*|[A-Z][\w-]*[’']s\s+\w+|he|she|they|it|we)\s+(?:and\s+)?){1,4}?"
    r"(?:(?:had|has|\w+ly)\s+)?"
    rf"(?:(?:{'|'.join(sorted(SPEECH_VERBS))})\b"
    rf"|(?:{'|'.join(sorted({*MORE_SPEECH_VERBS, 'written', 'wrote'} - GESTURES))})(?=[.,;:]|\s+\w+ly\b))"
)
# A dash between two clauses, with the marks beside it: `Hart.--She`, `Vale--"just so`. spaCy cuts at one between letters alone.
DASH_INFIXES = (r"[.?!,;:\"”](?=[\"”]?(?:--|—))", r"--+|—", r"(?<=--|.—)[\"“]")
LONG_RUN = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")
NON_SPACE = re.compile(r"\S+")
PLAIN_WORD = re.compile(rf"\w{{1,{LONGEST_WORD}}}|\S")


@dataclass(frozen=True)
class Segmentation:
    """The words of a text, their character ranges, and the sentences as ranges of words."""

    tokens: tuple[str, ...]
    offsets: tuple[Span, ...]
    sentences: tuple[Span, ...]


class TextSegmenter:
    """spaCy's English tokeniser and nupunkt's sentence splitter, loaded once."""

    def __init__(self) -> None:
        import nupunkt  # here, because both take a second to load and many commands read no raw text
        import spacy

        self._spacy: Any = spacy
        self._nupunkt: Any = nupunkt
        self._seen = 0
        self._tokenise = self._make_tokeniser()

    def _make_tokeniser(self) -> Any:
        language = self._spacy.blank("en")
        infixes = [*DASH_INFIXES, *language.Defaults.infixes]
        language.tokenizer.infix_finditer = self._spacy.util.compile_infix_regex(infixes).finditer
        prefixes = [r"--+", *language.Defaults.prefixes]
        language.tokenizer.prefix_search = self._spacy.util.compile_prefix_regex(prefixes).search
        return language.tokenizer

    def segment(self, text: str) -> Segmentation:
        """Segment ``text``; no word is empty or white space, and ``text[a:b]`` is the word at ``(a, b)``."""
        if self._seen > RENEW_AFTER:
            self._seen, self._tokenise = 0, self._make_tokeniser()
        self._seen += len(text)
        offsets: list[Span] = []
        sentences: list[Span] = []
        for start, end in _find_paragraphs(text):
            first = len(offsets)
            offsets += self._find_words(text, start, end)
            words = iter(range(first, len(offsets)))
            word = next(words, None)
            for stop in self._find_sentence_ends(text, start, end):
                while word is not None and offsets[word][0] < stop:
                    word = next(words, None)
                last = len(offsets) if word is None else word
                if last > first:
                    sentences.append((first, last))
                    first = last
        return Segmentation(tuple(text[a:b] for a, b in offsets), tuple(offsets), tuple(sentences))

    def _find_words(self, text: str, start: int, end: int) -> Iterator[Span]:
        for run in LONG_RUN.finditer(text, start, end):
            yield from self._find_spacy_words(text, start, run.start())
            yield from (word.span() for word in PLAIN_WORD.finditer(text, *run.span()))
            start = run.end()
        yield from self._find_spacy_words(text, start, end)

    def _find_spacy_words(self, text: str, start: int, end: int) -> Iterator[Span]:
        if start < end:
            for token in self._tokenise(text[start:end]):
                word = token.text
                if not word.isspace():
                    begin = start + token.idx
                    yield begin, begin + len(word)

    def _find_sentence_ends(self, text: str, start: int, end: int) -> Iterator[int]:
        plain = LONG_RUN.sub(lambda run: "x" * len(run[0]), text[start:end])
        spans = list(self._nupunkt.sent_spans(plain))
        for (sentence_start, sentence_end), (following, _) in zip(spans, [*spans[1:], (0, 0)], strict=False):
            if following and _goes_on(
                plain[sentence_start:sentence_end], plain[following : following + LONGEST_WORD]
            ):
                continue
            yield start + sentence_end
        yield end


_load_segmenter = functools.cache(TextSegmenter)  # all callers share one


def segment_text(text: str) -> Segmentation:
    return _load_segmenter().segment(text)


def segment_whitespace(text: str) -> Segmentation:
    """Segment tokenised text: words are separated by white space, a line is a sentence."""
    offsets: list[Span] = []
    sentences: list[Span] = []
    for line in re.finditer(r"[^\n]+", text):
        first = len(offsets)
        offsets += (word.span() for word in NON_SPACE.finditer(text, *line.span()))
        if len(offsets) > first:
            sentences.append((first, len(offsets)))
    return Segmentation(tuple(text[start:end] for start, end in offsets), tuple(offsets), tuple(sentences))


def find_spans(sentences: Iterable[Sequence[object]]) -> tuple[Span, ...]:
    """Find the spans of sentences that follow each other; empty ones are skipped."""
    edges = accumulate(map(len, sentences), initial=0)
    return tuple((start, end) for start, end in pairwise(edges) if start < end)


def find_words(words: Sequence[str], text: str) -> tuple[Span, ...] | None:
    """Find the offsets of the words in the text; ``None`` unless text and words are equal, white space aside."""
    offsets: list[Span] = []
    at = 0
    for word in words:
        start = text.find(word, at)
        if start < 0 or (start > at and not text[at:start].isspace()):
            return None
        at = start + len(word)
        offsets.append((start, at))
    return tuple(offsets) if not text[at:].strip() else None


def join_words(words: Sequence[str], tight: Iterable[bool] = ()) -> tuple[str, tuple[Span, ...]]:
    """Join words with a space before each that is not ``tight``, and find their offsets in the text."""
    flags = list(tight) or [index == 0 for index in range(len(words))]
    pieces = [word if flag else f" {word}" for word, flag in zip(words, flags, strict=True)]
    ends = accumulate(map(len, pieces))
    return "".join(pieces), tuple((end - len(word), end) for end, word in zip(ends, words, strict=True))


def place_words(words: Sequence[str], text: str | None) -> tuple[str, tuple[Span, ...]]:
    """Find the offsets of words in a text; if they do not match, join the words by spaces instead."""
    offsets = None if text is None else find_words(words, text)
    return join_words(words) if text is None or offsets is None else (text, offsets)


def align_span(offsets: Sequence[Span], start: int, end: int) -> tuple[Span | None, bool]:
    """Find the words that a character range overlaps (``None`` if there are none), and whether it cuts none of them."""
    first = bisect_right(offsets, start, key=lambda offset: offset[1])
    last = bisect_left(offsets, end, key=lambda offset: offset[0])
    if first >= last:
        return None, False
    return (first, last), offsets[first][0] >= start and offsets[last - 1][1] <= end


def _goes_on(sentence: str, rest: str) -> bool:
    """Tell whether the words after a question or exclamation name its speaker."""
    return bool(QUESTION_END.search(sentence[-8:]) and WHO_SAID_IT.match(rest))


def _find_paragraphs(text: str) -> Iterator[Span]:
    lines = text.replace("\r\n", " \n").replace("\r", "\n")  # of the same length, so that places stay
    start = 0
    for gap in PARAGRAPH_END.finditer(lines):
        if not text[start : gap.start()].isspace():
            yield start, gap.start()
        start = gap.end()
    if not text[start:].isspace():
        yield start, len(text)
