"""Transactions that were open in a topic when it was deleted, and ended while it was.

Their markers could not be written, so consumers that read what is committed would wait for them in
the restored topic forever.
"""

from __future__ import annotations

from ottla.cli.connection.admin_connection import doing
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError
from ottla.cli.transactions.hanging import hanging
from ottla.client.administration.admin import Admin
from ottla.client.administration.transactions import ActiveProducer
from ottla.model import TopicPartition


async def abort_hanging(admin: Admin, terminal: Terminal, topic: str, *, before_ms: int) -> int:
    """Aborts those without a record since then that no coordinator knows. Returns their number."""
    try:
        found = await hanging(admin, topic=topic, before_ms=before_ms)
        for each in found:
            producer = ActiveProducer(
                producer_id=each.producer_id,
                producer_epoch=each.producer_epoch,
                last_sequence=None,
                last_timestamp=each.last_timestamp_ms,
                coordinator_epoch=each.coordinator_epoch,
                start_offset=each.start_offset,
            )
            with doing("abort transactions that were open when the topic was deleted"):
                await admin.abort_transaction(TopicPartition(topic, each.partition), producer)
    except CommandError as error:
        terminal.notice(
            f"Transactions that were open when {topic} was deleted may have to be aborted: "
            f"`ottla transactions find-hanging --topic {topic}` shows them. ({error.message})"
        )
        return 0
    if found:
        terminal.notice(
            "Aborted the transactions that were open when the topic was deleted and have ended "
            f"since: {len(found)}."
        )
    return len(found)
