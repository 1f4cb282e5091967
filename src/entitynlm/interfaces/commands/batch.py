"""Annotate, measure or list the characters of millions of texts, on one machine or many."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from entitynlm import __version__
from entitynlm.errors import ConfigError
from entitynlm.extras import require
from entitynlm.files import hash_file
from entitynlm.hash_lists import HASH_LIST
from entitynlm.interfaces import options
from entitynlm.interfaces.batch.engines import import_ray, run_local, run_ray
from entitynlm.interfaces.batch.job import FAILED, MANIFEST, SHARDS, JobFolder, Manifest, Record, Worker
from entitynlm.interfaces.batch.shards import Limits, Shard, plan_shards
from entitynlm.interfaces.batch.tasks import Annotating, ListingCharacters, MeasuringSurprisal, Task
from entitynlm.interfaces.commands.annotate import AnnotationOptions
from entitynlm.interfaces.commands.characters import Mentions
from entitynlm.interfaces.commands.surprisal import SurprisalOptions
from entitynlm.interfaces.console import Terminal, count, print_path
from entitynlm.interfaces.inputs import expand_files
from entitynlm.model.language_models import strip_prefix
from entitynlm.model.packaged import CONFIG_FILE, find_model, read_language_model
from entitynlm.row_files import Kind
from entitynlm.text.formats.registry import get_format

DOCUMENTS = "documents"
Input = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        callback=expand_files,
        help="Folders, JSON lines, Parquet or other files of texts; patterns in quotes.",
    ),
]


@dataclass(frozen=True)
class BatchOptions:
    """Where the work goes, and who does it.

    :param out: The job's folder. A job that was stopped goes on where it was; one with other settings is refused.
    :param workers: Processes, each with one thread and the model once in memory; default: one per processor.
    :param engine: local: processes on this machine; ray: tasks of Ray, on a cluster or a local Ray (extra scale).
    :param address: With --engine ray: the cluster's address, such as 10.0.0.1:6379, or auto; default: a Ray of its own, here.
    :param documents_per_shard: JSON lines and Parquet are cut into shards of at most this many documents, texts are put together.
    :param shard_size: A shard is also closed when it has this many megabytes.
    :param restart: Remove the job in the folder, and do everything again.
    """

    out: options.OutputFolder
    workers: Annotated[int | None, typer.Option(min=1, max=100_000)] = None
    engine: Literal["local", "ray"] = "local"
    address: Annotated[str | None, typer.Option()] = None
    documents_per_shard: Annotated[int, typer.Option(min=1)] = 1000
    shard_size: Annotated[float, typer.Option(min=0.001, max=1_000_000)] = 1.0
    restart: bool = False

    def run(self, files: Sequence[str], task: Task, format: str | None, terminal: Terminal) -> None:
        """Do the whole job, or what is left of it."""
        if self.address and self.engine != "ray":
            raise ConfigError("--address is about a cluster of Ray: it goes with --engine ray")
        if self.engine == "ray":
            import_ray(self.address)
        folder, job = JobFolder(self.out), describe_job(task, format)
        folder.check(job, restart=self.restart)
        limits = Limits(self.documents_per_shard, int(self.shard_size * (1 << 20)))
        terminal.message("looking at the input")
        shards = plan_shards(files, limits, format=format, apart_from=self.out)
        started = time.perf_counter()
        with folder.open(job, shards, restart=self.restart) as (records, changed):
            pending = [shard for shard in shards if shard.name not in records]
            todo = f"{count(shards, 'shard')}, {len(records):,} of them done before; {count(pending, 'shard')} to do"
            terminal.message(todo)
            if changed and not self.restart:
                told = f"remark: {count(changed, 'shard')} that were done have changed, {changed[0]} for one"
                terminal.remark(f"{told}: their outputs are replaced", markup=False)
            try:
                for record in self._work(Worker(task, folder.path, format), pending, terminal):
                    records[record.name] = record
                    folder.add(record)
            except KeyboardInterrupt:
                told = f"interrupted: {count(records, 'shard')} are done and kept; the same command goes on from there"
                terminal.remark(told, markup=False)
                raise
            job = folder.finish(job, [records[shard.name] for shard in shards])
        new = [records[shard.name] for shard in pending]
        report(self.out, job, new, time.perf_counter() - started, terminal)

    def _work(self, worker: Worker, pending: Sequence[Shard], terminal: Terminal) -> Iterator[Record]:
        if not pending:
            return
        workers = self.workers or os.cpu_count() or 1
        terminal.unpack(find_language_model_of(worker.task.model.model))  # else each worker would do it
        terminal.start(DOCUMENTS, sum(shard.documents for shard in pending))
        if self.engine == "ray":
            records = run_ray(worker, pending, workers, self.address)
        else:
            records = run_local(worker, pending, workers)
        for record in records:
            note = f"{record.tokens:,} tokens in {record.name}"
            terminal.advance(DOCUMENTS, record.documents + record.failed, note)
            for remark in record.remarks:
                terminal.remark(f"remark: {remark}", markup=False)
            yield record
        terminal.finish(DOCUMENTS)


def batch_annotate(
    *,
    files: Input,
    model: options.DefaultModel = "",
    device: options.Device = "cpu",
    to: options.To = None,
    annotating: AnnotationOptions,
    batch: BatchOptions,
    format: options.Format = None,
    terminal: Terminal,
) -> None:
    """Find the entities of all texts of a corpus.

    Every document gets the annotation that entitynlm annotate gives it. The input is folders of texts, JSON lines,
    Parquet, or files of any other format. It is cut into shards; DIR/shards has an output for each, and
    DIR/manifest.json lists them with hashes when all are done. A job that was stopped, even killed, goes on where it
    was when the same command is given again; shards whose input has changed are done again. Outputs are the same bytes
    whatever the number of workers. Documents that fail are listed with the reason in DIR/failed, and the exit code is 1.

    Examples:

      entitynlm batch annotate letters/ --out annotated-letters/
      entitynlm batch annotate news.parquet --out annotated-news/ --workers 2 --to conllu
      entitynlm batch annotate "crawl/*.jsonl" --out annotated-crawl/ --engine ray --address auto --workers 64

    :param to: Format of the output: jsonl (default), conll2012, conllu, spacy.
    """
    to = to or "jsonl"
    if get_format(to).write is None:
        raise ConfigError(
            f"a shard is one file, and {to} has several for each text; convert shards afterwards"
        )
    task = Annotating(options.ModelOptions(model, device, 1), to, annotating)
    batch.run(files, task, format, terminal)


def batch_surprisal(
    *,
    files: Input,
    model: options.DefaultModel = "",
    device: options.Device = "cpu",
    kind: Annotated[Kind, typer.Option("--as")] = "tsv",
    measuring: SurprisalOptions,
    sentence_ends: bool = False,
    hindsight: bool = False,
    batch: BatchOptions,
    format: options.Format = None,
    terminal: Terminal,
) -> None:
    """Measure the surprisal of every word and referent of a corpus.

    Writes tables of tokens and of mentions for each shard, with the columns of entitynlm surprisal (the last one is the
    document's id). Shards, restarts and failed documents: entitynlm batch annotate --help.

    Examples:

      entitynlm batch surprisal stories.jsonl --out tables/ --as parquet
      entitynlm batch surprisal letters/ --out tables-of-letters/ --samples 16 --repeats 2 --workers 4

    :param kind: Kind of tables.
    :param sentence_ends: Add rows for the ends of sentences (</s>).
    :param hindsight: Also annotate each text as a whole, and fill the columns that end in _hindsight.
    """
    check_kind(kind)
    loading = options.ModelOptions(model, device, 1)
    task = MeasuringSurprisal(loading, kind, measuring, sentence_ends, hindsight)
    batch.run(files, task, format, terminal)


def batch_characters(
    *,
    files: Input,
    model: options.DefaultModel = "",
    device: options.Device = "cpu",
    kind: Annotated[Kind, typer.Option("--as")] = "tsv",
    least: Annotated[int, typer.Option(min=1)] = 2,
    mentions: Mentions = "auto",
    batch: BatchOptions,
    format: options.Format = None,
    terminal: Terminal,
) -> None:
    """List the characters of all books of a corpus.

    Writes tables of characters and of quotations for each shard, with the columns of entitynlm characters (the first one is
    the document's id). Shards, restarts and failed documents: entitynlm batch annotate --help.

    Examples:

      entitynlm batch characters novels/ --out casts/
      entitynlm batch characters gold/ --out casts-of-gold/ --mentions given

    :param kind: Kind of tables.
    :param least: Leave out persons who are mentioned fewer times.
    :param mentions: given: use the text's own mentions and quotations; found: find them anew; auto: given if there are
        any.
    """
    check_kind(kind)
    task = ListingCharacters(options.ModelOptions(model, device, 1), kind, least, mentions)
    batch.run(files, task, format, terminal)


def check_kind(kind: Kind) -> None:
    """Refuse a kind of table that can't be written here."""
    if kind == "parquet":
        require("pyarrow", extra="parquet", purpose="writing Parquet")


def describe_job(task: Task, format: str | None) -> Manifest:
    """Describe all that outputs depend on besides the input."""
    settings = msgspec.to_builtins(task.settings())
    model = task.model
    return Manifest(
        __version__, task.verb, model.model, hash_model(model.model), model.device, format, settings
    )


def hash_model(model: str) -> str:
    """Hash a model's list of hashes; a language model alone has its own digest."""
    if (language_model := strip_prefix(model)) is not None:
        from entitynlm.model.backbones.huggingface.weights import find_language_model

        return find_language_model(language_model).digest
    folder = find_model(model)
    listed = folder / HASH_LIST
    return hash_file(listed if listed.is_file() else folder / CONFIG_FILE)


def find_language_model_of(model: str) -> str | None:
    """Name the language model behind a model, if there is one."""
    if (language_model := strip_prefix(model)) is not None:
        return language_model
    own = read_language_model(find_model(model))
    return own["model"] if own else None


def report(out: Path, job: Manifest, new: Sequence[Record], seconds: float, terminal: Terminal) -> None:
    """Print a summary and write the figures; the exit code is 1 where documents have failed."""
    speed = sum(record.tokens for record in new) / max(seconds, 1e-9)
    shards = count(job.shards, "shard")
    terminal.print(f"{count(job.documents, 'document')}, {count(job.tokens, 'token')} in {shards}")
    places = f"outputs: {print_path(out / SHARDS)}; manifest: {print_path(out / MANIFEST)}"
    terminal.print(places, markup=False)
    if new:
        terminal.remark(f"{count(new, 'shard')} in {seconds:,.1f} s, {speed:,.0f} tokens/s", markup=False)
    if job.doubtful:
        told = f"remark: {count(job.doubtful, 'document does', 'documents do')} not look like the texts that the model knows"
        terminal.remark(f"{told} (English, in words that it has seen): figures mean less there", markup=False)
    figures = {**msgspec.to_builtins(job), "task": f"batch {job.verb}", "shards": len(job.shards)}
    figures |= {"new_shards": len(new), "seconds": round(seconds, 3)}
    terminal.write_json({**figures, "tokens_per_second": round(speed, 1) if new else None})
    if job.failed:
        where = f"{print_path(out / FAILED)} says which and why"
        terminal.print(f"{count(job.failed, 'document')} failed: {where}", markup=False)
        raise typer.Exit(1)
