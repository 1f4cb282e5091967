"""5. The class-factored softmax against the full one, at V = 10K and 50K."""

from benchmarks.contestants import make_network, score_entities, train_entities
from benchmarks.data import draw_words, load_ontogum, make_batches
from benchmarks.figures import Context, Figure
from benchmarks.timing import Contestant, median_rate, median_ratio, race
from entitynlm.config import ModelConfig, Softmax, TrainingConfig

NAME = "softmax"
BATCH = 8
KINDS: tuple[Softmax, ...] = ("classes", "full")


def run(context: Context) -> list[Figure]:
    """Training and scoring of the whole model on the same mentions, with words drawn by Zipf's law."""
    figures = []
    for words, name in ((10_000, "10k"), (50_000, "50k")):
        material = draw_words(load_ontogum(context.data), words)
        batches = make_batches(material.documents, context.choose(BATCH, 1))[: context.choose(2, 1)]
        contestants: dict[str, Contestant] = {}
        for kind in KINDS:
            config = ModelConfig(hidden_size=128, embedding_size=128, softmax=kind)
            network = make_network(material, config)
            contestants[f"train {kind}"] = train_entities(network, batches, TrainingConfig())
            contestants[f"score {kind}"] = score_entities(network, batches)
        laps = race(contestants, context.choose(3, 1))
        for what in ("train", "score"):
            ratio = median_ratio(laps[f"{what} classes"], laps[f"{what} full"])
            text = f"V = {words:,}, {what}: class-factored ÷ full softmax"
            figures.append(Figure(f"classes_vs_full_{what}_{name}", ratio, text))
            for kind in KINDS:
                rate = median_rate(laps[f"{what} {kind}"])
                key = f"{what}_tokens_per_cpu_second_{kind}_{name}"
                figures.append(Figure(key, rate, f"… {what}, {kind}", "tokens/CPU-s"))
    return figures
