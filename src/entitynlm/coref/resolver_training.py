"""Training of the resolver: the mentions' log-odds, and the marginal likelihood of the true antecedents."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from msgspec import structs
from torch import Tensor, nn

from entitynlm.coref.annotation import annotate_document, number_entities
from entitynlm.coref.cluster_features import ClusterMemory
from entitynlm.coref.mention_table import NAME_CLASS, MentionTable
from entitynlm.coref.metrics.coreference import CorpusCounts, score_documents
from entitynlm.coref.metrics.documents import drop_repetitions
from entitynlm.coref.pair_features import NOUNS, REPEATED, pair_mentions
from entitynlm.coref.resolver import Resolver, arrange_scores
from entitynlm.coref.resolver_network import NetworkSizes, ResolverNetwork, SpanScores, WordVectors
from entitynlm.coref.word_inputs import WordInputs, WordList, describe_words
from entitynlm.discourse.discourse import read_discourse
from entitynlm.errors import DataError
from entitynlm.model.encoding.preprocessing import IntArray
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document, Span
from entitynlm.training.settings import ResolverSettings

THRESHOLDS = (0.0, -0.4, 0.4, -0.8, 0.8)
"""Candidate thresholds of a mention's log-odds, of which development documents choose one."""

UNKNOWN_ENTITY = -2
PARTIAL_WEIGHT = 0.5
"""Weight of the losses of mentions in partly annotated documents, where there is nothing that is no mention."""
PARTIAL_EPOCHS, PARTIAL_RATE, PARTIAL_DOCUMENTS = 3, 1e-3, 60
"""The second training, with partly annotated documents: epochs, highest rate, and such documents drawn for each epoch."""
GOLD_ONLY, OWN_CLUSTERS = 0.3, 0.5
"""Shares of updates that link annotated mentions only, and that compare them with the network's clusters, not the true ones."""
FOUND = -0.5
"""Log-odds above which a span counts as found."""
DECAY, LARGEST_GRADIENT = 0.01, 5.0
WARMUP = 50
"""Number of updates in which the learning rate rises."""

bce = nn.functional.binary_cross_entropy_with_logits


class ResolverExample:
    """A document with its states (T, d), in half precision, and its annotated mentions without repetitions.

    :param partial: only some mentions are annotated. Further mentions that the network finds have no part in the losses, because
        they are neither right nor wrong, but they are clustered, so that the annotated mentions meet the clusters of a whole
        book.
    """

    def __init__(
        self,
        document: Document,
        states: Tensor,
        words: WordList,
        types: Sequence[str],
        *,
        partial: bool = False,
    ) -> None:
        self.discourse, self.partial = read_discourse(document), partial
        self.states = states
        self.words: WordInputs = describe_words(self.discourse, words)
        mentions = {mention.span: mention.entity for mention in reversed(document.mentions)}
        self.spans: list[Span] = sorted(mentions, key=lambda span: (span[0], -span[1]))
        names = {name: number for number, name in enumerate(dict.fromkeys(mentions.values()))}
        self.entities = {span: names[entity] for span, entity in mentions.items()}
        known = {name: number for number, name in enumerate(types)}
        kinds = (known.get(document.entity_types.get(mentions[span], ""), -1) for span in self.spans)
        self.types = torch.tensor(list(kinds), dtype=torch.long)
        first, last = np.array(self.spans, dtype=np.int64).reshape(-1, 2).T
        self.first, self.last = first, last - 1

    def find_targets(self, first: IntArray, last: IntArray) -> Tensor:
        """(S,) 1 for spans that are mentions."""
        size = len(self.words)
        mine = first * size + last
        return torch.from_numpy(np.isin(mine, self.first * size + self.last)).float()

    def mark(self, words: IntArray) -> Tensor:
        """(T,) indicator of some words: 1 for these, 0 elsewhere."""
        marked = torch.zeros(len(self.words))
        marked[torch.from_numpy(words)] = 1
        return marked


