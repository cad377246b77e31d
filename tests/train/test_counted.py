"""Token vectors from counts: the counts are right, the algebra is scipy's, and like company gives like vectors."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix, random_array
from scipy.sparse.linalg import svds
from train.small_corpus import small_corpus, small_settings

from headstart.checkpoint import load
from headstart.model.models import LanguageModel
from headstart.recipes.pretrain import pretrain
from headstart.recipes.running.stopping import StopRule
from headstart.text.store import Tokens, open_store
from headstart.train import counted
from headstart.train.counted import association, count_company, counted_vectors, low_rank, start_counted

SPECIALS = frozenset(range(4))


def tokens(*documents: list[int]) -> Tokens:
    framed = [[0, *document, 2] for document in documents]
    starts = np.cumsum([0, *map(len, framed)])[:-1]
    return Tokens(np.concatenate(framed).astype(np.uint16), starts.astype(np.int64))


def pets_and_cars(texts: int = 400) -> Tokens:
    """4 and 5 stand among 10 to 19, 6 and 7 among 20 to 29."""
    chance = np.random.default_rng(0)
    documents = []
    for _ in range(texts):
        kind = chance.integers(2)
        company = chance.integers(10, 20, 8) + 10 * kind
        documents.append([*company[:4].tolist(), int(4 + 2 * kind + chance.integers(2)), *company[4:].tolist()])
    return tokens(*documents)


def by_hand(corpus: Tokens, vocabulary: int) -> np.ndarray:
    found = np.zeros((vocabulary, vocabulary))
    for number in range(corpus.documents):
        ids = corpus.document(number)
        for i, here in enumerate(ids):
            for j, there in enumerate(ids):
                if 0 < abs(i - j) <= counted.WINDOW and not {int(here), int(there)} & SPECIALS:
                    found[here, there] += 1
    return found


@pytest.mark.parametrize("piece", [1 << 20, 10_000])
def test_company_is_counted_within_documents(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(counted, "PIECE", piece)
    monkeypatch.setattr(counted, "WINDOW", 3)
    corpus = tokens([4, 5, 6, 5, 7, 8, 4, 4], [9, 4], [5], [9, 9, 8, 7, 6])
    found = count_company(corpus, 10, SPECIALS)
    expected = by_hand(corpus, 10)
    frequent = np.argsort(
        -np.bincount(corpus.ids, minlength=10) * ~np.isin(np.arange(10), list(SPECIALS)), kind="stable"
    )
    assert np.array_equal(found.toarray(), expected[:, frequent[: found.shape[1]]])


def test_a_large_corpus_is_counted_in_pieces_all_over_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted, "PIECE", 100)
    monkeypatch.setattr(counted, "MOST_TOKENS", 400)
    corpus = tokens(*[[4 + number // 25] * 8 for number in range(100)])  # 4, then 5, 6 and 7
    assert set(np.flatnonzero(count_company(corpus, 8, SPECIALS).sum(1))) == {4, 5, 6, 7}


def test_singular_vectors_are_those_of_scipy() -> None:
    matrix = csr_matrix(random_array((80, 50), density=0.2, rng=np.random.default_rng(1), dtype=np.float32))
    left, strengths = low_rank(matrix, 5)
    expected, sizes, _ = svds(matrix, 5)
    assert np.allclose(strengths.numpy(), sizes[::-1], rtol=0.02)
    assert np.allclose(np.abs((left.numpy() * expected[:, ::-1]).sum(0))[0], 1.0, atol=0.01)


def test_association_is_positive_mutual_information() -> None:
    company = csr_matrix(np.array([[4.0, 0.0], [1.0, 5.0]], np.float32))
    shares = np.array([5.0, 5.0]) ** 0.75 / (2 * 5.0**0.75)
    expected = np.maximum(np.log(np.array([[4, 1e-9], [1, 5]]) / (np.array([[4], [6]]) * shares)), 0)
    assert np.allclose(association(company).toarray(), expected, atol=1e-6)


def test_like_company_gives_like_vectors() -> None:
    vectors = counted_vectors(pets_and_cars(), 30, 8, SPECIALS)
    near = torch.cosine_similarity(vectors[[4, 6]], vectors[[5, 7]])
    far = torch.cosine_similarity(vectors[[4, 5]], vectors[[6, 7]])
    assert near.min() > 0.9
    assert far.max() < 0.0
    assert torch.isfinite(vectors).all()
    assert vectors[vectors.any(1)].std().item() == pytest.approx(1.0, abs=0.01)


def test_a_token_without_company_keeps_its_own_vector() -> None:
    table = torch.nn.Parameter(torch.randn(40, 8) * 0.1)
    before = table.detach().clone()
    start_counted(table, pets_and_cars(), SPECIALS)
    alone = [*SPECIALS, 8, 9, *range(30, 40)]
    assert torch.equal(table[alone], before[alone])
    assert not torch.equal(table[4], before[4])
    assert table.std().item() == pytest.approx(before.std().item(), rel=0.2)


@pytest.mark.parametrize("corpus", [tokens([]), tokens([4]), tokens([4, 5])], ids=["empty", "one", "two"])
def test_a_corpus_of_hardly_anything_is_no_trouble(corpus: Tokens) -> None:
    assert torch.isfinite(counted_vectors(corpus, 10, 16, SPECIALS)).all()


def test_the_same_corpus_gives_the_same_bytes() -> None:
    assert torch.equal(*(counted_vectors(pets_and_cars(), 30, 8, SPECIALS) for _ in range(2)))


def test_a_fresh_run_starts_from_counts_unless_told_otherwise(tmp_path: Path) -> None:
    """At a rate of nearly nothing the table stays what it was at first."""
    tables: dict[str, torch.Tensor] = {}
    for name, vectors in (("counted", "counted"), ("random", "random"), ("again", "counted")):
        settings = small_settings(f"train.vectors={vectors}", "train.rate=1e-12", "train.weight_decay=0.0")
        pretrain([small_corpus(tmp_path)], tmp_path / name, settings=settings, stop=StopRule(steps=1))
        model = load(tmp_path / name).model
        assert isinstance(model, LanguageModel)
        tables[name] = model.body.embedding.weight.detach()
    tokens, specials = open_store(tmp_path / "counted" / "tokens").train, load(tmp_path / "counted").tokenizer.specials
    expected = counted_vectors(tokens, len(tables["counted"]), tables["counted"].size(1), specials)
    seen, rank = expected.any(1), expected.size(1)
    assert torch.cosine_similarity(expected[seen], tables["counted"][seen, :rank]).min() > 0.999
    assert torch.cosine_similarity(expected[seen], tables["random"][seen, :rank]).mean() < 0.5
    assert torch.allclose(tables["counted"][:, rank:], tables["random"][:, rank:])
    assert torch.equal(tables["counted"], tables["again"])
