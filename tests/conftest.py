"""What several tests need."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("busy machine", deadline=None)  # a time proves nothing about behaviour
settings.load_profile("busy machine")

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real text that is not part of the project; the tests that need it are skipped without it."""
    if not SHARED.is_dir():
        pytest.skip("needs the real text that lies beside the project, in ../shared/data")
    return SHARED
