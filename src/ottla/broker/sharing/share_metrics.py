"""What a node counts of its share groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ottla.metrics import Metrics
from ottla.metrics.table import shares as table
from ottla.shares.delivery import AcknowledgedOffsets
from ottla.shares.record_state import AcknowledgeType


class ShareMetrics:
    """One per node."""

    def __init__(self, metrics: Metrics) -> None:
        self._acquired = metrics.counter(table.SHARE_ACQUIRED_RECORDS)
        self._acknowledged = {
            kind: metrics.counter(table.SHARE_ACKNOWLEDGED_RECORDS, kind.name.lower())
            for kind in AcknowledgeType
        }
        self._refused = metrics.counter(table.SHARE_REFUSED_ACKNOWLEDGEMENTS)
        self._expired = metrics.counter(table.SHARE_EXPIRED_RECORDS)

    def acquired(self, count: int) -> None:
        self._acquired.add(count)

    def acknowledged(self, batches: Sequence[AcknowledgedOffsets]) -> None:
        for first, last, types, _ in batches:
            if len(types) == 1:
                self._acknowledged[AcknowledgeType(types[0])].add(last - first + 1)
                continue
            for kind, count in Counter(types).items():
                self._acknowledged[AcknowledgeType(kind)].add(count)

    def refused(self) -> None:
        self._refused.add()

    def expired(self, count: int) -> None:
        self._expired.add(count)
