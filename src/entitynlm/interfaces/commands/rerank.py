"""``entitynlm rerank``: choose among the candidates of any coreference system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from entitynlm.coref.candidates.candidate_files import KBestList, Ranked, read_candidates
from entitynlm.coref.candidates.kbest import DECODERS, count_candidates
from entitynlm.coref.metrics.documents import clean_key
from entitynlm.errors import ConfigError
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal, count
from entitynlm.interfaces.inputs import choose_format
from entitynlm.progress import track
from entitynlm.text.corpora import open_corpus
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import write_documents


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
        return DECODERS[self.method](item, self.k, singletons=self.singletons)


def rerank(
    *,
    kbest: options.Existing,
    out: options.Output,
    model: options.ModelOptions,
    corpus: options.OptionalExisting = None,
    split: options.Split = None,
    weight: float | None = None,
    dev_kbest: options.OptionalExisting = None,
    dev_key: options.OptionalExisting = None,
    dev_split: str | None = None,
    making: KBestOptions,
    to: options.To = None,
    format: options.Format = None,
    terminal: Terminal,
) -> None:
    """Choose the best of a coreference system's candidates by the model.

    Candidates are ranked by log P(R, E, L, X), or by log P combined with the system's own score.

    Any system can write its candidates: one JSON object a line, with clusters of half-open token spans and a score
    each, or with the scores of all antecedents. Where the model sees no difference between candidates, the system's
    order decides.

    Examples:

      entitynlm rerank --kbest mine.jsonl --corpus corpora/ontogum --split test --model runs/ontogum --out better.conll
      entitynlm rerank --kbest mine.jsonl --weight 0.1 --out better.conll
      entitynlm rerank --kbest test.jsonl --dev-kbest dev.jsonl --dev-key gold.dev.conll --corpus gold.test.conll -o better.conll

    :param kbest: k-best lists or antecedent scores, as JSON lines (docs/formats.md).
    :param out: Write the documents with their entities here.
    :param corpus: Where the texts are; needed unless each line has its own tokens.
    :param weight: Rank by the system's score + this weight times log P; default: by log P alone.
    :param dev_kbest: Choose the weight of log P on these candidates of development documents …
    :param dev_key: … whose annotation is here.
    :param dev_split: The split of --dev-key.
    """
    if weight is not None and (dev_kbest or dev_key):
        raise ConfigError("choose one of --weight and --dev-kbest with --dev-key")
    if (dev_kbest is None) != (dev_key is None):
        raise ConfigError("--dev-kbest and --dev-key belong together: candidates, and their annotation")
    to = choose_format(to, out, "conll2012")

    def read_lists(path: str, corpus: str | None, split: str | None) -> list[tuple[Document, KBestList]]:
        """Texts and k-best lists of a file."""
        read = None if corpus is None else open_corpus(corpus, format=format).documents(split)
        documents = None if read is None else {document.id: document for document in read}
        return [(document, making.decode(item)) for document, item in read_candidates(path, documents)]

    lists = read_lists(kbest, corpus, split)
    dev_lists = read_lists(dev_kbest, dev_key, dev_split) if dev_kbest else None
    pretrained = model.load(terminal)
    from entitynlm.coref.reranking import combination as combining

    figures: dict[str, Any] = {"task": "rerank", "model": model.model}
    if dev_lists is not None:
        tracked = track(terminal, "searching the weight", dev_lists)
        scored = [combining.score_list(pretrained, *pair) for pair in tracked]
        keys = [clean_key(document, singletons=making.singletons) for document, _ in dev_lists]
        counts = [
            count_candidates(key, item.candidates) for key, (_, item) in zip(keys, dev_lists, strict=True)
        ]
        found = combining.search_weight(scored, counts)
        weight, figures["dev_conll"] = found.weight, found.dev_conll
    changed, documents = [], []
    for document, item in track(terminal, "reranking", lists):
        choice = combining.score_list(pretrained, document, item).choose(weight)
        changed.append({"doc_id": document.id, "candidates": len(item), "chosen": choice})
        documents.append(options.sign(document.with_clusters(item.candidates[choice].clusters), model.model))
    write_documents(documents, out, to)
    moved = sum(entry["chosen"] != 0 for entry in changed)
    weights = {"P": 1.0} if weight is None else {"baseline": 1.0, "P": weight}
    shown = ", ".join(f"{name} {value:.4g}" for name, value in weights.items())
    terminal.remark(f"wrote {count(documents, 'document')}, {moved} not with the first candidate; by {shown}")
    terminal.write_json({**figures, "weights": weights, "documents": changed})
