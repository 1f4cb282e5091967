"""Processes that train one network together, as ``torchrun`` starts them: what they exchange, and which of them writes.

Each has the whole network and all documents. They share the documents of a batch and add up their gradients, so all of them make
the same update. Gradients are added up in one message per update, beside the loss, by which all see at once that it is no number.

This is data parallelism as in torch's DistributedDataParallel, which is not used: it takes the mean over processes, whatever the
number of words of each.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed

from entitynlm.errors import ConfigError

Value = TypeVar("Value")


@dataclass(frozen=True)
class Processes:
    """This process among all: its number, how many there are, and its number on its machine."""

    rank: int = 0
    count: int = 1
    local_rank: int = 0

    @property
    def first(self) -> bool:
        """True for the process that writes and prints."""
        return self.rank == 0

    def place(self, device: str) -> str:
        """The device of this process: each has a GPU of its own."""
        return f"cuda:{self.local_rank}" if device == "cuda" and self.count > 1 else device

    @contextlib.contextmanager
    def connect(self, device: str) -> Iterator[None]:
        """Find the others (by the environment that torchrun sets), by NCCL between GPUs and by Gloo between CPUs."""
        if self.count == 1:
            yield
            return
        distributed.init_process_group("nccl" if device.startswith("cuda") else "gloo")
        try:
            yield
            distributed.barrier()  # no process leaves while another still listens
        finally:
            distributed.destroy_process_group()

    def add_up(self, values: Tensor) -> Tensor:
        """The sum over all processes, the same bits in each."""
        if self.count > 1:
            distributed.all_reduce(values)
        return values

    def add_up_gradients(self, parameters: Iterable[Tensor], loss: float) -> float:
        """Add up every parameter's gradient over all processes (none where no process has one), and their losses."""
        if self.count == 1:
            return loss
        learned = [value for value in parameters if value.requires_grad]
        parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in learned]
        more = torch.tensor([*(p.grad is not None for p in learned), loss]).to(parts[0])
        sums = self.add_up(torch.cat([*(part.reshape(-1) for part in parts), more]))
        found = sums[-len(more) : -1].tolist()
        for value, total, count in zip(
            learned, sums.split([p.numel() for p in parts] + [len(more)]), found, strict=False
        ):
            value.grad = total.view_as(value) if count else None
        return float(sums[-1])

    def any(self, condition: bool) -> bool:
        """Tell whether a condition holds in any process."""
        return any(self.gather(condition))

    def gather(self, value: Value) -> list[Value]:
        """The value of every process, in their order."""
        found: list[Any] = [None] * self.count
        if self.count == 1:
            return [value]
        distributed.all_gather_object(found, value)
        return found

    def follow_first(self, value: Value) -> Value:
        """The first process's value: what one decides and all do."""
        box: list[Any] = [value]
        if self.count > 1:
            distributed.broadcast_object_list(box)
        return box[0]

    def copy_first(self, network: torch.nn.Module) -> None:
        """Start from the first process's parameters."""
        for value in network.state_dict().values() if self.count > 1 else ():
            distributed.broadcast(value, 0)

    def check_same(self, value: Any, what: str) -> None:
        """Processes that see different things would train different networks and never notice."""
        if any(other != value for other in self.gather(value)):
            raise ConfigError(
                f"the processes of this training don't have the same {what}; all must see the same files"
            )

    @contextlib.contextmanager
    def one_by_one(self) -> Iterator[None]:
        """Let the first process of each machine go before the others, which find in the cache what it left there."""
        if self.count > 1 and self.local_rank:
            distributed.barrier()
        yield
        if self.count > 1 and not self.local_rank:
            distributed.barrier()


ONE_PROCESS = Processes()
