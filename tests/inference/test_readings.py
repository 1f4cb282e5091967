"""One reader: chunks change nothing, a chunk is read once, and a command encodes and reads its text once."""

from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from entitynlm.coref.annotation import annotate_document
from entitynlm.coref.candidates.candidate_files import KBestList, ScoredClustering
from entitynlm.coref.reranking import score_list
from entitynlm.generation.opening import plan_next
from entitynlm.inference import particles, readings
from entitynlm.inference.marginal import estimate_log_prob
from entitynlm.inference.particle_filter import FilterConfig, ParticleFilter
from entitynlm.inference.readings import READ_AT_ONCE, Readings, ReadText
from entitynlm.lm.surprisal import measure_surprisal
from entitynlm.model.encoding import encoder as encoder_module
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.pretrained import Pretrained
from entitynlm.report.contents import make_report
from entitynlm.text.document import Document
from support.small_bundles import add_resolver, make_bundle, make_documents
from support.small_networks import make_network, make_words

BARE = make_documents()[0].with_mentions(())


def walk_in_chunks(
    model: EntityNetwork, proposal: EntityNetwork, length: int, size: int
) -> tuple[ParticleFilter, np.ndarray]:
    document = make_words(length, sentence_length=7)
    config, seed = FilterConfig(10, words=4, share=0.5), np.random.SeedSequence(1)
    particle_filter = ParticleFilter(model, proposal, config, seed)
    chunks = Readings(document, size=size).read(model, proposal)
    found = [particle_filter.advance(chunk, end=length) for chunk in chunks]
    return particle_filter, np.concatenate(found, axis=-1)


@pytest.mark.parametrize("options", [{}, {"tied": True}])
def test_chunks_change_nothing_for_networks_that_read_forward(options: dict[str, Any]) -> None:
    model = make_network("generative", sigma=0.2, **options)
    proposal = make_network("causal", seed=1, **options)
    _, whole = walk_in_chunks(model, proposal, 112, READ_AT_ONCE)
    _, chunks = walk_in_chunks(model, proposal, 112, 28)  # segments of 4 words in both
    np.testing.assert_allclose(chunks, whole, atol=1e-9)


def test_dropping_rows_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, proposal = (
        make_network("generative", sigma=0.2, mention_types=2),
        make_network("causal", seed=1, mention_types=2),
    )
    untouched, expected = walk_in_chunks(model, proposal, 200, READ_AT_ONCE)
    monkeypatch.setattr(particles, "COMPACT_ABOVE", 50)
    tidied, found = walk_in_chunks(model, proposal, 200, READ_AT_ONCE)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    counts = [f.population.model_states.used for f in (tidied, untouched)]
    assert counts[0] < counts[1] / 2


@pytest.mark.slow
def test_memory_does_not_grow_with_the_text() -> None:
    model, proposal = make_network("generative", sigma=0.1), make_network("causal", seed=1)
    document = make_words(30_000, sentence_length=20)
    assert len(list(Readings(document).read(model, proposal))) > 1
    estimate = estimate_log_prob(model, proposal, document, particles=4, repeats=1, check_every=50)
    assert np.isfinite(estimate.log_prob)


@pytest.mark.parametrize("revisit", [False, True])
def test_any_word_can_be_asked_for_in_any_order(revisit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks that were dropped are read again, from the nearest carry that is there."""
    monkeypatch.setattr(readings, "KEPT_WORDS", 10)
    model, proposal, document = make_network("generative"), make_network("causal", seed=1), make_words(23)
    (whole,) = Readings(document).read(model, proposal)
    reader = Readings(document, size=5, revisit=revisit)
    for t in (12, 22, 0, 7, 21, 12):
        chunk = reader.find(t, model, proposal)
        assert (chunk.start, chunk.stop) == (t - t % 5, min(t - t % 5 + 5, 23))
        expected, word = whole.cut(t, t + 1), chunk.cut(t, t + 1)
        for tables, others in ((expected.model, word.model), (expected.proposal, word.proposal)):
            for name in ("queries", "states", "contexts", "piece_states"):
                np.testing.assert_allclose(getattr(tables, name), getattr(others, name), atol=1e-12)
    assert list(Readings(make_words(0)).read(model)) == []


# -- how often a text is read ---------------------------------------------------------------------------------------------


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
    pretrained = add_resolver(make_bundle()[0])
    for mode, network in pretrained.networks.items():
        read = network.backbone.read

        def count_read(*arguments: Any, mode: str = mode, read: Any = read, **options: Any) -> Any:
            counts[mode] += 1
            return read(*arguments, **options)

        network.backbone.read = count_read
    counts.clear()
    return pretrained


def test_annotate(counts: Counter[str]) -> None:
    annotate_document(make_counted(counts), BARE, scores=True)
    assert counts == {"encoded": 1, "generative": 1}


def test_report(counts: Counter[str]) -> None:
    pretrained = make_counted(counts)
    annotated = annotate_document(pretrained, BARE)
    make_report(measure_surprisal(pretrained, annotated, mentions="sampled", samples=3, repeats=2))
    assert counts == {"encoded": 2, "generative": 2, "causal": 1}


def test_surprisal_of_given_mentions(counts: Counter[str]) -> None:
    measure_surprisal(make_counted(counts), make_documents()[0])
    assert counts == {"encoded": 1, "generative": 1}


def test_plan(counts: Counter[str]) -> None:
    plan_next(make_counted(counts), BARE)
    assert counts == {"encoded": 1, "generative": 2}


def test_rerank(counts: Counter[str]) -> None:
    document = make_documents()[0]
    kbest = KBestList(document.id, (ScoredClustering(document.clusters(), 1.0), ScoredClustering((), 0.0)))
    score_list(make_counted(counts), document, kbest)
    assert counts == {"encoded": 1, "generative": 1}


def test_other_mentions_keep_the_reading() -> None:
    pretrained, _ = make_bundle()
    document = make_documents()[0]
    text = ReadText(pretrained.encoder, BARE)
    other = text.with_mentions(document)
    assert other.readings is text.readings and other.words is text.words
    np.testing.assert_equal(asdict(other.encoded), asdict(pretrained.encoder.encode(document)))
    assert ReadText(pretrained.encoder, Document("empty", ())).encoded.x.size == 0
