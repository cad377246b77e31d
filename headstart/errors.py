"""What can go wrong through no fault of ours; each message says what, why and what to type.

HeadstartError
├── ConfigError          a setting we cannot act on
├── DataError            a text, label or pair file we cannot read
│   └── TokenizerError   a tokenizer file that is damaged or does not fit
├── CheckpointError      a saved model that is missing, damaged or of another shape
└── RunError             a run folder that is busy, occupied, or no longer what it was
    └── DeadRunError     a training that cannot learn any more
"""


class HeadstartError(Exception):
    """The user can do something about it. An assert, by contrast, is our own mistake."""


class ConfigError(HeadstartError):
    """A setting we cannot act on."""


class DataError(HeadstartError):
    """A text, label or pair file we cannot read."""


class TokenizerError(DataError):
    """A tokenizer file that is damaged or does not fit."""


class CheckpointError(HeadstartError):
    """A saved model that is missing, damaged or of another shape."""


class RunError(HeadstartError):
    """A run folder that is busy, occupied, or no longer what it was."""


class DeadRunError(RunError):
    """A training that cannot learn any more."""
