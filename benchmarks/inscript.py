"""3. InScript with the sizes at which the authors' program was measured: d = 128, V = 1K, full softmax, one thread."""

from benchmarks.contestants import make_network, score_entities, train_entities
from benchmarks.data import load_inscript, make_batches
from benchmarks.figures import Context, Figure
from benchmarks.timing import median_rate, median_speed, race, threads
from entitynlm.config import ModelConfig, TrainingConfig

NAME = "inscript"
AUTHORS_TRAIN, AUTHORS_SCORE = 5_600, 23_000  # tokens per CPU-second of the authors' program
BATCH = 16


def run(context: Context) -> list[Figure]:
    """A lap of training is an epoch, a lap of scoring all training documents."""
    material = load_inscript(context.data)
    network = make_network(material, ModelConfig(hidden_size=128, embedding_size=128, softmax="full"))
    documents = material.documents[: context.choose(len(material.documents), 20)]
    batches = make_batches(documents, BATCH)
    training, scoring = train_entities(network, batches, TrainingConfig()), score_entities(network, batches)
    laps = race({"train": training, "score": scoring}, context.choose(3, 1))
    some = batches[:4]  # threads wait for each other, which on a busy machine takes its time
    training, scoring = train_entities(network, some, TrainingConfig()), score_entities(network, some)
    with threads(2):
        both = race({"train": training, "score": scoring}, context.choose(3, 1))
    train, score = median_rate(laps["train"]), median_rate(laps["score"])
    unit, where = "tokens/CPU-s", f"{material.name}, V = {material.words:,}, full softmax"
    return [
        Figure("train_tokens_per_cpu_second_inscript", train, f"training ({where})", unit, must=16_800, aim=25_200),
        Figure("score_tokens_per_cpu_second_inscript", score, "scoring", unit, must=57_500, aim=78_000),
        Figure("train_vs_authors_program", train / AUTHORS_TRAIN, "training ÷ 5,600 of the authors' program"),
        Figure("score_vs_authors_program", score / AUTHORS_SCORE, "scoring ÷ 23,000 of the authors' program"),
        Figure("train_tokens_per_second_inscript", median_speed(laps["train"]), "training by the wall clock", "tokens/s"),
        Figure("score_tokens_per_second_inscript", median_speed(laps["score"]), "scoring by the wall clock", "tokens/s"),
        Figure("train_tokens_per_second_inscript_two_threads", median_speed(both["train"]), "training, two threads", "tokens/s"),
        Figure("score_tokens_per_second_inscript_two_threads", median_speed(both["score"]), "scoring, two threads", "tokens/s"),
    ]  # fmt: skip
