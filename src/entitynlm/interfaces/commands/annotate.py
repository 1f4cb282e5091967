"""``entitynlm annotate``: who is mentioned in a text, and which mentions are of one."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from entitynlm.errors import ConfigError
from entitynlm.files import STANDARD
from entitynlm.interfaces.commands.surprisal import is_folder, name_outputs
from entitynlm.interfaces.commands.train import prepare_torch
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.inputs import DEFAULT_MODEL, FilesArgument, ModelOption, expand_files, read_inputs
from entitynlm.interfaces.options import (
    ColourOption,
    DeviceOption,
    FormatOption,
    JsonOption,
    QuietOption,
    SeedOption,
    ThreadsOption,
)

if TYPE_CHECKING:
    from entitynlm.text.document import Document
    from entitynlm.text.formats.base import Format


def annotate(
    files: FilesArgument = None,
    model: ModelOption = DEFAULT_MODEL,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="Write in this format (jsonl, conll2012, conllu, brat, spacy …); default: a view for the eye.",
        ),
    ] = None,
    out: Annotated[
        str,
        typer.Option("--out", "-o", help="A folder (one file per text), a file, or '-' (standard output)."),
    ] = STANDARD,
    samples: Annotated[
        int,
        typer.Option(
            "--samples",
            min=0,
            help="Draw so many analyses and take the most probable under P; 0: the proposal's best choices.",
        ),
    ] = 0,
    links: Annotated[
        str,
        typer.Option(
            "--links",
            help="weighed: by the model and the words together; network: as the model alone has them.",
        ),
    ] = "weighed",
    with_scores: Annotated[
        bool,
        typer.Option("--with-scores", help="Confidence of each mention and link, from weighted samples."),
    ] = False,
    keep_mentions: Annotated[
        bool, typer.Option("--keep-mentions", help="Keep the mentions of the input and only link them.")
    ] = False,
    possessives: Annotated[
        bool,
        typer.Option(
            "--possessives/--outermost", help="Also 'her' in 'her mother', or outermost mentions only."
        ),
    ] = True,
    sentences: Annotated[
        int | None,
        typer.Option("--sentences", min=1, help="Show only the first so many sentences of each text."),
    ] = None,
    format: FormatOption = None,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    colour: ColourOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Find the people and places of texts and who is who, as a coloured view or in any format that we write.

    Mentions are found by the proposal that has read the whole text. The model is flat: of nested mentions it finds the outermost;
    possessive pronouns inside of them are added. Texts of any length are read part by part.

    Examples:

      entitynlm annotate story.txt
      entitynlm annotate novel.txt --to conllu --out novel.conllu
      entitynlm annotate "letters/*.txt" --to jsonl --out annotated/ --json summary.json
      echo "Anna lost her key. She called Bob." | entitynlm annotate
      entitynlm annotate story.txt --samples 100 --with-scores --to jsonl
      entitynlm annotate mentions.conll --keep-mentions --to conll2012
    """
    from entitynlm.coref.annotation import Options, annotate_document
    from entitynlm.interfaces.api import EntityNLM
    from entitynlm.text.formats.registry import parse_format

    form = parse_format(to)[0] if to else None
    if form is not None and not form.writable:
        raise ConfigError(f"documents can't be written as {form.name}; see: entitynlm data convert --help")
    if out != STANDARD and to is None:
        to, form = _choose_format(out)
    if out == STANDARD and to and json_path == STANDARD:
        raise ConfigError("--json - and --to both want standard output; give --out a file")
    options = Options(
        samples=samples,
        links=cast(Any, links),
        scores=with_scores,
        keep_mentions=keep_mentions,
        possessives=possessives,
        seed=seed,
    )
    paths = expand_files(files)
    terminal = Terminal(quiet=quiet, json_path=json_path, colour=colour)
    prepare_torch(device, threads)
    pretrained = EntityNLM.from_pretrained(model, device=device).pretrained
    figures: list[dict[str, Any]] = []

    def work() -> Iterator[tuple[str, Document]]:
        with terminal.progress() as progress:
            task = progress.add_task("annotating", total=None, note="")
            for path, document in read_inputs(paths, terminal, format=format):
                started = time.perf_counter()
                annotated = annotate_document(pretrained, document, options)
                seconds = time.perf_counter() - started
                figures.append(summarise(path, annotated, seconds))
                progress.update(
                    task, advance=len(document), note=f"{path}: {len(document) / seconds:,.0f} tokens/s"
                )
                yield path, annotated

    if to is None:
        show(work(), terminal, sentences)
    else:
        assert form is not None
        write(work(), paths, out, to, form, terminal)
    tokens, seconds = (sum(figure[key] for figure in figures) for key in ("tokens", "seconds"))
    terminal.remark(
        f"{len(figures)} texts, {tokens:,} tokens, {tokens / max(seconds, 1e-9):,.0f} tokens/s", markup=False
    )
    terminal.write_json({"task": "annotate", "model": model, "seed": seed, "documents": figures})


def _choose_format(out: str) -> tuple[str, Format]:
    """The format that the ending of a file asks for; JSON lines for a folder."""
    from entitynlm.text.formats.registry import FORMATS

    if is_folder(out):
        return "jsonl", FORMATS["jsonl"]
    for name, form in FORMATS.items():
        if form.writable and out.endswith(form.suffix):
            return name, form
    raise ConfigError(
        f"{out}: which format is this? Say so with --to (jsonl, conll2012, conllu, brat, spacy …)"
    )


def show(annotated: Iterator[tuple[str, Document]], terminal: Terminal, sentences: int | None) -> None:
    """The text in colours, then the cast."""
    from entitynlm.interfaces.views import list_entities, render_document

    for number, (_, document) in enumerate(annotated):
        if number:
            terminal.print()
        terminal.print(f"── {document.id}", style="dim", markup=False)
        terminal.print(render_document(document, sentences=sentences), soft_wrap=True)
        terminal.print()
        terminal.print(list_entities(document))


def write(
    annotated: Iterator[tuple[str, Document]],
    paths: list[str],
    out: str,
    to: str,
    form: Format,
    terminal: Terminal,
) -> None:
    """All texts into one file, or one file per text in a folder."""
    from entitynlm.text.formats.registry import write_documents

    if out == STANDARD or not is_folder(out) or form.write_folder is not None:
        write_documents((document for _, document in annotated), out, to)
        if out != STANDARD:
            terminal.remark(f"wrote {print_path(out)}", markup=False)
        return
    names = name_outputs(paths)
    count = 0
    for path, of_file in itertools.groupby(annotated, key=lambda pair: pair[0]):
        write_documents((document for _, document in of_file), Path(out) / f"{names[path]}{form.suffix}", to)
        count += 1
    terminal.remark(f"wrote {count} files in {print_path(out)}", markup=False)


def summarise(path: str, document: Document, seconds: float) -> dict[str, Any]:
    """Counts, speed, and every entity with its mentions."""
    return {
        "file": path,
        "id": document.id,
        "tokens": len(document),
        "sentences": len(document.sentences),
        "mentions": len(document.mentions),
        "seconds": round(seconds, 4),
        "tokens_per_second": round(len(document) / max(seconds, 1e-9), 1),
        "entities": [
            {
                "id": entity.id,
                "type": entity.type,
                "mentions": [
                    {
                        "start": mention.start,
                        "end": mention.end,
                        "text": document.words(*mention.span),
                        **{
                            name: float(value)
                            for name, value in mention.attributes
                            if name.endswith("confidence")
                        },
                    }
                    for mention in entity.mentions
                ],
            }
            for entity in document.entities
        ],
    }
