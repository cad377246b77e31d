"""Raw text to ids on disk.

    records -> opening -> readers -> tokenizer -> stream, and the guard beside them

Nothing here knows of tensors.
"""
