"""``entitynlm generate``: a text goes on, or a story begins, with the entities that you want in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from entitynlm.errors import DataError
from entitynlm.files import STANDARD, write_atomically
from entitynlm.interfaces.commands.train import prepare_torch
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.inputs import DEFAULT_MODEL, ModelOption, read_inputs
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
    from entitynlm.generation.continuations import Continuation
    from entitynlm.text.document import Document


def generate(
    file: Annotated[
        str | None,
        typer.Argument(help="The text to go on with; '-': standard input; default: a story from nothing."),
    ] = None,
    model: ModelOption = DEFAULT_MODEL,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many continuations.")] = 1,
    words: Annotated[
        int, typer.Option("--words", "-w", min=1, help="So many words, then on to the sentence's end.")
    ] = 60,
    sentences: Annotated[
        int | None, typer.Option("--sentences", "-s", min=1, help="So many sentences instead.")
    ] = None,
    temperature: Annotated[
        float, typer.Option("--temperature", "-t", help="Of the words: below 1, likely ones are preferred.")
    ] = 0.8,
    top_p: Annotated[
        float, typer.Option("--top-p", help="Words come from the smallest set with this probability.")
    ] = 0.95,
    cast: Annotated[
        str | None,
        typer.Option("--cast", help="Who is in it, with commas between: 'Anna,the old man'."),
    ] = None,
    next_entity: Annotated[
        str | None,
        typer.Option("--next-entity", metavar="NAME", help="The next mention is of this one."),
    ] = None,
    no_new_entities: Annotated[
        bool, typer.Option("--no-new-entities", help="Nobody but those of the text and the cast.")
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Only the text, without its mentions.")] = False,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="Also write the continuations, as plain text, here.")
    ] = None,
    format: FormatOption = None,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    colour: ColourOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Continue a text or start a story, and choose who acts in it.

    The text's own mentions are used where it has any, and found otherwise.
    Mentions of what is told are shown in brackets, with the number of their
    entity.

    Examples:

      entitynlm generate story.txt --words 80 -n 3
      entitynlm generate --cast "Anna,the old man" --sentences 5 --seed 7
      entitynlm generate story.txt --next-entity Anna --no-new-entities
      echo "The captain looked at the sea." | entitynlm generate - --plain
    """
    from entitynlm.generation.continuations import Request, tell_stories
    from entitynlm.interfaces.api import EntityNLM

    terminal = Terminal(quiet=quiet, json_path=json_path, colour=colour)
    request = Request(
        words=words,
        sentences=sentences,
        temperature=temperature,
        top_p=top_p,
        cast=tuple(" ".join(name.split()) for name in cast.split(",")) if cast else (),
        next_entity=next_entity,
        new_entities=not no_new_entities,
    )
    prompt = None if file is None else read_prompt(file, format, terminal)
    prepare_torch(device, threads)
    pretrained = EntityNLM.from_pretrained(model, device=device).pretrained
    stories = tell_stories(pretrained, prompt, request, count=count, seed=seed)
    for number, story in enumerate(stories, start=1):
        show(story, f"{number} of {count}" if count > 1 else None, terminal, plain=plain)
    if out is not None:
        with write_atomically(out) as stream:
            stream.write("\n\n".join(story.text for story in stories) + "\n")
    terminal.write_json(
        {
            "task": "generate",
            "model": model,
            "seed": seed,
            "prompt": None if prompt is None else prompt.id,
            "continuations": [to_json(story) for story in stories],
        }
    )


def read_prompt(file: str, format: str | None, terminal: Terminal) -> Document:
    """The one document that is to go on."""
    found = [document for _, document in read_inputs([file], terminal, format=format)]
    if not found:
        raise DataError(
            "there is no word to go on from",
            path="standard input" if file == STANDARD else file,
            hint="Leave the file out to start a story from nothing",
        )
    if len(found) > 1:
        raise DataError(
            f"there are {len(found)} documents in it, and one can be continued", path=file, found=found[1].id
        )
    return found[0]


def show(story: Continuation, title: str | None, terminal: Terminal, *, plain: bool) -> None:
    """The text for people."""
    from entitynlm.interfaces.views import colour_of, number_entities, render_document

    if title is not None:
        terminal.print(Text(f"── {title}", style="dim"))
    if plain:
        terminal.print(Text(story.text), soft_wrap=True)
    else:
        terminal.print(render_document(story.document))
        known = Text()
        for entity, number in number_entities(story.document).items():
            if entity in story.names:
                known.append(f"  {number} {story.names[entity]}", style=colour_of(number))
        if known:
            terminal.print(Text("who is who:", style="dim") + known)
    if title is not None:
        terminal.print()


def to_json(story: Continuation) -> dict[str, Any]:
    """The text, its mentions by characters, and who they are."""
    document = story.document
    assert document.offsets is not None
    return {
        "text": story.text,
        "mentions": [
            {
                "start": document.offsets[mention.start][0],
                "end": document.offsets[mention.end - 1][1],
                "text": document.words(*mention.span),
                "entity": mention.entity,
                "type": document.entity_types.get(mention.entity),
                "called": story.names.get(mention.entity),
            }
            for mention in document.mentions
        ],
    }
