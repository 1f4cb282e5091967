"""``entitynlm rerank``: better clusters from anybody's candidates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entitynlm.interfaces.commands.coref_options import KOption
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
    from entitynlm.coref.candidates.kbest_lists import KBestList
    from entitynlm.coref.reranking.combination import Combination
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.text.document import Document


def rerank(
    kbest: Annotated[
        str, typer.Option("--kbest", help="k-best lists or antecedent scores, JSON lines (docs/formats.md).")
    ],
    model: Annotated[Path, typer.Option("--model", "-m", help="A folder that entitynlm train has written.")],
    out: Annotated[
        str, typer.Option("--out", "-o", help="Write the documents with their new entities here.")
    ],
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", help="Where the texts are; needed unless each line has its own tokens."),
    ] = None,
    split: Annotated[str | None, typer.Option("--split", help="The split of --corpus; default: all.")] = None,
    weight: Annotated[
        float | None,
        typer.Option(
            "--weight", help="Rank by the system's score + this times log P; default: by log P alone."
        ),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option("--weights", help="A file of weights (evaluate coref --weights-out writes them)."),
    ] = None,
    dev_kbest: Annotated[
        str | None,
        typer.Option("--dev-kbest", help="Search the weight on these candidates of development documents …"),
    ] = None,
    dev_key: Annotated[str | None, typer.Option("--dev-key", help="… whose annotation is here.")] = None,
    dev_split: Annotated[str | None, typer.Option("--dev-split", help="The split of --dev-key.")] = None,
    k: KOption = 100,
    method: Annotated[
        str, typer.Option("--method", help="How lists are made from antecedent scores: swaps or samples.")
    ] = "swaps",
    singletons: Annotated[
        bool, typer.Option("--singletons", help="Mentions that corefer with nothing are part of the answer.")
    ] = False,
    out_format: Annotated[str, typer.Option("--out-format", help="The format of --out.")] = "conll2012",
    format: FormatOption = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Choose for each document the best of a coreference system's candidates, by log P(R, E, L, X) or combined with its score.

    Any system can write its candidates: one JSON object a line, with clusters of half-open token spans and a score each, or with
    the scores of all antecedents. Of candidates that are one to the model, the system's order decides.

    Examples:

      entitynlm rerank --kbest mine.jsonl --corpus corpora/ontogum --split test --model runs/ontogum --out better.conll
      entitynlm rerank --kbest mine.jsonl --model runs/ontogum --weight 0.1 --out better.conll
      entitynlm rerank --kbest test.jsonl --dev-kbest dev.jsonl --dev-key gold.dev.conll --corpus gold.test.conll
        --model runs/ontogum --out better.conll
    """
    from entitynlm.coref.candidates.kbest import get_decoder
    from entitynlm.coref.reranking.combination import list_needed, score_list
    from entitynlm.model.pretrained import load_pretrained
    from entitynlm.text.formats.registry import write_documents

    terminal = Terminal(quiet=quiet, json_path=json_path)
    get_decoder(method)
    prepare_torch(device, threads)
    pretrained = load_pretrained(model, device=device)
    make: dict[str, Any] = {"k": k, "method": method, "singletons": singletons}
    lists = read_lists(kbest, corpus, split, format, **make)
    combination = choose_combination(weight, weights, dev_kbest is not None or dev_key is not None)
    conll = None
    if combination is None:
        combination, conll = search(
            pretrained, dev_kbest, dev_key, dev_split, singletons, terminal, format=format, make=make
        )
    changed, documents = [], []
    for document, item in terminal.track(lists, "reranking"):
        scored = score_list(pretrained, document, item, list_needed(combination))
        choice = combination.choose(scored)
        changed.append({"doc_id": document.id, "candidates": len(item), "chosen": choice})
        documents.append(document.with_clusters(item.candidates[choice].clusters))
    write_documents(documents, out, out_format)
    moved = sum(entry["chosen"] != 0 for entry in changed)
    shown = ", ".join(f"{name} {value:.4g}" for name, value in combination.weights.items())
    terminal.remark(
        f"{len(documents)} documents written, {moved} with another candidate than the first; by {shown}"
    )
    figures: dict[str, Any] = {"weights": combination.to_json(), "documents": changed}
    if conll is not None:
        figures["dev_conll"] = conll
    terminal.write_json(figures)


def read_lists(
    path: str,
    corpus: str | None,
    split: str | None,
    format: str | None,
    *,
    k: int,
    method: str,
    singletons: bool,
) -> list[tuple[Document, KBestList]]:
    """Texts and lists of a file; antecedent scores become lists."""
    from entitynlm.coref.candidates.files import read_candidates
    from entitynlm.coref.candidates.kbest_lists import KBestList
    from entitynlm.experiments.coref_table import GIVEN, make_lists
    from entitynlm.text.corpora import open_corpus

    documents = None
    if corpus is not None:
        documents = {d.id: d for d in open_corpus(corpus, format=format).documents(split)}
    found = []
    for document, item in read_candidates(path, documents):
        kind = GIVEN if isinstance(item, KBestList) else method
        found.append((document, make_lists([item], kind, k, singletons=singletons)[0]))
    return found


def choose_combination(weight: float | None, weights: Path | None, searched: bool) -> Combination | None:
    """What was asked for; None if it is to be searched."""
    from entitynlm.coref.reranking.combination import BASELINE, BY_MODEL, Combination, load_combination
    from entitynlm.errors import ConfigError

    if sum((weight is not None, weights is not None, searched)) > 1:
        raise ConfigError("choose one of --weight, --weights, and --dev-kbest with --dev-key")
    if weight is not None:
        return Combination({BASELINE: 1.0, "P": weight})
    if weights is not None:
        return load_combination(weights)
    return None if searched else BY_MODEL


def search(
    pretrained: Pretrained,
    kbest: str | None,
    key: str | None,
    split: str | None,
    singletons: bool,
    terminal: Terminal,
    *,
    format: str | None,
    make: dict[str, Any],
) -> tuple[Combination, float]:
    """The weight of log P with the best CoNLL score on development documents."""
    from entitynlm.coref.candidates.kbest import count_candidates
    from entitynlm.coref.metrics.filters import clean_key, drop_repetitions
    from entitynlm.coref.reranking.combination import score_list
    from entitynlm.coref.reranking.weight_search import search_weights
    from entitynlm.errors import ConfigError

    if kbest is None or key is None:
        raise ConfigError(
            "--dev-kbest and --dev-key belong together: candidates, and their documents' annotation"
        )
    lists = read_lists(kbest, key, split, format, **make)
    clean = drop_repetitions if singletons else clean_key
    scored = [
        score_list(pretrained, d, item, ["P"]) for d, item in terminal.track(lists, "searching the weight")
    ]
    counts = [count_candidates(clean(d), item.candidates) for d, item in lists]
    found = search_weights(scored, counts, ["P"])
    return found.combination, found.conll
