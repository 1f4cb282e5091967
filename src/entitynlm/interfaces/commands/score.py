"""``entitynlm score``: coreference metrics of a response against a key, and whether two responses differ."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.options import FormatOption, JsonOption, QuietOption, SeedOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from entitynlm.coref.metrics.alignment import Text
    from entitynlm.coref.metrics.coreference import CorpusCounts
    from entitynlm.coref.metrics.significance import Comparison

REFUSED_ABOVE = 10  # the official scorer gives up when the response repeats more mentions than this


class Side(str, Enum):
    """Where a filter applies."""

    nowhere = "nowhere"
    key = "key"
    response = "response"
    both = "both"


def score(
    key: Annotated[str, typer.Argument(help="The annotation: a file or a folder in any readable format.")],
    response: Annotated[str, typer.Argument(help="The system's analysis of the same documents.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            help="mentions, muc, b3, ceafm, ceafe, blanc, lea or conll; repeatable; default: all.",
        ),
    ] = None,
    versus: Annotated[
        str | None,
        typer.Option(help="A second response: test whether it differs from the first (randomisation test)."),
    ] = None,
    per_document: Annotated[
        bool, typer.Option("--per-document", help="Also the scores of each document.")
    ] = False,
    drop_singletons: Annotated[
        Side, typer.Option(help="Where to leave out entities with one mention before scoring.")
    ] = Side.nowhere,
    drop_repetitions: Annotated[
        Side, typer.Option(help="Where to leave out spans that are annotated a second time.")
    ] = Side.nowhere,
    split: Annotated[
        str | None,
        typer.Option(help="Of a corpus folder, score this split (train, dev, test)."),
    ] = None,
    lenient: Annotated[
        bool,
        typer.Option(
            "--lenient", help="Missing documents count as empty, unknown ones are left out (as official)."
        ),
    ] = False,
    ignore_words: Annotated[
        bool, typer.Option("--ignore-words", help="Require as many tokens, but not the same words.")
    ] = False,
    format: FormatOption = None,
    trials: Annotated[int, typer.Option(min=1, help="Shuffles of the randomisation test.")] = 10_000,
    seed: SeedOption = 0,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Score coreference as the official CoNLL scorer (v8.01) does, and LEA beside it.

    Prints recall, precision and F1 of MUC, B³, CEAF_m, CEAF_e, BLANC, LEA and the identification of
    mentions, and the CoNLL average, truncated to two decimals like the official scorer's; --json has them
    unrounded.

    Examples:

        entitynlm score gold.conll system.conll

        entitynlm score gold.conll system.conll --metric conll --json -

        entitynlm score corpora/ontogum mine.jsonl --split test --drop-singletons key --drop-repetitions key

        entitynlm score gold.conll system.conll --versus better.conll
    """
    terminal = Terminal(quiet=quiet, json_path=json)
    from entitynlm.coref.metrics.coreference import choose_metrics

    choose_metrics(metric)
    keys = _filter(_read(key, format, split, required=True), Side.key, drop_singletons, drop_repetitions)

    def count(path: str) -> CorpusCounts:
        documents = _filter(_read(path, format, split), Side.response, drop_singletons, drop_repetitions)
        return _count(terminal, keys, documents, metric, lenient=lenient, compare_words=not ignore_words)

    counts = count(response)
    figures = counts.to_json(per_document=per_document)
    comparisons: dict[str, Comparison] = {}
    if versus is not None:
        from entitynlm.coref.metrics.significance import compare_systems

        comparisons = compare_systems(counts, count(versus), trials=trials, seed=seed)
        figures["versus"] = {
            name: {"f1": c.second, "difference": c.difference, "p_value": c.p_value}
            for name, c in comparisons.items()
        }
    terminal.print(_tabulate_scores(counts))
    if per_document:
        terminal.print(_tabulate_documents(counts))
    if comparisons:
        terminal.print(_tabulate_comparisons(comparisons, trials))
    terminal.write_json(figures)


