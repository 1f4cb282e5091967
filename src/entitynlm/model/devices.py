"""The device of torch: device names, checked before torch is imported, and the number of threads."""

import re

from entitynlm.errors import ConfigError

_DEVICE = re.compile(r"cpu|mps|(cuda|xpu)(:\d+)?")


def check_device(device: str) -> str:
    """Check that torch could know a device of this name, without importing torch, which takes seconds."""
    if not _DEVICE.fullmatch(device):
        raise ConfigError(f"there is no device {device!r}; name one such as cpu, cuda, cuda:1 or mps")
    return device


def prepare_torch(device: str = "cpu", threads: int | None = None) -> None:
    """Set the number of CPU threads, and check that the device can be used here."""
    check_device(device)
    import torch

    if threads is not None:
        torch.set_num_threads(threads)
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"device {device!r} can't be used here ({str(error).splitlines()[0]})") from error
