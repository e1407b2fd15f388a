"""IncrementalAlterConfigs, for many resources at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ottla.channels import ChannelError
from ottla.cli.apply.changes import AlterResource
from ottla.cli.apply.secrets_of_files import Secrets, value_of
from ottla.cli.cluster_state.described_configs import resource_text
from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.configs import ConfigOperation, ConfigResource, ConfigResourceType
from ottla.runtime.network import Address
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)


async def alter_resources(
    admin: ClusterAdmin,
    changes: Sequence[AlterResource],
    secrets: Secrets,
    addresses: Mapping[int, Address],
    *,
    validate_only: bool = False,
) -> dict[ConfigResource, CommandError]:
    """Returns the errors of what was refused. A broker accepts its own configs only."""
    refused = {}
    for address, some in _by_address(changes, addresses).items():
        request = IncrementalAlterConfigsRequest(
            resources=[_resource(change, secrets) for change in some], validate_only=validate_only
        )
        response = await _send(admin, request, address)
        for result in response.responses:
            resource = ConfigResource(
                ConfigResourceType(result.resource_type), result.resource_name
            )
            if result.error_code:
                doing = f"change the configs of {resource_text(resource)}"
                refused[resource] = refusal(doing, result.error_code, result.error_message)
    return refused


def _by_address(
    changes: Sequence[AlterResource], addresses: Mapping[int, Address]
) -> dict[Address | None, list[AlterResource]]:
    """None stands for any node."""
    found: dict[Address | None, list[AlterResource]] = {}
    for change in changes:
        kind, name = change.resource
        is_broker = kind is ConfigResourceType.BROKER and bool(name)
        found.setdefault(addresses[int(name)] if is_broker else None, []).append(change)
    return found


async def _send(
    admin: ClusterAdmin, request: IncrementalAlterConfigsRequest, address: Address | None
) -> Any:
    if address is None:
        return await admin.send_request(request)
    try:
        return await admin.send_to_node(address, request)
    except ChannelError as error:
        raise CommandError(
            f"Cannot change the configs of the broker at {address}: {error}.",
            exit_code=ExitCode.UNREACHABLE,
        ) from None


def _resource(change: AlterResource, secrets: Secrets) -> AlterConfigsResource:
    return AlterConfigsResource(
        resource_type=change.resource.type,
        resource_name=change.resource.name,
        configs=[
            AlterableConfig(
                name=config.name,
                config_operation=ConfigOperation.DELETE
                if config.is_deletion
                else ConfigOperation.SET,
                value=value_of(config, secrets),
            )
            for config in change.configs
        ],
    )
