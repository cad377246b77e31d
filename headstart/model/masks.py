"""Who may look at whom: True means that the query (row) may look at the key (column)."""

import torch
from torch import Tensor


def causal_mask(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """Each query sees itself and everything before it; the last query sees all keys. (T, S)"""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(diagonal=keys - queries)


def padding_mask(real: Tensor) -> Tensor:
    """Nobody looks at padding; `real` is True at real tokens. (B, S) -> (B, 1, 1, S)"""
    return real[:, None, None, :]


def same_document_mask(documents: Tensor) -> Tensor:
    """In a window of several texts, each looks only at its own. (B, T) -> (B, 1, T, T)"""
    return documents[:, None, :, None] == documents[:, None, None, :]


def real_positions(lengths: Tensor, positions: int) -> Tensor:
    """True at the first `lengths` positions of each row. (B,) -> (B, T)"""
    return torch.arange(positions, device=lengths.device) < lengths[:, None]
