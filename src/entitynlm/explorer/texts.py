"""Open texts of the explorer, each with an analysis by a model, which can be corrected, undone and redone.

The document of an analysis is a version in a history; figures belong to one version and are measured anew, in the background,
when the version changes. When there are too many texts, the least recently used are closed.
"""

import itertools
import secrets
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

from entitynlm.errors import Busy, EntityNLMError
from entitynlm.explorer.jobs import Job, JobQueue
from entitynlm.text.document import Document

if TYPE_CHECKING:
    from entitynlm.api import AnalysisScore, EntityNLM, Walk
    from entitynlm.report.contents import Report

MOST_WORDS = 400_000  # in all texts together
MOST_WORDS_OF_A_TEXT = 200_000
MOST_VERSIONS = 200
MOST_WALKS = 16  # that are kept, because they remember what they have read; each takes up much room
MOST_MEASURED = 4  # versions of a text whose figures are kept
ANSWER_WITHIN = 30.0  # seconds that a request waits for others

By = Literal["words", "mentions"]


class Missing(EntityNLMError):
    """Raised where a request names a text or an entity that does not exist."""


@dataclass(frozen=True, eq=False)
class Version:
    """A state of an analysis: the document with its mentions, and names that people gave to its entities.

    :param found: whether the mentions are those of the model, uncorrected.
    :param what: description of the correction that made it.
    :param number: number that no other version has.
    """

    document: Document
    labels: Mapping[str, str] = field(default_factory=dict)
    found: bool = False
    what: str = ""
    number: int = field(init=False, default_factory=itertools.count().__next__)


@dataclass(frozen=True)
class Measured:
    """Figures of one version."""

    version: Version
    report: "Report"
    score: "AnalysisScore | None"


WAIT = 60.0  # seconds that a request waits for a model that is being loaded or used


@contextmanager
def hold(lock: threading.RLock, message: str, wait: float) -> Iterator[None]:
    """Hold a lock, or raise :class:`Busy` after some seconds."""
    if not lock.acquire(timeout=wait):
        raise Busy(message)
    try:
        yield
    finally:
        lock.release()


class LazyModel:
    """A model that is loaded at its first use.

    :param load: function that loads the model of a name.
    """

    def __init__(self, name: str, load: "Callable[[], EntityNLM]") -> None:
        self.name, self._load = name, load
        self._loaded: EntityNLM | None = None
        self._lock = threading.RLock()

    def get(self, wait: float = WAIT) -> "EntityNLM":
        """Return the model; simultaneous requests wait while it is loaded."""
        if self._loaded is None:
            with hold(self._lock, f"the model {self.name} is still being loaded", wait):
                self._loaded = self._loaded or self._load()
        return self._loaded

    def use(self, wait: float = WAIT) -> AbstractContextManager[object]:
        """Lock the model during a computation: requests take turns, since a pretrained language model caches its latest text."""
        if not self.get().has_memory:
            return nullcontext()
        return hold(self._lock, f"the model {self.name} is busy with another text", wait)


class Text:
    """An open text: versions of its analysis, and the figures of the version that is shown."""

    def __init__(self, id: str, name: str, version: Version) -> None:
        self.id, self.name = id, name
        self.versions = [version]
        self.at = 0  # which version is shown
        self._numbers: dict[str, int] = {}
        self._kept: deque[Measured] = deque(maxlen=MOST_MEASURED)
        self.job: Job | None = None
        self.lock = threading.RLock()

    @property
    def version(self) -> Version:
        return self.versions[self.at]

    @property
    def document(self) -> Document:
        return self.version.document

    @property
    def is_annotated(self) -> bool:
        """Tell whether mentions have been found, read or corrected; otherwise they are still to be found."""
        return bool(self.version.what)

    @property
    def is_running(self) -> bool:
        return self.job is not None and self.job.state in ("waiting", "running")

    @property
    def numbers(self) -> Mapping[str, int]:
        """Number the entities permanently, so that colours stay: the most frequent first, later entities after them."""
        for entity in sorted(self.document.entities, key=lambda e: (-len(e.mentions), e.mentions[0].start)):
            self._numbers.setdefault(entity.id, len(self._numbers) + 1)
        return self._numbers

    @cached_property
    def gaps(self) -> list[str]:
        """The white space before each token."""
        from entitynlm.report.page import find_gaps

        return find_gaps(self.document)

    @cached_property
    def blocks(self) -> list[int]:
        """The tokens at which the blocks begin that the page loads and lays out."""
        from entitynlm.report.page import cut_blocks

        return cut_blocks(self.document, self.gaps)

    @property
    def measured(self) -> Measured | None:
        """Figures of the version that is shown; None while they are not measured."""
        return next((one for one in self._kept if one.version is self.version), None)

    @property
    def measured_last(self) -> Measured | None:
        """Figures of the version that is shown, or else of the version measured last."""
        return self.measured or (self._kept[-1] if self._kept else None)

    def change(self, version: Version) -> None:
        """Add a new version after the shown one, and forget undone versions."""
        self.versions = [*self.versions[: self.at + 1], version][-MOST_VERSIONS:]
        self.at = len(self.versions) - 1

    def move(self, by: int) -> None:
        """Undo (-1) or redo (1)."""
        if not 0 <= self.at + by < len(self.versions):
            raise Missing("there is nothing to undo" if by < 0 else "there is nothing to redo")
        self.at += by

    def hold(self) -> AbstractContextManager[None]:
        """Lock the text during a computation."""
        return hold(self.lock, "another question about this text is still being answered", ANSWER_WITHIN)

    def store(self, measured: Measured) -> None:
        """Keep the figures of the shown version, and those of a few others."""
        with self.lock:
            if measured.version is self.version:
                self._kept.append(measured)

    def put_found(self, version: Version, document: Document) -> Version:
        """Replace a version by one with the mentions that the model found."""
        found = replace(version, document=document, found=True, what="found by the model")
        with self.lock:
            self.versions = [found if one is version else one for one in self.versions]
        return found

    def cancel(self) -> None:
        """Stop measuring."""
        if self.job is not None:
            self.job.cancel()


