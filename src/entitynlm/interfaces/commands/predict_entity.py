"""``entitynlm predict-entity``: which entity is mentioned next, at each mention of a text."""

import json
import math
from typing import Any

from entitynlm.files import STANDARD, write_atomically
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.inputs import Files, read_inputs
from entitynlm.prediction.choices import NEW, Chooser
from entitynlm.prediction.slots import find_all_slots
from entitynlm.progress import track
from entitynlm.row_files import show_cell
from entitynlm.text.document import Document

HEADING = (
    "document", "sentence", "token", "word", "entity", "is_new", "best", "probability_of_entity", "surprisal", "entropy",
    "candidates",
)  # fmt: skip


def predict_entity(
    *,
    files: Files = None,
    model: options.ModelOptions,
    out: options.Output = STANDARD,
    format: options.Format = None,
    terminal: Terminal,
) -> None:
    """Predict the next entity at each mention: probabilities, entropy and surprisal in bits.

    The prediction uses only the words and mentions before a mention; the model first finds the mentions of a text that
    has none. Columns: "entity" is the entity mentioned, "best" the most probable one; "probability_of_entity" and
    "surprisal" are those of "entity" (or of a new entity, where "is_new" is 1), "entropy" is over all candidates.
    "candidates" is JSON: a list of [entity, probability], the likeliest first, with an empty name for a new entity.
    --json writes a summary per document.

    Examples:

      entitynlm predict-entity story.conllu > story.tsv
      entitynlm predict-entity stories.jsonl --model runs/inscript --out predictions.tsv --json summary.json

    :param out: The table's file; '-': standard output.
    """
    assert files is not None
    terminal.check_standard(out)
    documents = read_inputs(files, terminal, format=format)
    pretrained = model.load(terminal)
    from entitynlm.coref.annotation import annotate_document
    from entitynlm.prediction.network_choice import NetworkChooser

    chooser = NetworkChooser(pretrained.get("generative"), pretrained.encoder)
    summary: list[dict[str, Any]] = []
    with write_atomically(out) as stream:
        stream.write("\t".join(HEADING) + "\n")
        for path, document in track(terminal, "predicting", documents):
            found = not document.mentions
            if found:
                told = "there were no mentions in it, so the model has found them"
                terminal.remark(f"remark: {path}: {told}", markup=False)
                terminal.doubt(document, pretrained)
                document = annotate_document(pretrained, document)
            lines, figures = predict_mentions(document, chooser)
            stream.writelines("\t".join(map(show_cell, line)) + "\n" for line in lines)
            summary.append({**figures, "mentions_found": found})
    terminal.write_json({"task": "predict-entity", "model": model.model, "documents": summary})


def predict_mentions(document: Document, chooser: Chooser) -> tuple[list[tuple[Any, ...]], dict[str, Any]]:
    """Predict the entity of each mention of a document: the lines of the table, and their means."""
    slotted = find_all_slots(document)
    lines: list[tuple[Any, ...]] = []
    right, surprisals = 0, []
    for slot, choice in zip(slotted.slots, chooser.choose(document, slotted.positions), strict=True):
        truth = NEW if slot.is_new else choice.resolve(slot.entity)
        probability = choice.probability(truth)
        surprisals.append(abs(math.log2(min(max(probability, 1e-300), 1.0))))
        entropy = abs(sum(p * math.log2(p) for p in choice.probabilities if p > 0))
        sentence = document.sentence_of[slot.position]
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
                f"{surprisals[-1]:.4f}",
                f"{entropy:.4f}",
                json.dumps([[name, round(p, 6)] for name, p in choice.ranked], ensure_ascii=False),
            )
        )
        right += choice.best == truth
    count = len(lines)
    return lines, {
        "id": document.id,
        "mentions": count,
        "accuracy": 100 * right / count if count else None,
        "surprisal": sum(surprisals) / count if count else None,
    }
