"""`ottla delays list` at work."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.cli.connection.admin_connection import doing
from ottla.cli.display.cells import moment, number, size
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError
from ottla.client.administration.admin import Admin
from ottla.model import TopicPartition
from ottla.model.held_records import HeldRecords


async def run_list(
    admin: Admin, terminal: Terminal, topics: Sequence[str], *, as_json: bool
) -> None:
    with doing("list the topics"):
        known = await admin.list_topics()
    for name in topics:
        if name not in known:
            raise CommandError(f"There is no topic {name}.", "`ottla topics list` shows them.")
    partitions = [
        TopicPartition(name, each.partition)
        for name, topic in known.items()
        if not topics or name in topics
        for each in topic.partitions
    ]
    with doing("read what is held"):
        answers = (await admin.describe_delays(partitions)).all()
    found = {each: held for each, held in sorted(answers.items()) if held is not None}
    for name in topics:
        if not any(each.topic == name for each in found):
            raise CommandError(
                f"Topic {name} has no delayed delivery.",
                f"Switch it on: ottla configs set ottla.delivery.delay.enable=true --topic {name}",
            )
    if as_json:
        for partition, held in found.items():
            terminal.print_json({"topic": partition[0], "partition": partition[1], **_json(held)})
    elif not found:
        terminal.notice("No topic has ottla.delivery.delay.enable=true.")
    else:
        table = new_table("partition", "held", "size", "next due", right=("held", "size"))
        for partition, held in found.items():
            more = " (loading)" if held.is_loading else ""
            table.add_row(
                str(partition),
                number(held.records) + more,
                size(held.size),
                moment(held.next_due_ms),
            )
        terminal.stdout.print(table)


def _json(held: HeldRecords) -> dict[str, object]:
    return {
        "records": held.records,
        "bytes": held.size,
        "next_due_ms": held.next_due_ms,
        "is_loading": held.is_loading,
    }
