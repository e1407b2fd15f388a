"""`ottla transactions list`, `describe` and `find-hanging` at work."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.cli.arguments.moments import parse_moment
from ottla.cli.display.cells import NOTHING, moment, number
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.transactions.admin import describe, list_transactions
from ottla.cli.transactions.hanging import hanging
from ottla.client.administration.admin import Admin
from ottla.runtime.system_clock import SystemClock


async def show_list(
    admin: Admin,
    terminal: Terminal,
    *,
    states: Sequence[str],
    longer_than: str | None,
    pattern: str | None,
    as_json: bool,
) -> None:
    duration_ms = None if longer_than is None else _age_ms(longer_than)
    found = await list_transactions(admin, states=states, duration_ms=duration_ms, pattern=pattern)
    if as_json:
        for each in found:
            terminal.print_json(each._asdict())
        return
    numbers = ("producer id", "coordinator")
    table = new_table("id", "state", *numbers, right=numbers)
    for each in found:
        table.add_row(each.id, each.state, str(each.producer_id), str(each.coordinator))
    terminal.stdout.print(table)


async def show_description(
    admin: Admin, terminal: Terminal, transactional_id: str, *, as_json: bool
) -> None:
    found = await describe(admin, transactional_id)
    partitions = list(map(str, found.partitions))
    if as_json:
        terminal.print_json(
            {
                "id": transactional_id,
                "state": found.state,
                "producer_id": found.producer_id,
                "producer_epoch": found.producer_epoch,
                "timeout_ms": found.timeout_ms,
                "start_ms": -1 if found.start_ms is None else found.start_ms,
                "partitions": partitions,
            }
        )
        return
    table = new_table("what", "value")
    table.add_row("state", found.state)
    table.add_row("producer id", str(found.producer_id))
    table.add_row("producer epoch", number(found.producer_epoch))
    table.add_row("timeout", f"{found.timeout_ms:,} ms")
    table.add_row("started", moment(-1 if found.start_ms is None else found.start_ms))
    table.add_row("partitions", ", ".join(partitions) or NOTHING)
    terminal.stdout.print(table)


async def show_hanging(
    admin: Admin,
    terminal: Terminal,
    *,
    topic: str | None,
    older_than: str,
    as_json: bool,
) -> None:
    before_ms = SystemClock().now_ms() - _age_ms(older_than)
    found = await hanging(admin, topic=topic, before_ms=before_ms)
    if as_json:
        for each in found:
            terminal.print_json(each._asdict())
        return
    numbers = ("partition", "start offset", "producer id", "epoch")
    table = new_table("topic", *numbers, "last record", right=numbers)
    for each in found:
        table.add_row(
            each.topic,
            str(each.partition),
            str(each.start_offset),
            str(each.producer_id),
            str(each.producer_epoch),
            moment(each.last_timestamp_ms),
        )
    terminal.stdout.print(table)
    if found:
        terminal.notice("`ottla transactions abort --topic ... --start-offset ...` aborts one.")


def _age_ms(text: str) -> int:
    now_ms = SystemClock().now_ms()
    try:
        return now_ms - parse_moment(text, now_ms=now_ms)
    except ValueError as error:
        raise CommandError(str(error), exit_code=ExitCode.USAGE) from None
