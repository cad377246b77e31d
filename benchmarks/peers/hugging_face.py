"""Hugging Face transformers: GPT-2 classes of the same shape, its Trainer, its pipeline, its generate."""

import os
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.peers import Job
from benchmarks.texts import CONTEXT, ROWS, Texts
from headstart.text.records import Row

os.environ["HF_HUB_OFFLINE"] = "1"  # before the import: nothing is fetched

from transformers import (
    DataCollatorWithPadding,
    GPT2Config,
    GPT2ForSequenceClassification,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    PrinterCallback,
    Trainer,
    TrainingArguments,
    pipeline,
)
from transformers.utils import logging

logging.set_verbosity_error()
logging.disable_progress_bar()


def config(texts: Texts, positions: int = CONTEXT) -> GPT2Config:
    """Its own output table, dropout on the embedding only and ReLU, as the lab has it."""
    special = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
    dropout = {"resid_pdrop": 0.0, "attn_pdrop": 0.0, "embd_pdrop": 0.1}
    size = {"n_embd": 200, "n_layer": 4, "n_head": 2, "n_inner": 200, "n_positions": positions}
    return GPT2Config(
        vocab_size=texts.tokenizer.size,
        activation_function="relu",
        tie_word_embeddings=False,
        num_labels=len(texts.labels),
        **size,
        **dropout,
        **special,
    )


def language_model(texts: Texts, positions: int = CONTEXT) -> Any:
    torch.manual_seed(0)
    return GPT2LMHeadModel(config(texts, positions))


def loss_of(model: Any, ids: Tensor, targets: Tensor) -> Tensor:
    """Mean over the targets of a batch, (B, T) each, which already stand where they are predicted."""
    return model(input_ids=ids, labels=targets, shift_labels=targets).loss


def train_exact(texts: Texts) -> Job:
    model, windows = language_model(texts), texts.windows()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    number = 0

    def job(share: float) -> float:
        nonlocal number
        tokens = 0
        for _ in range(max(1, round(share * texts.amounts.steps))):
            batch = windows.batch(0, number % windows.steps(0))
            number += 1
            loss_of(model, batch.ids, batch.targets).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()
            tokens += batch.ids.numel()
        return float(tokens)

    return job


def finetune(texts: Texts) -> Job:
    model, rows = classifier(texts), labelled(texts, texts.train)

    def job(share: float) -> float:
        part = rows[: max(1, round(share * len(rows)))]
        trainer(texts, model, part, num_train_epochs=1, learning_rate=3e-4).train()
        return float(len(part))

    return job


def classifier(texts: Texts, seed: int = 0) -> Any:
    torch.manual_seed(seed)
    return GPT2ForSequenceClassification(config(texts))


def labelled(texts: Texts, rows: Sequence[Row]) -> list[dict[str, Any]]:
    found = fast_tokenizer(texts)([row.text for row in rows], truncation=True, max_length=CONTEXT)
    labels = [texts.labels.index(row.label) for row in rows]
    return [
        {"input_ids": ids, "attention_mask": [1] * len(ids), "labels": y} for ids, y in zip(found.input_ids, labels)
    ]


def trainer(texts: Texts, model: Any, rows: list[dict[str, Any]], **options: Any) -> Any:
    """Its Trainer with dynamic padding; nothing is saved, evaluated or reported."""
    settings = TrainingArguments(
        output_dir=tempfile.mkdtemp(dir=texts.folder),
        per_device_train_batch_size=ROWS,
        save_strategy="no",
        eval_strategy="no",
        logging_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        **options,
    )
    learner = Trainer(model, settings, data_collator=DataCollatorWithPadding(fast_tokenizer(texts)), train_dataset=rows)
    learner.remove_callback(PrinterCallback)
    return learner


def predict(texts: Texts) -> Job:
    """From raw text to labels, in batches of 16 as its guide shows."""
    model = GPT2ForSequenceClassification(config(texts)).eval()
    pipe = pipeline("text-classification", model=model, tokenizer=fast_tokenizer(texts), batch_size=ROWS, device="cpu")

    def job(share: float) -> float:
        chosen = [row.text for row in texts.test[: max(1, round(share * len(texts.test)))]]
        return float(len(pipe(chosen, truncation=True, max_length=CONTEXT)))

    return job


def write_one(texts: Texts) -> Job:
    return _writing(texts, 1)


def write_many(texts: Texts) -> Job:
    return _writing(texts, 32)


def _writing(texts: Texts, count: int) -> Job:
    model, prompts = language_model(texts).eval(), texts.prompts(count)
    model.generation_config.eos_token_id = None  # nothing ends early
    longest = max(map(len, prompts))
    ids = torch.tensor([[1] * (longest - len(prompt)) + prompt for prompt in prompts])
    real = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts])

    def job(share: float) -> float:
        tokens = max(2, round(share * texts.amounts.written))
        with torch.inference_mode():
            found = model.generate(ids, attention_mask=real, max_new_tokens=tokens, do_sample=False)
        return float(count * (found.shape[1] - longest))

    return job


@lru_cache(maxsize=1)
def fast_tokenizer(texts: Texts) -> Any:
    """The same pieces under the same ids in the tokenizers library: a merge for every way to join two of them."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    ours = texts.tokenizer
    numbers = {ours.piece(id): id for id in range(ours.size)}
    pairs = [
        (id, piece[:cut], piece[cut:])
        for piece, id in numbers.items()
        if id not in ours.specials
        for cut in range(1, len(piece))
        if piece[:cut] in numbers and piece[cut:] in numbers
    ]
    merges = [(left, right) for _, left, right in sorted(pairs)]
    bpe = models.BPE(vocab=numbers, merges=merges, unk_token="<oov>", fuse_unk=True, byte_fallback=bool(ours.byte_ids))
    cutter = Tokenizer(bpe)
    if ours.source.kind != "trained":  # the lab's model has SentencePiece's usual normalisation
        squeeze = normalizers.Replace(_pattern(" {2,}"), " ")
        cutter.normalizer = normalizers.Sequence([normalizers.NFKC(), squeeze, normalizers.Strip()])
    cutter.pre_tokenizer = pre_tokenizers.Metaspace()
    cutter.post_processor = processors.TemplateProcessing(single="<sos> $A", special_tokens=[("<sos>", 0)])
    names = {"bos_token": "<sos>", "pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<oov>"}
    return PreTrainedTokenizerFast(tokenizer_object=cutter, model_max_length=CONTEXT, **names)


def _pattern(text: str) -> Any:
    from tokenizers import Regex

    return Regex(text)
