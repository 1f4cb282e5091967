"""``entitynlm characters``: who is in a book, what they say and do, and with whom."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from entitynlm.characters.character import Cast, list_characters
from entitynlm.characters.tables import (
    CharacterRow,
    QuotationRow,
    describe_cast,
    list_character_rows,
    list_quotation_rows,
    name_companions,
    show_counts,
)
from entitynlm.files import STANDARD
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal, count
from entitynlm.interfaces.inputs import Files, KeepText, check_mentions, read_inputs
from entitynlm.interfaces.outputs import Tables, name_files, write_files, write_tables
from entitynlm.row_files import Kind, choose_kind
from entitynlm.text.document import Document

if TYPE_CHECKING:
    from entitynlm.model.pretrained import Pretrained

Table = Literal["characters", "quotations"]
Mentions = Literal["auto", "given", "found"]
SHOWN_CHARACTERS = 25
"""Characters that are shown in a terminal."""


@dataclass(frozen=True)
class CharacterOptions:
    """Options of a cast: which persons are listed, and where their mentions come from.

    :param least: Leave out persons with fewer mentions; only their number is shown.
    :param mentions: given: use the text's own mentions and quotations; found: find them anew; auto: given if there are
        any.
    """

    least: Annotated[int, typer.Option(min=1)] = 2
    mentions: Mentions = "auto"

    def needs_model(self, document: Document) -> bool:
        """Tell whether the model has to find a document's mentions."""
        return self.mentions == "found" or (self.mentions == "auto" and not document.mentions)

    def list(self, load: "Callable[[], Pretrained]", document: Document) -> Cast:
        """List the characters of a document, with its own mentions and quotations or those that the model finds."""
        if self.mentions == "given":
            check_mentions(document, "--mentions given")
        if self.needs_model(document):
            from entitynlm.coref.annotation import annotate_document

            document = annotate_document(load(), document)
        return list_characters(document, least=self.least)


def characters(
    *,
    files: Files = None,
    model: options.ModelOptions,
    out: options.Output = STANDARD,
    kind: Annotated[Kind | None, typer.Option("--as")] = None,
    rows: Table = "characters",
    listing: CharacterOptions,
    format: options.Format = None,
    keep_text: KeepText = None,
    terminal: Terminal,
) -> None:
    """List the characters of books: names, gender, chapters, speech, actions, company.

    Persons are found by the model, or taken from an annotated text (corrected in the explorer, say). For each there are the
    name, aliases with counts, the gender that pronouns, titles and names suggest, mentions by form and by chapter, what
    it says, what it does, what is done to it, what it has, how it is described, and how often
    it is mentioned in one sentence with others. A second table has all quotations with speakers and addressees. Two
    persons with different titles or first names are never one.

    Examples:

      entitynlm characters novel.txt
      entitynlm characters novel.txt --out cast.tsv --json cast.json
      entitynlm characters story.txt --as tsv --rows quotations > quotations.tsv
      entitynlm characters corrected.jsonl --mentions given --least 5

    :param out: A folder (two tables per text), a file (the quotations are written beside it), or '-' (the terminal).
    :param kind: Kind of table; default: by the ending of --out, or tsv; on the terminal a summary for people.
    :param rows: Which table goes to standard output.
    """
    assert files is not None
    shown = kind is None and out == STANDARD
    table_kind = choose_kind(kind, out)
    endings = [f".{name}.{table_kind}" for name in get_args(Table)]
    targets = {} if shown else name_files(files, out, endings, terminal)
    documents = read_inputs(files, terminal, format=format, keep_text=keep_text)
    load = functools.cache(
        partial(model.load, terminal)
    )  # when it is first needed: annotated texts need none
    summary: list[dict[str, Any]] = []

    def work() -> Iterator[tuple[str, Cast]]:
        for path, document in documents:
            if listing.needs_model(document):
                terminal.doubt(document, load())
            cast = listing.list(load, document)
            if terminal.json_path is not None:
                summary.append({"file": path, **describe_cast(cast)})
            yield path, cast

    if shown:
        for _, cast in work():
            show(cast, terminal)
    else:
        only = rows if out == STANDARD else None
        write = partial(write_tables, list_tables=list_tables, kind=table_kind, only=only)
        write_files(work(), targets, write, terminal)
    terminal.write_json({"task": "characters", "model": model.model, "documents": summary})


def list_tables() -> Tables:
    return {
        "characters": (CharacterRow, list_character_rows),
        "quotations": (QuotationRow, list_quotation_rows),
    }


def show(cast: Cast, terminal: Terminal) -> None:
    """Show a cast in the terminal: the characters with the most mentions, their commonest actions and companions."""
    from rich.text import Text

    from entitynlm.interfaces.views import draw_table

    document = cast.document
    counted = [count(document, "token"), count(document.quotations, "quotation")]
    if len(cast.chapters) > 1:
        counted.insert(1, count(cast.chapters, "chapter"))
    terminal.print(f"── {document.id}: {', '.join(counted)}", style="dim", markup=False)
    lines = [
        (
            Text(character.name + (" (narrator)" if character.is_narrator else "")),
            character.gender,
            f"{character.mentions:,}",
            f"{len(character.quotations):,}",
            _show_chapters(cast, character.chapters),
            Text(", ".join(list(character.actions)[:5])),
            Text(show_counts(name_companions(cast, character), 3)),
        )
        for character in cast.characters[:SHOWN_CHARACTERS]
    ]
    headings = ("name", "gender", "mentions", "speaks", "chapters", "does", "together with")
    terminal.print(draw_table(headings, lines, right=("mentions", "speaks")))
    more, others = len(cast.characters) - len(lines), cast.others
    rest = [count(more, "more character")] if more else []
    if others:
        rest.append(
            count(others, "person who is mentioned less often", "persons who are mentioned less often")
        )
    if rest:
        terminal.print(f"… {', '.join(rest)}", style="dim", markup=False)


def _show_chapters(cast: Cast, counts: Any) -> str:
    numbers = [number for number in counts if number is not None]
    if len(cast.chapters) < 2 or not numbers:
        return ""
    first, last = min(numbers), max(numbers)
    return str(first) if first == last else f"{first}–{last} ({len(numbers)})"
