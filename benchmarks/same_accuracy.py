"""Does the faster fine-tuning learn as much? Ours and Hugging Face's Trainer, from scratch, over several seeds.

python -m benchmarks.same_accuracy [--lab FOLDER] [--epochs 4] [--seeds 5] [--quick]

The same texts, batch size, rate, warm-up, decay and dropout; accuracy after the last epoch on the validation texts,
which chose nothing. Seeds take turns. Results go to benchmarks/results/.
"""

import argparse
import json
import math
import multiprocessing
import tempfile
import time
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from benchmarks import RESULTS
from benchmarks.areas import HUGGING_FACE, OURS
from benchmarks.texts import CONTEXT, QUICK, ROWS, Amounts, Texts, prepare

RATE, WARMUP, DECAY = 3e-4, 0.1, 0.01


def ours(texts: Texts, epochs: int, seed: int) -> float:
    from benchmarks.peers.ours import classifier, labelled
    from headstart.recipes.predict import logits_of
    from headstart.train.course import Course
    from headstart.train.device import join_workers
    from headstart.train.loop import fit
    from headstart.train.memory import keep_freed_memory
    from headstart.train.objectives import ClassOfText
    from headstart.train.optimiser import adamw, rate_schedule

    keep_freed_memory()
    model, _ = classifier(texts, seed)
    batches, held_out = labelled(texts, texts.train, seed=seed), labelled(texts, texts.valid, shuffle=False)
    course = Course(batches)
    rate_at = rate_schedule(RATE, course.end(epochs), warmup=WARMUP, decay="linear", floor=0.0)
    optimiser = adamw(model, weight_decay=DECAY, betas=(0.9, 0.999))
    steps = range(course.end(epochs))
    for _ in fit(ClassOfText(model), course, optimiser, rate_at, steps=steps, workers=join_workers("cpu"), seed=seed):
        pass
    return float((logits_of(model, held_out).argmax(1) == held_out.labels).mean())


def hugging_face(texts: Texts, epochs: int, seed: int) -> float:
    from benchmarks.peers.hugging_face import classifier, labelled, trainer

    rise = round(WARMUP * epochs * math.ceil(len(texts.train) / ROWS))
    options = {"num_train_epochs": epochs, "learning_rate": RATE, "warmup_steps": rise, "weight_decay": DECAY}
    learner = trainer(texts, classifier(texts, seed), labelled(texts, texts.train), **options, seed=seed)
    learner.train()
    found = learner.predict(labelled(texts, texts.valid))
    return float((found.predictions.argmax(1) == found.label_ids).mean())


def _work(name: str, texts: Texts, epochs: int, seed: int, answers: Any) -> None:
    started = time.perf_counter()
    accuracy = {OURS: ours, HUGGING_FACE: hugging_face}[name](texts, epochs, seed)
    answers.put((accuracy, time.perf_counter() - started))


def interval(values: list[float]) -> tuple[float, float, float]:
    """Mean and 95 % interval over the seeds."""
    from scipy.stats import t

    middle, error = fmean(values), stdev(values) / len(values) ** 0.5
    least, most = t.interval(0.95, len(values) - 1, middle, error)
    return middle, float(least), float(most)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--lab", type=Path, help="the lab's folder: sentencepiece.french.model, dict.txt, cls-books/")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="does everything run? The figures mean nothing")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    found: dict[str, list[tuple[float, float]]] = {OURS: [], HUGGING_FACE: []}
    with tempfile.TemporaryDirectory() as name:
        texts = prepare(Path(name), QUICK if given.quick else Amounts(), (), given.lab)
        for seed in range(given.seeds):
            for contender, answers in found.items():
                queue = context.SimpleQueue()
                process = context.Process(target=_work, args=(contender, texts, given.epochs, seed, queue))
                process.start()
                answers.append(queue.get())
                process.join()
                print(f"  seed {seed}  {contender:<14}{answers[-1][0]:.4f}{answers[-1][1]:8.0f} s", flush=True)
    for contender, answers in found.items():
        middle, least, most = interval([accuracy for accuracy, _ in answers])
        print(f"{contender:<14}{middle:.4f} [{least:.4f}, {most:.4f}]")
    middle, least, most = interval([one[0] - other[0] for one, other in zip(found[OURS], found[HUGGING_FACE])])
    print(f"difference    {middle:+.4f} [{least:+.4f}, {most:+.4f}]")
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "same_accuracy.json"
    about = {"epochs": given.epochs, "context": CONTEXT, "rows": ROWS, "rate": RATE}
    path.write_text(json.dumps(about | {"accuracy_and_seconds": found}, indent=1) + "\n", "utf-8")
    print(f"Written: {path}")


if __name__ == "__main__":
    main()
