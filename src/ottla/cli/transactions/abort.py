"""`ottla transactions abort` at work."""

from __future__ import annotations

from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.topic_lookup import existing_partitions
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.transactions.admin import describe
from ottla.client.administration.admin import Admin
from ottla.client.administration.transactions import ActiveProducer
from ottla.model import TopicPartition


async def run_abort(
    admin: Admin,
    terminal: Terminal,
    transactional_id: str | None,
    *,
    topic: str | None,
    partition: int | None,
    start_offset: int | None,
) -> None:
    if transactional_id is not None and topic is None:
        await _fence(admin, transactional_id)
        terminal.notice(
            f"Aborted the transaction of {transactional_id}, if one was open; its producer is "
            "fenced."
        )
        return
    if transactional_id is not None or topic is None or partition is None or start_offset is None:
        raise CommandError(
            "Name the transaction by its ID, or by --topic, --partition and --start-offset.",
            exit_code=ExitCode.USAGE,
        )
    name = TopicPartition(topic, partition)
    producer = await _open_at(admin, name, start_offset)
    with doing(f"abort the transaction in {name}"):
        await admin.abort_transaction(name, producer)
    terminal.notice(f"The transaction at offset {start_offset} of {name} is aborted.")


async def _fence(admin: Admin, transactional_id: str) -> None:
    """Takes the id over, as its next producer would."""
    await describe(admin, transactional_id)
    with doing(f"abort the transaction of {transactional_id}"):
        (await admin.fence_producers([transactional_id])).all()


async def _open_at(admin: Admin, name: TopicPartition, start_offset: int) -> ActiveProducer:
    await existing_partitions(admin, name.topic, [name.partition])
    with doing(f"describe the producers of {name}"):
        producers = (await admin.describe_producers([name]))[name]
    starts = {each.start_offset: each for each in producers if each.start_offset is not None}
    if start_offset in starts:
        return starts[start_offset]
    begins = ", ".join(map(str, sorted(starts)))
    raise CommandError(
        f"No transaction of {name} begins at offset {start_offset}.",
        f"Open transactions begin at {begins}."
        if starts
        else "No transaction is open in this partition.",
    )
