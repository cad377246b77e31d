"""Which library multiplies float32 matrices on a processor: the faster one of two that are equally exact.

On AMD's processors with AVX-512, MKL multiplies with half of their width; oneDNN uses all of it. torch hands float32
to oneDNN only where it may round to bfloat16 inside. oneDNN does that with AMX alone, which these processors lack.
"""

from functools import cache

import torch

EXACT = 1e-4  # of a product of standard normal numbers, 256 to the sum: float32 errs by 5e-5, bfloat16 by 1e-1


@cache
def quicken_products() -> None:
    """Twice as fast on such processors (docs/LOG.md); on all others this does nothing."""
    if multiplies_at_half_width():
        torch.backends.mkldnn.matmul.fp32_precision = "bf16"  # type: ignore[attr-defined]
        if _error() > EXACT:
            torch.backends.mkldnn.matmul.fp32_precision = "none"  # type: ignore[attr-defined]


def multiplies_at_half_width() -> bool:
    can = torch.cpu.get_capabilities()
    return "AMD" in str(can.get("cpu_name")) and bool(can.get("avx512_bf16")) and not can.get("amx_bf16")


def _error() -> float:
    numbers = torch.randn(256, 256, generator=torch.Generator().manual_seed(0))
    return float((numbers @ numbers - numbers.double() @ numbers.double()).abs().max())
