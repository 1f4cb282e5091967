"""1. Training: EntityNLM against a plain LSTM language model with the same sizes, softmax, batch and optimiser."""

from benchmarks.contestants import make_network, score_entities, score_plain, train_entities, train_plain
from benchmarks.data import load_ontogum, make_batches
from benchmarks.figures import Context, Figure
from benchmarks.lstm import PlainLanguageModel
from benchmarks.timing import median_rate, median_ratio, median_speed, race, threads
from entitynlm.config import ModelConfig, TrainingConfig

NAME = "training"
SLOWEST_BASELINE = 20_000
BATCH = 16


def run(context: Context) -> list[Figure]:
    """d = 128, V = 10K, class-factored softmax, sixteen OntoGUM documents per update."""
    material = load_ontogum(context.data)
    config, training = ModelConfig(hidden_size=128, embedding_size=128, softmax="classes"), TrainingConfig()
    network = make_network(material, config)
    plain = PlainLanguageModel(config, material.words, material.classes)
    batches = make_batches(material.documents, BATCH)[: context.choose(4, 1)]
    contestants = {
        "entities": train_entities(network, batches, training),
        "plain": train_plain(plain, batches, training),
        "score": score_entities(network, batches),
        "score_plain": score_plain(plain, batches),
    }
    laps = race(contestants, context.choose(5, 1))
    some = batches[:1]  # threads wait for each other, which on a busy machine takes its time
    with threads(2):
        both = race(
            {
                "entities": train_entities(network, some, training),
                "plain": train_plain(plain, some, training),
            },
            context.choose(3, 1),
        )
    baseline = median_rate(laps["plain"])
    where = f"{material.name}, d = 128, V = {material.words:,}"
    text = f"training speed ÷ plain LSTM's ({where})"
    if baseline < SLOWEST_BASELINE:
        text += f" — void: the plain LSTM is below {SLOWEST_BASELINE:,}"
    return [
        Figure("train_vs_lstm", median_ratio(laps["entities"], laps["plain"]), text, must=0.6, aim=0.85),
        Figure("train_tokens_per_cpu_second", median_rate(laps["entities"]), "training, EntityNLM", "tokens/CPU-s"),
        Figure("lstm_tokens_per_cpu_second", baseline, "training, plain LSTM", "tokens/CPU-s"),
        Figure("train_tokens_per_second", median_speed(laps["entities"]), "… by the wall clock", "tokens/s"),
        Figure("lstm_tokens_per_second", median_speed(laps["plain"]), "… plain LSTM", "tokens/s"),
        Figure("train_tokens_per_second_two_threads", median_speed(both["entities"]), "… two threads", "tokens/s"),
        Figure("lstm_tokens_per_second_two_threads", median_speed(both["plain"]), "… plain LSTM", "tokens/s"),
        Figure("score_vs_lstm", median_ratio(laps["score"], laps["score_plain"]), "scoring speed ÷ plain LSTM's"),
        Figure("score_tokens_per_cpu_second", median_rate(laps["score"]), "scoring, EntityNLM", "tokens/CPU-s"),
    ]  # fmt: skip
