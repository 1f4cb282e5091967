"""The table's blocks on small invented documents, the model by itself, and the folds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from entitynlm.config import ModelConfig
from entitynlm.coref.candidates.antecedents import AntecedentScores, make_antecedent_scores
from entitynlm.coref.candidates.kbest_lists import KBestList, ScoredClustering
from entitynlm.errors import ConfigError, DataError
from entitynlm.experiments.coref_alone import analyse_by_samples, list_answer, measure_alone
from entitynlm.experiments.coref_blocks import load_block, save_block
from entitynlm.experiments.coref_folds import cross_validate, make_folds
from entitynlm.experiments.coref_table import Block, KeyedSplit, Reranking, make_split, measure_block
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document

TOKENS = tuple("Anna met Berta . She saw her and she laughed .".split())
SPANS = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]
GOLD = (((0, 1), (4, 5), (8, 9)), ((2, 3), (6, 7)))


def make_document(name: str) -> Document:
    return Document(name, TOKENS, ((0, 4), (4, 11))).with_clusters(GOLD)


def make_scores(name: str, seed: int) -> AntecedentScores:
    rng = np.random.default_rng(seed)
    rows = [[(a, float(rng.normal())) for a in range(m)] + [(-1, 0.0)] for m in range(len(SPANS))]
    return make_antecedent_scores(name, SPANS, rows)


def make_bundle(*modes: str) -> Pretrained:
    encoder = Encoder.fit([make_document("x")], recipe=Recipe(minimum_count=1), singletons="drop")
    pretrained = Pretrained(encoder, None)
    torch.manual_seed(0)
    for mode in modes:
        config = ModelConfig(mode=mode, hidden_size=4, embedding_size=4, softmax="full")  # type: ignore[arg-type]
        pretrained.add(config).eval()
    return pretrained


def make_case() -> tuple[list[KeyedSplit], dict[str, list[AntecedentScores]]]:
    names = {"dev": ["a", "b", "c"], "test": ["d", "e"]}
    splits = [
        make_split(s, [make_document(n) for n in found], singletons=False) for s, found in names.items()
    ]
    scores = {s: [make_scores(n, ord(n)) for n in found] for s, found in names.items()}
    return splits, scores


def test_a_block_has_all_rows() -> None:
    splits, scores = make_case()
    told: list[tuple[str, int, int]] = []
    pretrained = make_bundle("generative", "causal")
    block = measure_block(
        "small", splits, scores, pretrained, Reranking(k=20), on_document=lambda *a: told.append(a)
    )
    names = [row.name for row in block.rows["test"]]
    assert names == ["one best"] + [
        f"{method}: {row}"
        for method in ("swaps", "samples")
        for row in ("P", "P + baseline", "parts of P + baseline", "P, Q + baseline", "oracle")
    ]
    development = {row.name: row.conll for row in block.rows["dev"]}
    for method in ("swaps", "samples"):
        assert development["one best"] <= development[f"{method}: P + baseline"] + 1e-9
        assert development[f"{method}: P + baseline"] <= development[f"{method}: oracle"] + 1e-9
        found = block.found[f"{method}: P + baseline"]
        assert found.conll == pytest.approx(development[f"{method}: P + baseline"])
    assert ("test samples", 2, 2) in told
    described = block.to_json(trials=20)
    assert described["splits"]["test"]["documents"] == 2
    row = described["splits"]["test"]["rows"][1]
    assert 0 < row["versus_first"]["conll"]["p_value"] <= 1
    assert set(row) >= {"name", "muc", "b3", "ceafe", "ceafm", "blanc", "lea", "conll"}


def test_without_a_model_there_are_one_best_and_oracle() -> None:
    splits, scores = make_case()
    block = measure_block("small", splits, scores, None, Reranking(k=5, methods=("swaps",)))
    assert [row.name for row in block.rows["dev"]] == ["one best", "swaps: oracle"]
    assert not block.found


def test_lists_that_are_given_stay_as_they_are() -> None:
    split = make_split("test", [make_document("d")], singletons=False)
    lists = [KBestList("d", (ScoredClustering((), 1.0), ScoredClustering(GOLD, 0.0)))]
    block = measure_block("given", [split], {"test": lists}, make_bundle("generative"))
    rows = {row.name: row.conll for row in block.rows["test"]}
    assert rows["given: oracle"] == pytest.approx(100)
    assert rows["one best"] == 0
    assert "given: P" in rows
    assert "given: P + baseline" not in rows  # no development documents to find a weight on


def test_scores_must_be_those_of_the_documents() -> None:
    splits, scores = make_case()
    with pytest.raises(DataError, match="missing"):
        measure_block("small", splits, {**scores, "test": scores["test"][:1]}, None)


def test_the_model_by_itself() -> None:
    split = make_split("test", [make_document("d"), Document("empty", (".",))], singletons=False)
    pretrained = make_bundle("generative", "causal", "lookahead")
    rows = measure_alone(pretrained, split, samples=5)
    assert [row.name for row in rows] == [
        "greedy, causal", "greedy, lookahead", "best sample, causal", "best sample, lookahead",
    ]  # fmt: skip
    again = [
        analyse_by_samples(pretrained, "causal", make_document("d"), samples=5, seed=3) for _ in range(2)
    ]
    assert again[0].clusters == again[1].clusters
    assert all(len(cluster) > 1 for cluster in list_answer(again[0], singletons=False))
    with pytest.raises(ConfigError, match="no proposal"):
        measure_alone(make_bundle("generative"), split)


def test_folds_test_every_document_once() -> None:
    documents = [make_document(str(number)) for number in range(11)]
    folds = make_folds(documents, 4)
    assert sorted(d.id for fold in folds for d in fold.test) == sorted(d.id for d in documents)
    assert sorted(d.id for fold in folds for d in fold.development) == sorted(d.id for d in documents)
    for fold in folds:
        ids = [{d.id for d in part} for part in (fold.train, fold.development, fold.test)]
        assert sum(map(len, ids)) == len(set().union(*ids)) == 11
    for count, some in ((2, documents), (12, documents)):
        with pytest.raises(ConfigError):
            make_folds(some, count)


def test_folds_are_joined_document_by_document() -> None:
    documents = [make_document(str(number)) for number in range(6)]

    def measure(fold: object) -> Block:
        from entitynlm.experiments.coref_folds import Fold

        assert isinstance(fold, Fold)
        parts = (("dev", fold.development), ("test", fold.test))
        splits = [make_split(name, found, singletons=False) for name, found in parts]
        scores = {s.name: [make_scores(d.id, int(d.id)) for d in s.documents] for s in splits}
        return measure_block("fold", splits, scores, None, Reranking(k=5, methods=("swaps",)))

    joined, blocks = cross_validate(documents, 3, measure)
    assert len(blocks) == 3
    assert len(joined.rows["test"][0].counts) == 6
    assert sorted(joined.rows["test"][0].counts.doc_ids) == sorted(d.id for d in documents)
    assert sorted(joined.rows["dev"][0].counts.doc_ids) == sorted(d.id for d in documents)


def test_a_stored_block_is_the_same_block(tmp_path: Path) -> None:
    splits, scores = make_case()
    block = measure_block("small", splits, scores, make_bundle("generative"), Reranking(k=5))
    path = tmp_path / "block.json"
    assert load_block(path, {"k": 5}) is None
    save_block(block, path, {"k": 5})
    again = load_block(path, {"k": 5})
    assert again is not None
    assert again.to_json(trials=50) == block.to_json(trials=50)
    assert load_block(path, {"k": 6}) is None  # made with other options: measured anew
    path.write_text("{}")
    with pytest.raises(DataError, match="measured again"):
        load_block(path, {"k": 5})
