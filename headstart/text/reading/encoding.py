"""Which encoding some bytes seem to be in, for the message that refuses them."""

import codecs
import re
import shlex
from pathlib import Path

from headstart.text.reading.sources import Source

_TOOLS = {".gz": "gzip", ".xz": "xz", ".zst": "zstd"}
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNUSED_IN_1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


def guess_encoding(sample: bytes) -> str:
    """A name that both Python and iconv know; "" if no guess is sound. "utf-8" means: UTF-8, but damaged."""
    for mark, name in _BOMS:
        if sample.startswith(mark):
            return name
    if b"\0" in sample:
        return _wide(sample)
    if _mostly_utf8(sample):
        return "utf-8"
    if _UNUSED_IN_1252.search(sample) or _unlike_western(sample):
        return ""
    return "windows-1252" if re.search(rb"[\x80-\x9f]", sample) else "iso-8859-1"


def conversion(source: Source, encoding: str) -> str:
    """The command that makes a UTF-8 copy; from "utf-8" it drops the damaged bytes."""
    return filtered(source, f"iconv {'-c ' if encoding == 'utf-8' else ''}-f {encoding} -t utf-8")


def filtered(source: Source, change: str) -> str:
    """The command that makes a copy of the file, passed through `change`."""
    if source.name == "stdin":
        return f"... | {change} | headstart ..."
    endings = len(source.form + source.packing)
    name = source.path.name
    new = f"{name[: len(name) - endings]}.utf8{name[len(name) - endings :]}"
    old, new = shlex.quote(source.name), shlex.quote(str(Path(source.name).with_name(new)))
    if not source.packing:
        return f"{change} < {old} > {new}"
    tool = _TOOLS[source.packing]
    return f"{tool} -dc < {old} | {change} | {tool} > {new}"


def _wide(sample: bytes) -> str:
    """Western text in UTF-16 has a zero in nearly every second byte."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    enough = len(sample) // 5
    if odd > enough and even * 20 < odd:
        return "utf-16le"
    if even > enough and odd * 20 < even:
        return "utf-16be"
    return ""


def _unlike_western(sample: bytes) -> bool:
    """In French or German an accented letter stands among plain ones; in Russian or Japanese they come in runs."""
    runs = [len(run) for run in re.findall(rb"[\x80-\xff]+", sample)]
    return sum(run for run in runs if run > 2) * 2 > sum(runs)


def _mostly_utf8(sample: bytes) -> bool:
    text = sample.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    return sum(character > "\x7f" for character in text) - damaged > damaged
