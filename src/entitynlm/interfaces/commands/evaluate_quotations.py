"""``entitynlm evaluate quotations``: how well what is said is found, and who says it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from entitynlm.characters.evaluation import QuotationScores, score_quotations
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal
from entitynlm.progress import track
from entitynlm.text.corpora.quotations import read_quoted_documents


def evaluate_quotations(
    *,
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", callback=options.check_exists)],
    quotations: Annotated[Path, typer.Option(callback=options.check_exists)],
    model: Annotated[Path | None, typer.Option("--model", "-m", callback=options.check_model)] = None,
    split: str = "test",
    terminal: Terminal,
) -> None:
    """Measure how well quotations and their speakers are found in LitBank.

    A quotation is found if its words are, quotation marks aside. A speaker is right if it is the annotated entity; with
    --model also among the entities that the model finds, where the entity counts that most of its annotated mentions
    belong to.

    Examples:

      entitynlm evaluate quotations corpora/litbank --quotations corpora/litbank-quotations --split dev

    :param corpus: LitBank's folder, with conll and brat in it.
    :param quotations: The folder of LitBank's quotation files.
    :param model: Also choose speakers among the entities that this model finds.
    :param split: Which documents: test, dev or train.
    """
    documents = list(read_quoted_documents(corpus, quotations, split))
    rows = {"annotated mentions and entities": sum(map(score_quotations, documents), QuotationScores())}
    if model is not None:
        pretrained = options.ModelOptions(str(model)).load(terminal)
        from entitynlm.coref.annotation import annotate_document

        scores = QuotationScores()
        for document in track(terminal, "annotating", documents):
            bare = document.with_mentions(()).with_quotations(())
            scores += score_quotations(document, annotate_document(pretrained, bare))
        rows[f"those of {Path(model).name}"] = scores
    from entitynlm.interfaces.views import draw_table

    headings = ("entities", "quotations", "precision", "recall", "F1", "speaker", "nearest name")
    shown = [(name, str(found.annotated), *map(_show, _list(found))) for name, found in rows.items()]
    terminal.print(draw_table(headings, shown, right=headings[1:]))
    told = "speaker, nearest name: right, in % of the quotations that are found; the latter is a baseline"
    terminal.print(told, style="dim")
    figures: dict[str, Any] = {
        name: {**vars(found), "f1": found.f1, "speaker_accuracy": found.speaker_accuracy}
        for name, found in rows.items()
    }
    terminal.write_json({"task": "evaluate quotations", "split": split, "rows": figures})


def _list(found: QuotationScores) -> tuple[float, ...]:
    return found.precision, found.recall, found.f1, found.speaker_accuracy, found.baseline_accuracy


def _show(share: float) -> str:
    return f"{100 * share:.2f}"
