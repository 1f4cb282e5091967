"""A command encodes a document once, and each network reads it once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from entitynlm.coref.annotation import Options, annotate_document
from entitynlm.coref.candidates.candidate_files import KBestList, ScoredClustering
from entitynlm.coref.reranking.combination import score_list
from entitynlm.generation.continuations import generate_continuations
from entitynlm.generation.request import Request
from entitynlm.inference.readings import Readings, ReadText
from entitynlm.interfaces.report.contents import make_report
from entitynlm.lm.surprisal import measure_surprisal
from entitynlm.model.encoding import encoder as encoder_module
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document
from support.small_bundles import make_bundle, make_documents

BARE = make_documents()[0].with_mentions(())


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often words were prepared, and read by which network."""
    found: Counter[str] = Counter()
    prepare = encoder_module.prepare_words

    def count_prepared(*arguments: Any, **options: Any) -> Any:
        found["encoded"] += 1
        return prepare(*arguments, **options)

    monkeypatch.setattr(encoder_module, "prepare_words", count_prepared)
    return found


def make_counted(counts: Counter[str]) -> Pretrained:
    pretrained, _ = make_bundle()
    for mode, network in pretrained.networks.items():
        read = network.backbone.read

        def count_read(*arguments: Any, mode: str = mode, read: Any = read, **options: Any) -> Any:
            counts[mode] += 1
            return read(*arguments, **options)

        network.backbone.read = count_read
    counts.clear()
    return pretrained


@pytest.mark.parametrize(
    "options", [Options(), Options(scores=True), Options(samples=5), Options(samples=5, scores=True)]
)
def test_annotate(counts: Counter[str], options: Options) -> None:
    annotate_document(make_counted(counts), BARE, options)
    assert counts["encoded"] == 1 and counts["lookahead"] == 1 and counts["generative"] <= 1


def test_report(counts: Counter[str]) -> None:
    pretrained = make_counted(counts)
    make_report(pretrained, measure_surprisal(pretrained, BARE, samples=3, repeats=2, hindsight=True))
    assert counts == {"encoded": 1, "lookahead": 1, "generative": 1, "causal": 1}


def test_surprisal_of_given_mentions(counts: Counter[str]) -> None:
    measure_surprisal(make_counted(counts), make_documents()[0])
    assert counts == {"encoded": 1, "generative": 1}


def test_generate(counts: Counter[str]) -> None:
    generate_continuations(make_counted(counts), BARE, Request(words=3), count=2)
    assert counts == {"encoded": 1, "lookahead": 1, "generative": 1}


def test_rerank(counts: Counter[str]) -> None:
    document = make_documents()[0]
    kbest = KBestList(document.id, (ScoredClustering(document.clusters, 1.0), ScoredClustering((), 0.0)))
    score_list(make_counted(counts), document, kbest, ["P"])
    assert counts == {"encoded": 1, "generative": 1}


def test_long_texts_are_not_kept() -> None:
    pretrained, encoded = make_bundle()
    network = pretrained.get("generative")
    kept, fresh = Readings(encoded[0], keep=len(encoded[0])), Readings(encoded[0], keep=len(encoded[0]) - 1)
    (first,), (second,) = ([tables for _, _, tables in kept.read(network)] for _ in range(2))
    assert first is second
    (first,), (second,) = ([tables for _, _, tables in fresh.read(network)] for _ in range(2))
    assert first is not second
    pieces = [tables for _, _, tables in kept.read(network, size=3)]
    for name in ("queries", "states", "contexts", "piece_states"):
        joined = np.concatenate([getattr(tables, name) for tables in pieces])
        np.testing.assert_array_equal(joined, getattr(next(kept.read(network))[2], name))


def test_other_mentions_keep_the_reading() -> None:
    pretrained, _ = make_bundle()
    document = make_documents()[0]
    text = ReadText(pretrained.encoder, BARE)
    other = text.with_mentions(document)
    assert other.readings is text.readings and other.words is text.words
    assert other.encoded == pretrained.encoder.encode(document)
    assert ReadText(pretrained.encoder, Document("empty", ())).encoded.x.size == 0
