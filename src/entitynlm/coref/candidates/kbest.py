"""k-best lists from antecedent scores: the paper's one-swap heuristic, and samples from the scores (``docs/decisions/032``).

An antecedent tree gives each mention one antecedent or none; its chains are the transitive closure. Different trees may have the
same chains, and a reranker needs different chains. The paper (section 5.2) replaces one antecedent of the one-best tree at a
time, in the order of the loss in score; a sampled tree may differ in many places.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from entitynlm.coref.candidates.candidate_files import (
    NO_ANTECEDENT,
    AntecedentScores,
    Clusters,
    KBestList,
    Ranked,
    ScoredClustering,
)
from entitynlm.coref.metrics.alignment import align_chains, list_chains
from entitynlm.coref.metrics.coreference import CONLL, CorpusCounts, count_alignments
from entitynlm.errors import ConfigError
from entitynlm.text.document import Document, Span

Tree = NDArray[np.int64]  # the antecedent of each mention
Labels = NDArray[np.int64]  # the first mention of each mention's chain
Labelled = tuple[float, Labels]  # the score of an analysis, and its chains

K = 100
ATTEMPTS = 4  # trees drawn for each candidate that is wanted, at most
RELATIVE_TEMPERATURE = 0.075  # of the typical distance between a mention's best and second-best chain


def label_chains(tree: Tree) -> Labels:
    """Take the transitive closure: every mention gets the index of its chain's first mention."""
    labels = np.arange(len(tree))
    for mention, antecedent in enumerate(tree.tolist()):
        if antecedent != NO_ANTECEDENT:
            labels[mention] = labels[antecedent]
    return labels


def list_clusters(labels: Labels, mentions: Sequence[Span], *, singletons: bool = False) -> Clusters:
    """List the chains of two and more mentions, in text order; with ``singletons`` also the chains of one mention."""
    chains: dict[int, list[Span]] = {}
    for label, span in zip(labels.tolist(), mentions, strict=True):
        chains.setdefault(label, []).append(span)
    return tuple(tuple(chain) for chain in chains.values() if singletons or len(chain) > 1)


def decode_best(scores: AntecedentScores, *, singletons: bool = False) -> Clusters:
    return list_clusters(label_chains(scores.best), scores.mentions, singletons=singletons)


def decode_swaps(scores: AntecedentScores, k: int = K, *, singletons: bool = False) -> KBestList:
    """Make the paper's approximate k-best list; "no antecedent" is a candidate too. A short list repeats its last item."""

    def list_swaps() -> Iterator[Labelled]:
        labels, best_scores, anaphors = label_chains(scores.best), scores.best_scores, scores.anaphors
        total, losses = float(best_scores.sum()), best_scores[anaphors] - scores.scores
        yield total, labels
        for pair in np.argsort(losses, kind="stable").tolist():
            mention, antecedent = int(anaphors[pair]), int(scores.antecedents[pair])
            if antecedent != scores.best[mention]:
                yield total - float(losses[pair]), _move_branch(scores.best, labels, mention, antecedent)

    return _make_list(scores, _take_distinct(list_swaps(), k), k, singletons)


def decode_samples(
    scores: AntecedentScores, k: int = K, *, seed: int = 0, singletons: bool = False
) -> KBestList:
    """List the one-best tree and different samples from p(antecedent | mention) ∝ exp(score / temperature), best first."""
    temperature = RELATIVE_TEMPERATURE * measure_margin(scores)
    if temperature <= 0 or len(scores) == 0:
        return decode_swaps(scores, k, singletons=singletons)
    generator = np.random.default_rng(seed)

    def list_samples() -> Iterator[Labelled]:
        yield float(scores.best_scores.sum()), label_chains(scores.best)
        for _ in range(ATTEMPTS * k):
            tree, total = _draw_tree(scores, temperature, generator)
            yield total, label_chains(tree)

    best, *others = _take_distinct(list_samples(), k)
    ordered = [best, *sorted(others, key=lambda pair: -pair[0])]
    return _make_list(scores, ordered, k, singletons)


