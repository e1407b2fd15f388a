"""What a producer counts. Plain numbers, under the names of Kafka's own producer."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.client.producing.batch import ProducerBatch


class ProducerMetrics:
    """Counts batches, never records one by one."""

    def __init__(self) -> None:
        self._counts = {
            "record-send-total": 0,
            "record-error-total": 0,
            "record-retry-total": 0,
            "request-total": 0,
            "batch-total": 0,
            "byte-total": 0,
            "batch-split-total": 0,
        }

    def sent(self, batches: Iterable[ProducerBatch]) -> None:
        counts = self._counts
        counts["request-total"] += 1
        for batch in batches:
            counts["batch-total"] += 1
            counts["byte-total"] += batch.size

    def acknowledged(self, batch: ProducerBatch) -> None:
        self._counts["record-send-total"] += batch.count

    def retried(self, batch: ProducerBatch) -> None:
        self._counts["record-retry-total"] += batch.count

    def failed(self, batch: ProducerBatch) -> None:
        self._counts["record-error-total"] += batch.count

    def split(self) -> None:
        self._counts["batch-split-total"] += 1

    def values(self) -> dict[str, float]:
        return dict(self._counts)
