"""Training a tokenizer: byte-pair encoding learnt by SentencePiece from a sample of the texts."""

import io
import re
from collections import Counter
from collections.abc import Iterable

from headstart.errors import TokenizerError
from headstart.text.pieces.forms import FORMS, Form, to_form
from headstart.text.pieces.marks import MARK, STAND_IN
from headstart.text.pieces.sample import CHUNK, Sample, draw_sample
from headstart.text.pieces.source import Source
from headstart.text.pieces.specials import BIDIRECTIONAL, EOS, FIRST, OOV, PAD, SOS
from headstart.text.tokenizer import Tokenizer

SAMPLE = 20_000_000  # characters: seconds of training, and twice as many change next to nothing
FIXED = len(FIRST) + len(BIDIRECTIONAL) + 256  # the specials and a piece for each byte
COVERAGE = 0.9999  # of the sample's characters; the rest is spelt in bytes

_BREAK = "\t"  # SentencePiece never learns a piece across it
_UNTEACHABLE = {MARK, STAND_IN, _BREAK, "\u2585", "\0", " "}  # it takes U+2585 for its own, and a space for MARK


def train_tokenizer(
    texts: Iterable[str], vocabulary: int, *, normalise: Form = "none", sample: int = SAMPLE, seed: int = 0
) -> Tokenizer:
    """At most `vocabulary` ids; fewer, with a note in `.training`, where the texts have no more to learn.

    Reads the texts once and keeps at most `sample` characters of them. The same texts in the same order give
    the same tokenizer.
    """
    check_vocabulary(vocabulary)
    return train_on_sample(draw_sample(texts, sample, seed), vocabulary, normalise=normalise, seed=seed)


def check_vocabulary(vocabulary: int) -> None:
    if vocabulary <= FIXED:
        raise TokenizerError(
            f"a vocabulary of {vocabulary} is too small: {FIXED} ids go to the special tokens and the 256 bytes; "
            f"try 1000 or more (tokenizer --vocabulary 1000, elsewhere --set model.vocabulary=1000)"
        )


def train_on_sample(sample: Sample, vocabulary: int, *, normalise: Form = "none", seed: int = 0) -> Tokenizer:
    check_vocabulary(vocabulary)
    assert normalise in FORMS, normalise
    chunks = [to_form(chunk, normalise) for chunk in sample.chunks if chunk.strip()]
    if not chunks:
        raise TokenizerError("there is no text to train a tokenizer on: all documents are empty")
    model = _learn(_teachable(chunks, (vocabulary - FIXED) // 2), vocabulary)
    source = Source(kind="trained", model=model, normalise=normalise, bidirectional=True)
    size = Tokenizer(source).size
    training = {
        "vocabulary": vocabulary,
        "seed": seed,
        "texts": sample.texts,
        "characters": sample.characters,
        "sampled_characters": sample.kept,
        "note": _note(vocabulary, size),
    }
    return Tokenizer(source, training)


def _note(asked: int, got: int) -> str:
    if got >= asked:
        return ""
    return f"the texts hold only {got:,} different pieces, not the {asked:,} asked for: all {got:,} were taken"


def _teachable(chunks: list[str], largest_alphabet: int) -> Iterable[str]:
    """The chunks, with a break for each character too rare for a piece of its own."""
    counts = Counter[str]()
    for chunk in chunks:
        counts.update(chunk)
    missing = (1 - COVERAGE) * counts.total()
    for character in _UNTEACHABLE:
        del counts[character]
    ranked = sorted(counts, key=lambda character: (-counts[character], character))
    alphabet = ranked[:largest_alphabet]
    rare = sum(counts[character] for character in ranked[largest_alphabet:])
    while alphabet and rare + counts[alphabet[-1]] <= missing:
        rare += counts[alphabet.pop()]
    others = re.compile(f"[^{re.escape(''.join(alphabet))} ]")
    return (others.sub(_BREAK, chunk) for chunk in chunks)


def _learn(chunks: Iterable[str], vocabulary: int) -> bytes:
    from sentencepiece import SentencePieceTrainer

    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=iter(chunks),
            model_writer=model,
            model_type="bpe",
            vocab_size=vocabulary,
            hard_vocab_limit=False,
            character_coverage=1.0,
            byte_fallback=True,
            normalization_rule_name="identity",
            add_dummy_prefix=True,
            remove_extra_whitespaces=False,
            allow_whitespace_only_pieces=True,
            max_sentence_length=4 * CHUNK + 1,
            num_threads=1,
            bos_id=SOS,
            pad_id=PAD,
            eos_id=EOS,
            unk_id=OOV,
            bos_piece=FIRST[SOS],
            pad_piece=FIRST[PAD],
            eos_piece=FIRST[EOS],
            unk_piece=FIRST[OOV],
            control_symbols=list(BIDIRECTIONAL),
            minloglevel=4,
        )
    except RuntimeError as problem:
        raise TokenizerError(f"SentencePiece could not learn from these texts: {problem}") from None
    return model.getvalue()
