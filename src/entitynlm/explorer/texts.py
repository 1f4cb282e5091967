"""Texts that are open in the explorer, each with one or more analyses, which can be corrected, undone and redone.

An analysis belongs to a model. Its document is a version in a history; what was measured is that of one version and is measured
anew, in the background, when the version changes. Texts that were not looked at for longest are dropped when there are too many.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from entitynlm.errors import EntityNLMError
from entitynlm.explorer.jobs import Job, JobQueue
from entitynlm.explorer.models import Held, ModelShelf
from entitynlm.text.document import Document, Quotation

if TYPE_CHECKING:
    from entitynlm.api import AnalysisScore, Walk
    from entitynlm.report.contents import Report

MOST_TEXTS = 64
MOST_WORDS = 400_000  # in all texts together
MOST_WORDS_OF_A_TEXT = 200_000
MOST_VERSIONS = 200
MOST_STEPPED = 8  # texts that are ready for quick steps
MOST_ANSWERS = 2_000  # steps of an analysis that are kept
MOST_MEASURED = 4  # versions of an analysis whose figures are kept


class Missing(EntityNLMError):
    """Raised where a request names a text, an analysis or an entity that does not exist."""


class Dropped(EntityNLMError):
    """Raised where a request names a text that was closed to make room for others."""


@dataclass(frozen=True)
class Version:
    """A state of an analysis: the document with its mentions, and what people called its entities.

    :param found: whether the mentions are those that the model found, as they were found.
    """

    document: Document
    labels: Mapping[str, str] = field(default_factory=dict)
    found: bool = False
    what: str = ""  # how it came about


@dataclass(frozen=True)
class Measured:
    """Figures of one version."""

    version: int
    report: Report
    score: AnalysisScore | None


class TextAnalysis:
    """One analysis of a text: a model, versions, and what was measured of the one that is shown."""

    def __init__(self, number: int, model: str, version: Version) -> None:
        self.number, self.model = number, model
        self.versions = [version]
        self.at = 0  # which version is shown
        self.stamps = [0]  # a number for each version that no other one ever had
        self._latest_stamp = 0
        self.measured: Measured | None = None
        self._kept: OrderedDict[int, Measured] = OrderedDict()  # of the versions measured last, by stamp
        self.job: Job | None = None
        self.ahead: Job | None = None  # reading ahead
        self.lock = threading.RLock()
        self.along_words: Walk | None = None
        self.along_mentions: tuple[int, Walk] | None = None
        # quotations that were found in a version, by its stamp; and steps, by stamp, reader and token
        self.quoted: tuple[int, tuple[Quotation, ...]] | None = None
        self.answers: OrderedDict[tuple[int, str, int], dict[str, Any]] = OrderedDict()

    @property
    def version(self) -> Version:
        return self.versions[self.at]

    @property
    def stamp(self) -> int:
        return self.stamps[self.at]

    @property
    def document(self) -> Document:
        return self.version.document

    def change(self, version: Version) -> None:
        """Add a new version after the one that is shown, and forget what was undone."""
        self._latest_stamp += 1
        self.versions = [*self.versions[: self.at + 1], version][-MOST_VERSIONS:]
        self.stamps = [*self.stamps[: self.at + 1], self._latest_stamp][-MOST_VERSIONS:]
        self.at = len(self.versions) - 1

    def move(self, by: int) -> bool:
        """Undo (-1) or redo (1); returns whether what was measured of that version is still here."""
        if not 0 <= self.at + by < len(self.versions):
            raise Missing("there is nothing to undo" if by < 0 else "there is nothing to redo")
        self.at += by
        self.measured = self._kept.get(self.stamp, self.measured)
        return self.stamp in self._kept

    def hold(self, wait: float) -> Held:
        """Hold the analysis while computing with it."""
        return Held(
            self.lock, wait, "another question about this text is still being answered; try again soon"
        )

    def remember(self, key: tuple[int, str, int], answer: dict[str, Any]) -> dict[str, Any]:
        """Keep the answer to a step, and forget the oldest ones."""
        self.answers[key] = answer
        while len(self.answers) > MOST_ANSWERS:
            self.answers.popitem(last=False)
        return answer

    def forget_steps(self) -> None:
        """Give up what makes steps quick."""
        self.along_words, self.along_mentions, self.ahead = None, None, None
        self.answers.clear()

    def store(self, measured: Measured) -> None:
        """Keep what was measured of the version that is shown, and that of a few others."""
        self.measured = self._kept[measured.version] = measured
        while len(self._kept) > MOST_MEASURED:
            self._kept.popitem(last=False)

    def annotated(self, document: Document) -> None:
        """Put the mentions that the model found into the version that is shown."""
        self.versions[self.at] = replace(
            self.version, document=document, found=True, what="found by the model"
        )


class Text:
    """A text and its analyses."""

    def __init__(self, id: str, name: str, document: Document, parent: str | None = None) -> None:
        self.id, self.name, self.document, self.parent = id, name, document, parent
        self.analyses: dict[int, TextAnalysis] = {}
        self.gaps: list[str] = []  # what stands before each token, and …
        self.blocks: list[int] = []  # … where stretches start; filled by the first who asks

    def add(self, model: str, version: Version) -> TextAnalysis:
        number = max(self.analyses, default=0) + 1
        self.analyses[number] = TextAnalysis(number, model, version)
        return self.analyses[number]

    def get(self, number: int) -> TextAnalysis:
        if number not in self.analyses:
            raise Missing(f"the text has no analysis {number}")
        return self.analyses[number]

    def cancel(self) -> None:
        for analysis in self.analyses.values():
            for job in (analysis.job, analysis.ahead):
                if job is not None:
                    job.cancel()


class TextShelf:
    """The open texts, the one that was used last at the end."""

    def __init__(
        self,
        models: ModelShelf,
        measure: Callable[[ModelShelf, Text, TextAnalysis, Job], None],
        read_ahead: Callable[[ModelShelf, Text, TextAnalysis, Job], None] | None = None,
        *,
        most_texts: int = MOST_TEXTS,
        most_words: int = MOST_WORDS,
    ) -> None:
        self.models, self._measure, self._read_ahead = models, measure, read_ahead
        self.most_texts, self.most_words = most_texts, most_words
        self.worker, self.ahead = JobQueue(), JobQueue()  # what people wait for, and may ask for next
        self._texts: OrderedDict[str, Text] = OrderedDict()
        self._lock = threading.Lock()
        self._stepped: OrderedDict[str, Text] = OrderedDict()  # texts with readers, which take up much room
        self.dropped: OrderedDict[str, str] = OrderedDict()  # names of texts that had to make room, by id

    def open(self, document: Document, name: str, parent: str | None = None) -> Text:
        """A new text, for which others may have to make room."""
        text = Text(secrets.token_urlsafe(6), name, document, parent)
        with self._lock:
            self._texts[text.id] = text
            while len(self._texts) > 1 and (
                len(self._texts) > self.most_texts or self._count_words() > self.most_words
            ):
                id, old = self._texts.popitem(last=False)
                old.cancel()
                self.dropped[id] = old.name
            while len(self.dropped) > 100:
                self.dropped.popitem(last=False)
        return text

    def _count_words(self) -> int:
        return sum(len(text.document) for text in self._texts.values())

    def get(self, id: str) -> Text:
        """A text, which is now the one that was used last."""
        with self._lock:
            if id in self._texts:
                self._texts.move_to_end(id)
                return self._texts[id]
        if id in self.dropped:
            raise Dropped(
                f"the text {self.dropped[id]!r} was closed to make room for others; open it again to go on"
            )
        raise Missing(f"there is no text {id!r}")

    def close(self, id: str) -> None:
        text = self.get(id)
        text.cancel()
        with self._lock:
            self._texts.pop(id, None)

    def list(self) -> list[Text]:
        """All texts, the one that was used last first."""
        with self._lock:
            return list(reversed(self._texts.values()))

    @staticmethod
    def stop(analysis: TextAnalysis) -> None:
        """Stop work on an earlier version; there is none to do for the one that is shown."""
        if analysis.job is not None:
            analysis.job.cancel()
        analysis.job = None

    def analyse(self, text: Text, analysis: TextAnalysis) -> None:
        """Measure the version that is shown, in the background; work on an earlier version stops."""
        self.stop(analysis)
        read_ahead = self._read_ahead if analysis.ahead is None else None

        def work(job: Job) -> None:
            self._measure(self.models, text, analysis, job)
            if read_ahead is not None and analysis.ahead is None:
                analysis.ahead = self.ahead.submit(lambda job: read_ahead(self.models, text, analysis, job))

        analysis.job = self.worker.submit(work)

    def keep_readers(self, text: Text) -> None:
        """Keep the readers of a text that is stepped through, and give up those of the texts stepped through longest ago."""
        with self._lock:
            self._stepped[text.id] = text
            self._stepped.move_to_end(text.id)
            while len(self._stepped) > MOST_STEPPED:
                _, old = self._stepped.popitem(last=False)
                for analysis in old.analyses.values():
                    analysis.forget_steps()

    def prepare(self, model: str) -> None:
        """Load a model in the background before the first request for it."""

        def load(job: Job) -> None:
            self.models.get(model)

        self.worker.submit(load)

    def shut(self) -> None:
        for text in self.list():
            text.cancel()
        self.worker.close()
        self.ahead.close()
