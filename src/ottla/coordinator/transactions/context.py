"""The dependencies shared by the parts of one partition's transaction coordinator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ottla.coordinator.runtime.state_machine import Timers
from ottla.coordinator.transactions.markers import MarkerWriter
from ottla.coordinator.transactions.metrics import TransactionMetrics
from ottla.coordinator.transactions.settings import TransactionSettings
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class TransactionContext:
    timers: Timers
    clock: Clock
    markers: MarkerWriter
    metrics: TransactionMetrics
    # A new producer id, or None until the controller has sent the next block.
    take_producer_id: Callable[[], int | None]
    # Both can change while the coordinator is active.
    settings_now: Callable[[], TransactionSettings]
    transaction_version_now: Callable[[], int]

    @property
    def settings(self) -> TransactionSettings:
        return self.settings_now()

    @property
    def server_version(self) -> int:
        """The level of `transaction.version` in this cluster."""
        return self.transaction_version_now()

    def new_producer_id(self) -> int:
        taken = self.take_producer_id()
        if taken is None:
            raise KafkaError(
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
                "the controller has not sent the next producer ids yet; try again in a moment",
            )
        return taken
