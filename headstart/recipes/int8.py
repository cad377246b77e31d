"""A classifier that multiplies in int8: faster on a CPU, and a little off."""

import torch
from torch import Tensor, nn

from headstart.errors import ConfigError
from headstart.generate.shortlist import pack_int8, rounded_rows
from headstart.model.models import Classifier


class Int8Linear(nn.Module):
    """A linear layer in int8. Inputs are rounded to steps that a whole batch shares, so the batch matters a little."""

    def __init__(self, linear: nn.Linear):
        super().__init__()
        whole, steps, _, _ = rounded_rows(linear.weight.detach())
        bias = torch.zeros(len(whole)) if linear.bias is None else linear.bias.detach()
        self.packed = pack_int8(whole, steps, bias)

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., F)"""
        return torch.ops.quantized.linear_dynamic(x, self.packed, True)


def to_int8(model: Classifier) -> None:
    """Turn the layers of the body, in place, for prediction only; embedding, norms and head stay in float32.

    So does what makes keys and values of the last layer, where a class is read at one position: its queries are of
    that one only, and the product is done in parts.
    """
    if torch.backends.quantized.engine not in ("x86", "fbgemm"):
        raise ConfigError("--int8: torch has no fast int8 product for this processor; leave it out")
    last = model.body.blocks[-1].get_submodule("attention.project")
    kept = last if model.pooling != "mean" else None
    for module in list(model.body.blocks.modules()):
        for name, part in list(module.named_children()):
            if isinstance(part, nn.Linear) and part is not kept:
                setattr(module, name, Int8Linear(part))
