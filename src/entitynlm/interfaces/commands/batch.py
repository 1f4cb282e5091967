"""Annotate, measure or list the characters of millions of texts, on one machine or many."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import typer

from entitynlm import __version__
from entitynlm.errors import ConfigError, DataError
from entitynlm.interfaces import options
from entitynlm.interfaces.batch.engines import Worker, run_local, run_ray
from entitynlm.interfaces.batch.job import (
    FAILED,
    MANIFEST,
    SHARDS,
    JobHeader,
    add_record,
    check_job,
    finish_job,
    open_job,
)
from entitynlm.interfaces.batch.shards import plan_shards
from entitynlm.interfaces.commands.annotate import AnnotationOptions
from entitynlm.interfaces.commands.characters import CharacterOptions, write_casts
from entitynlm.interfaces.commands.surprisal import SurprisalOptions, SurprisalRows, write_found
from entitynlm.interfaces.console import Terminal, count, print_path
from entitynlm.interfaces.inputs import expand_files
from entitynlm.model.packaged import hash_model
from entitynlm.row_files import Kind, check_kind
from entitynlm.text.formats.registry import get_format, write_documents

if TYPE_CHECKING:
    from entitynlm.lm.surprisal import Surprisal
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.text.document import Document

Input = Annotated[list[str], typer.Argument(metavar="INPUT", callback=expand_files)]
TableKind = Annotated[Kind, typer.Option("--as")]


@dataclass(frozen=True)
class BatchOptions:
    """What is read, where the outputs go, and who does the work.

    :param files: Folders, JSON lines, Parquet or other files of texts; patterns in quotes.
    :param out: The job's folder. A job that was stopped goes on where it was; one with other settings is refused.
    :param workers: Processes, each with one thread and the model once in memory; default: one per processor.
    :param engine: local: processes on this machine; ray: tasks of Ray, on a cluster or a local Ray (extra scale).
    :param address: With --engine ray: the cluster's address, such as 10.0.0.1:6379, or auto; default: a Ray of its own, here.
    :param documents_per_shard: JSON lines are cut into shards of this many documents; any other file is a shard.
    :param restart: Remove the job in the folder, and do everything again.
    """

    files: Input
    out: options.OutputFolder
    model: options.DefaultModel = ""
    device: options.Device = "cpu"
    format: options.Format = None
    workers: Annotated[int | None, typer.Option(min=1, max=100_000)] = None
    engine: Literal["local", "ray"] = "local"
    address: Annotated[str | None, typer.Option()] = None
    documents_per_shard: Annotated[int, typer.Option(min=1)] = 1000
    restart: bool = False

    def run(
        self,
        verb: str,
        settings: dict[str, Any],
        endings: tuple[str, ...],
        compute: Callable[[Callable[[], Pretrained], Document], Any],
        write: Callable[..., None],
        terminal: Terminal,
    ) -> None:
        """Do the whole job, or what is left of it."""
        if self.address and self.engine != "ray":
            raise ConfigError("--address is about a cluster of Ray: it goes with --engine ray")
        settings |= {"verb": verb, "entitynlm": __version__, "model_sha256": hash_model(self.model)}
        settings |= {"model": self.model, "device": self.device, "format": self.format}
        out, started = self.out.absolute(), time.perf_counter()
        worker = Worker(
            options.ModelOptions(self.model, self.device, 1), out, self.format, endings, compute, write
        )
        check_job(out, settings, restart=self.restart)
        terminal.message("looking at the input")
        shards = plan_shards(self.files, self.documents_per_shard, format=self.format, out=out)
        with open_job(out, settings, shards, restart=self.restart) as (records, changed):
            pending = sorted((one for one in shards if one.name not in records), key=lambda one: -one.size)
            terminal.message(f"{count(shards, 'shard')}, {len(records):,} of them done before")
            if changed and not self.restart:
                told = f"remark: {count(changed, 'shard')} that were done have changed, {changed[0]} for one"
                terminal.remark(f"{told}: their outputs are replaced", markup=False)
            terminal.start("shards", len(pending))
            if pending:
                terminal.unpack_for(self.model)  # else each worker would do it
            workers = self.workers or os.cpu_count() or 1
            if self.engine == "ray":
                done = run_ray(worker, pending, workers, self.address)
            else:
                done = run_local(worker, pending, workers)
            for record in done if pending else ():
                records[record.name] = record
                add_record(out, record)
                terminal.advance("shards", 1, f"{record.tokens:,} tokens in {record.name}")
            terminal.finish("shards")
            header = finish_job(out, settings, [records[shard.name] for shard in shards])
        tokens, seconds = sum(records[one.name].tokens for one in pending), time.perf_counter() - started
        figures = {"task": f"batch {verb}", "shards": len(shards), "new_shards": len(pending)}
        figures |= {"seconds": round(seconds, 3), "tokens_per_second": round(tokens / seconds, 1)}
        self.report(header, figures, terminal)

    def report(self, header: JobHeader, figures: dict[str, Any], terminal: Terminal) -> None:
        """Print a summary and write the figures; the exit code is 1 where documents have failed."""
        shards = count(figures["shards"], "shard")
        terminal.print(f"{count(header.documents, 'document')}, {count(header.tokens, 'token')} in {shards}")
        places = f"outputs: {print_path(self.out / SHARDS)}; manifest: {print_path(self.out / MANIFEST)}"
        terminal.print(places, markup=False)
        if header.doubtful:
            number = count(header.doubtful, "document does", "documents do")
            told = f"remark: {number} not look like the texts that the model knows (English, in words that it has seen)"
            terminal.remark(f"{told}: figures mean less there", markup=False)
        terminal.write_json({**msgspec.to_builtins(header), **figures})
        if header.failed:
            where = f"{print_path(self.out / FAILED)} says which and why"
            terminal.print(f"{count(header.failed, 'document')} failed: {where}", markup=False)
            raise typer.Exit(1)


def annotate_one(
    annotating: AnnotationOptions, model: str, load: Callable[[], Pretrained], document: Document
) -> Document:
    """Annotate a document as entitynlm annotate does."""
    if annotating.keep_mentions and not document.mentions:
        raise DataError("this text has no mentions to use")
    return options.ModelOptions(model).sign(annotating.annotate(load(), document))


def measure_one(
    measuring: SurprisalOptions, rows: dict[str, bool], load: Callable[[], Pretrained], document: Document
) -> Surprisal:
    """Measure a document as entitynlm surprisal does."""
    if measuring.mentions == "given" and not document.mentions:
        raise DataError("this text has no mentions to use")
    return measuring.measure(load(), document, Terminal(quiet=True), **rows)


def batch_annotate(
    *, batch: BatchOptions, to: options.To = None, annotating: AnnotationOptions, terminal: Terminal
) -> None:
    """Find the entities of all texts of a corpus.

    Every document gets the annotation that entitynlm annotate gives it. The input is folders of texts, JSON lines,
    Parquet, or files of any other format. It is cut into shards; DIR/shards has an output for each, and
    DIR/manifest.jsonl lists them with hashes. A job that was stopped, even killed, goes on where it was when the same
    command is given again; shards whose input has changed are done again. Outputs are the same bytes whatever the
    number of workers. Documents that fail are listed with the reason in DIR/failed, and the exit code is 1.

    Examples:

      entitynlm batch annotate letters/ --out annotated-letters/
      entitynlm batch annotate news.parquet --out annotated-news/ --workers 2 --to conllu
      entitynlm batch annotate "crawl/*.jsonl" --out annotated-crawl/ --engine ray --address auto

    :param to: Format of the output: jsonl (default), conll2012, conllu, spacy.
    """
    form = get_format(to or "jsonl")
    if form.write is None:
        told = f"a shard is one file, and {to} has several for each text; convert shards afterwards"
        raise ConfigError(told)
    settings = {"to": form.name, **asdict(annotating)}
    compute = partial(annotate_one, annotating, batch.model)
    batch.run("annotate", settings, (form.suffix,), compute, partial(write_shard, form.name), terminal)


def write_shard(to: str, documents: Any, paths: Any) -> None:
    """Write annotated documents to the one file of a shard."""
    write_documents(documents, paths[0], to)


def batch_surprisal(
    *,
    batch: BatchOptions,
    kind: TableKind = "tsv",
    measuring: SurprisalOptions,
    rows: SurprisalRows,
    terminal: Terminal,
) -> None:
    """Measure the surprisal of every word and referent of a corpus.

    Writes tables of tokens and of mentions for each shard, with the columns of entitynlm surprisal (the last one is the
    document's id). Shards, restarts and failed documents: entitynlm batch annotate --help.

    Examples:

      entitynlm batch surprisal stories.jsonl --out tables/ --as parquet
      entitynlm batch surprisal letters/ --out tables-of-letters/ --samples 16 --repeats 2 --workers 4

    :param kind: Kind of tables.
    """
    check_kind(kind)
    settings = {"kind": kind, **asdict(measuring), **asdict(rows)}
    compute, write = partial(measure_one, measuring, asdict(rows)), partial(write_found, kind=kind)
    endings = f".tokens.{kind}", f".mentions.{kind}"
    batch.run("surprisal", settings, endings, compute, write, terminal)


def batch_characters(
    *, batch: BatchOptions, kind: TableKind = "tsv", listing: CharacterOptions, terminal: Terminal
) -> None:
    """List the characters of all books of a corpus.

    Writes tables of characters and of quotations for each shard, with the columns of entitynlm characters (the first one is
    the document's id). Shards, restarts and failed documents: entitynlm batch annotate --help.

    Examples:

      entitynlm batch characters novels/ --out casts/
      entitynlm batch characters gold/ --out casts-of-gold/ --mentions given

    :param kind: Kind of tables.
    """
    check_kind(kind)
    endings = f".characters.{kind}", f".quotations.{kind}"
    settings = {"kind": kind, **asdict(listing)}
    batch.run("characters", settings, endings, listing.list, partial(write_casts, kind=kind), terminal)
