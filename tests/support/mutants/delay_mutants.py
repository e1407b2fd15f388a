"""Bugs in delayed delivery, planted one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ottla.broker.delaying.held_log import HeldLog
from ottla.broker.delaying.held_partition import HeldPartition
from ottla.simulation.claims.delay_claims import (
    DueTimesKeepTheirOrder,
    NothingCancelledIsDelivered,
    NothingHeldIsDeliveredTwice,
    NothingHeldIsLost,
    NothingIsDeliveredEarly,
)
from ottla.storage.delays.cancellations import Cancellations
from ottla.storage.delays.held_index import HeldIndex
from tests.support.mutants.planting import FAULTS_OF_COORDINATORS, Mutant, around, replacing

_EARLY_MS = 1_500


def _takes_early(original: Any) -> Any:
    """What is due in a moment is released with what is due now."""

    def take(self: Any) -> bool:
        taken: bool = original(self)
        queue, now_ms = self._held.index.queue, self._context.clock.now_ms()
        first = queue.first()
        if taken and first is not None and first.due_ms < now_ms + _EARLY_MS:
            self._taken.append(queue.pop())
        return taken

    return take


def _takes_backwards(original: Any) -> Any:
    """Records that are released together are released in the wrong order."""

    def take(self: Any) -> bool:
        taken: bool = original(self)
        self._taken.reverse()
        return taken

    return take


def _begins_at_the_end(original: Any) -> Any:
    """A new leader does not look at what earlier ones have held."""

    def begin(self: Any, context: Any, log: Any, leader_epoch: int) -> None:
        original(self, context, log, leader_epoch)
        self.scanned = log.log_end_offset

    return begin


def _releases_again(*_: Any, **_options: Any) -> Iterator[None]:
    """A new leader does not look at what earlier ones have released."""
    return iter(())


def _delayed(name: str, plant: Any, found_by: Any, first_seed: int = 1) -> Mutant:
    return Mutant(name, plant, first_seed, found_by, seeks=FAULTS_OF_COORDINATORS, has_delays=True)


DELAY_MUTANTS = (
    _delayed(
        "releases records early",
        around(HeldPartition, "_take_due", _takes_early),
        NothingIsDeliveredEarly,
    ),
    _delayed(
        "holds nothing after a failover",
        around(HeldLog, "__init__", _begins_at_the_end),
        NothingHeldIsLost,
    ),
    _delayed(
        "forgets what was released",
        replacing(HeldIndex, "release", _releases_again),
        NothingHeldIsDeliveredTwice,
    ),
    _delayed(
        "releases records backwards",
        around(HeldPartition, "_take_due", _takes_backwards),
        DueTimesKeepTheirOrder,
    ),
    _delayed(
        "releases what was cancelled",
        replacing(Cancellations, "covers", lambda *_: False),
        NothingCancelledIsDelivered,
    ),
)
