"""Which encoding some bytes seem to be in."""

import codecs
import re
import shlex
from pathlib import Path

from headstart.text.sources import Source

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
    high = len(re.findall(rb"[\x80-\xff]", sample))
    if high > len(sample) / 4 or _UNUSED_IN_1252.search(sample):
        return ""
    return "windows-1252" if re.search(rb"[\x80-\x9f]", sample) else "iso-8859-1"


def conversion(source: Source, encoding: str) -> str:
    """The command that makes a UTF-8 copy; "utf-8" itself as the encoding drops the damaged bytes."""
    change = "iconv -c -f utf-8 -t utf-8" if encoding == "utf-8" else f"iconv -f {encoding} -t utf-8"
    if source.name == "stdin":
        return f"... | {change} | headstart ..."
    old = shlex.quote(source.name)
    endings = source.form + source.packing
    stem = source.path.name[: len(source.path.name) - len(endings)]
    new = shlex.quote(str(Path(source.name).with_name(f"{stem}.utf8{endings}")))
    if not source.packing:
        return f"{change} {old} > {new}"
    tool = _TOOLS[source.packing]
    return f"{tool} -dc {old} | {change} | {tool} > {new}"


def _wide(sample: bytes) -> str:
    """Western text in UTF-16 has a zero in nearly every second byte."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    enough = len(sample) // 5
    if odd > enough and even * 20 < odd:
        return "utf-16le"
    if even > enough and odd * 20 < even:
        return "utf-16be"
    return ""


def _mostly_utf8(sample: bytes) -> bool:
    text = sample.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    return sum(character > "\x7f" for character in text) - damaged > damaged
