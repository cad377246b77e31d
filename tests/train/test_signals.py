"""What asks a run to end, and what a user has asked it to sit out."""

import signal

import pytest

from headstart.train.signals import Stopper

POLITE = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@pytest.mark.parametrize("name", POLITE)
def test_a_signal_asks_and_a_second_one_stops_at_once(name: str) -> None:
    number = getattr(signal, name)
    before = signal.getsignal(number)
    with Stopper() as stopper:
        signal.raise_signal(number)
        assert stopper.asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) is before


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no terminals that hang up")
def test_nohup_is_respected() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Stopper() as stopper:
            signal.raise_signal(signal.SIGHUP)
            assert not stopper.asked
    finally:
        signal.signal(signal.SIGHUP, before)
