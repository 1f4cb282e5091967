"""Train and apply a coreference baseline that ranks antecedents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from entitynlm.coref.candidates import candidate_files
from entitynlm.coref.candidates import kbest as decoding
from entitynlm.coref.candidates.candidate_files import KBestList, Ranked
from entitynlm.errors import ConfigError, ModelError
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal, count, print_path
from entitynlm.interfaces.inputs import choose_format
from entitynlm.progress import track
from entitynlm.text.corpora.corpus import open_corpus
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import write_documents

_MENTIONS = "Mentions from syntax, from a learned finder, or as given; default: what the documents allow."
Mentions = Annotated[Literal["syntax", "learned", "given"] | None, typer.Option("--mentions", help=_MENTIONS)]


@dataclass(frozen=True)
class KBestOptions:
    """How k-best lists are made.

    :param method: From antecedent scores: one antecedent changed at a time (the paper's), or drawn.
    :param singletons: Mentions that corefer with nothing are part of an analysis.
    """

    k: options.Candidates = 100
    method: Literal["swaps", "samples"] = "swaps"
    singletons: bool = False

    def decode(self, item: Ranked) -> KBestList:
        """The list of a document: as it is, or made of antecedent scores."""
        if isinstance(item, KBestList):
            return KBestList(item.doc_id, item.candidates[: self.k], item.mentions)
        return decoding.DECODERS[self.method](item, self.k, singletons=self.singletons)


def check_ranker(folder: Path) -> Path:
    if not folder.is_dir():
        raise ModelError(f"{folder}: there is no ranker here. Train one with: entitynlm ranker train")
    return folder


def train(
    *,
    corpus: options.CorpusOption,
    out: options.OutputFolder,
    split: str | None = None,
    mentions: Mentions = None,
    epochs: options.Count = 4,
    format: options.Format = None,
    seed: options.Seed = 0,
    terminal: Terminal,
) -> None:
    """Train a ranker on annotated documents.

    OntoGUM's 177 documents take about a minute.

    Examples:

      entitynlm ranker train --corpus corpora/ontogum --out runs/ranker

    :param out: The folder to write the ranker to.
    :param split: The split to train on; default: train where there is one.
    :param epochs: Passes over the documents.
    """
    documents = list(_read(corpus, format, split or "train", required=split is not None))
    from entitynlm.coref.ranker.ranker import RankerSettings, train_ranker

    settings = RankerSettings(mentions, epochs=epochs, seed=seed)
    losses: list[float] = []

    def report(epoch: int, loss: float) -> None:
        losses.append(loss)
        terminal.advance("training", note=f"loss {loss:,.0f}")

    terminal.start("training", epochs)
    ranker = train_ranker(documents, settings, on_epoch=report)
    terminal.finish("training")
    ranker.save(out)
    terminal.print(
        f"trained on {count(documents, 'document')}, mentions: {ranker.source}, "
        f"singletons: {'yes' if ranker.singletons else 'no'}; written to {print_path(out)}"
    )
    figures = {"mentions": ranker.source, "singletons": ranker.singletons}
    terminal.write_json({"documents": len(documents), "losses": losses, **figures})


def apply(
    *,
    model: Annotated[Path, typer.Argument(callback=check_ranker)],
    corpus: options.CorpusOption,
    out: Annotated[str | None, typer.Option("--out", "-o", callback=options.check_writable)] = None,
    to: options.To = None,
    scores: Annotated[str | None, typer.Option(callback=options.check_writable)] = None,
    split: options.Split = None,
    mentions: Mentions = None,
    format: options.Format = None,
    terminal: Terminal,
) -> None:
    """Find and link the mentions of documents.

    Find and link the mentions of documents; write documents, antecedent scores, or both.

    Examples:

      entitynlm ranker apply runs/ranker --corpus corpora/ontogum --split test --out system.conll

    :param model: The folder of a trained ranker.
    :param out: Write the documents with their entities here.
    :param scores: Write all antecedent scores here, as JSON lines.
    """
    if out is None and scores is None:
        raise ConfigError("nothing to do: name a file for the documents (--out) or for the scores (--scores)")
    to = choose_format(to, out or "-", "conll2012")
    documents = list(_read(corpus, format, split, required=True))
    from entitynlm.coref.ranker.ranker import load_ranker

    ranker = load_ranker(model)
    found = [ranker.score(document, mentions=mentions) for document in track(terminal, "ranking", documents)]
    if scores is not None:
        candidate_files.write_antecedent_scores(found, scores)
    if out is not None:
        clusters = (decoding.decode_best(item, singletons=ranker.singletons) for item in found)
        linked = (d.with_clusters(c) for d, c in zip(documents, clusters, strict=True))
        write_documents(linked, out, to)
    ranked = sum(map(len, found))
    terminal.remark(f"{count(documents, 'document')}, {count(ranked, 'mention')} ranked")
    terminal.write_json({"documents": len(documents), "mentions": ranked})


def _read(path: str, format: str | None, split: str | None, *, required: bool) -> Iterator[Document]:
    corpus = open_corpus(path, format=format)
    return corpus.documents(split if required or split in corpus.splits else None)
