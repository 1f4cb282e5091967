"""Discriminative training on k-best lists: a network learns to tell good candidates from bad ones, beside a baseline's score.

Maximum likelihood teaches P what annotated texts are like; among a baseline's candidates all but a few links are the same, and
what counts is the rest. Here every candidate c of a document is compared with the baseline's own choice o, by

    s(c) = a · baseline(c) + b · log P(R, E, L of c),    loss = Σ_c |gain(c)| · log(1 + exp(-sign(gain(c)) · (s(c) - s(o)))),

where gain is the difference in the document's CoNLL score, times its share of the corpus's mentions; a and b are learned, too.
Training starts from maximum likelihood. Words are left out: a softmax over all pieces for every candidate would be too dear. So
of P only those parameters are trained that equations 3, 4 and 5 alone have; entity vectors, and with them log p(X), stay what
they were, and a reranker can add that. Of a proposal, which has no words, all parameters are trained.

Lists must look like those to come: those of training documents are made by rankers that have not seen the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from entitynlm.coref.candidates.candidate_files import KBestList
from entitynlm.coref.candidates.kbest import count_candidates
from entitynlm.coref.reranking.scores import complete_candidates, view_candidates
from entitynlm.model.backbones.base import HiddenStates
from entitynlm.model.batch.scores import cut_windows, score_indexes
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document
from entitynlm.training.loop import derive_seed

ONLY_CHOICES = ("W_r", "W_entity", "w_dist", "W_length")
"""Parameters of P that entity vectors and words do not depend on."""

OF_STATES = ("projection.linear.0", "projection.inner.0", "projection.outer.0")
"""Those of the projection of states, which are among them where equation 8 has a projection of its own."""


FIRST_SHARE = (
    0.2  # b at the start: candidates differ by many nats, and nothing is learned where the loss is flat
)
RATE_OF_WEIGHTS = 0.02  # at which a and b are learned


@dataclass(frozen=True)
class ListTraining:
    """How a network is trained on lists.

    :param size: candidates of a list.
    :param candidates: of a list that are compared with its first one at each update, drawn anew among those that differ in gain.
    """

    epochs: int = 2
    size: int = 60
    learning_rate: float = 1e-3
    candidates: int = 24


@dataclass(frozen=True, eq=False)
class ComparedList:
    """A document's candidates against its first one, which the baseline has chosen.

    :param analyses: (V, T) documents' R, E, L as :class:`EncodedDocument`, one for each view; the first is the baseline's.
    :param view_of: (k,) the view of each candidate.  :param losses: (k,) of the baseline's score, zero for the first.
    :param gains: (k,) of the CoNLL score, in percent of the document times its share of the mentions; zero for the first.
    """

    analyses: Sequence[EncodedDocument]
    view_of: np.ndarray
    losses: np.ndarray
    gains: np.ndarray

    @property
    def useful(self) -> np.ndarray:
        """The candidates that the network can tell from the first, and that are better or worse than it."""
        return np.flatnonzero((self.gains != 0) & (self.view_of != self.view_of[0]))


def compare_list(encoder: Encoder, document: Document, key: Document, kbest: KBestList) -> ComparedList:
    """Measure what the candidates of a list would gain over its first one."""
    views = view_candidates(encoder, document, complete_candidates(encoder, kbest))
    variables = (views.analyses[:, number].astype(np.int64) for number in range(len(views)))
    analyses = [replace(views.words, r=r, e=e, l=l) for r, e, l in variables]
    scores = np.array([candidate.score for candidate in kbest.candidates])
    conll = np.array(count_candidates(key, kbest.candidates).conll_documents)
    return ComparedList(analyses, views.view_of, scores[0] - scores, (conll - conll[0]) * len(key.mentions))


def train_on_lists(
    network: EntityNetwork,
    lists: Sequence[ComparedList],
    *,
    settings: ListTraining = ListTraining(),
    seed: int = 0,
    progress: Progress = SILENT,
) -> EntityNetwork:
    """A copy of the network, trained."""
    trained = deepcopy(network)
    generative = trained.config.mode == "generative"
    names = ONLY_CHOICES if trained.projection.shared else (*ONLY_CHOICES, *OF_STATES)
    chosen = [value for name, value in trained.named_parameters() if not generative or name in names]
    for value in trained.parameters():
        value.requires_grad_(any(value is one for one in chosen))
    spread = np.concatenate([item.losses for item in lists])
    logs = [-np.log(max(spread.std(), 1e-6)), np.log(FIRST_SHARE)]
    weights = torch.tensor(logs, dtype=torch.float32, requires_grad=True)
    groups: list[dict[str, Any]] = [{"params": chosen}, {"params": [weights], "lr": RATE_OF_WEIGHTS}]
    optimizer = torch.optim.Adam(groups, lr=settings.learning_rate)
    usual = float(np.mean([np.abs(item.gains[item.useful]).mean() for item in lists if len(item.useful)]))
    for epoch in range(settings.epochs):
        order = np.random.default_rng([seed, epoch]).permutation(len(lists))
        rate = settings.learning_rate * 0.5 * (1 + np.cos(np.pi * epoch / settings.epochs))
        optimizer.param_groups[0]["lr"] = float(rate)
        task, total = f"{trained.config.mode} on lists, epoch {epoch + 1}", 0.0
        progress.start(task, len(lists))
        trained.train()
        for number in order.tolist():
            item = lists[number]
            draws = np.random.default_rng([seed, epoch, number])
            useful = draws.permutation(item.useful)[: settings.candidates]
            if len(useful):
                torch.manual_seed(derive_seed(seed, epoch, number))
                loss = measure_list_loss(trained, item, useful, weights.exp()) / usual
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(chosen, 5.0)
                optimizer.step()
                total += float(loss.detach())
            progress.advance(task, 1)
        progress.finish(task)
        a, b = weights.detach().exp().tolist()
        progress.message(f"{task}: loss {total / max(1, len(lists)):.4f}, a = {a:.3g}, b = {b:.3g}")
    return trained.eval()


def measure_list_loss(
    network: EntityNetwork, item: ComparedList, chosen: np.ndarray, weights: Tensor
) -> Tensor:
    """The loss of some candidates of a list, on average; ``weights`` are a and b."""
    needed, rows = np.unique(item.view_of[np.append(0, chosen)], return_inverse=True)
    parts = score_views(network, [item.analyses[view] for view in needed])
    log_probs = parts.sum(1)[torch.from_numpy(rows)]
    losses = torch.from_numpy(item.losses[chosen]).to(log_probs)
    margins = weights[1] * (log_probs[1:] - log_probs[0]) - weights[0] * losses
    gains = torch.from_numpy(item.gains[chosen]).to(log_probs)
    return (gains.abs() * F.softplus(-gains.sign() * margins)).mean()


def score_views(network: EntityNetwork, analyses: Sequence[EncodedDocument]) -> Tensor:
    """(V, 4) log-probabilities of R, E and L of analyses of the same words, which are read once; those of X are zero."""
    indexes = [cut_windows(analysis, network)[0].index for analysis in analyses]
    reading = network.backbone.read([analyses[0].words])
    count = len(analyses)
    pieces = None if reading.pieces is None else reading.pieces * count
    shared = HiddenStates(
        [*reading.words] * count, reading.table, reading.before * count, reading.after * count, None, pieces
    )
    found = score_indexes(network, [i for i in indexes if i is not None], shared, noise=None, word_share=0.0)
    scores = found.scores
    parts = torch.stack([scores.r, scores.e, scores.l, torch.zeros_like(scores.r)], 1)
    return parts.reshape(count, -1, 4).sum(1)
