"""``entitynlm rerank``: choose among the candidates of any coreference system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from entitynlm.errors import ConfigError
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.inputs import choose_format

if TYPE_CHECKING:
    from entitynlm.coref.candidates.kbest_lists import KBestList
    from entitynlm.coref.reranking.combination import Combination
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.text.document import Document

Keyed = list[tuple["Document", "KBestList"]]


def rerank(
    *,
    kbest: options.Existing,
    out: options.Output,
    model: options.ModelOptions,
    corpus: options.OptionalExisting = None,
    split: options.Split = None,
    weight: float | None = None,
    weights: options.OptionalExisting = None,
    dev_kbest: options.OptionalExisting = None,
    dev_key: options.OptionalExisting = None,
    dev_split: str | None = None,
    k: options.K = 100,
    method: options.Method = "swaps",
    singletons: options.Singletons = False,
    to: options.To = None,
    format: options.Format = None,
    terminal: Terminal,
) -> None:
    """Choose the best of a system's candidates for each document, by log P(R, E, L, X) or combined with its score.

    Any system can write its candidates: one JSON object a line, with clusters of half-open token spans and a score each, or with
    the scores of all antecedents. Where the model sees no difference between candidates, the system's order decides.

    :param kbest: k-best lists or antecedent scores, as JSON lines (docs/formats.md).
    :param out: Write the documents with their entities here.
    :param corpus: Where the texts are; needed unless each line has its own tokens.
    :param weight: Rank by the system's score + this weight times log P; default: by log P alone.
    :param weights: A file of weights, as `evaluate coref --weights-out` writes it.
    :param dev_kbest: Choose the weight of log P on these candidates of development documents …
    :param dev_key: … whose annotation is here.
    :param dev_split: The split of --dev-key.

    Examples:

      entitynlm rerank --kbest mine.jsonl --corpus corpora/ontogum --split test --model runs/ontogum --out better.conll
      entitynlm rerank --kbest mine.jsonl --weight 0.1 --out better.conll
      entitynlm rerank --kbest test.jsonl --dev-kbest dev.jsonl --dev-key gold.dev.conll --corpus gold.test.conll
        --model runs/ontogum --out better.conll
    """
    searched = dev_kbest is not None or dev_key is not None
    if (weight is not None) + (weights is not None) + searched > 1:
        raise ConfigError("choose one of --weight, --weights, and --dev-kbest with --dev-key")
    if searched and (dev_kbest is None or dev_key is None):
        raise ConfigError("--dev-kbest and --dev-key belong together: candidates, and their annotation")
    to = choose_format(to, out, "conll2012")
    make: dict[str, Any] = {"format": format, "k": k, "method": method, "singletons": singletons}
    lists = read_lists(kbest, corpus, split, **make)
    dev_lists = read_lists(dev_kbest, dev_key, dev_split, **make) if dev_kbest else None
    pretrained = model.load(terminal)
    from entitynlm.coref.reranking.combination import list_needed, score_list
    from entitynlm.text.formats.registry import write_documents

    if dev_lists is not None:
        combination, conll = search(pretrained, dev_lists, singletons, terminal)
    else:
        combination, conll = choose_combination(weight, weights), None
    changed, documents = [], []
    for document, item in terminal.track(lists, "reranking"):
        scored = score_list(pretrained, document, item, list_needed(combination))
        choice = combination.choose(scored)
        changed.append({"doc_id": document.id, "candidates": len(item), "chosen": choice})
        documents.append(document.with_clusters(item.candidates[choice].clusters))
    write_documents(documents, out, to)
    moved = sum(entry["chosen"] != 0 for entry in changed)
    shown = ", ".join(f"{name} {value:.4g}" for name, value in combination.weights.items())
    terminal.remark(f"wrote {len(documents)} documents, {moved} not with the first candidate; by {shown}")
    figures: dict[str, Any] = {"weights": combination.to_json(), "documents": changed}
    terminal.write_json(figures if conll is None else {**figures, "dev_conll": conll})


def read_lists(
    path: str,
    corpus: str | None,
    split: str | None,
    *,
    format: str | None,
    k: int,
    method: str,
    singletons: bool,
) -> Keyed:
    """Texts and k-best lists of a file; antecedent scores are decoded."""
    from entitynlm.coref.candidates.kbest import get_decoder
    from entitynlm.coref.candidates.kbest_lists import KBestList, read_candidates
    from entitynlm.text.corpora import open_corpus

    decode = get_decoder(method)
    documents = None
    if corpus is not None:
        documents = {d.id: d for d in open_corpus(corpus, format=format).documents(split)}
    return [
        (document, KBestList(item.doc_id, item.candidates[:k], item.mentions))
        if isinstance(item, KBestList)
        else (document, decode(item, k, singletons=singletons))
        for document, item in read_candidates(path, documents)
    ]


def choose_combination(weight: float | None, weights: str | None) -> Combination:
    """The weights that were asked for; by default log P alone."""
    from entitynlm.coref.reranking.combination import BASELINE, BY_MODEL, Combination, load_combination

    if weight is not None:
        return Combination({BASELINE: 1.0, "P": weight})
    return load_combination(Path(weights)) if weights is not None else BY_MODEL


def search(
    pretrained: Pretrained, lists: Keyed, singletons: bool, terminal: Terminal
) -> tuple[Combination, float]:
    """The weight of log P with the best CoNLL score on development documents."""
    from entitynlm.coref.candidates.kbest import count_candidates
    from entitynlm.coref.metrics.filters import clean_key, drop_repetitions
    from entitynlm.coref.reranking.combination import score_list
    from entitynlm.coref.reranking.weight_search import search_weights

    clean = drop_repetitions if singletons else clean_key
    tracked = terminal.track(lists, "searching the weight")
    scored = [score_list(pretrained, document, item, ["P"]) for document, item in tracked]
    counts = [count_candidates(clean(document), item.candidates) for document, item in lists]
    found = search_weights(scored, counts, ["P"])
    return found.combination, found.conll
