"""``entitynlm annotate``: the mentions of a text, and which of them refer to one entity."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import structs

from entitynlm.files import STANDARD
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal, count
from entitynlm.interfaces.inputs import Files, KeepText, choose_format, read_inputs, require_mentions
from entitynlm.interfaces.outputs import name_files, write_files
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import get_format, write_documents

if TYPE_CHECKING:
    from entitynlm.model.pretrained import Pretrained


@dataclass(frozen=True)
class AnnotationOptions:
    """Options of annotation.

    :param with_scores: Add the confidence of each mention and link.
    :param keep_mentions: Keep the mentions of the input and only link them.
    :param exact: Compute a language model's states in float32, also where the processor has the faster bfloat16.
    """

    with_scores: bool = False
    keep_mentions: bool = False
    exact: bool = False

    def annotate(self, load: "Callable[[], Pretrained]", document: Document, *, model: str) -> Document:
        """Find the document's mentions and entities, and add the model's name to its metadata."""
        from entitynlm.coref.annotation import annotate_document

        chosen: dict[str, Any] = {
            "scores": self.with_scores,
            "keep_mentions": self.keep_mentions,
            "exact": self.exact,
        }
        return options.sign(annotate_document(load(), document, **chosen), model)


def annotate(
    *,
    files: Files = None,
    model: options.ModelOptions,
    to: options.To = None,
    out: options.Output = STANDARD,
    annotating: AnnotationOptions,
    format: options.Format = None,
    keep_text: KeepText = None,
    terminal: Terminal,
) -> None:
    """Find the mentions of texts and link them to entities.

    Shows each text with its entities in colours, or writes it in any format.

    The model's resolver finds mentions, nested ones too, and links them, from the states of SmolLM2 or of the model's
    own LSTM. Texts of any length are read in chunks.

    Examples:

      entitynlm annotate story.txt
      entitynlm annotate novel.txt --to conllu --out novel.conllu
      entitynlm annotate "letters/*.txt" --to jsonl --out annotated/ --json summary.json
      echo "Anna lost her key. She called Bob." | entitynlm annotate
      entitynlm annotate story.txt --with-scores --to jsonl
      entitynlm annotate mentions.conll --keep-mentions --to conll2012

    :param out: A folder (one file per text), a file, or '-' (standard output).
    """
    assert files is not None
    if out != STANDARD:
        to = choose_format(to, out, "jsonl")
    targets = name_files(files, out, [get_format(to).suffix], terminal) if to else {}
    documents = read_inputs(files, terminal, format=format, keep_text=keep_text)
    if annotating.keep_mentions:
        documents = require_mentions(documents, "--keep-mentions", terminal)
    pretrained = model.load(terminal)
    figures: list[dict[str, Any]] = []

    def work() -> Iterator[tuple[str, Document]]:
        terminal.start("annotating")
        for path, document in documents:
            started = time.perf_counter()
            terminal.doubt(document, pretrained)
            annotated = annotating.annotate(lambda: pretrained, document, model=model.model)
            figures.append(summarise(path, annotated, time.perf_counter() - started))
            note = f"{path}: {figures[-1]['tokens_per_second']:,.0f} tokens/s"
            terminal.advance("annotating", len(document), note)
            yield path, annotated
        terminal.finish("annotating")

    if to is None:
        show(work(), terminal)
    else:
        write_files(work(), targets, partial(write_documents, format=to), terminal)
    tokens, seconds = (sum(figure[key] for figure in figures) for key in ("tokens", "seconds"))
    speed = tokens / max(seconds, 1e-9)
    terminal.remark(
        f"{count(figures, 'text')}, {count(tokens, 'token')}, {speed:,.0f} tokens/s", markup=False
    )
    terminal.write_json({"task": "annotate", "model": model.model, "documents": figures})


def show(annotated: Iterator[tuple[str, Document]], terminal: Terminal) -> None:
    """Print each text in colours, then its entities."""
    from entitynlm.interfaces.views import show_document

    for number, (_, document) in enumerate(annotated):
        if number:
            terminal.print()
        terminal.print(f"── {document.id}", style="dim", markup=False)
        show_document(terminal, document)


def summarise(path: str, document: Document, seconds: float) -> dict[str, Any]:
    """Collect counts, speed, and every entity with its mentions."""

    def describe(mention: Any) -> dict[str, Any]:
        found = {name: float(value) for name, value in mention.attributes if name.endswith("confidence")}
        text = document.words(*mention.span)
        return {"start": mention.start, "end": mention.end, "text": text, **found}

    return {
        "file": path,
        "id": document.id,
        "tokens": len(document),
        "sentences": len(document.sentences),
        "mentions": len(document.mentions),
        "seconds": round(seconds, 4),
        "tokens_per_second": round(len(document) / max(seconds, 1e-9), 1),
        "entities": [
            {"id": entity.id, "type": entity.type, "mentions": [describe(m) for m in entity.mentions]}
            for entity in document.entities
        ],
        "quotations": [
            {**structs.asdict(quotation), "text": document.words(*quotation.span)}
            for quotation in document.quotations
        ],
    }
