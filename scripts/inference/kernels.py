"""Matrix products of a local model on the CPU by oneDNN instead of PyTorch's own choice.

PyTorch hands a product in float32 to MKL, which uses half the width of the vector units of CPUs
that Intel did not make. oneDNN, which comes with PyTorch, uses all of it: the same precision, sums
in another order. On other devices, in other precisions and in a PyTorch without oneDNN nothing
changes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class OneDnnLinear(nn.Linear):
    """A linear layer computed by oneDNN; its weight stays where and as it is, or is packed."""

    packed: Tensor | None = None

    def forward(self, input: Tensor) -> Tensor:
        """The layer's output, in the layout and precision of `nn.Linear`."""
        weight = self.weight if self.packed is None else self.packed
        out: Tensor = torch.ops.mkldnn._linear_pointwise(input, weight, self.bias, "none", [], "")
        return out


def available() -> bool:
    """Whether this PyTorch can compute linear layers by oneDNN."""
    built: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return built and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def use_onednn(model: Any) -> int:
    """Let oneDNN compute every linear layer in float32 on the CPU; returns how many there are.

    A weight of its own is packed in oneDNN's layout and the plain one goes; a weight that is also
    the embedding stays plain. What stays is copied out of the mapped file, which is then let go:
    memory is what it was.
    """
    if not available():
        return 0
    shared = _shared_weights(model)
    count = 0
    for module in model.modules():
        if type(module) is not nn.Linear or not _suits(module.weight):
            continue
        module.__class__ = OneDnnLinear
        if id(module.weight) not in shared:
            _pack(module)
        count += 1
    if count:
        _leave_file(model)
    return count


def _suits(weight: Tensor) -> bool:
    return weight.device.type == "cpu" and weight.dtype == torch.float32


def _shared_weights(model: Any) -> set[int]:
    """Weights that stand in more than one module."""
    seen: set[int] = set()
    twice: set[int] = set()
    for module in model.modules():
        for _, parameter in module.named_parameters(recurse=False):
            (twice if id(parameter) in seen else seen).add(id(parameter))
    return twice


@torch.no_grad()
def _leave_file(model: Any) -> None:
    for parameter in model.parameters():
        parameter.data = parameter.data.clone()


@torch.no_grad()
def _pack(layer: Any) -> None:
    layer.packed = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach(), None)
    layer.weight = nn.Parameter(torch.empty(0), requires_grad=False)
