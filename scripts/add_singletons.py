"""OntoGUM with GUM's singletons: what a P is trained on that sees them in candidates (docs/results/coreference.md).

OntoNotes' scheme, which OntoGUM follows, leaves out mentions that corefer with nothing; GUM annotates them in the same documents.
Of GUM's mentions, those are added that overlap none of OntoGUM's and none that was added before.

    python scripts/add_singletons.py corpora/ontogum corpora/gum runs/ontogum-singletons
    entitynlm train runs/ontogum-singletons -c configs/lm.toml --set data.singletons=keep -o runs/with-singletons
"""

import argparse
from pathlib import Path

from entitynlm.coref.metrics.documents import clean_key
from entitynlm.text.corpora import open_corpus
from entitynlm.text.document import Document, Mention
from entitynlm.text.formats.registry import write_documents

SPLITS = ("train", "dev", "test")


def add_singletons(document: Document, richer: Document) -> Document:
    """The document's chains, and the mentions of ``richer`` that stand beside them as entities of their own."""
    if document.tokens != richer.tokens:
        raise SystemExit(f"{document.id}: the two corpora have different words")
    key = clean_key(document)
    taken = {token for mention in key.mentions for token in range(mention.start, mention.end)}
    added = []
    for mention in richer.mentions:
        tokens = range(mention.start, mention.end)
        if taken.isdisjoint(tokens):
            taken.update(tokens)
            added.append(Mention(mention.start, mention.end, f"s{mention.start}"))
    return key.with_mentions([*key.mentions, *added], {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("ontogum", type=Path)
    parser.add_argument("gum", type=Path)
    parser.add_argument("out", type=Path, help="the folder for train.jsonl, dev.jsonl and test.jsonl")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    chains, richer = open_corpus(options.ontogum), open_corpus(options.gum)
    for split in SPLITS:
        others = {document.id: document for document in richer.documents(split)}
        documents = [add_singletons(document, others[document.id]) for document in chains.documents(split)]
        write_documents(documents, options.out / f"{split}.jsonl", "jsonl")


if __name__ == "__main__":
    main()
