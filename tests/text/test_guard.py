"""The leak guard finds what stands twice, and only that, in linear time."""

import random
import unicodedata
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.text.guard import Part, leaked_rows, nearness, repeats, scan, twins
from headstart.text.guard.conflicts import conflicts
from headstart.text.guard.facts import facts
from headstart.text.guard.fingerprints import bare_words, normalise
from headstart.text.records import Document, Row

WORDS = """
the a this that book story author hero chapter page plot ending style reader writer novel series volume was is felt
seemed remained good bad boring slow quick clever dull rich thin long short first last never always often perhaps really
truly hardly and but because while although with without from into about read wrote loved hated finished closed opened
bought lent gave took found lost wanted hoped feared thought knew my your his her our their every some no one two three
night day train beach winter summer friend mother brother child king ship"""
TOPIC = WORDS.split()


def review(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(TOPIC, k=words)) + "."


def reviews(seed: int, count: int, words: int = 60) -> list[str]:
    chance = random.Random(seed)
    return [review(chance, words) for _ in range(count)]


def part(name: str, texts: Sequence[str], labels: Sequence[str] = ()) -> Part:
    rows = [Row(t, f"{name}.tsv", n + 2, label=labels[n] if labels else "") for n, t in enumerate(texts)]
    return scan(name, rows)


def runs(text: str) -> set[str]:
    words = bare_words(normalise(text))
    return {words[i : i + nearness.RUN] for i in range(len(words) - nearness.RUN + 1)}


def jaccard(one: str, other: str) -> float:
    return len(runs(one) & runs(other)) / len(runs(one) | runs(other))


@given(st.text(), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]), st.sampled_from([" ", "\n\t", "\u00a0"]))
def test_spaces_and_unicode_form_make_no_difference(text: str, form: str, space: str) -> None:
    other = space + space.join(unicodedata.normalize(form, text).split(" ")) + space  # type: ignore[arg-type]
    assert normalise(other) == normalise(text)
    assert normalise(normalise(text)) == normalise(text)


def test_case_makes_no_difference() -> None:
    assert normalise("LES ÉTÉS  À la Straße") == normalise("les e\u0301te\u0301s à\nla STRASSE")
    assert normalise("ﬁn… de\u00a0partie") == normalise("FIN... de partie")
    assert normalise("pas mal") != normalise("pas mâl")


@given(st.lists(st.sampled_from(["a b", "A  b", "c", "", " ", "d e f", "D E\tF", "g"]), max_size=12), st.data())
def test_exact_twins_equal_a_plain_count(texts: list[str], data: st.DataObject) -> None:
    others = data.draw(st.lists(st.sampled_from(["a B", "c", "", "x", "d e f"]), max_size=12))
    known = {normalise(text) for text in texts if text.strip()}
    expected = [normalise(text) in known for text in others]
    found = twins(part("train", texts), part("test", others)).exact
    assert (found >= 0).tolist() == expected
    assert all(normalise(texts[f]) == normalise(others[n]) for n, f in enumerate(found) if f >= 0)
    same = [normalise(text) for text in texts]
    again = [bool(text) and text in same[:row] for row, text in enumerate(same)]
    assert (repeats(part("train", texts)).exact >= 0).tolist() == again


EDITS = {
    "a word changed": lambda text: text.replace(text.split()[20], "zeppelin", 1),
    "a sentence appended": lambda text: text + " I would buy it again.",
    "typos": lambda text: text[:40] + text[41:150] + "q" + text[150:],
    "punctuation": lambda text: text.replace(" and ", ", and ").replace(" but ", " - but ").replace(".", " !!!"),
    "case and quotes": lambda text: "« " + text.upper() + " »",
    "a word dropped": lambda text: " ".join(text.split()[1:]),
}


@pytest.mark.parametrize("edit", EDITS)
def test_planted_near_duplicates_are_found(edit: str) -> None:
    train, test = reviews(1, 2_000), reviews(2, 500)
    planted = range(0, 500, 10)
    for number in planted:
        test[number] = EDITS[edit](train[3 * number])
    found = twins(part("train", train), part("test", test)).near
    assert np.flatnonzero(found >= 0).tolist() == list(planted)
    assert all(found[number] == 3 * number for number in planted)


def test_texts_of_one_topic_are_not_near() -> None:
    """Same hundred words, same length: alike to the eye of a bag of words, but different texts."""
    part_of_topic = part("train", reviews(3, 3_000, words=12) + reviews(4, 1_000, words=120))
    assert not repeats(part_of_topic).found.any()


def test_nearness_agrees_with_the_true_jaccard_similarity() -> None:
    chance = random.Random(5)
    originals, edited = reviews(6, 400), []
    for text in originals:
        words = text.split()
        for place in chance.sample(range(60), chance.randrange(16)):
            words[place] = chance.choice(TOPIC)
        edited.append(" ".join(words))
    found = twins(part("train", originals), part("test", edited)).found
    truth = np.array([jaccard(one, other) for one, other in zip(originals, edited)])
    assert found[truth > 0.9].mean() > 0.99
    assert not found[truth < 0.68].any()
    sketched = [nearness.sketches([bare_words(normalise(text)) for text in texts]) for texts in (originals, edited)]
    error = nearness.similarity(*sketched) - truth
    assert abs(error.mean()) < 0.01
    assert error.std() < 0.04