DECODERS: dict[str, Callable[..., KBestList]] = {"swaps": decode_swaps, "samples": decode_samples}


def make_list(item: Ranked, k: int, method: str, *, singletons: bool) -> KBestList:
    """Make a k-best list from antecedent scores by one method of :data:`DECODERS`; a given k-best list is only cut to k."""
    if isinstance(item, KBestList):
        return KBestList(item.doc_id, item.candidates[:k], item.mentions)
    return DECODERS[method](item, k, singletons=singletons)


def measure_margin(scores: AntecedentScores) -> float:
    """Measure the median distance between a mention's best score and the best that would put it into another chain."""
    labels = label_chains(scores.best)
    anaphors = scores.anaphors
    own = np.where(scores.best == NO_ANTECEDENT, NO_ANTECEDENT, labels)
    targets = np.where(scores.antecedents == NO_ANTECEDENT, NO_ANTECEDENT, labels[scores.antecedents])
    other = targets != own[anaphors]
    rivals = np.full(len(scores), -np.inf)
    np.maximum.at(rivals, anaphors[other], scores.scores[other])
    margins = (scores.best_scores - rivals)[np.isfinite(rivals)]
    return float(np.median(margins)) if len(margins) else 0.0


# -- the oracle ----------------------------------------------------------------------------------------------------


def count_candidates(key: Document, candidates: Iterable[ScoredClustering]) -> CorpusCounts:
    """Count each candidate of one document against its key; equal clusters are counted once."""
    chains = list_chains(key)
    distinct: dict[Clusters, int] = {}
    rows = [distinct.setdefault(candidate.clusters, len(distinct)) for candidate in candidates]
    alignments = [align_chains(chains, clusters) for clusters in distinct]
    return count_alignments([key.id] * len(distinct), alignments, (CONLL,)).take(rows)


def find_oracle(keys: Sequence[Document], lists: Sequence[KBestList]) -> list[int]:
    """Find the oracle candidate of each document: the (first) candidate with the best CoNLL score."""
    counts = (count_candidates(key, item.candidates) for key, item in zip(keys, lists, strict=True))
    return [int(np.argmax(found.conll_documents)) for found in counts]


# -- details -------------------------------------------------------------------------------------------------------


def _take_distinct(analyses: Iterator[Labelled], k: int) -> list[Labelled]:
    if k < 1:
        raise ConfigError(f"a k-best list needs at least one candidate, not {k}")
    found: dict[bytes, Labelled] = {}
    for total, labels in analyses:
        found.setdefault(labels.tobytes(), (total, labels))
        if len(found) == k:
            break
    return list(found.values())


def _make_list(
    scores: AntecedentScores, analyses: Sequence[Labelled], size: int, singletons: bool
) -> KBestList:
    candidates = [
        ScoredClustering(list_clusters(labels, scores.mentions, singletons=singletons), total)
        for total, labels in analyses
    ]
    candidates += [candidates[-1]] * (size - len(candidates))
    return KBestList(scores.doc_id, tuple(candidates), scores.mentions)


def _move_branch(tree: Tree, labels: Labels, mention: int, antecedent: int) -> Labels:
    """Move ``mention``, with its descendants in the tree, to ``antecedent`` (or make it a root); returns the chains."""
    branch = {mention}
    for other in (np.flatnonzero(labels[mention + 1 :] == labels[mention]) + mention + 1).tolist():
        if int(tree[other]) in branch:
            branch.add(other)
    changed = labels.copy()
    changed[sorted(branch)] = mention if antecedent == NO_ANTECEDENT else labels[antecedent]
    return changed


def _draw_tree(
    scores: AntecedentScores, temperature: float, generator: np.random.Generator
) -> tuple[Tree, float]:
    """Draw a sample by Gumbel noise: the argmax of score / temperature + noise has the softmax distribution."""
    noisy = scores.scores / temperature + generator.gumbel(size=len(scores.scores))
    highest = np.maximum.reduceat(noisy, scores.offsets[:-1])
    chosen = np.flatnonzero(noisy == np.repeat(highest, np.diff(scores.offsets)))
    return scores.antecedents[chosen], float(scores.scores[chosen].sum())
