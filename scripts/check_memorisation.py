"""Does the language model know a corpus by heart? ``python scripts/check_memorisation.py CORPUS TEXTS``.

TEXTS are texts for comparison, each after a line "# group: title" or "# title". For each group: bits per word; the share of
pieces that are the language model's first choice; and the longest run of such pieces in a text. Greedy continuation from where a
run starts reproduces the run word by word, so a text known by heart has one run through most of it.
"""

import argparse
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

from entitynlm.model.backbones.huggingface.reader import LanguageModelRuntime
from entitynlm.model.backbones.huggingface.state_cache import read_cached
from entitynlm.model.backbones.huggingface.tokenizer import SubwordTokenizer
from entitynlm.model.backbones.huggingface.weights import load_language_model
from entitynlm.model.devices import prepare_torch
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.text.corpora import open_corpus
from entitynlm.text.document import Document
from entitynlm.text.segmentation import segment_text

OURS = "ours"
RECIPE = Recipe(lowercase=False, punctuation="keep", numbers=False, sentence_ends=False)
LONG = 20
"""Pieces: longer than idioms are."""


def read_texts(path: Path) -> dict[str, list[Document]]:
    """The texts for comparison by their groups."""
    found: dict[str, list[Document]] = defaultdict(list)
    for title, text in re.findall(r"^# (.+)\n(.+)$", path.read_text(encoding="utf-8"), re.M):
        group, colon, _ = title.partition(":")
        cut = segment_text(text)
        document = Document(title, cut.tokens, cut.sentences, text=text, offsets=cut.offsets)
        found[group if colon else OURS].append(document)
    return found


@torch.no_grad()
def measure_text(
    runtime: LanguageModelRuntime, encoder: Encoder, document: Document
) -> tuple[float, np.ndarray]:
    """Return the bits of all pieces together, and which of them are the first choice."""
    pieces = encoder.encode_words(document).words.all_pieces
    pieces = pieces[pieces < runtime.pieces]
    (table,) = read_cached(runtime, [pieces], (runtime.layers,))
    last = torch.from_numpy(np.array(table[:-1]))  # before each piece, of the last layer
    bits, hits = 0.0, []
    for some in np.array_split(np.arange(len(pieces)), len(pieces) // 256 + 1):
        log_probs = torch.log_softmax(runtime.logits(last[some]), -1)
        truth = torch.from_numpy(pieces[some])
        bits -= float(log_probs.gather(1, truth[:, None]).sum()) / np.log(2)
        hits.append((log_probs.argmax(-1) == truth).numpy())
    return bits, np.concatenate(hits)


def longest_run(hits: np.ndarray) -> int:
    return max(len(run) for run in "".join("x" if hit else " " for hit in hits).split(" "))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("texts", type=Path)
    parser.add_argument("--split", default="test")
    parser.add_argument("--language-model", default="smollm2")
    options = parser.parse_args()
    prepare_torch(threads=1)
    runtime = load_language_model(options.language_model)
    encoder = Encoder(RECIPE, SubwordTokenizer.of_runtime(runtime))
    groups = {options.split: list(open_corpus(options.corpus).documents(options.split))}
    for name, documents in {**groups, **read_texts(options.texts)}.items():
        found = [measure_text(runtime, encoder, document) for document in documents]
        runs = np.array([longest_run(hits) for _, hits in found])
        per_word = np.array([bits / len(d) for (bits, _), d in zip(found, documents, strict=True)])
        share = np.mean(np.concatenate([hits for _, hits in found]))
        print(
            f"{name}: {len(documents)} texts, {sum(map(len, documents)):,} words, {per_word.mean():.2f} bits per word "
            f"(texts: {per_word.min():.2f} to {per_word.max():.2f}), first choice {100 * share:.1f} %, longest run "
            f"{np.median(runs):.0f} pieces (median; highest {runs.max()}), {(runs >= LONG).sum()} texts with {LONG} or more"
        )


if __name__ == "__main__":
    main()
