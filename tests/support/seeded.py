"""The random generator of one generated story."""

from random import Random


def make_random(seed: int, story: int) -> Random:
    """As ``generate_story`` makes it."""
    return Random(f"entitynlm stories {seed} {story}")
