"""What the held records of a partition need of their node."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.broker.delaying.delay_metrics import DelayMetrics
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks


@dataclass(frozen=True, slots=True)
class DelayContext:
    """Shared by all partitions of a node."""

    clock: Clock
    tasks: Tasks
    background: Background
    failures: StorageFailures
    metrics: DelayMetrics
