"""Fixtures that every test may use."""

import os
from pathlib import Path

# Before numpy is loaded: with two threads the linear algebra sums in another order, and a fit by L-BFGS ends elsewhere.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Tests that mean the default choice unset it; all others must not depend on which extras are installed.
os.environ["ENTITYNLM_MODEL"] = "entitynlm-en"

import pytest
import torch
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")

torch.set_num_threads(1)  # the suite runs in one process per core, and threads would only wait for each other

CLONE = Path(__file__).resolve().parents[1]
CORPORA = next(filter(Path.is_dir, (CLONE.parent / "shared" / "data", CLONE / "corpora")), None)


@pytest.fixture(scope="session")
def corpora_path() -> Path:
    """The folder of the real corpora; tests that ask for it are skipped, with the reason, where it is missing."""
    if CORPORA is None:
        pytest.skip("this test needs the real corpora in the folder corpora (entitynlm data get)")
    return CORPORA


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small untrained model with all parts."""
    from support.small_model import store_model

    return store_model(tmp_path_factory.mktemp("model"))
