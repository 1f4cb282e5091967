"""Batches: documents of about the same length together, in an order that depends on (seed, epoch) alone.

Because nothing but these numbers decides the order, a resumed training goes on exactly where it stopped.
"""

from collections.abc import Sequence

import numpy as np


def make_batches(lengths: Sequence[int], batch_size: int, *, seed: int, epoch: int) -> list[list[int]]:
    """Shuffled batches of similar lengths, blurred by a tenth so that documents meet other neighbours in every epoch."""
    rng = np.random.default_rng([seed, epoch])
    blurred = np.asarray(lengths, dtype=float) * rng.uniform(0.9, 1.1, len(lengths))
    order = np.argsort(-blurred, kind="stable")
    batches = [order[i : i + batch_size].tolist() for i in range(0, len(order), batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def choose_documents(count: int, share: int, *, seed: int, epoch: int) -> np.ndarray:
    """The documents of an epoch that has ``share`` of them (0: all): pass after pass over all, each in an order of its own."""
    if not share or share >= count:
        return np.arange(count)
    first = epoch * share
    passes = range(first // count, (first + share - 1) // count + 1)
    orders = [np.random.default_rng([seed, number, 2]).permutation(count) for number in passes]
    start = first - passes[0] * count
    return np.unique(np.concatenate(orders)[start : start + share])


def make_even_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Batches in a fixed order for evaluation, as many documents each as fit ``budget`` padded words (at least one)."""
    batches: list[list[int]] = []
    for number in np.argsort(-np.asarray(lengths), kind="stable").tolist():
        longest = lengths[batches[-1][0]] if batches else 0
        if batches and longest * (len(batches[-1]) + 1) <= budget:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches


def derive_seed(*numbers: int) -> int:
    """One seed from several numbers, well mixed."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1)
