"""DescribeConfigs, many resources at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from ottla.channels import ChannelError
from ottla.cli.cluster_state.present import PresentConfig, PresentConfigs
from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.configs import ConfigResource, ConfigResourceType, ConfigSource, ConfigType
from ottla.runtime.network import Address
from ottla.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource

# A response has some 40 configs for each topic.
RESOURCES_PER_REQUEST: Final = 100


async def describe_configs(
    admin: ClusterAdmin, resources: Sequence[ConfigResource], *, address: Address | None = None
) -> dict[ConfigResource, PresentConfigs]:
    """Asks the node at `address`, or any. Raises CommandError if one cannot be described."""
    found: dict[ConfigResource, PresentConfigs] = {}
    for first in range(0, len(resources), RESOURCES_PER_REQUEST):
        some = resources[first : first + RESOURCES_PER_REQUEST]
        response = await _send(admin, _request(some), address)
        for result in response.results:
            resource = ConfigResource(
                ConfigResourceType(result.resource_type), result.resource_name
            )
            if result.error_code:
                doing = f"describe the configs of {resource_text(resource)}"
                raise refusal(doing, result.error_code, result.error_message)
            found[resource] = {each.name: _config(resource, each) for each in result.configs}
    return found


def resource_text(resource: ConfigResource) -> str:
    if resource.type is ConfigResourceType.BROKER and not resource.name:
        return "the cluster"
    return f"{resource.type.name.lower()} {resource.name}"


async def _send(
    admin: ClusterAdmin, request: DescribeConfigsRequest, address: Address | None
) -> Any:
    if address is None:
        return await admin.send_request(request)
    try:
        return await admin.send_to_node(address, request)
    except ChannelError as error:
        raise CommandError(
            f"Cannot describe the configs of the broker at {address}: {error}.",
            "Each broker describes its own configs: its advertised address must be reachable.",
            exit_code=ExitCode.UNREACHABLE,
        ) from None


def _request(resources: Iterable[ConfigResource]) -> DescribeConfigsRequest:
    return DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(
                resource_type=resource.type,
                resource_name=resource.name,
                configuration_keys=None,
            )
            for resource in resources
        ]
    )


def _config(resource: ConfigResource, entry: Any) -> PresentConfig:
    return PresentConfig(
        entry.value,
        is_set=entry.config_source == _own_source(resource),
        type=_config_type(entry.config_type),
        is_read_only=entry.read_only,
        is_sensitive=entry.is_sensitive,
    )


def _own_source(resource: ConfigResource) -> ConfigSource:
    if resource.type is ConfigResourceType.TOPIC:
        return ConfigSource.DYNAMIC_TOPIC_CONFIG
    if resource.type is ConfigResourceType.GROUP:
        return ConfigSource.DYNAMIC_GROUP_CONFIG
    if resource.name:
        return ConfigSource.DYNAMIC_BROKER_CONFIG
    return ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG


def _config_type(code: int) -> ConfigType:
    """A newer cluster may have more types; their values are compared as texts."""
    try:
        return ConfigType(code)
    except ValueError:
        return ConfigType.UNKNOWN
