"""4. Cost per token as a document grows, with entities in proportion: one document at a time, without the optimiser."""

import statistics
from collections.abc import Sequence

import torch

from benchmarks.contestants import make_network, score_entities
from benchmarks.data import cut_pieces, join_documents, load_ontogum
from benchmarks.figures import Context, Figure
from benchmarks.timing import Contestant, Lap, measure_peak, race, start_memory
from entitynlm.config import ModelConfig
from entitynlm.model.batch.scores import cut_windows, score_windows
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import FixedNoise

NAME = "growth"
SIZES = (500, 2_000, 8_000, 16_000)


def differentiate(network: EntityNetwork, documents: Sequence[EncodedDocument]) -> Contestant:
    """Layout, forward and backward pass of each document by itself."""

    def lap() -> int:
        network.train()
        for document in documents:
            network.zero_grad(set_to_none=True)
            result = score_windows(network, cut_windows(document, network), noise=FixedNoise())
            (-result.scores.total).backward()
        return sum(len(document) for document in documents)

    return lap


def make_documents(context: Context, name: str, sizes: Sequence[int]) -> dict[int, list[EncodedDocument]]:
    """For each size the same words, in documents of that size."""
    material = load_ontogum(context.data, name)
    longest = max(sizes)
    stretch = cut_pieces(join_documents(material.documents), longest)[: context.choose(2, 1)]
    return {size: [piece for part in stretch for piece in cut_pieces(part, size)] for size in sizes}


def find_growth(laps: dict[str, list[Lap]], low: str, high: str) -> float:
    """Cost per token of the one ÷ cost per token of the other, the median over rounds."""
    pairs = zip(laps[low], laps[high], strict=True)
    return statistics.median(small.per_cpu_second / large.per_cpu_second for small, large in pairs)


def train_one(context: Context, size: int) -> float:
    """In a process of its own: one document of that size, forward and backward."""
    material = load_ontogum(context.data)
    network = make_network(material, ModelConfig(hidden_size=128, embedding_size=128))
    document = cut_pieces(join_documents(material.documents), size)[0]
    differentiate(network, make_documents(context, "ontogum", (500,))[500][:1])()
    start_memory()
    differentiate(network, [document])()
    return float(document.e.max(initial=0))


def run(context: Context) -> list[Figure]:
    torch.manual_seed(0)
    sizes = SIZES if not context.quick else (200, 400)
    config = ModelConfig(hidden_size=128, embedding_size=128)
    contestants: dict[str, Contestant] = {}
    names = ["ontogum"] + (["gum"] if context.data is not None and (context.data / "gum").is_dir() else [])
    for name in names:
        network = make_network(load_ontogum(context.data, name), config)
        for size, documents in make_documents(context, name, sizes).items():
            if name == "ontogum" or size in (sizes[0], sizes[-1]):
                contestants[f"{name} train {size}"] = differentiate(network, documents)
                contestants[f"{name} score {size}"] = score_entities(network, [[d] for d in documents])
    laps = race(contestants, context.choose(3, 1))
    growth = {
        (name, what): find_growth(laps, f"{name} {what} {sizes[0]}", f"{name} {what} {sizes[-1]}")
        for name in names
        for what in ("train", "score")
    }
    worst = max(growth["ontogum", "train"], growth["ontogum", "score"])
    key = "cost_growth_500_to_16000"
    figures = [
        Figure(key, worst, f"cost per token, {sizes[-1]:,} ÷ {sizes[0]:,} tokens (worse of these)", must=1.5, most=True),
        Figure(f"{key}_train", growth["ontogum", "train"], "… forward and backward"),
        Figure(f"{key}_score", growth["ontogum", "score"], "… scoring"),
    ]  # fmt: skip
    if "gum" in names:
        hard = max(growth["gum", "train"], growth["gum", "score"])
        figures.append(Figure(f"{key}_gum", hard, "… GUM, with three times as many entities (singletons)"))
    for size in sizes:
        rate = statistics.median(lap.per_cpu_second for lap in laps[f"ontogum train {size}"])
        figures.append(
            Figure(f"train_tokens_per_cpu_second_{size}", rate, f"training, {size:,} tokens", "tokens/CPU-s")
        )
    for size in (sizes[0], sizes[-1]):
        peak = measure_peak(train_one, context, size)
        text = f"memory to train on {size:,} tokens, {peak.result:.0f} entities"
        figures.append(Figure(f"train_peak_megabytes_{size}", peak.megabytes, text, "MB"))
    return figures
