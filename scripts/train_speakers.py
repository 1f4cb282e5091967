"""Learn the weights of the speaker model: ``python scripts/train_speakers.py --data DIR [--write]``.

DIR holds ``litbank``, ``litbank-quotations`` and ``novels`` (where paragraphs are found, which LitBank's texts have lost).
Weights are a log-linear model's, learned on train and dev, each document with its paragraphs and without them; before that,
accuracy is measured by five folds over the same documents. Test documents are not read.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

import torch

from entitynlm.characters.evaluation import QuotationScores, score_quotations
from entitynlm.discourse.discourse import read_discourse
from entitynlm.discourse.speaker_features import Dialogue, list_candidates
from entitynlm.discourse.speakers import SPEAKER_WEIGHTS, find_speakers
from entitynlm.text.corpora.quotations import read_quoted_documents
from entitynlm.text.document import Document

FOLDS = 5
DECAYS = (0.25, 0.5, 1.0)


def add_paragraphs(document: Document, novel: str) -> Document | None:
    """The document over its passage of the novel, found by the letters of both; None where it is not found."""
    places = [place for place, character in enumerate(novel) if character.isalpha()]
    letters = "".join(novel[place] for place in places).lower()
    own = ["".join(filter(str.isalpha, token)).lower() for token in document.tokens]
    start = letters.find("".join(own))
    if start < 0:
        return None
    ends = list(accumulate(map(len, own), initial=start))
    offsets, last = [], places[start]
    for token, word, first, end in zip(document.tokens, own, ends, ends[1:], strict=False):
        begin = places[first]
        if not word:  # a mark: somewhere before the next letter
            between = novel[last:begin]
            begin = last + max(between.find(token), len(between) - len(between.lstrip()))
        last = places[end - 1] + 1 if word else min(begin + len(token), places[first])
        offsets.append((begin, max(begin, last)))
    return dataclasses.replace(document, text=novel, offsets=tuple(offsets))


def index_dialogue(document: Document) -> Dialogue:
    """Index a document with its annotated quotations."""
    spans = [quotation.span for quotation in document.quotations]
    return Dialogue.of_document(read_discourse(document, spans), document)


def list_examples(documents: Sequence[Document]) -> Iterator[tuple[list[set[str]], int]]:
    """The features of each quotation's candidates, and which of them speaks."""
    for document in documents:
        speakers = [quotation.speaker for quotation in document.quotations]
        dialogue = index_dialogue(document)
        for number, speaker in enumerate(speakers):
            candidates = list_candidates(dialogue, number, speakers[:number])
            if speaker in candidates and len(candidates) > 1:
                yield list(candidates.values()), list(candidates).index(speaker)


def train(documents: Sequence[Document], decay: float) -> dict[str, float]:
    """Weights by L-BFGS on the log-likelihood, less ``decay`` times their squares."""
    names: dict[str, int] = {}
    features, rows, owners, targets = [], [], [], []
    for number, (candidates, target) in enumerate(list_examples(documents)):
        targets.append(len(owners) + target)
        for found in candidates:
            for name in sorted(found):
                features.append(names.setdefault(name, len(names)))
                rows.append(len(owners))
            owners.append(number)
    at, row, owner, right = (torch.tensor(values) for values in (features, rows, owners, targets))
    weights = torch.zeros(len(names), requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def close() -> torch.Tensor:
        optimizer.zero_grad()
        scores = torch.zeros(len(owners)).index_add(0, row, weights[at])
        totals = torch.zeros(len(targets)).index_add(0, owner, scores.exp()).log()
        loss = (totals - scores[right]).sum() + decay * weights.square().sum()
        loss.backward()
        return loss

    optimizer.step(close)
    return {name: weights[number].item() for name, number in names.items()}


def measure(documents: Sequence[Document], weights: Mapping[str, float]) -> tuple[int, int]:
    right = total = 0
    for document in documents:
        found = find_speakers(index_dialogue(document), weights)
        right += sum(who == q.speaker for who, q in zip(found, document.quotations, strict=True))
        total += len(found)
    return right, total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--decay", type=float, default=0.5)
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    bare = {
        document.id: document
        for split in ("train", "dev")
        for document in read_quoted_documents(
            options.data / "litbank", options.data / "litbank-quotations", split
        )
    }
    full = {}
    for name, document in bare.items():
        novel = options.data / "novels" / f"{name.removesuffix('_brat')}.txt"
        found = add_paragraphs(document, novel.read_text("utf-8")) if novel.is_file() else None
        if found is not None:
            full[name] = found
    print(f"{len(bare)} documents, {len(full)} with paragraphs")
    order = sorted(bare)
    for decay in DECAYS:
        sums = {"without paragraphs": [0, 0], "with paragraphs": [0, 0]}
        for fold in range(FOLDS):
            held = order[fold::FOLDS]
            rest = [d for documents in (bare, full) for name, d in documents.items() if name not in held]
            weights = train(rest, decay)
            for label, documents in zip(sums, (bare, full), strict=True):
                counts = measure([documents[name] for name in held if name in documents], weights)
                sums[label] = [a + b for a, b in zip(sums[label], counts, strict=True)]
        shown = ", ".join(f"{100 * a / b:.2f} {label}" for label, (a, b) in sums.items())
        print(f"decay {decay}: right speakers in {FOLDS} folds: {shown}")
    detected = sum(map(score_quotations, bare.values()), QuotationScores())
    print(f"detection F1 on train and dev: {100 * detected.f1:.2f}")
    print(f"with paragraphs: {100 * sum(map(score_quotations, full.values()), QuotationScores()).f1:.2f}")
    if options.write:
        weights = train([*bare.values(), *full.values()], options.decay)
        lines = [f'"{name}" = {weights[name]:.2f}\n' for name in sorted(weights)]
        heading = "# Written by scripts/train_speakers.py: what each feature adds to the log-odds of a speaker.\n[weights]\n"
        SPEAKER_WEIGHTS.write_text(heading + "".join(lines), "utf-8")


if __name__ == "__main__":
    main()
