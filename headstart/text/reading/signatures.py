"""What a file is, told from its first bytes."""

_EXPORT = "export its text as UTF-8 .txt, .csv or .jsonl"
_SIGNATURES = (
    (b"\x1f\x8b", "a gzip file", "let its name end in .gz"),
    (b"\xfd7zXZ\x00", "an xz file", "let its name end in .xz"),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "let its name end in .zst"),
    (b"PAR1\x15", "a parquet file", "let its name end in .parquet"),
    (b"PK\x03\x04", "a zip file (.docx, .xlsx and .epub are zip files too)", "unzip it, or " + _EXPORT),
    (b"BZh", "a bzip2 file", "unpack it with bunzip2"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z file", "unpack it with 7z x"),
    (b"Rar!\x1a\x07", "a rar file", "unpack it with unrar x"),
    (b"%PDF-", "a PDF file", "take its text out with pdftotext"),
    (b"{\\rtf", "an RTF file", _EXPORT),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Word or Excel file", _EXPORT),
    (b"SQLite format 3\x00", "an SQLite database", _EXPORT),
    (b"ARROW1\x00\x00", "an Arrow file", "write it as .parquet"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", _EXPORT),
    (b"\x93NUMPY", "a NumPy array", _EXPORT),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture", "give a text file"),
    (b"\xff\xd8\xff", "a JPEG picture", "give a text file"),
    (b"\x7fELF", "a program", "give a text file"),
)
_BZIP2_BLOCK = b"1AY&SY"


def kind_of(head: bytes) -> tuple[str, str]:
    """What `head` begins like and what to do about it; two empty texts for anything that may be text."""
    for signature, kind, advice in _SIGNATURES:
        if head.startswith(signature) and (signature != b"BZh" or head[4:10] == _BZIP2_BLOCK):
            return kind, advice
    if head[257:262] == b"ustar":
        return "a tar file", "unpack it with tar xf"
    return "", ""