class ResolverTrainer:
    def __init__(self, network: ResolverNetwork, settings: ResolverSettings, steps: int, seed: int) -> None:
        self.network, self.settings, self.steps = network, settings, steps
        self.draws = torch.Generator().manual_seed(seed)
        decayed = [p for p in network.parameters() if p.dim() > 1]
        others = [p for p in network.parameters() if p.dim() <= 1]
        groups = [
            {"params": decayed, "weight_decay": DECAY},
            {"params": others, "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=settings.rate, betas=(0.9, 0.99))
        self.averages = {name: value.clone() for name, value in network.state_dict().items()}
        self.step, self.warmup = 0, min(WARMUP, steps // 10 + 1)

    def run(
        self,
        whole: Sequence[ResolverExample],
        partial: Sequence[ResolverExample],
        epochs: int,
        progress: Progress,
        *,
        link_found: bool = False,
    ) -> None:
        """Train on all documents in random order in each epoch, and on a sample of the partly annotated ones.

        :param link_found: also link mentions that the network finds from the first epoch on, not from the second.
        """
        task = "resolver"
        progress.start(task, epochs)
        for epoch in range(epochs):
            drawn = torch.randperm(len(partial), generator=self.draws)[:PARTIAL_DOCUMENTS]
            chosen = [*whole, *(partial[number] for number in drawn.tolist())]
            totals: dict[str, float] = {}
            for number in torch.randperm(len(chosen), generator=self.draws).tolist():
                for name, value in self.learn(chosen[number], link_found=link_found or epoch > 0).items():
                    totals[name] = totals.get(name, 0.0) + value / len(chosen)
            note = ", ".join(f"{name} {value:.3f}" for name, value in totals.items())
            progress.advance(task, 1, f"epoch {epoch + 1}: {note}")
        progress.finish(task)

    def learn(self, example: ResolverExample, *, link_found: bool) -> dict[str, float]:
        """Make one update from one document, and return its losses."""
        self.network.train()
        fraction = self.step / self.steps
        rate = self.settings.rate * min(1.0, (self.step + 1) / self.warmup) * max(1 - fraction, 0.0)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        losses = self.compute_losses(example, link_found=link_found)
        total: Tensor = torch.stack(list(losses.values())).sum()
        self.optimizer.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), LARGEST_GRADIENT)
        self.optimizer.step()
        self.step += 1
        decay = min(self.settings.average, self.step / (self.step + 10))
        for name, value in self.network.state_dict().items():
            if value.is_floating_point():
                self.averages[name].lerp_(value, 1 - decay)
        return {name: float(value.detach()) for name, value in losses.items()}

    def compute_losses(self, example: ResolverExample, *, link_found: bool) -> dict[str, Tensor]:
        network, words = self.network, example.words
        hidden = torch.rand(len(words), generator=self.draws) < self.settings.hidden_words
        read = network.read(example.states.float(), words, hidden)
        count = max(len(example.spans), 1)
        first, last = network.find_candidates(read, words)
        scored = network.score_spans(read, first, last)
        losses = self._compute_mention_losses(example, read, scored)
        found: list[Span] = []
        if link_found and (example.partial or float(torch.rand(1, generator=self.draws)) >= GOLD_ONLY):
            most = len(words) // 3 if example.partial else 2 * count
            likely = scored.scores.detach().topk(min(len(first), most))
            best = likely.indices[likely.values > FOUND].numpy()
            found = list(zip(first[best].tolist(), (last[best] + 1).tolist(), strict=True))
        spans = sorted({*example.spans, *found}, key=lambda span: (span[0], -span[1]))
        if spans:
            own = example.partial or (
                link_found and float(torch.rand(1, generator=self.draws)) < OWN_CLUSTERS
            )
            losses["links"] = self._compute_link_loss(example, read, spans, losses, own=own)
        return losses

    def _compute_mention_losses(
        self, example: ResolverExample, read: WordVectors, scored: SpanScores
    ) -> dict[str, Tensor]:
        """Compute the losses of span bounds and of spans; in partly annotated documents only for annotated mentions."""
        first, last, count = example.first, example.last, max(len(example.spans), 1)
        if example.partial:
            known = self.network.score_spans(read, first, last).scores
            ones = torch.ones(len(first))
            bounds = [
                bce(read.starts[first], ones, reduction="sum"),
                bce(read.ends[last], ones, reduction="sum"),
            ]
            mentions = bce(known, ones, reduction="sum")
            weight = PARTIAL_WEIGHT / count
        else:
            marks = (read.starts, example.mark(first)), (read.ends, example.mark(last))
            bounds = [bce(scores, targets, reduction="sum") for scores, targets in marks]
            targets = example.find_targets(scored.first, scored.last)
            mentions = bce(scored.scores, targets, reduction="sum")
            weight = 1 / count
        return {"bounds": 0.5 * weight * (bounds[0] + bounds[1]), "mentions": weight * mentions}

    def _compute_link_loss(
        self,
        example: ResolverExample,
        read: WordVectors,
        spans: list[Span],
        losses: dict[str, Tensor],
        *,
        own: bool,
    ) -> Tensor:
        network = self.network
        table = MentionTable(example.discourse, spans, syntax=False)
        scored = network.score_spans(read, table.start, table.end - 1)
        other = UNKNOWN_ENTITY if example.partial else -1
        entities = np.array([example.entities.get(span, other) for span in spans])
        typed = example.types >= 0
        if network.sizes.types and bool(typed.any()):
            losses["types"] = 0.3 * nn.functional.cross_entropy(
                network.entity_type(scored.hidden[torch.from_numpy(entities >= 0)])[typed],
                example.types[typed],
            )
        vectors = network.embed_mentions(network.join(read, scored, table.head), table.classes)
        return link_loss(network, vectors, table, entities, own=own)

    def finish(self) -> ResolverNetwork:
        """Return the network with the averaged weights, rounded to the precision in which they are stored."""
        stored = {k: v if k.startswith("scaling.") else v.half().float() for k, v in self.averages.items()}
        self.network.load_state_dict(stored)
        return self.network.eval()


def link_loss(
    network: ResolverNetwork, vectors: Tensor, table: MentionTable, entities: IntArray, *, own: bool = False
) -> Tensor:
    """-log of the probability of all true antecedents (or of none), per mention; entity -1 marks a span that is no mention.

    Mentions of unknown entities have no loss and are no antecedents. An entity's first annotated mention in a partly annotated
    document has no antecedent if it is a name; the antecedent of a pronoun may be unknown.

    :param own: the clusters before a mention are those that the network finds, not the true ones.
    """
    pairs = pair_mentions(table, 0, table.size)
    scored = network.score_pairs(network.project_mentions(vectors), table, pairs)
    none = network.score_none(vectors, table)
    alone = np.where(entities < 0, entities.max() + 1 + np.arange(table.size), entities)
    clusters = None if own else np.unique(alone, return_inverse=True)[1]
    arranged = arrange_scores(0, pairs, scored, none)
    groups, _ = ClusterMemory(table).follow(arranged, network.cluster_weights, clusters)
    unknown = entities == UNKNOWN_ENTITY
    padded = none.new_full((table.size, NOUNS + REPEATED + 1), -math.inf)
    truth = torch.zeros(padded.shape, dtype=torch.bool)
    if len(groups.order):
        order, sizes, features = groups
        rows = torch.from_numpy(order)
        gain = network.score_clusters(scored.messages[rows], sizes, features)
        mention, antecedent = pairs.mention[order], pairs.antecedent[order]
        column = np.arange(len(order)) - np.searchsorted(mention, mention)
        at = torch.from_numpy(mention), torch.from_numpy(column)
        padded[at] = scored.scores[rows] + gain.repeat_interleave(torch.from_numpy(sizes))
        right = (entities[mention] == entities[antecedent]) & (entities[mention] >= 0)
        truth[at] = torch.from_numpy(right)
        padded[at] = padded[at].masked_fill(torch.from_numpy(unknown[antecedent]), -math.inf)
    padded[:, -1] = none
    linked = truth.any(1)
    truth[:, -1] = ~linked
    counted = torch.from_numpy(~unknown & (~unknown.any() | (table.classes == NAME_CLASS))) | linked
    true = padded.masked_fill(~truth, -math.inf).logsumexp(1)
    return (padded.logsumexp(1) - true)[counted].mean()


def train_network(
    examples: Sequence[ResolverExample],
    sizes: NetworkSizes,
    settings: ResolverSettings,
    *,
    seed: int = 1,
    progress: Progress = SILENT,
) -> ResolverNetwork:
    """Train on fully annotated documents, then a second time with partly annotated ones, if there are any.

    The result is the mean of the weights of both trainings, which links better than either, in books and in fully annotated
    documents.
    """
    torch.manual_seed(seed)
    network = ResolverNetwork(sizes)
    whole = [example for example in examples if not example.partial]
    partial = [example for example in examples if example.partial]
    network.scaling.fit(torch.cat([example.states[::7].float() for example in whole]))
    trainer = ResolverTrainer(network, settings, settings.epochs * len(whole), seed)
    trainer.run(whole, [], settings.epochs, progress)
    if not partial:
        return trainer.finish()
    first = {name: value.clone() for name, value in trainer.finish().state_dict().items()}
    steps = PARTIAL_EPOCHS * (len(whole) + min(PARTIAL_DOCUMENTS, len(partial)))
    trainer = ResolverTrainer(network, structs.replace(settings, rate=PARTIAL_RATE), steps, seed)
    trainer.run(whole, partial, PARTIAL_EPOCHS, progress, link_found=True)
    for name, value in first.items():
        trainer.averages[name].add_(value).div_(2)
    return trainer.finish()


def fit_resolver(
    pretrained: Pretrained,
    train: Sequence[Document],
    development: Sequence[Document],
    settings: ResolverSettings,
    *,
    partial: Sequence[Document] = (),
    seed: int = 1,
    progress: Progress = SILENT,
) -> Resolver:
    """Train a resolver on annotated documents; development documents choose the threshold of mentions.

    :param partial: documents in which only some mentions are annotated.
    """
    train, development, partial = (
        [drop_repetitions(document) for document in split if len(document)]
        for split in (train, development, partial)
    )
    if not any(document.mentions for document in train):
        raise DataError("a resolver can't be trained: the documents have no mentions")
    backbone = pretrained.get("generative").backbone
    words = WordList.count(train)
    types = sorted({name for document in train for name in document.entity_types.values()})
    examples = [
        ResolverExample(document, own, words, types, partial=some)
        for split, some in ((train, False), ([d for d in partial if d.mentions], True))
        for document, own in zip(split, read_states(pretrained, split, progress), strict=True)
    ]
    sizes = NetworkSizes(backbone.token_state_size, len(words), len(types))
    resolver = Resolver(train_network(examples, sizes, settings, seed=seed, progress=progress), words, types)
    held_out = list(zip(development, read_states(pretrained, development, progress), strict=True))
    if held_out:
        resolver.threshold = max(THRESHOLDS, key=lambda value: measure_threshold(resolver, held_out, value))
    return resolver


@torch.no_grad()
def read_states(
    pretrained: Pretrained, documents: Sequence[Document], progress: Progress = SILENT
) -> Iterator[Tensor]:
    """Read the state after each token of each document, in half precision."""
    encoded = [pretrained.encoder.encode_words(document) for document in documents]
    backbone = pretrained.get("generative").backbone
    for states in backbone.read_corpus(encoded, [len(document) for document in documents], progress):
        yield states.cpu().half()


def measure_threshold(
    resolver: Resolver, documents: Sequence[tuple[Document, Tensor]], threshold: float
) -> float:
    """Measure the CoNLL score of documents with a threshold."""
    resolver.threshold = threshold
    found = []
    for document, states in documents:
        discourse = read_discourse(document)
        words = describe_words(discourse, resolver.words)
        mentions = resolver.find_in_states(discourse, words, [((0, len(document)), states.float())])
        found.append(document.with_mentions(*number_entities(resolver.cluster(discourse, mentions), {})))
    return score_documents([document for document, _ in documents], found).conll


def score_annotation(pretrained: Pretrained, documents: Sequence[Document]) -> CorpusCounts:
    """Score the model's own annotation of documents against their annotation, singletons included."""
    keys = [drop_repetitions(document) for document in documents]
    return score_documents(keys, [annotate_document(pretrained, key.with_mentions(())) for key in keys])
