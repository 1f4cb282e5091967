"""8. A hundred candidates of a document scored together against scoring passes of it."""

import statistics
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from benchmarks.contestants import make_network, score_entities, train_entities
from benchmarks.data import load_ontogum, make_batches
from benchmarks.figures import Context, Figure
from benchmarks.timing import Contestant, median_ratio, race
from entitynlm.config import ModelConfig, TrainingConfig
from entitynlm.coref.candidates.candidate_files import Clusters
from entitynlm.coref.reranking import score_candidates
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.text.document import Document, Mention

NAME = "reranking"
CANDIDATES = 100


def restore(encoded: EncodedDocument) -> tuple[Encoder, Document]:
    """A document of made-up words with these mentions, so that candidates go the whole way from spans to scores."""
    tokens = tuple(f"w{number}" for number in encoded.x.tolist())
    cuts = [0, *(np.flatnonzero(np.diff(encoded.sentence)) + 1).tolist(), len(encoded)]
    starts = np.flatnonzero((encoded.r > 0) & (np.append(1, encoded.l[:-1]) == 1)).tolist()
    mentions = tuple(Mention(t, t + int(encoded.l[t]), str(encoded.e[t])) for t in starts)
    document = Document(encoded.id, tokens, tuple(pairwise(cuts)), mentions)
    recipe = Recipe(sentence_ends=False, punctuation="keep", numbers=False, minimum_count=1)
    return Encoder.fit([document], recipe=recipe, singletons="keep"), document


def swap_mentions(document: Document, count: int, seed: int = 0) -> list[Clusters]:
    """The annotation, and analyses that differ from it by one mention moved to another entity with all that follows it there."""
    rng = np.random.default_rng(seed)
    clusters = [list(cluster) for cluster in document.clusters()]
    candidates: list[Clusters] = [tuple(map(tuple, clusters))]
    while len(candidates) < count:
        giver, taker = rng.choice(len(clusters), 2, replace=False)
        cut = int(rng.integers(len(clusters[giver])))
        moved = [list(cluster) for cluster in clusters]
        moved[taker] = sorted(moved[taker] + moved[giver][cut:])
        moved[giver] = moved[giver][:cut]
        candidates.append(tuple(tuple(cluster) for cluster in moved if cluster))
    return candidates


def rerank(
    network: EntityNetwork, encoder: Encoder, document: Document, candidates: Sequence[Clusters]
) -> Contestant:
    """All candidates of a document, from clusters to scores."""

    def lap() -> int:
        score_candidates(network.eval(), encoder, document, candidates)
        return len(document)

    return lap


def run(context: Context) -> list[Figure]:
    material = load_ontogum(context.data)
    network = make_network(material, ModelConfig(hidden_size=128, embedding_size=128))
    learn = train_entities(
        network, make_batches(material.documents, 4)[: context.choose(30, 1)], TrainingConfig()
    )
    learn()
    ratios = []
    chosen = [d for d in material.documents if int(d.e.max(initial=0)) > 2][: context.choose(5, 1)]
    for encoded in chosen:
        encoder, document = restore(encoded)
        candidates = swap_mentions(document, context.choose(CANDIDATES, 10))
        laps = race(
            {
                "pass": score_entities(network, [[encoder.encode(document)]]),
                "rerank": rerank(network, encoder, document, candidates),
            },
            context.choose(9, 1),
        )
        ratios.append(median_ratio(laps["pass"], laps["rerank"]))
    text = f"{context.choose(CANDIDATES, 10)} candidates of a document ÷ a scoring pass ({len(chosen)} documents)"
    return [Figure("rerank100_vs_pass", statistics.median(ratios), text, must=15, aim=6, most=True)]
