"""Text in, same text out; no text becomes a special id; a wrapped model cuts as SentencePiece does."""

import io
import pickle
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from hypothesis import example, given
from hypothesis import strategies as st
from text.small_texts import small_texts

from headstart.errors import TokenizerError
from headstart.text.pieces.source import Source
from headstart.text.records import Document
from headstart.text.subwords import train_tokenizer
from headstart.text.tokenizer import Tokenizer

OURS = train_tokenizer(small_texts(), 500)
SPECIALS = ["<sos>", "<pad>", "<eos>", "<oov>", "<mask>", "<cls>", "<sep>", "<s>", "</s>", "<unk>", "<0x41>"]
FRAGMENTS = [
    *SPECIALS,
    "▁",
    "\ue000",
    " ",
    "  ",
    "\n",
    "\t",
    "\r\n",
    "\0",
    "ka",
    "lé",
    "日本",
    "e\u0301",
    "🙂",
    "\ufeff",
]
AWKWARD = st.lists(st.sampled_from(FRAGMENTS)).map("".join)


def train_foreign(**settings: Any) -> bytes:
    """A model as somebody else would train it."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(small_texts()),
        model_writer=model,
        vocab_size=400,
        minloglevel=4,
        **({"model_type": "bpe"} | settings),
    )
    return model.getvalue()


FOREIGN = {
    "usual": train_foreign(hard_vocab_limit=False),
    "bytes": train_foreign(byte_fallback=True, hard_vocab_limit=False, user_defined_symbols=["<mask>"]),
    "unigram": train_foreign(model_type="unigram", hard_vocab_limit=False, pad_id=3),
    "bare": train_foreign(normalization_rule_name="identity", add_dummy_prefix=False, bos_id=-1, eos_id=-1),
}


@given(st.one_of(st.text(), AWKWARD))
@example("▁")
@example(" ▁ \ue000▁")
@example("  ")
def test_any_text_comes_back(text: str) -> None:
    ids = OURS.encode(text)
    assert OURS.decode(ids) == text
    assert OURS.specials.isdisjoint(ids)
    assert OURS.encode_batch([text, "", text]) == [ids, [], ids]


@given(st.one_of(st.text(), AWKWARD), st.integers(0, 2**56))
@example(" ▁ \ue000▁", 0)
def test_a_text_cut_anew_is_the_same_text(text: str, seed: int) -> None:
    texts = [text, "", "kalamiro " * 5]
    found = OURS.encode_anew(texts, 0.5, seed)
    assert [OURS.decode(ids) for ids in found] == texts
    assert OURS.specials.isdisjoint(id for ids in found for id in ids)
    assert OURS.encode_anew(texts, 0.5, seed) == found
    assert OURS.encode_anew(texts, 0.0, seed) == OURS.encode_batch(texts)


def test_chance_cuts_texts_in_other_pieces() -> None:
    text = " ".join(small_texts()[:20])
    ways = {tuple(OURS.encode_anew([text], 0.1, seed)[0]) for seed in range(10)}
    assert len(ways) == 10
    assert all(len(way) > len(OURS.encode(text)) for way in ways)


def test_every_character_comes_back() -> None:
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    rows = ["".join(characters[start : start + 512]) for start in range(0, len(characters), 512)]
    assert [OURS.decode(ids) for ids in OURS.encode_batch(rows)] == rows


def test_specials_are_dropped_and_half_a_pair_is_replaced() -> None:
    assert OURS.decode([OURS.sos, OURS.mask, *OURS.encode("kari mi"), OURS.eos, OURS.pad]) == "kari mi"
    assert OURS.decode(OURS.encode("a\ud800b")) == "a\ufffdb"
    assert OURS.encode_batch(["a\udfffb"]) == [OURS.encode("a\ufffdb")]
    assert OURS.spans("a\ud800b")[-1] == (2, 3)


def test_bytes_that_are_no_character_still_decode() -> None:
    assert OURS.decode([OURS.byte_ids[0xE2]]) == "\ufffd"


def test_layout_of_a_trained_tokenizer() -> None:
    assert [OURS.piece(id) for id in range(8)] == [*SPECIALS[:7], "<0x00>"]
    assert (OURS.sos, OURS.pad, OURS.eos, OURS.oov, OURS.mask, OURS.cls, OURS.sep) == tuple(range(7))
    assert OURS.size == 500
    assert OURS.bidirectional
    assert OURS.with_bidirectional() is OURS
    for outside in (-1, 500):
        with pytest.raises(TokenizerError, match="0 to 499"):
            OURS.piece(outside)


def test_words_share_a_piece_wherever_they_stand() -> None:
    assert OURS.encode("mi mi") == OURS.encode("mi") * 2


@given(st.one_of(st.text(), AWKWARD))
@example("日本 e\u0301 ▁x")
def test_spans_cover_the_text_and_spell_the_pieces(text: str) -> None:
    ids, spans = OURS.encode(text), OURS.spans(text)
    assert len(ids) == len(spans)
    position = 0
    for number, (id, (start, end)) in enumerate(zip(ids, spans)):
        assert start <= position <= max(start, end)
        position = max(position, end)
        if id in OURS.byte_ids:
            assert bytes([OURS.byte_ids.index(id)]) in text[start:end].encode("utf-8")
            assert end - start == 1
        else:
            before = "" if number else " "
            assert OURS.piece(id).replace("▁", " ") == before + text[start:end]
    assert position == len(text)


@given(st.one_of(st.text(), AWKWARD, st.text("e\u0301\u0327각ㄱ\u1100\u1161ﬁｶﾞ½ ")))
def test_normalised_forms(text: str) -> None:
    for form, standard in (("nfc", "NFC"), ("nfkc", "NFKC")):
        tokenizer = NORMALISED[form]
        whole = unicodedata.normalize(standard, text)  # type: ignore[arg-type]
        assert tokenizer.decode(tokenizer.encode(text)) == whole
        spans = tokenizer.spans(text)
        assert len(spans) == len(tokenizer.encode(text))
        assert spans == sorted(spans)
        assert {place for start, end in spans for place in range(start, end)} == set(range(len(text)))


NORMALISED = {form: train_tokenizer(small_texts(), 400, normalise=form) for form in ("nfc", "nfkc")}


def test_spans_of_a_normalised_text_are_those_of_the_original() -> None:
    text = "ka ﬁn e\u0301"
    spans = dict(zip(NORMALISED["nfkc"].spans(text), NORMALISED["nfkc"].encode(text)))
    assert (6, 8) in spans or (5, 8) in spans
    assert all(text[start:end].strip() in ("", "ka", "k", "a", "ﬁ", "ﬁn", "n", "e\u0301") for start, end in spans)


@pytest.mark.parametrize("name", FOREIGN)
@given(text=st.one_of(st.text(), AWKWARD))
def test_a_wrapped_model_cuts_as_sentencepiece(name: str, text: str) -> None:
    oracle = sentencepiece.SentencePieceProcessor(model_proto=FOREIGN[name])
    tokenizer = Tokenizer(Source(kind="wrapped", model=FOREIGN[name]))
    pieces = [oracle.id_to_piece(id) for id in range(oracle.vocab_size())]
    ids = tokenizer.encode(text)
    expected = ["<oov>" if oracle.is_unknown(id) else pieces[id] for id in oracle.encode(text)]
    assert [tokenizer.piece(id) for id in ids] == expected
    assert tokenizer.encode_batch([text]) == [ids]
    assert len(tokenizer.spans(text)) == len(ids)
    if tokenizer.oov not in ids:
        assert tokenizer.decode(ids) == oracle.decode(oracle.encode(text))


def test_layout_of_a_wrapped_model() -> None:
    oracle = sentencepiece.SentencePieceProcessor(model_proto=FOREIGN["unigram"])
    tokenizer = Tokenizer(Source(kind="wrapped", model=FOREIGN["unigram"]))
    own = [oracle.id_to_piece(id) for id in range(4, oracle.vocab_size())]
    assert [tokenizer.piece(id) for id in range(4, tokenizer.size)] == own
    with pytest.raises(TokenizerError, match="no <cls>"):
        _ = tokenizer.cls
    both = tokenizer.with_bidirectional()
    assert (both.mask, both.cls, both.sep) == tuple(range(tokenizer.size, tokenizer.size + 3))
    assert both.encode("kari <mask>") == tokenizer.encode("kari <mask>")
    assert both.hash != tokenizer.hash


def test_a_symbol_of_a_foreign_model_is_not_our_special() -> None:
    tokenizer = Tokenizer(Source(kind="wrapped", model=FOREIGN["bytes"])).with_bidirectional()
    assert tokenizer.piece(tokenizer.encode("<mask>")[-1]) == "<mask>"
    assert tokenizer.mask not in tokenizer.encode("<mask>")


def test_pickled_tokenizer_is_the_same() -> None:
    for tokenizer in (OURS, Tokenizer(Source(kind="wrapped", model=FOREIGN["usual"])).with_bidirectional()):
        copy = pickle.loads(pickle.dumps(tokenizer))
        assert copy.hash == tokenizer.hash
        assert copy.encode("kari ▁ mi") == tokenizer.encode("kari ▁ mi")


def test_lab_pair(shared_data: Path) -> None:
    lab = Tokenizer.load(shared_data / "lab")
    lines = (shared_data / "lab" / "dict.txt").read_text("utf-8").split("\n")[:-1]
    assert lab.size == 50_001
    assert [lab.piece(id) for id in range(4, lab.size)] == [line.rpartition(" ")[0] for line in lines]
    assert not lab.bidirectional
    both = lab.with_bidirectional()
    assert (both.size, both.mask, both.cls, both.sep) == (50_004, 50_001, 50_002, 50_003)


@pytest.mark.parametrize(("part", "rows", "unknown"), [("train", 1600, 126), ("valid", 400, 42), ("test", 2000, 189)])
def test_lab_reviews(shared_data: Path, part: str, rows: int, unknown: int) -> None:
    lab = Tokenizer.load(shared_data / "lab")
    path = shared_data / "lab" / "cls-books" / f"{part}.review.spm"
    lines = path.read_text("utf-8").split("\n")[:-1]
    encoded = lab.encode_documents([Document("", str(path), n, line) for n, line in enumerate(lines, 1)])
    assert len(encoded) == rows
    assert sum(ids.count(lab.oov) for ids in encoded) == unknown
    assert [len(ids) for ids in encoded] == [len(line.split(" ")) for line in lines]
    assert [lab.piece(id) for id in encoded[0]] == lines[0].split(" ")


def test_lab_model_cuts_as_sentencepiece(shared_data: Path) -> None:
    file = shared_data / "lab" / "sentencepiece.french.model"
    oracle = sentencepiece.SentencePieceProcessor(model_file=str(file))
    alone, pair = Tokenizer.load(file), Tokenizer.load(shared_data / "lab")
    lines = (shared_data / "lab" / "cls-books" / "valid.review.spm").read_text("utf-8").split("\n")
    texts = [oracle.decode(line.split(" ")) for line in lines]
    expected = [[id + 1 if id else 3 for id in ids] for ids in oracle.encode(texts)]
    assert alone.encode_batch(texts) == expected
    assert pair.encode_batch(texts) == expected
    assert pair.decode(expected[0]) == texts[0]
    assert pair.encode_document(Document(texts[1], "", 1)) == expected[1]
