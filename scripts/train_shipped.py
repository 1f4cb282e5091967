"""Train the model that ships with the package: ``make model``, or step by step.

    python scripts/train_shipped.py prepare  --data DIR --out RUN    the vocabulary; novels and annotated words as numbers
    python scripts/train_shipped.py pretrain --out RUN               the word side, on these words
    python scripts/train_shipped.py train    --data DIR --out RUN    P and its two proposals, on LitBank and six genres of GUM
    python scripts/train_shipped.py finish   --data DIR --out RUN    types of mentions and the linker; half precision, hashes
    python scripts/train_shipped.py export   --out RUN               the finished model, into the package

DIR holds the folders ``litbank``, ``gum``, ``ontogum`` (for its list of splits) and ``novels`` as ``entitynlm data get`` makes
them. Every step can be interrupted (Ctrl-C) and goes on where it stopped when it is called again.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from entitynlm.config import Mode
from entitynlm.coref.annotation import POSSESSIVES, annotate_document
from entitynlm.coref.linking.gender_prior import GenderPrior, count_pronouns, learn_gender_prior
from entitynlm.coref.linking.linker import join_linkers, train_linker
from entitynlm.coref.linking.training_examples import make_found_example, make_given_example
from entitynlm.coref.mention_types import TypeGuesser, read_ends, train_types
from entitynlm.coref.metrics.alignment import align_documents
from entitynlm.coref.metrics.coreference import count_alignments
from entitynlm.coref.metrics.filters import drop_repetitions
from entitynlm.files import write_atomically
from entitynlm.model.encoding.embeddings import read_packaged
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.variables import select_mentions
from entitynlm.model.packaged import DEFAULT, FOLDER, find_model, write_manifest
from entitynlm.model.pretrained import Pretrained, load_pretrained, save_pretrained
from entitynlm.text.corpora import open_corpus
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import read_documents
from entitynlm.training.loop import Event
from entitynlm.training.recipe import (
    EncodedCorpus,
    Listener,
    prepare_pretrained,
    train_part,
    train_pretrained,
)
from entitynlm.training.settings import Settings, load_settings

CONFIG = Path(__file__).resolve().parents[1] / "configs" / "entitynlm-en.toml"
PIECE = 24_000  # characters of a piece of a novel, some 5,000 words
GENRES = (
    "academic",
    "bio",
    "court",
    "interview",
    "news",
    "voyage",
)  # whose texts' licences allow a derived model to ship
TYPES = {  # of LitBank and of GUM → ours; GUM's things, events and abstractions are not mentions for LitBank, so not for us
    "PER": "person",
    "FAC": "place",
    "GPE": "place",
    "LOC": "place",
    "VEH": "vehicle",
    "ORG": "organization",
    "person": "person",
    "place": "place",
    "organization": "organization",
}
ADVICE_WEIGHT = 0.45  # of the log-probabilities of the proposal; from 0.25 to 1 the best on LitBank dev
EAGERNESS = 0.3  # to find mentions; of 0, 0.3, 0.6 and 0.9 the best on LitBank dev
LESSONS = (  # to learn links from: the part of the words that the proposal does not see, and whether it advises without them
    (0.0, False),
    (0.05, False),
    (0.07, True),
    (0.1, True),
)
LINKER_HIDDEN, LINKER_EPOCHS = 96, 18
LEANING_WORDS = 40_000  # of GloVe, the most frequent


# -- what is read ----------------------------------------------------------------------------------------------------------


def read_litbank(data: Path, split: str) -> Iterator[Document]:
    """LitBank with the entity types of its standoff files (the CoNLL columns have none)."""
    corpus = open_corpus(data / "litbank")
    for path, document in zip(corpus.files(split), corpus.documents(split), strict=True):
        (typed,) = read_documents(data / "litbank" / "brat" / f"{path.stem}.ann")
        assert typed.tokens == document.tokens, path
        yield keep_types(document.with_mentions(typed.mentions, typed.entity_types))


def read_gum(data: Path, split: str) -> Iterator[Document]:
    """GUM's documents of the licensed genres."""
    for document in open_corpus(data / "gum").documents(split):
        if document.id.split("_")[1] in GENRES:
            yield keep_types(document)


def keep_types(document: Document) -> Document:
    """The mentions of people, places, organizations and vehicles, with our names for these types."""
    types = {entity: TYPES[name] for entity, name in document.entity_types.items() if name in TYPES}
    mentions = [mention for mention in document.mentions if mention.entity in types]
    return lighten(document.with_mentions(mentions, types))


def read_annotated(data: Path, split: str) -> list[Document]:
    return [*read_litbank(data, split), *read_gum(data, split)]


