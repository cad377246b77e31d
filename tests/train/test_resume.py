"""Nothing is lost: interrupted, killed, resumed twice, a run ends with the bytes of an uninterrupted one."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from torch import Tensor
from train.small_corpus import small_corpus, small_settings

from headstart.checkpoint import load, save
from headstart.errors import CheckpointError, ConfigError, RunError
from headstart.recipes.pretrain import Pretrained, pretrain
from headstart.recipes.pretraining.objectives import Name
from headstart.recipes.running import training
from headstart.recipes.running.stopping import StopRule
from headstart.train.lock import Lock
from headstart.train.loop import Step
from headstart.train.signals import Interrupted

STEPS = 40


def go(folder: Path, corpus: str, *overrides: str, resume: bool = False, steps: int = STEPS) -> Pretrained:
    settings = small_settings(*overrides)
    return pretrain([corpus], folder, settings=settings, stop=StopRule(steps=steps), resume=resume, seed=3)


def weights(folder: Path) -> dict[str, bytes]:
    names = ("model.safetensors", "moments.safetensors")
    return {name: (folder / "last" / name).read_bytes() for name in names} | {
        "best": (folder / "best" / "model.safetensors").read_bytes()
    }


def metrics(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> str:
    return small_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def whole(corpus: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    go(folder, corpus)
    return folder


def stop_at(monkeypatch: pytest.MonkeyPatch, number: int, error: BaseException) -> None:
    from headstart.train.loop import fit

    def stopping(*words: object, **named: object) -> object:
        for step in fit(*words, **named):  # type: ignore[arg-type]
            yield step
            if step.number == number:
                raise error

    monkeypatch.setattr(training, "fit", stopping)


def test_the_same_run_twice_gives_the_same_bytes(whole: Path, corpus: str, tmp_path: Path) -> None:
    go(tmp_path / "run", corpus)
    assert weights(tmp_path / "run") == weights(whole)


def test_a_tokenizer_left_by_a_run_that_never_began_is_made_anew(whole: Path, corpus: str, tmp_path: Path) -> None:
    for left in ("tokenizer", "tokens"):
        shutil.copytree(whole / left, tmp_path / "run" / left)
    go(tmp_path / "run", corpus, "model.vocabulary=300", resume=True, steps=2)
    assert load(tmp_path / "run").tokenizer.size == 300


@pytest.mark.parametrize("places", [(1, 2), (10, 20), (13, 27), (39,)])
def test_resumed_runs_end_with_the_same_bytes(
    whole: Path, corpus: str, tmp_path: Path, places: tuple[int, ...]
) -> None:
    for place in places:
        with pytest.MonkeyPatch.context() as patch:
            stop_at(patch, place, RuntimeError("the lights went out"))
            with pytest.raises(RuntimeError, match="lights"):
                go(tmp_path / "run", corpus, resume=True)
    go(tmp_path / "run", corpus, resume=True)
    assert weights(tmp_path / "run") == weights(whole)
    assert metrics(tmp_path / "run") == metrics(whole)


@pytest.mark.parametrize("objective", ["masked", "bert"])
def test_every_objective_resumes(objective: Name, corpus: str, tmp_path: Path) -> None:
    def run(folder: Path, *, resume: bool = False) -> None:
        settings, stop = small_settings("train.accumulate=2"), StopRule(steps=12)
        pretrain([corpus], folder, settings=settings, stop=stop, objective=objective, resume=resume, seed=3)

    run(tmp_path / "whole")
    for place in (3, 7):
        with pytest.MonkeyPatch.context() as patch:
            stop_at(patch, place, RuntimeError("the lights went out"))
            with pytest.raises(RuntimeError, match="lights"):
                run(tmp_path / "run", resume=True)
    run(tmp_path / "run", resume=True)
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")
    assert metrics(tmp_path / "run") == metrics(tmp_path / "whole")


def test_half_precision_learns_as_much_and_resumes(whole: Path, corpus: str, tmp_path: Path) -> None:
    half = ("train.precision=bfloat16",)
    done = go(tmp_path / "half", corpus, *half)
    full = [line["bits_per_byte"] for line in metrics(whole) if "bits_per_byte" in line][-1]
    assert weights(tmp_path / "half") != weights(whole)
    assert done.scores["bits_per_byte"] == pytest.approx(full, rel=0.02)
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 13, RuntimeError("the lights went out"))
        with pytest.raises(RuntimeError, match="lights"):
            go(tmp_path / "run", corpus, *half)
    go(tmp_path / "run", corpus, *half, resume=True)
    assert weights(tmp_path / "run") == weights(tmp_path / "half")


def test_a_signal_saves_and_says_where(whole: Path, corpus: str, tmp_path: Path) -> None:
    def interrupt(event: object) -> None:
        if isinstance(event, Step) and event.number == 7:
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Interrupted, match="saved at step 7 of 40"):
        pretrain(
            [corpus], tmp_path / "run", settings=small_settings(), stop=StopRule(steps=STEPS), seed=3, watch=interrupt
        )
    go(tmp_path / "run", corpus, resume=True)
    assert weights(tmp_path / "run") == weights(whole)


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[3])
from pathlib import Path
from train.small_corpus import small_settings
from headstart.recipes.pretrain import pretrain
from headstart.recipes.running.stopping import StopRule
pretrain([sys.argv[1]], Path(sys.argv[2]), settings=small_settings(), stop=StopRule(steps=40), resume=True, seed=3,
         watch=lambda event: print(getattr(event, "number", ""), flush=True))
"""


