"""One token at a time, by the short way and by the body's own."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from model.shapes import shapes

from headstart.generate.past import empty_pasts
from headstart.generate.stepping import Stepper
from headstart.model.body import Body
from headstart.model.init import initialise
from headstart.model.masks import padding_mask
from headstart.model.shape import Shape


@settings(max_examples=60)
@given(
    shape=shapes(),
    seed=st.integers(0, 2**31),
    rows=st.integers(1, 3),
    padded=st.booleans(),
    steps=st.integers(1, 4),
)
def test_a_step_is_the_bodys_own(shape: Shape, seed: int, rows: int, padded: bool, steps: int) -> None:
    torch.manual_seed(seed)
    body = Body(shape, causal=True).eval()
    initialise(body)
    stepper, (ours, theirs) = Stepper(body), (empty_pasts(body) for _ in range(2))
    padding = torch.tensor([2, 0, 1][:rows]) if padded else torch.zeros(rows, dtype=torch.long)
    with torch.inference_mode():
        for start, new in [(0, 3), *((3 + i, 1) for i in range(steps))]:
            ids = torch.randint(50, (rows, new))
            places = torch.arange(start + new) - padding[:, None]
            real, positions = places >= 0, places[:, start:].clamp(min=0)
            wanted = body(ids, real=real if padded else None, positions=positions, pasts=theirs)[:, -1]
            if not start:
                body(ids, real=real if padded else None, positions=positions, pasts=ours)
                continue
            at, mask = (positions[:, 0], padding_mask(real)) if padded else (start, None)
            found = stepper.step(ids[:, 0], at, mask, ours)
            torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-4)