def test_short_texts_are_only_ever_exact() -> None:
    found = twins(
        part("train", ["Very good book", "不错的书", "ok"]), part("test", ["very good  BOOK", "very good books", "oh"])
    )
    assert found.exact.tolist() == [0, -1, -1]
    assert (found.near == -1).all()


def test_scripts_without_spaces_have_near_duplicates_too() -> None:
    chance = random.Random(7)
    texts = [
        "".join(
            chance.choices("的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生", k=80)
        )
        for _ in range(50)
    ]
    found = twins(part("train", texts), part("test", [texts[9] + "！好", texts[30][:40] * 2])).near
    assert found.tolist() == [9, -1]


def test_a_pile_of_boilerplate_stays_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    true_similarity = nearness.similarity

    def counted(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        nonlocal compared
        compared += len(one)
        return true_similarity(one, other)

    monkeypatch.setattr(nearness, "similarity", counted)
    page = review(random.Random(8), 80)
    pile = part("corpus", [page] * 3_000 + [f"{page} Visitor {n}" for n in range(3_000)])
    found = repeats(pile)
    assert (found.exact >= 0).sum() == 2_999
    assert (found.near >= 0).sum() == 3_000
    assert (twins(pile, part("test", [page, f"{page} Visitor x"])).found).all()
    assert compared < 2 * nearness.BANDS * 3_003


def test_a_text_longer_than_a_slice_has_the_same_sketch(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = reviews(9, 5, words=400)
    whole = nearness.sketches(texts)
    for size in (64, 999, 5_000):
        monkeypatch.setattr(nearness, "_SLICE", size)
        assert (nearness.sketches(texts) == whole).all()


def test_leaked_rows_are_counted_from_zero() -> None:
    train, valid = reviews(10, 100), reviews(11, 100)
    test = [train[5].upper(), *reviews(12, 20), valid[7] + " Yes.", "", train[6]]
    assert leaked_rows(part("test", test), [part("train", train), part("valid", valid)]) == {0, 21, 23}


@given(st.lists(st.tuples(st.sampled_from(["a", "A", "b", "c", ""]), st.sampled_from(["0", "1", ""])), max_size=20))
def test_conflicting_labels_equal_a_plain_count(rows: list[tuple[str, str]]) -> None:
    labels: dict[str, set[str]] = defaultdict(set)
    for text, label in rows:
        if text and label:
            labels[text.lower()].add(label)
    torn = {text for text, names in labels.items() if len(names) > 1}
    half = len(rows) // 2
    texts, names = [text for text, _ in rows], [label for _, label in rows]
    found = conflicts([part("train", texts[:half], names[:half]), part("test", texts[half:], names[half:])])
    expected = [n for n, (text, label) in enumerate(rows) if text.lower() in torn and label]
    assert found.texts == len(torn) == len(found.pairs)
    assert [*found.rows["train"], *(found.rows["test"] + half)] == expected
    for one, other in found.pairs:
        place = {"train": 0, "test": half}
        (a, b) = (place[one[0]] + one[1], place[other[0]] + other[1])
        assert texts[a].lower() == texts[b].lower()
        assert names[a] != names[b]


def test_a_text_is_found_as_one_line_of_a_block() -> None:
    lines, block = reviews(13, 5), Document("Chapter 1\n" + "\n".join(reviews(14, 50)), "corpus.txt", 1)
    block = Document(f"{block.text}\n {lines[2].upper()}\nThe end", "corpus.txt", 1)
    found = twins(scan("corpus", [Document(lines[0], "corpus.txt", 99), block]), part("test", [*lines, "the end"]))
    assert found.exact.tolist() == [0, -1, 1, -1, -1, -1]


def test_a_part_keeps_numbers_and_not_texts() -> None:
    texts = (Document("word " * chance, "a.txt", chance) for chance in range(1_000, 2_000))
    kept = scan("corpus", texts)
    arrays = [value for value in vars(kept).values() if isinstance(value, np.ndarray)]
    assert sum(array.nbytes for array in arrays) / kept.rows < 220
    assert kept.place(3) == ("a.txt", 1_003)


def test_lengths_are_given_in_quantiles() -> None:
    table = facts(part("train", ["word " * count for count in range(101)], ["a", *"b" * 100]))
    assert table["labels"] == {"a": 1, "b": 100}
    assert (table["rows"], table["empty"]) == (101, 1)
    shares = {"smallest": 0, "p5": 5, "p25": 25, "median": 50, "p75": 75, "p95": 95, "largest": 100, "mean": 50.0}
    assert table["words"] == shares
    assert table["characters"] == {name: 5 * value for name, value in shares.items()}
    assert "tokens" not in table


def test_a_sentence_pair_is_one_text() -> None:
    first = scan("train", [Row("It rains.", "t", 1, label="1", text_b="It is wet.")])
    second = scan("test", [Row("It rains.", "t", 1, label="0"), Row("it rains.", "t", 2, text_b="It is WET.")])
    assert twins(first, second).exact.tolist() == [-1, 0]
