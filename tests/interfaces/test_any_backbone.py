"""Every verb works with a backbone that is no LSTM and has no vocabulary: a convolution over letters, with two sizes."""

from pathlib import Path

import numpy as np
import pytest

import entitynlm
from entitynlm.coref.reranking import score_candidates
from entitynlm.inference.scoring import score_document
from entitynlm.text.document import Document, Mention
from support.letter_backbone import make_letter_model
from support.small_bundles import add_resolver

STORY = "Ann saw Bo . Zygmunt ran , and Ann saw Zygmunt ."


@pytest.fixture(scope="module", params=[{}, {"mention_positions": 2}], ids=["plain", "positions"])
def model(request: pytest.FixtureRequest) -> entitynlm.EntityNLM:
    return entitynlm.EntityNLM(add_resolver(make_letter_model(**request.param), epochs=40))


@pytest.fixture
def document() -> Document:
    tokens = tuple(STORY.split())
    mentions = tuple(
        Mention(i, i + 1, token) for i, token in enumerate(tokens) if token in ("Ann", "Bo", "Zygmunt")
    )
    return Document("story", tokens, ((0, 4), (4, len(tokens))), mentions)


def test_surprisal_of_given_mentions_is_that_of_the_joint(
    model: entitynlm.EntityNLM, document: Document
) -> None:
    found = model.surprisal(document, mentions="given")
    assert len(found.tokens) == len(document.tokens)
    assert not any(row.oov for row in found.tokens)
    sampled = model.surprisal(document, mentions="sampled", samples=20, repeats=2)
    assert all(np.isfinite(row.surprisal) and row.surprisal > 0 for row in sampled.tokens)


def test_scores_of_candidates_are_those_of_the_annotated_document(
    model: entitynlm.EntityNLM, document: Document
) -> None:
    network, encoder = model.pretrained.get("generative"), model.pretrained.encoder
    clusters = tuple(tuple(m.span for m in entity.mentions) for entity in document.entities)
    other = (tuple(span for cluster in clusters for span in cluster),)
    totals = score_candidates(network, encoder, document, [clusters, other]).sum(axis=1)
    words = encoder.prepare(document).words
    expected = score_document(network, encoder.encode(document), words)
    assert totals[0] == pytest.approx(expected.log_prob, abs=1e-3)
    assert totals[1] != pytest.approx(totals[0], abs=1e-3)


def test_annotate_next_entity_and_log_prob(model: entitynlm.EntityNLM, document: Document) -> None:
    annotated = model.annotate("Ann saw Bo. Zygmunt ran.")
    assert [mention.end > mention.start for mention in annotated.mentions]
    with_scores = model.annotate("Ann saw Bo. Zygmunt ran.", scores=True)
    assert with_scores.tokens == annotated.tokens
    ranked = model.next_entity(document).ranked
    assert sum(probability for _, probability in ranked) == pytest.approx(1)
    score = model.log_prob(document)
    assert np.isfinite(score.log_prob) and "zygmunt" in score.words


def test_the_folder_of_such_a_model_is_loaded(
    model: entitynlm.EntityNLM, document: Document, tmp_path: Path
) -> None:
    model.save_pretrained(tmp_path)
    again = entitynlm.EntityNLM.from_pretrained(tmp_path)
    assert again.log_prob(document).log_prob == pytest.approx(model.log_prob(document).log_prob)
