"""A translator is trained, stopped and resumed: the same bytes, averages included; it starts from a pretrained body."""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from recipes.small_pairs import small_pairs, small_translator
from safetensors.torch import load_file
from train.small_corpus import small_corpus, small_settings

from headstart.checkpoint import load
from headstart.errors import CheckpointError, ConfigError, DataError, RunError, TokenizerError
from headstart.generate.beam import Search
from headstart.model.models import Translator
from headstart.recipes.pretrain import pretrain
from headstart.recipes.running import training
from headstart.recipes.running.run_file import read_run_file
from headstart.recipes.running.stopping import StopRule
from headstart.recipes.translate import Interpreter
from headstart.recipes.translating.learning import TrainedTranslator
from headstart.recipes.translating.two_tongues import Given
from headstart.recipes.translator import translator
from headstart.train.loop import Step
from headstart.train.points import Points
from headstart.train.signals import Interrupted

STEPS = 40


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("pairs")
    return small_pairs(folder, "train", 400, 0), small_pairs(folder, "valid", 30, 1)


def go(
    out: Path, pairs: tuple[str, str], *overrides: str, resume: bool = False, steps: int = STEPS, **options: object
) -> TrainedTranslator:
    settings = small_translator(*overrides)
    return translator(*pairs, out, settings=settings, stop=StopRule(steps=steps), seed=3, resume=resume, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def whole(pairs: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    go(folder, pairs)
    return folder


def contents(run: Path) -> dict[str, bytes]:
    kept = ("last/model.safetensors", "last/moments.safetensors", "best/model.safetensors", "best/card.json")
    points = [str(path.relative_to(run)) for path in sorted((run / "points").rglob("*.*"))]
    return {name: (run / name).read_bytes() for name in (*kept, *points)}


def metrics(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("places", [(10, 27)])
def test_resumed_runs_end_with_the_same_bytes(
    whole: Path, pairs: tuple[str, str], tmp_path: Path, places: tuple[int, ...]
) -> None:
    from headstart.train.loop import fit

    for place in places:

        def stopping(*words: object, place: int = place, **named: object) -> object:
            for step in fit(*words, **named):  # type: ignore[arg-type]
                yield step
                if step.number == place:
                    raise RuntimeError("the lights went out")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(training, "fit", stopping)
            with pytest.raises(RuntimeError, match="lights"):
                go(tmp_path / "run", pairs, resume=True)
    go(tmp_path / "run", pairs, resume=True)
    assert contents(tmp_path / "run") == contents(whole)
    assert metrics(tmp_path / "run") == metrics(whole)


def test_a_signal_saves_and_a_finished_run_stays_as_it_is(whole: Path, pairs: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(Interrupted, match="saved at step 17 of 40"):
        go(tmp_path / "run", pairs, watch=_interrupting(17))
    go(tmp_path / "run", pairs, resume=True)
    again = go(tmp_path / "run", pairs, resume=True)
    assert contents(tmp_path / "run") == contents(whole)
    assert again.steps == STEPS


@pytest.mark.parametrize("save_every", [0, 5])
def test_a_signal_during_the_last_evaluation_loses_nothing(
    whole: Path, pairs: tuple[str, str], tmp_path: Path, save_every: int
) -> None:
    steps: list[int] = []

    def interrupt(event: object) -> None:
        steps.extend([event.number] if isinstance(event, Step) else [])
        if isinstance(event, dict) and steps[-1] == STEPS:
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Interrupted, match="saved at step 40 of 40"):
        go(tmp_path / "run", pairs, f"train.save_every={save_every}", watch=interrupt)
    again: list[object] = []
    go(tmp_path / "run", pairs, f"train.save_every={save_every}", resume=True, watch=again.append)
    assert not again, "nothing was left to train or to evaluate"
    assert contents(tmp_path / "run") == contents(whole)


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[4])
from pathlib import Path
from recipes.small_pairs import small_translator
from headstart.recipes.running.stopping import StopRule
from headstart.recipes.translator import translator
translator(sys.argv[1], sys.argv[2], Path(sys.argv[3]), settings=small_translator(), stop=StopRule(steps=40), seed=3,
           resume=True, watch=lambda event: print(getattr(event, "number", ""), flush=True))
"""


def test_killed_and_resumed_it_has_the_same_weights_and_scores(
    whole: Path, pairs: tuple[str, str], tmp_path: Path
) -> None:
    words = [sys.executable, "-c", SCRIPT, *pairs, str(tmp_path / "run"), str(Path(__file__).parents[1])]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == "23":
            time.sleep(0.01)
            process.kill()
            break
    process.wait()
    process.stdout.close()
    go(tmp_path / "run", pairs, resume=True)
    assert contents(tmp_path / "run") == contents(whole)
    assert metrics(tmp_path / "run") == metrics(whole)


def test_the_mean_is_that_of_the_last_points(whole: Path, tmp_path: Path) -> None:
    points = Points(whole / "points", 3)
    assert points.steps() == [34, 37, 40]
    parts = [load_file(whole / "points" / f"{step:08d}" / "model.safetensors") for step in (34, 37, 40)]
    for name, value in points.mean().items():
        torch.testing.assert_close(value, torch.stack([part[name] for part in parts]).mean(0))


def test_the_best_points_are_kept_and_what_lies_ahead_is_forgotten(tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 2)
    points = Points(tmp_path / "points", 2, "best")
    for step, figure in ((1, 0.5), (2, 0.1), (3, 0.7), (4, 0.6)):
        points.add(step, figure, model)
    assert points.steps() == [3, 4]
    points.add(2, 0.1, model)
    assert points.steps() == [2]


def test_a_few_pairs_are_learnt_by_heart(tmp_path: Path) -> None:
    few = small_pairs(tmp_path, "few", 12, 0)
    learns = ["model.width=32", "model.hidden=64", "model.dropout=0.0", "model.embedding_dropout=0.0"]
    learns += ["train.rate=1e-2", "train.decay=cosine", "train.evaluate_every=120", "translator.smoothing=0.0"]
    done = go(tmp_path / "run", (few, few), *learns, "translator.tokens=1024", steps=120)
    assert done.scores["bleu"] > 80
    assert done.scores["bits_per_byte"] < 0.3


def test_short_targets_are_chosen_by_their_loss(tmp_path: Path) -> None:
    """BLEU is 0 for ever where no target has four words: the last model is better than the first all the same."""
    words = [("cat", "le chat"), ("dog", "le chien"), ("sun", "le soleil"), ("sea", "la mer")]
    for name, times in (("train", 20), ("valid", 1)):
        lines = [f"the {source}\t{target}" for source, target in words * times]
        (tmp_path / f"{name}.tsv").write_text("source\ttarget\n" + "\n".join(lines) + "\n")
    files = str(tmp_path / "train.tsv"), str(tmp_path / "valid.tsv")
    learns = ["train.rate=1e-2", "model.dropout=0.0", "model.embedding_dropout=0.0", "translator.average=1"]
    done = go(tmp_path / "run", files, *learns, "model.vocabulary=300")
    assert done.scores["bleu"] == 0.0
    assert load(tmp_path / "run").card.step > 10
    losses = [line["held_out_loss"] for line in metrics(tmp_path / "run") if "bleu" in line]
    assert done.scores["held_out_loss"] == pytest.approx(min(losses))


def test_bleu_of_a_language_without_spaces(tmp_path: Path) -> None:
    table = tmp_path / "pairs.tsv"
    table.write_text("source\ttarget\n" + "the cat sleeps\t猫在睡觉\nthe dog runs fast\t狗跑得很快\n" * 6)
    learns = [
        "model.width=32",
        "model.hidden=64",
        "model.dropout=0.0",
        "model.embedding_dropout=0.0",
        "train.rate=1e-2",
    ]
    learns += ["model.vocabulary=300", "train.decay=cosine", "train.evaluate_every=120", "translator.smoothing=0.0"]
    by = {}
    for name in ("13a", "char"):
        files = str(table), str(table)
        by[name] = go(tmp_path / name, files, *learns, f"translator.tokenize={name}", steps=120).scores["bleu"]
    assert by["13a"] == 0.0  # one word a sentence, for it
    assert by["char"] > 50


def test_a_long_target_that_was_learnt_can_be_written(tmp_path: Path) -> None:
    table = tmp_path / "pairs.tsv"
    table.write_text("source\ttarget\n" + ("a b c d e\t" + "no " * 60 + "\nthe cat\tle chat\n") * 4)
    options = ("model.vocabulary=300", "translator.largest_ratio=50")
    go(tmp_path / "run", (str(table), str(table)), *options, steps=10)
    saved = load(tmp_path / "run")
    source, target = saved.tokenizer.encode("a b c d e"), saved.tokenizer.encode("no " * 60)
    assert Interpreter(saved).how.longest(len(source) + 1) >= len(target) + 1 > Search().longest(len(source))


def test_words_in_other_pieces_each_time(pairs: tuple[str, str], whole: Path, tmp_path: Path) -> None:
    options = ("translator.piece_dropout=0.3",)
    seen: list[object] = []
    go(tmp_path / "once", pairs, *options, watch=seen.append)
    assert 200 < max(event.tokens for event in seen if isinstance(event, Step)) <= 256  # the budget is kept
    with pytest.raises(Interrupted):
        go(tmp_path / "run", pairs, *options, watch=_interrupting(17))
    go(tmp_path / "run", pairs, *options, resume=True)
    assert contents(tmp_path / "run") == contents(tmp_path / "once") != contents(whole)


def _interrupting(number: int) -> Callable[[object], None]:
    def interrupt(event: object) -> None:
        if isinstance(event, Step) and event.number == number:
            signal.raise_signal(signal.SIGTERM)

    return interrupt


def test_two_vocabularies_and_two_tables(pairs: tuple[str, str], tmp_path: Path) -> None:
    options = ["translator.vocabularies=separate", "train.decay=inverse-sqrt"]
    go(tmp_path / "run", pairs, *options, steps=10)
    saved = load(tmp_path / "run")
    assert isinstance(saved.model, Translator)
    assert saved.source_tokenizer.hash != saved.tokenizer.hash
    assert saved.card.source_vocabulary == saved.source_tokenizer.size
    assert saved.model.reader.embedding is not saved.model.writer.embedding
    assert saved.source_tokenizer.decode(saved.source_tokenizer.encode("the cat")) == "the cat"


def test_one_vocabulary_and_two_tables(pairs: tuple[str, str], tmp_path: Path) -> None:
    go(tmp_path / "run", pairs, "translator.shared=false", "model.tied=false", steps=10)
    saved = load(tmp_path / "run")
    assert saved.card.source_tokenizer == ""
    assert saved.card.source_vocabulary == saved.tokenizer.size


@pytest.mark.parametrize("carries", ["reader", "writer", "both"])
def test_a_pretrained_body_is_carried_and_said_so(
    pairs: tuple[str, str], body: Path, tmp_path: Path, carries: str
) -> None:
    done = go(tmp_path / "run", pairs, f"translator.carries={carries}", "train.rate=1e-12", steps=10, start=body)
    theirs, run = load(body), load(tmp_path / "run")
    model = run.model
    assert isinstance(model, Translator)
    for place in ("reader", "writer") if carries == "both" else (carries,):
        kept = dict(getattr(model, place).named_parameters())
        for name, value in theirs.model.get_submodule("body").named_parameters():
            torch.testing.assert_close(kept[name], value)
    assert sum(done.ledger.kept.values()) + sum(done.ledger.fresh.values()) == sum(
        p.numel() for p in model.parameters()
    )
    assert "kept" in done.ledger.sentence()
    assert any("writer.blocks.0.reader" in name for name in done.ledger.fresh)
    assert run.card.parent
    carried = run.source_tokenizer if carries == "reader" else run.tokenizer
    assert carried.hash == theirs.tokenizer.hash
    assert (run.source_tokenizer.hash == run.tokenizer.hash) == (carries == "both")


def test_what_a_body_brought_may_stand_still(pairs: tuple[str, str], body: Path, tmp_path: Path) -> None:
    go(tmp_path / "run", pairs, "translator.carried_rate=0", steps=10, start=body)
    go(tmp_path / "free", pairs, steps=10, start=body)
    theirs, still, free = load(body).model.get_submodule("body"), load(tmp_path / "run"), load(tmp_path / "free")
    assert isinstance(still.model, Translator)
    assert isinstance(free.model, Translator)
    for name, value in theirs.named_parameters():
        torch.testing.assert_close(still.model.reader.get_parameter(name), value, rtol=0, atol=0)
        assert not torch.equal(free.model.reader.get_parameter(name), value)
    fresh = still.model.writer.get_parameter("blocks.0.reader.output.weight")
    assert not torch.equal(fresh, free.model.writer.get_parameter("blocks.0.reader.output.weight"))


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("body")
    pretrain([small_corpus(folder)], folder / "lm", settings=small_settings(), stop=StopRule(steps=5))
    return folder / "lm"


def test_mistakes_are_named_before_anything_is_written(
    pairs: tuple[str, str], whole: Path, body: Path, tmp_path: Path
) -> None:
    with pytest.raises(RunError, match="already holds something"):
        go(whole, pairs)
    with pytest.raises(RunError, match="the run has changed"):
        go(whole, pairs, "translator.smoothing=0.2", resume=True)
    with pytest.raises(ConfigError, match="learns with the exact loss only"):
        go(tmp_path / "other", pairs, "train.loss=sampled")
    with pytest.raises(CheckpointError, match="is a translator itself"):
        go(tmp_path / "other", pairs, start=whole)
    assert not (tmp_path / "other").exists()
    with pytest.raises(RunError, match="is the run to start from"):
        go(whole, pairs, start=whole / "best", force=True)
    before, other = contents(whole), tmp_path / "translator"
    shutil.copytree(whole, other)
    with pytest.raises(CheckpointError, match="is a translator itself"):
        go(whole, pairs, start=other, force=True)
    with pytest.raises(TokenizerError, match="too small"):
        go(whole, pairs, "model.vocabulary=200", force=True)
    named = Given(tokenizer=other / "tokenizer")
    with pytest.raises(ConfigError, match="brings its own tokenizer for the target side"):
        go(whole, pairs, "translator.carries=writer", start=body, given=named, force=True)
    with pytest.raises(ConfigError, match="brings its own tokenizer for the source side"):
        go(whole, pairs, start=body, given=Given(source_tokenizer=other / "tokenizer"), force=True)
    long = tmp_path / "long.tsv"
    long.write_text("source\ttarget\n" + "the cat saw a dog\tun chien vit le chat\n" * 9)
    with pytest.raises(DataError, match="left out of 9 pairs: 9 with more than 2 tokens on a side"):
        go(whole, (str(long), pairs[1]), "translator.longest=3", "model.vocabulary=280", force=True)
    blank = tmp_path / "blank.tsv"
    blank.write_text("source\ttarget\nthe cat\t \n")
    with pytest.raises(
        DataError, match=r"--valid: no pair of texts to use: left out of 1 pairs: 1 with an empty side$"
    ):
        go(whole, (pairs[0], str(blank)), force=True)
    with pytest.raises(ConfigError, match="nothing is dropped"):
        go(whole, pairs, "translator.agreement=1", "model.dropout=0", "model.embedding_dropout=0", force=True)
    with pytest.raises(RunError, match="this run has no source_tokenizer of its own"):
        go(whole, pairs, "translator.vocabularies=separate", resume=True)
    assert not (whole / "source_tokenizer").exists()
    with pytest.raises(RunError, match=r"cannot go on, the run has changed: run.train is another"):
        go(whole, (pairs[1], pairs[1]), resume=True)
    with pytest.raises(RunError, match=r"run.toml: is a file, but a folder is to be written there"):
        go(whole / "run.toml" / "run", pairs)
    assert contents(whole) == before
    assert (whole / "tokenizer").is_dir()
    with pytest.raises(DataError, match=r"no pair of texts to use.*; raise translator.longest"):
        go(tmp_path / "fourth", (str(long), pairs[1]), "translator.longest=3", "model.vocabulary=280")
    assert not (tmp_path / "fourth").exists(), "a folder that was made for nothing is taken away"
    short = tmp_path / "short.fr"
    short.write_text("un\n")
    with pytest.raises(DataError, match="must match line by line"):
        go(tmp_path / "third", (f"{pairs[0].split(':')[0]}:{short}", pairs[1]))
    assert not (tmp_path / "third").exists()


def test_what_stands_twice_is_counted(tmp_path: Path) -> None:
    table = tmp_path / "train.tsv"
    table.write_text("source\ttarget\n" + "the cat\tle chat\nThe  cat\tle chat\na dog\tun chien\n" * 4)
    valid = tmp_path / "valid.tsv"
    valid.write_text("source\ttarget\na dog\tun chien\nthe sun\tle soleil\n")
    done = go(tmp_path / "run", (str(table), str(valid)), "model.vocabulary=300", steps=10)
    assert "10 of 12 training pairs repeat an earlier one" in done.notes
    assert any(note.startswith("1 of 2 validation sources also stand in train, 1 of them") for note in done.notes)


def test_a_target_that_is_far_longer_than_its_source(tmp_path: Path) -> None:
    """A filter that is switched off lets pairs through that no search would write whole."""
    table = tmp_path / "pairs.tsv"
    table.write_text("source\ttarget\n" + ("a\t" + "no " * 400 + "\nthe cat\tle chat\n") * 4)
    options = ("model.vocabulary=300", "translator.largest_ratio=1000", "translator.longest=2000")
    go(tmp_path / "run", (str(table), str(table)), *options, steps=2)
    saved = load(tmp_path / "run")
    assert saved.card.growth == 100
    assert Interpreter(saved).room == 1999


def test_the_run_file_tells_the_shape_that_was_trained(
    whole: Path, body: Path, pairs: tuple[str, str], tmp_path: Path
) -> None:
    go(tmp_path / "warm", pairs, "model.width=48", start=body, steps=2)
    for run in (whole, tmp_path / "warm"):
        written, shape = read_run_file(run)["model"], load(run).card.shape
        assert {name: written[name] for name in ("vocabulary", "width", "depth")} == {
            "vocabulary": shape.vocabulary, "width": shape.width, "depth": shape.depth,
        }  # fmt: skip


def test_a_run_of_another_version_is_named(pairs: tuple[str, str], whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "run")
    file = tmp_path / "run" / "run.toml"
    file.write_text(file.read_text().replace("agreement = 0.0\n", ""))
    with pytest.raises(RunError, match=r"another version .* translator.agreement stand"):
        go(tmp_path / "run", pairs, resume=True)


def test_a_tokenizer_left_by_a_run_that_never_began_is_made_anew(
    pairs: tuple[str, str], whole: Path, tmp_path: Path
) -> None:
    shutil.copytree(whole / "tokenizer", tmp_path / "run" / "tokenizer")
    go(tmp_path / "run", pairs, "model.vocabulary=300", steps=2, resume=True)
    assert load(tmp_path / "run").tokenizer.size == 300
