"""4 b. A novel of 100,000 tokens: scored, and trained on, in windows that carry the states over."""

import time
from dataclasses import dataclass

from benchmarks.contestants import make_network
from benchmarks.data import Material, join_documents, load_ontogum
from benchmarks.figures import Context, Figure
from benchmarks.timing import measure_peak, start_memory
from entitynlm.config import ModelConfig, TrainingConfig
from entitynlm.inference.scoring import score_document
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.training.loop import Training

NAME = "novel"
WINDOW = 1_000


@dataclass(frozen=True)
class Outcome:
    """:param cpu: seconds.  :param entities: how many the text has."""

    cpu: float
    entities: int


def make_novel(material: Material, size: int) -> EncodedDocument:
    """Annotated documents one after the other, from the first on again when they do not suffice."""
    documents = list(material.documents)
    have = sum(len(document) for document in documents)
    novel = join_documents(documents * (1 + size // have))
    return EncodedDocument(
        "novel", *(a[:size] for a in (novel.x, novel.r, novel.e, novel.l, novel.sentence, novel.origin))
    )


def score_novel(context: Context, size: int) -> Outcome:
    """In a process of its own: log P of the text, window after window."""
    material = load_ontogum(context.data)
    network = make_network(material, ModelConfig(hidden_size=128, embedding_size=128))
    novel = make_novel(material, size)
    score_document(network, make_novel(material, 500), ("",) * 500)
    start_memory()
    started = time.process_time()
    scores = score_document(network, novel, ("",) * len(novel))
    assert len(scores.x) == size
    return Outcome(time.process_time() - started, int(novel.e.max()))


def train_novel(context: Context, size: int) -> Outcome:
    """In a process of its own: one pass of the training loop over the text in windows."""
    material = load_ontogum(context.data)
    network = make_network(material, ModelConfig(hidden_size=128, embedding_size=128))
    novel = make_novel(material, size)
    small = make_novel(material, 500)
    config = TrainingConfig(window=WINDOW, epochs=1)
    Training(network, [small], [small], config, seed=0).run()
    start_memory()
    started = time.process_time()
    Training(network, [novel], [small], config, seed=0).run()
    return Outcome(time.process_time() - started, int(novel.e.max()))


def run(context: Context) -> list[Figure]:
    sizes = (20_000, 100_000) if not context.quick else (1_000, 2_000)
    figures = []
    for size in sizes:
        peak = measure_peak(score_novel, context, size)
        name = f"{size:,} tokens, {peak.result.entities:,} entities"
        figures += [
            Figure(f"novel_score_peak_megabytes_{size}", peak.megabytes, f"memory to score {name}", "MB"),
            Figure(
                f"novel_score_tokens_per_cpu_second_{size}", size / peak.result.cpu, "… speed", "tokens/CPU-s"
            ),
        ]
    peak = measure_peak(train_novel, context, sizes[-1])
    text = f"memory to train on {sizes[-1]:,} tokens in windows of {WINDOW:,}"
    return [
        *figures,
        Figure(f"novel_train_peak_megabytes_{sizes[-1]}", peak.megabytes, text, "MB"),
        Figure(f"novel_train_tokens_per_cpu_second_{sizes[-1]}", sizes[-1] / peak.result.cpu, "… speed", "tokens/CPU-s"),
    ]  # fmt: skip
