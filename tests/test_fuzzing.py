"""A few inputs for each target of the fuzzer (`make fuzz` tries a million), and everything that it ever found.

An input ends in a result or in an error of ours, within a few seconds, and in bounded memory.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("fastapi")

from support.fuzz_targets import TARGETS, remove_folders
from support.strategies import damaged

FOUND = sorted((Path(__file__).parent / "fuzz_findings").glob("*/*"))
SECONDS = 20  # for one input


@pytest.fixture(scope="module", autouse=True)
def _folders() -> Iterator[None]:
    yield
    remove_folders()


@contextmanager
def time_limit() -> Iterator[None]:
    def end(*_: object) -> None:
        raise TimeoutError(f"an input took more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", TARGETS)
def test_valid_inputs_are_taken(name: str) -> None:
    """What a fuzzer starts from must lead inside: errors here would keep it at the door."""
    for data in TARGETS[name].make_seeds():
        if not data.startswith(b"p{"):  # a predictor would need to be trained
            TARGETS[name].run(data)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(drawn=st.data())
def test_damaged_inputs_end_in_a_result_or_in_an_error_of_ours(name: str, drawn: st.DataObject) -> None:
    sample = drawn.draw(st.sampled_from(TARGETS[name].make_seeds()))
    with time_limit():
        TARGETS[name].try_input(drawn.draw(damaged(sample) | st.binary(max_size=60)))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_was_found_is_mended(path: Path) -> None:
    name = next(name for name in TARGETS if name.replace(" ", "-") == path.parent.name)
    with time_limit():
        TARGETS[name].try_input(path.read_bytes())
