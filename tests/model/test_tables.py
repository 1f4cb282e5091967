"""What the samplers are given about a document says the same as the batched path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax, logsumexp

from entitynlm.inference.words.word_tables import WordTables, make_tables
from entitynlm.model.batch.scores import score_documents
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.tokenizer import EncodedWords
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.features import BUCKET_EDGES, SETS, find_bucket
from entitynlm.model.noise import FixedNoise
from support.plain_copying import EntityWords
from support.small_models import assert_close, encoded_documents, make_network, model_options, part

NOISE = FixedNoise(4)


def find_features(network: EntityNetwork, values: dict[str, int]) -> list[int]:
    """The hot buckets of f(e), the plain way."""
    hot, offset = [], 0
    for quantity in SETS[network.config.features]:
        hot.append(offset + find_bucket(quantity, values[quantity]))
        offset += len(BUCKET_EDGES[quantity])
    return hot


def replay(network: EntityNetwork, tables: WordTables, document: EncodedDocument) -> dict[str, np.ndarray]:
    """R, E and L of a document from its tables, one word after the other, as a sampler with one particle would."""
    out = {v: np.zeros(len(document)) for v in "rel"}
    vectors: dict[int, np.ndarray] = {}
    seen: dict[int, dict[str, int]] = {}
    kind_of: dict[int, int] = {}
    remaining = mentions = 0
    spoken = EntityWords()
    for t in range(len(document)):
        r, e, l, sentence = (int(a[t]) for a in (document.r, document.e, document.l, document.sentence))
        if remaining == 0:
            out["r"][t] = tables.log_types[t, r]
            if r > 0:
                new_entity = (
                    tables.means[r]
                    + tables.sigma * NOISE.draw(np.array([t]), tables.means.shape[1])[0].numpy()
                )
                new_entity = (
                    new_entity * 0
                    if network.config.new_entity == "zero"
                    else new_entity / np.linalg.norm(new_entity)
                )
                old = [n for n, mention_type in kind_of.items() if mention_type == r]
                scores = []
                for n in old:
                    since = {
                        "token": t - seen[n]["token"],
                        "sentence": sentence - seen[n]["sentence"],
                        "mention": mentions + 1 - seen[n]["mention"],
                        "count": seen[n]["count"],
                    }
                    distance = float(network.w_dist.detach()[find_features(network, since)].sum())
                    scores.append(tables.queries[t] @ vectors[n] + distance)
                    if len(
                        tables.string_match_weights
                    ):  # all words here are frequent ones, so only matches tell entities apart
                        _, copy_candidates, copies = spoken.count(int(document.x[t]), n)
                        scores[-1] += tables.string_match_weights[
                            0 if not copies else 1 if 2 * copies < copy_candidates else 2
                        ]
                log_probs = log_softmax([*scores, tables.queries[t] @ new_entity])
                if e not in kind_of:
                    kind_of[e], vectors[e], seen[e] = r, new_entity, {"count": 0}
                    out["e"][t] = log_probs[-1]
                else:
                    out["e"][t] = log_probs[old.index(e)]
                lengths = log_softmax(tables.length_scores[t] + tables.length_weights @ vectors[e])
                at_end = t + l == len(document)
                out["l"][t] = logsumexp(lengths[l - 1 :]) if at_end else lengths[l - 1]
                mentions += 1
                seen[e].update(mention=mentions, count=seen[e]["count"] + 1)
                remaining = l
        if r > 0:
            delta = 1 / (1 + np.exp(-tables.gates[t] @ vectors[e]))
            v = delta * vectors[e] + (1 - delta) * tables.states[t]
            vectors[e] = v / np.linalg.norm(v)
            seen[e].update(token=t, sentence=sentence)
            remaining -= 1
        spoken.read(int(document.x[t]), e)
    return out


@settings(max_examples=40)
@given(options=model_options("generative", "causal", "lookahead"), data=st.data())
def test_tables_agree_with_the_batched_path(options: dict[str, Any], data: st.DataObject) -> None:
    """In all three modes: so this is the slow twin of the look-ahead proposal as well."""
    network = make_network(**options)
    documents = data.draw(
        st.lists(encoded_documents(mention_types=options["mention_types"]), min_size=1, max_size=3)
    )
    reading = network.backbone.read([d.words for d in documents])
    with torch.no_grad():
        scores = score_documents(network, documents, noise=NOISE)
    for number, document in enumerate(documents):
        tables = make_tables(network, reading, number)
        assert tables.tokens == len(document)
        for variable, values in replay(network, tables, document).items():
            assert_close(part(scores, number, variable), torch.from_numpy(values))


@pytest.mark.parametrize("softmax", ["classes", "full"])
def test_contexts_predict_words(softmax: str) -> None:
    """Before any mention e_current is zero, so a word's probability is that of its context alone."""
    network = make_network(softmax=softmax)
    document = data_without_mentions()
    tables = make_tables(network, network.backbone.read([document.words]))
    contexts = torch.from_numpy(tables.contexts)
    with torch.no_grad():
        expected = network.log_prob_word(contexts, torch.zeros_like(contexts), torch.from_numpy(document.x))
        scores = score_documents(network, [document], noise=None)
    assert_close(scores.x, expected)


def data_without_mentions() -> EncodedDocument:
    size = 6
    nothing = np.zeros(size, dtype=np.int64)
    return EncodedDocument(
        "plain", 1 + np.arange(size), nothing, nothing, nothing + 1, nothing, np.arange(size)
    )


def test_tables_have_the_precision_of_the_network() -> None:
    network = make_network().float()
    tables = make_tables(network, network.backbone.read([EncodedWords.of_ids([1, 2, 3])]))
    assert {getattr(tables, name).dtype for name in ("log_types", "queries", "states", "means")} == {
        np.dtype("f4")
    }
