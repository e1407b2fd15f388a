"""What clients append to and read from the partitions of a topic on this node."""

from __future__ import annotations


class TopicTraffic:
    """Shared by the partitions of a topic. Plain numbers, because every append and read changes
    them."""

    __slots__ = (
        "failed_fetches",
        "failed_produces",
        "fetches",
        "produces",
        "received_bytes",
        "received_records",
        "rejected_bytes",
        "sent_bytes",
        "sent_records",
    )

    def __init__(self) -> None:
        self.produces = 0
        self.failed_produces = 0
        self.received_bytes = 0
        self.received_records = 0
        self.rejected_bytes = 0
        self.fetches = 0
        self.failed_fetches = 0
        self.sent_bytes = 0
        self.sent_records = 0
