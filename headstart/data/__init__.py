"""Ids to batches.

    chance -> batch -> cuts -> windows, hiding -> masked, sentences (with flags)
    buckets, framing -> labelled, pairs

Every source of batches has `steps(epoch)` and `batch(epoch, position)`. What it gives is a pure function of
(seed, epoch, position): any position can be entered directly, so a resumed run sees what it would have seen.
"""
