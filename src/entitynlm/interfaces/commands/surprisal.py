"""``entitynlm surprisal``: measure how predictable each word and each referent is."""

from __future__ import annotations

import itertools
import keyword
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, astuple, dataclass, fields, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from entitynlm.errors import ConfigError
from entitynlm.files import STANDARD, check_outputs
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.inputs import Files, KeepText, read_inputs, require_mentions
from entitynlm.interfaces.table_pairs import TablePair
from entitynlm.row_files import Kind, choose_kind, write_rows

if TYPE_CHECKING:
    from entitynlm.lm.surprisal import Surprisal
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.report.contents import Report
    from entitynlm.text.document import Document

Table = Literal["tokens", "mentions"]
BASES = {"2": 2.0, "bits": 2.0, "e": math.e, "nats": math.e, "10": 10.0}


@dataclass(frozen=True)
class SurprisalOptions:
    """The settings of a measurement."""

    mentions: options.Mentions = "auto"
    samples: options.Samples = 12
    repeats: options.Repeats = 8
    base: options.Base = "2"
    seed: options.Seed = 0

    def measure(
        self, load: Callable[[], Pretrained], document: Document, terminal: Terminal, **more: Any
    ) -> Surprisal:
        """Measure one text, with progress."""
        from entitynlm.lm.surprisal import measure_surprisal

        pretrained = load()
        terminal.doubt(document, pretrained)
        settings = {**asdict(self), "base": BASES[self.base], **more}
        return measure_surprisal(pretrained, document, progress=terminal, **settings)

    def report(self, pretrained: Pretrained, document: Document, terminal: Terminal) -> Report:
        """Measure one text and make a report of it."""
        from entitynlm.report.contents import make_report

        return make_report(pretrained, self.measure(lambda: pretrained, document, terminal, hindsight=True))


@dataclass(frozen=True)
class TableOptions(SurprisalOptions):
    """The settings of a measurement that is written as tables.

    :param sentence_ends: Add rows for the ends of sentences (</s>).
    :param hindsight: Also annotate each text as a whole: rows of mentions are those of the annotation, and the columns
        that end in _hindsight are filled. All other figures depend on no word to come.
    """

    sentence_ends: bool = False
    hindsight: bool = False


def surprisal(
    *,
    files: Files = None,
    model: options.ModelOptions,
    out: options.Output = STANDARD,
    kind: Annotated[Kind | None, typer.Option("--as")] = None,
    rows: Table = "tokens",
    measuring: TableOptions,
    items: Annotated[Path | None, typer.Option(metavar="FILE", callback=options.check_exists)] = None,
    compare: Annotated[str | None, typer.Option(metavar="COLUMN")] = None,
    word_boundaries: Annotated[bool | None, typer.Option("--word-boundaries/--no-word-boundaries")] = None,
    format: options.Format = None,
    keep_text: KeepText = None,
    terminal: Terminal,
) -> None:
    """Measure the surprisal of every word and every referent.

    Writes tables for R, pandas or a spreadsheet.

    Tokens: sentence_id, token_id, token and surprisal first (as lm-zoo has them), then the standard error of sampling,
    the surprisal without entities, the probability of being in a mention before and after the word, the entity, whether
    the word is out of vocabulary (then also how much of its surprisal is its spelling; empty where the vocabulary is
    open), and character offsets. Tokens that the model does not read keep a row. Mentions: referent surprisal, entropy
    over referents, new or old, distances, form of the expression.

    No word changes a figure before it: the table of a text's beginning is the beginning of the text's table, to 1e-4
    bits. With --hindsight, columns of their own have what an annotation finds that has read the text to its end.

    --model huggingface:NAME measures words by a pretrained language model without entities; mentions are those that
    the text brings along.

    Examples:

      entitynlm surprisal story.txt > story.tsv
      entitynlm surprisal chapter.txt --rows mentions --base nats
      entitynlm surprisal "items/*.txt" --out tables/ --as parquet --json summary.json
      echo "Anna lost her key. She called Bob." | entitynlm surprisal
      entitynlm surprisal annotated.conllu --out annotated.csv
      entitynlm surprisal story.txt --model huggingface:smollm2
      entitynlm surprisal --items items.tsv --out regions.tsv
      entitynlm surprisal --items items.tsv --compare condition

    :param out: A folder (two tables per text), a file (its mentions go beside it), or '-' (one table).
    :param kind: Kind of table; default: by the ending of --out, or tsv.
    :param rows: Which table goes to standard output.
    :param items: Measure experimental items instead of texts, each in a fresh context: one per line, or a .tsv or .csv
        file with the columns item, condition, context and target (other columns are kept). Bars (|) in a target, or
        columns region1, region2, … instead of it, part it into regions; a row is a region.
    :param compare: With --items: rows are differences within an item between the values of a column, such as condition, with
        their standard errors; lines of an item are compared where they have the same condition.
    :param word_boundaries: With a pretrained language model: whether a word's probability includes that the word ends.
        Default: as the model was trained, which is with them.
    """
    assert files is not None
    table_kind = choose_kind(kind, out)
    if out == STANDARD and terminal.json_path == STANDARD:
        raise ConfigError("--json - and --out - both want standard output; give one of them a file")
    if compare and items is None:
        raise ConfigError("--compare is about items: name their file with --items")
    if items is not None:
        if files != [STANDARD]:
            raise ConfigError("--items is a file of its own: give no other text with it")
        if (
            measuring.sentence_ends
            or measuring.hindsight
            or format
            or rows != "tokens"
            or measuring.mentions == "given"
        ):
            told = "--sentence-ends, --hindsight, --format, --rows and --mentions given are for texts, not for --items"
            raise ConfigError(told)
        write_items(items, compare, model, measuring, out, table_kind, terminal, word_boundaries)
        return
    check_outputs(itertools.chain(*SURPRISAL_TABLES.name_files(files, out, table_kind).values()))
    documents = read_inputs(files, terminal, format=format, keep_text=keep_text)
    if measuring.mentions == "given":
        documents = require_mentions(documents, "--mentions given", terminal)
    pretrained = load_bounded(model, terminal, word_boundaries)
    figures: list[dict[str, Any]] = []

    def measure() -> Iterator[tuple[str, Surprisal]]:
        """Measure one document after the other, so that no more than one is in memory."""
        for path, document in documents:
            started = time.perf_counter()
            tables = measuring.measure(lambda: pretrained, document, terminal)
            figures.append(summarise(path, tables, time.perf_counter() - started))
            yield path, tables

    SURPRISAL_TABLES.write_all(measure(), files, out, table_kind, rows, terminal)
    terminal.write_json({**head_summary(model, pretrained, measuring), "documents": figures})


