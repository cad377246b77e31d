"""The verdict follows the numbers, whoever it disappoints."""

from headstart.evaluate.significance import Interval, Paired
from headstart.evaluate.verdict import Standing, Verdict, collapsed, judge


def standing(title: str, accuracy: float, seconds: float = 300, seeds: int = 5) -> Standing:
    by_seed = dict.fromkeys(range(seeds), accuracy)
    return Standing(title, Interval(accuracy, accuracy - 0.015, accuracy + 0.015), seconds, by_seed)


def gap(difference: float, reach: float = 0.015) -> Paired:
    return Paired(Interval(difference, difference - reach, difference + reach), 0.01, 5, 5)


def verdict(pretrained: float, scratch: float, classic: float, majority: float = 0.5, seeds: int = 5) -> Verdict:
    return judge(
        pretrained=standing("pretrained", pretrained, seeds=seeds),
        scratch=standing("scratch", scratch, seeds=seeds),
        classic=standing("TF-IDF words", classic, seconds=9, seeds=1),
        majority=majority,
        over_scratch=gap(pretrained - scratch),
        over_classic=gap(pretrained - classic),
        scratch_over_classic=gap(scratch - classic),
    )


def test_pretraining_helps_and_beats_the_classic() -> None:
    found = verdict(0.90, 0.80, 0.85)
    assert (found.use, found.effect) == ("pretrained", "helps")
    assert found.sentence == (
        "Pretraining helps by 10.0 points [8.5, 11.5] over the same model from scratch, and at 0.900 it beats the "
        "classic baseline (0.850) by 5.0 points [3.5, 6.5]: use the pretrained model."
    )


def test_the_classic_beats_a_pretraining_that_helps() -> None:
    found = verdict(0.80, 0.76, 0.855)
    assert (found.use, found.effect) == ("classic", "helps")
    assert found.sentence == (
        "Use the classic baseline: TF-IDF words (0.855) is 5.5 points [4.0, 7.0] better than the pretrained model "
        "(0.800), in 9 s instead of 5 min; pretraining does help, by 4.0 points [2.5, 5.5] over scratch, but that is "
        "not enough."
    )


def test_the_classic_is_as_good_and_cheaper() -> None:
    found = verdict(0.852, 0.76, 0.850)
    assert (found.use, found.effect) == ("classic", "helps")
    assert "cannot be told from the pretrained model (+0.2 points [−1.3, 1.7]) and is ready in 9 s" in found.sentence


def test_the_difference_is_noise() -> None:
    found = verdict(0.90, 0.895, 0.80)
    assert found.effect == "noise"
    assert found.sentence.startswith("The difference is noise: pretraining changes accuracy by +0.5 points [−1.0, 2.0]")
    found = verdict(0.78, 0.775, 0.80)
    assert (found.use, found.effect) == ("classic", "noise")
    assert "pretraining makes no sure difference to scratch" in found.sentence


def test_pretraining_hurts() -> None:
    found = verdict(0.80, 0.90, 0.85)
    assert (found.use, found.effect) == ("scratch", "hurts")
    assert found.sentence.startswith("Pretraining hurts by 10.0 points [8.5, 11.5]: use the same model from scratch")
    found = verdict(0.70, 0.80, 0.85)
    assert (found.use, found.effect) == ("classic", "hurts")
    assert "better than the model from scratch (0.800)" in found.sentence


def test_nothing_was_learnt() -> None:
    assert verdict(0.50, 0.51, 0.505).use == "nothing"
    found = verdict(0.51, 0.80, 0.85)
    assert any("pretrained model (0.510) is not surely above" in remark for remark in found.remarks)
    assert verdict(0.91, 0.90, 0.90, majority=0.9).sentence.startswith("Nothing was learnt")


def test_a_collapsed_seed_is_named() -> None:
    assert collapsed({0: 0.80, 1: 0.79, 2: 0.51}, 0.5) == (2,)
    assert collapsed({0: 0.805, 1: 0.795, 2: 0.366, 3: 0.327}, 0.3) == (2, 3)
    assert collapsed({0: 0.80, 1: 0.70, 2: 0.75}, 0.5) == ()
    assert collapsed({0: 0.55, 1: 0.50}, 0.5) == ()
    assert collapsed({0: 0.5}, 0.5) == ()
    scratch = Standing("scratch", Interval(0.7, 0.6, 0.8), 300, {0: 0.8, 1: 0.79, 2: 0.51})
    found = judge(
        pretrained=standing("pretrained", 0.9),
        scratch=scratch,
        classic=standing("words", 0.8),
        majority=0.5,
        over_scratch=gap(0.2),
        over_classic=gap(0.1),
        scratch_over_classic=gap(-0.1),
    )
    (remark,) = (remark for remark in found.remarks if "Collapsed" in remark)
    assert "scratch with seed 2 (0.510)" in remark
    assert "without it that would be 0.795" in remark


def test_one_seed_is_said_so() -> None:
    assert any("One seed only" in remark for remark in verdict(0.9, 0.8, 0.7, seeds=1).remarks)
