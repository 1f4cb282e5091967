"""Fixtures of the tests of entity prediction."""

from collections.abc import Iterator

import pytest

from entitynlm.prediction import predictor


@pytest.fixture(scope="module")
def short_training() -> Iterator[None]:
    """Train our predictor for three epochs, without GloVe's vectors, which take seconds to load."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(predictor, "PREDICTOR_EPOCHS", 3)
        patched.setattr(predictor, "BATCH_SIZE", 8)
        patched.setattr(predictor, "GLOVE_PACKAGES", ("no_such_package",))
        yield
