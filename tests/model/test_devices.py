"""Device names are checked without torch, devices with it."""

import pytest

from entitynlm.errors import ConfigError
from entitynlm.model.devices import check_device, prepare_torch


def test_names_of_devices() -> None:
    for name in ("cpu", "cuda", "cuda:1", "mps"):
        assert check_device(name) == name
    for name in ("", "gpu", "cuda:x", "cpu "):
        with pytest.raises(ConfigError, match="no device"):
            check_device(name)


def test_a_device_that_is_not_here_is_told() -> None:
    prepare_torch("cpu")
    with pytest.raises(ConfigError, match="can't be used here"):
        prepare_torch("cuda:99")
