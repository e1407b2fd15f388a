"""Under which producer id and epoch batches are sent: none, one of an idempotent producer, or that
of a transaction (transactions.py)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final, Protocol

from ottla.channels import ChannelError
from ottla.client.cluster import ClientCluster
from ottla.client.errors import ApiError, ClientError, require
from ottla.client.producing.batch import NO_IDENTITY, ProducerIdentity
from ottla.client.producing.partition_queue import PartitionQueue
from ottla.model import KafkaError, ProducerEpoch, ProducerId
from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

_log = logging.getLogger(__name__)

_EPOCH_MAX: Final = 2**15 - 1


class DeliveryGuarantee(Protocol):
    """What the sender asks before it sends, and reports to."""

    @property
    def transactional_id(self) -> str | None: ...

    def identity(self) -> ProducerIdentity | None:
        """None if nothing can be sent now; the sender is woken when that changes."""

    def produce_version_max(self) -> int | None: ...

    def admits(self, queue: PartitionQueue) -> bool:
        """Whether the partition is part of what is being written. If not, it is added first, and
        the sender woken."""

    def lost_sequence(self, queue: PartitionQueue) -> None:
        """A sequence number is missing: `identity` has to differ from the queue's."""

    def batch_failed(self, error: ClientError) -> None:
        """A batch will not be written."""


class NoGuarantee:
    """Without idempotence: retries may write records twice."""

    transactional_id: str | None = None

    def identity(self) -> ProducerIdentity | None:
        return NO_IDENTITY

    def produce_version_max(self) -> int | None:
        return None

    def admits(self, queue: PartitionQueue) -> bool:  # noqa: ARG002 - the protocol's signature
        return True

    def lost_sequence(self, queue: PartitionQueue) -> None: ...

    def batch_failed(self, error: ClientError) -> None: ...


class Idempotence:
    """Every record once and in order per partition, as long as the producer lives.

    `on_change` wakes the sender; `on_refused` gets an error for which no id can be had.
    """

    transactional_id: str | None = None

    def __init__(
        self,
        cluster: ClientCluster,
        on_change: Callable[[], None],
        on_refused: Callable[[ClientError], None],
    ) -> None:
        self._cluster = cluster
        self._on_change = on_change
        self._on_refused = on_refused
        self._identity: ProducerIdentity | None = None
        self._task: asyncio.Task[object] | None = None

    def identity(self) -> ProducerIdentity | None:
        if self._identity is None and self._task is None:
            self._task = self._cluster.tasks.start("producer id", self._request())
        return self._identity

    def produce_version_max(self) -> int | None:
        return None

    def admits(self, queue: PartitionQueue) -> bool:  # noqa: ARG002 - the protocol's signature
        return True

    def lost_sequence(self, queue: PartitionQueue) -> None:
        """The next epoch; a new producer id after the last one. Other partitions change when all
        that they sent under the old one is decided."""
        current = self._identity
        if current is None or current != queue.identity:
            return
        self._identity = None
        if current.epoch < _EPOCH_MAX:
            self._identity = ProducerIdentity(current.producer_id, ProducerEpoch(current.epoch + 1))

    def batch_failed(self, error: ClientError) -> None: ...

    async def _request(self) -> None:
        failures = 0
        try:
            while self._identity is None:
                try:
                    self._identity = await self._attempt()
                except ApiError as error:
                    if not error.retriable:
                        self._on_refused(error)
                        return
                    _log.debug("no producer id yet: %s", error)
                except (ChannelError, KafkaError) as error:
                    _log.debug("no producer id yet: %s", error)
                if self._identity is None:
                    failures += 1
                    await self._cluster.clock.sleep(self._cluster.backoff(failures))
        finally:
            self._task = None
        self._on_change()

    async def _attempt(self) -> ProducerIdentity:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=2**31 - 1)
        response: InitProducerIdResponse = await self._cluster.send_to_any(request)
        require(response.error_code, "requesting a producer id")
        return ProducerIdentity(
            ProducerId(response.producer_id), ProducerEpoch(response.producer_epoch)
        )
