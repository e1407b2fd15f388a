"""Runs `ottla quotas`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ottla.cli.arguments.quota_values import check_key
from ottla.cli.connection.admin_connection import doing
from ottla.cli.display.cells import NOTHING
from ottla.cli.display.quota_texts import entity_text, quota_text
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.quotas.entity_options import EntityOptions
from ottla.client.administration.admin import Admin


async def list_quotas(
    admin: Admin, terminal: Terminal, entity: EntityOptions, *, as_json: bool
) -> None:
    with doing("list the quotas"):
        found = await admin.describe_client_quotas(entity.entity)
    if as_json:
        for parts, quotas in found.items():
            terminal.print_json({"entity": dict(parts), "quotas": quotas})
    elif not found:
        terminal.notice("There are no such quotas." if entity.entity else "There are no quotas.")
    else:
        table = new_table("entity", "quota", "limit", right=("limit",))
        for parts, quotas in found.items():
            for key, limit in sorted(quotas.items()):
                table.add_row(entity_text(parts), key, quota_text(key, limit))
        terminal.stdout.print(table)


async def describe_usage(
    admin: Admin, terminal: Terminal, user: str | None, client_id: str | None, *, as_json: bool
) -> None:
    """Of the clients that share a quota of this user or client id, if they are given."""
    with doing("read the usage of quotas"):
        of_nodes = await admin.describe_quota_usage()
    if of_nodes and all(usage is None for usage in of_nodes.values()):
        raise CommandError(
            "The nodes do not say what clients use: they are Apache Kafka's.",
            "Their JMX metrics show it.",
            exit_code=ExitCode.REFUSED,
        )
    found = [
        (usage, node_id)
        for node_id, usages in of_nodes.items()
        for usage in usages or ()
        if user in (None, usage.user) and client_id in (None, usage.client_id)
    ]
    if as_json:
        for usage, node_id in found:
            terminal.print_json({"node": node_id, **usage._asdict()})
    elif not found:
        terminal.notice("No client with such a quota has sent a request lately.")
    else:
        table = new_table(
            "user", "client id", "node", "quota", "used", "limit", right=("used", "limit")
        )
        for usage, node_id in sorted(found, key=lambda each: (each[0][:3], each[1])):
            table.add_row(
                usage.user or NOTHING,
                usage.client_id or NOTHING,
                str(node_id),
                usage.key,
                quota_text(usage.key, usage.used),
                quota_text(usage.key, usage.limit),
            )
        terminal.stdout.print(table)


async def alter_quotas(
    admin: Admin,
    terminal: Terminal,
    entity: EntityOptions,
    quotas: Mapping[str, float | None],
    *,
    as_json: bool,
) -> None:
    """Sets quotas, and deletes those without a value."""
    with doing(f"change the quotas of {entity.text}"):
        (await admin.alter_client_quotas({entity.entity: quotas})).all()
    if as_json:
        terminal.print_json({"entity": dict(entity.entity), "quotas": dict(quotas)})
        return
    for key, value in quotas.items():
        outcome = "deleted" if value is None else f"set to {quota_text(key, value)}"
        terminal.stdout.print(f"{entity.text}: {key} {outcome}", markup=False, soft_wrap=True)


async def delete_quotas(
    admin: Admin,
    terminal: Terminal,
    entity: EntityOptions,
    keys: Sequence[str],
    *,
    as_json: bool,
) -> None:
    for key in keys:
        check_key(key)
    with doing("list the quotas"):
        present = (await admin.describe_client_quotas(entity.entity)).get(entity.entity, {})
    missing = [key for key in keys if key not in present]
    if missing or not present:
        raise CommandError(
            f"{entity.text} has no quota{''.join(f' {key}' for key in missing[:1])}.",
            "`ottla quotas list` shows all quotas.",
            exit_code=ExitCode.REFUSED,
        )
    deleted: dict[str, float | None] = dict.fromkeys(keys or present)
    await alter_quotas(admin, terminal, entity, deleted, as_json=as_json)
