"""Detects that the connection to a cluster is lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.admin import Admin
from ottla.client.errors import ClientError
from ottla.runtime.clock import Clock

PATIENCE_S: Final = 10.0
# How often a cluster that sends no records is asked whether it is there.
INTERVAL_S: Final = 2.0
_ANSWER_TIMEOUT_S: Final = 1.0


async def answers(admin: Admin) -> bool:
    try:
        await admin.describe_cluster(timeout=_ANSWER_TIMEOUT_S)
    except ClientError:
        return False
    return True


class ConnectionWatch:
    """`check` asks a silent cluster from time to time, and raises CommandError when an outage is
    long.

    The clients reconnect by themselves. A patient watch only prints a notice, once for each outage.
    """

    def __init__(
        self,
        clock: Clock,
        terminal: Terminal,
        answers: Callable[[], Awaitable[bool]],
        *,
        is_patient: bool,
    ) -> None:
        self._clock = clock
        self._terminal = terminal
        self._answers = answers
        self._is_patient = is_patient
        self._heard_at = self._asked_at = clock.monotonic()
        self._was_notified = False

    async def check(self, *, has_received: bool) -> None:
        now = self._clock.monotonic()
        if not has_received:
            if now - max(self._asked_at, self._heard_at) < INTERVAL_S:
                return
            has_received = await self._answers()
            self._asked_at = self._clock.monotonic()
        if has_received:
            self._heard_at = now
            self._was_notified = False
        elif now - self._heard_at >= PATIENCE_S:
            self._complain()

    def _complain(self) -> None:
        if not self._is_patient:
            raise CommandError(
                f"The cluster has not answered for {PATIENCE_S:.0f} s.",
                "Are its brokers still running?",
                exit_code=ExitCode.UNREACHABLE,
            )
        if not self._was_notified:
            self._was_notified = True
            self._terminal.notice("The connection to the cluster is lost; trying again.")
