"""Measure how well quotations and their speakers are found in LitBank.

    python scripts/measure_quotations.py corpora/litbank corpora/litbank-quotations --split test [--model entitynlm-en]

The second folder has LitBank's quotation files, ``*.ann`` with lines QUOTE and ATTRIB (not brat's). A quotation is found if its
words are, marks and punctuation at its ends aside. A speaker is right if it is the annotated entity, in % of the quotations that
are found; "nearest name" is a baseline. With ``--model`` speakers are also chosen among the entities that the model finds, where
the entity counts that most of its annotated mentions belong to.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from entitynlm.characters.book_scores import find_nearest_names
from entitynlm.coref.annotation import annotate_document
from entitynlm.discourse.discourse import read_discourse
from entitynlm.discourse.speaker_features import Dialogue
from entitynlm.discourse.speakers import find_speakers
from entitynlm.model.loading import load_model
from entitynlm.text.corpora import open_corpus
from entitynlm.text.document import Document, Quotation, Span
from entitynlm.text.formats.registry import read_documents


def read_quoted_documents(litbank: Path, quotations: Path, split: str) -> Iterator[Document]:
    """Read the documents of a split with the typed mentions of LitBank's standoff files, and its quotations.

    The raw text is left out: its lines are sentences, where people expect paragraphs.
    """
    for path in open_corpus(litbank).files(split):
        (document,) = read_documents(litbank / "brat" / f"{path.stem}.ann")
        found = read_quotations((quotations / f"{path.stem}.ann").read_text("utf-8"), document)
        yield dataclasses.replace(document, text=None, offsets=None, quotations=tuple(found))


def read_quotations(text: str, document: Document) -> list[Quotation]:
    """Read the quotations of a file; sentences and tokens are counted from 0, ends are the last token."""
    spans: dict[str, Span] = {}
    speakers: dict[str, str] = {}
    for line in filter(str.strip, text.splitlines()):
        kind, name, *fields = line.split("\t")
        if kind == "ATTRIB":
            speakers[name] = fields[0]
        else:
            first, token, last, end = map(int, fields[:4])
            start = document.sentences[first][0] + token
            spans[name] = (start, document.sentences[last][0] + end + 1)
    return [Quotation(*span, speakers.get(name)) for name, span in spans.items()]


def score_quotations(document: Document, entities: Document | None = None) -> Counter[str]:
    """Count for one annotated document the quotations that are annotated, found and right, and right speakers.

    :param entities: a system's annotation, among whose entities speakers are chosen.
    """
    known = entities or document
    gold = {strip_punctuation(document, q.span): q.speaker for q in document.quotations}
    discourse = read_discourse(document)
    found = {strip_punctuation(document, span): number for number, span in enumerate(discourse.quotations)}
    same = map_entities(known, document)
    dialogue = Dialogue.of_document(discourse, known)
    speakers, nearest = find_speakers(dialogue), find_nearest_names(dialogue)
    pairs = [(gold[span], number) for span, number in found.items() if span in gold]
    return Counter(
        annotated=len(gold),
        found=len(found),
        right=len(pairs),
        speaker=sum(same.get(speakers[number]) == speaker for speaker, number in pairs),
        nearest=sum(same.get(nearest[number]) == speaker for speaker, number in pairs),
    )


def strip_punctuation(document: Document, span: Span) -> Span:
    """Cut a span to its first and last word: annotators differ about the dash before and the full stop after a quotation."""
    start, end = span
    while start < end - 1 and not any(map(str.isalnum, document.tokens[start])):
        start += 1
    while end > start + 1 and not any(map(str.isalnum, document.tokens[end - 1])):
        end -= 1
    return start, end


def map_entities(system: Document, key: Document) -> dict[str | None, str]:
    """Map each entity of a system to the annotated one that most of its mentions belong to."""
    owners = {mention.span: mention.entity for mention in key.mentions}
    found: dict[str | None, str] = {}
    for entity in system.entities:
        votes = [owners[mention.span] for mention in entity.mentions if mention.span in owners]
        if system is key:
            found[entity.id] = entity.id
        elif votes:
            found[entity.id] = max(sorted(set(votes)), key=votes.count)
    return found


def show(name: str, found: Counter[str]) -> str:
    shares = (
        found["right"] / max(1, found["found"]),
        found["right"] / max(1, found["annotated"]),
        2 * found["right"] / max(1, found["annotated"] + found["found"]),
        found["speaker"] / max(1, found["right"]),
        found["nearest"] / max(1, found["right"]),
    )
    return "\t".join([name, str(found["annotated"]), *(f"{100 * share:.2f}" for share in shares)])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("litbank", type=Path)
    parser.add_argument("quotations", type=Path)
    parser.add_argument("--split", default="test")
    parser.add_argument("--model")
    options = parser.parse_args()
    documents = list(read_quoted_documents(options.litbank, options.quotations, options.split))
    print("entities", "quotations", "precision", "recall", "F1", "speaker", "nearest name", sep="\t")
    print(show("annotated", sum(map(score_quotations, documents), Counter[str]())))
    if options.model is not None:
        pretrained = load_model(options.model)
        bare = [document.with_mentions(()).with_quotations(()) for document in documents]
        pairs = (
            (document, annotate_document(pretrained, text))
            for document, text in zip(documents, bare, strict=True)
        )
        print(show(options.model, sum((score_quotations(*pair) for pair in pairs), Counter[str]())))


if __name__ == "__main__":
    main()
