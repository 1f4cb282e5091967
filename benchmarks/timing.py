"""Fair measurements on a machine that others use too.

The figure that counts is CPU time of one thread. Things that are compared run by turns within one process, so that a slow minute
of the machine hits all of them, and the median of the laps is reported.
"""

import multiprocessing
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch


@dataclass(frozen=True)
class Lap:
    """How many tokens in how much time."""

    tokens: int
    cpu: float
    wall: float

    @property
    def per_cpu_second(self) -> float:
        return self.tokens / self.cpu

    @property
    def per_second(self) -> float:
        return self.tokens / self.wall


Contestant = Callable[[], int]
"""Does a lap of work and says how many tokens it was."""


def time_lap(contestant: Contestant) -> Lap:
    cpu, wall = time.process_time(), time.perf_counter()
    tokens = contestant()
    return Lap(tokens, time.process_time() - cpu, time.perf_counter() - wall)


def race(contestants: Mapping[str, Contestant], laps: int) -> dict[str, list[Lap]]:
    """A lap to warm up for each (compilation, caches), then ``laps`` rounds in which each runs once."""
    for contestant in contestants.values():
        contestant()
    times: dict[str, list[Lap]] = {name: [] for name in contestants}
    for _ in range(laps):
        for name, contestant in contestants.items():
            times[name].append(time_lap(contestant))
    return times


def median_rate(laps: list[Lap]) -> float:
    """Tokens per CPU-second."""
    return statistics.median(lap.per_cpu_second for lap in laps)


def median_speed(laps: list[Lap]) -> float:
    """Tokens per second by the clock on the wall."""
    return statistics.median(lap.per_second for lap in laps)


def median_ratio(laps: list[Lap], others: list[Lap]) -> float:
    """How many times as fast: the median over rounds, each compared within itself."""
    pairs = zip(laps, others, strict=True)
    return statistics.median(mine.per_cpu_second / other.per_cpu_second for mine, other in pairs)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many threads for torch."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True)
class Peak:
    """What a function gave back in a process of its own, and how much memory (MB) it took on top of what was there before."""

    result: Any
    megabytes: float


def measure_peak(function: Callable[..., Any], *arguments: Any) -> Peak:
    """Run ``function`` (of a module) in a fresh process; ``function`` calls ``start_memory`` when its inputs are made."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        result, peak = pool.apply(_run_alone, (function, arguments))
    return Peak(result, peak)


_before = 0.0
RESET = Path("/proc/self/clear_refs")


def start_memory() -> None:
    """From here on memory counts (where the system can't forget earlier peaks, only what exceeds them does)."""
    global _before
    with suppress(OSError):
        RESET.write_text("5", encoding="ascii")
    _before = _high_water()


def _run_alone(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, float]:
    torch.set_num_threads(1)
    start_memory()
    result = function(*arguments)
    return result, _high_water() - _before


def _high_water() -> float:
    """The largest resident memory so far, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6
