"""Figures for the card of the model that ships: ``python scripts/measure_shipped.py RUN-OR-NAME --split test``.

From raw words to chains on LitBank: mention F1 and CoNLL score, beside head match on the same mentions; and perplexity beside a
5-gram that was estimated from the same words. Development documents choose, test documents are looked at once.
"""

import argparse
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from entitynlm.coref.annotation import annotate_document
from entitynlm.coref.candidates.kbest import decode_best
from entitynlm.coref.metrics.alignment import align_documents
from entitynlm.coref.metrics.coreference import count_alignments
from entitynlm.coref.metrics.documents import drop_repetitions
from entitynlm.inference.marginal import estimate_log_prob
from entitynlm.inference.scoring import score_baseline
from entitynlm.lm.ngram import estimate_ngrams
from entitynlm.model.pretrained import Pretrained, load_pretrained
from entitynlm.text.corpora import open_corpus
from entitynlm.text.document import Document
from head_match import match_heads
from shipped_corpora import read_gum, read_litbank


def score(keys: Sequence[Document], responses: Sequence[Document]) -> dict[str, float]:
    """Mention F1 and the CoNLL score with its three parts."""
    pairs = [align_documents(key, response) for key, response in zip(keys, responses, strict=True)]
    counts = count_alignments([key.id for key in keys], pairs)
    parts = {name: round(counts.score(name).f1, 2) for name in ("mentions", "muc", "b3", "ceafe")}
    return {**parts, "conll": round(counts.conll, 2)}


def link_heads(document: Document, *, pronouns: bool) -> Document:
    """Head match on a document's own mentions."""
    found = sorted({mention.span for mention in document.mentions})
    return document.with_clusters(
        decode_best(match_heads(document, found, pronouns=pronouns), singletons=True)
    )


def measure_coreference(pretrained: Pretrained, keys: Sequence[Document]) -> dict[str, Any]:
    """Annotate the words of the documents and compare; singletons count, as LitBank annotates them."""
    keys = [drop_repetitions(key) for key in keys]
    bare = [key.with_mentions(()) for key in keys]
    started = time.process_time()
    found = [annotate_document(pretrained, document) for document in bare]
    seconds = time.process_time() - started
    figures: dict[str, Any] = {
        "raw words": {
            "found": score(keys, found),
            "head match": score(keys, [link_heads(d, pronouns=False) for d in found]),
            "head match, pronouns": score(keys, [link_heads(d, pronouns=True) for d in found]),
            "tokens per CPU second": round(sum(map(len, bare)) / seconds),
        }
    }
    print("raw words", figures["raw words"], flush=True)
    figures["annotated mentions"] = {
        "found": score(keys, [annotate_document(pretrained, key, keep_mentions=True) for key in keys]),
        "head match": score(keys, [link_heads(key, pronouns=False) for key in keys]),
        "head match, pronouns": score(keys, [link_heads(key, pronouns=True) for key in keys]),
    }
    print("annotated mentions", figures["annotated mentions"], flush=True)
    return figures


def measure_perplexity(
    pretrained: Pretrained, documents: Sequence[Document], words: Path, particles: int
) -> dict[str, Any]:
    """P's marginal, the LSTM without entities and the 5-gram, on the same words (sentence ends included)."""
    encoded = [pretrained.encoder.encode(document) for document in documents]
    total = sum(map(len, encoded))
    figures: dict[str, Any] = {"words": total}
    unknown = sum(int((d.x == pretrained.encoder.vocabulary.unknown).sum()) for d in encoded)
    figures["unknown words, %"] = round(100 * unknown / total, 2)

    def tell(name: str, log_prob: float) -> None:
        figures[name] = round(math.exp(-log_prob / total), 2)
        print(name, figures[name], flush=True)

    language_model = pretrained.get_language_model()
    tell("rnnlm", sum(float(score_baseline(language_model, document).sum()) for document in encoded))
    plain = open_corpus(words).documents("train")
    ngrams = estimate_ngrams([pretrained.encoder.encode(text) for text in plain], pretrained.encoder)
    tell("5-gram", sum(float(ngrams.score(document).sum()) for document in encoded))
    model, proposal = pretrained.get("generative"), pretrained.get("causal")
    estimates = [
        estimate_log_prob(model, proposal, document, particles=particles, repeats=2) for document in encoded
    ]
    tell("P, marginal", sum(estimate.log_prob for estimate in estimates))
    figures["P, marginal, standard error of log P"] = round(
        math.sqrt(sum(estimate.standard_error**2 for estimate in estimates)), 2
    )
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", default="entitynlm-en", help="a name or a folder")
    parser.add_argument("--data", type=Path, default=Path("corpora"))
    parser.add_argument("--words", type=Path, help="the folder RUN/plain; without it, no perplexity")
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--particles", type=int, default=100)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    pretrained = load_pretrained(given.model)
    litbank, gum = list(read_litbank(given.data, given.split)), list(read_gum(given.data, given.split))
    figures: dict[str, Any] = {"split": given.split}
    for name, documents in (("LitBank", litbank), ("GUM, six genres", gum)):
        print("──", name, flush=True)
        figures[name] = {"coreference": measure_coreference(pretrained, documents)}
        if given.words:
            figures[name]["perplexity"] = measure_perplexity(
                pretrained, documents, given.words, given.particles
            )
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
