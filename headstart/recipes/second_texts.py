"""Single texts or pairs of them: what rows are, and whether a model learnt from such rows."""

from collections.abc import Sequence
from typing import Literal

from headstart.errors import DataError
from headstart.text.records import Row

Share = Literal["none", "some", "all"]


def seconds(rows: Sequence[Row]) -> Share:
    """Which rows have a second text."""
    count = sum(bool(row.text_b) for row in rows)
    return "none" if not count else "all" if count == len(rows) else "some"


def check_seconds(rows: Sequence[Row], learnt: Share) -> None:
    """Refuse single texts alone where only pairs were `learnt`, and pairs alone where none was."""
    found = seconds(rows)
    if rows and learnt == "all" and found == "none":
        raise DataError(
            f"{rows[0].source}:{rows[0].line}: a single text, as are all the others, but the model learns from pairs: "
            "give a table whose column text_b holds the second text"
        )
    if rows and learnt == "none" and found == "all":
        raise DataError(
            f"{rows[0].source}:{rows[0].line}: a pair of texts, as are all the others, but the model learns from "
            "single ones: leave out the column text_b"
        )