def read_novels(data: Path) -> Iterator[Document]:
    """The novels in pieces, without those of LitBank's development and test documents."""
    litbank = open_corpus(data / "litbank")
    held_out = {p.stem.removesuffix("_brat") for s in ("dev", "test") for p in litbank.files(s)}
    files = sorted((data / "novels").glob("*.txt"))
    kept = [path for path in files if path.stem not in held_out]
    assert len(files) - len(kept) == len(held_out), "a held-out novel was not found by its name"
    for path in kept:
        for document in read_documents(path, part_size=PIECE):
            yield lighten(document)


def lighten(document: Document) -> Document:
    """Tokens, sentences and mentions alone, equal words as one object: millions of words fit the memory."""
    return Document(
        document.id,
        tuple(sys.intern(token) for token in document.tokens),
        document.sentences,
        document.mentions,
        document.entity_types,
    )


# -- the steps -------------------------------------------------------------------------------------------------------------


def prepare(data: Path, out: Path, settings: Settings) -> None:
    """The encoder and the word classes, and all words to learn from as numbers (reading them takes minutes)."""
    started = time.perf_counter()
    texts = [*read_novels(data), *read_annotated(data, "train")]
    words = sum(map(len, texts))
    print(f"{len(texts)} pieces, {words} words, read in {time.perf_counter() - started:.0f} s", flush=True)
    pretrained, corpus = prepare_pretrained(texts, read_annotated(data, "dev"), settings)
    for split, documents in (("train", corpus.train), ("dev", corpus.development)):
        with write_atomically(out / "words" / f"{split}.npz", "wb") as stream:
            np.savez_compressed(
                stream,
                x=np.concatenate([document.x for document in documents]).astype(np.int32),
                sentence=np.concatenate([document.sentence for document in documents]).astype(np.int32),
                lengths=np.array([len(document) for document in documents]),
            )
    save_pretrained(pretrained, out / "words")
    print(f"prepared in {time.perf_counter() - started:.0f} s", flush=True)


def pretrain(out: Path, settings: Settings, seed: int) -> None:
    """The LSTM language model, on the words that ``prepare`` stored."""
    folder = out / "words"
    pretrained = load_pretrained(folder)
    corpus = EncodedCorpus(read_words(folder / "train.npz"), read_words(folder / "dev.npz"))
    if train_part(
        pretrained, corpus, "rnnlm", settings, seed=seed, folder=folder, resume=True, listener=make_listener()
    ):
        save_pretrained(pretrained, folder)


def read_words(path: Path) -> list[EncodedDocument]:
    """Documents of words without mentions."""
    with np.load(path) as stored:
        bounds = np.cumsum(stored["lengths"])[:-1]
        pieces = zip(np.split(stored["x"], bounds), np.split(stored["sentence"], bounds), strict=True)
        documents = []
        for number, (x, sentence) in enumerate(pieces):
            nothing = np.zeros(len(x), dtype=np.int64)
            documents.append(
                EncodedDocument(
                    str(number),
                    x.astype(np.int64),
                    nothing,
                    nothing,
                    nothing + 1,
                    sentence.astype(np.int64),
                    nothing,
                )
            )
    return documents


def train(data: Path, out: Path, settings: Settings, seed: int, parts: list[Mode]) -> None:
    """P and its proposals from the pretrained word side."""
    base = load_pretrained(out / "model" if (out / "model" / "model.json").exists() else out / "words")
    train_pretrained(
        read_annotated(data, "train"),
        read_annotated(data, "dev"),
        settings,
        parts=parts,
        base=base,
        start=base.get_language_model(),
        seed=seed,
        folder=out / "model",
        resume=True,
        listener=make_listener(),
    )


