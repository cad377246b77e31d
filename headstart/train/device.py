"""Where a training runs: which device, in which precision, beside which other workers."""

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal

import torch
import torch.distributed as dist

from headstart.errors import ConfigError
from headstart.train.memory import keep_freed_memory
from headstart.train.products import quicken_products

Precision = Literal["auto", "float32", "bfloat16", "float16"]
WIDE = 128  # of a body, from which on a processor gains more by half precision than the casts cost (docs/LOG.md)


@dataclass(frozen=True)
class Workers:
    """This process among those that torchrun started; alone, it is number 0 of 1."""

    rank: int
    world: int
    device: torch.device

    @property
    def first(self) -> bool:
        """One writer: only this worker touches the run folder."""
        return self.rank == 0

    def add_up(self, value: float) -> float:
        """The sum over all workers."""
        if self.world == 1:
            return value
        total = torch.tensor(value, dtype=torch.float64, device="cpu" if self.device.type == "cpu" else self.device)
        dist.all_reduce(total)
        return total.item()

    def agree(self, flag: bool) -> bool:
        """True as soon as one worker says so."""
        return self.add_up(float(flag)) > 0

    def wait(self) -> None:
        if self.world > 1:
            dist.barrier()


def join_workers(device: str = "auto") -> Workers:
    """Read what torchrun says; gloo between CPUs, nccl between GPUs."""
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    chosen = choose_device(device, int(os.environ.get("LOCAL_RANK", 0)))
    if world > 1 and not dist.is_initialized():
        dist.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    return Workers(rank, world, chosen)


def refuse_workers(job: str) -> None:
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        raise ConfigError(f"{job} trains one model after the other in one process; start it without torchrun")


def choose_device(name: str = "auto", local_rank: int = 0) -> torch.device:
    """The device of that name, or the best there is; the process is made ready to compute."""
    keep_freed_memory()
    device = _best_device(local_rank) if name == "auto" else _named_device(name)
    if device.type == "cpu":
        quicken_products()
    return device


def _best_device(local_rank: int) -> torch.device:
    if torch.cuda.is_available():
        return torch.device("cuda", local_rank % torch.cuda.device_count())
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def _named_device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise ConfigError(f"--device {name}: not available here; try --device cpu") from None
    return device


def resolve_precision(
    precision: Precision, device: torch.device, width: int
) -> Literal["float32", "bfloat16", "float16"]:
    """`auto`: half precision only where the device computes a body of that width faster than in float32."""
    if precision != "auto":
        return precision
    if device.type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float16"
    return "bfloat16" if device.type == "cpu" and width >= WIDE and multiplies_bfloat16() else "float32"


def multiplies_bfloat16() -> bool:
    """Whether this processor has instructions for it; without them it would be many times slower than float32."""
    can = torch.cpu.get_capabilities()
    return bool(can.get("avx512_bf16") or can.get("amx_bf16"))


def autocast(device: torch.device, precision: str) -> AbstractContextManager[object]:
    if precision == "float32":
        return nullcontext()
    return torch.autocast(device.type, dtype=getattr(torch, precision))