def _read(path: str, format: str | None, split: str | None, *, required: bool = False) -> Sequence[Text]:
    from entitynlm.text.formats.conll2012_chains import read_chains

    quickly = format in (None, "conll2012")
    if quickly and split is None and (found := read_chains(path)) is not None:
        return found
    from entitynlm.text.corpora.corpus import open_corpus

    corpus = open_corpus(path, format=format)
    wanted = split if required or split in corpus.splits else None
    if quickly:
        quick = [read_chains(file) for file in corpus.files(wanted)]
        if all(found is not None for found in quick):
            return [text for found in quick for text in found or ()]
    return list(corpus.documents(wanted))


def _filter(texts: Sequence[Text], side: Side, singletons: Side, repetitions: Side) -> Sequence[Text]:
    steps = (repetitions in (side, Side.both), singletons in (side, Side.both))
    if not any(steps):
        return texts
    from entitynlm.coref.metrics import filters
    from entitynlm.text.document import Document

    documents = [text if isinstance(text, Document) else text.to_document() for text in texts]
    if steps[0]:
        documents = [filters.drop_repetitions(document) for document in documents]
    if steps[1]:
        documents = [filters.drop_singletons(document) for document in documents]
    return documents


def _count(
    terminal: Terminal,
    keys: Sequence[Text],
    responses: Sequence[Text],
    metrics: list[str] | None,
    *,
    lenient: bool,
    compare_words: bool,
) -> CorpusCounts:
    from entitynlm.coref.metrics.alignment import align_documents
    from entitynlm.coref.metrics.coreference import count_alignments
    from entitynlm.coref.metrics.pairing import pair_documents

    paired = pair_documents(keys, responses, lenient=lenient, compare_words=compare_words)
    alignments = [align_documents(*pair) for pair in zip(*paired, strict=True)]
    repeated = sum(alignment.repeated_in_response for alignment in alignments)
    if repeated > REFUSED_ABOVE:
        terminal.remark(
            f"remark: the response has {repeated} repeated mentions, of which each counts once; "
            f"the official scorer refuses more than {REFUSED_ABOVE}"
        )
    return count_alignments([document.id for document in paired[0]], alignments, metrics)


def _tabulate_scores(counts: CorpusCounts) -> Table:
    from rich.table import Table

    from entitynlm.coref.metrics.coreference import METRICS

    table = Table(
        "", box=None, title=f"{len(counts)} document{'s' if len(counts) != 1 else ''}", title_justify="left"
    )
    for column in ("recall", "precision", "F1"):
        table.add_column(column, justify="right")
    for name in counts.by_metric:
        table.add_row(METRICS[name].title, *(f"{value:.2f}" for value in counts.score(name).printed))
    if counts.has_conll:
        table.add_row("CoNLL", "", "", _show(counts.conll))
    return table


def _tabulate_documents(counts: CorpusCounts) -> Table:
    from rich.table import Table

    from entitynlm.coref.metrics.coreference import METRICS

    table = Table("document (F1)", box=None)
    columns = [[f"{s.printed[2]:.2f}" for s in counts.score_documents(name)] for name in counts.by_metric]
    for name in counts.by_metric:
        table.add_column(METRICS[name].title, justify="right")
    if counts.has_conll:
        table.add_column("CoNLL", justify="right")
        columns.append([_show(value) for value in counts.conll_documents])
    for doc_id, *cells in zip(counts.doc_ids, *columns, strict=True):
        table.add_row(doc_id, *cells)
    return table


def _tabulate_comparisons(comparisons: dict[str, Comparison], trials: int) -> Table:
    from rich.table import Table

    from entitynlm.coref.metrics.coreference import METRICS

    table = Table(
        "F1", box=None, title=f"second response against the first, {trials} trials", title_justify="left"
    )
    for column in ("first", "second", "difference", "p"):
        table.add_column(column, justify="right")
    for name, found in comparisons.items():
        title = METRICS[name].title if name in METRICS else "CoNLL"
        table.add_row(
            title, _show(found.first), _show(found.second), f"{found.difference:+.2f}", f"{found.p_value:.4f}"
        )
    return table


def _show(percent: float) -> str:
    """Two decimals, cut off as the official scorer does."""
    return f"{int(percent * 100) / 100:.2f}"
