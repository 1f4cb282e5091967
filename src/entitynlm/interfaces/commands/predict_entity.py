"""``entitynlm predict-entity``: a table for experiments, one line per mention of a text."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entitynlm.interfaces.commands.train import prepare_torch
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.options import (
    DeviceOption,
    FormatOption,
    JsonOption,
    QuietOption,
    ThreadsOption,
)

if TYPE_CHECKING:
    from entitynlm.prediction.choices import Chooser
    from entitynlm.text.document import Document

HEADING = (
    "document", "sentence", "token", "word", "entity", "is_new", "best", "probability", "surprisal", "entropy",
    "candidates",
)  # fmt: skip


def predict_entity(
    file: Annotated[Path, typer.Argument(help="A text with mentions, in any format that is read.")],
    model: Annotated[Path, typer.Option("--model", "-m", help="A folder that entitynlm train has written.")],
    out: Annotated[str, typer.Option("--out", "-o", help="The TSV file; '-' is standard output.")] = "-",
    ours: Annotated[
        bool,
        typer.Option("--ours", help="Ask the entity predictor stored with the model (reproduce entity)."),
    ] = False,
    format: FormatOption = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Who was to be expected at each mention: candidates with probabilities, entropy, surprisal of the true referent (bits).

    Nothing of the mention itself and nothing after it is looked at. The column "candidates" is JSON: a list of [entity,
    probability], the likeliest first, with an empty name for a new entity. With --json a summary per document is written.

    Examples:

      entitynlm predict-entity story.conllu --model runs/inscript > story.tsv
      entitynlm predict-entity stories.jsonl --model runs/inscript --out expectations.tsv --json summary.json
    """
    from entitynlm.experiments.entity_reproduction import OURS
    from entitynlm.files import write_atomically
    from entitynlm.model.pretrained import load_pretrained
    from entitynlm.prediction.network.predictor import EntityPredictor
    from entitynlm.prediction.network_choice import NetworkChooser
    from entitynlm.text.formats.registry import read_documents

    terminal = Terminal(quiet=quiet, json_path=json_path)
    prepare_torch(device, threads)
    chooser: Chooser
    if ours:
        chooser = EntityPredictor.load(model / OURS)
    else:
        pretrained = load_pretrained(model, device=device)
        chooser = NetworkChooser(pretrained.get("generative"), pretrained.encoder)
    summary: list[dict[str, Any]] = []
    with write_atomically(out) as stream:
        stream.write("\t".join(HEADING) + "\n")
        for document in terminal.track(read_documents(file, format), str(file.name)):
            lines, figures = expect_mentions(document, chooser)
            stream.writelines("\t".join(map(str, line)) + "\n" for line in lines)
            summary.append(figures)
    terminal.write_json({"task": "predict-entity", "file": str(file), "documents": summary})


def expect_mentions(document: Document, chooser: Chooser) -> tuple[list[tuple[Any, ...]], dict[str, Any]]:
    """The lines of one document, and its means."""
    from entitynlm.prediction.choices import NEW
    from entitynlm.prediction.slots import find_all_slots

    slotted = find_all_slots(document)
    lines: list[tuple[Any, ...]] = []
    right, surprisals = 0, []
    for slot, choice in zip(slotted.slots, chooser.choose(document, slotted.positions), strict=True):
        truth = NEW if slot.is_new else choice.resolve(slot.entity)
        probability = choice.probability(truth)
        surprisal = -math.log2(max(probability, 1e-300))
        entropy = -sum(p * math.log2(p) for p in choice.probabilities if p > 0)
        sentence = document.sentence_of[slot.position]
        ranked = json.dumps([[name, round(p, 6)] for name, p in choice.ranked], ensure_ascii=False)
        lines.append(
            (
                document.id,
                sentence + 1,
                slot.position - document.sentences[sentence][0] + 1,
                document.tokens[slot.position],
                slot.entity,
                int(slot.is_new),
                choice.best or "NEW",
                f"{probability:.6f}",
                f"{surprisal:.4f}",
                f"{entropy:.4f}",
                ranked,
            )
        )
        right += choice.best == truth
        surprisals.append(surprisal)
    count = len(lines)
    return lines, {
        "id": document.id,
        "mentions": count,
        "accuracy": 100 * right / count if count else None,
        "surprisal": sum(surprisals) / count if count else None,
    }
