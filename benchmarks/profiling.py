"""Where the time goes: torch's profiler, its operations put together by what they are for."""

from collections.abc import Callable

from torch.profiler import ProfilerActivity, profile

from benchmarks.contestants import make_network, score_entities, train_entities
from benchmarks.data import load_inscript, load_ontogum, make_batches
from benchmarks.figures import Context
from entitynlm.config import ModelConfig, TrainingConfig

PURPOSES = {
    "LSTM": ("aten::mkldnn_rnn", "aten::_thnn_fused_lstm"),
    "word softmax": ("_PickLogSoftmax", "_WithinClass"),
    "entity states (eq. 7, 8)": ("_CompiledScan", "aten::normal_"),
    "entity choice (eq. 4)": ("_CompiledChoice",),
    "gathers": ("_TakeRows", "_AddRows"),
    "dropout": ("aten::random_", "aten::lt", "aten::bernoulli_"),
    "word embeddings": ("aten::embedding_dense_backward", "aten::embedding"),
    "optimiser and clipping": ("Optimizer.step", "aten::_foreach", "aten::linalg_vector_norm"),
}
"""Operations by the beginnings of their names; their parts count with them."""

MATRIX = ("aten::mm", "aten::addmm")


def profile_lap(lap: Callable[[], int]) -> dict[str, float]:
    """Shares of the CPU time of a lap."""
    lap()
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        lap()
    averages = recorded.key_averages()
    total = float(sum(event.self_cpu_time_total for event in averages))
    shares: dict[str, float] = {}
    for purpose, names in PURPOSES.items():
        found = [event for event in averages if event.key.startswith(names) and "evaluate" not in event.key]
        outer = _drop_inner([(event.key, event.cpu_time_total, event.self_cpu_time_total) for event in found])
        shares[purpose] = outer / total
    inside = _matrix_time_inside(recorded)
    products = sum(event.self_cpu_time_total for event in averages if event.key in MATRIX)
    shares["other matrix products (eq. 3-6, 8)"] = max(0.0, products - inside) / total
    shares["everything else"] = max(0.0, 1 - sum(shares.values()))
    return shares


def _drop_inner(events: list[tuple[str, float, float]]) -> float:
    """Functions of ours count with all that they call; torch's operations call each other, so they count by themselves."""
    return sum(total if key.startswith("_") or "Optimizer" in key else own for key, total, own in events)


def _matrix_time_inside(recorded: profile) -> float:
    """Matrix products that a named purpose above has counted already."""
    inside = 0.0
    for event in recorded.events() or []:
        if event.name in MATRIX:
            parent = event.cpu_parent
            while parent is not None and not parent.name.startswith(("_Pick", "_Within", "Optimizer")):
                parent = parent.cpu_parent
            if parent is not None:
                inside += event.self_cpu_time_total
    return inside


def run_profiles(context: Context) -> dict[str, dict[str, float]]:
    """Shares of time for training on OntoGUM's and InScript's sizes, and for scoring."""
    shares = {}
    for name, material, softmax in (
        ("OntoGUM", load_ontogum(context.data), "classes"),
        ("InScript", load_inscript(context.data), "full"),
    ):
        config = ModelConfig(hidden_size=128, embedding_size=128, softmax=softmax)  # type: ignore[arg-type]
        network = make_network(material, config)
        batches = make_batches(material.documents, 16)[: context.choose(4, 1)]
        shares[f"{name}, training"] = profile_lap(train_entities(network, batches, TrainingConfig()))
        shares[f"{name}, scoring"] = profile_lap(score_entities(network, batches))
    return shares
