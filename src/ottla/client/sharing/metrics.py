"""What a share consumer counts. Plain numbers, in the style of Kafka's own consumer."""

from __future__ import annotations


class ShareConsumerMetrics:
    """Counts responses and polls, never records one by one."""

    def __init__(self) -> None:
        self._counts = {
            "records-consumed-total": 0,
            "fetched-bytes-total": 0,
            "fetch-total": 0,
            "poll-total": 0,
            "acknowledgements-total": 0,
            "acknowledgements-failed-total": 0,
            "records-dropped-total": 0,
        }

    def count(self, name: str, number: int = 1) -> None:
        self._counts[name] += number

    def values(self) -> dict[str, float]:
        return dict(self._counts)
