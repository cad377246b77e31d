"""One of our translators in the classes of others: Hugging Face's Marian, and from there CTranslate2.

Marian knows one shape: norms after each part, waves for positions, one table for both languages and the output.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from headstart.generate.beam import ROWS, batches
from headstart.model.models import Translator
from headstart.text.pieces.specials import EOS, FIRST, OOV, PAD, SOS

Decoder = Callable[[Sequence[Sequence[int]]], list[tuple[int, ...]]]
"""From sources, which end with `<eos>`, to the best translation of each, without it."""

PARTS = {"attention": "self_attn", "reader": "encoder_attn"}
NORMS = {"attention_norm": "self_attn_layer_norm", "reader_norm": "encoder_attn_layer_norm"}
LONGEST = 512  # positions


def fits(model: Translator) -> str:
    """Why this translator can't be put into Marian's classes; "" if it can."""
    shape = model.writer.shape
    wanted = {"norm": "post", "positions": "sinusoidal", "tied": True, "output_bias": False, "embedding_norm": False}
    other = [
        f"model.{name} is {getattr(shape, name)}" for name, value in wanted.items() if getattr(shape, name) != value
    ]
    return ", ".join(other) or ("" if model.reader.embedding is model.writer.embedding else "tables are not shared")


def as_marian(model: Translator) -> Any:
    from transformers import MarianConfig, MarianMTModel

    shape = model.writer.shape
    sizes = {"layers": shape.depth, "attention_heads": shape.heads, "ffn_dim": shape.hidden}
    sides = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in sizes.items()}
    config = MarianConfig(
        vocab_size=shape.vocabulary, d_model=shape.width, activation_function=shape.activation,
        scale_embedding=shape.scaled_embedding, max_position_embeddings=LONGEST, pad_token_id=PAD, eos_token_id=EOS,
        bos_token_id=SOS, decoder_start_token_id=SOS, forced_eos_token_id=None, use_cache=True, **sides,
    )  # fmt: skip
    theirs = MarianMTModel(config).eval()
    with torch.no_grad():
        theirs.model.shared.weight.copy_(model.reader.embedding.weight)
        for ours, side in ((model.reader, theirs.model.encoder), (model.writer, theirs.model.decoder)):
            assert ours.positions is not None
            side.embed_positions.weight.copy_(ours.positions(torch.arange(LONGEST)))
            for block, layer in zip(ours.blocks, side.layers):
                _copy_layer(block, layer)
    theirs.tie_weights()
    return theirs


def _copy_layer(block: nn.Module, layer: Any) -> None:
    for ours, name in PARTS.items():
        if hasattr(block, ours):
            part = getattr(layer, name)
            _copy_rows(getattr(block, ours).project, [part.q_proj, part.k_proj, part.v_proj])
            _copy_rows(getattr(block, ours).output, [part.out_proj])
    for ours, name in {**NORMS, "feed_forward_norm": "final_layer_norm"}.items():
        if hasattr(block, ours):
            getattr(layer, name).load_state_dict(getattr(block, ours).state_dict())
    _copy_rows(block.get_submodule("feed_forward.inner"), [layer.fc1])
    _copy_rows(block.get_submodule("feed_forward.outer"), [layer.fc2])


def _copy_rows(linear: nn.Module, into: Sequence[nn.Linear]) -> None:
    assert isinstance(linear, nn.Linear)
    for theirs, weight, bias in zip(into, linear.weight.chunk(len(into)), linear.bias.chunk(len(into))):
        theirs.weight.copy_(weight)
        theirs.bias.copy_(bias)


def marian(theirs: Any, beam: int, rows: int = ROWS) -> Decoder:
    """In batches of like length, as ours."""

    def decode(sources: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = [()] * len(sources)
        for batch in batches([len(source) for source in sources], rows=rows, tokens=16_384 // beam):
            lengths = [len(sources[number]) for number in batch]
            ids = torch.tensor([[*sources[number], *[PAD] * (lengths[0] - len(sources[number]))] for number in batch])
            with torch.inference_mode():
                written = theirs.generate(
                    ids, attention_mask=(ids != PAD).long(), num_beams=beam, do_sample=False, early_stopping=False,
                    length_penalty=0.0, max_new_tokens=2 * lengths[0] + 10,
                )  # fmt: skip
            for number, row in zip(batch, written):
                found[number] = _before_end(row)
        return found

    return decode


def _before_end(row: Tensor) -> tuple[int, ...]:
    ids = row.tolist()[1:]
    return tuple(ids[: ids.index(EOS)] if EOS in ids else ids)


def ctranslate2(theirs: Any, beam: int, folder: Path, threads: int) -> Decoder:
    """In float32, converted from Marian's classes; tokens are named by their numbers."""
    import ctranslate2
    from ctranslate2.converters.transformers import BartLoader

    theirs.config.normalize_before, theirs.config.normalize_embedding = False, False
    spec = BartLoader().get_model_spec(theirs)
    names = [*FIRST, *map(str, range(len(FIRST), theirs.config.vocab_size))]
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = FIRST[SOS], FIRST[EOS], FIRST[OOV]
    spec.config.decoder_start_token = FIRST[SOS]
    spec.validate()
    spec.optimize()
    folder.mkdir(parents=True)
    spec.save(str(folder))
    there = ctranslate2.Translator(str(folder), compute_type="float32", inter_threads=1, intra_threads=threads)
    numbers = {name: id for id, name in enumerate(names)}

    def decode(sources: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
        longest = 2 * max(map(len, sources)) + 10
        written = there.translate_batch(
            [[names[id] for id in source] for source in sources], beam_size=beam, length_penalty=0.0,
            max_batch_size=16_384 // beam, batch_type="tokens", max_decoding_length=longest,
        )  # fmt: skip
        return [tuple(numbers[name] for name in one.hypotheses[0]) for one in written]

    return decode
