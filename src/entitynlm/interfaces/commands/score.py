"""``entitynlm score``: coreference metrics of a response against a key, and whether two responses differ."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from entitynlm.coref.metrics.alignment import align_documents
from entitynlm.coref.metrics.coreference import (
    METRICS,
    CorpusCounts,
    choose_metrics,
    compare_systems,
    count_alignments,
)
from entitynlm.coref.metrics.documents import drop_repetitions, drop_singletons, pair_documents
from entitynlm.errors import DataError
from entitynlm.files import STANDARD
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal
from entitynlm.text.corpora.corpus import open_corpus
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import read_sample, recognise_format

REFUSED_ABOVE = 10  # the official scorer gives up when the response repeats more mentions than this
Where = Literal["nowhere", "key", "response", "both"]


def check_metrics(metric: list[str] | None) -> list[str] | None:
    """Check that metrics of these names exist."""
    choose_metrics(metric or None)
    return metric or None


def score(
    *,
    key: Annotated[str, typer.Argument(callback=options.check_exists)],
    response: Annotated[str, typer.Argument(callback=options.check_exists)],
    metric: Annotated[list[str] | None, typer.Option("--metric", "-m", callback=check_metrics)] = None,
    versus: options.OptionalExisting = None,
    drop_singletons: Where = "nowhere",
    drop_repetitions: Where = "nowhere",
    split: options.Split = None,
    lenient: bool = False,
    ignore_words: bool = False,
    format: options.Format = None,
    trials: options.Trials = 10_000,
    seed: options.Seed = 0,
    terminal: Terminal,
) -> None:
    """Score coreference as the official CoNLL scorer (v8.01) does, and by LEA.

    Prints recall, precision and F1 of MUC, B³, CEAF_m, CEAF_e, BLANC, LEA and the identification of mentions, and the
    CoNLL average, truncated to two decimals like the official scorer's; --json has them unrounded.

    Examples:

      entitynlm score gold.conll system.conll
      entitynlm score gold.conll system.conll --metric conll --json -
      entitynlm score corpora/ontogum system.jsonl --split test --drop-singletons key --drop-repetitions key
      entitynlm score gold.conll system.conll --versus better.conll

    :param key: The annotation: a file or a folder in any readable format.
    :param response: The system's analysis of the same documents.
    :param metric: mentions, muc, b3, ceafm, ceafe, blanc, lea or conll; repeatable; default: all.
    :param versus: A second response: test whether it differs from the first (approximate randomisation).
    :param drop_singletons: Leave out entities with one mention before scoring.
    :param drop_repetitions: Leave out spans that are annotated a second time.
    :param lenient: Missing documents count as empty, unknown ones are left out (as the official scorer does).
    :param ignore_words: Require as many tokens, but not the same words.
    """
    keys = _read(key, format, split, "key", drop_singletons, drop_repetitions)
    if not any(text.mentions for text in keys):
        raise DataError("there is no mention in the key, so there is nothing to score", path=key)

    def count(path: str) -> CorpusCounts:
        documents = _read(path, format, split, "response", drop_singletons, drop_repetitions)
        if not any(text.mentions for text in documents):
            terminal.remark(f"remark: {path}: there is no mention in this response", markup=False)
        paired = pair_documents(keys, documents, lenient=lenient, compare_words=not ignore_words)
        alignments = [align_documents(*pair) for pair in zip(*paired, strict=True)]
        repeated = sum(alignment.repeated_in_response for alignment in alignments)
        if repeated > REFUSED_ABOVE:
            told = f"the response has {repeated} repeated mentions, of which each counts once"
            terminal.remark(f"remark: {told}; the official scorer refuses more than {REFUSED_ABOVE}")
        return count_alignments([document.id for document in paired[0]], alignments, metric)

    counts = count(response)
    figures = counts.to_json()
    second = None if versus is None else count(versus)
    _print_scores(terminal, counts)
    if second is not None:
        compared = compare_systems(counts, second, trials=trials, seed=seed)
        figures["versus"] = {
            name: {"f1": c.second, "difference": c.difference, "p_value": c.p_value}
            for name, c in compared.items()
        }
        rows = [
            (_title(name), _cut(c.first), _cut(c.second), f"{c.difference:+.2f}", f"{c.p_value:.4f}")
            for name, c in compared.items()
        ]
        title = f"second response against the first, {trials} trials"
        _print(terminal, ("F1", "first", "second", "difference", "p"), rows, title=title)
    terminal.write_json(figures)


def _print_scores(terminal: Terminal, counts: CorpusCounts) -> None:
    rows = [
        (_title(name), *(f"{value:.2f}" for value in counts.score(name).printed)) for name in counts.by_metric
    ]
    if counts.has_conll:
        rows.append(("CoNLL", "", "", _cut(counts.conll)))
    title = f"{len(counts)} document{'s' if len(counts) != 1 else ''}"
    _print(terminal, ("", "recall", "precision", "F1"), rows, title=title)


def _read(
    path: str, format: str | None, split: str | None, side: str, singletons: Where, repetitions: Where
) -> Sequence[Document]:
    """Read annotated documents; plain text is refused, which would be scored as an analysis without mentions."""
    guessed = format is None and path != STANDARD and not Path(path).is_dir()
    if guessed and recognise_format(path, read_sample(path)).name == "text":
        expected = "documents with mentions and entities (CoNLL-2012, CoNLL-U, JSON lines, brat …)"
        raise DataError("this is plain text, which has no annotation to score", path=path, expected=expected)
    corpus = open_corpus(path, format=format)
    texts = list(
        corpus.documents(split if side == "key" or split in corpus.splits else None, words_only=True)
    )
    for where, drop in ((repetitions, drop_repetitions), (singletons, drop_singletons)):
        if where in (side, "both"):
            texts = [drop(text) for text in texts]
    return texts


def _print(terminal: Terminal, headings: Sequence[str], rows: Iterable[Sequence[str]], **layout: Any) -> None:
    from entitynlm.interfaces.views import draw_table

    terminal.print(draw_table(headings, rows, right=headings[1:], header_style="bold", **layout))


def _title(metric: str) -> str:
    return METRICS[metric].title if metric in METRICS else "CoNLL"


def _cut(percent: float) -> str:
    """Cut a figure to two decimals, as the official scorer does."""
    return f"{int(percent * 100) / 100:.2f}"
