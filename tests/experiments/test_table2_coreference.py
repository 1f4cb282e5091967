"""Table 2 on small invented documents: blocks of reranked candidates, the model by itself, folds and tables."""

import numpy as np
import pytest
import torch

from entitynlm.config import ModelConfig
from entitynlm.coref.candidates.candidate_files import (
    AntecedentScores,
    KBestList,
    ScoredClustering,
    make_antecedent_scores,
)
from entitynlm.errors import ConfigError
from entitynlm.experiments.runner import Runner
from entitynlm.experiments.table2_coreference import (
    Coreference,
    KeyedSplit,
    describe,
    get_paper_figure,
    join_folds,
    make_folds,
    make_splits,
)
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import Progress
from entitynlm.text.document import Document

TOKENS = tuple("Anna met Berta . She saw her and she laughed .".split())
SPANS = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]
GOLD = (((0, 1), (4, 5), (8, 9)), ((2, 3), (6, 7)))


class Record(Progress):
    def __init__(self) -> None:
        self.started: list[tuple[str, int | None]] = []

    def start(self, task: str, total: int | None = None) -> None:
        self.started.append((task, total))


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
    documents = {s: [make_document(n) for n in found] for s, found in names.items()}
    splits = make_splits(documents)
    scores = {s: [make_scores(n, ord(n)) for n in found] for s, found in names.items()}
    return splits, scores


def test_a_block_has_all_rows() -> None:
    splits, scores = make_case()
    told = Record()
    pretrained = make_bundle("generative")
    block = Coreference(Runner(progress=told), 20).measure_block("small", splits, scores, pretrained)
    assert list(block.rows["test"]) == ["one best"] + [
        f"{method}: {row}" for method in ("swaps", "samples") for row in ("P", "P + baseline", "oracle")
    ]
    development = {name: counts.conll for name, counts in block.rows["dev"].items()}
    for method in ("swaps", "samples"):
        assert development["one best"] <= development[f"{method}: P + baseline"] + 1e-9
        assert development[f"{method}: P + baseline"] <= development[f"{method}: oracle"] + 1e-9
        found = block.weights[f"{method}: P + baseline"]
        assert found.dev_conll == pytest.approx(development[f"{method}: P + baseline"])
    assert ("test samples", 2) in told.started
    described = block.to_figures(trials=20)
    assert described["splits"]["test"]["documents"] == 2
    row = described["splits"]["test"]["rows"][1]
    assert 0 < row["versus_first"]["conll"]["p_value"] <= 1
    assert set(row) >= {"name", "muc", "b3", "ceafe", "ceafm", "blanc", "lea", "conll"}


def test_without_a_model_there_are_one_best_and_oracle() -> None:
    splits, scores = make_case()
    block = Coreference(Runner(), 5, ("swaps",)).measure_block("small", splits, scores, None)
    assert list(block.rows["dev"]) == ["one best", "swaps: oracle"]
    assert not block.weights


def test_lists_that_are_given_stay_as_they_are() -> None:
    (split,) = make_splits({"test": [make_document("d")]})
    lists = [KBestList("d", (ScoredClustering((), 1.0), ScoredClustering(GOLD, 0.0)))]
    block = Coreference(Runner()).measure_block("given", [split], {"test": lists}, make_bundle("generative"))
    rows = {name: counts.conll for name, counts in block.rows["test"].items()}
    assert rows["given: oracle"] == pytest.approx(100)
    assert rows["one best"] == 0
    assert "given: P" in rows
    assert "given: P + baseline" not in rows  # no development documents to find a weight on


def test_folds_test_every_document_once() -> None:
    documents = [make_document(str(number)) for number in range(11)]
    folds = make_folds(documents, 4)
    assert sorted(d.id for fold in folds for d in fold["test"]) == sorted(d.id for d in documents)
    assert sorted(d.id for fold in folds for d in fold["dev"]) == sorted(d.id for d in documents)
    for fold in folds:
        ids = [{d.id for d in part} for part in fold.values()]
        assert sum(map(len, ids)) == len(set().union(*ids)) == 11
    for count, some in ((2, documents), (12, documents)):
        with pytest.raises(ConfigError):
            make_folds(some, count)


def test_folds_are_joined_document_by_document() -> None:
    documents = [make_document(str(number)) for number in range(6)]

    results = []
    for fold in make_folds(documents, 3):
        splits = make_splits({name: fold[name] for name in ("dev", "test")})
        scores = {s.name: [make_scores(d.id, int(d.id)) for d in s.documents] for s in splits}
        results.append(Coreference(Runner(), 5, ("swaps",)).measure_block("fold", splits, scores, None))
    joined = join_folds(results)
    assert joined.title == "3 folds"
    assert len(joined.rows["test"]["one best"]) == 6
    assert sorted(joined.rows["test"]["one best"].doc_ids) == sorted(d.id for d in documents)
    assert sorted(joined.rows["dev"]["one best"].doc_ids) == sorted(d.id for d in documents)


def test_tables_of_given_lists() -> None:
    document = make_document("d")
    lists = [KBestList("d", (ScoredClustering((), 1.0), ScoredClustering(GOLD, 0.0)))]
    experiment = Coreference(Runner(), 2, trials=10)
    documents = {"dev": [document], "test": [document]}
    found = experiment.evaluate(documents, ("dev", "test"), None, lambda split: lists, "mine")
    result = describe([found], experiment, corpus="tales", facts={"model": None})
    assert [table.title for table in result.tables] == [
        "mine, dev (1 documents, F1)",
        "mine, test (1 documents, F1)",
    ]
    best, oracle = result.tables[1].list_cells()
    assert (best[:2], oracle[:2]) == (["one best", "0.00"], ["given: oracle", "100.00"])
    assert oracle[-1].startswith("+100.00, p = ")
    assert [row.paper for row in result.tables[1].rows] == [62.93, None]
    assert result.figures["blocks"][0]["splits"]["test"]["documents"] == 1
    assert result.figures["model"] is None


@pytest.mark.parametrize(
    ("name", "figure"),
    [("one best", 62.93), ("swaps: P", 64.0), ("given: P + baseline", 64.04), ("samples: P", None)],
)
def test_only_rows_of_the_papers_kind_have_its_figures(name: str, figure: float | None) -> None:
    assert get_paper_figure(name) == figure
