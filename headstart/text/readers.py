"""A user's files in, documents, labelled rows and pairs out: the door to all that reads."""

from headstart.text.reading.corpus import Corpus
from headstart.text.reading.pairs import read_pairs, unheaded
from headstart.text.reading.rows import read_labelled, read_rows

__all__ = ["Corpus", "read_rows", "read_labelled", "read_pairs", "unheaded"]
