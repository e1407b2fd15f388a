"""Runs `ottla acls`: requests of ACLs, over the protocol itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ottla.cli.acls.parsed_options import (
    EntryOptions,
    ResourceOptions,
    bindings_to_add,
    filters_to_list,
    filters_to_remove,
)
from ottla.cli.connection.acl_requests import (
    creation,
    describe_request,
    described_bindings,
    exact_filter,
)
from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.cli.display.cells import count
from ottla.cli.display.confirmation import confirm
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import ExitCode
from ottla.security.acls.acl import AclBinding
from ottla.security.acls.acl_filter import AclFilter
from ottla.wire.messages.create_acls import CreateAclsRequest
from ottla.wire.messages.delete_acls import DeleteAclsRequest


async def add(
    admin: ClusterAdmin,
    terminal: Terminal,
    resources: ResourceOptions,
    entries: EntryOptions,
    *,
    as_json: bool,
) -> ExitCode:
    bindings = bindings_to_add(resources, entries)
    request = CreateAclsRequest(creations=[creation(each) for each in bindings])
    response = await admin.send_request(request)
    added, worst = [], ExitCode.OK
    for binding, result in zip(bindings, response.results, strict=True):
        if result.error_code:
            what = f"add the ACL of {binding.entry.principal} on {_resource(binding)}"
            terminal.complain(refusal(what, result.error_code, result.error_message))
            worst = ExitCode.REFUSED
        else:
            added.append(binding)
    _print(terminal, added, as_json=as_json, outcome="added")
    return worst


async def list_(
    admin: ClusterAdmin,
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
    admin: ClusterAdmin,
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
    request = DeleteAclsRequest(filters=[exact_filter(each) for each in found])
    response = await admin.send_request(request)
    removed, worst = [], ExitCode.OK
    for binding, result in zip(found, response.filter_results, strict=True):
        if result.error_code:
            what = f"remove the ACL of {binding.entry.principal} on {_resource(binding)}"
            terminal.complain(refusal(what, result.error_code, result.error_message))
            worst = ExitCode.REFUSED
        else:
            removed.append(binding)
    if is_confirmed or as_json:
        _print(terminal, removed, as_json=as_json, outcome="removed")
    else:
        terminal.stdout.print(f"removed {count(len(removed), 'ACL')}")
    return worst


async def _find(admin: ClusterAdmin, filters: Iterable[AclFilter]) -> list[AclBinding]:
    found: list[AclBinding] = []
    for each in dict.fromkeys(filters):
        response = await admin.send_request(describe_request(each))
        if response.error_code:
            raise refusal("list the ACLs", response.error_code, response.error_message)
        found += described_bindings(response)
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
