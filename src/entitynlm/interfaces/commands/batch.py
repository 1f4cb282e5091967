"""Annotate, measure or list the characters of millions of texts, on one machine or many."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated, Any, Literal

import typer

from entitynlm import __version__
from entitynlm.interfaces import options
from entitynlm.interfaces.batch import job
from entitynlm.interfaces.batch.job import plan_shards
from entitynlm.interfaces.commands.annotate import AnnotationOptions
from entitynlm.interfaces.commands.characters import CharacterOptions, list_tables
from entitynlm.interfaces.commands.surprisal import TableOptions
from entitynlm.interfaces.console import Terminal, count, print_path
from entitynlm.interfaces.inputs import expand_files
from entitynlm.interfaces.outputs import write_tables
from entitynlm.model.packaged import hash_model
from entitynlm.progress import track
from entitynlm.row_files import Kind
from entitynlm.text.formats.registry import get_format, write_documents

Input = Annotated[list[str], typer.Argument(metavar="INPUT", callback=expand_files)]
TableKind = Annotated[Kind, typer.Option("--as", help="Kind of tables.")]


@dataclass(frozen=True)
class BatchOptions:
    """Options of a batch job: its input, its outputs and its workers.

    :param files: Folders, JSON lines or other files of texts; patterns in quotes.
    :param out: The job's folder. A stopped job continues; a folder of a job with other settings is refused.
    :param workers: Number of processes, each with one thread and its own copy of the model; default: one per processor.
    :param engine: local: processes on this machine; ray: Ray Data, on the cluster RAY_ADDRESS or a Ray of its own (extra scale).
    :param documents_per_shard: JSON lines are cut into shards of this many documents; any other file is a shard.
    """

    files: Input
    out: options.OutputFolder
    model: options.DefaultModel = ""
    device: options.Device = "cpu"
    format: options.Format = None
    workers: Annotated[int | None, typer.Option(min=1, max=100_000)] = None
    engine: Literal["local", "ray"] = "local"
    documents_per_shard: Annotated[int, typer.Option(min=1)] = 1000

    def run(
        self,
        settings: dict[str, Any],
        endings: Sequence[str],
        compute: Callable[..., Any],
        write: Callable[..., object],
        terminal: Terminal,
    ) -> None:
        """Do the whole job, or what is left of it; the exit code is 1 where documents have failed."""
        given = "--mentions given" if settings.get("mentions") == "given" else ""
        given = "--keep-mentions" if settings.get("keep_mentions") else given
        settings |= {"entitynlm": __version__, "model": self.model, "model_sha256": hash_model(self.model)}
        settings |= {"device": self.device, "format": self.format}
        out, started = self.out.absolute(), time.perf_counter()
        loading = options.ModelOptions(self.model, self.device, 1)
        worker = job.Worker(loading, out, self.format, endings, compute, write, given)
        with job.open_job(out, settings) as before:
            shards = plan_shards(self.files, self.documents_per_shard, format=self.format, out=out)
            done = job.keep_whole(out, before, shards)
            pending = [shard for shard in shards if shard.name not in done]
            job.write_lines(out / job.MANIFEST, [settings, *done.values()])
            if pending:
                terminal.unpack_for(self.model)  # else each worker would do it
                run = job.run_ray if self.engine == "ray" else job.run_local
                found = run(worker, pending, self.workers or os.cpu_count() or 1)
                for record in track(terminal, "shards", found, total=len(pending)):
                    job.add_record(out, record)
                    done[record.name] = record
            records = [done[shard.name] for shard in shards]
            job.write_lines(out / job.MANIFEST, [settings, *records])
        seconds, new = time.perf_counter() - started, sum(done[shard.name].tokens for shard in pending)
        names = ("documents", "failed", "tokens")
        totals = {name: sum(getattr(one, name) for one in records) for name in names}
        told = f"{count(totals['documents'], 'document')}, {count(totals['tokens'], 'token')}"
        terminal.print(f"{told} in {count(shards, 'shard')}: {print_path(self.out)}", markup=False)
        figures = {"new_shards": len(pending), "tokens_per_second": round(new / seconds)}
        terminal.write_json({**settings, **totals, "shards": len(shards), **figures})
        if totals["failed"]:
            told = f"{count(totals['failed'], 'document')} failed: {print_path(self.out / job.FAILED)}"
            terminal.print(f"{told} says which and why", markup=False)
            raise typer.Exit(1)


def batch_annotate(
    *, batch: BatchOptions, to: options.To = None, annotating: AnnotationOptions, terminal: Terminal
) -> None:
    """Find the entities of all texts of a corpus.

    Every document gets the annotation that entitynlm annotate gives it. The input is cut into shards; DIR/shards has an output
    for each, and DIR/manifest.jsonl lists them with hashes. The same command goes on where a job was stopped or killed, and does
    shards again whose input has changed. Outputs are the same bytes whatever the number of workers. Documents that fail are
    listed with the reason in DIR/failed, and the exit code is 1.

    Examples:

      entitynlm batch annotate letters/ --out annotated-letters/
      entitynlm batch annotate "crawl/*.jsonl" --out annotated-crawl/ --engine ray

    :param to: Format of the output: jsonl (default), conll2012, conllu.
    """
    form = get_format(to or "jsonl")
    settings = {"verb": "annotate", "to": form.name, **asdict(annotating)}
    compute = partial(annotating.annotate, model=batch.model)
    batch.run(settings, (form.suffix,), compute, partial(write_documents, format=form.name), terminal)


def batch_surprisal(
    *, batch: BatchOptions, kind: TableKind = "tsv", measuring: TableOptions, terminal: Terminal
) -> None:
    """Measure the surprisal of every word and referent of a corpus.

    Writes the two tables of entitynlm surprisal for each shard. Shards, restarts and failed documents: batch annotate --help.

    Examples:

      entitynlm batch surprisal stories.jsonl --out tables/ --as csv
    """
    settings = {"verb": "surprisal", "kind": kind, **asdict(measuring)}
    compute = partial(measuring.measure, terminal=Terminal(quiet=True))
    write = partial(write_tables, list_tables=measuring.list_tables, kind=kind)
    batch.run(settings, (f".tokens.{kind}", f".mentions.{kind}"), compute, write, terminal)


def batch_characters(
    *, batch: BatchOptions, kind: TableKind = "tsv", listing: CharacterOptions, terminal: Terminal
) -> None:
    """List the characters of all books of a corpus.

    Writes the two tables of entitynlm characters for each shard. Shards, restarts and failed documents: batch annotate --help.
    """
    settings = {"verb": "characters", "kind": kind, **asdict(listing)}
    write = partial(write_tables, list_tables=list_tables, kind=kind)
    batch.run(settings, (f".characters.{kind}", f".quotations.{kind}"), listing.list, write, terminal)
