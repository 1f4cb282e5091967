"""``entitynlm rerank``: choose among the candidates of any coreference system."""

from typing import Literal

from entitynlm.coref.candidates.candidate_files import read_candidates
from entitynlm.coref.candidates.kbest import make_list
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal, count
from entitynlm.interfaces.inputs import choose_format
from entitynlm.progress import track
from entitynlm.text.corpora import open_corpus
from entitynlm.text.formats.registry import write_documents


def rerank(
    *,
    kbest: options.Existing,
    out: options.Output,
    model: options.ModelOptions,
    corpus: options.OptionalExisting = None,
    split: options.Split = None,
    weight: float | None = None,
    k: options.Candidates = 100,
    method: Literal["swaps", "samples"] = "swaps",
    singletons: bool = False,
    to: options.To = None,
    format: options.Format = None,
    terminal: Terminal,
) -> None:
    """Choose the best of a coreference system's candidates by the model.

    Candidates are ranked by log P(R, E, L, X), or by log P combined with the system's own score.

    Any system can write its candidates: one JSON object a line, with clusters of half-open token spans and a score
    each, or with the scores of all antecedents. Where the model sees no difference between candidates, the system's
    order decides. evaluate coref --scores finds the best weight on development documents.

    Examples:

      entitynlm rerank --kbest mine.jsonl --corpus corpora/ontogum --split test --model runs/ontogum --out better.conll
      entitynlm rerank --kbest mine.jsonl --weight 0.1 --out better.conll

    :param kbest: k-best lists or antecedent scores, as JSON lines (docs/formats.md).
    :param out: Write the documents with their entities here.
    :param corpus: The corpus with the texts; needed unless each line has its own tokens.
    :param method: How to make candidates from antecedent scores: change one antecedent at a time (the paper), or sample.
    :param singletons: Keep mentions that corefer with no other as entities (for corpora that annotate singletons).
    :param weight: Rank by the system's score + this weight times log P; default: by log P alone.
    """
    to = choose_format(to, out, "conll2012")
    texts = None
    if corpus is not None:
        texts = {text.id: text for text in open_corpus(corpus, format=format).documents(split)}
    lists = [
        (document, make_list(item, k, method, singletons=singletons))
        for document, item in read_candidates(kbest, texts)
    ]
    pretrained = model.load(terminal)
    from entitynlm.coref.reranking import score_list

    changed, documents = [], []
    for document, item in track(terminal, "reranking", lists):
        choice = score_list(pretrained, document, item).choose(weight)
        changed.append({"doc_id": document.id, "candidates": len(item), "chosen": choice})
        documents.append(options.sign(document.with_clusters(item.candidates[choice].clusters), model.model))
    write_documents(documents, out, to)
    moved = sum(entry["chosen"] != 0 for entry in changed)
    weights = {"P": 1.0} if weight is None else {"baseline": 1.0, "P": weight}
    shown = ", ".join(f"{name} {value:.4g}" for name, value in weights.items())
    terminal.remark(f"wrote {count(documents, 'document')}, {moved} not with the first candidate; by {shown}")
    figures = {"task": "rerank", "model": model.model, "weights": weights, "documents": changed}
    terminal.write_json(figures)
