"""Batches to weights.

device -> course -> vocabulary_loss -> objectives -> optimiser -> loop, and around it
transfer (the head swap), state, journal and folder (nothing is lost), dead (nothing is learnt)
"""