def load_bounded(model: options.ModelOptions, terminal: Terminal, word_boundaries: bool | None) -> Pretrained:
    """Load the model; with a pretrained language model, choose whether words include their ends."""
    from entitynlm.model.loading import choose_boundaries

    pretrained = model.load(terminal)
    return pretrained if word_boundaries is None else choose_boundaries(pretrained, word_boundaries)


def head_summary(
    model: options.ModelOptions, pretrained: Pretrained, measuring: SurprisalOptions
) -> dict[str, Any]:
    """Name the task, the version, the model with its language model, and the settings: what a paper has to cite."""
    from entitynlm import __version__
    from entitynlm.model.loading import describe_model

    told = {"task": "surprisal", "entitynlm": __version__, **describe_model(model.model, pretrained)}
    return {**told, **asdict(measuring)}


def write_items(
    path: Path,
    compare: str | None,
    model: options.ModelOptions,
    measuring: TableOptions,
    out: str,
    kind: Kind,
    terminal: Terminal,
    word_boundaries: bool | None,
) -> None:
    """Measure experimental items, and write their regions or the differences between conditions."""
    if out != STANDARD:
        check_outputs([Path(out)])
    from entitynlm.lm.items import (
        DifferenceRow,
        RegionRow,
        compare_conditions,
        measure_items,
        name_conditions,
        read_items,
    )
    from entitynlm.text.document import Document

    items = read_items(path) if compare is None else name_conditions(read_items(path), compare)
    pretrained = load_bounded(model, terminal, word_boundaries)
    words = tuple(itertools.chain.from_iterable(item.make_document()[0].tokens for item in items))
    terminal.doubt(Document(path.name, words, ((0, len(words)),)), pretrained)
    settings = {**asdict(measuring), "base": BASES[measuring.base]}
    for name in ("mentions", "sentence_ends", "hindsight"):
        del settings[name]
    terminal.start("items", len(items))
    measured = []
    for found in measure_items(pretrained, items, **settings):
        measured.append(found)
        terminal.advance("items", 1)
    terminal.finish("items")
    if compare is not None:
        write_rows(compare_conditions(measured), DifferenceRow, out, kind)
    else:
        kept = [(name, str) for name in name_kept(items[0].others)]
        row_type = make_dataclass("ItemRow", kept, bases=(RegionRow,), frozen=True)
        rows = (
            row_type(*astuple(row), *found.item.others.values()) for found in measured for row in found.rows
        )
        write_rows(rows, row_type, out, kind)
    terminal.write_json({**head_summary(model, pretrained, measuring), "items": len(items)})


def name_kept(names: Iterable[str]) -> list[str]:
    """Name the columns that are kept as R and Python can use them: ``own_`` goes before names that are taken or no identifier."""
    from entitynlm.lm.items import RegionRow

    taken = {column.name for column in fields(RegionRow)}
    kept: list[str] = []
    for name in names:
        name = re.sub(r"\W", "_", name)
        while name in taken or not name.isidentifier() or keyword.iskeyword(name):
            name = f"own_{name}"
        taken.add(name)
        kept.append(name)
    return kept


def get_row_types() -> tuple[type, type]:
    """Import the dataclasses of the rows, with torch."""
    from entitynlm.lm.surprisal import MentionRow, TokenRow

    return TokenRow, MentionRow


def list_rows(found: Surprisal) -> tuple[Iterable[Any], Iterable[Any]]:
    """List the rows of tokens and of mentions."""
    return found.tokens, found.mentions


SURPRISAL_TABLES = TablePair(("tokens", "mentions"), get_row_types, list_rows)


def summarise(path: str, tables: Surprisal, seconds: float | None = None) -> dict[str, Any]:
    """Counts and means of one document, and the speed where that was measured."""
    mean = tables.total / tables.words if tables.words else None
    errors = [row.error for row in tables.tokens if row.error is not None]
    referents = [row.referent_surprisal for row in tables.mentions if row.referent_surprisal is not None]
    figures = {
        "file": path,
        "id": tables.analysed.id,
        "tokens": len(tables.analysed),
        "words": tables.words,
        "oov": sum(bool(row.oov) for row in tables.tokens),
        "log_prob": tables.log_prob,
        "surprisal": mean,
        "error": sum(errors) / len(errors) if errors else None,
        "perplexity": tables.base**mean if mean is not None and mean < 100 else None,
        "mentions": len(tables.mentions),
        "referent_surprisal": sum(referents) / len(referents) if referents else None,
        "mentions_given": tables.given,
        "without_entities_by": tables.source,
    }
    return figures if seconds is None else {**figures, "words_per_second": round(tables.words / seconds, 1)}
