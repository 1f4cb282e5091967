"""Word distributions: the class-factored softmax of equation 6 and, as one of a single class, a full one.

Class-factored: p(x | u) = p(class of x | u) · p(x | class, u). Words are stored class by class, so the weights of a class are a
slice; positions are sorted by class, and each class costs small products, one forward and two backward. All of it is one autograd
node, because a node per class would cost more than its arithmetic.

A distribution over many words is computed for a few hundred positions at a time, so that its numbers stay in the cache.
"""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from entitynlm.config import ModelConfig
from entitynlm.errors import ConfigError
from entitynlm.model.encoding.word_classes import WordClasses

POSITIONS_AT_ONCE = 256  # positions whose scores are computed at once


def pick_log_softmax(u: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """(N,) log softmax(u Wᵀ + b)[target] for u (N, D), W (V, D), b (V,), targets (N,)."""
    chunks = zip(u.split(POSITIONS_AT_ONCE), targets.split(POSITIONS_AT_ONCE), strict=True)
    return -torch.cat(
        [F.cross_entropy(F.linear(some, weight, bias), own, reduction="none") for some, own in chunks]
    )


class _WithinClass(torch.autograd.Function):
    """log p(x | class of x, u) for many positions."""

    @staticmethod
    def forward(ctx: Any, u: Tensor, weight: Tensor, bias: Tensor, slots: Tensor, groups: "Groups") -> Tensor:
        out = u.new_empty(len(u))
        saved: list[Tensor] = []
        keep = any(ctx.needs_input_grad)
        u_sorted = u.index_select(0, groups.order)
        slots_sorted = slots[groups.order]
        for start, end, first, last in groups.bounds:
            logits = torch.addmm(bias[first:last], u_sorted[start:end], weight[first:last].t())
            log_probs = F.log_softmax(logits, dim=-1)
            out[start:end] = log_probs.gather(1, slots_sorted[start:end, None] - first).squeeze(1)
            if keep:
                saved.append(log_probs)
        ctx.groups, ctx.log_probs = groups, saved
        ctx.save_for_backward(u_sorted, weight, slots_sorted)
        return out[groups.inverse]

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        u_sorted, weight, slots_sorted = ctx.saved_tensors
        groups: Groups = ctx.groups
        grad = grad_outputs[0][groups.order]
        grad_u = torch.empty_like(u_sorted)
        grad_weight = torch.zeros_like(weight)
        grad_bias = weight.new_zeros(len(weight))
        for (start, end, first, last), log_probs in zip(groups.bounds, ctx.log_probs, strict=True):
            g = grad[start:end, None]
            grad_logits = log_probs.exp().mul_(-g)
            grad_logits.scatter_add_(1, slots_sorted[start:end, None] - first, g)
            torch.mm(grad_logits, weight[first:last], out=grad_u[start:end])
            grad_weight[first:last].addmm_(grad_logits.t(), u_sorted[start:end])
            grad_bias[first:last] += grad_logits.sum(0)
        return grad_u.index_select(0, groups.inverse), grad_weight, grad_bias, None, None


class Groups:
    """Positions sorted by class: the range of each group, and the slice of words that it uses."""

    def __init__(self, classes: np.ndarray, offsets: np.ndarray, device: torch.device) -> None:
        order = np.argsort(classes, kind="stable")
        inverse = np.empty_like(order)
        inverse[order] = np.arange(len(order))
        present, starts = np.unique(classes[order], return_index=True)
        ends = np.append(starts[1:], len(order))[: len(starts)]  # no position, no group
        self.bounds = [
            (start, min(start + POSITIONS_AT_ONCE, int(e)), int(offsets[c]), int(offsets[c + 1]))
            for c, s, e in zip(present, starts, ends, strict=True)
            for start in range(s, e, POSITIONS_AT_ONCE)
        ]
        self.order = torch.from_numpy(order).to(device)
        self.inverse = torch.from_numpy(inverse).to(device)


class ClassSoftmax(nn.Module):
    """p(class | u) · p(word | class, u).

    ``slots`` renumber words so that a class is a contiguous range: class c has the slots ``offsets[c]`` … ``offsets[c + 1]`` - 1.
    A word without a class (the start symbol) can't be predicted.
    """

    def __init__(self, size: int, classes: WordClasses, tied: bool = False) -> None:
        super().__init__()
        class_of = np.asarray(classes.class_of, dtype=np.int64)
        predictable = np.flatnonzero(class_of >= 0)
        words = predictable[np.argsort(class_of[predictable], kind="stable")]
        slots = np.full(len(class_of), -1, dtype=np.int64)
        slots[words] = np.arange(len(words))
        count = int(class_of.max()) + 1
        self.offsets = np.searchsorted(class_of[words], np.arange(count + 1))
        self.class_of_np = class_of
        self.class_of: Tensor
        self.slot_of: Tensor
        self.word_of: Tensor
        self.register_buffer("class_of", torch.from_numpy(class_of), persistent=False)
        self.register_buffer("slot_of", torch.from_numpy(slots), persistent=False)
        self.register_buffer("word_of", torch.from_numpy(words), persistent=False)
        self.class_weight = nn.Parameter(torch.empty(count, size))
        self.class_bias = nn.Parameter(torch.zeros(count))
        self.word_weight = nn.Parameter(torch.empty(len(words), size)) if not tied else None
        self.word_bias = nn.Parameter(torch.zeros(len(words)))

    def weights(self, tied: Tensor | None) -> Tensor:
        """(slots, D) output weights in slot order; the embeddings themselves when they are tied."""
        if self.word_weight is not None:
            return self.word_weight
        assert tied is not None
        return tied[self.word_of]

    def forward(self, u: Tensor, x: Tensor, tied: Tensor | None = None) -> Tensor:
        """(N,) log p(x | u) for u (N, D) and x (N,)."""
        classes = self.class_of[x]
        groups = Groups(classes.cpu().numpy(), self.offsets, u.device)
        within: Tensor = _WithinClass.apply(u, self.weights(tied), self.word_bias, self.slot_of[x], groups)
        return pick_log_softmax(u, self.class_weight, self.class_bias, classes) + within

    def log_probs(self, u: Tensor, tied: Tensor | None = None) -> Tensor:
        """(N, V) the whole distribution; words that can't be predicted have -inf."""
        class_log_probs = F.log_softmax(F.linear(u, self.class_weight, self.class_bias), dim=-1)
        logits = F.linear(u, self.weights(tied), self.word_bias)
        out = u.new_full((len(u), len(self.class_of_np)), -torch.inf)
        for c in range(len(self.offsets) - 1):
            first, last = int(self.offsets[c]), int(self.offsets[c + 1])
            if first < last:
                within = F.log_softmax(logits[:, first:last], dim=-1)
                out[:, self.word_of[first:last]] = class_log_probs[:, c : c + 1] + within
        return out


def make_softmax(config: ModelConfig, words: int, classes: WordClasses | None) -> ClassSoftmax:
    """Make the softmax that a configuration asks for; a full softmax has one class."""
    if config.softmax == "full":
        classes = WordClasses(np.minimum(np.arange(words), 1) - 1)
    if classes is None:
        raise ConfigError("the class-factored softmax needs word classes")
    if len(classes.class_of) != words:
        raise ConfigError(f"there are classes of {len(classes.class_of)} words for a vocabulary of {words}")
    return ClassSoftmax(config.hidden_size, classes, config.tied)
