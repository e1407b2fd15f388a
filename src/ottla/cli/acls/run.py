"""Runs `ottla acls`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ottla.cli.acls.parsed_options import (
    EntryOptions,
    ResourceOptions,
    bindings_to_add,
    filters_to_list,
    filters_to_remove,
)
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.display.cells import count
from ottla.cli.display.confirmation import confirm
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import ExitCode
from ottla.client.administration.acls import exact_filter
from ottla.client.administration.admin import Admin
from ottla.security.acls.acl import AclBinding
from ottla.security.acls.acl_filter import AclFilter


async def add(
    admin: Admin,
    terminal: Terminal,
    resources: ResourceOptions,
    entries: EntryOptions,
    *,
    as_json: bool,
) -> ExitCode:
    bindings = bindings_to_add(resources, entries)
    with doing("add ACLs"):
        results = await admin.create_acls(bindings)
    worst = ExitCode.OK
    for binding, error in results.failed.items():
        what = f"add the ACL of {binding.entry.principal} on {_resource(binding)}"
        terminal.complain(refused(what, error))
        worst = ExitCode.REFUSED
    added = list(results.succeeded)
    _print(terminal, added, as_json=as_json, outcome="added")
    return worst


async def list_(
    admin: Admin,
    terminal: Terminal,
    resources: ResourceOptions,
    principals: Sequence[str],
    *,
    as_json: bool,
) -> None:
    found = await _find(admin, filters_to_list(resources, principals))
    _print(terminal, found, as_json=as_json)
    if not found and not as_json:
        terminal.notice("There are no such ACLs.")


async def remove(
    admin: Admin,
    terminal: Terminal,
    resources: ResourceOptions,
    entries: EntryOptions,
    *,
    is_confirmed: bool,
    as_json: bool,
) -> ExitCode:
    """Removes exactly what it has shown."""
    found = await _find(admin, filters_to_remove(resources, entries))
    if not found:
        terminal.notice("There are no such ACLs.")
        return ExitCode.OK
    if not is_confirmed:
        _print(terminal, found, as_json=False)
        confirm(f"Remove {count(len(found), 'ACL')}?")
    with doing("remove ACLs"):
        results = await admin.delete_acls(map(exact_filter, found))
    removed, worst = [], ExitCode.OK
    for binding in found:
        error = results.error(exact_filter(binding))
        if error is None:
            removed.append(binding)
        else:
            what = f"remove the ACL of {binding.entry.principal} on {_resource(binding)}"
            terminal.complain(refused(what, error))
            worst = ExitCode.REFUSED
    if is_confirmed or as_json:
        _print(terminal, removed, as_json=as_json, outcome="removed")
    else:
        terminal.stdout.print(f"removed {count(len(removed), 'ACL')}")
    return worst


async def _find(admin: Admin, filters: Iterable[AclFilter]) -> list[AclBinding]:
    found: list[AclBinding] = []
    for each in dict.fromkeys(filters):
        with doing("list the ACLs"):
            found += await admin.describe_acls(each)
    return sorted(dict.fromkeys(found))


def _print(
    terminal: Terminal, bindings: Sequence[AclBinding], *, as_json: bool, outcome: str | None = None
) -> None:
    if as_json:
        for binding in bindings:
            fields = {} if outcome is None else {"outcome": outcome}
            terminal.print_json(fields | _fields(binding))
        return
    if not bindings:
        return
    table = new_table("resource", "name", "pattern", "principal", "host", "operation", "permission")
    for binding in bindings:
        table.add_row(*map(str, _fields(binding).values()))
    terminal.stdout.print(table)
    if outcome is not None:
        terminal.stdout.print(f"{outcome} {count(len(bindings), 'ACL')}")


def _fields(binding: AclBinding) -> dict[str, str]:
    pattern, entry = binding
    return {
        "resource_type": _text(pattern.resource_type.name),
        "name": pattern.name,
        "pattern_type": _text(pattern.pattern_type.name),
        "principal": entry.principal,
        "host": entry.host,
        "operation": _text(entry.operation.name),
        "permission": _text(entry.permission.name),
    }


def _resource(binding: AclBinding) -> str:
    return f"{_text(binding.pattern.resource_type.name)} {binding.pattern.name}"


def _text(name: str) -> str:
    return name.lower().replace("_", "-")
