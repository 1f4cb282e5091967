"""A weight of log P chooses what it says; the search finds the best weight of the grid."""

import numpy as np
import pytest

from entitynlm.coref.candidates.candidate_files import KBestList, ScoredClustering
from entitynlm.coref.candidates.kbest import count_candidates
from entitynlm.coref.metrics.coreference import join_counts
from entitynlm.coref.reranking import GRID, ScoredList, search_weight
from entitynlm.errors import ConfigError
from entitynlm.text.document import Document

SPANS = tuple((i, i + 1) for i in range(12))


def make_kbest(rng: np.random.Generator, size: int, name: str = "d") -> KBestList:
    """Random clusterings of twelve words with random scores."""
    candidates = []
    for rank in range(size):
        owners = rng.integers(0, 4, len(SPANS))
        groups = (tuple(s for s, o in zip(SPANS, owners, strict=True) if o == n) for n in range(4))
        candidates.append(
            ScoredClustering(tuple(g for g in groups if len(g) > 1), -float(rank) - rng.random())
        )
    return KBestList(name, tuple(candidates))


def make_scored(kbest: KBestList, log_probs: np.ndarray) -> ScoredList:
    return ScoredList(np.array([candidate.score for candidate in kbest.candidates]), log_probs)


def make_list(rng: np.random.Generator, size: int) -> tuple[KBestList, ScoredList]:
    kbest = make_kbest(rng, size)
    return kbest, make_scored(kbest, rng.normal(size=size))


def make_key(rng: np.random.Generator, name: str = "d") -> Document:
    return Document(name, ("w",) * 12).with_clusters(make_list(rng, 1)[0].candidates[0].clusters)


def test_a_weight_chooses() -> None:
    kbest = KBestList("d", tuple(ScoredClustering((), score) for score in (2.0, 1.0, 0.5)))
    scored = make_scored(kbest, np.array([-3.0, -1.0, -1.0]))
    assert [scored.choose(weight) for weight in (0.0, 0.4, 0.6)] == [0, 0, 1]
    assert scored.choose(None) == 1  # alike to the model: the baseline's order
    with pytest.raises(ConfigError, match="finite"):
        scored.choose(float("nan"))


def test_the_weight_is_the_best_of_the_grid() -> None:
    rng = np.random.default_rng(4)
    made = [make_list(rng, size) for size in (7, 12, 3, 9)]  # of different lengths
    lists = [scored for _, scored in made]
    counts = [count_candidates(make_key(rng), kbest.candidates) for kbest, _ in made]
    found = search_weight(lists, counts)

    def measure(weight: float) -> float:
        return join_counts([c.take([s.choose(weight)]) for s, c in zip(lists, counts, strict=True)]).conll

    assert measure(found.weight) == pytest.approx(found.dev_conll)

    def spread(scores: list[np.ndarray]) -> float:
        changes = [values - values[0] for values in scores]
        return float(np.sqrt(sum(float((c**2).sum()) for c in changes)))

    ratio = spread([s.baseline for s in lists]) / spread([s.log_probs for s in lists])
    assert found.dev_conll == pytest.approx(max(measure(weight * ratio) for weight in GRID))
    assert found.dev_conll >= measure(0.0)
    with pytest.raises(ConfigError, match="development"):
        search_weight([], [])


def test_a_constant_score_gets_no_weight() -> None:
    rng = np.random.default_rng(6)
    kbest, _ = make_list(rng, 4)
    scored = make_scored(kbest, np.zeros(4))
    found = search_weight([scored], [count_candidates(make_key(rng), kbest.candidates)])
    assert found.weight == 0.0
