"""``entitynlm surprisal``: how predictable was each word, and each referent?"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from entitynlm.errors import ConfigError
from entitynlm.files import STANDARD
from entitynlm.interfaces.commands.train import prepare_torch
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.inputs import (
    DEFAULT_MODEL,
    FilesArgument,
    ModelOption,
    expand_files,
    name_of,
    read_inputs,
)
from entitynlm.interfaces.options import (
    DeviceOption,
    FormatOption,
    JsonOption,
    QuietOption,
    SeedOption,
    ThreadsOption,
)

if TYPE_CHECKING:
    from entitynlm.lm.surprisal import Surprisal
    from entitynlm.lm.surprisal_sampling import OnWords

BASES = {"2": 2.0, "bits": 2.0, "e": math.e, "nats": math.e, "10": 10.0}
Table = Literal["tokens", "mentions"]


def surprisal(
    files: FilesArgument = None,
    model: ModelOption = DEFAULT_MODEL,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            help="A folder (two tables per text), a file (its mentions go beside it), or '-' (one table).",
        ),
    ] = STANDARD,
    kind: Annotated[
        str | None,
        typer.Option("--as", help="tsv, csv, parquet or json; default: by the ending of --out, or tsv."),
    ] = None,
    rows: Annotated[
        str, typer.Option("--rows", help="Which table goes to standard output: tokens or mentions.")
    ] = "tokens",
    mentions: Annotated[
        str,
        typer.Option(
            "--mentions",
            help="given: read along the text's own mentions; sampled: sum over all; auto: given if any.",
        ),
    ] = "auto",
    samples: Annotated[int, typer.Option("--samples", min=1, help="Particles per repeat.")] = 50,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="Independent estimates; their spread gives the error.")
    ] = 4,
    base: Annotated[str, typer.Option("--base", help="Unit: 2 or bits, e or nats, 10.")] = "2",
    sentence_ends: Annotated[
        bool, typer.Option("--sentence-ends", help="Also rows for the ends of sentences (</s>).")
    ] = False,
    format: FormatOption = None,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Surprisal of every token and every referent of texts, as tables for R, pandas or a spreadsheet.

    Tokens: sentence_id, token_id, token and surprisal first (as lm-zoo has
    them), then the error of sampling, the surprisal without the entities'
    help, the probability of being in a mention before and after the word, the
    entity, whether the word is outside of the vocabulary (then also its
    surprisal with a spelling model), and character offsets. Tokens that the
    model does not read keep a row. Mentions: referent surprisal, entropy over
    referents, new or old, distances, form of the expression.

    Examples:

      entitynlm surprisal story.txt > story.tsv
      entitynlm surprisal chapter.txt --rows mentions --base nats
      entitynlm surprisal "items/*.txt" --out tables/ --as parquet --json summary.json
      echo "Anna lost her key. She called Bob." | entitynlm surprisal
      entitynlm surprisal annotated.conllu --out annotated.csv
    """
    from entitynlm.interfaces.api import EntityNLM
    from entitynlm.interfaces.row_files import choose_kind
    from entitynlm.lm.spelling import SpellingModel
    from entitynlm.lm.surprisal import measure_surprisal

    unit = parse_base(base)
    if rows not in ("tokens", "mentions"):
        raise ConfigError(f"--rows is tokens or mentions, not {rows!r}")
    if out == STANDARD and json_path == STANDARD:
        raise ConfigError("--json - and --out - both want standard output; give one of them a file")
    kind = choose_kind(kind, out)
    paths = expand_files(files)
    terminal = Terminal(quiet=quiet, json_path=json_path)
    prepare_torch(device, threads)
    pretrained = EntityNLM.from_pretrained(model, device=device).pretrained
    spelling = SpellingModel.of_vocabulary(pretrained.encoder.vocabulary)
    figures: list[dict[str, Any]] = []

    def measure() -> Iterator[tuple[str, Surprisal]]:
        """Document by document, so that no more than one is in memory unless somebody keeps it."""
        for path, document in read_inputs(paths, terminal, format=format):
            started = time.perf_counter()
            with follow_words(terminal, document.id) as on_words:
                tables = measure_surprisal(
                    pretrained,
                    document,
                    mentions=cast(Any, mentions),
                    samples=samples,
                    repeats=repeats,
                    seed=seed,
                    base=unit,
                    sentence_ends=sentence_ends,
                    spelling=spelling,
                    on_words=on_words,
                )
            figures.append(summarise(path, tables, time.perf_counter() - started))
            yield path, tables

    write_tables(measure(), paths, out, kind, cast(Table, rows), terminal)
    terminal.write_json(
        {
            "task": "surprisal",
            "model": model,
            "base": base,
            "samples": samples,
            "repeats": repeats,
            "seed": seed,
            "documents": figures,
        }
    )


