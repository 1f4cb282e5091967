"""The Project Dialogism Novel Corpus: whole novels with speakers, addressees, mentions inside of quotations, and characters.

A novel is a folder with ``novel_text.txt``, ``quotation_info.csv`` and ``character_info.csv``; offsets count characters of the
text. Outside of quotations names are not annotated: those that only one character has are found by the list of characters.
"""

import ast
import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from entitynlm.errors import ConfigError, DataError
from entitynlm.text.document import Span

TEXT_FILE, QUOTATION_FILE, CHARACTER_FILE = "novel_text.txt", "quotation_info.csv", "character_info.csv"
DEVELOPMENT_NOVELS = frozenset(
    ("AnneOfGreenGables", "DaisyMiller", "Emma", "TheMysteriousAffairAtStyles", "ThePictureOfDorianGray")
)
"""Novels that choose between models; all others of the corpus are for training."""
NO_NAMES = ("The ", "My ", "A ", "His ", "Her ", "Your ", "Our ")
"""Beginnings of aliases that are descriptions and may mean any character."""
LONGEST_FIELD = 1 << 24


@dataclass(frozen=True)
class NovelQuotation:
    """A quotation, in parts where a tag interrupts it, with the characters that its mentions refer to.

    :param kind: kind of attribution: explicit (a name), anaphoric (a pronoun or noun), implicit.
    :param tag: words that attribute the quotation, such as "she said"; empty without a tag.
    :param mentions: character of each span; spans that refer to several characters are left out.
    """

    speaker: str
    kind: str
    tag: str
    parts: tuple[Span, ...]
    mentions: Mapping[Span, str]

    @property
    def has_speaker(self) -> bool:
        """Whether the speaker is one character: groups and unknown persons have names that begin with an underscore."""
        return not self.speaker.startswith("_")


@dataclass(frozen=True)
class NovelCharacter:
    """A character; ``gender`` is M, F or another letter, ``category`` major, intermediate or minor."""

    name: str
    aliases: tuple[str, ...]
    gender: str
    category: str


@dataclass(frozen=True)
class Novel:
    """A novel with its annotation."""

    name: str
    text: str
    quotations: Sequence[NovelQuotation]
    characters: Sequence[NovelCharacter]

    @cached_property
    def mentions(self) -> Mapping[Span, str]:
        """The character of each mention inside of quotations."""
        return {span: who for quotation in self.quotations for span, who in quotation.mentions.items()}

    def find_names(self) -> dict[Span, str]:
        """Find the occurrences of names that belong to one character alone, the longest name first."""
        owners: dict[str, set[str]] = defaultdict(set)
        for character in self.characters:
            for alias in {character.name, *character.aliases}:
                name = " ".join(alias.split())
                if len(name) > 2 and name[0].isupper() and not name.startswith(NO_NAMES):
                    owners[name].add(character.name)
        if not owners:
            return {}
        ordered = sorted(sorted(owners), key=len, reverse=True)
        words = "|".join(re.escape(name).replace("\\ ", "\\s+") for name in ordered)
        found = {}
        for match in re.finditer(rf"(?<!\w)(?:{words})(?!\w)", self.text):
            who = owners[" ".join(match[0].split())]
            if len(who) == 1:
                found[match.span()] = next(iter(who))
        return found


def list_novels(corpus: Path, split: str | None = None) -> list[Path]:
    """List the folders of novels in a corpus, or the corpus itself if it is a novel.

    :param split: train or dev; None for all.
    """
    if split not in (None, "train", "dev"):
        raise ConfigError(f"there is no split {split!r} of the novels; there are train and dev")
    folders = (
        [corpus]
        if (corpus / TEXT_FILE).is_file()
        else sorted(p.parent for p in corpus.glob(f"*/{TEXT_FILE}"))
    )
    if not folders:
        raise DataError(
            "there is no novel", path=corpus, expected=f"folders with {TEXT_FILE}, as PDNC has them"
        )
    return [f for f in folders if split is None or (f.name in DEVELOPMENT_NOVELS) == (split == "dev")]


def read_novel(folder: Path) -> Novel:
    """Read the text and the annotation of a novel."""
    text = (folder / TEXT_FILE).read_text("utf-8")
    characters = tuple(
        NovelCharacter(
            row["Main Name"],
            tuple(sorted(map(str, value(row, "Aliases")))),
            row["Gender"],
            row["Category"],
        )
        for row, value in _read_rows(folder / CHARACTER_FILE)
    )
    quotations = tuple(
        NovelQuotation(
            row["speaker"],
            row["quoteType"].lower(),
            "" if row["referringExpression"] == "nan" else row["referringExpression"],
            tuple((int(start), int(end)) for start, end in value(row, "quoteByteSpans")),
            dict(_list_mentions(value(row, "mentionSpansList"), value(row, "mentionEntitiesList"))),
        )
        for row, value in _read_rows(folder / QUOTATION_FILE)
    )
    return Novel(folder.name, text, quotations, characters)


def _list_mentions(spans: Any, entities: Any) -> Iterator[tuple[Span, str]]:
    """List the mentions in a quotation's parts that refer to one character."""
    for part, meant in zip(spans, entities, strict=False):
        for (start, end), names in zip(part, meant, strict=False):
            known = [name for name in names if name]
            if len(known) == 1 and not known[0].startswith("_"):
                yield (int(start), int(end)), known[0]


def _read_rows(path: Path) -> Iterator[tuple[dict[str, str], Any]]:
    """Read the rows of a table, each with a function that parses a field as a Python literal (an empty list if it is none)."""
    csv.field_size_limit(LONGEST_FIELD)
    try:
        stream = io.StringIO(path.read_text("utf-8"), newline="")
    except OSError:
        raise DataError("a novel has no such table", path=path, expected="PDNC's files") from None

    def read_value(row: Mapping[str, str], name: str) -> Any:
        try:
            return ast.literal_eval(row[name])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return ()

    try:
        for row in csv.DictReader(stream):
            yield row, read_value
    except (csv.Error, KeyError, TypeError, ValueError) as error:
        raise DataError("this is no table of PDNC", path=path, found=str(error)[:80]) from None
