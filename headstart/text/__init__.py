"""Raw text to ids on disk.

    records -> readers (reading/) -> tokenizer, subwords (pieces/) -> stream, store (storing/); the guard beside

Nothing here knows of tensors.
"""
