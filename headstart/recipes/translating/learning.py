"""A translator learns: its steps are planned and taken, then the best of its models is chosen."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from headstart.config import to_table
from headstart.data.pairs import TranslationPairs
from headstart.generate.beam import Search
from headstart.recipes.running.run_file import check_unchanged, read_run_file, write_run_file
from headstart.recipes.running.stopping import StopRule, plan_steps
from headstart.recipes.running.training import Job, Scores, Watcher, run
from headstart.recipes.translating.averaging import Averaged, choose, point_steps
from headstart.recipes.translating.brevity import Ranked, choose_penalty
from headstart.recipes.translating.pair_files import hash_pairs, repeats
from headstart.recipes.translating.scene import Scene
from headstart.recipes.translating.validation import Validation, worth
from headstart.train.course import Course
from headstart.train.dead import Watch, unigram_entropy
from headstart.train.device import resolve_precision
from headstart.train.keeping import Memory
from headstart.train.loop import Step
from headstart.train.optimiser import adamw, rate_schedule
from headstart.train.points import Points
from headstart.train.transfer import Ledger
from headstart.train.translation import NextWord


@dataclass(frozen=True)
class TrainedTranslator:
    """What a run came to. `scores` are the kept model's on all of validation, BLEU with `beam` hypotheses."""

    folder: Path
    steps: int
    tokens: int
    seconds: float
    scores: Scores
    beam: int
    averaged: Averaged | None
    ranked: Ranked
    ledger: Ledger
    notes: tuple[str, ...]  # on the pairs; told before the training
    warning: str = ""


@dataclass(frozen=True, kw_only=True)
class Going:
    """How a run is carried out, beside its settings, and who is told of it."""

    stop: StopRule
    seed: int
    resume: bool
    tensorboard: bool
    say: Callable[[str], None]
    watch: Watcher
    begin: Callable[[int, int], None]


def learn(scene: Scene, texts: TranslationPairs, validation: Validation, going: Going) -> TrainedTranslator:
    notes = _told(scene, texts, validation, going.say)
    learning = _Learning(scene, texts, validation, going)
    memory = run(learning.job(), resume=going.resume)
    safe = "; Ctrl-C and --resume lose nothing" if scene.settings.train.save_every else ""
    going.say(f"The training is over. The kept model translates the validation{safe}.")
    how = Search()
    scores, averaged = choose(scene, learning.points, memory, how)
    scores, ranked = choose_penalty(scene, scores, how)
    return TrainedTranslator(
        folder=scene.out,
        steps=memory.step,
        tokens=memory.tokens,
        seconds=memory.seconds,
        scores=scores,
        beam=how.beam,
        averaged=averaged,
        ranked=ranked,
        ledger=scene.ledger,
        notes=notes,
        warning=learning.dead.judge(memory.step, scores["held_out_loss"]),
    )


