"""Checks batches whose topic has schema rules, before they are appended.

The event loop checks only small batches whose schemas need not be looked into, and only if it knows
the schemas. Everything else runs in a worker process with limits of time and memory, because it
parses what strangers wrote. A batch that kills the worker twice is bad.
"""

from __future__ import annotations

import logging
from typing import Final, NamedTuple

from ottla.broker.validation.payload_check import (
    NamedSchema,
    PayloadFindings,
    PayloadTask,
    check_payloads,
)
from ottla.broker.validation.schema_log import SchemaLog
from ottla.broker.validation.schema_logs import SchemaLogs
from ottla.broker.validation.set_asides import SetAside, SetAsides
from ottla.broker.validation.verdicts import SchemaRef, SchemaVerdict, SchemaVerdicts
from ottla.metrics import Metrics
from ottla.metrics.table.topics import TOPIC_SCHEMA_REFUSED_RECORDS
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.runtime.background import Background, WorkerCrashedError
from ottla.runtime.clock import Clock
from ottla.schemas import SchemaSource
from ottla.schemas.rules import PayloadCheck, SchemaRules
from ottla.storage.batches.opened_batch import OpenedBatch, opened_bytes_max
from ottla.storage.batches.record_errors import InvalidRecordsError
from ottla.wire.records.header import CODEC_MASK

_log = logging.getLogger(__name__)

# Checking that many records takes 2 ms.
_INLINE_RECORDS_MAX: Final = 1_500
_INLINE_BYTES_MAX: Final = 1 << 20
_ROUNDS_MAX: Final = 6
_STALE_SECONDS: Final = 1.0
_NAMED_MAX: Final = 3
# Sources of at most this size are sent along with each check, so that no worker has to ask.
_SENT_MAX: Final = 8 << 10


class _Job(NamedTuple):
    log: SchemaLog
    rules: SchemaRules
    # The name that the topic's clients know, and the tenant's prefix, which they do not see.
    topic: str
    prefix: str
    opened: OpenedBatch


