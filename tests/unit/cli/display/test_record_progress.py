"""A progress bar for those who wait."""

from ottla.cli.display.record_progress import PATIENCE_S, RecordProgress
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.captured_terminal import captured_terminal, complained


def shown(*, is_terminal: bool, waiting_s: float) -> str:
    clock, terminal = SimulatedClock(), captured_terminal(is_terminal=is_terminal)
    with RecordProgress(terminal.stderr, clock, title="orders") as progress:
        progress.update(records=1, size_in_bytes=10)
        clock.advance(waiting_s)
        progress.update(records=2_000, size_in_bytes=4_000_000, done=1, total=2)
    return complained(terminal)


def test_a_quick_run_shows_no_bar() -> None:
    assert shown(is_terminal=True, waiting_s=PATIENCE_S / 2) == ""


def test_a_long_run_shows_amount_and_rate() -> None:
    bar = shown(is_terminal=True, waiting_s=2.0)
    assert "2,000 records, 4.0 MB" in bar
    assert "1,000 records/s, 2.0 MB/s" in bar


def test_a_pipe_gets_no_bar() -> None:
    assert shown(is_terminal=False, waiting_s=2.0) == ""
