"""``entitynlm generate``: continue a text or start one, with the entities that you want in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import STANDARD, make_printable, write_text
from entitynlm.generation.request import Continuation, ContinuationRequest
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.inputs import read_inputs

if TYPE_CHECKING:
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.text.document import Document


def generate(
    *,
    file: Annotated[str | None, typer.Argument(callback=options.check_exists)] = None,
    model: options.ModelOptions,
    count: Annotated[int, typer.Option("-n", "--count", min=1, max=10_000)] = 1,
    words: Annotated[int, typer.Option("-w", "--words", min=1, max=100_000)] = 60,
    sentences: Annotated[int | None, typer.Option("-s", "--sentences", min=1, max=10_000)] = None,
    temperature: Annotated[float, typer.Option("-t", "--temperature")] = 0.8,
    top_p: float = 0.95,
    cast: str | None = None,
    next_entity: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    no_new_entities: bool = False,
    plan: bool = False,
    plain: bool = False,
    out: Annotated[str | None, typer.Option("--out", "-o", callback=options.check_writable)] = None,
    format: options.Format = None,
    seed: options.Seed = 0,
    terminal: Terminal,
) -> None:
    """Continue a text, or start one, with entities that you choose.

    The model uses the text's own mentions where it has any, and finds them otherwise. Mentions of the continuation
    are shown in brackets with the number of their entity, and fit it in pronoun, number and name. --plan tells who
    acts next instead, with the probability of every candidate. A model with a closed vocabulary (entitynlm-en) always
    answers with the plan: it predicts entities well, and its prose would be too weak.

    Examples:

      entitynlm generate story.txt --words 80 -n 3
      entitynlm generate --cast "Anna,the old man" --sentences 5 --seed 7
      entitynlm generate story.txt --next-entity Anna --no-new-entities
      entitynlm generate story.txt --plan
      echo "The captain looked at the sea." | entitynlm generate - --plain

    :param file: The text to continue; '-': standard input; default: a story is started.
    :param count: Number of continuations.
    :param words: Generate at least this many words, up to a sentence's end.
    :param sentences: Generate this many sentences, whatever --words says.
    :param temperature: Temperature of the words: below 1, likely ones are preferred.
    :param top_p: Nucleus sampling: words come from the smallest set with this probability.
    :param cast: Names of the entities to start with, separated by commas: 'Anna,the old man'.
    :param next_entity: The next mention refers to this entity.
    :param no_new_entities: Mention only the entities of the text and the cast.
    :param plan: Tell who acts next, with the probability of every candidate, and write no text.
    :param plain: Show the text without its mentions.
    :param out: Also write the continuations as plain text, or the plan as a table.
    """
    names = tuple(" ".join(name.split()) for name in cast.split(",")) if cast else ()
    request = ContinuationRequest(
        words, sentences, temperature, top_p, names, next_entity, not no_new_entities
    )
    prompt = None if file is None else read_prompt_file(file, format, terminal)
    pretrained = model.load(terminal)
    from entitynlm.generation.continuations import generate_continuations, writes_prose

    if prompt is not None:
        terminal.doubt(prompt, pretrained)
    if plan and next_entity is not None:
        raise ConfigError("a plan tells who comes next, so --next-entity has nothing to decide in it")
    if not plan and not writes_prose(pretrained):
        terminal.remark(
            f"{model.model} has a closed vocabulary and writes no prose: this is the plan, who acts next. A model on a "
            "pretrained language model writes, such as --model entitynlm-en-smollm2"
        )
        plan = True
    if plan:
        write_plan(pretrained, prompt, request, seed, out, model.model, terminal)
        return
    stories = generate_continuations(pretrained, prompt, request, count=count, seed=seed)
    for number, story in enumerate(stories, start=1):
        show(story, f"{number} of {count}" if count > 1 else None, terminal, plain=plain)
    if out is not None:
        write_text(out, "\n\n".join(story.text for story in stories) + "\n")
    heading = {"task": "generate", "model": model.model, "seed": seed}
    found = {"prompt": prompt.id if prompt else None, "continuations": [to_json(story) for story in stories]}
    terminal.write_json({**heading, **found})


def write_plan(
    pretrained: Pretrained,
    prompt: Document | None,
    request: ContinuationRequest,
    seed: int,
    out: str | None,
    model: str,
    terminal: Terminal,
) -> None:
    """Print who acts next, the likeliest first."""
    from entitynlm.generation.plan import NEW_ACTOR, plan_next
    from entitynlm.interfaces.views import draw_table

    plan = plan_next(pretrained, prompt, request.cast, new_entities=request.new_entities, seed=seed)
    headings = ("who acts next", "probability")
    rows = [
        (make_printable(name) if name != NEW_ACTOR else "(a new entity)", f"{100 * p:.1f} %")
        for name, p in plan
    ]
    terminal.print(draw_table(headings, rows, right=("probability",)))
    if out is not None:
        write_text(out, "".join("\t".join(row) + "\n" for row in [headings, *rows]))
    heading = {"task": "generate", "model": model, "seed": seed, "prompt": prompt.id if prompt else None}
    terminal.write_json({**heading, "plan": [{"name": name, "probability": p} for name, p in plan]})


def read_prompt_file(file: str, format: str | None, terminal: Terminal) -> Document:
    """Read the one document that is to be continued."""
    found = [document for _, document in read_inputs([file], terminal, format=format)]
    path, hint = "standard input" if file == STANDARD else file, "Leave it out to start a story from nothing"
    if not found:
        raise DataError("there is no word to go on from", path=path, hint=hint)
    if len(found) > 1:
        message = f"there are {len(found)} documents in it, and one can be continued"
        raise DataError(message, path=path, found=found[1].id)
    return found[0]


def show(story: Continuation, title: str | None, terminal: Terminal, *, plain: bool) -> None:
    """Print the text with its mentions, and the names of their entities."""
    from rich.text import Text

    from entitynlm.interfaces.views import colour_of, number_entities, render_document

    if title is not None:
        terminal.print(Text(f"── {title}", style="dim"))
    if plain:
        terminal.print(Text(make_printable(story.text)), soft_wrap=True)
    else:
        terminal.print(render_document(story.document))
        known = Text()
        for entity, number in number_entities(story.document).items():
            if entity in story.names:
                known.append(make_printable(f"  {number} {story.names[entity]}"), style=colour_of(number))
        if known:
            terminal.print(Text("who is who:", style="dim") + known)
    if title is not None:
        terminal.print()


def to_json(story: Continuation) -> dict[str, Any]:
    """List a continuation's text, its mentions by characters, and the names of their entities."""
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