class SchemaValidation:
    """Owned by the node's loop."""

    def __init__(
        self,
        logs: SchemaLogs,
        set_asides: SetAsides,
        metrics: Metrics,
        background: Background,
        clock: Clock,
    ) -> None:
        self.set_asides = set_asides
        self._metrics = metrics
        self._logs = logs
        self._background = background
        self._clock = clock
        self._verdicts = SchemaVerdicts()

    def check_now(self, topic: str, opened: OpenedBatch) -> bool:
        """Whether the batch is good. False if this cannot be said at once."""
        job = self._job(topic, opened)
        if not _is_small(opened) or self._clock.monotonic() - job.log.read_at > _STALE_SECONDS:
            return False
        findings = check_payloads(bytes(opened.records), _INLINE_BYTES_MAX, self._task(job))
        return not (findings.bad_count or findings.unknown or findings.missing)

    async def check(self, name: TopicPartition, opened: OpenedBatch) -> OpenedBatch | SetAside:
        """The batch, or how it is set aside. Raises InvalidRecordsError for a bad one that is
        refused, and other KafkaErrors if it cannot be checked."""
        job = self._job(name.topic, opened)
        await self._freshen(job.log)
        try:
            findings = await self._findings(job)
            if findings.bad_count:
                raise _error_of(findings, job.topic)
            return opened
        except InvalidRecordsError as error:
            try:
                return await self.set_asides.decide(name, opened, error, job.prefix)
            except InvalidRecordsError:
                count = opened.header.record_count
                self._metrics.counter(TOPIC_SCHEMA_REFUSED_RECORDS, name.topic).add(count)
                raise

    def set_aside_again(self, name: TopicPartition, opened: OpenedBatch) -> SetAside:
        """A batch that is a duplicate of one that was set aside, whatever it is now. Raises
        KafkaError if the dead letter topic cannot be used any more."""
        prefix = self._logs.split(name.topic).prefix
        return self.set_asides.prepare(name, opened, None, prefix)

    async def _freshen(self, log: SchemaLog) -> None:
        """Schemas that are deleted are accepted for a second more."""
        age = self._clock.monotonic() - log.read_at
        if age > _STALE_SECONDS:
            await log.catch_up()

    async def _findings(self, job: _Job) -> PayloadFindings:
        log = job.log
        is_fresh, refused = False, dict[NamedSchema, SchemaVerdict]()
        sources: dict[str, SchemaSource] = {}
        findings = PayloadFindings([], 0)
        for _ in range(_ROUNDS_MAX):
            findings = await self._run(job, self._task(job, refused, sources))
            sources |= self._sources(findings.missing)
            found = {each: self._find(job, each) for each in findings.unknown}
            has_doubts = findings.doubts or any(each.refusal for each in found.values())
            if has_doubts and not is_fresh:
                # What was registered before the batch came is found now.
                await log.catch_up()
                is_fresh, refused = True, {}
                found = {each: self._find(job, each) for each in findings.unknown}
            elif not found and not findings.missing:
                return findings
            refused |= {each: verdict for each, verdict in found.items() if verdict.refusal}
        raise KafkaError(
            ErrorCode.NOT_ENOUGH_REPLICAS,
            f"the schemas of {job.topic} change too often to check the batch; try again",
        )

    def _job(self, topic: str, opened: OpenedBatch) -> _Job:
        rules = opened.config.schema_rules
        assert rules is not None, "only topics with schema rules are checked"
        name, prefix = self._logs.split(topic)
        return _Job(self._logs.of(prefix), rules, name, prefix, opened)

    def _task(
        self,
        job: _Job,
        refused: dict[NamedSchema, SchemaVerdict] | None = None,
        sources: dict[str, SchemaSource] | None = None,
    ) -> PayloadTask:
        rules = job.rules
        tables: list[dict[SchemaRef, SchemaVerdict]] = []
        for is_key in (True, False):
            table: dict[SchemaRef, SchemaVerdict] = {}
            if rules.part(is_key=is_key).check is not PayloadCheck.NONE:
                table = self._verdicts.known(job.log, job.topic, rules, is_key=is_key)
                mine = {n.ref: each for n, each in (refused or {}).items() if n.is_key is is_key}
                table = {**table, **mine} if mine else table
            tables.append(table)
        keys = dict.fromkeys(each.key for table in tables for each in table.values() if each.key)
        sent = dict(sources or {})
        room = _SENT_MAX
        for key in keys:
            source = self._verdicts.source(key)
            if source is not None and source.size <= room:
                sent[key] = source
                room -= source.size
        return PayloadTask(rules, job.topic, tables[0], tables[1], sent)

    def _find(self, job: _Job, named: NamedSchema) -> SchemaVerdict:
        return self._verdicts.find(job.log, job.topic, job.rules, named.ref, is_key=named.is_key)

    def _sources(self, keys: frozenset[str]) -> dict[str, SchemaSource]:
        found = {key: self._verdicts.source(key) for key in keys}
        return {key: source for key, source in found.items() if source is not None}

    async def _run(self, job: _Job, task: PayloadTask) -> PayloadFindings:
        opened = job.opened
        records = bytes(opened.records)
        if _is_small(opened):
            return check_payloads(records, _INLINE_BYTES_MAX, task)
        bytes_max = opened_bytes_max(len(records), opened.config)
        for is_last in (False, True):
            try:
                return await self._background.compute_limited(
                    check_payloads, records, bytes_max, task
                )
            except (WorkerCrashedError, MemoryError) as error:
                if is_last:
                    _log.warning("a batch for %s could not be checked: %s", job.topic, error)
        raise InvalidRecordsError(
            ErrorCode.INVALID_RECORD,
            "the batch is refused because checking its records by their schemas takes too much "
            "time or memory; send smaller batches",
            (),
        )


def _is_small(opened: OpenedBatch) -> bool:
    """Whether the event loop may check the batch."""
    rules, header = opened.config.schema_rules, opened.header
    assert rules is not None
    return (
        not (rules.key.needs_schema or rules.value.needs_schema)
        and not header.attributes & CODEC_MASK
        and header.record_count <= _INLINE_RECORDS_MAX
        and len(opened.records) <= _INLINE_BYTES_MAX
    )


def _error_of(findings: PayloadFindings, topic: str) -> InvalidRecordsError:
    count = findings.bad_count
    named = "; ".join(f"record {index}: {text}" for index, text in findings.bad[:_NAMED_MAX])
    more = f"; and {count - _NAMED_MAX} more" if count > _NAMED_MAX else ""
    records = "1 record does" if count == 1 else f"{count} records do"
    return InvalidRecordsError(
        ErrorCode.INVALID_RECORD,
        f"the batch is refused because {records} not fit the schemas of {topic}: {named}{more}",
        tuple(findings.bad),
    )