@lru_cache(maxsize=MOST_WALKS)
def follow(model: "EntityNLM", followed: Text | Version, by: By) -> "Walk":
    """Follow the words of a text, which all its versions share, or the mentions of one version."""
    return model.follow(followed.document, by=by)


class TextShelf:
    """The open texts, the least recently used first.

    :param measure: measures a text in the background.
    """

    def __init__(
        self,
        model: LazyModel,
        measure: Callable[[LazyModel, Text, Job], None],
        *,
        most_words: int = MOST_WORDS,
    ) -> None:
        self.model, self._measure, self.most_words = model, measure, most_words
        self.worker = JobQueue()
        self._texts: OrderedDict[str, Text] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, document: Document, name: str) -> Text:
        """Open a text, and close the least recently used one if there are too many."""
        given = "as it was in the file" if document.mentions else ""
        text = Text(secrets.token_urlsafe(6), name, Version(document, what=given))
        with self._lock:
            self._texts[text.id] = text
            while len(self._texts) > 1 and self._count_words() > self.most_words:
                self._texts.popitem(last=False)[1].cancel()
        return text

    def _count_words(self) -> int:
        return sum(len(text.document) for text in self._texts.values())

    def get(self, id: str) -> Text:
        """Return a text, which becomes the most recently used."""
        with self._lock:
            if id in self._texts:
                self._texts.move_to_end(id)
                return self._texts[id]
        raise Missing(f"there is no text {id!r}; if it was closed to make room for others, open it again")

    def list(self) -> list[Text]:
        """List all texts, the most recently used first."""
        with self._lock:
            return list(reversed(self._texts.values()))

    def measure(self, text: Text) -> None:
        """Measure the shown version in the background, unless its figures are known; work on other versions of the text stops."""
        text.cancel()
        text.job = None
        if text.measured is None:
            text.job = self.worker.submit(lambda job: self._measure(self.model, text, job))

    def shut(self) -> None:
        for text in self.list():
            text.cancel()
        self.worker.close()


SAMPLES, REPEATS = 40, 2
"""Fewer than ``surprisal`` takes: a page is looked at, and its figures are rounded."""


def measure_text(late: LazyModel, text: Text, job: Job) -> None:
    """Find the mentions if there are none yet, then measure the version that is shown, but no older one."""
    from entitynlm.report.contents import make_report  # with torch, while the page is looked at

    job.begin("loading the model")
    model = late.get()
    job.check()
    version = text.version
    with late.use(wait=3600.0):
        if not version.found and not version.document.mentions and version.what == "":
            job.begin("finding entities")
            found = version.document
            if not model.untrained:
                found = model.annotate(found, progress=job)
            version = text.put_found(version, found)
        document = version.document
        job.begin("measuring surprisal")
        if version.found:  # words are measured without the mentions, which are summed over
            sampling: dict[str, Any] = {"samples": SAMPLES, "repeats": REPEATS, "mentions": "sampled"}
            tables = model.surprisal(document, progress=job, **sampling)
        else:
            tables = model.surprisal(document, mentions="given", progress=job)
        job.begin("telling entities apart")
        report = make_report(tables)
        job.begin("scoring the analysis")
        score = None
        if len(tables.encoded) and not model.untrained:
            score = model.log_prob(document)
    text.store(Measured(version, report, score))
