"""Produce requests whose batches must be opened (decompressed and decoded) before the append.

    waiting for its partitions' turns ──▶ opened ──▶ appended; next request's turn

Batches are opened if the topic is compacted, recompresses batches or validates records
(storage/batches/opened_batch.py). If the topic has schema rules, their keys and values are checked
as well (validation/validation.py). A small batch is opened at once. A large one is opened by a
worker process, and later requests for the partition wait for it: otherwise a producer's batches
would be appended out of order. Waiting batches are held in memory, so their total size is limited.
Requests above the limit are rejected with NOT_ENOUGH_REPLICAS, which every client retries.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Final, NamedTuple, TypeAlias

from ottla.broker.network.handling import RequestContext
from ottla.broker.network.pending import Pending
from ottla.broker.producing.produced_partition import produced_partition
from ottla.broker.producing.transactional_produce import VerifiedProduce
from ottla.broker.producing.turns import Turns
from ottla.broker.validation.set_asides import SetAside
from ottla.broker.validation.validations import Validations
from ottla.controller.quorum_seams import Seams
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.replication.partitions import Partitions
from ottla.runtime.background import WorkerCrashedError
from ottla.storage.batches.opened_batch import OpenedBatch, open_batch, open_inline
from ottla.storage.log_config import LogConfig
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest
from ottla.wire.schema import Message

_log = logging.getLogger(__name__)

# The size limit of all waiting requests. A single request may be larger.
_WAITING_BYTES_MAX: Final = 64 << 20

# Yields to the loop after this long.
_STEP_SECONDS: Final = 0.002

# What became of a batch: it can be appended, has to be set aside, or is refused.
OpenedOutcome: TypeAlias = OpenedBatch | SetAside | KafkaError
# By `id` of the partition's data in the request.
Opened: TypeAlias = Mapping[int, OpenedOutcome]
Answer: TypeAlias = Message | Pending | None
Append: TypeAlias = Callable[
    [RequestContext, ProduceRequest, VerifiedProduce | None, Opened], Answer
]


class _Part(NamedTuple):
    data: PartitionProduceData
    name: TopicPartition
    config: LogConfig


class Openings:
    """Handles the requests of a node whose batches must be opened. Owned by its loop."""

    def __init__(
        self,
        partitions: Partitions,
        seams: Seams,
        validations: Validations,
    ) -> None:
        self.partitions = partitions
        self.clock = seams.clock
        self.tasks = seams.tasks
        self.background = seams.background
        self.validations = validations
        # Keyed by partition.
        self.turns = Turns()
        self.waiting_bytes = 0

    def has_to_open(self, version: int, request: ProduceRequest) -> bool:
        """Whether a batch may have to be opened, or to wait for one that is being opened."""
        for topic in request.topic_data:
            for data in topic.partition_data:
                try:
                    partition = produced_partition(self.partitions, version, topic, data.index)
                except KafkaError:
                    continue
                log = partition.log
                if log is not None and log.config.opens_batches:
                    return True
                if self.waiting_bytes and self.turns.is_busy(partition.name):
                    return True
        return False

    def run(
        self,
        context: RequestContext,
        request: ProduceRequest,
        verified: VerifiedProduce | None,
        append: Append,
    ) -> Answer:
        """Opens the batches of a request, then appends it."""
        return _OpenedProduce(self, context, request, verified, append).run()


class _OpenedProduce:
    """One request. Holds its records until they are appended."""

    __slots__ = (
        "_append",
        "_checked",
        "_context",
        "_names",
        "_opened",
        "_openings",
        "_pending",
        "_request",
        "_size",
        "_turns_missing",
        "_verified",
    )

    def __init__(
        self,
        openings: Openings,
        context: RequestContext,
        request: ProduceRequest,
        verified: VerifiedProduce | None,
        append: Append,
    ) -> None:
        self._openings = openings
        self._context = context
        self._request = request
        self._verified = verified
        self._append = append
        self._pending = Pending()
        self._opened: dict[int, OpenedOutcome] = {}
        # The batches whose schemas are checked, by `id` of the partition's data.
        self._checked: set[int] = set()
        self._names: list[TopicPartition] = []
        self._turns_missing = 0
        self._size = 0

    def run(self) -> Answer:
        parts = list(self._parts())
        openings = self._openings
        is_first = not any(openings.turns.is_busy(part.name) for part in parts)
        if is_first and self._open_within_a_step(parts):
            return self._append_all()
        size = sum(len(part.data.records or b"") for part in parts)
        if openings.waiting_bytes and openings.waiting_bytes + size > _WAITING_BYTES_MAX:
            self._refuse(parts)
            return self._append_all()
        self._size = size
        openings.waiting_bytes += size
        # All turns are requested in one step, so that two requests cannot deadlock.
        self._names = list(dict.fromkeys(part.name for part in parts))
        self._turns_missing = len(self._names)
        for name in self._names:
            openings.turns.begin(name, self._turn_came)
        return None if self._request.acks == 0 else self._pending.answer

    def _parts(self) -> Iterator[_Part]:
        """The batches for partitions of this node. The append rejects the others."""
        version, partitions = self._context.api_version, self._openings.partitions
        for topic in self._request.topic_data:
            for data in topic.partition_data:
                with suppress(KafkaError):
                    partition = produced_partition(partitions, version, topic, data.index)
                    if partition.log is not None and data.records is not None:
                        yield _Part(data, partition.name, partition.log.config)

    def _open_within_a_step(self, parts: list[_Part]) -> bool:
        """Opens batches until the time of a step is over. Returns whether all are open."""
        monotonic = self._openings.clock.monotonic
        started = monotonic()
        return all(
            monotonic() - started < _STEP_SECONDS and self._open_inline(part) for part in parts
        )

    def _open_inline(self, part: _Part) -> bool:
        """Opens and checks a batch if that is quick. Returns whether it is now opened or
        rejected."""
        data, name, config = part
        if self._is_open(part):
            return True
        assert data.records is not None
        try:
            opened = open_inline(
                data.records, config, name=name, now_ms=self._openings.clock.now_ms()
            )
        except KafkaError as error:
            self._opened[id(data)] = error
            return True
        if opened is None:
            return False
        self._opened[id(data)] = opened
        return config.schema_rules is None or self._check_now(part, opened)

    def _check_now(self, part: _Part, opened: OpenedBatch) -> bool:
        """Checks a batch's schemas if that is quick. Returns whether it is now good or rejected."""
        try:
            is_good = self._openings.validations.validation.check_now(part.name.topic, opened)
        except KafkaError as error:
            self._opened[id(part.data)] = error
            return True
        if is_good:
            self._checked.add(id(part.data))
        return is_good

    def _is_open(self, part: _Part) -> bool:
        """Whether a batch needs no opening, was rejected, or was opened with the partition's
        current config."""
        known = self._opened.get(id(part.data))
        if isinstance(known, KafkaError) or not part.config.opens_batches:
            return True
        if isinstance(known, SetAside):
            return known.opened.config is part.config
        return (
            known is not None
            and known.config is part.config
            and (part.config.schema_rules is None or id(part.data) in self._checked)
        )

    def _refuse(self, parts: list[_Part]) -> None:
        error = KafkaError(
            ErrorCode.NOT_ENOUGH_REPLICAS,
            f"{self._openings.waiting_bytes} bytes of batches wait to be decompressed and "
            "checked; try again later, with fewer or smaller batches",
        )
        for part in parts:
            self._opened[id(part.data)] = error

    def _turn_came(self) -> None:
        self._turns_missing -= 1
        # When the node ends, turns that are cancelled pass to the next ones.
        if not self._turns_missing and not self._openings.tasks.is_closed:
            # In its own task: the previous turn may end deep in an unrelated call.
            self._openings.tasks.start("open batches", self._run_turn())

    async def _run_turn(self) -> None:
        openings = self._openings
        try:
            # A partition's config may change while its batch is being opened.
            while unopened := [part for part in self._parts() if not self._is_open(part)]:
                await self._open_all(unopened)
            answer: Answer = None
            # With acks=0 no error is sent, and the connection may have handled later requests.
            with suppress(ConnectionAbortedError):
                answer = self._append_all()
            self._pending.follow(answer)
        finally:
            openings.waiting_bytes -= self._size
            for name in self._names:
                openings.turns.end(name)

    async def _open_all(self, parts: list[_Part]) -> None:
        clock = self._openings.clock
        started = clock.monotonic()
        for part in parts:
            if not self._open_inline(part):
                self._opened[id(part.data)] = await self._open_slowly(part)
                self._checked.add(id(part.data))
            if clock.monotonic() - started >= _STEP_SECONDS:
                await clock.sleep(0)
                started = clock.monotonic()

    async def _open_slowly(self, part: _Part) -> OpenedOutcome:
        """Opens a batch in a worker unless it is open, and checks its schemas."""
        opened = self._opened.get(id(part.data))
        if not isinstance(opened, OpenedBatch) or opened.config is not part.config:
            opened = await self._open_in_worker(part)
        if isinstance(opened, KafkaError) or part.config.schema_rules is None:
            return opened
        try:
            return await self._openings.validations.validation.check(part.name, opened)
        except KafkaError as error:
            return error

    async def _open_in_worker(self, part: _Part) -> OpenedBatch | KafkaError:
        data, name, config = part
        records = bytes(data.records or b"")
        now_ms = self._openings.clock.now_ms()
        compute = self._openings.background.compute_soon
        try:
            opened = await compute(_open, records, config, name, now_ms)
        except KafkaError as error:
            return error
        except WorkerCrashedError as error:
            _log.error("a batch for %s could not be checked: %s", name, error)
            return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error))
        return opened._replace(config=config)

    def _append_all(self) -> Answer:
        return self._append(self._context, self._request, self._verified, self._opened)


def _open(records: bytes, config: LogConfig, name: TopicPartition, now_ms: int) -> OpenedBatch:
    return open_batch(records, config, name=name, now_ms=now_ms)
