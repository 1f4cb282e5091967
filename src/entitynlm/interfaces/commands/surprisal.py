"""``entitynlm surprisal``: measure how predictable each word and each referent is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from entitynlm.errors import ConfigError
from entitynlm.files import STANDARD, check_outputs
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.inputs import Files, KeepText, read_inputs, require_mentions
from entitynlm.interfaces.outputs import Tables, name_files, write_files, write_tables
from entitynlm.progress import track
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
    samples: options.ChosenSamples = None
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
        """Measure one text and make a report of it; its mentions are found first, unless they are given."""
        from entitynlm.coref.annotation import annotate_document
        from entitynlm.report.contents import make_report

        more = {}
        given = self.mentions == "given" or (self.mentions == "auto" and document.mentions)
        if not given and not pretrained.untrained:
            document = annotate_document(pretrained, document.with_mentions(()), progress=terminal)
            more["mentions"] = "sampled"
        return make_report(self.measure(lambda: pretrained, document, terminal, **more))


@dataclass(frozen=True)
class TableOptions(SurprisalOptions):
    """The settings of a measurement that is written as tables.

    :param given: Read this text first and measure the words after it (a conditional score); with --items, before each context.
    :param top_words: Add the columns next_entropy (entropy over the next word), rank (of the observed word), and the
        N likeliest words with their probabilities; with --items, in place of each region's first word.
    """

    given: Annotated[str, typer.Option(metavar="TEXT")] = ""
    top_words: Annotated[int, typer.Option(metavar="N", min=0, max=1000)] = 0

    def list_tables(self) -> Tables:
        """List the tables, with the columns that were asked for."""
        from entitynlm.lm.surprisal import MentionRow, get_token_row

        tokens = get_token_row(self.top_words), attrgetter("tokens")
        return {"tokens": tokens, "mentions": (MentionRow, attrgetter("mentions"))}


@dataclass(frozen=True)
class SpellingOptions:
    """How a pretrained language model reads a text.

    :param word_boundaries: With a pretrained language model: whether a word's probability includes that the word ends.
        Default: as the model was trained, which is with word ends.
    :param white_space: With a pretrained language model: read paragraph breaks and double spaces as they stand, or as one space.
    :param start_piece: With --model huggingface:NAME: the piece that is read before a text. Default: the separator of documents
        in the language model's training data; a trained model keeps its own.
    """

    word_boundaries: Annotated[bool | None, typer.Option("--word-boundaries/--no-word-boundaries")] = None
    white_space: Literal["exact", "collapsed"] = "exact"
    start_piece: Annotated[str | None, typer.Option(metavar="PIECE")] = None

    def load(self, model: options.ModelOptions, terminal: Terminal) -> Pretrained:
        """Load a model that reads texts in this way."""
        from entitynlm.model.loading import choose_spelling

        pretrained = model.load(terminal, start_piece=self.start_piece)
        return choose_spelling(pretrained, self.word_boundaries, exact=self.white_space == "exact")


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
    spelling: SpellingOptions,
    format: options.Format = None,
    keep_text: KeepText = None,
    terminal: Terminal,
) -> None:
    """Measure the surprisal of every word and every referent.

    Writes tables for R, pandas or a spreadsheet.

    Columns of tokens: sentence_id, token_id, token and surprisal (as in lm-zoo), the standard error of sampling, the
    surprisal without entities, the probability that the word is in a mention, before and after reading it, the entity,
    whether the word is out of vocabulary and how much of its surprisal is then its spelling, and character offsets.
    Tokens that the model does not read keep a row. Columns of mentions: referent surprisal, entropy over referents,
    new or old, distances, form of the expression.

    No figure depends on later words: a text's beginning alone has the same figures, to 1e-4 bits. The rows of mentions
    are an annotated text's own mentions; with --mentions sampled, words are still summed over possible mentions.

    --model huggingface:NAME measures words by a pretrained language model without entities.

    Examples:

      entitynlm surprisal story.txt > story.tsv
      entitynlm surprisal chapter.txt --rows mentions --base nats
      entitynlm surprisal "items/*.txt" --out tables/ --as csv --json summary.json
      echo "Anna lost her key. She called Bob." | entitynlm surprisal
      entitynlm surprisal annotated.conllu --out annotated.csv
      entitynlm surprisal story.txt --model huggingface:smollm2
      entitynlm surprisal --items items.tsv --out regions.tsv
      entitynlm surprisal --items items.tsv --compare condition
      entitynlm surprisal story.txt --top-words 5
      entitynlm surprisal ending.txt --given "Anna lost her key."

    :param out: A folder (two tables per text), a file (the table of mentions is written beside it), or '-' (one table).
    :param kind: Kind of table; default: by the ending of --out, or tsv.
    :param rows: Which table goes to standard output.
    :param items: Measure experimental items instead of texts, each in a fresh context: one per line, or a .tsv or .csv
        file with the columns item, condition, context and target (other columns are kept). Bars (|) divide a
        target into regions; a row is a region, with --rows mentions a mention.
        Mentions may be marked: [She:Anna].
    :param compare: With --items: subtract the values of this column (such as condition) from each other within items, with
        standard errors; for another column than condition, among lines of equal condition.
    """
    assert files is not None
    table_kind = choose_kind(kind, out)
    if compare and items is None:
        raise ConfigError("--compare is about items: name their file with --items")
    if items is not None:
        if files != [STANDARD]:
            raise ConfigError("--items is a file of its own: give no other text with it")
        if format:
            raise ConfigError("--format is for texts, not for --items")
        if compare and (rows != "tokens" or measuring.top_words):
            raise ConfigError("--compare has rows of differences: give it without --rows and --top-words")
        write_items(items, compare, model, measuring, spelling, out, table_kind, rows, terminal)
        return
    targets = name_files(files, out, [f".{name}.{table_kind}" for name in get_args(Table)], terminal)
    documents = read_inputs(files, terminal, format=format, keep_text=keep_text)
    if measuring.mentions == "given":
        documents = require_mentions(documents, "--mentions given", terminal)
    pretrained = spelling.load(model, terminal)
    figures: list[dict[str, Any]] = []

    def measure() -> Iterator[tuple[str, Surprisal]]:
        """Measure one document after the other, so that no more than one is in memory."""
        for path, document in documents:
            found = measuring.measure(lambda: pretrained, document, terminal)
            figures.append(summarise(path, found))
            yield path, found

    only = rows if out == STANDARD else None
    write = partial(write_tables, list_tables=measuring.list_tables, kind=table_kind, only=only)
    write_files(measure(), targets, write, terminal)
    told, shown = cite(model, pretrained, measuring)
    terminal.remark(shown, markup=False)
    terminal.write_json({"task": "surprisal", **told, "documents": figures})


def cite(
    model: options.ModelOptions, pretrained: Pretrained, measuring: SurprisalOptions
) -> tuple[dict[str, Any], str]:
    """Describe what a paper has to cite, as data and in words: version, model with its language model, settings."""
    from entitynlm import __version__
    from entitynlm.lm.surprisal import choose_samples
    from entitynlm.lm.surprisal_words import name_baseline
    from entitynlm.model.loading import describe_model

    told = {"entitynlm": __version__, **describe_model(model.model, pretrained), **asdict(measuring)}
    told["samples"] = choose_samples(pretrained, measuring.samples)
    told["without_entities_by"] = name_baseline(pretrained)
    parts = {f"language model {name}": value for name, value in told.get("language_model", {}).items()}
    left_out = ("language_model", "mentions", "given", "top_words")
    named = {
        name.replace("_", " "): value for name, value in {**told, **parts}.items() if name not in left_out
    }
    shown = ", ".join(f"{name} {value}" for name, value in named.items())
    return told, f"measured by {shown}"


def write_items(
    path: Path,
    compare: str | None,
    model: options.ModelOptions,
    measuring: TableOptions,
    spelling: SpellingOptions,
    out: str,
    kind: Kind,
    rows: Table,
    terminal: Terminal,
) -> None:
    """Measure experimental items, and write their regions, their mentions or the differences between conditions."""
    terminal.check_standard(out)
    if out != STANDARD:
        check_outputs([Path(out)])
    from entitynlm.lm.items import measure_items, name_conditions, read_items, tabulate_items
    from entitynlm.text.document import Document

    items = read_items(path, terminal.remark_oddity)
    items = items if compare is None else name_conditions(items, compare)
    if measuring.mentions == "given" and not all(item.make_document()[0].mentions for item in items):
        raise ConfigError("--mentions given needs mentions in every item: mark them like this, [She:Anna]")
    pretrained = spelling.load(model, terminal)
    words = tuple(itertools.chain.from_iterable(item.make_document()[0].tokens for item in items))
    terminal.doubt(Document(path.name, words, ((0, len(words)),)), pretrained)
    settings = {**asdict(measuring), "base": BASES[measuring.base]}
    measured = list(track(terminal, "items", measure_items(pretrained, items, **settings), len(items)))
    table = tabulate_items(measured, "differences" if compare is not None else rows, measuring.top_words)
    write_rows(table.rows, table.row_type, out, kind)
    told, shown = cite(model, pretrained, measuring)
    terminal.remark(shown, markup=False)
    terminal.write_json({"task": "surprisal", **told, "items": len(items)})


def summarise(path: str, tables: Surprisal) -> dict[str, Any]:
    """Collect counts and means of one document."""
    mean = tables.total / tables.words if tables.words else None
    errors = [row.error for row in tables.tokens if row.error is not None]
    referents = [row.referent_surprisal for row in tables.mentions if row.referent_surprisal is not None]
    return {
        "file": path,
        "id": tables.analysed.id,
        "tokens": len(tables.tokens),
        "words": tables.words,
        "oov": sum(bool(row.oov) for row in tables.tokens),
        "log_prob": tables.log_prob,
        "surprisal": mean,
        "error": sum(errors) / len(errors) if errors else None,
        "perplexity": tables.base**mean if mean is not None and mean < 100 else None,
        "mentions": len(tables.mentions),
        "referent_surprisal": sum(referents) / len(referents) if referents else None,
        "mentions_given": tables.given,
    }