def test_killed_at_random_moments_it_ends_with_the_same_bytes(whole: Path, corpus: str, tmp_path: Path) -> None:
    draw, folder = random.Random(1), tmp_path / "run"
    words = [sys.executable, "-c", SCRIPT, corpus, str(folder), str(Path(__file__).parents[1])]
    for _ in range(4):
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(draw.randint(1, 12)):  # past a save, or before one
            process.stdout.readline()
        time.sleep(draw.random() * 0.05)
        process.kill()
        process.wait()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    assert weights(folder) == weights(whole)
    assert metrics(folder) == metrics(whole)


def test_resume_on_an_empty_folder_starts(whole: Path, corpus: str, tmp_path: Path) -> None:
    go(tmp_path / "run", corpus, resume=True)
    assert weights(tmp_path / "run") == weights(whole)


def test_what_changed_is_named(whole: Path, corpus: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    with pytest.raises(RunError, match=r"train.rate was 0.001, now 0.01"):
        go(run, corpus, "train.rate=0.01", resume=True)
    with pytest.raises(RunError, match=r"stop.steps was 40, now 50"):
        go(run, corpus, resume=True, steps=50)
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(RunError, match=r"run.corpus is another"):
        go(run, small_corpus(other, documents=299), resume=True)


def test_an_occupied_folder_is_refused(whole: Path, corpus: str) -> None:
    with pytest.raises(RunError, match="already holds something"):
        go(whole, corpus)


def test_a_second_writer_is_refused(corpus: str, tmp_path: Path) -> None:
    with Lock(tmp_path / "run"), pytest.raises(RunError, match="is writing here"):
        go(tmp_path / "run", corpus, resume=True)


def test_a_damaged_state_is_named(whole: Path, corpus: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    with (run / "last" / "moments.safetensors").open("r+b") as file:
        file.seek(-4, 2)
        file.write(b"oops")
    with pytest.raises(CheckpointError, match=r"moments\.safetensors"):
        go(run, corpus, resume=True)


def test_a_full_disk_ends_in_a_clear_error_with_the_old_checkpoint(
    corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    from headstart import checkpoint

    run, calls = tmp_path / "run", []

    def full(tensors: dict[str, Tensor], path: Path) -> None:
        calls.append(path)
        if len(calls) > 5:  # two saves of weights and moments, and one of the best weights
            raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")
        save_file(tensors, path)

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(CheckpointError, match="the disk is full"):
        go(run, corpus)
    monkeypatch.undo()
    assert json.loads((run / "last" / "memory.json").read_text())["step"] == 10
    go(run, corpus, resume=True)


def test_a_run_out_of_patience_stays_as_it_is(corpus: str, tmp_path: Path) -> None:
    impatient = ("train.patience=1", "train.evaluate_every=2", "train.rate=1.0", "train.warmup=0")
    done = go(tmp_path / "run", corpus, *impatient)
    before = weights(tmp_path / "run")
    assert done.steps < STEPS
    assert go(tmp_path / "run", corpus, *impatient, resume=True).steps == done.steps
    assert weights(tmp_path / "run") == before


def test_a_best_model_that_was_not_saved_is_not_remembered(
    whole: Path, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second Ctrl-C comes while the best of step 20 is written: it is judged again."""
    real, calls = save, []

    def stopped(*words: object, **named: object) -> None:
        calls.append(words)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(*words, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(training, "save", stopped)
    with pytest.raises(KeyboardInterrupt):
        go(tmp_path / "run", corpus)
    monkeypatch.undo()
    memory = json.loads((tmp_path / "run" / "last" / "memory.json").read_text())
    assert (memory["step"], memory["evaluated"], memory["best_step"]) == (20, 10, 10)
    go(tmp_path / "run", corpus, resume=True)
    assert weights(tmp_path / "run") == weights(whole)
    assert metrics(tmp_path / "run") == metrics(whole)


@pytest.mark.parametrize("given", [{"minutes": float("inf")}, {"epochs": float("nan")}, {"steps": -1}, {}])
def test_a_run_has_an_end(given: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="give one of"):
        StopRule(**given)  # type: ignore[arg-type]


def test_force_does_not_clear_what_is_to_be_read(whole: Path, corpus: str) -> None:
    tokenizer, settings = whole / "tokenizer", small_settings()
    with pytest.raises(RunError, match="about to clear"):
        pretrain([corpus], whole, settings=settings, stop=StopRule(steps=2), tokenizer=tokenizer, force=True)
    assert tokenizer.is_dir()
