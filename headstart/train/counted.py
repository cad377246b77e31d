"""Token vectors before any training: tokens that keep the same company get like vectors.

    company(t, c)  how often c stands within a few tokens of t
    PMI(t, c) = log (company(t, c) / (company(t) · share of c)), where it is above 0

The best approximation of low rank to these numbers is what word2vec comes to (Levy and Goldberg, 2014). It takes
seconds, and a language model of minutes knows less of what words mean (docs/LOG.md).
"""

import warnings
from collections.abc import Iterator

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from headstart.text.store import Tokens

WINDOW = 20  # tokens on either side that count as company
CONTEXTS = 8_192  # the most frequent tokens, as company of all
MOST_TOKENS = 1 << 22  # of the corpus that are counted, in pieces evenly spread over it
PIECE = 1 << 20
WEAKEST = 0.01  # a direction with so small a share of the strongest one's strength is noise
FLATNESS = 0.75  # the share of company is taken of count^0.75: what is rare weighs less


def start_counted(table: Tensor, tokens: Tokens, specials: frozenset[int]) -> None:
    """Put counted vectors in a fresh table, as large as what was there.

    A token without company keeps its own, and all keep the directions of which the counts say nothing.
    """
    vocabulary, width = table.shape
    vectors = counted_vectors(tokens, vocabulary, width, specials)
    seen = vectors.any(1)
    with torch.no_grad():
        table[seen, : vectors.size(1)] = (vectors[seen] * table.std().cpu()).to(table)


def counted_vectors(tokens: Tokens, vocabulary: int, width: int, specials: frozenset[int]) -> Tensor:
    """A vector for each token, with mean 0 and spread 1; zeros for one that never stands near another.

    Their directions are the strongest of the counts, at most `width` of them. (V, ≤ D)
    """
    numbers = association(count_company(tokens, vocabulary, specials))
    left, strengths = low_rank(numbers, min(width, *numbers.shape))
    rank = int((strengths > WEAKEST * strengths[0]).sum())
    seen = torch.from_numpy(np.diff(numbers.indptr) > 0)
    found = (left * strengths.sqrt())[seen, :rank]
    vectors = torch.zeros(vocabulary, rank)
    if len(found) > 1:
        found -= found.mean(0)
        vectors[seen] = found / found.std().clamp(min=1e-12)
    return vectors


def count_company(tokens: Tokens, vocabulary: int, specials: frozenset[int]) -> csr_matrix:
    """How often each token (row) stands near each of the most frequent ones (column), within a document."""
    counts = np.zeros(vocabulary, np.int64)
    for ids, _ in _pieces(tokens):
        counts += np.bincount(ids, minlength=vocabulary)
    counts[list(specials)] = 0
    frequent = np.argsort(-counts, kind="stable")[: min(CONTEXTS, max(1, np.count_nonzero(counts)))]
    columns = np.full(vocabulary, -1)
    columns[frequent] = np.arange(len(frequent))
    columns[counts == 0] = -1
    found = csr_matrix((vocabulary, len(frequent)), dtype=np.float32)
    for ids, documents in _pieces(tokens):
        found = found + _company_in(ids, documents, counts > 0, columns, found.shape)
    return found


def _company_in(
    ids: np.ndarray, documents: np.ndarray, counted: np.ndarray, columns: np.ndarray, shape: tuple[int, int]
) -> csr_matrix:
    found = csr_matrix(shape, dtype=np.float32)
    for near in range(1, WINDOW + 1):
        same = documents[near:] == documents[:-near]
        for here, there in ((ids[near:], ids[:-near]), (ids[:-near], ids[near:])):
            kept = same & counted[here] & (columns[there] >= 0)
            ones = np.ones(np.count_nonzero(kept), np.float32)
            found = found + csr_matrix((ones, (here[kept], columns[there[kept]])), shape=shape)
    return found


def association(company: csr_matrix) -> csr_matrix:
    """Positive pointwise mutual information."""
    found = company.tocoo()
    shares = np.asarray(company.sum(0)).ravel() ** FLATNESS
    shares /= max(shares.sum(), 1e-12)
    whole = np.asarray(company.sum(1)).ravel()
    numbers = np.log(found.data / np.maximum(whole[found.row] * shares[found.col], 1e-12))
    above = numbers > 0
    return csr_matrix((numbers[above].astype(np.float32), (found.row[above], found.col[above])), shape=company.shape)


def low_rank(matrix: csr_matrix, rank: int) -> tuple[Tensor, Tensor]:
    """The strongest left singular vectors (V, rank) and their strengths (rank), by a randomised search."""
    there, back = _sparse(matrix), _sparse(matrix.T.tocsr())
    more = min(rank + 16, *matrix.shape)
    basis = there @ torch.randn(matrix.shape[1], more, generator=torch.Generator().manual_seed(0))
    for _ in range(3):
        basis = there @ (back @ torch.linalg.qr(basis).Q)
    basis = torch.linalg.qr(basis).Q
    left, strengths, _ = torch.linalg.svd((back @ basis).T, full_matrices=False)
    return (basis @ left)[:, :rank], strengths[:rank]


def _sparse(matrix: csr_matrix) -> Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "in beta state"
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr),
            torch.from_numpy(matrix.indices),
            torch.from_numpy(matrix.data),
            size=matrix.shape,
            check_invariants=False,
        )


def _pieces(tokens: Tokens) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Ids, and for each the number of its document; of a large corpus some pieces, evenly spread."""
    starts = np.arange(0, len(tokens), PIECE)
    most = MOST_TOKENS // PIECE
    if len(starts) > most:
        starts = starts[np.linspace(0, len(starts) - 1, most).round().astype(int)]
    for start in starts:
        ids = np.asarray(tokens.ids[start : start + PIECE], np.int64)
        yield ids, np.searchsorted(tokens.offsets, np.arange(start, start + len(ids)), side="right")
