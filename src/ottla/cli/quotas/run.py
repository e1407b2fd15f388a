"""Runs `ottla quotas list`, `set` and `delete`, over the protocol itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.quotas.entity_options import EntityOptions, check_key, entity_text
from ottla.cli.quotas.values import quota_text
from ottla.quotas.entities import QuotaEntity
from ottla.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    EntityData,
    OpData,
)
from ottla.wire.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)


async def list_quotas(
    admin: ClusterAdmin, terminal: Terminal, entity: EntityOptions, *, as_json: bool
) -> None:
    found = await describe_quotas(admin, entity)
    if as_json:
        for parts, quotas in found:
            terminal.print_json({"entity": dict(parts), "quotas": quotas})
    elif not found:
        terminal.notice("There are no such quotas." if entity.entity else "There are no quotas.")
    else:
        table = new_table("entity", "quota", "limit", right=("limit",))
        for parts, quotas in found:
            for key, limit in sorted(quotas.items()):
                table.add_row(entity_text(parts), key, quota_text(key, limit))
        terminal.stdout.print(table)


async def alter_quotas(
    admin: ClusterAdmin,
    terminal: Terminal,
    entity: EntityOptions,
    quotas: Mapping[str, float | None],
    *,
    as_json: bool,
) -> None:
    """Sets quotas, and deletes those without a value."""
    request = AlterClientQuotasRequest(
        entries=[
            AlterClientQuotasRequestEntryData(
                entity=[
                    EntityData(entity_type=kind, entity_name=name) for kind, name in entity.entity
                ],
                ops=[
                    OpData(key=key, remove=True) if value is None else OpData(key=key, value=value)
                    for key, value in quotas.items()
                ],
            )
        ]
    )
    response = await admin.send_request(request)
    for entry in response.entries:
        if entry.error_code:
            raise refusal(
                f"change the quotas of {entity.text}", entry.error_code, entry.error_message
            )
    if as_json:
        terminal.print_json({"entity": dict(entity.entity), "quotas": dict(quotas)})
        return
    for key, value in quotas.items():
        outcome = "deleted" if value is None else f"set to {quota_text(key, value)}"
        terminal.notice(f"{entity.text}: {key} {outcome}")


async def delete_quotas(
    admin: ClusterAdmin,
    terminal: Terminal,
    entity: EntityOptions,
    keys: Sequence[str],
    *,
    as_json: bool,
) -> None:
    for key in keys:
        check_key(key)
    present: dict[str, float] = {}
    for parts, quotas in await describe_quotas(admin, entity):
        if parts == entity.entity:
            present = quotas
    missing = [key for key in keys if key not in present]
    if missing or not present:
        raise CommandError(
            f"{entity.text} has no quota{''.join(f' {key}' for key in missing[:1])}.",
            "`ottla quotas list` shows all quotas.",
            exit_code=ExitCode.REFUSED,
        )
    deleted: dict[str, float | None] = dict.fromkeys(keys or present)
    await alter_quotas(admin, terminal, entity, deleted, as_json=as_json)


async def describe_quotas(
    admin: ClusterAdmin, entity: EntityOptions
) -> list[tuple[QuotaEntity, dict[str, float]]]:
    """Those whose entity has these parts, and possibly others."""
    request = DescribeClientQuotasRequest(components=entity.components())
    response: DescribeClientQuotasResponse = await admin.send_request(request)
    if response.error_code:
        raise refusal("list the quotas", response.error_code, response.error_message)
    return [
        (
            tuple(sorted((part.entity_type, part.entity_name) for part in entry.entity)),
            {value.key: value.value for value in entry.values},
        )
        for entry in response.entries or ()
    ]
