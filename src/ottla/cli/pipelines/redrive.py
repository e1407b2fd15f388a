"""`ottla pipelines redrive`: rejected records sent back to where they came from, each once.

Each record is sent and its offset committed in one transaction, as the progress of a group of its
own: a command that is interrupted goes on where it stopped.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Final, NamedTuple

from ottla.cli.connection.cluster_access import ClusterAccess
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client import ConsumedRecord, Consumer, Producer
from ottla.client.errors import ClientError
from ottla.client_security.property_names import is_of_security
from ottla.model import TopicPartition

# What the query of rejected records adds.
_REASON: Final = "reason"
_TOPIC: Final = "topic"
_ADDED: Final = (_REASON, _TOPIC, "partition", "offset")
_POLL_S: Final = 1.0
_RECORDS_MAX: Final = 1_000
_TIMEOUT_S: Final = 30.0


class RedriveOptions(NamedTuple):
    source: str
    # Instead of the topics that the records name.
    target: str | None
    executes: bool


def run_redrive(access: ClusterAccess, terminal: Terminal, options: RedriveOptions) -> None:
    """Raises CommandError."""
    security = {name: value for name, value in access.properties.items() if is_of_security(name)}
    properties = {"bootstrap.servers": access.bootstrap, **security}
    try:
        found = asyncio.run(_redrive(properties, options))
    except ClientError as error:
        raise CommandError(f"Cannot redrive {options.source}: {error}") from None
    if not found:
        terminal.stdout.print(f"nothing to redrive in {options.source}")
        return
    table = new_table("records", "to", "reason", right=("records",))
    for (target, reason), count in found.most_common():
        table.add_row(f"{count:,}", target, reason)
    terminal.stdout.print(table)
    if not options.executes:
        terminal.notice("Nothing was sent: add --execute.")


async def _redrive(properties: dict[str, str], options: RedriveOptions) -> Counter[tuple[str, str]]:
    group = f"ottla-redrive-{options.source}"
    reading = {
        **properties,
        "group.id": group,
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "allow.auto.create.topics": False,
    }
    found: Counter[tuple[str, str]] = Counter()
    async with Consumer(reading) as consumer:
        partitions = await consumer.partitions_for(options.source)
        if not partitions:
            raise CommandError(f"There is no topic {options.source}.", exit_code=ExitCode.REFUSED)
        consumer.assign(partitions)
        ends = await consumer.end_offsets(partitions)
        if not options.executes:
            async for records in _chunks(consumer, ends):
                found.update(_where(each, options) for each in records)
            return found
        writing = {**properties, "transactional.id": group}
        async with Producer(writing) as producer:
            # A redrive that was killed leaves a transaction, whose records come again.
            await producer.init_transactions(timeout=_TIMEOUT_S)
            async for records in _chunks(consumer, ends):
                async with producer.transaction():
                    for each in records:
                        await _send(producer, each, options)
                        found[_where(each, options)] += 1
                    offsets = {
                        TopicPartition(each.topic, each.partition): each.offset + 1
                        for each in records
                    }
                    await producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
    return found


async def _chunks(
    consumer: Consumer, ends: dict[TopicPartition, int]
) -> AsyncIterator[list[ConsumedRecord]]:
    """Records up to the ends, in lists that are not empty."""
    while any([await consumer.position(each) < end for each, end in ends.items()]):
        records = await consumer.poll(_POLL_S, _RECORDS_MAX)
        wanted = [
            each
            for each in records
            if each.offset < ends[TopicPartition(each.topic, each.partition)]
        ]
        if wanted:
            yield wanted


async def _send(producer: Producer, record: ConsumedRecord, options: RedriveOptions) -> None:
    target, _ = _where(record, options)
    headers = [(name, value) for name, value in record.headers if name not in _ADDED]
    await producer.send(target, record.value, key=record.key, headers=headers)


def _where(record: ConsumedRecord, options: RedriveOptions) -> tuple[str, str]:
    """The topic to send it to, and why it was rejected. Raises CommandError."""
    headers = {name: (value or b"").decode(errors="replace") for name, value in record.headers}
    target = options.target or headers.get(_TOPIC)
    if not target or _REASON not in headers:
        raise CommandError(
            f"The record of {record.topic}-{record.partition} at offset {record.offset} was not "
            "rejected by a pipeline: it has no headers reason and topic."
        )
    return target, headers[_REASON]
