"""Do to each document of a batch job what the verb of its name does, by the same functions.

A task goes to the workers as its options; each of them loads the model once, when it needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from entitynlm.characters.character import list_characters
from entitynlm.errors import DataError
from entitynlm.interfaces.commands.annotate import AnnotationOptions
from entitynlm.interfaces.commands.characters import Mentions, annotate_for_cast, write_casts
from entitynlm.interfaces.commands.surprisal import SurprisalOptions, write_found
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.options import ModelOptions
from entitynlm.row_files import Kind
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import get_format, write_documents

if TYPE_CHECKING:
    from entitynlm.model.pretrained import Pretrained


@dataclass
class Task:
    """A verb with its options; subclasses compute the result of a document, and write results while they come."""

    verb: ClassVar[str]
    model: ModelOptions
    endings: tuple[str, ...] = field(init=False, compare=False)  # of the files that are made from a shard
    pretrained: Pretrained | None = field(default=None, init=False, compare=False)

    def settings(self) -> dict[str, Any]:
        """Collect all options that change an output."""
        found: dict[str, Any] = {}
        for one in fields(self)[3:]:
            value: Any = getattr(self, one.name)
            found |= asdict(value) if is_dataclass(value) else {one.name: value}  # type: ignore[arg-type]
        return found

    def load(self) -> Pretrained:
        """Load the model, the first time; torch is imported here and not before."""
        if self.pretrained is None:
            self.pretrained = self.model.load(Terminal(quiet=True))
        return self.pretrained

    def prepare(self, documents: Sequence[Document]) -> None:
        """Do for several documents what is quicker done together."""

    def compute(self, document: Document) -> Any:
        raise NotImplementedError

    def write(self, results: Iterable[Any], paths: Sequence[Path]) -> None:
        raise NotImplementedError


@dataclass
class Annotating(Task):
    """``entitynlm annotate``."""

    verb = "annotate"
    to: str
    annotating: AnnotationOptions

    def prepare(self, documents: Sequence[Document]) -> None:
        read_ahead(self.load(), documents)

    def compute(self, document: Document) -> Document:
        if self.annotating.keep_mentions:
            require_mentions(document)
        return self.model.sign(self.annotating.annotate(self.load(), document))

    def __post_init__(self) -> None:
        self.endings = (get_format(self.to).suffix,)

    def write(self, results: Iterable[Document], paths: Sequence[Path]) -> None:
        write_documents(results, paths[0], self.to)


@dataclass
class MeasuringSurprisal(Task):
    """``entitynlm surprisal``."""

    verb = "surprisal"
    kind: Kind
    measuring: SurprisalOptions
    sentence_ends: bool
    hindsight: bool

    def compute(self, document: Document) -> Any:
        if self.measuring.mentions == "given":
            require_mentions(document)
        how = {"sentence_ends": self.sentence_ends, "hindsight": self.hindsight}
        return self.measuring.measure(self.load(), document, Terminal(quiet=True), **how)

    def __post_init__(self) -> None:
        self.endings = f".tokens.{self.kind}", f".mentions.{self.kind}"

    def write(self, results: Iterable[Any], paths: Sequence[Path]) -> None:
        write_found(results, (paths[0], paths[1]), self.kind)


@dataclass
class ListingCharacters(Task):
    """``entitynlm characters``."""

    verb = "characters"
    kind: Kind
    least: int
    mentions: Mentions

    def prepare(self, documents: Sequence[Document]) -> None:
        unread = [each for each in documents if self.mentions == "found" or not each.mentions]
        if self.mentions != "given" and unread:
            read_ahead(self.load(), unread)

    def compute(self, document: Document) -> Any:
        annotated = annotate_for_cast(document, self.mentions, self.load, Terminal(quiet=True))
        return list_characters(annotated, least=self.least)

    def __post_init__(self) -> None:
        self.endings = f".characters.{self.kind}", f".quotations.{self.kind}"

    def write(self, results: Iterable[Any], paths: Sequence[Path]) -> None:
        write_casts(results, (paths[0], paths[1]), self.kind)


def require_mentions(document: Document) -> None:
    """Refuse a document without mentions, where they were said to be given."""
    if not document.mentions:
        raise DataError("this text has no mentions to use")


def read_ahead(pretrained: Pretrained, documents: Sequence[Document]) -> None:
    """Let a pretrained language model read short texts together, by length: texts of 20 pieces take half of the time then."""
    if "generative" in pretrained.networks:
        encoded = [pretrained.encoder.encode_words(document) for document in documents]
        pretrained.get("generative").backbone.read_ahead(encoded)
