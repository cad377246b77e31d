"""The transformer, told in reading order; imports only torch.

    shape -> masks -> positions -> attention -> block -> body -> heads -> models -> init, and the bill

Letters used in every shape comment of this folder:
    B batch   T positions   S positions looked at   V vocabulary   C classes
    D width   H heads       K width of one head
A mask is boolean and True means "may look at"; it broadcasts to (B, H, T, S).
"""
