"""``entitynlm generate``: continue a text or start one, with the entities that you want in it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from entitynlm.errors import ConfigError
from entitynlm.files import make_printable, write_text
from entitynlm.generation.request import Continuation, ContinuationRequest
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.inputs import read_input

if TYPE_CHECKING:
    from entitynlm.generation.generator import GeneratedWord
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.text.document import Document


def generate(
    *,
    file: Annotated[str | None, typer.Argument(callback=options.check_exists)] = None,
    document: options.DocumentId = None,
    model: options.ModelOptions,
    count: Annotated[int, typer.Option("-n", "--count", min=1, max=10_000)] = 1,
    words: Annotated[int, typer.Option("-w", "--words", min=1, max=100_000)] = 60,
    temperature: Annotated[float, typer.Option("-t", "--temperature")] = 0.6,
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

    The text's own mentions are used if it has any, else they are found. Mentions of the continuation are shown in
    brackets with the number of their entity, with which they agree in pronoun, number and name. --plan predicts who is
    mentioned next instead of writing. A model with a closed vocabulary (entitynlm-en) always answers with the plan: it
    predicts entities well, but its prose would be too weak.

    Examples:

      entitynlm generate story.txt --words 80 -n 3
      entitynlm generate --cast "Anna,the old man" --words 40 --seed 7
      entitynlm generate story.txt --next-entity Anna --no-new-entities
      entitynlm generate story.txt --plan
      echo "The captain looked at the sea." | entitynlm generate - --plain

    :param file: The text to continue; '-': standard input; default: a story is started.
    :param count: Number of continuations.
    :param words: Generate at least this many words, up to a sentence's end.
    :param temperature: Temperature of the words: below 1, likely ones are preferred.
    :param top_p: Nucleus sampling: words come from the smallest set with this probability.
    :param cast: Names of entities to mention, each at the start of a sentence: 'Anna,the old man'. Those that find
        no place within --words are listed after the text.
    :param next_entity: The continuation begins with a mention of this entity.
    :param no_new_entities: Mention only the entities of the text and the cast. Common nouns for other persons are not
        generated either; rare ones may occur outside of mentions.
    :param plan: Predict who is mentioned next, with the probability of every candidate, and write no text.
    :param plain: Show the text without its mentions.
    :param out: Also write the continuations as plain text, or the plan as a table.
    """
    names = tuple(" ".join(name.split()) for name in cast.split(",")) if cast else ()
    request = ContinuationRequest(words, temperature, top_p, names, next_entity, not no_new_entities)
    prompt = None if file is None else read_input(file, terminal, format, document)
    pretrained = model.load(terminal)
    from entitynlm.generation.continuations import generate_continuations, writes_prose

    if prompt is not None:
        terminal.doubt(prompt, pretrained)
    if plan and next_entity is not None:
        raise ConfigError("--plan predicts the next entity, so it can't be combined with --next-entity")
    if not plan and not writes_prose(pretrained):
        terminal.remark(
            f"{model.model} has a closed vocabulary and writes no prose: this is the plan, who is mentioned next. A model on a "
            "pretrained language model writes, such as --model entitynlm-en-smollm2"
        )
        plan = True
    if plan:
        write_plan(pretrained, prompt, request, seed, out, model.model, terminal)
        return
    stream = WordStream(terminal, count, plain=plain)
    stories = generate_continuations(pretrained, prompt, request, count=count, seed=seed, on_word=stream.add)
    for number, story in enumerate(stories, start=1):
        stream.finish(number, story)
    if out is not None:
        write_text(out, "\n\n".join(story.text for story in stories) + "\n")
    heading = {"task": "generate", "model": model.model, "seed": seed}
    found = {"prompt": prompt.id if prompt else None, "continuations": [to_json(story) for story in stories]}
    terminal.write_json({**heading, **found})


def write_plan(
    pretrained: "Pretrained",
    prompt: "Document | None",
    request: ContinuationRequest,
    seed: int,
    out: str | None,
    model: str,
    terminal: Terminal,
) -> None:
    """Print who is mentioned next, the likeliest first."""
    from entitynlm.generation.opening import NEW_ACTOR, plan_next
    from entitynlm.interfaces.views import draw_table

    plan = plan_next(pretrained, prompt, request.cast, new_entities=request.new_entities, seed=seed)
    headings = ("mentioned next", "probability")
    rows = [
        (make_printable(name) if name != NEW_ACTOR else "(a new entity)", f"{100 * p:.1f} %")
        for name, p in plan
    ]
    terminal.print(draw_table(headings, rows, right=("probability",)))
    if out is not None:
        write_text(out, "".join("\t".join(row) + "\n" for row in [headings, *rows]))
    heading = {"task": "generate", "model": model, "seed": seed, "prompt": prompt.id if prompt else None}
    terminal.write_json({**heading, "plan": [{"name": name, "probability": p} for name, p in plan]})


class WordStream:
    """Print continuations, the first one word by word during generation; mentions are in brackets unless it is plain."""

    def __init__(self, terminal: Terminal, count: int, *, plain: bool) -> None:
        self.terminal, self.count, self.plain = terminal, count, plain
        self.begun = self.inside = False
        self.numbers: dict[int, int] = {}  # as the entities are shown, in the order of their first mention

    def add(self, number: int, word: "GeneratedWord", text: str) -> None:
        """Print a word of the first continuation; the others, which are generated together with it, are printed at their end."""
        from rich.text import Text

        from entitynlm.interfaces.views import colour_of, write_subscript

        if number > 1:
            return
        if not self.begun:
            self._print_title(1)
            self.begun, text = True, text.lstrip()
        own, style, after = make_printable(text.strip()), "", ""
        gap = text[: len(text) - len(text.lstrip())]
        if word.e and not self.plain:
            shown = self.numbers.setdefault(word.e, len(self.numbers) + 1)
            style = f"bold {colour_of(shown)}"
            own = own if self.inside else f"[{own}"
            self.inside = word.l > 1
            after = "" if self.inside else "]" + write_subscript(shown)
        self.terminal.print(Text(gap) + Text(own + after, style=style), end="", soft_wrap=True)

    def finish(self, number: int, story: Continuation) -> None:
        """Print a continuation, unless its words are printed already, and its entities and the missing members of the cast."""
        from rich.text import Text

        from entitynlm.interfaces.views import colour_of, list_numbers, render_document

        if number > 1:
            self._print_title(number)
            shown = Text(make_printable(story.text)) if self.plain else render_document(story.document)
            self.terminal.print(shown, soft_wrap=True)
        else:
            self.terminal.print()
        known = Text()
        for entity, own in list_numbers(story.document).items() if not self.plain else ():
            if entity in story.names:
                known.append(make_printable(f"  {own} {story.names[entity]}"), style=colour_of(own))
        if known:
            self.terminal.print(Text("who is who:", style="dim") + known)
        if story.missing:
            names = make_printable(", ".join(story.missing))
            self.terminal.remark(f"not mentioned: {names}; more --words make room for the whole cast")
        if self.count > 1:
            self.terminal.print()

    def _print_title(self, number: int) -> None:
        from rich.text import Text

        if self.count > 1:
            self.terminal.print(Text(f"── {number} of {self.count}", style="dim"))


def to_json(story: Continuation) -> dict[str, Any]:
    """List a continuation's text, its mentions by characters, and the names of their entities."""
    document = story.document
    assert document.offsets is not None
    return {
        "text": story.text,
        "missing": list(story.missing),
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
