"""What is measured side by side: for each area the contenders and the unit of their work."""

from dataclasses import dataclass

from benchmarks.side_by_side import Contender

OURS, SAMPLED, LAB, HUGGING_FACE = "headstart", "headstart, sampled loss", "the lab's loop", "Hugging Face"
PEERS = {OURS: "ours", LAB: "lab_loop", HUGGING_FACE: "hugging_face"}


@dataclass(frozen=True)
class Area:
    name: str
    unit: str
    job: str
    more: tuple[Contender, ...] = ()

    @property
    def contenders(self) -> list[Contender]:
        return [*self.more, *(Contender(name, peer, self.job) for name, peer in PEERS.items())]


AREAS = {
    area.name: area
    for area in (
        Area("training", "tokens/s", "train_exact", (Contender(SAMPLED, "ours", "train_sampled"),)),
        Area("fine-tuning", "texts/s", "finetune"),
        Area("prediction", "texts/s", "predict", (Contender("headstart, int8", "ours", "predict_int8"),)),
        Area("writing 1", "tokens/s", "write_one"),
        Area("writing 32", "tokens/s", "write_many"),
    )
}
