"""Detects that the connection to a cluster is lost."""

from __future__ import annotations

from typing import Final

from confluent_kafka import KafkaError

from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.runtime.clock import Clock

PATIENCE_S: Final = 10.0


class ConnectionWatch:
    """`on_error` records the client's errors; `check` raises CommandError when an outage is long.

    The client reconnects by itself. A patient watch only prints a notice, once for each outage.
    """

    def __init__(self, clock: Clock, terminal: Terminal, *, is_patient: bool) -> None:
        self._clock = clock
        self._terminal = terminal
        self._is_patient = is_patient
        self._down_since: float | None = None
        self._was_notified = False

    def on_error(self, error: KafkaError) -> None:
        is_down = error.code() == KafkaError._ALL_BROKERS_DOWN  # noqa: SLF001 - the client's naming
        if is_down and self._down_since is None:
            self._down_since = self._clock.monotonic()

    def check(self, *, has_received: bool) -> None:
        if has_received:
            self._down_since = None
            self._was_notified = False
        elif self._is_overdue and not self._is_patient:
            raise CommandError(
                f"The cluster has not answered for {PATIENCE_S:.0f} s.",
                "Are its brokers still running?",
                exit_code=ExitCode.UNREACHABLE,
            )
        elif self._is_overdue and not self._was_notified:
            self._was_notified = True
            self._terminal.notice("The connection to the cluster is lost; trying again.")

    @property
    def _is_overdue(self) -> bool:
        if self._down_since is None:
            return False
        return self._clock.monotonic() - self._down_since >= PATIENCE_S