def finish(data: Path, out: Path, seeds: Sequence[int] = (1, 2)) -> None:
    """Fit what reads the proposal's states and the page: types of mentions, and links."""
    pretrained = load_pretrained(out / "model")
    annotated = [drop_repetitions(document) for document in read_annotated(data, "train")]
    documents = [simplify(document) for document in annotated]
    pretrained.notes["types"] = fit_types(pretrained, documents).to_dict()
    pretrained.notes["eagerness"] = EAGERNESS
    gender_prior = fit_leanings(pretrained, read_words(out / "words" / "train.npz"))
    print(f"{len(gender_prior.values)} words lean to he or she", flush=True)
    examples = [make_given_example(pretrained, document, gender_prior) for document in documents]
    for lesson, (hidden, advice_too) in enumerate(LESSONS):
        print(f"{len(examples)} examples", flush=True)
        first_seed = 1000 * max(0, lesson - 1)
        examples += [
            make_found_example(
                pretrained,
                document,
                gender_prior,
                hidden=hidden,
                advice_too=advice_too,
                seed=first_seed + number,
            )
            for number, document in enumerate(annotated)
        ]
    linkers = [
        train_linker(
            examples,
            advice_weight=ADVICE_WEIGHT,
            gender_prior=gender_prior,
            hidden=LINKER_HIDDEN,
            epochs=LINKER_EPOCHS,
            seed=seed,
            on_epoch=lambda epoch, loss, _: print(f"linker, epoch {epoch}: {loss:.4f}", flush=True),
        )
        for seed in seeds
    ]
    pretrained.notes["linker"] = join_linkers(linkers).to_dict()
    judge_linker(pretrained, [drop_repetitions(document) for document in read_litbank(data, "dev")])
    save_pretrained(pretrained, out / "finished", compact=True)
    write_manifest(out / "finished")


def fit_leanings(pretrained: Pretrained, words: Sequence[EncodedDocument]) -> GenderPrior:
    """Who is "he" and who is "she", from the plain text and the packaged GloVe."""
    names = pretrained.encoder.vocabulary.words
    counts = count_pronouns([names[number] for number in document.x.tolist()] for document in words)
    return learn_gender_prior(counts, *read_packaged(LEANING_WORDS))


def judge_linker(pretrained: Pretrained, keys: Sequence[Document]) -> None:
    """Tell the CoNLL score of development documents, from raw words."""
    annotated = [annotate_document(pretrained, key.with_mentions(())) for key in keys]
    counts = count_alignments([key.id for key in keys], list(map(align_documents, keys, annotated)))
    print(f"LitBank dev: mentions {counts.score('mentions').f1:.2f}, CoNLL {counts.conll:.2f}", flush=True)


def simplify(document: Document) -> Document:
    """The mentions that annotation has to link: the outermost ones and possessive pronouns inside of them."""
    outermost, _ = select_mentions(document, singletons="keep")
    spans = {mention.span for mention in outermost}
    inner = [
        mention
        for mention in document.mentions
        if len(mention) == 1
        and mention.span not in spans
        and document.tokens[mention.start].lower() in POSSESSIVES
    ]
    return document.with_mentions([*outermost, *inner], document.entity_types)


def fit_types(pretrained: Pretrained, documents: Sequence[Document]) -> TypeGuesser:
    """Types from the states of the look-ahead proposal at both ends of the annotated mentions."""
    proposal, ends, types = pretrained.get("lookahead"), [], []
    for document in documents:
        encoded, _, originals = pretrained.encoder.encode_with_report(document)
        places = [(start, end) for start, end, _, _ in encoded.analysis.spans()]
        ends.append(read_ends(proposal, encoded, places))
        types += [document.entity_types[mention.entity] for mention in originals]
    return train_types(np.concatenate(ends), types)


def export(out: Path) -> None:
    """Put the finished model where the package looks for it."""
    target = FOLDER / DEFAULT
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(out / "finished", target)
    find_model(DEFAULT)
    print(f"{sum(path.stat().st_size for path in target.iterdir()) / 1e6:.1f} MB in {target}")


def make_listener() -> Listener:
    """Progress as lines, so that a log file can be read; Ctrl-C stops after the current batch."""
    asked: list[bool] = []
    signal.signal(signal.SIGINT, lambda *_: asked.append(True))
    last = [0.0]

    def on_event(mode: Mode, event: Event) -> None:
        if time.perf_counter() - last[0] > 20:
            last[0] = time.perf_counter()
            done = f"{event.tokens / max(1, event.epoch_tokens):.0%}"
            print(
                f"{mode} epoch {event.epoch} {done} loss {event.loss:.4f} {event.speed:,.0f} words/s",
                flush=True,
            )

    def on_epoch(mode: Mode, record: dict[str, Any]) -> None:
        print(f"{time.strftime('%H:%M:%S')} {mode} {record}", flush=True)

    return Listener(on_event, on_epoch, lambda: bool(asked))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("prepare", "pretrain", "train", "finish", "export"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--config", type=Path, default=CONFIG)
    parser.add_argument("--parts", nargs="+", default=["generative", "lookahead", "causal"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    settings = load_settings(given.config)
    if given.step == "prepare":
        prepare(given.data, given.out, settings)
    elif given.step == "pretrain":
        pretrain(given.out, settings, given.seed)
    elif given.step == "train":
        train(given.data, given.out, settings, given.seed, given.parts)
    elif given.step == "finish":
        finish(given.data, given.out)
    else:
        export(given.out)


if __name__ == "__main__":
    main()