class _Learning:
    """What happens at each step and at each evaluation."""

    def __init__(self, scene: Scene, texts: TranslationPairs, validation: Validation, going: Going):
        self.scene, self.validation, self.going = scene, validation, going
        options, train = scene.settings.translator, scene.settings.train
        self.course, self.objective = Course(texts), NextWord(scene.model, options.smoothing, options.agreement)
        self.precision = resolve_precision(train.precision, scene.workers.device, scene.card.shape.width)
        self.steps, self.every = self._plan()
        self.points = Points(scene.out / "points", options.average, options.average_of)
        self.at_evaluations = options.average_of == "best" or train.patience > 0  # the end of a patient run is open
        self.marks = frozenset() if self.at_evaluations else point_steps(self.steps, options)
        self.optimiser = adamw(
            scene.model,
            weight_decay=train.weight_decay,
            betas=(train.beta1, train.beta2),
            scales=dict.fromkeys(scene.ledger.kept, options.carried_rate),
        )
        self.dead = Watch(
            uniform=math.log(scene.card.shape.vocabulary),
            unigram=unigram_entropy(np.bincount(scene.train.targets.ids).tolist()),
            warm=max(50, round(2 * train.warmup * self.steps)),
            scaled=self.precision == "float16",
        )

    def _plan(self) -> tuple[int, int]:
        """How many steps there will be, and after how many each evaluation: from run.toml, or written there."""
        scene, going = self.scene, self.going
        asked = {**to_table(scene.settings), "stop": asdict(going.stop)}
        origin = {"objective": "translate", "seed": going.seed, "from": scene.card.parent or "scratch"}
        origin |= {"tokenizer": scene.tongues.target.hash, "source_tokenizer": scene.tongues.source.hash}
        origin |= {"train": hash_pairs(scene.train.pairs), "valid": hash_pairs(scene.valid.pairs)}
        found = read_run_file(scene.out).get("run", {}) if going.resume else {}
        if found:
            note = check_unchanged(scene.out, asked, origin | {k: v for k, v in found.items() if k not in origin})
            if note:
                going.say(note)
        else:
            found = origin | plan_steps(
                self.objective,
                self.course,
                lambda: self.validation.rehearse(scene.model),
                going.stop,
                scene.settings.train,
                scene.workers,
                self.precision,
                going.say,
            )
            if scene.workers.first:
                write_run_file(scene.out, asked, found)
        scene.workers.wait()
        return int(found["steps"]), int(found["evaluate_every"])

    def evaluate(self, memory: Memory) -> Scores:
        options = self.scene.settings.translator
        scores = self.validation.scores(self.scene.model)
        choice = worth(scores, options.choice)
        if self.scene.workers.first and self.at_evaluations and options.average > 1:
            self.points.add(memory.step, choice, self.scene.model)
        return {**scores, "choice": choice}

    def see(self, step: Step) -> None:
        self.dead.see(step.number, step.loss, step.norm)
        if step.number in self.marks and self.scene.settings.translator.average > 1:
            self.optimiser.wake_all()
            if self.scene.workers.first:
                self.points.add(step.number, 0.0, self.scene.model)

    def watch(self, event: Step | Scores) -> None:
        self.going.watch(_shown(event) if isinstance(event, dict) else event)

    def job(self) -> Job:
        scene, train, going = self.scene, self.scene.settings.train, self.going
        return Job(
            folder=scene.out,
            model=scene.model,
            objective=self.objective,
            course=self.course,
            optimiser=self.optimiser,
            rate_at=rate_schedule(train.rate, self.steps, warmup=train.warmup, decay=train.decay, floor=train.floor),
            steps=self.steps,
            card=scene.card,
            tokenizer=scene.tongues.target,
            source_tokenizer=scene.tongues.own_source,
            workers=scene.workers,
            evaluate=self.evaluate,
            evaluates_at=lambda step: step % self.every == 0 or step == self.steps,
            score="choice",
            better=1,
            save_every=train.save_every,
            patience=train.patience,
            seed=going.seed,
            clip=train.clip,
            accumulate=train.accumulate,
            precision=self.precision,
            tensorboard=going.tensorboard,
            see=self.see,
            watch=self.watch,
            begin=going.begin,
        )


def _shown(scores: Scores) -> Scores:
    """Without what only repeats one of them."""
    return {name: value for name, value in scores.items() if name != "choice"}


def _told(scene: Scene, texts: TranslationPairs, validation: Validation, say: Callable[[str], None]) -> tuple[str, ...]:
    """What is to be known of the pairs before hours are spent on them, and what a pretrained body brought."""
    held = f"--valid: {validation.pairs.note}" if validation.pairs.note else ""
    found = (texts.note, held, *repeats(scene.train.pairs, scene.valid.pairs))
    notes = tuple(note for note in found if note)
    for note in notes:
        say(f"Note: {note}")
    say(scene.ledger.sentence())
    return notes