def parse_base(text: str) -> float:
    """The base of the logarithms from its name."""
    if text not in BASES:
        raise ConfigError(f"--base is one of {', '.join(BASES)}, not {text!r}")
    return BASES[text]


@contextmanager
def follow_words(terminal: Terminal, name: str) -> Iterator[OnWords]:
    """A progress bar over the words of one text."""
    with terminal.progress() as progress:
        task = progress.add_task(name, total=None, note="words")

        def tell(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield tell


def write_tables(
    measured: Iterator[tuple[str, Surprisal]],
    paths: list[str],
    out: str,
    kind: str,
    rows: Table,
    terminal: Terminal,
) -> None:
    """One table on standard output, or both as files; they are written as the documents come."""
    from entitynlm.interfaces.row_files import write_rows
    from entitynlm.lm.surprisal import MentionRow, TokenRow

    if out == STANDARD:
        row_type = TokenRow if rows == "tokens" else MentionRow
        write_rows((row for _, tables in measured for row in getattr(tables, rows)), row_type, out, kind)
    elif is_folder(out):
        waiting = name_outputs(paths)
        for path, of_file in itertools.groupby(measured, key=lambda pair: pair[0]):
            write_pair((tables for _, tables in of_file), Path(out) / waiting.pop(path), kind)
        for name in waiting.values():  # texts without a word: tables without a row
            write_pair(iter(()), Path(out) / name, kind)
        terminal.remark(f"wrote {2 * len(paths)} tables in {print_path(out)}", markup=False)
    else:
        beside = Path(out).with_suffix(f".mentions{Path(out).suffix}")
        write_both((tables for _, tables in measured), Path(out), beside, kind)
        terminal.remark(f"wrote {print_path(out)} and {print_path(beside)}", markup=False)


def is_folder(out: str) -> bool:
    """Whether an output is a folder: it is one, or it is written like one."""
    return out.endswith(("/", "\\")) or Path(out).is_dir() or not Path(out).suffix


def name_outputs(paths: list[str]) -> dict[str, str]:
    """A name for what is made from each file; two files of the same name are told apart."""
    taken: dict[str, int] = {}
    names = {}
    for path in paths:
        name = name_of(path)
        taken[name] = taken.get(name, 0) + 1
        names[path] = name if taken[name] == 1 else f"{name}-{taken[name]}"
    return names


def write_pair(measured: Iterator[Surprisal], start: Path, kind: str) -> None:
    """The two tables of one file."""
    first, second = (start.with_name(f"{start.name}.{table}.{kind}") for table in ("tokens", "mentions"))
    write_both(measured, first, second, kind)


def write_both(measured: Iterator[Surprisal], tokens: Path, mentions: Path, kind: str) -> None:
    """Tokens as they come; mentions, of which there are fewer, afterwards."""
    from entitynlm.interfaces.row_files import write_rows
    from entitynlm.lm.surprisal import MentionRow, TokenRow

    kept: list[MentionRow] = []

    def pass_on() -> Iterator[TokenRow]:
        for tables in measured:
            kept.extend(tables.mentions)
            yield from tables.tokens

    write_rows(pass_on(), TokenRow, tokens, kind)
    write_rows(kept, MentionRow, mentions, kind)


def summarise(path: str, tables: Surprisal, seconds: float | None = None) -> dict[str, Any]:
    """Counts and means of one document, and how fast it went where that was measured."""
    mean = tables.total / tables.words if tables.words else None
    errors = [row.error for row in tables.tokens if row.error is not None]
    referents = [row.referent_surprisal for row in tables.mentions]
    figures = {
        "file": path,
        "id": tables.analysed.id,
        "tokens": len(tables.analysed),
        "words": tables.words,
        "oov": sum(bool(row.oov) for row in tables.tokens),
        "surprisal": mean,
        "error": sum(errors) / len(errors) if errors else None,
        "perplexity": tables.base**mean if mean is not None and mean < 100 else None,
        "mentions": len(tables.mentions),
        "referent_surprisal": sum(referents) / len(referents) if referents else None,
        "mentions_given": tables.given,
        "without_entities_by": tables.source,
    }
    return figures if seconds is None else {**figures, "words_per_second": round(tables.words / seconds, 1)}
