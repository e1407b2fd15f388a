"""The only writer of a partition of the supervisors' topic: a transactional producer whose id
belongs to the partition, so that opening it fences every earlier writer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ottla.client.cluster import ClientSeams
from ottla.client.producing.producer import Producer
from ottla.model import TopicPartition

_TIMEOUT_S: Final = 8.0
_TRANSACTION_TIMEOUT_MS: Final = 10_000


class ShardWriter:
    """Owned by the event loop. After an error it has to be closed."""

    def __init__(
        self,
        partition: TopicPartition,
        group_id: str,
        properties: Mapping[str, Any],
        seams: ClientSeams,
    ) -> None:
        self._partition = partition
        self._lock = asyncio.Lock()
        self._producer = Producer(
            {
                **properties,
                "transactional.id": f"ottla-supervisor-{group_id}-{partition.partition}",
                "transaction.timeout.ms": _TRANSACTION_TIMEOUT_MS,
                "linger.ms": 0,
            },
            seams=seams,
        )

    async def open(self) -> None:
        """Afterwards no earlier writer can commit anything. Raises ClientError."""
        await self._producer.init_transactions(timeout=_TIMEOUT_S)

    async def write(self, records: Sequence[tuple[str, bytes | None]]) -> int:
        """Returns the offset behind the last record, when all are committed. Raises
        ClientError."""
        topic, partition = self._partition
        async with self._lock:
            self._producer.begin_transaction()
            for key, value in records:
                delivery = await self._producer.send(
                    topic, value, key=key.encode(), partition=partition
                )
            await self._producer.commit_transaction(timeout=_TIMEOUT_S)
        return (await delivery).offset + 1

    async def close(self) -> None:
        await self._producer.close(timeout=0)
