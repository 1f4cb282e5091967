"""The scores of a document's candidates: log-probabilities in four parts, for the price of a few scoring passes.

The model sees outermost mentions on its own words (``docs/decisions/002``), so different candidates may be one and the same
analysis to it: a view.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from entitynlm.coref.candidates.candidate_files import Clusters, KBestList
from entitynlm.errors import ConfigError, ModelError
from entitynlm.inference.scoring import score_together
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.variables import analyse, select_mentions
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.text.document import Document, Span

PARTS = ("r", "e", "l", "x")


def score_candidates(
    network: EntityNetwork, encoder: Encoder, document: Document, candidates: Sequence[Clusters]
) -> np.ndarray:
    """(candidates, 4) log P of R, E, L and X (zero for a proposal); each view is a particle of one population (decision 060)."""
    views = view_candidates(encoder, document, candidates)
    parts = np.zeros((len(views), len(PARTS)))
    if len(views) and len(views.words):
        parts = score_together(network, views.words, views.analyses)
    if not np.isfinite(parts).all():
        raise ModelError("the model gives a candidate no finite probability; its weights are out of bounds")
    found: np.ndarray = parts[views.view_of]
    return found


@dataclass(frozen=True, eq=False)
class Views:
    """The document's words, (3, V, T) R, E and L of its V different analyses, and (candidates,) the view of each candidate."""

    words: EncodedDocument
    analyses: np.ndarray
    view_of: np.ndarray

    def __len__(self) -> int:
        return self.analyses.shape[1]


def view_candidates(encoder: Encoder, document: Document, candidates: Sequence[Clusters]) -> Views:
    """Lay every candidate's entities on the model's words, and merge those that are one to the model."""
    if encoder.types:
        raise ConfigError(
            "this model tells types of entities apart, and candidates have no types; rerank with a model without types"
        )
    words = encoder.prepare(document)
    numbers: dict[bytes, int] = {}
    analyses: list[np.ndarray] = []
    view_of = np.zeros(len(candidates), dtype=np.int64)
    for row, clusters in enumerate(candidates):
        mentions, _ = select_mentions(document.with_clusters(clusters), singletons=encoder.singletons)
        laid_out, _, _ = analyse(mentions, words, max_length=encoder.max_length)
        view = np.stack(laid_out)
        view_of[row] = numbers.setdefault(view.tobytes(), len(numbers))
        if len(numbers) > len(analyses):
            analyses.append(view)
    return Views(encoder.encode_words(document, words), np.stack(analyses, axis=1), view_of)


def _list_spans(candidates: Iterable[Iterable[Iterable[Span]]]) -> list[Span]:
    """List every span of every candidate in text order, enclosing before enclosed."""
    spans = {span for clusters in candidates for cluster in clusters for span in cluster}
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def add_singletons(candidates: Sequence[Clusters], mentions: Sequence[Span] = ()) -> list[Clusters]:
    """Add the mentions that candidates leave out as entities of their own, as a model with singletons has learned."""
    ordered = _list_spans([[mentions]] if mentions else candidates)

    def complete(clusters: Clusters) -> Clusters:
        taken = {token for cluster in clusters for span in cluster for token in range(*span)}
        added = []
        for span in ordered:
            if taken.isdisjoint(range(*span)):
                taken.update(range(*span))
                added.append((span,))
        return (*clusters, *added)

    completed = {clusters: complete(clusters) for clusters in dict.fromkeys(candidates)}
    return [completed[clusters] for clusters in candidates]


def complete_candidates(encoder: Encoder, kbest: KBestList) -> list[Clusters]:
    """Give the candidates of a list as a model sees them: with singletons, if it has learned them."""
    clusters = [candidate.clusters for candidate in kbest.candidates]
    return add_singletons(clusters, kbest.mentions) if encoder.singletons == "keep" else clusters
